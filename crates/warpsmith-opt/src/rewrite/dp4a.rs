//! Multiplies four pairs of bytes at a time.
//!
//! ```text
//!     for k in 0..K { s += A[i][k] * B[k][j]; }
//!       ==> dp4a k
//!     A_words, B_words: four neighbours along k in each word, zeros past the end
//!     for k in 0..(K + 3) / 4 { s += dp4a(A_words[i][k], B_words[k][j]); }
//! ```
//!
//! The words lie in the workspace. They are made once, before everything else, whatever stride the bytes have along `k` and
//! wherever rows begin; for later steps they are arrays like any other.
//!
//! Legal for a serial loop that does nothing but add products of two bytes of the same sign to 32-bit integers, from arrays
//! that the function does not write and whose extent along `k` the loop goes through. Sums of integers are the same in any
//! order.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, ForLoop, Function, LoopId, LoopKind, MathFn, Module, Place,
    PlaceKind, Scalar, Stmt, StmtKind, Type, VarId, visit,
};

use super::Rewritten;
use super::edit::copy;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::loops::unit_step;
use crate::analysis::{scalars, updates};
use crate::build::conditions::select;
use crate::build::stmts::{declare, local, set, unrolled, when};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::{names, walk};

/// The step, which names one loop: a serial loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "dp4a",
        example: "dp4a k",
        does: "multiplies four pairs of bytes at a time: the loop goes through words in the workspace, `A_words` for later steps, each with four neighbours along it",
        legal: "a serial loop, in which nothing is bound yet, adds products of two bytes of the same sign to 32-bit integers and does nothing else; the function writes neither array, and the loop goes through all of their extent along it",
        law: Law {
            before: "\
#include <stdint.h>
void product(int n, int m, const int8_t A[n][m], const int8_t x[m], int y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            y[i] += A[i][k] * x[k];
}
",
            steps: "dp4a k",
            after: "\
void product(int n, int m, const signed char *A, const signed char *x, int *y, int k_words,
             int *__restrict__ A_words, int *__restrict__ x_words) {
    // with zeros past the end
    // threads of the grid along x, 256 a block
    for (int element = 0; element < k_words; ++element) {
        unsigned packed2 = 0;
        #pragma unroll
        for (int byte2 = 0; byte2 < 4; ++byte2) {
            if (byte2 < m - element * 4) {
                packed2 |= (unsigned)(unsigned char)x[element * 4 + byte2] << (unsigned)(byte2 * 8);
            }
        }
        x_words[element] = packed2;
    }

    // with zeros past the end
    // threads of the grid along y, 8 a block
    for (int row = 0; row < n; ++row) {
        // threads of the grid along x, 32 a block
        for (int column = 0; column < k_words; ++column) {
            unsigned packed = 0;
            #pragma unroll
            for (int byte = 0; byte < 4; ++byte) {
                if (byte < m - column * 4) {
                    packed |= (unsigned)(unsigned char)A[(size_t)row * m + column * 4 + byte] <<
                              (unsigned)(byte * 8);
                }
            }
            A_words[(size_t)row * k_words + column] = packed;
        }
    }

    // parallel
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < k_words; ++k) {
            y[i] += __dp4a(A_words[(size_t)i * k_words + k], x_words[k], 0);
        }
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// Bytes of a word.
const BYTES: i64 = 4;

/// The verdict on a `dp4a`, which alone allows it.
pub struct LegalDp4a<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    sums: Vec<Sum>,
}

/// `place += (a + a_offset) * (b + b_offset)`
struct Sum {
    place: Place,
    operands: [Operand; 2],
}

/// An array of bytes with its subscripts, of which the one at `along` is the loop's counter.
#[derive(Clone)]
struct Operand {
    array: VarId,
    index: Vec<Expr>,
    along: usize,
    /// What is added to the byte: a zero point.
    offset: Option<Expr>,
}

