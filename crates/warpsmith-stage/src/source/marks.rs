//! The plan in the text: marked reads, places for copies, and where they stand, byte by byte.
//!
//! A mark is read from the text as written, so that everything around it can stay as it is. What is left when marks are
//! blanked out is the reference: a file of the same length whose spans are those of the original.

use std::ops::Range;

use warpsmith_front::pp::{Piece, Scanner};
use warpsmith_ir::{Diagnostic, FileId, Span};

/// The word before a read that is to come from shared memory.
pub const OPT: &str = "__opt__";
/// The call that stands where copies are to be written.
pub const INSERT: &str = "__insert";

/// A byte range of the text.
pub type Bytes = Range<usize>;

/// One `__opt__`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// From the word to the end of its operand.
    pub whole: Bytes,
    /// How it is written.
    pub kind: MarkKind,
    /// `.y` of an element that is read as a whole; mostly empty.
    pub member: Bytes,
}

/// How a mark is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// `__opt__(e)`, `__opt__ e`: the read itself, outer parentheses left out.
    Read {
        /// The read.
        expr: Bytes,
    },
    /// `__opt__(shared, global)`.
    Given {
        /// The read of shared memory that the user writes.
        shared: Bytes,
        /// The read of global memory that it stands for.
        global: Bytes,
    },
}

impl Mark {
    /// The expression that reads global memory.
    pub fn global(&self) -> Bytes {
        match &self.kind {
            MarkKind::Read { expr } => expr.clone(),
            MarkKind::Given { global, .. } => global.clone(),
        }
    }
}

/// All that a text says about staging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The marked reads, in the order of the text.
    pub reads: Vec<Mark>,
    /// `__insert();`, the semicolon left out.
    pub inserts: Vec<Bytes>,
}

/// A piece of the text that is neither blank nor comment.
#[derive(Clone, Debug)]
pub struct Tok {
    /// What it is.
    pub piece: Piece,
    /// Where it stands.
    pub at: Bytes,
    /// It belongs to a preprocessor directive.
    pub directive: bool,
}

/// How often a text mentions a name.
pub fn mentions(text: &str, name: &str) -> usize {
    tokens(text).iter().filter(|t| text[t.at.clone()] == *name).count()
}

/// The pieces of a text without comments and line ends.
pub fn tokens(text: &str) -> Vec<Tok> {
    let mut all = vec![];
    let (mut first, mut directive) = (true, false);
    for (piece, at) in Scanner::new(text, true) {
        match piece {
            Piece::Newline => (first, directive) = (true, false),
            Piece::Comment => {}
            _ => {
                directive |= first && piece == Piece::Other(b'#');
                first = false;
                // `__opt__in[c]`, as it is also written.
                let glued = piece == Piece::Word
                    && at.len() > OPT.len()
                    && text[at.clone()].starts_with(OPT);
                let mut rest = at.clone();
                if glued {
                    rest.start += OPT.len();
                    all.push(Tok { piece, at: at.start..rest.start, directive });
                }
                all.push(Tok { piece, at: rest, directive });
            }
        }
    }
    all
}

/// Reads the marks of a text.
///
/// # Errors
/// W700 for a mark without operand or with wrong arguments, W701 for one in a preprocessor directive, W702 for a marked
/// write or a read with side effects.
pub fn find(text: &str, file: FileId) -> Result<Marks, Vec<Diagnostic>> {
    let tokens = tokens(text);
    let reader = Reader { text, tokens: &tokens, file };
    let mut marks = Marks::default();
    let mut errors = vec![];
    for at in 0..tokens.len() {
        let found = match reader.word(at) {
            OPT => reader.mark(at).map(|m| marks.reads.push(m)),
            INSERT => reader.insert(at).map(|i| marks.inserts.push(i)),
            _ => continue,
        };
        errors.extend(found.err());
    }
    let nested = marks.reads.windows(2).find(|w| w[1].whole.start < w[0].whole.end);
    if let Some([_, inner]) = nested {
        errors.push(
            Diagnostic::error("W700", "a mark stands inside of another one")
                .label(span(file, &inner.whole), "this one")
                .help("mark one of the two reads"),
        );
    }
    if errors.is_empty() { Ok(marks) } else { Err(errors) }
}

