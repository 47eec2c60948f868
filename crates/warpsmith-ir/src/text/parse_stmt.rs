//! Parsing of statements.

use super::lex::Tok;
use super::parse::{Parsed, Parser};
use super::words::{Words, range_compare};
use crate::collective::{Collective, Combine, Fill};
use crate::expr::{Axis, BindLevel, Expr, PlaceKind};
use crate::module::VarId;
use crate::stmt::{
    Binding, Block, Case, Filler, ForLoop, Launch, LoopCondition, LoopId, LoopKind, Parallel,
    Reduction, Runtime, Stmt, StmtKind,
};

impl Parser {
    pub fn block(&mut self) -> Parsed<Block> {
        self.symbol("{")?;
        self.nested(|p| p.rest_of_block())
    }

    /// Statements up to the closing brace.
    pub fn rest_of_block(&mut self) -> Parsed<Block> {
        let mut stmts = vec![];
        while !self.eat_symbol("}") {
            if matches!(self.peek(), Tok::End) {
                return self.expected("`}`");
            }
            stmts.push(self.stmt()?);
        }
        Ok(Block { stmts })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let comment = self.comments();
        let start = self.here();
        let kind = self.stmt_kind()?;
        Ok(Stmt { kind, origin: self.origin(start), comment })
    }

    fn stmt_kind(&mut self) -> Parsed<StmtKind> {
        if self.is_symbol("{") {
            return Ok(StmtKind::Scope(self.block()?));
        }
        if matches!(self.peek(), Tok::Label(_)) {
            return self.labelled();
        }
        let word = self.word_at(0).map(str::to_string);
        match word.as_deref() {
            Some("if") => self.branch(),
            Some("for" | "loop" | "while" | "do" | "unroll" | "parallel" | "bind" | "vector") => {
                self.labelled()
            }
            Some("switch") => self.switch(),
            _ => {
                let kind = self.simple(word.as_deref().unwrap_or(""))?;
                self.symbol(";")?;
                Ok(kind)
            }
        }
    }

    /// Statements that end in a semicolon.
    fn simple(&mut self, word: &str) -> Parsed<StmtKind> {
        let known = matches!(
            word,
            "let"
                | "break"
                | "continue"
                | "return"
                | "fence"
                | "async_copy"
                | "async_commit"
                | "async_wait"
                | "fill"
                | "combine"
                | "trap"
                | "printf"
                | "assert"
                | "assume"
                | "launch"
                | "copy_to_global"
                | "runtime"
        );
        if !known {
            return self.assignment();
        }
        self.skip();
        Ok(match word {
            "let" => {
                let var = self.var()?;
                let init = if self.eat_symbol("=") { Some(self.expr()?) } else { None };
                StmtKind::Decl { var, init }
            }
            "break" => StmtKind::Break,
            "continue" => StmtKind::Continue,
            "return" if self.is_symbol(";") => StmtKind::Return(None),
            "return" => StmtKind::Return(Some(self.expr()?)),
            "fence" => StmtKind::Fence(self.word_of("a scope")?),
            "async_copy" => self.async_copy()?,
            "async_commit" => StmtKind::AsyncCommit,
            "async_wait" => StmtKind::AsyncWait(self.integer()?),
            "fill" => StmtKind::Collective(Collective::Fill(self.fill()?)),
            "combine" => StmtKind::Collective(Collective::Combine(self.combine()?)),
            "trap" => StmtKind::Trap,
            "printf" => self.printf()?,
            "launch" => self.launch()?,
            "copy_to_global" => self.copy_to_global()?,
            "runtime" => StmtKind::Runtime(self.runtime()?),
            _ => self.claim(word)?,
        })
    }

    fn printf(&mut self) -> Parsed<StmtKind> {
        self.symbol("(")?;
        let format = self.string()?;
        let args = if self.eat_symbol(",") {
            self.list(")", |p| p.expr())?
        } else {
            self.symbol(")")?;
            vec![]
        };
        Ok(StmtKind::Printf { format, args })
    }

