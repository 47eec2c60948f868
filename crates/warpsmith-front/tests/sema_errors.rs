//! What cannot be lowered is one diagnostic each, with its place and a hint.

mod sema_support;

use sema_support::{errors, lower_file, lower_with};
use warpsmith_front::sema::{KernelSelection, Request};

/// Lowers a kernel body with an error in it and compares title and hint.
fn check(body: &str, title: &str, help: Option<&str>) {
    let text = format!("__global__ void k(float *o, const float *c, int n) {{\n{body}\n}}\n");
    let rendered = errors(&text);
    assert_eq!(rendered.matches("error[").count(), 1, "one error for {body}:\n{rendered}");
    assert!(rendered.contains(title), "wanted {title}\n{rendered}");
    if let Some(help) = help {
        assert!(rendered.contains(help), "wanted the hint {help}\n{rendered}");
    }
    assert!(rendered.contains("test.cu:2:"), "the place in the body\n{rendered}");
}

#[test]
fn names() {
    check("o[0] = nn;", "error[W050]: `nn` is not declared", Some("did you mean `n`?"));
    check("float4 f; f.q = 1;", "error[W051]: `float4` has no component `q`", None);
    check("o.x = 1;", "error[W062]: `.x` is used on a pointer", Some("use `->x`"));
    check("undefined_type x;", "is not declared", None);
}

#[test]
fn types_and_constants() {
    check(
        "int *p = o;",
        "error[W062]: cannot convert `float *` to `int *`",
        Some("reinterpret_cast"),
    );
    check("c[0] = 1;", "error[W080]: `c[0]` is constant", None);
    check("const int j = n; j++;", "error[W080]: `j` is constant", None);
    check("const int j = 3; j = 4;", "error[W080]: `j` is constant", None);
    check("threadIdx.x = 3;", "error[W079]", None);
    check("int a[n];", "error[W076]: `n` is not constant at compile time", None);
    check("int a[-1];", "error[W054]", None);
    check("o[1.5] = 2;", "error[W062]: an index is an integer", None);
    check("float x = o % 2;", "error[W062]", None);
    check("float x = 2.f % 2;", "error[W062]: `%` needs integers", Some("fmodf"));
    check("int v[2] = {1, 2, 3};", "error[W083]: too many values", None);
    check("return 3;", "error[W089]", None);
}

#[test]
fn constructs_that_are_not_supported() {
    check("goto end;", "error[W087]: there is no label `end` in this function", Some("before the"));
    check("end: o[0] = 1; end: ;", "error[W087]: the label `end` is there twice", None);
    check("static int calls = n;", "error[W076]", None);
    check("__shared__ int s = 3;", "error[W094]", Some("__syncthreads"));
    check("struct B { int a : 33; }; B b;", "error[W060]: `int` has no bit-field of 33 bits", None);
    check(
        "struct B { long long a : 20; char b; }; B b;",
        "error[W060]: this bit-field shares its word with another member",
        Some("put the other member first"),
    );
    check(
        "o[0] = ({ if (n) return; n; });",
        "error[W053]: a jump out of an expression",
        Some("write an `inline` function and return from it"),
    );
    check(
        "float *v = new float[2]{1, 2};",
        "error[W053]: `new` with values in braces",
        Some("assign them after `new`"),
    );
    check(
        "o[0] = 2_k;",
        "error[W053]: the user-defined literal",
        Some("call what makes the type of it"),
    );
    check("o[0] = ({ break; n; });", "error[W086]: `break` outside", None);
    check("break;", "error[W086]: `break` outside", None);
    check("switch (n) { case 1: case 1: break; }", "error[W085]: the case 1 is there twice", None);
}

#[test]
fn calls() {
    let two = "__device__ void two(int a, float b) {} __device__ void two(float a, int b) {}\n";
    let of = |body: &str| errors(&format!("{two}__global__ void k(float *o) {{ {body} }}"));
    assert!(of("two(1, 1);").contains("error[W064]: the call of `two` is ambiguous"));
    let none = of("two(o, o);");
    assert!(none.contains("error[W063]: no function `two` takes (float *, float *)"), "{none}");
    assert!(none.contains("argument 1 is `float *`, the parameter `int`"), "{none}");
    assert!(of("two(1);").contains("it takes 2 arguments, 1 given"));
    let host = errors("void host() {} __global__ void k(int *o) { host(); }");
    assert!(host.contains("error[W068]") && host.contains("declare it `__device__`"), "{host}");
    let rec = errors(
        "__device__ int f(int n) { __shared__ int s; return n ? f(n - 1) : s; } __global__ void k(int *o) { o[0] = f(3); }",
    );
    let said = "error[W066]: `f` calls itself and has shared variables of its own";
    assert!(rec.contains(said) && rec.contains("declare them in the kernel"), "{rec}");
    let rec = errors(
        "__device__ auto f(int n) { return n ? f(n - 1) : 0; } __global__ void k(int *o) { o[0] = f(3); }",
    );
    assert!(rec.contains("error[W066]: `f` calls itself before its type is known"), "{rec}");
    let deep = errors(
        "template <int N> __device__ int f() { return f<N + 1>(); } __global__ void k(int *o) { o[0] = f<0>(); }",
    );
    assert!(deep.contains("error[W067]"), "{deep}");
}

