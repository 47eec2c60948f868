//! Random CUDA kernels without a race, each with the same computation as serial C.
//!
//! A kernel is a sequence of phases. Within a phase a thread touches only variables of its own; between phases values
//! move by shared memory with barriers, by shuffles, votes and commutative atomics, all of them in uniform control flow.
//! The C text runs each phase as a loop over the threads of a block, so what a thread keeps from phase to phase is an
//! array there. Neither text has undefined behaviour, so both must agree bit for bit (any two NaNs count as equal: no
//! kernel turns the bits of a real into an integer).

mod block;
mod objects;
mod prelude;
mod thread;
mod value;
mod warp;

use std::fmt::Write;

use crate::choice::Choice;
use prelude::{C_PRELUDE, COMMON, CUDA_PRELUDE};
use value::Kind;

/// Ends the line of every barrier whose removal makes a race.
const NEEDED: &str = "// orders accesses of two threads";

/// A kernel in both languages. Its parameters are [`PARAMS`]; `n` is in [`CudaKernel::n`].
#[derive(Clone, Debug)]
pub struct CudaKernel {
    /// A file with one kernel, `kernel`, and its launch in a directive.
    pub cuda: String,
    /// The C function and what it needs except [`c_prelude`]; the parameters are those of the kernel.
    pub c: String,
    pub n: usize,
}

/// The array parameters after `int n`: name, C type, extent (0: `n`), and whether it is an output.
pub const PARAMS: [(&str, &str, usize, bool); 10] = [
    ("a", "int", 0, false),
    ("b", "unsigned", 0, false),
    ("c", "float", 0, false),
    ("d", "double", 0, false),
    ("counts", "unsigned", 16, true),
    ("out_x", "int", 0, true),
    ("out_u", "unsigned", 0, true),
    ("out_q", "unsigned long long", 0, true),
    ("out_f", "float", 0, true),
    ("out_d", "double", 0, true),
];

/// Shape of a launch and how the shapes read in a directive and in the index expressions.
struct Launch {
    block: usize,
    grid: usize,
    directive: &'static str,
}

const LAUNCHES: [Launch; 9] = [
    Launch { block: 32, grid: 2, directive: "grid=2 block=32" },
    Launch { block: 64, grid: 2, directive: "grid=2 block=64" },
    Launch { block: 96, grid: 1, directive: "grid=1 block=96" },
    Launch { block: 64, grid: 3, directive: "grid=3 block=16,4" },
    Launch { block: 64, grid: 4, directive: "grid=2,2 block=8,4,2" },
    Launch { block: 128, grid: 1, directive: "grid=1 block=32,4" },
    Launch { block: 20, grid: 2, directive: "grid=2 block=20" },
    Launch { block: 33, grid: 2, directive: "grid=1,2 block=33" },
    Launch { block: 35, grid: 2, directive: "grid=2 block=7,5" },
];

/// The variables of a thread that live through all phases.
const POOL: [(&str, Kind); 10] = [
    ("x0", Kind::Int),
    ("x1", Kind::Int),
    ("u0", Kind::Unsigned),
    ("u1", Kind::Unsigned),
    ("u2", Kind::Unsigned),
    ("q0", Kind::ULong),
    ("f0", Kind::Float),
    ("f1", Kind::Float),
    ("d0", Kind::Double),
    ("l0", Kind::Long),
];

/// Those of a type narrower than `int`: name and type.
const NARROW: [(&str, &str); 3] = [("b0", "unsigned char"), ("h0", "short"), ("g0", "signed char")];

/// What the C functions need, once before any number of them.
pub fn c_prelude() -> String {
    format!("{C_PRELUDE}{COMMON}")
}

/// A kernel made from the bytes; the C function is called `name`.
pub fn cuda_kernel(bytes: &[u8], name: &str) -> CudaKernel {
    let mut choice = Choice::new(bytes);
    let launch = &LAUNCHES[choice.below(LAUNCHES.len())];
    let n = launch.block * launch.grid - choice.below(launch.block / 2);
    let mut g = Generator::new(choice, launch);
    g.start();
    for _ in 0..2 + g.choice.below(6) {
        g.phase(2);
    }
    g.finish();
    let (cuda, c) = (g.cuda_file(n), g.c_function(name));
    CudaKernel { cuda, c, n }
}

/// Threads and blocks of [`cuda_threads`].
pub const THREADS: [usize; 2] = [32, 2];

/// A file with a kernel whose threads do nothing together: each calls the device function `body(tid, block, …)` with the
/// kernel's own parameters after these two, so that the same can be run thread by thread.
pub fn cuda_threads(bytes: &[u8]) -> String {
    let mut g = Generator::new(Choice::new(bytes), &LAUNCHES[0]);
    let n = THREADS[0] * THREADS[1];
    g.pool();
    for _ in 0..3 + g.choice.below(10) {
        g.statement(3);
    }
    g.results();
    let [params, names] = [true, false].map(|declare| {
        let one = |(name, ty, _, out): &(&str, &str, usize, bool)| match (declare, out) {
            (true, true) => format!("{ty} *{name}"),
            (true, false) => format!("const {ty} *{name}"),
            (false, _) => name.to_string(),
        };
        PARAMS.iter().map(one).collect::<Vec<_>>().join(", ")
    });
    format!(
        "{CUDA_PRELUDE}{COMMON}__device__ void body(int tid, int block, int n, {params})\n{{\n    \
         const int i = block * {} + tid;\n{}}}\n\n{}\n__global__ void kernel(int n, {params})\n{{\n    \
         body(threadIdx.x, blockIdx.x, n, {names});\n}}\n",
        THREADS[0],
        g.cuda,
        g.directive(n)
    )
}

