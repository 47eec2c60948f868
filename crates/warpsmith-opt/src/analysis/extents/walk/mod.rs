//! One walk through a function that follows what integer variables hold, and notes every access with what is known there.

mod control;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Block, Expr, ExprKind, FuncId, Function, Module, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, VarId,
};

use super::known::{self, Known};
use super::value::Division;
use crate::walk as tree;
use sizes::sizes;

/// Calls inside calls are followed this far.
const MAX_CALLS: usize = 8;
/// Inside so many loops what stays true of a variable is no longer looked for.
const MAX_GUESSES: u32 = 4;

/// An access to an array parameter of the analysed function.
pub struct Access<'m> {
    pub array: VarId,
    /// One value for each subscript, as written.
    pub index: Vec<Poly>,
    pub dims: Vec<Poly>,
    /// Elements between the start of the array and where the subscripts begin; `None`: it is not known.
    pub offset: Option<Poly>,
    pub state: State,
    pub origin: Origin,
    /// The place in the analysed function; `None` inside a called one, or behind a pointer that was computed.
    pub place: Option<&'m Place>,
}

impl Access<'_> {
    /// The subscript into the array seen as one row; `None` where it has none.
    pub fn linear(&self) -> Option<Poly> {
        let mut sum = self.index.first().cloned().unwrap_or_default();
        for (i, extent) in self.index.iter().skip(1).zip(&self.dims) {
            sum = sum.mul(extent)?.add(i)?;
        }
        sum.add(self.offset.as_ref()?)
    }
}

/// What is known at one point.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Values of integer variables. A parameter that is not here still has its own.
    pub values: BTreeMap<VarId, Poly>,
    pub known: Known,
    /// No condition decides whether control comes here, and no loop around begins or ends where another one stands.
    pub sure: bool,
}

impl State {
    /// The same on one of several ways.
    pub fn branch(&self) -> State {
        State { sure: false, ..self.clone() }
    }
}

/// Where a symbol came from, for messages.
#[derive(Clone, Debug, Default)]
pub struct Cause {
    /// The variable that it stands for.
    pub var: Option<String>,
    /// The array it was read from.
    pub array: Option<String>,
    /// Upper bounds over parameters of what it may be instead of what was read there, each of another way.
    pub others: Vec<Poly>,
    /// A counter that takes every value in its range.
    pub counter: bool,
}

/// A condition, and what the variables in it held.
pub struct Flag<'m> {
    pub cond: &'m Expr,
    held: Vec<(VarId, Option<Poly>)>,
}

impl<'m> Flag<'m> {
    pub fn new(cond: &'m Expr, st: &State) -> Flag<'m> {
        let mut held = vec![];
        tree::each_var(cond, &mut |v| held.push((v, st.values.get(&v).cloned())));
        Flag { cond, held }
    }

    /// Whether the condition would be the same now.
    pub fn lasts(&self, st: &State) -> bool {
        self.held.iter().all(|(v, p)| st.values.get(v) == p.as_ref())
    }
}

/// Where a pointer of a function points: an array of the analysed function, and how far behind its start.
type Target = (VarId, Option<Poly>);

/// What symbols stand for that the walk has made.
#[derive(Default)]
pub struct Learned<'m> {
    causes: Vec<Cause>,
    pub divisions: Vec<Division>,
    /// Powers of two by their exponents.
    pub powers: Vec<(Poly, VarId)>,
    /// Symbols that tell whether a condition was true.
    pub flags: BTreeMap<VarId, Flag<'m>>,
}

pub struct Walk<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    /// Variables of the analysed function that stand for sizes, see [`sizes`].
    sizes: BTreeSet<VarId>,
    /// What follows from its parameters once and for all: sizes, and what they are made of.
    made: BTreeMap<VarId, &'m Expr>,
    pointers: BTreeMap<VarId, Target>,
    /// The function at hand is the analysed one.
    pub own: bool,
    calls: usize,
    /// Whether integer parameters are taken to be 0 or more.
    pub assume: bool,
    pub learned: Learned<'m>,
    pub accesses: Vec<Access<'m>>,
    /// Greater than zero: nothing is recorded.
    quiet: u32,
    guesses: u32,
    /// Ends of what variables are set to, in the loop for which bounds are guessed.
    set_to: Option<Vec<(VarId, bool, Poly)>>,
    /// What the called function gave back so far.
    returns: Vec<(Poly, State)>,
    /// States at `continue` and `break` of the loops around, innermost last.
    exits: Vec<Vec<State>>,
}

