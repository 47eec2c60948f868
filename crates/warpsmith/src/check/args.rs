//! The options of `warpsmith check`, shared by the command line and the directives in a file.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};

use crate::data::{ArgSpec, NamedSpec};

#[derive(Args, Debug, Clone, Default)]
pub struct CheckArgs {
    /// CUDA files, or folders to search for them; launches come from the options or from `// warpsmith:` lines
    #[arg(required = true, value_name = "FILE.cu")]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub launch: LaunchArgs,

    #[command(flatten)]
    pub source: SourceArgs,

    /// How the report is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,

    /// Worker threads (default: one for each core); the report does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub jobs: usize,

    /// Thread instructions of all launches together, then exit status 3
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub max_total_steps: Option<u64>,

    /// Memory for buffers, shadow memory and block state, then exit status 3
    #[arg(long, value_name = "BYTES[K|M|G]", value_parser = parse_bytes, default_value = "8G")]
    pub max_memory: u64,

    /// Time for everything, then exit status 3
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// Count requests, sectors, wavefronts, bank conflicts and instructions, and show them beside the source
    #[arg(long)]
    pub counters: bool,

    /// Run every launch of host code, however often it repeats one
    #[arg(long)]
    pub all_repeats: bool,

    /// Whether launches come from the host code of a file that gives no others
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub host: HostCode,

    /// Arguments of the program whose host code is run, as a shell takes them
    #[arg(long, value_name = "ARGS", default_value = "", value_parser = parse_words, allow_hyphen_values = true)]
    pub host_args: Words,

    /// A report in JSON: what it lists is known, and only findings that it does not list count
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Say whether the kernel computes what a reference does, another kernel (old.cu:name) or a C function (ref.c:name):
    /// both run on the same data at launches around every constant of either
    #[arg(long, value_name = "FILE[:NAME]", conflicts_with_all = ["baseline", "list", "dry_run", "counters"])]
    pub same_as: Option<String>,

    /// Which parameter of the kernel is which of the reference, where their names differ
    #[arg(long, value_name = "NEW=REFERENCE", requires = "same_as", value_parser = parse_map)]
    pub map: Vec<(String, String)>,

    /// Count differences that only data with NaN and infinities show; else they are notes
    #[arg(long, requires = "same_as")]
    pub special: bool,

    /// Run both sides of --same-as at the full size (--size) on a device, too, and say how long each takes: auto, cuda:N,
    /// emulator
    #[arg(long, num_args = 0..=1, default_missing_value = "", value_name = "DEVICE")]
    pub device: Option<String>,

    /// The full size for --device
    #[arg(long, value_name = "NAME=N", requires = "device", value_delimiter = ',', value_parser = parse_size)]
    pub size: Vec<(String, i64)>,

    /// List the kernels and launches of the files, and run nothing
    #[arg(long)]
    pub list: bool,

    /// Say what would be run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// How a report is written to stdout.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
    #[default]
    Human,
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

/// Whether host code is run for its launches.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostCode {
    /// When neither options nor directives say how to launch
    #[default]
    Auto,
    /// Never
    None,
}

/// Words of a command line.
pub type Words = std::sync::Arc<Vec<String>>;

/// How a kernel is launched. Everything here may also stand in a directive.
#[derive(Args, Debug, Clone, Default)]
pub struct LaunchArgs {
    /// The kernel to run, with template arguments: `f` or `f<float,32>`
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Blocks in the grid
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub grid: Option<Dim3>,

    /// Threads in a block
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub block: Option<Dim3>,

    /// An argument, a texture, or a variable of the device: a number, or TYPE[extent]… with =zeros, =iota, =random, =random(SEED),
    /// =uniform(LOW, HIGH) below HIGH, or =@file.npy; random if none of these is given; &FUNCTION for a pointer to a function
    #[arg(long = "arg", value_name = "NAME=SPEC")]
    pub args: Vec<NamedSpec>,

    /// Values to try for every scalar argument that is not given
    #[arg(long, value_name = "N,M,…", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_number)]
    pub scalars: Vec<String>,

    /// Repeat with this many different seeds for random data
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: Option<u32>,

    /// Seed of random data
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", value_parser = parse_u32_bytes)]
    pub shared: Option<u32>,

    /// Treat a warp as executing in lockstep (code written before Volta)
    #[arg(long)]
    pub warp_sync: bool,

    /// Two threads that write the same value in no order are a race, not a note
    #[arg(long)]
    pub no_benign: bool,

    /// A file for verifiers asks for more threads in a block than any device takes
    #[arg(skip)]
    pub large_blocks: bool,

    /// A file for verifiers asks for races between the lanes of warps in lockstep alone
    #[arg(skip)]
    pub only_warps: bool,

    /// Instructions a thread may execute before `infinite-loop` is reported [default: 10⁸]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub max_steps: Option<u64>,

    /// Write a buffer after the launch as a .npy file
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = parse_dump)]
    pub dump: Vec<(String, PathBuf)>,

    /// Compare a buffer after the launch with a file; |x - e| may be up to TOL * (1 + |e|)
    #[arg(long, value_name = "NAME=@FILE.npy[,TOL]")]
    pub expect: Vec<Expect>,
}

