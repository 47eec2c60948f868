//! The parts that warpsmith can make use of, and how each is found out about.

use std::path::{Path, PathBuf};
use std::time::Duration;

use warpsmith_gpu::places::{self, Places};
use warpsmith_translate::probe::{self, NoAnswer};

/// Whether a part is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is there and answers.
    Found {
        /// Its program or library.
        path: PathBuf,
        /// What it says of its version.
        version: String,
    },
    /// It is there but gives no sensible answer.
    Broken {
        /// Its program or library.
        path: PathBuf,
        /// What is wrong with its answer.
        why: String,
    },
    /// It is not there.
    Missing,
}

/// A part, whether it is there, and what it is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Key in JSON.
    pub name: &'static str,
    /// For people.
    pub label: &'static str,
    /// Whether it was found.
    pub state: State,
    /// What is lost without it.
    pub costs: &'static str,
    /// How to get it.
    pub get: &'static str,
}

const WHEELS: &str = "install the CUDA Toolkit, or without a GPU and without root: `python3 -m venv .venv && .venv/bin/pip install \
    nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl` (all of one version)";

/// Looks for all parts, each program on its own thread: one that hangs costs `limit` once.
pub fn examine(places: &Places, limit: Duration) -> Vec<Part> {
    std::thread::scope(|scope| {
        let smi = scope.spawn(|| nvidia_smi(places, limit));
        let nvcc = scope.spawn(|| cuda_program(places, "nvcc", limit));
        let ptxas = scope.spawn(|| cuda_program(places, "ptxas", limit));
        let cc = scope.spawn(|| c_compiler(places, limit));
        let z3 = scope.spawn(|| z3(places, limit));
        // A thread ends with a panic only by a bug of ours, which the caller reports.
        let state = |thread: std::thread::ScopedJoinHandle<'_, State>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let gpu = state(smi);
        vec![
            Part {
                name: "gpu",
                label: "GPU",
                state: gpu,
                costs: "no kernel can be run or timed here; `check` and `tune` need none, they use the emulator",
                get: "use a machine with an NVIDIA GPU of compute capability 7.5 or higher, and install its driver",
            },
            Part {
                name: "driver",
                label: "GPU driver",
                state: driver(places),
                costs: "programs that use CUDA do not start, the emitted NAME_test.cu included; `check` and `tune` do not use it",
                get: "install NVIDIA's driver from your distribution; in a container, start it with the GPU passed through",
            },
            Part {
                name: "nvrtc",
                label: "NVRTC",
                state: nvrtc(places),
                costs: "kernels cannot be compiled at run time; `check` and `tune` do not use it",
                get: "install the CUDA Toolkit, or `pip install nvidia-cuda-nvrtc` in a virtual environment",
            },
            Part {
                name: "nvcc",
                label: "nvcc",
                state: state(nvcc),
                costs: "what `tune` writes cannot be compiled here; `check` and `tune` work without",
                get: WHEELS,
            },
            Part {
                name: "ptxas",
                label: "ptxas",
                state: state(ptxas),
                costs: "registers and spills of a kernel are estimated instead of known; `check` and `tune` work without",
                get: WHEELS,
            },
            Part {
                name: "cc",
                label: "C compiler",
                state: state(cc),
                costs: "`tune` compares with the original in its own interpreter only: slower, and without a second opinion",
                get: "install gcc or clang, or set CC to a C compiler",
            },
            Part {
                name: "z3",
                label: "SMT solver (z3)",
                state: state(z3),
                costs: "what only a solver can prove stays at the level `checked`; of the commands `stage` alone uses it",
                get: "install the package z3 of your distribution, or `pip install z3-solver` in a virtual environment",
            },
        ]
    })
}

/// GPUs as the driver's own program lists them.
fn nvidia_smi(places: &Places, limit: Duration) -> State {
    let Some(path) = places::program(&places.cuda_programs, "nvidia-smi") else {
        return State::Missing;
    };
    let query = "--query-gpu=name,compute_cap,memory.total,driver_version";
    ask(path, &[query, "--format=csv,noheader"], limit, |text| {
        let gpus: Vec<String> = text.lines().filter_map(gpu_line).collect();
        (!gpus.is_empty()).then(|| gpus.join("; "))
    })
}

/// `NVIDIA H200, 9.0, 143771 MiB, 580.159.03` in words.
fn gpu_line(line: &str) -> Option<String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [name, capability, memory, driver] = cells[..] else { return None };
    let numbers = version_in(capability).is_some() && version_in(driver).is_some();
    (numbers && !name.is_empty()).then(|| {
        format!("{} (compute capability {capability}, {memory}, driver {driver})", short(name))
    })
}