/// Asks whether a loop can multiply four pairs at a time.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalDp4a<'_>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("multiply four pairs at a time in", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it does not exist") };
    if let Some(bound) = kernel.bound_at(target) {
        return Err(Refusal::AlreadyBound { loop_id: bound });
    }
    if !matches!(l.kind, LoopKind::Serial) {
        return Err(Refusal::NotSerial { loop_id: target });
    }
    let function = kernel.func();
    let begins = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
    if !begins || !unit_step(l) || l.compare != BinaryOp::Lt {
        return refuse("it has to count from zero up to a limit by one");
    }
    if !kernel.known_at_start(&l.limit) {
        return refuse("its limit is not known when the launcher starts");
    }
    if scalars::counter_outlives(function, l) {
        return refuse("its counter is read after it");
    }
    let mut sums = vec![];
    for stmt in &l.body.stmts {
        match sum(kernel, l.var, &l.limit, stmt) {
            Ok(sum) => sums.push(sum),
            Err(why) => return refuse(why),
        }
    }
    if sums.is_empty() {
        return refuse(NO_SUM);
    }
    let written: Option<Vec<VarId>> = sums.iter().map(|s| base(&s.place)).collect();
    let Some(written) = written else { return refuse(NO_SUM) };
    let read = |s: &Sum| -> Vec<Expr> {
        let operands = s.operands.iter().flat_map(|o| o.index.iter().chain(&o.offset));
        subscripts(&s.place).into_iter().chain(operands).cloned().collect()
    };
    if sums.iter().flat_map(read).any(|e| written.iter().any(|v| walk::mentions(&e, *v))) {
        return refuse("a subscript or a zero point depends on what it adds to");
    }
    Ok(LegalDp4a { kernel, target, sums })
}

const NO_SUM: &str = "it does more than adding products of two bytes to 32-bit integers";

/// What a statement adds in a loop with this counter and limit.
fn sum(kernel: &Kernel, counter: VarId, limit: &Expr, stmt: &Stmt) -> Result<Sum, &'static str> {
    let StmtKind::Assign { place, value } = &stmt.kind else { return Err(NO_SUM) };
    let is_place = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if p == place);
    let Some((old, added)) = binary(value, BinaryOp::Add) else { return Err(NO_SUM) };
    let product = if is_place(&old) {
        added
    } else if is_place(&added) {
        old
    } else {
        return Err(NO_SUM);
    };
    let Some((a, b)) = binary(without_words(&product), BinaryOp::Mul) else { return Err(NO_SUM) };
    if subscripts(place).iter().any(|e| walk::mentions(e, counter)) {
        return Err("it adds to another element in each iteration");
    }
    let operands = [factor(kernel, counter, limit, &a)?, factor(kernel, counter, limit, &b)?];
    let [first, second] = operands.each_ref().map(|o| signed(kernel, o.array));
    if first != second {
        return Err("one of the arrays has a sign and the other has not");
    }
    Ok(Sum { place: place.clone(), operands })
}

/// The variable or array that a place belongs to.
fn base(place: &Place) -> Option<VarId> {
    place.root_var().or_else(|| updates::array_of(place))
}

/// What says which element a place is.
fn subscripts(place: &Place) -> Vec<&Expr> {
    match &*place.kind {
        PlaceKind::Elem { index, .. } => index.iter().collect(),
        PlaceKind::Index(array, at) => [subscripts(array), vec![at]].concat(),
        PlaceKind::Field(object, _) => subscripts(object),
        PlaceKind::Deref(e) => vec![e],
        _ => vec![],
    }
}

/// Whether casts in a factor leave the value of a byte as it is, modulo 2³² at least.
fn keeps_byte(e: &Expr, is_signed: bool) -> bool {
    let ExprKind::Cast(inner) = &*e.kind else { return true };
    let wide = match e.ty.scalar() {
        Some(Scalar::I16 | Scalar::I32 | Scalar::U32) => true,
        Some(Scalar::U16) => !is_signed,
        _ => false,
    };
    wide && keeps_byte(inner, is_signed)
}

fn is_word(ty: &Type) -> bool {
    matches!(ty.scalar(), Some(Scalar::I32 | Scalar::U32))
}

