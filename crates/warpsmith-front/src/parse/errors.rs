//! Syntax errors: where the grammar found no reading, and what to say about it.

use tree_sitter::Node;
use warpsmith_ir::{Diagnostic, Span};

use super::context::{Cx, all_kids, kids};
use super::map::Segment;
use super::mask::{C_NAME, Unbalanced};
use crate::pp::{Language, Token};

/// How many syntax errors of one file are worth reading.
pub const MAX_ERRORS: usize = 5;

/// Puts the first mismatch of brackets into words.
pub fn bracket_error(tokens: &[Token], found: Unbalanced) -> Option<Diagnostic> {
    let token = |at: usize| tokens.get(at);
    Some(match found {
        Unbalanced::Open(at) => {
            let open = token(at)?;
            Diagnostic::error("W022", format!("this `{}` is never closed", open.text))
                .label(open.span, "opened here")
                .help(format!("add the missing `{}`", partner(&open.text)))
        }
        Unbalanced::Close(Some(opener), at) => {
            let (open, close) = (token(opener)?, token(at)?);
            let message = format!("`{}` does not close `{}`", close.text, open.text);
            Diagnostic::error("W022", message)
                .label(close.span, format!("expected `{}` before this", partner(&open.text)))
                .label(open.span, "opened here")
        }
        Unbalanced::Close(None, at) => {
            let close = token(at)?;
            Diagnostic::error("W022", format!("no bracket is open for this `{}`", close.text))
                .label(close.span, "not expected here")
                .help(format!("remove it, or add the missing `{}`", partner(&close.text)))
        }
    })
}

