//! Grid, block and shared memory of a configuration, from the expressions of a problem.
//!
//! A problem says its grid in one of two ways: as `GlobalSize`, in blocks or (`GlobalSizeType` "OpenCL") in threads; or as
//! Kernel Tuner does, `ProblemSize` divided by `GridDivX`, … and rounded up.

use warpsmith_gpu::protocol::{Invalid, Reason};
use warpsmith_tune::exchange::t1::{Problem, SizeType};
use warpsmith_tune::space::Configuration;
use warpsmith_tune::value::Value;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// In blocks.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
}

/// Limits of every device that CUDA 13 knows (programming guide, *Compute Capabilities*).
const MOST_BLOCKS: [u64; 3] = [0x7fff_ffff, 65_535, 65_535];
const MOST_THREADS: [u64; 3] = [1024, 1024, 64];
const MOST_IN_A_BLOCK: u64 = 1024;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The launch of a configuration. `local` is what arguments in shared memory need, in bytes.
///
/// # Errors
/// A size that has no value, or that no device can launch.
pub fn shape(
    problem: &Problem,
    local: &[String],
    configuration: &Configuration,
) -> Result<Shape, Invalid> {
    let size = |text: &str, what: &str| whole(problem, text, configuration, what);
    let kernel = &problem.kernel;
    let mut block = [0; 3];
    for (k, axis) in AXES.iter().enumerate() {
        block[k] = size(&kernel.local_size[k], &format!("the block's size along {axis}"))?;
    }
    check_block(block)?;
    let grid = match divides(problem) {
        true => divided(problem, configuration)?,
        false => given(problem, configuration, block)?,
    };
    for (k, axis) in AXES.iter().enumerate() {
        if grid[k] == 0 || grid[k] > MOST_BLOCKS[k] {
            let most = MOST_BLOCKS[k];
            return Err(broken(format!("{} blocks along {axis}, of 1 to {most}", grid[k])));
        }
    }
    let mut shared = match &kernel.shared_memory {
        Some(text) => size(text, "`SharedMemory` in bytes")?,
        None => 0,
    };
    for text in local {
        shared =
            shared.saturating_add(size(text, "the size in bytes of an argument in shared memory")?);
    }
    let narrow = |x: u64| u32::try_from(x).unwrap_or(u32::MAX);
    let shared = u32::try_from(shared)
        .map_err(|_| broken(format!("{shared} bytes of shared memory for a block")))?;
    Ok(Shape { grid: grid.map(narrow), block: block.map(narrow), shared })
}

fn check_block(block: [u64; 3]) -> Result<(), Invalid> {
    for (k, axis) in AXES.iter().enumerate() {
        if block[k] == 0 || block[k] > MOST_THREADS[k] {
            let most = MOST_THREADS[k];
            return Err(broken(format!("{} threads along {axis}, of 1 to {most}", block[k])));
        }
    }
    let threads: u64 = block.iter().product();
    if threads > MOST_IN_A_BLOCK {
        return Err(broken(format!("{threads} threads in a block, of at most {MOST_IN_A_BLOCK}")));
    }
    Ok(())
}

/// Whether the grid is made as Kernel Tuner makes it.
pub fn divides(problem: &Problem) -> bool {
    let kernel = &problem.kernel;
    let stated = problem.document.get("KernelSpecification").and_then(|k| k.get("GlobalSize"));
    let divisors = kernel.grid_divisors.iter().any(|list| !list.is_empty());
    !kernel.problem_size.is_empty() && (divisors || stated.is_none())
}

/// The problem's size over the divisors, rounded up. An axis without a list is divided by `block_size_x` (`y`, `z`) where
/// that is a parameter.
fn divided(problem: &Problem, configuration: &Configuration) -> Result<[u64; 3], Invalid> {
    let mut grid = [1; 3];
    for (k, axis) in AXES.iter().enumerate() {
        let Some(text) = problem.kernel.problem_size.get(k) else { continue };
        let size = whole(problem, text, configuration, "`ProblemSize`")?;
        let usual = format!("block_size_{axis}");
        let mut divisors = problem.kernel.grid_divisors[k].clone();
        if divisors.is_empty() && configuration.get(&usual).is_some() {
            divisors.push(usual);
        }
        let mut divisor = 1.0;
        for text in &divisors {
            let value = value(problem, text, configuration, "a divisor of the grid")?;
            divisor *= value.number().unwrap_or(f64::NAN);
        }
        if divisor.is_nan() || divisor <= 0.0 {
            return Err(broken(format!("the grid along {axis} would be divided by {divisor}")));
        }
        grid[k] = (size as f64 / divisor).ceil() as u64;
    }
    Ok(grid)
}

/// `GlobalSize`, in blocks or in threads.
fn given(
    problem: &Problem,
    configuration: &Configuration,
    block: [u64; 3],
) -> Result<[u64; 3], Invalid> {
    let mut grid = [0; 3];
    for (k, axis) in AXES.iter().enumerate() {
        let text = &problem.kernel.global_size[k];
        grid[k] = whole(problem, text, configuration, &format!("the grid's size along {axis}"))?;
        if problem.kernel.size_type == SizeType::OpenCl {
            // OpenCL refuses such a launch; a grid that is rounded down would leave elements out.
            if !grid[k].is_multiple_of(block[k]) {
                let (threads, width) = (grid[k], block[k]);
                let text = format!("{threads} threads along {axis} are no multiple of {width}");
                return Err(broken(text));
            }
            grid[k] /= block[k];
        }
    }
    Ok(grid)
}

fn value(
    problem: &Problem,
    text: &str,
    configuration: &Configuration,
    what: &str,
) -> Result<Value, Invalid> {
    let value = problem.size(text, configuration);
    value.map_err(|error| broken(format!("{what}, `{text}`, has no value: {}", error.message)))
}

fn whole(
    problem: &Problem,
    text: &str,
    configuration: &Configuration,
    what: &str,
) -> Result<u64, Invalid> {
    let value = value(problem, text, configuration, what)?;
    // Largest float below which all whole numbers are exact.
    let exact = |x: &f64| x.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(x);
    let number = match &value {
        Value::Int(x) => u64::try_from(*x).ok(),
        Value::Bool(x) => Some(u64::from(*x)),
        Value::Float(x) => Some(*x).filter(exact).map(|x| x as u64),
        Value::Str(_) | Value::List(_) => None,
    };
    number.ok_or_else(|| broken(format!("{what}, `{text}`, is {value}: no whole number from 0")))
}

fn broken(detail: String) -> Invalid {
    Invalid::new(Reason::Constraints, detail)
}
