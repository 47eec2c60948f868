//! Signed sums and products of `int` that a subscript depends on: which of them are looked at when they are computed.
//!
//! Lowering leaves a mark behind each ([`Op::Overflow`]), but not in arms of a condition that are computed whether it holds or
//! not. What no address is made of loses it, and so does what cannot overflow by the sizes of the launch. Sums of numbers that
//! nothing is known of lose it, too: counters that go on until a condition fails are everywhere, and end long before.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::{BinaryOp, Scalar};

use super::lir::*;
use super::lower::Lower;

/// The smallest and the largest value.
type Range = (i128, i128);

/// How far definitions are followed.
const DEPTH: u32 = 24;

const INT: Range = (i32::MIN as i128, i32::MAX as i128);

/// Whether a sum, difference or product of constants is no `int`: it stays, so that it is found where it is reached.
pub(super) fn of_constants(op: BinaryOp, ty: Scalar, x: u64, y: u64) -> bool {
    let value = |k| i128::from(from_register(ty, k).as_i64());
    let (x, y) = ((value(x), value(x)), (value(y), value(y)));
    let wraps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
    wraps && ty == Scalar::I32 && combined(op, x, y).is_some_and(|range| !inside(range, INT))
}

/// Removes the marks that nothing is to be looked at for.
pub(super) fn keep_needed(l: &mut Lower<'_>) {
    if !l.code.iter().any(|ins| matches!(ins.op, Op::Overflow { .. })) {
        return;
    }
    let definitions = definitions(l);
    let indices = indices(l, &definitions);
    let lowered: &Lower<'_> = l;
    let mut ranges = Ranges { l: lowered, definitions: &definitions, known: HashMap::new() };
    let mut needed = vec![];
    for ins in &lowered.code {
        let keep = match ins.op {
            Op::Overflow { op, a, b, result } => {
                indices.contains(&result) && ranges.may_overflow(op, a, b)
            }
            _ => true,
        };
        needed.push(keep);
    }
    let mut needed = needed.into_iter();
    l.code.retain(|_| needed.next().unwrap_or(true));
}

/// The instructions that set each register.
fn definitions(l: &mut Lower<'_>) -> HashMap<u32, Vec<usize>> {
    let mut all: HashMap<u32, Vec<usize>> = HashMap::new();
    let (code, accesses) = (&mut l.code, &mut l.out.accesses);
    for (at, ins) in code.iter_mut().enumerate() {
        ins.op.operands(accesses, &mut |o, role| {
            if let (Opd::R(r), Role::Def) = (*o, role) {
                all.entry(r).or_default().push(at);
            }
        });
    }
    all
}

/// The registers that addresses are made of.
fn indices(l: &Lower<'_>, definitions: &HashMap<u32, Vec<usize>>) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut open: Vec<Opd> = vec![];
    for access in &l.out.accesses {
        open.push(access.base);
        open.extend(access.terms.iter().map(|t| t.index));
    }
    while let Some(o) = open.pop() {
        let Opd::R(r) = o else { continue };
        if !found.insert(r) {
            continue;
        }
        for at in definitions.get(&r).into_iter().flatten() {
            match &l.code[*at].op {
                // Of what is masked or reduced people take the bits that are left, as in a table of hashes.
                Op::Bin { op: BinaryOp::BitAnd | BinaryOp::Rem, .. } => {}
                Op::Bin { op, ty, a, b, .. } if !op.is_comparison() && !ty.is_float() => {
                    open.extend([*a, *b]);
                }
                Op::Cast { from, a, .. } if !from.is_float() => open.push(*a),
                Op::Un { ty, a, .. } | Op::Mov { ty, a, .. } if !ty.is_float() => open.push(*a),
                Op::Select { ty, a, b, .. } if !ty.is_float() => open.extend([*a, *b]),
                Op::Math { ty, args, .. } if !ty.is_float() => open.extend(args),
                _ => {}
            }
        }
    }
    found
}

