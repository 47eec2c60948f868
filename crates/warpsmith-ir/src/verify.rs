//! The verifier: what every module must satisfy between any two steps.
//!
//! 1. Ids are in range: variables, functions, structs, globals, constants.
//! 2. A constant has the type of its expression, and bits of that type only.
//! 3. An expression has the type that its parts give it ([`crate::typing::Env`]).
//! 4. The operands of an expression have the types that [`crate::expr::ExprKind`] asks for.
//! 5. A place is well formed: pointers are dereferenced, arrays indexed by integers with one extent
//!    fewer than indices, fields and components exist; and it has the type that follows.
//! 6. A value that is assigned, declared or passed has the type of its target.
//! 7. Conditions are `bool`.
//! 8. `break` stands inside a loop or switch, `continue` inside a loop.
//! 9. Loop ids are unique in their function and below `next_loop`; a collapse group is named after
//!    the loop itself or one around it.
//! 10. The counter, first value, limit and step of a counted loop have one integer type; the
//!     comparison is one of `< <= > >= !=`.
//! 11. The counter of a loop is neither assigned in its body nor has its address taken there.
//! 12. A local variable is used inside the scope of its declaration only, and not declared again there.
//! 13. Barriers, warp operations, fences, asynchronous copies and hardware values occur in kernels and device functions
//!     only; the first four also in what loops of a host function give to threads.
//! 14. Launches occur in host functions only, start a kernel, and fit its parameters; so do copies to variables of
//!     the device, which are those of the module, and calls of the run-time library but for the heap of the device.
//! 15. Calls reach a function of a fitting kind with fitting arguments: no kernel, and no host function
//!     from a kernel or device function; a function without value gives no result.
//! 16. There is no recursion.
//! 17. `return` has a value of the function's type, and none in a function without.
//! 18. The variable of a reduction is a scalar or a pointer parameter to one.
//! 19. Shared variables occur in kernels, device functions, and loops of a host function that are bound to the grid; a
//!     dynamic one, in the first two only, is an array of length 0.
//! 20. The parameters are the variables of kind `Param`, each once; a reference is a pointer.
//! 21. Atomics, warp operations, barriers and asynchronous copies have the operands that
//!     [`crate::stmt::StmtKind`] asks for.
//! 22. The selector of a switch is an integer; its values are distinct, and one case at most is the default.
//! 23. Types are complete: no variable, field or element is `void`; vectors have 1 to 4 components; no
//!     struct contains itself; initial bytes of a global are as many as its type has.
//! 24. Nothing is written through a pointer to constant data or to a `__constant__` variable.
//! 25. Bound loops of a host function go from the grid to the lanes, each level and axis once; below the grid they count
//!     from 0 to their extent by 1, and those of one nest stand one directly inside the other. No more than 1024
//!     threads make a block, 32 lanes a warp. Nothing but declarations stands beside such a nest in its grid loops.
//!     `break` and `return` do not leave a bound loop.
//! 26. What a thread's text in a host function assigns is declared there or in memory; collective statements stand
//!     there, not inside a loop of lanes, and set counters of their own. A vector loop has a constant number of
//!     iterations, from 0 by 1, and holds no loops, jumps or collective statements.
//!
//! Two pointer types count as one when they differ in space and qualifiers only.

mod bound;
mod expr;
mod functions;
mod stmt;
mod types;

use std::collections::BTreeSet;
use std::fmt;

use crate::diag::Diagnostic;
use crate::module::Layout;
use crate::module::{FuncId, Function, FunctionKind, Module, VarId, VarKind};
use crate::span::{Origin, Span};
use crate::stmt::{Binding, LoopId};
use crate::types::Type;
use crate::typing::Env;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Number in the list at the top of this module.
    pub rule: u8,
    /// Where, for rules about functions.
    pub function: Option<FuncId>,
    /// Name of the function, for messages; empty outside functions.
    pub name: String,
    /// Place in the source, where it is known.
    pub span: Option<Span>,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.rule)?;
        if !self.name.is_empty() {
            write!(f, ", function `{}`", self.name)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Violation {
    /// As a message with the place in the source, where it is known.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let d = Diagnostic::error("W902", format!("the IR is not valid: {}", self.message));
        let d = d.note(format!("verifier rule {} in function `{}`", self.rule, self.name));
        match self.span {
            Some(span) => d.label(span, "here"),
            None => d,
        }
    }
}

/// Checks all rules.
///
/// # Errors
/// All violations, in the order of the module.
pub fn verify(module: &Module) -> Result<(), Vec<Violation>> {
    let mut violations = types::check(module);
    for (i, f) in module.functions.iter().enumerate() {
        let mut c = Checker::new(module, FuncId(i as u32), f);
        c.function();
        violations.append(&mut c.violations);
    }
    violations.extend(functions::recursion(module));
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// State of the walk over one function.
struct Checker<'m> {
    module: &'m Module,
    id: FuncId,
    function: &'m Function,
    violations: Vec<Violation>,
    loops: BTreeSet<LoopId>,
    /// Ids of the loops around the current statement.
    around: Vec<LoopId>,
    /// Counters of the counted loops around it.
    counters: Vec<VarId>,
    switches: u32,
    /// Bound loops around, outermost first.
    bound: Vec<Binding>,
    /// How many loops are around the body of the innermost bound one.
    bound_at: usize,
    /// How many scopes were open where the text of threads begins.
    thread_scope: usize,
    /// Inside a vector loop.
    vector: bool,
    /// Variables in scope, innermost block last.
    scopes: Vec<BTreeSet<VarId>>,
}

