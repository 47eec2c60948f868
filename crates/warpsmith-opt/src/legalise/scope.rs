//! Where the text of kernels is made: the launcher in the making, whose variables they share until they are cut out of it,
//! and all that has names.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    ConstId, Diagnostic, Expr, ExprKind, Function, GlobalId, LoopId, Module, NamedConst, Origin,
    Place, PlaceKind, Scalar, Space, Stmt, StmtKind, Type, Value, Var, VarId, VarKind,
};

use crate::analysis::access::{Base, base_of};
use crate::walk;

/// What is made, or why it cannot be.
pub(crate) type Lowered<T> = Result<T, Box<Diagnostic>>;

/// The launcher in the making.
pub(crate) struct Scope {
    /// The C function with new variables.
    pub host: Function,
    /// Device functions, named constants and variables of the output.
    pub module: Module,
    /// Variables of the function that live on the device.
    pub device: BTreeSet<VarId>,
    /// Arrays that kernels read in constant memory, and the variables there.
    pub constants: BTreeMap<VarId, GlobalId>,
    /// Kernel parameters that carry the value of another variable into `firstprivate` copies.
    pub first_values: BTreeMap<VarId, VarId>,
    /// No pointer variable is assigned, so different ones point to different arrays.
    pub distinct_pointers: bool,
    /// Pointers whose contents come from a floating-point reduction.
    pub reassociated: BTreeSet<VarId>,
    /// What is known of nests of the tree besides, by their loop over blocks. Where they stand they have blocks.
    pub launches: BTreeMap<LoopId, About>,
    /// The function has one nest: its kernel needs no other name.
    pub(super) only_nest: bool,
    /// Pointers to the variables that live on the device.
    pub(super) pointers: BTreeMap<VarId, VarId>,
    /// Slots of constant size.
    pub(super) slots: Vec<Fixed>,
    /// Names of the functions of the source.
    pub(super) taken: BTreeSet<String>,
}

/// A slot whose size does not depend on the sizes of the call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    pub pointer: VarId,
    pub offset: u64,
    pub bytes: u64,
}

/// Alignment of slots in bytes, that of `cudaMalloc`.
pub(super) const SLOT_ALIGN: u64 = 256;

/// What is known of a nest whose outermost loop goes over blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// What its kernel should be called.
    pub name: String,
    /// For the reader of the launcher.
    pub comment: Option<String>,
}

impl Scope {
    /// A name that no variable, function or constant of the output has.
    pub fn fresh_name(&self, wanted: &str) -> String {
        let taken = |name: &str| {
            self.host.vars.iter().any(|v| v.name == name)
                || self.taken.contains(name)
                || self.module.functions.iter().any(|f| f.name == name)
                || self.module.constants.iter().any(|c| c.name == name)
        };
        if !taken(wanted) {
            return wanted.into();
        }
        (2u32..).map(|k| format!("{wanted}_{k}")).find(|n| !taken(n)).unwrap_or_default()
    }

    /// A new variable of the host, or of the kernel that will be cut out around it. Different scopes may share a name.
    pub fn local(&mut self, name: &str, ty: Type) -> VarId {
        self.host.add_var(Var::new(name, ty, VarKind::Local))
    }

    /// The named constant with this meaning and value, made when there is none.
    pub fn constant(&mut self, name: &str, value: u32, comment: &str) -> Expr {
        let value = Value::int(Scalar::I32, value.into());
        let same = |c: &NamedConst| c.value == value && base_name(&c.name) == name;
        let at = match self.module.constants.iter().position(same) {
            Some(at) => at,
            None => {
                let name = self.fresh_name(name);
                let comment = comment.to_string();
                self.module.constants.push(NamedConst { name, value, comment });
                self.module.constants.len() - 1
            }
        };
        Expr::new(ExprKind::Named(ConstId(at as u32)), Type::I32, Origin::default())
    }

    /// The pointer to a variable that lives on the device; its slot is made when it is first asked for.
    pub fn pointer_to(&mut self, var: VarId) -> VarId {
        if let Some(p) = self.pointers.get(&var) {
            return *p;
        }
        let (name, ty) = (self.host.var(var).name.clone(), self.host.var(var).ty.clone());
        let elements: u64 = ty.extents().iter().product();
        let pointer = self.slot(&name, ty.innermost().clone(), elements);
        self.pointers.insert(var, pointer);
        pointer
    }

    /// A new slot of the workspace with so many elements, and the launcher's pointer to it.
    pub fn slot(&mut self, name: &str, element: Type, elements: u64) -> VarId {
        let size = warpsmith_ir::layout::layout_of(&self.module, &element).size;
        let pointer = self.local(name, Type::pointer(element, Space::Global));
        let end = self.slots.last().map_or(0, |s| s.offset + s.bytes);
        let (offset, bytes) = (end.next_multiple_of(SLOT_ALIGN), size.saturating_mul(elements));
        self.slots.push(Fixed { pointer, offset, bytes });
        pointer
    }

    /// Whether the host can compute an expression.
    pub fn host_known(&self, e: &Expr) -> bool {
        host_known(&self.device, e)
    }

    /// `*pointer`.
    pub fn deref(&self, pointer: VarId) -> Place {
        let ty = self.host.var(pointer).ty.clone();
        let pointee = ty.pointee().cloned().unwrap_or(Type::Void);
        Place::new(PlaceKind::Deref(Expr::var(pointer, ty)), pointee, Origin::default())
    }

    /// The value of a variable.
    pub fn value(&self, var: VarId) -> Expr {
        Expr::var(var, self.host.var(var).ty.clone())
    }

    /// `NAME_kernel` for an only nest, else after what it writes.
    pub fn kernel_name(&self, text: &[Stmt], label: &str) -> String {
        let function = &self.host.name;
        if self.only_nest {
            return format!("{function}_kernel{label}");
        }
        let mut written = None;
        let mut see = |s: &Stmt| {
            if let StmtKind::Assign { place, .. } = &s.kind
                && !matches!(&*place.kind, PlaceKind::Var(_))
                && place.root_var().is_none_or(|v| self.host.var(v).kind != VarKind::Shared)
            {
                written = Some(self.target_name(place));
            }
        };
        for stmt in text {
            see(stmt);
            walk::blocks(stmt).into_iter().for_each(|b| walk::each_stmt(b, &mut see));
        }
        match written {
            Some(name) if !name.is_empty() => format!("{function}_{name}{label}"),
            _ => format!("{function}_kernel{label}"),
        }
    }

    /// The name of what a place is an element of.
    pub(super) fn target_name(&self, place: &Place) -> String {
        match base_of(place) {
            Base::Var(v) => self.host.var(v).name.clone(),
            Base::Global(g) => {
                self.module.globals.get(g.0 as usize).map(|g| g.name.clone()).unwrap_or_default()
            }
            Base::Anything => String::new(),
        }
    }
}

fn base_name(name: &str) -> &str {
    name.rsplit_once('_')
        .filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()))
        .map_or(name, |(b, _)| b)
}

/// Whether the host can compute an expression while these variables live on the device.
pub(super) fn host_known(device: &BTreeSet<VarId>, e: &Expr) -> bool {
    let mut known = !walk::reads_memory(e);
    walk::each_var(e, &mut |v| known &= !device.contains(&v));
    known
}
