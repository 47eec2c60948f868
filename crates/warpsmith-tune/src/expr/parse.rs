//! Reads the text of an expression.

use std::ops::Range;

use winnow::ModalResult as Result;
use winnow::Parser;
use winnow::ascii::multispace0;
use winnow::combinator::{
    alt, cut_err, delimited, eof, not, opt, peek, preceded, repeat, separated, terminated,
};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::{any, one_of, take_while};

use super::{Binary, Compare, Expr, ExprError, Function, Kind, Unary};
use crate::value::Value;

/// Longest text in bytes, and deepest nesting of brackets: far beyond what people write, and safe for the stack.
const LONGEST: usize = 2000;
const DEEPEST: usize = 40;
/// Most signs, `not`s, powers and `else`s in a row.
const MOST_PREFIXES: usize = 16;

type Input<'a> = LocatingSlice<&'a str>;
type Error = ErrMode<ContextError>;

pub(super) fn parse(text: &str) -> std::result::Result<Expr, ExprError> {
    check_size(text)?;
    let mut whole =
        delimited(multispace0, expression, eof.context(wanted("an operator or the end")));
    match whole.parse(LocatingSlice::new(text)) {
        Ok(expr) => Ok(expr),
        Err(error) => {
            let at = error.offset();
            let expected = error.inner().context().find_map(|c| match c {
                StrContext::Expected(StrContextValue::Description(text)) => Some(*text),
                _ => None,
            });
            let message = match expected {
                Some(expected) => format!("{expected} is wanted here"),
                None => "not understood".to_string(),
            };
            Err(ExprError { span: word_at(text, at), message, help: hint(text, at) })
        }
    }
}

/// Refuses what would need a deep stack.
fn check_size(text: &str) -> std::result::Result<(), ExprError> {
    let too = |span: Range<usize>, message: &str| {
        Err(ExprError { span, message: message.to_string(), help: None })
    };
    if text.len() > LONGEST {
        return too(0..text.len(), "longer than 2000 bytes");
    }
    if text.matches("**").count() > MOST_PREFIXES {
        return too(0..text.len(), "more than 16 powers");
    }
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return too(at..at + 1, "more than 40 brackets inside each other");
        }
    }
    Ok(())
}

/// The word, or else the character, that starts at a byte; empty at the end.
fn word_at(text: &str, at: usize) -> Range<usize> {
    let rest = text.get(at..).unwrap_or("");
    let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    at..at + length
}

fn hint(text: &str, at: usize) -> Option<String> {
    let rest = text.get(at..).unwrap_or("");
    let hint = match rest {
        _ if rest.starts_with("&&") => "write `and`",
        _ if rest.starts_with("||") => "write `or`",
        _ if rest.starts_with('!') && !rest.starts_with("!=") => "write `not`",
        _ if rest.starts_with('?') => "write `A if CONDITION else B`",
        _ if rest.starts_with("lambda") => "write the condition on the parameters' names alone",
        _ if rest.starts_with('=') => "write `==` to compare",
        _ => return None,
    };
    Some(hint.to_string())
}

fn wanted(text: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(text))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A parser, and the blanks after it.
fn lexeme<'a, O>(inner: impl Parser<Input<'a>, O, Error>) -> impl Parser<Input<'a>, O, Error> {
    terminated(inner, multispace0)
}

/// A sign that is not the start of a longer one.
fn sign<'a>(text: &'static str, unless: &'static str) -> impl Parser<Input<'a>, (), Error> {
    lexeme(terminated(text, not(one_of(move |c: char| unless.contains(c))))).void()
}

fn keyword<'a>(word: &'static str) -> impl Parser<Input<'a>, (), Error> {
    lexeme(terminated(word, not(one_of(is_word)))).void()
}

fn expression(input: &mut Input) -> Result<Expr> {
    let first = disjunction.parse_next(input)?;
    let rest: Vec<(Expr, Expr)> = repeat(
        0..=MOST_PREFIXES,
        (
            preceded(keyword("if"), cut_err(disjunction)),
            preceded(
                cut_err(keyword("else")).context(wanted("`else` with the other value")),
                cut_err(disjunction),
            ),
        ),
    )
    .parse_next(input)?;
    // `a if p else b if q else c` groups to the right.
    let mut values = vec![first];
    let mut conditions = vec![];
    for (condition, value) in rest {
        conditions.push(condition);
        values.push(value);
    }
    let mut result = values.pop();
    while let (Some(condition), Some(then)) = (conditions.pop(), values.pop()) {
        let Some(other) = result else { break };
        let span = then.span.start..other.span.end;
        let (condition, then, other) = (Box::new(condition), Box::new(then), Box::new(other));
        result = Some(Expr { span, kind: Kind::If { condition, then, other } });
    }
    result.ok_or_else(|| ErrMode::Backtrack(ContextError::new()))
}

