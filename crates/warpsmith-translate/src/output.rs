//! Writing result files: all of them whole, or none.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::status::Failure;

/// Files that are to appear together in one folder.
#[derive(Debug, Default)]
pub struct Outputs {
    files: Vec<(String, Vec<u8>)>,
}

impl Outputs {
    /// Adds a file of this name and content; nothing is written before [`Outputs::write`].
    pub fn add(&mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.files.push((name.into(), content.into()));
    }

    /// Makes the folder if needed and puts every file there by renaming a complete temporary file.
    ///
    /// All temporary files are written before the first rename, so a full disk or a missing permission
    /// leaves the folder as it was. Returns the paths in the order added.
    ///
    /// # Errors
    /// W302 when the folder is a file or cannot be made or written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        check_folder(folder)?;
        std::fs::create_dir_all(folder).map_err(|e| cannot_write(folder, &e))?;
        let mut ready = vec![];
        for (name, content) in &self.files {
            let mut file = NamedTempFile::new_in(folder).map_err(|e| cannot_write(folder, &e))?;
            file.write_all(content).map_err(|e| cannot_write(folder, &e))?;
            make_readable(&file);
            ready.push((file, folder.join(name)));
        }
        let mut paths = vec![];
        for (file, path) in ready {
            file.persist(&path).map_err(|e| cannot_write(&path, &e.error))?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Says early, before any work, that a folder cannot take results.
///
/// # Errors
/// W302 when it exists and is not a folder, or a parent of it is a file, or it cannot be written to.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    let existing = folder.ancestors().find(|a| !a.as_os_str().is_empty() && a.exists());
    let Some(existing) = existing else { return Ok(()) };
    if !existing.is_dir() {
        let what = format!("cannot write results to `{}`", folder.display());
        let why = format!("`{}` is a file, not a folder", existing.display());
        return Err(warpsmith_ir::Diagnostic::error("W302", what)
            .note(why)
            .help("name another folder with --out")
            .into());
    }
    // A probe file tells more than permission bits do (read-only mounts, quotas, root).
    NamedTempFile::new_in(existing).map(drop).map_err(|e| cannot_write(folder, &e))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("cannot write results to `{}`", path.display());
    warpsmith_ir::Diagnostic::error("W302", what)
        .note(error.to_string())
        .help("name another folder with --out")
        .into()
}

/// Temporary files are private to their owner; results are ordinary files.
fn make_readable(file: &NamedTempFile) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Failing to widen the permissions does not make the result wrong.
        let _ = file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644));
    }
    #[cfg(not(unix))]
    let _ = file;
}

/// Writes one file whole or not at all.
///
/// # Errors
/// W302 when it cannot be written.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut file = NamedTempFile::new_in(folder).map_err(|e| cannot_write(path, &e))?;
    file.write_all(content).map_err(|e| cannot_write(path, &e))?;
    make_readable(&file);
    file.persist(path).map_err(|e| cannot_write(path, &e.error))?;
    Ok(())
}
