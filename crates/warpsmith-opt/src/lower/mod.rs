//! The scheduled host function to CUDA kernels and the function that launches them.
//!
//! Every nest with bound loops becomes one kernel, a reduction two. What stands between the nests stays with the host
//! where it depends on by-value parameters alone, and becomes a kernel of one thread where it depends on the contents
//! of arrays: the launcher never waits for the device.

mod asked;
mod blocks;
mod bound;
mod chunks;
mod combine;
mod constants;
mod control;
mod copies;
mod elements;
mod excess;
mod expansion;
mod fragments;
mod group_ends;
mod host;
mod narrowed;
mod nest;
mod outline;
mod outside;
mod pipeline;
mod place;
mod reduction;
mod reduction_axes;
mod row_ends;
mod shared;
mod stream;
mod team;
mod tiled;
mod transfer;
mod updates;
mod vectors;
mod warps;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    Block, Diagnostic, Expr, FuncId, Function, FunctionKind, LoopKind, Module, NamedConst,
    SourceMap, Stmt, StmtKind, Type, Value, Var, VarId, visit,
};

use crate::analysis::extents;
use crate::assumption::Assumption;
use crate::build::counters;
use crate::kernel::Kernel;
use crate::requirement::Requirement;
use crate::walk;

/// What a C function becomes.
#[derive(Clone, Debug)]
pub struct Program {
    /// Device functions, kernels and the launcher.
    pub module: Module,
    /// A host function with the C function's parameters in order (arrays as device pointers), then the result, then
    /// the workspace, where there are any.
    pub launcher: FuncId,
    /// In order of their first launch in the text.
    pub kernels: Vec<FuncId>,
    /// The launcher's parameter through which the returned scalar comes back.
    pub result_param: Option<VarId>,
    pub workspace: Option<Workspace>,
    /// What the program relies on beyond the C standard and was not proved.
    pub assumptions: Vec<Assumption>,
    /// What the sizes must satisfy; the launcher returns an error where they do not. Over its parameters.
    pub requires: Vec<Requirement>,
    /// Warnings and suggestions.
    pub notes: Vec<Diagnostic>,
    /// Parameters of the launcher whose contents depend on the order of a floating-point reduction: they are compared
    /// with a tolerance, all others bit for bit.
    pub reassociated: Vec<VarId>,
    /// Numbers around which the launcher treats sizes differently, beside the named constants.
    pub numbers: Vec<u32>,
    /// The type of all reals, where a step chose it: the launcher's parameters then have other types than the C
    /// function's.
    pub precision: Option<warpsmith_ir::Scalar>,
}

/// Device memory the caller lends to the launcher.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The launcher's last parameter, `void *`.
    pub param: VarId,
    /// Size in bytes, `u64`, over the launcher's other parameters.
    pub bytes: Expr,
    pub slots: Vec<Slot>,
}

/// A piece of the workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The launcher's variable that points to it.
    pub pointer: VarId,
    /// From the start of the workspace, in bytes, `u64`.
    pub offset: Expr,
    /// Size in bytes, `u64`.
    pub bytes: Expr,
}

/// Lowers a scheduled function.
///
/// # Errors
/// One diagnostic for what cannot run on the device or from the host.
pub fn lower(kernel: &Kernel, _sources: &SourceMap) -> Result<Program, Vec<Diagnostic>> {
    let mut lowering = Lowering::new(kernel);
    let body = kernel.func().body.clone();
    let stmts = lowering.top(&body).map_err(|d| vec![*d])?;
    let program = lowering.finish(stmts);
    match crate::kernel::malformed(&program.module) {
        errors if errors.is_empty() => Ok(program),
        errors => {
            let d = Diagnostic::error("W299", "the translation is malformed: a bug in warpsmith");
            Err(vec![errors.into_iter().fold(d, Diagnostic::note)])
        }
    }
}

type Lowered<T> = Result<T, Box<Diagnostic>>;

