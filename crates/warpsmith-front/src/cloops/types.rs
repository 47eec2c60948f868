//! Types of the loop language.

use warpsmith_ir::{Diagnostic, Scalar, Span, StructId, Type};

use super::unit::Unit;
pub use crate::arith::{promote, usual};
use crate::ast::{Expr, InlineType, TypeKind, TypeName};
use crate::parse::{COMPLEX_DOUBLE, COMPLEX_FLOAT};

/// A type as the loop language sees it.
#[derive(Clone, Debug)]
pub enum CType<'a> {
    Void,
    Scalar(Scalar),
    /// A structure or a complex number.
    Struct(StructId),
    /// A pointer to an array of `extents` (outermost first; the first is unknown for `float *p`, `float p[]`).
    Pointer {
        element: Type,
        readonly: bool,
        restrict: bool,
        extents: Vec<Option<&'a Expr>>,
    },
    /// An array object: a local or global array.
    Array {
        element: Type,
        readonly: bool,
        extents: Vec<Option<&'a Expr>>,
    },
}

impl CType<'_> {
    /// The type of a value that a variable or an element can hold; `None` for pointers, arrays and `void`.
    pub fn value(&self) -> Option<Type> {
        match self {
            CType::Scalar(s) => Some(Type::Scalar(*s)),
            CType::Struct(id) => Some(Type::Struct(*id)),
            CType::Void | CType::Pointer { .. } | CType::Array { .. } => None,
        }
    }

    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            CType::Scalar(s) => Some(*s),
            _ => None,
        }
    }
}

/// Reads a type. `parameter`: an array is a pointer to its first element.
///
/// # Errors
/// W144 for types outside the loop language, with the caret on the type.
pub fn read<'a>(
    unit: &'a Unit<'a>,
    ty: &'a TypeName,
    parameter: bool,
) -> Result<CType<'a>, Box<Diagnostic>> {
    if ty.is_volatile {
        let d = refuse("`volatile` is not part of the loop language", ty.span);
        return Err(d.help("a tuned loop does not make each access as it is written: leave `volatile` out where nothing else reads or writes the memory meanwhile").into());
    }
    match &ty.kind {
        TypeKind::Void => Ok(CType::Void),
        TypeKind::Builtin(words) => builtin(words, ty.span).map(CType::Scalar),
        TypeKind::Named(_) => named(unit, ty, parameter),
        TypeKind::Pointer { to, restrict } => pointer(unit, to, *restrict, ty.span),
        TypeKind::Array { element, extent } => array(unit, element, extent.as_deref(), parameter),
        TypeKind::Reference { .. } => {
            Err(refuse("references are not C", ty.span).help("pass a pointer instead").into())
        }
        TypeKind::Inline(inline) => match &**inline {
            InlineType::Struct(s) => unit.structure(s).map(CType::Struct),
            InlineType::Enum(_) => Ok(CType::Scalar(Scalar::I32)),
        },
        TypeKind::Function { .. } => {
            Err(refuse("function pointers are not supported", ty.span).into())
        }
        TypeKind::Auto | TypeKind::DecltypeAuto | TypeKind::Decltype(_) => {
            Err(refuse("this type is not C99", ty.span).into())
        }
    }
}

fn refuse(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("W144", message).label(span, "this type")
}

fn named<'a>(
    unit: &'a Unit<'a>,
    ty: &'a TypeName,
    parameter: bool,
) -> Result<CType<'a>, Box<Diagnostic>> {
    let TypeKind::Named(path) = &ty.kind else { return Err(refuse("this type", ty.span).into()) };
    let name =
        path.as_name().or_else(|| path.segments.last().map(|s| s.name.as_str())).unwrap_or("");
    if let Some(scalar) = library_type(name) {
        return Ok(CType::Scalar(scalar));
    }
    if unit.enums.contains(name) {
        return Ok(CType::Scalar(Scalar::I32));
    }
    if let Some(part) = complex_part(name) {
        return Ok(CType::Struct(unit.complex(part)));
    }
    if let Some(found) = unit.named_structure(name, ty.span) {
        return found.map(CType::Struct);
    }
    if let Some(target) = unit.aliases.get(name) {
        // `typedef struct P P;` without the structure names itself.
        return unit
            .nested(|| read(unit, target, parameter))
            .unwrap_or_else(|| Err(super::structs::undefined(name, ty.span).into()));
    }
    let known = LIBRARY.iter().map(|(n, _)| *n).chain(unit.aliases.keys().copied());
    let mut d = refuse(format!("unknown type `{name}`"), ty.span);
    if let Some(near) = crate::spelling::nearest(name, known) {
        d = d.help(format!("did you mean `{near}`?"));
    }
    Err(d.help("the loop language has int, unsigned, 64-bit integers, char, short, float, double and _Float16").into())
}

/// Types of the standard headers.
const LIBRARY: &[(&str, Scalar)] = &[
    ("size_t", Scalar::U64),
    ("ssize_t", Scalar::I64),
    ("ptrdiff_t", Scalar::I64),
    ("intptr_t", Scalar::I64),
    ("uintptr_t", Scalar::U64),
    ("int8_t", Scalar::I8),
    ("uint8_t", Scalar::U8),
    ("int16_t", Scalar::I16),
    ("uint16_t", Scalar::U16),
    ("int32_t", Scalar::I32),
    ("uint32_t", Scalar::U32),
    ("int64_t", Scalar::I64),
    ("uint64_t", Scalar::U64),
    ("uint", Scalar::U32),
    ("bool", Scalar::Bool),
    ("_Bool", Scalar::Bool),
    ("_Float16", Scalar::F16),
    ("__fp16", Scalar::F16),
    ("float_t", Scalar::F32),
    ("double_t", Scalar::F64),
];

