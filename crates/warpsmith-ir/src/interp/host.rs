//! Whole programs of the host, of which not everything is understood.
//!
//! A [`Launcher`] that is tolerant gets the program run as far as it goes: a statement that fails is left out, what it
//! would have written holds nothing known from then on, and the launcher is told. What is not known spreads: a statement
//! that needs it fails in its turn, up to a launch, which asks the launcher for its arguments.

use super::buffers::{BufferSet, ByBuffer};

use super::bounds::Track;
use super::exec::{Interp, Run};
use super::memory::{OWN, Pointer};
use super::{InterpError, InterpErrorKind, Unknown};
use crate::expr::{Expr, Place, PlaceKind};
use crate::layout::layout_of;
use crate::module::{FuncId, FunctionKind, Module, VarId};
use crate::span::Span;
use crate::stmt::{Block, CopyWay, Launch, Runtime, Stmt, StmtKind};
use crate::types::Type;
use crate::visit::{Access, Visitor, for_each_stmt_of, walk_place, walk_stmt};

/// Steps that one statement of a tolerated program may take, unless it launches something: at most, and when the program has
/// taken many already.
const PATIENCE: u64 = 200_000_000;
const LEAST_PATIENCE: u64 = 10_000_000;
/// Steps of a program after which there is little patience left.
const ALL_PATIENCE: u64 = 1_600_000_000;

/// Steps that a statement counts for that was left out.
const STEPS_OF_SKIPPED: u64 = 200;

/// What is known of memory that a program of the host allocated.
#[derive(Clone, Debug, Default)]
pub struct HostMemory {
    /// Buffers of the host.
    pub host: BufferSet,
    /// Buffers that host and device both use.
    pub shared: BufferSet,
    /// Buffers of the device that libraries allocated, whose objects give their elements to the host.
    pub of_library: BufferSet,
    /// Bytes of those buffers that hold nothing known; a buffer that is known altogether has no entry.
    pub unknown: ByBuffer<Unknown>,
    /// Something of the program was left out: what is not known may have been set by it. Else nobody has set it.
    pub guesses: bool,
}

impl HostMemory {
    /// Whether the host can use the buffer; of other buffers than those it allocated nothing is known here.
    pub fn reaches(&self, buffer: usize) -> bool {
        self.host.contains(buffer) || self.shared.contains(buffer)
    }

    /// Marks bytes as known or unknown; beyond the end of the buffer nothing happens.
    pub fn mark(&mut self, buffer: usize, at: usize, bytes: usize, unknown: bool) {
        if let Some(mask) = self.unknown.get_mut(buffer) {
            mask.mark(at..at.saturating_add(bytes), unknown);
        }
    }

    /// Whether all of the bytes are known.
    pub fn knows(&self, buffer: usize, at: usize, bytes: usize) -> bool {
        self.unknown.get(buffer).is_none_or(|mask| mask.knows(at..at + bytes))
    }

    /// What is known of a piece.
    pub fn part(&self, buffer: usize, at: usize, bytes: usize) -> Unknown {
        match self.unknown.get(buffer).filter(|mask| at + bytes <= mask.len()) {
            Some(mask) => mask.part(at..at + bytes),
            None => Unknown::none(bytes),
        }
    }
}

/// A statement that was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// Place of the statement in the source, where it is known.
    pub span: Option<Span>,
    /// Why, in the words of an error.
    pub why: String,
    /// It would have launched something.
    pub launches: bool,
    /// The program uses memory as it may not.
    pub fault: Option<Fault>,
    /// It takes too long.
    pub slow: bool,
    /// It allocates more memory than there may be.
    pub large: bool,
    /// It failed because of a value that something left out before would have set.
    pub follows: bool,
    /// It is an assertion of the program that does not hold.
    pub asserted: bool,
}

/// What a program does wrong with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A copy or fill beyond the end of an allocation.
    OutOfBounds,
    /// A copy or fill of memory that was freed before: this buffer.
    Freed(usize),
    /// A copy in a direction that its pointers do not have.
    WrongDirection,
    /// The host itself reads or writes beyond the end of an array.
    OnHost,
}

