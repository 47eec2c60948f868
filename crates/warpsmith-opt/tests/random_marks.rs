//! Random marks against brute force: no wrong mark is accepted, and every example of a refusal is one.
//!
//! `WARPSMITH_RANDOM_MARKS=N` asks for N nests, `WARPSMITH_RANDOM_SEED=S` for others; the share that is decided is printed.

mod common;

use std::collections::HashMap;

use common::Input;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_ir::VarId;
use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_opt::rewrite::question::independence;
use warpsmith_opt::{Refusal, walk};

/// An integer expression over `i`, `j`, `n`, `m`.
#[derive(Clone, Debug)]
enum Term {
    Var(usize),
    Const(i64),
    Add(Box<Term>, Box<Term>),
    Sub(Box<Term>, Box<Term>),
    Mul(Box<Term>, Box<Term>),
    Div(Box<Term>, i64),
    Rem(Box<Term>, i64),
    And(Box<Term>, i64),
    Xor(Box<Term>, i64),
    Shr(Box<Term>, i64),
}
use Term::*;

const NAMES: [&str; 4] = ["i", "j", "n", "m"];

impl Term {
    fn text(&self) -> String {
        let two = |a: &Term, op: &str, b: &Term| format!("({} {op} {})", a.text(), b.text());
        match self {
            Var(v) => NAMES[*v].into(),
            Const(c) => c.to_string(),
            Add(a, b) => two(a, "+", b),
            Sub(a, b) => two(a, "-", b),
            Mul(a, b) => two(a, "*", b),
            Div(a, c) => two(a, "/", &Const(*c)),
            Rem(a, c) => two(a, "%", &Const(*c)),
            And(a, c) => two(a, "&", &Const(*c)),
            Xor(a, c) => two(a, "^", &Const(*c)),
            Shr(a, c) => two(a, ">>", &Const(*c)),
        }
    }

    fn value(&self, at: &[i64; 4]) -> i64 {
        match self {
            Var(v) => at[*v],
            Const(c) => *c,
            Add(a, b) => a.value(at) + b.value(at),
            Sub(a, b) => a.value(at) - b.value(at),
            Mul(a, b) => a.value(at) * b.value(at),
            Div(a, c) => a.value(at) / c,
            Rem(a, c) => a.value(at) % c,
            And(a, c) => a.value(at) & c,
            Xor(a, c) => a.value(at) ^ c,
            Shr(a, c) => a.value(at) >> c,
        }
    }

    fn greatest(&self) -> i64 {
        match self {
            Var(_) => 0,
            Const(c) => c.abs(),
            Add(a, b) | Sub(a, b) | Mul(a, b) => a.greatest().max(b.greatest()),
            Div(a, c) | Rem(a, c) | And(a, c) | Xor(a, c) => a.greatest().max(c.abs()),
            Shr(a, c) => a.greatest().max(1 << c),
        }
    }
}

fn add(a: Term, b: Term) -> Term {
    Add(Box::new(a), Box::new(b))
}

fn sub(a: Term, b: Term) -> Term {
    Sub(Box::new(a), Box::new(b))
}

fn mul(a: Term, b: Term) -> Term {
    Mul(Box::new(a), Box::new(b))
}

/// A condition: `left op right`, or none.
#[derive(Clone, Debug)]
struct Guard {
    left: Term,
    op: &'static str,
    right: Term,
    /// Written as `if (!…) continue;`.
    skips: bool,
}

impl Guard {
    fn holds(&self, at: &[i64; 4]) -> bool {
        let (x, y) = (self.left.value(at), self.right.value(at));
        match self.op {
            "<" => x < y,
            ">=" => x >= y,
            "==" => x == y,
            _ => x != y,
        }
    }
}

#[derive(Clone, Debug)]
struct Nest {
    first: i64,
    step: i64,
    /// The inner loop runs to this; `None`: there is none.
    inner: Option<Term>,
    guard: Option<Guard>,
    write: Term,
    read: Option<Term>,
}

