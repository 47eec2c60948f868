//! Finding and reading the files to check.

use std::path::{Path, PathBuf};

use warpsmith_ir::Diagnostic;

pub use warpsmith_translate::files::read;
use warpsmith_translate::files::unreadable;

use crate::status::Failure;

/// All `.cu` files below a folder, sorted; hidden folders and links are not followed.
///
/// # Errors
/// W301 when a folder cannot be read or holds no CUDA file.
pub fn cuda_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = vec![];
    collect(folder, &mut found)?;
    if found.is_empty() {
        let d = Diagnostic::error("W301", format!("`{}` holds no .cu file", folder.display()));
        return Err(d.help("name a folder that does, or a file").into());
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| unreadable(folder, &e))?;
    for entry in entries {
        let entry = entry.map_err(|e| unreadable(folder, &e))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|e| unreadable(&path, &e))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden {
            collect(&path, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "cu") {
            found.push(path);
        }
    }
    Ok(())
}
