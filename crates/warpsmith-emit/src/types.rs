//! Types and declarators as C++ writes them.

use warpsmith_ir::{Origin, Scalar, Type};

use crate::error::{EmitError, Result};
use crate::names::Names;

pub(crate) fn scalar(s: Scalar) -> &'static str {
    match s {
        Scalar::Bool => "bool",
        // Whether a plain `char` has a sign is for the host's compiler to say.
        Scalar::I8 => "signed char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned",
        Scalar::I64 => "long long",
        Scalar::U64 => "unsigned long long",
        Scalar::F16 => "half",
        Scalar::BF16 => "__nv_bfloat16",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// `float4` and its like; `None` where CUDA has no such type.
pub(crate) fn vector(s: Scalar, n: u8) -> Option<String> {
    let base = match s {
        Scalar::I8 => "char",
        Scalar::U8 => "uchar",
        Scalar::I16 => "short",
        Scalar::U16 => "ushort",
        Scalar::I32 => "int",
        Scalar::U32 => "uint",
        Scalar::I64 => "longlong",
        Scalar::U64 => "ulonglong",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::F16 if n == 2 => return Some("half2".into()),
        Scalar::BF16 if n == 2 => return Some("__nv_bfloat162".into()),
        Scalar::Bool | Scalar::F16 | Scalar::BF16 => return None,
    };
    (1..=4).contains(&n).then(|| format!("{base}{n}"))
}

/// The type without a name, as in a cast.
pub(crate) fn spell(ty: &Type, names: &Names) -> Result<String> {
    declare(ty, "", Qualifiers::default(), names)
}

/// How the reals of a file are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reals {
    /// As C's own types.
    #[default]
    Plain,
    /// As `Real<float>`: with bounds of their rounding errors.
    Bounded {
        /// Arrays that are only read keep C's type in memory, `Input<float>`.
        inputs: bool,
    },
}

/// A scalar type in a file.
pub(crate) fn scalar_in(s: Scalar, names: &Names) -> String {
    match names.reals {
        Reals::Bounded { .. } if s.is_float() => format!("Real<{}>", scalar(s)),
        _ => scalar(s).into(),
    }
}

/// What stands beside the type in a declaration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Qualifiers {
    /// The variable itself never changes.
    pub constant: bool,
    pub restrict: bool,
    /// The pointer is a C++ reference.
    pub reference: bool,
    /// The name that the innermost type has in the user's code.
    pub spelled: Option<&'static str>,
}

/// `char` and the names of `<stdint.h>` and `<stddef.h>` that are other types to C++ than what we write for their bits: a
/// pointer to the one is no pointer to the other.
pub(crate) fn is_another_type(spelled: &str) -> bool {
    matches!(
        spelled,
        "char"
            | "int64_t"
            | "uint64_t"
            | "size_t"
            | "ssize_t"
            | "ptrdiff_t"
            | "intptr_t"
            | "uintptr_t"
    )
}

/// The header that declares such a name, unless the language has it.
pub(crate) fn header_of(spelled: &str) -> Option<&'static str> {
    match spelled {
        "char" => None,
        "size_t" | "ptrdiff_t" => Some("stddef.h"),
        "ssize_t" => Some("sys/types.h"),
        _ => Some("stdint.h"),
    }
}

