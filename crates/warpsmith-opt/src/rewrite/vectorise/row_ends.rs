//! Groups of neighbouring iterations of which, at the ends of a row, some do not exist.
//!
//! ```text
//!     for i in 1..n - 1 { c = u[i];   v[i] = c + u[i - 1] + u[i + 1] }             four iterations from i = 0, 4, 8, … on
//!       ==>
//!     u4 = (float4 at) u[i];   u_im1 = i >= 1 ? u[i - 1] : 0;   u_ip4 = i + 3 < n - 1 ? u[i + 4] : 0
//!     v4 = (u4.x + u_im1 + u4.y, u4.y + u4.x + u4.z, …)
//!     if (i >= 1 && i + 3 < n - 1) { (float4 at) v[i] = v4 } else { if (i >= 1) v[i] = v4.x;   v[i + 1] = v4.y; … }
//! ```
//!
//! A row of an array is read once for the whole group, in vectors where several of their elements are wanted. A vector is
//! read where one of the iterations that want an element of it exists: it is aligned, and the array's rows are whole
//! vectors, so that it is inside of the array as this element is. What only iterations read that do not exist is not
//! read. All iterations of the group are computed, which therefore must not divide integers or call, and those that exist
//! are stored.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Space, Stmt, StmtKind, Type,
    Value, VarId, visit,
};

use crate::analysis::access::{Base, base_of};
use crate::analysis::axes::Axes;
use crate::build::arithmetic::offset;
use crate::build::stmts::declare;
use crate::build::vectors;
use crate::build::vectors::has_vector;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::stage::copies::UseCopies;
use crate::rewrite::vectorise::group_ends::Ends;
use crate::walk;
use crate::walk::always_read;
use crate::walk::set_in;

/// Reads whose last subscripts differ by constants.
struct Row {
    array: VarId,
    /// Each read with the distance of its element from that at the group's first counter.
    reads: Vec<(Place, i128)>,
    /// Vectors at multiples of the width are aligned and lie inside of the array.
    wide: bool,
    /// The array may end in the middle of a vector: one is read only for its last element.
    ragged: bool,
}

/// What was read of a row: an element, or a vector of them.
struct Loaded {
    row: usize,
    at: i128,
    width: u32,
    var: VarId,
}

/// How a group is written out.
struct Group<'g> {
    at: usize,
    tile: &'g Tile,
    ends: Ends<'g>,
    replicas: BTreeMap<usize, Replica>,
    rows: Vec<Row>,
    loaded: Vec<Loaded>,
    /// The values of the group's variables in each of its iterations.
    values: BTreeMap<VarId, Vec<Expr>>,
}

impl Expansion<'_, '_> {
    /// The statements of a group for neighbouring iterations at once; `None` where that is not possible.
    pub(crate) fn row_group(
        &mut self,
        stmts: &[Stmt],
        axes: Axes,
        alone: bool,
    ) -> Option<Vec<Stmt>> {
        if !self.pinned.is_empty() || !self.windows.is_empty() {
            return None;
        }
        let wanted =
            |(_, t): &(usize, &Tile)| t.width > 1 && stmts.iter().any(|s| self.stores_wide(s, t));
        let (at, tile) = self.chosen(axes).into_iter().find(wanted)?;
        let ends = Ends::new(self.nest, tile)?;
        if !self.can_be_row(stmts, tile, ends.open()) {
            return None;
        }
        let rows = self.rows(stmts, &ends);
        if ends.open() && !self.reads_rows_only(stmts, tile, &rows) {
            return None;
        }
        let mut replicas = self.replicas(axes);
        if let Some(replica) = replicas.get_mut(&at) {
            replica.at = Some(0);
        }
        let (loaded, values) = (vec![], BTreeMap::new());
        let mut group = Group { at, tile, ends, replicas, rows, loaded, values };
        let mut body = self.load_rows(&mut group);
        let mut comment = vec![];
        for stmt in stmts {
            comment.extend(stmt.comment.iter().cloned());
            let before = body.len();
            self.row_statement(&mut group, stmt, &mut body);
            if let Some(first) = body.get_mut(before) {
                first.comment.append(&mut comment);
            }
        }
        let body = Block::new(body);
        let guard = self.guard(&body, &group.replicas);
        let guard = if alone { self.first_member(guard) } else { guard };
        Some(self.wrapped(body, guard, &group.replicas))
    }

