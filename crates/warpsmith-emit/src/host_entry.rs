//! `NAME_host`: the C function by its own parameters, for programs that know nothing of devices.
//!
//! It allocates, copies, launches, copies back and frees. What it prints is parsed again and run by the verification,
//! like the launcher.

use warpsmith_ir::{Scalar, Type, Var, VarId};

use crate::context::{Context, Printer, Target};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::Result;
use crate::expr::prec;
use crate::launcher::Emit;
use crate::names::identifier;
use crate::types::{self, Qualifiers};

/// What [`crate::cuda_file`] needs to know of the C function beside its launcher.
#[derive(Clone, Debug)]
pub struct HostEntry {
    /// What it returns: `void` or a scalar.
    pub ret: Type,
    /// The launcher's array parameters that are the C function's.
    pub arrays: Vec<Moved>,
}

/// An array with the copies it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    pub array: VarId,
    pub to_device: bool,
    pub to_host: bool,
}

const TO_DEVICE: &str = "array_on_device";
const TO_HOST: &str = "array_to_host";

fn host_name(emit: &Emit<'_>) -> String {
    format!("{}_host", identifier(&emit.name))
}

/// Names of the file that it takes.
pub(crate) fn names(emit: &Emit<'_>) -> [String; 3] {
    [host_name(emit), TO_DEVICE.into(), TO_HOST.into()]
}

/// Two functions that all arrays share.
const SUPPORT: &str = "\
// Device memory for an array of the host, with its contents where they are read; the first error
// stays in `status`.
static void *array_on_device(const void *host, size_t bytes, bool read, cudaError_t *status) {
    void *device = nullptr;
    if (*status == cudaSuccess && bytes > 0) *status = cudaMalloc(&device, bytes);
    if (*status == cudaSuccess && bytes > 0 && read) {
        *status = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    }
    return device;
}
";

const BACK: &str = "\
// What the device has written, where nothing failed before.
static void array_to_host(void *host, const void *device, size_t bytes, cudaError_t *status) {
    if (*status == cudaSuccess && bytes > 0) {
        *status = cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    }
}
";

/// A printer that knows which names the user's code has for types.
fn printer_of<'a>(emit: &Emit<'_>, cx: &'a Context<'a>) -> Printer<'a> {
    let mut printer = Printer::new(cx, emit.launcher, Target::Host);
    for (id, spelled) in printer.function.params.iter().zip(&emit.spellings) {
        printer.spelled.extend(spelled.map(|spelled| (*id, spelled)));
    }
    printer
}

/// One function of the host in the making.
struct Entry<'a> {
    emit: &'a Emit<'a>,
    host: &'a HostEntry,
    printer: Printer<'a>,
    status: String,
    /// The value that it returns.
    returned: String,
}

/// An array of the device while the function is written.
struct OnDevice {
    name: String,
    bytes: String,
}

/// Prints the function, where it is wanted.
pub(crate) fn define(emit: &Emit<'_>, cx: &Context<'_>, out: &mut Out) -> Result<()> {
    let Some(host) = &emit.host else { return Ok(()) };
    for header in ["stdio.h", "stdlib.h"] {
        cx.include(header);
    }
    out.gap();
    out.text.push_str(SUPPORT);
    let returns = host.ret != Type::Void;
    if returns || host.arrays.iter().any(|a| a.to_host) {
        out.gap();
        out.text.push_str(BACK);
    }
    let printer = printer_of(emit, cx);
    let status = printer.fresh("status");
    let returned = printer.fresh("returned");
    let entry = Entry { emit, host, printer, status, returned };
    out.gap();
    entry.print(out)
}

