//! Whole files of CUDA: declarations in order of need, then functions, callees first.

use std::collections::BTreeSet;

use warpsmith_ir::{
    FuncId, FunctionKind, Global, Module, Scalar, Space, StructId, Type, Value, VarId,
};

use crate::context::{Context, Helper, Printer, Target};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::{EmitError, Result};
use crate::literal;
use crate::names::{Names, is_shared_of_file};
use crate::swaps;
use crate::tidy::tidy;
use crate::types::{self, Qualifiers, declare};
use crate::walk::Reach;

/// Prints a whole module as CUDA C++: every function, and what they use.
///
/// # Errors
/// When something has no spelling in CUDA C++, see [`EmitError`].
pub fn module_file(module: &Module) -> Result<String> {
    let module = &tidy(module);
    let roots = (0..module.functions.len()).map(|i| FuncId(i as u32));
    let reach = Reach::from(module, roots);
    let names = Names::new(module, &helper_names());
    let cx = Context::new(module, &names);
    let mut body = Out::default();
    functions(&cx, &reach.functions, &mut body)?;
    let mut out = Out::default();
    let declarations = declarations(&cx, &reach, Target::Device)?;
    includes(&cx, &mut out);
    append(&mut out, &declarations);
    append(&mut out, &body);
    Ok(finish(out))
}

/// Names the helpers take in a file.
pub(crate) fn helper_names() -> Vec<String> {
    Helper::ALL.iter().map(|h| h.name().to_string()).collect()
}

/// Definitions, each after a blank line.
pub(crate) fn functions(cx: &Context<'_>, ids: &[FuncId], out: &mut Out) -> Result<()> {
    for &id in ids {
        let target = match cx.module.function(id).kind {
            FunctionKind::Host => Target::Host,
            FunctionKind::Kernel | FunctionKind::Device => Target::Device,
        };
        out.gap();
        Printer::new(cx, id, target).definition(out)?;
    }
    Ok(())
}

/// Everything that stands before the functions; called after they are printed, so that what they
/// need is known. Call [`includes`] after it.
pub(crate) fn declarations(cx: &Context<'_>, reach: &Reach, target: Target) -> Result<Out> {
    let mut out = Out::default();
    structs(cx, &reach.structs, &mut out)?;
    constants(cx, reach, &mut out);
    globals(cx, reach, target, &mut out)?;
    shared_of_file(cx, reach, &mut out)?;
    let needs = cx.needs.borrow().clone();
    for helper in &needs.helpers {
        out.gap();
        out.text.push_str(&helper_text(*helper));
        if *helper == Helper::BitsAs {
            cx.include("string.h");
        }
    }
    Ok(out)
}

/// The headers that everything printed in this context needs.
pub(crate) fn includes(cx: &Context<'_>, out: &mut Out) {
    let needs = cx.needs.borrow();
    if !needs.includes.is_empty() {
        out.gap();
        needs.includes.iter().for_each(|h| out.line(&format!("#include <{h}>")));
    }
}

/// Adds a part of a file after an empty line.
pub(crate) fn append(out: &mut Out, part: &Out) {
    if !part.text.is_empty() {
        out.gap();
        out.text.push_str(part.text.trim_start_matches('\n'));
    }
}

/// One newline at the end.
pub(crate) fn finish(out: Out) -> String {
    let mut text = out.text.trim_matches('\n').to_string();
    text.push('\n');
    text
}

fn constants(cx: &Context<'_>, reach: &Reach, out: &mut Out) {
    let used = reach.constants.iter().filter_map(|id| {
        let c = cx.module.constants.get(id.0 as usize)?;
        Some((cx.names.constant(*id), c))
    });
    let lines: Vec<(String, &str)> = used
        .filter(|(_, c)| !matches!(c.value.ty, Scalar::F16 | Scalar::BF16))
        .map(|(name, c)| {
            let l = literal::natural(c.value);
            if l.math {
                cx.include("math.h");
            }
            (format!("constexpr {} {name} = {};", types::scalar(c.value.ty), l.text), &*c.comment)
        })
        .collect();
    let width = lines.iter().map(|(l, _)| l.len()).max().unwrap_or(0);
    if !lines.is_empty() {
        out.gap();
    }
    for (line, comment) in &lines {
        let tail = width + 5 + comment.chars().count();
        if comment.is_empty() {
            out.line(line);
        } else if tail <= crate::doc::WIDTH && !comment.contains('\n') && !comment.ends_with('\\') {
            out.line(&format!("{line:width$}  // {comment}"));
        } else {
            out.comment(comment);
            out.line(line);
        }
    }
}

