//! The front end of `warpsmith tune`: a C function with a loop nest to IR.
//!
//! The loop language is C99 without pointers that move: counted and other loops, `if`, `switch`, declarations,
//! assignments, calls of C math functions and of functions of the same file, over integers, `float`, `double`,
//! `_Float16`, complex numbers, and structures of them. Loops marked by OpenMP, `#pragma simd` or `//SIMD` become [`warpsmith_ir::LoopKind::Parallel`]. What is
//! outside the language is one diagnostic each, never a silently different program.
//!
//! | code | says |
//! |---|---|
//! | W130 | no function, no marked loop, or several to choose from |
//! | W131 | a `// warpsmith:` comment that cannot be read |
//! | W132–W134 | a pragma with wrong syntax, an unknown or unsupported directive or clause |
//! | W135, W136 | an unknown variable or a wrong argument in a clause |
//! | W137–W140 | a mark without a loop, a marked loop that is not counted, `collapse` too deep, a jump out of it |
//! | W141–W143 | `goto`, recursion, pointers with an unknown base |
//! | W144–W149 | types, names, constructs, calls, operands and arrays outside the language |
//! | W150–W153 | wrong `ws bounds`, a size that changes, shared writes in a region, marked loops in a called function |
//! | W154 | an array without extents |
//! | W160–W163 | an update or value that depends on the order of iterations, threads that do not wait, a use of thread numbers or times |

mod access;
mod bits;
mod bounds;
mod call;
mod called;
mod changes;
mod clauses;
mod complex;
mod counters;
mod cx;
mod declarations;
mod directives;
mod exclusive;
mod expr;
mod fields;
mod formula;
mod function;
mod given;
mod globals;
mod heads;
mod induction;
mod inline;
mod literal;
mod loops;
mod marks;
mod moving;
mod narrow;
mod order;
mod pragma;
mod records;
mod scan;
mod shadowed;
mod stmt;
mod stores;
mod structs;
mod swaps;
mod team;
mod times;
mod types;
mod unit;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{Diagnostic, FuncId, FunctionKind, Module, VarId};

pub use directives::{ArgDefault, Defaults, SizeDefault};
pub use records::{Held, Record, RecordField};

use crate::ast::TranslationUnit;

/// The C function to be tuned, as IR.
#[derive(Clone, Debug)]
pub struct CInput {
    /// The function and those it calls (as [`FunctionKind::Device`]).
    pub module: Module,
    /// The function itself, a [`FunctionKind::Host`].
    pub function: FuncId,
    /// The name of the file.
    pub name: String,
    /// Sizes from `// warpsmith: size n=1024` comments, else from a call in the file; every name is a scalar parameter.
    pub sizes: Vec<SizeDefault>,
    /// Data from `// warpsmith: arg x=random` comments.
    pub args: Vec<ArgDefault>,
    /// Other functions of the file with marked loops.
    pub candidates: Vec<String>,
    /// For each parameter, where the file calls its (innermost) type by a name of the standard headers, `uint8_t`, or `char`.
    pub spellings: Vec<Option<&'static str>>,
    /// How C spells the module's structures, in order; empty for one without a name.
    pub structs: Vec<String>,
    /// How many of the function's last parameters are variables of the file.
    pub globals: usize,
    /// Structures of the C function whose fields are parameters here.
    pub records: Vec<Record>,
    /// What extents rest on that neither source nor accesses tell, a sentence each.
    pub assumed: Vec<String>,
    /// Whether nothing tells how many elements some array has.
    pub uncounted: bool,
    /// Why the function would be refused if no loop of it can be shown to be parallel: nothing is marked, and nobody named it.
    pub unmarked: Option<Diagnostic>,
    /// A marked loop whose iterations number what they find by atomic updates is serial here; why it would be refused if nothing can go
    /// through it in parts.
    pub in_order: Option<Diagnostic>,
    /// What the user is told of it.
    pub notes: Vec<Diagnostic>,
}

