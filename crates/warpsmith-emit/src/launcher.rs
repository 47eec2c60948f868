//! The kernel file and its header: what the user takes away.

use std::collections::BTreeSet;

use warpsmith_ir::{Expr, FuncId, Module, Runtime, StmtKind, StructId, Type, Var, VarId};

use crate::context::{Context, Printer, Target};
use crate::doc::{Doc, Out, cat, layout, list, text};
use crate::error::{EmitError, Result};
use crate::file;
use crate::host_entry::{self, HostEntry};
use crate::names::{Names, identifier};
use crate::tidy::tidy;
use crate::types::{self, Qualifiers, declare};
use crate::walk::Reach;

/// What is printed as one pair of `.cu` and `.h`.
///
/// The launcher is a host function whose parameters are the C function's in order (arrays as device
/// pointers), then the result pointer and the workspace where there are any; the stream is added here.
#[derive(Clone, Debug)]
pub struct Emit<'a> {
    /// The module with the launcher and its kernels.
    pub module: &'a Module,
    /// `NAME` of `NAME.cu` and `NAME_launch`.
    pub name: String,
    /// The host function that launches the kernels.
    pub launcher: FuncId,
    /// What the code computes and where it comes from; paragraphs.
    pub description: Vec<String>,
    /// What the user must grant, one sentence each.
    pub assumptions: Vec<String>,
    /// What was verified, and at which level; paragraphs.
    pub verification: Vec<String>,
    /// The architecture the code was made for: `sm_90`.
    pub arch: String,
    /// For the launcher's parameters in order, where the user's code calls the type by a name of the standard headers:
    /// `uint8_t`, `size_t`, or plain `char`.
    pub spellings: Vec<Option<&'static str>>,
    /// The launcher's parameter through which a returned value comes back.
    pub result: Option<VarId>,
    /// Device memory that the launcher asks for; `None`: it needs none.
    pub workspace: Option<Workspace>,
    /// The function with the C function's parameters that stands beside the launcher, where there is one.
    pub host: Option<HostEntry>,
}

/// Device memory that the caller lends to the launcher.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The launcher's parameter that points to it.
    pub param: VarId,
    /// Its size, as an expression over the launcher's other parameters.
    pub bytes: Expr,
}

impl Emit<'_> {
    pub(crate) fn launch_name(&self) -> String {
        format!("{}_launch", identifier(&self.name))
    }

    pub(crate) fn workspace_name(&self) -> String {
        format!("{}_workspace", identifier(&self.name))
    }

    fn names(&self) -> Names {
        let mut taken = file::helper_names();
        taken.extend([self.launch_name(), self.workspace_name()]);
        taken.extend(self.host.iter().flat_map(|_| host_entry::names(self)));
        let reach = Reach::from(self.module, [self.launcher]);
        let mut names = Names::preferring(self.module, &taken, &reach.functions);
        names.set_function(self.launcher, &self.launch_name());
        names
    }

    /// The structures that the launcher's parameters are made of: those that its caller has.
    pub(crate) fn shared_structs(&self) -> BTreeSet<StructId> {
        let launcher = self.module.function(self.launcher);
        let types = launcher.params.iter().map(|p| &launcher.var(*p).ty);
        Reach::of_types(self.module, types).structs
    }

    fn check(&self) -> Result<()> {
        match self.module.functions.get(self.launcher.0 as usize) {
            Some(f) if f.kind == warpsmith_ir::FunctionKind::Host => Ok(()),
            Some(f) => Err(EmitError::new("a launcher that is no host function", &f.origin)),
            None => Err(EmitError::new("an unknown launcher", &warpsmith_ir::Origin::default())),
        }
    }
}

/// `NAME.cu`: constants, device functions, kernels and the launcher.
///
/// # Errors
/// When something has no spelling in CUDA C++, see [`EmitError`].
pub fn cuda_file(emit: &Emit<'_>) -> Result<String> {
    emit.check()?;
    let module = tidy(emit.module);
    let emit = &Emit { module: &module, ..emit.clone() };
    let names = emit.names();
    let mut cx = Context::new(emit.module, &names);
    cx.shared = emit.shared_structs();
    let cx = cx;
    let mut reach = Reach::from(emit.module, [emit.launcher]);
    let callees: Vec<FuncId> =
        reach.functions.iter().copied().filter(|f| *f != emit.launcher).collect();

    let mut body = Out::default();
    file::functions(&cx, &callees, &mut body)?;
    if let Some(w) = &emit.workspace {
        reach.include_expr(&w.bytes);
        body.gap();
        workspace_function(emit, &cx, w, &mut body)?;
    }
    body.gap();
    launcher(emit, &cx, &mut body)?;
    host_entry::define(emit, &cx, &mut body)?;

    let mut out = Out::default();
    heading(emit, &format!("{}.cu", emit.name), &mut out);
    let declarations = file::declarations(&cx, &reach, Target::Device)?;
    file::includes(&cx, &mut out);
    file::append(&mut out, &declarations);
    file::append(&mut out, &body);
    Ok(file::finish(out))
}