pub(crate) fn structs(cx: &Context<'_>, used: &BTreeSet<StructId>, out: &mut Out) -> Result<()> {
    let mut done = BTreeSet::new();
    for id in used {
        structure(cx, *id, &mut done, out)?;
    }
    Ok(())
}

/// A definition, after those of the structs it holds by value.
fn structure(
    cx: &Context<'_>,
    id: StructId,
    done: &mut BTreeSet<StructId>,
    out: &mut Out,
) -> Result<()> {
    let Some(def) = cx.module.structs.get(id.0 as usize) else {
        return Err(EmitError::new("an unknown struct", &warpsmith_ir::Origin::default()));
    };
    if !done.insert(id) {
        return Ok(());
    }
    for field in &def.fields {
        match field.ty.innermost() {
            Type::Struct(inner) => structure(cx, *inner, done, out)?,
            Type::Pointer { pointee, .. } => {
                if let Type::Struct(inner) = pointee.innermost()
                    && !done.contains(inner)
                {
                    out.line(&format!("struct {};", cx.names.structure(*inner)));
                }
            }
            other => cx.include_type(other),
        }
    }
    let types: Vec<Type> = def.fields.iter().map(|f| f.ty.clone()).collect();
    let (offsets, natural) = warpsmith_ir::layout::lay_out(cx.module, &types, 1);
    let union = def.fields.len() > 1 && def.fields.iter().all(|f| f.offset == 0);
    if !union && def.fields.iter().zip(&offsets).any(|(f, o)| f.offset != *o) {
        return Err(EmitError::new("a struct with fields in an unusual place", &def.origin));
    }
    let align = if def.align > natural.align {
        format!("__align__({}) ", def.align)
    } else {
        String::new()
    };
    out.gap();
    let guard = format!("WARPSMITH_STRUCT_{}", cx.names.structure(id));
    if cx.shared.contains(&id) {
        out.line(&format!("#ifndef {guard}"));
        out.line(&format!("#define {guard}"));
    }
    let keyword = if union { "union" } else { "struct" };
    out.line(&format!("{keyword} {align}{} {{", cx.names.structure(id)));
    out.depth += 1;
    for f in &def.fields {
        out.line(&format!("{};", declare(&f.ty, &f.name, Qualifiers::default(), cx.names)?));
    }
    out.depth -= 1;
    out.line("};");
    if cx.shared.contains(&id) {
        out.line("#endif");
    }
    Ok(())
}

/// Variables outside of functions; in code for the processor alone, constant memory is an ordinary constant.
fn globals(cx: &Context<'_>, reach: &Reach, target: Target, out: &mut Out) -> Result<()> {
    let mut first = true;
    for id in &reach.globals {
        let Some(g) = cx.module.globals.get(id.0 as usize) else { continue };
        if std::mem::take(&mut first) {
            out.gap();
        }
        let space = match (target, g.space) {
            (Target::Host, Space::Constant) => "static const",
            (Target::Host, _) => "static",
            (Target::Device, Space::Constant) => "__constant__",
            (Target::Device, _) => "__device__",
        };
        let left = declare(&g.ty, cx.names.global(*id), Qualifiers::default(), cx.names)?;
        let left = text(format!("{space} {left}"));
        match &g.init {
            Some(bytes) => {
                let value = initializer(cx, &g.ty, bytes, g)?;
                out.doc(&cat([left, text(" = "), value, text(";")]));
            }
            None => out.doc(&cat([left, text(";")])),
        }
    }
    Ok(())
}

/// Shared memory that several functions may name.
fn shared_of_file(cx: &Context<'_>, reach: &Reach, out: &mut Out) -> Result<()> {
    let mut done = BTreeSet::new();
    for &id in &reach.functions {
        let printer = Printer::new(cx, id, Target::Device);
        for (i, var) in cx.module.function(id).vars.iter().enumerate() {
            let var_id = VarId(i as u32);
            let name = cx.names.var(id, var_id).to_string();
            if !is_shared_of_file(var) || !done.insert(name) {
                continue;
            }
            if done.len() == 1 {
                out.gap();
            }
            out.line(&format!("{};", printer.declarator(var_id, false)?));
        }
    }
    Ok(())
}

