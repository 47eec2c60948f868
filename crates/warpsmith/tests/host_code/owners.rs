//! Objects of the host that own memory: when they end, and who has what was moved or copied.

use super::check;

const OWNER: &str = r#"
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>
__global__ void set(float *x) { x[threadIdx.x] = 1.0f; }
struct Owner {
    float *p;
    Owner() : p(nullptr) {}
    explicit Owner(int n) { cudaMalloc(&p, n * sizeof(float)); }
    Owner(const Owner &) = delete;
    Owner(Owner &&o) : p(o.p) { o.p = nullptr; }
    Owner &operator=(const Owner &) = delete;
    Owner &operator=(Owner &&o) {
        if (this != &o) { if (p) cudaFree(p); p = o.p; o.p = nullptr; }
        return *this;
    }
    ~Owner() { if (p) cudaFree(p); }
    float *get() const { return p; }
};
struct Base { virtual ~Base() {} };
struct Derived : Base { Owner own; Derived() : own(64) {} };
struct Release { void operator()(float *p) const { cudaFree(p); } };
float *allocated() { float *p; cudaMalloc(&p, 256); return p; }
float *early(int n) {
    Owner o(64);
    for (int i = 0; i < n; i++) {
        Owner inner(64);
        if (i == 1) return inner.get();
    }
    return nullptr;
}
Owner made() { Owner o(64); set<<<1, 64>>>(o.p); return o; }
Owner passed(Owner o) { return o; }
"#;

fn program(body: &str) -> String {
    format!("{OWNER}int main() {{\n{body}\n    cudaDeviceSynchronize();\n    return 0;\n}}\n")
}

/// What is looked at, statements behind which the owner of `p` is alive, and such behind which it has ended.
const ENDS: &[(&str, &str, &str)] = &[
    ("a block", "Owner o(64); float *p = o.p;", "float *p; { Owner o(64); p = o.p; }"),
    ("an early return", "Owner o(64); float *p = o.p;", "float *p = early(3);"),
    (
        "a break",
        "Owner o(64); float *p; for (;;) { p = o.p; break; }",
        "float *p; for (;;) { Owner o(64); p = o.p; break; }",
    ),
    (
        "a temporary",
        "const Owner &o = Owner(64); float *p = o.get();",
        "float *p = Owner(64).get();",
    ),
    (
        "a temporary behind a move",
        "Owner o = passed(Owner(64)); float *p = o.p;",
        "Owner o(64); float *p = o.p; passed(std::move(o));",
    ),
    (
        "a move assignment",
        "Owner o, q(64); float *p = q.p; o = std::move(q);",
        "Owner o(64); float *p = o.p; o = made();",
    ),
    (
        "an array",
        "Owner o[2] = {Owner(64), Owner(64)}; float *p = o[1].p;",
        "float *p; { Owner o[2] = {Owner(64), Owner(64)}; p = o[1].p; }",
    ),
    (
        "a base",
        "Derived *d = new Derived; float *p = d->own.p;",
        "Derived *d = new Derived; float *p = d->own.p; Base *b = d; delete b;",
    ),
    (
        "new of several",
        "Owner *o = new Owner[2]; o[1] = Owner(64); float *p = o[1].p;",
        "Owner *o = new Owner[2]; o[1] = Owner(64); float *p = o[1].p; delete[] o;",
    ),
    (
        "clear",
        "std::vector<Owner> v; v.push_back(Owner(64)); v.reserve(100); v.emplace_back(64); float *p = v[0].p;",
        "std::vector<Owner> v; v.push_back(Owner(64)); float *p = v[0].p; v.clear();",
    ),
    (
        "pop_back",
        "std::vector<Owner> v; v.push_back(made()); v.emplace_back(64); float *p = v[0].p; v.pop_back();",
        "std::vector<Owner> v; v.emplace_back(64); float *p = v.back().p; v.pop_back();",
    ),
    (
        "a moved vector",
        "std::vector<Owner> v; v.emplace_back(64); float *p = v[0].p; auto w = std::move(v); if (!v.empty()) p = nullptr;",
        "std::vector<Owner> v; v.emplace_back(64); float *p = v[0].p; { auto w = std::move(v); }",
    ),
    (
        "unique_ptr with a deleter",
        "std::unique_ptr<float, Release> u(allocated()); float *p = u.get(); auto w = std::move(u); if (u) p = nullptr;",
        "float *p; { std::unique_ptr<float, Release> u(allocated()); p = u.get(); auto w = std::move(u); }",
    ),
    (
        "reset",
        "std::unique_ptr<float, Release> u; u.reset(allocated()); float *p = u.release(); u.reset();",
        "std::unique_ptr<float, Release> u(allocated()); float *p = u.get(); u.reset();",
    ),
    (
        "make_unique",
        "auto u = std::make_unique<Owner>(64); float *p = u->p;",
        "auto u = std::make_unique<Owner>(64); float *p = u->p; u = nullptr;",
    ),
    (
        "shared_ptr",
        "auto a = std::make_shared<Owner>(64); float *p = a->p; { auto b = a; }",
        "float *p; { auto a = std::make_shared<Owner>(64); auto b = a; p = b->p; }",
    ),
    (
        "swap and exchange",
        "Owner a(64), b; std::swap(a, b); float *p = b.p; if (std::exchange(a.p, nullptr)) p = nullptr;",
        "float *p; Owner a; { Owner b(64), c(64); std::swap(a, b); p = c.p; }",
    ),
];

