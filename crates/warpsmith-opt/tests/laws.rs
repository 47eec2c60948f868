//! Every kind of step does to a function what its description shows.

mod common;

use common::Input;
use warpsmith_opt::schedule::registry::STEPS;
use warpsmith_opt::{annotate, schedule};

/// The function after a schedule, as `--show-steps` prints it, without the headers.
fn after(before: &str, steps: &str) -> String {
    taken(before, steps).unwrap_or_else(|why| why)
}

fn taken(before: &str, steps: &str) -> Result<String, String> {
    let mut input = Input::new(before);
    let file = input.sources.add("law.sched", steps);
    let kernel = schedule::parse(&input.sources, file)
        .and_then(|s| schedule::replay(&input.kernel(), &s, &input.sources))
        .map_err(|e| common::render(&e, &input.sources))?;
    let text = warpsmith_emit::module_file(&annotate::annotated(&kernel));
    let text = text.map_err(|why| why.to_string())?;
    let lines = text.lines().skip_while(|l| l.starts_with("#include") || l.is_empty());
    Ok(lines.map(|l| format!("{l}\n")).collect())
}

/// With `WARPSMITH_SHOW_LAWS` set to a folder the functions after the steps are written there, to be read and put into the
/// descriptions.
#[test]
fn steps_do_what_their_laws_say() {
    let folder = std::env::var_os("WARPSMITH_SHOW_LAWS");
    let mut wrong = vec![];
    for step in STEPS {
        let law = step.law;
        assert!(
            law.steps.lines().last().is_some_and(|l| l.starts_with(step.name)),
            "{}",
            step.name
        );
        let found = after(law.before, law.steps);
        if let Some(folder) = &folder {
            std::fs::write(std::path::Path::new(folder).join(step.name), &found).expect("written");
        }
        if found != law.after {
            wrong.push(format!("{}, after `{}`:\n{found}", step.name, law.steps));
        }
    }
    assert!(wrong.is_empty() || folder.is_some(), "{}", wrong.join("\n"));
}

#[test]
fn the_last_step_of_a_law_changes_something() {
    for step in STEPS {
        let law = step.law;
        let lines: Vec<&str> = law.steps.lines().collect();
        let (_, first) = lines.split_last().expect("a step");
        assert_ne!(after(law.before, &first.join("\n")), law.after, "{}", step.name);
    }
}
