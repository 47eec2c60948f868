//! What the lowered program computes: device functions run by the reference interpreter.

mod sema_support;

use warpsmith_ir::interp::{self, Arg, Limits, Memory, NoLaunch};
use warpsmith_ir::visit::for_each_expr;
use warpsmith_ir::{FunctionKind, Module};

/// Runs `__device__ void probe(float *o)` of a source and returns the first `n` floats it wrote.
fn probe(source: &str, n: usize) -> Vec<f32> {
    let text = format!("{source}\n__global__ void kernel(float *o) {{ probe(o); }}\n");
    let lowered = sema_support::lower(&text);
    let module: &Module = &lowered.module;
    let id = module.find_function("probe").expect("the probe");
    assert_eq!(module.function(id).kind, FunctionKind::Device);
    let mut memory = Memory::new(vec![vec![0; 4 * n]]);
    let arg = Arg::Pointer { buffer: 0, offset: 0 };
    interp::call(module, id, &[arg], &mut memory, &Limits::default(), &mut NoLaunch)
        .unwrap_or_else(|e| panic!("{e}"));
    let bytes = memory.buffers.remove(0);
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn side_effects_happen_in_order() {
    let o = probe(
        "__device__ void probe(float *o) {
            int i = 0, a[4] = {10, 20, 30};
            o[0] = a[i++] + i;          // the old element, then the new index
            i += 2; o[1] = i;
            int x = i++ + i;
            o[2] = x;
            int *p = a;
            *p++ = 7;
            o[3] = a[0] + *p;
            o[4] = a[3];
            o[5] = i > 3 && (i = 9) > 0 ? i : -1;
            o[6] = i == 1 || i++ == 9;
            o[7] = i;
        }",
        8,
    );
    assert_eq!(o, [11.0, 3.0, 7.0, 27.0, 0.0, 9.0, 1.0, 10.0]);
}

#[test]
fn integers_follow_c() {
    let o = probe(
        "__device__ void probe(float *o) {
            unsigned char c = 200; c += 100;
            o[0] = c;
            short s = -1; unsigned u = s;
            o[1] = (u == 4294967295u) + (5u > -1);
            o[2] = -7 / 2 + (-7 % 3) * 10;
            o[3] = (char)200;
            o[4] = 1 << 3 | 0x10;
            long long big = 1ll << 40; int cut = (int)big;
            o[5] = cut + sizeof(long) + sizeof(float4);
            o[6] = 'a' + 1;
            int bits = __float_as_int(1.0f); float f = *(float *)&bits;
            o[7] = f;
        }",
        8,
    );
    assert_eq!(o, [44.0, 1.0, -13.0, -56.0, 24.0, 24.0, 98.0, 1.0]);
}

#[test]
fn classes_construct_convert_and_overload() {
    let o = probe(
        "struct V { float x, y;
           __device__ V() : x(0), y(0) {}
           __device__ V(float a, float b) : x(a), y(b) {}
           __device__ V operator+(const V &o) const { return V(x + o.x, y + o.y); }
           __device__ V &operator+=(const V &o) { x += o.x; y += o.y; return *this; }
           __device__ float &operator[](int i) { return i == 0 ? x : y; }
           __device__ V operator++(int) { V t = *this; x += 1; return t; }
           __device__ operator bool() const { return x != 0; } };
         __device__ V operator*(float s, const V &v) { return V(s * v.x, s * v.y); }
         struct Base { int id = 4; __device__ int get() const { return id; } };
         struct D : Base { float w; __device__ D(float x) : w(x) {} __device__ float both() const { return get() * w; } };
         struct P { int a = 5; int b; };
         union U { float f; unsigned u; };
         __device__ void probe(float *o) {
            V a(1, 2), b; b += 2.0f * a + a;
            o[0] = b[0]; o[1] = b[1];
            V old = b++; o[2] = old.x; o[3] = b.x;
            b[1] = 9; o[4] = b.y;
            D d(2.5f); o[5] = d.both();
            P p{}; P q = {1, 2}; P r{.b = 3}; o[6] = p.a + q.b * 10 + r.a * 100 + r.b * 1000;
            U u; u.f = 1.0f; o[7] = u.u == 0x3f800000u;
            o[8] = a ? 1 : 2; V z; o[9] = z ? 1 : 2;
            V list[2] = {V(1, 1)}; o[10] = list[0].x + list[1].x;
         }",
        11,
    );
    assert_eq!(o, [3.0, 6.0, 3.0, 4.0, 9.0, 10.0, 3525.0, 1.0, 1.0, 2.0, 1.0]);
}