impl Nest {
    fn text(&self) -> String {
        let by = if self.step == 1 { "i++".into() } else { format!("i += {}", self.step) };
        let read = self.read.as_ref().map_or("1.0f".into(), |r| format!("a[{}]", r.text()));
        let mut body = format!("a[{}] = {read};", self.write.text());
        if let Some(g) = &self.guard {
            let cond = format!("{} {} {}", g.left.text(), g.op, g.right.text());
            body = match g.skips {
                true => format!("{{ if (!({cond})) continue; {body} }}"),
                false => format!("if ({cond}) {body}"),
            };
        }
        if let Some(limit) = &self.inner {
            body = format!("for (int j = 0; j < {}; j++) {body}", limit.text());
        }
        format!(
            "void f(int n, int m, float *a) {{
    #pragma omp parallel for
    for (int i = {}; i < n; {by}) {body}
}}
",
            self.first
        )
    }

    /// All points with their elements: the counters, and what is written and read there.
    fn each(&self, n: i64, m: i64, f: &mut dyn FnMut(i64, i64, i64, Option<i64>)) {
        let mut i = self.first;
        while i < n {
            let limit = self.inner.as_ref().map_or(1, |l| l.value(&[i, 0, n, m]));
            for j in 0..limit {
                let at = [i, j, n, m];
                if self.guard.as_ref().is_none_or(|g| g.holds(&at)) {
                    f(i, j, self.write.value(&at), self.read.as_ref().map(|r| r.value(&at)));
                }
            }
            i += self.step;
        }
    }

    /// Whether two iterations of the outer loop touch one element; `None` where a subscript is negative.
    fn meets(&self, n: i64, m: i64) -> Option<bool> {
        let mut writers = HashMap::<i64, i64>::new();
        let (mut valid, mut meets) = (true, false);
        self.each(n, m, &mut |i, _, w, r| {
            valid &= w >= 0 && r.is_none_or(|r| r >= 0);
            meets |= *writers.entry(w).or_insert(i) != i;
        });
        self.each(n, m, &mut |i, _, _, r| {
            meets |= r.is_some_and(|r| writers.get(&r).is_some_and(|w| *w != i));
        });
        valid.then_some(meets)
    }

    fn greatest(&self) -> i64 {
        let guard = self.guard.as_ref().map_or(0, |g| g.left.greatest().max(g.right.greatest()));
        let inner = self.inner.as_ref().map_or(0, Term::greatest);
        let read = self.read.as_ref().map_or(0, Term::greatest);
        self.write.greatest().max(read).max(guard).max(inner).max(self.first)
    }
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, n: u64) -> i64 {
        (self.0.next_u64() % n) as i64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn constant(&mut self, most: u64) -> i64 {
        // Small ones as often as large ones.
        let bits = self.below(64 - u64::from(most.leading_zeros()) + 1);
        self.below((1u64 << bits).min(most) + 1)
    }

    fn nest(&mut self) -> Nest {
        let single = self.one_in(2);
        let most = if single { 1_000_000 } else { 40 };
        let inner = (!single).then(|| match self.below(5) {
            0 => Const(1 + self.below(12)),
            1 => add(Var(0), Const(1)),
            _ => Var(3),
        });
        let write = self.subscript(single, most);
        let read = (!self.one_in(3)).then(|| match self.below(3) {
            0 => self.subscript(single, most),
            // Like the other subscript, a distance away.
            1 => add(write.clone(), Const(self.constant(most))),
            _ => write.clone(),
        });
        let guard = self.one_in(3).then(|| self.guard(single, most));
        let step = if self.one_in(3) { 1 + self.below(4) } else { 1 };
        let first = if self.one_in(3) { self.below(5) } else { 0 };
        Nest { first, step, inner, guard, write, read }
    }

    fn subscript(&mut self, single: bool, most: u64) -> Term {
        let linear = match (single, self.below(7)) {
            (true, 0) => sub(sub(Var(2), Const(1)), Var(0)),
            (true, 1) => mul(Const(2 + self.below(3)), Var(0)),
            (true, _) => Var(0),
            (false, 0) => add(Var(0), Var(1)),
            (false, 1) => add(mul(Var(1), Var(2)), Var(0)),
            (false, 2) => add(mul(Var(0), Const(1 + self.below(20))), Var(1)),
            (false, 3) => Var(0),
            (false, _) => add(mul(Var(0), Var(3)), Var(1)),
        };
        let moved = match self.one_in(2) {
            true => add(linear, Const(self.constant(most))),
            false => linear,
        };
        let power = 1 << self.below(9);
        match self.below(9) {
            0 => Rem(Box::new(moved), 1 + self.constant(most)),
            1 => And(Box::new(moved), power - 1),
            2 => Div(Box::new(moved), 1 + self.below(5)),
            3 if single => Xor(Box::new(moved), self.constant(64)),
            4 => Shr(Box::new(moved), self.below(4)),
            _ => moved,
        }
    }

    fn guard(&mut self, single: bool, most: u64) -> Guard {
        let skips = self.one_in(2);
        let (left, op, right) = match self.below(5) {
            0 => {
                let by = 2 + self.below(4);
                (Rem(Box::new(Var(0)), by), "==", Const(self.below(by as u64)))
            }
            1 => (Var(0), ">=", Const(self.constant(most))),
            2 => (Var(0), "<", sub(Var(2), Const(self.constant(most)))),
            3 if !single => (Var(1), "!=", Const(self.constant(8))),
            _ => (Var(0), "!=", Const(self.constant(most))),
        };
        Guard { left, op, right, skips }
    }
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Accepted,
    /// Accepted where these are not negative.
    Under(Vec<Poly>),
    Refused {
        sizes: [i64; 2],
        first: Vec<i64>,
        second: Vec<i64>,
    },
    Undecided,
}

