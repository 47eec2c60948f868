//! Where candidates are measured: GPUs, the emulator or recorded results, each reached through worker processes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use warpsmith_device::Gpu;
use warpsmith_gpu::client::{Greeted, Start, Worker, WorkerError};
use warpsmith_gpu::driver;
use warpsmith_gpu::protocol::Hello;
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::Diagnostic;

use super::arch::{self, Arch};
use super::request::{Strategy, TuneRequest};
use crate::interrupt;
use crate::status::Failure;

/// The architecture where none is named and no GPU is there.
const USUAL: &str = "sm_90";
/// Time until a worker has said who it is; a cluster's scheduler may let it wait.
const GREETING: Duration = Duration::from_secs(300);

/// Most processes that stand in for devices.
const STAND_INS: u32 = 64;

/// How a schedule is chosen.
#[derive(Debug)]
pub enum Place {
    /// By the device model alone, or not at all.
    Model {
        /// The architecture that code is made for.
        arch: Arch,
        /// A warning (W462) where a GPU driver is present and nothing can be measured.
        notes: Vec<Diagnostic>,
    },
    /// By measurement.
    Measure(Stations),
}

/// Workers that measure.
#[derive(Debug)]
pub struct Stations {
    /// How to start each worker, one for a device.
    pub starts: Vec<Start>,
    /// The first of them, which has been started to know the device.
    pub first: Greeted,
    /// Starts a process that compiles.
    pub compiler: Start,
    /// What the first worker says of its device.
    pub hello: Hello,
    /// The device's architecture, which code is made for.
    pub arch: Arch,
}

/// What measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The first GPU, where there is one.
    #[default]
    Auto,
    /// The emulator, whose times are predictions.
    Emulator,
    /// The GPU of a number.
    Cuda(u32),
    /// Recorded results: a cache of Kernel Tuner, or a T4 file.
    Replay(PathBuf),
}

impl FromStr for Device {
    type Err = Failure;

    /// `auto`, `emulator`, `cuda:N` or `replay:FILE`; anything else is W313.
    fn from_str(text: &str) -> Result<Device, Failure> {
        let unknown = || {
            Diagnostic::error("W313", format!("unknown device `{text}`"))
                .help("use auto, emulator, cuda:N, or replay:FILE")
        };
        Ok(match text {
            "auto" => Device::Auto,
            "emulator" => Device::Emulator,
            "cuda" => Device::Cuda(0),
            other => match other.split_once(':') {
                Some(("cuda", n)) => Device::Cuda(n.parse().map_err(|_| unknown())?),
                Some(("replay", file)) if !file.is_empty() => Device::Replay(file.into()),
                _ => return Err(unknown().into()),
            },
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => write!(f, "auto"),
            Device::Emulator => write!(f, "emulator"),
            Device::Cuda(n) => write!(f, "cuda:{n}"),
            Device::Replay(file) => write!(f, "replay:{}", file.display()),
        }
    }
}

/// Where something is measured, if anywhere: on the device of these options, where `measure` asks for it or there is one.
///
/// # Errors
/// As [`usual`] and [`searched`].
pub fn measured_on(device: &str, arch: Option<&str>, measure: bool) -> Result<Place, Failure> {
    let stop = Stop { flag: Some(interrupt::flag()), deadline: None };
    let wanted = Wanted { device: device.parse()?, arch, devices: None, launchers: &[], stop };
    if measure { searched(&wanted) } else { usual(&wanted) }
}

/// A device as the options of a command name it.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// Which device: `--device`.
    pub device: Device,
    /// The architecture that was asked for (`--arch sm_90`); `None`: the device's own.
    pub arch: Option<&'a str>,
    /// Several devices of that kind: `all`, or their numbers.
    pub devices: Option<&'a str>,
    /// Words before the command lines of workers.
    pub launchers: &'a [String],
    /// Ends the waiting for a worker.
    pub stop: Stop,
}