#[test]
fn templates_deduce_specialise_and_recurse() {
    let o = probe(
        "template <typename T, int N> struct Vec { T d[N]; static constexpr int size = N; using value_type = T;
           __device__ T &operator[](int i) { return d[i]; } __device__ T sum() const; };
         template <typename T, int N> __device__ T Vec<T, N>::sum() const { T s{}; for (int i = 0; i < size; ++i) s += d[i]; return s; }
         template <typename T, int N> __device__ T total(const Vec<T, N> &v) { return v.sum(); }
         template <typename T> __device__ T pick(T a, T b) { return a > b ? a : b; }
         template <> __device__ int pick<int>(int a, int b) { return a < b ? a : b; }
         template <int N> __device__ int length(const float (&)[N]) { return N; }
         template <int N> struct Fact { enum { value = N * Fact<N - 1>::value }; };
         template <> struct Fact<0> { enum { value = 1 }; };
         template <typename T> struct Is { static constexpr bool pointer = false; };
         template <typename T> struct Is<T *> { static constexpr bool pointer = true; };
         template <typename... Ts> __device__ float all(Ts... ts) { return (ts + ...); }
         template <typename T> __device__ T chain(T t) { return t; }
         template <typename T, typename... R> __device__ T chain(T t, R... r) { return t * chain(r...); }
         template <typename F> __device__ float apply(F f, float x) { return f(x); }
         template <int OP> __device__ int choose() { if constexpr (OP == 1) return 11; else return 22; }
         constexpr int power(int b, int e) { return e == 0 ? 1 : b * power(b, e - 1); }
         template <typename T> __device__ auto twice(T x) -> decltype(x + x) { return x + x; }
         __device__ void probe(float *o) {
            Vec<float, 4> v; for (int i = 0; i < v.size; ++i) v[i] = i;
            Vec<float, 4>::value_type half = 0.5f;
            o[0] = total(v) + half;
            o[1] = pick(1, 2); o[2] = pick(1.f, 2.f);
            float a[5] = {}; o[3] = length(a);
            o[4] = Fact<5>::value; o[5] = Is<int *>::pointer * 2 + Is<int>::pointer;
            o[6] = all(1.f, 2, 3.0); o[7] = chain(2, 3, 4);
            int k = 10; o[8] = apply([=](float x) { return x + k; }, 1);
            auto bump = [&](int by) { k += by; }; bump(5); bump(1); o[9] = k;
            o[10] = choose<1>() + choose<2>(); int table[power(2, 3)] = {1}; o[11] = sizeof(table) / sizeof(int);
            for (auto &x : a) x += 2; o[12] = a[4]; o[13] = twice(4);
         }",
        14,
    );
    let expected = [6.5, 1.0, 2.0, 5.0, 120.0, 2.0, 6.0, 24.0, 11.0, 16.0, 33.0, 8.0, 2.0, 8.0];
    assert_eq!(o, expected);
}

#[test]
fn control_flow_keeps_its_meaning() {
    let o = probe(
        "__device__ int classify(int n) { switch (n) { case 1: case 2: n += 10; case 3: n += 100; break; default: return -n; case 9: n = 7; } return n; }
         __device__ void add_one(int &x) { x++; }
         __device__ void probe(float *o) {
            o[0] = classify(1); o[1] = classify(3); o[2] = classify(5); o[3] = classify(9);
            int s = 0; for (int i = 0; i < 10; ++i) { if (i == 3) continue; if (i == 7) break; s += i; } o[4] = s;
            int n = 5, steps = 0; do { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; } while (n != 1); o[5] = steps;
            unsigned char c = 250; int turns = 0; for (; c != 4; ++c) ++turns; o[6] = turns;
            int limit = 3, rounds = 0; for (int i = 0; i < limit; ++i) { if (i == 1) limit = 6; ++rounds; } o[7] = rounds;
            int x = 1; int &r = x; add_one(r); r *= 5; o[8] = x;
            float m[2][3] = {{1, 2, 3}, {4, 5, 6}}; float *row = m[1]; o[9] = row[2] + m[0][1];
            for (int i = 0, j = 4; i < j; ++i, --j) o[10] += j - i;
            int w = 2; while (w--) o[11] += 1;
         }",
        12,
    );
    assert_eq!(o, [111.0, 103.0, -5.0, 7.0, 18.0, 5.0, 10.0, 6.0, 10.0, 8.0, 6.0, 2.0]);
}

