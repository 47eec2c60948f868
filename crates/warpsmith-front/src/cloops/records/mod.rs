//! Structures that lead to what a function works on: `const Config *c` with sizes in it, `Particles *p` with arrays.
//!
//! A device cannot follow a host's pointers, and sizes behind one would be data. A parameter of which only fields are
//! used is replaced by parameters for these fields, in the tree, before anything is lowered: `p->x` becomes `p_x`, also
//! in the functions of the file that `p` is handed to. What calls the C function gets to know the places of the fields.

mod definition;
mod names;
mod rewrite;
mod uses;

use std::collections::{BTreeMap, HashMap, HashSet};

use warpsmith_ir::Span;

use super::scan;
use super::unit::Unit;
use crate::ast::{FunctionDecl, Param, TranslationUnit, TypeKind, TypeName};
use uses::{Path, Use, Whole};

/// A structure among the C function's parameters whose fields are the parameters of the lowered one.
#[derive(Clone, Debug)]
pub struct Record {
    /// As the source has it.
    pub name: String,
    /// The structure in C's words: `struct particles`, `Config`.
    pub c_type: String,
    /// The C function takes its address.
    pub by_address: bool,
    /// What it points to is constant.
    pub readonly: bool,
    /// Number of the first of the parameters that stand for it.
    pub at: usize,
    /// One a parameter.
    pub fields: Vec<RecordField>,
    /// A structure of the same layout in C++, up to its name; `None` where it has fields that the loop language cannot say.
    pub definition: Option<String>,
}

/// A member of a structure.
#[derive(Clone, Debug)]
pub struct RecordField {
    /// How C writes it behind the structure's name: `->x`, `.size.n`, `->mesh->x`.
    pub path: String,
    /// What it holds.
    pub held: Held,
    /// The function sets it: of a pointer, which the launcher leaves as it is.
    pub written: bool,
}

/// What a parameter that stands for a field has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// The value.
    Value,
    /// The pointer to a field that is written.
    Address,
    /// The field is an array: the pointer to its first element.
    Array,
    /// The field is a pointer.
    Pointer,
}

/// A parameter by function and number.
type Slot = (String, usize);

/// What replaces the structures of one file.
#[derive(Default)]
struct Plan<'u> {
    /// Fields in use, in the order of their paths.
    slots: BTreeMap<Slot, BTreeMap<Path, Use<'u>>>,
    names: HashMap<(Slot, Path), String>,
}

/// What fields stand for in a file with them in the place of structures.
#[derive(Default)]
pub struct Replaced {
    pub records: Vec<Record>,
    /// Structures of which conditions ask whether they are there.
    pub never_null: Vec<String>,
}

/// What is in the way where a structure that leads to arrays is not replaced: its name, and where more of it is used
/// than its fields.
pub type InTheWay = Vec<(String, Span)>;

/// The file with the structures of a function's parameters replaced; `None` where there are none to replace.
pub fn replace(
    file: &TranslationUnit,
    unit: &Unit<'_>,
    function: &str,
) -> (Option<(TranslationUnit, Replaced)>, InTheWay) {
    let (file, never_null) = names::resolve(file, unit);
    let unit = Unit::new(&file);
    let mut in_the_way = vec![];
    let Some(own) = unit.function(function) else { return (None, in_the_way) };
    let mut plan = Plan::default();
    for (at, param) in own.params.iter().enumerate() {
        match uses::of(&unit, &(function.to_string(), at)) {
            Ok(found) if is_wanted(&unit, own, at, &found) => plan.slots.extend(found),
            Err(Whole::Here(span)) if uses::leads_on(&unit, &param.ty) => {
                in_the_way.push((param.name.clone().unwrap_or_default(), span));
            }
            _ => {}
        }
    }
    while let Some((slot, span)) = handed_otherwise(&unit, function, &plan) {
        in_the_way.push((slot.0.clone(), span));
        let hands_it_on = |s: &Slot| uses::of(&unit, s).is_ok_and(|all| all.contains_key(&slot));
        plan.slots.retain(|s, _| !hands_it_on(s));
    }
    if plan.slots.is_empty() {
        return (None, in_the_way);
    }
    plan.choose_names(&unit);
    let records = records(&unit, function, &plan);
    let involved: Vec<&str> =
        unit.involved(function).into_iter().filter_map(rewrite::plain_name).collect();
    let asked = never_null.iter().filter(|(f, _)| involved.contains(&f.as_str()));
    let never_null = asked.map(|(_, name)| name.clone()).collect();
    let file = rewrite::file(&file, &plan);
    (Some((file, Replaced { records, never_null })), in_the_way)
}

/// Whether the parameter has to be replaced: it holds pointers, or sizes that would be data behind a pointer.
fn is_wanted<'u>(
    unit: &Unit<'u>,
    function: &'u FunctionDecl,
    at: usize,
    slots: &BTreeMap<Slot, BTreeMap<Path, Use<'u>>>,
) -> bool {
    let ty = &function.params[at].ty;
    if uses::leads_on(unit, ty) {
        return true;
    }
    let by_address = uses::is_address(unit, ty);
    let own = slots.iter().find(|((_, n), _)| *n == at).map(|(_, uses)| uses);
    by_address && own.is_some_and(|uses| !uses.is_empty() && uses.values().all(|u| !u.written))
}

