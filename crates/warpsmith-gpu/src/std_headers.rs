//! The headers of the C library that kernels include for constants and types: the run-time compiler brings the functions
//! of `math.h` and none of the files.

use std::ffi::CStr;

/// Limits that a program may also give itself stay as they are.
const MATH: &CStr = c"#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#endif
";

const FLOAT: &CStr = c"#pragma once
#ifndef FLT_MAX
#define FLT_MAX 3.40282346638528859812e+38f
#define FLT_MIN 1.17549435082228750797e-38f
#define FLT_EPSILON 1.1920928955078125e-07f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#endif
#ifndef DBL_MAX
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_EPSILON 2.22044604925031308085e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#endif
";

const LIMITS: &CStr = c"#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL
#endif
";

/// `cuda_pipeline_helpers.h` declares three of these itself where NVRTC compiles it, with these types.
const STDINT: &CStr = c"#pragma once
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long long uint64_t;
typedef long intptr_t;
typedef uint64_t uintptr_t;
#ifndef INT32_MAX
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 18446744073709551615ULL
#endif
";

/// Types that the compiler knows already, and functions that kernels cannot call.
const EMPTY: &CStr = c"#pragma once
";

/// Names and texts.
pub const HEADERS: [(&CStr, &CStr); 18] = [
    (c"math.h", MATH),
    (c"cmath", MATH),
    (c"float.h", FLOAT),
    (c"cfloat", FLOAT),
    (c"limits.h", LIMITS),
    (c"climits", LIMITS),
    (c"stdint.h", STDINT),
    (c"cstdint", STDINT),
    (c"stddef.h", EMPTY),
    (c"cstddef", EMPTY),
    (c"stdbool.h", EMPTY),
    (c"stdlib.h", EMPTY),
    (c"cstdlib", EMPTY),
    (c"stdio.h", EMPTY),
    (c"cstdio", EMPTY),
    (c"string.h", EMPTY),
    (c"cuda_runtime.h", EMPTY),
    (c"algorithm", EMPTY),
];
