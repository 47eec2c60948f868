//! One C function to one IR function: parameters with their extents, then the body.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use warpsmith_ir::{
    Diagnostic, Expr, ExprKind, FuncId, Function, FunctionKind, Module, Place, PlaceKind, Space,
    Type, Value, Var, VarId, VarKind, visit,
};

use super::cx::{Cx, Low};
use super::pragma::{self, Directive};
use super::types::CType;
use super::unit::Unit;
use super::{counters, given, induction, narrow, scan, shadowed};
use crate::ast::{FunctionDecl, Param, Pragma};

/// Lowers `name` and, before it, the functions of the file that it calls.
pub struct Lowering<'u> {
    pub unit: &'u Unit<'u>,
    pub module: Module,
    pub lowered: HashMap<String, FuncId>,
    pub diagnostics: Vec<Diagnostic>,
    /// Pointers that are compared with null.
    /// Parameters of each function that are taken not to be null.
    pub never_null: BTreeMap<String, BTreeSet<String>>,
    /// Functions being lowered, outermost first; a call of one of them is a recursion.
    stack: Vec<String>,
}

impl<'u> Lowering<'u> {
    pub fn new(unit: &'u Unit<'u>) -> Lowering<'u> {
        Lowering {
            unit,
            module: Module::default(),
            lowered: HashMap::new(),
            diagnostics: vec![],
            never_null: BTreeMap::new(),
            stack: vec![],
        }
    }

    /// Lowers a function after those it calls; `None` when something was wrong.
    pub fn function(&mut self, name: &str, kind: FunctionKind) -> Option<FuncId> {
        if let Some(id) = self.lowered.get(name) {
            return Some(*id);
        }
        let (name, decl, span) = *self.unit.functions.iter().find(|(n, ..)| *n == name)?;
        self.stack.push(name.to_string());
        let complete = self.callees(name);
        self.stack.pop();
        let mut function = Function::new(name, kind);
        function.origin = span.into();
        let (function, diagnostics, never_null) =
            lower(self.unit, &mut self.module, &self.lowered, decl, function);
        let failed = !diagnostics.is_empty();
        self.diagnostics.extend(diagnostics);
        self.never_null.entry(name.to_string()).or_default().extend(never_null);
        if failed || !complete {
            return None;
        }
        let id = self.module.add_function(function);
        self.lowered.insert(name.to_string(), id);
        Some(id)
    }

    /// Lowers what `name` calls; says whether all of it is right.
    fn callees(&mut self, name: &str) -> bool {
        let mut complete = true;
        for (callee, span) in self.unit.callees(name) {
            if self.stack.contains(&callee) {
                complete = false;
                let message = format!("`{callee}` calls itself");
                if self.diagnostics.iter().any(|d| d.message == message) {
                    continue;
                }
                let d = Diagnostic::error("W142", message)
                    .label(span, "this call closes the circle")
                    .help("recursion is not part of the loop language; write it as a loop");
                self.diagnostics.push(d);
            } else if super::inline::is_needed(self.unit, &callee) {
                // Its body goes into the caller; only what it calls is needed as functions.
                self.stack.push(callee.clone());
                complete &= self.callees(&callee);
                self.stack.pop();
            } else if !super::formula::is_formula(self.unit, &callee) {
                complete &= self.function(&callee, FunctionKind::Device).is_some();
            }
        }
        complete
    }
}

