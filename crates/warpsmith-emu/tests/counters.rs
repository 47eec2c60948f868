//! Performance counters: exact counts of small kernels, and a recount from the addresses.

mod support;

use std::collections::BTreeSet;

use support::{Memory, directives, launch, line, lower};
use warpsmith_emu::counters::{
    AccessCounters, AccessKind, Counters, InstructionClass as Class, MemoryKind,
};
use warpsmith_emu::{Checks, Options};

/// Counts of the one launch of a text, with and without checks, which must not matter.
fn count_with(text: &str, prepare: impl Fn(&mut Memory)) -> Counters {
    let (all, _) = directives(text);
    let source = lower("kernel.cu", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = |checks: Checks, counters: bool| {
        let options = Options { jobs: 1, checks, counters, ..Options::default() };
        let mut memory = Memory::new(&source.module);
        // The first launch makes the buffers, the second finds them prepared.
        let first = launch(&source, &all[0], &mut memory, &Options::default());
        first.unwrap_or_else(|e| panic!("{e}"));
        prepare(&mut memory);
        let outcome = launch(&source, &all[0], &mut memory, &options);
        let outcome = outcome.unwrap_or_else(|e| panic!("{e}"));
        let bytes: Vec<Vec<u8>> = memory.device.buffers.iter().map(|b| b.bytes.clone()).collect();
        (outcome.counters, outcome.findings, outcome.stats, bytes)
    };
    let (checked, findings, stats, bytes) = run(Checks::ALL, true);
    assert_eq!(checked, run(Checks::NONE, true).0, "checks make a difference");
    let off = run(Checks::ALL, false);
    assert_eq!((off.0, off.1, off.2, off.3), (None, findings, stats, bytes), "counting shows");
    checked.expect("counters")
}

/// Counts of a kernel of one block of 32 threads.
fn count(body: &str) -> Counters {
    count_with(
        &format!(
            "// warpsmith: grid=1 block=32 arg x=float[4096]=iota arg y=float[4096]\n\
             __constant__ float c[64] = {{1}};\n\
             __global__ void k(float *x, float *y) {{\nint t = threadIdx.x;\n{body}\n}}\n"
        ),
        |_| {},
    )
}

/// The one access to an array of a kind.
fn access(c: &Counters, array: &str, kind: AccessKind) -> AccessCounters {
    let mut all = c.accesses.iter().filter(|a| a.array == array && a.kind == kind);
    let found = all.next().unwrap_or_else(|| panic!("no {kind:?} of {array} in {c:#?}"));
    assert!(all.next().is_none(), "several {kind:?} of {array} in {c:#?}");
    found.clone()
}

fn load(c: &Counters, array: &str) -> AccessCounters {
    access(c, array, AccessKind::Load)
}

/// Requests, lanes, sectors, ideal sectors of a load of `x`.
fn global(body: &str) -> (u64, u64, u64, u64) {
    let a = load(&count(body), "x");
    assert_eq!(a.memory, MemoryKind::Global);
    (a.requests.warps, a.requests.threads, a.sectors, a.ideal_sectors)
}

#[test]
fn sectors_of_global_loads() {
    assert_eq!(global("y[t] = x[t];"), (1, 32, 4, 4), "coalesced");
    assert_eq!(global("y[t] = x[t + 1];"), (1, 32, 5, 4), "misaligned by an element");
    assert_eq!(global("y[t] = x[2 * t];"), (1, 32, 8, 4), "every other");
    assert_eq!(global("y[t] = x[32 * t];"), (1, 32, 32, 4), "a column");
    assert_eq!(global("y[t] = x[5];"), (1, 32, 1, 1), "a broadcast");
    assert_eq!(global("y[t] = x[t / 8];"), (1, 32, 1, 1), "four elements");
    assert_eq!(global("y[t] = x[31 - t];"), (1, 32, 4, 4), "backwards");
    assert_eq!(global("if (t < 16) y[t] = x[t];"), (1, 16, 2, 2), "half of the warp");
    assert_eq!(global("for (int k = 0; k < 3; ++k) y[t] += x[t * 8];"), (3, 96, 96, 12), "a loop");
    assert_eq!(global("y[t] = ((float4 *)x)[t].y;"), (1, 32, 16, 4), "a part of float4");
    assert_eq!(global("float4 v = ((float4 *)x)[t]; y[t] = v.x + v.w;"), (1, 32, 16, 16), "float4");
    assert_eq!(global("double v = ((double *)x)[t]; y[t] = v;"), (1, 32, 8, 8), "double");
    assert_eq!(global("y[t] = ((signed char *)x)[t];"), (1, 32, 1, 1), "bytes");
}

#[test]
fn two_halves_of_a_warp_ask_apart() {
    let c = count("if (t % 2) y[t] = x[t]; else y[t] = x[t + 64];");
    let both: Vec<_> = c.accesses.iter().filter(|a| a.array == "x").collect();
    let facts =
        |a: &AccessCounters| (a.requests.warps, a.requests.threads, a.sectors, a.ideal_sectors);
    assert_eq!(both.iter().map(|a| facts(a)).collect::<Vec<_>>(), [(1, 16, 4, 2); 2]);
    assert_eq!(c.branches.len(), 1);
    assert_eq!((c.branches[0].executed.warps, c.branches[0].divergent), (1, 1));
    let c = count("if (t < 32) y[t] = x[t]; else y[t] = 0;");
    assert!(c.branches.iter().all(|b| b.divergent == 0), "{:?}", c.branches);
}

#[test]
fn stores_and_atomics() {
    let c = count("y[t * 2] = 1.0f; atomicAdd(x + t % 4, 1.0f);");
    let store = access(&c, "y", AccessKind::Store);
    assert_eq!((store.requests.warps, store.sectors, store.ideal_sectors), (1, 8, 4));
    let atomic = access(&c, "x", AccessKind::Atomic);
    assert_eq!((atomic.requests.threads, atomic.sectors, atomic.ideal_sectors), (32, 1, 1));
    assert_eq!(c.class(Class::GlobalStore).warps, 1);
    assert_eq!(c.class(Class::GlobalAtomic).threads, 32);
}

/// Requests, wavefronts and bank conflicts of the load of a shared array.
fn shared(declaration: &str, index: &str) -> (u64, f64, f64) {
    let array = declaration.split_whitespace().nth(1).unwrap_or("").split('[').next().unwrap_or("");
    let c = count(&format!(
        "__shared__ __align__(16) {declaration}; char *p = (char *)&{array};\n\
         for (int i = t; i < (int)sizeof({array}); i += 32) p[i] = 0;\n\
         __syncthreads(); auto v = {index}; y[t] = *(float *)&v;"
    ));
    let all: Vec<_> =
        c.accesses.iter().filter(|a| a.array == array && a.kind == AccessKind::Load).collect();
    let [a] = all[..] else { panic!("{all:?}") };
    (a.requests.warps, a.wavefronts, a.bank_conflicts())
}

#[test]
fn wavefronts_of_shared_memory() {
    assert_eq!(shared("float s[32]", "s[t]"), (1, 1.0, 0.0), "a row");
    assert_eq!(shared("float s[32]", "s[7]"), (1, 1.0, 0.0), "a broadcast");
    assert_eq!(shared("float s[64]", "s[2 * t]"), (1, 2.0, 1.0), "every other");
    assert_eq!(shared("float s[32][32]", "s[t][3]"), (1, 32.0, 31.0), "a column");
    assert_eq!(shared("float s[32][33]", "s[t][3]"), (1, 1.0, 0.0), "a padded column");
    assert_eq!(shared("float s[16][16]", "s[t % 16][t / 16]"), (1, 8.0, 7.0), "a tile of 16");
    assert_eq!(shared("double s[32]", "s[t]"), (1, 2.0, 0.0), "doubles");
    assert_eq!(shared("double s[64]", "s[2 * t]"), (1, 4.0, 2.0), "every other double");
    assert_eq!(shared("float4 s[32]", "s[t]"), (1, 4.0, 0.0), "float4");
    assert_eq!(shared("float4 s[64]", "s[2 * t]"), (1, 8.0, 4.0), "every other float4");
}

#[test]
fn shared_atomics_go_one_after_another() {
    let c = count(
        "__shared__ int s[32]; s[t] = 0; __syncthreads(); atomicAdd(s + t % 4, 1); __syncthreads(); y[t] = s[t];",
    );
    let a = access(&c, "s", AccessKind::Atomic);
    assert_eq!((a.requests.warps, a.wavefronts, a.ideal_wavefronts), (1, 8.0, 1.0));
    assert_eq!(c.class(Class::BlockBarrier).warps, 2);
}

#[test]
fn other_memories() {
    let c = count(
        "float v[4]; for (int k = 0; k < 4; ++k) v[(k + t) % 4] = k; y[t] = v[t % 4] + c[t % 2];",
    );
    let store = access(&c, "v", AccessKind::Store);
    assert_eq!((store.memory, store.requests.warps), (MemoryKind::Local, 4));
    assert_eq!((store.sectors, store.ideal_sectors), (64, 16), "each lane its own word of four");
    let constant = load(&c, "c");
    assert_eq!((constant.memory, constant.wavefronts), (MemoryKind::Constant, 2.0));
}

#[test]
fn copies_that_go_on_by_themselves() {
    let c = count(
        "__shared__ __align__(16) float s[128];\n\
         __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16); __pipeline_commit();\n\
         __pipeline_wait_prior(0); __syncthreads(); y[t] = s[t];",
    );
    let from = access(&c, "x", AccessKind::AsyncCopy);
    assert_eq!(
        (from.requests.warps, from.requests.threads, from.bytes, from.sectors),
        (1, 32, 16, 16)
    );
    let to = access(&c, "s", AccessKind::AsyncCopy);
    assert_eq!((to.requests.warps, to.wavefronts), (1, 4.0));
    assert_eq!(c.class(Class::AsyncCopy).warps, 1);
}

#[test]
fn classes_of_instructions() {
    let c = count(
        "float a = x[t]; double d = a; a = a * 3.0f; y[t] = a - 2.0f; d = d + 1.0; d = d * d; y[t + 32] = sqrtf(a);\n\
         y[t + 64] = fmaf(a, a, a); y[t + 96] = d; y[t + 128] = __shfl_xor_sync(0xffffffffu, a, 1);\n\
         if (__any_sync(0xffffffffu, a > 1.0f)) y[t + 160] = 1.0f;",
    );
    let one = |class: Class| assert_eq!(c.class(class).warps, 1, "{class:?} in {:?}", c.classes);
    one(Class::Fp32Add);
    one(Class::Fp32Mul);
    one(Class::Fp32Fma);
    one(Class::Fp64Add);
    one(Class::Fp64Mul);
    one(Class::SpecialFunction);
    one(Class::Shuffle);
    one(Class::Vote);
    one(Class::GlobalLoad);
    assert_eq!(c.class(Class::GlobalStore).warps, 6);
    assert_eq!(c.class(Class::Conversion).warps, 2);
    assert_eq!((c.blocks, c.warps), (1, 1));
}

#[test]
fn blocks_and_what_they_share() {
    let c = count_with(
        "// warpsmith: grid=4,2 block=64 arg a=float[256] arg b=float[64] arg o=float[512]\n\
         __global__ void k(const float *a, const float *b, float *o) {\n\
         int x = blockIdx.x * 64 + threadIdx.x; float s = 0;\n\
         for (int k = 0; k < 2; ++k) s += a[x] * b[8 * blockIdx.y + k]; o[blockIdx.y * 256 + x] = s; }\n",
        |_| {},
    );
    assert_eq!((c.blocks, c.warps), (8, 16));
    let array = |name: &str| c.arrays.iter().find(|a| a.array == name).expect("an array");
    let a = array("a");
    assert_eq!((a.requests, a.sectors, a.block_sectors, a.grid_sectors), (32, 128, 64, 32));
    assert_eq!(a.varies, [true, false, false]);
    assert_eq!(a.reuses, 64, "each sector of a block is read in two iterations");
    let b = array("b");
    assert_eq!(
        (b.sectors, b.block_sectors, b.grid_sectors, b.varies),
        (32, 8, 2, [false, true, false])
    );
    assert_eq!(array("o").varies, [true, true, false]);
}

#[test]
fn a_place_in_the_source() {
    let text = "// warpsmith: grid=1 block=32 arg x=float[64] arg y=float[64]\n\
        __global__ void k(float *x, float *y) {\n  y[threadIdx.x] =\n    x[threadIdx.x];\n}\n";
    let c = count_with(text, |_| {});
    let span = load(&c, "x").span.expect("a place");
    assert_eq!(line(text, span.start), 4);
}

/// Lanes whose words shared memory looks up at once.
fn parts(addresses: &[Option<u64>], size: u64) -> Vec<Vec<Option<u64>>> {
    if size < 8 {
        return vec![addresses.to_vec()];
    }
    let (pair, single) = if size == 8 { (32, 16) } else { (16, 8) };
    let alike = |a: Option<u64>, b: Option<u64>| a.is_none() || b.is_none() || a == b;
    let mut all = vec![];
    for lanes in addresses.chunks(pair) {
        let next = lanes.chunks(2).all(|c| alike(c[0], c[1]));
        let after = lanes.chunks(4).all(|c| alike(c[0], c[2]) && alike(c[1], c[3]));
        let width = if next || after { pair } else { single };
        all.extend(lanes.chunks(width).map(<[_]>::to_vec));
    }
    all
}

/// What a request costs, from sets of bytes and words.
fn recount(addresses: &[Option<u64>], size: u64) -> (u64, u64, u64) {
    let lanes = || addresses.iter().flatten();
    let bytes: BTreeSet<u64> = lanes().flat_map(|a| *a..a + size).collect();
    let sectors: BTreeSet<u64> = bytes.iter().map(|b| b / 32).collect();
    let wavefronts = parts(addresses, size).into_iter().map(|part| {
        let words: BTreeSet<u64> =
            part.iter().flatten().flat_map(|a| *a..a + size).map(|b| b / 4).collect();
        (0..32).map(|bank| words.iter().filter(|w| **w % 32 == bank).count()).max().unwrap_or(0)
            as u64
    });
    (sectors.len() as u64, (bytes.len() as u64).div_ceil(32), wavefronts.sum())
}

#[test]
fn a_recount_from_the_addresses_agrees() {
    let mut state = 1u64;
    let mut next = move |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for (ty, size, use_of) in [
        ("signed char", 1u64, "v"),
        ("short", 2, "v"),
        ("float", 4, "v"),
        ("double", 8, "v"),
        ("float2", 8, "v.x + v.y"),
        ("float4", 16, "v.x + v.w"),
    ] {
        for round in 0..12 {
            let (stride, spread) = (next(9), [1, 4, 64][round % 3]);
            // Lanes in groups want the same.
            let shift = [0, 1, 2][round / 3 % 3];
            // Index of each thread; negative: it takes no part.
            let index: Vec<i32> = (0..96u64)
                .map(|t| (t >> shift, next(8), next(spread)))
                .map(
                    |(t, gap, noise)| {
                        if gap == 0 { -1 } else { ((t * stride + noise) % 256) as i32 }
                    },
                )
                .collect();
            let text = format!(
                "// warpsmith: grid=1 block=96 arg p=int[96] arg x=float[1024] arg y=float[192]\n\
                 __global__ void k(const int *p, const float *x, float *y) {{\n\
                 __shared__ __align__(16) float s[1024]; int t = threadIdx.x, i = p[t];\n\
                 for (int k = t; k < 1024; k += 96) s[k] = 0; __syncthreads();\n\
                 if (i >= 0) {{ {{ {ty} v = (({ty} *)s)[i]; y[t] = {use_of}; }}\n\
                 {{ {ty} v = ((const {ty} *)x)[i]; y[96 + t] = {use_of}; }} }} }}\n"
            );
            let bytes: Vec<u8> = index.iter().flat_map(|i| i.to_le_bytes()).collect();
            let c = count_with(&text, |m| m.device.buffers[0].bytes.clone_from(&bytes));
            let (mut sectors, mut ideal, mut wavefronts, mut requests) = (0, 0, 0, 0);
            for warp in index.chunks(32) {
                let addresses: Vec<Option<u64>> =
                    warp.iter().map(|i| u64::try_from(*i).ok().map(|i| i * size)).collect();
                let (a, b, w) = recount(&addresses, size);
                (sectors, ideal, wavefronts) = (sectors + a, ideal + b, wavefronts + w);
                requests += u64::from(addresses.iter().any(Option::is_some));
            }
            let (x, s) = (load(&c, "x"), load(&c, "s"));
            let what = format!("{ty} stride {stride} spread {spread}");
            assert_eq!(
                (x.requests.warps, x.sectors, x.ideal_sectors),
                (requests, sectors, ideal),
                "{what}"
            );
            assert_eq!((s.requests.warps, s.wavefronts), (requests, wavefronts as f64), "{what}");
            let lanes = index.iter().filter(|i| **i >= 0).count() as u64;
            assert_eq!((x.requests.threads, s.requests.threads), (lanes, lanes), "{what}");
        }
    }
}
