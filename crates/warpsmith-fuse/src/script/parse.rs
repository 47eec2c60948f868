//! From text to [`Script`]: recursive descent over tokens, each error in the words of what was expected.

use warpsmith_ir::{Diagnostic, FileId, Span};

use super::lex::{Kind, Token, tokens};
use super::syntax::*;

/// How deep loops and parentheses may be nested.
const MAX_DEPTH: u32 = 64;

/// Reads a script.
///
/// # Errors
/// W500 with what was expected; W508 when `input` or `return` is missing.
pub fn parse(text: &str, file: FileId) -> Result<Script, Diagnostic> {
    let tokens = tokens(text, file)?;
    Parser { tokens, at: 0, depth: 0 }.script()
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
}

type Parsed<T> = Result<T, Diagnostic>;

impl Parser {
    fn script(&mut self) -> Parsed<Script> {
        let mut declarations = vec![];
        while matches!((self.kind(0), self.kind(1)), (Kind::Word(_), Kind::Word(_)))
            && !self.is_word("input")
            && !self.is_word("return")
        {
            declarations.push(self.declaration()?);
        }
        if !self.is_word("input") {
            return Err(self.missing_section("input", "after the declarations"));
        }
        self.at += 1;
        let inputs = self.names("an input's name")?;
        self.expect(";")?;
        let mut body = vec![];
        while !self.is_word("return") {
            if *self.kind(0) == Kind::End {
                return Err(self.missing_section("return", "at the end"));
            }
            body.push(self.statement()?);
        }
        self.at += 1;
        let outputs = self.names("an output's name")?;
        self.expect(";")?;
        match self.kind(0) {
            Kind::End => Ok(Script { declarations, inputs, body, outputs }),
            _ => Err(self
                .wrong("nothing: `return` is the last line")
                .help("move this before `return`")),
        }
    }

    /// What stands where a section should begin decides whether it is missing or misspelled.
    fn missing_section(&self, section: &str, place: &str) -> Diagnostic {
        let example = format!("write `{section} name, name;` {place}");
        Diagnostic::error("W508", format!("this script has no `{section}` line"))
            .label(self.span(), format!("expected `{section}` before this"))
            .help(example)
    }

    fn declaration(&mut self) -> Parsed<Declaration> {
        let layout = self.layout()?;
        let ty = self.name("a type")?;
        let names = self.names("a name")?;
        self.expect(";")?;
        Ok(Declaration { layout, ty, names })
    }

    /// A layout stands where three words follow one another: of two the first is a type, whatever it is called.
    fn layout(&mut self) -> Parsed<Layout> {
        if !matches!(self.kind(2), Kind::Word(_)) {
            return Ok(Layout::default());
        }
        let layout = match self.kind(0) {
            Kind::Word(word) if word == "soa" => Layout::Soa,
            Kind::Word(word) if word == "aos" => Layout::Aos,
            _ => {
                return Err(self
                    .wrong("a type and names with commas between them")
                    .help("before the type only the layout may stand: `soa` or `aos`"));
            }
        };
        self.at += 1;
        Ok(layout)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        if self.is_word("for") {
            return self.nested(Parser::for_statement).map(Statement::For);
        }
        if self.is_word("if") || self.is_word("while") || self.is_word("else") {
            return Err(self.wrong("a call or a loop").help("a script has no branches"));
        }
        if self.is_word("input") {
            return Err(self.wrong("a call or a loop").help("one `input` line names all inputs"));
        }
        if matches!((self.kind(0), self.kind(1)), (Kind::Word(_), Kind::Word(_))) {
            return Err(self.wrong("a call or a loop").help("declarations stand before `input`"));
        }
        let target = self.name("a call or a loop")?;
        self.expect("=")?;
        let function = self.name("a function")?;
        if !self.is("(") && self.is(";") {
            return Err(self.wrong("`(`").help("only results of functions can be assigned"));
        }
        self.expect("(")?;
        let arguments = if self.is(")") { vec![] } else { self.arguments()? };
        let end = self.expect(")")?;
        self.expect(";")?;
        let span = target.span.to(end);
        Ok(Statement::Call(CallStatement { target, function, arguments, span }))
    }

    fn arguments(&mut self) -> Parsed<Vec<Name>> {
        let names = self.names("an argument's name").map_err(|d| match self.kind(0) {
            Kind::Number(_) => d.help("arguments are names: make the number an input"),
            _ => d,
        })?;
        match self.is("(") {
            true => Err(self
                .wrong("`,` or `)`")
                .help("arguments are names: give what the inner call returns a name of its own")),
            false => Ok(names),
        }
    }