fn lower<'u>(
    unit: &'u Unit<'u>,
    module: &mut Module,
    lowered: &HashMap<String, FuncId>,
    decl: &'u FunctionDecl,
    function: Function,
) -> (Function, Vec<Diagnostic>, BTreeSet<String>) {
    let name = function.name.clone();
    // The context borrows module and map for its own lifetime only; the tree outlives both.
    let mut cx = Cx {
        unit,
        module,
        lowered,
        function,
        scopes: vec![HashMap::new()],
        out: vec![],
        diagnostics: vec![],
        dims: HashMap::new(),
        frozen: HashMap::new(),
        moving: HashSet::new(),
        constants: HashMap::new(),
        frames: vec![],
        regions: vec![],
        marked: None,
        exclusive: 0,
        clocks: HashSet::new(),
        following: &[],
        inlining: vec![],
        unpacked: vec![],
        parts: HashMap::new(),
        prologue: vec![],
        never_null: Default::default(),
        outside: HashMap::new(),
    };
    // Every error has been recorded on the way. A body under a wrong signature would only repeat it.
    let mut signature = cx.signature(decl);
    for global in super::globals::parameters(unit, &name) {
        signature = signature.and(super::globals::add_parameter(&mut cx, global));
    }
    cx.leading_pragmas(unit.pragmas_before.get(name.as_str()).map_or(&[], Vec::as_slice));
    if let Some(body) = decl.body.as_ref().filter(|_| signature.is_ok()) {
        cx.unpack(&body.stmts);
        cx.scopes.push(HashMap::new());
        cx.moving_params(&body.stmts, decl.head_span);
        cx.stmts(&body.stmts);
        cx.scopes.pop();
    }
    let mut body = std::mem::take(&mut cx.prologue);
    body.append(&mut cx.out);
    cx.function.body = warpsmith_ir::Block::new(body);
    cx.forget_times();
    let (mut function, diagnostics, moving) = (cx.function, cx.diagnostics, cx.moving);
    let never_null = cx.never_null;
    if !never_null.is_empty() {
        given::decide(&mut function);
    }
    shadowed::keep_private(&mut function);
    counters::localise(&mut function);
    induction::resolve(&mut function, &moving);
    infer_single_elements(&mut function);
    narrow::note(&mut function);
    (function, diagnostics, never_null)
}

/// The first message of each wording: the second structure or the same name again says nothing new, and a body put in
/// place of two calls would say everything twice.
pub fn dedup(list: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen: Vec<Diagnostic> = vec![];
    for d in list {
        if seen.iter().all(|s| s.code != d.code || s.message != d.message) {
            seen.push(d);
        }
    }
    seen
}

impl<'u> Cx<'u> {
    fn signature(&mut self, decl: &'u FunctionDecl) -> Low<()> {
        if let Some(ret) = &decl.ret {
            self.function.ret = match self.read_type(ret, false)? {
                CType::Void => Type::Void,
                CType::Scalar(s) => Type::Scalar(s),
                CType::Struct(id) if self.function.kind != FunctionKind::Host => Type::Struct(id),
                CType::Struct(_) => {
                    let d = Diagnostic::error("W144", "a launcher cannot give back a structure")
                        .label(ret.span, "this type");
                    return Err(self.fail(d.help("write it to `*result`, a parameter")));
                }
                CType::Pointer { .. } | CType::Array { .. } => {
                    let d = Diagnostic::error("W144", "a function cannot give back a pointer")
                        .label(ret.span, "this type");
                    return Err(self.fail(d.help("write the results to an array parameter")));
                }
            };
        }
        if decl.variadic {
            return Err(self.error(
                "W146",
                "`...` is not part of the loop language",
                decl.head_span,
                "these parameters",
            ));
        }
        let mut result = Ok(());
        for param in &decl.params {
            if let Err(reported) = self.parameter(param) {
                self.bind(param.name.as_deref().unwrap_or(""), super::cx::Binding::Poison);
                result = Err(reported);
            }
        }
        result
    }

    /// Structures that the function gets by value and leaves alone, whose fields become variables.
    fn unpack(&mut self, body: &[crate::ast::Stmt]) {
        if self.function.kind != FunctionKind::Host {
            return;
        }
        let written = scan::fields_written(body);
        let params = self.function.params.iter().copied();
        self.unpacked = params
            .filter(|p| {
                let var = self.function.var(*p);
                matches!(var.ty, Type::Struct(_)) && !written.contains(&var.name)
            })
            .collect();
    }

    fn parameter(&mut self, param: &'u Param) -> Low<()> {
        let ty = self.read_type(&param.ty, true)?;
        let name = param.name.as_deref().unwrap_or("unnamed");
        match ty {
            // `f(void)`.
            CType::Void if param.name.is_none() => Ok(()),
            CType::Void | CType::Array { .. } => Err(self.error(
                "W144",
                "a parameter of this type is not supported",
                param.span,
                "this parameter",
            )),
            CType::Scalar(_) | CType::Struct(_) => {
                let ty = ty.value().unwrap_or(Type::I32);
                let mut var = Var::new(name, ty, VarKind::Param);
                var.constant = param.ty.is_const;
                var.origin = param.span.into();
                let id = self.function.add_param(var);
                self.bind(name, super::cx::Binding::Var(id));
                Ok(())
            }
            CType::Pointer { element, readonly, restrict, extents } => {
                let pointee = std::sync::Arc::new(element);
                let ty = Type::Pointer { pointee, space: Space::Global, volatile: false, readonly };
                let mut var = Var::new(name, ty, VarKind::Param);
                var.restrict = restrict;
                var.origin = param.span.into();
                let id = self.function.add_param(var);
                self.bind(name, super::cx::Binding::Var(id));
                self.extents(id, name, &extents)
            }
        }
    }