    fn stores_wide(&self, stmt: &Stmt, tile: &Tile) -> bool {
        matches!(&stmt.kind, StmtKind::Assign { place, .. } if self.is_wide(place, tile))
    }

    /// Statements that set variables of their own or store neighbours side by side, in an order that may be that of the
    /// group: nothing is read of an array after it was stored to, and before that only the element that is stored.
    fn can_be_row(&self, stmts: &[Stmt], tile: &Tile, open: bool) -> bool {
        let mut declared: BTreeSet<VarId> = BTreeSet::new();
        let mut stored: Vec<&Place> = vec![];
        for stmt in stmts {
            let value = match &stmt.kind {
                StmtKind::Decl { var, init: Some(value) } => {
                    declared.insert(*var);
                    Some((*var, value))
                }
                StmtKind::Assign { place, value } => match &*place.kind {
                    PlaceKind::Var(v) if declared.contains(v) => Some((*v, value)),
                    _ if self.is_wide(place, tile) => None,
                    _ => return false,
                },
                _ => return false,
            };
            if let Some((var, value)) = value {
                let fits = value.ty.scalar().is_some_and(|s| has_vector(s, tile.width));
                if !fits || self.is_array(var) || value.ty != self.draft.scope.host.var(var).ty {
                    return false;
                }
            }
            let mut sound = true;
            for e in walk::operands(stmt).reads {
                walk::each_expr(e, &mut |e| match &*e.kind {
                    ExprKind::Read(p) if !matches!(&*p.kind, PlaceKind::Var(_)) => {
                        let known = matches!(base_of(p), Base::Var(_));
                        sound &= known && stored.iter().all(|s| base_of(s) != base_of(p));
                    }
                    // What the values of iterations that do not exist may be, nobody knows.
                    ExprKind::Binary(op, _, b) if open && e.ty.is_integer() => {
                        let risky = matches!(
                            op,
                            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr
                        );
                        sound &= !risky || b.as_const().is_some_and(|c| c.as_i64() > 0);
                    }
                    _ => {}
                });
            }
            if !sound {
                return false;
            }
            if let StmtKind::Assign { place, .. } = &stmt.kind
                && place.root_var().is_none()
            {
                stored.push(place);
            }
        }
        self.draft.scope.distinct_pointers && self.alone_in_arrays(stmts, &stored)
    }

    /// Of arrays that are stored to, nothing but the same element is read or stored.
    fn alone_in_arrays(&self, stmts: &[Stmt], stored: &[&Place]) -> bool {
        let same = |p: &Place| stored.iter().all(|s| base_of(s) != base_of(p) || **s == *p);
        let mut alone = stored.iter().all(|p| same(p));
        for e in stmts.iter().flat_map(|s| walk::operands(s).reads) {
            walk::each_expr(e, &mut |e| {
                if let ExprKind::Read(p) = &*e.kind
                    && p.root_var().is_none()
                {
                    alone &= same(p);
                }
            });
        }
        alone
    }

