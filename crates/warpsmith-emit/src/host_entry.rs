//! `NAME_host`: the C function by its own parameters, for programs that know nothing of devices.
//!
//! It allocates, copies, launches, copies back and frees. What it prints is parsed again and run by the verification,
//! like the launcher.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, MathFn, Scalar, Type, Var, VarId};

use crate::context::{Context, Printer, Target};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::Result;
use crate::expr::prec;
use crate::launcher::Emit;
use crate::names::{identifier, in_cpp};
use crate::types::{self, Qualifiers};

/// What [`crate::cuda_file`] needs to know of the C function beside its launcher.
#[derive(Clone, Debug)]
pub struct HostEntry {
    /// What it returns: `void` or a scalar.
    pub ret: Type,
    /// The launcher's array parameters that are the C function's.
    pub arrays: Vec<Moved>,
    /// Structures of the C function in the place of which the launcher has their fields; in order.
    pub records: Vec<Packed>,
}

/// A parameter of the C function that is a structure or points to one, for the fields that are parameters of the launcher.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The parameter's name.
    pub name: String,
    /// The structure in C's words.
    pub c_type: String,
    /// The C function takes its address.
    pub by_address: bool,
    /// The C function only reads it.
    pub readonly: bool,
    /// Number of the first of the launcher's parameters that stand for it.
    pub at: usize,
    /// How each of these is written behind the structure's name, `->x`, and whether the field is given by its address.
    pub fields: Vec<(String, bool)>,
    /// `struct {…}` in C++, of the same layout.
    pub definition: String,
}

/// An array with the copies it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The launcher's parameter.
    pub array: VarId,
    /// Copied to the device before the launches.
    pub to_device: bool,
    /// Copied back to the host after the launches.
    pub to_host: bool,
}

const ON_DEVICE: &str = "on_device";
const EXTENT: &str = "extent";
const TO_DEVICE: &str = "array_on_device";
const TO_HOST: &str = "array_to_host";

fn host_name(emit: &Emit<'_>) -> String {
    format!("{}_host", identifier(&emit.name))
}

/// The function that does the work: for structures, one behind that which takes them apart.
fn working_name(emit: &Emit<'_>, host: &HostEntry) -> String {
    match host.records.is_empty() {
        true => host_name(emit),
        false => format!("{}_host_fields", identifier(&emit.name)),
    }
}

/// Names of the file that it takes.
pub(crate) fn names(emit: &Emit<'_>) -> Vec<String> {
    let working = emit.host.iter().map(|host| working_name(emit, host));
    let shared = [ON_DEVICE, EXTENT, TO_DEVICE, TO_HOST].map(String::from);
    let layouts = emit.host.iter().flat_map(|h| &h.records).map(layout_name);
    working.chain([host_name(emit)]).chain(shared).chain(layouts).collect()
}

/// Functions that all arrays share.
const SUPPORT: &str = "\
// Device memory; the first error stays in `status`.
static void *on_device(size_t bytes, cudaError_t *status) {
    void *device = nullptr;
    if (*status == cudaSuccess && bytes > 0) *status = cudaMalloc(&device, bytes);
    return device;
}

// Device memory for an array of the host, with its contents where they are read. A pointer that is
// null stays so, and no other becomes null.
static void *array_on_device(const void *host, size_t bytes, bool read, cudaError_t *status) {
    if (host == nullptr) return nullptr;
    void *device = on_device(bytes > 0 ? bytes : 1, status);
    if (*status == cudaSuccess && bytes > 0 && read) {
        *status = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    }
    return device;
}
";

const SIZE: &str = "\
// As many elements as a size says: none where it is negative.
static size_t extent(long long size) {
    return size > 0 ? size : 0;
}
";