/// What values registers may have.
struct Ranges<'a, 'm> {
    l: &'a Lower<'m>,
    definitions: &'a HashMap<u32, Vec<usize>>,
    known: HashMap<(u32, Scalar), Option<Range>>,
}

impl Ranges<'_, '_> {
    fn may_overflow(&mut self, op: BinaryOp, a: Opd, b: Opd) -> bool {
        let both = self.of(a, Scalar::I32, 0).zip(self.of(b, Scalar::I32, 0));
        match both.and_then(|(x, y)| combined(op, x, y)) {
            Some(range) => !inside(range, INT),
            None => op == BinaryOp::Mul,
        }
    }

    /// `None`: any value of the type.
    fn of(&mut self, o: Opd, ty: Scalar, depth: u32) -> Option<Range> {
        match o {
            Opd::K(k) => {
                let value = i128::from(from_register(ty, k).as_i64());
                Some((value, value))
            }
            Opd::R(r) => {
                if let Some(known) = self.known.get(&(r, ty)) {
                    return *known;
                }
                // Whoever comes here again on the way knows nothing.
                self.known.insert((r, ty), None);
                let range = (depth < DEPTH).then(|| self.of_register(r, depth + 1)).flatten();
                let range = range.filter(|range| inside(*range, limits(ty)));
                self.known.insert((r, ty), range);
                range
            }
            _ => None,
        }
    }

