//! Printing of modules and functions.

use super::names::{Names, escape, quote};
use super::print_stmt::Writer;
use super::words::Words;
use crate::module::{DimOrder, Function, Layout, Module, Var};
use crate::types::{Space, Type};
use crate::typing::{Env, vector_name};

/// What is needed to print inside a function.
pub(crate) struct Context<'a> {
    pub env: Env<'a>,
    pub vars: Names,
    pub structs: Names,
    pub globals: Names,
    pub constants: Names,
    pub functions: Names,
}

impl<'a> Context<'a> {
    pub fn new(module: &'a Module, function: &'a Function) -> Context<'a> {
        Context {
            env: Env { module, vars: &function.vars },
            vars: Names::of(function.vars.iter().map(|v| v.name.as_str())),
            structs: Names::of_structs(module),
            globals: Names::of(module.globals.iter().map(|g| g.name.as_str())),
            constants: Names::of(module.constants.iter().map(|c| c.name.as_str())),
            functions: Names::of(module.functions.iter().map(|f| f.name.as_str())),
        }
    }

    pub fn ty(&self, ty: &Type) -> String {
        type_name(&self.structs, ty)
    }
}

pub(crate) fn type_name(structs: &Names, ty: &Type) -> String {
    match ty {
        Type::Void => "void".into(),
        Type::Scalar(s) => s.name().into(),
        Type::Vector(s, n) => vector_name(*s, *n),
        Type::Pointer { pointee, space, volatile, readonly } => {
            let mut out = String::from("*");
            if *space != Space::Generic {
                out.push_str(space.word());
                out.push(' ');
            }
            if *readonly {
                out.push_str("const ");
            }
            if *volatile {
                out.push_str("volatile ");
            }
            out + &type_name(structs, pointee)
        }
        Type::Array(element, length) => format!("[{}; {length}]", type_name(structs, element)),
        Type::Struct(id) => structs.get(id.0),
    }
}

/// The whole module: structs, statics, constants, then functions, in order.
pub(crate) fn module(m: &Module) -> String {
    let structs = Names::of_structs(m);
    let globals = Names::of(m.globals.iter().map(|g| g.name.as_str()));
    let constants = Names::of(m.constants.iter().map(|c| c.name.as_str()));
    let functions = Names::of(m.functions.iter().map(|f| f.name.as_str()));
    let mut parts: Vec<String> = vec![];
    for (i, s) in m.structs.iter().enumerate() {
        let mut out =
            format!("struct {} size {} align {} {{\n", structs.get(i as u32), s.size, s.align);
        for f in &s.fields {
            let ty = type_name(&structs, &f.ty);
            out.push_str(&format!("    {}: {ty} @ {},\n", quote(&f.name), f.offset));
        }
        parts.push(out + "}\n");
    }
    let mut out = String::new();
    for (i, g) in m.globals.iter().enumerate() {
        let ty = type_name(&structs, &g.ty);
        out.push_str(&format!("static {} {}: {ty}", g.space.word(), globals.get(i as u32)));
        if let Some(bytes) = &g.init {
            let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            out.push_str(&format!(" = \"{hex}\""));
        }
        out.push_str(";\n");
    }
    for (i, c) in m.constants.iter().enumerate() {
        let value = super::print_expr::literal(c.value);
        out.push_str(&format!("const {} = {value}", constants.get(i as u32)));
        if !c.comment.is_empty() {
            out.push_str(&format!(" \"{}\"", escape(&c.comment, '"')));
        }
        out.push_str(";\n");
    }
    if !out.is_empty() {
        parts.push(out);
    }
    for (i, f) in m.functions.iter().enumerate() {
        parts.push(function(m, f, &functions.get(i as u32)));
    }
    parts.join("\n")
}

pub(crate) fn function_alone(m: &Module, f: &Function) -> String {
    let label = m
        .functions
        .iter()
        .position(|g| std::ptr::eq(f, g))
        .map(|i| Names::of(m.functions.iter().map(|f| f.name.as_str())).get(i as u32));
    function(m, f, &label.unwrap_or_else(|| quote(&f.name)))
}

fn function(m: &Module, f: &Function, label: &str) -> String {
    let context = Context::new(m, f);
    let order = Order::new(f);
    let params: Vec<String> = f
        .params
        .iter()
        .enumerate()
        .map(|(i, p)| match f.vars.get(p.0 as usize) {
            Some(v) => {
                let id = (p.0 as usize != i || !order.params_first).then_some(p.0);
                var(&context, v, &context.vars.get(p.0), id)
            }
            None => format!("?{}", p.0),
        })
        .collect();
    let mut out = format!("{} fn {label}({})", f.kind.word(), params.join(", "));
    if f.ret != Type::Void {
        out.push_str(&format!(" -> {}", context.ty(&f.ret)));
    }
    if let Some(b) = f.launch_bounds {
        let blocks = b.min_blocks.map_or(String::new(), |n| format!(", {n}"));
        out.push_str(&format!(" launch_bounds({}{blocks})", b.max_threads));
    }
    if let Some([x, y, z]) = f.cluster {
        out.push_str(&format!(" cluster_dims({x}, {y}, {z})"));
    }
    let mut writer = Writer::new(&context);
    writer.body(&f.body);
    if f.next_loop != writer.expected_next_loop() {
        out.push_str(&format!(" loops({})", f.next_loop));
    }
    out.push_str(" {\n");
    let listed = |id: usize| f.params.iter().any(|p| p.0 as usize == id);
    let mut declared = false;
    for (id, v) in f.vars.iter().enumerate().filter(|(id, _)| !listed(*id)) {
        let text = var(&context, v, &context.vars.get(id as u32), None);
        out.push_str(&format!("    {} {text};\n", v.kind.word()));
        declared = true;
    }
    let body = writer.finish();
    if declared && !body.is_empty() {
        out.push('\n');
    }
    out + &body + "}\n"
}

/// Whether the parameters are the first variables, in order, so that their numbers need not be said.
struct Order {
    params_first: bool,
}

impl Order {
    fn new(f: &Function) -> Order {
        Order { params_first: f.params.iter().enumerate().all(|(i, p)| p.0 as usize == i) }
    }
}

fn var(context: &Context<'_>, v: &Var, label: &str, id: Option<u32>) -> String {
    let mut out = String::new();
    let words = [
        (v.constant, "const "),
        (v.restrict, "restrict "),
        (v.reference, "ref "),
        (v.pitched, "pitched "),
        (v.inferred, "inferred "),
        (v.not_null, "not_null "),
        (v.narrow, "narrow "),
    ];
    for (set, word) in words {
        if set {
            out.push_str(word);
        }
    }
    out.push_str(label);
    if let Some(id) = id {
        out.push_str(&format!(" @ {id}"));
    }
    out.push_str(&format!(": {}", context.ty(&v.ty)));
    if let Some(shape) = &v.shape {
        let extents: Vec<String> = shape.iter().map(|e| context.expr(e, 0)).collect();
        out.push_str(&format!(" shape [{}]", extents.join(", ")));
    }
    if v.align != 0 {
        out.push_str(&format!(" align {}", v.align));
    }
    if v.layout != Layout::default() {
        out.push_str(" layout");
        let pad = (v.layout.pad > 0).then(|| format!(" pad {}", v.layout.pad));
        out.push_str(&pad.unwrap_or_default());
        if v.layout.order != DimOrder::Straight {
            out.push_str(&format!(" {}", v.layout.order.word()));
        }
        out.push_str(if v.layout.swizzled { " swizzled" } else { "" });
    }
    out
}
