//! Names as the text form writes them.

use std::collections::HashMap;

use crate::module::Module;
use crate::types::Scalar;

/// Words with a meaning where a variable could stand.
const RESERVED: &[&str] = &[
    "let",
    "if",
    "else",
    "for",
    "outer",
    "loop",
    "while",
    "before",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "call",
    "atomic",
    "warp",
    "barrier",
    "fence",
    "async_copy",
    "fill",
    "combine",
    "vector",
    "layout",
    "async_commit",
    "async_wait",
    "printf",
    "assert",
    "assume",
    "trap",
    "launch",
    "copy_to_global",
    "runtime",
    "unroll",
    "parallel",
    "bind",
    "true",
    "false",
    "make",
    "bitcast",
    "as",
    "var",
    "shared",
    "dynamic_shared",
    "param",
    "const",
    "restrict",
    "ref",
    "pitched",
    "inferred",
    "not_null",
    "narrow",
    "kernel",
    "device",
    "host",
    "fn",
    "struct",
    "static",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "laneId",
    "warpSize",
    "activeMask",
    "dynamicSharedBytes",
    "clock",
    "clock64",
    "void",
    "volatile",
    "generic",
    "global",
    "constant",
    "local",
];

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Types that are spelled as one word.
pub(crate) fn builtin_type(word: &str) -> Option<crate::Type> {
    if word == "void" {
        return Some(crate::Type::Void);
    }
    let scalar = |word: &str| Scalar::ALL.into_iter().find(|s| s.name() == word);
    if let Some(s) = scalar(word) {
        return Some(crate::Type::Scalar(s));
    }
    let (element, count) = word.rsplit_once('x')?;
    // Exactly as printed, so that `f32x04` stays free for a struct.
    let n: u8 = count.parse().ok().filter(|n: &u8| n.to_string() == count)?;
    Some(crate::Type::Vector(scalar(element)?, n))
}

/// A name in a form that the lexer reads back.
pub(crate) fn quote(name: &str) -> String {
    if is_identifier(name) && !RESERVED.contains(&name) && builtin_type(name).is_none() {
        return name.to_string();
    }
    format!("`{}`", escape(name, '`'))
}

/// Escapes what would end the quotation or the line.
pub(crate) fn escape(text: &str, quote: char) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Labels of a list of things, in order: the name, with a suffix when it has been used before.
#[derive(Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
        let mut seen: HashMap<&str, u32> = HashMap::new();
        let label = |name| {
            let count = seen.entry(name).or_insert(0);
            let label = match *count {
                0 => quote(name),
                n => format!("{}.{n}", quote(name)),
            };
            *count += 1;
            label
        };
        Names(names.into_iter().map(label).collect())
    }

    pub fn of_structs(module: &Module) -> Names {
        Names::of(module.structs.iter().map(|s| s.name.as_str()))
    }

    /// The label; a bad id gives a text that does not parse.
    pub fn get(&self, id: u32) -> String {
        self.0.get(id as usize).cloned().unwrap_or_else(|| format!("?{id}"))
    }
}