/// How the file is compiled.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SourceArgs {
    /// Define a macro, as for a compiler
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = parse_define)]
    pub define: Vec<String>,

    /// Define a macro that parameterises the kernel; the same as -D
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parse_param)]
    pub param: Vec<String>,

    /// Search a folder for the project's own headers
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// Language standard; the dialect understood does not depend on it
    #[arg(long, value_name = "c++14|c++17|c++20", value_parser = ["c++11", "c++14", "c++17", "c++20", "c++23"])]
    pub std: Option<String>,
}

/// A directive's launch options, read with the grammar of the command line.
#[derive(Parser, Debug, Clone)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
pub struct DirectiveArgs {
    #[command(flatten)]
    pub launch: LaunchArgs,
    #[command(flatten)]
    pub source: SourceArgs,
}

/// Three extents; missing ones are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

impl FromStr for Dim3 {
    type Err = String;

    fn from_str(text: &str) -> Result<Dim3, String> {
        let mut dims = [1; 3];
        let parts: Vec<&str> = text.split([',', 'x']).collect();
        if parts.len() > 3 {
            return Err(format!("`{text}` has more than three extents"));
        }
        for (dim, part) in dims.iter_mut().zip(parts) {
            let part = part.trim();
            *dim = part.parse().map_err(|_| format!("`{part}` is not a whole number from 1"))?;
            if *dim == 0 {
                return Err("an extent of 0 launches nothing; CUDA refuses it".to_string());
            }
        }
        Ok(Dim3(dims))
    }
}

/// `NAME=@FILE.npy[,TOL]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// The array, by the name of the launch's argument.
    pub name: String,
    /// The `.npy` file with the expected content.
    pub path: PathBuf,
    /// Allowed |x − e| / (1 + |e|), of whole numbers too; 0 compares exactly.
    pub tolerance: f64,
}

impl FromStr for Expect {
    type Err = String;

    fn from_str(text: &str) -> Result<Expect, String> {
        let form = || format!("`{text}` is not of the form NAME=@FILE.npy[,TOL]");
        let (name, rest) = text.split_once("=@").ok_or_else(form)?;
        let (path, tolerance) = match rest.rsplit_once(',') {
            Some((path, tol)) => {
                let tol: f64 = tol.trim().parse().map_err(|_| form())?;
                if tol.is_nan() || tol < 0.0 {
                    return Err("the tolerance must not be negative".to_string());
                }
                (path, tol)
            }
            None => (rest, 0.0),
        };
        Ok(Expect { name: name.to_string(), path: path.into(), tolerance })
    }
}

impl LaunchArgs {
    /// These options where given, else those of `other` (a directive).
    pub fn or(&self, other: &LaunchArgs) -> LaunchArgs {
        let mut args = self.args.clone();
        args.extend(
            other.args.iter().filter(|o| self.args.iter().all(|s| s.name != o.name)).cloned(),
        );
        let pick = |own: &Vec<String>, their: &Vec<String>| {
            if own.is_empty() { their.clone() } else { own.clone() }
        };
        LaunchArgs {
            kernel: self.kernel.clone().or_else(|| other.kernel.clone()),
            grid: self.grid.or(other.grid),
            block: self.block.or(other.block),
            args,
            scalars: pick(&self.scalars, &other.scalars),
            seeds: self.seeds.or(other.seeds),
            seed: self.seed.or(other.seed),
            shared: self.shared.or(other.shared),
            warp_sync: self.warp_sync || other.warp_sync,
            no_benign: self.no_benign || other.no_benign,
            large_blocks: self.large_blocks || other.large_blocks,
            only_warps: self.only_warps || other.only_warps,
            max_steps: self.max_steps.or(other.max_steps),
            dump: self.dump.iter().chain(&other.dump).cloned().collect(),
            expect: self.expect.iter().chain(&other.expect).cloned().collect(),
        }
    }

    /// Whether an array's content is given, and not only its shape.
    pub fn filled(&self, name: &str) -> bool {
        self.args.iter().find(|a| a.name == name).is_none_or(|a| a.filled)
    }

    /// What the command line or the directive says of an argument; `None`: nothing.
    pub fn spec(&self, name: &str) -> Option<&ArgSpec> {
        self.args.iter().find(|a| a.name == name).map(|a| &a.spec)
    }
}

impl SourceArgs {
    /// Both sets of options; definitions here come last and so win.
    pub fn with(&self, other: &SourceArgs) -> SourceArgs {
        SourceArgs {
            define: other.define.iter().chain(&self.define).cloned().collect(),
            param: other.param.iter().chain(&self.param).cloned().collect(),
            include: self.include.iter().chain(&other.include).cloned().collect(),
            std: self.std.clone().or_else(|| other.std.clone()),
        }
    }

