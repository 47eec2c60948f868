//! What stands in for the headers of the C library, the C++ library and the CUDA toolkit.
//!
//! Those headers are never read: the functions and types they declare are known to the later
//! phases by name. What they define as macros is here.

use super::Language;

/// Macros by the header that defines them; the value is what the reference platform (LP64,
/// IEC 60559) has.
struct Stub {
    header: &'static str,
    macros: &'static [(&'static str, &'static str)],
}

const LIMITS: Stub = Stub {
    header: "limits.h",
    macros: &[
        ("CHAR_BIT", "8"),
        ("SCHAR_MIN", "(-128)"),
        ("SCHAR_MAX", "127"),
        ("UCHAR_MAX", "255"),
        ("CHAR_MIN", "(-128)"),
        ("CHAR_MAX", "127"),
        ("SHRT_MIN", "(-32768)"),
        ("SHRT_MAX", "32767"),
        ("USHRT_MAX", "65535"),
        ("INT_MIN", "(-2147483647 - 1)"),
        ("INT_MAX", "2147483647"),
        ("UINT_MAX", "4294967295U"),
        ("LONG_MIN", "(-9223372036854775807L - 1L)"),
        ("LONG_MAX", "9223372036854775807L"),
        ("ULONG_MAX", "18446744073709551615UL"),
        ("LLONG_MIN", "(-9223372036854775807LL - 1LL)"),
        ("LLONG_MAX", "9223372036854775807LL"),
        ("ULLONG_MAX", "18446744073709551615ULL"),
    ],
};

const FLOAT: Stub = Stub {
    header: "float.h",
    macros: &[
        ("FLT_RADIX", "2"),
        ("FLT_MANT_DIG", "24"),
        ("FLT_DIG", "6"),
        ("FLT_MAX_EXP", "128"),
        ("FLT_MIN_EXP", "(-125)"),
        ("FLT_MAX", "3.402823466e+38F"),
        ("FLT_MIN", "1.175494351e-38F"),
        ("FLT_EPSILON", "1.192092896e-07F"),
        ("DBL_MANT_DIG", "53"),
        ("DBL_DIG", "15"),
        ("DBL_MAX_EXP", "1024"),
        ("DBL_MIN_EXP", "(-1021)"),
        ("DBL_MAX", "1.7976931348623157e+308"),
        ("DBL_MIN", "2.2250738585072014e-308"),
        ("DBL_EPSILON", "2.2204460492503131e-16"),
    ],
};

const MATH: Stub = Stub {
    header: "math.h",
    macros: &[
        ("M_E", "2.7182818284590452354"),
        ("M_LOG2E", "1.4426950408889634074"),
        ("M_LOG10E", "0.43429448190325182765"),
        ("M_LN2", "0.69314718055994530942"),
        ("M_LN10", "2.30258509299404568402"),
        ("M_PI", "3.14159265358979323846"),
        ("M_PI_2", "1.57079632679489661923"),
        ("M_PI_4", "0.78539816339744830962"),
        ("M_1_PI", "0.31830988618379067154"),
        ("M_2_PI", "0.63661977236758134308"),
        ("M_2_SQRTPI", "1.12837916709551257390"),
        ("M_SQRT2", "1.41421356237309504880"),
        ("M_SQRT1_2", "0.70710678118654752440"),
        // A literal that overflows to infinity is what the C library had before compilers had
        // a builtin for it, and it needs no function in a constant.
        ("INFINITY", "1e10000f"),
        ("HUGE_VALF", "1e10000f"),
        ("HUGE_VAL", "1e10000"),
        ("NAN", "(0.0f / 0.0f)"),
    ],
};

const STDINT: Stub = Stub {
    header: "stdint.h",
    macros: &[
        ("INT8_MIN", "(-128)"),
        ("INT8_MAX", "127"),
        ("UINT8_MAX", "255"),
        ("INT16_MIN", "(-32768)"),
        ("INT16_MAX", "32767"),
        ("UINT16_MAX", "65535"),
        ("INT32_MIN", "(-2147483647 - 1)"),
        ("INT32_MAX", "2147483647"),
        ("UINT32_MAX", "4294967295U"),
        ("INT64_MIN", "(-9223372036854775807L - 1L)"),
        ("INT64_MAX", "9223372036854775807L"),
        ("UINT64_MAX", "18446744073709551615UL"),
        ("SIZE_MAX", "18446744073709551615UL"),
        ("INTPTR_MAX", "9223372036854775807L"),
        ("UINTPTR_MAX", "18446744073709551615UL"),
        ("PTRDIFF_MAX", "9223372036854775807L"),
        ("INT8_C(value)", "value"),
        ("INT16_C(value)", "value"),
        ("INT32_C(value)", "value"),
        ("INT64_C(value)", "value##L"),
        ("UINT8_C(value)", "value"),
        ("UINT16_C(value)", "value"),
        ("UINT32_C(value)", "value##U"),
        ("UINT64_C(value)", "value##UL"),
    ],
};

