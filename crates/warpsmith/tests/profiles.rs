//! What the device model is told of whole kernels: counts against those of the assembler's text.

use std::path::Path;

use warpsmith::device::{KernelProfile, TrafficKind};
use warpsmith::ir::SourceMap;
use warpsmith::opt::{lower, schedule};
use warpsmith::tune::TuneRequest;
use warpsmith::tune::{self, choice};

/// The profile of an example's only launch.
fn profile(example: &str, steps: &str, sizes: &[(&str, i64)]) -> KernelProfile {
    let mut launches = profiles(example, steps, sizes);
    assert_eq!(launches.len(), 1);
    launches.remove(0)
}

/// The profile of the only launch of a function that is given as text.
fn profile_of(source: &str, steps: &str, sizes: &[(&str, i64)]) -> KernelProfile {
    let mut launches = profiles_of(source, steps, sizes);
    assert_eq!(launches.len(), 1);
    launches.remove(0)
}

/// The profiles of the launches of a function that is given as text.
fn profiles_of(source: &str, steps: &str, sizes: &[(&str, i64)]) -> Vec<KernelProfile> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("nest.c");
    std::fs::write(&path, source).expect("a writable folder");
    profiles_in(&path, steps, sizes)
}

/// The profiles of an example's launches.
fn profiles(example: &str, steps: &str, sizes: &[(&str, i64)]) -> Vec<KernelProfile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    profiles_in(&folder.join(example), steps, sizes)
}

fn profiles_in(path: &Path, steps: &str, sizes: &[(&str, i64)]) -> Vec<KernelProfile> {
    let request = TuneRequest::new(path);
    let mut sources = SourceMap::new();
    let kernel = tune::kernel(&request, &mut sources).unwrap();
    let file = sources.add("test.sched".to_string(), steps.to_string());
    let steps = schedule::parse(&sources, file).unwrap();
    let kernel = schedule::replay(&kernel, &steps, &sources).unwrap();
    let program = lower::lower(&kernel, &sources).unwrap();
    let point = sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    choice::launches(&program, &point).into_iter().map(|(_, profile)| profile).collect()
}

/// Integer instructions of a warp.
fn integers(p: &KernelProfile) -> f64 {
    p.work.int / (p.blocks() as f64 * f64::from(p.warps_per_block()))
}

fn heat(steps: &str) -> KernelProfile {
    profile("heat7.c", steps, &[("nx", 258), ("ny", 258), ("nz", 258)])
}

#[test]
fn cells_in_rows_of_unknown_length_each_take_their_addresses() {
    let cells =
        |n: u32| heat(&format!("bind k, j, i -> z, y, x block 64x2x1\nregister_tile k by {n}\n"));
    let [two, eight] = [2, 8].map(|n| integers(&cells(n)));
    // The assembler makes about 40 integer instructions for each of them, among those of the guard.
    assert!((20.0..60.0).contains(&((eight - two) / 6.0)), "{two} {eight}");
}

#[test]
fn rows_in_common_are_computed_once() {
    let block = |z: u32| {
        let steps = "register_tile k by 4\nregister_tile j by 4\n";
        heat(&format!("bind k, j, i -> z, y, x block 64x4x{z}\n{steps}"))
    };
    // The planes of neighbouring cells are the same only where a thread's cells are neighbours.
    assert!(integers(&block(1)) < 0.9 * integers(&block(4)));
}

#[test]
fn pointers_that_guarded_cells_share_are_kept_in_registers() {
    let steps = |z: u32, tj: u32| {
        let rows = if tj > 1 { format!("register_tile j by {tj}\n") } else { String::new() };
        heat(&format!("bind k, j, i -> z, y, x block 64x4x{z}\nregister_tile k by 4\n{rows}"))
            .registers
    };
    // 30 to 32, 40 to 48 and 61 to 64 of the assembler.
    assert!(steps(4, 1) <= 32, "{}", steps(4, 1));
    assert!((40..=48).contains(&steps(2, 4)), "{}", steps(2, 4));
    assert!((50..=64).contains(&steps(1, 4)), "{}", steps(1, 4));
}

#[test]
fn loops_in_strides_of_the_grid_cost_a_division_and_registers() {
    let direct = heat("bind k, j, i -> z, y, x block 64x4x1\n");
    let one = heat("bind k, j, i -> z, y, x block 64x4x1\nregister_tile k by 2\n");
    assert!(direct.registers >= 56, "{}: the assembler takes 64", direct.registers);
    assert!(one.registers <= 32, "{}", one.registers);
    assert!(integers(&direct) > 100.0, "{}", integers(&direct));
}

