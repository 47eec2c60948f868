//! Layout: a piece of text that knows where it may be broken, fitted to the width of a line.
//!
//! After Wadler's "A prettier printer" (2003), with groups decided one by one, so that lists fill
//! their lines as clang-format's do.

/// No line of emitted code is longer than this.
pub(crate) const WIDTH: usize = 100;
/// Beyond this column too little room is left to begin something long.
const DEEP: usize = 55;
/// Columns one level of nesting moves the text to the right.
pub(crate) const INDENT: usize = 4;

#[derive(Clone, Debug)]
pub(crate) enum Doc {
    Text(String),
    /// A place to break: the text when not broken.
    Line(&'static str),
    /// As `Line(" ")`, but broken only in the right part of a line, where little room is left for
    /// what follows and may be broken itself.
    LineIfDeep,
    /// As `Line("")`, but broken only where aligned text would not fit the width.
    LastResort,
    Cat(Vec<Doc>),
    /// All breaks directly inside stay on the line if the whole does.
    Group(Box<Doc>),
    /// Breaks inside go to the column where this begins.
    Align(Box<Doc>),
    /// Breaks inside go one level deeper.
    Nest(Box<Doc>),
    /// Two ways to lay out the same text; the first is preferred where it takes no more lines.
    Either(Box<Doc>, Box<Doc>),
}

pub(crate) fn text(s: impl Into<String>) -> Doc {
    Doc::Text(s.into())
}

pub(crate) fn cat(parts: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::Cat(parts.into_iter().collect())
}

impl Doc {
    pub fn group(self) -> Doc {
        Doc::Group(Box::new(self))
    }

    pub fn align(self) -> Doc {
        Doc::Align(Box::new(self))
    }

    pub fn nest(self) -> Doc {
        Doc::Nest(Box::new(self))
    }

    /// The text on one line.
    pub fn flat(&self) -> String {
        let mut out = String::new();
        self.push_flat(&mut out);
        out
    }

