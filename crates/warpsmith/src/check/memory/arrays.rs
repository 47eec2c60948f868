//! Arrays of a launch: what they are filled with, and whether they are what the kernel takes.

use std::collections::HashMap;
use std::path::Path;

use warpsmith_emu::Buffer;
use warpsmith_ir::interp::Unknown;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, FuncId, Module, Type};

use super::{ArgContext, Tried};
use crate::check::args::LaunchArgs;
use crate::check::invent;
use crate::check::variables::Variables;
use crate::data::{self, ArgSpec, Array, Element, Init, eval_extent};
use crate::status::Failure;

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
pub(super) fn growing(module: &Module, name: &str, pointee: &Type, seed: u64) -> Buffer {
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

pub(super) fn too_large(cx: &ArgContext<'_>, name: &str) -> Failure {
    let diagnostic =
        Diagnostic::error("W307", format!("argument `{name}` does not fit the memory limit"))
            .note(format!("the limit is {} bytes for all buffers", cx.max_memory))
            .help("raise it with --max-memory, or launch at a smaller size");
    Failure::from(diagnostic).with_status(crate::status::Status::Limit)
}

/// A buffer with its initial content.
pub(super) fn make_buffer(
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
        let wanted = Unknown::new(bytes.len());
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

pub(super) fn resolve(module: &Module, element: &Element) -> Result<Type, String> {
    match element {
        Element::Type(ty) => Ok(ty.clone()),
        Element::Named(name) => {
            let at = module.structs.iter().position(|s| s.name == *name);
            at.map(|i| Type::Struct(warpsmith_ir::StructId(i as u32)))
                .ok_or_else(|| format!("`{name}` is not a type the kernel uses"))
        }
    }
}
