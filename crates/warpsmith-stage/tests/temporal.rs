//! Two time steps in one kernel, marked by the user, in other styles than the examples: rims that stay, edges that are cold, blurs of
//! templates, blocks in three dimensions. The array between the steps loses its stores.

mod common;

use common::emitted;
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged, Verdict};
use warpsmith_stage::verify::proof::solver;

fn text(name: &str) -> String {
    let path = format!("{}/tests/kernels/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the kernel is there")
}

fn run(name: &str, text: &str) -> Result<Staged, String> {
    let settings = Settings { path: format!("{name}.cu"), ..Settings::default() };
    let input =
        Input { settings, text: text.into(), solver: solver::program(), ..Input::default() };
    let said =
        |r: Refusal| r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect();
    stage::stage(input).map_err(said)
}

/// Stages a kernel: all reads are served, at so many block shapes at least, and `between` is not written any more.
fn twice(name: &str, between: &str, shapes: usize, contains: &[&str]) -> Staged {
    let before = text(name);
    let staged = run(name, &before).unwrap_or_else(|message| panic!("{message}"));
    emitted(name, &staged.text);
    assert_eq!(staged.dropped, [between], "{name}");
    assert!(!staged.text.contains(&format!("{between}[")), "{name}: {}", staged.text);
    assert!(staged.blocks.len() >= shapes, "{name}: {:?}", staged.blocks);
    for part in contains {
        assert!(staged.text.contains(part), "{name}: no `{part}` in\n{}", staged.text);
    }
    for a in &staged.accesses {
        assert_ne!(a.verdict, Verdict::Original, "{name}: {}", a.original);
        if solver::program().is_some() {
            assert_eq!(a.verdict, Verdict::Proved, "{name}: {}: {:?}", a.replacement, a.unproved);
            assert_eq!(a.proved.len(), staged.blocks.len(), "{name}: {}", a.replacement);
        }
    }
    // The program around stays as it was.
    let main = before.find("main(").expect("a host program");
    assert!(staged.text.contains(&before[main..]), "{name}: {}", staged.text);
    staged
}

#[test]
fn a_plate_whose_rim_stays() {
    twice(
        "plate_twice",
        "half",
        6,
        &[
            "(threadIdx.x != BW - 1 ? first[threadIdx.y][threadIdx.x + 1] : u[r * cols + c + 1])",
            "second[threadIdx.y - 1][threadIdx.x] + second[threadIdx.y + 1][threadIdx.x]",
        ],
    );
}

/// Reads stand behind conditions in the same expression, blocks are counted as `int`.
#[test]
fn a_rod_with_cold_ends() {
    twice(
        "rod_twice",
        "between",
        5,
        &["x > 0 ? (threadIdx.x != 0 ? s0[t - 1] : now[x - 1]) : 0.0", "x > 0 ? s1[t - 1] : 0.0"],
    );
}

#[test]
fn an_element_that_is_read_back_keeps_its_store() {
    let back = text("rod_twice").replace("s1[t] = v;", "s1[t] = between[x];");
    let said = run("rod_twice", &back).expect_err("its stores race with this read");
    for part in [
        "error[W713]: with this plan the kernel is not right",
        "no mark, and no store",
        "= help: stores to `between` stay as long as it is read here: keep what is stored in a variable, and read that",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
}

#[test]
fn nine_points_of_a_template() {
    twice("blur_twice", "tmp", 1, &["b[me + 2 * W + 2]"]);
}

/// Launches of many threads with many marks: every mark is taken down.
#[test]
fn blocks_in_three_dimensions() {
    twice("cube_twice", "mid", 6, &["q[tz + 1][ty][tx]"]);
}
