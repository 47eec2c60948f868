//! Loops of `int` with more iterations than `int` counts: the launcher has them all run, or says that it does not.

mod common;

use std::collections::BTreeMap;

use common::Input;
use warpsmith_ir::interp::{self, Arg, LaunchRequest, Launcher, Limits, Memory};
use warpsmith_ir::{BinaryOp, ExprKind, Module, Scalar, Type, Value};
use warpsmith_opt::analysis::far;

const SOURCE: &str = "
void bins(int lo, int hi, int y[64]) {
    #pragma omp parallel for
    for (int i = lo; i < hi; i++)
        if ((i & 0xffffff) == 5) {
            #pragma omp atomic
            y[(i >> 24) & 63] += 1;
        }
}
";

/// A device that takes down what it is asked to run.
struct Asked(Vec<[u32; 3]>);

impl Launcher for Asked {
    fn launch(&mut self, _: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        self.0.push(request.grid);
        Ok(())
    }
}

/// The grids of the launches at some bounds, or the condition that does not hold.
fn grids(source: &str, schedule: &str, [lo, hi]: [i64; 2]) -> Result<Vec<[u32; 3]>, String> {
    let program = Input::new(source).scheduled(schedule).unwrap_or_else(|e| panic!("{e}"));
    let module: &Module = &program.module;
    let values = BTreeMap::from([("lo", lo), ("hi", hi)]);
    let mut memory = Memory::default();
    let launcher = module.function(program.launcher);
    let args = launcher.params.iter().map(|p| {
        let var = launcher.var(*p);
        match values.get(var.name.as_str()) {
            Some(value) => Arg::Value(Value::int(Scalar::I32, *value)),
            None => {
                memory.buffers.push(vec![0; 1 << 16]);
                Arg::Pointer { buffer: memory.buffers.len() - 1, offset: 0 }
            }
        }
    });
    let args: Vec<Arg> = args.collect();
    let mut device = Asked(vec![]);
    let limits = Limits::default();
    interp::call(module, program.launcher, &args, &mut memory, &limits, &mut device)
        .map(|_| device.0)
        .map_err(|e| e.to_string())
}

const LONGEST: [i64; 2] = [i32::MIN as i64, i32::MAX as i64];

#[test]
fn the_launcher_refuses_nests_whose_iterations_have_no_numbers() {
    for schedule in [
        "bind i -> x block 1024",
        "bind i -> x block 96",
        "bind i -> x block 256\nregister_tile i by 4\npersist i by 64",
        "bind i -> x block 256\nstride i",
    ] {
        for bounds in [LONGEST, [-2, i32::MAX.into()], [i32::MIN.into(), 0]] {
            let said = grids(SOURCE, schedule, bounds).expect_err(schedule);
            assert!(said.contains("the loop over `i` has less than 2^31 iterations"), "{said}");
        }
        let most = grids(SOURCE, schedule, [-1, i64::from(i32::MAX) - 1]).expect(schedule);
        assert_eq!(most.len(), 1, "{schedule}");
        assert_eq!(grids(SOURCE, schedule, [LONGEST[1], LONGEST[0]]), Ok(vec![]), "{schedule}");
    }
}

#[test]
fn iterations_up_to_the_limit_itself_are_counted_with_it() {
    let source = SOURCE.replace("i < hi", "i <= hi");
    let schedule = "bind i -> x block 1024";
    let most = i64::from(i32::MAX) - 1;
    assert!(grids(&source, schedule, [-1, most]).is_err());
    assert_eq!(grids(&source, schedule, [0, most]), Ok(vec![[1 << 21, 1, 1]]));
}

#[test]
fn what_counts_in_64_bits_runs_all() {
    let schedule = "privatise y block 256 grid 64";
    assert_eq!(grids(SOURCE, schedule, LONGEST).map(|g| g[0]), Ok([64, 1, 1]));
    assert_eq!(grids(SOURCE, schedule, [5, 300]).map(|g| g[0]), Ok([2, 1, 1]));
}

/// Those that begin at no constant below zero are asked for nothing.
#[test]
fn nothing_is_asked_where_the_counter_holds_the_number() {
    for (from, to) in
        [("int i = lo", "int i = 0"), ("int i = lo; i < hi", "unsigned i = lo; i < (unsigned)hi")]
    {
        let source = SOURCE.replace(from, to);
        let said = grids(&source, "bind i -> x block 1024", [3, i32::MAX.into()]);
        assert_eq!(said.map(|g| g.len()), Ok(1), "{to}");
    }
}

/// Counters of 64 bits are not asked whether all iterations have numbers, but whether threads can count past their end.
#[test]
fn the_launcher_asks_where_64_bits_end() {
    let source = "
void sums(int n, long long lo, long long hi, unsigned long m, unsigned y[n], const int x[64]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (long long j = lo; j < hi + 3; j++) y[i] += (unsigned)j + x[j & 63];
        for (long long j = hi; j > lo; j--) y[i] -= x[j & 63];
        for (unsigned long j = n; j <= m + n; j++) y[i] ^= x[j & 63];
        for (unsigned long j = 0; j < m; j++) y[i] ^= (unsigned)j;
        for (long long j = lo; j < n; j++) y[i] += 1;
    }
}
";
    let input = Input::new(source);
    let function = input.module.function(input.function);
    let found = far::requirements(function);
    let said: Vec<String> = found.iter().map(|r| r.text(function)).collect();
    let far = 1i64 << 62;
    let expected = ["hi <= ", "lo >= -", "m <= "].map(|text| format!("{text}{far}"));
    assert_eq!(said, expected);
    // A number without a sign is compared as one.
    let ExprKind::Binary(BinaryOp::Le, m, most) = &*found[2].condition(function).kind else {
        panic!("{}", said[2]);
    };
    assert_eq!([&m.ty, &most.ty], [&Type::U64; 2]);
}
