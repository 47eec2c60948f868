//! Streaming through registers: what one iteration reads ahead, the next ones have.

use std::collections::HashMap;

use warpsmith_front::ast;

use super::cut;
use super::find::{self, Access};
use super::outer::Outer;
use super::plans::{Kernel, Plan, replaced};
use crate::source::patch::{Patch, indentation};
use crate::source::scope;

/// Reads of one column: of the plane before, the plane itself and the plane after.
struct Column<'a> {
    below: Vec<&'a Access>,
    here: Vec<&'a Access>,
    above: Vec<&'a Access>,
}

/// Planes kept in registers along the outermost loop; with `early`, each is read an iteration before it is needed, so that a
/// thread waits for memory while it computes.
pub fn plan(
    kernel: &Kernel<'_>,
    array: &str,
    element: &str,
    all: &[&Access],
    early: bool,
) -> Option<Plan> {
    let outer = Outer::around(kernel, all).filter(|o| !o.bare)?;
    let columns = columns(all);
    if columns.is_empty() {
        return None;
    }
    let text = kernel.text;
    let start = outer.start();
    let indent = indentation(text, start);
    let values = find::initialisers(kernel.body, kernel.sources);
    let declared = scope::site(kernel.unit, kernel.sources, start)?.declared;
    // An index as it is in the first iteration, from what is declared before the loop.
    let at_first = |index: &str| -> Option<String> {
        let mut index = index.to_string();
        for _ in 0..4 {
            let known = |n: &String| declared.contains(n) || *n == outer.counter;
            if scope::names(&index).iter().filter(|n| kernel.is_variable(n)).all(known) {
                return Some(index);
            }
            index = replaced(&index, &values);
        }
        None
    };
    let holds = |s: &&ast::Stmt| {
        all.iter().any(|a| (s.span.start..s.span.end).contains(&(a.whole.start as u32)))
    };
    let first = outer.stmts().iter().find(holds)?;
    let last = outer.stmts().iter().rev().find(holds)?;
    let inner = indentation(text, first.span.start as usize);
    let next = match early {
        true => Some(Next::new(kernel, &outer, &declared, &values)?),
        false => None,
    };
    let mut patch = Patch::default();
    let (mut declarations, mut loads, mut ahead, mut turns) = (vec![], vec![], vec![], vec![]);
    for (n, c) in columns.iter().enumerate() {
        let suffix = if columns.len() > 1 { (n + 1).to_string() } else { String::new() };
        let name = |what: &str| format!("{array}_{what}{suffix}");
        let (below, here, above) = (name("below"), name("here"), name("above"));
        declarations.push(match early {
            true => format!("{below}, {here}, {above}"),
            false => format!("{below}, {here}"),
        });
        loads.push(format!("{below} = {array}[{}];", at_first(&c.below[0].index)?));
        loads.push(format!("{here} = {array}[{}];", at_first(&c.here[0].index)?));
        turns.push(format!("{below} = {here};"));
        turns.push(format!("{here} = {above};"));
        match &next {
            None => ahead.push(format!("const {element} {above} = {array}[{}];", c.above[0].index)),
            Some(next) => {
                let further = name("next");
                loads.push(format!("{above} = {array}[{}];", at_first(&c.above[0].index)?));
                let index = next.of(&c.above[0].index, &at_first)?;
                ahead.push(format!(
                    "const {element} {further} = {} ? {array}[{index}] : {above};",
                    next.cond
                ));
                turns.push(format!("{above} = {further};"));
            }
        }
        for (list, name) in [(&c.below, &below), (&c.here, &here), (&c.above, &above)] {
            list.iter().for_each(|a| patch.replace(a.whole.clone(), name.clone()));
        }
    }
    let body_of = |list: &[String], indent: &str| {
        list.iter().map(|l| format!("{l}\n{indent}")).collect::<String>()
    };
    let (counter, ty) = (outer.counter, &outer.ty);
    let value = kernel.sources.text(outer.first.span);
    let cond = kernel.sources.text(outer.cond.span);
    // A loop without iterations reads nothing.
    patch.replace(
        start..start,
        format!(
            "// Planes go through registers: each is read once.\n{indent}{element} {};\n{indent}{{\n{indent}    const {ty} {counter} = {value};\n{indent}    if ({cond}) {{\n{indent}        {}\n{indent}    }}\n{indent}}}\n{indent}",
            declarations.join(", "),
            loads.join(&format!("\n{indent}        ")),
        ),
    );
    let at = first.span.start as usize;
    patch.replace(at..at, body_of(&ahead, inner));
    let end = last.span.end as usize;
    let after: String = turns.iter().map(|t| format!("\n{inner}{t}")).collect();
    patch.replace(end..end, after);
    let name = match early {
        true => format!("`{array}` through registers, read early"),
        false => format!("`{array}` through registers"),
    };
    patch.apply(text).ok().map(|text| Plan {
        name,
        text,
        marked: false,
        block: None,
        cut: None,
        early,
    })
}

/// What texts are in the next iteration.
struct Next {
    /// That there is one.
    cond: String,
    /// The counter, and variables that move with it.
    values: HashMap<String, String>,
}

impl Next {
    fn new(
        kernel: &Kernel<'_>,
        outer: &Outer<'_>,
        declared: &[String],
        known: &HashMap<String, String>,
    ) -> Option<Next> {
        let counter = outer.counter.to_string();
        let mut values = HashMap::from([(counter.clone(), format!("{counter} + 1"))]);
        for (name, (sign, by)) in cut::moved(kernel, outer).ok()? {
            values.insert(name.clone(), format!("{name} {sign} {}", cut::operand(&by)));
        }
        let fixed = |n: &String| declared.contains(n) || *n == counter || known.contains_key(n);
        let cond = kernel.sources.text(outer.cond.span);
        let names = scope::names(cond);
        let cond = replaced(cond, &values);
        names
            .iter()
            .filter(|n| kernel.is_variable(n))
            .all(fixed)
            .then(|| Next { cond: format!("({cond})"), values })
    }

    /// A subscript, once what the loop declares has its initialisers.
    fn of(&self, index: &str, at_first: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        Some(replaced(&at_first(index)?, &self.values))
    }
}

/// Reads that are three planes of one column.
fn columns<'a>(all: &[&'a Access]) -> Vec<Column<'a>> {
    let value = |a: &Access, n| a.value_at([2, 2, 0], n);
    let one_loop = |a: &&&Access| a.loops().is_some_and(|l| l.len() == 1);
    let mut columns: Vec<Column<'a>> = vec![];
    for here in all.iter().filter(one_loop) {
        let now = value(here, 3);
        let like = |n: i64, to: Option<i64>| -> Vec<&'a Access> {
            let alike = |a: &&&'a Access| value(a, n) == to && to.is_some();
            all.iter().filter(one_loop).filter(alike).copied().collect()
        };
        // What is here in the third iteration is below in the fourth, and was above in the second.
        let (below, above) = (like(4, now), like(2, now));
        let moves = value(here, 2) != now;
        let known = columns.iter().any(|c| c.here.iter().any(|a| value(a, 3) == now));
        if moves && !known && !below.is_empty() && !above.is_empty() {
            columns.push(Column { below, here: like(3, now), above });
        }
    }
    columns
}