/// The operands of an operation on integers of 32 bits.
fn binary(e: &Expr, op: BinaryOp) -> Option<(Expr, Expr)> {
    match &*e.kind {
        ExprKind::Binary(o, a, b) if *o == op && is_word(&e.ty) => Some((a.clone(), b.clone())),
        _ => None,
    }
}

/// An expression without casts between integers of 32 bits.
fn without_words(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Cast(inner) if is_word(&e.ty) && is_word(&inner.ty) => without_words(inner),
        _ => e,
    }
}

/// The byte that a factor is, with what is added to it.
fn factor(
    kernel: &Kernel,
    counter: VarId,
    limit: &Expr,
    e: &Expr,
) -> Result<Operand, &'static str> {
    let stays = |e: &Expr| !walk::mentions(e, counter) && !walk::reads_memory(e);
    let sum = without_words(e);
    let found = match (binary(sum, BinaryOp::Add), binary(sum, BinaryOp::Sub)) {
        (Some((byte, offset)), _) if stays(&offset) => Some((byte, offset)),
        (Some((offset, byte)), _) if stays(&offset) => Some((byte, offset)),
        (_, Some((byte, offset))) if stays(&offset) => {
            let zero = Expr::int(offset.ty.scalar().unwrap_or(Scalar::I32), 0);
            Some((byte, Expr::binary(BinaryOp::Sub, zero, offset)))
        }
        _ => None,
    };
    let Some((byte, offset)) = found else { return operand(kernel, counter, limit, e) };
    Ok(Operand { offset: Some(offset), ..operand(kernel, counter, limit, &byte)? })
}

/// The byte that an expression is.
fn operand(
    kernel: &Kernel,
    counter: VarId,
    limit: &Expr,
    e: &Expr,
) -> Result<Operand, &'static str> {
    let function = kernel.func();
    let ExprKind::Read(place) = &*e.without_casts().kind else { return Err(NO_SUM) };
    let found = function.params.iter().copied().find_map(|array| {
        let shape = function.var(array).shape.as_deref()?;
        Some((array, shape, copy::element_of(place, array, shape)?))
    });
    let Some((array, shape, index)) = found else {
        return Err("a factor is no element of an array with declared extents");
    };
    let is_byte = matches!(place.ty.scalar(), Some(Scalar::I8 | Scalar::U8));
    if !is_byte || !keeps_byte(e, signed(kernel, array)) {
        return Err("a factor is no byte");
    }
    let moving: Vec<usize> =
        (0..index.len()).filter(|k| walk::mentions(&index[*k], counter)).collect();
    let [along] = moving.as_slice() else {
        return Err("its counter is in no subscript of a factor, or in several");
    };
    if !scalars::reads(index[*along].without_casts(), counter) {
        return Err("a subscript is more than its counter");
    }
    let same =
        Poly::from_expr(&shape[*along]).zip(Poly::from_expr(limit)).is_some_and(|(a, b)| a == b);
    if !same {
        return Err("it does not go through all of an array's extent");
    }
    if !shape.iter().all(|extent| kernel.known_at_start(extent)) {
        return Err("the extents of an array are not known when the launcher starts");
    }
    let uses = copy::uses(&function.body, array, shape);
    if uses.writes || uses.otherwise {
        return Err("the function writes an array of it, or uses more of it than elements");
    }
    Ok(Operand { array, index: index.to_vec(), along: *along, offset: None })
}

/// Whether the bytes of an array have a sign.
fn signed(kernel: &Kernel, array: VarId) -> bool {
    let element = kernel.func().var(array).ty.pointee().and_then(Type::scalar);
    element.is_some_and(Scalar::is_signed)
}

