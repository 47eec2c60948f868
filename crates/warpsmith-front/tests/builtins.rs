//! Predefined functions of CUDA through the whole front end: accepted ones give IR that the verifier accepts, refused
//! ones the right diagnostic.

use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, Request};
use warpsmith_ir::{Diagnostic, Module, SourceMap};

fn lower(statements: &str) -> Result<Module, (Vec<Diagnostic>, String)> {
    let text = format!(
        "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n\
         __global__ void k(float* f, double* d, int* a, unsigned* u, unsigned long long* l, half2* h, float4* v)\n\
         {{\n__shared__ float s[256];\nint i = threadIdx.x;\n{statements}\n}}\n"
    );
    let mut sources = SourceMap::new();
    let parsed = parse::parse(
        "t.cu",
        text.as_bytes(),
        &ParseOptions::new(Language::Cuda),
        &DiskLoader,
        &mut sources,
    );
    let lowered = parsed.and_then(|p| sema::lower_cuda(&p.unit, &Request::all_kernels()));
    lowered.map(|l| l.module).map_err(|list| {
        let all: Vec<String> = list.iter().map(|d| d.render(&sources, false)).collect();
        (list, all.join("\n"))
    })
}

#[test]
fn predefined_functions_lower_to_verified_ir() {
    let mut bad = vec![];
    for text in [
        "f[i] = sqrtf(f[i]) + __expf(f[i]) * powf(f[i], 2.0f) + fmaf(f[0], f[1], f[2]);",
        "d[i] = sqrt(d[i]) + pow(d[i], 2) + fabs(d[0]) + hypot(d[1], d[2]) + tgamma(d[3]);",
        "f[i] = sqrt(f[i]) + min(f[0], 1.0f) + fmaxf(f[1], f[2]) + std::max(f[0], f[1]) + ::fabsf(f[2]);",
        "a[i] = min(a[0], a[1]) + max(3, a[2]) + abs(a[3]) + (int)min(u[0], 7u);",
        "float s1, c1; sincosf(f[i], &s1, &c1); f[i] = s1 * c1;",
        "int e; f[i] = frexpf(f[i], &e) + ldexpf(f[0], e); float w; f[1] = modff(f[2], &w) + w;",
        "a[i] = isnan(f[i]) + isinf(f[i]) + signbit(f[i]);",
        "a[i] = __popc(u[0]) + __clz(a[1]) + __ffs(a[2]) + __popcll(l[0]) + __mulhi(a[0], a[1]) + __mul24(a[0], 3);",
        "u[i] = __brev(u[0]) ^ __byte_perm(u[0], u[1], 0x5410) ^ __funnelshift_l(u[0], u[1], 3) ^ __umulhi(u[0], u[1]);",
        "a[i] = __dp4a(a[0], a[1], a[2]); u[i] = __sad(a[0], a[1], u[2]) + __usad(u[0], u[1], u[2]);",
        "a[i] = __float2int_rn(f[0]) + __float2int_rd(f[1]) + __float_as_int(f[2]); f[i] = __int2float_rn(a[0]) + __int_as_float(a[1]);",
        "half x = __float2half(f[0]); f[i] = __half2float(__hadd(x, __hmul(x, x))); h[i] = __hfma2(h[0], h[1], h[2]);",
        "h[i] = __floats2half2_rn(f[0], f[1]); float2 p = __half22float2(h[1]); f[i] = p.x + __low2float(h[0]) + __high2float(h[0]);",
        "v[i] = make_float4(f[0], f[1], f[2], 1); int2 q = make_int2(a[0], a[1]); a[i] = q.y;",
        "atomicAdd(&f[0], 1.0f); atomicAdd(d, 2.0); int old = atomicAdd(a, 1); atomicMax(&a[1], old); atomicCAS(u, 0u, 1u);",
        "atomicAdd(&s[0], 1.0f); atomicExch(&l[0], 3ull); atomicInc(u, 7u); atomicOr_block(u, 2u); atomicAdd_system(a, 1);",
        "f[i] += __shfl_down_sync(0xffffffff, f[i], 16); a[i] = __shfl_xor_sync(~0u, a[i], 1, 16); d[i] = __shfl_sync(~0u, d[i], 0);",
        "h[i] = __shfl_up_sync(0xffffffffu, h[i], 2);",
        "u[i] = __ballot_sync(~0u, f[i] > 0) | __activemask(); a[i] = __all_sync(~0u, a[i]) + __any_sync(~0u, i < 3);",
        "int same; u[i] = __match_any_sync(~0u, a[i]) + __match_all_sync(~0u, a[i], &same); a[i] = same + __reduce_add_sync(~0u, a[i]);",
        "__syncthreads(); a[0] = __syncthreads_count(i > 3) + __syncthreads_or(i == 2); __syncwarp(); __syncwarp(0xff); __threadfence();",
        "f[i] = __ldg(&f[0]) + __ldcg(f + 1); __stcs(&f[2], 1.0f); v[i] = __ldg(v); __stwt(&v[1], v[2]);",
        "__pipeline_memcpy_async(&s[0], &f[0], 16); __pipeline_commit(); __pipeline_wait_prior(0);",
        "long long t = clock64(); l[i] = t + clock(); __nanosleep(20); if (i < 0) __trap();",
        "auto b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); f[i] += w.shfl_down(f[i], 4); w.sync(); b.sync(); a[i] = w.thread_rank() + b.size() + w.meta_group_rank();",
        "auto w = cg::tiled_partition<8>(cg::this_thread_block()); a[i] = cg::reduce(w, a[i], cg::plus<int>()); u[i] = w.ballot(i > 2) + w.any(i == 1);",
        "auto g = cg::this_grid(); l[i] = g.thread_rank() + g.size(); auto c = cg::coalesced_threads(); a[i] = c.thread_rank() + c.size();",
        "f[i] = std::numeric_limits<float>::max() - std::numeric_limits<float>::infinity(); a[i] = std::numeric_limits<int>::lowest();",
        "std::swap(a[0], a[1]); memset(&s[0], 0, 16); memcpy(&s[0], &f[0], sizeof(float4));",
    ] {
        match lower(text) {
            Ok(module) => {
                if let Err(list) = warpsmith_ir::verify::verify(&module) {
                    bad.push(format!("{text}\n{list:?}"));
                }
            }
            Err((_, all)) => bad.push(format!("{text}\n{all}")),
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

#[test]
fn wrong_calls_have_one_diagnostic_each() {
    let mut bad = vec![];
    for (text, code, says) in [
        ("f[i] = __shfl_down(f[i], 16);", "W104", "__shfl_down_sync"),
        ("a[i] = __shfl_donw_sync(~0u, a[i], 1);", "W100", "__shfl_down_sync"),
        ("f[i] = __fadd_rz(f[0], f[1]);", "W106", "__fadd_rn"),
        ("f[i] = sqrtf(f[0], f[1]);", "W101", "1 argument"),
        ("atomicInc(a, 1);", "W102", "unsigned int"),
        ("atomicAdd(f[0], 1.0f);", "W102", "pointer"),
        ("f[i] = __shfl_sync(~0u, f[i], 0, 12);", "W103", "power of two"),
        ("__pipeline_memcpy_async(&s[0], &f[0], 12);", "W103", "16 bytes"),
        ("__pipeline_wait_prior(i);", "W103", "constant"),
        ("memmove(&f[0], &f[1], 1 << 20);", "W108", "loop"),
        ("f[i] = erfinvf(f[i]);", "W107", "not supported"),
    ] {
        match lower(text) {
            Ok(_) => bad.push(format!("accepted: {text}")),
            Err((list, all)) => {
                if list.len() != 1 || list[0].code != code || !all.contains(says) {
                    bad.push(format!("{text}: wanted {code} with `{says}`\n{all}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

#[test]
fn blocks_tiles_and_coalesced_lanes_are_thread_groups() {
    for text in [
        "auto sum = [&](cg::thread_group g, int v) { g.sync(); return v + g.thread_rank() + g.size(); };
         cg::thread_block b = cg::this_thread_block();
         a[i] = sum(b, 1) + sum(cg::tiled_partition<16>(b), 2) + sum(cg::coalesced_threads(), 3);",
        "cg::thread_group t = cg::tiled_partition(cg::this_thread_block(), 8); cg::sync(t);
         cg::thread_group u = t; a[i] = u.num_threads();",
    ] {
        if let Err((_, shown)) = lower(text) {
            panic!("{text}\n{shown}");
        }
    }
    let refused = lower("cg::thread_group t = cg::this_grid(); t.sync();");
    assert!(refused.is_err_and(|(list, _)| list.iter().any(|d| d.code == "W062")));
}