    pub fn extents(
        &mut self,
        id: VarId,
        name: &str,
        extents: &[Option<&'u crate::ast::Expr>],
    ) -> Low<()> {
        let mut known = vec![];
        for extent in extents {
            known.push(match extent {
                Some(e) => {
                    if scan::reads_of(e).opaque {
                        return Err(self.unsupported("a call in the extent of an array", e.span));
                    }
                    Some(self.index_value(e)?)
                }
                None => None,
            });
        }
        let dims: Vec<Expr> = known.iter().skip(1).flatten().cloned().collect();
        if dims.len() + 1 < known.len() {
            let span = self.function.var(id).origin.span;
            let d = Diagnostic::error("W149", format!("`{name}` lacks an inner extent"));
            let d = span.into_iter().fold(d, |d, s| d.label(s, "this array"));
            return Err(
                self.fail(d.help("only the first extent may be left open, as in `float A[][m]`"))
            );
        }
        self.freeze(&dims, name);
        self.dims.insert(id, dims);
        if known.iter().all(Option::is_some) {
            let shape: Vec<Expr> = known.into_iter().flatten().collect();
            self.freeze(&shape, name);
            self.function.vars[id.0 as usize].shape = Some(shape);
        }
        Ok(())
    }

    /// Pragmas that stand before the function.
    fn leading_pragmas(&mut self, list: &[Pragma]) {
        for p in list {
            match pragma::parse(p) {
                Ok(Directive::Bounds(bounds)) => self.apply_bounds(&bounds),
                Ok(
                    Directive::Loop(_)
                    | Directive::Region(_)
                    | Directive::Data(_)
                    | Directive::Independent,
                ) => {
                    let d = Diagnostic::error(
                        "W137",
                        "this pragma marks a loop, but a function follows",
                    )
                    .label(p.span, "marks the next statement")
                    .help("put the pragma directly before the `for` it is meant for");
                    self.fail(d);
                }
                Ok(_) => {}
                Err(d) => {
                    self.fail(*d);
                }
            }
        }
    }
}

/// A pointer parameter that is used only as `*p` or `p[0]` points to one element.
fn infer_single_elements(function: &mut Function) {
    let open: Vec<VarId> = function
        .params
        .iter()
        .copied()
        .filter(|p| function.var(*p).ty.is_pointer() && function.var(*p).shape.is_none())
        .collect();
    for param in open {
        if used_as_scalar(function, param) {
            function.vars[param.0 as usize].shape = Some(vec![Expr::i32(1)]);
        }
    }
}

fn used_as_scalar(function: &Function, param: VarId) -> bool {
    let (mut mentions, mut single) = (0usize, 0usize);
    visit::for_each_expr(&function.body, &mut |e| mentions += usize::from(reads(e, param)));
    visit::for_each_place(&function.body, &mut |place, access| {
        // A field of the element, or an element of an array in it.
        let mut place = place;
        while let PlaceKind::Field(p, _) | PlaceKind::Index(p, _) = &*place.kind {
            place = p;
        }
        let only_element = match &*place.kind {
            PlaceKind::Deref(pointer) => reads(pointer, param),
            PlaceKind::Elem { pointer, index, dims } => {
                let zero = |e: &Expr| e.as_const().is_some_and(|v: Value| v.as_i64() == 0);
                reads(pointer, param) && dims.is_empty() && index.iter().all(zero)
            }
            _ => false,
        };
        single += usize::from(only_element && access != visit::Access::Address);
    });
    single > 0 && single == mentions
}

/// Is the expression the value of this variable?
fn reads(e: &Expr, var: VarId) -> bool {
    matches!(&*e.kind, ExprKind::Read(Place { kind, .. }) if matches!(&**kind, PlaceKind::Var(v) if *v == var))
}