#[test]
fn copies_that_run_ahead_are_told_from_loads() {
    let tiles = "bind i, j -> y, x block 16x16\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\n\
                 stage A at l tile 16\nstage B at l tile 16\n";
    let of = |more: &str| {
        profile("gemm.c", &format!("{tiles}{more}"), &[("n", 512), ("m", 512), ("k", 512)])
    };
    let plain = of("");
    assert!(plain.global.iter().all(|g| g.kind != TrafficKind::AsyncCopy));
    assert_eq!((plain.work.waits, plain.parallelism.copies_ahead), (0.0, 0.0));
    for strips in [2, 3] {
        let ahead = of(&format!("pipeline l stages {strips}\n"));
        let copies = ahead.global.iter().filter(|g| g.kind == TrafficKind::AsyncCopy).count();
        assert_eq!(copies, 4, "of A and of B, of the first strips and of the others");
        assert!(ahead.global.iter().all(|g| g.kind != TrafficKind::Load));
        assert_eq!(ahead.parallelism.copies_ahead, f64::from(strips - 1));
        let warps = ahead.blocks() as f64 * f64::from(ahead.warps_per_block());
        assert_eq!(ahead.work.waits / warps, 32.0, "one for each strip");
    }
}

#[test]
fn neighbouring_words_of_unrolled_rows_are_loaded_together() {
    let of = |strip: u32| {
        let steps = format!(
            "bind i, j -> y, x block 8x16\naccumulate C\nregister_tile i by 4\n\
             stage A at l tile {strip}\nstage B at l tile {strip}\nunroll l\n"
        );
        profile("gemm.c", &steps, &[("n", 512), ("m", 512), ("k", 512)])
    };
    let p = of(32);
    let warps = p.blocks() as f64 * f64::from(p.warps_per_block());
    // 512 steps: 4 words of A's rows each, four steps at a time, and one of B's column. The assembler's text has as many
    // loads of 16 bytes as of 4.
    assert_eq!(p.shared.loads / warps, 512.0 * 4.0 / 4.0 + 512.0);
}

/// Step 8 of the lecture: a row ends with a padding word, and the assembler's text has 136 loads of 16 bytes for a tile of 32
/// rows of 17 words, beside 128 for step 7's of 16 rows of 32.
#[test]
fn words_of_padded_rows_are_loaded_together_with_the_padding() {
    let of = |layout: &str| {
        let steps = format!(
            "bind i, j -> y, x block 64x1\naccumulate C\nregister_tile i by 16\n\
             stage A at l tile 32{layout}\nunroll l\n"
        );
        let p = profile("gemm.c", &steps, &[("n", 512), ("m", 512), ("k", 512)]);
        let warps = p.blocks() as f64 * f64::from(p.warps_per_block());
        (p.shared.loads / warps / 16.0, p.registers)
    };
    let (untransposed, transposed) = (of(""), of(" pad 1 transposed"));
    assert_eq!((untransposed.0, transposed.0), (128.0, 136.0));
    assert_eq!(of(" pad 4 transposed").0, 128.0);
    // What four iterations of `l` use of sixteen rows waits in registers: 82 of the assembler, beside 48.
    assert!((70..=90).contains(&untransposed.1), "{}", untransposed.1);
    assert!((40..=56).contains(&transposed.1), "{}", transposed.1);
}

#[test]
fn blocks_outside_a_triangle_are_not_counted() {
    let work = |steps: &str| {
        let sizes = [("n", 1024), ("m", 1024)];
        profile("covariance.c", &format!("{steps}\nregister_tile i by 4\n"), &sizes).work.fp32
    };
    let [triangle, rectangle] = [
        work("rectangle j\nbind i, j -> y, x block 8x8"),
        profile(
            "gemm_tn.c",
            "bind i, j -> y, x block 8x8\nregister_tile i by 4\n",
            &[("n", 1024), ("m", 1024), ("k", 1024)],
        )
        .work
        .fp32,
    ];
    assert!((0.45..0.62).contains(&(triangle / rectangle)), "{triangle} {rectangle}");
}

#[test]
fn iterations_in_strides_of_the_grid_are_all_counted() {
    let sizes = [("n", 1 << 22)];
    let counted = |steps: &str| profile("histogram.c", steps, &sizes);
    let copies = counted("privatise bins block 256 grid 132\n");
    let warps = f64::from(1 << 22) / 32.0;
    assert!(copies.shared.stores > warps, "{:?}", copies.shared);
    let read = copies.global.iter().find(|a| a.kind == TrafficKind::Load).map(|a| a.requests);
    assert!(read.is_some_and(|n| n > 0.9 * warps), "{:?}", copies.global);
}

