//! Device memory and arguments of a launch, from what the user wrote.

use std::collections::HashMap;
use std::path::Path;

use warpsmith_emu::{Arg, Buffer, BufferId, DeviceMemory};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, FuncId, Module, Scalar, Span, Type, Value, Var};

use super::args::LaunchArgs;
use crate::data::{self, ArgSpec, Array, Element, Init, eval_extent};
use crate::status::Failure;

/// Buffers by name, so that the kernels of one `run` share them.
#[derive(Debug, Default)]
pub struct Buffers {
    pub memory: DeviceMemory,
    by_name: HashMap<String, BufferId>,
    /// Arrays without a size: their bounds are not checked, and the report says so.
    pub unbounded: Vec<String>,
}

/// What an argument list is made from.
pub struct ArgContext<'a> {
    pub module: &'a Module,
    pub kernel: FuncId,
    pub args: &'a LaunchArgs,
    pub span: Option<Span>,
    pub seed: u64,
    /// The value for scalars that are not given, from `--scalars`.
    pub scalar: Option<&'a str>,
    pub max_memory: u64,
}

impl Buffers {
    pub fn new(module: &Module) -> Buffers {
        Buffers { memory: DeviceMemory::new(module), ..Buffers::default() }
    }

    pub fn find(&self, name: &str) -> Option<&Buffer> {
        self.by_name.get(name).map(|id| &self.memory.buffers[id.0 as usize])
    }

    /// The arguments of one launch; makes the buffers that are not there yet.
    ///
    /// # Errors
    /// W306 for an argument that is missing, unknown or does not fit its parameter; W307 for buffers beyond the memory limit.
    pub fn arguments(&mut self, cx: &ArgContext<'_>) -> Result<Vec<Arg>, Failure> {
        let function = cx.module.function(cx.kernel);
        let names: Vec<&str> =
            function.params.iter().map(|p| function.var(*p).name.as_str()).collect();
        if let Some(unknown) = cx.args.args.iter().find(|a| !names.contains(&a.name.as_str())) {
            let message = format!("kernel `{}` has no parameter `{}`", function.name, unknown.name);
            return Err(cx
                .error(message)
                .help(format!("its parameters are {}", names.join(", ")))
                .into());
        }
        let scalars = scalar_arguments(cx)?;
        let mut args = vec![];
        for param in &function.params {
            let var = function.var(*param);
            args.push(match &var.ty {
                Type::Pointer { pointee, .. } => self.pointer(cx, var, pointee, &scalars)?,
                ty => Arg::Bytes(by_value(cx, var, ty)?),
            });
        }
        Ok(args)
    }

    fn pointer(
        &mut self,
        cx: &ArgContext<'_>,
        var: &Var,
        pointee: &Type,
        scalars: &HashMap<String, i128>,
    ) -> Result<Arg, Failure> {
        let spec = cx.args.spec(&var.name);
        if let Some(ArgSpec::Number(text)) = spec {
            if text == "0" {
                return Ok(Arg::Null);
            }
            let message = format!("`{}` is a pointer; `{text}` is no data for it", var.name);
            return Err(cx
                .error(message)
                .help(format!("write {}=float[256]=random", var.name))
                .into());
        }
        if let Some(id) = self.by_name.get(&var.name) {
            return Ok(Arg::Pointer { buffer: *id, offset: 0 });
        }
        let buffer = match spec {
            None => self.growing(var, pointee),
            Some(spec) => make_buffer(cx, var, spec, pointee, scalars)?,
        };
        let used: u64 = self.memory.buffers.iter().map(|b| b.bytes.len() as u64).sum();
        if used + buffer.bytes.len() as u64 > cx.max_memory {
            return Err(too_large(cx, &var.name));
        }
        self.memory.buffers.push(buffer);
        let id = BufferId(self.memory.buffers.len() as u32 - 1);
        self.by_name.insert(var.name.clone(), id);
        Ok(Arg::Pointer { buffer: id, offset: 0 })
    }

    fn growing(&mut self, var: &Var, pointee: &Type) -> Buffer {
        self.unbounded.push(var.name.clone());
        Buffer {
            name: var.name.clone(),
            element: Some(pointee.clone()),
            grows: true,
            ..Buffer::default()
        }
    }
}

impl ArgContext<'_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        let diagnostic = Diagnostic::error("W306", message);
        match self.span {
            Some(span) => diagnostic.label(span, "in this launch"),
            None => diagnostic,
        }
    }
}

fn too_large(cx: &ArgContext<'_>, name: &str) -> Failure {
    let diagnostic =
        Diagnostic::error("W307", format!("argument `{name}` does not fit the memory limit"))
            .note(format!("the limit is {} bytes for all buffers", cx.max_memory))
            .help("raise it with --max-memory, or launch at a smaller size");
    Failure::from(diagnostic).with_status(crate::status::Status::Limit)
}

/// Values of the integer arguments, for extents such as `float[n][n]`.
fn scalar_arguments(cx: &ArgContext<'_>) -> Result<HashMap<String, i128>, Failure> {
    let function = cx.module.function(cx.kernel);
    let mut values = HashMap::new();
    for param in &function.params {
        let var = function.var(*param);
        let Some(scalar) = var.ty.scalar().filter(|s| s.is_integer()) else { continue };
        let text = match (cx.args.spec(&var.name), cx.scalar) {
            (Some(ArgSpec::Number(text)), _) => text.as_str(),
            (None, Some(text)) => text,
            _ => continue,
        };
        let value = data::parse_scalar(text, scalar)
            .map_err(|why| cx.error(format!("argument `{}`: {why}", var.name)))?;
        let wide =
            if scalar == Scalar::U64 { i128::from(value.bits) } else { i128::from(value.as_i64()) };
        values.insert(var.name.clone(), wide);
    }
    Ok(values)
}