#[test]
fn independent_errors_are_all_reported() {
    let text = errors(
        "__global__ void k(int *o) { o[0] = a1; o[1] = a2; int x = a3; x = 1; }\n__global__ void k2(int *o) { o[0] = a4; }",
    );
    assert_eq!(text.matches("error[W050]").count(), 4, "{text}");
    // One name is one error, and after twenty the rest is left out.
    let twice = "__global__ void k(int *o) { o[0] = zz; o[1] = yy; o[2] = zz; }";
    assert_eq!(errors(twice).matches("error[").count(), 2);
    let names: String = (0..40).map(|n| format!("o[{n}] = z{n};")).collect();
    let many = format!("__global__ void k(int *o) {{ {names} }}");
    assert_eq!(errors(&many).matches("error[").count(), 20);
}

#[test]
fn names_of_kernels() {
    let source = "template <typename T, int N> __global__ void add(T *o) { o[0] = N; }";
    let named = |name: &str| {
        let kernels = KernelSelection::Named(vec![name.to_string()]);
        lower_with("test.cu", source, &Request { kernels, host_functions: vec![] })
    };
    let lowered = named("add<unsigned int, 2 * 3>").expect("a kernel");
    assert_eq!(lowered.module.function(lowered.kernels[0].id).name, "add<unsigned int,6>");
    let missing = named("ad<float,1>").expect_err("no such kernel");
    assert!(missing.contains("there is no kernel `ad<float,1>`"), "{missing}");
    assert!(
        named("add<float>")
            .expect_err("an argument is missing")
            .contains("no template argument for `N`")
    );
    assert!(
        named("add<float, 1, 2>").expect_err("too many").contains("3 template arguments given")
    );
    assert!(named("add<float,").expect_err("damaged").contains("is no kernel's name"));
}

#[test]
fn launchers_are_host_functions_with_launches() {
    let source = "template <typename T, int B> __global__ void scale(int n, T *x) { int i = blockIdx.x * B + threadIdx.x; if (i < n) x[i] *= 2; }
        static int up(int a, int b) { return (a + b - 1) / b; }
        int main() { std::vector<int> v; std::cout << v.size(); }
        cudaError_t scale_launch(int n, float *x, cudaStream_t stream) {
            constexpr int B = 64;
            dim3 grid(up(n, B)), block(B);
            if (n <= 0) return cudaSuccess;
            scale<float, B><<<grid, block, 0, stream>>>(n, x);
            return cudaGetLastError();
        }";
    let request = Request {
        kernels: KernelSelection::Named(vec![]),
        host_functions: vec!["scale_launch".into()],
    };
    let lowered = lower_with("test.cu", source, &request).unwrap_or_else(|e| panic!("{e}"));
    let text = warpsmith_ir::text::print(&lowered.module);
    assert!(text.contains("launch `scale<float,64>`"), "{text}");
    assert_eq!(lowered.module.functions.len(), 3, "{text}");
    let unsupported = lower_with(
        "test.cu",
        "void f(int *p) { cudaMallocManaged(&p, 4); }",
        &Request { kernels: KernelSelection::All, host_functions: vec!["f".into()] },
    );
    assert!(unsupported.expect_err("no allocation").contains("error[W099]"));
}

#[test]
fn copies_to_constant_memory() {
    let lower = |call: &str| {
        let text = format!(
            "__constant__ float c[4];\ncudaError_t f(const float *p, cudaStream_t s) {{\n    {call};\n    return cudaGetLastError();\n}}"
        );
        let request =
            Request { kernels: KernelSelection::Named(vec![]), host_functions: vec!["f".into()] };
        lower_with("test.cu", &text, &request)
    };
    let whole = lower("cudaMemcpyToSymbolAsync(c, p, sizeof(c), 0, cudaMemcpyDeviceToDevice, s)");
    let module = whole.expect("a whole variable").module;
    assert!(warpsmith_ir::text::print(&module).contains("copy_to_global(@c, "));
    for (call, why) in [
        ("cudaMemcpyToSymbolAsync(c, p)", "this copy is not understood"),
        (
            "cudaMemcpyToSymbolAsync(p, p, sizeof(c), 0, cudaMemcpyDeviceToDevice, s)",
            "this is no variable of the device",
        ),
        (
            "cudaMemcpyToSymbolAsync(c, p, 8, 0, cudaMemcpyDeviceToDevice, s)",
            "this is not the size of the variable",
        ),
        (
            "cudaMemcpyToSymbolAsync(c, p, sizeof(c), 4, cudaMemcpyDeviceToDevice, s)",
            "a copy to the middle of a variable is not supported",
        ),
        (
            "cudaMemcpyToSymbolAsync(c, p, sizeof(c), 0, cudaMemcpyHostToDevice, s)",
            "only copies from device memory are supported",
        ),
        (
            "cudaMemcpyToSymbolAsync(c, 7, sizeof(c), 0, cudaMemcpyDeviceToDevice, s)",
            "the source of this copy is no pointer",
        ),
    ] {
        let refused = lower(call).expect_err(call);
        assert!(refused.contains("error[W098]") && refused.contains(why), "{call}: {refused}");
    }
}