/// A value from its bytes in memory.
fn initializer(cx: &Context<'_>, ty: &Type, bytes: &[u8], g: &Global) -> Result<Doc> {
    let unknown = || EmitError::new(format!("the initial value of `{}`", g.name), &g.origin);
    let size = |t: &Type| warpsmith_ir::layout::layout_of(cx.module, t).size as usize;
    let part = |t: &Type, at: usize| -> Result<Doc> {
        let end = at.checked_add(size(t)).ok_or_else(unknown)?;
        initializer(cx, t, bytes.get(at..end).ok_or_else(unknown)?, g)
    };
    let mut parts = vec![];
    match ty {
        Type::Scalar(s) => {
            let mut word = [0; 8];
            let n = s.bytes() as usize;
            word[..n].copy_from_slice(bytes.get(..n).ok_or_else(unknown)?);
            let l = literal::natural(Value { ty: *s, bits: u64::from_le_bytes(word) });
            if l.math {
                cx.include("math.h");
            }
            return Ok(text(l.text));
        }
        _ if bytes.iter().all(|b| *b == 0) && !ty.is_pointer() => return Ok(text("{}")),
        Type::Array(element, n) => {
            let step = size(element);
            for i in 0..*n as usize {
                parts.push(part(element, i * step)?);
            }
        }
        Type::Vector(s, n) => {
            for i in 0..usize::from(*n) {
                parts.push(part(&Type::Scalar(*s), i * s.bytes() as usize)?);
            }
        }
        Type::Struct(id) => {
            let def = cx.module.structs.get(id.0 as usize).ok_or_else(unknown)?;
            for f in &def.fields {
                parts.push(part(&f.ty, f.offset as usize)?);
            }
        }
        Type::Pointer { .. } if bytes.iter().all(|b| *b == 0) => return Ok(text("nullptr")),
        Type::Pointer { .. } | Type::Void => return Err(unknown()),
    }
    Ok(list("{", parts, "}"))
}

fn helper_text(helper: Helper) -> String {
    let text = match helper {
        Helper::LaneId => {
            "// Index of the thread in its warp.
__device__ unsigned lane_id() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
"
        }
        Helper::DynamicSharedBytes => {
            "// Bytes of dynamic shared memory the kernel was launched with.
__device__ unsigned dynamic_shared_bytes() {
    unsigned bytes;
    asm(\"mov.u32 %0, %%dynamic_smem_size;\" : \"=r\"(bytes));
    return bytes;
}
"
        }
        Helper::AtomicMinFloat => return swaps::pick(Scalar::F32, "smaller", "atomic_min", "fminf"),
        Helper::AtomicMaxFloat => return swaps::pick(Scalar::F32, "larger", "atomic_max", "fmaxf"),
        Helper::AtomicMinDouble => return swaps::pick(Scalar::F64, "smaller", "atomic_min", "fmin"),
        Helper::AtomicMaxDouble => return swaps::pick(Scalar::F64, "larger", "atomic_max", "fmax"),
        Helper::AtomicMul(ty) => return swaps::multiply(ty, helper.name()),
        Helper::AtomicLower(ty) => return swaps::replace(ty, helper.name(), '<'),
        Helper::AtomicRaise(ty) => return swaps::replace(ty, helper.name(), '>'),
        Helper::PitchedRows => {
            "// The element of a matrix whose rows begin `pitch` elements apart.
template <class T>
__device__ __forceinline__ T &element_at(T *matrix, size_t pitch, size_t row, size_t column) {
    return matrix[row * pitch + column];
}
"
        }
        Helper::PitchedPlanes => {
            "// The element of a box whose planes have `rows` rows, which begin `pitch` elements apart.
template <class T>
__device__ __forceinline__ T &element_at(T *box, size_t rows, size_t pitch, size_t plane,
                                         size_t row, size_t column) {
    return box[(plane * rows + row) * pitch + column];
}
"
        }
        Helper::BitsAs => {
            "// The bits of a value as another type of the same size.
template <class To, class From>
static To bits_as(From from) {
    To to;
    static_assert(sizeof to == sizeof from, \"sizes differ\");
    memcpy(&to, &from, sizeof to);
    return to;
}
"
        }
    };
    text.into()
}
