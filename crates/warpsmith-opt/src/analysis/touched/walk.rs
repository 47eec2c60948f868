//! The walk through a function's statements.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, FuncId, Function, LoopCondition, Module, Origin,
    Place, PlaceKind, Stmt, StmtKind, Type, VarId,
};

use super::cases::{
    Case, FIRST_COUNTER, Piece, Pieces, both, known, map, map_both, under, unknown,
};
use super::values::{Pointer, Values, compare, shifted};
use super::{Iterations, Touched, rows};
use crate::analysis::access::{AccessKind, Base};
use crate::walk;

/// Calls beyond these are not followed.
const MOST_CALLS: u32 = 10_000;

pub fn accesses(module: &Module, function: &Function) -> Vec<Touched> {
    let mut walker = Walker {
        values: Values::new(module, function, false),
        path: vec![Case::default()],
        iterations: vec![],
        counters: FIRST_COUNTER,
        calls: 0,
        returned: vec![],
        found: vec![],
        function,
    };
    walker.block(&function.body);
    walker.found
}

struct Walker<'a> {
    values: Values<'a>,
    /// When control comes here; no case: never.
    path: Vec<Case>,
    iterations: Vec<Iterations>,
    /// The next loop's counter.
    counters: u32,
    calls: u32,
    /// What the function that is followed returns.
    returned: Vec<Option<&'a Expr>>,
    found: Vec<Touched>,
    /// The function that is looked at.
    function: &'a Function,
}