/// The state of a translation. Kernels are cut out of `host`, whose variables they share until then.
struct Lowering<'k> {
    source: &'k Kernel,
    /// The launcher in the making: the C function with new variables.
    host: Function,
    module: Module,
    placement: place::Placement,
    kernels: Vec<FuncId>,
    /// Slots of constant size.
    slots: Vec<workspace::Fixed>,
    /// Variables in constant memory that kernels read in place of arrays.
    constants: BTreeMap<VarId, warpsmith_ir::GlobalId>,
    /// Pointers to the device variables.
    pointers: BTreeMap<VarId, VarId>,
    result: Option<VarId>,
    workspace: Option<VarId>,
    /// For every kernel, the host variables it reads and those it writes through.
    flows: Vec<(BTreeSet<VarId>, BTreeSet<VarId>)>,
    /// Pointers whose contents come from a floating-point reduction.
    reassociated: BTreeSet<VarId>,
    notes: Vec<Diagnostic>,
    /// Kernel parameters that carry the value of another variable into `firstprivate` copies.
    first_values: BTreeMap<VarId, VarId>,
    /// No pointer variable is assigned, so different ones point to different arrays.
    distinct_pointers: bool,
    /// The launcher waits for values of the device.
    synchronises: bool,
}

impl<'k> Lowering<'k> {
    fn new(source: &'k Kernel) -> Lowering<'k> {
        let function = source.func();
        let mut host = function.clone();
        host.body = Block::default();
        host.params.retain(|p| !source.is_derived(*p));
        for k in (0..host.vars.len()).filter(|k| source.is_derived(VarId(*k as u32))) {
            host.vars[k].kind = warpsmith_ir::VarKind::Local;
            host.vars[k].shape = None;
        }
        host.ret = Type::Void;
        let mut module = source.module.clone();
        module.functions.retain(|f| f.kind == FunctionKind::Device);
        module.functions.iter_mut().for_each(|f| serialise(&mut f.body));
        // Pointers move only where arrays change places: one name has what another had.
        let mut moved = BTreeSet::new();
        walk::each_stmt(&function.body, &mut |s| {
            if let StmtKind::Assign { place, value } = &s.kind
                && value.ty.is_pointer()
            {
                moved.extend(place.root_var());
                walk::each_var(value, &mut |v| _ = moved.insert(v));
            }
        });
        let mut lowering = Lowering {
            source,
            host,
            module,
            placement: place::Placement::of(source),
            kernels: vec![],
            slots: vec![],
            constants: BTreeMap::new(),
            pointers: BTreeMap::new(),
            result: None,
            workspace: None,
            flows: vec![(moved.clone(), moved.clone())],
            reassociated: source.reassociated.clone(),
            notes: source.notes.clone(),
            first_values: BTreeMap::new(),
            distinct_pointers: moved.is_empty(),
            synchronises: false,
        };
        lowering.remap_calls();
        lowering.add_result(&function.ret);
        lowering
    }

    /// The parameter for the returned value.
    fn add_result(&mut self, ret: &Type) {
        for (var, p) in &self.placement.in_parameter {
            self.pointers.insert(*var, *p);
        }
        if *ret == Type::Void {
            return;
        }
        let name = self.fresh_name("result");
        let ty = Type::pointer(ret.clone(), warpsmith_ir::Space::Global);
        let param = self.host.add_param(Var::new(name, ty, warpsmith_ir::VarKind::Param));
        self.result = Some(param);
        if let Some(returned) = self.placement.returned
            && self.host.var(returned).ty == *ret
        {
            self.pointers.insert(returned, param);
        } else {
            self.placement.returned = None;
        }
    }

    /// Functions keep their order without the host ones, so that ids of calls in the remaining ones shift.
    fn remap_calls(&mut self) {
        let map = self.call_map();
        for f in &mut self.module.functions {
            remap(&mut f.body, &map);
        }
    }

    fn call_map(&self) -> BTreeMap<FuncId, FuncId> {
        let old = self.source.module.functions.iter().enumerate();
        let device = old.filter(|(_, f)| f.kind == FunctionKind::Device);
        device.enumerate().map(|(new, (old, _))| (FuncId(old as u32), FuncId(new as u32))).collect()
    }

    /// A name that no variable, function or constant of the output has.
    fn fresh_name(&self, wanted: &str) -> String {
        let taken = |name: &str| {
            self.host.vars.iter().any(|v| v.name == name)
                || self.source.module.functions.iter().any(|f| f.name == name)
                || self.module.functions.iter().any(|f| f.name == name)
                || self.module.constants.iter().any(|c| c.name == name)
        };
        if !taken(wanted) {
            return wanted.into();
        }
        (2u32..).map(|k| format!("{wanted}_{k}")).find(|n| !taken(n)).unwrap_or_default()
    }

    /// A new variable of the host, or of the kernel that will be cut out around it. Different scopes may share a name.
    fn local(&mut self, name: &str, ty: Type) -> VarId {
        self.host.add_var(Var::new(name, ty, warpsmith_ir::VarKind::Local))
    }

    /// The named constant with this meaning and value, made when there is none.
    fn constant(&mut self, name: &str, value: u32, comment: &str) -> Expr {
        let value = Value::int(warpsmith_ir::Scalar::I32, value.into());
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
        let id = warpsmith_ir::ConstId(at as u32);
        Expr::new(warpsmith_ir::ExprKind::Named(id), Type::I32, warpsmith_ir::Origin::default())
    }

    /// The pointer to a variable that lives on the device; its slot is made when it is first asked for.
    fn pointer_to(&mut self, var: VarId) -> VarId {
        if let Some(p) = self.pointers.get(&var) {
            return *p;
        }
        let (name, ty) = (self.host.var(var).name.clone(), self.host.var(var).ty.clone());
        let elements: u64 = ty.extents().iter().product();
        let pointer = self.slot(&name, ty.innermost().clone(), elements);
        self.pointers.insert(var, pointer);
        pointer
    }

    /// Puts the launcher together.
    fn finish(mut self, stmts: Vec<Stmt>) -> Program {
        self.align_structs();
        let mut body = self.lengths();
        let slots = self.all_slots();
        body.extend(self.slot_declarations(&slots));
        body.extend(self.asked_of_arrays());
        body.extend(stmts);
        self.host.body = Block::new(body);
        // A counter that no thread changes is constant in its kernel; on the host it is what the user made it.
        for (var, original) in self.host.vars.iter_mut().zip(&self.source.func().vars) {
            var.constant = original.constant;
        }
        remove_unread(&mut self.host);
        let calls = self.call_map();
        remap(&mut self.host.body, &calls);
        self.host.name = self.source.func().name.clone();
        let map = compact(&mut self.host);
        let renamed = |v: VarId| map.get(&v).copied();
        let workspace = self.workspace.map(|param| self.workspace_of(param, slots, &map));
        let reassociated: Vec<VarId> = self.tainted().into_iter().filter_map(renamed).collect();
        let reassociated =
            reassociated.into_iter().filter(|v| self.host.params.contains(v)).collect();
        let assumptions = self.assumptions();
        let moved = |r: &Requirement| Requirement {
            var: map.get(&r.var).copied().unwrap_or(r.var),
            bound: r.bound.rename(&|v| map.get(&v).copied().unwrap_or(v)),
            ..r.clone()
        };
        let requires: Vec<Requirement> = self.source.requires.iter().map(moved).collect();
        let launcher = self.module.add_function(self.host);
        Program {
            module: self.module,
            launcher,
            kernels: self.kernels,
            result_param: self.result.and_then(renamed),
            workspace,
            assumptions,
            requires,
            notes: self.notes,
            reassociated,
            numbers: self.source.numbers.clone(),
            precision: self.source.precision,
        }
    }

    /// Lets a structure of 2, 4, 8 or 16 bytes begin at a multiple of its size, so that one access moves all of it. Its
    /// arrays stay as they are; a structure inside another, or one that the launcher gets by value, would not.
    fn align_structs(&mut self) {
        let mut fixed: BTreeSet<warpsmith_ir::StructId> = BTreeSet::new();
        let fields = self.module.structs.iter().flat_map(|s| &s.fields).map(|f| &f.ty);
        let values = self.host.params.iter().map(|p| &self.host.var(*p).ty);
        for ty in fields.chain(values) {
            if let Type::Struct(id) = ty.innermost() {
                fixed.insert(*id);
            }
        }
        for (k, s) in self.module.structs.iter_mut().enumerate() {
            let whole = s.size.is_power_of_two() && s.size <= 16 && s.align < s.size;
            if whole && !fixed.contains(&warpsmith_ir::StructId(k as u32)) {
                s.align = s.size;
            }
        }
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let mut list = self.source.assumptions.clone();
        let function = self.source.func();
        for required in &self.source.requires {
            let (condition, why) = (required.text(function), required.why.clone());
            list.push(Assumption::Sizes { condition, why });
        }
        let given = function.params.iter().filter(|p| !self.source.is_derived(**p));
        let arrays = given.filter(|p| function.var(**p).ty.is_pointer()).count();
        if arrays > 1 {
            list.push(Assumption::NoOverlap);
        }
        list.extend(self.said_of_arrays());
        if self.synchronises {
            list.push(Assumption::Synchronises);
        }
        let narrow = self.source.nests.values().flat_map(|n| &n.axes).any(|(id, _)| {
            let l = self.source.find_loop(*id);
            l.is_some_and(|l| !counters::count_fits(function, l))
        });
        if narrow {
            list.push(Assumption::LoopRange);
        }
        list.extend(extents::statements(&self.source.module, function));
        list
    }

    /// Everything that depends on a floating-point reduction, through all kernels.
    fn tainted(&self) -> BTreeSet<VarId> {
        let mut tainted = self.reassociated.clone();
        loop {
            let before = tainted.len();
            for (reads, writes) in &self.flows {
                if reads.iter().any(|v| tainted.contains(v)) {
                    tainted.extend(writes);
                }
            }
            if tainted.len() == before {
                return tainted;
            }
        }
    }
}

fn base_name(name: &str) -> &str {
    name.rsplit_once('_')
        .filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()))
        .map_or(name, |(b, _)| b)
}

