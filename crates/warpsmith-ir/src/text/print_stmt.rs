//! Printing of statements.

use super::names::escape;
use super::print::Context;
use super::words::{Words, range_symbol};
use crate::collective::Collective;
use crate::expr::{Axis, BindLevel, Expr};
use crate::module::{Function, Module, VarId};
use crate::stmt::{
    Block, Case, ForLoop, Launch, LoopCondition, LoopId, LoopKind, Parallel, Runtime, Stmt,
    StmtKind,
};

/// Writes statements, one a line, four spaces a level.
pub(crate) struct Writer<'a> {
    context: &'a Context<'a>,
    out: String,
    depth: usize,
    /// The number that a loop without label would get.
    next: u32,
    /// One more than the largest number seen.
    past: u32,
}

pub(crate) fn block_alone(module: &Module, function: &Function, block: &Block) -> String {
    let context = Context::new(module, function);
    let mut writer = Writer::new(&context);
    writer.depth = 0;
    writer.stmts(block);
    writer.out
}

impl<'a> Writer<'a> {
    pub fn new(context: &'a Context<'a>) -> Writer<'a> {
        Writer { context, out: String::new(), depth: 1, next: 0, past: 0 }
    }

    pub fn body(&mut self, block: &Block) {
        self.stmts(block);
    }

    pub fn expected_next_loop(&self) -> u32 {
        self.past
    }

    pub fn finish(self) -> String {
        self.out
    }

    fn line(&mut self, text: &str) {
        self.indent();
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn indent(&mut self) {
        self.out.push_str(&"    ".repeat(self.depth));
    }

    fn stmts(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    /// ` {`, the statements and `}`, without the line break after it.
    fn block(&mut self, block: &Block) {
        self.out.push_str("{\n");
        self.depth += 1;
        self.stmts(block);
        self.depth -= 1;
        self.indent();
        self.out.push('}');
    }

    fn stmt(&mut self, stmt: &Stmt) {
        for line in &stmt.comment {
            let line = line.replace(['\n', '\r'], " ");
            self.line(if line.is_empty() { "//".into() } else { format!("// {line}") }.as_str());
        }
        match &stmt.kind {
            StmtKind::If { .. } => {
                self.indent();
                self.branch(stmt);
                self.out.push('\n');
            }
            StmtKind::For(l) => self.for_loop(l),
            StmtKind::Loop { id, condition, body, step } => {
                self.any_loop(*id, condition.as_ref(), body, step);
            }
            StmtKind::Switch { selector, cases } => self.switch(selector, cases),
            StmtKind::Scope(block) => {
                self.indent();
                self.block(block);
                self.out.push('\n');
            }
            _ => {
                let text = self.simple(stmt);
                self.line(&(text + ";"));
            }
        }
    }

    /// `if … {} else …`, where an `else` that holds nothing but another `if` is a chain.
    fn branch(&mut self, stmt: &Stmt) {
        let StmtKind::If { cond, then, otherwise } = &stmt.kind else {
            return;
        };
        self.out.push_str(&format!("if {} ", self.context.expr(cond, 0)));
        self.block(then);
        match otherwise.stmts.as_slice() {
            [] => {}
            [only] if matches!(only.kind, StmtKind::If { .. }) && only.comment.is_empty() => {
                self.out.push_str(" else ");
                self.branch(only);
            }
            _ => {
                self.out.push_str(" else ");
                self.block(otherwise);
            }
        }
    }

    /// Indents and writes the label, if it is needed.
    fn label(&mut self, id: LoopId) {
        self.indent();
        if id.0 != self.next {
            self.out.push_str(&format!("'{}: ", id.0));
        }
        self.next = id.0.wrapping_add(1);
        self.past = self.past.max(self.next);
    }

    fn for_loop(&mut self, l: &ForLoop) {
        self.label(l.id);
        let c = self.context;
        let kind = match &l.kind {
            LoopKind::Serial => String::new(),
            LoopKind::Vector => "vector ".into(),
            LoopKind::Unrolled(None) => "unroll ".into(),
            LoopKind::Unrolled(Some(n)) => format!("unroll({n}) "),
            LoopKind::Parallel(p) => format!("parallel({}) ", self.clauses(p)),
            LoopKind::Bound(b) => {
                let extent = b.extent.map_or(String::new(), |n| format!(", {n}"));
                format!("bind({}.{}{extent}) ", b.level.word(), b.axis.name())
            }
        };
        let outer = if l.declares { "" } else { "outer " };
        let (first, limit) = (c.expr(&l.first, 0), c.expr(&l.limit, 0));
        let one =
            c.env.vars.get(l.var.0 as usize).and_then(|v| v.ty.scalar()).map(|s| Expr::int(s, 1));
        let by = if one.is_some_and(|one| one == l.step) {
            String::new()
        } else {
            format!(" by {}", c.expr(&l.step, 0))
        };
        let range = range_symbol(l.compare);
        let var = c.vars.get(l.var.0);
        self.out.push_str(&format!("{kind}for {outer}{var} in {first}{range}{limit}{by} "));
        self.block(&l.body);
        self.out.push('\n');
    }

    fn clauses(&self, p: &Parallel) -> String {
        let vars = &self.context.vars;
        let mut list: Vec<String> = vec![];
        list.extend(p.group.map(|id| format!("group '{}", id.0)));
        list.extend(
            p.reductions.iter().map(|r| format!("reduce {} {}", r.op.word(), vars.get(r.var.0))),
        );
        list.extend(p.private.iter().map(|v| format!("private {}", vars.get(v.0))));
        list.extend(p.first_private.iter().map(|v| format!("firstprivate {}", vars.get(v.0))));
        list.extend(p.last_private.iter().map(|v| format!("lastprivate {}", vars.get(v.0))));
        list.extend(p.apart.iter().map(|v| format!("apart {}", vars.get(v.0))));
        list.extend(p.independent.then(|| "independent".to_string()));
        list.join(", ")
    }

    fn any_loop(
        &mut self,
        id: LoopId,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
    ) {
        self.label(id);
        match condition {
            None => self.out.push_str("loop "),
            Some(c) if c.at_end => self.out.push_str("do "),
            Some(c) => {
                self.condition(c);
                self.out.push(' ');
            }
        }
        self.block(body);
        if !step.stmts.is_empty() {
            self.out.push_str(" step ");
            self.block(step);
        }
        if let Some(c) = condition.filter(|c| c.at_end) {
            self.out.push(' ');
            self.condition(c);
            self.out.push(';');
        }
        self.out.push('\n');
    }

    fn condition(&mut self, c: &LoopCondition) {
        self.out.push_str("while ");
        if !c.before.stmts.is_empty() {
            self.out.push_str("before ");
            self.block(&c.before);
            self.out.push(' ');
        }
        self.out.push_str(&self.context.expr(&c.expr, 0));
    }

    fn switch(&mut self, selector: &Expr, cases: &[Case]) {
        self.line(&format!("switch {} {{", self.context.expr(selector, 0)));
        self.depth += 1;
        for case in cases {
            let mut values: Vec<String> = case.values.iter().map(|v| v.to_string()).collect();
            if case.is_default {
                values.push("default".into());
            }
            self.indent();
            self.out.push_str(&format!("case {} ", values.join(", ")));
            self.block(&case.body);
            self.out.push('\n');
        }
        self.depth -= 1;
        self.line("}");
    }

    /// Statements on one line, without the semicolon.
    fn simple(&self, stmt: &Stmt) -> String {
        let c = self.context;
        let e = |e: &Expr| c.expr(e, 0);
        let to = |var: &Option<crate::VarId>| {
            var.map_or(String::new(), |v| format!("{} = ", c.vars.get(v.0)))
        };
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                let init = init.as_ref().map_or(String::new(), |i| format!(" = {}", e(i)));
                format!("let {}{init}", c.vars.get(var.0))
            }
            StmtKind::Assign { place, value } => format!("{} = {}", c.place(place, 0), e(value)),
            StmtKind::Break => "break".into(),
            StmtKind::Continue => "continue".into(),
            StmtKind::Return(None) => "return".into(),
            StmtKind::Return(Some(value)) => format!("return {}", e(value)),
            StmtKind::Call { function, args, result } => {
                let to = result.as_ref().map_or(String::new(), |p| format!("{} = ", c.place(p, 0)));
                format!("{to}call {}({})", c.functions.get(function.0), c.exprs(args))
            }
            StmtKind::Atomic { op, pointer, value, compare, result, scope } => {
                let compare = compare.as_ref().map_or(String::new(), |x| format!(", {}", e(x)));
                let (to, op, scope) = (to(result), op.word(), scope.word());
                format!("{to}atomic {op} {scope}({}, {}{compare})", e(pointer), e(value))
            }
            StmtKind::Warp { op, mask, args, result } => {
                format!("{}warp {}({}; {})", to(result), op.word(), e(mask), c.exprs(args))
            }
            StmtKind::Barrier { kind, operand, result } => {
                let operand = operand.as_ref().map_or(String::new(), |x| format!("({})", e(x)));
                format!("{}barrier {}{operand}", to(result), kind.word())
            }
            StmtKind::Fence(scope) => format!("fence {}", scope.word()),
            StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
                let zeros = zero_fill.as_ref().map_or(String::new(), |x| format!(", {}", e(x)));
                format!("async_copy({}, {}, {}{zeros})", e(destination), e(source), e(bytes))
            }
            StmtKind::AsyncCommit => "async_commit".into(),
            StmtKind::AsyncWait(n) => format!("async_wait {n}"),
            StmtKind::Printf { format, args } => {
                let args: String = args.iter().map(|a| format!(", {}", e(a))).collect();
                format!("printf(\"{}\"{args})", escape(format, '"'))
            }
            StmtKind::Assert { cond, text } => self.claim("assert", cond, text),
            StmtKind::Assume { cond, text } => self.claim("assume", cond, text),
            StmtKind::Collective(collective) => self.collective(collective),
            StmtKind::Trap => "trap".into(),
            StmtKind::Launch(l) => self.launch(l),
            StmtKind::CopyToGlobal { destination, source } => {
                format!("copy_to_global({}, {})", c.place(destination, 0), e(source))
            }
            StmtKind::Runtime(call) => format!("runtime {}", self.runtime(call)),
            // Printed over several lines by `stmt`.
            StmtKind::If { .. }
            | StmtKind::For(_)
            | StmtKind::Loop { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Scope(_) => String::new(),
        }
    }

    fn claim(&self, word: &str, cond: &Expr, text: &str) -> String {
        format!("{word}({}, \"{}\")", self.context.expr(cond, 0), escape(text, '"'))
    }

    fn runtime(&self, call: &Runtime) -> String {
        let c = self.context;
        let e = |e: &Expr| c.expr(e, 0);
        match call {
            Runtime::Allocate { pointer, bytes } => {
                format!("allocate({}, {})", c.place(pointer, 0), e(bytes))
            }
            Runtime::Free { pointer } => format!("free({})", e(pointer)),
            Runtime::Copy { way, destination, source, bytes, asynchronous } => format!(
                "{} {}({}, {}, {})",
                if *asynchronous { "start" } else { "copy" },
                way.word(),
                e(destination),
                e(source),
                e(bytes)
            ),
            Runtime::AllocateHost { pointer, bytes, shared } => format!(
                "{}({}, {})",
                if *shared { "allocate_shared" } else { "allocate_host" },
                c.place(pointer, 0),
                e(bytes)
            ),
            Runtime::Fill { pointer, value, bytes, by } => {
                format!("{}({}, {}, {})", by.word(), e(pointer), e(value), e(bytes))
            }
            Runtime::Pin { pointer, on } => {
                format!("{}({})", if *on { "pin" } else { "unpin" }, e(pointer))
            }
            Runtime::ForgetMemory { pointer } => {
                format!("forget_memory({})", e(pointer))
            }
            Runtime::Forget { place } => format!("forget({})", c.place(place, 0)),
            Runtime::Skipped { what, launches } => format!(
                "{}(\"{}\")",
                if *launches { "skipped_launch" } else { "skipped" },
                escape(what, '"')
            ),
            Runtime::Synchronize => "synchronize".into(),
            Runtime::Capture { on, noted } => {
                format!("{}({})", if *on { "capture" } else { "end_capture" }, c.place(noted, 0))
            }
            Runtime::Replay { noted } => format!("replay({})", e(noted)),
            Runtime::Order { what, operands, made } => {
                let operands: Vec<String> = operands.iter().map(e).collect();
                let made = made.as_ref().map(|p| format!(" -> {}", c.place(p, 0)));
                let made = made.unwrap_or_default();
                format!("order {}({}){made}", what.word(), operands.join(", "))
            }
        }
    }

    fn collective(&self, collective: &Collective) -> String {
        let c = self.context;
        match collective {
            Collective::Fill(fill) => {
                let counter = |(v, n): &(VarId, u32)| format!("{} < {n}", c.vars.get(v.0));
                let counters: Vec<String> = fill.counters.iter().map(counter).collect();
                let within = fill.within.as_ref();
                let within = within.map_or(String::new(), |e| format!(" if {}", c.expr(e, 0)));
                let vector = match fill.vector {
                    1 => String::new(),
                    n => format!(" vector {n}"),
                };
                let asynchronous = if fill.asynchronous { " async" } else { "" };
                let (to, from) = (c.place(&fill.destination, 0), c.expr(&fill.source, 0));
                format!("fill({}) {to} = {from}{within}{vector}{asynchronous}", counters.join(", "))
            }
            Collective::Combine(combine) => {
                let with = |word, v: Option<VarId>| {
                    v.map_or(String::new(), |v| format!(" {word} {}", c.vars.get(v.0)))
                };
                let (at, before) = (with("at", combine.at), with("before", combine.before));
                let slope = with("slope", combine.slope);
                let axis = |(l, a): &(BindLevel, Axis)| format!("{}.{}", l.word(), a.name());
                let over: Vec<String> = combine.over.iter().map(axis).collect();
                let (op, value) = (combine.op.word(), c.vars.get(combine.value.0));
                format!("combine {op} {value}{at}{before}{slope} over({})", over.join(", "))
            }
        }
    }

    fn launch(&self, l: &Launch) -> String {
        let c = self.context;
        let cluster =
            l.cluster.as_ref().map_or(String::new(), |k| format!(" cluster({})", c.exprs(&**k)));
        format!(
            "launch {} grid({}) block({}) shared({}){cluster} args({})",
            c.functions.get(l.kernel.0),
            c.exprs(&l.grid),
            c.exprs(&l.block),
            c.expr(&l.shared, 0),
            c.exprs(&l.args)
        )
    }
}