    /// The rows that every iteration of the group reads of.
    fn rows(&self, stmts: &[Stmt], ends: &Ends<'_>) -> Vec<Row> {
        let set = set_in(&Block::new(stmts.to_vec()));
        let mut rows: Vec<(Row, Key)> = vec![];
        for e in stmts.iter().flat_map(|s| walk::operands(s).reads) {
            always_read(e, &mut |place| {
                let mut free = self.staged_read(place).is_none();
                free &= !self.moves_with_others(place, ends.tile);
                walk::each_expr_of_place(place, &mut |e| {
                    walk::each_var(e, &mut |v| free &= !set.contains(&v));
                });
                let Some((key, at)) = key_of(place, ends.tile).filter(|_| free) else { return };
                let at = match rows.iter_mut().find(|(_, known)| *known == key) {
                    Some((row, _)) => return row.reads.push((place.clone(), at)),
                    None => at,
                };
                if let Some(row) = self.row(place, at, &key, ends) {
                    rows.push((row, key));
                }
            });
        }
        rows.into_iter().map(|(row, _)| row).collect()
    }

    fn row(&self, place: &Place, at: i128, key: &Key, ends: &Ends<'_>) -> Option<Row> {
        let Base::Var(array) = base_of(place) else { return None };
        if self.draft.scope.constants.contains_key(&array) {
            return None;
        }
        let width = ends.tile.width;
        let known = |e: &Expr| self.nest.multiples.divide_expr(e, width);
        let element = place.ty.scalar()?;
        let shape = self.draft.scope.host.var(array).shape.as_ref();
        let whole = match key.dims.last() {
            Some(row) => known(row),
            None => shape.and_then(|s| s.first()).is_some_and(known),
        };
        let aligned = has_vector(element, width)
            && self.nest.multiples.aligned(array, element.bytes() * width)
            && self.nest.multiples.divide(&key.rest, width.into());
        let ragged = !whole;
        let wide = aligned && (whole || key.dims.is_empty() && !ends.open_at_end());
        Some(Row { array, reads: vec![(place.clone(), at)], wide, ragged })
    }

    /// Everything that is read of memory is read of rows, or is the same for all iterations of the group.
    fn reads_rows_only(&self, stmts: &[Stmt], tile: &Tile, rows: &[Row]) -> bool {
        let mut sound = self.copies.is_empty();
        for e in stmts.iter().flat_map(|s| walk::operands(s).reads) {
            let mut always: Vec<Place> = vec![];
            always_read(e, &mut |p| always.push(p.clone()));
            walk::each_expr(e, &mut |e| {
                let ExprKind::Read(p) = &*e.kind else { return };
                if matches!(&*p.kind, PlaceKind::Var(_)) {
                    return;
                }
                let of_row = rows.iter().any(|r| r.reads.iter().any(|(known, _)| known == p));
                let moves = self.axes_of_expr(e) & self.axes_of_var(tile.source.var) != 0;
                sound &= always.contains(p) && (of_row || !moves);
            });
        }
        sound
    }
}

impl Expansion<'_, '_> {
    /// Reads what the group needs of its rows, each vector and each element once.
    fn load_rows(&mut self, group: &mut Group<'_>) -> Vec<Stmt> {
        let mut stmts = vec![];
        for row in 0..group.rows.len() {
            for (at, width, users) in wanted(&group.rows[row], group.tile.width) {
                let cond = group.ends.any_of(&users);
                let place = self.element_at(&group.rows[row], group.tile, at);
                let name = self.name_of(&group.rows[row], group.tile, at, width);
                let ty = place.ty.clone();
                let (place, zero) = match width {
                    1 => (place, zero(&ty)),
                    w => {
                        let wide = vectors::wide(place, Space::Global, w, true);
                        let zeros = ExprKind::Make(vec![zero(&ty); w as usize]);
                        let zeros = Expr::new(zeros, wide.ty.clone(), Origin::default());
                        (wide, zeros)
                    }
                };
                let mut value = Expr::read(place);
                visit::Rewriter::expr(&mut self.arrays_rewriter(&group.replicas), &mut value);
                let ty = value.ty.clone();
                if let Some(cond) = cond {
                    let kind = ExprKind::Select(cond, value, zero);
                    value = Expr::new(kind, ty.clone(), Origin::default());
                }
                let var = self.constant_variable(&name, ty);
                stmts.push(declare(var, value));
                group.loaded.push(Loaded { row, at, width, var });
            }
        }
        stmts
    }

