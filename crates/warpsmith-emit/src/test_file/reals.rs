//! Reals of the test program's reference, which carry bounds of their rounding errors.
//!
//! The device takes some sums in another order, and its compiler makes one operation of `a * b + c`. What is right then
//! lies within 4·L·u·Σ|terms| of the reference, L the length of that element's sum. So the reference computes with a type
//! that knows length and terms beside the value, `Real<float>`, whose operators are C's.

use std::collections::BTreeSet;

use warpsmith_ir::{
    ExprKind, FuncId, Function, LoopKind, MathFn, Module, PlaceKind, Scalar, StmtKind, Type,
    VarKind,
};

use crate::types::{self, Reals};
use crate::walk::{self, Node, Reach};

/// What the reference does with reals.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    pub reals: Reals,
    /// Functions of the library that it calls, with the type of their operands.
    pub functions: BTreeSet<(&'static str, Scalar)>,
    calls: Vec<(MathFn, Scalar)>,
    pub any: bool,
    pub half: bool,
    /// Sums are taken in another order on the device.
    pub reorders: bool,
}

impl Use {
    pub fn of(module: &Module, function: FuncId, reorders: bool) -> Use {
        let reach = Reach::from(module, [function]);
        let mut found = Use { reorders, ..Use::default() };
        // Bits of a real are asked for, or it lies in a vector: bounds would be in the way.
        let mut plain = false;
        let structs = reach.structs.iter().filter_map(|s| module.structs.get(s.0 as usize));
        for field in structs.flat_map(|s| &s.fields) {
            found.note_type(&field.ty, &mut plain);
        }
        let mut addresses = false;
        for id in &reach.functions {
            let function = module.function(*id);
            found.note_types(function, &mut plain);
            addresses |=
                function.vars.iter().any(|v| v.ty.is_pointer() && v.kind == VarKind::Local);
            walk::block(&function.body, &mut |node| match node {
                Node::Expr(e) => {
                    match &*e.kind {
                        ExprKind::Bitcast(_) => plain = true,
                        ExprKind::AddressOf(_) | ExprKind::PtrOffset(..) => addresses = true,
                        ExprKind::Cast(_) if e.ty.is_pointer() => addresses = true,
                        ExprKind::Call(f, args) => {
                            let operand = args.first().and_then(|a| a.ty.scalar());
                            found.calls.extend(operand.map(|s| (*f, s)));
                        }
                        _ => {}
                    }
                    found.any |= e.ty.is_float();
                }
                Node::Stmt(_) => {}
                Node::Place(p) => {
                    plain |= matches!(&*p.kind, PlaceKind::Component(..));
                }
            });
        }
        plain |= !found.calls.iter().all(|(f, s)| !s.is_float() || is_known(*f, *s));
        found.functions = found.calls.iter().filter_map(|(f, s)| key(*f, *s)).collect();
        if found.any && !plain {
            found.reals = Reals::Bounded { inputs: !addresses };
        }
        found
    }

    fn note_types(&mut self, function: &Function, plain: &mut bool) {
        let types = function.vars.iter().map(|v| &v.ty).chain([&function.ret]);
        types.for_each(|ty| self.note_type(ty, plain));
    }

    fn note_type(&mut self, ty: &Type, plain: &mut bool) {
        let element = ty.pointee().unwrap_or(ty);
        let scalar = element.innermost().scalar();
        self.half |= scalar == Some(Scalar::F16);
        self.any |= scalar.is_some_and(Scalar::is_float);
        // There is no function between bounds and this type.
        *plain |= scalar == Some(Scalar::BF16) || matches!(element.innermost(), Type::Vector(..));
        *plain |= ty.pointee().is_some_and(|t| t.is_pointer() || matches!(t, Type::Array(..)));
    }

    pub fn bounded(&self) -> bool {
        self.reals != Reals::Plain
    }

    /// Whether input arrays keep C's type.
    pub fn inputs(&self) -> bool {
        !matches!(self.reals, Reals::Bounded { inputs: false })
    }

    /// Definitions of the library's functions for reals with bounds, one a line, and what they need.
    pub fn definitions(&self) -> (bool, bool, Vec<String>) {
        let (mut general, mut whole) = (false, false);
        let mut lines = vec![];
        for (name, s) in &self.functions {
            let Some(f) = MathFn::from_name(name) else { continue };
            lines.extend(definition(f, *s, &mut general, &mut whole));
        }
        (general, whole, lines)
    }
}