/// The driver's library, and its version if the kernel tells.
fn driver(places: &Places) -> State {
    let Some(path) = places::library(&places.libraries, "libcuda.so") else {
        return State::Missing;
    };
    let told = std::fs::read_to_string(&places.driver_version).ok();
    let version = told.and_then(|text| {
        let line = text.lines().next()?.split("Kernel Module").last()?.to_string();
        version_in(&line)
    });
    let version = version.unwrap_or_else(|| file_version(&path));
    State::Found { path, version }
}

fn nvrtc(places: &Places) -> State {
    match places::library(&places.libraries, "libnvrtc.so") {
        Some(path) => State::Found { version: file_version(&path), path },
        None => State::Missing,
    }
}

/// The version in a library's file name, or in the name of the file that it is a link to.
fn file_version(path: &Path) -> String {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let of = |p: &Path| {
        let name = p.file_name()?.to_str()?.to_string();
        name.split_once(".so.").map(|(_, version)| version.to_string())
    };
    of(&target).or_else(|| of(path)).unwrap_or_else(|| "unknown".to_string())
}

/// nvcc and ptxas say `Cuda compilation tools, release 13.0, V13.0.88`.
fn cuda_program(places: &Places, name: &str, limit: Duration) -> State {
    let Some(path) = places::program(&places.cuda_programs, name) else { return State::Missing };
    ask(path, &["--version"], limit, |text| {
        let line = text.lines().find(|line| line.contains("release"))?;
        let (_, release) = line.split_once("release")?;
        let exact = release.split_once('V').and_then(|(_, v)| version_in(v));
        exact.or_else(|| version_in(release))
    })
}

fn z3(places: &Places, limit: Duration) -> State {
    let Some(path) = places::program(&places.programs, "z3") else { return State::Missing };
    ask(path, &["--version"], limit, |text| {
        let line = text.lines().find(|line| line.contains("Z3"))?;
        version_in(line.split_once("version").map_or("", |(_, rest)| rest))
    })
}

/// `CC` if it is set, else `cc`; as `tune` does.
fn c_compiler(places: &Places, limit: Duration) -> State {
    let wanted = places.c_compiler.as_deref().unwrap_or("cc");
    let path = if wanted.contains('/') {
        Some(PathBuf::from(wanted)).filter(|p| places::is_executable(p))
    } else {
        places::program(&places.programs, wanted)
    };
    let Some(path) = path else { return State::Missing };
    ask(path, &["--version"], limit, |text| {
        let line = text.lines().find(|line| !line.trim().is_empty())?;
        version_in(line).map(|_| short(line))
    })
}

/// Asks a program and reads its version out of what it says.
fn ask(
    path: PathBuf,
    args: &[&str],
    limit: Duration,
    version: impl Fn(&str) -> Option<String>,
) -> State {
    let why = match probe::ask(&path, args, limit) {
        Ok(text) => match version(&text) {
            Some(version) => return State::Found { path, version },
            None => "it does not say its version".to_string(),
        },
        Err(NoAnswer::NotStarted(why)) => format!("it cannot be started: {why}"),
        Err(NoAnswer::TooSlow(limit)) => {
            format!("it did not answer within {} s", limit.as_secs_f64())
        }
        Err(NoAnswer::Failed(how)) => format!("it ended with {how}"),
    };
    State::Broken { path, why }
}

/// The first number with a dot in it, and what belongs to it: `13.0.88`.
fn version_in(text: &str) -> Option<String> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let mut versions = words.map(|w| w.trim_matches('.'));
    versions.find(|w| w.contains('.') && w.len() <= 40).map(str::to_string)
}

/// A line of someone else's, cut to what fits on a terminal.
fn short(line: &str) -> String {
    line.trim().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_with_dots() {
        assert_eq!(version_in("gcc (Debian 12.2.0-14) 12.2.0").as_deref(), Some("12.2.0"));
        assert_eq!(version_in(" 4.8.12 - 64 bit").as_deref(), Some("4.8.12"));
        assert_eq!(version_in("no version 13 here ..."), None);
        assert_eq!(version_in(""), None);
    }

    #[test]
    fn gpus_are_read_and_garbage_is_not() {
        let line = "NVIDIA H200, 9.0, 143771 MiB, 580.159.03";
        let words = "NVIDIA H200 (compute capability 9.0, 143771 MiB, driver 580.159.03)";
        assert_eq!(gpu_line(line).as_deref(), Some(words));
        assert_eq!(gpu_line("No devices were found"), None);
        assert_eq!(gpu_line("a, b, c, d"), None);
        assert_eq!(gpu_line(",,,"), None);
    }
}
