//! `// warpsmith: …` lines: launches, runs of several kernels, and silenced findings.

use clap::Parser;
use warpsmith_emu::Rule;
use warpsmith_front::ast::{Comment, TranslationUnit};
use warpsmith_ir::{Diagnostic, FileId, Span};

use super::args::{Dim3, DirectiveArgs, SourceArgs};

/// One directive of a file.
#[derive(Debug, Clone)]
pub enum Directive {
    /// `grid=4 block=64 arg n=256`: a launch of the next kernel, or of the one it names.
    Launch { args: Box<DirectiveArgs>, span: Span },
    /// `run a, b`: launches in order on shared named buffers.
    Run { kernels: Vec<String>, span: Span },
    /// `allow RULE reason`.
    Allow { rule: Rule, reason: String, span: Span },
}

/// Reads a comment; `None` when it is no directive, or one of another command.
pub fn parse(comment: &Comment) -> Option<Result<Directive, Diagnostic>> {
    let text = comment.text.trim().strip_prefix("warpsmith:")?.trim();
    let words = match shlex::split(text) {
        Some(words) => words,
        None => return Some(Err(problem(comment.span, "a quote is not closed"))),
    };
    match words.first().map(String::as_str) {
        None => Some(Err(problem(comment.span, "the directive is empty"))),
        Some("run") => Some(parse_run(&words[1..], comment.span)),
        Some("allow") => Some(parse_allow(&words[1..], comment.span)),
        // The sizes a C file is tuned for.
        Some("size") => None,
        Some(_) => Some(parse_launch(&words, comment.span)),
    }
}

/// How a file for a verifier wants its kernels launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierLaunch {
    pub grid: Dim3,
    pub block: Dim3,
    /// `--warp-sync=32`: warps execute in lockstep. Smaller ones only where a block has no more than one.
    pub lockstep: bool,
    /// `--only-warp`: nothing is asked about threads of different warps. Taken where warps execute in lockstep.
    pub only_warps: bool,
    /// `--no-benign`: writes of equal values race, too.
    pub no_benign: bool,
    /// Macros: `-DWIDTH=2064`.
    pub source: SourceArgs,
}

/// The launch of `//--blockDim=[16,16] --gridDim=4`, as files for verifiers begin; `None` for any other comment.
pub fn verifier_launch(comment: &Comment) -> Option<VerifierLaunch> {
    let text = comment.text.trim();
    if !text.starts_with("--") {
        return None;
    }
    let value = |names: &[&str]| {
        text.split_whitespace().find_map(|word| {
            let (name, value) = word.trim_start_matches('-').split_once('=')?;
            names.contains(&name).then_some(value)
        })
    };
    let extents = |names: &[&str]| value(names)?.trim_matches(['[', ']']).parse::<Dim3>().ok();
    let grid = extents(&["gridDim", "num_groups"])?;
    let block = extents(&["blockDim", "local_size"])?;
    let warp = value(&["warp-sync"]).and_then(|n| n.parse::<u64>().ok());
    let threads: u64 = block.0.iter().map(|n| u64::from(*n)).product();
    let lockstep = warp.is_some_and(|n| n == 32 || threads <= n.min(32));
    let define = text.split_whitespace().filter_map(|word| word.strip_prefix("-D"));
    let define = define.map(str::to_string).collect();
    let source = SourceArgs { define, ..SourceArgs::default() };
    let says = |option: &str| text.split_whitespace().any(|word| word == option);
    let (no_benign, only_warps) = (says("--no-benign"), lockstep && says("--only-warp"));
    Some(VerifierLaunch { grid, block, lockstep, only_warps, no_benign, source })
}

/// Whether some directive says what is launched.
pub fn any_launch(unit: &TranslationUnit) -> bool {
    let all = unit.comments.iter().filter_map(parse);
    all.flatten().any(|d| matches!(d, Directive::Launch { .. } | Directive::Run { .. }))
}

