//! Makes one kernel of two nests of which the second reads what is around each of its iterations in what the first wrote.
//!
//! ```text
//!     parallel for k, j, i in I { v[k][j][i] = f(k, j, i) }
//!     parallel for k, j, i in J { … v[k-1][j][i] … v[k][j][i+1] … }
//!       ==> fuse_kernels k, k#2 block 32x8 slices 8
//!     for each tile of 30 x 6 columns and an eighth of the planes, thread by thread, each with one column of the tile or of its border {
//!         for planes k from the one before the tile's first to the one after its last {
//!             v_own = f(k, j, i), or v[k][j][i] outside I;  v_planes[k mod 3][j][i] = v_own;  barrier
//!             inside the tile: … v_own of two planes before … v_planes[(k - 1) mod 3][j][i+1] …
//!         }
//!     }
//! ```
//!
//! Blocks overlap by what the second nest reads around its iterations (overlapped tiling; along the outermost loop a window
//! slides, as in Nguyen et al., *3.5-D blocking optimization for stencil computations*, SC 2010). What the first nest computes
//! passes through shared memory, and is stored where somebody may read it later.
//!
//! In a serial loop around both nests, where the second one writes what the first reads, kernels go there and back between that
//! array and a copy, two iterations at a time; the last one or two iterations run as they were, so that nothing of what the
//! first nest writes needs storing before.
//!
//! With `each 4x4 ahead 2` a thread has four elements along x in four rows of each plane instead, and what the first nest reads
//! around its iterations is copied into shared memory as well, two planes before it is needed:
//!
//! ```text
//!     for each tile of 264 x 28 columns and an eighth of the planes, thread by thread, each with 4 x 4 of the columns {
//!         for planes k {
//!             plane k of u is there;  barrier;  plane k + 2 of u is on its way
//!             v_own = f(k - 1, j, i);  v_planes[(k - 1) mod 2] = v_own;  inside the tile: … v_own … v_planes[(k - 2) mod 2] …
//!         }
//!     }
//! ```
//!
//! Legal for marked nests next to each other of two or three loops with independent iterations, whose bounds the launcher knows.
//! The first stores one element in each iteration, at its counters, and reads nothing that one of the nests writes; the second
//! reads that array unconditionally, at constant distances from its counters.

mod elements;
mod launch;
mod nests;
mod pair;
mod ring;
mod text;
mod turns;

use std::fmt;

use warpsmith_ir::{LoopId, SourceMap, Stmt, Type};
use winnow::combinator::preceded;
use winnow::{ModalResult, Parser, ascii::space1};

use super::edit::copy;
use super::question::independence::Findings;
use super::step::grammar::{by_x, comma, counted, counted_or_one, extents, name, wanted};
use super::step::{About, Law, Rewrite, StepError, loops_named};
use super::{Rewritten, bind};
use crate::kernel::{Kernel, STATIC_SHARED};
use crate::refusal::Refusal;
use pair::Pair;
use ring::Ring;
use text::Nests;
use turns::Turns;
use winnow::combinator::opt;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The outermost loops of the first and of the second nest.
    pub loops: [String; 2],
    /// How blocks share the nests.
    pub shape: Shape,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.loops.join(", "), self.shape)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "fuse_kernels",
        example: "fuse_kernels k, k#2 block 32x8 slices 8 group 4",
        does: "makes one kernel of two nests of which the second reads what is around each of its iterations in what the first wrote (two steps of a stencil, filters one after the other): blocks overlap and go plane by plane along the outermost loop, with what the first computes in shared memory, `group 4` several planes between two barriers, `each 4x4 ahead 2` with 4 x 4 elements of a plane for each thread and what the first nest reads copied two planes ahead; in a serial loop whose second nest writes what the first reads, kernels go there and back between that array and a copy",
        legal: "both nests are marked, not bound, next to each other, and of as many loops as the array between them has extents, two or three; the launcher knows their bounds; the first stores one element in each iteration, at its counters plus constants, and reads nothing that the nests write, or what the second stores last in each iteration of a serial loop around both; the second reads the array unconditionally at constant distances from its counters and does not write it; with `each` the first reads one array with the same extents around its counters, and its planes fit in the shared memory that the GPU gives to a block",
        law: Law {
            before: LAW_BEFORE,
            steps: "fuse_kernels i, i#2 block 33 slices 2",
            after: LAW_AFTER,
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let (first, _, second) = (name, comma(), name).parse_next(input)?;
        let text = "`block` and the threads of a block, as in `block 32x8`, are wanted here";
        let block =
            preceded((space1, "block", space1), extents).context(wanted(text)).parse_next(input)?;
        let text = "`slices` and into how many the outermost loop is cut are wanted here";
        let slices = counted("slices", text).parse_next(input)?;
        let group = counted_or_one("group").parse_next(input)?;
        let text = "`ahead` and how many planes are on their way are wanted here";
        let each = (preceded((space1, "each", space1), extents), counted("ahead", text));
        let each = opt(each).parse_next(input)?.map(|(elements, ahead)| Each { elements, ahead });
        Ok(Args { loops: [first, second], shape: Shape { block, slices, group, each } })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        let loops = loops_named(kernel, &self.loops)?;
        Ok(apply(check(kernel, [loops[0], loops[1]], self.shape)?, sources))
    }
}

