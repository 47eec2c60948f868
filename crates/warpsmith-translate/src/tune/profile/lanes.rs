//! What an expression is in all threads of a block at once: most of it is the same in all of them.

use std::rc::Rc;

use warpsmith_ir::{BinaryOp, MathFn, Scalar, UnaryOp, Value, VarId, eval};

use super::values::{Number, Thread, Vars};

/// A value of each thread of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Lanes {
    All(Value),
    /// By the threads' numbers; `None`: not known of that thread.
    Each(Rc<[Option<Value>]>),
}

impl Lanes {
    pub fn of(&self, lane: usize) -> Option<Value> {
        match self {
            Lanes::All(value) => Some(*value),
            Lanes::Each(values) => values.get(lane).copied().flatten(),
        }
    }

    /// Position of each thread along an axis.
    fn positions(threads: u32, at: impl Fn(u32) -> u32) -> Lanes {
        let position = |t| Some(Value::int(Scalar::U32, at(t).into()));
        Lanes::Each((0..threads).map(position).collect())
    }

    fn map(&self, of: impl Fn(Value) -> Value) -> Lanes {
        match self {
            Lanes::All(value) => Lanes::All(of(*value)),
            Lanes::Each(values) => Lanes::Each(values.iter().map(|v| v.map(&of)).collect()),
        }
    }

    fn zip(&self, other: &Lanes, of: impl Fn(Value, Value) -> Value) -> Lanes {
        let each = |a: &Option<Value>, b: &Option<Value>| Some(of((*a)?, (*b)?));
        match (self, other) {
            (Lanes::All(a), Lanes::All(b)) => Lanes::All(of(*a, *b)),
            (Lanes::All(a), Lanes::Each(_)) => other.map(|b| of(*a, b)),
            (Lanes::Each(_), Lanes::All(b)) => self.map(|a| of(a, *b)),
            (Lanes::Each(a), Lanes::Each(b)) => {
                Lanes::Each(a.iter().zip(b.iter()).map(|(a, b)| each(a, b)).collect())
            }
        }
    }
}

impl Number for Lanes {
    fn constant(value: Value) -> Lanes {
        Lanes::All(value)
    }

    fn same(&self) -> Option<Value> {
        if let Lanes::All(value) = self { Some(*value) } else { None }
    }

    fn unary(op: UnaryOp, a: Lanes) -> Lanes {
        a.map(|a| eval::unary(op, a))
    }

    fn binary(op: BinaryOp, a: Lanes, b: Lanes) -> Lanes {
        // What addresses are mostly made of, without asking for the operation in each thread.
        let int = |of: fn(i64, i64) -> i64| {
            a.zip(&b, |a, b| match a.ty.is_float() {
                true => eval::binary(op, a, b),
                false => Value::int(a.ty, of(a.as_i64(), b.as_i64())),
            })
        };
        match op {
            BinaryOp::Add => int(i64::wrapping_add),
            BinaryOp::Mul => int(i64::wrapping_mul),
            _ => a.zip(&b, |a, b| eval::binary(op, a, b)),
        }
    }

    fn cast(self, to: Scalar) -> Lanes {
        self.map(|a| eval::cast(a, to))
    }

    fn math(function: MathFn, args: &[Lanes]) -> Lanes {
        let same: Option<Vec<Value>> = args.iter().map(Lanes::same).collect();
        if let Some(values) = same {
            return Lanes::All(eval::math(function, &values));
        }
        let at = |lane: usize| {
            let values: Option<Vec<Value>> = args.iter().map(|a| a.of(lane)).collect();
            Some(eval::math(function, &values?))
        };
        Lanes::Each((0..count(args)).map(at).collect())
    }

    fn choose(
        cond: &Lanes,
        then: impl FnOnce() -> Option<Lanes>,
        otherwise: impl FnOnce() -> Option<Lanes>,
    ) -> Option<Lanes> {
        match cond {
            Lanes::All(value) if value.is_true() => then(),
            Lanes::All(_) => otherwise(),
            Lanes::Each(truth) => {
                let (then, otherwise) = (then(), otherwise());
                let of = |(lane, truth): (usize, &Option<Value>)| {
                    let side = if truth.as_ref()?.is_true() { &then } else { &otherwise };
                    side.as_ref()?.of(lane)
                };
                Some(Lanes::Each(truth.iter().enumerate().map(of).collect()))
            }
        }
    }
}

