//! Every memory access of a loop nest, with the element it touches as polynomials of the loop counters.

mod collect;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, GlobalId, Module, Origin, Place, PlaceKind,
    Stmt, StmtKind, VarId,
};

use crate::{show, walk};

/// The object an access goes to. Different pointer parameters point to different objects, by contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// A variable that holds the pointer.
    Var(VarId),
    /// An array or object of the module.
    Global(GlobalId),
    /// Through a pointer that has no name: may be anything.
    Anything,
}

/// What an access does to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// The value is used.
    Read,
    /// Another value is put there.
    Write,
    /// Both, at once.
    Atomic,
}

/// The element an access touches.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// One polynomial for each dimension, outermost first; `extents` are those of the inner dimensions (one fewer),
    /// where known. Every subscript lies inside its dimension, as C requires.
    #[allow(missing_docs, reason = "the sentence names them")]
    Affine { index: Vec<Poly>, extents: Option<Vec<Poly>> },
    /// The reason in the user's words.
    Unknown(String),
}

impl View {
    /// The subscript into the array seen as one row of elements.
    pub fn linear(&self) -> Option<Poly> {
        let View::Affine { index, extents } = self else { return None };
        let (first, rest) = index.split_first()?;
        if rest.is_empty() {
            return Some(first.clone());
        }
        let extents = extents.as_ref()?;
        let mut sum = first.clone();
        for (i, extent) in rest.iter().zip(extents) {
            sum = sum.mul(extent)?.add(i)?;
        }
        Some(sum)
    }
}

/// A condition under which an access happens.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a> {
    /// What has to hold, or not to hold.
    pub cond: &'a Expr,
    /// The access is in the `else` branch.
    pub negated: bool,
}

/// One access inside a loop.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    /// What is accessed.
    pub base: Base,
    /// What happens to it.
    pub kind: AccessKind,
    /// Where in it.
    pub view: View,
    /// The place as written; `None` for what a called function may do.
    pub place: Option<&'a Place>,
    /// Counted loops around it, from the analysed loop inward.
    pub loops: Vec<&'a ForLoop>,
    /// Conditions around it, inside of the loop.
    pub guards: Vec<Guard<'a>>,
    /// Conditions that follow from control flow beside blocks: nothing left the iteration before, the operand of a
    /// choice is taken.
    pub implied: Vec<Guard<'a>>,
    /// Where it stands in the source.
    pub origin: Origin,
    /// Position in program order.
    pub order: usize,
}

/// Where the analysis stands: the function and what it knows about variables inside one loop.
pub struct Scope<'a> {
    /// The module of the function.
    pub module: &'a Module,
    /// The function that is looked at.
    pub function: &'a Function,
    /// Counted loops around the analysed one, outermost first.
    pub outer: Vec<&'a ForLoop>,
    /// The loop whose body is looked at.
    pub root: &'a ForLoop,
    /// Variables with one definition inside the loop, by what they stand for.
    definitions: BTreeMap<VarId, Poly>,
    /// The same, and those whose definition has no normal form, as they are written.
    defining: BTreeMap<VarId, &'a Expr>,
    /// Everything that the loop assigns to variables.
    values: BTreeMap<VarId, Vec<&'a Expr>>,
    /// Variables written inside the loop other than as counters.
    changed: BTreeSet<VarId>,
    counters: BTreeSet<VarId>,
    /// Objects written inside the loop.
    written: BTreeSet<Base>,
    /// See [`Scope::set_before`].
    before: BTreeMap<VarId, &'a Expr>,
}

