//! PTX on matrices that lie in the registers of a warp: `ldmatrix`, `stmatrix`, `mma.sync`. What they do is written in CUDA in
//! `prelude/matrices.cuh`.

use warpsmith_ir::{Diagnostic, Expr, ExprKind, Scalar, Space, Type};

use super::memory::address_in;
use super::text::{self, Instruction};
use super::{Machine, bool_value};

/// Executes the instruction if it is one of these; false otherwise.
pub fn run(m: &mut Machine<'_>, i: &Instruction) -> Result<bool, Diagnostic> {
    match i.name() {
        "ldmatrix" => load(m, i)?,
        "stmatrix" => store(m, i)?,
        "mma" => product(m, i)?,
        "movmatrix" => return Err(m.unsupported()),
        _ => return Ok(false),
    }
    Ok(true)
}

/// How many matrices of 8 × 8 elements of 16 bits are moved.
fn matrices(m: &Machine<'_>, i: &Instruction) -> Result<usize, Diagnostic> {
    let count = [("x1", 1), ("x2", 2), ("x4", 4)].into_iter().find(|(word, _)| i.has(word));
    match count {
        Some((_, n)) if i.has("m8n8") && i.has("b16") && m.guard.is_none() => Ok(n),
        _ => Err(m.unsupported()),
    }
}

fn row(m: &mut Machine<'_>, i: &Instruction, at: &str) -> Result<Expr, Diagnostic> {
    let pointer = address_in(m, at, i, Space::Shared, Type::Scalar(Scalar::U8))?;
    Ok(pointer.cast(Type::pointer(Type::Void, Space::Generic)))
}

fn member(m: &Machine<'_>, of: &Expr, n: usize, s: Scalar) -> Expr {
    Expr::new(ExprKind::Member(of.clone(), n as u32), Type::Scalar(s), m.span)
}

/// `ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {a, b, c, d}, [row]`.
fn load(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let count = matrices(m, i)?;
    let [to, at] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let targets = text::parts(to);
    if targets.len() != count {
        return Err(m.unsupported());
    }
    let row = row(m, i, at)?;
    let args = vec![row, Expr::i32(count as i32), bool_value(i.has("trans"))];
    let Some(words) = m.call("ptxLoadMatrices", args)? else { return Err(m.unsupported()) };
    let words = m.cx.hold(words, m.span);
    for (n, target) in targets.iter().enumerate() {
        let word = member(m, &words, n, Scalar::U32);
        m.write(target, word);
    }
    Ok(())
}

fn store(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let count = matrices(m, i)?;
    let [at, from] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let mut sources = text::parts(from);
    if sources.len() != count || i.has("trans") {
        return Err(m.unsupported());
    }
    sources.resize(4, "0".to_string());
    let mut args = vec![row(m, i, at)?, Expr::i32(count as i32)];
    for source in &sources {
        args.push(m.operand(source, Scalar::U32)?);
    }
    m.call("ptxStoreMatrices", args)?;
    Ok(())
}

/// Kinds of elements, as `ptxMma` numbers them, and the columns of A in a register of four lanes.
const FLOATS: &[(&str, i32, u32)] = &[("f16", 0, 8), ("bf16", 1, 8), ("tf32", 2, 4)];

/// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c}`.
fn product(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let words: Vec<&str> = i.words.iter().map(String::as_str).collect();
    let ["mma", "sync", "aligned", shape, "row", "col", d, a, b, c] = words.as_slice() else {
        return Err(m.unsupported());
    };
    let [to, of_a, of_b, of_c] = i.operands.as_slice() else { return Err(m.unsupported()) };
    let lists = [of_a, of_b, of_c].map(|o| text::parts(o));
    let to = text::parts(to);
    if m.guard.is_some() || d != c {
        return Err(m.unsupported());
    }
    let k = shape.rsplit('k').next().and_then(|k| k.parse::<u32>().ok()).unwrap_or(0);
    let tall = shape.starts_with("m16n8k");
    if (*shape, *d, *a, *b) == ("m8n8k4", "f64", "f64", "f64") {
        return call(m, "ptxMmaDouble", vec![], [1, 1, 2], &lists, Scalar::F64, &to);
    }
    if let (true, "s32", "s8" | "u8", "s8" | "u8") = (tall, *d, *a, *b) {
        let blocks = blocks(m, k, 16)?;
        let first = vec![Expr::i32(blocks), bool_value(*a == "s8"), bool_value(*b == "s8")];
        return call(m, "ptxMmaBytes", first, registers(blocks, 4), &lists, Scalar::I32, &to);
    }
    let kind = FLOATS.iter().find(|(name, ..)| *name == *a);
    let Some((_, kind, columns)) = kind.filter(|_| tall && a == b) else {
        return Err(m.unsupported());
    };
    let blocks = blocks(m, k, *columns)?;
    match *d {
        "f32" => {
            let first = vec![Expr::i32(*kind), Expr::i32(blocks)];
            call(m, "ptxMma", first, registers(blocks, 4), &lists, Scalar::F32, &to)
        }
        "f16" if *a == "f16" => {
            let first = vec![Expr::i32(blocks)];
            call(m, "ptxMmaHalf", first, registers(blocks, 2), &lists, Scalar::U32, &to)
        }
        _ => Err(m.unsupported()),
    }
}

/// One or two blocks of columns of A.
fn blocks(m: &Machine<'_>, k: u32, columns: u32) -> Result<i32, Diagnostic> {
    match k {
        k if k == columns => Ok(1),
        k if k == 2 * columns => Ok(2),
        _ => Err(m.unsupported()),
    }
}

/// Registers of A, B and C.
fn registers(blocks: i32, of_c: usize) -> [usize; 3] {
    [2 * blocks as usize, blocks as usize, of_c]
}

/// Calls a product: its registers of A and B, filled up to two blocks of them, and the sums so far.
fn call(
    m: &mut Machine<'_>,
    name: &str,
    mut args: Vec<Expr>,
    counts: [usize; 3],
    lists: &[Vec<String>; 3],
    sum: Scalar,
    to: &[String],
) -> Result<(), Diagnostic> {
    let right = lists.iter().zip(counts).all(|(list, n)| list.len() == n);
    if !right || to.len() != counts[2] {
        return Err(m.unsupported());
    }
    let doubles = sum == Scalar::F64;
    let bits = if doubles { Scalar::F64 } else { Scalar::U32 };
    let full = if doubles { counts } else { [4, 2, counts[2]] };
    for (n, list) in lists.iter().enumerate() {
        let ty = if n == 2 { sum } else { bits };
        for register in 0..full[n] {
            args.push(match list.get(register) {
                Some(name) => m.operand(name, ty)?,
                None => Expr::int(Scalar::U32, 0),
            });
        }
    }
    let Some(sums) = m.call(name, args)? else { return Err(m.unsupported()) };
    let sums = m.cx.hold(sums, m.span);
    for (n, target) in to.iter().enumerate() {
        let value = member(m, &sums, n, sum);
        m.write(target, value);
    }
    Ok(())
}