impl<'m> Checker<'m> {
    fn new(module: &'m Module, id: FuncId, function: &'m Function) -> Checker<'m> {
        Checker {
            module,
            id,
            function,
            violations: vec![],
            loops: BTreeSet::new(),
            around: vec![],
            counters: vec![],
            switches: 0,
            bound: vec![],
            bound_at: 0,
            thread_scope: 0,
            vector: false,
            scopes: vec![],
        }
    }

    fn env(&self) -> Env<'m> {
        Env { module: self.module, vars: &self.function.vars }
    }

    fn report(&mut self, rule: u8, origin: &Origin, message: impl Into<String>) {
        self.violations.push(Violation {
            rule,
            function: Some(self.id),
            name: self.function.name.clone(),
            span: origin.span,
            message: message.into(),
        });
    }

    /// Reports unless `holds`.
    fn require(&mut self, holds: bool, rule: u8, origin: &Origin, message: impl Into<String>) {
        if !holds {
            self.report(rule, origin, message);
        }
    }

    fn type_name(&self, ty: &Type) -> String {
        crate::text::print_type(self.module, ty)
    }

    fn var_name(&self, id: VarId) -> String {
        self.function.vars.get(id.0 as usize).map_or("?".into(), |v| format!("`{}`", v.name))
    }

    /// Runs on the device.
    fn is_device(&self) -> bool {
        self.function.kind != FunctionKind::Host
    }

    /// The type of a variable; a bad id is reported.
    fn var_type(&mut self, id: VarId, origin: &Origin) -> Option<&'m Type> {
        let var = self.function.vars.get(id.0 as usize);
        if var.is_none() {
            self.report(1, origin, format!("there is no variable {}", id.0));
        }
        var.map(|v| &v.ty)
    }

    fn function(&mut self) {
        let f = self.function;
        for (i, v) in f.vars.iter().enumerate() {
            let listed = f.params.iter().filter(|p| p.0 as usize == i).count();
            let expected = usize::from(v.kind == VarKind::Param);
            if listed != expected {
                let message = format!("`{}` is {listed} times in the parameters", v.name);
                self.report(20, &v.origin, message);
            }
            if v.reference && !v.ty.is_pointer() {
                self.report(20, &v.origin, format!("the reference `{}` is no pointer", v.name));
            }
            if v.kind == VarKind::DynamicShared && !self.is_device() {
                self.report(19, &v.origin, format!("`{}` is shared in a host function", v.name));
            }
            let plain = v.layout == Layout::default();
            let buffer = v.kind == VarKind::Shared && matches!(v.ty, Type::Array(..));
            if !plain && !buffer {
                self.report(19, &v.origin, format!("`{}` has a layout and is no buffer", v.name));
            }
            let open = matches!(v.ty, Type::Array(_, 0));
            if v.kind == VarKind::DynamicShared && !open {
                self.report(19, &v.origin, format!("`{}` is no array of length 0", v.name));
            }
        }
        for p in &f.params {
            self.var_type(*p, &f.origin);
        }
        self.enter_function();
        for v in &f.vars {
            for extent in v.shape.iter().flatten() {
                self.integer(extent, 4, "an extent");
            }
        }
        self.block(&f.body);
    }

    /// Parameters and shared variables are in scope everywhere.
    fn enter_function(&mut self) {
        let device = self.is_device();
        let everywhere = self.function.vars.iter().enumerate().filter(|(_, v)| match v.kind {
            VarKind::Local => false,
            VarKind::Shared => device,
            _ => true,
        });
        self.scopes = vec![everywhere.map(|(i, _)| VarId(i as u32)).collect()];
    }

    fn in_scope(&self, id: VarId) -> bool {
        self.scopes.iter().any(|s| s.contains(&id))
    }

    /// A variable is mentioned.
    fn use_var(&mut self, id: VarId, origin: &Origin) {
        if self.var_type(id, origin).is_some() && !self.in_scope(id) {
            let name = self.var_name(id);
            self.report(12, origin, format!("{name} is used outside the scope of its declaration"));
        }
    }

    /// A variable comes into scope in the innermost block.
    fn declare(&mut self, id: VarId, origin: &Origin) {
        if self.var_type(id, origin).is_none() {
            return;
        }
        // The declaration of a shared variable may be kept where the user wrote it.
        let kind = self.function.vars[id.0 as usize].kind;
        if self.is_device() && matches!(kind, VarKind::Shared | VarKind::DynamicShared) {
            return;
        }
        let of_blocks = self.in_grid() && !self.in_threads();
        self.require(
            kind != VarKind::Shared || of_blocks,
            19,
            origin,
            "a shared variable is declared in grid loops, outside the threads' text",
        );
        if self.in_scope(id) {
            let name = self.var_name(id);
            self.report(12, origin, format!("{name} is declared where it is in scope already"));
        } else if let Some(scope) = self.scopes.last_mut() {
            scope.insert(id);
        }
    }
}

/// Whether two types are one but for the space and qualifiers of pointers.
pub(crate) fn same(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Pointer { pointee: a, .. }, Type::Pointer { pointee: b, .. }) => same(a, b),
        (Type::Array(a, n), Type::Array(b, m)) => n == m && same(a, b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests;
