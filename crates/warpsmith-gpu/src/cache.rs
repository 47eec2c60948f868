//! Binaries by what they were made of, so that nothing is compiled twice.
//!
//! The place is `$WARPSMITH_CACHE`, else `warpsmith` in `$XDG_CACHE_HOME` or `~/.cache`. Entries are whole files, made
//! under another name and renamed; a damaged one counts as absent.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::protocol::frame;
use crate::protocol::{Compile, KernelInfo};

/// A folder of compiled texts.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Header {
    kernels: Vec<KernelInfo>,
    log: String,
    /// Of the binary, in hexadecimal: a file cut or changed is not used.
    sum: String,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Compiled texts.
    pub entries: u64,
    /// What they take on disk.
    pub bytes: u64,
}

impl Cache {
    /// The user's; `None` where the environment names no home.
    pub fn of_user() -> Option<Cache> {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = set("WARPSMITH_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|c| c.join("warpsmith")))
            .or_else(|| set("HOME").map(|h| h.join(".cache/warpsmith")))?;
        Some(Cache::at(&folder))
    }

    /// In `cubin` below a folder.
    pub fn at(folder: &Path) -> Cache {
        Cache { folder: folder.join("cubin") }
    }

    /// The folder that the entries lie in; it need not be there.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of a request's entry: its hash with the compiler's version. `None`: the text includes files of the
    /// user's, which may change.
    pub fn key(request: &Compile, compiler: &str) -> Option<String> {
        let includes = |line: &str| {
            let rest = line.trim_start().strip_prefix('#')?;
            Some(rest.trim_start().strip_prefix("include")?.trim_start().starts_with('"'))
        };
        if request.source.lines().any(|l| includes(l).unwrap_or(false)) {
            return None;
        }
        let text = serde_json::to_string(&(compiler, request)).ok()?;
        Some(hex(&Sha256::digest(text.as_bytes())))
    }

    /// What was compiled before.
    pub fn get(&self, key: &str) -> Option<(Vec<KernelInfo>, String, Vec<u8>)> {
        let bytes = fs::read(self.path(key)).ok()?;
        let (header, blobs): (Header, _) = frame::read(&mut &bytes[..]).ok()??;
        let [binary] = <[Vec<u8>; 1]>::try_from(blobs).ok()?;
        (header.sum == hex(&Sha256::digest(&binary))).then_some((
            header.kernels,
            header.log,
            binary,
        ))
    }

    /// Keeps a binary.
    ///
    /// # Errors
    /// The file system's; the cache is as before then.
    pub fn put(
        &self,
        key: &str,
        kernels: &[KernelInfo],
        log: &str,
        binary: &[u8],
    ) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let sum = hex(&Sha256::digest(binary));
        let header = Header { kernels: kernels.to_vec(), log: log.into(), sum };
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let mut bytes = vec![];
        frame::write(&mut bytes, &header, &[binary]).map_err(io::Error::other)?;
        file.write_all(&bytes)?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    }

    /// # Errors
    /// The file system's; a cache that does not exist is empty.
    pub fn contents(&self) -> io::Result<Contents> {
        let mut sum = Contents::default();
        for file in self.files()? {
            sum.entries += u64::from(is_entry(&file));
            sum.bytes += fs::metadata(&file)?.len();
        }
        Ok(sum)
    }

    /// Removes all entries, and the folders that are empty then. What is none of its files stays.
    ///
    /// # Errors
    /// The file system's.
    pub fn clean(&self) -> io::Result<Contents> {
        let contents = self.contents()?;
        for file in self.files()? {
            match fs::remove_file(&file) {
                // Another process was faster.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        for folder in entries(&self.folder)?.iter().filter(|f| is_hex(f, 2)) {
            // A folder with something else in it stays.
            let _ = fs::remove_dir(folder);
        }
        let _ = fs::remove_dir(&self.folder);
        Ok(contents)
    }

    /// Entries, and what a process that was killed left of one.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = vec![];
        for folder in entries(&self.folder)?.into_iter().filter(|f| is_hex(f, 2) && f.is_dir()) {
            let ours = |file: &PathBuf| is_entry(file) || is_unfinished(file);
            files.extend(entries(&folder)?.into_iter().filter(ours));
        }
        Ok(files)
    }