fn verdict(nest: &Nest) -> Verdict {
    let source = nest.text();
    let input = Input::new(&source);
    let kernel = input.kernel();
    let id = walk::for_loops(&kernel.func().body)[0].id;
    let (group, clauses) = independence::group_of(&kernel, id);
    match independence::check(&kernel, id, &group, &clauses) {
        Ok(found) if found.proved() => Verdict::Accepted,
        Ok(found) if found.unproved.is_empty() => {
            let named = |p: Poly| {
                p.rename(&|v| {
                    VarId(kernel.func().params.iter().position(|p| *p == v).unwrap() as u32)
                })
            };
            Verdict::Under(found.requires.iter().map(|r| named(r.slack())).collect())
        }
        Ok(found) => panic!("{source}{found:?}"),
        Err(Refusal::Carried(d)) => {
            let size = |name: &str| d.sizes.iter().find(|s| s.0 == name).map_or(0, |s| s.1 as i64);
            let counters = |end: &warpsmith_opt::refusal::End| {
                end.iteration.iter().map(|x| x.1 as i64).collect::<Vec<_>>()
            };
            Verdict::Refused {
                sizes: [size("n"), size("m")],
                first: counters(&d.first),
                second: counters(&d.second),
            }
        }
        Err(Refusal::Undecided(_)) => Verdict::Undecided,
        Err(other) => panic!("{source}{other:?}"),
    }
}

/// Whether the two iterations do run and touch one element, at least one writing.
fn is_example(nest: &Nest, [n, m]: [i64; 2], first: &[i64], second: &[i64]) -> bool {
    let touched = |x: &[i64]| {
        let (i, j) = (x[0], x.get(1).copied().unwrap_or(0));
        let at = [i, j, n, m];
        let limit = nest.inner.as_ref().map_or(1, |l| l.value(&at));
        let runs = i >= nest.first && i < n && (i - nest.first) % nest.step == 0;
        let runs = runs && j >= 0 && j < limit;
        let guarded = nest.guard.as_ref().is_none_or(|g| g.holds(&at));
        (runs && guarded).then(|| (nest.write.value(&at), nest.read.as_ref().map(|r| r.value(&at))))
    };
    let (Some((w, r)), Some((x, s))) = (touched(first), touched(second)) else { return false };
    first[0] != second[0] && w >= 0 && (w == x || Some(w) == s || r == Some(x))
}

#[test]
fn marks_agree_with_brute_force() {
    let asked = |name: &str, usual: u64| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual)
    };
    let count = asked("WARPSMITH_RANDOM_MARKS", 150);
    let seed = asked("WARPSMITH_RANDOM_SEED", 1);
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
    let (mut accepted, mut refused, mut undecided) = (0, 0, vec![]);
    for _ in 0..count {
        let nest = random.nest();
        let text = nest.text();
        let large = 2 * nest.greatest() + 50;
        let sizes = match nest.inner {
            None => vec![(7, 1), (large, 1)],
            Some(_) => vec![(6, 9), (9, 6), (large.min(140), large.min(130)), (3, large.min(140))],
        };
        let meets = |(n, m): &(i64, i64)| nest.meets(*n, *m) == Some(true);
        match verdict(&nest) {
            Verdict::Accepted => {
                assert!(!sizes.iter().any(meets), "accepted, but iterations meet:\n{text}");
                accepted += 1;
            }
            Verdict::Under(slacks) => {
                let holds = |(n, m): &(i64, i64)| {
                    let value = |a: &Atom| match a {
                        Atom::Var(v) => Some(i128::from([*n, *m][v.0 as usize])),
                        _ => None,
                    };
                    slacks.iter().all(|s| s.eval(&value).unwrap() >= 0)
                };
                let wrong = sizes.iter().find(|s| holds(s) && meets(s));
                assert!(wrong.is_none(), "accepted under {slacks:?}, but at {wrong:?}:\n{text}");
                accepted += 1;
            }
            Verdict::Refused { sizes, first, second } => {
                assert!(
                    is_example(&nest, sizes, &first, &second),
                    "no example: {sizes:?} {first:?} {second:?}\n{text}"
                );
                refused += 1;
            }
            Verdict::Undecided => undecided.push(text),
        }
    }
    println!("{accepted} accepted, {refused} refused, {} undecided of {count}", undecided.len());
    for text in &undecided {
        println!("{text}");
    }
    assert!(undecided.len() as u64 * 50 <= count, "more than 2 % undecided");
}
