//! Device memory and arguments of a launch, from what the user wrote.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use warpsmith_emu::{Arg, Buffer, BufferId, DeviceMemory};
use warpsmith_front::sema::FunctionAddress;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, FuncId, Module, Scalar, Span, Type, Value, Var};

use super::args::LaunchArgs;
use super::variables::{self, Variables};
use super::{functions, invent};
use crate::data::{self, ArgSpec, Array, Element, Init, NamedSpec, eval_extent};
use crate::status::Failure;

/// Buffers by name, so that the kernels of one `run` share them.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Content and bounds of the buffers, and the module's variables.
    pub memory: DeviceMemory,
    by_name: HashMap<String, BufferId>,
    /// Variables of the device that an option has set.
    variables_set: HashSet<String>,
    /// Launches prepared so far.
    launches: usize,
    /// Arrays without a size: their bounds are not checked, and the report says so.
    pub unbounded: Vec<String>,
}

/// What an argument list is made from.
pub struct ArgContext<'a> {
    /// The module that has the kernel.
    pub module: &'a Module,
    /// The kernel whose parameters need arguments.
    pub kernel: FuncId,
    /// What the command line or the directive gives.
    pub args: &'a LaunchArgs,
    /// The directive, for messages; `None`: the command line.
    pub span: Option<Span>,
    /// Seed of random content for which no seed was written.
    pub seed: u64,
    /// What parameters without a specification get.
    pub tried: Tried<'a>,
    /// Most bytes of all buffers together: `--max-memory`.
    pub max_memory: u64,
    /// Variables of the device that options set.
    pub variables: &'a Variables,
    /// Functions that parameters may point to.
    pub functions: &'a [FunctionAddress],
}

/// What one repetition gives to parameters that nobody gives anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried<'a> {
    /// For scalars, from `--scalars`.
    pub scalar: Option<&'a str>,
    /// Which of the functions that pointers to functions may point to.
    pub function: usize,
}

impl Buffers {
    /// No buffers yet, and the variables of `module` as it declares them.
    pub fn new(module: &Module) -> Buffers {
        Buffers { memory: DeviceMemory::new(module), ..Buffers::default() }
    }