/// `type name` in C's inside-out order: `const float *__restrict__ A`, `float (*rows)[16]`.
pub(crate) fn declare(ty: &Type, name: &str, q: Qualifiers, names: &Names) -> Result<String> {
    if let (Reals::Bounded { inputs: true }, Type::Pointer { pointee, readonly: true, .. }) =
        (names.reals, ty)
        && let Some(s) = pointee.scalar().filter(|s| s.is_float())
    {
        return Ok(format!("Input<{}> {name}", scalar(s)).trim_end().to_string());
    }
    let mut declarator = name.to_string();
    let mut at = ty;
    let mut constant = q.constant;
    let mut first = true;
    loop {
        match at {
            Type::Pointer { pointee, volatile, readonly, .. } => {
                let sigil = if q.reference && first { "&" } else { "*" };
                let mut quals = String::new();
                if constant && sigil == "*" {
                    quals.push_str("const ");
                }
                if q.restrict && first {
                    quals.push_str("__restrict__ ");
                }
                declarator = format!("{sigil}{quals}{declarator}");
                if matches!(**pointee, Type::Array(..)) {
                    declarator = format!("({})", declarator.trim_end());
                }
                constant = *readonly;
                if *volatile {
                    let inner = declare(
                        pointee,
                        declarator.trim_end(),
                        Qualifiers { constant, spelled: q.spelled, ..Qualifiers::default() },
                        names,
                    )?;
                    return Ok(format!("volatile {inner}"));
                }
                at = pointee;
            }
            Type::Array(element, length) => {
                // The outermost extent stands first: each step appends the next one.
                declarator = if *length == 0 {
                    format!("{declarator}[]")
                } else {
                    format!("{declarator}[{length}]")
                };
                at = element;
            }
            base => {
                let base = match q.spelled {
                    Some(name) => name.to_string(),
                    None => base_name(base, names)?,
                };
                let base = if constant { format!("const {base}") } else { base };
                let text = format!("{base} {}", declarator.trim_end());
                return Ok(text.trim_end().to_string());
            }
        }
        first = false;
    }
}

fn base_name(ty: &Type, names: &Names) -> Result<String> {
    match ty {
        Type::Void => Ok("void".into()),
        Type::Scalar(s) => Ok(scalar_in(*s, names)),
        Type::Vector(s, n) => vector(*s, *n).ok_or_else(|| {
            EmitError::new(format!("a vector of {n} `{}`", scalar(*s)), &Origin::default())
        }),
        Type::Struct(id) => Ok(names.structure(*id).into()),
        Type::Pointer { .. } | Type::Array(..) => spell(ty, names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use warpsmith_ir::{Module, Space};

    fn text(ty: &Type, q: Qualifiers) -> String {
        declare(ty, "x", q, &Names::new(&Module::default(), &[])).unwrap()
    }

    fn pointer(pointee: Type, readonly: bool, volatile: bool) -> Type {
        Type::Pointer { pointee: Arc::new(pointee), space: Space::Global, volatile, readonly }
    }

    #[test]
    fn declarators_are_written_inside_out() {
        let plain = Qualifiers::default();
        let f = Type::F32;
        assert_eq!(text(&f, plain), "float x");
        assert_eq!(text(&Type::Scalar(Scalar::I8), plain), "signed char x", "not the platform's");
        assert_eq!(text(&Type::array(Type::array(f.clone(), 3), 2), plain), "float x[2][3]");
        assert_eq!(text(&Type::array(f.clone(), 0), plain), "float x[]");
        let restrict = Qualifiers { restrict: true, ..plain };
        assert_eq!(text(&pointer(f.clone(), true, false), restrict), "const float *__restrict__ x");
        let rows = pointer(Type::array(f.clone(), 16), false, false);
        assert_eq!(text(&rows, plain), "float (*x)[16]");
        assert_eq!(
            text(&pointer(pointer(f.clone(), true, false), false, false), plain),
            "const float **x"
        );
        assert_eq!(text(&pointer(f.clone(), false, true), plain), "volatile float *x");
        assert_eq!(text(&pointer(f.clone(), true, true), plain), "volatile const float *x");
        let reference = Qualifiers { reference: true, ..plain };
        assert_eq!(text(&pointer(f, true, false), reference), "const float &x");
        assert_eq!(
            text(&Type::Vector(Scalar::F32, 4), Qualifiers { constant: true, ..plain }),
            "const float4 x"
        );
    }

    #[test]
    fn a_vector_that_cuda_does_not_have_is_refused() {
        let names = Names::new(&Module::default(), &[]);
        assert!(spell(&Type::Vector(Scalar::Bool, 2), &names).is_err());
        assert_eq!(spell(&Type::Vector(Scalar::U8, 4), &names).unwrap(), "uchar4");
    }
}
