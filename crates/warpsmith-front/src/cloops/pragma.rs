//! Reads the text of a pragma: OpenMP directives, `simd` marks, `ws bounds` and `unroll`.
//!
//! Only the grammar is checked here; names are looked up where the loop is lowered. Every word keeps its place, so
//! that a message can point at the one clause that is wrong.

use warpsmith_ir::{Diagnostic, ReduceOp, Span};

use super::clauses::{parenthesised, parse_clauses};
use crate::ast::Pragma;
use crate::spelling::nearest;

/// A word, number or symbol of a pragma.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub text: String,
    pub span: Span,
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// What a pragma asks for.
#[derive(Clone, Debug)]
pub enum Directive {
    /// The loop that follows has independent iterations.
    Loop(Clauses),
    /// The block that follows is run by every thread of a team (`parallel`, `teams`).
    Region(Clauses),
    /// The block that follows is run once, wherever its data are (`target`, `target data`).
    Data(Clauses),
    /// One thread of the team runs what follows (`single`, `master`, `masked`); `waits`: the others wait for it.
    Once { waits: bool },
    /// One access to shared memory that no other thread comes between.
    Atomic(AtomicKind, Span),
    /// One thread at a time runs what follows.
    Critical(Span),
    /// `barrier`: the order of the statements already says it.
    Barrier,
    /// `omp simd`: vector lanes of one thread, no independence between threads is claimed.
    Lanes,
    /// `ws bounds(A: n, m)`.
    Bounds(Vec<Bounds>),
    /// `unroll`, `unroll 4`, `unroll(4)`, `GCC unroll 4`.
    Unroll(Option<u32>),
    /// `ws independent`: the user answers for the iterations of the loop that follows.
    Independent,
    /// A pragma of no meaning here (`STDC`, `GCC ivdep`, `once` …).
    Ignored,
}

/// What `omp atomic` makes indivisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicKind {
    Read,
    Write,
    /// Also `compare`.
    Update,
    Capture,
}

/// One array of a `ws bounds` pragma: its name and the tokens of each extent.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub array: Token,
    pub extents: Vec<Vec<Token>>,
}

/// The clauses of a loop or region that have a meaning for us.
#[derive(Clone, Debug, Default)]
pub struct Clauses {
    pub collapse: Option<(u32, Span)>,
    pub reductions: Vec<(ReduceOp, Item)>,
    pub private: Vec<Item>,
    pub first_private: Vec<Item>,
    pub last_private: Vec<Item>,
    /// `ws independent` stands beside the mark.
    pub independent: bool,
    /// No barrier at the end.
    pub nowait: bool,
    /// Which thread runs an iteration is not known: `schedule` with another kind than `static`.
    pub dynamic: bool,
    /// Names that clauses without a meaning here mention (`shared`, `map`, `num_threads(n)`); they must exist.
    pub mentioned: Vec<Token>,
}

/// A variable of a clause's list.
#[derive(Clone, Debug)]
pub struct Item {
    pub name: Token,
    pub section: Section,
}

/// What stands in brackets behind a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Whole,
    /// `total[:1]`, `total[0:1]` and `total[0]`.
    One,
    /// `h[:256]`, `A[0:n][0:m]`.
    Elements,
}

pub type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Parses one pragma.
///
/// # Errors
/// One diagnostic with the caret on the word that is wrong: bad syntax (W132), a directive (W133) or clause (W134)
/// that is not supported, a wrong argument of a clause (W136), a wrong `ws` pragma (W150).
pub fn parse(pragma: &Pragma) -> Parsed<Directive> {
    let tokens = tokenize(pragma);
    let Some(first) = tokens.first() else { return Ok(Directive::Ignored) };
    match first.text.as_str() {
        "omp" => parse_omp(&tokens[1..], first.span),
        "simd" | "SIMD" => Ok(Directive::Loop(Clauses::default())),
        "ws" => parse_ws(&tokens[1..], first.span),
        "unroll" => parse_unroll(&tokens[1..]),
        "GCC" | "clang" | "nv_diag_suppress" => match tokens.get(1) {
            Some(t) if t.text == "unroll" => parse_unroll(&tokens[2..]),
            _ => Ok(Directive::Ignored),
        },
        other => match misspelt_family(other) {
            Some(meant) => Err(error(
                "W132",
                format!("unknown pragma `{other}`"),
                first.span,
                "not a pragma warpsmith knows",
            )
            .help(format!("did you mean `#pragma {meant}`?"))
            .into()),
            None => Ok(Directive::Ignored),
        },
    }
}