/// A parameter that is to be replaced and that some call, which is given too, hands a structure that is not.
fn handed_otherwise(unit: &Unit<'_>, function: &str, plan: &Plan<'_>) -> Option<(Slot, Span)> {
    for f in unit.involved(function) {
        let Some(name) = rewrite::plain_name(f) else { continue };
        let mut wrong = None;
        uses::each_call(f, &mut |callee, args| {
            for (at, arg) in args.iter().enumerate() {
                let slot = (callee.to_string(), at);
                let from = uses::given(arg).and_then(|g| number(f, g.root));
                let replaced = from.is_some_and(|n| plan.slots.contains_key(&(name.into(), n)));
                if plan.slots.contains_key(&slot) && !replaced {
                    wrong.get_or_insert((slot, arg.span));
                }
            }
        });
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

/// The number of the parameter of this name.
fn number(f: &FunctionDecl, name: &str) -> Option<usize> {
    f.params.iter().position(|p| p.name.as_deref() == Some(name))
}

impl<'u> Plan<'u> {
    /// Names that nothing in the functions has yet.
    fn choose_names(&mut self, unit: &Unit<'_>) {
        let mut taken: HashMap<&str, HashSet<String>> = HashMap::new();
        for (slot, uses) in &self.slots {
            let Some(f) = unit.function(&slot.0) else { continue };
            let taken = taken.entry(&slot.0).or_insert_with(|| names_in(unit, f));
            let base = f.params[slot.1].name.as_deref().unwrap_or("unnamed");
            for path in uses.keys() {
                let mut name = path.iter().fold(base.to_string(), |n, step| n + "_" + &step.field);
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                self.names.insert((slot.clone(), path.clone()), name);
            }
        }
    }

    /// The parameters that stand for one.
    fn params(&self, slot: &Slot, span: Span) -> Vec<Param> {
        let uses = self.slots.get(slot).into_iter().flatten();
        uses.map(|(path, field)| Param {
            name: self.names.get(&(slot.clone(), path.clone())).cloned(),
            ty: field.parameter(),
            default: None,
            span,
        })
        .collect()
    }
}

/// All names that a function mentions or could see.
fn names_in(unit: &Unit<'_>, f: &FunctionDecl) -> HashSet<String> {
    let mut names: HashSet<String> = f.params.iter().filter_map(|p| p.name.clone()).collect();
    names.extend(unit.globals.keys().map(|n| n.to_string()));
    names.extend(unit.functions.iter().map(|(n, ..)| n.to_string()));
    for stmt in f.body.iter().flat_map(|b| &b.stmts) {
        scan::for_each_declared(stmt, &mut |n| _ = names.insert(n.to_string()));
        scan::for_each_expr(stmt, &mut |e| {
            scan::for_each_name(e, &mut |n| _ = names.insert(n.to_string()));
        });
    }
    names
}

/// What callers of the C function need to know.
fn records(unit: &Unit<'_>, function: &str, plan: &Plan<'_>) -> Vec<Record> {
    let Some(own) = unit.function(function) else { return vec![] };
    let mut at = 0;
    let mut found = vec![];
    for (n, param) in own.params.iter().enumerate() {
        let Some(uses) = plan.slots.get(&(function.to_string(), n)) else {
            at += 1;
            continue;
        };
        let structure = uses::behind(unit, &param.ty);
        let fields = uses.iter().map(|(path, field)| RecordField {
            path: path.iter().map(uses::Step::spelled).collect(),
            held: field.held(),
            written: field.written,
        });
        found.push(Record {
            name: param.name.clone().unwrap_or_default(),
            c_type: c_type(unit, structure, &param.ty),
            by_address: uses::is_address(unit, &param.ty),
            readonly: structure.is_const,
            at,
            fields: fields.collect(),
            definition: definition::of(unit, structure, uses.keys()),
        });
        at += uses.len();
    }
    found
}

/// The structure as the file's own text names it; `behind` leads to it, should it have no name.
fn c_type(unit: &Unit<'_>, ty: &TypeName, behind: &TypeName) -> String {
    match (&ty.kind, &behind.kind) {
        (TypeKind::Named(path), _) => {
            let name = path.segments.last().map_or("", |s| &s.name);
            let is_alias = unit.aliases.contains_key(name);
            if is_alias { name.to_string() } else { format!("struct {name}") }
        }
        (TypeKind::Inline(inline), _) if uses::tag(inline).is_some() => {
            format!("struct {}", uses::tag(inline).unwrap_or_default())
        }
        (_, TypeKind::Named(path)) => {
            let name = path.segments.last().map_or("", |s| &s.name);
            format!("__typeof__(*({name})0)")
        }
        _ => String::new(),
    }
}
