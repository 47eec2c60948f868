//! The syntax tree of every construct the language has.

mod parse_support;

use expect_test::{Expect, expect};
use parse_support::{show, show_body, unit};
use warpsmith_front::parse::Language;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&show(&unit(text, Language::Cuda).0.unit));
}

fn check_c(text: &str, expected: Expect) {
    expected.assert_eq(&show(&unit(text, Language::C).0.unit));
}

/// Statements inside a kernel.
fn check_body(text: &str, expected: Expect) {
    expected.assert_eq(&show_body(&format!("__global__ void k(int n, float *a) {{ {text} }}")));
}

#[test]
fn declarators_nest_as_c_says() {
    check(
        "float (*A)[4]; float *B[4]; int (*f)(int, float); const int *const p = 0; float m[2][3];
         unsigned long long int w; int const volatile v = 1; float (*g[3])(void); size_t s; extern float x[];",
        expect![[r#"
            unsupported[this expression statement]
            vars B: array(4, ptr(float))
            vars f: ptr(fn(_: int, _: float) -> int)
            vars p: const ptr(const int) = 0
            vars m: array(2, array(3, float))
            vars w: unsigned_long_long_int
            vars v: const volatile int = 1
            vars g: array(3, ptr(fn() -> float))
            vars s: size_t
            vars extern x: array(?, float)
        "#]],
    );
}

#[test]
fn c_parameters_may_have_variable_extents() {
    check_c(
        "void f(int n, int m, float A[n][m], float B[static 4], float C[restrict n], const float (*D)[m],
                float *restrict p, double x[const 3], int new) { A[0][1] = new; }",
        expect![[r#"
            fn f(n: int, m: int, A: array(n, array(m, float)), B: array(4, float), C: array(n, float), D: ptr(array(m, const float)), p: ptr!(float), x: array(3, double), new: int) -> void
              (= A[0][1] new)
        "#]],
    );
}

#[test]
fn attributes_are_found_wherever_they_stand() {
    check(
        "template <int B> __global__ void __launch_bounds__(B, 2) k(float *a) {}
         __device__ __forceinline__ static int f();
         struct __align__(16) S { float x; __device__ int g() const; };
         __align__(8) struct T { int a; };
         struct __attribute__((aligned(32))) U { int a; };
         __constant__ float c[4] = {1.f, 2};
         __device__ __managed__ int counter;
         [[nodiscard]] __host__ __device__ constexpr int h();
         extern \"C\" __global__ void plain();
         void __global__ late();",
        expect![[r#"
            template<value B: int> global bounds(B, 2) fn k(a: ptr(float)) -> void
            device static inline fn f() -> int;
            struct S align(16)
              field x: float
              device fn g() const -> int;
            struct T align(8)
              field a: int
            struct U align(32)
              field a: int
            vars constant c: array(4, float) = {1.f, 2}
            vars device managed counter: int
            device host constexpr fn h() -> int;
            global fn plain() -> void;
            global fn late() -> void;
        "#]],
    );
    check_body(
        "extern __shared__ __align__(16) unsigned char raw[]; __shared__ float t[2], u; alignas(sizeof(n)) int z;
         static __shared__ int s; const __shared__ int q; float w[4] __attribute__((aligned(16)));",
        expect![[r#"
            let shared extern align(16) raw: array(?, unsigned_char)
            let shared t: array(2, float), u: float
            let align(sizeof paren n) z: int
            let shared static s: int
            let shared q: const int
            let align(16) w: array(4, float)
        "#]],
    );
}

#[test]
fn structs_have_all_their_members() {
    check(
        "struct V : public B<int>, C {
            float x = 1, y;
            int bits : 3, more : 5;
            static constexpr int K = 3;
            static float sum(V v);
            __device__ V() : x(0), y{1} {}
            V(float a, float b = 2);
            ~V() = default;
            __device__ float operator[](int i) const { return i; }
            __device__ operator float() const { return x; }
            V &operator+=(const V &o);
            bool operator()(int) { return true; }
            template <typename U> __device__ U get() { return U(x); }
            union { int i; float f; };
            struct { int q; } inner;
            struct N { int z; } n;
            enum { A = 1, B };
            using T = float;
            typedef int I;
            static_assert(K > 2, \"no\");
        private:
            float *p, arr[3];
         };
         __device__ V::V(float a, float b) : x(a) {}
         __device__ V operator+(V a, const V &b) { return a; }
         struct Forward; union W { int a; float b; };
         enum class Mode : unsigned char { Fast, Slow = 3 };
         struct P { int a; } one, *two;",
        expect![[r#"
            struct V : B<type int>, C
              field x: float = 1, y: float
              field bits: int bits 3, more: int bits 5
              field static constexpr K: int = 3
              static fn sum(v: V) -> float;
              device fn constructor() : x(0), y(1)
              fn constructor(a: float, b: float = 2);
              fn destructor();
              device fn operator [](i: int) const -> float
                return i
              device fn operator type float() const -> float
                return x
              fn operator +=(o: ref(const V)) -> ref(V);
              fn operator ()(_: int) -> bool
                return true
              template<type U> device fn get() -> U
                return U(x)
              field : inline
                union _
                  field i: int
                  field f: float
              field inner: inline
                struct _
                  field q: int
              field n: inline
                struct N
                  field z: int
              enum _ {A = 1, B}
              alias T = float
              alias I = int
              static_assert (> K 2)
              field p: ptr(float), arr: array(3, float)
            device fn V::V(a: float, b: float) : x(a)
            device fn operator +(a: V, b: ref(const V)) -> V
              return a
            struct Forward
            union W
              field a: int
              field b: float
            enum class Mode : unsigned_char {Fast, Slow = 3}
            vars one: inline, two: ptr(inline)
        "#]],
    );
}

#[test]
fn templates_keep_parameters_and_arguments() {
    check(
        "template <int N, typename T = float, class... Ts> struct Q { T a[N]; };
         template <> struct Q<3, float> {};
         template <typename T> struct Q<1, T *> {};
         template <typename T> using Vec = Q<4, T>;
         template <> __device__ int f<3>(int x) { return x; }
         template __global__ void k<float, 128>(float *);
         template <template <typename> class C, bool B = (3 > 2)> void g(C<int> c);
         typename A<int>::type x;
         std::array<Q<2 + 1>, sizeof(int)> y;",
        expect![[r#"
            template<value N: int, type T = float, type... Ts> struct Q
              field a: array(N, T)
            template<> struct Q<value 3, type float>
            template<type T> struct Q<value 1, type ptr(T)>
            alias template<type T> Vec = Q<value 4, T>
            template<> device fn f<value 3>(x: int) -> int
              return x
            template<template C, value B: bool = paren (> 3 2)> fn g(c: C<type int>) -> void;
            vars x: A<type int>::type
            vars y: std::array<type Q<value (+ 2 1)>, value sizeof type int>
        "#]],
    );
}

#[test]
fn namespaces_aliases_and_pragmas_are_items() {
    check(
        "#pragma once\nnamespace a { namespace { int x; } } namespace b::c { int y; } using namespace a; using b::c;
         namespace cg = cooperative_groups;\n#pragma nv_diag_suppress 177\ncg::thread_block g;
         typedef struct { float x; } P; typedef int (*Fn)(int); typedef float R, *RP; using X = const float *;
         static_assert(sizeof(int) == 4);\n#pragma last\n",
        expect![[r#"
            namespace a
              namespace _
                vars x: int
            namespace b
              namespace c
                vars y: int
            using namespace a
            using b::c
            pragma nv_diag_suppress 177
            vars g: cooperative_groups::thread_block
            alias P = inline
            alias Fn = ptr(fn(_: int) -> int)
            alias R = float
            alias RP = ptr(float)
            alias X = ptr(const float)
            static_assert (== sizeof type int 4)
            pragma last
        "#]],
    );
}

#[test]
fn comparisons_are_no_template_arguments() {
    check_body(
        "if (n < 3 && n > (2)) return; bool c = a[0] < n || n > (1); foo(n < a[1], n > (3)); int m = n; bool d = m < n, e = n > (m);
         x = f<32>(n); y = cg::tiled_partition<32>(b); z = s.template get<3>(1); for (int i = 0; i < n; i++) ; w = k < n && n > (k);
         if (threadIdx.x < n && n > (blockDim.x)) {}",
        expect![[r#"
            if (&& (< n 3) (> n paren 2))
              return 
            let c: bool = (|| (< a[0] n) (> n paren 1))
            foo((< n a[1]), (> n paren 3))
            let m: int = n
            let d: bool = (< m n), e: bool = (> n paren m)
            (= x f<value 32>(n))
            (= y cg::tiled_partition<value 32>(b))
            (= z s.get<value 3>(1))
            for (< i n); (_++ i)
              let i: int = 0
              do
              empty
            (= w (&& (< k n) (> n paren k)))
            if (&& (< threadIdx.x n) (> n paren blockDim.x))
              block
        "#]],
    );
}

#[test]
fn casts_are_told_from_arithmetic() {
    expect![[r#"
        (= a[0] c_cast<real>((- n)))
        (= a[1] c_cast<real>(paren n))
        (= a[2] (- n 1))
        (= a[3] c_cast<float>(n))
        (= a[4] c_cast<ptr(float4)>(a))
        (= a[5] paren c_cast<ptr(float2)>(a)[n].x)
        (= a[6] c_cast<real>((* a)))
        (= a[7] (+ static_cast<real>(n) (* reinterpret_cast<ptr(const int)>(a))))
        (= a[8] make float(n))
        (= a[9] (* n paren n))
        (= a[10] (+ unsigned(n) c_cast<unsigned_long>(n)))
        (= a[11] real(n))
        (= a[12] (+ paren (& n 3) 1))
        (= a[13] c_cast<size_t>(n))
    "#]].assert_eq(&show_body(
        "typedef float real; __global__ void k(float *a, int n) {
            a[0] = (real)-n; a[1] = (real)(n); a[2] = (n)-1; a[3] = (float)n; a[4] = (float4 *)a; a[5] = ((float2 *)a)[n].x;
            a[6] = (real)*a; a[7] = static_cast<real>(n) + *reinterpret_cast<const int *>(a); a[8] = float(n); a[9] = (n) * (n);
            a[10] = unsigned(n) + (unsigned long)n; a[11] = real(n); a[12] = (n & 3) + 1; a[13] = (size_t)n; }",
    ));
}

#[test]
fn local_constructions_are_variables() {
    check_body(
        "dim3 g(n), h(n, m); float4 v(1, 2, 3, 4); V w(x); V q{1, 2}; V z = {1, .y = 2}; int y(3); float arr[] = {1, [2] = 3};
         V made(make()); int proto(int, float);",
        expect![[r#"
            let g: dim3 = call(n), h: dim3 = call(n, m)
            let v: float4 = call(1, 2, 3, 4)
            let w: V = call(x)
            let q: V = {1, 2}
            let z: V = {1, .y = 2}
            let y: int = call(3)
            let arr: array(?, float) = {1, [2] = 3}
            let made: V = call(make())
            fn proto(_: int, _: float) -> int;
        "#]],
    );
}

#[test]
fn statements_of_all_kinds() {
    check_body(
        "if (n) a[0] = 1; else if (n > 2) {} else ;
         if constexpr (sizeof(int) > 2) n = 1;
         if (int q = f(n)) n = q;
         if (int q = 1; q > n) {}
         for (;;) break;
         for (int i = 0, j = n; i < j; i++, --j) continue;
         for (auto &x : arr) x = 1;
         while (n > 0) n--;
         do { n++; } while (n < 3);
         switch (n) { case 1: case 2: n = 3; break; default: n = 4; }
         goto end; end: n = 5;
         asm volatile(\"bar.sync %0;\" : : \"r\"(n) : \"memory\");
         using T = float; struct L { int a; };
         static_assert(true, \"x\");
         return;",
        expect![[r#"
            if n
              (= a[0] 1)
              else
              if (> n 2)
                block
                else
                empty
            if constexpr (> sizeof type int 2)
              (= n 1)
            if q
              init
                let q: int = f(n)
              (= n q)
            if (> q n)
              init
                let q: int = 1
              block
            for -; -
              do
              break
            for (< i j); (, (_++ i) (--_ j))
              let i: int = 0, j: int = n
              do
              continue
            for x: ref(auto) in arr
              (= x 1)
            while (> n 0)
              (_-- n)
            do while (< n 3)
              block
                (_++ n)
            switch n
              block
                case 1
                case 2
                (= n 3)
                break
                default
                (= n 4)
            goto end
            label end
            (= n 5)
            asm "bar.sync %0;" ["r"]
            alias T = float
            struct L
              field a: int
            static_assert true
            return 
        "#]],
    );
}

#[test]
fn expressions_of_all_kinds() {
    check_body(
        "x = n ? a[0] : n > 1 ? 2 : 3; x = (1, 2); n += 1, n <<= 2; x = !n && ~n || -n; p = &a[n]; *p++ = ++n;
         x = 0x1fu + 1.5e-3f + 1'000 + .5; c = 'a'; s = \"x\\n\" \"y\"; q = nullptr; q = NULL; x = sizeof(int) + sizeof n + alignof(float4);
         k2<float, 3><<<dim3(1, 2), 256, 0, s>>>(a, n); k3<<<1, 2>>>(); x = V{1, 2}.x; x = (V){1, 2}.x; f({1, 2}); v = {1, 2};
         auto l = [&, n, &x] (int i) -> int { return i + n; }; auto d = [=] __device__ () { return 1; };
         x = a::b<int>::c; x = ::g(n); x = p->f<2>(1); x = this->y; x = new int[3]; x = 1_km; x = int{3}; x = a[n] and not n;
         x = args...; return {1, 2};",
        expect![[r#"
            (= x (? n a[0] (? (> n 1) 2 3)))
            (= x paren (, 1 2))
            (, (+= n 1) (<<= n 2))
            (= x (|| (&& (! n) (~ n)) (- n)))
            (= p (& a[n]))
            (= (* (_++ p)) (++_ n))
            (= x (+ (+ (+ 0x1fu 1.5e-3f) 1000) .5))
            (= c char 97)
            (= s "x\ny")
            (= q null)
            (= q null)
            (= x (+ (+ sizeof type int sizeof n) alignof float4))
            k2<type float, value 3><<<dim3(1, 2), 256, 0, s>>>(a, n)
            k3<<<1, 2>>>()
            (= x make{} V(1, 2).x)
            (= x literal V{1, 2}.x)
            f({1, 2})
            (= v {1, 2})
            let l: auto = lambda [& n &x] (i: int) { return (+ i n) }
            let d: auto = lambda [=] () { return 1 }
            (= x a::b<type int>::c)
            (= x ::g(n))
            (= x p->f<value 2>(1))
            (= x this->y)
            (= x new int[3]())
            (= x unsupported[the user-defined literal `1_km`])
            (= x make{} int(3))
            (= x (&& a[n] (! n)))
            (= x args...)
            return {1, 2}
        "#]],
    );
}

#[test]
fn folds_and_packs() {
    check(
        "template <typename... Ts> __device__ int f(Ts... ts) { g(ts...); return (ts + ...) + (... * ts); }",
        expect![[r#"
            template<type... Ts> device fn f(ts: Ts) -> int
              g(ts...)
              return (+ foldr(+ ts) foldl(* ts))
        "#]],
    );
}

#[test]
fn pragmas_belong_to_the_next_statement() {
    check_body(
        "\n#pragma unroll 4\nfor (;;) {\n#pragma unroll\nfor (;;) ; }\nif (n)\n#pragma unroll(2)\nwhile (n) ;\n_Pragma(\"unroll 8\") for (;;) ;\n{ n = 1;\n#pragma omp barrier\n}",
        expect![[r#"
            #unroll 4
            for -; -
              do
              block
                #unroll
                for -; -
                  do
                  empty
            if n
              #unroll(2)
              while n
                empty
            #unroll 8
            for -; -
              do
              empty
            block
              (= n 1)
              #omp barrier
              empty
        "#]],
    );
    check_c(
        "void f(int n,\n#pragma ignored\nfloat *a) {\n#pragma omp parallel for \\\n  reduction(+:s)\nfor (int i = 0; i < n; i++)\n //SIMD\n for (int j = 0; j < n; j++) a[j] = 0; }",
        expect![[r#"
            fn f(n: int, a: ptr(float)) -> void
              #omp parallel for     reduction(+:s)
              for (< i n); (_++ i)
                let i: int = 0
                do
                #SIMD
                for (< j n); (_++ j)
                  let j: int = 0
                  do
                  (= a[j] 0)
        "#]],
    );
}

#[test]
fn macros_expand_and_headers_are_skipped() {
    check(
        "#include <cstdio>\n#include \"cuda_runtime.h\"\n#include <math.h>\n#define N 4\n#define SQ(x) ((x) * (x))\n#define NAME(a, b) a##_##b
         #if defined(__CUDACC__) && __CUDA_ARCH__ >= 800\nfloat NAME(x, y)[N];\n#else\nbad bad\n#endif
         int z = SQ(N + 1); int m = INT_MAX; float inf = INFINITY; int line = __LINE__;\n#ifdef _WIN32\nint w;\n#endif\nfloat pi = M_PI;",
        expect![[r#"
            vars x_y: array(4, float)
            vars z: int = paren (* paren (+ 4 1) paren (+ 4 1))
            vars m: int = 2147483647
            vars inf: float = 1e10000f
            vars line: int = 12
            vars pi: float = 3.14159265358979323846
        "#]],
    );
}

#[test]
fn raw_strings_and_digraphs() {
    check(
        "const char *s = R\"x(a \" \n b)x\"; int t = 3; std::vector<::a::B> v;",
        expect![[r#"
            vars s: ptr(const char) = "a \" \n b"
            vars t: int = 3
            vars v: std::vector<type ::a::B>
        "#]],
    );
}
