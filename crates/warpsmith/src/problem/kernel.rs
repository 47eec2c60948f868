//! The text of a problem's kernel, and what a configuration changes in it: macros, compiler options and the name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use warpsmith_gpu::protocol::Compile;
use warpsmith_tune::space::Configuration;
use warpsmith_tune::value::Value;

use super::sizes::Shape;

/// Other people's kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub path: PathBuf,
    pub text: String,
    /// As the problem names it, with the arguments of a template: `scale<float, tile>`.
    pub name: String,
    pub options: Vec<String>,
    /// Options that a run-time compiler has no use for.
    pub dropped: Vec<String>,
}

/// Parameters that are constants rather than macros: nvcc does not replace macros in `#pragma unroll`.
const UNROLL: &str = "loop_unroll_factor";

impl Kernel {
    /// `folder` is that of the problem's file, to which options with folders are relative.
    pub fn new(
        path: PathBuf,
        text: String,
        name: String,
        options: &[String],
        folder: &Path,
    ) -> Kernel {
        let mut kernel = Kernel { path, text, name, options: vec![], dropped: vec![] };
        let words = options.iter().flat_map(|o| shlex::split(o).unwrap_or_else(|| vec![o.clone()]));
        kernel.sort_options(words.collect(), folder);
        kernel
    }

    fn sort_options(&mut self, words: Vec<String>, folder: &Path) {
        let mut words = words.into_iter().filter(|w| !w.is_empty());
        while let Some(word) = words.next() {
            let include = word.strip_prefix("-I").or(word.strip_prefix("--include-path="));
            if let Some(place) = include {
                let place =
                    if place.is_empty() { words.next().unwrap_or_default() } else { place.into() };
                self.options.push(format!("-I{}", folder.join(place).display()));
            } else if word == "-D" {
                self.options.extend(words.next().map(|macro_| format!("-D{macro_}")));
            } else if word == "-Xptxas" {
                self.options.extend(words.next().map(|option| format!("--ptxas-options={option}")));
            } else if ["-arch", "-code", "-gencode", "-Xcompiler", "-ccbin", "-x", "-o"]
                .contains(&word.as_str())
            {
                let value = words.next().unwrap_or_default();
                self.dropped.push(format!("{word} {value}"));
            } else if is_for_files(&word) {
                self.dropped.push(word);
            } else {
                self.options.push(word);
            }
        }
    }

    /// The texts of all headers that the kernel's file includes, and those that they include, where they lie beside it or
    /// in a folder of the options. Those of the compiler are its own affair.
    pub fn headers(&self) -> Vec<String> {
        let beside = self.path.parent().unwrap_or(Path::new("")).to_path_buf();
        let given = self.options.iter().filter_map(|o| o.strip_prefix("-I")).map(PathBuf::from);
        let folders: Vec<PathBuf> = std::iter::once(beside.clone()).chain(given).collect();
        let mut seen = BTreeSet::new();
        let mut texts = vec![];
        let mut waiting = vec![(beside, self.text.clone())];
        while let Some((beside, text)) = waiting.pop() {
            for name in text.lines().filter_map(included) {
                let places = std::iter::once(&beside).chain(&folders).map(|f| f.join(name));
                // A name that is found in several places counts with all of them: which is meant depends on macros.
                for path in places {
                    // One file has one name, or headers that include each other by `../` would never end.
                    let Ok(path) = path.canonicalize() else { continue };
                    let Ok(text) = std::fs::read_to_string(&path) else { continue };
                    if seen.insert(path.clone()) {
                        texts.push(text.clone());
                        waiting.push((path.parent().unwrap_or(Path::new("")).into(), text));
                    }
                }
            }
        }
        texts
    }