/// The comment at the top of a file.
fn heading(emit: &Emit<'_>, file: &str, out: &mut Out) {
    let mut paragraphs = emit.description.iter();
    match paragraphs.next() {
        Some(first) => out.comment(&format!("{file}: {first}")),
        None => out.comment(file),
    }
    for p in paragraphs {
        out.comment("");
        out.comment(p);
    }
    let mut section = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            out.comment("");
            out.comment(title);
            lines.iter().for_each(|l| out.hanging("- ", l));
        }
    };
    section("Assumes:", &emit.assumptions);
    section("Verified:", &emit.verification);
    out.comment("");
    out.comment(&format!("Made for {}.", emit.arch));
}

/// The parameters with the stream, and the printer that knows its name.
fn launcher_head<'a>(emit: &Emit<'_>, cx: &'a Context<'a>) -> Result<(Printer<'a>, Doc)> {
    let mut printer = Printer::new(cx, emit.launcher, Target::Host);
    let stream = printer.fresh("stream");
    for (id, spelled) in printer.function.params.iter().zip(&emit.spellings) {
        if let Some(spelled) = *spelled {
            types::header_of(spelled).into_iter().for_each(|header| cx.include(header));
            printer.spelled.insert(*id, spelled);
        }
    }
    let mut params = printer.parameters(false)?;
    params.push(text(format!("cudaStream_t {stream}")));
    printer.stream = Some(stream);
    let head = list(&format!("cudaError_t {}(", emit.launch_name()), params, ")");
    Ok((printer, head))
}

fn launcher(emit: &Emit<'_>, cx: &Context<'_>, out: &mut Out) -> Result<()> {
    let (printer, head) = launcher_head(emit, cx)?;
    out.doc(&cat([head, text(" {")]));
    printer.body(out)?;
    out.depth += 1;
    out.doc(&printer.return_text(None)?);
    out.depth -= 1;
    out.line("}");
    Ok(())
}

/// The parameters a workspace size is computed from: the launcher's scalars.
fn workspace_head(emit: &Emit<'_>, printer: &Printer<'_>) -> Result<Doc> {
    let mut params = vec![];
    for &id in &printer.function.params {
        if let Some(v) = printer.var(id)
            && v.ty.scalar().is_some()
        {
            let at = printer.function.params.iter().position(|p| *p == id);
            let spelled = at.and_then(|at| emit.spellings.get(at).copied().flatten());
            let q = Qualifiers { spelled, ..Qualifiers::default() };
            params.push(text(declare(&v.ty, printer.name(id), q, printer.cx.names)?));
        }
    }
    Ok(list(&format!("size_t {}(", emit.workspace_name()), params, ")"))
}

fn workspace_function(
    emit: &Emit<'_>,
    cx: &Context<'_>,
    w: &Workspace,
    out: &mut Out,
) -> Result<()> {
    let printer = Printer::new(cx, emit.launcher, Target::Host);
    out.doc(&cat([workspace_head(emit, &printer)?, text(" {")]));
    out.depth += 1;
    let bytes = printer.implicit(&w.bytes)?.doc;
    out.doc(&cat([text("return "), bytes.align(), text(";")]));
    out.depth -= 1;
    out.line("}");
    Ok(())
}

