//! What a thread reads of shared memory for all its iterations, read into registers first.
//!
//! ```text
//!     for ti for tj { acc[ti][tj] += A_shared[i_thread + ti * BY][k] * B_shared[k][j_thread + tj * BX] }
//!       ==>
//!     for ti { a[ti] = A_shared[…][k] }   for tj { b[tj] = B_shared[k][…] }
//!     for ti for tj { acc[ti][tj] += a[ti] * b[tj] }
//! ```
//!
//! A read that only some of the loops around it move, or none, is made once for each of their iterations; where neighbouring
//! iterations read neighbouring elements of shared memory, in vectors. Staged arrays are not written, and all of a block's
//! tile is there, so that nothing is read that may not be. What is read of global memory is read only by iterations that
//! exist, and only where the group writes nothing of the array and reads it whatever comes.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Space, Stmt, StmtKind, Type,
    Value, VarId, visit,
};

use crate::analysis::access::{Base, base_of};
use crate::analysis::axes::Axes;
use crate::analysis::footprint::Counter;
use crate::build::conditions::select;
use crate::build::stmts::declare;
use crate::build::vectors;
use crate::build::vectors::has_vector;
use crate::rewrite::register_tile::elements::element_of;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::stage::strips::Ahead;
use crate::walk;
use crate::walk::always_read;
use crate::walk::set_in;

/// A read of shared memory that stands in registers.
pub(crate) struct Fragment {
    /// The read as the user wrote it.
    place: Place,
    /// Variable: an array with an element for each of the thread's iterations of the loops.
    var: VarId,
    axes: Axes,
    /// Of two arrays that take turns, the one of this iteration.
    turn: Option<Expr>,
}

impl Expansion<'_, '_> {
    /// Reads what a group needs several times; the statements that do so go to `out`.
    pub(crate) fn fragments(
        &mut self,
        body: &Block,
        axes: Axes,
        out: &mut Vec<Stmt>,
    ) -> Vec<Fragment> {
        let mut fragments: Vec<Fragment> = vec![];
        if axes == 0 {
            return fragments;
        }
        let set = set_in(body);
        for place in self.candidates(body) {
            let mut free = true;
            walk::each_expr_of_place(&place, &mut |e| free &= !mentions_any(e, &set));
            let found = self.staged_read(&place).map(|(at, c)| (at, c.to_vec()));
            let (own, vector) = match &found {
                Some((at, constants)) => {
                    let own = self.axes_of_copy(*at) & axes;
                    (own, self.vector_axis(*at, constants, own))
                }
                None => {
                    let own = self.axes_of_expr(&Expr::read(place.clone())) & axes;
                    (own, self.wide_axis(&place, own))
                }
            };
            let reused = own != axes && (own != 0 || !self.is_constant(&place));
            if !(free && (reused || vector.is_some())) {
                continue;
            }
            let ahead = match &found {
                Some((at, _)) if self.reads_ahead(*at) => self.strips.ahead.take(),
                _ => None,
            };
            let var = self.fragment_variable(&place, own, ahead.is_some());
            let mut turn = None;
            match (found, ahead) {
                (Some((at, constants)), Some(mut ahead)) => {
                    let read = Read { at, constants, axes: own, vector };
                    turn = Some(self.take_turns(var, &read, &mut ahead, out));
                    self.strips.ahead = Some(ahead);
                }
                (Some((at, constants)), None) => {
                    out.push(declaration(var));
                    let read = Read { at, constants, axes: own, vector };
                    let whole = self.whole(var, None);
                    out.extend(self.load(&whole, &read));
                }
                (None, _) => {
                    out.push(declaration(var));
                    out.extend(self.load_global(var, &place, own, vector));
                }
            }
            if own == 0 && turn.is_none() {
                initialised(out);
            }
            fragments.push(Fragment { place, var, axes: own, turn });
        }
        fragments
    }

    /// Reads of staged arrays, and those of global arrays that each iteration makes and no statement writes.
    fn candidates(&self, body: &Block) -> Vec<Place> {
        let mut places: Vec<Place> = vec![];
        let fixed = |(at, _): (usize, &[i128])| !self.copies[at].footprint.written;
        visit::for_each_place(body, &mut |place, _| {
            if self.staged_read(place).is_some_and(fixed) && !places.contains(place) {
                places.push(place.clone());
            }
        });
        let writes: Vec<Base> = written_in(body);
        let plain = |s: &Stmt| matches!(s.kind, StmtKind::Assign { .. } | StmtKind::Decl { .. });
        let distinct = self.draft.scope.distinct_pointers;
        if !distinct || !body.stmts.iter().all(plain) || writes.contains(&Base::Anything) {
            return places;
        }
        for e in body.stmts.iter().flat_map(|s| walk::operands(s).reads) {
            always_read(e, &mut |place| {
                let global = matches!(&*place.kind, PlaceKind::Elem { .. });
                let known = matches!(base_of(place), Base::Var(_)) && place.ty.scalar().is_some();
                let fresh = !places.contains(place) && self.staged_read(place).is_none();
                if global && known && fresh && !writes.contains(&base_of(place)) {
                    places.push(place.clone());
                }
            });
        }
        places
    }