impl Entry<'_> {
    fn print(&self, out: &mut Out) -> Result<()> {
        out.comment(&format!(
            "As {} in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.",
            self.emit.name
        ));
        out.doc(&cat([head(self.emit, self.host, &self.printer)?, text(" {")]));
        out.depth += 1;
        let mut arrays = vec![];
        let mut lines = vec![];
        for (id, var) in self.arrays() {
            arrays.push((id, self.sizes(id, var, out)?));
        }
        let status = &self.status;
        let workspace = self.workspace(out);
        out.line(&format!("cudaError_t {status} = cudaSuccess;"));
        for (id, on) in &arrays {
            let moved = self.moved(*id);
            let name = self.printer.name(*id);
            let Some(var) = self.printer.var(*id) else { continue };
            let q = qualifiers(&self.printer, *id);
            let ty = types::declare(&var.ty, "", q, self.printer.cx.names)?;
            let own = types::declare(&var.ty, &on.name, q, self.printer.cx.names)?;
            let args = [name, &on.bytes, if moved.to_device { "true" } else { "false" }];
            let glue = if ty.ends_with('*') { "" } else { " " };
            let call = format!("({ty}){glue}{TO_DEVICE}(");
            out.doc(&crate::stmt::assignment(
                text(own),
                "=",
                list(
                    &call,
                    [&args[..], &[&format!("&{status}")]].concat().into_iter().map(text).collect(),
                    ")",
                ),
            ));
            if moved.to_host {
                let args = [name, &on.name, &on.bytes, &format!("&{status}")];
                lines.push(list(
                    &format!("{TO_HOST}("),
                    args.into_iter().map(text).collect(),
                    ");",
                ));
            }
            lines.push(text(format!("cudaFree({});", freed(&var.ty, &on.name))));
        }
        let result = self.result(out, &mut lines)?;
        if let Some((name, bytes)) = &workspace {
            out.line(&format!("void *{name} = {TO_DEVICE}(nullptr, {bytes}, false, &{status});"));
            lines.push(text(format!("cudaFree({name});")));
        }
        let launch =
            self.launch(&arrays, result.as_deref(), workspace.as_ref().map(|w| w.0.as_str()));
        out.line(&format!("if ({status} == cudaSuccess) {{"));
        out.depth += 1;
        out.doc(&crate::stmt::assignment(text(status), "=", launch));
        out.depth -= 1;
        out.line("}");
        lines.iter().for_each(|l| out.doc(l));
        self.report(out);
        if result.is_some() {
            out.line(&format!("return {};", self.returned));
        }
        out.depth -= 1;
        out.line("}");
        Ok(())
    }

    /// The C function's arrays.
    fn arrays(&self) -> impl Iterator<Item = (VarId, &Var)> {
        let ids = self.host.arrays.iter().map(|a| a.array);
        ids.filter_map(|id| Some((id, self.printer.var(id)?)))
    }

    fn moved(&self, array: VarId) -> Moved {
        let found = self.host.arrays.iter().find(|a| a.array == array).copied();
        found.unwrap_or(Moved { array, to_device: true, to_host: true })
    }

    /// `const size_t A_bytes = sizeof(float) * n * m;`
    fn sizes(&self, id: VarId, var: &Var, out: &mut Out) -> Result<OnDevice> {
        let name = self.printer.name(id);
        let bytes = self.printer.fresh(&format!("{name}_bytes"));
        let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
        let mut product =
            vec![text(format!("sizeof({})", types::spell(&element, self.printer.cx.names)?))];
        for extent in var.shape.iter().flatten() {
            if extent.as_const().is_some_and(|v| v.as_i64() == 1) {
                continue;
            }
            product.push(text(" * "));
            product.push(self.printer.expr(extent)?.at_least(prec::UNARY));
        }
        out.doc(&cat([text(format!("const size_t {bytes} = ")), cat(product).align(), text(";")]));
        Ok(OnDevice { name: self.printer.fresh(&format!("{name}_device")), bytes })
    }

    /// The workspace: names of the pointer and of its size.
    fn workspace(&self, out: &mut Out) -> Option<(String, String)> {
        let w = self.emit.workspace.as_ref()?;
        let name = self.printer.name(w.param).to_string();
        let bytes = self.printer.fresh(&format!("{name}_bytes"));
        let params = self.printer.function.params.iter();
        let scalars =
            params.filter(|p| self.printer.var(**p).is_some_and(|v| v.ty.scalar().is_some()));
        let args = scalars.map(|p| text(self.printer.name(*p))).collect();
        let call = list(&format!("{}(", self.emit.workspace_name()), args, ")");
        out.doc(&cat([text(format!("const size_t {bytes} = ")), call, text(";")]));
        Some((name, bytes))
    }

    /// The returned value, on both sides; the name of the device's.
    fn result(&self, out: &mut Out, lines: &mut Vec<Doc>) -> Result<Option<String>> {
        let Some(param) = self.emit.result else { return Ok(None) };
        let ty = types::spell(&self.host.ret, self.printer.cx.names)?;
        let (value, device, status) = (&self.returned, self.printer.name(param), &self.status);
        out.line(&format!("{ty} {value} = 0;"));
        let args = ["nullptr", &format!("sizeof({ty})"), "false", &format!("&{status}")].map(text);
        let call = list(&format!("({ty} *){TO_DEVICE}("), args.into(), ")");
        out.doc(&crate::stmt::assignment(text(format!("{ty} *{device}")), "=", call));
        let args =
            [format!("&{value}"), device.into(), format!("sizeof({ty})"), format!("&{status}")];
        lines.push(list(&format!("{TO_HOST}("), args.map(text).into(), ");"));
        lines.push(text(format!("cudaFree({device});")));
        Ok(Some(device.to_string()))
    }

    fn launch(
        &self,
        arrays: &[(VarId, OnDevice)],
        result: Option<&str>,
        workspace: Option<&str>,
    ) -> Doc {
        let mut args = vec![];
        for id in &self.printer.function.params {
            let on = arrays.iter().find(|(a, _)| a == id).map(|(_, on)| on.name.as_str());
            let given = match () {
                () if self.emit.result == Some(*id) => result,
                () if self.emit.workspace.as_ref().is_some_and(|w| w.param == *id) => workspace,
                () => on,
            };
            args.push(text(given.unwrap_or(self.printer.name(*id))));
        }
        args.push(text("0"));
        list(&format!("{}(", self.emit.launch_name()), args, ")")
    }

    fn report(&self, out: &mut Out) {
        let (name, status) = (host_name(self.emit), &self.status);
        out.line(&format!("if ({status} != cudaSuccess) {{"));
        out.depth += 1;
        out.comment("The C function cannot fail, so that its callers do not ask.");
        out.line(&format!("fprintf(stderr, \"{name}: %s\\n\", cudaGetErrorString({status}));"));
        out.line("exit(EXIT_FAILURE);");
        out.depth -= 1;
        out.line("}");
    }
}

