//! `warpsmith fuse`: the published scripts, random ones, damaged libraries, scripts that are wrong.

use std::path::{Path, PathBuf};

use warpsmith::fuse::args::FuseArgs;
use warpsmith::fuse::{Fused, fuse};
use warpsmith::fusion::plan::{KernelPlan, kernels};
use warpsmith::ir::SourceMap;
use warpsmith::status::Status;

#[path = "fuse/foreign.rs"]
mod foreign;
#[path = "fuse/library.rs"]
mod library;
#[path = "fuse/measured.rs"]
mod measured;
#[path = "fuse/random.rs"]
mod random;
#[path = "fuse/scripts.rs"]
mod scripts;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Fuses; what is said of it when that fails, with the status.
fn run(args: &FuseArgs) -> Result<Fused, (Status, String)> {
    let mut sources = SourceMap::new();
    fuse(args, &mut sources).map_err(|f| (f.status, f.render(&sources, false)))
}

fn fused(args: &FuseArgs) -> Fused {
    let fused = run(args).unwrap_or_else(|(_, text)| panic!("{text}"));
    assert_right(&fused);
    fused
}

/// No cover was refused on the way, and no implementation left out because of what kernels with it gave.
fn assert_right(fused: &Fused) {
    let refused = fused.warnings.iter().find(|w| w.code == "W540");
    assert!(refused.is_none(), "{:?}", refused.map(|w| (&w.message, &w.notes)));
}

fn example(name: &str) -> FuseArgs {
    FuseArgs::of(root().join("examples").join(format!("{name}.ws")))
}

/// A script in a folder of its own.
fn script(text: &str) -> (tempfile::TempDir, FuseArgs) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("case.ws");
    std::fs::write(&path, text).unwrap();
    (dir, FuseArgs::of(path))
}

fn plans(fused: &Fused) -> Vec<std::rc::Rc<KernelPlan>> {
    kernels(&fused.covers[0].cover.launches)
}

/// Leaves emitted files where `.ci/compile-cuda` finds them.
fn leave(name: &str, fused: &Fused) {
    let Some(folder) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let folder = Path::new(&folder).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in &fused.covers[0].files {
        std::fs::write(folder.join(file), text).unwrap();
    }
}

#[test]
fn the_published_scripts_have_few_barriers_with_several_threads_an_element() {
    // Calls of a kernel at most, as the published covers have them; barriers of each kernel at most; variables in registers
    // at least.
    let published: [(&str, u8, &[usize], usize); 3] =
        [("synctest", 4, &[3], 3), ("stvenant", 2, &[3, 4], 2), ("stvenantinner", 8, &[7], 3)];
    for (name, max_fusion, most, registers) in published {
        for keep_loads in [false, true] {
            let implementations = vec!["*=2".into()];
            let args = FuseArgs { implementations, keep_loads, max_fusion, ..example(name) };
            let fused = fused(&args);
            let plans = plans(&fused);
            assert_eq!(plans.len(), most.len(), "{name}");
            for (plan, most) in plans.iter().zip(most) {
                assert!(plan.barriers() <= *most, "{name}: {} barriers", plan.barriers());
            }
            let found: usize = plans.iter().map(|p| p.registers()).sum();
            assert!(found >= registers, "{name}: {found} variables in registers");
            leave(&format!("{name}_{keep_loads}"), &fused);
        }
    }
}

#[test]
fn big_fusion_has_three_barriers_fewer_than_the_baseline() {
    let several = FuseArgs { implementations: vec!["*=2".into()], ..example("bigfusion") };
    let baseline = FuseArgs { baseline: true, ..several.clone() };
    let count = |args: &FuseArgs| -> usize {
        let fused = fused(args);
        leave(&format!("bigfusion_{}", args.baseline), &fused);
        plans(&fused).iter().map(|p| p.barriers()).sum()
    };
    let (ours, theirs) = (count(&several), count(&baseline));
    assert!(ours + 3 <= theirs, "{ours} and {theirs}");
}

#[test]
fn two_runs_write_the_same_bytes() {
    let files = || fused(&example("stvenant")).covers.remove(0).files;
    assert_eq!(files(), files());
}

#[test]
fn what_fusion_gains_is_said() {
    let fused = fused(&FuseArgs { best: Some(200), ..example("synctest") });
    let unfused = fused.result["unfused_predicted_seconds"].as_f64().unwrap();
    let alone = fused.covers.iter().filter(|c| kernels(&c.cover.launches).len() == 4);
    let least = alone.map(|c| c.cover.seconds).fold(f64::INFINITY, f64::min);
    assert!(least.is_infinite() || (unfused - least).abs() < 1e-9, "{unfused} and {least}");
    assert!(fused.covers[0].cover.seconds < unfused / 2.0);
}

#[test]
fn calls_that_share_nothing_but_an_input_are_quick_to_cover() {
    let names: Vec<String> = (0..40).map(|k| format!("x{k}")).collect();
    let calls: String = names.iter().map(|n| format!("{n} = madd33(A, A);\n")).collect();
    let (all, returned) = (names.join(", "), names.join(", "));
    let (_dir, args) = script(&format!("matrix3x3 A, {all};\ninput A;\n{calls}return {returned};"));
    let start = std::time::Instant::now();
    let fused = fused(&args);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert!(plans(&fused).len() <= 10, "{}", fused.text);
    assert!(!fused.bounds.notes.is_empty());
}

