//! What the tokens alone say about names: which are types, templates, variables.
//!
//! C++ cannot be parsed without knowing that. The grammar guesses; where a guess matters, this
//! table decides: `n < m && k > (j)` is no call of a template `n`, and `(real)-x` is a cast.

use std::collections::{HashMap, HashSet};

use crate::pp::{Token, TokenKind};

#[derive(Debug, Default)]
pub struct Names {
    types: HashSet<String>,
    templates: HashSet<String>,
    variables: HashSet<String>,
    concepts: HashSet<String>,
    /// `namespace cg = cooperative_groups;`
    namespaces: HashMap<String, Vec<String>>,
}

/// Words after which a name is one that is being declared, and no template.
const TYPE_WORDS: &[&str] = &[
    "int", "unsigned", "long", "short", "char", "float", "double", "bool", "auto", "size_t",
    "signed",
];

impl Names {
    /// `groups` is the table of [`bracket_ends`].
    pub fn collect(tokens: &[Token], groups: &[u32]) -> Names {
        let mut names = Names::default();
        let tokens = &Tokens { tokens, groups };
        for (i, token) in tokens.tokens.iter().enumerate() {
            match &*token.text {
                "struct" | "class" | "union" | "enum" | "typename" => names.tag(tokens, i + 1),
                "using" if tokens.text(i + 2) == "=" => names.add_type(tokens, i + 1),
                "namespace" if tokens.text(i + 2) == "=" => names.namespace(tokens, i + 1),
                "typedef" => names.typedef(tokens, i + 1),
                "template" => names.template(tokens, i + 1),
                "concept" => {
                    names.concepts.insert(tokens.text(i + 1).to_owned());
                    names.templates.insert(tokens.text(i + 1).to_owned());
                }
                _ if token.kind == TokenKind::Word => names.variable(tokens, i),
                _ => {}
            }
        }
        names
    }

    /// True for the name of a type that the program declares or that CUDA has.
    pub fn is_type(&self, name: &str) -> bool {
        self.types.contains(name) || is_known_type(name)
    }

    /// True for the name of a concept of the program or of the standard library.
    pub fn is_concept(&self, name: &str) -> bool {
        self.concepts.contains(name) || CONCEPTS.contains(&name)
    }

    /// The parts of the name that a namespace alias stands for.
    pub fn namespace_alias(&self, name: &str) -> Option<&[String]> {
        self.namespaces.get(name).map(Vec::as_slice)
    }

    fn namespace(&mut self, tokens: &Tokens, at: usize) {
        let mut parts = vec![];
        for token in tokens.tokens.iter().skip(at + 2).take(16) {
            match &*token.text {
                ";" => {
                    self.namespaces.insert(tokens.text(at).to_owned(), parts);
                    return;
                }
                "::" => {}
                name => parts.push(name.to_owned()),
            }
        }
    }

    fn add_type(&mut self, tokens: &Tokens, at: usize) {
        if let Some(token) = tokens.tokens.get(at).filter(|t| t.kind == TokenKind::Word) {
            self.types.insert(token.text.to_string());
        }
    }

    /// The name after `struct` and the like, behind attributes.
    fn tag(&mut self, tokens: &Tokens, mut at: usize) {
        while matches!(
            tokens.text(at),
            "class" | "struct" | "__align__" | "__builtin_align__" | "alignas"
        ) {
            at += 1;
            if tokens.text(at) == "(" {
                at = tokens.group_end(at);
            }
        }
        self.add_type(tokens, at);
    }