/// Functions that launch a kernel or move memory to or from the device, themselves or through others.
#[derive(Debug)]
pub(crate) struct Working {
    launching: Vec<bool>,
    moving: Vec<bool>,
}

impl Working {
    pub fn of(module: &Module) -> Working {
        let n = module.functions.len();
        let mut working = Working { launching: vec![false; n], moving: vec![false; n] };
        let mut changed = true;
        while changed {
            changed = false;
            for (i, f) in module.functions.iter().enumerate() {
                let launches = f.body.stmts.iter().any(|s| working.launches(s));
                let moves = f.body.stmts.iter().any(|s| working.moves(s));
                changed |= launches != working.launching[i] || moves != working.moving[i];
                (working.launching[i], working.moving[i]) = (launches, moves);
            }
        }
        working
    }

    fn launches(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        for_each_stmt_of(stmt, &mut |s| found |= self.launches_here(s));
        found
    }

    fn launches_here(&self, s: &Stmt) -> bool {
        match &s.kind {
            StmtKind::Launch(_) | StmtKind::Runtime(Runtime::Replay { .. }) => true,
            StmtKind::Runtime(Runtime::Skipped { launches, .. }) => *launches,
            StmtKind::Call { function, .. } => {
                self.launching.get(function.0 as usize).is_some_and(|f| *f)
            }
            _ => false,
        }
    }

    fn moves(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        for_each_stmt_of(stmt, &mut |s| {
            found |= match &s.kind {
                StmtKind::Launch(_) | StmtKind::CopyToGlobal { .. } => true,
                // A launch that was left out has to be reported.
                StmtKind::Runtime(Runtime::Skipped { launches, .. }) => *launches,
                StmtKind::Runtime(call) => {
                    matches!(
                        call,
                        Runtime::Copy { .. } | Runtime::Fill { .. } | Runtime::Replay { .. }
                    )
                }
                StmtKind::Call { function, .. } => {
                    self.moving.get(function.0 as usize).is_some_and(|f| *f)
                }
                _ => false,
            };
        });
        found
    }

    /// The statements up to the last one that has to do with the device: what a program does with its results afterwards
    /// is no matter of its kernels.
    pub fn of_interest<'s>(&self, body: &'s Block) -> &'s [Stmt] {
        let last = body.stmts.iter().rposition(|s| self.moves(s));
        &body.stmts[..last.map_or(0, |i| i + 1)]
    }
}

impl<T: Track> Interp<'_, '_, T> {
    /// Whether the statement, or one in it, launches something.
    pub fn launches(&self, stmt: &Stmt) -> bool {
        self.working.as_ref().is_some_and(|working| working.launches(stmt))
    }

    /// When a statement that launches nothing has to be done.
    pub fn patience(&self) -> u64 {
        let left = match self.launcher.hurries() {
            true => 0,
            false => ALL_PATIENCE.saturating_sub(self.steps) / 4,
        };
        self.steps.saturating_add(left.clamp(LEAST_PATIENCE, PATIENCE))
    }

    /// Goes on after a statement that failed, when the launcher wants that; else the error stands.
    pub fn leave_out(&mut self, stmt: &Stmt, error: Box<InterpError>) -> Run<()> {
        use InterpErrorKind::*;
        let slow = matches!(error.kind, StepLimit(_));
        let fatal = match &error.kind {
            Trap | Launch(_) => true,
            // Only whoever set the limit may go on after it.
            StepLimit(_) => self.patient_until.is_some() || self.steps >= self.limits.max_steps,
            _ => false,
        };
        if self.working.is_none() || fatal {
            return Err(error);
        }
        let skipped = Skipped {
            // What takes too long is the statement, wherever it was when that was enough.
            span: if slow { stmt.origin.span } else { None }.or(error.span).or(stmt.origin.span),
            why: match &error.kind {
                StepLimit(_) => "it takes too long".into(),
                Uninitialized(what) => format!("{what} is not known here"),
                _ => error.to_string(),
            },
            launches: self.launches(stmt),
            fault: self.fault(stmt, &error.kind),
            slow,
            large: matches!(error.kind, AllocationLimit(_)),
            follows: matches!(error.kind, Uninitialized(_)),
            asserted: matches!(error.kind, AssertFailed(_)),
        };
        self.launcher.skipped(skipped);
        self.memory.host.guesses = true;
        // A loop that goes on for ever because of it is soon given up.
        self.steps = self.steps.saturating_add(STEPS_OF_SKIPPED);
        if self.launcher.gives_up() {
            return Err(self.error(Launch("stopped".into()), &stmt.origin));
        }
        if !self.invents_largest(stmt, &error.kind) {
            self.forget(stmt, slow);
        }
        Ok(())
    }

