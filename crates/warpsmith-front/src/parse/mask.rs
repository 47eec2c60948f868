//! The text the grammar reads: the program's tokens without what the grammar has no rule for.
//!
//! CUDA's declaration words, alignment and other attributes, `asm` and pragmas are taken out and
//! remembered by position; spellings that only some compilers know become the standard ones; a
//! `<` that must be a comparison is told from one that opens template arguments, which a grammar
//! without names cannot know.

mod assembly;
mod attributes;

use std::collections::{HashMap, HashSet};

use warpsmith_ir::Span;

use super::angles::{self, TYPE_ARGUMENT};
use super::conversions::{self, CONVERSION, Conversions};
use super::default_types::{self, DefaultTypes, TYPE_OF};
use super::map::{Expansions, Segment, TextMap};
use super::member_pointers::{self, MEMBER_OF, MemberPointers};
use super::names::{Names, Tokens};
use super::new_pointers::is_star_of_new;
use super::parens::{self, Parens};
use crate::ast::Comment;
use crate::pp::{Language, Preprocessed, Token, TokenKind};

/// Ends a C identifier that is a word of C++.
pub const C_NAME: &str = "_0c";
/// What the grammar reads for `float _Complex`.
pub const COMPLEX_FLOAT: &str = "__0float_complex";
/// What the grammar reads for `double _Complex`.
pub const COMPLEX_DOUBLE: &str = "__0double_complex";
/// What the preprocessed text has for the imaginary unit.
pub const IMAGINARY: &str = "__0I";
/// The name that the grammar reads for a bit-field without one, and for an enumeration that has a type but no name.
pub const UNNAMED: &str = "__0unnamed";
/// Begins the name of the declaration that carries the arguments of an attribute.
pub const ARGUMENTS: &str = "__0arguments_";
/// Begins the name of the function whose call stands for an `asm` statement.
pub const ASM: &str = "__0asm_";

/// The name of the method whose call stands for access by a pointer to a member.
pub const THROUGH: &str = "__0through";

/// An attribute that was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    Global,
    Device,
    Host,
    Shared,
    Constant,
    Managed,
    Inline,
    /// One star of `new T *[n]`.
    Star,
    /// `__spec`: a verifier's promise of a function that need not have a body.
    Spec,
    /// `__align__(n)` and its other spellings; the number of the argument list.
    Align(usize),
    LaunchBounds(usize),
    ClusterDims(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Where in the text it stood.
    pub at: usize,
    pub kind: MarkKind,
}

/// An `asm` statement without its operands, which are arguments of the call that stands for it.
#[derive(Clone, Debug, Default)]
pub struct Asm {
    pub template: String,
    /// One for each operand.
    pub constraints: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct PragmaAt {
    pub at: usize,
    pub text: String,
    pub span: Span,
}

/// The text, and all that was taken out of it.
#[derive(Debug, Default)]
pub struct Masked {
    pub text: String,
    pub map: TextMap,
    pub marks: Vec<Mark>,
    pub pragmas: Vec<PragmaAt>,
    pub expansions: Expansions,
    /// What is between quotes in `asm` statements, by the number in their stand-in.
    pub asm: Vec<Asm>,
    /// Where a `<` was written as `<=` to make it a comparison.
    pub less: HashSet<usize>,
}

/// Builds the text for the grammar.
pub fn mask(
    program: &Preprocessed,
    groups: &[u32],
    comments: &[Comment],
    language: Language,
    names: &Names,
) -> Masked {
    let simd = if language == Language::C { comments } else { &[] };
    let mut masker = Masker {
        tokens: &program.tokens,
        groups,
        language,
        names,
        at: 0,
        out: Masked::default(),
        lists: String::new(),
        list_segments: vec![],
        list_count: 0,
        last: None,
        parens: parens::find(&program.tokens, groups, names),
        type_arguments: HashSet::new(),
        extents: HashSet::new(),
        members: MemberPointers::default(),
        defaults: DefaultTypes::default(),
        conversions: Conversions::default(),
    };
    if language == Language::Cuda {
        let tokens = Tokens { tokens: &program.tokens, groups };
        masker.type_arguments = angles::find(&tokens, names);
        masker.extents = angles::extents_in_braces(&tokens);
        masker.members = member_pointers::find(&tokens);
        masker.defaults = default_types::find(&program.tokens);
        masker.conversions = conversions::find(&program.tokens);
    }
    let mut pragmas = program.pragmas.iter().peekable();
    let mut simd = simd.iter().filter(|c| c.text == "SIMD").peekable();
    while masker.at < masker.tokens.len() {
        while let Some(pragma) = pragmas.next_if(|p| p.before <= masker.at) {
            masker.pragma(&pragma.text, pragma.span);
        }
        let here = masker.tokens[masker.at].span;
        while let Some(c) = simd.next_if(|c| c.span.file == here.file && c.span.end <= here.start) {
            masker.pragma("SIMD", c.span);
        }
        masker.step();
    }
    for pragma in pragmas {
        masker.pragma(&pragma.text, pragma.span);
    }
    masker.finish()
}

struct Masker<'a> {
    tokens: &'a [Token],
    groups: &'a [u32],
    language: Language,
    names: &'a Names,
    at: usize,
    out: Masked,
    /// Declarations that carry attribute arguments; they go in front of the text.
    lists: String,
    list_segments: Vec<Segment>,
    list_count: usize,
    /// Index of the token written last.
    last: Option<usize>,
    /// Parentheses the grammar must not see, and ones it needs.
    parens: Parens,
    /// Ends of template arguments that need one more to be told from a comparison.
    type_arguments: HashSet<usize>,
    /// Braces that make extents of a launch.
    extents: HashSet<usize>,
    /// Types of pointers to members.
    members: MemberPointers,
    /// Defaults of template parameters that the grammar does not read as they are.
    defaults: DefaultTypes,
    /// Conversions that are called by name.
    conversions: Conversions,
}

