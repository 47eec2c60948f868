//! Serial loops that pass row by row through a thread's neighbouring iterations; see [`crate::rewrite::stream`].

use std::collections::BTreeMap;

use warpsmith_ir::poly::gcd;
use warpsmith_ir::{
    BinaryOp, Block, DimOrder, Expr, ForLoop, LoopId, LoopKind, Origin, Place, PlaceKind, Scalar,
    Space, Stmt, StmtKind, Type, VarId, visit,
};

use crate::analysis::footprint::{Counter, Dim};
use crate::analysis::rows;
use crate::analysis::rows::Rows;
use crate::build::arithmetic::offset;
use crate::build::counters;
use crate::build::stmts::declare;
use crate::build::vectors;
use crate::build::vectors::has_vector;
use crate::rewrite::register_tile::expansion::{Expansion, type_of};
use crate::rewrite::register_tile::tile::Replica;
use crate::rewrite::stream::window::Window;
use crate::walk;

/// More elements of a row than this a thread does not keep.
const MOST: i128 = 64;

/// A streamed loop where the walk stands.
struct Stream<'s> {
    source: &'s ForLoop,
    /// The place of the bound loop among the tiles.
    along: usize,
    rows: Rows,
    /// The number of the row.
    row: Expr,
}

/// A read that a row holds the elements of.
struct Held {
    place: Place,
    /// The copy, and the constants of the read's subscripts.
    at: usize,
    constants: Vec<i128>,
    /// The dimension that the rows count, and that along a row.
    across: usize,
    terms: Vec<(Counter, i128)>,
    elements: i128,
}

impl Expansion<'_, '_> {
    /// The bound loop that a serial one is streamed along.
    pub(crate) fn streamed_along(&self, l: &ForLoop) -> Option<usize> {
        let along = self.nest.streams.get(&self.original(l.id))?;
        self.tiles.iter().position(|t| t.source.id == *along)
    }

    /// The rows of a streamed loop, each with what the iterations that meet it do.
    pub(crate) fn streamed(&mut self, l: &ForLoop, along: usize, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let l = &self.as_in_source(l);
        let tile = &self.tiles[along];
        let rows = rows::of(self.draft.source, l.id, tile.source.id)?;
        let row = self.draft.scope.local("row", Type::I32);
        let number = rows.number(tile.factor.into());
        let limit = rows_expr(&rows, tile.factor_expr.clone());
        let forward = Expr::var(row, Type::I32);
        let at = match rows.inner > 0 {
            true => forward.clone(),
            // Each iteration goes through the loop in order, which is from the last row to the first.
            false => Expr::binary(BinaryOp::Sub, Expr::i32((number - 1) as i32), forward.clone()),
        };
        let stream = Stream { source: l, along, rows, row: at };
        let mut body = vec![];
        let before = self.windows.len();
        for held in self.held(&stream) {
            let loads = self.load_window(&stream, &held);
            body.extend(loads);
        }
        let name = format!("t{}", self.draft.scope.host.var(tile.source.var).name);
        let replica = Replica { var: self.draft.scope.local(&name, Type::I32), at: None };
        body.extend(self.row_iterations(&stream, replica, &forward));
        self.windows.truncate(before);
        let rows = ForLoop {
            id: self.draft.scope.host.fresh_loop(),
            var: row,
            declares: true,
            first: Expr::i32(0),
            compare: BinaryOp::Lt,
            limit,
            step: Expr::i32(1),
            kind: LoopKind::Unrolled(None),
            body: Block::new(body),
        };
        let mut comment = stmt.comment.clone();
        comment.push(format!(
            "row by row, each of which several iterations of `{}` meet",
            self.draft.scope.host.var(tile.source.var).name
        ));
        let rows = Stmt { kind: StmtKind::For(rows), origin: stmt.origin.by("stream"), comment };
        let mut rows = Block::new(vec![rows]);
        // A strip's code is there twice.
        if !self.originals.is_empty() {
            visit::renew_loops(&mut self.draft.scope.host, &mut rows);
        }
        Some(rows.stmts)
    }