impl<'a> Scope<'a> {
    /// Looks at the loop `root`, which stands inside the loops `outer`.
    pub fn new(
        module: &'a Module,
        function: &'a Function,
        outer: Vec<&'a ForLoop>,
        root: &'a ForLoop,
    ) -> Scope<'a> {
        let mut scope = Scope {
            module,
            function,
            outer,
            root,
            definitions: BTreeMap::new(),
            defining: BTreeMap::new(),
            values: BTreeMap::new(),
            changed: BTreeSet::new(),
            counters: BTreeSet::from([root.var]),
            written: BTreeSet::new(),
            before: BTreeMap::new(),
        };
        scope.counters.extend(scope.outer.iter().map(|l| l.var));
        scope.survey();
        scope.before = scope.find_set_before();
        scope
    }

    /// Finds out what changes inside the loop, then which variables are names for a polynomial.
    fn survey(&mut self) {
        let mut written = BTreeMap::<VarId, u32>::new();
        let mut candidates: Vec<(VarId, &'a Expr)> = vec![];
        walk::each_stmt(&self.root.body, &mut |stmt| {
            let o = walk::operands(stmt);
            match &stmt.kind {
                StmtKind::For(l) => {
                    self.counters.insert(l.var);
                }
                StmtKind::Decl { var, init: Some(init) } => {
                    *written.entry(*var).or_default() += 1;
                    self.values.entry(*var).or_default().push(init);
                    candidates.push((*var, init));
                }
                StmtKind::Decl { .. } => {}
                StmtKind::Assign { place, value } if matches!(&*place.kind, PlaceKind::Var(_)) => {
                    let var = place.root_var().unwrap_or(VarId(0));
                    *written.entry(var).or_default() += 1;
                    self.values.entry(var).or_default().push(value);
                    if assigned_before_use(&self.root.body, var) {
                        candidates.push((var, value));
                    }
                }
                _ => {
                    let target = o.writes.and_then(|p| p.root_var());
                    for var in o.results.iter().copied().chain(target) {
                        *written.entry(var).or_default() += 2;
                    }
                }
            }
            self.note_writes(stmt, &o);
            for e in &o.reads {
                walk::each_expr(e, &mut |e| {
                    if let ExprKind::AddressOf(p) = &*e.kind
                        && let Some(v) = p.root_var()
                    {
                        *written.entry(v).or_default() += 2;
                    }
                });
            }
        });
        self.changed = written.keys().copied().collect();
        let powers = super::powers::before(self.function, self.root.id);
        for (var, value) in powers {
            if !written.contains_key(&var) && !self.counters.contains(&var) {
                self.defining.insert(var, value);
            }
        }
        for (var, value) in self.constants() {
            if !written.contains_key(&var) {
                self.define(var, value);
            }
        }
        for (var, value) in candidates {
            if written.get(&var) == Some(&1) {
                self.define(var, value);
            }
        }
    }

    /// Takes up that a variable stands for an expression, unless it counts a loop.
    fn define(&mut self, var: VarId, value: &'a Expr) {
        if self.counters.contains(&var) {
            return;
        }
        self.defining.insert(var, value);
        if let Ok(poly) = self.normalise(value) {
            self.definitions.insert(var, poly);
        }
    }

    /// Variables that are set once in the whole function, to a number.
    fn constants(&self) -> Vec<(VarId, &'a Expr)> {
        let set = self.set_once();
        set.into_iter().filter(|(_, value)| value.as_const().is_some()).collect()
    }

    /// Variables that one declaration in the whole function sets, to an integer.
    fn set_once(&self) -> BTreeMap<VarId, &'a Expr> {
        let mut declared = BTreeMap::new();
        walk::each_stmt(&self.function.body, &mut |stmt| {
            if let StmtKind::Decl { var, init: Some(init) } = &stmt.kind
                && init.ty.is_integer()
            {
                declared.insert(*var, init);
            }
        });
        let writes = walk::times_set_each(&self.function.body);
        declared.retain(|v, _| writes.get(v) == Some(&1));
        declared
    }

    /// The expression that sets a variable before the loop, where it means the same in the loop: over parameters that
    /// nothing writes, counters of loops around, and other such variables.
    pub fn set_before(&self, var: VarId) -> Option<&'a Expr> {
        self.before.get(&var).copied()
    }

    /// See [`Scope::set_before`].
    fn find_set_before(&self) -> BTreeMap<VarId, &'a Expr> {
        let writes = walk::times_set_each(&self.function.body);
        let mut found = self.set_once();
        found.retain(|v, _| !self.changed.contains(v));
        // A counter of a loop around has its value where the declaration stands in that loop.
        let inside = |v: VarId, declared: VarId| {
            self.outer.iter().any(|l| {
                let mut here = false;
                walk::each_stmt(&l.body, &mut |s| {
                    here |= matches!(s.kind, StmtKind::Decl { var, .. } if var == declared);
                });
                l.var == v && here && walk::times_set(&l.body, v) == 0
            })
        };
        loop {
            let lasting = |v: VarId, of: VarId| {
                found.contains_key(&v)
                    || (self.function.params.contains(&v) && !writes.contains_key(&v))
                    || inside(v, of)
            };
            let unstable: Vec<VarId> = found
                .iter()
                .filter(|(of, value)| {
                    let mut stable = !walk::reads_memory(value);
                    walk::each_var(value, &mut |v| stable &= lasting(v, **of));
                    !stable
                })
                .map(|(v, _)| *v)
                .collect();
            if unstable.is_empty() {
                return found;
            }
            unstable.iter().for_each(|v| _ = found.remove(v));
        }
    }

    /// The one expression that a variable has its value from, inside the loop or before it.
    pub fn definition(&self, var: VarId) -> Option<&'a Expr> {
        self.defining.get(&var).copied()
    }

    /// All expressions that the loop assigns to a variable.
    pub fn values_of(&self, var: VarId) -> &[&'a Expr] {
        self.values.get(&var).map_or(&[], Vec::as_slice)
    }

    /// Whether the loop changes a variable, other than as a counter.
    pub fn is_changed(&self, var: VarId) -> bool {
        self.changed.contains(&var) || self.counters.contains(&var)
    }

    /// Whether a variable counts a loop, the analysed one, one inside it or around it.
    pub fn is_counter(&self, var: VarId) -> bool {
        self.counters.contains(&var)
    }

    /// Whether the loop writes an object.
    pub fn is_written(&self, base: Base) -> bool {
        self.written.contains(&base) || self.written.contains(&Base::Anything)
    }

    fn note_writes(&mut self, stmt: &Stmt, o: &walk::Operands<'_>) {
        if let Some(place) = o.writes
            && !matches!(&*place.kind, PlaceKind::Var(_))
        {
            self.written.insert(base_of(place));
        }
        if let StmtKind::Atomic { pointer, .. } = &stmt.kind {
            self.written.insert(base_of_pointer(pointer));
        }
        if let StmtKind::Call { function, args, .. } = &stmt.kind {
            for (base, writes) in effects_of_call(self.module, *function, args) {
                if writes {
                    self.written.insert(base);
                }
            }
        }
    }

    /// The polynomial of an integer expression over loop counters and values that do not change in the loop.
    ///
    /// # Errors
    /// The reason why it has none, in the user's words.
    pub fn normalise(&self, expr: &Expr) -> Result<Poly, String> {
        let text = || show::expr(self.module, self.function, expr);
        let mut poly =
            Poly::from_expr(expr).ok_or_else(|| format!("subscript `{}` is not affine", text()))?;
        for _ in 0..8 {
            let known = self.definitions.iter().find(|(v, _)| poly.mentions(**v));
            let Some((var, value)) = known else { break };
            poly = poly
                .substitute(*var, value)
                .ok_or_else(|| format!("subscript `{}` is not affine", text()))?;
        }
        for var in &self.changed {
            if poly.mentions(*var) && !self.counters.contains(var) {
                let name = &self.function.var(*var).name;
                return Err(format!(
                    "subscript `{}` depends on `{name}`, which the loop changes",
                    text()
                ));
            }
        }
        for atom in poly.atoms() {
            if let Some(base) = self.unstable_base(atom) {
                let name = self.base_name(base);
                return Err(format!(
                    "subscript `{}` reads `{name}`, which the loop writes",
                    text()
                ));
            }
        }
        Ok(poly)
    }

    /// An object that a symbol reads while the loop writes it.
    fn unstable_base(&self, atom: &Atom) -> Option<Base> {
        match atom {
            Atom::Var(_) => None,
            Atom::Div(p, _) | Atom::Rem(p, _) => {
                p.atoms().into_iter().find_map(|a| self.unstable_base(a))
            }
            Atom::Symbol(s) => {
                let mut found = None;
                walk::each_expr(s.expr(), &mut |e| {
                    if let ExprKind::Read(p) = &*e.kind
                        && !matches!(&*p.kind, PlaceKind::Var(_))
                        && self.written.contains(&base_of(p))
                    {
                        found = Some(base_of(p));
                    }
                });
                found
            }
        }
    }

    /// The name of an object in messages.
    pub fn base_name(&self, base: Base) -> String {
        match base {
            Base::Var(v) => self.function.var(v).name.clone(),
            Base::Global(g) => {
                self.module.globals.get(g.0 as usize).map_or("?", |g| &g.name).to_string()
            }
            Base::Anything => "memory".into(),
        }
    }

    /// Least and greatest value of a loop's counter, both inclusive, where they have a normal form.
    pub fn range(&self, l: &ForLoop) -> (Option<Poly>, Option<Poly>) {
        let first = self.normalise(&l.first).ok();
        let limit = self.normalise(&l.limit).ok();
        let plus = |p: Option<Poly>, c: i128| p.and_then(|p| p.add(&Poly::constant(c)));
        let step = self.step(l);
        match l.compare {
            BinaryOp::Lt => (first, plus(limit, -1)),
            BinaryOp::Le => (first, limit),
            BinaryOp::Gt => (plus(limit, 1), first),
            BinaryOp::Ge => (limit, first),
            _ if step == Some(1) => (first, plus(limit, -1)),
            _ if step == Some(-1) => (plus(limit, 1), first),
            _ => (None, None),
        }
    }

    /// The step of a loop, when it is a constant.
    pub fn step(&self, l: &ForLoop) -> Option<i128> {
        self.normalise(&l.step).ok()?.as_constant().filter(|s| *s != 0)
    }

    /// All accesses to memory in the body of the loop. Scalars are not memory here; see
    /// [`crate::analysis::scalars`].
    pub fn accesses(&self) -> Vec<Access<'a>> {
        collect::accesses(self)
    }
}