    fn constant_variable(&mut self, name: &str, ty: Type) -> VarId {
        let var = self.draft.scope.local(name, ty);
        self.draft.scope.host.vars[var.0 as usize].constant = true;
        var
    }

    /// The element of a row at a distance from the group's first counter.
    fn element_at(&self, row: &Row, tile: &Tile, at: i128) -> Place {
        if let Some((place, _)) = row.reads.iter().find(|(_, known)| *known == at) {
            return place.clone();
        }
        let (mut place, known) = row.reads[0].clone();
        if let PlaceKind::Elem { index, .. } = &mut *place.kind
            && let Some(last) = index.last_mut()
        {
            *last = self.moved(last, tile, at - known);
        }
        place
    }

    /// A subscript so many elements further on.
    fn moved(&self, subscript: &Expr, tile: &Tile, by: i128) -> Expr {
        let ty = subscript.ty.scalar().unwrap_or(tile.ty);
        let host = &self.draft.scope.host;
        let var_type = |v| host.var(v).ty.scalar().unwrap_or(ty);
        let sum = Poly::from_expr(subscript).and_then(|p| p.add(&Poly::constant(by)));
        match sum {
            Some(sum) => sum.to_expr(ty, &var_type),
            None => offset(subscript.clone(), i64::try_from(by).unwrap_or(0)),
        }
    }

    /// `u4`, `u_im1`, `u4_jp1`: the array, and how far from the iteration's own element it is, `p` before and `m` behind.
    fn name_of(&self, row: &Row, tile: &Tile, at: i128, width: u32) -> String {
        let host = &self.draft.scope.host;
        let mut name = host.var(row.array).name.clone();
        if width > 1 {
            name.push_str(&width.to_string());
        }
        let mut add = |counter: &str, by: i128| {
            let sign = if by < 0 { 'm' } else { 'p' };
            name.push_str(&format!("_{counter}{sign}{}", by.unsigned_abs()));
        };
        if let PlaceKind::Elem { index, .. } = &*row.reads[0].0.kind {
            for e in &index[..index.len().saturating_sub(1)] {
                let Some(p) = Poly::from_expr(e) else { continue };
                let counter = p.atoms().iter().find_map(|a| match a {
                    Atom::Var(v) => Some(host.var(*v).name.clone()),
                    _ => None,
                });
                if let (Some(counter), true) = (counter, p.constant_term() != 0) {
                    add(&counter, p.constant_term());
                }
            }
        }
        if width == 1 || at != 0 {
            add(&host.var(tile.source.var).name, at);
        }
        name
    }

    /// Computes a statement for all iterations of the group; stores those that exist.
    fn row_statement(&mut self, group: &mut Group<'_>, stmt: &Stmt, body: &mut Vec<Stmt>) {
        let value = match &stmt.kind {
            StmtKind::Decl { init: Some(value), .. } | StmtKind::Assign { value, .. } => value,
            _ => return,
        };
        let parts: Vec<Expr> =
            (0..group.tile.width).map(|k| self.row_value(group, value, k)).collect();
        let variable = match &stmt.kind {
            StmtKind::Decl { var, .. } => Some(*var),
            StmtKind::Assign { place, .. } => place.root_var(),
            _ => None,
        };
        if let Some(var) = variable {
            let leaf = |e: &Expr| match &*e.kind {
                ExprKind::Member(v, _) => matches!(&*v.kind, ExprKind::Read(_)),
                ExprKind::Read(p) => matches!(&*p.kind, PlaceKind::Var(_)),
                ExprKind::Const(_) => true,
                _ => false,
            };
            let parts = match parts.iter().all(leaf) {
                true => parts,
                false => {
                    let name = self.draft.scope.host.var(var).name.clone();
                    parts_of(&self.together(&name, parts, value, body))
                }
            };
            group.values.insert(var, parts);
            return;
        }
        let StmtKind::Assign { place, .. } = &stmt.kind else { return };
        let kept = |kind| Stmt { kind, origin: stmt.origin.clone(), comment: vec![] };
        let whole = wide_place(place, group.tile.width);
        let Some(cond) = group.ends.whole() else {
            let value = make(parts, value);
            body.push(kept(StmtKind::Assign { place: whole, value }));
            return;
        };
        let array = match base_of(place) {
            Base::Var(v) => self.draft.scope.host.var(v).name.clone(),
            _ => "value".into(),
        };
        let all = self.together(&array, parts, value, body);
        let each = self.store_each(group, place, parts_of(&all), &kept);
        let then = Block::new(vec![kept(StmtKind::Assign { place: whole, value: all })]);
        let otherwise = Block::new(each);
        body.push(kept(StmtKind::If { cond, then, otherwise }));
    }

