//! Damaged sources: a valid program with tokens, statements or bytes deleted, doubled, swapped or replaced, by others of
//! the same file, of another one, or by what is known to be hard.

use std::ops::Range;

use crate::choice::Choice;

/// Text that often upsets a front end.
const SPLINTERS: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    "*",
    "&",
    "::",
    "?",
    "template<",
    "template<typename T> ",
    "#if 1\n",
    "#endif\n",
    "#define X X X\n",
    "##",
    "<<<",
    ">>>",
    "0x",
    "1e999",
    "'",
    "\"",
    "/*",
    "*/",
    "//",
    "\\\n",
    "__shared__ ",
    "struct ",
    "operator",
    "return ",
    "auto ",
    "sizeof ",
    "\u{1F600}",
    "\0",
    "\r\n",
    "#pragma omp parallel for\n",
];

/// Numbers at the edges of their types.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "1024",
    "1025",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295u",
    "9223372036854775807",
    "18446744073709551615u",
    "99999999999999999999",
    "0.0f",
    "1e38f",
    "-1",
];

/// Words that stand where types and qualifiers stand.
const TYPES: [&str; 26] = [
    "int",
    "unsigned",
    "char",
    "signed char",
    "short",
    "long long",
    "unsigned long long",
    "size_t",
    "bool",
    "float",
    "double",
    "void",
    "half",
    "float2",
    "float3",
    "float4",
    "uchar4",
    "dim3",
    "const",
    "volatile",
    "static",
    "extern",
    "__restrict__",
    "__device__",
    "__global__",
    "auto",
];

const OPERATORS: [&str; 30] = [
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "<", "<=", ">", ">=", "==",
    "!=", "=", "+=", "-=", "*=", "/=", "%=", "<<=", "^=", "++", "--", "!", "~",
];

/// What a token is, as far as a replacement needs to know.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Word,
    Number,
    Blank,
    /// Operators and brackets, one character each.
    Mark,
}

#[derive(Clone, Debug)]
struct Token {
    class: Class,
    text: Vec<u8>,
}

/// The source after one to eight random edits, some of which take pieces from `donor`; may no longer be UTF-8.
pub fn mutate_source(source: &str, donor: &str, bytes: &[u8]) -> Vec<u8> {
    let mut choice = Choice::new(bytes);
    let mut tokens = tokens(source);
    let donor = self::tokens(donor);
    for _ in 0..1 + choice.below(8) {
        if tokens.is_empty() {
            break;
        }
        match choice.below(4) {
            0 => splinter(&mut tokens, &mut choice),
            1 => shuffle(&mut tokens, &mut choice),
            2 => statement(&mut tokens, &donor, &mut choice),
            _ => same_class(&mut tokens, &donor, &mut choice),
        }
    }
    tokens.into_iter().flat_map(|t| t.text).collect()
}

/// A place for an edit: any token but a blank one, where there is one near.
fn place(tokens: &[Token], choice: &mut Choice<'_>) -> usize {
    let at = choice.below(tokens.len());
    let next = tokens[at..].iter().position(|t| t.class != Class::Blank);
    next.map_or(at, |n| at + n)
}

/// Puts in hard text, or changes one byte.
fn splinter(tokens: &mut Vec<Token>, choice: &mut Choice<'_>) {
    let at = place(tokens, choice);
    if choice.chance(70) {
        let text = choice.pick(&SPLINTERS).as_bytes().to_vec();
        tokens.insert(at, Token { class: Class::Mark, text });
        return;
    }
    let position = choice.below(tokens[at].text.len().max(1));
    if let Some(byte) = tokens[at].text.get_mut(position) {
        *byte = choice.below(256) as u8;
    }
}

/// Removes, doubles, swaps or copies tokens.
fn shuffle(tokens: &mut Vec<Token>, choice: &mut Choice<'_>) {
    let (at, other) = (place(tokens, choice), place(tokens, choice));
    match choice.below(4) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => tokens.swap(at, other),
        _ => tokens[at] = tokens[other].clone(),
    }
}

