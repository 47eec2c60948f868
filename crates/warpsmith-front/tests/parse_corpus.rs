//! Every file of the corpus parses without a diagnostic.

use std::path::{Path, PathBuf};

use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_ir::SourceMap;

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut files = vec![];
    for kind in ["correct", "defects"] {
        let Ok(entries) = std::fs::read_dir(root.join(kind)) else {
            continue;
        };
        files.extend(
            entries
                .filter_map(|e| Some(e.ok()?.path()))
                .filter(|p| p.extension().is_some_and(|e| e == "cu")),
        );
    }
    files.sort();
    files
}

#[test]
fn every_kernel_of_the_corpus_parses() {
    let files = corpus();
    assert!(files.len() >= 40, "the corpus is missing: {} files", files.len());
    let mut failures = String::new();
    for path in files {
        let text = std::fs::read(&path).expect("a readable file");
        let shown = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut sources = SourceMap::new();
        match parse(
            &path.to_string_lossy(),
            &text,
            &ParseOptions::new(Language::Cuda),
            &DiskLoader,
            &mut sources,
        ) {
            Ok(parsed) => {
                for d in parsed.warnings.iter().chain(&parsed.suppressed) {
                    failures += &format!("{shown}\n{}\n", d.render(&sources, false));
                }
                let ast = format!("{:?}", parsed.unit);
                if ast.contains("Unsupported") {
                    let at = ast.find("Unsupported").unwrap_or(0);
                    failures += &format!("{shown}: {}\n", ast.get(at..at + 120).unwrap_or(""));
                }
            }
            Err(errors) => {
                for d in errors {
                    failures += &format!("{shown}\n{}\n", d.render(&sources, false));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