    fn of_register(&mut self, r: u32, depth: u32) -> Option<Range> {
        let l = self.l;
        let at = match self.definitions.get(&r)?.as_slice() {
            [at] => at,
            // The first value, and the next one.
            [_, _] => return self.of_counter(r, depth),
            _ => return None,
        };
        match l.code[*at].op {
            Op::Bin { op, ty, a, b, .. } => {
                let range = match op {
                    BinaryOp::BitAnd | BinaryOp::Rem => self.of_part(op, a, b, ty, depth)?,
                    _ => {
                        let (x, y) = (self.of(a, ty, depth)?, self.of(b, ty, depth)?);
                        combined(op, x, y)?
                    }
                };
                Some(range).filter(|range| inside(*range, limits(ty)))
            }
            Op::Cast { from, a, .. } if !from.is_float() => self.of(a, from, depth),
            Op::Mov { ty, a, .. } if !ty.is_float() => self.of(a, ty, depth),
            Op::Select { ty, a, b, .. } if !ty.is_float() => {
                let (x, y) = (self.of(a, ty, depth)?, self.of(b, ty, depth)?);
                Some((x.0.min(y.0), x.1.max(y.1)))
            }
            Op::Special { what, .. } => {
                let of = |extent: u32| Some((0, i128::from(extent.max(1)) - 1));
                match what {
                    Special::ThreadIdx(axis) => of(l.launch.block[axis.index()]),
                    Special::BlockIdx(axis) => of(l.launch.grid[axis.index()]),
                    Special::FlatThread => of(l.launch.block.iter().product()),
                    Special::Lane => of(32),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn of_counter(&mut self, r: u32, depth: u32) -> Option<Range> {
        let (first, limit, step, ty) = *self.l.counters.get(&r)?;
        let (first, limit) = (self.of(first, ty, depth)?, self.of(limit, ty, depth)?);
        let step = self.of(step, ty, depth)?;
        (step.0 > 0).then(|| (first.0, first.1.max(limit.1 + step.1)))
    }

    /// `a & mask` and `a % n` are bounded by their right operands alone.
    fn of_part(&mut self, op: BinaryOp, a: Opd, b: Opd, ty: Scalar, depth: u32) -> Option<Range> {
        let most = self.of(b, ty, depth).filter(|b| b.0 > 0)?.1;
        let left = self.of(a, ty, depth);
        let negative = ty.is_signed() && left.is_none_or(|left| left.0 < 0);
        Some(match op {
            BinaryOp::BitAnd => (0, most),
            _ => (if negative { 1 - most } else { 0 }, most - 1),
        })
    }
}

fn combined(op: BinaryOp, x: Range, y: Range) -> Option<Range> {
    Some(match op {
        BinaryOp::Add => (x.0 + y.0, x.1 + y.1),
        BinaryOp::Sub => (x.0 - y.1, x.1 - y.0),
        BinaryOp::Mul => {
            let all = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
            (all.into_iter().min()?, all.into_iter().max()?)
        }
        BinaryOp::Div if y.0 > 0 && x.0 >= 0 => (x.0 / y.1, x.1 / y.0),
        BinaryOp::Shr if x.0 >= 0 && y.0 >= 0 && y.1 < 64 => (x.0 >> y.1, x.1 >> y.0),
        BinaryOp::Shl if x.0 >= 0 && y.0 >= 0 && y.1 < 32 => (x.0 << y.0, x.1 << y.1),
        _ => return None,
    })
}

fn inside(range: Range, limits: Range) -> bool {
    limits.0 <= range.0 && range.1 <= limits.1
}

fn limits(ty: Scalar) -> Range {
    let bits = 8 * ty.bytes();
    match ty.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_front::parse::{ParseOptions, parse};
    use warpsmith_front::pp::{DiskLoader, Language};
    use warpsmith_front::sema::{Request, lower_cuda};
    use warpsmith_ir::{FuncId, SourceMap};

    use crate::api::{Arg, Buffer, DeviceMemory, LaunchConfig};
    use crate::compile::compile;
    use crate::compile::lir::Op;

    /// How many sums and products of a kernel with an array and a number are looked at in 64 blocks of 256 threads.
    fn looked_at(text: &str, n: i32) -> usize {
        let mut sources = SourceMap::new();
        let options = ParseOptions::new(Language::Cuda);
        let parsed = parse("k.cu", text.as_bytes(), &options, &DiskLoader, &mut sources)
            .unwrap_or_else(|e| panic!("{}", e[0].render(&sources, false)));
        let lowered = lower_cuda(&parsed.unit, &Request::all_kernels())
            .unwrap_or_else(|e| panic!("{}", e[0].render(&sources, false)));
        let mut memory = DeviceMemory::new(&lowered.module);
        let buffer = memory.add(Buffer { bytes: vec![0; 1024], ..Buffer::default() });
        let launch = LaunchConfig {
            kernel: FuncId(0),
            grid: [64, 1, 1],
            block: [256, 1, 1],
            dynamic_shared: 0,
            cluster: None,
            args: vec![Arg::Pointer { buffer, offset: 0 }, Arg::Bytes(n.to_le_bytes().to_vec())],
        };
        let program = compile(&lowered.module, &launch, &memory, false).expect("a program");
        program.code.iter().filter(|op| matches!(op, Op::Overflow { .. })).count()
    }

    #[test]
    fn what_fits_by_the_sizes_of_the_launch_is_not_looked_at() {
        const ROWS: &str = "__global__ void k(float *x, int n) {
            int row = blockIdx.x * blockDim.x + threadIdx.x, column = threadIdx.x % 7 - 3;
            for (int j = 1; j < n; j++) {
                x[row * n + j] = x[(j - 1) * n + row] + x[row / 2 * (n & 15) + column * 4];
                int product = row * j * 1000;
                x[row] = product;
            }
        }";
        // `column * 4`: of an unsigned difference that may be below zero nothing is known.
        assert_eq!(looked_at(ROWS, 100), 1);
    }

    #[test]
    fn products_of_what_is_not_known_are_looked_at_and_sums_are_not() {
        const LOADED: &str = "__global__ void k(int *x, int n) {
            int i = x[threadIdx.x];
            while (x[i + n] > 0) i += n;
            x[i * n] = 1;
        }";
        assert_eq!(looked_at(LOADED, 3), 1);
    }
}