/// Makes the words and lets the loop go through them.
pub fn apply(legal: LegalDp4a<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(l) = kernel.find_loop(legal.target).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    kernel.numbers.push(BYTES as u32);
    let words = words_of(&mut kernel, &l.limit, l.var);
    let mut made: Vec<(Operand, VarId)> = vec![];
    let mut stmts = vec![];
    for Sum { place, operands } in &legal.sums {
        let is_signed = signed(&kernel, operands[0].array);
        let word = if is_signed { Type::I32 } else { Type::U32 };
        let [a, b] = operands.each_ref().map(|operand| {
            let known =
                made.iter().find(|(o, _)| o.array == operand.array && o.along == operand.along);
            let array = known.map(|(_, words)| *words);
            let array = array.unwrap_or_else(|| {
                let array = packed(&mut kernel, operand, &words, &word);
                made.push((operand.clone(), array));
                array
            });
            Expr::read(copy::element(kernel.func(), array, operand.index.clone()))
        });
        let left = bytes_left(kernel.func(), &l, &words);
        let added = products(place, [a, b], operands, left);
        let sum = Expr::binary(BinaryOp::Add, Expr::read(place.clone()), added);
        stmts.push(set(place.clone(), sum));
    }
    walk::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.limit = words.clone().cast(l.limit.ty.clone());
            l.body.stmts = std::mem::take(&mut stmts);
        }
    });
    Rewritten::same_loops(kernel)
}

/// Of the bytes of a word those that the loop over bytes has, at least one.
fn bytes_left(function: &Function, l: &ForLoop, words: &Expr) -> Expr {
    let ty = words.ty.scalar().unwrap_or(Scalar::I32);
    let counter = Expr::var(l.var, function.var(l.var).ty.clone()).cast(words.ty.clone());
    let before = Expr::binary(BinaryOp::Mul, counter, Expr::int(ty, BYTES));
    let left = Expr::binary(BinaryOp::Sub, l.limit.clone().cast(words.ty.clone()), before);
    let is_last = Expr::binary(BinaryOp::Lt, left.clone(), Expr::int(ty, BYTES));
    select(is_last, left, Expr::int(ty, BYTES))
}

/// What a word of each operand adds: `(a + s) * (b + t)` is `a b + t a + s b + s t`, the last for each byte that there is.
fn products(place: &Place, [a, b]: [Expr; 2], operands: &[Operand; 2], left: Expr) -> Expr {
    let ty = &place.ty;
    let four = |a: Expr, b: Expr| {
        let word = a.ty.clone();
        let zero = Expr::int(word.scalar().unwrap_or(Scalar::I32), 0);
        let kind = ExprKind::Call(MathFn::Dp4a, vec![a, b, zero]);
        Expr::new(kind, word, place.origin.clone().by("dp4a")).cast(ty.clone())
    };
    let ones = Expr::int(a.ty.scalar().unwrap_or(Scalar::I32), 0x0101_0101);
    let [s, t] = operands.each_ref().map(|o| o.offset.clone().map(|e| e.cast(ty.clone())));
    let times = |x: Expr, y: Expr| Expr::binary(BinaryOp::Mul, x, y);
    let rest = [
        t.clone().map(|t| times(t, four(a.clone(), ones.clone()))),
        s.clone().map(|s| times(s, four(b.clone(), ones))),
        s.zip(t).map(|(s, t)| times(times(s, t), left.cast(ty.clone()))),
    ];
    let rest = rest.into_iter().flatten().reduce(|x, y| Expr::binary(BinaryOp::Add, x, y));
    let product = four(a, b);
    match rest {
        Some(rest) => Expr::binary(BinaryOp::Add, product, rest),
        None => product,
    }
}

/// How many words so many bytes are.
fn words_of(kernel: &mut Kernel, bytes: &Expr, counter: VarId) -> Expr {
    let ty = bytes.ty.scalar().unwrap_or(Scalar::I32);
    let number = |n: i64| Expr::int(ty, n);
    if let Some(n) = bytes.as_const() {
        return number(n.as_i64() / BYTES + i64::from(n.as_i64() % BYTES > 0));
    }
    let part = |op| Expr::binary(op, bytes.clone(), number(BYTES));
    let rest = Expr::binary(BinaryOp::Gt, part(BinaryOp::Rem), number(0)).cast(bytes.ty.clone());
    let words = Expr::binary(BinaryOp::Add, part(BinaryOp::Div), rest);
    let name = format!("{}_words", kernel.name_of(counter));
    let length = kernel.add_length(&name, words, "words of four bytes".into());
    Expr::var(length, bytes.ty.clone())
}

