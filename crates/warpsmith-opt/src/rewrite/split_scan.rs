//! Splits a serial loop whose iterations use what sums are so far across blocks: running sums, elements that are kept in order.
//!
//! ```text
//!     for i in 0..n { if (p(i)) { out[m] = f(i); m += 1 } }
//!       ==> split_scan i by 1024
//!     parallel for part in 0..1024 { c = 0; for i in the part { if (p(i)) c += 1 }; m_parts[part] = c }
//!     parallel for row in 0..1 { s = m; for part in 0..1024 { c = m_parts[part]; m_parts[part] = s; s += c }; m_total[row] = s }
//!     parallel for part in 0..1024 { s = m_parts[part]; for i in the part { if (p(i)) { out[s] = f(i); s += 1 } } }
//!     m = m_total[0]
//! ```
//!
//! Later steps bind the three nests: threads can share the sum of a part, and [`scan`](super::scan) the other two. Without `by` each iteration
//! is a part, for loops that have others inside: rows of which elements are kept.
//!
//! Legal for a serial loop that no parallel one stands around, that counts up by one and has bounds that the launcher knows at its
//! start. Its iterations are independent but for variables that each combines something with by one operation, where what is combined
//! does not depend on what they are so far, or carries on linearly (`s = a(i) * s + x(i)`: a part is the map `x -> slope * x + rest`);
//! some iteration uses such a value. Elements that they count, and that are only written, are an iteration's own (see [`appends`]).
//! Sums of reals are added in another order. Marks of loops inside go: threads of a part can still share these.
//!
//! Reduce, scan, scan: Dotsenko et al., *Fast scan algorithms on graphics processors*, ICS 2008; Billeter, Olsson, Assarsson,
//! *Efficient stream compaction on wide SIMD many-core architectures*, HPG 2009.

use std::collections::BTreeSet;
use std::fmt;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopId, LoopKind, Origin, Parallel, Place, ReduceOp, Scalar,
    SourceMap, Stmt, StmtKind, Type, Var, VarId, VarKind, visit,
};
use winnow::{ModalResult, Parser};

use super::edit::copy::general_copy;
use super::edit::part_ranges::Ranges;
use super::edit::{copy, slots};
use super::fuse_loops::unmark;
use super::step::grammar::{counted_or_one, name};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, keep_rows, share};
use crate::analysis::loops::unit_step;
use crate::analysis::{appends, extremes, scalars};
use crate::build::{counters, operators, stmts};
use crate::kernel::{Kernel, Sum, is_marked};
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::walk;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A serial loop whose iterations use sums so far.
    pub target: String,
    /// Parts that blocks go through; 1: each iteration is one.
    pub parts: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts {
            1 => f.write_str(&self.target),
            parts => write!(f, "{} by {parts}", self.target),
        }
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "split_scan",
        example: "split_scan i by 1024",
        does: "splits a serial loop whose iterations use what sums are so far (running sums, `out[m++] = x` under a condition) into parts: a nest over `i_part` leaves what each part adds in the workspace, one of a single row adds these up, and a third goes through the parts again and begins each with what those before have; without `by` each iteration is a part, of a loop with others inside",
        legal: "no parallel loop stands around the loop, its bounds are sizes, and its iterations are independent but for variables that each combines something with by one operation, where what is combined does not depend on what they are so far, or that are carried on linearly; elements that such a variable counts are only written; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void positive(int n, const float x[n], float out[n], int *kept) {
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.0f) {
            out[m] = x[i];
            m++;
        }
    }
    *kept = m;
}
",
            steps: "split_scan i by 256",
            after: "\
void positive(int n, const float *x, float *out, int *kept, int i_length, int *__restrict__ m_parts,
              int *__restrict__ m_total) {
    int m = 0;

    // parallel
    for (int i_part = 0; i_part < 256; ++i_part) {
        int m_part = 0;
        for (int i = i_part * i_length;
             i < (i_part == 255 || (i_part + 1) * i_length > n ? n : (i_part + 1) * i_length);
             ++i) {
            if (x[i] > 0.0f) {
                ++m_part;
            }
        }
        m_parts[i_part] = m_part;
    }

    // parallel
    for (int i_row = 0; i_row < 1; ++i_row) {
        int m_before = m;
        for (int i_part = 0; i_part < 256; ++i_part) {
            const int m_part = m_parts[i_part];
            m_parts[i_part] = m_before;
            m_before += m_part;
        }
        m_total[i_row] = m_before;
    }

    // parallel
    for (int i_part = 0; i_part < 256; ++i_part) {
        int m_here = m_parts[i_part];
        for (int i = i_part * i_length;
             i < (i_part == 255 || (i_part + 1) * i_length > n ? n : (i_part + 1) * i_length);
             ++i) {
            if (x[i] > 0.0f) {
                out[m_here] = x[i];
                ++m_here;
            }
        }
    }
    m = m_total[0];
    *kept = m;
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        (name, counted_or_one("by")).map(|(target, parts)| Args { target, parts }).parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?, self.parts)?))
    }
}