    /// What the compiler gets. Parameters are macros, as are `kernel_tuner` and the sizes of grid and block, which Kernel
    /// Tuner defines as well. They stand before the text and not among the options: a run-time compiler reads headers of
    /// its own first, which a macro `x` would break.
    pub fn request(&self, configuration: &Configuration, shape: &Shape) -> Compile {
        let mut options: Vec<String> =
            self.options.iter().map(|o| replaced(o, configuration)).collect();
        let mut macros = String::new();
        let mut text = self.text.clone();
        for (name, value) in &configuration.values {
            if !name.contains(UNROLL) {
                macros += &format!("#define {name} {}\n", spelled(value));
            } else if spelled(value) == "0" {
                // 0 leaves the choice to the compiler.
                text = without_pragma(&text, name);
            } else {
                macros += &format!("constexpr int {name} = {};\n", spelled(value));
            }
        }
        for (what, sizes) in [("grid", shape.grid), ("block", shape.block)] {
            for (axis, size) in ["x", "y", "z"].iter().zip(sizes) {
                let name = format!("{what}_size_{axis}");
                if configuration.get(&name).is_none() && words(&self.text).any(|(_, w)| w == name) {
                    macros += &format!("#define {name} {size}\n");
                }
            }
        }
        macros += "#define kernel_tuner 1\n";
        // Headers that the kernel's file includes lie beside it.
        if let Some(folder) = self.path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            options.push(format!("-I{}", folder.display()));
        }
        let file = self.path.display().to_string();
        let shown = file.replace('\\', "\\\\").replace('"', "\\\"");
        Compile {
            source: format!("{macros}#line 1 \"{shown}\"\n{text}"),
            file,
            arch: String::new(),
            options,
            kernels: vec![self.instance(configuration)],
        }
    }

    /// The kernel's name for a configuration: parameters in the arguments of a template stand for their values.
    pub fn instance(&self, configuration: &Configuration) -> String {
        match self.name.split_once('<') {
            Some((base, arguments)) => format!("{base}<{}", replaced(arguments, configuration)),
            None => self.name.clone(),
        }
    }

    /// How many parameters the kernel lists in its text; `None` where that depends on macros or on which of several
    /// definitions is compiled.
    pub fn listed_parameters(&self) -> Option<usize> {
        let base = self.name.split('<').next().unwrap_or_default();
        let base = base.rsplit("::").next().unwrap_or_default().trim();
        let text = without_comments(&self.text);
        let mut counts = words(&text).filter(|(_, w)| *w == base).filter_map(|(at, w)| {
            let rest = text[at + w.len()..].trim_start().strip_prefix('(')?;
            let list = parenthesised(rest)?;
            // A use of the kernel is no definition, and one in another function no kernel.
            let before = &text[..at];
            let start = before.rfind([';', '}', '#']).map_or(0, |k| k + 1);
            before[start..].contains("__global__").then_some(list)
        });
        let count = count_of(counts.next()?)?;
        counts.all(|list| count_of(list) == Some(count)).then_some(count)
    }
}

/// The name in an `#include`, with quotes or angle brackets.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let rest = rest.trim_start();
    match rest.strip_prefix('"') {
        Some(rest) => rest.split('"').next(),
        None => rest.strip_prefix('<')?.split('>').next(),
    }
}

/// A parameter's value in a header.
pub fn definition(name: &str, value: &Value) -> String {
    match (name.contains(UNROLL), spelled(value)) {
        (true, value) if value == "0" => {
            format!("// {name} is 0: leave its `#pragma unroll` away\n")
        }
        (true, value) => format!("constexpr int {name} = {value};\n"),
        (false, value) => format!("#define {name} {value}\n"),
    }
}

/// Options of nvcc that concern files, the host or the choice of a device.
fn is_for_files(option: &str) -> bool {
    let starts = [
        "-O",
        "-arch=",
        "-code=",
        "-gencode=",
        "--gpu-architecture",
        "--gpu-code",
        "--generate-code",
        "-l",
        "-L",
        "-Xcompiler=",
        "--compiler-options",
        "-ccbin=",
        "-cubin",
        "-ptx",
        "-c",
        "-m64",
        "--machine",
    ];
    let kept = ["-lineinfo"];
    !kept.contains(&option) && starts.iter().any(|s| option.starts_with(s))
}

/// A value as C spells it.
fn spelled(value: &Value) -> String {
    match value {
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        other => other.to_string(),
    }
}

/// Names in a text, each with its place. Numbers such as `0x1f` are none.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(inside)?;
            let end = text[start..].find(|c| !inside(c)).map_or(text.len(), |n| start + n);
            at = end;
            if !text.as_bytes()[start].is_ascii_digit() {
                return Some((start, &text[start..end]));
            }
        }
    })
}

/// A text with the names of parameters replaced by their values.
fn replaced(text: &str, configuration: &Configuration) -> String {
    let (mut made, mut end) = (String::new(), 0);
    for (at, word) in words(text) {
        if let Some(value) = configuration.get(word) {
            made += &text[end..at];
            made += &spelled(value);
            end = at + word.len();
        }
    }
    made + &text[end..]
}

/// The text without `#pragma unroll NAME`; its lines keep their numbers.
fn without_pragma(text: &str, name: &str) -> String {
    let asks = |line: &str| {
        let mut words = line.trim_start().trim_start_matches('#').split_whitespace();
        line.trim_start().starts_with('#')
            && (words.next(), words.next(), words.next())
                == (Some("pragma"), Some("unroll"), Some(name))
    };
    let lines: Vec<&str> = text.split('\n').map(|l| if asks(l) { "" } else { l }).collect();
    lines.join("\n")
}

/// Blanks in place of comments and texts.
fn without_comments(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else if c == '"' {
            closing_quote(rest)
        } else {
            made.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        made.push(' ');
        rest = &rest[length..];
    }
    made
}