/// Whether every use of a variable in the body comes after the one assignment to it and in the same block, or inside
/// that block: then no value of an earlier iteration, or from before the loop, can show through.
fn assigned_before_use(body: &Block, var: VarId) -> bool {
    let assigns = |s: &Stmt| {
        matches!(&s.kind, StmtKind::Assign { place, value }
        if *place.kind == PlaceKind::Var(var) && !walk::mentions(value, var))
    };
    let uses = |stmts: &[Stmt]| {
        let mut count = 0;
        for stmt in stmts {
            let mut note = |s: &Stmt| {
                walk::each_var_of_stmt(s, &mut |v| count += usize::from(v == var));
            };
            note(stmt);
            walk::blocks(stmt).into_iter().for_each(|b| walk::each_stmt(b, &mut |s| note(s)));
        }
        count
    };
    fn holders<'b>(block: &'b Block, found: &mut Vec<&'b Block>) {
        found.push(block);
        block.stmts.iter().flat_map(walk::blocks).for_each(|b| holders(b, found));
    }
    let mut blocks = vec![];
    holders(body, &mut blocks);
    let declared = |stmts: &[Stmt]| {
        stmts
            .iter()
            .filter(|s| matches!(&s.kind, StmtKind::Decl { var: v, .. } if *v == var))
            .count()
    };
    let all = uses(&body.stmts);
    blocks.into_iter().any(|block| {
        block.stmts.iter().position(assigns).is_some_and(|at| {
            let elsewhere: usize = all - uses(&block.stmts[at..]);
            let mut declarations = 0;
            walk::each_stmt(body, &mut |s| declarations += declared(std::slice::from_ref(s)));
            elsewhere == declarations
        })
    })
}