/// Most parts: those of a part that begins behind the loop's end must still be numbers.
const MOST: u32 = 1024;
/// Parts begin at multiples of so many iterations, as vectors of a row must.
const MULTIPLE: u32 = 32;

const VERB: &str = "split the scan of";

/// The verdict on a `split_scan`, which alone allows it.
pub struct LegalSplitScan {
    /// Without marks inside of the loop.
    kernel: Kernel,
    target: LoopId,
    parts: u32,
    /// With what is carried on linearly.
    sums: Vec<Sum>,
    carried: BTreeSet<VarId>,
    /// Arrays in whose elements only one iteration stores, as the sums count them.
    apart: BTreeSet<VarId>,
}

/// Asks whether blocks can go through parts of the loop.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, parts: u32) -> Result<LegalSplitScan, Refusal> {
    let refused = |why: String| Refusal::of_loop(VERB, target, why);
    if !(1..=MOST).contains(&parts) {
        return Err(refused(format!("the parts must be {MOST} at most")));
    }
    let gone = || refused("it is gone".into());
    let l = kernel.find_loop(target).ok_or_else(gone)?;
    if !matches!(l.kind, LoopKind::Serial) {
        return Err(Refusal::NotSerial { loop_id: target });
    }
    let bound =
        |l: &&ForLoop| matches!(l.kind, LoopKind::Bound(_)) || kernel.nests.contains_key(&l.id);
    if kernel.loops_around(target).iter().any(|l| is_marked(l) || bound(l)) {
        return Err(refused("a parallel loop stands around it: see `scan`".into()));
    }
    if walk::for_loops(&l.body).iter().any(bound) {
        return Err(refused("a loop that is bound stands in it".into()));
    }
    let unmarked = without_marks(kernel, target);
    let kernel = &unmarked;
    let l = kernel.find_loop(target).ok_or_else(gone)?;
    check_range(kernel, l).map_err(|why| refused(why.into()))?;
    keep_rows::check_statements(&l.body).map_err(refused)?;
    let carried = keep_rows::carried(kernel, l);
    let of_this = |why: Refusal| why.instead_of(share::VERB, VERB);
    let mut sums = share::accumulated(kernel, l, Some(&carried)).map_err(of_this)?;
    keep_rows::check_running(kernel, l, (&sums, &carried)).map_err(refused)?;
    sums.extend(carried.iter().map(|var| Sum { var: *var, op: ReduceOp::Add, at: None }));
    if share::seen_before_the_end(&extremes::as_calls(&l.body), &sums).is_none() {
        return Err(refused("its iterations do not use what a sum is so far".into()));
    }
    let apart = appends::appended(kernel.func(), l);
    share::check_others(kernel, l, &sums, &apart).map_err(of_this)?;
    share::check_truth(kernel, target, target, &sums).map_err(of_this)?;
    Ok(LegalSplitScan { kernel: unmarked, target, parts, sums, carried, apart })
}

/// The function with the marked loops inside of a loop as serial as C has them.
fn without_marks(kernel: &Kernel, target: LoopId) -> Kernel {
    let mut kernel = kernel.clone();
    walk::with_loop(&mut kernel.func_mut().body, target, &mut |stmt| {
        walk::blocks_mut(stmt).into_iter().for_each(unmark);
    });
    kernel
}

fn check_range(kernel: &Kernel, l: &ForLoop) -> Result<(), &'static str> {
    let known = [&l.first, &l.limit].into_iter().all(|e| kernel.known_at_start(e));
    match () {
        () if !unit_step(l) => Err("it does not count up by one"),
        () if !known => Err("its bounds are not known when the launcher starts"),
        () if counters::counter_type(kernel.func(), l).bytes() < 4 => {
            Err("its counter has less than four bytes")
        }
        () if walk::leaves(&l.body).is_some() => Err("it may end early"),
        () if scalars::counter_outlives(kernel.func(), l) => Err("its counter is read after it"),
        () => Ok(()),
    }
}