/// A diagnostic with one label.
pub fn error(code: &'static str, message: String, span: Span, label: &str) -> Diagnostic {
    Diagnostic::error(code, message).label(span, label)
}

/// `omp` and `ws` typed with one slip; a pragma nobody knows is otherwise ignored, as compilers do.
fn misspelt_family(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    match lower.as_str() {
        "opm" | "mop" | "op" | "omp" | "opmp" | "ompp" | "openmp" => Some("omp"),
        "smid" | "simd" | "sind" => Some("simd"),
        _ => None,
    }
}

/// Splits the text after `#pragma` into words, numbers and symbols; backslash-newline is a blank.
fn tokenize(pragma: &Pragma) -> Vec<Token> {
    let bytes = pragma.text.as_bytes();
    let mut tokens = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let c = bytes[at];
        if c.is_ascii_whitespace() || c == b'\\' {
            at += 1;
            continue;
        }
        if c.is_ascii_alphanumeric() || c == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
        } else if bytes[at..].starts_with(b"//") || bytes[at..].starts_with(b"/*") {
            at = end_of_comment(bytes, at);
            continue;
        } else if bytes[at..].starts_with(b"&&") || bytes[at..].starts_with(b"||") {
            at += 2;
        } else {
            at += 1;
            while !pragma.text.is_char_boundary(at) {
                at += 1;
            }
        }
        let text = pragma.text[start..at].to_string();
        tokens.push(Token { text, span: place(pragma, start, at) });
    }
    tokens
}

fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let end: &[u8] = if bytes[start + 1] == b'/' { b"\n" } else { b"*/" };
    let from = start + 2;
    bytes[from..]
        .windows(end.len())
        .position(|w| w == end)
        .map_or(bytes.len(), |p| from + p + end.len())
}

/// The span of bytes `start..end` of the pragma's text, which is the end of the spanned source but for the blanks. When
/// more than `#pragma` precedes it (the pragma came out of a macro), the whole pragma is meant.
fn place(pragma: &Pragma, start: usize, end: usize) -> Span {
    let whole = pragma.span;
    let (Ok(start), Ok(end), Ok(len)) =
        (u32::try_from(start), u32::try_from(end), u32::try_from(pragma.text.len()))
    else {
        return whole;
    };
    let before = (whole.end.saturating_sub(whole.start)).checked_sub(len);
    match before {
        Some(n) if (7..=16).contains(&n) => {
            let base = whole.start + n;
            Span { file: whole.file, start: base + start, end: base + end }
        }
        _ => whole,
    }
}

/// Directive words that may follow one another.
const DIRECTIVE_WORDS: &[&str] = &[
    "parallel",
    "for",
    "simd",
    "target",
    "teams",
    "distribute",
    "loop",
    "data",
    "enter",
    "exit",
    "update",
    "task",
    "taskloop",
    "taskwait",
    "taskyield",
    "taskgroup",
    "critical",
    "atomic",
    "ordered",
    "sections",
    "section",
    "single",
    "master",
    "masked",
    "barrier",
    "flush",
    "declare",
    "end",
    "threadprivate",
    "scan",
    "cancel",
    "cancellation",
    "point",
    "requires",
    "depobj",
    "workshare",
    "interop",
    "tile",
    "unroll",
    "metadirective",
    "allocate",
    "error",
    "nothing",
    "assume",
    "scope",
    "dispatch",
];