impl CudaKernel {
    /// Barriers that can be taken away for [`CudaKernel::without_barrier`].
    pub fn barriers(&self) -> usize {
        self.cuda.matches(NEEDED).count()
    }

    /// The CUDA file without one of its barriers, which makes it racy; the file as it is when there are not as many.
    pub fn without_barrier(&self, number: usize) -> String {
        let mut seen = 0;
        let mut text = String::new();
        for line in self.cuda.lines() {
            let barrier = line.ends_with(NEEDED);
            seen += usize::from(barrier);
            if !barrier || seen != number + 1 {
                text += line;
                text.push('\n');
            }
        }
        text
    }
}

struct Generator<'a> {
    choice: Choice<'a>,
    launch: &'static Launch,
    /// The two bodies.
    cuda: String,
    c: String,
    depth: usize,
    /// Variables of inner scopes: name, kind, whether they may be assigned.
    locals: Vec<(String, Kind, bool)>,
    fresh: usize,
    /// Loops around the place in the thread's code.
    loops: usize,
    /// Whether one shared array is the launch's dynamic one.
    dynamic: bool,
}

impl<'a> Generator<'a> {
    fn new(choice: Choice<'a>, launch: &'static Launch) -> Generator<'a> {
        Generator {
            choice,
            launch,
            cuda: String::new(),
            c: String::new(),
            depth: 1,
            locals: vec![],
            fresh: 0,
            loops: 0,
            dynamic: false,
        }
    }

    fn cuda_line(&mut self, line: &str) {
        let _ = writeln!(self.cuda, "{}{}", "    ".repeat(self.depth), spell(line, ""));
    }

    fn c_line(&mut self, line: &str) {
        let _ = writeln!(self.c, "{}{}", "    ".repeat(self.depth), spell(line, "[tid]"));
    }

    /// A line of both texts; `@name` is a variable of the pool.
    fn line(&mut self, line: &str) {
        self.cuda_line(line);
        self.c_line(line);
    }

    /// A line of both texts with a barrier after it in CUDA, one that is needed.
    fn barrier(&mut self, call: &str) {
        self.cuda_line(&format!("{call}; {NEEDED}"));
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh + 9)
    }

    /// The launch, and what the parameters hold.
    fn directive(&self, n: usize) -> String {
        let mut text = format!("// warpsmith: {}", self.launch.directive);
        if self.dynamic {
            let _ = write!(text, " shared={}", 4 * self.launch.block);
        }
        let _ = write!(text, " arg n={n}");
        for (name, ty, extent, out) in PARAMS {
            let spelled = match ty {
                "unsigned" => "uint",
                "unsigned long long" => "ulong",
                other => other,
            };
            let extent = if extent == 0 { n } else { extent };
            let fill = if out { "" } else { "=random" };
            let _ = write!(text, " arg {name}={spelled}[{extent}]{fill}");
        }
        text
    }

    fn cuda_file(&self, n: usize) -> String {
        let params: Vec<String> = PARAMS
            .iter()
            .map(|(name, ty, _, out)| format!("{}{ty} *{name}", if *out { "" } else { "const " }))
            .collect();
        format!(
            "{CUDA_PRELUDE}{COMMON}__device__ unsigned g_u[{}];\n\n{}\n__global__ void kernel(int n, {})\n{{\n{}}}\n",
            self.launch.block * self.launch.grid,
            self.directive(n),
            params.join(", "),
            self.cuda
        )
    }

    fn c_function(&self, name: &str) -> String {
        let params: Vec<String> = PARAMS
            .iter()
            .map(|(name, ty, _, out)| format!("{}{ty} *{name}", if *out { "" } else { "const " }))
            .collect();
        format!("void {name}(int n, {})\n{{\n{}    }}\n}}\n", params.join(", "), self.c)
    }
}

/// The line with `@name` written out: the name and a suffix.
fn spell(line: &str, suffix: &str) -> String {
    let mut text = String::new();
    let mut parts = line.split('@');
    text += parts.next().unwrap_or_default();
    for part in parts {
        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        text += name;
        text += suffix;
        text += rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn kernels_differ_are_balanced_and_lose_one_barrier() {
        let mut seen = std::collections::HashSet::new();
        let mut with_barriers = 0;
        for seed in 0..200 {
            let kernel = cuda_kernel(&noise(seed, 1500), "reference");
            for text in [&kernel.cuda, &kernel.c] {
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
                assert!(!text.contains('@'), "{text}");
            }
            if kernel.barriers() > 0 {
                with_barriers += 1;
                let racy = kernel.without_barrier(kernel.barriers() - 1);
                assert_eq!(racy.lines().count() + 1, kernel.cuda.lines().count());
            }
            assert_eq!(kernel.without_barrier(kernel.barriers()), kernel.cuda);
            seen.insert(kernel.cuda);
        }
        assert!(seen.len() > 190 && with_barriers > 150, "{} {with_barriers}", seen.len());
    }

    #[test]
    fn pool_variables_are_arrays_in_c_only() {
        assert_eq!(spell("@u0 = @x1 + u;", "[tid]"), "u0[tid] = x1[tid] + u;");
        assert_eq!(spell("@u0 = @x1 + u;", ""), "u0 = x1 + u;");
    }
}