#[test]
fn several_covers_differ_and_come_in_order() {
    let fused = fused(&FuseArgs { best: Some(12), ..example("stvenantinner") });
    assert_eq!(fused.covers.len(), 12);
    let seconds: Vec<f64> = fused.covers.iter().map(|c| c.cover.seconds).collect();
    assert!(seconds.is_sorted(), "{seconds:?}");
    let mut texts: Vec<&String> = fused.covers.iter().map(|c| &c.files[0].1).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 12);
}

#[test]
fn forty_calls_compile_in_seconds() {
    let mut text =
        "matrix3x3 A, X, Y;\ninput A;\nX = madd33(A, A);\nY = mmul33(A, A);\n".to_string();
    for i in 0..19 {
        text.push_str(if i % 3 == 0 { "X = mmul33(X, A);\n" } else { "X = madd33(X, Y);\n" });
        text.push_str("Y = madd33(Y, X);\n");
    }
    text.push_str("return X, Y;\n");
    let (_dir, args) = script(&text);
    let start = std::time::Instant::now();
    let fused = fused(&args);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_eq!(plans(&fused).iter().map(|p| p.calls.len()).sum::<usize>(), 40);
}

#[test]
fn whole_programs_pass_check() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["bigfusion", "synctest", "stvenant", "stvenantinner"] {
        let fused = fused(&example(name));
        for (file, text) in &fused.covers[0].files {
            std::fs::write(dir.path().join(file), text).unwrap();
        }
        check_program(dir.path(), name, "130");
        leave(name, &fused);
    }
}

/// Runs a test program under `check`, with all checks.
fn check_program(folder: &Path, name: &str, count: &str) {
    let test = folder.join(format!("{name}_test.cu"));
    let check = ["warpsmith", "check", "--host-args", count].map(std::ffi::OsString::from);
    let status = warpsmith::cli::run(check.into_iter().chain([test.into_os_string()]));
    assert_eq!(status, Status::Done, "{name}");
}

/// The number behind `name="` in an element.
fn number(element: &str, name: &str) -> f64 {
    let start = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    element[start..].split('"').next().unwrap().parse().unwrap()
}

#[test]
fn no_text_of_the_picture_lies_over_another_or_leaves_it() {
    let (_dir, args) = script(
        "matrix3x3 A, B, C, D, E;\nvector3 v, w;\nscalar s;\ninput A, v, s;\nB = madd33(A, A);\nC = mmul33(B, A);\nfor (i = 0; i < 40; i++) {\n\
         for (j = 0; j < 30; j++) { C = madd33(B, C); v = mvmul33(C, v); }\nB = mmul33(B, C);\n}\nD = smmul33(B, s);\nE = madd33(D, C);\nw = mvmul33(E, v);\nE = mmul33(E, D);\n\
         return w, E, D;",
    );
    let mut all: Vec<FuseArgs> =
        ["bigfusion", "synctest", "stvenant", "stvenantinner"].map(example).to_vec();
    all.extend([args.clone(), FuseArgs { max_fusion: 2, ..args }]);
    for args in all {
        let fused = fused(&args);
        let files = &fused.covers[0].files;
        let svg = &files.iter().find(|(name, _)| name.ends_with(".svg")).unwrap().1;
        let page = (number(svg, "width"), number(svg, "height"));
        let mut boxes: Vec<(f64, f64, f64, &str)> = vec![];
        for part in svg.split("<text").skip(1) {
            let (element, text) = part.split_once("</text>").unwrap().0.split_once('>').unwrap();
            let width = 6.5 * text.chars().count() as f64;
            let x =
                number(element, "x") - if element.contains("middle") { width / 2.0 } else { 0.0 };
            let y = number(element, "y");
            assert!(
                x >= 0.0 && x + width <= page.0 && y <= page.1,
                "{text} of {}",
                args.script.display()
            );
            let over = boxes
                .iter()
                .find(|(x0, x1, y0, _)| x < *x1 && *x0 < x + width && (y - y0).abs() < 10.0);
            assert!(
                over.is_none(),
                "{text} lies over {} of {}",
                over.unwrap().3,
                args.script.display()
            );
            boxes.push((x, x + width, y, text));
        }
        assert!(boxes.len() > 8);
    }
}

#[test]
fn the_picture_has_every_kernel_call_and_value() {
    let (_dir, args) = script(
        "matrix3x3 A, B, C;\nvector3 v, w;\ninput A, v;\nB = madd33(A, A);\nfor (i = 0; i < 40; i++) { B = mmul33(B, A); }\n\
         C = madd33(B, A);\nw = mvmul33(C, v);\nreturn w, C;",
    );
    let fused = fused(&FuseArgs { max_fusion: 2, ..args });
    let file = |end: &str| fused.covers[0].files.iter().find(|(n, _)| n.ends_with(end)).unwrap();
    let (svg, dot) = (&file(".svg").1, &file(".dot").1);
    let plans = plans(&fused);
    let calls: usize = plans.iter().map(|p| p.calls.len()).sum();
    assert_eq!(svg.matches("gives ").count(), calls);
    assert_eq!(svg.matches("elements a block").count(), plans.len());
    assert_eq!(svg.matches(" times</text>").count(), 1);
    assert_eq!(svg.matches("<rect").count(), 1 + calls + plans.len() + 1);
    assert_eq!(dot.matches("subgraph cluster_kernel").count(), plans.len());
    leave("picture", &fused);
}