/// A new array in which each word has four neighbours along the loop, with the nest that makes it.
fn packed(kernel: &mut Kernel, from: &Operand, words: &Expr, word: &Type) -> VarId {
    let var = kernel.func().var(from.array).clone();
    let mut extents = var.shape.clone().unwrap_or_default();
    let bytes = std::mem::replace(&mut extents[from.along], words.clone());
    let comment = format!("four neighbours of `{}` in each word", var.name);
    let array =
        kernel.add_scratch(&format!("{}_words", var.name), word.clone(), extents.clone(), comment);
    let nest = copy::nest_of(kernel, &extents, |kernel, at| {
        let ty = at[from.along].ty.scalar().unwrap_or(Scalar::I32);
        let first = Expr::binary(BinaryOp::Mul, at[from.along].clone(), Expr::int(ty, BYTES));
        let left = Expr::binary(BinaryOp::Sub, bytes.cast(first.ty.clone()), first.clone());
        let packed = names::fresh_name(kernel.func(), "packed");
        let packed = local(kernel.func_mut(), &packed, Type::U32);
        let byte = names::fresh_name(kernel.func(), "byte");
        let byte = local(kernel.func_mut(), &byte, Type::I32);
        let number = Expr::var(byte, Type::I32);
        let mut index = at.to_vec();
        index[from.along] =
            Expr::binary(BinaryOp::Add, first, number.clone().cast(left.ty.clone()));
        let read = Expr::read(copy::element(kernel.func(), from.array, index));
        let bits = read.cast(Type::Scalar(Scalar::U8)).cast(Type::U32);
        let place = Expr::binary(BinaryOp::Mul, number.clone(), Expr::i32(8)).cast(Type::U32);
        let so_far = Place::var(packed, Type::U32);
        let more = Expr::binary(BinaryOp::Shl, bits, place);
        let more = Expr::binary(BinaryOp::BitOr, Expr::read(so_far.clone()), more);
        let exists = Expr::binary(BinaryOp::Lt, number.cast(left.ty.clone()), left);
        let add = when(exists, vec![set(so_far.clone(), more)]);
        let result = Expr::read(so_far).cast(word.clone());
        vec![
            declare(packed, Expr::int(Scalar::U32, 0)),
            unrolled(kernel.func_mut(), byte, BYTES as u32, vec![add]),
            set(copy::element(kernel.func(), array, at.to_vec()), result),
        ]
    });
    let nest = nest.comment("with zeros past the end");
    kernel.func_mut().body.stmts.insert(0, nest);
    array
}

/// Lets the instruction itself add where what it gives is added to a place: `s += dp4a(a, b, 0)` is `s = dp4a(a, b, s)`.
pub(crate) fn add_at_once(module: &mut Module) {
    struct Sums;
    impl visit::Rewriter for Sums {
        fn stmt(&mut self, stmt: &mut Stmt) {
            visit::rewrite_stmt(self, stmt);
            let StmtKind::Assign { place, value } = &mut stmt.kind else { return };
            let ExprKind::Binary(BinaryOp::Add, old, added) = &*value.kind else { return };
            let (four, rest) = match &*added.kind {
                ExprKind::Binary(BinaryOp::Add, four, rest) => (four, Some(rest.clone())),
                _ => (added, None),
            };
            let mut four = without_words(four).clone();
            let (word, ty) = (four.ty.clone(), value.ty.clone());
            let is_place = matches!(&*old.kind, ExprKind::Read(p) if p == place);
            let ExprKind::Call(MathFn::Dp4a, args) = &mut *four.kind else { return };
            if is_place && args[2].as_const().is_some_and(|v| v.as_i64() == 0) {
                args[2] = old.clone().cast(word);
                let sum = four.cast(ty);
                *value = match rest {
                    Some(rest) => Expr::binary(BinaryOp::Add, sum, rest),
                    None => sum,
                };
            }
        }
    }
    for function in &mut module.functions {
        visit::Rewriter::block(&mut Sums, &mut function.body);
    }
}