const LAW_BEFORE: &str = "\
void twice(int n, int m, const float u[n][m], float v[n][m], float w[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            v[i][j] = 2.0f * u[i][j];
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            w[i][j] = v[i - 1][j] + v[i][j - 1];
}
";

const LAW_AFTER: &str = "\
constexpr int TILE_X = 33;  // threads of a block along the innermost loop

void twice(int n, int m, const float *u, float *v, float *w, int tile_columns, int planes,
           long long tiles) {
    // blocks along x
    for (long long block = 0; block < tiles; ++block) {
        // what the first nest computed last, plane by plane
        __shared__ float v_planes[2][33];

        // threads of the block along x
        for (int column = 0; column < TILE_X; ++column) {
            const long long x = -1ll + (int)block % tile_columns * 32ll + column;
            const long long begin = -1ll + (long long)((int)block / tile_columns) * planes;
            const int computes_from = std::max(0 - begin, 0ll);
            const int computes_to = x >= 0 && x < m
                                        ? std::max(std::min(n - begin, planes + 1ll), 0ll) : 0;
            const int finishes_from = std::max(1 - begin, 1ll);
            const int finishes_to = x >= 1 && x < m && column >= 1
                                        ? std::max(std::min(n - begin, planes + 1ll), 0ll) : 0;
            float v_own[2];
            v_own[0] = 0.0f;
            v_own[1] = 0.0f;
            for (int step = 0; step < planes + 1; ++step) {
                const long long plane = begin + step;
                v_own[0] = v_own[1];

                // the first nest
                if (step >= computes_from && step < computes_to) {
                    const int i = plane;
                    const int j = x;
                    const long long element = (long long)i * m + j;
                    v_own[1] = 2.0f * u[element];
                    if (column >= 1 && step >= 1) {
                        v[element] = v_own[1];
                    }
                }
                v_planes[step % 2][column] = v_own[1];

                // the plane is whole
                __syncthreads();

                // the second nest
                if (step >= finishes_from && step < finishes_to) {
                    const int i = plane;
                    const int j = x;
                    const long long element = (long long)i * m + j;
                    w[element] = v_own[0] + v_planes[step % 2][column - 1];
                }
            }
        }
    }
}
";

/// How blocks share the nests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Threads of a block along the innermost loop and the one around it; the border of the tile included.
    pub block: [u32; 3],
    /// Parts of the outermost loop, along each of which a block goes.
    pub slices: u32,
    /// Planes between two barriers: their loads are under way together.
    pub group: u32,
    /// What threads have of a plane where it is more than one element.
    pub each: Option<Each>,
}

/// What a thread has of each plane, where planes of what the first nest reads come through shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Each {
    /// Elements along the innermost loop and the one around it.
    pub elements: [u32; 3],
    /// Planes of what the first nest reads that are on their way.
    pub ahead: u32,
}

impl Shape {
    /// Elements of a thread along one of its axes; 0 is the innermost loop.
    fn each(&self, axis: usize) -> u32 {
        self.elements()[axis]
    }

    fn elements(&self) -> [u32; 3] {
        self.each.map_or([1; 3], |each| each.elements)
    }
}

fn without_ones(extents: &[u32; 3]) -> &[u32] {
    &extents[..extents.iter().rposition(|n| *n != 1).map_or(1, |k| k + 1)]
}

/// As a schedule has it.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {} slices {}", by_x(without_ones(&self.block)), self.slices)?;
        if self.group > 1 {
            write!(f, " group {}", self.group)?;
        }
        match &self.each {
            Some(e) => write!(f, " each {} ahead {}", by_x(without_ones(&e.elements)), e.ahead),
            None => Ok(()),
        }
    }
}