impl<'a> Walker<'a> {
    fn block(&mut self, block: &'a Block) {
        for stmt in &block.stmts {
            self.values.facts = match self.path.as_slice() {
                [] => return,
                [only] => only.when.clone(),
                _ => vec![],
            };
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                init.iter().for_each(|e| self.reads(e));
                self.values.set(*var, init.as_ref());
            }
            StmtKind::Assign { place, value } => {
                self.reads(value);
                match &*place.kind {
                    PlaceKind::Var(v) => self.values.set(*v, Some(value)),
                    _ => self.write(place, &stmt.origin),
                }
            }
            StmtKind::If { cond, then, otherwise } => self.branch(cond, then, otherwise),
            StmtKind::For(l) => self.counted(l),
            StmtKind::Loop { condition, body, step, .. } => {
                self.looped(stmt, condition.as_ref(), body, step);
            }
            StmtKind::Switch { selector, cases } => {
                self.reads(selector);
                let before = self.path.clone();
                for case in cases {
                    // Control comes from the one before, or not.
                    self.forget_set(stmt);
                    self.path = both(&before, &[Case::open()]);
                    self.block(&case.body);
                }
                self.path = before;
                self.forget_set(stmt);
                self.open_if(cases.iter().any(|c| leaves(&c.body)));
            }
            StmtKind::Scope(inner) => self.block(inner),
            StmtKind::Break | StmtKind::Continue => self.path.clear(),
            StmtKind::Return(value) => {
                value.iter().for_each(|e| self.reads(e));
                self.returned.push(value.as_ref());
                self.path.clear();
            }
            StmtKind::Call { function, args, result } => {
                self.call(*function, args, result.as_ref(), &stmt.origin);
            }
            _ => self.effect(stmt),
        }
    }

    /// Statements that direct no control.
    fn effect(&mut self, stmt: &'a Stmt) {
        let o = walk::operands(stmt);
        o.reads.iter().for_each(|e| self.reads(e));
        match &stmt.kind {
            StmtKind::Atomic { pointer, .. } => {
                let at = self.values.pointer(pointer);
                let size = pointer.ty.pointee().map_or(1, |t| self.values.size(t));
                self.note(&at, size, AccessKind::Atomic, &stmt.origin);
            }
            StmtKind::AsyncCopy { destination, source, bytes, .. } => {
                let size = bytes.as_const().map_or(16, |v| v.as_i64().into());
                for (e, kind) in [(source, AccessKind::Read), (destination, AccessKind::Write)] {
                    self.note(&self.values.pointer(e), size, kind, &stmt.origin);
                }
            }
            StmtKind::Collective(_) | StmtKind::Runtime(_) | StmtKind::Launch(_) => {
                self.anything(&stmt.origin);
            }
            _ => {}
        }
        if let Some(place) = o.writes {
            self.write(place, &stmt.origin);
        }
        self.forget_set(stmt);
    }

    fn branch(&mut self, cond: &'a Expr, then: &'a Block, otherwise: &'a Block) {
        self.reads(cond);
        let (yes, no) = (self.values.cases(cond, false), self.values.cases(cond, true));
        let (path, values) = (self.path.clone(), self.values.clone());
        let entered = both(&path, &yes);
        self.path.clone_from(&entered);
        self.block(then);
        let (after, then_values) =
            (std::mem::replace(&mut self.path, both(&path, &no)), self.values.clone());
        let skipped = self.path.clone();
        self.values = values;
        self.block(otherwise);
        if after == entered && self.path == skipped {
            self.values.merge(&yes, &then_values, &no);
            self.path = path;
        } else if self.path.is_empty() {
            (self.path, self.values) = (after, then_values);
        } else if !after.is_empty() {
            self.values.merge(&yes, &then_values, &no);
            self.path.extend(after);
        }
    }

    fn counted(&mut self, l: &'a ForLoop) {
        [&l.first, &l.limit, &l.step].into_iter().for_each(|e| self.reads(e));
        let (first, limit) = (self.values.value_of(&l.first), self.values.value_of(&l.limit));
        let step = self.values.integer(&l.step);
        let counter = self.counter();
        let number = known(Poly::var(counter));
        let at = map_both(&first, &map_both(&step, &number, Poly::mul), Poly::add);
        self.enter(&[&l.body], counter);
        self.values.integers.insert(l.var, at.clone());
        let runs = compare(l.compare, &at, &limit, false);
        self.iterate(Iterations { counter, runs }, &[&l.body]);
        self.values.forget(l.var);
    }

    fn looped(
        &mut self,
        stmt: &'a Stmt,
        condition: Option<&'a LoopCondition>,
        body: &'a Block,
        step: &'a Block,
    ) {
        let counter = self.counter();
        let mut blocks = vec![body, step];
        match condition {
            Some(c) if !c.at_end && c.before.stmts.is_empty() => {
                self.enter(&blocks, counter);
                let runs = self.values.cases(&c.expr, false);
                // It is looked at once more than the body runs.
                self.reads_anywhere(&c.expr);
                self.iterate(Iterations { counter, runs }, &blocks);
            }
            _ => {
                blocks.extend(condition.map(|c| &c.before));
                condition.iter().for_each(|c| self.reads_anywhere(&c.expr));
                self.forget_set(stmt);
                self.iterate(Iterations { counter, runs: vec![Case::open()] }, &blocks);
            }
        }
        self.forget_set(stmt);
    }

    fn counter(&mut self) -> VarId {
        self.counters += 1;
        VarId(self.counters - 1)
    }

    /// The variables as an iteration finds them: those that every iteration changes by the same, and none that it changes
    /// otherwise.
    fn enter(&mut self, blocks: &[&'a Block], counter: VarId) {
        let number = known(Poly::var(counter));
        let mut moved = vec![];
        for (var, times) in set_in(blocks) {
            let by = (times == 1).then(|| increment(blocks, var)).flatten();
            if let Some((by, negative)) = by {
                let factor = if negative { -1 } else { 1 };
                let by = map(&self.values.integer(by), |p| p.scale(factor));
                moved.push((var, map_both(&by, &number, Poly::mul)));
            }
        }
        let before = self.values.clone();
        set_in(blocks).into_iter().for_each(|(v, _)| self.values.forget(v));
        for (var, by) in moved {
            if let Some(start) = before.integers.get(&var) {
                self.values.integers.insert(var, map_both(start, &by, Poly::add));
            }
            if let Some(start) = before.pointers.get(&var) {
                let ty = &before.function.var(var).ty;
                let size = ty.pointee().map_or(0, |t| before.size(t));
                let bytes = map(&by, |p| p.scale(size));
                self.values.pointers.insert(var, shifted(start, &bytes));
            }
        }
    }

    /// Goes through the blocks of a loop, for all its iterations at once.
    fn iterate(&mut self, iterations: Iterations, blocks: &[&'a Block]) {
        let outside = self.path.clone();
        self.path = both(&outside, &iterations.runs);
        // Not every iteration is reached where some leave the loop.
        self.open_if(blocks.iter().any(|b| leaves(b)));
        self.iterations.push(iterations);
        let inside = self.path.clone();
        for block in blocks {
            self.path.clone_from(&inside);
            self.block(block);
            if walk::continues(block).is_some() {
                set_in(&[block]).into_iter().for_each(|(v, _)| self.values.forget(v));
            }
        }
        self.iterations.pop();
        self.path = outside;
        self.open_if(blocks.iter().any(|b| walk::returns(b).is_some()));
        set_in(blocks).into_iter().for_each(|(v, _)| self.values.forget(v));
    }

    /// From here on further conditions hold that are not known.
    fn open_if(&mut self, open: bool) {
        if open {
            self.path.iter_mut().for_each(|case| case.open = true);
        }
    }

    fn forget_set(&mut self, stmt: &Stmt) {
        let one = Block::new(vec![stmt.clone()]);
        walk::times_set_each(&one).into_keys().for_each(|v| self.values.forget(v));
    }

    /// Follows a call: the variables of the function stand for the arguments.
    fn call(&mut self, id: FuncId, args: &'a [Expr], result: Option<&'a Place>, origin: &Origin) {
        args.iter().for_each(|e| self.reads(e));
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return self.anything(origin);
        }
        let module = self.values.module;
        let function = module.function(id);
        let mut inside = Values::new(module, function, true);
        inside.facts.clone_from(&self.values.facts);
        for (param, arg) in function.params.iter().zip(args) {
            if arg.ty.is_pointer() {
                inside.pointers.insert(*param, self.values.pointer(arg));
            } else if arg.ty.is_integer() {
                inside.integers.insert(*param, self.values.integer(arg));
            }
        }
        let outside = std::mem::replace(&mut self.values, inside);
        let path = self.path.clone();
        let returned = std::mem::take(&mut self.returned);
        self.block(&function.body);
        let value = match (self.returned.as_slice(), function.body.stmts.last()) {
            ([Some(e)], Some(Stmt { kind: StmtKind::Return(_), .. })) if e.ty.is_integer() => {
                self.values.integer(e)
            }
            _ => unknown(),
        };
        (self.values, self.path, self.returned) = (outside, path, returned);
        for arg in args {
            if let ExprKind::AddressOf(p) = &*arg.kind {
                p.root_var().into_iter().for_each(|v| self.values.forget(v));
            }
        }
        match result.map(|p| (p, &*p.kind)) {
            Some((_, PlaceKind::Var(v))) => {
                self.values.forget(*v);
                self.values.integers.insert(*v, value);
            }
            Some((place, _)) => self.write(place, origin),
            None => {}
        }
    }

    fn write(&mut self, place: &'a Place, origin: &Origin) {
        self.reads_of_place(place);
        self.access(place, AccessKind::Write, origin);
    }

    /// The reads of an expression, those of operands that are not always evaluated under their condition.
    fn reads(&mut self, e: &'a Expr) {
        match &*e.kind {
            ExprKind::Select(cond, a, b) => {
                self.reads(cond);
                for (e, negated) in [(a, false), (b, true)] {
                    self.reads_under(cond, negated, e);
                }
            }
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                self.reads(a);
                self.reads_under(a, *op == BinaryOp::LogicalOr, b);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Cast(a)
            | ExprKind::Bitcast(a)
            | ExprKind::Member(a, _) => self.reads(a),
            ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
                [a, b].into_iter().for_each(|e| self.reads(e));
            }
            ExprKind::Call(_, args) | ExprKind::Make(args) => {
                args.iter().for_each(|e| self.reads(e));
            }
            ExprKind::Read(place) => {
                self.reads_of_place(place);
                self.access(place, AccessKind::Read, &e.origin);
            }
            ExprKind::AddressOf(place) => self.reads_of_place(place),
            ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        }
    }

    /// What has to be read to find a place.
    fn reads_of_place(&mut self, place: &'a Place) {
        match &*place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => {}
            PlaceKind::Deref(e) => self.reads(e),
            PlaceKind::Elem { pointer, index, dims } => {
                [pointer].into_iter().chain(index).chain(dims).for_each(|e| self.reads(e));
            }
            PlaceKind::Index(p, e) => {
                self.reads_of_place(p);
                self.reads(e);
            }
            PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => self.reads_of_place(p),
        }
    }

    fn reads_under(&mut self, cond: &Expr, negated: bool, e: &'a Expr) {
        if !walk::reads_memory(e) {
            return;
        }
        let cases = self.values.cases(cond, negated);
        let inside = self.values.assuming(&cases);
        let (path, values) =
            (std::mem::take(&mut self.path), std::mem::replace(&mut self.values, inside));
        self.path = both(&path, &cases);
        self.reads(e);
        (self.path, self.values) = (path, values);
    }

    fn reads_anywhere(&mut self, e: &'a Expr) {
        walk::each_expr(e, &mut |e| {
            if let ExprKind::Read(place) = &*e.kind
                && !is_register(place, self.values.function)
            {
                let at = map(&self.values.address(place), |p| {
                    Some(Pointer { bytes: None, ..p.clone() })
                });
                self.note(&at, 1, AccessKind::Read, &e.origin);
            }
        });
    }

    /// All memory may be read and written here.
    fn anything(&mut self, origin: &Origin) {
        for kind in [AccessKind::Read, AccessKind::Write] {
            self.note(&unknown(), 1, kind, origin);
        }
    }

    fn access(&mut self, place: &Place, kind: AccessKind, origin: &Origin) {
        if is_register(place, self.values.function) {
            return;
        }
        let origin = if place.origin.span.is_some() { &place.origin } else { origin };
        let (at, size) = (self.values.address(place), self.values.size(&place.ty));
        self.note(&at, size, kind, origin);
    }

    /// Takes an access up, once for each case.
    fn note(&mut self, at: &Pieces<Pointer>, size: i128, kind: AccessKind, origin: &Origin) {
        for Piece { case, value } in under(&self.path, at) {
            let anywhere = Pointer { base: Base::Anything, bytes: None, inner: false };
            let pointer = value.unwrap_or(anywhere);
            if pointer.inner {
                continue;
            }
            let element = self.element(pointer.base);
            let flat = pointer.bytes.and_then(|bytes| in_elements(&bytes, element));
            let (index, rows) = match &flat {
                Some((first, _)) => {
                    let (index, rows) = rows::split(first, &case.when);
                    (Some(index), rows)
                }
                None => (None, vec![]),
            };
            let rest = flat.map_or(0, |(_, rest)| rest);
            let width = u64::try_from((rest + size + element - 1) / element).unwrap_or(1);
            let (iterations, origin) = (self.iterations.clone(), origin.clone());
            let base = pointer.base;
            self.found.push(Touched { base, kind, index, rows, width, iterations, case, origin });
        }
    }

    /// Bytes of an element of an object.
    fn element(&self, base: Base) -> i128 {
        let module = self.values.module;
        let ty = match base {
            Base::Var(v) => self.function.vars.get(v.0 as usize).map(|v| &v.ty),
            Base::Global(g) => module.globals.get(g.0 as usize).map(|g| &g.ty),
            Base::Anything => None,
        };
        let ty = ty.map(|t| t.pointee().unwrap_or(t).innermost());
        ty.map_or(1, |t| self.values.size(t).max(1))
    }
}