impl Masker<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| &t.text)
    }

    fn pragma(&mut self, text: &str, span: Span) {
        let at = self.out.text.len();
        self.out.pragmas.push(PragmaAt { at, text: text.trim().to_owned(), span });
    }

    /// Handles the token at the current position, with what belongs to it.
    fn step(&mut self) {
        let at = self.at;
        let Some(token) = self.tokens.get(at) else {
            return;
        };
        if token.kind == TokenKind::Word && self.attribute(&token.text) {
            return;
        }
        if &*token.text == "[" && self.standard_attribute() {
            return;
        }
        self.at = at + 1;
        let needless = self.parens.dropped.contains(&at)
            || self.members.dropped.contains(&at)
            || self.is_pack_of_pointers(at)
            || self.is_pack_of_names(at)
            || self.is_typename_of_value(at);
        if needless {
            return;
        }
        if is_star_of_new(self.tokens, at) {
            return self.mark(MarkKind::Star);
        }
        if let Some((operator, name)) = self.through_member(at) {
            self.write(at, operator);
            self.out.text.push_str(THROUGH);
            self.out.text.push('(');
            self.at = name;
            self.last = None;
            // An element of a table of such pointers: its subscripts are part of it.
            let mut end = name + 1;
            while self.text(end) == "[" && self.group_end(end) > end {
                end = self.group_end(end);
            }
            *self.parens.closed.entry(end - 1).or_default() += 1;
            return;
        }
        if parens::is_grouped_value(self.tokens, at) {
            self.out.text.push('(');
            self.last = None;
            *self.parens.closed.entry(at).or_default() += 1;
        }
        if self.conversions.begins.contains(&at) {
            self.out.text.push_str(&format!("{CONVERSION}<"));
            self.last = None;
            return;
        }
        if self.members.ends.contains(&at) {
            self.out.text.push_str("> ");
            self.last = None;
            self.at = at + 2;
            return;
        }
        if self.defaults.begins.contains(&at) {
            self.out.text.push_str(&format!(" {TYPE_OF}<"));
            self.last = None;
        }
        let before = match (self.members.types.contains(&at), self.members.classes.contains(&at)) {
            (true, _) => format!(" {MEMBER_OF}<"),
            (_, true) => ", ".to_string(),
            _ => String::new(),
        };
        if !before.is_empty() {
            self.out.text.push_str(&before);
            self.last = None;
        }
        if let Some(count) = self.parens.opened.get(&at) {
            self.out.text.push_str(&" (".repeat(*count));
            self.last = None;
        }
        if self.is_unnamed_bits(at) || self.text(at) == ":" && at > 0 && self.text(at - 1) == "enum"
        {
            self.out.text.push(' ');
            self.out.text.push_str(UNNAMED);
            self.last = None;
        }
        if self.type_arguments.contains(&at) {
            self.out.text.push_str(", ");
            self.out.text.push_str(TYPE_ARGUMENT);
            self.last = None;
        }
        if self.extents.contains(&at) {
            self.out.text.push_str(" dim3");
            self.last = None;
        }
        match token.kind {
            TokenKind::Word if self.complex(at) => {}
            TokenKind::Word => {
                let spelled = self.spelling(&token.text);
                self.write(at, &spelled);
            }
            TokenKind::Punct if &*token.text == "<" && self.is_comparison(at) => {
                let place = self.write(at, "<=");
                self.out.less.insert(place);
            }
            _ => {
                let text = token.text.clone();
                self.write(at, &text);
            }
        }
        if let Some(object) = self.members.objects.get(&at) {
            self.out.text.push_str(object);
            self.last = None;
        }
        if self.defaults.ends.contains(&at) || self.conversions.ends.contains(&at) {
            self.out.text.push_str("> ");
            self.last = None;
        }
        if let Some(count) = self.parens.closed.get(&at) {
            self.out.text.push_str(&")".repeat(*count));
            self.last = None;
        }
    }

    /// `p->*m` and `o.*m`, for which the grammar has no rule: the operator that it reads, and where the name stands.
    fn through_member(&self, at: usize) -> Option<(&'static str, usize)> {
        let star = self.text(at + 1) == "*" && self.tokens[at + 1].glued;
        let (operator, name) = match self.text(at) {
            "->*" => ("->", at + 1),
            ".*" => (".", at + 1),
            "->" if star => ("->", at + 2),
            "." if star => (".", at + 2),
            _ => return None,
        };
        let word = self.tokens.get(name).is_some_and(|t| t.kind == TokenKind::Word);
        (word && self.language == Language::Cuda).then_some((operator, name))
    }

    /// The dots of `T *...p`: the grammar has no rule for them behind a pointer, and the name of `T` says that it is a pack.
    fn is_pack_of_pointers(&self, at: usize) -> bool {
        let mut before = at;
        loop {
            match before.checked_sub(1).map(|b| (b, self.text(b))) {
                Some((b, "const" | "__restrict__" | "__restrict" | "restrict")) => before = b,
                Some((_, "*")) => break,
                _ => return false,
            }
        }
        self.text(at) == "..."
            && self.tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Word)
            && matches!(self.text(at + 2), "," | ")")
    }

    /// The dots of `using Ts::f...;`, for which the grammar has no rule either; the name of `Ts` says that it is a pack.
    fn is_pack_of_names(&self, at: usize) -> bool {
        let before = self.tokens[..at].iter().rev().map(|t| &*t.text);
        let mut statement = before.take_while(|text| !matches!(*text, ";" | "{" | "}"));
        self.text(at) == "..." && self.text(at + 1) == ";" && statement.any(|text| text == "using")
    }

    /// The colon of `unsigned : 0;` in a class.
    fn is_unnamed_bits(&self, at: usize) -> bool {
        if self.text(at) != ":" || self.text(at + 2) != ";" || at == 0 {
            return false;
        }
        let numbered = self.tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Number);
        let mut first = at;
        while first > 0 && self.tokens[first - 1].kind == TokenKind::Word {
            first -= 1;
        }
        let word = self.text(at - 1);
        numbered
            && first < at
            && (self.names.is_type(word) || word.ends_with("_t") || OF_BITS.contains(&word))
            && (first == 0 || matches!(self.text(first - 1), ";" | "{" | "}" | ":"))
    }

    /// The word of `typename T::type{}` and `typename T::type(x)`, which the grammar reads where a value stands without it.
    fn is_typename_of_value(&self, at: usize) -> bool {
        if self.text(at) != "typename" {
            return false;
        }
        let (mut i, mut nested) = (at + 1, false);
        loop {
            i += usize::from(self.text(i) == "template");
            if self.tokens.get(i).is_none_or(|t| t.kind != TokenKind::Word) {
                return false;
            }
            i = self.behind_arguments(i + 1);
            match self.text(i) {
                "::" => (i, nested) = (i + 1, true),
                "{" => return nested,
                // `typename T::type (*f)(int)` declares.
                "(" => return nested && !matches!(self.text(i + 1), "*" | "&"),
                _ => return false,
            }
        }
    }

    /// Behind the template arguments that begin here, if any do.
    fn behind_arguments(&self, at: usize) -> usize {
        const MOST: usize = 64;
        if self.text(at) != "<" {
            return at;
        }
        let mut depth = 0;
        for i in at..at + MOST {
            match self.text(i) {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                ";" | "{" | "" => return at,
                _ => {}
            }
            if depth <= 0 {
                return i + 1;
            }
        }
        at
    }

    /// `float _Complex`, in either order, is one name to the grammar.
    fn complex(&mut self, at: usize) -> bool {
        let is_complex = |word: &str| matches!(word, "_Complex" | "__complex__" | "__complex");
        let (first, second) = (self.text(at), self.text(at + 1));
        let part = match (is_complex(first), is_complex(second)) {
            (true, false) => second,
            (false, true) => first,
            _ => return false,
        };
        let name = match part {
            "float" => COMPLEX_FLOAT,
            "double" => COMPLEX_DOUBLE,
            _ => return false,
        };
        self.at = at + 2;
        self.write(at, name);
        true
    }

    fn is_comparison(&self, at: usize) -> bool {
        let tokens = Tokens { tokens: self.tokens, groups: self.groups };
        match self.language {
            // Without templates there is nothing else that `<` after a name could be.
            Language::C => at > 0 && self.tokens[at - 1].kind == TokenKind::Word,
            Language::Cuda => self.names.is_comparison(&tokens, at),
        }
    }

    /// Writes a token and returns where it begins.
    fn write(&mut self, at: usize, text: &str) -> usize {
        let token = &self.tokens[at];
        let glued = token.glued && self.last.is_some_and(|l| l + 1 == at);
        if token.line_start && &*token.text != "#" {
            self.out.text.push('\n');
        } else if !glued {
            self.out.text.push(' ');
        }
        let start = self.out.text.len();
        self.out.text.push_str(text);
        let (span, end) = (self.written_span(at), self.out.text.len() as u32);
        self.out.map.push(Segment { start: start as u32, end, span });
        if let Some(spelled) = token.spelled {
            self.out.expansions.add(span, spelled);
        }
        self.last = Some(at);
        start
    }

    /// The place of a token, with the parentheses around it that are not written: an edit must take both or none.
    fn written_span(&self, at: usize) -> Span {
        let own = self.tokens[at].span;
        let bare = at.checked_sub(1).filter(|b| self.parens.dropped.contains(b));
        match (bare.and_then(|b| self.tokens.get(b)), self.tokens.get(at + 1)) {
            (Some(open), Some(close)) => open.span.to(own).to(close.span),
            _ => own,
        }
    }

    fn mark(&mut self, kind: MarkKind) {
        let at = self.out.text.len();
        self.out.marks.push(Mark { at, kind });
    }

    /// The index after the group in brackets that opens at `at`; `at` when none opens there.
    fn group_end(&self, at: usize) -> usize {
        match self.groups.get(at) {
            Some(end) if *end as usize > at + 1 => *end as usize,
            _ => at,
        }
    }

    /// The standard spelling of a word.
    fn spelling(&self, word: &str) -> String {
        let standard = match word {
            "__restrict" | "__restrict__" | "restrict" => "__restrict__",
            "__inline" | "__inline__" => "inline",
            "__volatile__" | "__volatile" => "volatile",
            "__const" | "__const__" => "const",
            "__signed__" | "__signed" => "signed",
            "_Static_assert" => "static_assert",
            "_Bool" => "bool",
            "_Alignof" | "__alignof__" | "__alignof" => "alignof",
            "__builtin_offsetof" => "offsetof",
            "_Thread_local" | "__thread" => "thread_local",
            "__typeof__" | "__typeof" | "typeof" => "decltype",
            _ if self.language == Language::C && CPP_WORDS.contains(&word) => {
                return format!("{word}{C_NAME}");
            }
            _ => word,
        };
        standard.to_owned()
    }

    fn finish(self) -> Masked {
        let mut out = self.out;
        let shift = self.lists.len();
        out.map.shift(shift as u32);
        out.map.prepend(self.list_segments);
        out.text = self.lists + &out.text;
        out.less = out.less.into_iter().map(|at| at + shift).collect();
        for mark in &mut out.marks {
            mark.at += shift;
        }
        for pragma in &mut out.pragmas {
            pragma.at += shift;
        }
        out
    }
}

