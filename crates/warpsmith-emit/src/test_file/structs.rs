//! What the test program needs for structures: their numbers are filled and compared one by one.
//!
//! The original loops have structures of their own, with reals that carry bounds.

use std::collections::BTreeSet;

use warpsmith_ir::{Expr, Scalar, StructId, Type, Value, Var, VarId};

use super::{Fill, Main, SOME_REAL, SOME_SIZE};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::Result;
use crate::expr::prec;
use crate::types;
use crate::walk::Reach;

/// The structures of arrays and of parameters by value, those inside others first.
fn in_use(main: &Main<'_>) -> Vec<StructId> {
    let module = main.printer.cx.module;
    let reach = Reach::of_types(module, main.params().map(|(_, v)| &v.ty)).structs;
    let mut done = BTreeSet::new();
    let mut order = vec![];
    for id in reach {
        visit(module, id, &mut done, &mut order);
    }
    order
}

fn visit(
    module: &warpsmith_ir::Module,
    id: StructId,
    done: &mut BTreeSet<StructId>,
    order: &mut Vec<StructId>,
) {
    if !done.insert(id) {
        return;
    }
    let fields = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
    for field in fields {
        if let Type::Struct(inner) = field.ty.innermost() {
            visit(module, *inner, done, order);
        }
    }
    order.push(id);
}

pub(super) fn is_needed(main: &Main<'_>) -> bool {
    !in_use(main).is_empty()
}

/// `Expected`, with the structures of the original loops in the place of the user's.
pub(super) fn expected(main: &Main<'_>, number: &str, out: &mut Out) {
    let names: Vec<&str> =
        in_use(main).into_iter().map(|id| main.printer.cx.names.structure(id)).collect();
    out.line("namespace reference {");
    names.iter().for_each(|name| out.line(&format!("struct {name};")));
    out.line("}");
    out.gap();
    out.comment("What the loops keep an element as.");
    out.line("template <class T>");
    out.line("struct Kept {");
    out.line(&format!("    typedef {number} type;"));
    out.line("};");
    for name in names {
        out.gap();
        out.line("template <>");
        out.line(&format!("struct Kept<{name}> {{"));
        out.line(&format!("    typedef reference::{name} type;"));
        out.line("};");
    }
    out.gap();
    out.line("template <class T>");
    out.line("using Expected = typename Kept<T>::type;");
}

/// Functions that visit the numbers of each structure.
pub(super) fn each_number(main: &Main<'_>, out: &mut Out) {
    let cx = main.printer.cx;
    for id in in_use(main) {
        let Some(def) = cx.module.structs.get(id.0 as usize) else { continue };
        let name = cx.names.structure(id);
        out.line("template <class E, class F>");
        out.line(&format!(
            "static void each_number({name} &got, {name} &given, E &expected, F f) {{"
        ));
        for field in &def.fields {
            out.line(&format!("    each_number(got.{0}, given.{0}, expected.{0}, f);", field.name));
        }
        out.line("}");
        out.line("");
    }
}

