//! What the threads of a block do together: boxes of elements, combined values, exchanges between lanes.

use super::InterpErrorKind;
use super::bounds::Track;
use super::eval::{Item, Location, number};
use super::exec::{Interp, Run, Slot};
use super::memory::Val;
use crate::collective::{Combine, Fill};
use crate::eval;
use crate::expr::{Axis, BinaryOp, BindLevel, Expr, MathFn, ReduceOp};
use crate::module::VarId;
use crate::span::Origin;
use crate::stmt::WarpOp;
use crate::types::Scalar;
use crate::value::Value;

impl<T: Track> Interp<'_, '_, T> {
    /// All threads copy a box of elements; which of them copies which element is open.
    pub fn fill_box(&mut self, fill: &Fill, active: &[usize], origin: &Origin) -> Run<()> {
        self.collectives += 1;
        let who = u32::MAX - self.collectives;
        let mut at = vec![0u32; fill.counters.len()];
        let total = fill.counters.iter().fold(1u64, |n, (_, m)| n.saturating_mul((*m).into()));
        for k in 0..total {
            let mut rest = k;
            for (i, (_, n)) in fill.counters.iter().enumerate().rev() {
                at[i] = (rest % u64::from(*n)) as u32;
                rest /= u64::from(*n);
            }
            self.tick(origin)?;
            // The same in all threads: the ends of the box are looked at in each of them.
            let threads = if k == 0 || k + 1 == total { active } else { &active[..1] };
            let mut first = None;
            for t in threads {
                let found = self.as_thread(*t, |this| this.element_of(fill, &at, who, origin))?;
                match &first {
                    None => first = Some(found),
                    Some(other) if *other == found => {}
                    Some(_) => {
                        let what = "an operand of a collective statement";
                        let kind = InterpErrorKind::NotUniform(what.into());
                        return Err(self.error(kind, origin));
                    }
                }
            }
        }
        Ok(())
    }

    /// Sets one element, and tells where it is and where it came from.
    fn element_of(
        &mut self,
        fill: &Fill,
        at: &[u32],
        who: u32,
        origin: &Origin,
    ) -> Run<(Option<u64>, Option<u64>)> {
        for ((var, _), i) in fill.counters.iter().zip(at) {
            let ty = self.var_of(*var).and_then(|v| v.ty.scalar()).unwrap_or(crate::Scalar::I32);
            self.set_slot(*var, Slot::Value(number::<T>(Value::int(ty, (*i).into()))));
        }
        let set = |this: &Self, asynchronous: bool| {
            if let Some(races) = &this.races {
                let mut races = races.borrow_mut();
                (races.who.thread, races.asynchronous) = (who, asynchronous);
            }
        };
        set(self, false);
        let within = fill.within.as_ref().map_or(Ok(true), |e| self.truth(e))?;
        let item = match within {
            true => self.eval(&fill.source)?,
            false => self.zero_of(&fill.destination.ty, origin)?,
        };
        let bits = match &item.0 {
            Val::Num(v) => Some(v.bits),
            _ => None,
        };
        let place = match self.locate(&fill.destination)? {
            Location::At(p) => Some(p.to_bits()),
            Location::Slot(_) => None,
        };
        set(self, fill.asynchronous);
        self.write(&fill.destination, item)?;
        set(self, false);
        for (var, _) in &fill.counters {
            self.unset(*var);
        }
        Ok((place, bits))
    }

    /// One thread of a block copies elements, which are there when it waits for them.
    pub fn async_copy(
        &mut self,
        [destination, source]: [&Expr; 2],
        bytes: &Expr,
        zero_fill: Option<&Expr>,
        origin: &Origin,
    ) -> Run<()> {
        if self.team.is_none() {
            return self.unsupported("an asynchronous copy", origin);
        }
        let (to, from) = (self.pointer(destination)?, self.pointer(source)?);
        let zeros = zero_fill.map_or(Ok(0), |e| self.integer(e))?;
        let read = self.integer(bytes)?.saturating_sub(zeros);
        let ty = destination.ty.pointee().and_then(|ty| ty.scalar()).unwrap_or(Scalar::U8);
        let size = i64::from(ty.bytes());
        for offset in (0..self.integer(bytes)?).step_by(ty.bytes() as usize) {
            let value = match offset + size <= read {
                true => self.load_scalar(from.add(offset), ty),
                false => Ok((Value { ty, bits: 0 }, T::input(Value::i32(0)))),
            };
            let (value, bound) = value.map_err(|kind| self.error(kind, origin))?;
            let set = |this: &Self, on: bool| {
                this.races.iter().for_each(|r| r.borrow_mut().asynchronous = on);
            };
            set(self, true);
            let stored = self.store(to.add(offset), (Val::Num(value), bound));
            set(self, false);
            stored.map_err(|kind| self.error(kind, origin))?;
        }
        Ok(())
    }