/// Just behind the quote that ends a text, which the text here begins with.
fn closing_quote(text: &str) -> usize {
    let mut escaped = true;
    for (at, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

/// What is before the parenthesis that closes an open one.
fn parenthesised(text: &str) -> Option<&str> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

/// Parameters in a list; `None` where directives choose among them.
fn count_of(list: &str) -> Option<usize> {
    if list.contains('#') {
        return None;
    }
    if list.trim().is_empty() || list.trim() == "void" {
        return Some(0);
    }
    let (mut depth, mut commas) = (0i32, 0);
    for c in list.chars() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    Some(commas + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str, name: &str, options: &[&str]) -> Kernel {
        let options: Vec<String> = options.iter().map(|o| o.to_string()).collect();
        Kernel::new("dir/k.cu".into(), text.into(), name.into(), &options, Path::new("dir"))
    }

    fn configuration(values: &[(&str, Value)]) -> Configuration {
        Configuration { values: values.iter().map(|(n, v)| (n.to_string(), v.clone())).collect() }
    }

    const SHAPE: Shape = Shape { grid: [4, 2, 1], block: [32, 1, 1], shared: 0 };

    #[test]
    fn parameters_become_macros_constants_and_arguments_of_templates() {
        let text = "#pragma unroll loop_unroll_factor_k\n  # pragma unroll loop_unroll_factor_j\nint n = grid_size_x;\n";
        let values = [
            ("tile", Value::Int(4)),
            ("wide", Value::Bool(true)),
            ("loop_unroll_factor_k", Value::Int(2)),
            ("loop_unroll_factor_j", Value::Int(0)),
        ];
        let made = kernel(text, "ns::k<float, tile>", &["-maxrregcount=tile -I inc"])
            .request(&configuration(&values), &SHAPE);
        assert_eq!(made.options, ["-maxrregcount=4", "-Idir/inc", "-Idir"]);
        assert_eq!(made.kernels, ["ns::k<float, 4>"]);
        assert_eq!(
            made.source,
            "#define tile 4\n#define wide true\nconstexpr int loop_unroll_factor_k = 2;\n\
             #define grid_size_x 4\n#define kernel_tuner 1\n#line 1 \"dir/k.cu\"\n\
             #pragma unroll loop_unroll_factor_k\n\nint n = grid_size_x;\n"
        );
    }

    #[test]
    fn options_for_nvcc_alone_are_left_out() {
        let k = kernel(
            "",
            "k",
            &["-O3", "-arch=sm_80", "-Xcompiler -fopenmp", "-use_fast_math", "", "-lineinfo"],
        );
        assert_eq!(k.options, ["-use_fast_math", "-lineinfo"]);
        assert_eq!(k.dropped, ["-O3", "-arch=sm_80", "-Xcompiler -fopenmp"]);
    }

    #[test]
    fn parameters_are_counted_where_the_text_is_plain() {
        let count = |text: &str| kernel(text, "k", &[]).listed_parameters();
        assert_eq!(count("__global__ void k(int n, float *x) { }"), Some(2));
        assert_eq!(count("__global__ void k() { }"), Some(0));
        let text = "// __global__ void k(int);\n__device__ int j(int k);\nextern \"C\" __global__ void\n\
                    __launch_bounds__(64) k(const float *__restrict__ a, T<int, 4> b, int c[2]) { j(1); }";
        assert_eq!(count(text), Some(3));
        assert_eq!(count("__global__ void k(int n\n#ifdef X\n, int m\n#endif\n) { }"), None);
        assert_eq!(count("__global__ void k(int n);\n__global__ void k(int n) {}"), Some(1));
        assert_eq!(count("__global__ void k(int n) {}\n__global__ void k(int n, int m) {}"), None);
        assert_eq!(count("__global__ void other(int n) {}"), None);
        assert_eq!(count("__global__ void k(int n"), None);
    }

    /// What was measured with another header is not what would be measured now.
    #[test]
    fn headers_are_found_in_folders_of_the_options_and_through_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("inc/a.h", "#include \"sub/b.h\"\n");
        write("inc/sub/b.h", "#include <a.h>\n#include \"../sub/c.h\"\n// b\n");
        write("inc/sub/c.h", "#include \"../sub/c.h\"\n");
        let text = "# include <a.h>\n#include <cuda_fp16.h>\n".to_string();
        let path = folder.path().join("k.cu");
        let options = ["-Iinc".to_string()];
        let k = Kernel::new(path, text, "k".into(), &options, folder.path());
        let before = k.headers();
        assert_eq!(before.len(), 3, "{before:?}");
        write("inc/sub/c.h", "// changed\n");
        assert_ne!(k.headers(), before);
    }

    #[test]
    fn no_text_is_too_odd() {
        for text in ["\"", "\"\\", "/*", "é k(", "__global__ é k(é)", "#pragma", "0x1fk("] {
            let k = kernel(text, "k", &[text]);
            let _ = k.listed_parameters();
            let _ = k.request(&configuration(&[("loop_unroll_factor", Value::Int(0))]), &SHAPE);
        }
    }
}