/// How many threads there are, where not all values are the same in all.
fn count(all: &[Lanes]) -> usize {
    let lengths = all.iter().map(|a| if let Lanes::Each(v) = a { v.len() } else { 0 });
    lengths.max().unwrap_or(0)
}

/// The first threads of a block, with the values that parameters have.
pub fn first_threads(
    threads: u32,
    [x, y, _]: [u32; 3],
    block: [u32; 3],
    args: &Vars<Value>,
) -> Thread<Lanes> {
    let thread = [
        Lanes::positions(threads, |t| t % x),
        Lanes::positions(threads, |t| t / x % y),
        Lanes::positions(threads, |t| t / (x * y)),
    ];
    Thread { thread, block, vars: args.map(Lanes::constant), ..Thread::default() }
}

impl Thread<Lanes> {
    /// One of the threads, without what its variables hold.
    pub fn lane(&self, lane: usize) -> Thread<Value> {
        let zero = Value::int(Scalar::U32, 0);
        let thread = self.thread.each_ref().map(|t| t.of(lane).unwrap_or(zero));
        Thread { thread, block: self.block, ..Thread::default() }
    }

    /// Gives a variable a value in the active threads.
    pub fn set(&mut self, var: VarId, value: Option<Lanes>, active: &[bool]) {
        if !active.contains(&false) {
            self.vars.set(var, value);
            return;
        }
        let before = self.vars.get(var);
        let of = |(lane, active): (usize, &bool)| {
            let from = if *active { &value } else { &before };
            from.as_ref()?.of(lane)
        };
        let all = active.iter().enumerate().map(of).collect();
        self.vars.set(var, Some(Lanes::Each(all)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[Option<i64>]) -> Lanes {
        let int = |v: &Option<i64>| v.map(|v| Value::int(Scalar::I32, v));
        Lanes::Each(values.iter().map(int).collect())
    }

    #[test]
    fn a_value_unknown_in_a_thread_stays_so_there_only() {
        let a = ints(&[Some(1), None, Some(3)]);
        let two = Lanes::All(Value::int(Scalar::I32, 2));
        let twice = Lanes::binary(BinaryOp::Mul, a.clone(), two.clone());
        assert_eq!(twice, ints(&[Some(2), None, Some(6)]));
        let least = Lanes::math(MathFn::Min, &[a.clone(), two]);
        assert_eq!(least, ints(&[Some(1), None, Some(2)]));
        let sum = Lanes::binary(BinaryOp::Add, a, ints(&[None, Some(1), Some(1)]));
        assert_eq!(sum, ints(&[None, None, Some(4)]));
    }

    #[test]
    fn threads_choose_by_themselves() {
        let cond = ints(&[Some(0), Some(1), None]);
        let chosen = |then, otherwise| Lanes::choose(&cond, || then, || otherwise);
        let seven = Lanes::All(Value::int(Scalar::I32, 7));
        assert_eq!(chosen(Some(seven.clone()), None), Some(ints(&[None, Some(7), None])));
        let others = ints(&[Some(4), Some(5), Some(6)]);
        assert_eq!(chosen(Some(seven), Some(others)), Some(ints(&[Some(4), Some(7), None])));
    }

    #[test]
    fn inactive_threads_keep_their_values() {
        let var = VarId(0);
        let mut threads = first_threads(3, [3, 1, 1], [0; 3], &Vars::default());
        threads.set(var, Some(ints(&[Some(1), Some(2), Some(3)])), &[true, true, true]);
        threads.set(var, Some(Lanes::All(Value::int(Scalar::I32, 9))), &[false, true, false]);
        assert_eq!(threads.vars.get(var), Some(ints(&[Some(1), Some(9), Some(3)])));
        threads.set(var, None, &[true, false, false]);
        assert_eq!(threads.vars.get(var), Some(ints(&[None, Some(9), Some(3)])));
    }
}
