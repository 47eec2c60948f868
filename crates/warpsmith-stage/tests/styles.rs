//! Plans in the styles of other people: flat tiles, three axes, borders inside of subscripts, batches, volumes gone through by one index.

use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged, Verdict};
use warpsmith_stage::verify::proof::solver;

fn kernel(name: &str) -> String {
    let path = format!("{}/tests/kernels/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the kernel is there")
}

fn run(name: &str, ask: impl Fn(&mut Input)) -> Result<Staged, String> {
    let settings = Settings { path: format!("{name}.cu"), ..Settings::default() };
    let mut input = Input { settings, text: kernel(name), ..Input::default() };
    ask(&mut input);
    let said =
        |r: Refusal| r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect();
    stage::stage(input).map_err(said)
}

/// Stages a kernel, and asks for parts of its text and for a launch that it was checked at.
fn served(name: &str, contains: &[&str], checked: &str) -> Staged {
    let staged = run(name, |_| ()).unwrap_or_else(|message| panic!("{message}"));
    for part in contains {
        assert!(staged.text.contains(part), "{name}: no `{part}` in\n{}", staged.text);
    }
    let launches = &staged.checked;
    assert!(launches.iter().any(|l| l.contains(checked)), "{name}: {launches:?}");
    staged
}

/// Two constants in one extent are the two sides of a block, whatever they are called: it was taken for a square of the first.
#[test]
fn flat_tiles_have_two_sides() {
    // The corner stands in the row.
    let row = "if (threadIdx.y == BLK_H - 1 || y == yd) {\n";
    let copy = "px[s + (BLK_W + 2) + 1] = img[yd * w + xr];\n";
    let staged = served("sobel", &[row, copy], "block 96x4,");
    assert!(staged.blocks.contains(&[32, 8, 1]), "{:?}", staged.blocks);
    // The block of the user is what is meant, even where the tile is too small for it.
    let refused = run("sobel", |input| input.block = Some([16, 16, 1])).unwrap_err();
    for part in ["error[W707]", "block 16x16", "which has 340 elements"] {
        assert!(refused.contains(part), "{part}\n{refused}");
    }
}

/// Blocks that are counted in tiles, with fewer rows of threads than a tile has: the file does not launch them, the user says so.
#[test]
fn a_block_that_is_given_overrules_what_names_suggest() {
    let staged = run("turned", |input| {
        input.block = Some([32, 8, 1]);
        input.kernel = Some("fast".into());
        input.reference = Some("plain".into());
    });
    let staged = staged.unwrap_or_else(|message| panic!("{message}"));
    assert!(staged.text.contains("t[threadIdx.x][threadIdx.y + k]"), "{}", staged.text);
    assert!(staged.checked.iter().all(|l| l.starts_with("block 32x8,")), "{:?}", staged.checked);
}

/// Sixteen reads of a halo of four: a launch that ran out of steps left threads out, which seemed to need no copy.
#[test]
fn halos_of_four_elements_are_copied_by_the_ends() {
    let group = |condition: &str, side: &str, step: &str| {
        let one =
            |n: u32| format!("\n                s[ty][tx {side} {n}] = curr[idx {side} {n}];");
        let all: String = (1..=4).map(one).collect();
        format!("if ({condition}) {{{all}\n            }}{step}")
    };
    served(
        "seismic",
        &[
            &group("threadIdx.x == 0", "-", ""),
            &group("threadIdx.x == BDX - 1 || ix == nx - R - 1", "+", ""),
        ],
        "block 96x4,",
    );
}

/// Of two threads along z each is at an end: that told nothing of those between.
#[test]
fn halos_along_three_axes() {
    served(
        "box_of_threads",
        &[
            "if (threadIdx.z == 0 || z == 1) t[lz - 1][ly][lx] = ",
            "if (threadIdx.z == TZ - 1 || z == e.nz - 2) t[lz + 1][ly][lx] = ",
        ],
        "block 8x8x4,",
    );
}

/// Positions without a name of their own.
#[test]
fn borders_inside_of_subscripts() {
    served(
        "clamped",
        &[
            "clampi(gx + b - 1, 0, cols - 1) / BW == blockIdx.x && ",
            "patch[BW * (clampi(gy + a - 1, 0, rows - 1) % BH) + clampi(gx + b - 1, 0, cols - 1) % BW]",
        ],
        "block 96x4,",
    );
    served(
        "wrapped",
        &["((xx / TILE == blockIdx.x && yy / TILE == blockIdx.y) ? tile[yy % TILE][xx % TILE] : "],
        "block 16x16,",
    );
}

/// Sizes whose product is gone through: launches have inner points.
#[test]
fn volumes_along_one_axis() {
    let parts = ["(threadIdx.x >= nx ? s[threadIdx.x - nx] : f[id - nx])"];
    served("volume", &parts, "block 256,");
}

/// Matrices of a batch lie apart.
#[test]
fn batches_of_matrices() {
    served("batch", &["acc += As[threadIdx.y][kk] * Bs[kk][threadIdx.x];"], "block 16x16,");
}

/// Sizes and arrays behind pointers to structures.
#[test]
fn fields_behind_pointers() {
    let parts =
        ["(threadIdx.y != 0 ? sh[threadIdx.y - 1][threadIdx.x] : hz->data[(j - 1) * nx + i])"];
    let staged = served("fields", &parts, "hz.nx=125");
    assert!(staged.blocks.contains(&[96, 4, 1]), "{:?}", staged.blocks);
}

/// All reads of a kernel are proved where there is a solver.
fn proved(name: &str) {
    let staged = run(name, |input| input.solver = solver::program());
    let staged = staged.unwrap_or_else(|message| panic!("{message}"));
    for a in staged.accesses.iter().filter(|_| solver::program().is_some()) {
        assert_eq!(a.verdict, Verdict::Proved, "{name}: {}: {:?}", a.replacement, a.unproved);
    }
}

/// Functions that are one expression are looked into: each call had a temporary that the other text has not.
#[test]
fn calls_are_proved() {
    ["heat_line", "clamped", "box_of_threads"].into_iter().for_each(proved);
}

/// Arrays and sizes in a structure, behind a pointer to one, and what a local pointer to constants is made from.
#[test]
fn members_of_structures_are_proved() {
    ["grid_by_value", "fields", "level"].into_iter().for_each(proved);
}

/// A rest by a size has bounds, how far beyond the size its argument may be.
#[test]
fn wrapped_positions_are_proved() {
    proved("wrapped");
}

/// Small launches store nothing where rows are hundreds of elements long; small blocks never hold the row below, that of the file does.
#[test]
fn rows_that_are_longer_than_small_blocks() {
    let parts = [
        "(threadIdx.x >= N ? line[threadIdx.x - N] : T[IDX(i - 1, j)])",
        "((int)threadIdx.x < THREADS - N ? line[threadIdx.x + N] : T[IDX(i + 1, j)])",
    ];
    served("long_rows", &parts, "block 256,");
}

/// The host names the kernel from within a namespace, the front end from outside of all.
#[test]
fn kernels_are_launched_within_namespaces() {
    let staged = served(
        "within_namespaces",
        &["? tile[threadIdx.y + dy][threadIdx.x + dx] :"],
        "block 32x8,",
    );
    assert_eq!(staged.kernel, "img::detail::range<float, 32, 8>");
}