    fn zero_of(&mut self, ty: &crate::Type, origin: &Origin) -> Run<Item<T>> {
        match ty.scalar() {
            Some(s) => Ok(number::<T>(Value { ty: s, bits: 0 })),
            None => {
                let size = crate::layout::layout_of(self.module, ty).size as usize;
                if size == 0 {
                    return self.unsupported("an element without a size", origin);
                }
                let image = super::memory::Image::new(size, true);
                Ok((Val::Bytes(Box::new(image)), T::input(Value::i32(0))))
            }
        }
    }

    /// The values of threads that differ along some axes only.
    pub fn combine(&mut self, combine: &Combine, origin: &Origin) -> Run<()> {
        let Some(team) = &self.team else { return Ok(()) };
        let apart = |t: usize| -> Vec<(BindLevel, Axis, u32)> {
            let own = team.positions[t].iter();
            own.filter(|(l, a, _)| !combine.over.contains(&(*l, *a))).copied().collect()
        };
        let mut groups: Vec<(Vec<_>, Vec<usize>)> = vec![];
        for t in 0..team.slots.len() {
            let key = apart(t);
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, list)) => list.push(t),
                None => groups.push((key, vec![t])),
            }
        }
        // Along one axis, threads in the order of their positions on it.
        let position = |t: &usize| -> Vec<u32> {
            let own = team.positions[*t].iter();
            own.filter(|(l, a, _)| combine.over.contains(&(*l, *a))).map(|(_, _, n)| *n).collect()
        };
        groups.iter_mut().for_each(|(_, threads)| threads.sort_by_key(position));
        for (_, threads) in groups {
            if let Some(slope) = combine.slope {
                self.compose(combine, slope, &threads, origin)?;
                continue;
            }
            let mut best: Option<(Item<T>, Option<Value>)> = None;
            for t in &threads {
                let own = self.as_thread(*t, |this| {
                    let value = this.own_number(combine.value)?;
                    let at = combine.at.map(|v| {
                        let ty = this.var_of(v).map_or(crate::Type::I32, |v| v.ty.clone());
                        this.decisive(&Expr::var(v, ty))
                    });
                    Ok((value, at.transpose()?))
                })?;
                if let (Some(var), Some((all, _))) = (combine.before, &best) {
                    self.as_thread(*t, |this| {
                        let known = (this.own_number(var)?, None);
                        let (value, _) = joined::<T>(combine.op, known, (all.clone(), None));
                        this.set_var(var, value, origin)
                    })?;
                }
                best = Some(match best {
                    None => own,
                    Some(best) => joined::<T>(combine.op, best, own),
                });
            }
            let Some((value, at)) = best else { continue };
            for t in threads {
                self.as_thread(t, |this| {
                    this.set_var(combine.value, value.clone(), origin)?;
                    match combine.at.zip(at) {
                        Some((var, at)) => this.set_var(var, number::<T>(at), origin),
                        None => Ok(()),
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Applies the maps of threads one after the other: what lies before each thread, and the whole of them in all.
    fn compose(
        &mut self,
        combine: &Combine,
        slope: VarId,
        threads: &[usize],
        origin: &Origin,
    ) -> Run<()> {
        let mut all: Option<[Item<T>; 2]> = None;
        for t in threads {
            let own = self.as_thread(*t, |this| {
                if let (Some(var), Some([m, c])) = (combine.before, &all) {
                    let begun = this.own_number(var)?;
                    this.set_var(var, mapped::<T>([m, c], &begun), origin)?;
                }
                Ok([this.own_number(slope)?, this.own_number(combine.value)?])
            })?;
            let [m, c] = [&own[0], &own[1]];
            all = Some(match &all {
                Some([slope, value]) => [times::<T>(m, slope), mapped::<T>([m, c], value)],
                None => own,
            });
        }
        let Some([m, c]) = all else { return Ok(()) };
        for t in threads {
            self.as_thread(*t, |this| {
                this.set_var(slope, m.clone(), origin)?;
                this.set_var(combine.value, c.clone(), origin)
            })?;
        }
        Ok(())
    }

    /// The number that a variable of the thread holds.
    fn own_number(&mut self, var: VarId) -> Run<Item<T>> {
        let ty = self.var_of(var).map_or(crate::Type::I32, |v| v.ty.clone());
        let (value, taint) = self.number(&Expr::var(var, ty))?;
        Ok((Val::Num(value), taint))
    }

    /// Exchanges between the lanes of a warp.
    pub fn warp(
        &mut self,
        op: WarpOp,
        args: &[Expr],
        result: Option<VarId>,
        active: &[usize],
        origin: &Origin,
    ) -> Run<()> {
        let Some(lanes) = self.team.as_ref().map(|t| t.lanes.clone()) else { return Ok(()) };
        let mut values = vec![];
        for t in active {
            let own = self.as_thread(*t, |this| {
                args.iter().map(|a| this.number(a)).collect::<Run<Vec<_>>>()
            })?;
            values.push(own);
        }
        // Threads of a warp are numbered one after the other.
        let warp_of = |t: usize| t - lanes[t] as usize;
        for (k, t) in active.iter().enumerate() {
            let in_warp = || {
                let own = active.iter().enumerate().filter(|(_, o)| warp_of(**o) == warp_of(*t));
                own.map(|(j, o)| (j, lanes[*o]))
            };
            let truth = |j: usize| values[j].first().is_some_and(|(v, _)| v.is_true());
            let item = match op {
                WarpOp::All => number::<T>(Value::bool(in_warp().all(|(j, _)| truth(j)))),
                WarpOp::Any => number::<T>(Value::bool(in_warp().any(|(j, _)| truth(j)))),
                WarpOp::Ballot => {
                    let bits =
                        in_warp().filter(|(j, _)| truth(*j)).fold(0u32, |b, (_, l)| b | 1 << l);
                    number::<T>(Value::int(crate::Scalar::U32, bits.into()))
                }
                WarpOp::Shuffle | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => {
                    let [_, by, width] = values[k].as_slice() else {
                        return self.unsupported("this warp operation", origin);
                    };
                    let (lane, by, width) = (i64::from(lanes[*t]), by.0.as_i64(), width.0.as_i64());
                    let first = lane - lane % width;
                    let from = match op {
                        WarpOp::Shuffle => first + by.rem_euclid(width),
                        WarpOp::ShuffleUp => lane - by,
                        WarpOp::ShuffleDown => lane + by,
                        _ => lane ^ by,
                    };
                    let inside = from >= first && from < first + width;
                    let from = if inside { from } else { lane };
                    let source = in_warp().find(|(_, l)| i64::from(*l) == from);
                    match source.and_then(|(j, _)| values[j].first()) {
                        Some((v, b)) => (Val::Num(*v), *b),
                        None => {
                            let what = "the value of a lane that does not take part".into();
                            return Err(self.error(InterpErrorKind::Uninitialized(what), origin));
                        }
                    }
                }
                _ => return self.unsupported("this warp operation", origin),
            };
            if let Some(var) = result {
                self.as_thread(*t, |this| this.set_var(var, item, origin))?;
            }
        }
        Ok(())
    }
}

fn times<T: Track>(a: &Item<T>, b: &Item<T>) -> Item<T> {
    joined::<T>(ReduceOp::Mul, (a.clone(), None), (b.clone(), None)).0
}

/// `slope * x + value`.
fn mapped<T: Track>([slope, value]: [&Item<T>; 2], x: &Item<T>) -> Item<T> {
    let scaled = times::<T>(slope, x);
    joined::<T>(ReduceOp::Add, (scaled, None), (value.clone(), None)).0
}

/// Two values combined; the place comes from the one that is taken.
fn joined<T: Track>(
    op: ReduceOp,
    a: (Item<T>, Option<Value>),
    b: (Item<T>, Option<Value>),
) -> (Item<T>, Option<Value>) {
    let (Val::Num(x), Val::Num(y)) = (&a.0.0, &b.0.0) else { return a };
    let (p, q) = ((*x, a.0.1), (*y, b.0.1));
    let (function, better) = match op {
        ReduceOp::Min => (MathFn::Min, BinaryOp::Lt),
        ReduceOp::Max => (MathFn::Max, BinaryOp::Gt),
        _ => {
            let op = match op {
                ReduceOp::Mul => BinaryOp::Mul,
                ReduceOp::BitAnd => BinaryOp::BitAnd,
                ReduceOp::BitOr => BinaryOp::BitOr,
                ReduceOp::BitXor => BinaryOp::BitXor,
                ReduceOp::LogicalAnd | ReduceOp::LogicalOr => {
                    let held = match op {
                        ReduceOp::LogicalAnd => p.0.is_true() && q.0.is_true(),
                        _ => p.0.is_true() || q.0.is_true(),
                    };
                    return (number::<T>(Value::int(p.0.ty, held.into())), None);
                }
                _ => BinaryOp::Add,
            };
            let result = eval::binary(op, p.0, q.0);
            return ((Val::Num(result), T::binary(op, p, q, result)), None);
        }
    };
    let at = match (a.1, b.1) {
        (Some(i), Some(j)) => {
            let later = eval::binary(better, q.0, p.0).is_true();
            let equal = eval::binary(BinaryOp::Eq, q.0, p.0).is_true();
            let before = eval::binary(BinaryOp::Lt, j, i).is_true();
            Some(if later || (equal && before) { j } else { i })
        }
        _ => None,
    };
    let result = eval::math(function, &[p.0, q.0]);
    ((Val::Num(result), T::call(function, &[p, q], result)), at)
}
