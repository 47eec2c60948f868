//! Compiling with NVRTC in workers, which needs no GPU. Where the library is not installed, the tests say so and do
//! nothing.

mod workers;

use std::time::Duration;

use warpsmith::gpu::bench::{Bench, Options};
use warpsmith::gpu::cache::Cache;
use warpsmith::gpu::client::Worker;
use warpsmith::gpu::cubin;
use warpsmith::gpu::protocol::{Compile, Reason};
use workers::{SLOW, request, start};

/// A compiler's version, or `None` after saying that it is not there.
fn version() -> Option<String> {
    match Worker::start(&start(&["--backend", "compiler"]), SLOW) {
        Ok((_, hello)) => Some(hello.compiler),
        Err(error) => {
            eprintln!("not run, for want of a compiler: {error}");
            None
        }
    }
}

fn options(compiler: String, cache: Option<Cache>) -> Options {
    let start = start(&["--backend", "compiler"]);
    Options { start, limit: Duration::from_secs(120), cache, compiler }
}

#[test]
fn a_bench_compiles_and_the_cache_answers_the_second_time() {
    let Some(compiler) = version() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path());
    let texts: Vec<Compile> =
        (0..6).map(|k| request(&format!("y[i] = a * x[i] + {k}.0f;"))).collect();
    let mut before = vec![];
    for round in 0..2 {
        let mut bench = Bench::new(options(compiler.clone(), Some(cache.clone())));
        let binaries: Vec<_> = texts.iter().map(|t| bench.compile(t).unwrap()).collect();
        for binary in &binaries {
            let [kernel] = &binary.kernels[..] else { panic!("{:?}", binary.kernels) };
            assert_eq!((kernel.symbol.as_str(), kernel.shared, kernel.spills), ("axpy", 0, 0));
            let said = warpsmith::device::ptxas::parse(&binary.log);
            assert_eq!(said[0].registers, kernel.registers);
        }
        assert_eq!(cache.contents().unwrap().entries, 6);
        if round == 1 {
            assert_eq!(before, binaries);
        }
        before = binaries;
    }
}

/// Registers, shared memory and spills, for kernels by their names in the source.
#[test]
fn resources_are_those_the_assembler_reports() {
    let Some(compiler) = version() else { return };
    let source = "
template <int N, typename T> __global__ void tiles(const T *x, T *y)
{
    __shared__ T tile[N];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
__device__ __noinline__ float helper(float x) { return x > 0.0f ? sinf(x) : x; }
__global__ void __launch_bounds__(1024, 2) tight(const float *x, float *y)
{
    float v[48];
    for (int k = 0; k < 48; ++k) { v[k] = helper(x[k * 97 + threadIdx.x]); }
    for (int k = 0; k < 48; ++k) { y[k * 89 + threadIdx.x] = v[k] * v[(int)x[k] & 31]; }
}
";
    for arch in ["sm_75", "sm_90"] {
        let request = Compile {
            source: source.into(),
            file: "tiles.cu".into(),
            arch: arch.into(),
            options: vec![],
            kernels: vec!["tiles<64, float>".into(), "tiles<32, double>".into(), "tight".into()],
        };
        let binary = Bench::new(options(compiler.clone(), None)).compile(&request).unwrap();
        assert_eq!(binary.kernels.len(), 3);
        let said = warpsmith::device::ptxas::parse(&binary.log);
        for kernel in &binary.kernels {
            let expected = said.iter().find(|r| r.kernel == kernel.symbol).unwrap();
            assert_eq!(
                (kernel.registers, kernel.shared, kernel.local, kernel.spills),
                (
                    expected.registers,
                    expected.shared,
                    expected.stack,
                    expected.spill_stores + expected.spill_loads
                ),
                "{arch} {}",
                kernel.name
            );
        }
        assert_eq!(binary.kernels[0].shared, 256);
        assert!(binary.kernels[2].local > 0);
        // Whatever is cut off or changed, the reader of binaries stays calm.
        assert!(cubin::length(&binary.cubin).is_some_and(|n| n <= binary.cubin.len() as u64));
        for end in (0..binary.cubin.len()).step_by(97) {
            let cut = &binary.cubin[..end];
            assert!(cubin::length(cut).is_none_or(|n| n > end as u64));
            let _ = cubin::kernels(cut);
        }
    }
}

#[test]
fn errors_of_the_text_are_the_compilers_words() {
    let Some(compiler) = version() else { return };
    let mut bench = Bench::new(options(compiler, None));
    let invalid = bench.compile(&request("y[i] = undefined_name;")).unwrap_err();
    assert_eq!(invalid.reason, Reason::Compile);
    assert!(invalid.detail.contains("undefined_name"), "{}", invalid.detail);
    let unknown = Compile { arch: "sm_1".into(), ..request("y[i] = a;") };
    assert_eq!(bench.compile(&unknown).unwrap_err().reason, Reason::Compile);
    assert!(bench.compile(&request("y[i] = a;")).is_ok());
}

/// The compiler has no C library; what kernels want of its headers is there all the same.
#[test]
fn constants_and_types_of_the_c_library_are_known() {
    let Ok((mut worker, _)) = Worker::start(&start(&["--backend", "compiler"]), SLOW) else {
        return eprintln!("not run, for want of a compiler");
    };
    // The header of asynchronous copies declares some of the types itself.
    let headers = ["math.h", "cfloat", "limits.h", "cuda_pipeline.h", "cstdint", "stdlib.h"];
    let mut request = request(
        "const uint32_t k = INT_MAX; const double big = DBL_MAX; y[i] = x[i] < INFINITY ? x[i] + (float)k : isnan(x[i]) ? NAN : fminf((float)big, -FLT_MAX);",
    );
    let includes: String = headers.iter().map(|h| format!("#include <{h}>\n")).collect();
    request.source = includes + &request.source;
    let (reply, _) = worker
        .ask(
            &warpsmith::gpu::protocol::Request::Compile(request),
            &warpsmith::gpu::client::NO_BLOBS,
            SLOW,
        )
        .unwrap();
    assert!(matches!(reply, warpsmith::gpu::protocol::Reply::Compiled(..)), "{reply:?}");
}