#[test]
fn memory_is_there_as_long_as_its_owner() {
    for (what, right, wrong) in ENDS {
        let use_it = "set<<<1, 64>>>(p);";
        let text = check(&program(&format!("{right}\n{use_it}")), &[], 0);
        assert!(text.contains("nothing found") && !text.contains("left out"), "{what}: {text}");
        let text = check(&program(&format!("{wrong}\n{use_it}")), &[], 1);
        assert!(text.contains("error[dangling]"), "{what}: {text}");
    }
}

/// What happens to objects makes one number, in the order it happens.
const TRACED: &str = r#"
#include <utility>
__global__ void probe(int *x, int i) { x[i] = 1; }
int seq = 0;
struct G {
    int id;
    G(int i = 3) : id(i) { seq = seq * 7 + id; }
    G(const G &o) : id(o.id + 10) { seq = seq * 7 + 3 * id; }
    G(G &&o) : id(o.id + 20) { seq = seq * 7 + 5 * id; o.id = 1; }
    G &operator=(const G &o) { id = o.id; seq = seq * 11 + 1; return *this; }
    G &operator=(G &&o) { id = o.id; o.id = 2; seq = seq * 11 + 2; return *this; }
    ~G() { seq = seq * 13 + id; }
    int get() const { return id; }
};
struct Base { G g; Base() : g(4) {} virtual ~Base() { seq = seq * 3 + 1; } };
struct Derived : Base { G h; Derived() : h(5) {} ~Derived() { seq = seq * 3 + 2; } };
struct Two { G a, b; };
G local() { G x(1); return x; }
G param(G x) { return x; }
int early(int n) {
    G x(2);
    for (int i = 0; i < n; i++) {
        G y(i + 3);
        if (i == 1) continue;
        if (i == 2) return y.get();
    }
    return 7;
}
"#;

/// Statements, and the lower 24 bits of the number that g++ makes of them.
const ORDER: &[(&str, i32)] = &[
    ("{ G a(1); G b(a); G c(std::move(a)); b = c; b = std::move(c); b = G(6); }", 4893437),
    ("{ G a = local(); G b = param(a); G c = param(std::move(a)); G d = param(G(3)); }", 14867634),
    ("n = early(5) + G(8).get();", 2695128),
    ("{ Base *p = new Derived; delete p; }", 51419),
    ("{ G arr[2] = {G(1), G(2)}; const G &r = G(5); }", 150268),
    ("{ Two t{G(1), G(2)}; Two u = t; Two v = std::move(t); u = v; v = std::move(u); }", 3492298),
    ("{ G *p = new G[2]; delete[] p; }", 4098),
    ("for (int i = 0; i < 3; i++) { G q(i); if (i == 1) break; }", 14),
    ("switch (n & 1) { case 0: { G s(1); break; } default: { G s(2); } }", 28),
    ("{ G a(1), b(2); std::swap(a, b); G c = n > 3 ? a : b; G e = n > 3 ? G(3) : b; }", 8135471),
    ("{ auto f = [](G x) { return x.get(); }; f(G(2)); }", 28),
    ("if (G(4).get() == 4) { G x(5); } while (G(n).get() > 11) n--;", 2156258),
    ("for (G g(2); g.id < 4; g.id++) { G h(g); }", 789910),
];