    /// The buffer of this name; `None`: no launch has had one so far.
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
        let mut seen = HashSet::new();
        if let Some(twice) = cx.args.args.iter().find(|a| !seen.insert(&a.name)) {
            let message = format!("argument `{}` is given twice", twice.name);
            return Err(cx.error(message).help("keep the one that is meant").into());
        }
        let declared = |name: &str| cx.variables.declared.iter().any(|d| d == name);
        let unknown = |a: &&NamedSpec| !names.contains(&base(&a.name)) && !declared(&a.name);
        if let Some(unknown) = cx.args.args.iter().find(unknown) {
            let error = variables::unknown(&function.name, &unknown.name, &names, cx.variables);
            return Err(cx.at_launch(error).into());
        }
        all_given(cx)?;
        let scalars = scalar_arguments(cx)?;
        self.set_variables(cx, &names, &scalars)?;
        let mut args = vec![];
        for param in &function.params {
            let var = function.var(*param);
            args.push(match &var.ty {
                Type::Pointer { pointee, .. } => self.pointer(cx, var, pointee, &scalars)?,
                Type::Struct(_) => Arg::Bytes(self.object(cx, var, &scalars)?),
                ty => Arg::Bytes(by_value(cx, var, ty)?),
            });
        }
        Ok(args)
    }

    /// The variables of the device as options give them, before the first launch; those that only host code sets hold
    /// nothing without it.
    fn set_variables(
        &mut self,
        cx: &ArgContext<'_>,
        parameters: &[&str],
        scalars: &HashMap<String, i128>,
    ) -> Result<(), Failure> {
        for (global, variable) in cx.module.globals.iter().zip(&mut self.memory.globals) {
            if !self.variables_set.insert(global.name.clone()) {
                continue;
            }
            let given = cx.args.spec(&global.name).filter(|_| !parameters.contains(&&*global.name));
            let Some(spec) = given else {
                self.variables_set.remove(&global.name);
                let host = cx.variables.set_by_host.contains(&global.name);
                if self.launches == 0 && host && global.init.is_none() {
                    variable.poison = vec![true; variable.bytes.len()];
                }
                continue;
            };
            variables::set(cx.module, &global.ty, variable, spec, scalars, cx.seed).map_err(
                |(why, help)| cx.error(format!("variable `{}`: {why}", global.name)).help(help),
            )?;
        }
        self.launches += 1;
        Ok(())
    }

    fn pointer(
        &mut self,
        cx: &ArgContext<'_>,
        var: &Var,
        pointee: &Type,
        scalars: &HashMap<String, i128>,
    ) -> Result<Arg, Failure> {
        self.pointer_named(cx, &var.name, pointee, scalars)
    }

    /// The buffer behind a pointer: a parameter, or a field of one (`a.data`).
    fn pointer_named(
        &mut self,
        cx: &ArgContext<'_>,
        name: &str,
        pointee: &Type,
        scalars: &HashMap<String, i128>,
    ) -> Result<Arg, Failure> {
        let spec = cx.args.spec(name);
        if let Some(ArgSpec::Number(text)) = spec {
            if text == "0" {
                return Ok(Arg::Null);
            }
            let message = format!("`{name}` is a pointer; `{text}` is no data for it");
            return Err(cx.error(message).help(format!("write {name}=float[256]=random")).into());
        }
        if let Some(id) = self.by_name.get(name) {
            return Ok(Arg::Pointer { buffer: *id, offset: 0 });
        }
        let buffer = match spec {
            None => self.growing(cx, name, pointee),
            Some(spec) => make_buffer(cx, name, spec, pointee, scalars)?,
        };
        let used: u64 = self.memory.buffers.iter().map(|b| b.bytes.len() as u64).sum();
        if used + buffer.bytes.len() as u64 > cx.max_memory {
            return Err(too_large(cx, name));
        }
        self.memory.buffers.push(buffer);
        let id = BufferId(self.memory.buffers.len() as u32 - 1);
        self.by_name.insert(name.to_string(), id);
        Ok(Arg::Pointer { buffer: id, offset: 0 })
    }

    /// The bytes of a struct: as a whole, `p={1, 2.5}`, or field by field, `p.n=1`. A pointer in it that is not
    /// given points to a buffer that grows, as for a parameter.
    fn object(
        &mut self,
        cx: &ArgContext<'_>,
        var: &Var,
        scalars: &HashMap<String, i128>,
    ) -> Result<Vec<u8>, Failure> {
        if let Some(number) = functions::argument(cx, var)? {
            return Ok(number.to_le_bytes().to_vec());
        }
        let fields = leaves(cx.module, &var.ty, &var.name, 0);
        let of_this = |a: &&NamedSpec| base(&a.name) == var.name && a.name != var.name;
        for given in cx.args.args.iter().filter(of_this) {
            let known = fields.iter().any(|f| f.name == given.name);
            if !known {
                let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                let error = cx.error(format!("there is no field `{}`", given.name));
                return Err(error.help(format!("its fields are {}", names.join(", "))).into());
            }
        }
        let by_field = cx.args.args.iter().any(|a| of_this(&a));
        let mut bytes = match cx.args.spec(&var.name) {
            None if by_field || fields.iter().all(|f| f.ty.is_pointer()) => {
                vec![0u8; layout_of(cx.module, &var.ty).size as usize]
            }
            _ => by_value(cx, var, &var.ty)?,
        };
        for field in &fields {
            let at = field.offset as usize;
            match (&field.ty, cx.args.spec(&field.name)) {
                (Type::Pointer { pointee, .. }, _) => {
                    let number = match self.pointer_named(cx, &field.name, pointee, scalars)? {
                        Arg::Pointer { buffer, offset } => {
                            warpsmith_emu::device_pointer(buffer, offset)
                        }
                        _ => 0,
                    };
                    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
                }
                (ty, Some(spec)) => {
                    let part = value_bytes(cx, &field.name, ty, spec)?;
                    bytes[at..at + part.len()].copy_from_slice(&part);
                }
                (_, None) if by_field && cx.args.spec(&var.name).is_none() => {
                    let error = cx.error(format!("field `{}` has no value", field.name));
                    return Err(error.help(format!("add --arg {}=1", field.name)).into());
                }
                _ => {}
            }
        }
        Ok(bytes)
    }

    fn growing(&mut self, cx: &ArgContext<'_>, name: &str, pointee: &Type) -> Buffer {
        self.unbounded.push(name.to_string());
        growing(cx.module, name, pointee, cx.seed)
    }
}