    /// Instructions take elements of constant memory as operands: a register of their own would be one more to have.
    fn is_constant(&self, place: &Place) -> bool {
        matches!(base_of(place), Base::Var(v) if self.draft.source.constants.contains(&v))
    }

    /// Puts elements of fragments in place of reads of shared memory.
    pub(crate) fn use_fragments(
        &self,
        body: &mut Block,
        fragments: &[Fragment],
        replicas: &BTreeMap<usize, Replica>,
    ) {
        struct Use<'u> {
            fragments: &'u [Fragment],
            replicas: &'u BTreeMap<usize, Replica>,
            host: &'u warpsmith_ir::Function,
        }
        impl visit::Rewriter for Use<'_> {
            fn place(&mut self, place: &mut Place) {
                match self.fragments.iter().find(|f| f.place == *place) {
                    Some(f) => {
                        let whole = whole_of(self.host, f.var, f.turn.clone());
                        *place = element_of(whole, f.axes, self.replicas);
                    }
                    None => visit::rewrite_place(self, place),
                }
            }
        }
        if !fragments.is_empty() {
            let mut rewriter = Use { fragments, replicas, host: &self.draft.scope.host };
            visit::Rewriter::block(&mut rewriter, body);
        }
    }

    /// The tiled loops that move the reads of a copy.
    fn axes_of_copy(&self, at: usize) -> Axes {
        let mut axes = 0;
        for (c, _) in self.copies[at].footprint.dims.iter().flat_map(|d| &d.terms) {
            let k = self.tiles.iter().position(|t| t.source.id == c.id() && t.factor > 1);
            axes |= k.map_or(0, |k| 1 << k);
        }
        axes
    }

    /// The loop along which a copy is read in vectors: its neighbouring iterations read neighbouring elements of a row
    /// in shared memory, beginning at a multiple of the vector.
    fn vector_axis(&self, at: usize, constants: &[i128], axes: Axes) -> Option<usize> {
        let copy = &self.copies[at];
        let n = copy.footprint.dims.len();
        let last = copy.stage.layout.order.last(n)?;
        let d = &copy.footprint.dims[last];
        let (row, element) = (*copy.ty.extents().last()?, copy.ty.innermost().scalar()?);
        self.chosen(axes).into_iter().map(|(k, _)| k).find(|k| {
            let tile = &self.tiles[*k];
            let width = i128::from(tile.width);
            let own = |c: &Counter| c.id() == tile.source.id;
            let beside = d.terms.iter().filter(|(c, _)| own(c)).map(|(_, f)| *f).eq([1]);
            let elsewhere = copy
                .footprint
                .dims
                .iter()
                .enumerate()
                .any(|(other, d)| other != last && d.terms.iter().any(|(c, _)| own(c)));
            has_vector(element, tile.width)
                && beside
                && !elsewhere
                && row.is_multiple_of(tile.width.into())
                && (constants[last] - d.constants.0) % width == 0
                && d.terms.iter().all(|(c, f)| own(c) || (*f > 0 && f % width == 0))
        })
    }

    /// The loop along which a global array is read in vectors.
    fn wide_axis(&self, place: &Place, axes: Axes) -> Option<usize> {
        let wide = |t: &Tile| {
            let whole = t.begin.is_none() && self.nest.multiples.whole_groups(&t.source, t.width);
            t.width > 1 && whole && self.is_wide(place, t)
        };
        self.chosen(axes).into_iter().find(|(_, t)| wide(t)).map(|(k, _)| k)
    }

    fn fragment_variable(&mut self, place: &Place, axes: Axes, twice: bool) -> VarId {
        let array = match base_of(place) {
            Base::Var(v) => self.draft.scope.host.var(v).name.clone(),
            _ => "fragment".into(),
        };
        let lower = array.to_lowercase();
        let name = if lower == array { format!("{array}_own") } else { lower };
        let mut ty = place.ty.clone();
        for (_, tile) in self.chosen(axes).into_iter().rev() {
            ty = Type::array(ty, tile.factor.into());
        }
        let tiles = self.chosen(axes).into_iter().map(|(_, t)| t.factor_expr.clone());
        let extents = twice.then(|| Expr::i32(2)).into_iter().chain(tiles).collect();
        if twice {
            ty = Type::array(ty, 2);
        }
        let var = self.draft.scope.local(&name, ty);
        // A read that no loop of the tile moves is one value.
        let shape = Some(extents).filter(|e: &Vec<Expr>| !e.is_empty());
        self.draft.scope.host.vars[var.0 as usize].shape = shape;
        var
    }

    /// Which of a copy's elements an iteration of a strip reads depends on nothing but its number, and the loop around
    /// reads one iteration ahead.
    fn reads_ahead(&self, at: usize) -> bool {
        let copy = &self.copies[at];
        let strip = copy.stage.strip.map(|(id, _)| id);
        let here = self.strips.ahead.as_ref().is_some_and(|a| strip == Some(a.id));
        let mut counters = copy.footprint.dims.iter().flat_map(|d| &d.terms);
        here && !counters.any(|(c, _)| matches!(c, Counter::Constant(..)))
    }

    /// Reads a fragment for the first iteration of a strip before the loop, and in each iteration for the next one; tells
    /// which of the two arrays is that of the iteration.
    fn take_turns(
        &mut self,
        var: VarId,
        read: &Read,
        ahead: &mut Ahead,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let ty = ahead.counter.ty.scalar().unwrap_or(Scalar::I32);
        let turn = |e: Expr| Expr::binary(BinaryOp::Rem, e, Expr::int(ty, 2));
        ahead.first.push(declaration(var));
        self.strips.offsets.insert(ahead.id, Expr::int(ty, 0));
        let whole = self.whole(var, Some(Expr::i32(0)));
        ahead.first.extend(self.load(&whole, read));
        let next = Expr::binary(BinaryOp::Add, ahead.counter.clone(), Expr::int(ty, 1));
        self.strips.offsets.insert(ahead.id, next.clone());
        let whole = self.whole(var, Some(turn(next.clone())));
        let then = Block::new(self.load(&whole, read));
        self.strips.offsets.remove(&ahead.id);
        let cond = Expr::binary(BinaryOp::Lt, next, ahead.length.clone());
        match out.last_mut().map(|s| &mut s.kind) {
            // The condition is the same for all fragments.
            Some(StmtKind::If { cond: known, then: all, .. }) if *known == cond => {
                all.stmts.extend(then.stmts);
            }
            _ => {
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                out.push(Stmt::new(kind, Origin::default()));
            }
        }
        turn(ahead.counter.clone())
    }

    /// A fragment's array, or one of the two that take turns.
    fn whole(&self, var: VarId, turn: Option<Expr>) -> Place {
        whole_of(&self.draft.scope.host, var, turn)
    }

    /// Reads a fragment from shared memory.
    fn load(&mut self, whole: &Place, read: &Read) -> Vec<Stmt> {
        let mut replicas = self.replicas(read.axes);
        let width = read.vector.map_or(1, |k| self.tiles[k].width);
        if let Some(replica) = read.vector.and_then(|k| replicas.get_mut(&k)) {
            replica.at = Some(0);
        }
        let source = self.staged_element(read.at, &read.constants, &replicas);
        let set = |replicas: &BTreeMap<usize, Replica>, value: Expr| {
            let place = element_of(whole.clone(), read.axes, replicas);
            Stmt::new(StmtKind::Assign { place, value }, Origin::default())
        };
        let mut stmts = vec![];
        match read.vector {
            None => stmts.push(set(&replicas, Expr::read(source))),
            Some(k) => {
                let value = Expr::read(vectors::wide(source, Space::Shared, width, true));
                let several = self.draft.scope.local(vectors::name(width), value.ty.clone());
                let ty = value.ty.clone();
                stmts.push(declare(several, value));
                for n in 0..width {
                    let mut own = replicas.clone();
                    if let Some(replica) = own.get_mut(&k) {
                        replica.at = Some(n);
                    }
                    stmts.push(set(&own, vectors::part(&Expr::var(several, ty.clone()), n)));
                }
            }
        }
        self.wrapped(Block::new(stmts), None, &replicas)
    }

    /// Reads a fragment from global memory; zeros stand for what does not exist.
    fn load_global(
        &mut self,
        var: VarId,
        place: &Place,
        axes: Axes,
        vector: Option<usize>,
    ) -> Vec<Stmt> {
        if let Some(k) = vector {
            return self.load_wide(var, place, axes, k);
        }
        let replicas = self.replicas(axes);
        let mut value = Expr::read(place.clone());
        visit::Rewriter::expr(&mut self.arrays_rewriter(&replicas), &mut value);
        let place = element_of(self.whole(var, None), axes, &replicas);
        let set = |value: Expr| {
            let kind = StmtKind::Assign { place: place.clone(), value };
            Block::new(vec![Stmt::new(kind, Origin::default())])
        };
        let mut body = set(value.clone());
        if let Some(cond) = self.guard(&body, &replicas) {
            let zero = Expr::constant(Value::int(value.ty.scalar().unwrap_or(Scalar::I32), 0));
            body = set(select(cond, value, zero));
        }
        self.wrapped(body, None, &replicas)
    }
}