/// Walks through a function; `arrays` are the parameters whose accesses are wanted.
pub fn walk<'m>(
    module: &'m Module,
    function: &'m Function,
    arrays: &BTreeSet<VarId>,
    assume: bool,
) -> Walk<'m> {
    let mut state = State { sure: true, ..State::default() };
    let (sizes, made) = sizes(function);
    for p in function.params.iter().chain(&sizes) {
        let unsigned = |s: Scalar| !s.is_signed() && s.is_integer();
        let ty = function.var(*p).ty.scalar().filter(|s| s.is_integer());
        if ty.is_some_and(|s| assume || unsigned(s)) {
            state.known.bound(*p, Some(Poly::zero()), None);
        }
    }
    let mut walk = Walk {
        module,
        function,
        sizes,
        made,
        pointers: arrays.iter().map(|a| (*a, (*a, Some(Poly::zero())))).collect(),
        own: true,
        calls: 0,
        assume,
        learned: Learned::default(),
        accesses: vec![],
        quiet: 0,
        guesses: 0,
        set_to: None,
        returns: vec![],
        exits: vec![],
    };
    walk.block(&function.body, &mut state);
    walk
}

impl<'m> Walk<'m> {
    pub fn fresh(&mut self, of: Option<&Expr>) -> VarId {
        let mut cause = Cause::default();
        if let Some(ExprKind::Read(p)) = of.map(|e| &*e.kind) {
            match (&*p.kind, super::pointer_of(p)) {
                (PlaceKind::Var(v), _) => cause.var = Some(self.function.var(*v).name.clone()),
                (_, Some(v)) => cause.array = Some(self.function.var(v).name.clone()),
                _ => {}
            }
        }
        self.learned.causes.push(cause);
        known::symbol(self.learned.causes.len() - 1)
    }

    /// A symbol for what a variable holds.
    fn fresh_for(&mut self, v: VarId, counter: bool) -> VarId {
        let var = Some(self.function.var(v).name.clone());
        self.learned.causes.push(Cause { var, counter, ..Cause::default() });
        known::symbol(self.learned.causes.len() - 1)
    }

    /// Says of a symbol that it is read from an array on one way, and bounded on others.
    pub fn partly_read(&mut self, symbol: VarId, array: String, others: Vec<Poly>) {
        let cause = known::symbol_number(symbol).and_then(|n| self.learned.causes.get_mut(n));
        if let Some(cause) = cause {
            (cause.array, cause.others) = (Some(array), others);
        }
    }

    pub fn cause(&self, symbol: VarId) -> Option<&Cause> {
        self.learned.causes.get(known::symbol_number(symbol)?)
    }

