//! What CUDA demands of any function whose nests are bound to the machine: kernels are cut out, and the launcher is put together.
//!
//! Every nest with loops over blocks becomes a kernel. What stands between the nests stays with the host
//! where it depends on by-value parameters alone, and becomes a kernel of one thread where it depends on the contents
//! of arrays: the launcher never waits for the device. Nothing here knows which steps were taken.

mod asked;
mod bound;
mod combine;
mod constants;
mod control;
mod host;
mod nests;
mod outline;
mod place;
mod prefix;
pub(crate) mod scope;
mod shared;
mod workspace;

pub(crate) use nests::Nests;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    Block, Diagnostic, Expr, FuncId, Function, FunctionKind, LoopKind, Module, Stmt, StmtKind,
    Type, Var, VarId, visit,
};

use self::scope::Scope;
use crate::analysis::extents;
use crate::analysis::loops::grids;
use crate::assumption::Assumption;
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
    /// Memory that the host function has on the device.
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
    /// Its parts, one behind the other.
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

/// Makes kernels and launcher of a function, the loops of `nests` bound as they are met.
///
/// # Errors
/// One diagnostic for what cannot run on the device or from the host.
pub(crate) fn program(kernel: &Kernel, nests: &dyn Nests) -> Result<Program, Vec<Diagnostic>> {
    let mut lowering = Lowering::new(kernel, nests);
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

/// The state of a translation. Kernels are cut out of `host`, whose variables they share until then.
struct Lowering<'k> {
    source: &'k Kernel,
    nests: &'k dyn Nests,
    placement: place::Placement,
    scope: Scope,
    kernels: Vec<FuncId>,
    result: Option<VarId>,
    workspace: Option<VarId>,
    /// For every kernel, the host variables it reads and those it writes through.
    flows: Vec<(BTreeSet<VarId>, BTreeSet<VarId>)>,
    notes: Vec<Diagnostic>,
    /// The launcher waits for values of the device.
    synchronises: bool,
}

impl<'k> Lowering<'k> {
    fn new(source: &'k Kernel, nests: &'k dyn Nests) -> Lowering<'k> {
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
        let placement = place::Placement::of(source, nests);
        let scope = Scope {
            device: placement.device.clone(),
            only_nest: nests.general() + grids(&function.body) == 1,
            taken: source.module.functions.iter().map(|f| f.name.clone()).collect(),
            host,
            module,
            constants: BTreeMap::new(),
            first_values: BTreeMap::new(),
            distinct_pointers: moved.is_empty(),
            reassociated: source.reassociated.clone(),
            launches: BTreeMap::new(),
            pointers: BTreeMap::new(),
            slots: vec![],
        };
        let mut lowering = Lowering {
            source,
            nests,
            placement,
            scope,
            kernels: vec![],
            result: None,
            workspace: None,
            flows: vec![(moved.clone(), moved)],
            notes: source.notes.clone(),
            synchronises: false,
        };
        lowering.remap_calls();
        lowering.add_result(&function.ret);
        lowering
    }

    /// The parameter for the returned value.
    fn add_result(&mut self, ret: &Type) {
        for (var, p) in &self.placement.in_parameter {
            self.scope.pointers.insert(*var, *p);
        }
        if *ret == Type::Void {
            return;
        }
        let name = self.scope.fresh_name("result");
        let ty = Type::pointer(ret.clone(), warpsmith_ir::Space::Global);
        let param = self.scope.host.add_param(Var::new(name, ty, warpsmith_ir::VarKind::Param));
        self.result = Some(param);
        if let Some(returned) = self.placement.returned
            && self.scope.host.var(returned).ty == *ret
        {
            self.scope.pointers.insert(returned, param);
        } else {
            self.placement.returned = None;
        }
    }

    /// Functions keep their order without the host ones, so that ids of calls in the remaining ones shift.
    fn remap_calls(&mut self) {
        let map = self.call_map();
        for f in &mut self.scope.module.functions {
            remap(&mut f.body, &map);
        }
    }

    fn call_map(&self) -> BTreeMap<FuncId, FuncId> {
        let old = self.source.module.functions.iter().enumerate();
        let device = old.filter(|(_, f)| f.kind == FunctionKind::Device);
        device.enumerate().map(|(new, (old, _))| (FuncId(old as u32), FuncId(new as u32))).collect()
    }

    /// Puts the launcher together.
    fn finish(mut self, stmts: Vec<Stmt>) -> Program {
        self.align_structs();
        let mut body = self.lengths();
        let slots = self.all_slots();
        body.extend(self.slot_declarations(&slots));
        body.extend(self.asked_of_arrays());
        body.extend(self.asked_of_loops());
        body.extend(stmts);
        self.scope.host.body = Block::new(body);
        // A counter that no thread changes is constant in its kernel; on the host it is what the user made it.
        for (var, original) in self.scope.host.vars.iter_mut().zip(&self.source.func().vars) {
            var.constant = original.constant;
        }
        remove_unread(&mut self.scope.host);
        let calls = self.call_map();
        remap(&mut self.scope.host.body, &calls);
        self.scope.host.name = self.source.func().name.clone();
        let map = compact(&mut self.scope.host);
        let renamed = |v: VarId| map.get(&v).copied();
        let workspace = self.workspace.map(|param| self.workspace_of(param, slots, &map));
        let reassociated: Vec<VarId> = self.tainted().into_iter().filter_map(renamed).collect();
        let reassociated =
            reassociated.into_iter().filter(|v| self.scope.host.params.contains(v)).collect();
        let assumptions = self.assumptions();
        let moved = |r: &Requirement| Requirement {
            var: map.get(&r.var).copied().unwrap_or(r.var),
            bound: r.bound.rename(&|v| map.get(&v).copied().unwrap_or(v)),
            ..r.clone()
        };
        let requires: Vec<Requirement> = self.source.requires.iter().map(moved).collect();
        let launcher = self.scope.module.add_function(self.scope.host);
        Program {
            module: self.scope.module,
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
        let fields = self.scope.module.structs.iter().flat_map(|s| &s.fields).map(|f| &f.ty);
        let values = self.scope.host.params.iter().map(|p| &self.scope.host.var(*p).ty);
        for ty in fields.chain(values) {
            if let Type::Struct(id) = ty.innermost() {
                fixed.insert(*id);
            }
        }
        for (k, s) in self.scope.module.structs.iter_mut().enumerate() {
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
        list.extend(self.said_of_loops());
        list.extend(extents::statements(&self.source.module, function));
        list
    }

    /// Everything that depends on a floating-point reduction, through all kernels.
    fn tainted(&self) -> BTreeSet<VarId> {
        let mut tainted = self.scope.reassociated.clone();
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
