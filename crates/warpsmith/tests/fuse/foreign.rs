//! Scripts and library functions that are unlike the shipped ones: other types, shapes of blocks, ways to write a routine.

use super::library::{copied, is_pattern};
use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuse/foreign")
}

/// The shipped library with the functions of the folder; the file of types is the folder's.
fn with_foreign_functions(patterns: bool) -> tempfile::TempDir {
    let library = copied();
    for entry in std::fs::read_dir(folder().join("library")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, library.path().join(path.file_name().unwrap())).unwrap();
    }
    if !patterns {
        for entry in std::fs::read_dir(library.path()).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let bare: String =
                text.lines().filter(|l| !is_pattern(l)).map(|l| format!("{l}\n")).collect();
            std::fs::write(&path, bare).unwrap();
        }
    }
    library
}

fn scripts() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder().join("scripts")).unwrap();
    let mut all: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn foreign_scripts_are_right_in_every_way_to_generate() {
    let library = with_foreign_functions(true);
    for (name, text) in scripts() {
        let (_dir, args) = script(&text);
        let args = FuseArgs { library: Some(library.path().into()), ..args };
        let ways = [
            args.clone(),
            FuseArgs { keep_loads: true, ..args.clone() },
            FuseArgs { baseline: true, ..args.clone() },
            FuseArgs { max_fusion: 1, ..args.clone() },
        ];
        for (k, args) in ways.iter().enumerate() {
            let fused = fused(args);
            if k < 2 {
                leave(&format!("foreign_{name}_{k}"), &fused);
            }
        }
    }
}

#[test]
fn foreign_functions_need_no_patterns_either() {
    let (with, without) = (with_foreign_functions(true), with_foreign_functions(false));
    for (name, text) in scripts() {
        let (_dir, args) = script(&text);
        let kernels = |library: &tempfile::TempDir| {
            let args = FuseArgs { library: Some(library.path().into()), ..args.clone() };
            fused(&args).covers.remove(0).files
        };
        // What forbids registers stands in a pattern, and goes with it.
        let forbids = text.contains("axpy3");
        assert!(forbids || kernels(&with) == kernels(&without), "{name}");
    }
}

#[test]
fn foreign_scripts_take_structures_of_arrays() {
    let library = with_foreign_functions(true);
    for (name, text) in scripts() {
        let columns: String = text
            .lines()
            .map(|line| match line.split_once(' ') {
                Some((ty, rest)) if rest.ends_with(';') && is_type(ty) => format!("soa {line}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        assert_ne!(columns, text);
        let (_dir, args) = script(&columns);
        let fused = fused(&FuseArgs { library: Some(library.path().into()), ..args });
        leave(&format!("foreign_{name}_columns"), &fused);
    }
}

fn is_type(word: &str) -> bool {
    ["matrix", "vector", "scalar", "quaternion"].iter().any(|t| word.starts_with(t))
}