fn disjunction(input: &mut Input) -> Result<Expr> {
    let items: Vec<Expr> = separated(1.., conjunction, keyword("or")).parse_next(input)?;
    Ok(several(items, Kind::Or))
}

fn conjunction(input: &mut Input) -> Result<Expr> {
    let items: Vec<Expr> = separated(1.., negation, keyword("and")).parse_next(input)?;
    Ok(several(items, Kind::And))
}

fn several(mut items: Vec<Expr>, kind: fn(Vec<Expr>) -> Kind) -> Expr {
    if items.len() == 1 {
        return items.remove(0);
    }
    let span = items[0].span.start..items[items.len() - 1].span.end;
    Expr { span, kind: kind(items) }
}

fn negation(input: &mut Input) -> Result<Expr> {
    let start = input.current_token_start();
    let nots: Vec<()> = repeat(0..=MOST_PREFIXES, keyword("not")).parse_next(input)?;
    let mut result = comparison.parse_next(input)?;
    for () in nots {
        let span = start..result.span.end;
        result = Expr { span, kind: Kind::Unary(Unary::Not, Box::new(result)) };
    }
    Ok(result)
}

fn comparison(input: &mut Input) -> Result<Expr> {
    let first = bit_or.parse_next(input)?;
    let rest: Vec<(Compare, Expr)> =
        repeat(0.., (compare_operator, cut_err(bit_or))).parse_next(input)?;
    match rest.last() {
        None => Ok(first),
        Some((_, last)) => {
            let span = first.span.start..last.span.end;
            Ok(Expr { span, kind: Kind::Compare(Box::new(first), rest) })
        }
    }
}

fn compare_operator(input: &mut Input) -> Result<Compare> {
    alt((
        sign("<=", "").value(Compare::LessEqual),
        sign(">=", "").value(Compare::GreaterEqual),
        sign("==", "").value(Compare::Equal),
        sign("!=", "").value(Compare::NotEqual),
        sign("<", "<").value(Compare::Less),
        sign(">", ">").value(Compare::Greater),
        keyword("in").value(Compare::In),
        (keyword("not"), keyword("in")).value(Compare::NotIn),
    ))
    .parse_next(input)
}

/// Operands joined by operators of one rank, grouped to the left.
fn left<'a>(
    operand: fn(&mut Input<'a>) -> Result<Expr>,
    mut operator: impl Parser<Input<'a>, Binary, Error>,
) -> impl FnMut(&mut Input<'a>) -> Result<Expr> {
    move |input| {
        let mut result = operand(input)?;
        while let Some(op) = opt(operator.by_ref()).parse_next(input)? {
            let right = cut_err(operand).parse_next(input)?;
            let span = result.span.start..right.span.end;
            result = Expr { span, kind: Kind::Binary(op, Box::new(result), Box::new(right)) };
        }
        Ok(result)
    }
}

fn bit_or(input: &mut Input) -> Result<Expr> {
    left(bit_xor, sign("|", "|").value(Binary::BitOr))(input)
}

fn bit_xor(input: &mut Input) -> Result<Expr> {
    left(bit_and, sign("^", "").value(Binary::BitXor))(input)
}

fn bit_and(input: &mut Input) -> Result<Expr> {
    left(shift, sign("&", "&").value(Binary::BitAnd))(input)
}

fn shift(input: &mut Input) -> Result<Expr> {
    let operators = alt((sign("<<", "").value(Binary::Shl), sign(">>", "").value(Binary::Shr)));
    left(sum, operators)(input)
}

fn sum(input: &mut Input) -> Result<Expr> {
    left(product, alt((sign("+", "").value(Binary::Add), sign("-", "").value(Binary::Sub))))(input)
}

fn product(input: &mut Input) -> Result<Expr> {
    let operators = alt((
        sign("//", "").value(Binary::FloorDiv),
        sign("/", "/").value(Binary::Div),
        sign("%", "").value(Binary::Mod),
        sign("*", "*").value(Binary::Mul),
    ));
    left(prefixed, operators)(input)
}

