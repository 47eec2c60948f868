//! Lays the lanes of a warp out as a rectangle of the block's tile.
//!
//! ```text
//!     i = i_block + threadIdx.y …;   j = j_block + threadIdx.x …
//!       ==> warp i, j by 8x4
//!     lane = thread % 32;   warp = thread / 32
//!     i = i_block + place of the warp + place of the lane along i …;   j likewise
//! ```
//!
//! A warp then computes a compact tile of its own, so that what its lanes read of one strip is little and read by
//! several of them together: fewer words of shared memory for the same work.
//!
//! Legal where the loops are bound in one nest of tiles, the lanes are 32, and they divide the threads along each axis;
//! along the axes that are not named the block must be one thread thick. Where lanes along x share a loop, what is laid
//! out are these teams: the lanes of each stay neighbours.

pub(crate) mod lanes;

use std::fmt;
use warpsmith_ir::{Axis, LoopId, SourceMap};

use super::Rewritten;
use super::question::conditions::{SHARED_NEST, bound_nest, check_tiles};
use super::step::grammar::{by_x, comma, name, number, wanted};
use super::step::{About, Law, Rewrite, StepError, loops_named};
use crate::build::threads::WARP;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{preceded, separated};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// Bound loops, one to three.
    pub loops: Vec<String>,
    /// Lanes along each of them.
    pub lanes: Vec<u32>,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.loops.join(", "), by_x(&self.lanes))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "warp",
        example: "warp i, j by 8x4",
        does: "lays the lanes of a warp out as a rectangle, so that each warp computes a compact tile",
        legal: "the lanes are 32, and divide the threads of the block along each loop",
        law: Law {
            before: "\
void copy(int n, int m, const float A[n][m], float B[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[i][j] = A[i][j];
}
",
            steps: "bind i, j -> y, x block 16x16\nwarp i, j by 4x8",
            after: "\
void copy(int n, int m, const float *A, float *B) {
    // lanes of a warp: 8 along x, 4 along y, 1 along z
    // threads of the grid along y, 16 a block
    for (int i = 0; i < n; ++i) {
        // threads of the grid along x, 16 a block
        for (int j = 0; j < m; ++j) {
            B[(size_t)i * m + j] = A[(size_t)i * m + j];
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let loops: Vec<String> = separated(1..=3, name, comma()).parse_next(input)?;
        let lanes = preceded((space1, "by", space1), separated(1..=3, number, 'x'))
            .verify(|lanes: &Vec<u32>| lanes.len() == loops.len())
            .context(wanted("`by` and the lanes along each loop, as in `8x4`, are wanted here"))
            .parse_next(input)?;
        Ok(Args { loops, lanes })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let pairs: Vec<_> =
            loops_named(kernel, &self.loops)?.into_iter().zip(self.lanes.iter().copied()).collect();
        Ok(apply(check(kernel, &pairs)?))
    }
}

/// The verdict on a `warp`, which alone allows it.
pub struct LegalWarp<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    lanes: [u32; 3],
}

/// Asks whether a warp can have so many lanes along each of the loops.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(kernel: &'k Kernel, lanes: &[(LoopId, u32)]) -> Result<LegalWarp<'k>, Refusal> {
    let Some((first, _)) = lanes.first() else {
        return Err(Refusal::NotBound { loop_id: LoopId(u32::MAX) });
    };
    let (root, nest) = bound_nest(kernel, *first)?;
    check_tiles(kernel, root, nest)?;
    if let Some(team) = nest.team.as_ref().filter(|t| t.axis != Axis::X || t.threads >= WARP) {
        let why = match team.axis {
            Axis::X => format!("{SHARED_NEST}: they fill its warps"),
            axis => format!(
                "{SHARED_NEST} along {}: only lanes along x can lie beside each other",
                axis.name()
            ),
        };
        return Err(Refusal::of_loop("lay lanes along", *first, why));
    }
    let mut along = [1; 3];
    for (id, count) in lanes {
        let Some((_, axis)) = nest.axes.iter().find(|(l, _)| l == id) else {
            return Err(Refusal::NotBound { loop_id: *id });
        };
        along[axis.index()] = *count;
    }
    check_lanes(nest, *first, lanes, along)?;
    Ok(LegalWarp { kernel, root, lanes: along })
}

fn check_lanes(
    nest: &Nest,
    first: LoopId,
    lanes: &[(LoopId, u32)],
    along: [u32; 3],
) -> Result<(), Refusal> {
    let refuse =
        |loop_id: LoopId, why: String| Err(Refusal::of_loop("lay lanes along", loop_id, why));
    let all = along.iter().fold(1u64, |n, l| n * u64::from(*l));
    let team = nest.team.as_ref().map_or(1, |t| t.threads);
    if all * u64::from(team) != u64::from(WARP) {
        return refuse(
            first,
            match team {
                1 => format!("a warp has {WARP} lanes, not {all}"),
                n => format!(
                    "a warp has {} times {n} lanes that share a loop, not {all} times",
                    WARP / n
                ),
            },
        );
    }
    for axis in Axis::ALL {
        let (threads, count) = (nest.block[axis.index()], along[axis.index()]);
        let of_axis = |a: &Axis| *a == axis;
        let named =
            nest.axes.iter().find(|(id, a)| of_axis(a) && lanes.iter().any(|(l, _)| l == id));
        let other = nest.axes.iter().find(|(_, a)| of_axis(a)).map_or(first, |(id, _)| *id);
        match named {
            Some((id, _)) if !threads.is_multiple_of(count) => {
                let why = format!("{count} lanes do not divide the {threads} threads of a block");
                return refuse(*id, why);
            }
            None if nest.team.as_ref().is_some_and(|t| t.axis == axis) => {}
            None if threads > 1 => {
                let why = format!("the block is {threads} threads thick along it: name it, too");
                return refuse(other, why);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Notes the lanes; the nest is written out when it is lowered.
pub fn apply(legal: LegalWarp<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.lanes = Some(legal.lanes);
    }
    Rewritten::same_loops(kernel)
}