/// Whether a text has marked reads.
pub fn has_marks(text: &str) -> bool {
    tokens(text).iter().any(|t| text[t.at.clone()] == *OPT)
}

/// The text in which marked reads are what they read, byte for byte as long: the program that a plan must not change.
pub fn reference(text: &str, marks: &Marks) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for mark in &marks.reads {
        blank(&mut bytes, mark.whole.start..mark.whole.start + OPT.len());
        if let MarkKind::Given { shared, global } = &mark.kind {
            blank(&mut bytes, shared.start..global.start);
        }
    }
    for insert in &marks.inserts {
        blank(&mut bytes, insert.clone());
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Makes blanks of everything but line ends.
fn blank(bytes: &mut [u8], at: Bytes) {
    for b in &mut bytes[at] {
        if *b != b'\n' && *b != b'\r' {
            *b = b' ';
        }
    }
}

/// A byte range as a span.
pub fn span(file: FileId, at: &Bytes) -> Span {
    Span { file, start: at.start as u32, end: at.end as u32 }
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Tok],
    file: FileId,
}

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(t) if t.piece == Piece::Word => &self.text[t.at.clone()],
            _ => "",
        }
    }

    fn is(&self, at: usize, byte: u8) -> bool {
        self.tokens.get(at).is_some_and(|t| t.piece == Piece::Other(byte))
    }

    /// Two bytes of punctuation without a blank between.
    fn is_pair(&self, at: usize, pair: &[u8; 2]) -> bool {
        self.is(at, pair[0])
            && self.is(at + 1, pair[1])
            && self.tokens[at].at.end == self.tokens[at + 1].at.start
    }

    fn error(&self, code: &'static str, at: &Bytes, message: &str) -> Diagnostic {
        Diagnostic::error(code, message).label(span(self.file, at), "here")
    }

    /// Marks in directives would have to suit every use of the macro.
    fn outside_directives(&self, at: usize) -> Result<(), Diagnostic> {
        let tok = &self.tokens[at];
        if !tok.directive {
            return Ok(());
        }
        let name = (0..at).rev().find(|i| self.word(*i) == "define").map(|i| self.word(i + 1));
        let Some(name) = name else {
            return Err(self.error("W701", &tok.at, "a mark cannot stand in a directive"));
        };
        let message = format!("a mark stands in the macro `{name}`");
        let mut error = self.error("W701", &tok.at, &message);
        let uses = (0..self.tokens.len()).filter(|i| !self.tokens[*i].directive);
        for used in uses.filter(|i| self.word(*i) == name).take(8) {
            error = error.label(span(self.file, &self.tokens[used].at), "expanded here");
        }
        Err(error.help(
            "an edit would have to suit every expansion: mark the read where the macro is used",
        ))
    }

    fn insert(&self, at: usize) -> Result<Bytes, Diagnostic> {
        self.outside_directives(at)?;
        let start = self.tokens[at].at.clone();
        if self.is(at + 1, b'(') && self.is(at + 2, b')') && self.is(at + 3, b';') {
            return Ok(start.start..self.tokens[at + 2].at.end);
        }
        Err(self
            .error("W700", &start, "this is not `__insert();`")
            .help("write the statement `__insert();`"))
    }

    fn mark(&self, at: usize) -> Result<Mark, Diagnostic> {
        self.outside_directives(at)?;
        let start = self.tokens[at].at.start;
        let (mut kind, next) = self.operand(at)?;
        let end = self.tokens[next - 1].at.end;
        let mut member = end..end;
        if let MarkKind::Read { expr } = &mut kind {
            let last = (at..next).find(|i| self.tokens[*i].at.end == expr.end).unwrap_or(at);
            let first = (at..next).find(|i| self.tokens[*i].at.start == expr.start).unwrap_or(at);
            if let Some(dot) = self.member(first, last) {
                member = self.tokens[dot].at.start..expr.end;
                expr.end = self.tokens[dot - 1].at.end;
                if self.is(first, b'(') && self.closing(first) == Ok(dot - 1) && dot - first > 2 {
                    *expr = self.tokens[first + 1].at.start..self.tokens[dot - 2].at.end;
                }
            }
        }
        let mark = Mark { whole: start..end, kind, member };
        self.refuse_write(at, next, &mark)?;
        self.refuse_effects(at + 1, next, &mark)?;
        Ok(mark)
    }

    /// What is marked, and the token after it.
    fn operand(&self, at: usize) -> Result<(MarkKind, usize), Diagnostic> {
        let first = at + 1;
        if self.is(first, b'(') {
            let close = self.closing(first)?;
            let commas = self.commas(first, close);
            let after = close + 1;
            if commas.is_empty() && !self.goes_on(after) {
                return Ok((MarkKind::Read { expr: self.bytes(first + 1, close)? }, after));
            }
            // A member of the read is one of what is read instead: the mark ends before it.
            if let ([comma], false) = (commas.as_slice(), self.is(after, b'[')) {
                let kind = MarkKind::Given {
                    shared: self.bytes(first + 1, *comma)?,
                    global: self.bytes(comma + 1, close)?,
                };
                return Ok((kind, after));
            }
            if !commas.is_empty() {
                let whole = self.tokens[at].at.start..self.tokens[close].at.end;
                let message = "`__opt__` takes a read, or what to read instead and a read";
                return Err(self.error("W700", &whole, message));
            }
        }
        let next = self.cast_expression(first)?;
        Ok((MarkKind::Read { expr: self.bytes(first, next)? }, next))
    }

    /// The dot of a member that an expression of postfix operators alone ends with.
    fn member(&self, first: usize, last: usize) -> Option<usize> {
        let dot = last.checked_sub(1).filter(|dot| self.is(*dot, b'.') && *dot > first)?;
        let plain = matches!(self.tokens[first].piece, Piece::Word | Piece::Other(b'('))
            && self.cast_expression(first).is_ok_and(|next| next == last + 1)
            && self.tokens[last].piece == Piece::Word;
        plain.then_some(dot)
    }

    /// Whether an operand in parentheses goes on: `(a)[i]`, `(a).x`, or a cast before its operand.
    fn goes_on(&self, at: usize) -> bool {
        let operand =
            self.tokens.get(at).is_some_and(|t| matches!(t.piece, Piece::Word | Piece::Number));
        operand
            || self.is(at, b'[')
            || self.is(at, b'.')
            || self.is(at, b'(')
            || self.is_pair(at, b"->")
    }

    /// The token after the operand of a unary operator that begins here.
    fn cast_expression(&self, mut at: usize) -> Result<usize, Diagnostic> {
        while let Some(t) = self.tokens.get(at)
            && let Piece::Other(b'*' | b'&' | b'-' | b'+' | b'!' | b'~') = t.piece
        {
            at += 1;
        }
        let here = self.tokens.get(at).map_or(self.text.len()..self.text.len(), |t| t.at.clone());
        at = match self.tokens.get(at).map(|t| t.piece) {
            Some(Piece::Other(b'(')) => self.closing(at)? + 1,
            Some(Piece::Word) => {
                let mut end = at + 1;
                while self.is_pair(end, b"::") {
                    end += 3;
                }
                end
            }
            Some(Piece::Number) => at + 1,
            _ => return Err(self.error("W700", &here, "a read is missing after `__opt__`")),
        };
        if self.tokens.get(at).is_some_and(|t| matches!(t.piece, Piece::Word | Piece::Number)) {
            // What stood in parentheses was a type.
            return self.cast_expression(at);
        }
        loop {
            at = match self.tokens.get(at).map(|t| t.piece) {
                Some(Piece::Other(b'[' | b'(')) => self.closing(at)? + 1,
                Some(Piece::Other(b'.')) => at + 2,
                Some(Piece::Other(b'-')) if self.is_pair(at, b"->") => at + 3,
                _ => return Ok(at),
            };
        }
    }

    /// The token that closes the bracket here.
    fn closing(&self, open: usize) -> Result<usize, Diagnostic> {
        let mut depth = 0usize;
        for (i, t) in self.tokens.iter().enumerate().skip(open) {
            match t.piece {
                Piece::Other(b'(' | b'[' | b'{') => depth += 1,
                Piece::Other(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(i);
            }
        }
        Err(self.error("W700", &self.tokens[open].at, "this bracket is not closed"))
    }

    /// Commas directly between two brackets.
    fn commas(&self, open: usize, close: usize) -> Vec<usize> {
        let mut depth = 0usize;
        let mut all = vec![];
        for i in open + 1..close {
            match self.tokens[i].piece {
                Piece::Other(b'(' | b'[' | b'{') => depth += 1,
                Piece::Other(b')' | b']' | b'}') => depth -= 1,
                Piece::Other(b',') if depth == 0 => all.push(i),
                _ => {}
            }
        }
        all
    }

    fn bytes(&self, first: usize, next: usize) -> Result<Bytes, Diagnostic> {
        match next > first {
            true => Ok(self.tokens[first].at.start..self.tokens[next - 1].at.end),
            false => {
                let at = self.tokens.get(first).map_or(0..0, |t| t.at.clone());
                Err(self.error("W700", &at, "a read is missing in `__opt__`"))
            }
        }
    }

    /// A mark is a value: it cannot be assigned to, counted up, or have its address taken.
    fn refuse_write(&self, at: usize, next: usize, mark: &Mark) -> Result<(), Diagnostic> {
        let assigned = (self.is(next, b'=') && !self.is_pair(next, b"=="))
            || self.is_pair(next, b"++")
            || self.is_pair(next, b"--")
            || [b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^="]
                .iter()
                .any(|p| self.is_pair(next, p))
            || [b"<<", b">>"].iter().any(|p| self.is_pair(next, p)) && self.is(next + 2, b'=');
        let counted = at >= 2 && (self.is_pair(at - 2, b"++") || self.is_pair(at - 2, b"--"));
        let before = at.checked_sub(2).and_then(|i| self.tokens.get(i)).map(|t| t.piece);
        let operand_before =
            matches!(before, Some(Piece::Word | Piece::Number | Piece::Other(b')' | b']')));
        let pointed = at >= 1
            && self.is(at - 1, b'&')
            && !operand_before
            && !self.is(at.wrapping_sub(2), b'&');
        if assigned || counted || pointed {
            let what = if pointed {
                "the address of a marked read is taken"
            } else {
                "this marks a write"
            };
            return Err(self
                .error("W702", &mark.whole, what)
                .note("only reads can be served from shared memory"));
        }
        Ok(())
    }

    fn refuse_effects(&self, first: usize, next: usize, mark: &Mark) -> Result<(), Diagnostic> {
        for i in first..next {
            let counts = self.is_pair(i, b"++") || self.is_pair(i, b"--");
            let compared = i > 0
                && [b'=', b'!', b'<', b'>'].iter().any(|b| self.is(i - 1, *b))
                && self.tokens[i - 1].at.end == self.tokens[i].at.start;
            let assigns = self.is(i, b'=') && !compared && !self.is_pair(i, b"==");
            let atomic = self.word(i).starts_with("atomic");
            // `a - -b` has a blank, and `++` between two operands is no sign of the second.
            if counts || assigns || atomic {
                return Err(self
                    .error("W702", &mark.whole, "a marked read has a side effect")
                    .label(span(self.file, &self.tokens[i].at), "it happens here")
                    .help("do this in a statement of its own before"));
            }
        }
        Ok(())
    }
}

/// The byte behind the parenthesis that closes the one which follows a byte.
pub fn closing(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut depth = 0usize;
    for t in tokens(rest) {
        match &rest[t.at.clone()] {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + t.at.end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let marks = find(text, FileId(0)).map_err(|e| e[0].message.clone())?;
        Ok(marks
            .reads
            .iter()
            .map(|m| match &m.kind {
                MarkKind::Read { expr } => text[expr.clone()].to_string(),
                MarkKind::Given { shared, global } => {
                    format!("{} <- {}", &text[shared.clone()], &text[global.clone()])
                }
            })
            .collect())
    }

    #[test]
    fn a_mark_binds_like_a_unary_star() {
        let text = "x = __opt__in[i == 0 ? c : c - 1] + __opt__ in[c]*2;";
        assert_eq!(read(text), Ok(["in[i == 0 ? c : c - 1]", "in[c]"].map(String::from).to_vec()));
        assert!(read("x = 2*__opt__(a[i], b) [k] ;").is_err());
        let text =
            "x = __opt__ in[(i==0) ? c : c-1] + -__opt__(in[c])*2 - __opt__(p)[3].x + __opt__ *q;";
        assert_eq!(
            read(text),
            Ok(["in[(i==0) ? c : c-1]", "in[c]", "(p)[3]", "*q"].map(String::from).to_vec())
        );
        assert_eq!(read("y = __opt__ __ldg(&in[c]) % 2;"), Ok(vec!["__ldg(&in[c])".into()]));
        assert_eq!(
            read("y = __opt__(tile[s + 1], in[f(a, b)]);"),
            Ok(vec!["tile[s + 1] <- in[f(a, b)]".into()])
        );
        assert_eq!(
            read("y = __opt__((float)in[c]) + __opt__ (float)in[c];").map(|r| r.len()),
            Ok(2)
        );
    }

    #[test]
    fn members_are_of_elements_that_are_read() {
        let text =
            "x = __opt__(a[i]).y + __opt__(a[i].z) + __opt__ -a[i].w + __opt__(b[i] - a[i].x);";
        assert_eq!(
            read(text),
            Ok(["a[i]", "a[i]", "-a[i].w", "b[i] - a[i].x"].map(String::from).to_vec())
        );
        let members = find(text, FileId(0)).map(|m| m.reads).unwrap_or_default();
        let members: Vec<&str> = members.iter().map(|m| &text[m.member.clone()]).collect();
        assert_eq!(members, [".y", ".z", "", ""]);
    }

    #[test]
    fn marks_in_comments_are_none() {
        assert_eq!(read("/* __opt__(a) */ x; // __opt__(b)\n"), Ok(vec![]));
    }

    #[test]
    fn writes_and_side_effects_are_refused() {
        for text in [
            "__opt__(out[c]) = 1;",
            "__opt__ out[c] += 1;",
            "p = &__opt__(a[i]);",
            "__opt__(a[i])++;",
        ] {
            assert!(
                read(text).is_err_and(|m| m.contains("marks a write") || m.contains("address")),
                "{text}"
            );
        }
        for text in
            ["x = __opt__(a[i++]);", "x = __opt__(a[i = 2]);", "x = __opt__(atomicAdd(p, 1));"]
        {
            assert_eq!(read(text), Err("a marked read has a side effect".into()), "{text}");
        }
        assert!(
            read("x = y == __opt__(a[i]) && __opt__(a[i]) == 3 && __opt__(a[j <= k]) != 2;")
                .is_ok()
        );
        assert!(read("x = y & __opt__(a[i]) && z;").is_ok());
    }

    #[test]
    fn a_mark_in_a_macro_names_its_uses() {
        let text = "#define LOAD(i) __opt__(in[i])\nx = LOAD(c) + LOAD(d);\n";
        let errors = find(text, FileId(0)).unwrap_err();
        assert_eq!(errors[0].message, "a mark stands in the macro `LOAD`");
        assert_eq!(errors[0].labels.len(), 3);
    }

    #[test]
    fn the_reference_has_every_byte_at_its_place() {
        let text = "a = __opt__(t[s],\n  in[c]) + __opt__ in[d];\n__insert();\n";
        let marks = find(text, FileId(0)).unwrap();
        let plain = reference(text, &marks);
        assert_eq!(plain, "a =        (     \n  in[c]) +         in[d];\n          ;\n");
    }
}
