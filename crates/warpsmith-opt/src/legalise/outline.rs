//! Takes statements out of the host function and makes a kernel of them.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{
    Block, Expr, ExprKind, Function, FunctionKind, Place, PlaceKind, Stmt, StmtKind, Type, Var,
    VarId, VarKind,
};

use crate::analysis::access::{Base, base_of};
use crate::build::counters;
use crate::walk;

/// A kernel and what it must be given, as variables of the host function.
pub struct Outlined {
    pub kernel: Function,
    /// For each parameter the host's variable.
    pub args: Vec<VarId>,
    /// Scalars, and pointers through which the kernel reads.
    pub reads: BTreeSet<VarId>,
    /// Pointers through which it writes.
    pub writes: BTreeSet<VarId>,
}

/// Makes a kernel of `stmts`, which use variables of `host`. What they use and do not declare becomes parameters: the
/// host's parameters in their order, then the others. Arrays that are only read become `const`.
pub fn outline(host: &Function, name: &str, stmts: Vec<Stmt>, restrict: bool) -> Outlined {
    let mut body = Block::new(stmts);
    drop_zero_rows(&mut body);
    let mut mentioned = BTreeSet::new();
    walk::each_var_of_block(&body, &mut |v| _ = mentioned.insert(v));
    let declared = declared_in(host, &body);
    let free: Vec<VarId> = mentioned.iter().filter(|v| !declared.contains(v)).copied().collect();
    let Uses { reads, writes, odd } = pointer_uses(&body);
    let mut kernel = Function::new(name, FunctionKind::Kernel);
    let order = host.params.iter().filter(|p| free.contains(p)).copied();
    let rest = free.iter().filter(|v| !host.params.contains(v)).copied();
    let args: Vec<VarId> = order.chain(rest).collect();
    let mut map = std::collections::BTreeMap::new();
    for v in &args {
        let mut var = Var { kind: VarKind::Param, shape: None, ..host.var(*v).clone() };
        var.constant = false;
        if let Type::Pointer { readonly, .. } = &mut var.ty {
            *readonly |= !writes.contains(v) && !odd.contains(v);
            var.restrict = restrict && (var.restrict || *readonly);
        }
        map.insert(*v, kernel.add_param(var));
    }
    for v in mentioned.iter().filter(|v| declared.contains(v)) {
        // Extents of arrays in a kernel are named constants, which mean the same everywhere.
        let own = matches!(host.var(*v).kind, VarKind::Shared | VarKind::Local);
        let shape = host.var(*v).shape.clone().filter(|_| own);
        // A number that the host was given may be one that each thread computes.
        let kind = match host.var(*v).kind {
            VarKind::Param => VarKind::Local,
            kind => kind,
        };
        map.insert(*v, kernel.add_var(Var { shape, kind, ..host.var(*v).clone() }));
    }
    visit::rename_vars(&mut body, &mut |v| map.get(&v).copied().unwrap_or(v));
    retype(&kernel, &mut body);
    kernel.body = body;
    let read = |v: &VarId| !host.var(*v).ty.is_pointer() || reads.contains(v) || odd.contains(v);
    let reads = args.iter().filter(|v| read(v)).copied().collect();
    Outlined { kernel, args, reads, writes }
}

/// `A[0][j]` needs no length of a row: leading zeros fall away, so that no parameter is passed for them.
fn drop_zero_rows(body: &mut Block) {
    struct Drop;
    impl visit::Rewriter for Drop {
        fn place(&mut self, place: &mut Place) {
            visit::rewrite_place(self, place);
            if let PlaceKind::Elem { index, dims, .. } = &mut *place.kind {
                while !dims.is_empty() && counters::is_const(&index[0], 0) {
                    index.remove(0);
                    dims.remove(0);
                }
            }
        }
    }
    visit::Rewriter::block(&mut Drop, body);
}

/// Variables that the block brings into being.
fn declared_in(host: &Function, body: &Block) -> BTreeSet<VarId> {
    let mut declared: BTreeSet<VarId> = walk::declared(body).into_iter().collect();
    let shared = |v: &VarId| host.var(*v).kind == VarKind::Shared;
    let mut mentioned = BTreeSet::new();
    walk::each_var_of_block(body, &mut |v| _ = mentioned.insert(v));
    declared.extend(mentioned.into_iter().filter(shared));
    declared
}

/// Pointers read through, written through, and used for anything else than access to their elements.
struct Uses {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    odd: BTreeSet<VarId>,
}