    fn for_statement(&mut self) -> Parsed<ForStatement> {
        let start = self.span();
        self.at += 1;
        self.expect("(")?;
        if self.is_word("int") {
            self.at += 1;
        }
        let counter = self.name("a counter")?;
        self.expect("=")?;
        let first = self.bound()?;
        self.expect(";")?;
        self.counter_again(&counter)?;
        if self.is("<=") {
            return Err(self.wrong("`<`").help("write the limit plus 1 and `<`"));
        }
        self.expect("<")?;
        let limit = self.bound()?;
        self.expect(";")?;
        self.step(&counter)?;
        let end = self.expect(")")?;
        self.expect("{")?;
        let mut body = vec![];
        while !self.is("}") {
            if *self.kind(0) == Kind::End || self.is_word("return") {
                return Err(self.wrong("`}`").help("`return` stands after all loops"));
            }
            body.push(self.statement()?);
        }
        self.at += 1;
        Ok(ForStatement { counter, first, limit, body, span: start.to(end) })
    }

    fn step(&mut self, counter: &Name) -> Parsed<()> {
        let before = self.is("++");
        self.at += usize::from(before);
        self.counter_again(counter)?;
        if before || self.is("++") {
            self.at += usize::from(!before);
            return Ok(());
        }
        Err(self.wrong("`++`").help("loops count up by one"))
    }

    fn counter_again(&mut self, counter: &Name) -> Parsed<()> {
        let span = self.span();
        let again = self.name("the loop's counter")?;
        if again.text == counter.text {
            return Ok(());
        }
        Err(Diagnostic::error("W500", format!("expected the loop's counter `{}`", counter.text))
            .label(span, format!("this is `{}`", again.text)))
    }

    fn bound(&mut self) -> Parsed<Bound> {
        let mut left = self.product()?;
        loop {
            let sum = self.is("+");
            if !sum && !self.is("-") {
                return Ok(left);
            }
            self.at += 1;
            let right = Box::new(self.product()?);
            left = match sum {
                true => Bound::Sum(Box::new(left), right),
                false => Bound::Difference(Box::new(left), right),
            };
        }
    }

    fn product(&mut self) -> Parsed<Bound> {
        let mut left = self.factor()?;
        while self.is("*") {
            self.at += 1;
            left = Bound::Product(Box::new(left), Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Bound> {
        let span = self.span();
        if self.is("(") {
            self.at += 1;
            let inner = self.nested(Parser::bound)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.is("-") {
            self.at += 1;
            let inner = self.nested(Parser::factor)?;
            return Ok(Bound::Difference(Box::new(Bound::Number(0, span)), Box::new(inner)));
        }
        if let Kind::Number(n) = *self.kind(0) {
            self.at += 1;
            return Ok(Bound::Number(n, span));
        }
        self.name("a number or an outer loop's counter").map(Bound::Counter)
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                Diagnostic::error("W500", "this is nested too deeply").label(self.span(), "here")
            );
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.is(",") {
            self.at += 1;
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.kind(0).clone() {
            Kind::Word(text) if !matches!(text.as_str(), "for" | "input" | "return") => {
                let span = self.span();
                self.at += 1;
                Ok(Name { text, span })
            }
            _ => Err(self.wrong(what)),
        }
    }

    fn expect(&mut self, symbol: &str) -> Parsed<Span> {
        if !self.is(symbol) {
            return Err(self.wrong(&format!("`{symbol}`")));
        }
        self.at += 1;
        Ok(self.tokens[self.at - 1].span)
    }

    fn wrong(&self, expected: &str) -> Diagnostic {
        let found = match self.kind(0) {
            Kind::Word(w) => format!("`{w}`"),
            Kind::Number(n) => format!("`{n}`"),
            Kind::Symbol(s) => format!("`{s}`"),
            Kind::End => "the end of the script".to_string(),
        };
        Diagnostic::error("W500", format!("expected {expected}, found {found}"))
            .label(self.span(), format!("expected {expected}"))
    }

    /// The token so many places on; the last one, `End`, goes on for ever.
    fn kind(&self, ahead: usize) -> &Kind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.kind(0), Kind::Symbol(s) if *s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(0), Kind::Word(w) if w == word)
    }
}