    /// A loop with the numbers of the source, by which footprints name its counters.
    fn as_in_source(&self, l: &ForLoop) -> ForLoop {
        struct Originals<'o>(&'o BTreeMap<LoopId, LoopId>);
        impl visit::Rewriter for Originals<'_> {
            fn loop_id(&mut self, id: &mut LoopId) {
                *id = self.0.get(id).copied().unwrap_or(*id);
            }
        }
        let mut l = ForLoop { id: self.original(l.id), ..l.clone() };
        visit::Rewriter::block(&mut Originals(&self.originals), &mut l.body);
        l
    }

    /// What the thread's iterations do with a row: the body of the serial loop, with the iteration of it that meets
    /// the row there.
    fn row_iterations(&mut self, s: &Stream<'_>, replica: Replica, row: &Expr) -> Vec<Stmt> {
        let tiled = self.tiled;
        self.tiled &= !(1 << s.along);
        self.pinned.insert(s.along, replica);
        let ahead = self.strips.ahead.take();
        let inner = self.block(&s.source.body);
        self.strips.ahead = ahead;
        self.pinned.remove(&s.along);
        self.tiled = tiled;
        let ty = type_of(self.draft, s.source);
        let own = self.draft.scope.host.var(s.source.var).clone();
        let counter = self.draft.scope.host.add_var(own);
        self.draft.scope.host.vars[counter.0 as usize].constant = true;
        let mut inner = Block::new(inner);
        let old = s.source.var;
        visit::rename_vars(&mut inner, &mut |v| if v == old { counter } else { v });
        let (number, cond, value) = self.met(s, replica, row, counter, ty);
        let mut stmts = vec![number];
        // Where rows lie between those of two iterations, only some meet one.
        inner.stmts.splice(0..0, value.map(|value| declare(counter, value)));
        let kind = StmtKind::If { cond, then: inner, otherwise: Block::default() };
        stmts.push(Stmt::new(kind, Origin::default()));
        self.wrapped(Block::new(stmts), None, &BTreeMap::from([(s.along, replica)]))
    }

    /// Which iteration of the serial loop meets the row in one of the thread's iterations: a declaration, of `counter` if
    /// every row between the first and the last meets one; the condition that there is one; otherwise its counter.
    fn met(
        &mut self,
        s: &Stream<'_>,
        replica: Replica,
        row: &Expr,
        counter: VarId,
        ty: Scalar,
    ) -> (Stmt, Expr, Option<Expr>) {
        let Rows { along, inner, first, count } = s.rows;
        let mut number = replica.number();
        if inner < 0 {
            // Rows come from the last one, and so do the iterations that meet them first.
            let last = offset(self.tiles[s.along].factor_expr.clone(), -1);
            number = Expr::binary(BinaryOp::Sub, last, number);
        }
        let distance = Expr::binary(BinaryOp::Sub, row.clone(), times(number, along));
        let and = |a, b| Expr::binary(BinaryOp::LogicalAnd, a, b);
        let step = inner.abs();
        if step == 1 {
            let value = offset(distance.cast(Type::Scalar(ty)), first as i64);
            let at = || Expr::var(counter, Type::Scalar(ty));
            let begun = Expr::binary(BinaryOp::Ge, at(), s.source.first.clone());
            let open = Expr::binary(s.source.compare, at(), s.source.limit.clone());
            return (declare(counter, value), and(begun, open), None);
        }
        let name = format!("{}_row", self.draft.scope.host.var(s.source.var).name);
        let var = self.draft.scope.local(&name, Type::I32);
        self.draft.scope.host.vars[var.0 as usize].constant = true;
        let at = |op, n: i128| Expr::binary(op, Expr::var(var, Type::I32), Expr::i32(n as i32));
        let open = and(at(BinaryOp::Ge, 0), at(BinaryOp::Le, step * (count - 1)));
        let meets = Expr::binary(BinaryOp::Eq, at(BinaryOp::Rem, step), Expr::i32(0));
        let value = offset(at(BinaryOp::Div, step).cast(Type::Scalar(ty)), first as i64);
        (declare(var, distance), and(open, meets), Some(value))
    }

    /// The reads of staged arrays whose elements a row holds.
    fn held(&self, s: &Stream<'_>) -> Vec<Held> {
        let mut found: Vec<Held> = vec![];
        visit::for_each_place(&s.source.body, &mut |place, _| {
            if found.iter().all(|h| h.place != *place)
                && let Some((at, constants)) = self.staged_read(place)
                && let Some(held) = self.holds(s, place, at, constants)
            {
                found.push(held);
            }
        });
        found
    }

    /// Whether the place's row is that of the stream and its column moves with nothing but neighbouring iterations of a
    /// thread and loops inside of the streamed one.
    fn holds(&self, s: &Stream<'_>, place: &Place, at: usize, constants: &[i128]) -> Option<Held> {
        let dims = &self.copies[at].footprint.dims;
        let across = dims.iter().position(|d| self.is_across(s, d))?;
        let column = dims.len() - 1;
        let inside = |c: &Counter| walk::find_loop(&s.source.body, c.id()).is_some();
        let neighbours = |c: &Counter| {
            let tile = self.tiles.iter().find(|t| t.source.id == c.id())?;
            (tile.factor > 1 && tile.width == tile.factor).then_some(i128::from(tile.factor))
        };
        let mut terms = vec![];
        let mut elements = 1;
        for (k, d) in dims.iter().enumerate() {
            for (c, factor) in &d.terms {
                if k == across && (c.id() == s.source.id || self.is_along(s, c)) {
                    continue;
                }
                let tiled = self.tiles.iter().any(|t| t.source.id == c.id() && t.factor > 1);
                if !inside(c) && !tiled {
                    continue;
                }
                let count = if tiled { neighbours(c)? } else { c.count().into() };
                if k != column || k == across || *factor < 0 {
                    return None;
                }
                elements += factor * (count - 1);
                terms.push((c.clone(), *factor));
            }
        }
        (elements <= MOST).then(|| Held {
            place: place.clone(),
            at,
            constants: constants.to_vec(),
            across,
            terms,
            elements,
        })
    }

    fn is_along(&self, s: &Stream<'_>, c: &Counter) -> bool {
        self.tiles[s.along].source.id == c.id()
    }

    /// The subscript counts the rows of the stream, or some multiple of them.
    fn is_across(&self, s: &Stream<'_>, d: &Dim) -> bool {
        let factor = |of: LoopId| d.terms.iter().find(|(c, _)| c.id() == of).map(|(_, f)| *f);
        match (factor(self.tiles[s.along].source.id), factor(s.source.id)) {
            (Some(a), Some(b)) => {
                let common = gcd(a, b);
                (a / common, b / common) == (s.rows.along, s.rows.inner)
            }
            _ => false,
        }
    }

    /// Declares a window and reads it.
    fn load_window(&mut self, s: &Stream<'_>, held: &Held) -> Vec<Stmt> {
        let copy = &self.copies[held.at];
        let array = self.draft.scope.host.var(copy.stage.array).name.to_lowercase();
        let element = held.place.ty.clone();
        let single = held.terms.is_empty();
        let ty = match single {
            true => element.clone(),
            false => Type::array(element.clone(), held.elements as u64),
        };
        let var = self.draft.scope.local(&format!("{array}_row"), ty.clone());
        self.windows.push(Window { place: held.place.clone(), var, terms: held.terms.clone() });
        if single {
            self.draft.scope.host.vars[var.0 as usize].constant = true;
            return vec![declare(var, Expr::read(self.row_element(s, held, None)))];
        }
        let extent = self.window_extent(held);
        self.draft.scope.host.vars[var.0 as usize].shape = Some(vec![extent.clone()]);
        let whole = Place::var(var, ty);
        let mut stmts = vec![Stmt::new(StmtKind::Decl { var, init: None }, Origin::default())];
        let width = self.window_vector(held, element.scalar());
        let groups = held.elements / width * width;
        let column = self.draft.scope.local("column", Type::I32);
        let at = Expr::var(column, Type::I32);
        let body = self.load_group(s, held, &whole, at, width);
        let l = ForLoop {
            id: self.draft.scope.host.fresh_loop(),
            var: column,
            declares: true,
            first: Expr::i32(0),
            compare: BinaryOp::Lt,
            limit: if groups == held.elements { extent } else { Expr::i32(groups as i32) },
            step: Expr::i32(width as i32),
            kind: LoopKind::Unrolled(None),
            body: Block::new(body),
        };
        stmts.push(Stmt::new(StmtKind::For(l), Origin::default()));
        let (mut next, mut width) = (groups, width / 2);
        while next < held.elements && width > 0 {
            if next + width <= held.elements {
                let at = Expr::i32(next as i32);
                stmts.extend(self.load_group(s, held, &whole, at, width));
                next += width;
            }
            width /= 2;
        }
        stmts
    }

    /// Reads neighbouring elements of a row, beginning with the one at `column` of the window.
    fn load_group(
        &mut self,
        s: &Stream<'_>,
        held: &Held,
        whole: &Place,
        column: Expr,
        width: i128,
    ) -> Vec<Stmt> {
        let element = held.place.ty.clone();
        let target = |k: i64| {
            let at = match column.as_const().and_then(|c| i32::try_from(c.as_i64()).ok()) {
                Some(n) => Expr::i32(n + k as i32),
                None => offset(column.clone(), k),
            };
            let kind = PlaceKind::Index(whole.clone(), at);
            Place::new(kind, element.clone(), Origin::default())
        };
        let set = |k: i64, value: Expr| {
            Stmt::new(StmtKind::Assign { place: target(k), value }, Origin::default())
        };
        let source = self.row_element(s, held, Some(column.clone()));
        if width == 1 {
            return vec![set(0, Expr::read(source))];
        }
        let value = Expr::read(vectors::wide(source, Space::Shared, width as u32, true));
        let ty = value.ty.clone();
        let several = self.draft.scope.local(vectors::name(width as u32), ty.clone());
        self.draft.scope.host.vars[several.0 as usize].constant = true;
        let part = |k: u32| set(k.into(), vectors::part(&Expr::var(several, ty.clone()), k));
        let mut stmts = vec![declare(several, value)];
        stmts.extend((0..width as u32).map(part));
        stmts
    }

    /// Elements of a window, by the names of the constants they come from.
    fn window_extent(&self, held: &Held) -> Expr {
        let mut rest = held.elements;
        let mut named: Option<Expr> = None;
        for (c, factor) in &held.terms {
            let Some(tile) = self.tiles.iter().find(|t| t.source.id == c.id()) else { continue };
            rest -= factor * i128::from(tile.factor);
            let term = times(tile.factor_expr.clone(), *factor);
            named = Some(match named {
                None => term,
                Some(sum) => Expr::binary(BinaryOp::Add, sum, term),
            });
        }
        let rest = rest as i64;
        named.map_or_else(|| Expr::i32(rest as i32), |sum| offset(sum, rest))
    }

    /// Elements of a row that one access can read, wherever the thread's window begins.
    fn window_vector(&self, held: &Held, element: Option<Scalar>) -> i128 {
        let copy = &self.copies[held.at];
        let row = copy.ty.extents().last().copied();
        let (Some(element), Some(d), Some(row)) = (element, copy.footprint.dims.last(), row) else {
            return 1;
        };
        if copy.stage.layout.order != DimOrder::Straight
            || copy.swizzle.is_some()
            || held.across + 1 == copy.footprint.dims.len()
        {
            return 1;
        }
        let start = held.constants.last().map_or(0, |c| c - d.constants.0);
        let mut common = gcd(start, i128::from(row));
        for (c, factor) in &d.terms {
            let inside = held.terms.iter().any(|(own, _)| own == c);
            let tile = self.tiles.iter().find(|t| t.source.id == c.id());
            let step = match tile {
                Some(tile) if tile.own.is_none() => 0,
                Some(tile) => i128::from(tile.width),
                None if inside => 0,
                None => 1,
            };
            common = gcd(common, factor * step);
        }
        let fits = |w: &i128| common % w == 0 && has_vector(element, *w as u32);
        [4, 2].into_iter().find(fits).unwrap_or(1)
    }

    /// The element of a staged array in the stream's row, at a column of the window.
    fn row_element(&self, s: &Stream<'_>, held: &Held, column: Option<Expr>) -> Place {
        let dims = &self.copies[held.at].footprint.dims;
        let subscripts =
            dims.iter().zip(&held.constants).enumerate().map(|(k, (d, constant))| {
                self.row_subscript(s, held, k, d, *constant, column.clone())
            });
        let index = subscripts.collect();
        self.laid_out(held.at, index)
    }

    fn row_subscript(
        &self,
        s: &Stream<'_>,
        held: &Held,
        k: usize,
        d: &Dim,
        constant: i128,
        column: Option<Expr>,
    ) -> Expr {
        let mut rest = constant - d.constants.0;
        let mut sum: Option<Expr> = None;
        let add = |sum: &mut Option<Expr>, term: Expr| {
            *sum = Some(match sum.take() {
                None => term,
                Some(before) => Expr::binary(BinaryOp::Add, before.clone(), term.cast(before.ty)),
            });
        };
        for (c, factor) in &d.terms {
            let tile = self.tiles.iter().find(|t| t.source.id == c.id());
            let in_row = held.terms.iter().any(|(own, _)| own == c);
            if k == held.across && c.id() == s.source.id {
                continue;
            }
            if *factor < 0 {
                rest += (i128::from(c.count()) - 1) * factor.abs();
            }
            match tile {
                Some(tile) if in_row || self.is_along(s, c) => {
                    if let Some(own) = tile.own {
                        add(&mut sum, times(Expr::var(own, Type::Scalar(tile.ty)), *factor));
                    }
                }
                None if in_row => {}
                _ => add(&mut sum, times(self.local_counter(c, &BTreeMap::new()), *factor)),
            }
        }
        if k == held.across {
            let first = d.terms.iter().find(|(c, _)| c.id() == s.source.id);
            let common = first.map_or(1, |(_, f)| f / s.rows.inner);
            add(&mut sum, times(s.row.clone(), common));
        }
        if let (Some(column), true) = (column, k + 1 == self.copies[held.at].footprint.dims.len()) {
            add(&mut sum, column);
        }
        offset(sum.unwrap_or_else(|| Expr::i32(0)), i64::try_from(rest).unwrap_or(0))
    }

    /// Puts elements of windows in place of reads of shared memory.
    pub(crate) fn use_windows(&self, body: &mut Block, replicas: &BTreeMap<usize, Replica>) {
        if self.windows.is_empty() {
            return;
        }
        visit::Rewriter::block(&mut UseWindows { all: self, replicas }, body);
    }

    fn window_element(&self, window: &Window, replicas: &BTreeMap<usize, Replica>) -> Place {
        let ty = self.draft.scope.host.var(window.var).ty.clone();
        let whole = Place::var(window.var, ty.clone());
        let Type::Array(element, _) = ty else { return whole };
        let terms = window.terms.iter().filter_map(|(c, factor)| {
            let at = self.tiles.iter().position(|t| t.source.id == c.id());
            let number = match at {
                Some(k) => replicas.get(&k)?.number(),
                None => self.local_counter(c, replicas).cast(Type::I32),
            };
            Some(times(number, *factor))
        });
        let at = terms.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
        let kind = PlaceKind::Index(whole, at.unwrap_or_else(|| Expr::i32(0)));
        Place::new(kind, element.as_ref().clone(), Origin::default())
    }
}

/// Puts elements of windows in place of reads of staged arrays.
struct UseWindows<'u, 'r, 'k> {
    all: &'u Expansion<'r, 'k>,
    replicas: &'u BTreeMap<usize, Replica>,
}

impl visit::Rewriter for UseWindows<'_, '_, '_> {
    fn place(&mut self, place: &mut Place) {
        match self.all.windows.iter().rev().find(|w| w.place == *place) {
            Some(window) => *place = self.all.window_element(window, self.replicas),
            None => visit::rewrite_place(self, place),
        }
    }
}

/// The number of rows, by the name of the thread's iterations.
fn rows_expr(rows: &Rows, factor: Expr) -> Expr {
    let rest = rows.inner.abs() * (rows.count - 1) + 1 - rows.along;
    offset(times(factor, rows.along), rest as i64)
}

fn times(e: Expr, factor: i128) -> Expr {
    match factor {
        1 => e,
        n => {
            let ty = e.ty.scalar().unwrap_or(Scalar::I32);
            if counters::is_const(&e, 0) {
                return e;
            }
            Expr::binary(BinaryOp::Mul, Expr::int(ty, n as i64), e)
        }
    }
}