/// The verdict on a `fuse_kernels`, which alone allows it.
pub struct LegalFuseKernels<'k> {
    kernel: &'k Kernel,
    shape: Shape,
    pair: Pair,
    /// Iterations of a loop around both, two at a time.
    turns: Option<Turns>,
    /// What the first nest reads, where planes of it come through shared memory.
    ring: Option<Ring>,
    findings: Vec<(LoopId, Findings)>,
}

impl LegalFuseKernels<'_> {
    /// Whether kernels go there and back in a serial loop around both nests.
    pub fn goes_in_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// The type of positions along the axes of threads: where kernels go there and back, larger sizes are left to single nests.
    fn place_type(&self) -> Type {
        if self.turns.is_some() && self.ring.is_some() { Type::I32 } else { Type::I64 }
    }
}

const VERB: &str = "fuse";

fn refused<T>(loop_id: LoopId, why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::of_loop(VERB, loop_id, why))
}

/// Iterations of a plane that a tile has for each slice, at least: a grid of fewer than 2³¹ blocks then covers what fits in
/// memory, however few planes there are.
const LEAST_FOR_SLICE: u32 = 4;

/// Most planes between two barriers: what a thread has of them stands in registers.
const MOST_TOGETHER: u32 = 16;

/// Asks whether blocks of this shape can run both nests.
///
/// # Errors
/// The first reason why not.
pub fn check(
    kernel: &Kernel,
    roots: [LoopId; 2],
    shape: Shape,
) -> Result<LegalFuseKernels<'_>, Refusal> {
    bind::check_block(shape.block)?;
    let (pair, findings) = pair::found(kernel, roots)?;
    let turns = turns::wanted(kernel, &pair)?;
    let ring = shape.each.map(|each| Ring::found(kernel, &pair, each)).transpose()?;
    let legal = LegalFuseKernels { kernel, shape, pair, turns, ring, findings };
    check_shape(&legal)?;
    Ok(legal)
}

fn check_shape(legal: &LegalFuseKernels<'_>) -> Result<(), Refusal> {
    let (pair, shape) = (&legal.pair, legal.shape);
    let root = pair.second.root;
    let used = pair.rank() - 1;
    if shape.group == 0 || shape.group > MOST_TOGETHER {
        return refused(root, "1 to 16 planes go together");
    }
    if shape.each.is_some() && shape.group > 1 {
        return refused(root, "where threads have several elements, one plane goes at a time");
    }
    if shape.block[used..].iter().any(|n| *n != 1) {
        return refused(root, "a block has threads along its loops but the outermost only");
    }
    let mut tile = 1;
    for axis in 0..used {
        let (all, border) = (legal.extent(axis), legal.border(axis).width());
        if all <= border {
            return refused(root, "a block is no larger than what its iterations read around them");
        }
        tile *= all - border;
    }
    if shape.slices == 0 || shape.slices > tile / LEAST_FOR_SLICE {
        let most = tile / LEAST_FOR_SLICE;
        return refused(root, format!("a tile of {tile} columns allows for 1 to {most} slices"));
    }
    if let Some(ring) = &legal.ring {
        return ring.check_room(legal);
    }
    let threads: u64 = shape.block.iter().map(|n| u64::from(*n)).product();
    let bytes = threads * u64::from(pair.slots(shape.group)) * u64::from(pair.element.bytes());
    match bytes > STATIC_SHARED.into() {
        true => refused(root, "the planes of a block do not fit in shared memory"),
        false => Ok(()),
    }
}

/// Makes the kernel, or the kernels there and back.
pub fn apply(legal: LegalFuseKernels<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    bind::record(&mut kernel, legal.findings.clone(), sources);
    kernel.numbers.push(legal.shape.slices);
    kernel.numbers.extend((0..legal.pair.rank() - 1).map(|axis| legal.inner(axis)));
    let grid = launch::grid(&mut kernel, &legal);
    if let Some(turns) = &legal.turns {
        turns::apply(&mut kernel, &legal, turns, &grid);
        return Rewritten::same_loops(kernel);
    }
    let Some(nests) = Nests::of(&kernel, &legal.pair) else {
        return Rewritten::same_loops(kernel);
    };
    let comment = nests.first.comment.clone();
    let stmt = Stmt { comment, ..ring::chosen(&mut kernel, &legal, nests, &grid) };
    copy::replace_loop(&mut kernel, legal.pair.second.root, vec![]);
    copy::replace_loop(&mut kernel, legal.pair.first.root, vec![stmt]);
    Rewritten::same_loops(kernel)
}
