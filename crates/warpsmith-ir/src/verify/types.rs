//! Rules 1 and 23 outside function bodies: structs, globals, constants, types of variables.

use super::Violation;
use crate::layout::layout_of;
use crate::module::{FuncId, Module, StructId};
use crate::span::Origin;
use crate::types::{Space, Type};

struct Types<'m> {
    module: &'m Module,
    violations: Vec<Violation>,
}

pub(super) fn check(module: &Module) -> Vec<Violation> {
    let mut t = Types { module, violations: vec![] };
    for (i, s) in module.structs.iter().enumerate() {
        for f in &s.fields {
            t.complete(&f.ty, &format!("the field `{}`", f.name), &s.origin, None);
        }
        if t.contains_itself(StructId(i as u32)) {
            t.report(23, format!("the struct `{}` contains itself", s.name), &s.origin, None);
        }
    }
    for g in &module.globals {
        let before = t.violations.len();
        t.complete(&g.ty, &format!("`{}`", g.name), &g.origin, None);
        let size = layout_of(module, &g.ty).size;
        if before == t.violations.len() && g.init.as_ref().is_some_and(|b| b.len() as u64 != size) {
            t.report(23, format!("`{}` needs {size} initial bytes", g.name), &g.origin, None);
        }
        if !matches!(g.space, Space::Constant | Space::Global) {
            t.report(23, format!("`{}` must be constant or global", g.name), &g.origin, None);
        }
    }
    for c in &module.constants {
        if !super::expr::fits(c.value) {
            let message = format!("the constant `{}` has bits outside its type", c.name);
            t.report(2, message, &Origin::default(), None);
        }
    }
    for (i, f) in module.functions.iter().enumerate() {
        let id = FuncId(i as u32);
        for v in &f.vars {
            t.complete(&v.ty, &format!("`{}`", v.name), &v.origin, Some(id));
        }
        if f.ret != Type::Void {
            t.complete(&f.ret, "the value", &f.origin, Some(id));
        }
    }
    t.violations
}

impl Types<'_> {
    fn report(&mut self, rule: u8, message: String, origin: &Origin, function: Option<FuncId>) {
        let name = function.map_or(String::new(), |f| self.module.function(f).name.clone());
        self.violations.push(Violation { rule, function, name, span: origin.span, message });
    }

    /// A type that has values.
    fn complete(&mut self, ty: &Type, what: &str, origin: &Origin, function: Option<FuncId>) {
        match ty {
            Type::Void => self.report(23, format!("{what} is void"), origin, function),
            Type::Vector(_, n) if !(1..=4).contains(n) => {
                self.report(23, format!("{what} is a vector of {n} components"), origin, function);
            }
            Type::Array(element, _) => self.complete(element, what, origin, function),
            Type::Struct(id) if id.0 as usize >= self.module.structs.len() => {
                self.report(
                    1,
                    format!("{what} has the type of an unknown struct"),
                    origin,
                    function,
                );
            }
            // A pointer may point to anything that exists, void included.
            Type::Pointer { pointee, .. } if **pointee != Type::Void => {
                self.complete(pointee, what, origin, function);
            }
            _ => {}
        }
    }

    fn contains_itself(&self, start: StructId) -> bool {
        let mut seen = vec![];
        let mut open = vec![start];
        while let Some(id) = open.pop() {
            let fields = self.module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
            for f in fields {
                if let Type::Struct(inner) = f.ty.innermost() {
                    if *inner == start {
                        return true;
                    }
                    if !seen.contains(inner) {
                        seen.push(*inner);
                        open.push(*inner);
                    }
                }
            }
        }
        false
    }
}