    /// Name and value of every macro; a later definition of a name replaces an earlier one.
    pub fn defines(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = vec![];
        for text in self.define.iter().chain(&self.param) {
            let (name, value) = text.split_once('=').unwrap_or((text, "1"));
            all.retain(|(n, _)| n != name);
            all.push((name.to_string(), value.to_string()));
        }
        all
    }
}

fn parse_map(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((new, reference)) if !new.is_empty() && !reference.is_empty() => {
            Ok((new.trim().to_string(), reference.trim().to_string()))
        }
        _ => Err(format!("`{text}` is not of the form NEW=REFERENCE")),
    }
}

fn parse_size(text: &str) -> Result<(String, i64), String> {
    let wrong = || format!("`{text}` is not of the form NAME=N");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value: i64 = value.trim().parse().map_err(|_| wrong())?;
    if value < 1 {
        return Err("the full size is at least 1".to_string());
    }
    Ok((name.trim().to_string(), value))
}

fn parse_dump(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form NAME=FILE.npy"))?;
    Ok((name.to_string(), path.into()))
}

/// A definition as a compiler takes it, `NAME`, `NAME=VALUE` or `NAME(X)=VALUE`.
fn parse_define(text: &str) -> Result<String, String> {
    let macro_ = text.split_once('=').map_or(text, |(name, _)| name);
    let name = match macro_.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => name,
        _ => macro_,
    };
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    match name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) && name.chars().all(word) {
        true => Ok(text.to_string()),
        false => Err(format!("`{macro_}` is not the name of a macro")),
    }
}

/// A definition with a value.
fn parse_param(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((_, value)) if !value.is_empty() => parse_define(text),
        _ => Err(format!("`{text}` is not of the form NAME=VALUE")),
    }
}

/// Words split as a shell splits them.
fn parse_words(text: &str) -> Result<Words, String> {
    let words = shlex::split(text).ok_or_else(|| format!("`{text}`: a quote is not closed"))?;
    Ok(Words::new(words))
}

/// The text of something that may be a number of any type: which one is known when the parameter is.
fn parse_number(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.is_empty() {
        true => Err("a number is missing".to_string()),
        false => Ok(text.to_string()),
    }
}

/// A count, also as `1e8`.
fn parse_count(text: &str) -> Result<u64, String> {
    if let Ok(n) = text.parse() {
        return Ok(n);
    }
    match text.parse::<f64>() {
        Ok(x) if (0.0..=9e18).contains(&x) && x.fract() == 0.0 => Ok(x as u64),
        _ => Err(format!("`{text}` is not a whole number")),
    }
}

/// Bytes with an optional K, M or G (powers of 1024).
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let body = text.trim_end_matches(['B', 'b']);
    let (digits, shift) = match body.chars().last() {
        Some('K' | 'k') => (&body[..body.len() - 1], 10),
        Some('M' | 'm') => (&body[..body.len() - 1], 20),
        Some('G' | 'g') => (&body[..body.len() - 1], 30),
        _ => (body, 0),
    };
    let n: u64 = digits.parse().map_err(|_| format!("`{text}` is not a number of bytes"))?;
    n.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is too large"))
}

fn parse_u32_bytes(text: &str) -> Result<u32, String> {
    let n = parse_bytes(text)?;
    // The largest opt-in shared memory of any architecture is below 256 KB.
    u32::try_from(n).ok().filter(|n| *n <= 256 << 10).ok_or_else(|| {
        format!("{n} bytes of shared memory; no architecture has more than 228 KB for a block")
    })
}

/// `10s`, `500ms`, `2m`, `1h`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: f64 =
        text[..at].parse().map_err(|_| format!("`{text}` is not a time; write 10s or 500ms"))?;
    let unit = match &text[at..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("`{other}` is not a unit of time; use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| format!("`{text}` is not a usable time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_times_and_sizes() {
        assert_eq!("4,2".parse(), Ok(Dim3([4, 2, 1])));
        assert!("0".parse::<Dim3>().unwrap_err().contains("launches nothing"));
        assert!("1,2,3,4".parse::<Dim3>().is_err());
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert!(parse_duration("-1s").is_err());
        assert_eq!(parse_bytes("2G"), Ok(2 << 30));
        assert!(parse_bytes("99999999999G").is_err());
        assert_eq!(parse_count("1e8"), Ok(100_000_000));
    }

    #[test]
    fn the_command_line_wins_over_a_directive() {
        let own = LaunchArgs {
            grid: Some(Dim3([1, 1, 1])),
            args: vec!["n=5".parse().unwrap()],
            ..Default::default()
        };
        let directive = LaunchArgs {
            grid: Some(Dim3([9, 1, 1])),
            block: Some(Dim3([32, 1, 1])),
            args: vec!["n=7".parse().unwrap(), "m=8".parse().unwrap()],
            ..Default::default()
        };
        let both = own.or(&directive);
        assert_eq!(both.grid, Some(Dim3([1, 1, 1])));
        assert_eq!(both.block, Some(Dim3([32, 1, 1])));
        assert_eq!(both.spec("n"), Some(&ArgSpec::Number("5".into())));
        assert_eq!(both.spec("m"), Some(&ArgSpec::Number("8".into())));
    }
}