#[test]
fn data_of_the_file_has_its_initial_bytes() {
    let lowered = sema_support::lower(
        "constexpr int sq(int x) { return x * x; }
         __constant__ short tab[sq(2)] = {1, -2, 3};
         __device__ int counter = 7;
         namespace n { struct P { float a = 1.0f; int b[2]; }; __constant__ P p = {}; }
         __global__ void k(int *o) { o[0] = tab[1] + counter + n::p.b[0]; }",
    );
    let bytes = |name: &str| {
        let g = lowered.module.globals.iter().find(|g| g.name == name).expect("the variable");
        g.init.clone().expect("initial bytes")
    };
    assert_eq!(bytes("tab"), [1, 0, 254, 255, 3, 0, 0, 0]);
    assert_eq!(bytes("counter"), [7, 0, 0, 0]);
    assert_eq!(bytes("p"), [0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn declarations_that_look_like_something_else() {
    let o = probe(
        "struct Ref { float &r; __device__ Ref(float &x) : r(x) {} __device__ void set(float v) { r = v; } };
         struct Wr { float *p; int n; __device__ Wr(float *a, int b) : p(a), n(b) {} };
         __device__ void probe(float *o) {
            int n = 2;
            Ref r(o[1]); r.set(7);
            Wr w(o, n); w.p[0] = w.n;
         }",
        2,
    );
    assert_eq!(o, [2.0, 7.0]);
}

#[test]
fn extents_that_look_like_parameters_of_a_function_are_1_where_they_are_not_given() {
    let o = probe(
        "constexpr int A = 4, B = 8;
        __device__ void probe(float *o) {
            int n = 3;
            const dim3 product(A * B);
            dim3 pair(A * B, n);
            dim3 sum(n + A);
            o[0] = product.x; o[1] = product.y; o[2] = product.z;
            o[3] = pair.y; o[4] = pair.z; o[5] = sum.y;
        }",
        6,
    );
    assert_eq!(o, [32.0, 1.0, 1.0, 3.0, 1.0, 1.0]);
}

#[test]
fn inline_copies_are_lowered() {
    let lowered = sema_support::lower(
        r#"__global__ void k(const float *g) {
            __shared__ alignas(16) float s[32];
            unsigned a = __cvta_generic_to_shared(&s[threadIdx.x * 4]);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(a), "l"(&g[threadIdx.x * 4]));
            asm volatile("cp.async.commit_group;\n" ::);
            asm volatile("cp.async.wait_group 0;\n" ::);
            __syncthreads();
        }"#,
    );
    let text = warpsmith_ir::text::print(&lowered.module);
    assert!(text.contains("async"), "{text}");
}

#[test]
fn parentheses_around_a_variable_are_no_cast() {
    let o = probe(
        "#define SPAN(x, a, b) ((x)>=(a) && (x)<=(b))
        typedef float real;
        __device__ float calc(int n, int b, real r) {
            int x = (n)-1*2;
            int y = SPAN(n, b, n) && SPAN(b, b, n);
            int z = (int)(n)-1*4;
            int w = -(n)*(b)-(b)*(b);
            real minus = (real)-r;
            return x + 100 * y + 1000 * z + 10000 * w + minus;
        }
        __device__ void probe(float *o) { o[0] = calc(10, 3, 1.0f); }",
        1,
    );
    assert_eq!(o, [8.0 + 100.0 + 6000.0 - 390000.0 - 1.0]);
}

#[test]
fn products_in_parentheses_are_no_types_of_functions() {
    let o = probe(
        "#define IMUL(a, b) ((a) * (b))
        #define BITS(a, b) ((a) & (b))
        __device__ void probe(float *o) {
            const int row = 6, pitch = 10, x = 3;
            int t[2] = { 5, 7 };
            o[0] = IMUL(row, pitch) + x;
            o[1] = BITS(row, x) - pitch;
            o[2] = IMUL(t[1], t[0]) - IMUL(x, row) * (x) + IMUL(-(x), (row));
        }",
        3,
    );
    assert_eq!(o, [63.0, -8.0, 35.0 - 54.0 - 18.0]);
}

#[test]
fn assignments_in_a_list_in_parentheses_happen_in_order() {
    let o = probe(
        "__device__ void probe(float *o) {
            int i = 1, s = 0;
            int k = (i += 2, i);
            int m = (i = 7, s -= 1, i + s);
            for (i = 0; (s += i, i < 4); ++i, s += 2) ;
            o[0] = k; o[1] = m; o[2] = s;
        }",
        3,
    );
    assert_eq!(o, [3.0, 6.0, 17.0]);
}