    fn push_flat(&self, out: &mut String) {
        match self {
            Doc::Text(s) => out.push_str(s),
            Doc::Line(s) => out.push_str(s),
            Doc::LineIfDeep => out.push(' '),
            Doc::LastResort => {}
            Doc::Cat(parts) => parts.iter().for_each(|p| p.push_flat(out)),
            Doc::Group(d) | Doc::Align(d) | Doc::Nest(d) | Doc::Either(d, _) => d.push_flat(out),
        }
    }
}

/// `open item, item, … close`, filled, with the items aligned after the bracket.
pub(crate) fn list(open: &str, items: Vec<Doc>, close: &str) -> Doc {
    let mut inner = vec![Doc::LastResort];
    let last = items.len().saturating_sub(1);
    for (i, item) in items.into_iter().enumerate() {
        let comma = if i == last { text("") } else { text(",") };
        let item = cat([item.group(), comma]);
        inner.push(if i == 0 { item } else { cat([Doc::Line(" "), item]).group() });
    }
    cat([text(open), Doc::Cat(inner).align(), text(close)])
}

/// The document as lines of at most [`WIDTH`] columns where that is possible; the first line starts
/// at column `start`, broken ones are indented relative to `indent`.
pub(crate) fn layout(doc: &Doc, indent: usize, start: usize) -> String {
    let ways = [(true, true), (true, false), (false, true), (false, false)];
    let mut best: Option<(usize, usize, String)> = None;
    for (aligned, first) in ways {
        let text = render(doc, indent, start, Way { aligned, first, deepest: WIDTH });
        let over = widest(&text, start).saturating_sub(WIDTH);
        let lines = text.lines().count();
        if over == 0 && lines <= 1 {
            return text;
        }
        if best.as_ref().is_none_or(|b| (over, lines) < (b.0, b.1)) {
            best = Some((over, lines, text));
        }
        // Without alignment only where it does not fit otherwise.
        if !first && best.as_ref().is_some_and(|b| b.0 == 0) {
            break;
        }
    }
    let (over, _, text) = best.unwrap_or_default();
    if over == 0 {
        return text;
    }
    // Nested too deeply for its nesting to be shown.
    render(doc, indent, start, Way { aligned: false, first: false, deepest: indent + 2 * INDENT })
}

/// How choices are decided.
#[derive(Clone, Copy)]
struct Way {
    /// Alignment is kept.
    aligned: bool,
    /// Which side of each [`Doc::Either`].
    first: bool,
    /// No line begins further to the right.
    deepest: usize,
}

/// Columns of the longest line.
fn widest(s: &str, start: usize) -> usize {
    let width = |(i, line): (usize, &str)| line.chars().count() + if i == 0 { start } else { 0 };
    s.split('\n').enumerate().map(width).max().unwrap_or(0)
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Flat,
    Break,
}

fn render(doc: &Doc, indent: usize, start: usize, way: Way) -> String {
    let mut out = String::new();
    let mut column = start;
    let mut stack = vec![(indent, Mode::Break, doc)];
    while let Some((indent, mode, doc)) = stack.pop() {
        let broken = match doc {
            Doc::Line(_) => mode == Mode::Break,
            Doc::LineIfDeep => mode == Mode::Break && column > DEEP,
            Doc::LastResort => mode == Mode::Break && !way.aligned,
            _ => false,
        };
        match doc {
            Doc::Line(_) | Doc::LineIfDeep | Doc::LastResort if broken => {
                while out.ends_with(' ') {
                    out.pop();
                }
                out.push('\n');
                column = indent.min(way.deepest);
                out.push_str(&" ".repeat(column));
            }
            Doc::Text(s) => {
                out.push_str(s);
                column += s.chars().count();
            }
            Doc::Line(s) => {
                out.push_str(s);
                column += s.len();
            }
            Doc::LineIfDeep => {
                out.push(' ');
                column += 1;
            }
            Doc::LastResort => {}
            Doc::Cat(parts) => stack.extend(parts.iter().rev().map(|p| (indent, mode, p))),
            Doc::Group(d) => {
                let flat = mode == Mode::Flat || fits(column, way, d, &stack);
                stack.push((indent, if flat { Mode::Flat } else { Mode::Break }, d));
            }
            Doc::Align(d) if way.aligned => stack.push((column, mode, d)),
            Doc::Align(d) | Doc::Nest(d) => stack.push((indent + INDENT, mode, d)),
            Doc::Either(a, b) => stack.push((indent, mode, if way.first { a } else { b })),
        }
    }
    out
}

/// Whether `doc` fits on the rest of the line without breaks, together with what follows it up to
/// the next place where the line may end.
fn fits(column: usize, way: Way, doc: &Doc, rest: &[(usize, Mode, &Doc)]) -> bool {
    let mut left = WIDTH as isize - column as isize;
    let mut stack = vec![(Mode::Flat, doc)];
    let mut rest = rest.iter().rev();
    while left >= 0 {
        let (mode, doc) = match stack.pop() {
            Some(top) => top,
            None => match rest.next() {
                Some((_, mode, doc)) => (*mode, *doc),
                None => return true,
            },
        };
        match doc {
            Doc::Text(s) => left -= s.chars().count() as isize,
            Doc::Line(_) if mode == Mode::Break => return true,
            Doc::Line(s) => left -= s.len() as isize,
            Doc::LineIfDeep => left -= 1,
            Doc::LastResort => {}
            Doc::Cat(parts) => stack.extend(parts.iter().rev().map(|p| (mode, p))),
            // A group that comes later may be broken: its first break ends the line.
            Doc::Group(d) | Doc::Align(d) | Doc::Nest(d) => stack.push((mode, d)),
            Doc::Either(a, b) => stack.push((mode, if way.first { a } else { b })),
        }
    }
    false
}

/// Text under construction, with the current nesting.
#[derive(Debug, Default)]
pub(crate) struct Out {
    pub text: String,
    pub depth: usize,
}

impl Out {
    pub fn line(&mut self, line: &str) {
        self.doc(&text(line));
    }