const BACK: &str = "\
// What the device has written, where nothing failed before.
static void array_to_host(void *host, const void *device, size_t bytes, cudaError_t *status) {
    if (*status == cudaSuccess && device != nullptr) {
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
    let printer = printer_of(emit, cx);
    out.gap();
    out.text.push_str(SUPPORT);
    let arrays = || host.arrays.iter().filter_map(|a| printer.var(a.array));
    if arrays().flat_map(|a| a.shape.iter().flatten()).any(may_be_negative) {
        out.gap();
        out.text.push_str(SIZE);
    }
    let returns = host.ret != Type::Void;
    if returns || host.arrays.iter().any(|a| a.to_host) {
        out.gap();
        out.text.push_str(BACK);
    }
    let status = printer.fresh("status");
    let returned = printer.fresh("returned");
    let entry = Entry { emit, host, printer, status, returned };
    out.gap();
    entry.print(out)?;
    if !host.records.is_empty() {
        out.gap();
        unpack(emit, host, &printer_of(emit, cx), out)?;
    }
    Ok(())
}

fn layout_name(record: &Packed) -> String {
    format!("layout_of_{}", in_cpp(&record.name))
}

/// Defines a structure of C once more, with every field.
fn define_layout(record: &Packed, printer: &Printer<'_>, out: &mut Out) {
    out.comment(&match record.c_type.starts_with("__typeof__") {
        true => format!("What {} leads to, as C lays it out.", in_cpp(&record.name)),
        false => format!("{}, as C lays it out.", record.c_type),
    });
    if record.definition.contains("_t ") {
        printer.cx.include("stdint.h");
    }
    let definition = in_cpp(&record.definition);
    let (first, rest) = definition.split_once('\n').unwrap_or((&definition, ""));
    out.line(&first.replacen("struct", &format!("struct {}", layout_name(record)), 1));
    rest.lines().for_each(|l| out.line(&if l == "}" { format!("{l};") } else { l.into() }));
}

/// Prints the function that takes structures apart.
fn unpack(emit: &Emit<'_>, host: &HostEntry, printer: &Printer<'_>, out: &mut Out) -> Result<()> {
    for record in host.records.iter().filter(|r| !r.by_address) {
        define_layout(record, printer, out);
        out.gap();
    }
    out.comment(&format!("As {} in C.", emit.name));
    out.doc(&cat([head(emit, host, printer)?, text(" {")]));
    out.depth += 1;
    let ids: Vec<VarId> = params(emit, printer).map(|(id, _)| id).collect();
    for record in &host.records {
        let (name, layout) = (in_cpp(&record.name), layout_name(record));
        let mut fields = name.clone();
        if record.by_address {
            define_layout(record, printer, out);
            fields = printer.fresh(&format!("{name}_fields"));
            let constant = if record.readonly { "const " } else { "" };
            out.line(&format!("{constant}{layout} *{fields} = ({constant}{layout} *){name};"));
        }
        for (id, (path, by_address)) in ids.iter().skip(record.at).zip(&record.fields) {
            let Some(var) = printer.var(*id) else { continue };
            let q = qualifiers(printer, *id);
            let declared = types::declare(&var.ty, printer.name(*id), q, printer.cx.names)?;
            let ty = types::declare(&var.ty, "", q, printer.cx.names)?;
            let address = if *by_address { "&" } else { "" };
            let cast = if var.ty.is_pointer() { format!("({ty})") } else { String::new() };
            let path = in_cpp(path);
            out.line(&format!("{declared} = {cast}{address}{fields}{path};"));
        }
    }
    let args = ids.iter().map(|id| text(printer.name(*id))).collect();
    let call = list(&format!("{}(", working_name(emit, host)), args, ");");
    out.doc(&match host.ret {
        Type::Void => call,
        _ => cat([text("return "), call]),
    });
    out.depth -= 1;
    out.line("}");
    Ok(())
}

impl Entry<'_> {
    fn print(&self, out: &mut Out) -> Result<()> {
        let fields = if self.host.records.is_empty() { "" } else { " with fields for structures" };
        out.comment(&format!(
            "As {} in C{fields}, on arrays of the host: allocates, copies, launches, waits, copies back and frees.",
            self.emit.name
        ));
        let head = match self.host.records.is_empty() {
            true => head(self.emit, self.host, &self.printer)?,
            false => head_of_fields(self.emit, self.host, &self.printer)?,
        };
        out.doc(&cat([head, text(" {")]));
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
            lines.extend(self.array(*id, on, out)?);
        }
        let result = self.result(out, &mut lines)?;
        if let Some((name, bytes)) = &workspace {
            out.line(&format!("void *{name} = {ON_DEVICE}({bytes}, &{status});"));
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

    /// Brings an array to the device; what brings it back and frees it.
    fn array(&self, id: VarId, on: &OnDevice, out: &mut Out) -> Result<Vec<Doc>> {
        let (status, moved) = (&self.status, self.moved(id));
        let name = self.printer.name(id);
        let Some(var) = self.printer.var(id) else { return Ok(vec![]) };
        let q = qualifiers(&self.printer, id);
        let ty = types::declare(&var.ty, "", q, self.printer.cx.names)?;
        let own = types::declare(&var.ty, &on.name, q, self.printer.cx.names)?;
        let at_status = format!("&{status}");
        let args = [name, &on.bytes, if moved.to_device { "true" } else { "false" }, &at_status];
        let glue = if ty.ends_with('*') { "" } else { " " };
        let call = format!("({ty}){glue}{TO_DEVICE}(");
        let value = list(&call, args.into_iter().map(text).collect(), ")");
        out.doc(&crate::stmt::assignment(text(own), "=", value));
        let mut after = vec![];
        if moved.to_host {
            let args = [name, &on.name, &on.bytes, &at_status].map(text);
            after.push(list(&format!("{TO_HOST}("), args.into(), ");"));
        }
        after.push(text(format!("cudaFree({});", freed(&var.ty, &on.name))));
        Ok(after)
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
            product.push(match may_be_negative(extent) {
                true => {
                    list(&format!("{EXTENT}("), vec![self.printer.expr(&wide(extent))?.doc], ")")
                }
                false => self.printer.expr(extent)?.at_least(prec::UNARY),
            });
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
        let args = [format!("sizeof({ty})"), format!("&{status}")].map(text);
        let call = list(&format!("({ty} *){ON_DEVICE}("), args.into(), ")");
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

/// Whether nothing shows that a size is 0 or more.
fn may_be_negative(extent: &Expr) -> bool {
    let kept = |e: &Expr| e.as_const().is_some_and(|v| v.as_i64() >= 0);
    match &*extent.kind {
        ExprKind::Const(_) => !kept(extent),
        ExprKind::Call(MathFn::Max, args) => !args.iter().any(kept),
        _ => extent.ty.scalar().is_none_or(Scalar::is_signed),
    }
}

/// Products in 64 bits: what the subscripts of the C function stay below may have been computed there.
fn wide(extent: &Expr) -> Expr {
    let ExprKind::Binary(op, a, b) = &*extent.kind else { return extent.clone() };
    if extent.ty != Type::I32 || !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) {
        return extent.clone();
    }
    let (mut a, mut b) = (wide(a), wide(b));
    if *op == BinaryOp::Mul || a.ty != Type::I32 || b.ty != Type::I32 {
        [&mut a, &mut b].into_iter().for_each(|e| *e = e.clone().cast(Type::I64));
    }
    let ty = a.ty.clone();
    Expr::new(ExprKind::Binary(*op, a, b), ty, extent.origin.clone())
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
    let ret = types::spell(&host.ret, printer.cx.names)?;
    let declared = of_c(emit, host, printer, |given| match given {
        Given::Structure(record) => Ok(opaque(record)),
        Given::Own(id, var) => {
            types::declare(&var.ty, printer.name(id), qualifiers(printer, id), printer.cx.names)
        }
    });
    let docs = declared.into_iter().map(|d| d.map(text)).collect::<Result<_>>()?;
    Ok(list(&format!("extern \"C\" {ret} {}(", host_name(emit)), docs, ")"))
}

fn head_of_fields(emit: &Emit<'_>, host: &HostEntry, printer: &Printer<'_>) -> Result<Doc> {
    let ret = types::spell(&host.ret, printer.cx.names)?;
    let docs = params(emit, printer).map(|(id, var)| {
        let q = qualifiers(printer, id);
        types::declare(&var.ty, printer.name(id), q, printer.cx.names).map(text)
    });
    let docs = docs.collect::<Result<_>>()?;
    Ok(list(&format!("static {ret} {}(", working_name(emit, host)), docs, ")"))
}

/// A parameter of the C function.
enum Given<'p> {
    Own(VarId, &'p Var),
    Structure(&'p Packed),
}

/// To a pointer, any converts, in C and in C++.
fn opaque(record: &Packed) -> String {
    let name = in_cpp(&record.name);
    match record.by_address {
        true => format!("{}void *{name}", if record.readonly { "const " } else { "" }),
        false => format!("{} {name}", layout_name(record)),
    }
}

/// Whether a structure is passed by value, of which the header has no type.
fn takes_structures(emit: &Emit<'_>, host: &HostEntry, printer: &Printer<'_>) -> bool {
    let values = of_c(emit, host, printer, |given| match given {
        Given::Structure(record) => !record.by_address,
        Given::Own(_, var) => var.ty.is_aggregate(),
    });
    values.contains(&true)
}

/// What `f` says of each parameter of the C function.
fn of_c<'p, T>(
    emit: &'p Emit<'_>,
    host: &'p HostEntry,
    printer: &'p Printer<'_>,
    f: impl Fn(Given<'p>) -> T,
) -> Vec<T> {
    let own: Vec<(VarId, &Var)> = params(emit, printer).collect();
    let mut said = vec![];
    let mut at = 0;
    for record in &host.records {
        said.extend(own[at..record.at].iter().map(|(id, var)| f(Given::Own(*id, var))));
        said.push(f(Given::Structure(record)));
        at = record.at + record.fields.len();
    }
    said.extend(own[at..].iter().map(|(id, var)| f(Given::Own(*id, var))));
    said
}

/// Its declaration in C++.
pub(crate) fn declare(emit: &Emit<'_>, cx: &Context<'_>, out: &mut Out) -> Result<()> {
    let Some(host) = &emit.host else { return Ok(()) };
    let printer = printer_of(emit, cx);
    out.line("");
    if !takes_structures(emit, host, &printer) {
        out.comment(&format!(
            "As {} in C, with arrays of the host: allocates, copies, launches, waits and copies back. When a call of \
             the CUDA runtime fails, it prints the first error and ends the program.",
            emit.name
        ));
        out.doc(&cat([head(emit, host, &printer)?, text(";")]));
        out.line("");
    }
    out.line("#endif");
    Ok(())
}

/// Its declaration in C, before what only C++ can read, and how a C program comes to call it.
pub(crate) fn declare_for_c(emit: &Emit<'_>, cx: &Context<'_>, out: &mut Out) -> Result<()> {
    let Some(host) = &emit.host else { return Ok(()) };
    let printer = printer_of(emit, cx);
    let (c_name, name) = (&emit.name, host_name(emit));
    let by_value = takes_structures(emit, host, &printer);
    let in_one_file = match by_value {
        true => format!("{name} takes structures by value: what declares {c_name} declares it."),
        false => format!(
            "Where {c_name} stands in the same file as its callers, write #include \"{c_name}.h\" and #define {c_name} \
             {name} below it."
        ),
    };
    out.comment(&format!(
        "A program in C runs on the GPU without a change to its text: compile this file by nvcc -c {c_name}.cu, the \
         files that call {c_name} with -D{c_name}={name}, and link with -lcudart -lstdc++. {in_one_file}"
    ));
    out.line("#ifndef __cplusplus");
    out.line("");
    if by_value {
        out.line("#else");
        out.line("");
        return Ok(());
    }
    let mut docs = of_c(emit, host, &printer, |given| match given {
        Given::Structure(record) => text(opaque(record)),
        Given::Own(id, var) => text(c_parameter(&var.ty, printer.name(id))),
    });
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
        other => types::scalar(other),
    }
}
