//! Atomics and launches.

use super::bounds::Track;
use super::capture::Operation;
use super::eval::{Item, number};
use super::exec::{Interp, Run};
use super::memory::{Pointer, Val};
use super::{Arg, InterpErrorKind, LaunchRequest};
use crate::eval;
use crate::expr::{BinaryOp, Expr, ExprKind, MathFn, Place, PlaceKind};
use crate::layout::layout_of;
use crate::span::Origin;
use crate::stmt::{AtomicOp, Launch};
use crate::types::Type;
use crate::value::Value;

impl<T: Track> Interp<'_, '_, T> {
    /// Does the operation and returns the old value.
    pub fn atomic(
        &mut self,
        op: AtomicOp,
        pointer: &Expr,
        value: &Expr,
        compare: Option<&Expr>,
        origin: &Origin,
    ) -> Run<Item<T>> {
        let ty = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
        let p = self.pointer(pointer)?;
        let mut operand = match op {
            AtomicOp::Load => None,
            _ => Some(self.eval(value)?),
        };
        if let Some((Val::Num(v), bound)) = &mut operand
            && op != AtomicOp::Store
        {
            *bound = T::narrowed(*v, narrows(value), *bound);
        }
        let expected = compare.map(|c| self.number(c)).transpose()?.map(|(v, _)| v.bits);
        let indivisible = |this: &Self, on: bool| {
            this.races.iter().for_each(|r| r.borrow_mut().atomic = on);
        };
        if self.working.is_some() {
            self.host_touches(p, self.size(&ty) as u64, (true, false), origin);
        }
        indivisible(self, true);
        let old = self.updated(op, (p, &ty), operand, expected);
        indivisible(self, false);
        match old.map_err(|kind| self.error(kind, origin))? {
            Some(old) => Ok(old),
            None => self.unsupported("an atomic operation on this type", origin),
        }
    }

    /// Reads, changes and writes an element, and gives what it held; `None` where the type has no such operation.
    fn updated(
        &mut self,
        op: AtomicOp,
        (p, ty): (Pointer, &Type),
        operand: Option<Item<T>>,
        expected: Option<u64>,
    ) -> Result<Option<Item<T>>, InterpErrorKind> {
        let Some(item) = operand else { return self.load(p, ty).map(Some) };
        if op == AtomicOp::Store {
            self.store(p, item.clone())?;
            return Ok(Some(item));
        }
        let old = self.load(p, ty)?;
        let new = match op {
            AtomicOp::Exchange => Some(item),
            AtomicOp::Cas => {
                let equal = matches!(&old.0, Val::Num(v) if Some(v.bits) == expected);
                equal.then_some(item)
            }
            _ => match (&old.0, item.0) {
                (Val::Num(a), Val::Num(b)) => Some(modify::<T>(op, (*a, old.1), (b, item.1))),
                _ => return Ok(None),
            },
        };
        if let Some(new) = new {
            self.store(p, new)?;
        }
        Ok(Some(old))
    }

