//! How much work a program is worth, in thread instructions: numbers of work and not of time, so that a report is the same
//! on every machine, as long as the machine is fast enough for them.

use super::clock::Times;

/// The limits of a check; tests have small ones.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Effort {
    /// All runs of one program, where no option says how many: one block may be too much for an answer.
    pub program: u64,
    /// One try of other sizes: seconds.
    pub sizes: u64,
    /// What all that may take by the clock, where no option says how long.
    pub times: Times,
    /// So many a launch may take, if they are left, before it is ended for what comes behind it.
    pub launch_least: u64,
    /// A launch goes on for so many once something was found in it.
    pub launch_after_finding: u64,
    /// All launches after the first one with a finding, together. What was found has to be mended before anything else is
    /// worth looking at.
    pub program_after_finding: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            program: 20_000_000_000,
            sizes: 400_000_000,
            times: Times::default(),
            launch_least: 2_000_000_000,
            launch_after_finding: 20_000_000,
            program_after_finding: 100_000_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use warpsmith_ir::SourceMap;

    use super::{Effort, Times};
    use crate::check::args::CheckArgs;
    use crate::check::runner::Runner;

    /// What a check with these limits left behind.
    struct After {
        spent: u64,
        launches: u64,
        limits: Vec<String>,
        in_part: Vec<String>,
        findings: Vec<&'static str>,
    }

    fn check(text: &str, args: CheckArgs, effort: Effort) -> After {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.cu");
        std::fs::write(&path, text).expect("a writable folder");
        let args = CheckArgs { jobs: 1, max_memory: 1 << 30, ..args };
        let mut runner = Runner::new(&args);
        runner.effort = effort;
        let left = runner.steps_left;
        runner.file(&path, false, &mut SourceMap::new()).expect("a program");
        After {
            spent: left - runner.steps_left,
            launches: runner.launches.iter().map(|(_, times)| times).sum(),
            limits: runner.limits.clone(),
            in_part: runner.in_part.clone(),
            findings: runner.items.iter().filter(|i| !i.is_note).map(|i| i.rule).collect(),
        }
    }

    /// Twenty launches, of which `index` decides whether they are right.
    fn launches(index: &str) -> String {
        format!(
            "__global__ void count(int *x) {{ int i = blockIdx.x * 64 + threadIdx.x; x[{index}] += i; }}\n\
             int main() {{\n\
                 int *x; cudaMalloc(&x, 64 * 64 * sizeof(int)); cudaMemset(x, 0, 64 * 64 * sizeof(int));\n\
                 for (int i = 0; i < 20; i++) count<<<64, 64>>>(x);\n\
                 return 0;\n\
             }}\n"
        )
    }

    #[test]
    fn a_program_ends_after_so_many_thread_instructions_unless_an_option_says_otherwise() {
        let all = check(&launches("i"), CheckArgs::default(), Effort::default());
        assert_eq!((all.launches, all.limits.len(), all.findings.len()), (20, 0, 0));
        let effort = Effort { program: all.spent / 2, ..Effort::default() };
        let half = check(&launches("i"), CheckArgs::default(), effort);
        assert!((8..=12).contains(&half.launches), "{}", half.launches);
        assert!(half.limits[0].contains("limit of thread instructions"), "{:?}", half.limits);
        let more = [
            CheckArgs { all_repeats: true, ..CheckArgs::default() },
            CheckArgs { max_total_steps: Some(all.spent), ..CheckArgs::default() },
        ];
        for args in more {
            let whole = check(&launches("i"), args, effort);
            assert_eq!((whole.launches, whole.limits.len()), (20, 0));
        }
    }

    /// The work of a block grows with its number, so that the first one says nothing of the others.
    #[test]
    fn a_launch_that_takes_too_much_leaves_something_to_those_behind_it() {
        let text = "__global__ void grow(int *x) { int i = blockIdx.x * 64 + threadIdx.x; for (int k = 0; k < i; k++) x[i] += k; }\n\
            __global__ void past(int *x) { x[blockIdx.x * 64 + threadIdx.x + 1] = 0; }\n\
            int main() {\n\
                int *x, *y; cudaMalloc(&x, 1 << 14); cudaMalloc(&y, 1 << 14); cudaMemset(x, 0, 1 << 14);\n\
                for (int i = 0; i < 3; i++) grow<<<64, 64>>>(x);\n\
                past<<<64, 64>>>(y);\n\
                return 0;\n\
            }\n";
        let effort = Effort { program: 10_000_000, launch_least: 1_000_000, ..Effort::default() };
        let after = check(text, CheckArgs::default(), effort);
        assert_eq!(after.findings, ["out-of-bounds"], "{:?}", after.limits);
        assert!(after.in_part[0].contains("it was ended"), "{:?}", after.in_part);
        let whole = check(text, CheckArgs::default(), Effort::default());
        assert_eq!((whole.in_part.len(), whole.findings.len()), (0, 1));
    }

    #[test]
    fn what_was_found_ends_a_program_soon() {
        let defect = launches("i / 2");
        let effort = Effort { launch_after_finding: 5_000, ..Effort::default() };
        let after = check(&defect, CheckArgs::default(), effort);
        assert_eq!(after.launches, 20);
        assert!(after.in_part[0].contains(" of 64 blocks were run"), "{:?}", after.in_part);
        assert_eq!(after.findings, ["race-global"; 2]);
        let effort = Effort { program_after_finding: 40_000, ..effort };
        let after = check(&defect, CheckArgs::default(), effort);
        assert!((2..10).contains(&after.launches), "{}", after.launches);
        assert!(after.limits[0].contains("since something had been found"), "{:?}", after.limits);
        let args = CheckArgs { all_repeats: true, ..CheckArgs::default() };
        let whole = check(&defect, args, effort);
        assert_eq!((whole.launches, whole.limits.len(), whole.in_part.len()), (20, 0, 0));
        // Where nothing is found nothing is left out.
        let right = check(&launches("i"), CheckArgs::default(), effort);
        assert_eq!((right.launches, right.limits.len(), right.in_part.len()), (20, 0, 0));
    }

    /// Launches of 4096 blocks on three arrays, a loop of the host before the last one.
    const THREE: &str = "#include <cstdlib>\n\
        __global__ void count(int *x) { for (int k = 0; k < 20; k++) x[blockIdx.x * 64 + threadIdx.x] += k; }\n\
        int main(int argc, char **argv) {\n\
            int *x, *y, *z; cudaMalloc(&x, 1 << 20); cudaMalloc(&y, 1 << 20); cudaMalloc(&z, 1 << 20);\n\
            cudaMemset(x, 0, 1 << 20); cudaMemset(y, 0, 1 << 20); cudaMemset(z, 0, 1 << 20);\n\
            for (int i = 0; i < 4; i++) count<<<4096, 64>>>(x);\n\
            for (int i = 0; i < 4; i++) count<<<4096, 64>>>(y);\n\
            int *h = (int *)malloc(4);\n\
            for (int i = 0; i < 20000000; i++) h[0] = i;\n\
            count<<<4096, 64>>>(z + h[0] % 1);\n\
            return 0;\n\
        }\n";

    fn times(hurries: u64, ends: u64) -> Effort {
        let times = Times {
            hurries: Duration::from_secs(hurries),
            ends: Duration::from_secs(ends),
            ..Times::default()
        };
        Effort { times, ..Effort::default() }
    }

    /// The only launch of a program goes by when its time is over: nothing else would say that nothing was checked.
    #[test]
    fn a_launch_that_is_left_out_when_time_is_over_is_a_limit() {
        let each = "for (int i = 0; i < 20; i++) count<<<64, 64>>>(x);";
        let text = launches("i").replace(each, "count<<<64, 64>>>(nobody_declares(x));");
        let after = check(&text, CheckArgs::default(), times(0, 0));
        let left_out = |l: &String| l.contains("a.cu:4: this statement was left out");
        assert!(after.launches == 0 && after.limits.iter().any(left_out), "{:?}", after.limits);
        let text = text.replace("nobody_declares(x)", "x");
        let whole = check(&text, CheckArgs::default(), Effort::default());
        assert_eq!((whole.launches, whole.limits.len()), (1, 0), "{:?}", whole.limits);
    }

    #[test]
    fn a_program_in_a_hurry_comes_to_each_of_its_launches() {
        let after = check(THREE, CheckArgs::default(), times(0, 600));
        assert!((3..9).contains(&after.launches), "{}", after.launches);
        // But not to the loop of the host.
        assert_eq!(after.limits.len(), 1, "{:?}", after.limits);
        assert!(after.limits[0].contains("a.cu:9: this statement was left out"));
        assert!(
            !after.in_part.is_empty() && after.in_part.iter().all(|t| t.contains("of 4096 blocks"))
        );
        let all = CheckArgs { all_repeats: true, ..CheckArgs::default() };
        let whole = check(THREE, all, times(0, 0));
        assert_eq!((whole.launches, whole.limits.len(), whole.in_part.len()), (9, 0, 0));
    }

    #[test]
    fn a_program_ends_when_its_time_is_over() {
        for text in [THREE.to_string(), launches("i")] {
            let after = check(&text, CheckArgs::default(), times(0, 0));
            assert_eq!((after.launches, after.findings.len()), (1, 0));
            assert!(after.limits[0].contains("more than a minute"), "{:?}", after.limits);
        }
        // What was found until then is said.
        let endless = launches("i / 2").replace("return 0;", "for (;;) count<<<64, 64>>>(x);");
        let few = Effort { program_after_finding: u64::MAX, ..times(0, 2) };
        let after = check(&endless, CheckArgs::default(), few);
        assert_eq!(after.findings, ["race-global"; 2]);
        assert!(after.limits[0].contains("more than a minute"), "{:?}", after.limits);
    }

    /// Launches that take all the time they get, each followed by a look of the host, before one of another kernel.
    #[test]
    fn launches_that_are_slow_leave_time_for_others() {
        let text = "struct Cell { int a, b; };\n\
            __global__ void slow(Cell *x) {\n\
                for (int k = 0; k < 20000; k++) x[blockIdx.x * 64 + threadIdx.x].a += k;\n\
            }\n\
            __global__ void last(int *y) { y[threadIdx.x + 1] = 1; }\n\
            int main() {\n\
                Cell *x; int *y, h[64]; cudaMalloc(&x, 512 * 256); cudaMalloc(&y, 128);\n\
                cudaMemset(x, 0, 512 * 256);\n\
                for (int i = 0; i < 40; i++) {\n\
                    slow<<<256, 64>>>(x);\n\
                    cudaMemcpy(h, x, 256, cudaMemcpyDeviceToHost);\n\
                }\n\
                last<<<1, 32>>>(y);\n\
                return 0;\n\
            }\n";
        let after = check(text, CheckArgs::default(), times(600, 12));
        assert_eq!(after.findings, ["out-of-bounds"], "{:?}", after.limits);
    }

    /// Launches that take all the time there is where the program chooses their number, and one behind them.
    #[test]
    fn launches_that_take_too_long_are_run_with_small_numbers() {
        let text = "#include <cstdlib>\n\
            __global__ void slow(int *x) {\n\
                for (int k = 0; k < 100; k++) x[blockIdx.x * 4 + threadIdx.x] += k;\n\
            }\n\
            __global__ void last(int *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }\n\
            int main(int argc, char **argv) {\n\
                int n = argc > 1 ? atoi(argv[1]) : 4096;\n\
                int *x, *y, h[64]; cudaMalloc(&x, n * 64); cudaMalloc(&y, n * 4);\n\
                cudaMemset(x, 0, n * 64);\n\
                for (int i = 0; i < n; i++) {\n\
                    slow<<<n / 4, 4>>>(x);\n\
                    cudaMemcpy(h, x, 64, cudaMemcpyDeviceToHost);\n\
                }\n\
                last<<<(n + 63) / 64, 64>>>(y, n);\n\
                return 0;\n\
            }\n";
        let right = check(text, CheckArgs::default(), times(0, 20));
        assert!(right.findings.is_empty() && right.limits.is_empty(), "{:?}", right.limits);
        assert_eq!(right.launches, 65);
    }

    /// Whether a race stands other numbers, which nobody gave, is not said by a run that ends before it comes to that launch.
    #[test]
    fn runs_that_do_not_come_to_a_launch_do_not_doubt_it() {
        let text = "#include <cstdlib>\n\
            __global__ void fill(int *x) {\n\
                for (int k = 0; k < 100; k++) x[blockIdx.x * 64 + threadIdx.x] += k;\n\
            }\n\
            __global__ void sum(int *s) { *s += threadIdx.x; }\n\
            int main(int argc, char **argv) {\n\
                if (argc != 2) return 1;\n\
                int *x, *s; cudaMalloc(&x, 1024); cudaMalloc(&s, 4);\n\
                cudaMemset(x, 0, 1024); cudaMemset(s, 0, 4);\n\
                for (int i = 0; i < atoi(argv[1]); i++) fill<<<4, 64>>>(x);\n\
                sum<<<1, 32>>>(s);\n\
                return 0;\n\
            }\n";
        let given = CheckArgs { host_args: vec!["16".to_string()].into(), ..CheckArgs::default() };
        let once = check(text, given, Effort::default());
        assert!(once.findings.contains(&"race-global"), "{:?}", once.findings);
        let effort = Effort { program: 2 * once.spent, ..Effort::default() };
        let invented = check(text, CheckArgs::default(), effort);
        assert_eq!(invented.findings, once.findings);
    }

    /// A right program: places in a list by a histogram.
    const PLACES: &str = "#include <cstdlib>\n\
        __device__ int key(int v) { for (int k = 0; k < 40; k++) v = v * 5 + k & 63; return v; }\n\
        __global__ void count(int *h) { atomicAdd(&h[key(blockIdx.x * 64 + threadIdx.x)], 1); }\n\
        __global__ void begins(const int *h, int *o) {\n\
            int s = 0;\n\
            for (int i = 0; i < 64 && threadIdx.x == 0; i++) { o[i] = s; s += h[i]; }\n\
        }\n\
        __global__ void put(int *o, int *out) {\n\
            int i = blockIdx.x * 64 + threadIdx.x;\n\
            out[atomicAdd(&o[key(i)], 1)] = i;\n\
        }\n\
        int main() {\n\
            const int n = 4096 * 64;\n\
            int *h, *o, *out;\n\
            cudaMalloc(&h, 256); cudaMalloc(&o, 256); cudaMalloc(&out, n * 4);\n\
            cudaMemset(h, 0, 256);\n\
            count<<<4096, 64>>>(h);\n\
            begins<<<1, 32>>>(h, o);\n\
            put<<<4096, 64>>>(o, out);\n\
            return 0;\n\
        }\n";

    #[test]
    fn what_goes_by_counts_that_are_not_finished_is_no_finding() {
        let after = check(PLACES, CheckArgs::default(), times(0, 40));
        assert!(after.findings.is_empty(), "{:?}", after.findings);
        assert!(!after.in_part.is_empty());
        // A whole launch counts to the end; a mistake is one then.
        let wrong = PLACES.replace("s += h[i];", "s += h[i] / 2;");
        let whole = check(&wrong, CheckArgs::default(), Effort::default());
        assert!(whole.findings.contains(&"race-global"), "{:?}", whole.findings);
    }

    /// The host takes long for what it copies to the device.
    const TABLE: &str = "#include <cstdlib>\n\
        __global__ void get(const int *at, float *y) { y[threadIdx.x] = at[threadIdx.x]; }\n\
        int main() {\n\
            int *t = (int *)malloc(256), *at;\n\
            float *y;\n\
            for (int i = 0; i < 20000000; i++) t[i & 63] = i & 31;\n\
            cudaMalloc(&at, 256); cudaMalloc(&y, 256);\n\
            cudaMemcpy(at, t, 256, cudaMemcpyHostToDevice);\n\
            get<<<1, 64>>>(at, y);\n\
            return 0;\n\
        }\n";

    #[test]
    fn a_statement_that_there_is_no_time_for_is_a_limit() {
        let after = check(TABLE, CheckArgs::default(), times(0, 60));
        assert!(after.limits.iter().any(|l| l.contains("was left out")), "{:?}", after.limits);
        let whole = check(TABLE, CheckArgs::default(), Effort::default());
        assert_eq!((whole.launches, whole.limits.len()), (1, 0), "{:?}", whole.limits);
    }

    /// Three sizes: with six choices of others to try.
    const SIZES: &str = "#include <cstdlib>\n\
        __global__ void fill(float *x, int n, int m, int k) {\n\
            int i = blockIdx.x * 32 + threadIdx.x;\n\
            for (int j = 0; j < n * m; j++) if (i < n) x[i] = j + k;\n\
        }\n\
        int main(int argc, char **argv) {\n\
            if (argc != 4) return 1;\n\
            int n = atoi(argv[1]), m = atoi(argv[2]), k = atoi(argv[3]);\n\
            float *x; cudaMalloc(&x, n * sizeof(float));\n\
            fill<<<(n + 31) / 32, 32>>>(x, n, m, k);\n\
            return 0;\n\
        }\n";

    /// After two of several numbers that fill no block, two of one, and one of several blocks.
    #[test]
    fn sizes_that_take_too_long_are_given_up() {
        let none = Effort { sizes: 0, ..Effort::default() };
        let first = check(SIZES, CheckArgs::default(), none);
        let most = 2_000_000;
        let tried = check(SIZES, CheckArgs::default(), Effort { sizes: most, ..none });
        assert_eq!((tried.launches, tried.limits.len()), (1, 0), "{:?}", tried.limits);
        let spent = tried.spent - first.spent;
        assert!((3 * most..6 * most).contains(&spent), "{spent}");
    }

    /// Where larger sizes of all arguments are too much work, one of them alone may not be.
    #[test]
    fn one_size_alone_is_tried_where_all_together_take_too_long() {
        let program = |guard: &str| {
            SIZES
                .replace("j < n * m", "j < n * m * k / 64")
                .replace("if (i < n) x[i] = j + k", &format!("{guard} x[i] = j"))
        };
        let effort = Effort { sizes: 2_000_000, ..Effort::default() };
        let found = check(&program(""), CheckArgs::default(), effort).findings;
        assert_eq!(found, ["out-of-bounds"]);
        assert!(check(&program("if (i < n)"), CheckArgs::default(), effort).findings.is_empty());
    }
}
