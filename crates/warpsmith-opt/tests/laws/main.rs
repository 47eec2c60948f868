//! Every kind of step does to a function what its description shows, and to other functions what the files in `cases` say.

#[path = "../common/mod.rs"]
mod common;
mod table;

use common::{Input, check_scheduled};
use table::{Case, Outcome};
use warpsmith_opt::schedule::registry::STEPS;
use warpsmith_opt::{annotate, schedule};

/// The function after a schedule, as `--show-steps` prints it, without the headers.
fn after(before: &str, steps: &str) -> String {
    taken(before, steps).unwrap_or_else(|why| why)
}

fn taken(before: &str, steps: &str) -> Result<String, String> {
    let mut input = Input::new(before);
    let file = input.sources.add("input.sched", steps);
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

/// What comes of a case: what its steps make of the function, or the message with which the last of them is refused.
fn outcome(case: &Case) -> Outcome {
    let made = taken(&case.source, &case.steps);
    let made = match &case.outcome {
        Outcome::Refused(_) => {
            made.and_then(|text| Input::new(&case.source).scheduled(&case.steps).map(|_| text))
        }
        Outcome::After(_) => made,
    };
    made.map_or_else(Outcome::Refused, Outcome::After)
}

/// Asserts that the last step of a case is the one that it is about, and that it is what makes the outcome.
fn belongs(case: &Case, found: &Outcome, step: &str) {
    let (earlier, last) = case.steps.rsplit_once('\n').unwrap_or(("", &case.steps));
    assert_eq!(last.split_whitespace().next(), Some(step), "{step}, {}: its last step", case.title);
    let before = taken(&case.source, earlier);
    match (&case.outcome, found) {
        (Outcome::After(_), Outcome::After(after)) => {
            assert_ne!(before.as_ref(), Ok(after), "{step}, {}", case.title);
            assert!(!case.sizes.is_empty(), "{step}, {}: sizes", case.title);
        }
        (Outcome::Refused(_), Outcome::Refused(_)) => {
            assert!(before.is_ok(), "{step}, {}: an earlier step is refused", case.title);
        }
        (_, Outcome::After(text) | Outcome::Refused(text)) => {
            panic!("{step}, {}: `{}`\n{text}", case.title, case.steps)
        }
    }
}

#[test]
fn steps_do_what_their_cases_say() {
    for step in STEPS {
        let mut cases = table::read(step.name);
        for case in &mut cases {
            let found = outcome(case);
            belongs(case, &found, step.name);
            case.outcome = found;
        }
        let text: Vec<String> = cases.iter().map(Case::text).collect();
        expect_test::expect_file![table::file(step.name)].assert_eq(&text.concat());
    }
}

/// Functions after a step compute what they did, on the host and on the device, in every order of threads.
#[test]
fn results_of_cases_are_those_of_the_functions() {
    for case in STEPS.iter().flat_map(|step| table::read(step.name)) {
        if let Outcome::After(_) = case.outcome {
            let sizes: Vec<&[_]> = case.sizes.iter().map(Vec::as_slice).collect();
            let schedule = format!("{}\n{}", case.steps, case.then);
            check_scheduled(&case.source, schedule.trim_end(), &sizes);
        }
    }
}

/// With the law in its file a step has three functions before and after it, and two that it is refused for.
#[test]
fn every_step_has_three_examples_and_two_refusals() {
    for step in STEPS {
        let cases = table::read(step.name);
        let taken = cases.iter().filter(|c| matches!(c.outcome, Outcome::After(_))).count();
        assert!(1 + taken >= 3, "{}: {taken} cases beside its law", step.name);
        assert!(cases.len() - taken >= 2, "{}: {} refusals", step.name, cases.len() - taken);
        let titles: std::collections::BTreeSet<&str> =
            cases.iter().map(|c| c.title.as_str()).collect();
        assert_eq!(titles.len(), cases.len(), "{}: titles", step.name);
    }
}