    /// A document on lines of its own; an empty one is an empty line.
    pub fn doc(&mut self, doc: &Doc) {
        let indent = self.depth * INDENT;
        let body = layout(doc, indent, indent);
        if !body.is_empty() {
            self.text.push_str(&" ".repeat(indent));
            self.text.push_str(&body);
        }
        self.text.push('\n');
    }

    /// An empty line, unless there is one already or the block has just begun.
    pub fn gap(&mut self) {
        let begun = self.text.ends_with("{\n") || self.text.ends_with(":\n");
        if !begun && !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A `//` comment, wrapped at words.
    pub fn comment(&mut self, comment: &str) {
        comment.split('\n').for_each(|paragraph| self.hanging("", paragraph));
    }

    /// A paragraph of a `//` comment that begins with `label`; further lines are indented as far.
    pub fn hanging(&mut self, label: &str, paragraph: &str) {
        let prefix = " ".repeat(self.depth * INDENT) + "// ";
        let mut line = format!("{prefix}{label}");
        let mut empty = true;
        for word in Words::of(paragraph) {
            let wide = line.chars().count() + 1 + word.chars().count() > WIDTH;
            if wide && !empty {
                self.text.push_str(line.trim_end());
                self.text.push('\n');
                line = prefix.clone() + &" ".repeat(label.chars().count());
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
        self.unsplice();
    }

    /// A comment line must not end in a backslash, which would join the next line to it.
    fn unsplice(&mut self) {
        while let Some(at) = self.text.find("\\\n") {
            self.text.insert(at + 1, '.');
        }
    }
}

/// Words with the blanks in front of them beyond one, so that tables in comments stay aligned.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn of(paragraph: &'a str) -> Words<'a> {
        Words { rest: paragraph.trim_end() }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let lead = self.rest.len() - self.rest.trim_start_matches(' ').len();
        let end = self.rest[lead..].find(' ').map_or(self.rest.len(), |i| lead + i);
        let word = &self.rest[..end];
        self.rest = self.rest[end..].strip_prefix(' ').unwrap_or(&self.rest[end..]);
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(n: usize) -> Vec<Doc> {
        (0..n).map(|i| text(format!("parameter_{i}"))).collect()
    }

    #[test]
    fn a_list_that_fits_stays_on_its_line() {
        assert_eq!(
            layout(&list("f(", words(3), ")"), 0, 0),
            "f(parameter_0, parameter_1, parameter_2)"
        );
    }

    #[test]
    fn a_long_list_fills_lines_and_aligns_after_the_bracket() {
        let s = layout(&list("f(", words(12), ")"), 0, 0);
        let lines: Vec<&str> = s.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("parameter_6,"), "{s}");
        assert!(lines[1].starts_with("  parameter_7, "), "{s}");
        assert!(s.lines().all(|l| l.len() <= WIDTH));
    }

    #[test]
    fn nesting_gives_way_where_it_takes_all_the_room() {
        let name = "parameter_of_a_rather_long_name";
        let nested = (0..40)
            .fold(text("x"), |inner, i| list("f(", vec![text(format!("{name}{i}")), inner], ")"));
        let s = layout(&nested, 4, 4);
        assert!(s.lines().all(|l| l.len() <= WIDTH), "{s}");
        assert_eq!(s.matches(name).count(), 40);
    }

    #[test]
    fn alignment_gives_way_where_there_is_no_room() {
        let wide = "a".repeat(90);
        let s = layout(&list(&format!("{wide}("), words(2), ")"), 0, 0);
        assert_eq!(s, format!("{wide}(\n    parameter_0, parameter_1)"));
    }

    #[test]
    fn comments_wrap_at_words_and_never_splice_lines() {
        let mut out = Out { depth: 1, ..Out::default() };
        out.comment(&"word ".repeat(30));
        assert!(out.text.lines().all(|l| l.len() <= WIDTH && l.starts_with("    // word")));
        assert_eq!(out.text.lines().count(), 2);
        let mut out = Out::default();
        out.comment("ends in a \\");
        assert!(!out.text.contains("\\\n"));
    }
}