/// An array that a program's host code gives to a kernel without saying what it is: as `--arg` says, else one that grows.
///
/// # Errors
/// W306 when the option does not fit the parameter.
pub fn array_for(
    module: &Module,
    args: &LaunchArgs,
    name: &str,
    spec: Option<&ArgSpec>,
    pointee: &Type,
    seed: u64,
) -> Result<Buffer, Failure> {
    let Some(spec) = spec else { return Ok(growing(module, name, pointee, seed)) };
    let cx = ArgContext {
        module,
        kernel: FuncId(0),
        args,
        span: None,
        seed,
        tried: Tried::default(),
        max_memory: u64::MAX,
        variables: &Variables::default(),
        functions: &[],
    };
    make_buffer(&cx, name, spec, pointee, &HashMap::new())
}

/// An array without a size, with data that nobody gave.
fn growing(module: &Module, name: &str, pointee: &Type, seed: u64) -> Buffer {
    let (pattern, integers) = invent::pattern(module, pointee, seed ^ data::name_hash(name));
    Buffer {
        name: name.to_string(),
        element: Some(pointee.clone()),
        grows: true,
        invented: integers,
        pattern,
        ..Buffer::default()
    }
}

impl ArgContext<'_> {
    /// W306 at the launch that this is about.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.at_launch(Diagnostic::error("W306", message))
    }

    fn at_launch(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.span {
            Some(span) => diagnostic.label(span, "in this launch"),
            None => diagnostic,
        }
    }
}

/// The parameter that an argument names, itself or by a field.
fn base(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// A part of a struct that can be given a value: a number, a vector, an array, a pointer.
struct Leaf {
    /// `p.a.b`.
    name: String,
    offset: u64,
    ty: Type,
}

fn leaves(module: &Module, ty: &Type, name: &str, offset: u64) -> Vec<Leaf> {
    let Type::Struct(id) = ty else {
        return vec![Leaf { name: name.to_string(), offset, ty: ty.clone() }];
    };
    let fields = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
    let part = |f: &warpsmith_ir::StructField| {
        leaves(module, &f.ty, &format!("{name}.{}", f.name), offset + f.offset)
    };
    fields.iter().flat_map(part).collect()
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
        let text = match (cx.args.spec(&var.name), tried(cx, scalar)) {
            (Some(ArgSpec::Number(text)), _) => text.as_str(),
            (None, Some(text)) => text,
            _ => continue,
        };
        let value = data::parse_scalar(text, scalar).map_err(|why| {
            cx.error(format!("argument `{}`: {why}", var.name)).help(number_help(scalar))
        })?;
        let wide =
            if scalar == Scalar::U64 { i128::from(value.bits) } else { i128::from(value.as_i64()) };
        values.insert(var.name.clone(), wide);
    }
    Ok(values)
}

/// Every number that a launch needs and nobody gives, named at once.
fn all_given(cx: &ArgContext<'_>) -> Result<(), Failure> {
    let function = cx.module.function(cx.kernel);
    let vars = function.params.iter().map(|p| function.var(*p));
    let missing: Vec<&str> = vars
        .filter(|v| v.ty.scalar().is_some() || matches!(v.ty, Type::Vector(..)))
        .filter(|v| {
            cx.args.spec(&v.name).is_none()
                && (cx.tried.scalar.is_none() || v.ty.scalar().is_none())
        })
        .map(|v| v.name.as_str())
        .collect();
    let names: Vec<String> = missing.iter().map(|n| format!("`{n}`")).collect();
    let message = match names.as_slice() {
        [] => return Ok(()),
        [only] => format!("scalar argument {only} has no value"),
        several => format!("scalar arguments {} have no value", several.join(", ")),
    };
    let options: Vec<String> = missing.iter().map(|n| format!("--arg {n}=256")).collect();
    let help = format!("add {}, or --scalars 1,255,256", options.join(" "));
    Err(cx.error(message).help(help).into())
}