/// Signs before a power; `-a ** b` is `-(a ** b)`.
fn prefixed(input: &mut Input) -> Result<Expr> {
    let operator = alt(('-'.value(Unary::Minus), '+'.value(Unary::Plus), '~'.value(Unary::Invert)));
    let signs: Vec<(Unary, usize)> =
        repeat(0..=MOST_PREFIXES, lexeme(operator.with_span()).map(|(op, span)| (op, span.start)))
            .parse_next(input)?;
    let mut result = power.parse_next(input)?;
    for (op, start) in signs.into_iter().rev() {
        let span = start..result.span.end;
        result = Expr { span, kind: Kind::Unary(op, Box::new(result)) };
    }
    Ok(result)
}

/// `a ** -b ** c` groups to the right.
fn power(input: &mut Input) -> Result<Expr> {
    let base = postfix.parse_next(input)?;
    if opt(sign("**", "")).parse_next(input)?.is_none() {
        return Ok(base);
    }
    // The recursion is bounded: `check_size` counts the powers.
    let exponent = cut_err(prefixed).parse_next(input)?;
    let span = base.span.start..exponent.span.end;
    Ok(Expr { span, kind: Kind::Binary(Binary::Pow, Box::new(base), Box::new(exponent)) })
}

fn postfix(input: &mut Input) -> Result<Expr> {
    let mut result = atom.parse_next(input)?;
    while opt(sign("[", "")).parse_next(input)?.is_some() {
        let index = cut_err(expression).parse_next(input)?;
        let end = close("]", "`]`", input)?;
        let span = result.span.start..end;
        result = Expr { span, kind: Kind::Index(Box::new(result), Box::new(index)) };
    }
    Ok(result)
}

/// A closing bracket and the byte after it.
fn close(bracket: &'static str, name: &'static str, input: &mut Input) -> Result<usize> {
    cut_err(lexeme(bracket.span())).context(wanted(name)).parse_next(input).map(|s| s.end)
}

fn atom(input: &mut Input) -> Result<Expr> {
    alt((number, string, bracketed, word)).context(wanted("a value")).parse_next(input)
}

fn number(input: &mut Input) -> Result<Expr> {
    let digits = |input: &mut Input<'_>| -> Result<()> {
        take_while(1.., |c: char| c.is_ascii_digit() || c == '_').void().parse_next(input)
    };
    let exponent = |input: &mut Input<'_>| -> Result<()> {
        (one_of(['e', 'E']), opt(one_of(['+', '-'])), digits).void().parse_next(input)
    };
    let float = alt((
        (digits, '.', opt(digits), opt(exponent)).void(),
        ('.', digits, opt(exponent)).void(),
        (digits, exponent).void(),
    ))
    .take()
    .verify_map(|text: &str| text.replace('_', "").parse().ok().map(Value::Float));
    let hexadecimal = preceded(
        alt(("0x", "0X")),
        cut_err(take_while(1.., |c: char| c.is_ascii_hexdigit()))
            .verify_map(|text: &str| i64::from_str_radix(text, 16).ok().map(Value::Int)),
    );
    let integer =
        digits.take().verify_map(|text: &str| text.replace('_', "").parse().ok().map(Value::Int));
    let literal = terminated(alt((hexadecimal, float, integer)), not(one_of(is_word)));
    lexeme(literal.with_span())
        .map(|(value, span)| Expr { span, kind: Kind::Const(value) })
        .parse_next(input)
}

fn string(input: &mut Input) -> Result<Expr> {
    let quoted = |quote: char| {
        move |input: &mut Input<'_>| -> Result<String> {
            let character = alt((
                preceded('\\', any.verify_map(unescape)),
                any.verify(move |c: &char| *c != quote && *c != '\\'),
            ));
            delimited(quote, repeat(0.., character), cut_err(quote))
                .context(wanted("the end of the string"))
                .parse_next(input)
        }
    };
    lexeme(alt((quoted('\''), quoted('"'))).with_span())
        .map(|(text, span)| Expr { span, kind: Kind::Const(Value::Str(text)) })
        .parse_next(input)
}

fn unescape(c: char) -> Option<char> {
    Some(match c {
        'n' => '\n',
        't' => '\t',
        '\\' | '\'' | '"' => c,
        _ => return None,
    })
}