fn parse_omp(tokens: &[Token], omp: Span) -> Parsed<Directive> {
    let count = tokens
        .iter()
        .enumerate()
        .take_while(|(i, t)| {
            DIRECTIVE_WORDS.contains(&t.text.as_str())
                && tokens.get(i + 1).is_none_or(|n| n.text != "(" || *i == 0)
        })
        .count();
    let (words, rest) = tokens.split_at(count);
    let Some(first) = words.first() else {
        let (span, found) =
            tokens.first().map_or((omp, String::new()), |t| (t.span, format!(" `{}`", t.text)));
        let mut d = error(
            "W132",
            format!("unknown OpenMP directive{found}"),
            span,
            "expected a directive here",
        );
        if let Some(near) =
            tokens.first().and_then(|t| nearest(&t.text, DIRECTIVE_WORDS.iter().copied()))
        {
            d = d.help(format!("did you mean `{near}`?"));
        }
        return Err(d.help("loops are marked with `#pragma omp parallel for`").into());
    };
    let name: Vec<&str> = words.iter().map(|t| t.text.as_str()).collect();
    let span = first.span.to(words[words.len() - 1].span);
    match name[0] {
        "atomic" => return parse_atomic(&tokens[1..], span),
        "critical" => return Ok(Directive::Critical(span)),
        _ => {}
    }
    match classify(&name) {
        Some(Kind::Loop) => Ok(Directive::Loop(parse_clauses(rest)?)),
        Some(Kind::Region) => Ok(Directive::Region(parse_clauses(rest)?)),
        Some(Kind::Data) => Ok(Directive::Data(parse_clauses(rest)?)),
        Some(Kind::Once) => {
            let waits = name == ["single"] && !parse_clauses(rest)?.nowait;
            Ok(Directive::Once { waits })
        }
        Some(Kind::Barrier) => Ok(Directive::Barrier),
        Some(Kind::Lanes) => parse_clauses(rest).map(|_| Directive::Lanes),
        Some(Kind::Ignored) => Ok(Directive::Ignored),
        None => Err(unsupported_directive(&name, span).into()),
    }
}

/// `[read | write | update | capture] [compare] [memory order] [hint(…)]`.
fn parse_atomic(rest: &[Token], span: Span) -> Parsed<Directive> {
    const ORDERS: &[&str] =
        &["seq_cst", "acq_rel", "acquire", "release", "relaxed", "weak", "hint", "fail"];
    let mut kind = AtomicKind::Update;
    let mut rest = rest;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.text.as_str() {
            "read" => kind = AtomicKind::Read,
            "write" => kind = AtomicKind::Write,
            "capture" => kind = AtomicKind::Capture,
            "update" | "compare" | "," => {}
            w if ORDERS.contains(&w) => {
                if after.first().is_some_and(|t| t.text == "(") {
                    rest = parenthesised(after, word)?.1;
                }
            }
            other => {
                let message = format!("unknown clause `{other}` of `atomic`");
                let d = error("W134", message, word.span, "not a clause of this directive");
                return Err(d.help("one of: read, write, update, capture, compare").into());
            }
        }
    }
    Ok(Directive::Atomic(kind, span))
}

enum Kind {
    Loop,
    Region,
    Data,
    Once,
    Barrier,
    Lanes,
    Ignored,
}

/// What a sequence of directive words is; `None`: not supported.
fn classify(words: &[&str]) -> Option<Kind> {
    match words {
        ["barrier"] => return Some(Kind::Barrier),
        ["single"] | ["master"] | ["masked"] => return Some(Kind::Once),
        ["simd"] => return Some(Kind::Lanes),
        ["declare" | "end", ..] | ["nothing"] | ["requires"] | ["unroll"] => {
            return Some(Kind::Ignored);
        }
        ["target", "enter" | "exit", "data"] | ["target", "update"] | ["flush"] => {
            return Some(Kind::Ignored);
        }
        ["target", "data"] | ["target"] => return Some(Kind::Data),
        ["distribute"] | ["distribute", "simd"] => return Some(Kind::Loop),
        _ => {}
    }
    let mut rest = words;
    let mut skipped = 0;
    for optional in ["target", "teams", "distribute", "parallel"] {
        if rest.first() == Some(&optional) {
            rest = &rest[1..];
            skipped += 1;
        }
    }
    match rest {
        ["for" | "loop"] | ["for" | "loop", "simd"] => Some(Kind::Loop),
        ["simd"] if words.contains(&"distribute") => Some(Kind::Loop),
        [] if skipped > 0 => {
            Some(if words.contains(&"distribute") { Kind::Loop } else { Kind::Region })
        }
        _ => None,
    }
}