const INTTYPES: Stub = Stub {
    header: "inttypes.h",
    macros: &[
        ("PRId8", "\"d\""),
        ("PRIu8", "\"u\""),
        ("PRId16", "\"d\""),
        ("PRIu16", "\"u\""),
        ("PRId32", "\"d\""),
        ("PRIi32", "\"i\""),
        ("PRIu32", "\"u\""),
        ("PRIx32", "\"x\""),
        ("PRIX32", "\"X\""),
        ("PRId64", "\"ld\""),
        ("PRIi64", "\"li\""),
        ("PRIu64", "\"lu\""),
        ("PRIx64", "\"lx\""),
        ("PRIX64", "\"lX\""),
        ("SCNd32", "\"d\""),
        ("SCNu32", "\"u\""),
        ("SCNd64", "\"ld\""),
        ("SCNu64", "\"lu\""),
    ],
};

const STDLIB: Stub = Stub {
    header: "stdlib.h",
    macros: &[("EXIT_SUCCESS", "0"), ("EXIT_FAILURE", "1"), ("RAND_MAX", "2147483647")],
};

const MMAN: Stub = Stub {
    header: "sys/mman.h",
    macros: &[
        ("PROT_NONE", "0"),
        ("PROT_READ", "1"),
        ("PROT_WRITE", "2"),
        ("PROT_EXEC", "4"),
        ("MAP_SHARED", "1"),
        ("MAP_PRIVATE", "2"),
        ("MAP_FIXED", "16"),
        ("MAP_ANON", "32"),
        ("MAP_ANONYMOUS", "32"),
        ("MAP_LOCKED", "8192"),
        ("MAP_POPULATE", "32768"),
        ("MAP_HUGETLB", "262144"),
        ("MAP_FAILED", "((void *)-1)"),
    ],
};

const MATH_CONSTANTS: Stub = Stub {
    header: "math_constants.h",
    macros: &[
        ("CUDART_INF_F", "__int_as_float(0x7f800000)"),
        ("CUDART_NAN_F", "__int_as_float(0x7fffffff)"),
        ("CUDART_MIN_DENORM_F", "__int_as_float(0x00000001)"),
        ("CUDART_MAX_NORMAL_F", "__int_as_float(0x7f7fffff)"),
        ("CUDART_NEG_ZERO_F", "__int_as_float(0x80000000)"),
        ("CUDART_ZERO_F", "0.0f"),
        ("CUDART_ONE_F", "1.0f"),
        ("CUDART_SQRT_HALF_F", "0.707106781f"),
        ("CUDART_SQRT_TWO_F", "1.414213562f"),
        ("CUDART_THIRD_F", "0.333333333f"),
        ("CUDART_PIO4_F", "0.785398163f"),
        ("CUDART_PIO2_F", "1.570796327f"),
        ("CUDART_3PIO4_F", "2.356194490f"),
        ("CUDART_2_OVER_PI_F", "0.636619772f"),
        ("CUDART_PI_F", "3.141592654f"),
        ("CUDART_L2E_F", "1.442695041f"),
        ("CUDART_L2T_F", "3.321928094f"),
        ("CUDART_LG2_F", "0.301029996f"),
        ("CUDART_LGE_F", "0.434294482f"),
        ("CUDART_LN2_F", "0.693147181f"),
        ("CUDART_LNT_F", "2.302585093f"),
        ("CUDART_TWO_TO_126_F", "85070591730234615865843651857942052864.f"),
        ("CUDART_INF", "__longlong_as_double(0x7ff0000000000000ULL)"),
        ("CUDART_NAN", "__longlong_as_double(0xfff8000000000000ULL)"),
        ("CUDART_ZERO", "0.0"),
        ("CUDART_ONE", "1.0"),
        ("CUDART_SQRT_TWO", "1.4142135623730951e+0"),
        ("CUDART_SQRT_HALF", "7.0710678118654757e-1"),
        ("CUDART_PI", "3.1415926535897931e+0"),
        ("CUDART_PIO2", "1.5707963267948966e+0"),
        ("CUDART_PIO4", "7.8539816339744828e-1"),
        ("CUDART_LN2", "6.9314718055994529e-1"),
        ("CUDART_L2E", "1.4426950408889634e+0"),
    ],
};

const COMPLEX: Stub = Stub {
    header: "complex.h",
    macros: &[("complex", "_Complex"), ("_Complex_I", "__0I"), ("I", "__0I")],
};

const STUBS: &[&Stub] =
    &[&LIMITS, &FLOAT, &MATH, &STDINT, &INTTYPES, &STDLIB, &MMAN, &MATH_CONSTANTS, &COMPLEX];

