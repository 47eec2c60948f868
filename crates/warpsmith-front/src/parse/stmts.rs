//! Statements and blocks.

use tree_sitter::Node;

use super::context::{Cx, field, has_token, kids};
use super::mask::ASM;
use crate::ast::{
    AsmOperand, Block, Declarator, Expr, ExprKind, Initializer, LocalItem, Path, PathSegment,
    Pragma, Stmt, StmtKind, VarDecl,
};

impl<'t> Cx<'t> {
    pub fn block(&mut self, node: Node<'t>) -> Block {
        let mut stmts = vec![];
        for child in kids(node) {
            self.statement(child, &mut stmts);
        }
        // A pragma with nothing after it, such as `omp barrier`, still stands in the block.
        self.loose_pragmas(node.end_byte().saturating_sub(1), &mut stmts);
        Block { stmts, span: Some(self.span(node)) }
    }

    fn loose_pragmas(&mut self, before: usize, out: &mut Vec<Stmt>) {
        let pragmas = self.pragmas_before(before);
        if let Some(last) = pragmas.last() {
            let span = last.span;
            out.push(Stmt { kind: StmtKind::Empty, pragmas, span });
        }
    }

    /// Converts a statement; labels and cases become statements of their own before it.
    pub fn statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let pragmas = self.pragmas_before(node.start_byte());
        let from = out.len();
        if let Some(what) = self.hurt_statement(node) {
            self.pragmas_before(node.end_byte().saturating_sub(1));
            return out.push(self.stmt(StmtKind::Unsupported { what }, node));
        }
        let fits = self.deeper(node, |cx| cx.statement_kind(node, out));
        if fits.is_none() {
            out.push(self.stmt(StmtKind::Unsupported { what: "deep nesting".to_owned() }, node));
        }
        if !pragmas.is_empty() {
            match out.get_mut(from) {
                Some(first) => first.pragmas.splice(0..0, pragmas).for_each(drop),
                None => out.push(Stmt { kind: StmtKind::Empty, pragmas, span: self.span(node) }),
            }
        }
    }

    pub fn stmt(&self, kind: StmtKind, node: Node<'t>) -> Stmt {
        Stmt { kind, pragmas: vec![], span: self.span(node) }
    }

    /// A statement where exactly one is wanted.
    fn single(&mut self, node: Node<'t>) -> Box<Stmt> {
        let mut stmts = vec![];
        self.statement(node, &mut stmts);
        let span = self.span(node);
        match stmts.len() {
            1 => Box::new(stmts.remove(0)),
            0 => Box::new(Stmt { kind: StmtKind::Empty, pragmas: vec![], span }),
            _ => {
                let block = Block { stmts, span: None };
                Box::new(Stmt { kind: StmtKind::Block(block), pragmas: vec![], span })
            }
        }
    }

    fn body(&mut self, node: Node<'t>, name: &str) -> Box<Stmt> {
        match field(node, name) {
            Some(body) => self.single(body),
            None => Box::new(self.stmt(StmtKind::Empty, node)),
        }
    }

    fn condition(&mut self, node: Node<'t>) -> Expr {
        match field(node, "condition") {
            Some(cond) => match cond.kind() {
                "parenthesized_expression" => match kids(cond).first() {
                    Some(inner) => self.expr(*inner),
                    None => self.unsupported("missing condition", cond),
                },
                "condition_clause" => match field(cond, "value") {
                    Some(value) if value.kind() != "declaration" => self.expr(value),
                    _ => self.unsupported("a declaration as a condition", cond),
                },
                _ => self.expr(cond),
            },
            None => self.unsupported("missing condition", node),
        }
    }

    fn statement_kind(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let kind = match node.kind() {
            "expression_statement" => self.expression_statement(node),
            "compound_statement" => StmtKind::Block(self.block(node)),
            "if_statement" => self.if_statement(node),
            "for_statement" => self.for_statement(node),
            "for_range_loop" => self.range_for(node),
            "while_statement" => {
                StmtKind::While { cond: self.condition(node), body: self.body(node, "body") }
            }
            "do_statement" => {
                let body = self.body(node, "body");
                StmtKind::DoWhile { body, cond: self.condition(node) }
            }
            "switch_statement" => {
                StmtKind::Switch { selector: self.condition(node), body: self.body(node, "body") }
            }
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "return_statement" => {
                let value = kids(node).first().map(|n| self.initializer(*n));
                StmtKind::Return(value)
            }
            "goto_statement" => {
                StmtKind::Goto(field(node, "label").map_or_else(String::new, |n| self.name(n)))
            }
            "case_statement" => return self.case(node, out),
            "labeled_statement" => return self.labeled(node, out),
            "attributed_statement" => {
                for inner in kids(node).into_iter().filter(|n| n.kind() != "attribute_declaration")
                {
                    self.statement(inner, out);
                }
                return;
            }
            "throw_statement" => StmtKind::Unsupported { what: "`throw`".to_owned() },
            // Nothing is thrown here: what is tried is done.
            "try_statement" => match field(node, "body") {
                Some(body) => StmtKind::Block(self.block(body)),
                None => StmtKind::Unsupported { what: "`try`".to_owned() },
            },
            "ERROR" => StmtKind::Unsupported { what: "text with a syntax error".to_owned() },
            _ => return self.local_item(node, out),
        };
        let stmt = self.stmt(kind, node);
        out.push(stmt);
    }

    /// A declaration of any sort inside a function.
    fn local_item(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let mut items = vec![];
        self.item_kinds(node, true, &mut items);
        for kind in items {
            let kind = match kind {
                crate::ast::ItemKind::Vars(vars) => StmtKind::Vars(vars),
                crate::ast::ItemKind::Unsupported { what } => StmtKind::Unsupported { what },
                kind => {
                    let item = crate::ast::Item { kind, span: self.span(node) };
                    StmtKind::Item(Box::new(LocalItem(item)))
                }
            };
            let stmt = self.stmt(kind, node);
            out.push(stmt);
        }
    }

    fn expression_statement(&mut self, node: Node<'t>) -> StmtKind {
        let Some(inner) = kids(node).first().copied() else {
            return StmtKind::Empty;
        };
        let text = self.str(inner);
        if let Some(rest) = text.strip_prefix(ASM) {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let asm = number.parse().ok().and_then(|n: usize| self.masked.asm.get(n).cloned());
            return self.asm(asm.unwrap_or_default(), inner);
        }
        StmtKind::Expr(self.expr(inner))
    }

    /// The statement behind the call that stands for it.
    fn asm(&mut self, asm: super::mask::Asm, call: Node<'t>) -> StmtKind {
        let args = field(call, "arguments").map(kids).unwrap_or_default();
        let exprs: Vec<Expr> = args.into_iter().skip(1).map(|n| self.expr(n)).collect();
        if exprs.len() != asm.constraints.len() {
            return StmtKind::Unsupported { what: "this inline assembly".to_owned() };
        }
        let operands = asm.constraints.into_iter().zip(exprs);
        let operands = operands.map(|(constraint, expr)| AsmOperand { constraint, expr }).collect();
        StmtKind::Asm { template: asm.template, operands }
    }

    fn if_statement(&mut self, node: Node<'t>) -> StmtKind {
        let constexpr = has_token(node, "constexpr");
        let clause = field(node, "condition");
        let mut init =
            clause.and_then(|c| field(c, "initializer")).and_then(|n| self.init_statement(n));
        let value = clause.and_then(|c| field(c, "value"));
        let cond = match value {
            // `if (int k = f())` declares, then tests what it declared.
            Some(value) if value.kind() == "declaration" => {
                let (vars, test) = self.condition_declaration(value);
                let stmt = self.stmt(StmtKind::Vars(vars), value);
                init = Some(match init {
                    None => Box::new(stmt),
                    Some(first) => {
                        let span = first.span.to(stmt.span);
                        let block = Block { stmts: vec![*first, stmt], span: None };
                        Box::new(Stmt { kind: StmtKind::Block(block), pragmas: vec![], span })
                    }
                });
                test
            }
            _ => self.condition(node),
        };
        let then = self.body(node, "consequence");
        let otherwise = field(node, "alternative").and_then(|n| kids(n).first().copied());
        let otherwise = otherwise.map(|n| self.single(n));
        StmtKind::If { constexpr, init, cond, then, otherwise }
    }

    fn condition_declaration(&mut self, node: Node<'t>) -> (VarDecl, Expr) {
        let vars = self.var_decl(node, true);
        let name = vars.declarators.last().map(|d| d.name.clone()).unwrap_or_default();
        let span = vars.declarators.last().map_or_else(|| self.span(node), |d| d.span);
        let path = Path { segments: vec![PathSegment { name, args: None }], global: false, span };
        (vars, Expr { kind: Box::new(ExprKind::Path(path)), span })
    }

    fn init_statement(&mut self, node: Node<'t>) -> Option<Box<Stmt>> {
        let inner = match node.kind() {
            "init_statement" => kids(node).first().copied()?,
            _ => node,
        };
        Some(self.single(inner))
    }

    fn for_statement(&mut self, node: Node<'t>) -> StmtKind {
        let init = field(node, "initializer").map(|n| {
            if n.kind() == "declaration" {
                return self.single(n);
            }
            let value = self.expr(n);
            Box::new(self.stmt(StmtKind::Expr(value), n))
        });
        let cond = field(node, "condition").map(|n| self.expr(n));
        let step = field(node, "update").map(|n| self.expr(n));
        let body = self.body(node, "body");
        StmtKind::For { init, cond, step, body }
    }

    fn range_for(&mut self, node: Node<'t>) -> StmtKind {
        let specifiers = self.specifiers(node);
        let (Some(base), Some(declarator)) = (specifiers.ty, field(node, "declarator")) else {
            return StmtKind::Unsupported { what: "this loop over a range".to_owned() };
        };
        let Some(variable) = self.variable(base, declarator) else {
            return StmtKind::Unsupported { what: "a structured binding".to_owned() };
        };
        let span = variable.span;
        let decl =
            VarDecl { template: None, attrs: specifiers.attrs, declarators: vec![variable], span };
        let range = match field(node, "right") {
            Some(range) => self.expr(range),
            None => self.unsupported("missing range", node),
        };
        StmtKind::RangeFor { decl, range, body: self.body(node, "body") }
    }

    fn case(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let value = field(node, "value");
        let kind = match value {
            Some(value) => StmtKind::Case(self.expr(value)),
            None => StmtKind::Default,
        };
        let colon = super::context::all_kids(node).into_iter().find(|n| n.kind() == ":");
        let end = colon.map_or(node.end_byte(), |n| n.end_byte());
        let span = self.span_of(node.start_byte()..end);
        out.push(Stmt { kind, pragmas: vec![], span });
        for child in kids(node).into_iter().filter(|n| Some(n.id()) != value.map(|v| v.id())) {
            self.statement(child, out);
        }
    }

    fn labeled(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let label = field(node, "label");
        let name = label.map_or_else(String::new, |n| self.name(n));
        out.push(self.stmt(StmtKind::LabelDef(name), label.unwrap_or(node)));
        for child in kids(node).into_iter().filter(|n| Some(n.id()) != label.map(|l| l.id())) {
            self.statement(child, out);
        }
    }

    /// A pragma list as text, for items.
    pub fn texts(pragmas: Vec<Pragma>) -> impl Iterator<Item = (String, warpsmith_ir::Span)> {
        pragmas.into_iter().map(|p| (p.text, p.span))
    }

    /// The variable that a declarator without initialiser declares.
    pub fn variable(&mut self, base: crate::ast::TypeName, node: Node<'t>) -> Option<Declarator> {
        let span = self.span(node);
        let declared = self.declarator(base, node);
        match declared.name {
            super::types::DeclaredName::Path(path) => {
                let mut segments = path.segments.into_iter().rev();
                let (last, of) = (segments.next(), segments.next());
                let (name, specialisation) = last.map(|s| (s.name, s.args)).unwrap_or_default();
                Some(Declarator {
                    name,
                    specialisation,
                    of,
                    ty: declared.ty,
                    init: None::<Initializer>,
                    bits: None,
                    parts: vec![],
                    span,
                })
            }
            super::types::DeclaredName::Binding(parts) => Some(Declarator {
                name: format!("[{}]", parts.join(", ")),
                ty: declared.ty,
                init: None,
                of: None,
                bits: None,
                specialisation: None,
                parts,
                span,
            }),
            _ => None,
        }
    }
}
