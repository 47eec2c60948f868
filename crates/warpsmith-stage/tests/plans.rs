//! Plans of the kinds that people write, from text to text.

use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged};

fn input(name: &str) -> Input {
    let path = format!("{}/tests/plans/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the plan is there");
    let settings = Settings { path: format!("{name}.cu"), ..Settings::default() };
    Input { settings, text, ..Input::default() }
}

fn refused(r: Refusal) -> String {
    r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect()
}

fn staged(name: &str) -> Staged {
    match stage::stage(input(name)) {
        Ok(staged) => staged,
        Err(r) => panic!("{}", refused(r)),
    }
}

fn show(name: &str) {
    let s = staged(name);
    eprintln!("{}", s.text);
    eprintln!(
        "profile {:?} total {:?} {:?}\nchecked {:?}\n{:?}\nnotes {:?} inserted {:?} redundant {:?}",
        s.profile_time,
        s.total_time,
        s.profiled,
        s.checked,
        s.blocks,
        s.notes,
        s.inserted,
        s.redundant
    );
    for a in &s.accesses {
        eprintln!("{:?} {} {:?}", a.time, a.rows, a.killed);
    }
}

#[test]
fn five_point() {
    show("five_point");
}

#[test]
fn five_point_sleeve() {
    show("five_point_sleeve");
}
#[test]
fn five_point_temporal() {
    show("five_point_temporal");
}
#[test]
fn matmul() {
    show("matmul");
}
#[test]
fn conv5() {
    show("conv5");
}