    /// Stores the iterations of a group that exist, where not all do.
    fn store_each(
        &self,
        group: &Group<'_>,
        place: &Place,
        parts: Vec<Expr>,
        kept: &dyn Fn(StmtKind) -> Stmt,
    ) -> Vec<Stmt> {
        let mut stmts = vec![];
        for (k, value) in (0u32..).zip(parts) {
            let mut place = place.clone();
            if let (PlaceKind::Elem { index, .. }, true) = (&mut *place.kind, k > 0)
                && let Some(last) = index.last_mut()
            {
                *last = self.moved(last, group.tile, k.into());
            }
            let store = kept(StmtKind::Assign { place, value });
            if group.ends.never_alone(k) {
                continue;
            }
            let Some(cond) = group.ends.one_of(k, k) else {
                stmts.push(store);
                continue;
            };
            let then = Block::new(vec![store]);
            stmts.push(kept(StmtKind::If { cond, then, otherwise: Block::default() }));
        }
        stmts
    }

    /// Declares a vector of the values of all iterations.
    fn together(
        &mut self,
        name: &str,
        parts: Vec<Expr>,
        value: &Expr,
        body: &mut Vec<Stmt>,
    ) -> Expr {
        let value = make(parts, value);
        let ty = value.ty.clone();
        let width = if let Type::Vector(_, n) = ty { n } else { 1 };
        let var = self.constant_variable(&format!("{name}{width}"), ty.clone());
        body.push(declare(var, value));
        Expr::var(var, ty)
    }

    /// A value in one of the group's iterations.
    fn row_value(&self, group: &Group<'_>, value: &Expr, k: u32) -> Expr {
        let mut own = group.replicas.clone();
        if let Some(replica) = own.get_mut(&group.at) {
            replica.at = Some(k);
        }
        let mut e = value.clone();
        visit::map_subexprs(&mut e, &mut |e| {
            if let ExprKind::Read(p) = &*e.kind
                && let Some(part) = group.part(p, k, &self.draft.scope.host)
            {
                *e = part.with_origin(e.origin.clone());
            }
        });
        visit::Rewriter::expr(&mut UseCopies { all: self, replicas: &own }, &mut e);
        visit::Rewriter::expr(&mut self.arrays_rewriter(&own), &mut e);
        if k > 0 {
            let counter = group.tile.source.var;
            let next = offset(group.tile.value(counter), k.into());
            visit::substitute_var_in_expr(&mut e, counter, &next);
        }
        visit::map_subexprs(&mut e, &mut |e| {
            if let ExprKind::Read(p) = &*e.kind
                && let PlaceKind::Var(v) = &*p.kind
                && let Some(part) = group.values.get(v).and_then(|parts| parts.get(k as usize))
            {
                *e = part.clone().with_origin(e.origin.clone());
            }
        });
        e
    }
}

