//! Constants of the standard headers, which are not read.

use warpsmith_ir::{Scalar, Value};

/// The value of a macro of `<math.h>`, `<float.h>`, `<limits.h>`, `<stdint.h>` or `<stdbool.h>`.
pub fn constant(name: &str) -> Option<Value> {
    use std::f64::consts as c;
    let double = |v| Value::float(Scalar::F64, v);
    let single = |v: f32| Value::float(Scalar::F32, v.into());
    let int = |v: i32| Value::i32(v);
    Some(match name {
        "M_PI" => double(c::PI),
        "M_PI_2" => double(c::FRAC_PI_2),
        "M_PI_4" => double(c::FRAC_PI_4),
        "M_1_PI" => double(c::FRAC_1_PI),
        "M_2_PI" => double(c::FRAC_2_PI),
        "M_2_SQRTPI" => double(c::FRAC_2_SQRT_PI),
        "M_E" => double(c::E),
        "M_LOG2E" => double(c::LOG2_E),
        "M_LOG10E" => double(c::LOG10_E),
        "M_LN2" => double(c::LN_2),
        "M_LN10" => double(c::LN_10),
        "M_SQRT2" => double(c::SQRT_2),
        "M_SQRT1_2" => double(c::FRAC_1_SQRT_2),
        "INFINITY" | "HUGE_VALF" => single(f32::INFINITY),
        "HUGE_VAL" => double(f64::INFINITY),
        "NAN" => single(f32::NAN),
        "FLT_MAX" => single(f32::MAX),
        "FLT_MIN" => single(f32::MIN_POSITIVE),
        "FLT_EPSILON" => single(f32::EPSILON),
        "DBL_MAX" => double(f64::MAX),
        "DBL_MIN" => double(f64::MIN_POSITIVE),
        "DBL_EPSILON" => double(f64::EPSILON),
        "CHAR_BIT" => int(8),
        "SCHAR_MAX" | "INT8_MAX" | "CHAR_MAX" => int(127),
        "SCHAR_MIN" | "INT8_MIN" | "CHAR_MIN" => int(-128),
        "UCHAR_MAX" | "UINT8_MAX" => int(255),
        "SHRT_MAX" | "INT16_MAX" => int(32767),
        "SHRT_MIN" | "INT16_MIN" => int(-32768),
        "USHRT_MAX" | "UINT16_MAX" => int(65535),
        "INT_MAX" | "INT32_MAX" => int(i32::MAX),
        "INT_MIN" | "INT32_MIN" => int(i32::MIN),
        "UINT_MAX" | "UINT32_MAX" => Value::int(Scalar::U32, u32::MAX.into()),
        "LONG_MAX" | "LLONG_MAX" | "INT64_MAX" | "PTRDIFF_MAX" => Value::int(Scalar::I64, i64::MAX),
        "LONG_MIN" | "LLONG_MIN" | "INT64_MIN" | "PTRDIFF_MIN" => Value::int(Scalar::I64, i64::MIN),
        "ULONG_MAX" | "ULLONG_MAX" | "UINT64_MAX" | "SIZE_MAX" => Value::int(Scalar::U64, -1),
        "true" => int(1),
        "false" => int(0),
        _ => return None,
    })
}