/// The bytes of a parameter passed by value.
fn by_value(cx: &ArgContext<'_>, var: &Var, ty: &Type) -> Result<Vec<u8>, Failure> {
    let spec = match (cx.args.spec(&var.name), cx.scalar) {
        (Some(spec), _) => spec.clone(),
        (None, Some(text)) if ty.scalar().is_some() => ArgSpec::Number(text.to_string()),
        _ => {
            let error = cx.error(format!("scalar argument `{}` has no value", var.name));
            return Err(error
                .help(format!("add --arg {}=256, or --scalars 1,255,256", var.name))
                .into());
        }
    };
    let mut bytes = vec![0u8; layout_of(cx.module, ty).size as usize];
    let slots = data::scalars_of(cx.module, ty, 0);
    let mut numbers = vec![];
    flatten(&spec, &mut numbers)
        .map_err(|why| cx.error(format!("argument `{}`: {why}", var.name)))?;
    if numbers.len() != slots.len() {
        let message =
            format!("argument `{}` has {} values, not {}", var.name, slots.len(), numbers.len());
        return Err(cx
            .error(message)
            .help("write the parts of a struct or vector as {1, 2.5, 3}")
            .into());
    }
    for ((offset, scalar), text) in slots.into_iter().zip(numbers) {
        let value: Value = data::parse_scalar(&text, scalar)
            .map_err(|why| cx.error(format!("argument `{}`: {why}", var.name)))?;
        let at = offset as usize;
        bytes[at..at + scalar.bytes() as usize].copy_from_slice(&data::scalar_bytes(value));
    }
    Ok(bytes)
}

fn flatten(spec: &ArgSpec, into: &mut Vec<String>) -> Result<(), String> {
    match spec {
        ArgSpec::Number(text) => into.push(text.clone()),
        ArgSpec::Parts(parts) => {
            for part in parts {
                flatten(part, into)?;
            }
        }
        ArgSpec::Array { .. } | ArgSpec::Init(_) => {
            return Err("it is passed by value; give a number".to_string());
        }
    }
    Ok(())
}

/// A buffer with its initial content.
fn make_buffer(
    cx: &ArgContext<'_>,
    var: &Var,
    spec: &ArgSpec,
    pointee: &Type,
    scalars: &HashMap<String, i128>,
) -> Result<Buffer, Failure> {
    let wrong =
        |why: String| -> Failure { cx.error(format!("argument `{}`: {why}", var.name)).into() };
    let (element, dims, init) = match spec {
        ArgSpec::Array { element, dims, init } => (Some(element), dims.as_slice(), init),
        ArgSpec::Init(init @ Init::File(_)) => (None, &[][..], init),
        ArgSpec::Init(init) => {
            return Err(wrong(format!("`{init}` needs a shape, for example float[256]={init}")));
        }
        ArgSpec::Number(_) | ArgSpec::Parts(_) => {
            return Err(wrong("it is an array; write float[256]=random".to_string()));
        }
    };
    let element = match element {
        Some(e) => resolve(cx.module, e).map_err(wrong)?,
        None => pointee.clone(),
    };
    if let Init::File(path) = init {
        let array = data::read_npy(Path::new(path)).map_err(wrong)?;
        return from_file(cx, var, array, dims, scalars, &element).map_err(wrong);
    }
    let mut shape = vec![];
    for dim in dims {
        shape.push(eval_extent(dim, scalars).map_err(wrong)?);
    }
    let size = layout_of(cx.module, &element).size;
    let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    let Some(count) = count.filter(|n| n.saturating_mul(size.max(1)) <= cx.max_memory) else {
        return Err(too_large(cx, &var.name));
    };
    let seed = cx.seed ^ data::name_hash(&var.name);
    let bytes = data::fill(cx.module, &element, count, init, seed);
    Ok(Buffer { name: var.name.clone(), element: Some(element), shape, bytes, ..Buffer::default() })
}

fn from_file(
    cx: &ArgContext<'_>,
    var: &Var,
    array: Array,
    dims: &[String],
    scalars: &HashMap<String, i128>,
    element: &Type,
) -> Result<Buffer, String> {
    let expected = data::scalars_of(cx.module, element, 0);
    if expected.iter().any(|(_, s)| *s != array.ty) {
        return Err(format!("the file holds {}, not the elements the kernel expects", array.ty));
    }
    let mut shape = vec![];
    for dim in dims {
        shape.push(eval_extent(dim, scalars)?);
    }
    if shape.is_empty() {
        let per = expected.len().max(1) as u64;
        let total: u64 = array.shape.iter().product();
        shape = if per == 1 { array.shape.clone() } else { vec![total / per] };
    }
    let size = layout_of(cx.module, element).size;
    let wanted = shape.iter().try_fold(size, |n, d| n.checked_mul(*d));
    if wanted != Some(array.bytes.len() as u64) {
        return Err(format!("the file has shape {:?}, which does not fit {shape:?}", array.shape));
    }
    let element = Some(element.clone());
    Ok(Buffer { name: var.name.clone(), element, shape, bytes: array.bytes, ..Buffer::default() })
}

fn resolve(module: &Module, element: &Element) -> Result<Type, String> {
    match element {
        Element::Type(ty) => Ok(ty.clone()),
        Element::Named(name) => {
            let at = module.structs.iter().position(|s| s.name == *name);
            at.map(|i| Type::Struct(warpsmith_ir::StructId(i as u32)))
                .ok_or_else(|| format!("`{name}` is not a type the kernel uses"))
        }
    }
}