    /// Folders by the first two digits, so that none grows too long.
    fn path(&self, key: &str) -> PathBuf {
        let (start, rest) = key.split_at(2.min(key.len()));
        self.folder.join(start).join(rest)
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|e| Ok(e?.path())).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        Err(e) => Err(e),
    }
}

fn is_entry(file: &Path) -> bool {
    is_hex(file, 62)
}

/// As `tempfile` names files until they are whole.
fn is_unfinished(file: &Path) -> bool {
    file.file_name().is_some_and(|n| n.to_string_lossy().starts_with(".tmp"))
}

/// Whether a file or folder is called by so many hexadecimal digits.
fn is_hex(path: &Path, digits: usize) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.len() == digits && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(source: &str) -> Compile {
        Compile {
            source: source.into(),
            file: "a.cu".into(),
            arch: "sm_90".into(),
            options: vec!["-DN=4".into()],
            kernels: vec![],
        }
    }

    #[test]
    fn what_was_put_is_found_until_it_is_cleaned() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let key = Cache::key(&request("a"), "13.0").unwrap();
        assert_eq!(cache.get(&key), None);
        let kernels = vec![KernelInfo {
            name: "k<4>".into(),
            symbol: "_Z1k".into(),
            registers: 32,
            shared: 16,
            local: 0,
            spills: 0,
        }];
        cache.put(&key, &kernels, "log", b"binary").unwrap();
        assert_eq!(cache.get(&key), Some((kernels, "log".into(), b"binary".to_vec())));
        assert_eq!(cache.contents().unwrap().entries, 1);
        assert_eq!(cache.clean().unwrap().entries, 1);
        assert_eq!(cache.get(&key), None);
        assert_eq!(cache.clean().unwrap(), Contents::default());
    }

    #[test]
    fn everything_that_changes_the_binary_changes_the_key() {
        let keys = [
            Cache::key(&request("a"), "13.0"),
            Cache::key(&request("b"), "13.0"),
            Cache::key(&request("a"), "12.9"),
            Cache::key(&Compile { arch: "sm_80".into(), ..request("a") }, "13.0"),
            Cache::key(&Compile { options: vec![], ..request("a") }, "13.0"),
            Cache::key(&Compile { kernels: vec!["k".into()], ..request("a") }, "13.0"),
        ];
        let different: std::collections::BTreeSet<_> = keys.iter().flatten().collect();
        assert_eq!(different.len(), keys.len());
        assert_eq!(Cache::key(&request(" # include \"mine.h\"\n"), "13.0"), None);
        assert!(Cache::key(&request("#include <cuda_fp16.h>\n"), "13.0").is_some());
    }

    #[test]
    fn cleaning_leaves_what_is_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let key = Cache::key(&request("a"), "13.0").unwrap();
        cache.put(&key, &[], "", b"binary").unwrap();
        let own = cache.path(&key);
        let half = own.with_file_name(".tmpAbCdEf");
        let notes = own.with_file_name("notes.txt");
        let beside = cache.folder().join("project/main.cu");
        fs::create_dir_all(beside.parent().unwrap()).unwrap();
        for file in [&half, &notes, &beside] {
            fs::write(file, "text").unwrap();
        }
        assert_eq!(cache.clean().unwrap().entries, 1);
        assert!(!own.exists() && !half.exists());
        assert!(notes.exists() && beside.exists());
    }

    #[test]
    fn a_damaged_entry_counts_as_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let key = Cache::key(&request("a"), "13.0").unwrap();
        cache.put(&key, &[], "", b"binary").unwrap();
        let path = cache.path(&key);
        let whole = fs::read(&path).unwrap();
        for k in 0..whole.len() {
            fs::write(&path, &whole[..k]).unwrap();
            assert_eq!(cache.get(&key), None);
        }
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&path, changed).unwrap();
        assert_eq!(cache.get(&key), None);
    }
}