/// The value that `--scalars` tries for a parameter; where it does not fit the type, the first one that does.
fn tried<'t>(cx: &'t ArgContext<'_>, ty: Scalar) -> Option<&'t str> {
    let wanted = cx.tried.scalar?;
    if data::parse_scalar(wanted, Scalar::F64).is_err() {
        // No number at all: that is said where it is read.
        return Some(wanted);
    }
    let fits = |text: &&str| data::parse_scalar(text, ty).is_ok();
    let others = cx.args.scalars.iter().map(String::as_str);
    std::iter::once(wanted).chain(others).find(fits).or(Some(wanted))
}

/// The bytes of a parameter passed by value.
fn by_value(cx: &ArgContext<'_>, var: &Var, ty: &Type) -> Result<Vec<u8>, Failure> {
    let scalar = ty.scalar().and_then(|s| tried(cx, s));
    let spec = match (cx.args.spec(&var.name), scalar) {
        (Some(spec), _) => spec.clone(),
        (None, Some(text)) => ArgSpec::Number(text.to_string()),
        _ => {
            let error = cx.error(format!("scalar argument `{}` has no value", var.name));
            return Err(error
                .help(format!("add --arg {}=256, or --scalars 1,255,256", var.name))
                .into());
        }
    };
    value_bytes(cx, &var.name, ty, &spec)
}

/// The bytes of a value that is given as numbers.
fn value_bytes(
    cx: &ArgContext<'_>,
    name: &str,
    ty: &Type,
    spec: &ArgSpec,
) -> Result<Vec<u8>, Failure> {
    let wrong = |why: String| cx.error(format!("argument `{name}`: {why}"));
    let mut bytes = vec![0u8; layout_of(cx.module, ty).size as usize];
    let slots = data::scalars_of(cx.module, ty, 0);
    let mut numbers = vec![];
    flatten(spec, &mut numbers).map_err(|why| {
        let example = if slots.len() == 1 { "1".to_string() } else { "{1, 2.5, 3}".to_string() };
        wrong(why).help(format!("write {name}={example}"))
    })?;
    if numbers.len() != slots.len() {
        let message =
            format!("argument `{name}` has {} values, not {}", slots.len(), numbers.len());
        return Err(cx
            .error(message)
            .help("write the parts of a struct or vector as {1, 2.5, 3}")
            .into());
    }
    for ((offset, scalar), text) in slots.into_iter().zip(numbers) {
        let value: Value = data::parse_scalar(&text, scalar)
            .map_err(|why| wrong(why).help(number_help(scalar)))?;
        let at = offset as usize;
        bytes[at..at + scalar.bytes() as usize].copy_from_slice(&data::scalar_bytes(value));
    }
    Ok(bytes)
}

/// How a number of that type is written.
fn number_help(scalar: Scalar) -> String {
    let example = match scalar {
        Scalar::Bool => "true or false",
        s if s.is_float() => "a number such as 1.5 or 2e-3",
        _ => "a whole number such as 256 or 0xff",
    };
    format!("its type is {scalar}: write {example}")
}

fn flatten(spec: &ArgSpec, into: &mut Vec<String>) -> Result<(), String> {
    match spec {
        ArgSpec::Number(text) => into.push(text.clone()),
        ArgSpec::Parts(parts) => {
            for part in parts {
                flatten(part, into)?;
            }
        }
        ArgSpec::Function(_) => return Err("it is no pointer to a function".to_string()),
        ArgSpec::Array { .. } | ArgSpec::Init(_) => {
            return Err("it is passed by value; give a number".to_string());
        }
    }
    Ok(())
}

