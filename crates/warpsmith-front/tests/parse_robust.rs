//! Whatever the bytes, the parser ends with a tree or with diagnostics, soon and without a panic.

mod parse_support;

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parse_support::Files;
use proptest::prelude::*;
use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_ir::SourceMap;

/// Kernels to damage.
static CORPUS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let folders = ["correct", "defects"].map(|k| std::fs::read_dir(root.join(k)));
    let entries = folders.into_iter().flatten().flatten().flatten();
    let mut texts: Vec<String> =
        entries.filter_map(|e| std::fs::read_to_string(e.path()).ok()).collect();
    texts.sort();
    texts
});

/// Parses and checks what must hold of any outcome.
fn survive(bytes: &[u8], language: Language) -> Result<(), TestCaseError> {
    let started = Instant::now();
    let mut sources = SourceMap::new();
    let result =
        parse("fuzz", bytes, &ParseOptions::new(language), &Files::default(), &mut sources);
    prop_assert!(started.elapsed() < Duration::from_secs(10), "too slow");
    if let Err(errors) = result {
        prop_assert!(!errors.is_empty() && errors.len() <= 5, "{} errors", errors.len());
        for error in &errors {
            prop_assert!(!error.labels.is_empty(), "no place: {}", error.message);
            prop_assert!(error.render(&sources, false).contains(error.code));
        }
    }
    Ok(())
}

/// Words and marks that kernels are made of, and some that break them.
const TOKENS: &[&str] = &[
    "__global__",
    "__device__",
    "__shared__",
    "__align__",
    "__launch_bounds__",
    "void",
    "int",
    "float",
    "template",
    "<",
    ">",
    "<<<",
    ">>>",
    "typename",
    "struct",
    "if",
    "else",
    "for",
    "while",
    "switch",
    "case",
    "return",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    ";",
    ",",
    "::",
    ".",
    "->",
    "=",
    "+",
    "-",
    "*",
    "&",
    "&&",
    "x",
    "y",
    "T",
    "1",
    "2.0f",
    "'a'",
    "\"s\"",
    "\n#if 1\n",
    "\n#endif\n",
    "\n#define x x y\n",
    "\n#define f(a) a##a #a\n",
    "f",
    "##",
    "operator",
    "auto",
    "sizeof",
    "using",
    "namespace",
    "asm",
    "//",
    "/*",
    "*/",
    "\\\n",
    "R\"(",
    "enum",
    "class",
    "const",
    "do",
    "static_cast",
    "...",
    "?",
    ":",
    "\n#pragma unroll\n",
    "_Pragma(\"x\")",
    "__attribute__((aligned(",
    "extern",
    "\"C\"",
    "<:",
    "%:",
    "@",
    "#",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), c in any::<bool>()) {
        survive(&bytes, if c { Language::C } else { Language::Cuda })?;
    }

    #[test]
    fn random_text(text in "[ -~\n]{0,300}", c in any::<bool>()) {
        survive(text.as_bytes(), if c { Language::C } else { Language::Cuda })?;
    }

    #[test]
    fn token_soup(words in prop::collection::vec(prop::sample::select(TOKENS), 0..120), c in any::<bool>()) {
        survive(words.join(" ").as_bytes(), if c { Language::C } else { Language::Cuda })?;
        survive(words.concat().as_bytes(), Language::Cuda)?;
    }

    #[test]
    fn damaged_kernels(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, 0usize..40, prop::sample::select(TOKENS)), 1..6),
    ) {
        prop_assume!(!CORPUS.is_empty());
        let mut bytes = which.get(&CORPUS).clone().into_bytes();
        for (place, kind, length, token) in edits {
            if bytes.is_empty() {
                break;
            }
            let start = place.index(bytes.len());
            let end = (start + length).min(bytes.len());
            let piece = bytes[start..end].to_vec();
            let new = match kind {
                0 => vec![],
                1 => [piece.clone(), piece].concat(),
                2 => token.as_bytes().to_vec(),
                _ => vec![bytes[bytes.len() - 1 - start]],
            };
            bytes.splice(start..end, new);
        }
        survive(&bytes, Language::Cuda)?;
    }
}

/// Input that repeats one piece must not take time quadratic in its length.
#[test]
fn repetition_takes_linear_time() {
    for piece in [
        "typedef ",
        "typedef {",
        "template<",
        "[[a",
        "[",
        "{",
        "template<int>",
        "struct __align__(",
        "a<b ",
        "#if 1\n",
        "asm(",
        "/*",
        "namespace a=",
        "x(",
        "if(x)",
        "\"",
        "'",
        "R\"(",
        "__attribute__((",
        "f<",
        "<<<",
        "a,",
        ";",
        "case 1:",
        "#pragma x\n",
    ] {
        let text = piece.repeat(20_000 / piece.len());
        survive(text.as_bytes(), Language::Cuda).unwrap_or_else(|e| panic!("{piece}: {e}"));
    }
}

/// The lexer would look for the end of the comment for ever.
#[test]
fn an_open_comment_may_end_in_a_spliced_line() {
    for text in ["/*\\\n", "/*\\\n\\\n", "int x; /* a \\\r\n"] {
        for language in [Language::C, Language::Cuda] {
            survive(text.as_bytes(), language).expect("a diagnostic");
        }
    }
}