/// Marks have no meaning inside a thread.
fn serialise(block: &mut Block) {
    struct Serialise;
    impl visit::Rewriter for Serialise {
        fn stmt(&mut self, stmt: &mut Stmt) {
            if let StmtKind::For(l) = &mut stmt.kind
                && !matches!(l.kind, LoopKind::Unrolled(_))
            {
                l.kind = LoopKind::Serial;
            }
            visit::rewrite_stmt(self, stmt);
        }
    }
    visit::Rewriter::block(&mut Serialise, block);
}

fn remap(block: &mut Block, map: &BTreeMap<FuncId, FuncId>) {
    visit::map_stmts(block, &mut |stmt| {
        if let StmtKind::Call { function, .. } = &mut stmt.kind
            && let Some(new) = map.get(function)
        {
            *function = *new;
        }
    });
}

/// Removes host variables that nothing reads: what used them is now in kernels.
fn remove_unread(function: &mut Function) {
    loop {
        let mut read = BTreeSet::new();
        walk::each_stmt(&function.body, &mut |s| {
            let o = walk::operands(s);
            o.reads.iter().for_each(|e| walk::each_var(e, &mut |v| _ = read.insert(v)));
            match &s.kind {
                StmtKind::Decl { .. } => {}
                StmtKind::Assign { place, .. } => {
                    walk::each_expr_of_place(place, &mut |e| {
                        walk::each_var(e, &mut |v| _ = read.insert(v))
                    });
                }
                _ => read.extend(o.results.into_iter().chain(o.writes.and_then(|p| p.root_var()))),
            }
        });
        let unread = |s: &Stmt| match &s.kind {
            StmtKind::Decl { var, .. } => !read.contains(var),
            StmtKind::Assign { place, .. } => match &*place.kind {
                warpsmith_ir::PlaceKind::Var(v) => {
                    !read.contains(v) && !function.params.contains(v)
                }
                _ => false,
            },
            _ => false,
        };
        let mut body = function.body.clone();
        if !remove_where(&mut body, &unread) {
            return;
        }
        function.body = body;
    }
}