/// Headers of the toolkit and of its samples' support code, which are skipped in any folder and
/// with either kind of quotes. `helper_math.h` is not one: kernels need its operators.
const TOOLKIT: &[&str] = &[
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cuda_fp8.h",
    "cuda_device_runtime_api.h",
    "cuda_profiler_api.h",
    "cuda_gl_interop.h",
    "cuda_texture_types.h",
    "cuda_occupancy.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_primitives.h",
    "cuda_surface_types.h",
    "cooperative_groups.h",
    "mma.h",
    "nvrtc.h",
    "curand.h",
    "curand_kernel.h",
    "cublas_v2.h",
    "cublas.h",
    "cufft.h",
    "cusparse.h",
    "cusolverDn.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "device_atomic_functions.h",
    "host_defines.h",
    "driver_types.h",
    "vector_types.h",
    "vector_functions.h",
    "builtin_types.h",
    "channel_descriptor.h",
    "math_constants.h",
    "math_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "surface_functions.h",
    "nvToolsExt.h",
    "nvml.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_timer.h",
    "helper_string.h",
    "helper_image.h",
    "helper_cuda_drvapi.h",
    "helper_gl.h",
    "exception.h",
    "omp.h",
    "mpi.h",
    "cutil.h",
    "cutil_inline.h",
];

/// Headers of the C library that people also write with double quotes.
const LIBRARY: &[&str] = &[
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "math.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "strings.h",
    "tgmath.h",
    "time.h",
    "unistd.h",
    "malloc.h",
    "memory.h",
    "sys/mman.h",
    "sys/time.h",
    "sys/types.h",
    "sys/stat.h",
    "getopt.h",
];

/// True for a header that is skipped wherever it is found.
pub fn is_toolkit(name: &str) -> bool {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    TOOLKIT.contains(&last)
}

/// True for a header of the C library.
pub fn is_library(name: &str) -> bool {
    LIBRARY.contains(&name)
}

/// Headers whose text stands in for one that is not found, by name or by folder: what kernels use of them.
const STAND_INS: &[(&str, &str)] = &[
    ("helper_math.h", include_str!("../prelude/helper_math.cuh")),
    ("mma.h", include_str!("../prelude/mma.cuh")),
    ("cuda_fp8.h", include_str!("../prelude/fp8.cuh")),
    (
        "cub/",
        concat!(include_str!("../prelude/cub.cuh"), include_str!("../prelude/cub_arranged.cuh")),
    ),
];

/// The text that stands in for a header of CUDA.
pub fn stand_in(name: &str) -> Option<&'static str> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let fits = |(known, _): &&(&str, &str)| match known.ends_with('/') {
        true => name.starts_with(known),
        false => last == *known,
    };
    STAND_INS.iter().find(fits).map(|(_, text)| *text)
}

/// The text read in place of a system header: its macros, each unless already defined.
pub fn stub_text(name: &str, language: Language) -> String {
    if let Some(text) = stand_in(name).filter(|_| language == Language::Cuda) {
        return text.into();
    }
    let c_name = match name.strip_prefix('c') {
        Some(cpp) if !name.ends_with(".h") => format!("{cpp}.h"),
        _ => name.to_owned(),
    };
    let mut text = String::new();
    // In C++ `complex` is a template and no macro.
    let known = |s: &&&Stub| language == Language::C || s.header != COMPLEX.header;
    let matching = STUBS
        .iter()
        .filter(known)
        .filter(|s| c_name.ends_with(s.header) && same_name(&c_name, s.header));
    for stub in matching {
        define_all(&mut text, stub.macros, language);
    }
    if c_name == "stdbool.h" && language == Language::C {
        text.push_str("#define bool _Bool\n#define true 1\n#define false 0\n");
    }
    if c_name == "inttypes.h" {
        define_all(&mut text, STDINT.macros, language);
    }
    text
}

fn same_name(name: &str, header: &str) -> bool {
    name.rsplit(['/', '\\']).next() == Some(header)
}

fn define_all(text: &mut String, macros: &[(&str, &str)], language: Language) {
    for (name, value) in macros {
        text.push_str(&format!(
            "#ifndef {}\n#define {name} {}\n#endif\n",
            word(name),
            spelled(name, value, language)
        ));
    }
}

/// The name of a macro without its parameters.
fn word(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

fn spelled<'a>(name: &str, value: &'a str, language: Language) -> &'a str {
    match (name, language) {
        ("NAN", Language::Cuda) => "__int_as_float(0x7fffffff)",
        _ => value,
    }
}

/// Definitions of the well-known macros that `used` answers true for.
///
/// The compiler of CUDA includes most of these headers by itself, and C programs often get them
/// by accident of one header including another, so the names work without their header. Not so `I`, a name like any
/// other where nobody asks for complex numbers.
pub fn implied(language: Language, used: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    if language == Language::Cuda {
        // Words of C++ that the preprocessor, which is one of C, does not know in `#if`.
        let words = [("not", "!"), ("and", "&&"), ("or", "||")];
        for (word, operator) in words.iter().filter(|(word, _)| used(word)) {
            text.push_str(&format!("#define {word} {operator}\n"));
        }
    }
    for stub in STUBS.iter().filter(|s| s.header != COMPLEX.header) {
        for (name, value) in stub.macros.iter().filter(|(name, _)| used(word(name))) {
            define_all(&mut text, &[(name, value)], language);
        }
    }
    text
}