    /// The analysed function, before and after the walk.
    pub fn top(&self) -> &'m Function {
        self.function
    }

    /// Symbols from here on are newer than what exists now.
    pub fn mark(&self) -> usize {
        self.learned.causes.len()
    }

    pub fn older(&self, p: &Poly, mark: usize) -> bool {
        known::newest(p).is_none_or(|v| known::symbol_number(v).is_none_or(|n| n < mark))
    }

    /// A parameter of the analysed function, or a variable for a size.
    pub fn own_param(&self, v: VarId) -> bool {
        self.own && (self.function.params.contains(&v) || self.sizes.contains(&v))
    }

    /// Parameters of the analysed function and variables for sizes.
    pub fn own_params(&self) -> impl Iterator<Item = VarId> {
        self.function.params.iter().chain(&self.sizes).copied()
    }

    /// What a size, or a part of one, is made of.
    pub fn size(&self, v: VarId) -> Option<&'m Expr> {
        self.made.get(&v).copied()
    }

    pub fn quietly<T>(&mut self, f: impl FnOnce(&mut Walk<'m>) -> T) -> T {
        self.quiet += 1;
        let result = f(self);
        self.quiet -= 1;
        result
    }

    /// Whether control comes to the end of the block. Variables declared in it are forgotten.
    fn block(&mut self, block: &'m Block, st: &mut State) -> bool {
        let reached = block.stmts.iter().all(|s| self.stmt(s, st));
        for s in &block.stmts {
            if let StmtKind::Decl { var, .. } = &s.kind {
                st.values.remove(var);
            }
        }
        reached
    }

    fn stmt(&mut self, stmt: &'m Stmt, st: &mut State) -> bool {
        match &stmt.kind {
            StmtKind::Decl { var, .. } if self.own_param(*var) => {}
            StmtKind::Decl { var, init } => {
                let value = init.as_ref().map(|e| self.value(e, st));
                self.set(*var, value, st);
            }
            StmtKind::Assign { place, value } => {
                let value = self.value(value, st);
                self.place(place, st);
                if let PlaceKind::Var(v) = &*place.kind {
                    self.set(*v, Some(value), st);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                return self.branch(cond, then, otherwise, st);
            }
            StmtKind::For(l) => self.counted(l, st),
            StmtKind::Loop { .. } => self.general(stmt, st),
            StmtKind::Switch { selector, cases } => {
                self.value(selector, st);
                self.switch(cases, st);
            }
            StmtKind::Scope(b) => return self.block(b, st),
            StmtKind::Break | StmtKind::Continue => {
                if let Some(exits) = self.exits.last_mut() {
                    exits.push(st.clone());
                }
                return false;
            }
            StmtKind::Return(value) => {
                if let Some(e) = value {
                    let value = self.value(e, st);
                    self.returns.push((value, st.clone()));
                }
                return false;
            }
            StmtKind::Call { function, args, result } => {
                let value = self.called(*function, args, st);
                if let Some(place) = result {
                    self.place(place, st);
                    if let PlaceKind::Var(v) = &*place.kind {
                        self.forget(*v, st);
                        value.into_iter().for_each(|p| self.set(*v, Some(p), st));
                    }
                }
            }
            _ => {
                let o = tree::operands(stmt);
                o.reads.iter().for_each(|e| _ = self.value(e, st));
                o.writes.iter().for_each(|p| self.place(p, st));
                o.results.iter().for_each(|v| _ = self.forget(*v, st));
            }
        }
        true
    }

    fn set(&mut self, v: VarId, value: Option<Poly>, st: &mut State) {
        let integer = self.function.var(v).ty.scalar().is_some_and(|s| s.is_integer());
        match value.filter(|_| integer) {
            Some(value) => {
                if let Some(ends) = &mut self.set_to {
                    for up in [false, true] {
                        let all = st.known.extremes(&value, up).unwrap_or_default();
                        ends.extend(all.into_iter().map(|p| (v, up, p)));
                    }
                }
                st.values.insert(v, value);
            }
            None => _ = st.values.remove(&v),
        }
    }

    /// Nothing is known of the variable any more.
    fn forget(&mut self, v: VarId, st: &mut State) -> VarId {
        let symbol = self.fresh_for(v, false);
        st.values.insert(v, Poly::var(symbol));
        symbol
    }

    /// Records an access, and those inside its subscripts.
    pub fn place(&mut self, place: &'m Place, st: &mut State) {
        match &*place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => {}
            PlaceKind::Index(p, e) => {
                self.value(e, st);
                self.place(p, st);
            }
            PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => self.place(p, st),
            PlaceKind::Deref(pointer) => self.element(place, pointer, &[], &[], st),
            PlaceKind::Elem { pointer, index, dims } => {
                self.element(place, pointer, index, dims, st)
            }
        }
    }

    fn element(
        &mut self,
        place: &'m Place,
        pointer: &'m Expr,
        index: &'m [Expr],
        dims: &'m [Expr],
        st: &mut State,
    ) {
        let index: Vec<Poly> = index.iter().map(|e| self.value(e, st)).collect();
        let dims: Vec<Poly> = dims.iter().map(|e| self.value(e, st)).collect();
        let Some((array, offset)) = self.target(pointer, st) else { return };
        if self.quiet > 0 {
            return;
        }
        let named = matches!(&*pointer.kind, ExprKind::Read(_)) && self.own;
        let index = index.iter().map(|p| self.undivided(p)).collect();
        self.accesses.push(Access {
            array,
            index,
            dims,
            offset,
            state: st.clone(),
            origin: place.origin.clone(),
            place: named.then_some(place),
        });
    }

    /// Where a pointer leads.
    fn target(&mut self, pointer: &'m Expr, st: &mut State) -> Option<Target> {
        match &*pointer.kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => self.pointers.get(v).cloned(),
                _ => None,
            },
            ExprKind::PtrOffset(base, by) => {
                let by = self.value(by, st);
                let (array, offset) = self.target(base, st)?;
                Some((array, offset.and_then(|o| o.add(&by))))
            }
            ExprKind::Cast(inner) if inner.ty.pointee() == pointer.ty.pointee() => {
                self.target(inner, st)
            }
            ExprKind::Cast(inner) => Some((self.target(inner, st)?.0, None)),
            ExprKind::AddressOf(p) => match &*p.kind {
                PlaceKind::Deref(inner) => self.target(inner, st),
                PlaceKind::Elem { pointer, index, dims } => {
                    let (array, offset) = self.target(pointer, st)?;
                    let mut linear = Some(Poly::zero());
                    for (k, i) in index.iter().enumerate() {
                        let i = self.quietly(|walk| walk.value(i, st));
                        let row = match k.checked_sub(1).and_then(|k| dims.get(k)) {
                            Some(d) => self.quietly(|walk| walk.value(d, st)),
                            None => Poly::constant(1),
                        };
                        linear = linear.and_then(|l| l.mul(&row)?.add(&i));
                    }
                    Some((array, linear.zip(offset).and_then(|(l, o)| l.add(&o))))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A call: the body of the function, with the arguments in place of its parameters. Gives the value that it returns.
    fn called(&mut self, id: FuncId, args: &'m [Expr], st: &mut State) -> Option<Poly> {
        let callee = self.module.functions.get(id.0 as usize)?;
        let mark = self.mark();
        let (mut pointers, mut values) = (BTreeMap::new(), BTreeMap::new());
        for (param, arg) in callee.params.iter().zip(args) {
            if arg.ty.is_pointer() {
                // The address is no access yet.
                let target = self.quietly(|walk| {
                    walk.value(arg, st);
                    walk.target(arg, st)
                });
                pointers.extend(target.map(|t| (*param, t)));
            } else {
                let value = self.value(arg, st);
                if callee.var(*param).ty.scalar().is_some_and(|s| s.is_integer()) {
                    values.insert(*param, value);
                }
            }
        }
        let integer = callee.ret.scalar().is_some_and(|s| s.is_integer());
        if (pointers.is_empty() && !integer) || self.calls >= MAX_CALLS {
            return None;
        }
        let outer = (self.function, std::mem::replace(&mut self.pointers, pointers), self.own);
        let (exits, returns) = (std::mem::take(&mut self.exits), std::mem::take(&mut self.returns));
        (self.function, self.own) = (callee, false);
        self.calls += 1;
        let mut inside = State { values, ..st.clone() };
        self.block(&callee.body, &mut inside);
        self.calls -= 1;
        self.exits = exits;
        (self.function, self.pointers, self.own) = outer;
        let results = std::mem::replace(&mut self.returns, returns);
        let ways: Vec<(&Poly, &State)> = results.iter().map(|(p, s)| (p, s)).collect();
        match ways.as_slice() {
            _ if !integer => None,
            [] => None,
            [(value, _)] if self.older(value, mark) => Some((*value).clone()),
            ways => Some(Poly::var(self.one_of_several(ways, mark, st))),
        }
    }
}

/// Variables that the blocks write, counters of loops left out.
fn written_in<'a>(blocks: impl Iterator<Item = &'a Block>) -> BTreeSet<VarId> {
    let mut written = BTreeSet::new();
    for block in blocks {
        tree::each_stmt(block, &mut |s| {
            let o = tree::operands(s);
            let counter = matches!(&s.kind, StmtKind::For(l) if l.declares);
            written.extend(o.results.iter().filter(|_| !counter));
            written.extend(o.writes.and_then(|p| p.root_var()));
            for e in &o.reads {
                tree::each_expr(e, &mut |e| {
                    if let ExprKind::AddressOf(p) = &*e.kind {
                        written.extend(p.root_var());
                    }
                });
            }
        });
    }
    written
}