/// A buffer with its initial content.
fn make_buffer(
    cx: &ArgContext<'_>,
    name: &str,
    spec: &ArgSpec,
    pointee: &Type,
    scalars: &HashMap<String, i128>,
) -> Result<Buffer, Failure> {
    let wrong = |why: String| -> Failure {
        cx.error(format!("argument `{name}`: {why}")).help(array_help(name)).into()
    };
    if let ArgSpec::Array { element, .. } = spec {
        let element = resolve(cx.module, element).map_err(wrong)?;
        fits(cx, name, &element, pointee)?;
    }
    let (element, dims, init) = match spec {
        ArgSpec::Array { element, dims, init } => (Some(element), dims.as_slice(), init),
        ArgSpec::Init(init @ Init::File(_)) => (None, &[][..], init),
        ArgSpec::Init(init) => {
            return Err(wrong(format!("`{init}` needs a shape, for example float[256]={init}")));
        }
        ArgSpec::Number(_) | ArgSpec::Parts(_) | ArgSpec::Function(_) => {
            return Err(wrong("it is an array; write float[256]=random".to_string()));
        }
    };
    let element = match element {
        Some(e) => resolve(cx.module, e).map_err(wrong)?,
        None => pointee.clone(),
    };
    if let Init::File(path) = init {
        let array = data::read_npy(Path::new(path)).map_err(wrong)?;
        return from_file(cx, name, array, dims, scalars, &element).map_err(wrong);
    }
    let mut shape = vec![];
    for dim in dims {
        shape.push(eval_extent(dim, scalars).map_err(wrong)?);
    }
    let size = layout_of(cx.module, &element).size;
    let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    let bytes = count.and_then(|n| n.checked_mul(size.max(1)));
    let (Some(count), Some(bytes)) = (count, bytes) else {
        return Err(wrong("its size does not fit 64 bits".to_string()));
    };
    if bytes > cx.max_memory {
        return Err(too_large(cx, name));
    };
    let seed = cx.seed ^ data::name_hash(name);
    let mut bytes = data::fill(cx.module, &element, count, init, seed);
    let invented = !cx.args.filled(name) && {
        let wanted = vec![true; bytes.len()];
        invent::invent(cx.module, &element, &mut bytes, &wanted, seed)
    };
    let poison = if *init == Init::Uninit { vec![true; bytes.len()] } else { vec![] };
    let name = name.to_string();
    Ok(Buffer { invented, name, element: Some(element), shape, bytes, poison, ..Buffer::default() })
}

/// Elements of one type are given for another: of other numbers or of another size. Bytes may be anything.
fn fits(cx: &ArgContext<'_>, name: &str, given: &Type, wanted: &Type) -> Result<(), Failure> {
    let kind = |ty: &Type| {
        let slots = data::scalars_of(cx.module, ty, 0);
        let first = slots.first().map(|(_, s)| *s)?;
        let uniform = slots.iter().all(|(_, s)| *s == first);
        uniform.then(|| (first.is_float(), first.bytes()))
    };
    let loose = |ty: &Type| {
        matches!(ty, Type::Void | Type::Pointer { .. })
            || ty.scalar().is_some_and(|s| s.bytes() == 1)
    };
    if loose(given) || loose(wanted) || given == wanted {
        return Ok(());
    }
    match (kind(given), kind(wanted)) {
        (Some(given), Some(wanted)) if given != wanted => {}
        (Some(_), None) | (None, Some(_)) => {}
        _ => return Ok(()),
    }
    let text = |ty: &Type| element_name(cx.module, ty);
    let message = format!(
        "argument `{name}` is an array of {}, and the kernel takes {}",
        text(given),
        text(wanted)
    );
    let help = format!("write {name}={}[extent]", text(wanted));
    Err(cx.error(message).help(help).into())
}

/// A type as `--arg` writes it.
fn element_name(module: &Module, ty: &Type) -> String {
    match ty {
        Type::Scalar(s) => data::scalar_name(*s).to_string(),
        Type::Vector(s, n) => format!("{}{n}", data::scalar_name(*s)),
        Type::Struct(id) => {
            module.structs.get(id.0 as usize).map_or(String::new(), |s| s.name.clone())
        }
        _ => warpsmith_ir::text::print_type(module, ty),
    }
}

/// How an array is given.
fn array_help(name: &str) -> String {
    format!(
        "write {name}=TYPE[extent] or {name}=TYPE[extent]=random, for example {name}=float[256]"
    )
}

fn from_file(
    cx: &ArgContext<'_>,
    name: &str,
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
    Ok(Buffer { name: name.to_string(), element, shape, bytes: array.bytes, ..Buffer::default() })
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