fn unsupported_directive(words: &[&str], span: Span) -> Diagnostic {
    let name = words.join(" ");
    let d = error("W133", format!("`#pragma omp {name}` is not supported"), span, "this directive");
    match words[words.len() - 1] {
        "task" | "taskloop" | "taskgroup" | "taskwait" | "taskyield" | "sections" | "section" => {
            d.help("express the independent work as a loop marked `#pragma omp parallel for`")
        }
        "parallel" => d.help("use `#pragma omp parallel for` on the independent loops"),
        "ordered" => d.help("iterations of a marked loop must not depend on their order"),
        _ => d.help("loops are marked with `#pragma omp parallel for`"),
    }
}

fn parse_unroll(rest: &[Token]) -> Parsed<Directive> {
    let number = rest.iter().find(|t| t.text != "(");
    match number {
        None => Ok(Directive::Unroll(None)),
        Some(t) => match t.text.parse::<u32>() {
            Ok(n) if n > 0 => Ok(Directive::Unroll(Some(n))),
            // `#pragma unroll FACTOR` with a name: only advice, so a factor we cannot read changes nothing.
            _ => Ok(Directive::Ignored),
        },
    }
}

const BOUNDS_HELP: &str =
    "write `#pragma ws bounds(A: n, m)`, or `#pragma ws independent` before a loop";

/// `ws bounds(A: n, m) bounds(B: k)` and `ws independent`.
fn parse_ws(rest: &[Token], ws: Span) -> Parsed<Directive> {
    if rest.is_empty() {
        return Err(error("W150", "`#pragma ws` says nothing".into(), ws, "nothing follows")
            .help(BOUNDS_HELP)
            .into());
    }
    if let [only] = rest
        && only.text == "independent"
    {
        return Ok(Directive::Independent);
    }
    let mut list = vec![];
    let mut rest = rest;
    while let Some((word, after)) = rest.split_first() {
        if word.text == "," && !list.is_empty() {
            rest = after;
            continue;
        }
        if word.text != "bounds" {
            let message = match list.is_empty() {
                true => format!("unknown pragma `ws {}`", word.text),
                false => format!("unexpected `{}`", word.text),
            };
            let label = if list.is_empty() { "not known" } else { "after `bounds(…)`" };
            return Err(error("W150", message, word.span, label).help(BOUNDS_HELP).into());
        }
        if after.first().is_none_or(|t| t.text != "(") {
            let message = "`bounds` needs parentheses".to_string();
            return Err(error("W150", message, word.span, "this pragma").help(BOUNDS_HELP).into());
        }
        let (inside, after) = parenthesised(after, word)?;
        for part in split_arrays(inside) {
            list.push(parse_bounds(part, word)?);
        }
        rest = after;
    }
    Ok(Directive::Bounds(list))
}

/// `A: n, m`.
fn parse_bounds(part: &[Token], word: &Token) -> Parsed<Bounds> {
    let [array, colon, extents @ ..] = part else {
        let message = "`bounds` needs an array and its extents".to_string();
        return Err(error("W150", message, word.span, "here").help(BOUNDS_HELP).into());
    };
    if !array.is_word() || colon.text != ":" || extents.is_empty() {
        let message = "`bounds` needs an array, a colon and extents".to_string();
        return Err(error("W150", message, array.span, "here").help(BOUNDS_HELP).into());
    }
    let extents: Vec<Vec<Token>> = split_top(extents).into_iter().map(<[Token]>::to_vec).collect();
    if extents.iter().any(Vec::is_empty) {
        let message = format!("an extent of `{}` is empty", array.text);
        return Err(error("W150", message, array.span, "this array").help(BOUNDS_HELP).into());
    }
    Ok(Bounds { array: array.clone(), extents })
}

/// `A: n, m; B: k` and `A: n, m, B: k` into one part for each array: a comma before `name :` starts a new one.
fn split_arrays(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = vec![];
    let mut start = 0;
    for i in 0..tokens.len() {
        let next_names = tokens.get(i + 2).is_some_and(|t| t.text == ":");
        if tokens[i].text == ";" || (tokens[i].text == "," && next_names) {
            parts.push(&tokens[start..i]);
            start = i + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// Splits at commas outside parentheses.
fn split_top(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = vec![];
    let (mut start, mut depth) = (0, 0i32);
    for (i, t) in tokens.iter().enumerate() {
        match t.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&tokens[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}
