//! Scripts and library functions that are unlike the shipped ones: other types, shapes of blocks, ways to write a routine.

use super::library::{copied, is_pattern};
use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuse/foreign")
}

/// The shipped library with the functions of the folder; the file of types is the folder's.
pub fn with_foreign_functions(patterns: bool) -> tempfile::TempDir {
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
    scripts_in(&folder())
}

fn scripts_in(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder.join("scripts")).unwrap();
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

/// Vectors of 2, 4, 7 and 20 floats, matrices of 4 to 400, quaternions; 1 to 100 threads an element, blocks in three dimensions or of
/// one element, batches, loads for several inputs, patterns for some arguments, helpers, tables, macros and templates.
#[test]
fn a_library_of_other_types_is_right_in_every_way_to_generate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuse/robots");
    for (name, text) in scripts_in(&folder) {
        let (dir, args) = script(&text);
        let args = FuseArgs { library: Some(folder.join("library")), ..args };
        let ways = [
            args.clone(),
            FuseArgs { keep_loads: true, ..args.clone() },
            FuseArgs { baseline: true, ..args.clone() },
            FuseArgs { max_fusion: 1, ..args },
        ];
        for (k, args) in ways.iter().enumerate() {
            let fused = fused(args);
            if k < 2 {
                leave(&format!("robots_{name}_{k}"), &fused);
            }
            if k == 0 {
                for (file, text) in &fused.covers[0].files {
                    std::fs::write(dir.path().join(file), text).unwrap();
                }
                check_program(dir.path(), "case", "40");
            }
        }
    }
}

#[test]
fn elements_that_are_too_large_for_the_usual_blocks_get_smaller_ones_or_more_memory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuse/robots");
    let library = Some(folder.join("library"));
    let (_dir, args) =
        script("mat20 A, B; vec20 r;\ninput A;\nB = mul20(A, A);\nr = rows20(B);\nreturn r;");
    let implementations = vec!["mul20=row".to_string()];
    let large = fused(&FuseArgs { library: library.clone(), implementations, ..args.clone() });
    let text = &large.covers[0].files[0].1;
    for plan in plans(&large) {
        let asks = text.contains("cudaFuncAttributeMaxDynamicSharedMemorySize");
        assert_eq!(plan.dynamic_shared() > 0, asks, "{}", large.text);
    }
    leave("large", &large);
    // Where the device has no more than 64 KB, blocks have fewer elements.
    let implementations = vec!["mul20=row".to_string()];
    let arch = Some("sm_75".to_string());
    let small = fused(&FuseArgs { library, implementations, arch, ..args });
    let bytes = |p: &KernelPlan| p.shared_floats * 4;
    assert!(plans(&small).iter().all(|p| bytes(p) <= 64 << 10 && p.elements <= 16));
    leave("sm_75-large", &small);
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