/// A parameter's type by the name that the user's code has for it.
fn qualifiers(printer: &Printer<'_>, id: VarId) -> Qualifiers {
    Qualifiers { spelled: printer.spelled.get(&id).copied(), ..Qualifiers::default() }
}

/// `cudaFree` takes no pointer to const.
fn freed(ty: &Type, name: &str) -> String {
    match ty {
        Type::Pointer { readonly: true, .. } => format!("(void *){name}"),
        _ => name.to_string(),
    }
}

/// The C function's parameters: the launcher's without what was added to them.
fn params<'p>(
    emit: &'p Emit<'_>,
    printer: &'p Printer<'_>,
) -> impl Iterator<Item = (VarId, &'p Var)> {
    let added = move |id: &VarId| {
        emit.result == Some(*id) || emit.workspace.as_ref().is_some_and(|w| w.param == *id)
    };
    let ids = printer.function.params.iter().filter(move |id| !added(id));
    ids.filter_map(|id| Some((*id, printer.var(*id)?)))
}

fn head(emit: &Emit<'_>, host: &HostEntry, printer: &Printer<'_>) -> Result<Doc> {
    let mut docs = vec![];
    for (id, var) in params(emit, printer) {
        let declared =
            types::declare(&var.ty, printer.name(id), qualifiers(printer, id), printer.cx.names)?;
        docs.push(text(declared));
    }
    let ret = types::spell(&host.ret, printer.cx.names)?;
    Ok(list(&format!("extern \"C\" {ret} {}(", host_name(emit)), docs, ")"))
}

/// Its declaration in C++.
pub(crate) fn declare(emit: &Emit<'_>, cx: &Context<'_>, out: &mut Out) -> Result<()> {
    let Some(host) = &emit.host else { return Ok(()) };
    let printer = printer_of(emit, cx);
    out.line("");
    out.comment(&format!(
        "As {} in C, with arrays of the host: allocates, copies, launches, waits and copies back. When a call of the \
         CUDA runtime fails, it prints the first error and ends the program.",
        emit.name
    ));
    out.doc(&cat([head(emit, host, &printer)?, text(";")]));
    out.line("");
    out.line("#endif");
    Ok(())
}

/// Its declaration in C, before what only C++ can read, and how a C program comes to call it.
pub(crate) fn declare_for_c(emit: &Emit<'_>, cx: &Context<'_>, out: &mut Out) -> Result<()> {
    let Some(host) = &emit.host else { return Ok(()) };
    let printer = printer_of(emit, cx);
    let (c_name, name) = (&emit.name, host_name(emit));
    out.comment(&format!(
        "A program in C runs on the GPU without a change to its text: compile this file by nvcc -c {c_name}.cu, the \
         files that call {c_name} with -D{c_name}={name}, and link with -lcudart -lstdc++. Where {c_name} stands in \
         the same file as its callers, write #include \"{c_name}.h\" and #define {c_name} {name} below it."
    ));
    out.line("#ifndef __cplusplus");
    out.line("");
    let mut docs = vec![];
    for (id, var) in params(emit, &printer) {
        docs.push(text(c_parameter(&var.ty, printer.name(id))));
    }
    if docs.is_empty() {
        docs.push(text("void"));
    }
    out.comment("Arrays of any shape; see below for their elements.");
    let ret = host.ret.scalar().map_or("void", c_scalar);
    out.doc(&list(&format!("{ret} {name}("), docs, ");"));
    out.line("");
    out.line("#else");
    out.line("");
    Ok(())
}

/// `void *` takes an array of any shape without a cast, `float A[n][m]` as well as `float *`.
fn c_parameter(ty: &Type, name: &str) -> String {
    match ty {
        Type::Pointer { readonly: true, .. } => format!("const void *{name}"),
        Type::Pointer { .. } => format!("void *{name}"),
        _ => format!("{} {name}", ty.scalar().map_or("int", c_scalar)),
    }
}

fn c_scalar(s: Scalar) -> &'static str {
    match s {
        Scalar::Bool => "_Bool",
        Scalar::I8 => "signed char",
        other => types::scalar(other),
    }
}