/// Bytes as whole elements and the bytes that are left; `None` where they are no such thing.
fn in_elements(bytes: &Poly, size: i128) -> Option<(Poly, i128)> {
    let rest = bytes.constant_term().rem_euclid(size);
    let whole = bytes.add(&Poly::constant(-rest))?;
    let even = whole.terms().all(|(_, factor)| factor % size == 0);
    even.then(|| whole.div(i64::try_from(size).ok()?)).flatten().map(|p| (p, rest))
}

/// A variable that is no array and no object of the block.
fn is_register(place: &Place, function: &Function) -> bool {
    match place.root_var() {
        Some(v) => {
            let var = function.var(v);
            matches!(*place.kind, PlaceKind::Var(_)) && !matches!(var.ty, Type::Array(..))
                || matches!(var.ty, Type::Struct(_) | Type::Vector(..))
                    && !matches!(var.kind, warpsmith_ir::VarKind::Shared)
        }
        None => false,
    }
}

/// Whether a block ends the loop that it is the body of, or the function, before its time.
fn leaves(block: &Block) -> bool {
    walk::leaves(block).is_some()
}

/// Variables that blocks set, and how often.
fn set_in(blocks: &[&Block]) -> Vec<(VarId, usize)> {
    let mut all = std::collections::BTreeMap::<VarId, usize>::new();
    for block in blocks {
        for (var, times) in walk::times_set_each(block) {
            *all.entry(var).or_default() += times;
        }
    }
    all.into_iter().collect()
}

/// What each iteration adds to a variable that it sets once, or takes from it.
fn increment<'a>(blocks: &[&'a Block], var: VarId) -> Option<(&'a Expr, bool)> {
    // The second block runs also after a `continue`.
    let always = |k: usize| k > 0 || walk::continues(blocks[0]).is_none();
    let set = blocks.iter().enumerate().filter(|(k, _)| always(*k)).flat_map(|(_, b)| &b.stmts);
    let value = set.into_iter().find_map(|s| match &s.kind {
        StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(var) => Some(value),
        _ => None,
    })?;
    let is_var = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(var));
    let (by, negative) = match &*value.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) if is_var(a) => (b, false),
        ExprKind::Binary(BinaryOp::Add, a, b) if is_var(b) => (a, false),
        ExprKind::Binary(BinaryOp::Sub, a, b) if is_var(a) => (b, true),
        ExprKind::PtrOffset(a, b) if is_var(a) => (b, false),
        _ => return None,
    };
    let set = set_in(blocks);
    let mut stays = !walk::reads_memory(by);
    walk::each_var(by, &mut |v| stays &= !set.iter().any(|(s, _)| *s == v));
    stays.then_some((by, negative))
}
