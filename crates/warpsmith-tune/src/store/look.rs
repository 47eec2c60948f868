//! Looking at a store without writing to it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;
use warpsmith_ir::Diagnostic;

use super::{Store, known_layout};

impl Store {
    /// Opens a database for looking alone; `None` where there is none.
    ///
    /// A database with a write-ahead log cannot be read where neither it nor its folder may be written to, so a private
    /// copy is looked at then.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_to_read(path: &Path) -> Result<Option<Store>, Diagnostic> {
        if !path.exists() {
            return Ok(None);
        }
        let refuse = |why: String| {
            let text = format!("cannot open the store `{}`: {why}", path.display());
            Diagnostic::error("W420", text)
        };
        let (connection, layout, copy) = match in_place(path) {
            Ok((connection, layout)) => (connection, layout, None),
            Err(first) => {
                // What is wrong with the file itself is wrong with its copy, too; the first message names it.
                let copied = copy(path).map_err(|e| refuse(e.to_string()))?;
                let (connection, layout) = in_place(&copied.1).map_err(|_| refuse(first))?;
                (connection, layout, Some(copied.0))
            }
        };
        // A file that nobody has written tables to has nothing to look at.
        let path = path.to_path_buf();
        Ok((layout > 0).then_some(Store { connection, path, layout, _copy: copy }))
    }
}

fn in_place(path: &Path) -> Result<(Connection, i32), String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| e.to_string())?;
    let layout = known_layout(&connection)?;
    Ok((connection, layout))
}

/// The database and its log in a folder of their own, which is removed when it is dropped.
fn copy(path: &Path) -> io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let copied = folder.path().join("results.sqlite");
    std::fs::write(&copied, std::fs::read(path)?)?;
    let log = |path: &Path| {
        let mut name = path.as_os_str().to_os_string();
        name.push("-wal");
        PathBuf::from(name)
    };
    if log(path).exists() {
        std::fs::write(log(&copied), std::fs::read(log(path))?)?;
    }
    Ok((folder, copied))
}