fn partner(bracket: &str) -> &'static str {
    match bracket {
        "(" => ")",
        "[" => "]",
        "{" => "}",
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

impl<'t> Cx<'t> {
    /// True when a node cannot be used as it is; says so to the user where it matters.
    ///
    /// In CUDA, errors in code without any mark of the device are kept apart: a kernel does not
    /// need the host code around it.
    pub fn is_damaged(&mut self, node: Node<'t>) -> bool {
        let problems: Vec<Problem> =
            problems(node).into_iter().filter(|p| !self.is_harmless(*p)).collect();
        if problems.is_empty() {
            return false;
        }
        // A bracket too many may have cut a kernel's surroundings in two.
        let stray = node.is_error() && self.str(node).starts_with(['}', ')', ']']);
        let matters =
            self.language == Language::C || stray || self.has_device_marks(node.byte_range());
        let found: Vec<Diagnostic> =
            problems.into_iter().take(MAX_ERRORS).filter_map(|p| self.describe(p)).collect();
        let list = if matters { &mut self.diagnostics } else { &mut self.suppressed };
        for diagnostic in found {
            if list.len() < MAX_ERRORS && !list.contains(&diagnostic) {
                list.push(diagnostic);
            }
        }
        true
    }

    /// Whether a node is a function of the host whose errors are all in statements of its body.
    pub fn is_hurt_inside(&self, node: Node<'t>) -> bool {
        let function = match node.kind() {
            "template_declaration" => {
                kids(node).into_iter().find(|n| n.kind() == "function_definition")
            }
            _ => Some(node),
        };
        let Some(function) = function.filter(|f| f.kind() == "function_definition") else {
            return false;
        };
        let Some(body) = function.child_by_field_name("body") else { return false };
        let sound = |n: Node<'t>| all_kids(n).into_iter().all(|k| k == body || !k.has_error());
        let whole = (function == node
            || kids(node).iter().all(|k| *k == function || !k.has_error()))
            && sound(function)
            && all_kids(body).iter().all(|k| !k.is_missing());
        self.language == Language::Cuda
            && body.kind() == "compound_statement"
            && whole
            && !self.has_device_marks(node.start_byte()..body.start_byte())
            // A bracket too many ends the function early.
            && !all_kids(body).iter().any(|k| k.is_error() && self.str(*k).contains(['{', '}']))
    }

    /// What is said of a statement that is left out because its own text, not that of statements inside, is not
    /// understood.
    pub fn hurt_statement(&mut self, node: Node<'t>) -> Option<String> {
        let holds_statements = |k: &Node<'t>| {
            k.kind().ends_with("_statement") || matches!(k.kind(), "declaration" | "else_clause")
        };
        let own = |n: Node<'t>| {
            n.is_error()
                || n.is_missing()
                || all_kids(n).iter().any(|k| k.has_error() && !holds_statements(k))
        };
        if !self.in_part || !node.has_error() || !own(node) {
            return None;
        }
        let found = problems(node).into_iter().filter(|p| !self.is_harmless(*p));
        let found: Vec<Diagnostic> = found.take(1).filter_map(|p| self.describe(p)).collect();
        let first = found.first()?.message.clone();
        let list = match self.has_device_marks(node.byte_range()) {
            true => &mut self.diagnostics,
            false => &mut self.suppressed,
        };
        list.extend(found.into_iter().take(MAX_ERRORS.saturating_sub(list.len())));
        Some(format!("this statement ({first})"))
    }

    /// A missing `;` after what looks like a macro of a header that was not read.
    fn is_harmless(&self, problem: Problem<'t>) -> bool {
        let Problem { node, parent } = problem;
        if !node.is_missing() || node.kind() != ";" {
            return false;
        }
        let Some(statement) = parent.filter(|p| p.kind() == "expression_statement") else {
            return false;
        };
        let call = kids(statement).first().copied().filter(|n| n.kind() == "call_expression");
        let callee = call.and_then(|c| c.child_by_field_name("function"));
        callee.is_some_and(|c| {
            let name = self.str(c);
            c.kind() == "identifier"
                && name.chars().any(|c| c.is_ascii_uppercase())
                && !name.chars().any(|c| c.is_ascii_lowercase())
        })
    }

    fn describe(&self, problem: Problem<'t>) -> Option<Diagnostic> {
        let node = problem.node;
        if node.is_missing() {
            return Some(self.describe_missing(problem));
        }
        let inside = self.masked.map.within(node.start_byte(), node.end_byte());
        let first = inside.first()?;
        let text = self.shown(first);
        let before = self.token_before(first.start as usize);
        let mut error = Diagnostic::error("W020", format!("unexpected `{text}`"));
        let label = match before {
            Some(before) => format!("not understood after `{}`", self.shown(before)),
            None => "not understood".to_owned(),
        };
        error = error.label(first.span, label);
        if let Some(before) = before.filter(|b| self.may_lack_semicolon(b, first)) {
            let end = Span { start: before.span.end, ..before.span };
            error = error.label(end, "a `;` may be missing here");
        }
        Some(error)
    }

    fn describe_missing(&self, problem: Problem<'t>) -> Diagnostic {
        let node = problem.node;
        let what = match node.kind() {
            "identifier" | "type_identifier" | "field_identifier" => "a name".to_owned(),
            kind if kind.chars().any(char::is_alphabetic) => kind.replace('_', " "),
            kind => format!("`{kind}`"),
        };
        let before = self.token_before(self.missing_place(problem));
        let (span, label) = match before {
            Some(before) => {
                let end = Span { start: before.span.end, ..before.span };
                (end, format!("after `{}`", self.shown(before)))
            }
            None => (self.span(node), "here".to_owned()),
        };
        Diagnostic::error("W021", format!("expected {what}")).label(span, label)
    }

    /// Where something is missing. A body whose only statement lacks its `;` reads as a list of
    /// values, `void f() {x = 1}`, and the grammar then misses the `;` after that list.
    fn missing_place(&self, problem: Problem<'t>) -> usize {
        let Problem { node, parent } = problem;
        let body = parent
            .filter(|p| p.kind() == "declaration")
            .and_then(|p| p.child_by_field_name("declarator"))
            .filter(|d| {
                d.child_by_field_name("declarator")
                    .is_some_and(|d| d.kind() == "function_declarator")
            })
            .and_then(|d| d.child_by_field_name("value"));
        match body {
            Some(list) if list.kind() == "initializer_list" => list.end_byte().saturating_sub(1),
            _ => node.start_byte(),
        }
    }

    fn token_before(&self, at: usize) -> Option<&Segment> {
        let end = self.masked.map.end_before(at);
        self.masked.map.within(end.saturating_sub(1), end).last()
    }

    /// A token as the user wrote it.
    fn shown(&self, segment: &Segment) -> String {
        let text = self.text.get(segment.start as usize..segment.end as usize).unwrap_or("");
        let text = if self.masked.less.contains(&(segment.start as usize)) { "<" } else { text };
        let text = text.strip_suffix(C_NAME).unwrap_or(text);
        text.chars().take(40).collect()
    }

    /// Two tokens on different lines, the first of which can end a statement.
    fn may_lack_semicolon(&self, before: &Segment, after: &Segment) -> bool {
        let between = self.text.get(before.end as usize..after.start as usize).unwrap_or("");
        let text = self.shown(before);
        let ends = text
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '"' | '\''));
        between.contains('\n') && ends
    }
}

/// A node that is an error or stands for something missing, with the node around it.
///
/// The grammar library finds the parent of an empty node by a search that is quadratic in the
/// depth, so it is remembered on the way down.
#[derive(Clone, Copy)]
pub struct Problem<'t> {
    node: Node<'t>,
    parent: Option<Node<'t>>,
}

/// The error and missing nodes below a node, outermost ones only; without recursion, because the
/// tree may be as deep as the text is long.
fn problems(node: Node<'_>) -> Vec<Problem<'_>> {
    let mut found = vec![];
    let mut cursor = node.walk();
    let mut ancestors: Vec<Node<'_>> = vec![];
    loop {
        let here = cursor.node();
        let hit = here.is_error() || here.is_missing();
        if hit {
            found.push(Problem { node: here, parent: ancestors.last().copied() });
        }
        if !hit && here.has_error() && cursor.goto_first_child() {
            ancestors.push(here);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
            ancestors.pop();
        }
    }
}