fn pointer_uses(body: &Block) -> Uses {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    let mut direct = std::collections::BTreeMap::<VarId, i64>::new();
    let lent = lent(body);
    visit::for_each_place(body, &mut |place, access| {
        let only_read = access == Access::Address && lent.contains(place);
        if access != Access::Read
            && !only_read
            && !matches!(&*place.kind, PlaceKind::Var(_))
            && let Base::Var(v) = base_of(place)
        {
            writes.insert(v);
        }
        if let Some(v) = pointer_of(place) {
            if access == Access::Read || only_read {
                reads.insert(v);
            }
            *direct.entry(v).or_default() += 1;
        }
    });
    let mut atomics = BTreeSet::new();
    walk::each_stmt(body, &mut |stmt| {
        if let StmtKind::Atomic { pointer, .. } = &stmt.kind {
            walk::each_var(pointer, &mut |v| _ = atomics.insert(v));
        }
    });
    writes.extend(atomics);
    let mut all = std::collections::BTreeMap::<VarId, i64>::new();
    walk::each_var_of_block(body, &mut |v| *all.entry(v).or_default() += 1);
    let odd = all
        .iter()
        .filter(|(v, n)| direct.get(v).copied().unwrap_or(0) < **n)
        .map(|(v, _)| *v)
        .collect();
    Uses { reads, writes, odd }
}

/// Places whose address is taken as one of memory that is not written through it, and never as any other.
fn lent(body: &Block) -> Vec<Place> {
    let (mut lent, mut written) = (vec![], vec![]);
    visit::for_each_place(body, &mut |place, access| {
        if access == Access::Address && !lent.contains(place) {
            lent.push(place.clone());
        }
    });
    let mut each = |e: &warpsmith_ir::Expr| {
        if let ExprKind::AddressOf(p) = &*e.kind
            && !matches!(e.ty, Type::Pointer { readonly: true, .. })
        {
            written.push(p.clone());
        }
    };
    walk::each_stmt(body, &mut |s| {
        let o = walk::operands(s);
        o.reads.iter().for_each(|e| walk::each_expr(e, &mut each));
        if let Some(place) = o.writes {
            walk::each_expr_of_place(place, &mut each);
        }
    });
    lent.retain(|p| !written.contains(p));
    lent
}

/// The pointer variable that a place is an element of.
fn pointer_of(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Deref(e) | PlaceKind::Elem { pointer: e, .. } => match &*e.kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => Some(*v),
                _ => None,
            },
            _ => None,
        },
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
            pointer_of(p)
        }
        _ => None,
    }
}

/// Gives reads of pointer parameters the type the parameters now have.
fn retype(kernel: &Function, body: &mut Block) {
    visit::map_exprs(body, &mut |e| {
        if let ExprKind::Read(p) = &mut *e.kind
            && let PlaceKind::Var(v) = &*p.kind
            && kernel.var(*v).ty.is_pointer()
        {
            p.ty = kernel.var(*v).ty.clone();
            e.ty = p.ty.clone();
        }
    });
}

/// Puts `*pointer` in place of a variable that lives on the device, elements of arrays included.
pub fn to_device(body: &mut Block, var: VarId, pointer: VarId, pointer_type: &Type) {
    let read = Expr::var(pointer, pointer_type.clone());
    visit::Rewriter::block(&mut ToDevice { var, pointer: read, ty: pointer_type }, body);
}

/// Puts what a pointer leads to in place of a variable.
struct ToDevice<'a> {
    var: VarId,
    pointer: Expr,
    ty: &'a Type,
}

impl visit::Rewriter for ToDevice<'_> {
    fn expr(&mut self, e: &mut Expr) {
        visit::rewrite_expr(self, e);
        if let ExprKind::AddressOf(p) = &*e.kind
            && pointer_of(p) == self.pointer_var()
            && let (Type::Pointer { space, .. }, Type::Pointer { space: own, .. }) =
                (&mut e.ty, self.ty)
        {
            *space = *own;
        }
    }

    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        let Some(indices) = self.indices(place) else { return };
        let pointee = self.ty.pointee().cloned().unwrap_or(Type::Void);
        if place.ty != pointee {
            return;
        }
        let extents = self.extents(place);
        let pointer = self.pointer.clone();
        *place.kind = match indices.is_empty() {
            true => PlaceKind::Deref(pointer),
            false => {
                let dims =
                    extents.iter().skip(1).map(|n| Expr::int(warpsmith_ir::Scalar::I32, *n as i64));
                PlaceKind::Elem { pointer, index: indices, dims: dims.collect() }
            }
        };
    }
}

impl ToDevice<'_> {
    fn pointer_var(&self) -> Option<VarId> {
        match &*self.pointer.kind {
            ExprKind::Read(p) => p.root_var(),
            _ => None,
        }
    }

    /// The subscripts of an element of the variable; none for the variable itself.
    fn indices(&self, place: &Place) -> Option<Vec<Expr>> {
        match &*place.kind {
            PlaceKind::Var(v) if *v == self.var => Some(vec![]),
            PlaceKind::Index(p, i) => {
                let mut indices = self.indices(p)?;
                indices.push(i.clone());
                Some(indices)
            }
            _ => None,
        }
    }

    fn extents(&self, place: &Place) -> Vec<u64> {
        match &*place.kind {
            PlaceKind::Index(p, _) => self.extents(p),
            _ => place.ty.extents(),
        }
    }
}