#[test]
fn launches_ask_for_more_than_48_kilobytes() {
    let lowered = |before: &str, bytes: &str| {
        let text = format!(
            "constexpr int BYTES = 65536;\n__global__ void k(float *o) {{ o[0] = 1; }}\n__global__ void q(float *o) {{ o[0] = 2; }}\nvoid go(float *o) {{\n    {before}\n    k<<<1, 1, {bytes}>>>(o);\n}}\n"
        );
        let kernels = KernelSelection::Named(vec![]);
        let request = Request { kernels, host_functions: vec!["go".into()] };
        lower_with("test.cu", &text, &request).map(|_| ())
    };
    let allow = |kernel: &str, bytes: &str| {
        format!(
            "cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes});"
        )
    };
    assert!(lowered("", "49152").is_ok());
    assert!(lowered(&allow("k", "BYTES"), "BYTES").is_ok());
    for before in [String::new(), allow("q", "BYTES"), allow("k", "BYTES - 4")] {
        let refused = lowered(&before, "BYTES").expect_err("more than is allowed");
        let wanted = "error[W098]: `k` is launched with 65536 bytes of dynamic shared memory";
        assert!(refused.contains(wanted), "{before}: {refused}");
    }
}

#[test]
fn pointers_to_functions_of_another_type() {
    let rule = "struct Rule { int b; __device__ int fixed(int x) const { return x; } \
                __device__ int moved(int x) { return b += x; } };";
    let title = "is no function for";
    check(&format!("{rule} int (Rule::*f)(int) = &Rule::fixed;"), title, None);
    check(&format!("{rule} float (Rule::*f)(int) const = &Rule::fixed;"), title, None);
    let constant = "error[W063]: `Rule::moved` cannot be called like this: it is not `const`";
    check(&format!("{rule} int (Rule::*f)(int) const = &Rule::moved;"), constant, None);
}

#[test]
fn methods_as_arguments_of_templates() {
    let text = |argument: &str| {
        format!(
            "struct Rule {{ __device__ int fixed(int x) const {{ return x; }} __device__ float real(int x) const {{ return x; }} }};
template <int (Rule::*M)(int) const> __device__ int called(const Rule &rule, int x) {{ return (rule.*M)(x); }}
__global__ void k(int *o) {{ Rule rule; o[0] = called<&Rule::{argument}>(rule, 3); }}\n"
        )
    };
    let rendered = errors(&text("real"));
    assert!(rendered.contains("`real` is no function for"), "{rendered}");
    assert!(lower_file("test.cu", &text("fixed")).is_ok());
}

#[test]
fn conditions_on_types() {
    let overloads = "template <typename T> concept Real = std::is_floating_point_v<T>;
template <typename T> concept Wide = sizeof(T) > 4;
template <Real T> __device__ int kind(T) { return 1; }
template <Wide T> __device__ int kind(T) { return 2; }
";
    let call =
        |value: &str| format!("{overloads}__global__ void k(int *o) {{ o[0] = kind({value}); }}\n");
    for one in ["1.0f", "1ll"] {
        assert!(lower_file("test.cu", &call(one)).is_ok());
    }
    let neither = errors(&call("1"));
    assert!(neither.contains("its `requires` does not hold"), "{neither}");
    let both = errors(&call("1.0"));
    assert!(both.contains("error[W064]: the call of `kind` is ambiguous"), "{both}");
}

#[test]
fn extents_that_are_computed_have_to_fit() {
    let text = "template <int R, int C, typename T> __device__ void f(T (&a)[R * C]) { a[0] = 1; }\n\
                __global__ void k(float *o) { float a[12]; f<3, 5>(a); o[0] = a[0]; }\n";
    let rendered = errors(text);
    assert!(rendered.contains("error[W063]"), "{rendered}");
    assert!(
        rendered.contains("argument 1 is `float[12]`, the parameter `float[15] &`"),
        "{rendered}"
    );
}

/// An object of another type is no base.
#[test]
fn bases_in_braces_have_to_be_theirs() {
    let text = "struct A {};\nstruct B { int x; };\nstruct C : A, B { int y; };\n\
                __global__ void k(int *o) { C c{B{1}, B{2}, 3}; o[0] = c.y; }\n";
    let rendered = errors(text);
    assert!(rendered.contains("error[W062]"), "{rendered}");
}
