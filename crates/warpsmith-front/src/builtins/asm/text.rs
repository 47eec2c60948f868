//! The text of an `asm` template, cut into instructions.

/// `@!p add.s32 %0, %1, 4;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The predicate register, and whether it is negated.
    pub guard: Option<(String, bool)>,
    /// The words of the name: `add`, `s32`; never empty.
    pub words: Vec<String>,
    /// The operands, trimmed: `%0`, `[%1+4]`, `{%0, %1}`.
    pub operands: Vec<String>,
    /// All of it, for messages.
    pub whole: String,
}

/// The name of what stands for a label.
const LABEL: &str = ":";

impl Instruction {
    fn label(name: &str) -> Instruction {
        let (words, operands) = (vec![LABEL.to_string()], vec![name.to_string()]);
        Instruction { guard: None, words, operands, whole: format!("{name}:") }
    }

    /// The name of a label.
    pub fn as_label(&self) -> Option<&str> {
        self.operands.first().filter(|_| self.name() == LABEL).map(String::as_str)
    }

    pub fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    /// The last word, which names the type of most instructions.
    pub fn suffix(&self) -> &str {
        self.words.last().map_or("", String::as_str)
    }
}

/// The instructions of a template; braces around a group of them only limit the names of registers.
pub fn instructions(template: &str) -> Vec<Instruction> {
    let mut plain = String::new();
    for line in template.replace("%%", "%").lines() {
        plain.push_str(line.split("//").next().unwrap_or(""));
        plain.push('\n');
    }
    let mut list = vec![];
    for piece in plain.split(';') {
        let mut rest = bare(piece);
        while let Some((label, after)) = label(rest) {
            list.push(Instruction::label(label));
            rest = bare(after);
        }
        if !rest.is_empty() {
            list.push(instruction(rest));
        }
    }
    list
}

/// Without braces and white space before it.
fn bare(text: &str) -> &str {
    text.trim_start_matches(|c: char| "{}".contains(c) || c.is_whitespace()).trim()
}

/// `name: rest`; two colons are a part of a word.
fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let fits = |c: char| c.is_alphanumeric() || "_$%=".contains(c);
    (!name.is_empty() && name.chars().all(fits) && !rest.starts_with(':')).then_some((name, rest))
}

fn instruction(text: &str) -> Instruction {
    let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = whole.as_str();
    let mut guard = None;
    if let Some(after) = rest.strip_prefix('@') {
        let (name, tail) = after.split_once(' ').unwrap_or((after, ""));
        guard = Some((name.trim_start_matches('!').to_string(), name.starts_with('!')));
        rest = tail.trim_start();
    }
    let (name, operands) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
    let words = if name.starts_with('.') {
        vec![name.to_string()]
    } else {
        name.split('.').map(str::to_string).collect()
    };
    Instruction { guard, words, operands: split(operands), whole: whole.clone() }
}

/// Parts between commas that no bracket encloses.
pub fn split(text: &str) -> Vec<String> {
    let mut parts = vec![];
    let (mut depth, mut part) = (0i32, String::new());
    for c in text.chars() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part).trim().to_string());
        } else {
            part.push(c);
        }
    }
    if !part.trim().is_empty() {
        parts.push(part.trim().to_string());
    }
    parts
}

/// `{%0, %1}` as its parts; anything else as one.
pub fn parts(operand: &str) -> Vec<String> {
    match operand.strip_prefix('{').and_then(|o| o.strip_suffix('}')) {
        Some(inner) => split(inner),
        None => vec![operand.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_cut_into_instructions() {
        let list = instructions(
            "{\n .reg .pred p;\n setp.ne.b32 p, %0, 0; // why\n @!p ld.global.v2.f32 {%1, %2}, [%3 + 8];\n}\n",
        );
        let names: Vec<String> = list.iter().map(|i| i.words.join(".")).collect();
        assert_eq!(names, [".reg", "setp.ne.b32", "ld.global.v2.f32"]);
        assert_eq!(list[2].guard, Some(("p".into(), true)));
        assert_eq!(list[2].operands, ["{%1, %2}", "[%3 + 8]"]);
        assert_eq!(parts(&list[2].operands[0]), ["%1", "%2"]);
    }

    #[test]
    fn labels_stand_apart_from_instructions() {
        let list = instructions(
            "{\nL_%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 1;\n@p bra D; bra L_%=;\nD:\n}",
        );
        let labels: Vec<Option<&str>> = list.iter().map(Instruction::as_label).collect();
        assert_eq!(labels, [Some("L_%="), None, None, None, Some("D")]);
        assert!(list[1].has("shared::cta"));
    }

    #[test]
    fn damaged_text_gives_instructions_nobody_knows() {
        for text in ["", ";;;", "{", "}}", "@", "@p", "add.s32 %0,,", "[", "%%%"] {
            assert!(instructions(text).iter().all(|i| !i.words.is_empty()), "{text}");
        }
    }
}
