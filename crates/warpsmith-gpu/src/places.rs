//! Where programs and libraries may be.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Folders to look in, first one first.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// For programs of CUDA: `CUDA_HOME`, `CUDA_PATH`, `PATH`, `/usr/local/cuda*`, virtual environments.
    pub cuda_programs: Vec<PathBuf>,
    /// For all other programs: `PATH`, then virtual environments.
    pub programs: Vec<PathBuf>,
    /// For libraries: those beside the above, `LD_LIBRARY_PATH`, and the system's.
    pub libraries: Vec<PathBuf>,
    /// The value of `CC`, if it is set to something.
    pub c_compiler: Option<String>,
    /// Where the driver writes its version.
    pub driver_version: PathBuf,
}

/// Folders of the system's libraries, below the root.
const SYSTEM_LIBRARIES: [&str; 8] = [
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "lib64",
    "usr/lib/wsl/lib",
    "usr/local/nvidia/lib64",
    "usr/local/nvidia/lib",
];

impl Places {
    /// As this process's environment says.
    pub fn of_this_process() -> Places {
        let here = env::current_dir().unwrap_or_default();
        Places::of(|name| env::var_os(name), Path::new("/"), &here)
    }

    /// As an environment says, for a file system below `root` and a working folder.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>, root: &Path, here: &Path) -> Places {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let list = |name: &str| -> Vec<PathBuf> {
            set(name)
                .map(|v| env::split_paths(&v).filter(|p| p.is_absolute()).collect())
                .unwrap_or_default()
        };
        let named: Vec<PathBuf> = ["CUDA_HOME", "CUDA_PATH"]
            .iter()
            .filter_map(|name| set(name))
            .map(PathBuf::from)
            .collect();
        let installed = newest_first(&root.join("usr/local"), "cuda");
        let mut environments: Vec<PathBuf> =
            set("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
        environments.push(here.join(".venv"));
        let packages: Vec<PathBuf> = environments.iter().flat_map(|e| wheels(e)).collect();

        let bin = |homes: &[PathBuf]| homes.iter().map(|h| h.join("bin")).collect::<Vec<_>>();
        let path = list("PATH");
        let cuda_programs = [bin(&named), path.clone(), bin(&installed), bin(&packages)].concat();
        let programs = [path, bin(&environments)].concat();
        let mut libraries = vec![];
        for home in named.iter().chain(&installed).chain(&packages) {
            libraries.extend([
                home.join("lib64"),
                home.join("lib"),
                home.join("targets/x86_64-linux/lib"),
            ]);
        }
        libraries.extend(list("LD_LIBRARY_PATH"));
        libraries.extend(SYSTEM_LIBRARIES.iter().map(|folder| root.join(folder)));
        let c_compiler = set("CC").and_then(|cc| cc.into_string().ok());
        let driver_version = root.join("proc/driver/nvidia/version");
        Places { cuda_programs, programs, libraries, c_compiler, driver_version }
    }

    /// Opens one of NVIDIA's libraries, and before it the one that it is built on, where that lies beside it, by their full
    /// names; the loader then knows them by their short ones.
    pub(crate) fn open_together(&self, [below, name]: [&str; 2]) -> bool {
        let Some(path) = library(&self.libraries, name) else { return false };
        let folder = [path.parent().map(Path::to_path_buf).unwrap_or_default()];
        library(&folder, below).into_iter().chain([path]).all(|path| open_for_good(&path))
    }
}

/// Folders of CUDA that Python packages bring: `lib/python3*/site-packages/nvidia/cu13`.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let pythons = newest_first(&environment.join("lib"), "python3");
    let packages = pythons.iter().map(|p| p.join("site-packages/nvidia"));
    packages.flat_map(|p| newest_first(&p, "cu1")).collect()
}

/// Folders below another whose names start so, the highest version first; the bare name, a link to the one that the
/// administrator chose, before all others.
fn newest_first(parent: &Path, start: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else { return vec![] };
    let mut found: Vec<(bool, Vec<u64>, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let rest = name.strip_prefix(start)?;
            let version =
                rest.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
            Some((rest.is_empty(), version, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, _, path)| path).collect()
}

fn open_for_good(path: &Path) -> bool {
    // SAFETY: NVIDIA's libraries run no harmful code when they are loaded, and stay loaded.
    let opened = unsafe { libloading::Library::new(path) };
    opened.map(std::mem::forget).is_ok()
}

/// The first executable file of this name.
pub fn program(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    folders.iter().map(|folder| folder.join(&file)).find(|path| is_executable(path))
}

/// The first file whose name is `start` with or without a version behind it, like `libnvrtc.so.13`; of several in one
/// folder the one that says most.
pub fn library(folders: &[PathBuf], start: &str) -> Option<PathBuf> {
    folders.iter().find_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?.flatten();
        let fits = |name: &str| {
            let rest = name.strip_prefix(start)?;
            let version = rest.chars().all(|c| c == '.' || c.is_ascii_digit());
            version.then_some(rest.len())
        };
        let named = entries.filter_map(|e| Some((fits(e.file_name().to_str()?)?, e.path())));
        named.filter(|(_, path)| path.is_file()).max().map(|(_, path)| path)
    })
}

/// Whether there is a file with permission to run it; on systems without such permissions any file.
pub fn is_executable(path: &Path) -> bool {
    let Ok(data) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        data.is_file() && data.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    data.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn named_homes_come_first_then_the_path_then_what_is_installed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for version in ["cuda-9.2", "cuda-12.4", "cuda-13.0"] {
            std::fs::create_dir_all(root.join("usr/local").join(version)).unwrap();
        }
        std::fs::create_dir_all(root.join("here/.venv/lib/python3.11/site-packages/nvidia/cu13"))
            .unwrap();
        let variable = |name: &str| match name {
            "CUDA_HOME" => Some(OsString::from("/opt/cuda")),
            "CUDA_PATH" => Some(OsString::new()),
            "PATH" => Some(OsString::from("relative:/a:/b")),
            _ => None,
        };
        let places = Places::of(variable, root, &root.join("here"));
        let expected = [
            PathBuf::from("/opt/cuda/bin"),
            PathBuf::from("/a"),
            PathBuf::from("/b"),
            root.join("usr/local/cuda-13.0/bin"),
            root.join("usr/local/cuda-12.4/bin"),
            root.join("usr/local/cuda-9.2/bin"),
            root.join("here/.venv/lib/python3.11/site-packages/nvidia/cu13/bin"),
        ];
        assert_eq!(places.cuda_programs, expected);
        assert_eq!(places.programs[..2], [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn libraries_are_known_by_their_whole_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        touch(&root.join("a/libnvrtc-builtins.so.13.0"));
        touch(&root.join("a/libnvrtc.so.alt.13"));
        touch(&root.join("b/libnvrtc.so"));
        touch(&root.join("b/libnvrtc.so.13.0.88"));
        let folders = [root.join("none"), root.join("a"), root.join("b")];
        assert_eq!(library(&folders, "libnvrtc.so"), Some(root.join("b/libnvrtc.so.13.0.88")));
        assert_eq!(library(&folders, "libcuda.so"), None);
    }

    #[test]
    fn files_and_folders_that_cannot_be_run_are_no_programs() {
        let folder = tempfile::tempdir().unwrap();
        touch(&folder.path().join("nvcc"));
        std::fs::create_dir(folder.path().join("z3")).unwrap();
        let folders = [folder.path().to_path_buf()];
        assert_eq!(program(&folders, "nvcc"), None);
        assert_eq!(program(&folders, "z3"), None);
    }
}
