//! The blocks that host code launches a kernel with, as its text says them or as the file's program shows them when it is run.

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema::Libraries;
use warpsmith_ir::SourceMap;

use super::host_run;
use super::launched::{self, Launched};
use super::shape::squeezed_arguments;

/// Threads along each axis, of all launches together. None: of some launch nobody knows. No block: nothing launches the kernel.
pub type Blocks = Option<Vec<[u32; 3]>>;

/// Blocks that are named in a message.
const MOST_SAID: usize = 3;
/// Threads of a block that can be launched.
const MOST_THREADS: u32 = 1024;

/// The blocks of a kernel's launches; `seen`: in the run that pointers are known from.
pub fn of_file(
    unit: &TranslationUnit,
    kernel: &str,
    sources: &SourceMap,
    libraries: &Libraries<'_>,
    seen: &[[u32; 3]],
) -> Blocks {
    let written = launches(unit, kernel, sources);
    let said = written.iter().filter_map(|l| l.block);
    let mut all: Vec<[u32; 3]> = said.chain(seen.iter().copied()).collect();
    if written.iter().any(|l| l.block.is_none()) {
        let run = host_run::blocks(unit, libraries, kernel);
        if run.is_empty() {
            return None;
        }
        all.extend(run);
    }
    let threads = |b: &[u32; 3]| b.iter().try_fold(1u32, |all, n| all.checked_mul(*n));
    all.retain(|b| threads(b).is_some_and(|n| (1..=MOST_THREADS).contains(&n)));
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// The launches of one instance of a kernel, and those that do not say which they launch.
pub fn launches(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Vec<Launched> {
    let mut all = launched::of_host(unit, kernel, sources);
    let own = squeezed_arguments(kernel);
    all.retain(|l| {
        let given = squeezed_arguments(&l.kernel);
        given.is_empty() || given == own
    });
    all
}

/// The blocks in words: `16x16 and 32x8`.
pub fn said(blocks: &[[u32; 3]]) -> String {
    let more = if blocks.len() > MOST_SAID { " and others" } else { "" };
    let one = |b: &[u32; 3]| match b {
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    };
    let said: Vec<String> = blocks.iter().take(MOST_SAID).map(one).collect();
    said.join(" and ") + more
}
