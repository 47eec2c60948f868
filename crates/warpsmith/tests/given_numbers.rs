//! Integers of `--arg`: the text takes others, too, so that it is run with some of them, or says that it was not.

use std::path::Path;

use warpsmith::data::{ArgSpec, Init};
use warpsmith::ir::SourceMap;
use warpsmith::tune::faults::Prepared;
use warpsmith::tune::{RegisterSource, TuneRequest, Tuned, tune};

fn request(folder: &Path, source: &str, schedule: &str) -> TuneRequest {
    let (file, steps) = (folder.join("source.c"), folder.join("steps.sched"));
    std::fs::write(&file, source).expect("a writable folder");
    std::fs::write(&steps, schedule).expect("a writable folder");
    TuneRequest::new(file).registers(RegisterSource::Estimate).schedule(steps)
}

fn tuned(request: &TuneRequest) -> Tuned {
    let mut sources = SourceMap::new();
    tune(request, &mut sources).unwrap_or_else(|e| panic!("{}", e.render(&sources, false)))
}

const SUMS: &str = "\
void sums(int n, unsigned m, unsigned first, unsigned y[n], const int x[n][m]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unsigned s = 0;
        for (unsigned j = first; j < m; j++) s += x[i][j];
        y[i] = s;
    }
}
";

const SPLIT: &str = "split_k j by 4\nbind j_part, i -> y, x block 32x4\nbind i#2 -> x block 32\n";

fn sums(folder: &Path, schedule: &str) -> TuneRequest {
    let request = request(folder, SUMS, schedule).size("n", [64]).size("m", [1000]);
    request.argument("first", ArgSpec::Number("0".into()))
}

#[test]
fn the_text_is_run_with_other_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let tuned = tuned(&sums(folder.path(), SPLIT));
    let text = tuned.files[0].1.lines().collect::<Vec<_>>().join(" ").replace(" //", "");
    let said = "`first` was 0 there, as given; at other sizes among these it was one of {1 to 5,";
    assert!(text.contains(said), "{text}");
    assert!(tuned.verified.sizes.iter().any(|s| s.starts_with("first=") && !s.contains("first=0")));
    assert!(tuned.assumptions.iter().all(|a| !a.contains("first")), "{:?}", tuned.assumptions);
}

#[test]
fn a_fault_at_another_number_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let request = sums(folder.path(), "bind i -> x block 32\n");
    let mut sources = SourceMap::new();
    let prepared = Prepared::new(&request, &mut sources)
        .unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    let right = prepared.text(&prepared.program).expect("a text");
    assert!(right.contains("j = first;"), "{right}");
    let wrong = right.replace("j = first;", "j = 0;");
    let failure = prepared.verify(&wrong, &mut sources).expect_err("it is wrong");
    let said = failure.render(&sources, false);
    assert!(said.contains("error[W325]") && said.contains("first="), "{said}");
}

/// Where iterations are independent by the given number alone, nothing else is run, and the result says so.
#[test]
fn numbers_that_marks_rest_on_stay_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "\
void spread(int n, int s, float a[400], const int p[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[p[i] * s % 400] += 1.0f;
}
";
    let request = request(folder.path(), source, "bind i -> x block 32\n").size("n", [64]);
    let request = request.argument("s", ArgSpec::Number("3".into()));
    let tuned = tuned(&request.argument("p", ArgSpec::Init(Init::Iota)));
    let only = "only with s=3, as given: nothing was run with another number";
    assert!(tuned.assumptions.iter().any(|a| a == only), "{:?}", tuned.assumptions);
    assert!(tuned.files[0].1.contains("`s` was always 3, as given."));
}

/// The array has almost 2³² elements where the difference wraps around: such sizes are left out.
#[test]
fn extents_that_wrap_around_take_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "\
void part(unsigned n, unsigned lo, unsigned hi, unsigned y[hi - lo]) {
#pragma omp parallel for
    for (unsigned i = lo; i < hi; i++)
        if (i < n) y[i - lo] = (i + n - 1) % n;
}
";
    let request = request(folder.path(), source, "bind i -> x block 32\n");
    let tuned = tuned(&request.size("n", [64]).size("lo", [3]).size("hi", [9]));
    assert!(tuned.verified.sizes.len() > 20, "{:?}", tuned.verified.sizes);
    assert!(tuned.verified.points.iter().all(|p| p["lo"] <= p["hi"]));
}

/// What marks ask of sizes is asked of the given numbers, too.
#[test]
fn numbers_at_which_marks_are_not_known_to_be_right_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "\
void shift(int n, int off, int a[500]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[200 + i] = a[200 + i + off] + 1;
}
";
    let of = |off: &str| {
        let request = request(folder.path(), source, "bind i -> x block 32\n").size("n", [50]);
        request.argument("off", ArgSpec::Number(off.into()))
    };
    let mut sources = SourceMap::new();
    let said = tune(&of("0"), &mut sources).expect_err("it asks for more").render(&sources, false);
    assert!(said.contains("error[W229]: at n=50, off=0 a marked loop"), "{said}");
    let tuned = tuned(&of("60"));
    assert!(tuned.verified.points.iter().all(|p| p["n"] <= 60), "{:?}", tuned.verified.sizes);
}