/// The functions that have a name in namespace `std`, and half's that go through `float`.
fn is_known(f: MathFn, s: Scalar) -> bool {
    use MathFn::*;
    let half_own = matches!(f, Abs | Min | Max | IsNan) && s == Scalar::F16;
    !half_own && !matches!(f, Exp10 | Rcbrt | Sinpi | Cospi | Normcdf)
}

/// A function under which a call is printed: several are made of others.
fn key(f: MathFn, s: Scalar) -> Option<(&'static str, Scalar)> {
    let s = if s == Scalar::F16 { Scalar::F32 } else { s };
    let f = match f {
        MathFn::Rsqrt => MathFn::Sqrt,
        MathFn::Rcp => return None,
        other => other,
    };
    s.is_float().then(|| (f.name(), s))
}

fn definition(f: MathFn, s: Scalar, general: &mut bool, whole: &mut bool) -> Vec<String> {
    use MathFn::*;
    let suffix = if s == Scalar::F32 { "f" } else { "" };
    let real = format!("Real<{}>", types::scalar(s));
    let base = match f {
        Abs => "fabs",
        Min => "fmin",
        Max => "fmax",
        other => other.name(),
    };
    let own = format!("{base}{suffix}");
    let one = format!("inline {real} {own}({real} x)");
    let two = format!("inline {real} {own}({real} x, {real} y)");
    let exact = f.is_exact();
    let line = match f {
        IsNan | IsInf | IsFinite | SignBit => {
            format!("inline bool {base}({real} x) {{ return std::{base}(x.value); }}")
        }
        Abs => format!("{one} {{ return joined(x, x, std::fabs(x.value), x.magnitude); }}"),
        Min | Max | Copysign => format!(
            "{two} {{\n    return joined(x, y, std::{base}(x.value, y.value), std::max(x.magnitude, y.magnitude));\n}}"
        ),
        Floor | Ceil | Trunc | Round | Rint => {
            *whole = true;
            format!(
                "{one} {{\n    return whole_of(x, [](auto v) {{ return std::{base}(v); }});\n}}"
            )
        }
        Fma => format!(
            "inline {real} {own}({real} x, {real} y, {real} z) {{\n    {real} r = x * y + z;\n    r.value = std::fma(x.value, y.value, z.value);\n    return r;\n}}"
        ),
        Ldexp => {
            *general = true;
            format!(
                "inline {real} {own}({real} x, int n) {{\n    return function_of(x, true, [n](auto v) {{ return std::ldexp(v, n); }});\n}}"
            )
        }
        Saturate => {
            let mut lines = definition(Min, s, general, whole);
            lines.extend(definition(Max, s, general, whole));
            return lines;
        }
        _ if f.arity() == 2 => {
            *general = true;
            format!(
                "{two} {{\n    return function_of(x, y, {exact}, [](auto a, auto b) {{ return std::{base}(a, b); }});\n}}"
            )
        }
        _ => {
            *general = true;
            format!(
                "{one} {{\n    return function_of(x, {exact}, [](auto v) {{ return std::{base}(v); }});\n}}"
            )
        }
    };
    vec![line]
}

/// The loops whose iterations ask whether they are run: of each nest of marked loops the innermost that is all of the one
/// around it; and whether there is one around it.
pub(super) fn asking_loops(function: &Function) -> Vec<(warpsmith_ir::LoopId, bool)> {
    let mut found = vec![];
    nests(&function.body, &mut found);
    found
}

fn nests(block: &warpsmith_ir::Block, found: &mut Vec<(warpsmith_ir::LoopId, bool)>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::For(l) if matches!(l.kind, LoopKind::Parallel(_)) => {
                let (mut at, mut inner) = (l, false);
                while let [only] = at.body.stmts.as_slice()
                    && let StmtKind::For(next) = &only.kind
                    && matches!(next.kind, LoopKind::Parallel(_))
                {
                    (at, inner) = (next, true);
                }
                found.push((at.id, inner));
            }
            other => walk::nested_blocks(other, &mut |b| nests(b, found)),
        }
    }
}
