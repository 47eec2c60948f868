//! What expressions of one thread are, as formulas.
//!
//! Whole numbers are exact: a sum stands for what the machine computes as long as no number leaves the range of `int`, which
//! is an assumption of every proof. Where the machine's `unsigned` makes a difference below zero, a choice says so.

mod places;

use std::collections::{BTreeMap, HashMap};

use warpsmith_ir::{
    BinaryOp, Builtin, Expr, ExprKind, MathFn, Module, Place, PlaceKind, Scalar, Span, Type,
    UnaryOp,
};

use super::formula::{Atom, Sum, Truth};
use super::poly::Poly;
use super::tree::{Array, MAKE, Tree};

/// Where a place is in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    Global(Array),
    Shared(Array),
    /// An array of the thread.
    Local,
    /// Memory that is not followed.
    Other,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    Whole(Poly),
    Truth(Truth),
    Tree(Tree),
    Pointer(Memory, Poly),
}

/// A read of global memory by the unmodified kernel.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub array: Array,
    pub at: Poly,
    pub when: Truth,
    pub span: Option<Span>,
}

/// Variables of one function while it runs.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub function: usize,
    pub vars: HashMap<u32, Held>,
    /// Values of `return`, in order, with when.
    pub returned: Vec<(Truth, Option<Held>)>,
}

/// What one thread knows.
pub struct Eval<'a> {
    pub module: &'a Module,
    pub block: [u32; 3],
    pub frame: Frame,
    /// When control comes here.
    pub path: Truth,
    pub fresh: u32,
    /// Arrays that the unmodified kernel writes.
    pub written: Vec<Array>,
    /// Structures that parameters lead to, and variables of the device.
    pub objects: BTreeMap<Array, Tree>,
    pub loads: Vec<Loaded>,
    /// Elements of shared arrays that the unmodified kernel reads.
    pub shared_reads: Vec<Loaded>,
    /// Reads are noted.
    pub noting: bool,
    /// Names of numbers that follow from others in a way that is not looked into.
    pub known: HashMap<String, Sum>,
}

const WRAP: i64 = 1 << 32;
/// Nodes of a value that is followed through variables, at most.
const MAX_TREE: usize = 24;

/// Factors of unsigned numbers from two to the power of which on products are expected to wrap around.
const FAR_BITS: i64 = 12;

/// Positions of a thread are this many times apart, at most.
const FAR_TIMES: u64 = 8;