#[test]
fn tiles_of_resident_blocks_are_counted_as_blocks() {
    let steps = "bind i, j -> y, x block 16x8\naccumulate C\nregister_tile i by 8\nregister_tile j by 8\nstage A at l tile 16\nstage B at l tile 16\nrasterise i by 8\n";
    let sizes = [("n", 3000), ("m", 3000), ("k", 3000)];
    let each = profile("gemm.c", steps, &sizes);
    let resident = profile("gemm.c", &format!("{steps}persist i by 264\n"), &sizes);
    assert_eq!((each.grid, each.resident), ([24, 47, 1], None));
    assert_eq!((resident.grid, resident.resident), (each.grid, Some(264)));
    assert_eq!(resident.work.fp32, each.work.fp32);
    assert_eq!(resident.shared, each.shared);
    assert_eq!(resident.global, each.global);
}

/// Rows and columns of a counter that all three loops were joined to go on with it: what a block reads later is not what it
/// read first.
#[test]
fn joined_loops_go_through_all_of_an_array() {
    let sizes = [("imax", 128), ("jmax", 128), ("kmax", 256)];
    let launches = profiles(
        "himeno.c",
        "reduce gosa block 128 grid 256\nbind i#2, j#2, k#2 -> z, y, x block 64x2x1\n",
        &sizes,
    );
    let array = f64::from(4 * 128 * 128 * 256);
    let read = launches[0].global.iter().filter(|g| g.kind == TrafficKind::Load);
    let all: Vec<f64> = read.map(|g| g.grid_bytes / array).collect();
    assert!(all.iter().all(|share| (0.8..1.7).contains(share)), "{all:?}");
}

/// Half of sixteen images is where the ninth begins: a row at an edge, whose first window lies outside.
#[test]
fn the_middle_of_all_images_is_no_edge_of_one() {
    let steps = "bind i, j -> z, y block 1x16x1\nshare k -> x by 8\nspecialise C%4=0, K%4=0, x%16=0, w%16=0, y%16=0\nvectorise k by 4\n";
    let sizes = [("N", 16), ("H", 56), ("W", 56), ("C", 64), ("K", 64)];
    let p = profile("../tests/corpus/loops/conv_nhwc.c", steps, &sizes);
    let all: i64 = sizes.iter().map(|(_, n)| n).product::<i64>() * 9 / 32;
    assert!(p.work.fp32 > 0.6 * all as f64, "{} of {all}", p.work.fp32);
}

/// In registers, too, what was read from memory sends each lane its own way.
#[test]
fn lanes_scatter_by_what_they_keep_in_registers() {
    let source = "
void bytes(unsigned n, const unsigned key[n], unsigned bins[4][256]) {
    #pragma omp parallel for
    for (unsigned i = 0; i < n; i++) {
        unsigned v = key[i];
        for (int b = 0; b < 4; b++) {
            #pragma omp atomic
            bins[b][(v >> (8 * b)) & 0xff]++;
        }
    }
}
";
    let sectors = |steps: &str| {
        let p = profile_of(source, steps, &[("n", 1 << 16)]);
        p.global.iter().filter(|g| g.kind == TrafficKind::Atomic).map(|g| g.sectors).sum::<f64>()
    };
    let (direct, tiled) = (
        sectors("bind i -> x block 128\n"),
        sectors("bind i -> x block 128\nregister_tile i by 8\n"),
    );
    assert!((0.5..2.0).contains(&(tiled / direct)), "{direct} {tiled}");
}

/// Accumulators that a thread has no registers for are stored and loaded whenever something is added to them.
#[test]
fn registers_too_many_are_spilled_as_often_as_they_are_set() {
    let source = "
void product(int n, const float a[n][n][2], const float b[n][n][2], float c[n][n][2]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float re = 0, im = 0;
            for (int k = 0; k < n; k++) {
                re += a[i][k][0] * b[k][j][0] - a[i][k][1] * b[k][j][1];
                im += a[i][k][0] * b[k][j][1] + a[i][k][1] * b[k][j][0];
            }
            c[i][j][0] = re;
            c[i][j][1] = im;
        }
}
";
    let steps = "bind i, j -> y, x block 8x8\nregister_tile i by 8\nregister_tile j by 16\n";
    let p = profile_of(source, steps, &[("n", 256)]);
    assert!(p.registers > 256, "{}", p.registers);
    assert!((256.0..260.0).contains(&p.spill_executions), "{}", p.spill_executions);
}

#[test]
fn functions_take_what_their_code_does() {
    let of = |call: &str| {
        let source = format!(
            "#include <math.h>\nvoid f(int n, const float x[n], float y[n]) {{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        y[i] = {call};\n}}\n"
        );
        let p = profile_of(&source, "bind i -> x block 128\n", &[("n", 1 << 20)]);
        p.work.fp32 / (p.blocks() as f64 * f64::from(p.warps_per_block()))
    };
    let [sine, exponential, quotient] = ["sinf(x[i])", "expf(x[i])", "1.0f / x[i]"].map(of);
    assert!(sine > 3.0 * exponential, "{sine} {exponential}");
    assert!((8.0..16.0).contains(&quotient), "{quotient}");
}