    /// Whether a statement failed because it is a copy or fill of memory of the device that is wrong, or because the host goes
    /// beyond the end of an array.
    fn fault(&mut self, stmt: &Stmt, error: &InterpErrorKind) -> Option<Fault> {
        let outside = matches!(error, InterpErrorKind::OutOfBounds { .. });
        let StmtKind::Runtime(call) = &stmt.kind else { return outside.then_some(Fault::OnHost) };
        let of_device = match call {
            Runtime::Copy { way, .. } => *way != CopyWay::Any,
            Runtime::Fill { pointer, .. } => {
                let object = self.pointer(pointer).ok()?.object?;
                object < OWN && !self.memory.host.reaches(object as usize)
            }
            _ => false,
        };
        let by_host = matches!(call, Runtime::Copy { way: CopyWay::ByHost, .. });
        match error {
            InterpErrorKind::OutOfBounds { .. } if by_host => Some(Fault::OnHost),
            InterpErrorKind::OutOfBounds { buffer: Some(buffer), .. }
                if of_device && self.launcher.was_freed(*buffer) =>
            {
                Some(Fault::Freed(*buffer))
            }
            InterpErrorKind::OutOfBounds { .. } if of_device => Some(Fault::OutOfBounds),
            InterpErrorKind::WrongDirection if of_device => Some(Fault::WrongDirection),
            _ => None,
        }
    }

    /// What the statement may have written is not known any more; `whole`: wherever in an array it may have been.
    fn forget(&mut self, stmt: &Stmt, whole: bool) {
        let mut writes = Writes { interrupted: whole, ..Writes::default() };
        writes.stmt(stmt);
        for place in &writes.places {
            self.forget_place(place, whole);
        }
        for var in writes.vars {
            self.unset(var);
        }
        // A function that was not run to its end may have written through what it was given.
        for pointer in writes.pointers {
            if let Ok(p) = self.pointer(&pointer) {
                self.forget_object(p);
            }
        }
    }

    /// The place holds nothing known any more.
    pub fn forget_place(&mut self, place: &Place, whole: bool) {
        let indirect = !matches!(&*place.kind, PlaceKind::Var(_));
        match self.locate(place) {
            Ok(super::eval::Location::Slot(var)) => self.unset(var),
            Ok(super::eval::Location::At(p)) if !(whole && indirect) => {
                let size = layout_of(self.module, &place.ty).size;
                if let Ok((id, at)) = self.check(p, size) {
                    self.mark_unknown(id, at, size as usize);
                }
            }
            Ok(super::eval::Location::At(p)) => self.forget_object(p),
            Err(_) => match root(place) {
                Root::Var(var) => self.unset(var),
                Root::Pointer(e) => {
                    if let Ok(p) = self.pointer(e) {
                        self.forget_object(p);
                    }
                }
                Root::Global => {}
            },
        }
    }

    pub fn forget_object(&mut self, p: Pointer) {
        let Some(id) = p.object else { return };
        let size = match id.checked_sub(OWN) {
            None => self.memory.buffers.get(id as usize).map_or(0, Vec::len),
            Some(own) => self.objects.get(own as usize).map_or(0, |o| o.image.bytes.len()),
        };
        self.mark_unknown(id, 0, size);
    }

