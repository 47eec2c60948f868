//! Comparing outputs on the device, where they are: reading them back would take longer than most kernels.

use crate::driver::{Buffer, Function, Gpu};
use crate::error::GpuError;
use crate::nvrtc::Compiler;
use crate::protocol::{Compile, Element, Output, Tolerance};

type Result<T> = std::result::Result<T, GpuError>;

/// Counts elements that differ, and finds the first. Numbers are compared as doubles.
const SOURCE: &str = r#"
#include <cuda_fp16.h>
#include <cuda_bf16.h>

struct Difference {
    unsigned long long count;
    unsigned long long first;
};

template <typename T>
__device__ bool near(T expected, T actual, double absolute, double relative, double own)
{
    const double e = (double)expected;
    const double a = (double)actual;
    if (isnan(e) || isnan(a)) {
        return isnan(e) && isnan(a);
    }
    if (isinf(e) || isinf(a)) {
        return e == a;
    }
    return fabs(a - e) <= fmax(absolute + relative * fabs(e), own * fabs(e)) && (a != 0.0 || e != 0.0 || absolute > 0.0 || signbit(a) == signbit(e));
}

__device__ void note(Difference *found, unsigned long long i)
{
    atomicAdd(&found->count, 1ULL);
    atomicMin(&found->first, i);
}

template <typename T>
__device__ void numbers(const T *expected, const T *actual, unsigned long long n, double absolute, double relative,
                        double own, Difference *found)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (!near(expected[i], actual[i], absolute, relative, own)) {
            note(found, i);
        }
    }
}

#define COMPARE(NAME, TYPE)                                                                                      \
    extern "C" __global__ void NAME(const TYPE *expected, const TYPE *actual, unsigned long long n,              \
                                    double absolute, double relative, double own, Difference *found)             \
    {                                                                                                            \
        numbers(expected, actual, n, absolute, relative, own, found);                                            \
    }

COMPARE(compare_f16, __half)
COMPARE(compare_bf16, __nv_bfloat16)
COMPARE(compare_f32, float)
COMPARE(compare_f64, double)

extern "C" __global__ void compare_bits(const unsigned char *expected, const unsigned char *actual,
                                        unsigned long long n, double absolute, double relative, double own,
                                        Difference *found)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (expected[i] != actual[i]) {
            note(found, i);
        }
    }
}
"#;

/// The kernels that compare.
pub struct Comparer {
    gpu: Gpu,
    functions: Vec<(&'static str, Function)>,
    found: Buffer,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first element that differs, by its flat index.
    pub first: u64,
    /// How many do.
    pub count: u64,
}

const NAMES: [&str; 5] =
    ["compare_f16", "compare_bf16", "compare_f32", "compare_f64", "compare_bits"];

impl Comparer {
    /// # Errors
    /// The compiler's or the driver's.
    pub fn new(gpu: &Gpu, compiler: &Compiler, arch: &str) -> Result<Comparer> {
        let request = Compile {
            source: SOURCE.into(),
            file: "compare.cu".into(),
            arch: arch.into(),
            options: vec![],
            kernels: vec![],
        };
        let module = gpu.load(&compiler.compile(&request)?.cubin)?;
        let functions =
            NAMES.iter().map(|n| Ok((*n, module.function(n)?))).collect::<Result<Vec<_>>>()?;
        Ok(Comparer { gpu: gpu.clone(), functions, found: gpu.allocate(16)? })
    }

    /// Compares a buffer with what it should hold.
    ///
    /// # Errors
    /// The driver's, which may be that of the kernel that wrote the buffer.
    pub fn difference(
        &self,
        output: &Output,
        expected: &Buffer,
        actual: &Buffer,
    ) -> Result<Option<Difference>> {
        let exact = output.tolerance == Tolerance::default();
        let (name, size) = match output.element {
            Element::F16 => ("compare_f16", 2),
            Element::Bf16 => ("compare_bf16", 2),
            Element::F32 => ("compare_f32", 4),
            Element::F64 => ("compare_f64", 8),
            Element::Bits(_) => ("compare_bits", 1),
        };
        if !exact && matches!(output.element, Element::Bits(_)) {
            return Err(GpuError::BadRequest("bits have no tolerance".into()));
        }
        let n = actual.len() / size;
        let mut start = vec![0u8; 8];
        start.extend([0xff; 8]);
        self.found.write(0, &start)?;
        let function = self.functions.iter().find(|(known, _)| *known == name);
        let Some((_, function)) = function else { return Ok(None) };
        let blocks = n.div_ceil(256).clamp(1, 4096) as u32;
        let args = [
            expected.address().to_le_bytes(),
            actual.address().to_le_bytes(),
            n.to_le_bytes(),
            output.tolerance.absolute.to_le_bytes(),
            output.tolerance.relative.to_le_bytes(),
            output.tolerance.own.to_le_bytes(),
            self.found.address().to_le_bytes(),
        ];
        function.launch([blocks, 1, 1], [256, 1, 1], 0, &args.map(|a| a.to_vec()))?;
        self.gpu.synchronize()?;
        let mut result = [0u8; 16];
        self.found.read(0, &mut result)?;
        let word = |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|k| result[at + k]));
        let element = match output.element {
            Element::Bits(width) => u64::from(width.max(1)),
            _ => 1,
        };
        let (count, first) = (word(0), word(8));
        Ok((count > 0).then_some(Difference { first: first / element, count }))
    }
}