#[test]
fn objects_are_copied_moved_and_ended_as_by_a_compiler() {
    for (statements, number) in ORDER {
        let body = format!(
            "int main() {{ int n = 13; {statements}\n\
             int *x; cudaMalloc(&x, 4); probe<<<1, 1>>>(x, (seq & 0xffffff) - {number}); }}"
        );
        let text = check(&format!("{TRACED}{body}"), &[], 0);
        assert!(!text.contains("left out"), "{statements}: {text}");
    }
}

#[test]
fn an_assignment_that_is_defaulted_is_that_of_the_members() {
    let class = "struct A { Owner own; int n; A(int n) : own(64), n(n) {} A(A &&) = default;
        A &operator=(A &&) = default; };\n";
    let of = |body: &str| program(body).replace("int main", &format!("{class}int main"));
    let right = "A a(1), b(2); float *p = b.own.p; a = std::move(b); if (a.n != 2) p = nullptr; set<<<1, 64>>>(p);";
    assert!(!check(&of(right), &[], 0).contains("left out"));
    let wrong = "A a(1), b(2); float *p = a.own.p; a = std::move(b); set<<<1, 64>>>(p);";
    assert!(check(&of(wrong), &[], 1).contains("error[dangling]"));
}

#[test]
fn the_copy_that_a_kernel_gets_ends_on_the_host() {
    let view = "struct View { float *p; bool owns; View(float *p) : p(p), owns(true) {}
        View(const View &o) : p(o.p), owns(false) {} ~View() { if (owns) cudaFree(p); } };
        __global__ void see(View v) { v.p[threadIdx.x] = 1.0f; }\n";
    let twice = "View v(allocated()); see<<<1, 64>>>(v); see<<<1, 64>>>(v);";
    let file = program(twice).replace("int main", &format!("{view}int main"));
    check(&file, &[], 0);
    let text = check(&file.replace("owns(false)", "owns(true)"), &[], 1);
    assert!(text.contains("error[dangling]"), "{text}");
}

/// Temporaries of device code end with their expression, too.
#[test]
fn a_temporary_of_a_kernel_ends_with_its_expression() {
    let source = |rest: &str| {
        format!(
            "struct Count {{ int *n; __device__ Count(int *n) : n(n) {{ *n += 1; }}
                __device__ ~Count() {{ *n -= 1; }} __device__ int get() const {{ return *n; }} }};
            __global__ void count(int *x) {{ int n = 0; int a = Count(&n).get(); x[n + a - 1] = {rest}; }}
            int main() {{ int *x; cudaMalloc(&x, 4); count<<<1, 1>>>(x); cudaDeviceSynchronize(); }}"
        )
    };
    check(&source("1"), &[], 0);
    check(&source("1").replace("n + a - 1", "n + a"), &[], 1);
}

#[test]
fn a_jump_that_is_not_understood_ends_the_program() {
    let rest = "goto done; set<<<1, 64>>>(nullptr); done: return 0;";
    let text = check(&program(&format!("Owner o(64); set<<<1, 64>>>(o.p); {rest}")), &[], 2);
    assert!(text.contains("`goto` is not supported in host code"), "{text}");
    let reached = |when: &str| {
        program(&format!(
            "Owner o(64); set<<<1, 64>>>(o.p); if ({when}) throw 1; set<<<1, 64>>>(nullptr);"
        ))
    };
    let text = check(&reached("o.p"), &[], 0);
    assert!(text.contains("`throw`"), "{text}");
    check(&reached("!o.p"), &[], 1);
}

#[test]
fn what_is_given_by_reference_to_what_is_left_out_is_not_known() {
    let file = |by: &str| {
        format!(
            "{OWNER}void size_of(Unknown what, int {by}n);\nint main() {{ int n = 32; size_of(3, n);
            Owner o(64); set<<<1, n>>>(o.p); cudaDeviceSynchronize(); }}\n"
        )
    };
    let text = check(&file("&"), &[], 2);
    assert!(text.contains("`n` is not known here"), "{text}");
    check(&file(""), &[], 0);
}