    fn mark_unknown(&mut self, id: u32, at: usize, size: usize) {
        self.memory.host.guesses = true;
        match id.checked_sub(OWN) {
            None => {
                let length = self.memory.buffers.get(id as usize).map_or(0, Vec::len);
                let host = &mut self.memory.host;
                let (reached, shared) =
                    (host.reaches(id as usize), host.shared.contains(id as usize));
                // What both use holds something all the same when the device looks at it.
                if !reached || shared {
                    self.launcher.forgotten(id as usize, at, size, length);
                }
                if reached {
                    if !host.unknown.contains(id as usize) {
                        host.unknown.insert(id as usize, Unknown::none(length));
                    }
                    host.mark(id as usize, at, size, true);
                }
            }
            Some(own) => {
                if let Some(object) = self.objects.get_mut(own as usize) {
                    object.image.known[at..at + size].fill(false);
                }
            }
        }
    }

    /// Gives the launcher the variables of the device as the program has set them.
    pub fn lend_globals(&mut self) {
        for (i, at) in self.globals().iter().enumerate() {
            if let Some(object) = self.objects.get_mut((at - OWN) as usize) {
                self.launcher.lend_global(i, &mut object.image.bytes, &mut object.image.known);
            }
        }
    }

    /// Takes them back as the kernel left them.
    pub fn return_globals(&mut self) {
        for (i, at) in self.globals().iter().enumerate() {
            if let Some(object) = self.objects.get_mut((at - OWN) as usize) {
                self.launcher.return_global(i, &mut object.image.bytes, &mut object.image.known);
            }
        }
    }
}

/// What a place is a part of.
enum Root<'a> {
    Var(VarId),
    Pointer(&'a Expr),
    Global,
}

fn root(place: &Place) -> Root<'_> {
    match &*place.kind {
        PlaceKind::Var(var) => Root::Var(*var),
        PlaceKind::Global(_) => Root::Global,
        PlaceKind::Deref(p) | PlaceKind::Elem { pointer: p, .. } => Root::Pointer(p),
        PlaceKind::Index(base, _) | PlaceKind::Field(base, _) | PlaceKind::Component(base, _) => {
            root(base)
        }
    }
}

/// What a statement may write.
#[derive(Default)]
struct Writes {
    places: Vec<Place>,
    vars: Vec<VarId>,
    pointers: Vec<Expr>,
    /// It had begun.
    interrupted: bool,
}

impl Visitor for Writes {
    fn stmt(&mut self, stmt: &Stmt) {
        // Behind a branch that ends the program is only who did not take it.
        if let StmtKind::If { cond, then, otherwise } = &stmt.kind
            && !self.interrupted
        {
            self.expr(cond);
            for branch in [then, otherwise] {
                if !ends_program(branch) {
                    self.block(branch);
                }
            }
            return;
        }
        if let StmtKind::Call { args, .. } | StmtKind::Launch(Launch { args, .. }) = &stmt.kind {
            let writable = |e: &&Expr| matches!(e.ty, Type::Pointer { readonly: false, .. });
            self.pointers.extend(args.iter().filter(writable).cloned());
        }
        if let StmtKind::Runtime(
            Runtime::Copy { destination: p, .. } | Runtime::Fill { pointer: p, .. },
        ) = &stmt.kind
        {
            self.pointers.push(p.clone());
        }
        walk_stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: Access) {
        // Of what a written place is a part of, the rest stays as it was.
        match access {
            Access::Write => self.places.push(place.clone()),
            _ => walk_place(self, place, access),
        }
    }

    fn sets(&mut self, var: VarId) {
        self.vars.push(var);
    }
}

fn ends_program(block: &Block) -> bool {
    block.stmts.last().is_some_and(|last| match &last.kind {
        StmtKind::Trap => true,
        StmtKind::Scope(inner) => ends_program(inner),
        _ => false,
    })
}

/// The function that runs whole programs is tolerated as one.
pub(crate) fn working(tolerant: bool, module: &Module, entry: FuncId) -> Option<Working> {
    let host = module.functions.get(entry.0 as usize)?.kind == FunctionKind::Host;
    (tolerant && host).then(|| Working::of(module))
}
