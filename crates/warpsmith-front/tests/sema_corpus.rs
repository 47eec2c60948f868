//! Every kernel of the corpus lowers to IR that the verifier accepts.

mod sema_support;

use std::path::Path;

#[test]
fn every_corpus_file_lowers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/correct");
    let mut failures = vec![];
    let mut files = 0;
    let mut entries: Vec<_> = std::fs::read_dir(&folder).expect("the corpus").flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "cu") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable file");
        files += 1;
        match sema_support::lower_file(&path.display().to_string(), &text) {
            Ok(lowered) => assert!(!lowered.kernels.is_empty(), "{}: no kernel", path.display()),
            Err(e) => failures.push(format!("== {}\n{e}", path.display())),
        }
    }
    assert!(files >= 40, "only {files} files in {}", folder.display());
    assert!(failures.is_empty(), "{} of {files} fail\n{}", failures.len(), failures.join("\n"));
}