/// `NAME.h`: the declarations, and what a caller must know.
///
/// # Errors
/// When something has no spelling in CUDA C++, see [`EmitError`].
pub fn header_file(emit: &Emit<'_>) -> Result<String> {
    emit.check()?;
    let names = emit.names();
    let mut module = emit.module.clone();
    // Its caller declares them without the alignment that kernels profit from. Those inside others come first.
    for k in 0..module.structs.len() {
        let types: Vec<Type> = module.structs[k].fields.iter().map(|f| f.ty.clone()).collect();
        let natural = warpsmith_ir::layout::lay_out(&module, &types, 1).1;
        if natural.size == module.structs[k].size {
            module.structs[k].align = natural.align;
        }
    }
    let mut cx = Context::new(&module, &names);
    cx.shared = emit.shared_structs();
    let cx = cx;
    let mut out = Out::default();
    heading(emit, &format!("{}.h", emit.name), &mut out);
    let guard = format!("{}_H", identifier(&emit.name).to_uppercase());
    out.line(&format!("#ifndef {guard}"));
    out.line(&format!("#define {guard}"));
    out.line("");
    let (printer, head) = launcher_head(emit, &cx)?;
    host_entry::declare_for_c(emit, &cx, &mut out)?;
    if emit.workspace.is_some() {
        out.line("#include <stddef.h>");
        out.line("");
    }
    printer.function.params.iter().for_each(|id| cx.include_type(&printer.function.var(*id).ty));
    let mut definitions = Out::default();
    file::structs(&cx, &cx.shared, &mut definitions)?;
    let mut includes = cx.needs.borrow().includes.clone();
    includes.insert("cuda_runtime_api.h");
    includes.iter().for_each(|h| out.line(&format!("#include <{h}>")));
    if emit.workspace.is_some() {
        out.line("");
        out.comment(&format!(
            "Bytes of device memory that {} needs as its workspace.",
            emit.launch_name()
        ));
        out.doc(&cat([workspace_head(emit, &printer)?, text(";")]));
    }
    if !cx.shared.is_empty() {
        out.line("");
        out.comment(
            "Where your code declares one of these structures already, define its macro before this header.",
        );
        out.text.push_str(definitions.text.trim_start_matches('\n'));
    }
    out.line("");
    contract(emit, &printer, &mut out)?;
    out.doc(&cat([head, text(";")]));
    host_entry::declare(emit, &cx, &mut out)?;
    out.line("");
    out.line("#endif");
    Ok(file::finish(out))
}

/// What stands above the declaration.
fn contract(emit: &Emit<'_>, printer: &Printer<'_>, out: &mut Out) -> Result<()> {
    let mut waits = false;
    warpsmith_ir::visit::for_each_stmt(&printer.function.body, &mut |s| {
        waits |= matches!(s.kind, StmtKind::Runtime(Runtime::Synchronize));
    });
    let runs = match waits {
        true => {
            "Runs on the stream, which it synchronises where values of the device decide how it goes on;"
        }
        false => "Runs asynchronously on the stream and",
    };
    out.comment(&format!(
        "{runs} allocates nothing. Every size from 0 up is right. Array parameters must not overlap. Returns the first \
         error of a launch, else cudaSuccess."
    ));
    out.comment("");
    let mut rows = vec![];
    for &id in &printer.function.params {
        if let Some(v) = printer.var(id) {
            rows.push((printer.name(id).to_string(), meaning(emit, printer, id, v)?));
        }
    }
    rows.push((printer.stream.clone().unwrap_or_default(), "the stream the work is put on".into()));
    let width = rows.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
    rows.iter().for_each(|(name, what)| out.hanging(&format!("  {name:width$}  "), what));
    Ok(())
}

fn meaning(emit: &Emit<'_>, printer: &Printer<'_>, id: VarId, v: &Var) -> Result<String> {
    if emit.workspace.as_ref().is_some_and(|w| w.param == id) {
        return Ok(format!("device memory, at least {} bytes", emit.workspace_name()));
    }
    if emit.result == Some(id) {
        return Ok("device memory that receives the returned value".into());
    }
    let spelled = printer.spelled.get(&id);
    let name = |ty: &Type| match spelled {
        Some(name) => Ok((*name).to_string()),
        None => types::spell(ty, printer.cx.names),
    };
    let Type::Pointer { pointee, readonly, .. } = &v.ty else { return name(&v.ty) };
    let element = name(pointee)?;
    // The type says less: C programs often leave `const` out.
    let moved = emit.host.as_ref().and_then(|h| h.arrays.iter().find(|a| a.array == id));
    let role = if moved.map_or(!*readonly, |m| m.to_host) { "written" } else { "read" };
    let mut shape = vec![];
    for e in v.shape.iter().flatten() {
        shape.push(layout(&printer.expr(e)?.doc, 0, 0));
    }
    let extent = match shape.as_slice() {
        [] => String::new(),
        shape => format!(" [{}]", shape.join("][")),
    };
    Ok(format!("device array, {role}: {element}{extent}"))
}
