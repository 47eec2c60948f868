//! Loops as strangers write them, `tests/corpus/loops`: each is tuned as it is, or refused for the reason its table names.
//!
//! Every fourth is run, all of them with `WARPSMITH_ALL_LOOPS=1`. The time of each is printed.

mod common;

use std::path::{Path, PathBuf};
use std::time::Instant;

/// One loop in this many is run, unless all are asked for.
const EVERY: usize = 4;

/// A line of the table.
struct Row {
    name: String,
    options: Vec<String>,
    /// The code of the message that refuses the file.
    refused: Option<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/loops")
}

fn rows() -> Vec<Row> {
    let table = std::fs::read_to_string(folder().join("README.md")).expect("the table");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|')
            .split(" | ")
            .map(|c| c.trim().trim_matches('`').to_string())
            .collect()
    };
    let row = |line: &str| {
        let [name, _, options, refused] = <[String; 4]>::try_from(cells(line)).ok()?;
        let name = name.strip_suffix(".c")?.to_string();
        let options = options.split_whitespace().map(str::to_string).collect();
        Some(Row { name, options, refused: (refused != "–").then_some(refused) })
    };
    table.lines().filter(|l| l.starts_with("| `")).filter_map(row).collect()
}

#[test]
fn every_file_is_in_the_table() {
    let mut listed: Vec<String> = rows().into_iter().map(|r| r.name).collect();
    let entries = std::fs::read_dir(folder()).expect("the folder");
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut there: Vec<String> =
        names.filter_map(|n| Some(n.strip_suffix(".c")?.to_string())).collect();
    listed.sort();
    there.sort();
    assert_eq!(listed, there);
    let refused = rows().iter().filter(|r| r.refused.is_some()).count();
    assert!(refused * 20 <= listed.len() + 20, "{refused} of {} are refused", listed.len());
}

#[test]
fn loops_of_strangers_are_taken_as_they_are() {
    let all = std::env::var("WARPSMITH_ALL_LOOPS").is_ok_and(|v| v == "1");
    let every = if all { 1 } else { EVERY };
    let mut wrong = vec![];
    for row in rows().into_iter().step_by(every) {
        if let Err(why) = tuned(&row) {
            wrong.push(format!("{}: {why}", row.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn tuned(row: &Row) -> Result<(), String> {
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = folder().join(format!("{}.c", row.name));
    let file = file.to_string_lossy().into_owned();
    let mut args = vec!["tune", file.as_str(), "--out", "out"];
    args.extend(row.options.iter().map(String::as_str));
    let start = Instant::now();
    let output = common::command(temporary.path(), &args).output().map_err(|e| e.to_string())?;
    println!("{:7.2} s  {}", start.elapsed().as_secs_f64(), row.name);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if let Some(code) = &row.refused {
        let named = said.contains(&format!("error[{code}]")) && said.contains("= help:");
        return match output.status.code() {
            Some(1 | 2) if named => Ok(()),
            status => Err(format!("status {status:?} instead of {code} with a hint\n{said}")),
        };
    }
    if output.status.code() != Some(0) {
        return Err(format!("status {:?}\n{said}", output.status.code()));
    }
    let result = std::fs::read_to_string(temporary.path().join("out/result.json"));
    let result: serde_json::Value =
        serde_json::from_str(&result.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    let complete = &result["verification"]["coverage"]["complete"];
    if *complete == serde_json::Value::Bool(true) {
        Ok(())
    } else {
        Err(format!("not every path was run: {}", result["verification"]["coverage"]))
    }
}