/// Puts the three nests in place of the loop.
pub fn apply(legal: LegalSplitScan) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, legal.target).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    let StmtKind::For(l) = &stmt.kind else { return Rewritten::same_loops(kernel) };
    kernel.numbers.extend((legal.parts > 1).then_some(legal.parts));
    for sum in &legal.sums {
        let written = share::reassociated(&kernel, &kernel.func().body, sum);
        kernel.reassociated.extend(written);
    }
    let what = format!("the loop over `{}`", kernel.name_of(l.var));
    let cut = legal.parts > 1;
    // Of loops with others inside few parts would be left, and none is read in vectors.
    let multiple = if walk::for_loops(&l.body).is_empty() { MULTIPLE } else { 1 };
    let ranges = cut.then(|| Ranges::new(&mut kernel, l, (legal.parts, multiple), &what));
    let parts = match cut {
        true => vec![Expr::int(Scalar::I32, legal.parts.into())],
        false => slots::extents(&mut kernel, std::slice::from_ref(l)),
    };
    let scan =
        |sum: &Sum| Scan::new(&mut kernel, l, *sum, (legal.carried.contains(&sum.var), &parts));
    let scans = legal.sums.iter().map(scan).collect();
    let mut maker = Maker { kernel, legal: &legal, l, ranges, scans, origin: &stmt.origin };
    let nests = [maker.sums(), maker.starts(), maker.iterations()];
    let ends = maker.scans.iter().map(|s| s.end(&maker.kernel)).collect();
    let Maker { mut kernel, .. } = maker;
    copy::put_around(&mut kernel, legal.target, vec![], ends);
    copy::replace_loop(&mut kernel, legal.target, nests.into());
    Rewritten::same_loops(kernel)
}

/// A sum of the loop, and where its values are between the nests.
struct Scan {
    sum: Sum,
    ty: Type,
    scalar: Scalar,
    /// The source chooses the better of two values.
    chosen: bool,
    /// What each part adds, then what those before it have.
    parts: VarId,
    /// What each part multiplies it by, where it is carried on linearly.
    slopes: Option<VarId>,
    /// What all have.
    total: VarId,
}

impl Scan {
    fn new(
        kernel: &mut Kernel,
        l: &ForLoop,
        sum: Sum,
        (carried, extents): (bool, &[Expr]),
    ) -> Scan {
        let ty = kernel.func().var(sum.var).ty.clone();
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        let name = kernel.name_of(sum.var).to_string();
        let mut array = |of: &str, extents: Vec<Expr>, comment: String| {
            kernel.add_scratch(&format!("{name}_{of}"), ty.clone(), extents, comment)
        };
        let comment = format!("what each part adds to `{name}`, then `{name}` at its start");
        let parts = array("parts", extents.to_vec(), comment);
        let total = array("total", vec![Expr::i32(1)], format!("`{name}` behind all parts"));
        let comment = format!("what each part multiplies `{name}` by");
        let slopes = carried.then(|| array("slopes", extents.to_vec(), comment));
        let real = scalar.is_float();
        let rounds = real && matches!(sum.op, ReduceOp::Add | ReduceOp::Mul);
        let all = [parts, total].into_iter().chain(slopes);
        kernel.reassociated.extend(all.filter(|_| rounds));
        let chosen = extremes::is_chosen(&l.body, sum.var);
        Scan { sum, ty, scalar, chosen, parts, slopes, total }
    }

    /// What a part makes of what those before have.
    fn after(&self, so_far: VarId, part: VarId, slope: Option<VarId>) -> Expr {
        let (so_far, part) = (self.value(so_far), self.value(part));
        match slope {
            Some(slope) => {
                let scaled = Expr::binary(BinaryOp::Mul, self.value(slope), so_far);
                Expr::binary(BinaryOp::Add, scaled, part)
            }
            None => share::joined(self.sum.op, (self.scalar, self.chosen), so_far, part),
        }
    }

    fn nothing(&self, op: ReduceOp) -> Expr {
        Expr::constant(operators::identity(op, self.scalar))
    }

    fn value(&self, var: VarId) -> Expr {
        Expr::var(var, self.ty.clone())
    }

    fn place(&self, var: VarId) -> Place {
        Place::var(var, self.ty.clone())
    }

    /// The value behind the loop.
    fn end(&self, kernel: &Kernel) -> Stmt {
        let total = copy::element(kernel.func(), self.total, vec![Expr::i32(0)]);
        stmts::set(self.place(self.sum.var), Expr::read(total))
    }
}