/// Removes, doubles or moves the text between two semicolons or braces, or puts in such a piece of the donor.
fn statement(tokens: &mut Vec<Token>, donor: &[Token], choice: &mut Choice<'_>) {
    let at = place(tokens, choice);
    let own = around(tokens, at);
    match choice.below(4) {
        0 => drop(tokens.drain(own)),
        1 => {
            let piece = tokens[own.clone()].to_vec();
            tokens.splice(own.end..own.end, piece);
        }
        2 => {
            let piece: Vec<Token> = tokens.drain(own).collect();
            let to = choice.below(tokens.len() + 1);
            let to = around(tokens, to).end;
            tokens.splice(to..to, piece);
        }
        _ if donor.is_empty() => {}
        _ => {
            let piece = around(donor, choice.below(donor.len()));
            tokens.splice(own.end..own.end, donor[piece].to_vec());
        }
    }
}

/// The tokens from after the `;`, `{` or `}` before `at` to the one from `at` on, that one included when it is a `;`.
fn around(tokens: &[Token], at: usize) -> Range<usize> {
    let ends = |t: &Token| matches!(t.text.as_slice(), b";" | b"{" | b"}");
    let at = at.min(tokens.len());
    let start = tokens[..at].iter().rposition(ends).map_or(0, |p| p + 1);
    match tokens[at..].iter().position(ends) {
        Some(p) => start..at + p + usize::from(tokens[at + p].text == b";"),
        None => start..tokens.len(),
    }
}

/// Replaces a token by one of its kind, so that the result has a chance to be a program.
fn same_class(tokens: &mut [Token], donor: &[Token], choice: &mut Choice<'_>) {
    let at = place(tokens, choice);
    let class = tokens[at].class;
    let known: &[&str] = match class {
        Class::Word => &TYPES,
        Class::Number => &NUMBERS,
        Class::Mark => &OPERATORS,
        Class::Blank => &["\n", " ", "\t"],
    };
    let is_type = TYPES.iter().any(|t| t.as_bytes() == tokens[at].text);
    if class == Class::Number
        || choice.chance(if is_type || class == Class::Mark { 80 } else { 10 })
    {
        tokens[at].text = choice.pick(known).as_bytes().to_vec();
        return;
    }
    let from = if choice.chance(30) { donor } else { &*tokens };
    let like: Vec<&Token> = from.iter().filter(|t| t.class == class).collect();
    if !like.is_empty() {
        tokens[at] = like[choice.below(like.len())].clone();
    }
}

/// Words, numbers, runs of blanks, and single other characters.
fn tokens(source: &str) -> Vec<Token> {
    let class = |c: char| match c {
        c if c.is_alphabetic() || c == '_' => Class::Word,
        c if c.is_ascii_digit() => Class::Number,
        c if c.is_whitespace() => Class::Blank,
        _ => Class::Mark,
    };
    let mut tokens: Vec<Token> = vec![];
    for c in source.chars() {
        let own = class(c);
        let joins = |last: Class| match last {
            Class::Word => matches!(own, Class::Word | Class::Number),
            Class::Number => matches!(own, Class::Word | Class::Number) || c == '.',
            Class::Blank => own == Class::Blank,
            Class::Mark => false,
        };
        match tokens.last_mut() {
            Some(last) if joins(last.class) => {
                last.text.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => tokens.push(Token { class: own, text: c.to_string().into_bytes() }),
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn tokens_are_the_whole_text() {
        let source = "float x2 = 1.5e3f + a[i];\n\tΔ // é";
        let tokens = tokens(source);
        let texts: Vec<&str> =
            tokens.iter().map(|t| str::from_utf8(&t.text).expect("UTF-8")).collect();
        assert_eq!(texts.concat(), source);
        assert!(texts.contains(&"1.5e3f") && texts.contains(&"x2"), "{texts:?}");
    }

    #[test]
    fn a_statement_is_what_stands_between_marks() {
        let tokens = tokens("{a;b=c;}");
        let text = |range: Range<usize>| -> String {
            tokens[range].iter().map(|t| String::from_utf8_lossy(&t.text).into_owned()).collect()
        };
        assert_eq!(text(around(&tokens, 1)), "a;");
        assert_eq!(text(around(&tokens, 4)), "b=c;");
        assert_eq!(text(around(&tokens, 99)), "");
    }

    #[test]
    fn mutants_differ_from_the_source_and_from_each_other() {
        let source =
            "void f(int n, float x[n]) {\n    for (int i = 0; i < n; i++) x[i] = 2.0f;\n}\n";
        let mutants: std::collections::HashSet<Vec<u8>> =
            (0..200).map(|seed| mutate_source(source, "int b;", &noise(seed, 100))).collect();
        assert!(mutants.len() > 150, "{}", mutants.len());
        assert!(mutate_source("", "", &noise(1, 100)).is_empty());
    }
}