impl CInput {
    /// The parameter that stands for a field, `p_n` for `p.n` and `p->n`, or a field of one, `p_size.n` for `p->size.n`;
    /// any other name as it is.
    pub fn parameter(&self, name: &str) -> String {
        let function = self.module.function(self.function);
        let dotted = name.replace("->", ".");
        for record in &self.records {
            for (k, field) in record.fields.iter().enumerate() {
                let path = format!("{}{}", record.name, field.path.replace("->", "."));
                let rest = dotted.strip_prefix(&path);
                if let Some(rest) = rest.filter(|r| r.is_empty() || r.starts_with('.')) {
                    let own = &function.var(function.params[record.at + k]).name;
                    return format!("{own}{rest}");
                }
            }
        }
        name.to_string()
    }
}

/// Lowers the function of that name, or the only one with a marked loop, or with a loop where none is marked.
///
/// # Errors
/// Everything that is wrong with it and with the functions it calls.
pub fn lower_c(unit: &TranslationUnit, function: Option<&str>) -> Result<CInput, Vec<Diagnostic>> {
    let written = unit::Unit::new(unit);
    let (name, unmarked) = written.select(function).map_err(|d| vec![*d])?;
    let candidates =
        written.candidates().into_iter().filter(|c| *c != name).map(str::to_string).collect();
    let called = called::sizes(&written, name);
    let (replaced, in_the_way) = records::replace(unit, &written, name);
    let (file, replaced) = replaced.unzip();
    let declared = file.as_ref().map_or(written, unit::Unit::new);
    let (defaults, mut errors) = directives::read(&unit.comments);

    let mut lowering = function::Lowering::new(&declared);
    let id = lowering.function(name, FunctionKind::Host);
    errors.extend(function::dedup(lowering.diagnostics));
    let asked = lowering.never_null;
    let mut module = lowering.module;
    let Some(id) = id.filter(|_| errors.is_empty()) else {
        debug_assert!(!errors.is_empty(), "a function failed without a message");
        return Err(errors.into_iter().map(|d| with_uses(d, &in_the_way)).collect());
    };
    mark_not_null(&mut module, id, &asked);
    let mut sizes = own_sizes(&module, id, &declared, defaults.sizes)?;
    let f = module.function(id);
    let integer = |name: &str| {
        f.params.iter().map(|p| f.var(*p)).any(|v| v.name == name && v.ty.is_integer())
    };
    for size in called.into_iter().filter(|s| integer(&s.name)) {
        if sizes.iter().all(|s| s.name != size.name) {
            sizes.push(size);
        }
    }
    let outside = globals::parameters(&declared, name);
    let mut args = defaults.args;
    let initial = outside.iter().filter_map(|g| globals::initial(&declared, g));
    for default in initial.collect::<Vec<_>>() {
        if args.iter().all(|a| a.name != default.name) {
            args.push(default);
        }
    }
    let records::Replaced { records, never_null: structures } = replaced.unwrap_or_default();
    let set = records.iter().flat_map(|r| {
        let pointers = r.fields.iter().filter(|f| f.written && f.held == Held::Pointer);
        pointers.map(|f| {
            format!("the pointer `{}{}`, which `{name}` sets, is left as it is", r.name, f.path)
        })
    });
    let given = structures.iter().map(|n| format!("`{n}` is not null"));
    let assumed = given.chain(set).collect();
    Ok(CInput {
        module,
        function: id,
        name: name.to_string(),
        sizes,
        args,
        candidates,
        spellings: spellings(&declared, name),
        structs: declared.spellings(),
        globals: outside.len(),
        records,
        assumed,
        uncounted: false,
        unmarked,
        in_order: declared.captures(name).map(exclusive::captured),
        notes: vec![],
    })
}