/// Whether what an operation makes of a number is the same of one that has wrapped around 2^32.
fn keeps_wrapped(op: BinaryOp, by: &Poly) -> bool {
    op == BinaryOp::Rem && by.constant().is_some_and(|n| n > 0 && n & (n - 1) == 0)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn is_far(factor: &Poly, other: &Poly) -> bool {
    factor.constant().is_some_and(|n| n.abs() >= 1 << FAR_BITS) && other.constant().is_none()
}

fn is_word(ty: &Type) -> bool {
    ty.scalar() == Some(Scalar::U32)
}

impl Eval<'_> {
    /// A name that stands for a number of one thread.
    pub fn own(&mut self, what: &str) -> Sum {
        self.fresh += 1;
        Sum::name(&format!("t_{what}{}", self.fresh))
    }

    fn unknown(&mut self) -> Poly {
        Poly::of(self.own("f"))
    }

    /// A number that is the same whenever these are.
    fn function(&mut self, what: String) -> Poly {
        let sum = match self.known.get(&what) {
            Some(known) => known.clone(),
            None => self.own("f"),
        };
        self.known.insert(what, sum.clone());
        Poly::of(sum)
    }

    /// The same of numbers that a launch has one of: all threads have one result, too, as if it were a size.
    fn shared_function(&mut self, what: String) -> Poly {
        let name = match self.known.get(&what) {
            Some(known) => known.clone(),
            None => {
                self.fresh += 1;
                Sum::name(&format!("u_q{}", self.fresh))
            }
        };
        self.known.insert(what, name.clone());
        Poly::size(&name.text())
    }

    fn unknown_truth(&mut self) -> Truth {
        self.fresh += 1;
        Truth::Name(format!("t_b{}", self.fresh).into())
    }

    pub fn unknown_of(&mut self, ty: &Type) -> Held {
        match ty {
            Type::Scalar(Scalar::Bool) => Held::Truth(self.unknown_truth()),
            Type::Scalar(s) if s.is_integer() => Held::Whole(self.unknown()),
            Type::Pointer { .. } => Held::Pointer(Memory::Other, Poly::default()),
            _ => {
                self.fresh += 1;
                Held::Tree(Tree::Own(self.fresh))
            }
        }
    }

    pub fn held(&mut self, e: &Expr) -> Held {
        match &e.ty {
            Type::Scalar(Scalar::Bool) => Held::Truth(self.truth(e)),
            Type::Scalar(s) if s.is_integer() => Held::Whole(self.whole(e)),
            Type::Pointer { .. } => {
                let (memory, at) = self.pointer(e);
                Held::Pointer(memory, at)
            }
            _ => {
                let tree = self.tree(e);
                match tree.size() > MAX_TREE {
                    true => self.unknown_of(&e.ty),
                    false => Held::Tree(tree),
                }
            }
        }
    }

    /// A number as the machine compares and divides it: `unsigned` has none below zero.
    fn machine(&self, poly: Poly, ty: &Type) -> Poly {
        let signed = ty.scalar().is_none_or(Scalar::is_signed);
        let sum = poly.sum();
        if signed || natural(&sum) {
            return poly;
        }
        let below = Truth::below(&sum, &Sum::default());
        Poly::choose(&below, &poly.plus(&Poly::number(WRAP), 1), &poly)
    }

    pub fn whole(&mut self, e: &Expr) -> Poly {
        match &*e.kind {
            ExprKind::Const(v) => Poly::number(v.as_i64()),
            ExprKind::Named(id) => {
                Poly::number(self.module.constants[id.0 as usize].value.as_i64())
            }
            ExprKind::Read(place) => self.read_whole(place),
            ExprKind::Unary(UnaryOp::Neg, a) => Poly::default().plus(&self.whole(a), -1),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Cast(a) => self.cast(a, &e.ty),
            ExprKind::Select(c, a, b) => {
                let c = self.truth(c);
                let (a, b) =
                    (self.under(&c, |s| s.whole(a)), self.under(&c.negated(), |s| s.whole(b)));
                Poly::choose(&c, &a, &b)
            }
            ExprKind::Call(MathFn::Min | MathFn::Max, args) if args.len() == 2 => {
                let (a, b) = (self.whole(&args[0]), self.whole(&args[1]));
                let (x, y) = (self.machine(a.clone(), &e.ty), self.machine(b.clone(), &e.ty));
                let first = Truth::at_most(&x.sum(), &y.sum());
                match *e.kind == ExprKind::Call(MathFn::Min, args.clone()) {
                    true => Poly::choose(&first, &a, &b),
                    false => Poly::choose(&first, &b, &a),
                }
            }
            ExprKind::Builtin(b) => self.builtin(*b),
            ExprKind::Member(a, n) => match self.tree(a).part(*n as usize) {
                Tree::Whole(poly) => poly,
                _ => self.unknown(),
            },
            ExprKind::Call(_, args) => {
                args.iter().for_each(|a| self.note(a));
                self.unknown()
            }
            _ => self.unknown(),
        }
    }

    fn under<T>(&mut self, condition: &Truth, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.path.clone();
        self.path = before.and(condition);
        let result = f(self);
        self.path = before;
        result
    }

    fn builtin(&mut self, b: Builtin) -> Poly {
        match b {
            Builtin::ThreadIdx(a) => match self.block[a.index()] {
                1 => Poly::default(),
                _ => Poly::of(Sum::name(["t_x", "t_y", "t_z"][a.index()])),
            },
            Builtin::BlockIdx(a) => Poly::of(Sum::name(["u_bx", "u_by", "u_bz"][a.index()])),
            Builtin::BlockDim(a) => Poly::number(self.block[a.index()].into()),
            Builtin::GridDim(a) => Poly::size(["u_gx", "u_gy", "u_gz"][a.index()]),
            Builtin::WarpSize => Poly::number(32),
            _ => self.unknown(),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Poly {
        let (x, y) = (self.whole(a), self.whole(b));
        let name = format!("{op:?} {:?} {} {}", a.ty, x.sum().text(), y.sum().text());
        match op {
            BinaryOp::Add => x.plus(&y, 1),
            BinaryOp::Sub => x.plus(&y, -1),
            // What goes far beyond 32 bits is taken modulo 2^32 on purpose: `i * 65536u >> 16`.
            BinaryOp::Mul if is_word(&a.ty) && (is_far(&x, &y) || is_far(&y, &x)) => {
                self.function(name)
            }
            BinaryOp::Shl
                if is_word(&a.ty)
                    && x.constant().is_none()
                    && y.constant().is_some_and(|n| n >= FAR_BITS) =>
            {
                self.function(name)
            }
            BinaryOp::Mul => x.times(&y),
            BinaryOp::Shl => match y.constant() {
                Some(n @ 0..31) => x.times(&Poly::number(1 << n)),
                _ => self.function(name),
            },
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr
                if is_word(&a.ty) && self.is_scaled(&x) && !keeps_wrapped(op, &y) =>
            {
                self.function(name)
            }
            BinaryOp::Div | BinaryOp::Rem => match y.constant() {
                Some(n) if n > 0 => self.divided(op, self.machine(x, &a.ty).sum(), n),
                None if op == BinaryOp::Div && is_of_launch(&x) && is_of_launch(&y) => {
                    self.shared_function(name)
                }
                None => {
                    let other = self.function(name);
                    let (x, y) = (self.machine(x, &a.ty), self.machine(y, &b.ty));
                    around(op, &x, &y, &other)
                }
                _ => self.function(name),
            },
            BinaryOp::Shr => match y.constant() {
                Some(n @ 0..31) => Poly::of(self.machine(x, &a.ty).sum().divided(1 << n).0),
                _ => self.function(name),
            },
            BinaryOp::BitAnd => match (x.constant(), y.constant()) {
                (_, Some(n)) if n > 0 && (n + 1) & n == 0 => Poly::of(x.sum().divided(n + 1).1),
                (Some(n), _) if n > 0 && (n + 1) & n == 0 => Poly::of(y.sum().divided(n + 1).1),
                _ => self.function(name),
            },
            _ => self.function(name),
        }
    }

    /// Whether a number is plainly a multiple of a position: it leaves 32 bits, and wraps, where the position itself is far from that.
    fn is_scaled(&self, poly: &Poly) -> bool {
        let (mut common, mut most, mut bounded) = (0, 0, true);
        poly.sum().each_atom(&mut |atom, n| {
            let name = if let Atom::Name(name) = atom { &**name } else { "" };
            let axis = ["u_bx", "u_by", "u_bz"].iter().position(|b| *b == name);
            let threads = axis.map_or(1, |a| u64::from(self.block[a].max(1)));
            let n = n.unsigned_abs();
            let times = if n.is_multiple_of(threads) { n / threads } else { n };
            common = gcd(common, times);
            if !matches!(atom, Atom::Rest(..)) && !["t_x", "t_y", "t_z"].contains(&name) {
                (most, bounded) = (most.max(times), false);
            }
        });
        !bounded && (common > 1 || most >= FAR_TIMES)
    }

    /// C divides towards zero.
    fn divided(&self, op: BinaryOp, sum: Sum, n: i64) -> Poly {
        let pick = |(q, r): (Sum, Sum)| if op == BinaryOp::Div { q } else { r };
        let up = pick(sum.divided(n));
        if natural(&sum) {
            return Poly::of(up);
        }
        let down = pick(sum.times(-1).divided(n)).times(-1);
        let below = Truth::below(&sum, &Sum::default());
        Poly::of(Sum::choose(&below, &down, &up))
    }

    fn cast(&mut self, a: &Expr, to: &Type) -> Poly {
        let (Some(from), Some(to)) = (a.ty.scalar(), to.scalar()) else { return self.unknown() };
        if from == Scalar::Bool {
            let t = self.truth(a);
            return Poly::choose(&t, &Poly::number(1), &Poly::default());
        }
        if from.is_float() {
            self.note(a);
            return self.unknown();
        }
        let poly = self.whole(a);
        match (from.bytes(), to.bytes()) {
            (f, t) if f < t => self.machine(poly, &a.ty),
            (8, 4) if poly.constant().is_none() => {
                let other = self.function(format!("cut {to:?} {}", poly.sum().text()));
                let (low, high) = if to.is_signed() { (-WRAP / 2, WRAP / 2) } else { (0, WRAP) };
                let at_least = Truth::at_most(&Sum::number(low), &poly.sum());
                let inside = at_least.and(&Truth::below(&poly.sum(), &Sum::number(high)));
                Poly::choose(&inside, &poly, &other)
            }
            (_, 4 | 8) => poly,
            (f, t) if f == t && from.is_signed() == to.is_signed() => poly,
            (_, t) if !to.is_signed() => Poly::of(poly.sum().divided(1 << (8 * t)).1),
            _ => match poly.constant() {
                Some(n) => Poly::number(warpsmith_ir::Value::int(to, n).as_i64()),
                None => self.unknown(),
            },
        }
    }

    fn read_whole(&mut self, place: &Place) -> Poly {
        if let PlaceKind::Var(v) = &*place.kind {
            return match self.frame.vars.get(&v.0) {
                Some(Held::Whole(poly)) => poly.clone(),
                _ => self.unknown(),
            };
        }
        match self.read(place) {
            Tree::Load(array, at) => self.function(format!("{array:?} {}", at.sum().text())),
            Tree::Whole(poly) => poly,
            _ => self.unknown(),
        }
    }

    pub fn truth(&mut self, e: &Expr) -> Truth {
        match &*e.kind {
            ExprKind::Const(v) => Truth::known(v.bits != 0),
            ExprKind::Read(place) => {
                if let PlaceKind::Var(v) = &*place.kind
                    && let Some(Held::Truth(t)) = self.frame.vars.get(&v.0)
                {
                    return t.clone();
                }
                let _ = self.read(place);
                self.unknown_truth()
            }
            ExprKind::Unary(UnaryOp::Not, a) => self.truth(a).negated(),
            ExprKind::Binary(BinaryOp::LogicalAnd, a, b) => {
                let a = self.truth(a);
                let b = self.under(&a, |s| s.truth(b));
                a.and(&b)
            }
            ExprKind::Binary(BinaryOp::LogicalOr, a, b) => {
                let a = self.truth(a);
                let b = self.under(&a.negated(), |s| s.truth(b));
                a.or(&b)
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => self.compared(*op, a, b),
            ExprKind::Cast(a) if a.ty.is_integer() && a.ty != Type::BOOL => {
                Truth::equal(&self.whole(a).sum(), &Sum::default()).negated()
            }
            ExprKind::Select(c, a, b) => {
                let c = self.truth(c);
                let (a, b) =
                    (self.under(&c, |s| s.truth(a)), self.under(&c.negated(), |s| s.truth(b)));
                c.negated().or(&a).and(&c.or(&b))
            }
            _ => {
                self.note(e);
                self.unknown_truth()
            }
        }
    }

    fn compared(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Truth {
        if a.ty == Type::BOOL {
            let (a, b) = (self.truth(a), self.truth(b));
            let same = a.and(&b).or(&a.negated().and(&b.negated()));
            return match op {
                BinaryOp::Eq => same,
                BinaryOp::Ne => same.negated(),
                _ => self.unknown_truth(),
            };
        }
        if !a.ty.is_integer() {
            self.note(a);
            self.note(b);
            return self.unknown_truth();
        }
        let (x, y) = (self.whole(a), self.whole(b));
        let (x, y) = (self.machine(x, &a.ty).sum(), self.machine(y, &b.ty).sum());
        match op {
            BinaryOp::Lt => Truth::below(&x, &y),
            BinaryOp::Le => Truth::at_most(&x, &y),
            BinaryOp::Gt => Truth::below(&y, &x),
            BinaryOp::Ge => Truth::at_most(&y, &x),
            BinaryOp::Eq => Truth::equal(&x, &y),
            _ => Truth::equal(&x, &y).negated(),
        }
    }

    /// Notes what an expression reads that is not looked into.
    pub fn note(&mut self, e: &Expr) {
        if !e.ty.is_pointer() {
            let _ = self.tree(e);
        }
    }

    pub fn tree(&mut self, e: &Expr) -> Tree {
        match &*e.kind {
            ExprKind::Const(v) if v.ty.is_float() => Tree::Constant(v.bits),
            ExprKind::Read(place) => self.read_tree(place),
            ExprKind::Select(c, a, b) => {
                let c = self.truth(c);
                let (a, b) =
                    (self.under(&c, |s| s.tree(a)), self.under(&c.negated(), |s| s.tree(b)));
                Tree::choose(&c, a, b)
            }
            ExprKind::Cast(a) if !(a.ty.is_integer() && e.ty.is_integer()) && a.ty != e.ty => {
                Tree::Apply(format!("cast {:?} {:?}", a.ty, e.ty), vec![self.tree(a)])
            }
            ExprKind::Cast(a) if a.ty == e.ty || is_load(a) => {
                Tree::Apply(format!("cast {:?} {:?}", a.ty, e.ty), vec![self.tree(a)])
            }
            _ if e.ty == Type::BOOL => {
                let t = self.truth(e);
                Tree::choose(&t, Tree::Constant(1), Tree::Constant(0))
            }
            ExprKind::Unary(op, a) if e.ty.is_float() => {
                Tree::Apply(format!("{op:?}"), vec![self.tree(a)])
            }
            ExprKind::Binary(op, a, b) if e.ty.is_float() => {
                Tree::Apply(format!("{op:?} {:?}", e.ty), vec![self.tree(a), self.tree(b)])
            }
            ExprKind::Call(f, args) if !e.ty.is_integer() => {
                Tree::Apply(format!("{f:?}"), args.iter().map(|a| self.tree(a)).collect())
            }
            ExprKind::Bitcast(a) => {
                Tree::Apply(format!("bits {:?} {:?}", a.ty, e.ty), vec![self.tree(a)])
            }
            ExprKind::Member(a, n) => self.tree(a).part(*n as usize),
            ExprKind::Make(parts) => Tree::Apply(
                format!("{MAKE}{:?}", e.ty),
                parts.iter().map(|p| self.tree(p)).collect(),
            ),
            _ if e.ty.is_integer() => Tree::Whole(self.whole(e)),
            _ => {
                self.fresh += 1;
                Tree::Own(self.fresh)
            }
        }
    }

    fn read_tree(&mut self, place: &Place) -> Tree {
        if let PlaceKind::Var(v) = &*place.kind
            && !matches!(place.ty, Type::Array(..))
        {
            let held = self.frame.vars.get(&v.0).cloned();
            match held {
                Some(Held::Tree(tree)) => return tree,
                Some(Held::Whole(poly)) => return Tree::Whole(poly),
                Some(Held::Truth(t)) => {
                    return Tree::choose(&t, Tree::Constant(1), Tree::Constant(0));
                }
                _ => {}
            }
        }
        self.read(place)
    }
}

/// A quotient or rest by a size of what is less than twice that size, as positions that wrap around are.
fn around(op: BinaryOp, x: &Poly, size: &Poly, other: &Poly) -> Poly {
    let zero = Sum::default();
    let rest = x.plus(size, -1);
    let (once, twice) = match op {
        BinaryOp::Rem => (x.clone(), rest.clone()),
        _ => (Poly::default(), Poly::number(1)),
    };
    let inside =
        |p: &Poly| Truth::at_most(&zero, &p.sum()).and(&Truth::below(&p.sum(), &size.sum()));
    let other = match op {
        // Of a size, a rest has the sign of what is divided and is less than the size: others need not be asked about.
        BinaryOp::Rem => {
            let negative = Truth::below(&x.sum(), &zero);
            let signed = Poly::choose(&negative, &Poly::default().plus(other, -1), other);
            let bounded = Poly::choose(&inside(other), &signed, &Poly::default());
            Poly::choose(&Truth::below(&zero, &size.sum()), &bounded, other)
        }
        _ => other.clone(),
    };
    let further = Poly::choose(&inside(&rest), &twice, &other);
    Poly::choose(&inside(x), &once, &further)
}

/// Whether a number is made of arguments and of the size of the grid alone.
fn is_of_launch(poly: &Poly) -> bool {
    let mut all = true;
    poly.sum().names(&mut |n| {
        let tail = n.strip_prefix("u_").unwrap_or("");
        all &= tail.starts_with(|c: char| c.is_ascii_digit() || c == 'g' || c == 'q');
    });
    all
}

fn is_load(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Read(p) if !matches!(&*p.kind, PlaceKind::Var(_)))
}

/// Whether a sum is plainly not below zero: made of what only counts up.
pub fn natural(sum: &Sum) -> bool {
    sum.is_natural(&|name| {
        ["t_x", "t_y", "t_z", "u_bx", "u_by", "u_bz", "u_gx", "u_gy", "u_gz"].contains(&name)
            || name.starts_with("u_n")
            || name.starts_with("t_n")
    })
}