/// How the first directive of a text that says anything about it wants the file compiled. Looks at lines only, for files
/// that cannot be parsed without; `None` when there is no such directive.
pub fn source_options(text: &[u8]) -> Option<SourceArgs> {
    let text = String::from_utf8_lossy(text);
    let mut directives = text.lines().filter_map(|line| {
        let span = Span { file: FileId(0), start: 0, end: 0 };
        let comment = Comment { text: line.trim().strip_prefix("//")?.to_string(), span };
        if let Some(launch) = verifier_launch(&comment) {
            return Some(launch.source);
        }
        match parse(&comment)? {
            Ok(Directive::Launch { args, .. }) => Some(args.source),
            _ => None,
        }
    });
    directives.find(|source| *source != SourceArgs::default())
}

fn parse_run(words: &[String], span: Span) -> Result<Directive, Diagnostic> {
    let joined = words.join(" ");
    let kernels: Vec<String> = split_names(&joined);
    if kernels.is_empty() || kernels.iter().any(String::is_empty) {
        return Err(
            problem(span, "`run` needs the names of kernels").help("write `run first, second`")
        );
    }
    Ok(Directive::Run { kernels, span })
}

/// Splits at commas that are not inside template arguments.
fn split_names(text: &str) -> Vec<String> {
    let (mut names, mut depth, mut name) = (vec![], 0i32, String::new());
    for c in text.chars() {
        depth += i32::from(c == '<') - i32::from(c == '>');
        if c == ',' && depth == 0 {
            names.push(std::mem::take(&mut name).trim().to_string());
        } else {
            name.push(c);
        }
    }
    if !name.trim().is_empty() {
        names.push(name.trim().to_string());
    }
    names
}

fn parse_allow(words: &[String], span: Span) -> Result<Directive, Diagnostic> {
    let Some((name, reason)) = words.split_first() else {
        return Err(problem(span, "`allow` needs the name of a rule"));
    };
    let Some(rule) = Rule::ALL.into_iter().find(|r| r.name() == name) else {
        let rules: Vec<&str> = Rule::ALL.iter().map(|r| r.name()).collect();
        return Err(problem(span, format!("`{name}` is not a rule"))
            .help(format!("the rules are {}", rules.join(", "))));
    };
    Ok(Directive::Allow { rule, reason: reason.join(" "), span })
}

/// Options that take a `NAME=…` and so stand as a word of their own.
const NAMED: [&str; 4] = ["arg", "dump", "expect", "param"];

fn parse_launch(words: &[String], span: Span) -> Result<Directive, Diagnostic> {
    let mut line = vec![];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            line.push(word.clone());
        } else if word == "D" || word == "I" {
            let value =
                words.next().ok_or_else(|| problem(span, format!("`{word}` needs a value")))?;
            line.push(format!("-{word}{value}"));
        } else if NAMED.contains(&word.as_str()) {
            let value =
                words.next().ok_or_else(|| problem(span, format!("`{word}` needs NAME=…")))?;
            line.push(format!("--{word}={value}"));
        } else if let Some((key, value)) = word.split_once('=') {
            line.push(format!("--{key}={value}"));
        } else if word == "warp-sync" || word == "no-benign" {
            line.push(format!("--{word}"));
        } else if line.last().is_some_and(|l: &String| l.starts_with('-') && !l.contains('=')) {
            // The value of an option spelled as on the command line: `--grid 4`.
            line.push(word.clone());
        } else {
            return Err(problem(span, format!("`{word}` is not understood"))
                .help("a launch reads `// warpsmith: grid=4 block=64 arg n=256`"));
        }
    }
    match DirectiveArgs::try_parse_from(&line) {
        Ok(args) => Ok(Directive::Launch { args: Box::new(args), span }),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or("").trim_start_matches("error: ");
            Err(problem(span, first.to_string())
                .help("a directive takes the options of `warpsmith check`, as `grid=4 block=64 arg n=256`"))
        }
    }
}

