//! Unrolls a serial loop.
//!
//! ```text
//!     for k in K { S(k) }
//!       ==> unroll k by 4
//!     #pragma unroll 4
//!     for k in K { S(k) }
//! ```
//!
//! Always legal: the compiler keeps the order of the iterations. Without a factor the loop is unrolled entirely, which
//! needs a number of iterations that the compiler knows.

use std::fmt;
use warpsmith_ir::{LoopId, LoopKind, SourceMap, StmtKind};

use super::Rewritten;
use super::step::grammar::{name, number};
use super::step::{About, Law, Rewrite, StepError, loop_named};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{cut_err, opt, preceded};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A serial loop.
    pub target: String,
    /// Entirely if there is none.
    pub factor: Option<u32>,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)?;
        self.factor.map_or(Ok(()), |n| write!(f, " by {n}"))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "unroll",
        example: "unroll k by 4",
        does: "unrolls a serial loop by a factor, or entirely",
        legal: "always, for a loop that each thread runs on its own",
        law: Law {
            before: "\
void rows(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] += A[i][j];
}
",
            steps: "unroll j by 4",
            after: "\
void rows(int n, int m, const float *A, float *s) {
    // parallel
    for (int i = 0; i < n; ++i) {
        #pragma unroll 4
        for (int j = 0; j < m; ++j) {
            s[i] += A[(size_t)i * m + j];
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let target = name.parse_next(input)?;
        let factor = opt(preceded((space1, "by", space1), cut_err(number))).parse_next(input)?;
        Ok(Args { target, factor })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?, self.factor)?))
    }
}

/// The verdict on an `unroll`, which alone allows it.
pub struct LegalUnroll<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    factor: Option<u32>,
}

/// Asks whether the loop can be unrolled.
///
/// # Errors
/// [`Refusal::NotSerial`] for a loop that threads share, [`Refusal::TileFactor`] for a factor beyond 1024.
pub fn check(
    kernel: &Kernel,
    target: LoopId,
    factor: Option<u32>,
) -> Result<LegalUnroll<'_>, Refusal> {
    if let Some(factor) = factor.filter(|f| !(1..=1024).contains(f)) {
        return Err(Refusal::TileFactor { loop_id: target, factor, most: 1024 });
    }
    match kernel.runs_in_thread(target) {
        true => Ok(LegalUnroll { kernel, target, factor }),
        false => Err(Refusal::NotSerial { loop_id: target }),
    }
}

/// Marks the loop.
pub fn apply(legal: LegalUnroll<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    walk::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.kind = LoopKind::Unrolled(legal.factor);
        }
    });
    Rewritten::same_loops(kernel)
}