/// Words of the types that bit-fields have.
const OF_BITS: &[&str] = &["unsigned", "signed", "int", "char", "short", "long", "bool"];

/// Words of C++ that are ordinary names in C.
const CPP_WORDS: &[&str] = &[
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "catch",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "final",
    "friend",
    "import",
    "module",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "override",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_cast",
    "template",
    "this",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
];

/// Brackets that do not match, for the message about a syntax error.
#[derive(Clone, Copy, Debug)]
pub enum Unbalanced {
    /// Never closed.
    Open(usize),
    /// Closed without being open, or by a bracket of another kind: the opener if any, and it.
    Close(Option<usize>, usize),
}

/// The first pair of brackets that does not match; indices of tokens.
pub fn unbalanced(tokens: &[Token]) -> Option<Unbalanced> {
    let pairs = HashMap::from([(")", "("), ("]", "["), ("}", "{")]);
    let mut open: Vec<usize> = vec![];
    for (i, token) in tokens.iter().enumerate().filter(|(_, t)| t.kind == TokenKind::Punct) {
        match &*token.text {
            "(" | "[" | "{" => open.push(i),
            close @ (")" | "]" | "}") => match open.pop() {
                Some(o) if Some(&&*tokens[o].text) == pairs.get(close) => {}
                opener => return Some(Unbalanced::Close(opener, i)),
            },
            _ => {}
        }
    }
    open.pop().map(Unbalanced::Open)
}
