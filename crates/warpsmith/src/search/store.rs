//! Where results are kept.

use std::path::{Path, PathBuf};

use warpsmith_ir::Diagnostic;
use warpsmith_tune::store::Store;

/// The user's store: the option, else `$WARPSMITH_STORE`, else `warpsmith/results.sqlite` in `$XDG_DATA_HOME` or
/// `~/.local/share`.
///
/// # Errors
/// W461: the environment names no home.
pub fn path(given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let file = |folder: PathBuf| folder.join("warpsmith/results.sqlite");
    let found = given
        .map(Path::to_path_buf)
        .or_else(|| set("WARPSMITH_STORE"))
        .or_else(|| set("XDG_DATA_HOME").map(file))
        .or_else(|| set("HOME").map(|home| file(home.join(".local/share"))));
    found.ok_or_else(|| {
        Diagnostic::error("W461", "there is no place for results")
            .note("neither WARPSMITH_STORE nor XDG_DATA_HOME nor HOME is set")
            .help("name a file with --store")
    })
}

/// Opens a store; its folder is made where it is missing.
///
/// # Errors
/// W420, or the folder cannot be made.
pub fn open(path: &Path) -> Result<Store, Diagnostic> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            let text = format!("cannot make the folder of the store `{}`: {error}", path.display());
            Diagnostic::error("W420", text)
        })?;
    }
    Store::open(path)
}
