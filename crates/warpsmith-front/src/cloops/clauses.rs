//! The clauses of OpenMP directives.

use warpsmith_ir::{Diagnostic, ReduceOp};

use super::pragma::{Clauses, Item, Parsed, Section, Token, error};
use crate::spelling::nearest;

/// Clauses whose argument has no influence on the result; names inside are still checked.
const MENTIONING: &[&str] = &[
    "shared",
    "num_threads",
    "if",
    "map",
    "num_teams",
    "thread_limit",
    "device",
    "is_device_ptr",
    "has_device_addr",
    "use_device_ptr",
    "use_device_addr",
    "copyprivate",
    "copyin",
    "aligned",
    "nontemporal",
    "final",
    "filter",
    "to",
    "from",
];

/// Clauses with an argument made of keywords and numbers.
const KEYWORDS: &[&str] = &[
    "default",
    "schedule",
    "dist_schedule",
    "proc_bind",
    "defaultmap",
    "safelen",
    "simdlen",
    "order",
    "bind",
    "allocate",
];

/// Clauses without an argument.
const BARE: &[&str] = &["nowait", "untied", "mergeable"];

const LISTS: &[&str] = &[
    "private",
    "firstprivate",
    "lastprivate",
    "reduction",
    "collapse",
    "linear",
    "ordered",
    "depend",
];

/// Kinds and modifiers of `schedule`.
const SCHEDULES: &[&str] =
    &["static", "dynamic", "guided", "auto", "runtime", "monotonic", "nonmonotonic", "simd"];
/// Those that leave open which thread runs an iteration.
const DYNAMIC: &[&str] = &["dynamic", "guided", "auto", "runtime"];

/// Reads what follows the words of a directive.
pub fn parse_clauses(mut rest: &[Token]) -> Parsed<Clauses> {
    let mut clauses = Clauses::default();
    while let Some(name) = rest.first() {
        rest = &rest[1..];
        if name.text == "," {
            continue;
        }
        let (args, after) = match rest.first() {
            Some(open) if open.text == "(" => {
                let (inside, after) = parenthesised(rest, name)?;
                (Some(inside), after)
            }
            _ => (None, rest),
        };
        rest = after;
        clause(&mut clauses, name, args)?;
    }
    Ok(clauses)
}

/// Splits `( … ) rest`; `rest[0]` is the parenthesis.
pub fn parenthesised<'t>(rest: &'t [Token], clause: &Token) -> Parsed<(&'t [Token], &'t [Token])> {
    let mut depth = 0usize;
    for (i, t) in rest.iter().enumerate() {
        match t.text.as_str() {
            "(" => depth += 1,
            ")" => {
                depth -= 1;
                if depth == 0 {
                    return Ok((&rest[1..i], &rest[i + 1..]));
                }
            }
            _ => {}
        }
    }
    let d =
        error("W132", format!("`{}(` is never closed", clause.text), clause.span, "this clause");
    Err(d
        .help("add the missing `)`; a pragma ends with its line unless the line ends with `\\`")
        .into())
}

fn clause(out: &mut Clauses, name: &Token, args: Option<&[Token]>) -> Parsed<()> {
    let text = name.text.as_str();
    if BARE.contains(&text) {
        return match args {
            None => {
                out.nowait |= text == "nowait";
                Ok(())
            }
            Some(_) => {
                Err(error("W132", format!("`{text}` takes no argument"), name.span, "this clause")
                    .into())
            }
        };
    }
    if !(MENTIONING.contains(&text) || KEYWORDS.contains(&text) || LISTS.contains(&text)) {
        return Err(unknown_clause(name).into());
    }
    let Some(args) = args.filter(|a| !a.is_empty()) else {
        let d = error(
            "W132",
            format!("`{text}` needs an argument"),
            name.span,
            "nothing stands in parentheses here",
        );
        return Err(d.help(usage(text)).into());
    };
    match text {
        "collapse" => out.collapse = Some((positive(name, args)?, name.span)),
        "reduction" => reduction(out, name, args)?,
        "private" => out.private.extend(items(name, args)?),
        "firstprivate" => out.first_private.extend(items(name, args)?),
        "lastprivate" => out.last_private.extend(items(name, args)?),
        "default" => keyword(name, args, &["shared", "none", "private", "firstprivate"])?,
        "schedule" => {
            keyword(name, args, SCHEDULES)?;
            out.dynamic |= args.iter().any(|t| t.is_word() && DYNAMIC.contains(&t.text.as_str()));
        }
        "linear" | "ordered" | "depend" => {
            let d = error(
                "W134",
                format!("the clause `{text}` is not supported"),
                name.span,
                "this clause",
            );
            return Err(d
                .help("iterations of a marked loop must be independent of each other")
                .into());
        }
        _ if MENTIONING.contains(&text) => out.mentioned.extend(mentioned(args)),
        _ => {}
    }
    Ok(())
}

fn unknown_clause(name: &Token) -> Diagnostic {
    if !name.is_word() {
        return error(
            "W132",
            format!("unexpected `{}` in a pragma", name.text),
            name.span,
            "expected a clause here",
        );
    }
    let d = error(
        "W134",
        format!("unknown clause `{}`", name.text),
        name.span,
        "not a clause of this directive",
    );
    let known: Vec<&str> = [LISTS, MENTIONING, KEYWORDS, BARE].concat();
    match nearest(&name.text, known) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help("clauses of a marked loop: collapse, reduction, private, firstprivate, lastprivate, schedule …"),
    }
}