fn problem(span: Span, why: impl Into<String>) -> Diagnostic {
    Diagnostic::error("W305", format!("malformed directive: {}", why.into())).label(span, "here")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::args::Dim3;

    fn read(text: &str) -> Option<Result<Directive, Diagnostic>> {
        let span = Span { file: FileId(0), start: 0, end: 1 };
        parse(&Comment { text: text.to_string(), span })
    }

    #[test]
    fn a_launch_has_the_grammar_of_the_command_line() {
        let text = "warpsmith: grid=4,2 block=64 arg n=256 arg p='unsigned char[64]' kernel='f<float,32>' warp-sync -DN=4";
        let Some(Ok(Directive::Launch { args, .. })) = read(text) else { panic!() };
        assert_eq!(args.launch.grid, Some(Dim3([4, 2, 1])));
        assert_eq!(args.launch.args.len(), 2);
        assert_eq!(args.launch.kernel.as_deref(), Some("f<float,32>"));
        assert!(args.launch.warp_sync);
        assert_eq!(args.source.defines(), [("N".to_string(), "4".to_string())]);
    }

    #[test]
    fn runs_and_silences() {
        let Some(Ok(Directive::Run { kernels, .. })) = read("warpsmith: run a, f<int, 2>, c")
        else {
            panic!()
        };
        assert_eq!(kernels, ["a", "f<int, 2>", "c"]);
        let Some(Ok(Directive::Allow { rule, reason, .. })) =
            read("warpsmith: allow race-shared as in the paper")
        else {
            panic!()
        };
        assert_eq!((rule, reason.as_str()), (Rule::RaceShared, "as in the paper"));
    }

    #[test]
    fn files_for_verifiers_say_how_they_are_launched() {
        let read = |text: &str| {
            let span = Span { file: FileId(0), start: 0, end: 1 };
            verifier_launch(&Comment { text: text.to_string(), span })
        };
        let (grid, block) = (Dim3([4, 2, 1]), Dim3([16, 16, 1]));
        let define = vec!["N=4".to_string(), "FAST".to_string()];
        let source = SourceArgs { define, ..SourceArgs::default() };
        let (lockstep, only_warps, no_benign) = (false, false, false);
        let launch = VerifierLaunch { grid, block, lockstep, only_warps, no_benign, source };
        assert_eq!(
            read("--blockDim=[16,16] --gridDim=[4,2] -DN=4 -DFAST --no-inline"),
            Some(launch)
        );
        assert_eq!(read("--gridDim=8 --blockDim=64").map(|l| l.block), Some(Dim3([64, 1, 1])));
        let lockstep =
            |options: &str| read(&format!("--gridDim=8 {options}")).is_some_and(|l| l.lockstep);
        assert!(lockstep("--blockDim=64 --warp-sync=32"));
        assert!(lockstep("--blockDim=[4,4] --warp-sync=16"));
        assert!(!lockstep("--blockDim=64 --warp-sync=16"));
        let alone = |options: &str| {
            read(&format!("--gridDim=8 --blockDim=64 {options}")).is_some_and(|l| l.only_warps)
        };
        assert!(
            alone("--warp-sync=32 --only-warp")
                && !alone("--only-warp")
                && !alone("--warp-sync=32")
        );
        let strict = read("--gridDim=8 --blockDim=64 --no-benign").map(|l| l.no_benign);
        assert_eq!(strict, Some(true));
        assert_eq!(read("--blockDim=64"), None);
        assert_eq!(read("pass"), None);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text| read(text).unwrap().unwrap_err().message;
        assert_eq!(message("warpsmith: allow races"), "malformed directive: `races` is not a rule");
        assert!(message("warpsmith: grid=four").contains("`four` is not a whole number"));
        assert!(message("warpsmith: gird=4").contains("--gird"));
        assert!(message("warpsmith: arg n='4").contains("quote"));
        assert!(read("an ordinary comment").is_none());
    }
}