/// Notes which arrays must not be null. Of what called functions ask, every array may be meant.
fn mark_not_null(module: &mut Module, id: FuncId, asked: &BTreeMap<String, BTreeSet<String>>) {
    let function = &mut module.functions[id.0 as usize];
    let elsewhere = asked.iter().any(|(name, asked)| *name != function.name && !asked.is_empty());
    let own = asked.get(&function.name);
    for p in &function.params {
        let var = &mut function.vars[p.0 as usize];
        let meant = elsewhere || own.is_some_and(|names| names.contains(&var.name));
        var.not_null = meant && var.ty.is_pointer();
    }
}

/// A message about a structure with pointers, with what keeps its fields from being parameters.
fn with_uses(d: Diagnostic, in_the_way: &records::InTheWay) -> Diagnostic {
    if d.code != "W144" {
        return d;
    }
    in_the_way.iter().fold(d, |d, (name, span)| {
        d.label(*span, format!("`{name}` is used here in another way than by its fields"))
    })
}

/// The names of the standard headers for the types of a function's parameters, and plain `char`, whose sign the platform chooses.
fn spellings(unit: &unit::Unit<'_>, name: &str) -> Vec<Option<&'static str>> {
    use crate::ast::{TypeKind, TypeName};
    fn innermost(ty: &TypeName) -> Option<&'static str> {
        match &ty.kind {
            TypeKind::Named(path) => types::standard_name(path.as_name()?),
            TypeKind::Builtin(words) => (words.as_slice() == ["char"]).then_some("char"),
            TypeKind::Pointer { to: inner, .. } | TypeKind::Array { element: inner, .. } => {
                innermost(inner)
            }
            _ => None,
        }
    }
    let params = unit.function(name).map_or(&[][..], |f| &f.params);
    params.iter().map(|p| innermost(&p.ty)).collect()
}

/// The defaults that name parameters of the function; those of other functions of the file are left out.
fn own_sizes(
    module: &Module,
    id: FuncId,
    unit: &unit::Unit<'_>,
    sizes: Vec<SizeDefault>,
) -> Result<Vec<SizeDefault>, Vec<Diagnostic>> {
    let f = module.function(id);
    let params: Vec<&str> = f
        .params
        .iter()
        .map(|p| f.var(*p))
        .filter(|v| v.ty.is_integer())
        .map(|v| v.name.as_str())
        .collect();
    let elsewhere = |name: &str| {
        unit.functions
            .iter()
            .any(|(_, f, _)| f.params.iter().any(|p| p.name.as_deref() == Some(name)))
    };
    let mut own = vec![];
    let mut errors = vec![];
    for size in sizes {
        if params.contains(&size.name.as_str()) {
            own.push(size);
        } else if !elsewhere(&size.name) {
            let mut d = Diagnostic::error(
                "W131",
                format!("`{}` is no integer parameter of `{}`", size.name, f.name),
            )
            .label(size.span, "unknown size");
            if let Some(near) = crate::spelling::nearest(&size.name, params.iter().copied()) {
                d = d.help(format!("did you mean `{near}`?"));
            }
            errors.push(d);
        }
    }
    if errors.is_empty() { Ok(own) } else { Err(errors) }
}

/// Array parameters whose extents nobody stated, each with a diagnostic (W154) that says how to state them.
pub fn missing_extents(input: &CInput) -> Vec<(VarId, Diagnostic)> {
    let f = input.module.function(input.function);
    f.params
        .iter()
        .filter(|p| f.var(**p).ty.is_pointer() && f.var(**p).shape.is_none())
        .map(|p| {
            let var = f.var(*p);
            let message = format!("how many elements does `{}` have?", var.name);
            let mut d = Diagnostic::error("W154", message);
            if let Some(span) = var.origin.span {
                d = d.label(span, "no extents are declared");
            }
            let name = &var.name;
            (*p, d.help(format!("declare them, `{name}[n][m]`, or write `#pragma ws bounds({name}: n, m)` before the function")))
        })
        .collect()
}