fn usage(clause: &str) -> &'static str {
    match clause {
        "collapse" => "for example `collapse(2)`",
        "reduction" => "for example `reduction(+: sum)`",
        "schedule" => "for example `schedule(static)`",
        "default" => "for example `default(none)`",
        _ => "for example `private(x, y)`",
    }
}

fn positive(name: &Token, args: &[Token]) -> Parsed<u32> {
    match args {
        [n] if n.text.parse::<u32>().is_ok_and(|v| v > 0) => Ok(n.text.parse().unwrap_or(1)),
        _ => {
            let span = args[0].span.to(args[args.len() - 1].span);
            let d = error(
                "W136",
                format!("`{}` needs a positive whole number", name.text),
                span,
                "not such a number",
            );
            Err(d.help("for example `collapse(2)`").into())
        }
    }
}

fn keyword(name: &Token, args: &[Token], known: &[&str]) -> Parsed<()> {
    let first = &args[0];
    if known.contains(&first.text.as_str()) {
        return Ok(());
    }
    let message = format!("`{}` is no kind of `{}`", first.text, name.text);
    let d = error("W136", message, first.span, "unknown kind");
    Err(d.help(format!("one of: {}", known.join(", "))).into())
}

fn reduction(out: &mut Clauses, name: &Token, args: &[Token]) -> Parsed<()> {
    let Some(colon) = args.iter().position(|t| t.text == ":") else {
        let d = error(
            "W132",
            "`reduction` needs an operator, a colon and variables".into(),
            name.span,
            "this clause",
        );
        return Err(d.help("for example `reduction(+: sum)`").into());
    };
    let op = match &args[..colon] {
        [op] => reduce_op(&op.text).ok_or(op),
        [] => Err(&args[colon]),
        [first, ..] => Err(first),
    };
    let op = op.map_err(|t| {
        error("W136", format!("`{}` is no reduction operator", t.text), t.span, "unknown operator")
            .help("one of: + * - min max & | ^ && ||")
    })?;
    if args[colon + 1..].is_empty() {
        let d = error(
            "W132",
            "`reduction` names no variable".into(),
            args[colon].span,
            "nothing follows this colon",
        );
        return Err(d.help("for example `reduction(+: sum)`").into());
    }
    out.reductions.extend(items(name, &args[colon + 1..])?.into_iter().map(|item| (op, item)));
    Ok(())
}

fn reduce_op(text: &str) -> Option<ReduceOp> {
    Some(match text {
        // OpenMP defines `-` as the sum of the private copies, which start at 0.
        "+" | "-" => ReduceOp::Add,
        "*" => ReduceOp::Mul,
        "min" => ReduceOp::Min,
        "max" => ReduceOp::Max,
        "&" => ReduceOp::BitAnd,
        "|" => ReduceOp::BitOr,
        "^" => ReduceOp::BitXor,
        "&&" => ReduceOp::LogicalAnd,
        "||" => ReduceOp::LogicalOr,
        _ => return None,
    })
}

/// `a, b, total[:1]`.
fn items(clause: &Token, args: &[Token]) -> Parsed<Vec<Item>> {
    let mut list = vec![];
    for part in args.split(|t| t.text == ",") {
        let last = part.last().unwrap_or(clause);
        let Some((name, section)) = part.split_first().filter(|(n, _)| n.is_word()) else {
            let span = part.first().map_or(clause.span, |t| t.span);
            let d = error(
                "W132",
                format!("`{}` expects names of variables", clause.text),
                span,
                "not a variable's name",
            );
            return Err(d.into());
        };
        let section = section_of(name, section, last)?;
        list.push(Item { name: name.clone(), section });
    }
    Ok(list)
}

/// What follows the name of a variable: nothing, or brackets.
fn section_of(name: &Token, rest: &[Token], last: &Token) -> Parsed<Section> {
    let texts: Vec<&str> = rest.iter().map(|t| t.text.as_str()).collect();
    match texts.as_slice() {
        [] => Ok(Section::Whole),
        ["[", ":", "1", "]"] | ["[", "0", ":", "1", "]"] | ["[", "0", "]"] => Ok(Section::One),
        ["[", .., "]"] if texts.contains(&":") => Ok(Section::Elements),
        ["[", .., "]"] => {
            let message = "expected a section, as in `h[0:n]`".to_string();
            let d = error("W132", message, name.span.to(last.span), "one element");
            Err(d.help("copy the element to a variable, and reduce to that").into())
        }
        _ => {
            let span = rest[0].span.to(last.span);
            Err(error("W132", "expected `,` or `)` here".into(), span, "unexpected").into())
        }
    }
}

/// Names in an argument that is otherwise ignored: words that are no map kind, modifier, field or array section syntax.
fn mentioned(args: &[Token]) -> Vec<Token> {
    let body = match args.iter().position(|t| t.text == ":") {
        // `map(to: A[0:n])`, `if(target: n > 9)`: what stands before the first colon outside brackets is a modifier.
        Some(colon) if !args[..colon].iter().any(|t| t.text == "[") => &args[colon + 1..],
        _ => args,
    };
    let before = |at: usize, n: usize| at.checked_sub(n).map_or("", |k| body[k].text.as_str());
    let is_field = |at| before(at, 1) == "." || (before(at, 2), before(at, 1)) == ("-", ">");
    let words = body.iter().enumerate().filter(|(_, t)| t.is_word() && t.text != "sizeof");
    words.filter(|(at, _)| !is_field(*at)).map(|(_, t)| t.clone()).collect()
}