impl Expansion<'_, '_> {
    /// Reads a fragment from global memory in vectors along a loop, whose groups exist entirely or not at all.
    fn load_wide(&mut self, var: VarId, place: &Place, axes: Axes, along: usize) -> Vec<Stmt> {
        let mut replicas = self.replicas(axes);
        let width = self.tiles[along].width;
        if let Some(replica) = replicas.get_mut(&along) {
            replica.at = Some(0);
        }
        let mut value = Expr::read(vectors::wide(place.clone(), Space::Global, width, true));
        visit::Rewriter::expr(&mut self.arrays_rewriter(&replicas), &mut value);
        let ty = value.ty.clone();
        let several = self.draft.scope.local(vectors::name(width), ty.clone());
        let read = Block::new(vec![declare(several, value.clone())]);
        let mut stmts = match self.guard(&read, &replicas) {
            None => read.stmts,
            Some(cond) => {
                let element = place.ty.scalar().unwrap_or(Scalar::I32);
                let zero = Expr::constant(Value::int(element, 0));
                let zeros = ExprKind::Make(vec![zero; width as usize]);
                let zeros = Expr::new(zeros, ty.clone(), Origin::default());
                let place = Place::var(several, ty.clone());
                let read = Stmt::new(StmtKind::Assign { place, value }, Origin::default());
                let kind = StmtKind::If {
                    cond,
                    then: Block::new(vec![read]),
                    otherwise: Block::default(),
                };
                vec![declare(several, zeros), Stmt::new(kind, Origin::default())]
            }
        };
        for n in 0..width {
            let mut own = replicas.clone();
            if let Some(replica) = own.get_mut(&along) {
                replica.at = Some(n);
            }
            let place = element_of(self.whole(var, None), axes, &own);
            let value = vectors::part(&Expr::var(several, ty.clone()), n);
            stmts.push(Stmt::new(StmtKind::Assign { place, value }, Origin::default()));
        }
        self.wrapped(Block::new(stmts), None, &replicas)
    }
}