impl Group<'_> {
    /// The register that holds what a read wants in iteration `k`.
    fn part(&self, place: &Place, k: u32, host: &warpsmith_ir::Function) -> Option<Expr> {
        let (row, at) = self.rows.iter().enumerate().find_map(|(n, row)| {
            row.reads.iter().find(|(known, _)| known == place).map(|(_, at)| (n, *at))
        })?;
        let at = at + i128::from(k);
        let holds = |l: &&Loaded| l.row == row && (l.at..l.at + i128::from(l.width)).contains(&at);
        let found = self.loaded.iter().find(holds)?;
        let whole = Expr::var(found.var, host.var(found.var).ty.clone());
        match found.width {
            1 => Some(whole),
            _ => Some(vectors::part(&whole, u32::try_from(at - found.at).ok()?)),
        }
    }
}

/// What reads of one row have in common.
#[derive(PartialEq)]
struct Key {
    pointer: Expr,
    before: Vec<Expr>,
    dims: Vec<Expr>,
    /// The last subscript without the counter and without its constant.
    rest: Poly,
}

/// The row of a read whose last subscript is the counter and something that is the same for all of the group, and how far
/// from the counter it is.
fn key_of(place: &Place, tile: &Tile) -> Option<(Key, i128)> {
    let counter = tile.source.var;
    let PlaceKind::Elem { pointer, index, dims } = &*place.kind else { return None };
    let (last, before) = index.split_last()?;
    let rest = Poly::from_expr(last)?.sub(&Poly::var(counter))?;
    let mut fixed = !rest.atoms().iter().any(|a| a.mentions(counter));
    fixed &= !before.iter().chain(dims).chain([pointer]).any(|e| walk::mentions(e, counter));
    let at = rest.constant_term();
    let rest = rest.sub(&Poly::constant(at))?;
    let key = Key { pointer: pointer.clone(), before: before.to_vec(), dims: dims.clone(), rest };
    // A distance is a number of elements in memory.
    (fixed && (-MOST..=MOST).contains(&at)).then_some((key, at))
}

/// A read further from the group's own elements than this is left as it is.
const MOST: i128 = 1 << 16;

/// What to read of a row: the distance of the first element, the number of elements, and the iterations that want one of
/// them.
fn wanted(row: &Row, width: u32) -> Vec<(i128, u32, BTreeSet<u32>)> {
    let w = i128::from(width);
    // By vector: its elements that are wanted, with who wants them.
    let mut vectors: BTreeMap<i128, BTreeMap<i128, BTreeSet<u32>>> = BTreeMap::new();
    for (_, at) in &row.reads {
        for k in 0..width {
            let element = at + i128::from(k);
            let of = vectors.entry(element.div_euclid(w)).or_default();
            of.entry(element).or_default().insert(k);
        }
    }
    let mut found = vec![];
    for (number, elements) in vectors {
        let first = number * w;
        let to_its_end = !row.ragged || row.reads.iter().any(|(_, at)| *at == first);
        if row.wide && elements.len() > 1 && to_its_end {
            let users: BTreeSet<u32> = elements.into_values().flatten().collect();
            found.push((first, width, users));
        } else {
            found.extend(elements.into_iter().map(|(at, users)| (at, 1, users)));
        }
    }
    found
}

fn zero(ty: &Type) -> Expr {
    Expr::constant(Value::int(ty.scalar().unwrap_or(Scalar::I32), 0))
}

fn wide_place(place: &Place, width: u32) -> Place {
    vectors::wide(place.clone(), Space::Global, width, false)
}

/// The vector of the values that a statement has in neighbouring iterations.
fn make(parts: Vec<Expr>, value: &Expr) -> Expr {
    let ty = Type::Vector(value.ty.scalar().unwrap_or(Scalar::I32), parts.len() as u8);
    Expr::new(ExprKind::Make(parts), ty, value.origin.clone())
}

/// The parts of a vector.
fn parts_of(vector: &Expr) -> Vec<Expr> {
    let Type::Vector(_, width) = vector.ty else { return vec![] };
    (0..width.into()).map(|k| vectors::part(vector, k)).collect()
}
