//! Translates statements.

mod control;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::code::{Code, Frame, Op, Pc, Reg, Site, SiteId, Work};
use crate::expr::{Expr, Place, PlaceKind};
use crate::interp::exec::vars_in_memory;
use crate::module::{FuncId, Function, Module, VarId, VarKind};
use crate::stmt::{Block, ForLoop, Stmt, StmtKind};
use crate::visit::{for_each_stmt, for_each_stmt_of};

use super::expr::scalar_of;

/// The variables that a statement declares without giving them a value that lasts; in an order, since every translation of
/// a loop has its variables in the same registers.
fn declared_in(stmt: &Stmt) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    for_each_stmt_of(stmt, &mut |s| match &s.kind {
        StmtKind::Decl { var, init: None } | StmtKind::For(ForLoop { var, declares: true, .. }) => {
            vars.insert(*var);
        }
        _ => {}
    });
    vars
}

/// Whether a function may return from a block.
fn returns(block: &Block) -> bool {
    let mut found = false;
    for_each_stmt(block, &mut |s| found |= matches!(s.kind, StmtKind::Return(_)));
    found
}

/// What only the interpreter can do.
#[derive(Debug)]
pub(super) struct Unfit;
pub(super) type Fit<X> = Result<X, Unfit>;

/// A place among the operations that may not be known yet; stands in for a [`Pc`] until all are.
pub(super) type Label = Pc;

/// What a variable of the loop's function is when the loop begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Unset,
    Known,
    InMemory,
}

/// Calls inside calls that are put in place, and those of one loop.
const MOST_NESTED: usize = 6;
const MOST_CALLS: usize = 64;
/// Operations for each step that is counted.
const OPERATIONS_A_STEP: usize = 16;

pub(super) struct Compiler<'m, 'a> {
    pub module: &'m Module,
    code: Code<'m>,
    start: &'a [Start],
    /// Every read of a variable asks whether it holds something.
    checked: bool,
    known: HashSet<Reg>,
    labels: Vec<Pc>,
    vars: HashMap<(usize, VarId), Reg>,
    constants: HashMap<u64, Reg>,
    site: SiteId,
    frame: usize,
    breaks: Label,
    continues: Label,
    calls: usize,
    /// Variables of the loop's function that it declares without a value.
    declared: BTreeSet<VarId>,
}

/// The translation of a loop of the function `id`; `None` where it needs the interpreter itself.
pub(super) fn compile<'m>(
    module: &'m Module,
    id: FuncId,
    root: &'m Stmt,
    start: &[Start],
    checked: bool,
) -> Option<Code<'m>> {
    let function = module.functions.get(id.0 as usize)?;
    let mut c = Compiler {
        module,
        code: Code::default(),
        start,
        checked,
        known: HashSet::new(),
        labels: vec![],
        vars: HashMap::new(),
        constants: HashMap::new(),
        site: 0,
        frame: 0,
        breaks: 0,
        continues: 0,
        calls: 0,
        declared: declared_in(root),
    };
    let end = c.label();
    (c.breaks, c.continues) = (end, end);
    let frame = Frame { id, function, call: None, vars: vec![], result: None, end };
    c.code.frames.push(frame);
    c.site = c.new_site(Work::Root);
    match &root.kind {
        StmtKind::For(l) => c.for_loop(l).ok()?,
        StmtKind::Loop { condition, body, step, .. } => {
            c.any_loop(root, condition.as_ref(), [body, step]).ok()?;
        }
        _ => return None,
    }
    c.bind(end);
    c.emit(Op::End);
    Some(c.finish())
}