fn remove_where(block: &mut Block, unwanted: &dyn Fn(&Stmt) -> bool) -> bool {
    let before = block.stmts.len();
    block.stmts.retain(|s| !unwanted(s));
    let mut changed = block.stmts.len() != before;
    for stmt in &mut block.stmts {
        for inner in walk::blocks_mut(stmt) {
            changed |= remove_where(inner, unwanted);
        }
    }
    changed
}

/// Removes variables that are not used any more; returns where the others went.
fn compact(function: &mut Function) -> BTreeMap<VarId, VarId> {
    let mut used: BTreeSet<VarId> = function.params.iter().copied().collect();
    walk::each_var_of_block(&function.body, &mut |v| _ = used.insert(v));
    let shapes = function.params.iter().filter_map(|p| function.var(*p).shape.clone());
    for e in shapes.flatten() {
        walk::each_var(&e, &mut |v| _ = used.insert(v));
    }
    let map: BTreeMap<VarId, VarId> =
        used.iter().enumerate().map(|(new, old)| (*old, VarId(new as u32))).collect();
    let mut vars: Vec<Var> = used.iter().map(|v| function.var(*v).clone()).collect();
    let mut to = |v: VarId| map.get(&v).copied().unwrap_or(v);
    for var in &mut vars {
        for e in var.shape.iter_mut().flatten() {
            visit::rename_vars_in_expr(e, &mut to);
        }
    }
    visit::rename_vars(&mut function.body, &mut to);
    function.params = function.params.iter().map(|p| to(*p)).collect();
    function.vars = vars;
    map
}