    pub fn launch(&mut self, launch: &Launch, origin: &Origin) -> Run<()> {
        // What a library launches is the program's launch.
        let origin = &if self.in_library > 0 { self.library_call.clone() } else { origin.clone() };
        let mut extents = [[0u32; 3]; 2];
        for (to, from) in extents.iter_mut().zip([&launch.grid, &launch.block]) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = self.integer(from)? as u32;
            }
        }
        let shared = self.integer(&launch.shared)? as u64;
        let mut args = vec![];
        for (i, arg) in launch.args.iter().enumerate() {
            args.push(match self.launch_arg(arg) {
                Ok(arg) => arg,
                Err(error) => {
                    self.launcher.missing_arg(self.memory, launch.kernel, i, origin).ok_or(error)?
                }
            });
        }
        let mut cluster = None;
        if let Some(extents) = &launch.cluster {
            let [x, y, z] = &**extents;
            let mut extent = |e| self.integer(e).map(|n| n as u32);
            cluster = Some([extent(x)?, extent(y)?, extent(z)?]).filter(|c| *c != [0; 3]);
        }
        let [grid, block] = extents;
        let request = LaunchRequest { kernel: launch.kernel, grid, block, shared, cluster, args };
        match self.captured.on {
            true => {
                self.captured.note(Operation::Launch(request), origin);
                Ok(())
            }
            false => self.launch_now(request, origin),
        }
    }

    pub fn launch_now(&mut self, request: LaunchRequest, origin: &Origin) -> Run<()> {
        if self.working.is_some() {
            self.lend_globals();
        }
        let apart = self.in_library > 0 && !self.streams.named;
        self.before_operation();
        self.launcher.launching(origin);
        let result = self.launcher.launch(self.memory, request);
        if self.working.is_some() {
            self.return_globals();
        }
        if apart {
            self.all_is_done();
        }
        // What the kernel wrote has no history here.
        self.memory.clear_bounds();
        result.map_err(|why| self.error(InterpErrorKind::Launch(why), origin))
    }

    /// The host's copy to a variable of the device, which the launcher keeps.
    pub fn copy_to_global(
        &mut self,
        destination: &Place,
        source: &Expr,
        origin: &Origin,
    ) -> Run<()> {
        let PlaceKind::Global(global) = *destination.kind else {
            return self.unsupported("a copy to this place", origin);
        };
        let size = layout_of(self.module, &destination.ty).size;
        let source = self.launch_arg(source)?;
        let result = self
            .memory
            .bytes_at(&source, size)
            .and_then(|bytes| self.launcher.copy_to_global(global, bytes));
        result.map_err(|why| self.error(InterpErrorKind::Launch(why), origin))
    }

    fn launch_arg(&mut self, e: &Expr) -> Run<Arg> {
        match self.eval(e)?.0 {
            Val::Num(v) => Ok(Arg::Value(v)),
            Val::Ptr(Pointer { object: None, offset: 0 }) => Ok(Arg::Null),
            Val::Ptr(Pointer { object: Some(id), offset })
                if (id as usize) < self.memory.buffers.len() =>
            {
                Ok(Arg::Pointer { buffer: id as usize, offset })
            }
            Val::Ptr(_) => self.unsupported("passing the address of a host variable", &e.origin),
            Val::Bytes(image) => Ok(Arg::Bytes(image.bytes)),
        }
    }
}

/// Whether the term is rounded to the type of the element before it is added.
fn narrows(value: &Expr) -> bool {
    let ExprKind::Cast(wide) = &*value.kind else { return false };
    let bytes = |ty: &Type| ty.scalar().map_or(0, |s| s.bytes());
    wide.ty.is_float() && value.ty.is_float() && bytes(&wide.ty) > bytes(&value.ty)
}

/// The new value of a read-modify-write.
fn modify<T: Track>(op: AtomicOp, a: (Value, T::Bound), b: (Value, T::Bound)) -> Item<T> {
    let function = match op {
        AtomicOp::Min => Some(MathFn::Min),
        AtomicOp::Max => Some(MathFn::Max),
        _ => None,
    };
    if let Some(function) = function {
        let result = eval::math(function, &[a.0, b.0]);
        return (Val::Num(result), T::call(function, &[a, b], result));
    }
    let decides = match op {
        AtomicOp::Lower => Some(BinaryOp::Lt),
        AtomicOp::Raise => Some(BinaryOp::Gt),
        _ => None,
    };
    if let Some(compare) = decides {
        let function = if op == AtomicOp::Lower { MathFn::Min } else { MathFn::Max };
        let result = if eval::binary(compare, b.0, a.0).is_true() { b.0 } else { a.0 };
        return (Val::Num(result), T::call(function, &[a, b], result));
    }
    let binary = match op {
        AtomicOp::Sub => BinaryOp::Sub,
        AtomicOp::Mul => BinaryOp::Mul,
        AtomicOp::And => BinaryOp::BitAnd,
        AtomicOp::Or => BinaryOp::BitOr,
        AtomicOp::Xor => BinaryOp::BitXor,
        AtomicOp::Inc | AtomicOp::Dec => return number::<T>(wrap(op, a.0, b.0)),
        _ => BinaryOp::Add,
    };
    let result = eval::binary(binary, a.0, b.0);
    (Val::Num(result), T::binary(binary, a, b, result))
}

/// `atomicInc` and `atomicDec`.
fn wrap(op: AtomicOp, old: Value, bound: Value) -> Value {
    let bits = match op {
        AtomicOp::Inc if old.bits >= bound.bits => 0,
        AtomicOp::Inc => old.bits + 1,
        _ if old.bits == 0 || old.bits > bound.bits => bound.bits,
        _ => old.bits - 1,
    };
    Value { ty: old.ty, bits }
}