impl<'m> Compiler<'m, '_> {
    pub(super) fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
        self.code.at.push(self.site);
    }

    /// As [`Self::emit`], of an operation whose result goes to `to` or to a new register.
    pub(super) fn emit_to(&mut self, to: Option<Reg>, mut op: Op) -> Reg {
        let reg = to.unwrap_or_else(|| self.temporary());
        use Op::*;
        match &mut op {
            Copy { to, .. } | Binary { to, .. } | AnyBinary { to, .. } | Unary { to, .. } => {
                *to = reg
            }
            Cast { to, .. } | Bits { to, .. } | Extend { to, .. } | Math { to, .. } => *to = reg,
            Offset { to, .. } | Difference { to, .. } | Load { to, .. } => *to = reg,
            _ => {}
        }
        self.emit(op);
        reg
    }

    pub(super) fn temporary(&mut self) -> Reg {
        self.code.registers += 1;
        self.code.registers - 1
    }

    pub(super) fn constant(&mut self, bits: u64) -> Reg {
        if let Some(reg) = self.constants.get(&bits) {
            return *reg;
        }
        let reg = self.temporary();
        self.constants.insert(bits, reg);
        self.code.constants.push((reg, bits));
        reg
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(0);
        self.labels.len() as Label - 1
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label as usize] = self.code.ops.len() as Pc;
    }

    fn new_site(&mut self, work: Work<'m>) -> SiteId {
        let next = self.label();
        let (breaks, continues) = (self.breaks, self.continues);
        let site = Site { work, frame: self.frame, next, breaks, continues, known: vec![] };
        self.code.sites.push(site);
        self.code.sites.len() as SiteId - 1
    }

    /// The register of a place that is a variable without an address.
    pub(super) fn register_of(&mut self, place: &Place) -> Option<Reg> {
        let PlaceKind::Var(var) = &*place.kind else { return None };
        self.register(*var)
    }

    fn register(&mut self, var: VarId) -> Option<Reg> {
        if let Some(reg) = self.vars.get(&(self.frame, var)) {
            return Some(*reg);
        }
        let start = (self.frame == 0).then(|| self.start.get(var.0 as usize).copied())??;
        scalar_of(&self.code.frames[0].function.vars[var.0 as usize].ty).ok()?;
        if start == Start::InMemory {
            return None;
        }
        let reg = self.temporary();
        self.vars.insert((0, var), reg);
        self.code.frames[0].vars.push((var, reg));
        if start == Start::Known && !self.checked && !self.declared.contains(&var) {
            self.code.needs.push(reg);
        }
        Some(reg)
    }

    /// The register that holds the address of a variable.
    pub(super) fn address_of_var(&mut self, var: VarId) -> Fit<Reg> {
        let in_memory = self.start.get(var.0 as usize) == Some(&Start::InMemory);
        if self.frame != 0 || !in_memory {
            return Err(Unfit);
        }
        Ok(self.address_register(Ok(var)))
    }

    /// The register that holds the address of a variable of the loop's function, or of the file.
    pub(super) fn address_register(&mut self, of: Result<VarId, u32>) -> Reg {
        if let Some((reg, _)) = self.code.addresses.iter().find(|(_, known)| *known == of) {
            return *reg;
        }
        let reg = self.temporary();
        self.code.addresses.push((reg, of));
        reg
    }

    /// Asks whether the variable holds something, where that is in doubt.
    pub(super) fn check(&mut self, variable: Reg) {
        let known = self.known.contains(&variable) || self.code.needs.contains(&variable);
        if self.checked || !known {
            self.emit(Op::Check { a: variable });
        }
    }

    fn block(&mut self, block: &'m Block) {
        for stmt in &block.stmts {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &'m Stmt) {
        let around = self.site;
        let site = self.new_site(Work::Stmt(stmt));
        self.site = site;
        let (begin, known) = (self.code.ops.len(), self.known.clone());
        if self.try_statement(stmt, site).is_err() {
            self.code.ops.truncate(begin);
            self.code.at.truncate(begin);
            self.known = known;
            self.emit(Op::Interpret);
        }
        self.note_sets(stmt);
        self.bind(self.code.sites[site as usize].next);
        self.note_known(site);
        self.site = around;
    }

    /// What the operations after a site take for set.
    fn note_known(&mut self, site: SiteId) {
        if !self.checked {
            self.code.sites[site as usize].known = self.known.iter().copied().collect();
        }
    }

    /// What holds something after the statement and what does not; where the interpreter finds it otherwise, it says so.
    fn note_sets(&mut self, stmt: &Stmt) {
        let (var, set) = match &stmt.kind {
            StmtKind::Decl { var, init } => (Some(*var), init.is_some()),
            StmtKind::Assign { place, .. } | StmtKind::Call { result: Some(place), .. } => {
                match &*place.kind {
                    PlaceKind::Var(var) => (Some(*var), true),
                    _ => (None, true),
                }
            }
            _ => (None, true),
        };
        if let Some(reg) = var.and_then(|var| self.vars.get(&(self.frame, var)).copied()) {
            match set {
                true => self.known.insert(reg),
                false => self.known.remove(&reg),
            };
        }
    }

    fn try_statement(&mut self, stmt: &'m Stmt, site: SiteId) -> Fit<()> {
        match &stmt.kind {
            StmtKind::Decl { var, init } => self.declaration(*var, init.as_ref()),
            StmtKind::Assign { place, value } => self.assignment(place, value),
            StmtKind::If { cond, then, otherwise } => self.choice(cond, [then, otherwise]),
            StmtKind::For(l) => self.for_loop(l),
            StmtKind::Loop { condition, body, step, .. } => {
                self.any_loop(stmt, condition.as_ref(), [body, step])
            }
            StmtKind::Switch { selector, cases } => self.switch(selector, cases),
            StmtKind::Break => {
                self.emit(Op::Jump { to: self.breaks });
                Ok(())
            }
            StmtKind::Continue => {
                self.emit(Op::Jump { to: self.continues });
                Ok(())
            }
            StmtKind::Return(value) => self.return_of(value.as_ref()),
            StmtKind::Scope(block) => {
                self.block(block);
                Ok(())
            }
            StmtKind::Call { function, args, result } => {
                self.call(*function, args, result.as_ref(), site)
            }
            _ => Err(Unfit),
        }
    }

    fn declaration(&mut self, var: VarId, init: Option<&'m Expr>) -> Fit<()> {
        let Some(reg) = self.register(var) else {
            let init = init.ok_or(Unfit)?;
            let ty = scalar_of(&init.ty)?;
            let base = self.address_of_var(var)?;
            let a = self.expr(init)?;
            self.emit(Op::Store {
                ty,
                at: super::code::Address { base, index: None, offset: 0 },
                a,
            });
            return Ok(());
        };
        match init {
            Some(init) => {
                self.expr_to(init, Some(reg))?;
            }
            None => {
                self.emit(Op::Unset { first: reg, end: reg + 1 });
            }
        }
        Ok(())
    }

    fn assignment(&mut self, place: &'m Place, value: &'m Expr) -> Fit<()> {
        let ty = scalar_of(&value.ty)?;
        if let Some(reg) = self.register_of(place) {
            self.expr_to(value, Some(reg))?;
            return Ok(());
        }
        let at = self.address(place, false)?;
        let a = self.expr(value)?;
        self.emit(Op::Store { ty, at, a });
        Ok(())
    }

    fn return_of(&mut self, value: Option<&'m Expr>) -> Fit<()> {
        if self.frame == 0 {
            return Err(Unfit);
        }
        let Frame { result, end, .. } = self.code.frames[self.frame];
        match (value, result) {
            (Some(e), _) => {
                self.expr_to(e, result)?;
            }
            (None, Some(_)) => return Err(Unfit),
            (None, None) => {}
        }
        self.emit(Op::Jump { to: end });
        Ok(())
    }

    /// Puts the body of a function in the place of its call, where all that it has fits into registers.
    fn call(
        &mut self,
        id: FuncId,
        args: &'m [Expr],
        result: Option<&'m Place>,
        site: SiteId,
    ) -> Fit<()> {
        let f = self.module.functions.get(id.0 as usize).ok_or(Unfit)?;
        self.fits(id, f, result.is_some())?;
        let to = result.map(|place| self.register_of(place).ok_or(Unfit)).transpose()?;
        let args = args.iter().map(|a| self.expr(a)).collect::<Fit<Vec<Reg>>>()?;
        self.calls += 1;
        let value = to.map(|_| self.temporary());
        let [end, without, after] = [(); 3].map(|()| self.label());
        let around = self.frame;
        let first = self.code.registers;
        self.code.registers += f.vars.len() as Reg;
        let vars: Vec<(VarId, Reg)> =
            (0..f.vars.len() as u32).map(|i| (VarId(i), first + i)).collect();
        let frame = self.code.frames.len();
        self.vars.extend(vars.iter().map(|(var, reg)| ((frame, *var), *reg)));
        let call = Some(site);
        self.code.frames.push(Frame { id, function: f, call, vars, result: value, end });
        self.emit(Op::Tick { steps: 1 });
        self.emit(Op::Unset { first, end: self.code.registers });
        for (param, a) in f.params.iter().zip(args) {
            self.emit(Op::Copy { to: first + param.0, a });
            self.known.insert(first + param.0);
        }
        if f.of_library {
            self.emit(Op::Library { enters: true, site });
        }
        self.frame = frame;
        self.block(&f.body);
        self.frame = around;
        if value.is_some() {
            self.emit(Op::Jump { to: without });
        }
        self.bind(end);
        let leaves = f.of_library.then_some(Op::Library { enters: false, site });
        leaves.iter().for_each(|op| self.emit(op.clone()));
        if value.is_some() {
            self.emit(Op::Jump { to: after });
            self.bind(without);
            leaves.iter().for_each(|op| self.emit(op.clone()));
            self.emit(Op::NoValue { call: site });
            self.bind(after);
        }
        self.known.retain(|reg| !(first..first + f.vars.len() as Reg).contains(reg));
        if let (Some(to), Some(a)) = (to, value) {
            self.emit(Op::Copy { to, a });
        }
        Ok(())
    }

    fn fits(&self, id: FuncId, f: &Function, gives: bool) -> Fit<()> {
        let around = || self.code.around(self.frame);
        let recurs = around().any(|frame| self.code.frames[frame].id == id);
        let returns = matches!(f.body.stmts.last().map(|s| &s.kind), Some(StmtKind::Return(_)));
        let simple = |kind| matches!(kind, VarKind::Param | VarKind::Local);
        let fits = !recurs
            && around().count() <= MOST_NESTED
            && self.calls < MOST_CALLS
            && (returns || !gives)
            && f.vars.iter().all(|v| simple(v.kind) && scalar_of(&v.ty).is_ok())
            && !vars_in_memory(f).contains(&true);
        if fits { Ok(()) } else { Err(Unfit) }
    }

    /// Puts operations in the place of labels, and counts steps.
    fn finish(mut self) -> Code<'m> {
        let pc = |label: &mut Label| *label = self.labels[*label as usize];
        for op in &mut self.code.ops {
            use Op::{Again, Branch, Jump, JumpIf};
            if let Jump { to } | Again { to, .. } | JumpIf { to, .. } | Branch { to, .. } = op {
                pc(to);
            }
        }
        for site in &mut self.code.sites {
            site.known.extend(&self.code.needs);
            [&mut site.next, &mut site.breaks, &mut site.continues].into_iter().for_each(pc);
            if let Work::Condition { holds, fails, .. } = &mut site.work {
                [holds, fails].into_iter().for_each(pc);
            }
        }
        for frame in &mut self.code.frames {
            pc(&mut frame.end);
        }
        let mut since = 0;
        for op in self.code.ops.iter_mut().rev() {
            since += 1;
            if let Op::Tick { steps } = op {
                *steps = (since / OPERATIONS_A_STEP).max(1) as u32;
                since = 0;
            }
        }
        self.code
    }
}