impl Main<'_> {
    /// A structure by value, its fields on the command line.
    pub(super) fn structure(
        &self,
        out: &mut Out,
        id: VarId,
        v: &Var,
        position: &mut usize,
    ) -> Result<()> {
        let name = self.printer.name(id);
        out.line(&format!("{} {name} = {{}};", self.spell(&v.ty)?));
        out.line(&format!("put({name}, {SOME_REAL:?});"));
        self.fields(out, name, &v.name, &v.ty, position)
    }

    fn fields(
        &self,
        out: &mut Out,
        place: &str,
        name: &str,
        ty: &Type,
        position: &mut usize,
    ) -> Result<()> {
        match ty {
            Type::Scalar(s) => self.number(out, place, name, *s, position),
            Type::Struct(id) => {
                let def = self.printer.cx.module.structs.get(id.0 as usize);
                for f in def.map_or(&[][..], |d| &d.fields) {
                    let (place, name) =
                        (format!("{place}.{}", f.name), format!("{name}.{}", f.name));
                    self.fields(out, &place, &name, &f.ty, position)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn number(
        &self,
        out: &mut Out,
        place: &str,
        name: &str,
        s: Scalar,
        position: &mut usize,
    ) -> Result<()> {
        *position += 1;
        let at = *position;
        let default = self.test.defaults.iter().find(|(n, _)| n == name).map(|d| d.1);
        let value = match default {
            Some(d) => Value::float(s, d),
            None if s.is_float() => Value::float(s, SOME_REAL),
            None => Value::int(s, SOME_SIZE),
        };
        let default = self.printer.implicit(&Expr::constant(value))?.at_least(prec::UNARY);
        let parse = if s.is_float() { "atof" } else { "atoll" };
        let parsed = format!("({}){parse}(argv[{at}])", types::scalar(s));
        out.doc(&cat([text(format!("{place} = argc > {at} ? {parsed} : ")), default, text(";")]));
        Ok(())
    }

    /// The structure that the original loops get for one by value.
    pub(super) fn expected_structure(
        &self,
        out: &mut Out,
        name: &str,
        ty: &Type,
    ) -> Result<String> {
        let own = self.own(&format!("{name}_expected"));
        out.line(&format!("reference::{} {own};", self.spell(ty)?));
        out.line(&format!(
            "each_number({name}, {name}, {own}, [](auto &x, auto &, auto &e) {{ set_given(e, x); }});"
        ));
        Ok(own)
    }

    /// Contents for an array of structures.
    pub(super) fn fill_structures(
        &self,
        out: &mut Out,
        id: VarId,
        name: &str,
        element: &Type,
    ) -> Result<()> {
        let own: Vec<_> = self.test.fills.iter().filter(|((var, _), _)| *var == id).collect();
        let whole = own.iter().find(|((_, fields), _)| fields.is_empty()).map(|(_, fill)| fill);
        out.line(&match whole {
            Some(Fill::Zeros) => format!("{name}.each([](auto &x, size_t) {{ put(x, 0.0); }});"),
            Some(Fill::Iota) => {
                format!("{name}.each([k = 0](auto &x, size_t) mutable {{ each_number_of(x, [&](auto &n) {{ put(n, k++); }}); }});")
            }
            _ => format!("{name}.each([](auto &x, size_t) {{ between(x, -1.0, 1.0); }});"),
        });
        for ((_, fields), fill) in own.into_iter().filter(|((_, fields), _)| !fields.is_empty()) {
            out.doc(&self.fill_field(name, element, fields, fill)?);
        }
        Ok(())
    }

    /// Contents for one field of the structures of an array.
    fn fill_field(&self, name: &str, element: &Type, fields: &[u32], fill: &Fill) -> Result<Doc> {
        let structs = &self.printer.cx.module.structs;
        let (mut ty, mut place, mut loops) = (element, "the_element".to_string(), String::new());
        for (depth, field) in fields.iter().enumerate() {
            if matches!(ty, Type::Array(..)) {
                let inner = format!("the_element{depth}");
                loops += &format!("for (auto &{inner} : {place}) ");
                (ty, place) = (ty.innermost(), inner);
            }
            let Type::Struct(id) = ty else { break };
            let Some(f) = structs.get(id.0 as usize).and_then(|s| s.fields.get(*field as usize))
            else {
                break;
            };
            place += &format!(".{}", f.name);
            ty = &f.ty;
        }
        let each = |captured: &str, set: &str, args: Vec<Doc>, tail: &str| {
            let args = [vec![text(&place)], args].concat();
            let index = if tail.contains("its_index") { " its_index" } else { "" };
            let open = format!(
                "{name}.each([{captured}](auto &the_element, size_t{index}) {{ {loops}{set}("
            );
            list(&open, args, &format!("{tail}); }});"))
        };
        let value = |e: &Expr| self.printer.expr(e).map(|p| p.doc);
        Ok(match fill {
            Fill::Zeros => each("&", "put", vec![text("0.0")], ""),
            Fill::Iota => each("&", "put", vec![text("0.0")], " + (double)its_index"),
            Fill::Within(low, high) => each("&", "within", vec![value(low)?, value(high)?], ""),
            Fill::Between(low, high) => {
                each("&", "between", [low, high].map(|x| text(format!("{x:?}"))).into(), "")
            }
            Fill::Shuffled(first) => {
                let order = format!("&, order = shuffled({name}.count)");
                each(&order, "put", vec![value(first)?], " + (double)order[its_index]")
            }
            // They do not decrease.
            Fill::Offsets(last) => {
                let part = format!(" * its_index / std::max(1.0, {name}.count - 1.0)");
                each("&", "put", vec![self.printer.expr(last)?.at_least(prec::UNARY)], &part)
            }
        })
    }
}