    /// The names a `typedef` makes: each last word before `,` or `;`.
    fn typedef(&mut self, tokens: &Tokens, mut at: usize) {
        let mut last = None;
        let end = at + MAX_SCAN;
        while let Some(token) = tokens.tokens.get(at).filter(|_| at < end) {
            match &*token.text {
                "{" | "[" => {
                    at = tokens.group_end(at);
                    continue;
                }
                // `(*name)(…)`: the first group holds the name, the second the parameters.
                "(" if tokens.text(at + 1) == "*" => {
                    self.add_type(tokens, at + 2);
                    last = None;
                    at = tokens.group_end(at);
                    continue;
                }
                "(" => {
                    at = tokens.group_end(at);
                    continue;
                }
                ";" => {
                    self.types.extend(last);
                    return;
                }
                "," => self.types.extend(last.take()),
                word if token.kind == TokenKind::Word => last = Some(word.to_owned()),
                _ => {}
            }
            at += 1;
        }
    }

    /// The name that a template header introduces: the word before `(`, `{`, `;`, `=` or `:`.
    fn template(&mut self, tokens: &Tokens, at: usize) {
        if tokens.text(at) != "<" {
            return;
        }
        let mut i = tokens.angles_end(at);
        let end = (i + 64).min(tokens.tokens.len());
        while i < end {
            let token = &tokens.tokens[i];
            let next = tokens.text(i + 1);
            if &*token.text == "operator" {
                return;
            }
            // `T table[4]`, but no attribute in brackets.
            let array = next == "[" && tokens.text(i + 2) != "[";
            let ends = array || matches!(next, "(" | "{" | ";" | "=" | ":" | "<");
            if token.kind == TokenKind::Word && ends {
                let attribute = token.text.starts_with("__") && next == "(";
                let nested = matches!(&*token.text, "alignas" | "decltype" | "template");
                if !attribute && !nested {
                    self.templates.insert(token.text.to_string());
                }
                if next == "(" && attribute || nested {
                    i = tokens.group_end(i + 1);
                    continue;
                }
                if next != "<" {
                    return;
                }
                // `vec<T> f(…)`: the type before the name has arguments too.
                i = tokens.angles_end(i + 1);
                continue;
            }
            i += 1;
        }
    }

    /// A word used as only a variable can be.
    fn variable(&mut self, tokens: &Tokens, i: usize) {
        let next = tokens.text(i + 1);
        let assigned = matches!(
            next,
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "++" | "--" | "[" | "==" | "!=" | "<=" | ">="
        );
        let before = i.checked_sub(1).map_or("", |b| tokens.text(b));
        let declared = TYPE_WORDS.contains(&before) && next != "(" && next != "<";
        if assigned || declared || matches!(before, "++" | "--") {
            self.variables.insert(tokens.tokens[i].text.to_string());
        }
    }

    /// True for a name that is used as only a variable can be.
    pub fn is_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// Whether a name behind `::` is that of a template: one of the program, or of a library.
    pub fn is_template(&self, all: &Tokens, name: usize) -> bool {
        let word = |at: usize| all.tokens.get(at).map_or("", |t| &*t.text);
        let of_library = name >= 2 && LIBRARIES.contains(&word(name - 2));
        self.templates.contains(word(name)) || of_library
    }

    /// True when the `<` at `at` compares rather than opening template arguments.
    pub fn is_comparison(&self, all: &Tokens, at: usize) -> bool {
        let tokens = all.tokens;
        let Some(name) = at.checked_sub(1).and_then(|i| tokens.get(i)) else {
            return false;
        };
        // Part of `<<<`, or after something that is no name.
        let joined = tokens.get(at + 1).is_some_and(|t| t.glued && t.text.starts_with('<'))
            || (tokens[at].glued && name.text.starts_with('<'));
        if joined || name.kind != TokenKind::Word {
            return false;
        }
        let word = &*name.text;
        if self.templates.contains(word) || self.is_type(word) || word.ends_with("_cast") {
            return false;
        }
        if matches!(word, "template" | "operator" | "return") {
            return false;
        }
        // `cg::less<int>()`, `std::vector<int>` beside a variable `vector`.
        let of_library =
            at >= 3 && &*tokens[at - 2].text == "::" && LIBRARIES.contains(&&*tokens[at - 3].text);
        if of_library {
            return false;
        }
        self.variables.contains(word) || all.joins_conditions(at)
    }
}