    /// `assert` and `assume`.
    fn claim(&mut self, word: &str) -> Parsed<StmtKind> {
        self.symbol("(")?;
        let cond = self.expr()?;
        self.symbol(",")?;
        let text = self.string()?;
        self.symbol(")")?;
        Ok(match word {
            "assert" => StmtKind::Assert { cond, text },
            _ => StmtKind::Assume { cond, text },
        })
    }

    /// What stands in parentheses.
    fn in_parentheses<R>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<R>) -> Parsed<R> {
        self.symbol("(")?;
        let found = inner(self)?;
        self.symbol(")")?;
        Ok(found)
    }

    fn var(&mut self) -> Parsed<VarId> {
        self.look_up(|p| &p.var_labels, "variable").map(VarId)
    }

    /// `place = value` and everything that may have a result.
    fn assignment(&mut self) -> Parsed<StmtKind> {
        if self.starts_effect() {
            return self.effect(None);
        }
        let start = self.here();
        let place = self.place()?;
        let place_span = self.span(start);
        self.symbol("=")?;
        if self.eat_word("call") {
            let function = self.function_id()?;
            self.symbol("(")?;
            let args = self.list(")", |p| p.expr())?;
            return Ok(StmtKind::Call { function, args, result: Some(place) });
        }
        if !self.starts_effect() {
            return Ok(StmtKind::Assign { place, value: self.expr()? });
        }
        match *place.kind {
            PlaceKind::Var(var) => self.effect(Some(var)),
            _ => self.fail(place_span, "the result must go to a variable"),
        }
    }

    fn starts_effect(&self) -> bool {
        matches!(self.word_at(0), Some("call" | "atomic" | "warp" | "barrier"))
    }

    fn effect(&mut self, result: Option<VarId>) -> Parsed<StmtKind> {
        if self.eat_word("call") {
            let function = self.function_id()?;
            self.symbol("(")?;
            let args = self.list(")", |p| p.expr())?;
            return Ok(StmtKind::Call { function, args, result: None });
        }
        if self.eat_word("atomic") {
            let op = self.word_of("an atomic operation")?;
            let scope = self.word_of("a scope")?;
            self.symbol("(")?;
            let pointer = self.expr()?;
            self.symbol(",")?;
            let value = self.expr()?;
            let compare = if self.eat_symbol(",") { Some(self.expr()?) } else { None };
            self.symbol(")")?;
            return Ok(StmtKind::Atomic { op, pointer, value, compare, result, scope });
        }
        if self.eat_word("warp") {
            let op = self.word_of("a warp operation")?;
            self.symbol("(")?;
            let mask = self.expr()?;
            self.symbol(";")?;
            let args = self.list(")", |p| p.expr())?;
            return Ok(StmtKind::Warp { op, mask, args, result });
        }
        self.word("barrier")?;
        let kind = self.word_of("the kind of a barrier")?;
        let operand = if self.eat_symbol("(") {
            let e = self.expr()?;
            self.symbol(")")?;
            Some(e)
        } else {
            None
        };
        Ok(StmtKind::Barrier { kind, operand, result })
    }

    fn async_copy(&mut self) -> Parsed<StmtKind> {
        self.symbol("(")?;
        let destination = self.expr()?;
        self.symbol(",")?;
        let source = self.expr()?;
        self.symbol(",")?;
        let bytes = self.expr()?;
        let zero_fill = if self.eat_symbol(",") { Some(self.expr()?) } else { None };
        self.symbol(")")?;
        Ok(StmtKind::AsyncCopy { destination, source, bytes, zero_fill })
    }

    fn fill(&mut self) -> Parsed<Fill> {
        self.symbol("(")?;
        let counters = self.list(")", |p| {
            let var = p.var()?;
            p.symbol("<")?;
            Ok((var, p.integer()?))
        })?;
        let destination = self.place()?;
        self.symbol("=")?;
        let source = self.expr()?;
        let within = if self.eat_word("if") { Some(self.expr()?) } else { None };
        let vector = if self.eat_word("vector") { self.integer()? } else { 1 };
        let asynchronous = self.eat_word("async");
        Ok(Fill { counters, destination, source, within, vector, asynchronous })
    }

    fn combine(&mut self) -> Parsed<Combine> {
        let op = self.word_of("the operator of a reduction")?;
        let value = self.var()?;
        let at = if self.eat_word("at") { Some(self.var()?) } else { None };
        let before = if self.eat_word("before") { Some(self.var()?) } else { None };
        let slope = if self.eat_word("slope") { Some(self.var()?) } else { None };
        self.word("over")?;
        self.symbol("(")?;
        let over = self.list(")", |p| p.bound_axis())?;
        Ok(Combine { op, value, at, before, slope, over })
    }

    /// `block.x`.
    fn bound_axis(&mut self) -> Parsed<(BindLevel, Axis)> {
        let level = self.word_of("a level of the machine")?;
        self.symbol(".")?;
        Ok((level, self.word_of("`x`, `y` or `z`")?))
    }

    fn copy_to_global(&mut self) -> Parsed<StmtKind> {
        self.symbol("(")?;
        let destination = self.place()?;
        self.symbol(",")?;
        let source = self.expr()?;
        self.symbol(")")?;
        Ok(StmtKind::CopyToGlobal { destination, source })
    }

    fn runtime(&mut self) -> Parsed<Runtime> {
        let start = self.is_word("start");
        Ok(match () {
            () if self.eat_word("synchronize") => Runtime::Synchronize,
            () if self.eat_word("free") => {
                Runtime::Free { pointer: self.in_parentheses(Self::expr)? }
            }
            () if self.eat_word("start") || self.eat_word("copy") => {
                let way = self.word_of("a way")?;
                let [destination, source, bytes] = self.extents()?;
                Runtime::Copy { way, destination, source, bytes, asynchronous: start }
            }
            () if let Some(by) = self.filler() => {
                let [pointer, value, bytes] = self.extents()?;
                Runtime::Fill { pointer, value, bytes, by }
            }
            () if self.is_word("pin") || self.is_word("unpin") => {
                let on = self.eat_word("pin");
                if !on {
                    self.word("unpin")?;
                }
                Runtime::Pin { pointer: self.in_parentheses(Self::expr)?, on }
            }
            () if self.eat_word("forget_memory") => {
                Runtime::ForgetMemory { pointer: self.in_parentheses(Self::expr)? }
            }
            () if self.eat_word("forget") => {
                Runtime::Forget { place: self.in_parentheses(Self::place)? }
            }
            () if self.is_word("capture") || self.is_word("end_capture") => {
                let on = self.eat_word("capture");
                if !on {
                    self.word("end_capture")?;
                }
                let noted = self.in_parentheses(Self::place)?;
                Runtime::Capture { on, noted }
            }
            () if self.eat_word("order") => self.order()?,
            () if self.eat_word("replay") => {
                Runtime::Replay { noted: self.in_parentheses(Self::expr)? }
            }
            () if self.is_word("skipped") || self.is_word("skipped_launch") => {
                let launches = self.eat_word("skipped_launch");
                if !launches {
                    self.word("skipped")?;
                }
                let what = self.in_parentheses(Self::string)?;
                Runtime::Skipped { what, launches }
            }
            () => self.allocation()?,
        })
    }

    fn filler(&mut self) -> Option<Filler> {
        let by = Filler::from_word(self.word_at(0)?)?;
        self.eat_word(by.word());
        Some(by)
    }

    fn order(&mut self) -> Parsed<Runtime> {
        let what: crate::stmt::StreamOrder = self.word_of("an order of streams")?;
        self.symbol("(")?;
        let mut operands = vec![];
        for i in 0..what.takes() {
            if i > 0 {
                self.symbol(",")?;
            }
            operands.push(self.expr()?);
        }
        self.symbol(")")?;
        let made = if self.eat_symbol("->") { Some(self.place()?) } else { None };
        Ok(Runtime::Order { what, operands, made })
    }

    fn allocation(&mut self) -> Parsed<Runtime> {
        let shared = self.eat_word("allocate_shared");
        let host = shared || self.eat_word("allocate_host");
        if !host {
            self.word("allocate")?;
        }
        self.symbol("(")?;
        let pointer = self.place()?;
        self.symbol(",")?;
        let bytes = self.expr()?;
        self.symbol(")")?;
        Ok(match host {
            true => Runtime::AllocateHost { pointer, bytes, shared },
            false => Runtime::Allocate { pointer, bytes },
        })
    }

    fn launch(&mut self) -> Parsed<StmtKind> {
        let kernel = self.function_id()?;
        self.word("grid")?;
        let grid = self.extents()?;
        self.word("block")?;
        let block = self.extents()?;
        self.word("shared")?;
        self.symbol("(")?;
        let shared = self.expr()?;
        self.symbol(")")?;
        let cluster = if self.eat_word("cluster") { Some(Box::new(self.extents()?)) } else { None };
        self.word("args")?;
        self.symbol("(")?;
        let args = self.list(")", |p| p.expr())?;
        Ok(StmtKind::Launch(Launch { kernel, grid, block, shared, cluster, args }))
    }

    fn extents(&mut self) -> Parsed<[Expr; 3]> {
        let start = self.here();
        self.symbol("(")?;
        let list = self.list(")", |p| p.expr())?;
        match list.try_into() {
            Ok(extents) => Ok(extents),
            Err(_) => self.fail(self.span(start), "expected three extents"),
        }
    }

    fn branch(&mut self) -> Parsed<StmtKind> {
        self.nested(|p| {
            p.word("if")?;
            let cond = p.expr()?;
            let then = p.block()?;
            let mut otherwise = Block::default();
            if p.eat_word("else") {
                if p.is_word("if") {
                    let start = p.here();
                    let kind = p.branch()?;
                    otherwise.stmts.push(Stmt::new(kind, p.origin(start)));
                } else {
                    otherwise = p.block()?;
                }
            }
            Ok(StmtKind::If { cond, then, otherwise })
        })
    }

    fn switch(&mut self) -> Parsed<StmtKind> {
        self.word("switch")?;
        let selector = self.expr()?;
        self.symbol("{")?;
        let mut cases = vec![];
        while !self.eat_symbol("}") {
            self.word("case")?;
            let mut case = Case { values: vec![], is_default: false, body: Block::default() };
            while !self.is_symbol("{") {
                if self.eat_word("default") {
                    case.is_default = true;
                } else {
                    case.values.push(self.integer()?);
                }
                if !self.eat_symbol(",") {
                    break;
                }
            }
            case.body = self.block()?;
            cases.push(case);
        }
        Ok(StmtKind::Switch { selector, cases })
    }

    // ---- loops ----

    fn labelled(&mut self) -> Parsed<StmtKind> {
        let id = match *self.peek() {
            Tok::Label(n) => {
                self.skip();
                self.symbol(":")?;
                n
            }
            _ => self.next_loop,
        };
        self.next_loop = id.wrapping_add(1);
        self.past_loop = self.past_loop.max(self.next_loop);
        let id = LoopId(id);
        if self.eat_word("loop") {
            let (body, step) = self.body_and_step()?;
            return Ok(StmtKind::Loop { id, condition: None, body, step });
        }
        if self.is_word("while") {
            let condition = Some(self.condition(false)?);
            let (body, step) = self.body_and_step()?;
            return Ok(StmtKind::Loop { id, condition, body, step });
        }
        if self.eat_word("do") {
            let (body, step) = self.body_and_step()?;
            let condition = Some(self.condition(true)?);
            self.symbol(";")?;
            return Ok(StmtKind::Loop { id, condition, body, step });
        }
        self.for_loop(id)
    }

    fn body_and_step(&mut self) -> Parsed<(Block, Block)> {
        let body = self.block()?;
        // A statement may begin with a variable called `step`, but not with a brace after it.
        let steps = self.is_word("step") && matches!(self.peek_at(1), Tok::Symbol("{"));
        if !steps {
            return Ok((body, Block::default()));
        }
        self.skip();
        Ok((body, self.block()?))
    }

    fn condition(&mut self, at_end: bool) -> Parsed<LoopCondition> {
        self.word("while")?;
        let before = if self.eat_word("before") { self.block()? } else { Block::default() };
        Ok(LoopCondition { before, expr: self.expr()?, at_end })
    }

    fn for_loop(&mut self, id: LoopId) -> Parsed<StmtKind> {
        let kind = self.loop_kind()?;
        self.word("for")?;
        let declares = !self.eat_word("outer");
        let var = self.var()?;
        self.word("in")?;
        let first = self.expr()?;
        let Some(compare) = self.symbol_as(range_compare) else {
            return self.expected("`..`, `..=`, `..>`, `..>=` or `..!=`");
        };
        let limit = self.expr()?;
        let step = if self.eat_word("by") {
            self.expr()?
        } else {
            let ty = self.vars[var.0 as usize].ty.scalar();
            match ty {
                Some(s) => Expr::int(s, 1),
                None => return self.expected("`by`, because the counter is no integer"),
            }
        };
        let body = self.block()?;
        Ok(StmtKind::For(ForLoop { id, var, declares, first, compare, limit, step, kind, body }))
    }

    fn loop_kind(&mut self) -> Parsed<LoopKind> {
        if self.eat_word("unroll") {
            if !self.eat_symbol("(") {
                return Ok(LoopKind::Unrolled(None));
            }
            let n = self.integer()?;
            self.symbol(")")?;
            return Ok(LoopKind::Unrolled(Some(n)));
        }
        if self.eat_word("vector") {
            return Ok(LoopKind::Vector);
        }
        if self.eat_word("bind") {
            self.symbol("(")?;
            let (level, axis) = self.bound_axis()?;
            let extent = if self.eat_symbol(",") { Some(self.integer()?) } else { None };
            self.symbol(")")?;
            return Ok(LoopKind::Bound(Binding { level, axis, extent }));
        }
        if !self.is_word("parallel") {
            return Ok(LoopKind::Serial);
        }
        let start = self.here();
        self.skip();
        self.symbol("(")?;
        let mut p = Parallel::default();
        self.list(")", |parser| parser.clause(&mut p))?;
        p.origin = self.origin(start);
        Ok(LoopKind::Parallel(p))
    }

    fn clause(&mut self, p: &mut Parallel) -> Parsed<()> {
        if self.eat_word("group") {
            let Tok::Label(n) = *self.peek() else {
                return self.expected("the label of a loop");
            };
            self.skip();
            p.group = Some(LoopId(n));
        } else if self.eat_word("reduce") {
            let op = self.word_of("the operator of a reduction")?;
            p.reductions.push(Reduction { op, var: self.var()? });
        } else if self.eat_word("private") {
            p.private.push(self.var()?);
        } else if self.eat_word("firstprivate") {
            p.first_private.push(self.var()?);
        } else if self.eat_word("lastprivate") {
            p.last_private.push(self.var()?);
        } else if self.eat_word("apart") {
            p.apart.push(self.var()?);
        } else if self.eat_word("independent") {
            p.independent = true;
        } else {
            return self.expected(
                "`group`, `reduce`, `private`, `firstprivate`, `lastprivate`, `apart` or `independent`",
            );
        }
        Ok(())
    }
}
