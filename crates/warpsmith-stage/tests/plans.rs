//! Plans of the kinds that people write, from text to text.

use warpsmith_stage::program::Settings;
use warpsmith_stage::search;
use warpsmith_stage::session::{Input, Refusal, Session};

fn input(name: &str) -> Input {
    let path = format!("{}/tests/plans/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the plan is there");
    let settings = Settings { path: format!("{name}.cu"), ..Settings::default() };
    Input { settings, text, ..Input::default() }
}

fn refused(r: Refusal) -> String {
    r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect()
}

#[test]
fn five_point() {
    let time = std::time::Instant::now();
    let mut session = Session::new(input("five_point")).map_err(refused).unwrap();
    eprintln!("session {:?}", time.elapsed());
    let mut profiled = search::profile(&mut session).map_err(refused).unwrap();
    eprintln!(
        "profile {:?} {:?}",
        time.elapsed(),
        profiled.launches.iter().map(|s| s.launch.describe()).collect::<Vec<_>>()
    );
    let found = search::solve(&mut session, &mut profiled).map_err(refused).unwrap();
    eprintln!("solve {:?}", time.elapsed());
    for (m, f) in found.iter().enumerate() {
        let point = &session.plan.reads[m];
        let original = session.plan.slice(&session.plan.mark(m).global());
        eprintln!(
            "{:?} rows {} {:?} {:?}",
            f.time,
            f.rows,
            f.answer.as_ref().map(|a| a.text(point, original)),
            f.killed
        );
    }
}