/// The concepts of the standard library that are known.
const CONCEPTS: &[&str] = &[
    "integral",
    "signed_integral",
    "unsigned_integral",
    "floating_point",
    "same_as",
    "convertible_to",
    "derived_from",
];

/// Namespaces of libraries: what they have before a `<` are templates, whatever else of the program has the name.
const LIBRARIES: &[&str] = &[
    "std",
    "chrono",
    "cuda",
    "thrust",
    "cub",
    "cg",
    "cooperative_groups",
    "nvcuda",
    "wmma",
    "experimental",
];

/// How far a declaration is followed, in tokens: garbage must not take quadratic time.
const MAX_SCAN: usize = 512;

/// For each token that opens a bracket the index after the one that closes it; for every other
/// token, and an opener without its partner, the index after itself.
pub fn bracket_ends(tokens: &[Token]) -> Vec<u32> {
    let mut ends: Vec<u32> = (1..=tokens.len() as u32).collect();
    let mut open = vec![];
    for (i, token) in tokens.iter().enumerate().filter(|(_, t)| t.kind == TokenKind::Punct) {
        match &*token.text {
            "(" | "[" | "{" => open.push(i),
            ")" | "]" | "}" => {
                if let Some(opener) = open.pop() {
                    ends[opener] = i as u32 + 1;
                }
            }
            _ => {}
        }
    }
    ends
}

/// The tokens with their brackets matched.
pub struct Tokens<'a> {
    pub tokens: &'a [Token],
    pub groups: &'a [u32],
}

impl Tokens<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| &t.text)
    }

    /// One past the bracket that closes the one at `at`, always moving on.
    pub fn group_end(&self, at: usize) -> usize {
        self.groups.get(at).map_or(at + 1, |end| *end as usize)
    }

    /// One past the `>` that closes the `<` at `at`.
    pub fn angles_end(&self, at: usize) -> usize {
        let mut depth = 0i32;
        let mut i = at;
        while i < at + MAX_SCAN && i < self.tokens.len() {
            match self.text(i) {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                "(" | "[" | "{" => {
                    i = self.group_end(i);
                    continue;
                }
                ";" => return i,
                _ => {}
            }
            i += 1;
            if depth <= 0 {
                return i;
            }
        }
        i
    }

    /// True when `&&` or `||` stands between this `<` and the `>` that could close it.
    fn joins_conditions(&self, at: usize) -> bool {
        let mut i = at + 1;
        let end = (i + MAX_SCAN).min(self.tokens.len());
        while i < end {
            match self.text(i) {
                "&&" | "||" => return true,
                ">" | ">>" | ";" | ")" | "]" | "}" | "{" => return false,
                "(" | "[" => i = self.group_end(i),
                _ => i += 1,
            }
        }
        false
    }
}

/// Types of CUDA and of the C library that programs use without declaring them.
pub fn is_known_type(name: &str) -> bool {
    const VECTORS: &[&str] = &[
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ];
    const OTHERS: &[&str] = &[
        "dim3",
        "uint3",
        "half",
        "half2",
        "__half",
        "__half2",
        "__nv_bfloat16",
        "__nv_bfloat162",
        "nv_bfloat16",
        "__half_raw",
        "__half2_raw",
        "__nv_bfloat16_raw",
        "__nv_bfloat162_raw",
        "uint",
        "uchar",
        "ushort",
        "ulong",
        "cudaStream_t",
        "cudaEvent_t",
        "cudaError_t",
        "clock_t",
        "uint_fast8_t",
        "uint_fast32_t",
        "int_fast32_t",
    ];
    let vector =
        name.strip_suffix(['1', '2', '3', '4']).is_some_and(|stem| VECTORS.contains(&stem));
    vector || OTHERS.contains(&name)
}