/// How a fragment is read from shared memory.
struct Read {
    /// The copy.
    at: usize,
    /// The constants of the subscripts.
    constants: Vec<i128>,
    axes: Axes,
    /// The loop along which it is read in vectors.
    vector: Option<usize>,
}

/// Makes one statement of a declaration and the assignment that follows it, where these are the last two.
fn initialised(stmts: &mut Vec<Stmt>) {
    let [.., declared, assigned] = stmts.as_slice() else { return };
    let (StmtKind::Decl { var, init: None }, StmtKind::Assign { place, value }) =
        (&declared.kind, &assigned.kind)
    else {
        return;
    };
    if matches!(&*place.kind, PlaceKind::Var(v) if v == var) {
        let kind = StmtKind::Decl { var: *var, init: Some(value.clone()) };
        stmts.truncate(stmts.len() - 2);
        stmts.push(Stmt::new(kind, Origin::default()));
    }
}

fn declaration(var: VarId) -> Stmt {
    Stmt::new(StmtKind::Decl { var, init: None }, Origin::default())
}

/// A variable's array, or an element of it.
fn whole_of(host: &warpsmith_ir::Function, var: VarId, turn: Option<Expr>) -> Place {
    let whole = Place::var(var, host.var(var).ty.clone());
    match (turn, whole.ty.clone()) {
        (Some(turn), Type::Array(element, _)) => {
            Place::new(PlaceKind::Index(whole, turn), element.as_ref().clone(), Origin::default())
        }
        _ => whole,
    }
}

/// The objects that the statements of a group write.
fn written_in(body: &Block) -> Vec<Base> {
    let mut written = vec![];
    walk::each_stmt(body, &mut |s| written.extend(walk::operands(s).writes.map(base_of)));
    written
}

fn mentions_any(e: &Expr, variables: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    walk::each_var(e, &mut |v| found |= variables.contains(&v));
    found
}
