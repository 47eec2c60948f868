//! Reading the user's files.

use std::path::{Path, PathBuf};

use warpsmith_ir::Diagnostic;

use crate::status::Failure;

/// The bytes of a file.
///
/// # Errors
/// W301 when it is missing, a folder, or cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|e| unreadable(path, &e))
}

/// Why a file or folder cannot be read, with what to do.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    };
    let d = Diagnostic::error("W301", format!("cannot read `{}`: {why}", path.display()));
    let help = match error.kind() {
        std::io::ErrorKind::NotFound => neighbours(path),
        _ if path.is_dir() => "name a file in it; `warpsmith check` takes folders, too".to_string(),
        _ => "may you read it? `ls -l` shows its permissions".to_string(),
    };
    d.help(help).into()
}

/// Files beside one that is not there, of its kind: one of them may be meant.
fn neighbours(path: &Path) -> String {
    /// More of them are no help.
    const NAMED: usize = 5;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return format!("there is no folder `{}` either", folder.display());
    };
    let mut names: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    names.retain(|p| p.extension().is_some() && p.extension() == path.extension() && p.is_file());
    names.sort();
    names.truncate(NAMED);
    let names: Vec<String> = names
        .iter()
        .filter_map(|p| p.file_name())
        .map(|n| format!("`{}`", n.to_string_lossy()))
        .collect();
    match names.is_empty() {
        true => format!("no file of that kind is in `{}`", folder.display()),
        false => format!("in `{}` there are {}", folder.display(), names.join(", ")),
    }
}