/// The object of a place that is not a plain variable.
pub fn base_of(place: &Place) -> Base {
    match &*place.kind {
        PlaceKind::Var(v) => Base::Var(*v),
        PlaceKind::Global(g) => Base::Global(*g),
        PlaceKind::Deref(e) | PlaceKind::Elem { pointer: e, .. } => base_of_pointer(e),
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => base_of(p),
    }
}

/// The object that a pointer points into.
pub fn base_of_pointer(pointer: &Expr) -> Base {
    match &*pointer.kind {
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(v) => Base::Var(*v),
            _ => Base::Anything,
        },
        ExprKind::AddressOf(p) => base_of(p),
        ExprKind::PtrOffset(p, _) | ExprKind::Cast(p) => base_of_pointer(p),
        _ => Base::Anything,
    }
}

/// The objects a called function may touch through its pointer arguments, and whether it may write them.
fn effects_of_call(
    module: &Module,
    function: warpsmith_ir::FuncId,
    args: &[Expr],
) -> Vec<(Base, bool)> {
    let pointers = args.iter().enumerate().filter(|(_, arg)| arg.ty.is_pointer());
    let effect = |(k, arg): (usize, &Expr)| {
        (base_of_pointer(arg), super::calls::writes_through(module, function, k))
    };
    pointers.map(effect).collect()
}