struct Maker<'l> {
    kernel: Kernel,
    legal: &'l LegalSplitScan,
    l: &'l ForLoop,
    /// `None`: each iteration is a part.
    ranges: Option<Ranges>,
    scans: Vec<Scan>,
    origin: &'l Origin,
}

impl Maker<'_> {
    /// What each part adds.
    fn sums(&mut self) -> Stmt {
        let part = self.part();
        let (own, slopes) = (self.own("part"), self.slopes());
        let mut text = vec![];
        let mut body = keep_rows::contributions(&self.l.body, &self.legal.sums);
        for (scan, (own, slope)) in self.scans.iter().zip(own.iter().zip(&slopes)) {
            if let Some(slope) = slope {
                text.push(stmts::declare(*slope, scan.nothing(ReduceOp::Mul)));
                keep_rows::with_slopes(&mut self.kernel, &mut body, scan.sum.var, *slope);
            }
            text.push(stmts::declare(*own, scan.nothing(scan.sum.op)));
        }
        text.extend(self.part_of_loop(body, part, &own));
        for (scan, (own, slope)) in self.scans.iter().zip(own.iter().zip(&slopes)) {
            for (array, value) in scan.slopes.zip(*slope).into_iter().chain([(scan.parts, *own)]) {
                let element = self.element(array, self.number(part));
                text.push(stmts::set(element, scan.value(value)));
            }
        }
        let range = self.over_parts(part);
        self.looped(range, marked(BTreeSet::new()), text)
    }

    /// What the parts before each part have, and what all have.
    fn starts(&mut self) -> Stmt {
        let (row, part) = (self.counter("row"), self.part());
        let (so_far, own, slopes) = (self.own("before"), self.own("part"), self.slopes());
        let (mut begin, mut body, mut end) = (vec![], vec![], vec![]);
        let vars = so_far.into_iter().zip(own).zip(slopes);
        for (scan, ((so_far, own), slope)) in self.scans.iter().zip(vars) {
            begin.push(stmts::declare(so_far, scan.value(scan.sum.var)));
            let element = self.element(scan.parts, self.number(part));
            if let Some((array, slope)) = scan.slopes.zip(slope) {
                let slopes = self.element(array, self.number(part));
                body.push(stmts::declare(slope, Expr::read(slopes)));
            }
            body.push(stmts::declare(own, Expr::read(element.clone())));
            body.push(stmts::set(element, scan.value(so_far)));
            body.push(stmts::set(scan.place(so_far), scan.after(so_far, own, slope)));
            let at = Expr::var(row, self.kernel.func().var(row).ty.clone());
            end.push(stmts::set(self.element(scan.total, at), scan.value(so_far)));
        }
        let range = self.over_parts(part);
        begin.push(self.looped(range, LoopKind::Serial, body));
        begin.extend(end);
        let one = Range { limit: Expr::int(self.scalar(), 1), ..self.counted_from_zero(row) };
        self.looped(one, marked(BTreeSet::new()), begin)
    }

    /// The iterations of each part.
    fn iterations(&mut self) -> Stmt {
        let part = self.part();
        let own = self.own("here");
        let mut text = vec![];
        for (scan, own) in self.scans.iter().zip(&own) {
            let element = self.element(scan.parts, self.number(part));
            text.push(stmts::declare(*own, Expr::read(element)));
        }
        text.extend(self.part_of_loop(self.l.body.clone(), part, &own));
        let range = self.over_parts(part);
        self.looped(range, marked(self.legal.apart.clone()), text)
    }

    /// The counter of a loop over parts.
    fn part(&mut self) -> VarId {
        match self.ranges {
            Some(_) => self.counter("part"),
            None => {
                let var = self.kernel.func().var(self.l.var).clone();
                self.kernel.func_mut().add_var(Var { kind: VarKind::Local, ..var })
            }
        }
    }

    fn over_parts(&self, var: VarId) -> Range {
        match self.ranges {
            Some(_) => {
                let limit = Expr::int(self.scalar(), self.legal.parts.into());
                Range { limit, ..self.counted_from_zero(var) }
            }
            None => {
                let (first, limit) = (self.l.first.clone(), self.l.limit.clone());
                Range { var, first, compare: self.l.compare, limit }
            }
        }
    }

    fn counted_from_zero(&self, var: VarId) -> Range {
        let zero = Expr::int(self.scalar(), 0);
        Range { var, first: zero.clone(), compare: BinaryOp::Lt, limit: zero }
    }

    /// The number of a part, from zero on.
    fn number(&self, part: VarId) -> Expr {
        let range = self.over_parts(part);
        let l = ForLoop { var: part, first: range.first, ..self.l.clone() };
        let mut all = slots::numbers(&self.kernel, std::slice::from_ref(&l));
        all.remove(0)
    }

    fn scalar(&self) -> Scalar {
        counters::counter_type(self.kernel.func(), self.l)
    }

    /// A counter of the loop's type.
    fn counter(&mut self, of: &str) -> VarId {
        let ty = self.kernel.func().var(self.l.var).ty.clone();
        let name = format!("{}_{of}", self.kernel.name_of(self.l.var));
        self.local(&name, ty)
    }

    /// A variable for each sum.
    fn own(&mut self, of: &str) -> Vec<VarId> {
        let name = |s: &Scan| (format!("{}_{of}", self.kernel.name_of(s.sum.var)), s.ty.clone());
        let wanted: Vec<(String, Type)> = self.scans.iter().map(name).collect();
        wanted.into_iter().map(|(name, ty)| self.local(&name, ty)).collect()
    }

    /// A variable for what each sum that is carried on linearly is multiplied by.
    fn slopes(&mut self) -> Vec<Option<VarId>> {
        let name = |s: &Scan| format!("{}_slope", self.kernel.name_of(s.sum.var));
        let wanted = |s: &Scan| s.slopes.map(|_| (name(s), s.ty.clone()));
        let wanted: Vec<Option<(String, Type)>> = self.scans.iter().map(wanted).collect();
        let mut local = |(name, ty): (String, Type)| self.local(&name, ty);
        wanted.into_iter().map(|one| one.map(&mut local)).collect()
    }

    /// Loops of the nests with counters of one name are told apart by numbers, as others are.
    fn local(&mut self, name: &str, ty: Type) -> VarId {
        let origin = self.origin.by("split_scan");
        let ours = |v: &Var| v.name == name && v.origin.rewrite == Some("split_scan");
        let known = self.kernel.func().vars.iter().any(ours);
        let name = if known { name.to_string() } else { fresh_name(self.kernel.func(), name) };
        let mut var = Var::new(name, ty, VarKind::Local);
        var.origin = origin;
        self.kernel.func_mut().add_var(var)
    }

    fn element(&self, array: VarId, at: Expr) -> Place {
        copy::element(self.kernel.func(), array, vec![at])
    }

    /// The iterations of a part, with own variables in place of the sums.
    fn part_of_loop(&mut self, body: Block, part: VarId, own: &[VarId]) -> Vec<Stmt> {
        let number = Expr::var(part, self.kernel.func().var(part).ty.clone());
        let origin = self.origin.by("split_scan");
        let kind = match &self.ranges {
            Some(ranges) => {
                let (first, limit) = ranges.bounds(&self.kernel, &number);
                let compare = BinaryOp::Lt;
                let l = ForLoop { first, compare, limit, body, declares: true, ..self.l.clone() };
                StmtKind::Scope(Block::new(vec![Stmt::new(StmtKind::For(l), origin.clone())]))
            }
            None => StmtKind::Scope(body),
        };
        let mut block = Block::new(vec![Stmt::new(kind, origin)]);
        let each = self.ranges.is_none().then_some((self.l.var, part));
        let sums = self.scans.iter().map(|s| s.sum.var).zip(own.iter().copied());
        let renamed: Vec<(VarId, VarId)> = sums.chain(each).collect();
        visit::rename_vars(&mut block, &mut |v| {
            renamed.iter().find(|(old, _)| *old == v).map_or(v, |(_, new)| *new)
        });
        match general_copy(&mut self.kernel, &block.stmts.remove(0)).0.kind {
            StmtKind::Scope(inner) => inner.stmts,
            _ => vec![],
        }
    }

    /// `for (var = first; var < limit; ++var) body`
    fn looped(&mut self, range: Range, kind: LoopKind, body: Vec<Stmt>) -> Stmt {
        let Range { var, first, compare, limit } = range;
        let (id, step) = (self.kernel.func_mut().fresh_loop(), Expr::int(self.scalar(), 1));
        let body = Block::new(body);
        let l = ForLoop { id, var, declares: true, first, compare, limit, step, kind, body };
        Stmt::new(StmtKind::For(l), self.origin.by("split_scan"))
    }
}

/// What a loop in the making counts.
struct Range {
    var: VarId,
    first: Expr,
    compare: BinaryOp,
    limit: Expr,
}

/// Of a parallel loop; of these arrays its iterations have elements of their own.
fn marked(apart: BTreeSet<VarId>) -> LoopKind {
    LoopKind::Parallel(Parallel { apart: apart.into_iter().collect(), ..Parallel::default() })
}