#[test]
fn class_templates_take_their_arguments_from_the_initialiser() {
    let o = probe(
        "template <typename T> struct Pair {
            T a, b;
            __device__ Pair(T x, T y) : a(x), b(y) {}
            __device__ T sum() const { return a + b; }
        };
        template <typename T, typename U> struct Both { T t; U u; };
        __device__ void probe(float *o) {
            Pair p(1.5f, 2.0f);
            Pair q{7, 4};
            const Pair c = Pair(1.25, 1.0);
            Both b{sizeof(char) == 1, 0.5f};
            o[0] = p.sum(); o[1] = q.sum() / 2; o[2] = c.sum(); o[3] = b.u + sizeof(b);
        }",
        4,
    );
    assert_eq!(o, [3.5, 5.0, 2.25, 8.5]);
}

#[test]
fn functions_are_values_of_a_type_of_their_own() {
    let o = probe(
        "struct P { float a; };
        __device__ P add(P x, P y) { return {x.a + y.a}; }
        __device__ float square(float x) { return x * x; }
        template <typename T> __device__ T twice(T x) { return x + x; }
        template <typename T, typename F> __device__ T apply(T x, T y, F f) { return f(x, y); }
        template <typename F> __device__ float one(float x, const F &f) { return f(x); }
        typedef float (*op_t)(float);
        template <op_t op> __device__ float fixed(float x) { return op(x); }
        __device__ void probe(float *o) {
            P a = {1}, b = {2};
            o[0] = apply(a, b, add).a;
            o[1] = one(3, square) + one(1, &square);
            o[2] = one(4, twice<float>);
            o[3] = fixed<square>(5);
        }",
        4,
    );
    assert_eq!(o, [3.0, 10.0, 8.0, 25.0]);
}

#[test]
fn pointers_to_rows_are_declared_in_functions() {
    let o = probe(
        "typedef float real;
        __device__ void probe(float *o) {
            float a[3][4];
            for (int i = 0; i < 12; ++i) a[i / 4][i % 4] = i;
            float (*row)[4] = a;
            real (*next)[4] = row + 1;
            float (*flat)[2][4] = (float (*)[2][4])a;
            o[0] = row[2][1]; o[1] = (*next)[3]; o[2] = flat[0][1][2];
        }",
        3,
    );
    assert_eq!(o, [9.0, 7.0, 6.0]);
}

#[test]
fn exchanges_by_rank_do_not_copy_their_operands_again_and_again() {
    let lowered = sema_support::lower(
        "#include <cooperative_groups.h>
        __global__ void turn(int *o, const int n) {
            auto group = cooperative_groups::coalesced_threads();
            o[0] = group.shfl(n * 3 + o[1], n - 1) + group.shfl_down(n * 5, n);
        }",
    );
    let kernel = lowered.module.function(lowered.kernels[0].id);
    let mut nodes = 0;
    for_each_expr(&kernel.body, &mut |_| nodes += 1);
    assert!(nodes < 500, "{nodes} expressions");
}
