//! The library that is shipped: all of it is understood, and its metadata say what its code does.

use std::path::Path;

use warpsmith_fuse::access::Accesses;
use warpsmith_fuse::library::{Files, Library};
use warpsmith_ir::SourceMap;

const FUNCTIONS: [&str; 14] = [
    "madd33",
    "mmul33",
    "mvmul33",
    "smmul33",
    "smimul33",
    "svmul3",
    "venorm3",
    "vvmulabs3",
    "madd55",
    "mmul55",
    "smmul55",
    "ttmul411",
    "ttmul311",
    "ttmul3212",
];

fn shipped() -> Files {
    Files::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library")).unwrap()
}

fn rendered(list: Vec<warpsmith_ir::Diagnostic>, sources: &SourceMap) -> String {
    list.iter().map(|d| d.render(sources, false) + "\n").collect()
}

/// Loads a function and derives its patterns in blocks of 32 elements; the first error as text.
fn checked(files: Files, name: &str) -> Result<(Library, Accesses), String> {
    let mut sources = SourceMap::new();
    let run = || {
        let mut library = Library::open(files, &mut sources)?;
        library.load([name], &mut sources)?;
        let id = library.find_function(name).unwrap();
        let mut accesses = Accesses::default();
        for k in 0..library.function(id).implementations.len() {
            accesses.of(&library, id, k, 32, &mut sources)?;
        }
        Ok((library, accesses))
    };
    let result = run();
    result.map_err(|list: Vec<_>| rendered(list, &sources))
}

#[test]
fn every_function_is_understood_and_its_moves_are_plain_copies() {
    for name in FUNCTIONS {
        let mut sources = SourceMap::new();
        let (library, mut accesses) = checked(shipped(), name).unwrap_or_else(|e| panic!("{e}"));
        let id = library.find_function(name).unwrap();
        let count = library.function(id).implementations.len();
        assert!(count >= if matches!(name, "venorm3" | "vvmulabs3") { 1 } else { 2 }, "{name}");
        for k in 0..count {
            let access = accesses.of(&library, id, k, 32, &mut sources).unwrap().unwrap();
            for moved in access.loads.iter().chain([&access.save]) {
                assert!(moved.plain_copy, "{name} implementation {k}");
            }
            assert!(
                access.compute.arguments.iter().all(|a| a.touch.is_some() && a.numbering.is_ok())
            );
        }
    }
}

#[test]
fn every_pattern_of_every_function_is_compared_with_the_code() {
    let mut damaged = 0;
    for name in FUNCTIONS {
        let file = format!("{name}.cu");
        let text = shipped().get(&file).unwrap().to_string();
        let patterns: Vec<usize> = text
            .lines()
            .enumerate()
            .filter(|(_, l)| l.contains("PATTERN") && l.contains("= start \""))
            .map(|(number, _)| number)
            .collect();
        assert!(!patterns.is_empty(), "{name}");
        for number in patterns {
            let lines: Vec<String> = text
                .lines()
                .enumerate()
                .map(|(k, line)| match k == number {
                    true => line.replacen("start \"", "start \"1+", 1),
                    false => line.to_string(),
                })
                .collect();
            let mut files = shipped();
            let own = files.files.iter_mut().find(|f| f.name == file).unwrap();
            own.text = lines.join("\n").into();
            let error =
                checked(files, name).err().unwrap_or_else(|| panic!("{name}, line {number}"));
            assert!(error.starts_with("error[W525]"), "{name}, line {number}: {error}");
            damaged += 1;
        }
    }
    assert!(damaged > 100, "{damaged}");
}
