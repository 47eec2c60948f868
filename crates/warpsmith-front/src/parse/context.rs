//! What all converters share: the text, the places, and what was taken out of the text.

use std::ops::Range;

use tree_sitter::Node;
use warpsmith_ir::{Diagnostic, Span};

use super::mask::{ARGUMENTS, C_NAME, MarkKind, Masked};
use super::names::Names;
use crate::ast::{Attrs, Expr, Instantiation, Pragma};
use crate::pp::Language;

/// How deep statements, expressions and types may nest. Later phases walk the tree by recursion.
pub const MAX_DEPTH: usize = 512;

/// The state of one conversion.
pub struct Cx<'t> {
    pub text: &'t str,
    pub masked: &'t Masked,
    pub names: &'t Names,
    pub language: Language,
    pub diagnostics: Vec<Diagnostic>,
    /// Diagnostics of parts that may turn out not to matter.
    pub suppressed: Vec<Diagnostic>,
    /// Argument lists of attributes, by number.
    pub lists: Vec<Vec<Expr>>,
    pub instantiations: Vec<Instantiation>,
    taken: Vec<bool>,
    next_pragma: usize,
    depth: usize,
    too_deep: bool,
    /// Statements with syntax errors are left out one by one.
    pub in_part: bool,
    /// The call that is no call but the operand of a cast that is made already, see `cast_of_chain`.
    pub operand_of_cast: Option<usize>,
}

impl<'t> Cx<'t> {
    pub fn new(masked: &'t Masked, names: &'t Names, language: Language) -> Cx<'t> {
        Cx {
            text: &masked.text,
            masked,
            names,
            language,
            diagnostics: vec![],
            suppressed: vec![],
            lists: vec![],
            instantiations: vec![],
            taken: vec![false; masked.marks.len()],
            next_pragma: 0,
            depth: 0,
            too_deep: false,
            in_part: false,
            operand_of_cast: None,
        }
    }

    pub fn str(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    pub fn span(&self, node: Node<'t>) -> Span {
        self.masked.map.span(node.start_byte(), node.end_byte())
    }

    pub fn span_of(&self, range: Range<usize>) -> Span {
        self.masked.map.span(range.start, range.end)
    }

    /// A name as the user wrote it.
    pub fn name(&self, node: Node<'t>) -> String {
        self.plain(self.str(node)).to_owned()
    }

    pub fn plain<'s>(&self, name: &'s str) -> &'s str {
        name.strip_suffix(C_NAME).unwrap_or(name)
    }

    /// Runs `convert` one level deeper; nothing when that is too deep, which is reported once.
    pub fn deeper<T>(&mut self, node: Node<'t>, convert: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                let span = self.span_of(node.start_byte()..node.start_byte() + 1);
                self.diagnostics.push(
                    Diagnostic::error("W023", "this is nested too deep")
                        .label(span, format!("more than {MAX_DEPTH} levels here"))
                        .help("split the expression or statement into parts"),
                );
            }
            return None;
        }
        self.depth += 1;
        let result = convert(self);
        self.depth -= 1;
        Some(result)
    }

    /// Takes the attributes that stand in a range and fit `wanted`.
    fn take(&mut self, range: Range<usize>, wanted: impl Fn(MarkKind) -> bool) -> Vec<MarkKind> {
        let marks = &self.masked.marks;
        let first = marks.partition_point(|m| m.at < range.start);
        let mut found = vec![];
        for (i, mark) in marks.iter().enumerate().skip(first) {
            // One that stands right at the end belongs to what follows.
            if mark.at >= range.end {
                break;
            }
            if !self.taken[i] && wanted(mark.kind) {
                self.taken[i] = true;
                found.push(mark.kind);
            }
        }
        found
    }

    /// Adds to `attrs` what was written from before `node` up to `end`.
    pub fn take_attrs(&mut self, node: Node<'t>, end: usize, attrs: &mut Attrs) {
        let start = self.masked.map.end_before(node.start_byte());
        for kind in self.take(start..end, |kind| kind != MarkKind::Star) {
            match kind {
                MarkKind::Star => {}
                MarkKind::Global => attrs.global = true,
                MarkKind::Device => attrs.device = true,
                MarkKind::Host => attrs.host = true,
                MarkKind::Shared => attrs.shared = true,
                MarkKind::Constant => attrs.constant = true,
                MarkKind::Managed => attrs.managed = true,
                MarkKind::Inline => attrs.is_inline = true,
                MarkKind::Spec => attrs.is_spec = true,
                MarkKind::Align(list) => {
                    attrs.align = self.list(list).first().cloned().map(Box::new)
                }
                MarkKind::LaunchBounds(list) => attrs.launch_bounds = self.list(list).to_vec(),
                MarkKind::ClusterDims(list) => attrs.cluster_dims = self.list(list).to_vec(),
            }
        }
    }

    /// Drops the attributes in a range, where they say nothing that matters.
    pub fn drop_attrs(&mut self, range: Range<usize>) {
        self.take(range, |kind| kind != MarkKind::Star);
    }

    /// How many stars of `new T *[n]` stood in a range.
    pub fn take_stars(&mut self, range: Range<usize>) -> usize {
        self.take(range, |kind| kind == MarkKind::Star).len()
    }

    /// Takes an alignment written inside `range`.
    pub fn take_align(&mut self, range: Range<usize>) -> Option<Expr> {
        let found = self.take(range, |kind| matches!(kind, MarkKind::Align(_)));
        match found.last() {
            Some(MarkKind::Align(list)) => self.list(*list).first().cloned(),
            _ => None,
        }
    }

    fn list(&self, number: usize) -> &[Expr] {
        self.lists.get(number).map_or(&[], Vec::as_slice)
    }

    /// True when a part of the program for the device may stand in a range.
    pub fn has_device_marks(&self, range: Range<usize>) -> bool {
        let start = self.masked.map.end_before(range.start);
        let marks = &self.masked.marks;
        let first = marks.partition_point(|m| m.at < start);
        marks[first..].iter().take_while(|m| m.at < range.end).any(|m| {
            matches!(
                m.kind,
                MarkKind::Global
                    | MarkKind::Device
                    | MarkKind::Shared
                    | MarkKind::Constant
                    | MarkKind::Managed
            )
        })
    }

    /// The pragmas that stand before `at` and belong to no earlier statement.
    pub fn pragmas_before(&mut self, at: usize) -> Vec<Pragma> {
        let mut found = vec![];
        while let Some(pragma) = self.masked.pragmas.get(self.next_pragma).filter(|p| p.at <= at) {
            found.push(Pragma { text: pragma.text.clone(), span: pragma.span });
            self.next_pragma += 1;
        }
        found
    }

    /// True for the declaration that carries the arguments of an attribute.
    pub fn is_argument_list(&self, node: Node<'t>) -> bool {
        node.kind() == "declaration"
            && self.str(node).strip_prefix("int ").is_some_and(|rest| rest.starts_with(ARGUMENTS))
    }
}

/// The named children, in time linear in their number.
pub fn kids(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect()
}

/// All children, tokens included.
pub fn all_kids(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

pub fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The children of a field that may occur several times.
pub fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).collect()
}

/// True when a child token has this text.
pub fn has_token(node: Node<'_>, token: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|n| n.kind() == token)
}