/// A group, a tuple, a list, or a list made by a comprehension.
fn bracketed(input: &mut Input) -> Result<Expr> {
    let start = input.current_token_start();
    let round = alt((sign("(", "").value(true), sign("[", "").value(false))).parse_next(input)?;
    let (mut items, comma) = items(input)?;
    let variable = match items.as_slice() {
        [_] if !comma => opt(keyword("for")).parse_next(input)?.is_some(),
        _ => false,
    };
    if variable {
        let element = items.remove(0);
        let kind = comprehension(element, input)?;
        let end = if round { close(")", "`)`", input)? } else { close("]", "`]`", input)? };
        return Ok(Expr { span: start..end, kind });
    }
    let end = if round {
        close(")", "an operator, `,` or `)`", input)?
    } else {
        close("]", "an operator, `,` or `]`", input)?
    };
    if round && items.len() == 1 && !comma {
        let inner = items.remove(0);
        return Ok(Expr { span: start..end, kind: inner.kind });
    }
    Ok(Expr { span: start..end, kind: Kind::List(items) })
}

/// Expressions between commas, and whether there was a comma.
fn items(input: &mut Input) -> Result<(Vec<Expr>, bool)> {
    let mut items = vec![];
    let mut comma = false;
    loop {
        if opt(peek(alt((')', ']')))).parse_next(input)?.is_some() {
            return Ok((items, comma));
        }
        items.push(cut_err(expression).parse_next(input)?);
        if opt(sign(",", "")).parse_next(input)?.is_none() {
            return Ok((items, comma));
        }
        comma = true;
    }
}

/// What follows `[element for`.
fn comprehension(mut element: Expr, input: &mut Input) -> Result<Kind> {
    let variable = cut_err(lexeme(identifier)).context(wanted("a name")).parse_next(input)?;
    cut_err(keyword("in")).context(wanted("`in`")).parse_next(input)?;
    let source = Box::new(cut_err(disjunction).parse_next(input)?);
    let mut filter = match opt(keyword("if")).parse_next(input)? {
        Some(()) => Some(Box::new(cut_err(disjunction).parse_next(input)?)),
        None => None,
    };
    let variable = variable.to_string();
    let mut localise = |expr: &mut Expr| {
        if matches!(&expr.kind, Kind::Name(name) if *name == variable) {
            expr.kind = Kind::Local(variable.clone());
        }
    };
    element.rewrite(&mut localise);
    if let Some(filter) = &mut filter {
        filter.rewrite(&mut localise);
    }
    Ok(Kind::Each { element: Box::new(element), variable, source, filter })
}

fn identifier<'a>(input: &mut Input<'a>) -> Result<&'a str> {
    (one_of(|c: char| c.is_alphabetic() || c == '_'), take_while(0.., is_word))
        .take()
        .parse_next(input)
}

/// Words that mean something else than a value where a value is wanted.
const RESERVED: [&str; 11] =
    ["and", "or", "not", "in", "if", "else", "for", "lambda", "is", "None", "import"];

/// A constant, a call, or a parameter.
fn word(input: &mut Input) -> Result<Expr> {
    let start = input.checkpoint();
    let name = (
        identifier.verify(|w: &str| !RESERVED.contains(&w)),
        repeat::<_, _, (), _, _>(0.., ('.', identifier)),
    )
        .take();
    let (name, span) = lexeme(name.with_span()).parse_next(input)?;
    match name {
        "True" => return Ok(Expr { span, kind: Kind::Const(Value::Bool(true)) }),
        "False" => return Ok(Expr { span, kind: Kind::Const(Value::Bool(false)) }),
        _ => {}
    }
    let called = opt(peek('(')).parse_next(input)?.is_some();
    if !called && !name.contains('.') {
        return Ok(Expr { span, kind: Kind::Name(name.to_string()) });
    }
    let Some(function) = Function::named(name).filter(|_| called) else {
        input.reset(&start);
        let known = "a function that is known (min, max, abs, len, sum, any, all, int, float, bool, round, pow, \
                     ceil, floor, sqrt, log2, range, list)";
        return cut_err(winnow::combinator::fail.context(wanted(known))).parse_next(input);
    };
    sign("(", "").parse_next(input)?;
    let (mut arguments, comma) = items(input)?;
    if let [_] = arguments.as_slice()
        && !comma
        && opt(keyword("for")).parse_next(input)?.is_some()
    {
        let element = arguments.remove(0);
        let from = element.span.start;
        let kind = comprehension(element, input)?;
        arguments.push(Expr { span: from..input.current_token_start(), kind });
    }
    let end = close(")", "an operator, `,` or `)`", input)?;
    Ok(Expr { span: span.start..end, kind: Kind::Call(function, arguments) })
}