/// A bound that is clamped is no condition around what follows it: most blocks seemed to do nothing.
#[test]
fn clamped_windows_are_counted_in_all_blocks() {
    let window = |clamp: &str| {
        let source = format!(
            "
void window(int n, int c, int p, int r, const float x[n][c][p], float y[n][c][p]) {{
    #pragma omp parallel for collapse(3)
    for (int b = 0; b < n; b++)
        for (int i = 0; i < c; i++)
            for (int j = 0; j < p; j++) {{
                int lo = i - r, hi = i + r;
                {clamp}
                float s = 0.0f;
                for (int q = lo; q <= hi; q++) s += x[b][q][j];
                y[b][i][j] = s;
            }}
}}
"
        );
        let steps = "bind b, i, j -> z, y, x block 128x2x1\nregister_tile b by 2\n";
        profile_of(&source, steps, &[("n", 32), ("c", 256), ("p", 3136), ("r", 2)])
    };
    let clamped = window("if (lo < 0) lo = 0;\n if (hi > c - 1) hi = c - 1;");
    let chosen = window("lo = lo < 0 ? 0 : lo;\n hi = hi > c - 1 ? c - 1 : hi;");
    assert_eq!(clamped.blocks(), chosen.blocks());
    let ratio = clamped.work.fp32 / chosen.work.fp32;
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

#[test]
fn atomic_operations_are_told_from_stores() {
    let source = "void count(int n, const int *restrict k, int *restrict h) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            #pragma omp atomic
            h[k[i]]++;
    }";
    let p = profile_of(source, "bind i -> x block 256", &[("n", 1 << 20)]);
    let atomics: Vec<_> = p.global.iter().filter(|g| g.kind == TrafficKind::Atomic).collect();
    assert_eq!(atomics.len(), 1, "{:?}", p.global);
    assert_eq!(atomics[0].lanes, f64::from(1 << 20));
    assert!(p.global.iter().all(|g| g.kind != TrafficKind::Store), "{:?}", p.global);
}

#[test]
fn what_an_element_of_their_own_chooses_is_loaded_for_each() {
    let source = "void heads(int h, int kv, int t, int d, const float *restrict q, const float *restrict k, float *restrict s) {
        #pragma omp parallel for collapse(2)
        for (int j = 0; j < h; j++)
            for (int p = 0; p < t; p++) {
                int g = j / (h / kv);
                float dot = 0;
                for (int e = 0; e < d; e++) dot += q[j * d + e] * k[((size_t)g * t + p) * d + e];
                s[(size_t)j * t + p] = dot;
            }
    }";
    let steps = "bind j, p -> y, x block 32x4\nregister_tile j by 4";
    let p = profile_of(source, steps, &[("h", 64), ("kv", 8), ("t", 4096), ("d", 64)]);
    // Four rows of a thread, which the compiler cannot know to be one: a load of `k` for each product.
    let products = 64.0 * 4096.0 * 64.0 / 32.0;
    let most = p.global.iter().map(|g| g.requests).fold(0.0, f64::max);
    assert_eq!(most, products);
}

#[test]
fn both_ends_of_a_run_are_asked_for_work() {
    // Blocks go through columns in strides, and leave out those up to the diagonal.
    let source = "void pairs(int n, const float *restrict p, int *restrict found) {
        int count = 0;
        #pragma omp parallel for collapse(2) reduction(+: count)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (j > i && p[i] + p[j] > 1) count++;
        found[0] = count;
    }";
    let n = 1 << 14;
    let launches = profiles_of(source, "reduce count block 32x4 grid 64x256", &[("n", n)]);
    assert!(launches[0].blocks() > 64 * 256 / 2, "{:?}", launches[0].grid);
}

#[test]
fn loops_that_some_iterations_skip_are_counted_by_the_rest() {
    let source = |guard: &str| {
        format!(
            "void scores(int n, int m, int w, const float A[n][m][m], float s[n][m]) {{
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int p = 0; p < m; p++) {{
                {guard}
                float sum = 0;
                for (int e = 0; e < m; e++) sum += A[i][p][e];
                s[i][p] = sum;
            }}
    }}"
        )
    };
    let sizes = [("n", 4096), ("m", 128), ("w", 64)];
    let of = |guard: &str, steps: &str| {
        let p = profile_of(&source(guard), steps, &sizes);
        p.global.iter().filter(|g| g.kind == TrafficKind::Load).map(|g| g.requests).sum::<f64>()
    };
    let whole = of("", "bind i -> x block 256");
    let guard = "if (p < m - w) { s[i][p] = 0; continue; }";
    let half = of(guard, "predicate e\nbind i -> x block 256");
    assert!((half / whole - 0.5).abs() < 0.1, "{half} of {whole}");
}
