//! Types of the loop language.

use warpsmith_ir::{Diagnostic, Scalar, Span, Type};

use super::unit::Unit;
pub use crate::arith::{promote, usual};
use crate::ast::{Expr, TypeKind, TypeName};

/// A type as the loop language sees it.
#[derive(Clone, Debug)]
pub enum CType<'a> {
    Void,
    Scalar(Scalar),
    /// A pointer to an array of `extents` (outermost first; the first is unknown for `float *p`, `float p[]`).
    Pointer {
        element: Scalar,
        readonly: bool,
        restrict: bool,
        extents: Vec<Option<&'a Expr>>,
    },
    /// An array object: a local or global array.
    Array {
        element: Scalar,
        readonly: bool,
        extents: Vec<Option<&'a Expr>>,
    },
}

impl CType<'_> {
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
    match &ty.kind {
        TypeKind::Void => Ok(CType::Void),
        TypeKind::Builtin(words) => builtin(words, ty.span).map(CType::Scalar),
        TypeKind::Named(_) => named(unit, ty, parameter),
        TypeKind::Pointer { to, restrict } => pointer(unit, to, *restrict, ty.span),
        TypeKind::Array { element, extent } => array(unit, element, extent.as_deref(), parameter),
        TypeKind::Reference { .. } => {
            Err(refuse("references are not C", ty.span).help("pass a pointer instead").into())
        }
        TypeKind::Inline(_) => Err(no_struct(ty.span).into()),
        TypeKind::Function { .. } => {
            Err(refuse("function pointers are not supported", ty.span).into())
        }
        TypeKind::Auto | TypeKind::Decltype(_) => {
            Err(refuse("this type is not C99", ty.span).into())
        }
    }
}

fn refuse(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("W144", message).label(span, "this type")
}

fn no_struct(span: Span) -> Diagnostic {
    refuse("structures are not part of the loop language", span)
        .help("keep each field in an array of its own (`float *x, float *y`): neighbouring threads then read neighbouring elements")
}

fn named<'a>(
    unit: &'a Unit<'a>,
    ty: &'a TypeName,
    parameter: bool,
) -> Result<CType<'a>, Box<Diagnostic>> {
    let TypeKind::Named(path) = &ty.kind else { return Err(no_struct(ty.span).into()) };
    let name =
        path.as_name().or_else(|| path.segments.last().map(|s| s.name.as_str())).unwrap_or("");
    if let Some(scalar) = library_type(name) {
        return Ok(CType::Scalar(scalar));
    }
    if unit.enums.contains(name) {
        return Ok(CType::Scalar(Scalar::I32));
    }
    if let Some(target) = unit.aliases.get(name) {
        // An alias is registered after the types it is made of, so this ends.
        return match read(unit, target, parameter)? {
            CType::Pointer { element, restrict, extents, readonly } => {
                Ok(CType::Pointer { element, restrict, extents, readonly })
            }
            other => Ok(other),
        };
    }
    if unit.structs.contains(name) {
        return Err(no_struct(ty.span).into());
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

/// A type that headers or compilers define under a name.
pub fn library_type(name: &str) -> Option<Scalar> {
    LIBRARY.iter().find(|(n, _)| *n == name).map(|(_, s)| *s)
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
    if has("_Complex") || has("_Imaginary") {
        let d = refuse("complex numbers are not supported", span);
        return Err(d.help("keep real and imaginary parts in separate variables").into());
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
    match read(unit, to, false)? {
        CType::Scalar(element) => {
            Ok(CType::Pointer { element, readonly: to.is_const, restrict, extents: vec![None] })
        }
        CType::Array { element, readonly, extents } => {
            let extents = std::iter::once(None).chain(extents).collect();
            Ok(CType::Pointer { element, readonly, restrict, extents })
        }
        CType::Void => Err(refuse("`void *` has no element type", span).help("name the type of the elements").into()),
        CType::Pointer { .. } => Err(refuse("arrays of pointers are not supported", span)
            .help("declare a two-dimensional array as `float A[n][m]`; its rows then lie side by side in memory")
            .into()),
    }
}

fn array<'a>(
    unit: &'a Unit<'a>,
    element: &'a TypeName,
    extent: Option<&'a Expr>,
    parameter: bool,
) -> Result<CType<'a>, Box<Diagnostic>> {
    let (scalar, readonly, inner) = match read(unit, element, false)? {
        CType::Scalar(s) => (s, element.is_const, vec![]),
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
        CType::Pointer { element: scalar, readonly, restrict: false, extents }
    } else {
        CType::Array { element: scalar, readonly, extents }
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