/// The type of the parts of a complex type under the name that the preprocessed text has for it.
pub fn complex_part(name: &str) -> Option<Scalar> {
    match name {
        COMPLEX_FLOAT => Some(Scalar::F32),
        COMPLEX_DOUBLE => Some(Scalar::F64),
        _ => None,
    }
}

/// A type that headers or compilers define under a name.
pub fn library_type(name: &str) -> Option<Scalar> {
    LIBRARY.iter().find(|(n, _)| *n == name).map(|(_, s)| *s)
}

/// A name that `<stdint.h>` and `<stddef.h>` have for a type.
pub fn standard_name(name: &str) -> Option<&'static str> {
    let (known, _) = LIBRARY.iter().find(|(n, _)| *n == name)?;
    known.ends_with("_t").then_some(*known).filter(|n| !matches!(*n, "float_t" | "double_t"))
}

/// `unsigned long long`, `short int`, `float` …
fn builtin(words: &[String], span: Span) -> Result<Scalar, Box<Diagnostic>> {
    let count = |w: &str| words.iter().filter(|x| *x == w).count();
    let has = |w: &str| count(w) > 0;
    if let Some(scalar) = words.iter().find_map(|w| library_type(w)) {
        return Ok(scalar);
    }
    if has("double") && has("long") {
        let d = refuse("`long double` has no counterpart on a GPU", span);
        return Err(d.help("use `double`").into());
    }
    let unsigned = has("unsigned");
    let pick = |signed, without| if unsigned { without } else { signed };
    Ok(if has("double") {
        Scalar::F64
    } else if has("float") {
        Scalar::F32
    } else if has("char") {
        pick(Scalar::I8, Scalar::U8)
    } else if has("short") {
        pick(Scalar::I16, Scalar::U16)
    } else if has("long") {
        pick(Scalar::I64, Scalar::U64)
    } else if has("int") || has("signed") || unsigned {
        pick(Scalar::I32, Scalar::U32)
    } else {
        let d = refuse(format!("unknown type `{}`", words.join(" ")), span);
        return Err(d.into());
    })
}

fn pointer<'a>(
    unit: &'a Unit<'a>,
    to: &'a TypeName,
    restrict: bool,
    span: Span,
) -> Result<CType<'a>, Box<Diagnostic>> {
    let target = read(unit, to, false)?;
    if let Some(element) = target.value() {
        let (readonly, extents) = (to.is_const, vec![None]);
        return Ok(CType::Pointer { element, readonly, restrict, extents });
    }
    match target {
        CType::Array { element, readonly, extents } => {
            let extents = std::iter::once(None).chain(extents).collect();
            Ok(CType::Pointer { element, readonly, restrict, extents })
        }
        CType::Scalar(_) | CType::Struct(_) | CType::Void => Err(refuse("`void *` has no element type", span).help("name the type of the elements").into()),
        CType::Pointer { .. } => Err(refuse("arrays of pointers are not supported", span)
            .help("keep the rows in one block: `float *A` with `A[i*m + j]` for `A[i][j]`, or `float A[n][m]`; a program that allocates each row by itself can allocate `n*m` elements at once and let `A[i]` point to `&block[i*m]`")
            .into()),
    }
}

fn array<'a>(
    unit: &'a Unit<'a>,
    element: &'a TypeName,
    extent: Option<&'a Expr>,
    parameter: bool,
) -> Result<CType<'a>, Box<Diagnostic>> {
    let (innermost, readonly, inner) = match read(unit, element, false)? {
        CType::Scalar(s) => (Type::Scalar(s), element.is_const, vec![]),
        CType::Struct(id) => (Type::Struct(id), element.is_const, vec![]),
        CType::Array { element, readonly, extents } => (element, readonly, extents),
        CType::Void => return Err(refuse("an array of `void`", element.span).into()),
        CType::Pointer { .. } => {
            return Err(refuse("arrays of pointers are not supported", element.span)
                .help("declare a two-dimensional array as `float A[n][m]`")
                .into());
        }
    };
    let extents = std::iter::once(extent).chain(inner).collect();
    Ok(if parameter {
        CType::Pointer { element: innermost, readonly, restrict: false, extents }
    } else {
        CType::Array { element: innermost, readonly, extents }
    })
}

/// The type in C's words, for messages.
pub fn c_name(ty: &Type) -> String {
    match ty {
        Type::Void => "void".into(),
        Type::Scalar(s) => match s {
            Scalar::Bool => "_Bool",
            Scalar::I8 => "char",
            Scalar::U8 => "unsigned char",
            Scalar::I16 => "short",
            Scalar::U16 => "unsigned short",
            Scalar::I32 => "int",
            Scalar::U32 => "unsigned",
            Scalar::I64 => "long",
            Scalar::U64 => "unsigned long",
            Scalar::F16 => "_Float16",
            Scalar::BF16 => "__bf16",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
        .into(),
        Type::Pointer { pointee, .. } => format!("{} *", c_name(pointee)),
        Type::Array(element, length) => format!("{}[{length}]", c_name(element)),
        Type::Vector(..) | Type::Struct(_) => "struct".into(),
    }
}