impl<'a> Wanted<'a> {
    fn of(request: &'a TuneRequest) -> Wanted<'a> {
        Wanted {
            device: request.measuring.device.clone(),
            arch: request.arch.as_deref(),
            devices: request.measuring.devices.as_deref(),
            launchers: &request.measuring.launchers,
            stop: request.limits.stop(),
        }
    }

    fn model(&self, notes: Vec<Diagnostic>) -> Result<Place, Failure> {
        let arch = arch::find(self.arch.unwrap_or(USUAL))?;
        Ok(Place::Model { arch, notes })
    }

    /// Workers of the first GPU; the model where that has another architecture than the one that is asked for: a kernel for
    /// it cannot be measured.
    fn first_gpu(&self) -> Result<Place, Failure> {
        let found = stations(self, &Device::Cuda(0))?;
        match self.arch {
            Some(arch) if arch != found.hello.arch => self.model(vec![]),
            _ => Ok(Place::Measure(found)),
        }
    }
}

/// Where to measure when nothing asks for a search: on a GPU that is there, else nowhere.
///
/// # Errors
/// As [`find`].
pub fn usual(wanted: &Wanted<'_>) -> Result<Place, Failure> {
    match &wanted.device {
        Device::Emulator => wanted.model(vec![]),
        Device::Auto if !driver::is_present() => wanted.model(vec![]),
        Device::Auto => wanted.first_gpu().or_else(|failure| {
            let why = failure.diagnostics.first().map_or(String::new(), |d| {
                let notes: Vec<String> = d.notes.iter().map(|n| n.to_string()).collect();
                if notes.is_empty() { d.message.clone() } else { notes.join("; ") }
            });
            let d = Diagnostic::warning("W462", "a GPU driver is here but nothing can be measured");
            wanted.model(vec![d.note(why).note("the device model chooses")])
        }),
        kind => Ok(Place::Measure(stations(wanted, kind)?)),
    }
}

/// Finds out where to measure, as the options say.
///
/// # Errors
/// W313: a device that is not there or not known; W310: an architecture that is not known.
pub fn find(request: &TuneRequest) -> Result<Place, Failure> {
    let wanted = Wanted::of(request);
    let searches = request.measuring.budget.is_some()
        || request.measuring.against.is_some()
        || request.measuring.devices.is_some()
        || !request.measuring.launchers.is_empty()
        || matches!(request.choosing.strategy, Some(Strategy::Search(_)));
    let modelled = matches!(request.choosing.strategy, Some(Strategy::Model | Strategy::Direct));
    if modelled {
        let measures = [
            ("--budget", request.measuring.budget.is_some()),
            ("--against", request.measuring.against.is_some()),
            ("--devices", request.measuring.devices.is_some()),
            ("--launcher", !request.measuring.launchers.is_empty()),
        ];
        if let Some((option, _)) = measures.into_iter().find(|(_, is)| *is) {
            let d = Diagnostic::error("W468", "the device model measures nothing");
            return Err(d.help(format!("leave --strategy away, or {option}")).into());
        }
        return wanted.model(vec![]);
    }
    if searches { searched(&wanted) } else { usual(&wanted) }
}

/// Where to measure when a search is asked for; the emulator predicts times.
///
/// # Errors
/// As [`find`]; W313, too, when there is no GPU.
pub fn searched(wanted: &Wanted<'_>) -> Result<Place, Failure> {
    match &wanted.device {
        Device::Auto if !driver::is_present() => Err(nothing_to_measure_on().into()),
        Device::Auto => wanted.first_gpu(),
        kind => Ok(Place::Measure(stations(wanted, kind)?)),
    }
}

fn nothing_to_measure_on() -> Diagnostic {
    Diagnostic::error("W313", "there is no GPU to measure on")
        .note("no CUDA driver was found")
        .help("use --device emulator to search with predicted times, or leave --budget and --strategy away")
}

/// The command line of a worker with the device of a number.
type CommandFor<'a> = Box<dyn Fn(u32) -> Vec<String> + 'a>;

/// The workers of a kind of device, after the first of them has said who it is.
fn stations(wanted: &Wanted<'_>, kind: &Device) -> Result<Stations, Failure> {
    let program = program()?;
    let ours = |words: &[&str]| -> Vec<String> {
        let mut command = vec![program.clone(), "worker".to_string()];
        command.extend(words.iter().map(|w| w.to_string()));
        command
    };
    let emulated = wanted.arch.unwrap_or(USUAL);
    let (one, compiler): (CommandFor<'_>, Vec<String>) = match kind {
        Device::Auto | Device::Cuda(_) => (
            Box::new(|n| ours(&["--backend", "gpu", "--device", &n.to_string()])),
            ours(&["--backend", "compiler"]),
        ),
        Device::Emulator => {
            arch::find(emulated)?;
            let words = ["--backend", "emulator", "--gpu", emulated];
            (Box::new(move |_| ours(&words)), ours(&words))
        }
        Device::Replay(file) => {
            let file = file.display().to_string();
            let words = ours(&["--backend", "replay", "--recording", &file]);
            let same = words.clone();
            (Box::new(move |_| same.clone()), words)
        }
    };
    let launchers = launchers(wanted.launchers)?;
    let numbers = numbers(wanted, kind)?;
    let starts: Vec<Start> = launchers
        .iter()
        .flat_map(|launcher| numbers.iter().map(|n| (launcher.clone(), *n)))
        .map(|(launcher, n)| Start {
            command: launcher.into_iter().chain(one(n)).collect(),
            ..Start::default()
        })
        .collect();
    let compiler = Start { command: compiler, ..Start::default() };
    let first = starts.first().cloned().unwrap_or_default();
    let (worker, hello) = match Worker::start_until(&first, GREETING, &wanted.stop) {
        Ok(started) => started,
        Err(WorkerError::Stopped) => {
            let mut failure = Failure::timed_out("while the first worker was waited for");
            for d in &mut failure.diagnostics {
                d.notes.push(format!("it has not said who it is: `{}`", first.command.join(" ")));
            }
            return Err(failure);
        }
        Err(error) => {
            let d = Diagnostic::error("W313", format!("device `{}` cannot be used", wanted.device));
            return Err(d
                .note(error.to_string())
                .help("`warpsmith doctor` says what is missing")
                .into());
        }
    };
    let arch = arch_of(wanted, &hello)?;
    let first = Greeted::new(worker, hello.clone());
    Ok(Stations { starts, first, compiler, hello, arch })
}

/// The architecture of a device, with the model of its board where that is known.
fn arch_of(wanted: &Wanted<'_>, hello: &Hello) -> Result<Arch, Failure> {
    let own = if hello.arch.is_empty() { USUAL } else { hello.arch.as_str() };
    if let Some(asked) = wanted.arch.filter(|a| *a != own && wanted.device != Device::Auto) {
        let message = format!("a kernel for {asked} cannot be measured on {}", hello.device);
        let d = Diagnostic::error("W313", message).note(format!("its architecture is {own}"));
        return Err(d.help("leave --arch away, or choose by the model: --strategy model").into());
    }
    let mut arch = arch::find(own).map_err(|failure| unknown_gpu(failure, hello))?;
    let name = hello.device.trim_start_matches("emulated ").trim_start_matches("NVIDIA ");
    arch.board = Gpu::find(name);
    Ok(arch)
}

/// A GPU of an architecture that there is no model of: older than all that are known, or newer.
fn unknown_gpu(mut failure: Failure, hello: &Hello) -> Failure {
    for d in &mut failure.diagnostics {
        let what =
            format!("{} has the architecture {}, which is not supported", hello.device, hello.arch);
        d.message = what;
        let help = "choose by the model and compile yourself: --strategy model --arch sm_75 (or the nearest that is known)";
        d.help.insert(0, help.into());
    }
    failure
}

/// Our own program, which is also the worker's. `WARPSMITH_WORKER` names another one, for programs that use the library.
fn program() -> Result<String, Failure> {
    if let Some(program) = std::env::var_os("WARPSMITH_WORKER").filter(|p| !p.is_empty()) {
        return Ok(program.to_string_lossy().into_owned());
    }
    let own = std::env::current_exe();
    let own = own.map_err(|e| Failure::input("W313", format!("the worker's program: {e}")))?;
    Ok(own.to_string_lossy().into_owned())
}

/// Words before a worker's command line; one start without any where there is no launcher.
fn launchers(given: &[String]) -> Result<Vec<Vec<String>>, Failure> {
    if given.is_empty() {
        return Ok(vec![vec![]]);
    }
    let words = |text: &String| {
        shlex::split(text).filter(|w| !w.is_empty()).map(unbuffered).ok_or_else(|| {
            Failure::from(
                Diagnostic::error("W464", format!("`{text}` is no command line"))
                    .help("write --launcher 'srun --ntasks=1 --gpus=1', quotes in pairs"),
            )
        })
    };
    given.iter().map(words).collect()
}

/// Slurm hands a task's output on line by line unless it is told not to; a worker's answers have no lines.
fn unbuffered(mut words: Vec<String>) -> Vec<String> {
    let program = words.first().and_then(|p| Path::new(p).file_name());
    let told = words.iter().any(|w| w == "-u" || w == "--unbuffered");
    if program.is_some_and(|p| p == "srun") && !told {
        words.insert(1, "--unbuffered".to_string());
    }
    words
}

/// The numbers of devices: those of `--devices`, else the one of `--device`.
fn numbers(wanted: &Wanted<'_>, kind: &Device) -> Result<Vec<u32>, Failure> {
    let Some(text) = wanted.devices else {
        return Ok(vec![match kind {
            Device::Cuda(n) => *n,
            _ => 0,
        }]);
    };
    if text == "all" {
        let Device::Cuda(_) = kind else { return Ok(vec![0]) };
        let count = driver::count().map_err(|e| {
            Diagnostic::error("W313", "the GPUs cannot be counted").note(e.to_string())
        })?;
        return Ok((0..count.max(1)).collect());
    }
    let list: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let list = list.filter(|l| {
        let different: std::collections::BTreeSet<&u32> = l.iter().collect();
        !l.is_empty() && different.len() == l.len()
    });
    let list = list.ok_or_else(|| {
        Failure::from(
            Diagnostic::error("W313", format!("`--devices {text}` names no devices"))
                .help("write `--devices all` or numbers that differ: `--devices 0,1`"),
        )
    })?;
    match kind {
        Device::Emulator | Device::Replay(_) => stand_ins(text, list),
        // `--device cuda` names the first, and that is what `--devices` chooses from.
        Device::Cuda(n) if *n != 0 && !list.contains(n) => {
            let d = Diagnostic::error("W313", format!("`--devices {text}` leaves GPU {n} out"));
            Err(d.help(format!("leave `--device {}` away", wanted.device)).into())
        }
        _ => Ok(list),
    }
}

/// What stands in for devices is as many processes as are asked for, with the numbers from 0 on.
fn stand_ins(text: &str, list: Vec<u32>) -> Result<Vec<u32>, Failure> {
    let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
    if count <= STAND_INS && list.iter().all(|n| *n < count) {
        return Ok(list);
    }
    let what = match list.iter().find(|n| **n >= count) {
        Some(n) => format!("`--devices {text}`: nothing stands in for a device {n}"),
        None => format!("`--devices {text}`: at most {STAND_INS} devices are stood in for"),
    };
    Err(Diagnostic::error("W313", what)
        .note("the emulator and recorded results are as many devices as are named, with the numbers from 0 on")
        .help("write `--devices 0,1` for two of them, or --device cuda:N for a GPU")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_documented() {
        assert_eq!("cuda:3".parse::<Device>().unwrap(), Device::Cuda(3));
        assert_eq!("replay:a/b.json".parse::<Device>().unwrap(), Device::Replay("a/b.json".into()));
        for wrong in ["cuda:x", "gpu", "replay:", ""] {
            let failure = wrong.parse::<Device>().unwrap_err();
            assert_eq!(failure.diagnostics[0].code, "W313", "{wrong}");
        }
    }

    #[test]
    fn an_old_gpu_is_named_with_what_to_do() {
        let hello = Hello {
            version: 1,
            backend: "gpu".into(),
            device: "GTX 1080".into(),
            arch: "sm_61".into(),
            driver: String::new(),
            compiler: String::new(),
        };
        let wanted = Wanted {
            device: Device::Auto,
            arch: None,
            devices: None,
            launchers: &[],
            stop: Stop::default(),
        };
        let failure = arch_of(&wanted, &hello).unwrap_err();
        let text = failure.render(&warpsmith_ir::SourceMap::new(), false);
        assert!(text.contains("GTX 1080 has the architecture sm_61"), "{text}");
        assert!(text.contains("--strategy model --arch sm_75"), "{text}");
    }

    #[test]
    fn launchers_are_split_as_a_shell_does() {
        let words = launchers(&["srun -n1 --comment 'a b'".to_string()]).unwrap();
        assert_eq!(words, [["srun", "--unbuffered", "-n1", "--comment", "a b"]]);
        let words =
            launchers(&["/usr/bin/srun -u -n1".to_string(), "ssh host".to_string()]).unwrap();
        assert_eq!(words, [vec!["/usr/bin/srun", "-u", "-n1"], vec!["ssh", "host"]]);
        assert!(launchers(&["srun 'a".to_string()]).is_err());
        assert!(launchers(&[" ".to_string()]).is_err());
    }
}
