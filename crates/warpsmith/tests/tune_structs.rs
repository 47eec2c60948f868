//! Programs with structures, complex numbers and the names of the standard headers through all of `tune`: the emitted
//! text is run in the emulator and compared with what the host's compiler makes of the C file.

use std::path::Path;
use std::process::Output;

mod common;

fn tune(folder: &Path, source: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("nest.c"), source).expect("a writable folder");
    let args: Vec<&str> =
        ["tune", "nest.c", "--out", "out"].iter().chain(options).copied().collect();
    common::command(folder, &args).output().expect("the program starts")
}

/// Tunes with the direct translation and by default; leaves the files in `WARPSMITH_EMITTED`, gives those of the first.
#[track_caller]
fn verified(name: &str, source: &str, sizes: &[&str]) -> (String, String) {
    let mut first = None;
    for strategy in [&["--strategy", "direct"][..], &["--registers", "estimate"][..]] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sizes = sizes.iter().flat_map(|s| ["--size", *s]);
        let options: Vec<&str> = sizes.chain(strategy.iter().copied()).collect();
        let output = tune(folder.path(), source, &options);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name} {options:?}: {stderr}");
        assert!(!stderr.contains("W324"), "{name}: the C compiler refused the driver: {stderr}");
        let read = |end: &str| {
            std::fs::read_to_string(folder.path().join("out").join(format!("f{end}"))).expect(name)
        };
        let files = (read(".cu"), read(".h"));
        if let Some(emitted) = std::env::var_os("WARPSMITH_EMITTED") {
            let to = Path::new(&emitted).join(format!("structs-{name}-{}", first.is_some()));
            std::fs::create_dir_all(&to).expect("a writable folder");
            for end in [".cu", ".h", "_test.cu"] {
                std::fs::write(to.join(format!("f{end}")), read(end)).expect("a writable folder");
            }
        }
        first.get_or_insert(files);
    }
    first.expect("two strategies")
}

macro_rules! programs {
    ($($name:ident [$($size:literal),*] $source:literal)*) => { $(
        #[test]
        fn $name() {
            verified(stringify!($name), include_str!(concat!("structs/", $source)), &[$($size),*]);
        }
    )* };
}

programs! {
    a_galaxy_of_structures ["n=1000"] "nbody.c"
    particles_with_arrays_in_them ["n=1000"] "move.c"
    cells_of_a_lattice ["n=100", "m=64"] "lbm.c"
    pixels_of_three_bytes ["n=1000"] "pixels.c"
    pixels_of_four_bytes ["n=100", "m=64"] "invert.c"
    a_fractal_of_complex_numbers ["n=100", "m=64"] "mandel.c"
    butterflies_of_a_transform ["n=1000", "h=16"] "fft.c"
    quotients_of_complex_numbers ["n=1000"] "axpy.c"
    parameters_by_value ["n=1000", "prm.nx=1000", "prm.ny=4"] "params.c"
    vectors_in_bodies ["n=1000"] "vec3.c"
    pointers_to_elements ["n=1000"] "ptr.c"
    a_table_of_materials ["n=1000"] "table.c"
    a_sum_over_fields ["n=1000"] "dots.c"
    pairs_with_gaps ["n=1000"] "swap.c"
    a_grid_of_structures ["n=100", "m=64"] "soa.c"
    bits_of_every_width ["n=1000"] "bits.c"
    a_counter_that_counts_down ["n=1000"] "down.c"
    halves ["n=1000"] "half.c"
    structures_of_arrays ["sys.n=1000", "sys.periodic=1"] "particles.c"
    images_by_value ["in.w=100", "in->h=64"] "image.c"
    structures_behind_structures ["dom.mesh.cells=1000", "dom.steps=3"] "mesh.c"
}

/// The header has one parameter a field; the function that stands in place of C's takes what C's takes.
#[test]
fn fields_of_structures_are_parameters_of_the_launcher() {
    let (cuda, header) =
        verified("fields", include_str!("structs/particles.c"), &["sys_n=1000", "sys_periodic=1"]);
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let launcher = "f_launch(double *sys_box, double *sys_energy, const double *sys_mass, size_t sys_n, \
                    bool sys_periodic, double *sys_v, double *sys_x, double dt,";
    assert!(joined(&header).contains(&joined(launcher)), "{header}");
    assert!(header.contains("double f_host(void *sys, double dt);"), "{header}");
    assert!(cuda.contains("extern \"C\" double f_host(void *sys, double dt) {"), "{cuda}");
    assert!(cuda.contains("        char name[8];\n        void *x;\n"), "{cuda}");
    assert!(cuda.contains("double *sys_energy = (double *)&sys_fields->energy;"), "{cuda}");
}

/// A pointer that changes is no array of its own.
#[test]
fn pointers_in_structures_stay_what_they_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "struct s { float *a, *b; int n; };\nvoid f(struct s *s) {\n  for (int t = 0; t < 4; t++) {\n\
                  #pragma omp parallel for\n    for (int i = 0; i < s->n; i++) s->a[i] += s->b[i];\n    \
                  float *x = s->a; s->a = s->b; s->b = x;\n  }\n}\n";
    let output = tune(folder.path(), source, &["--size", "s.n=64"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let left = "the pointer `s->a`, which `f` sets, is left as it is";
    assert!(String::from_utf8_lossy(&output.stdout).contains(left));
    assert!(stderr.contains("no `f_host` is written: it would have to set pointers"), "{stderr}");
    // What a function that is called sets, its caller would not see.
    let beyond = "struct s { float *a, *b; int n; };\nstatic void turn(struct s *s) { float *x = s->a; s->a = s->b; s->b = x; }\n\
                  void f(struct s *s) {\n  for (int t = 0; t < 4; t++) {\n    #pragma omp parallel for\n    \
                  for (int i = 0; i < s->n; i++) s->a[i] += s->b[i];\n    turn(s);\n  }\n}\n";
    let output = tune(folder.path(), beyond, &["--size", "s.n=64"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("`s` is used here in another way than by its fields"), "{stderr}");
}

/// Other names of a structure, in C as people write it.
#[test]
fn local_names_of_structures_are_the_structures() {
    let types = "typedef struct { int dim, hidden; } Config;\ntypedef struct { float *w; } Weights;\n\
                 typedef struct { float *x, *y; } State;\n\
                 typedef struct { Config config; Weights weights; State state; } *Model;\n";
    for (body, size) in [
        // Pointers to parts, a copy of one, and a test for null.
        (
            "void f(Model t) {\n  if (!t) return;\n  Config c = t->config;\n  Weights *w = &t->weights;\n  State *s = &(t->state);\n  \
             #pragma omp parallel for firstprivate(s)\n  for (int i = 0; i < c.hidden; i++) {\n    float a = 0.0f;\n    \
             for (int j = 0; j < c.dim; j++) a += w->w[i * c.dim + j] * s->x[j];\n    s->y[i] = a;\n  }\n}\n",
            ["t.config.dim=20", "t.config.hidden=30"],
        ),
        // Parts are handed on, and a variable inside has the parameter's name.
        (
            "static float row(const Config *c, const Weights *w, const State *s, int i) {\n  float a = 0.0f;\n  \
             for (int j = 0; j < c->dim; j++) a += w->w[i * c->dim + j] * s->x[j];\n  return a;\n}\n\
             void f(Model t) {\n  #pragma omp parallel for num_threads(t->config.dim)\n  \
             for (int i = 0; i < t->config.hidden; i++) {\n    float y = row(&t->config, &t->weights, &t->state, i);\n    \
             State *s = &t->state;\n    { float t = 2.0f * y; s->y[i] = t; }\n  }\n}\n",
            ["t.config.dim=20", "t.config.hidden=30"],
        ),
        // A part is used as a whole and field by field.
        (
            "static int twice(Config c) { return 2 * c.dim; }\n\
             void f(Model t) {\n  int n = t->config.hidden;\n  #pragma omp parallel for\n  \
             for (int i = 0; i < n; i++) t->state.y[i] = twice(t->config) * t->state.x[i];\n}\n",
            ["t.config.hidden=30", "t.config.dim=3"],
        ),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sizes = size.iter().flat_map(|s| ["--size", s]);
        let options: Vec<&str> = sizes.chain(["--strategy", "direct"]).collect();
        let output = tune(folder.path(), &format!("{types}{body}"), &options);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}\n{body}");
        let cuda = std::fs::read_to_string(folder.path().join("out/f.cu")).expect("the kernel");
        assert!(
            cuda.contains("f_host(void *t)") || cuda.contains("f_host(const void *t)"),
            "{cuda}"
        );
    }
}

/// Four floats are one access for the device; the header has the structure as the user wrote it.
#[test]
fn a_structure_of_four_floats_is_aligned_for_the_kernel_alone() {
    let (cuda, header) = verified("aligned", include_str!("structs/nbody.c"), &["n=1000"]);
    assert!(cuda.contains("struct __align__(16) P {"), "{cuda}");
    assert!(
        header.contains("#ifndef WARPSMITH_STRUCT_P\n#define WARPSMITH_STRUCT_P\nstruct P {\n"),
        "{header}"
    );
    assert!(
        header.contains("begins at a multiple of 16 bytes, as memory from cudaMalloc does"),
        "{header}"
    );
    let asked = "% 16 != 0) return cudaErrorInvalidValue;";
    assert!(cuda.contains(asked), "{cuda}");
}

#[test]
fn launchers_keep_the_names_of_the_standard_headers() {
    let (cuda, header) = verified("bits", include_str!("structs/bits.c"), &["n=1000"]);
    let declaration =
        "size_t n, const uint64_t *b, uint64_t *o, int8_t *s, bool *f, cudaStream_t stream";
    let joined = header.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&format!("cudaError_t f_launch({declaration});")), "{header}");
    assert!(
        header.contains("#include <stddef.h>") && header.contains("#include <stdint.h>"),
        "{header}"
    );
    assert!(cuda.contains("reinterpret_cast<"), "{cuda}");
}

#[test]
fn halves_include_their_header() {
    let (cuda, header) = verified("half", include_str!("structs/half.c"), &["n=1000"]);
    assert!(cuda.contains("#include <cuda_fp16.h>") && header.contains("#include <cuda_fp16.h>"));
}

/// CUDA has no letters but those of ASCII in the names of kernels.
#[test]
fn names_that_cuda_does_not_allow_are_written_in_other_letters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "void größe(int n, float x[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) { float ñ = x[i]; x[i] = ñ + 1.0f; }\n}\n";
    let output = tune(folder.path(), source, &["--size", "n=100", "--strategy", "direct"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let cuda = std::fs::read_to_string(folder.path().join("out/größe.cu")).expect("the kernel");
    assert!(cuda.contains("groesse_launch(") && cuda.contains("const float n2 ="), "{cuda}");
}

/// A loop that does not end is not waited for longer than asked.
#[test]
fn an_endless_loop_ends_at_the_time_limit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "void f(int n, float x[n])\n{\n    int k = 1;\n    while (k > 0) { k = 1; }\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) x[i] = 1.0f;\n}\n";
    let begun = std::time::Instant::now();
    let output = tune(
        folder.path(),
        source,
        &["--size", "n=100", "--strategy", "direct", "--timeout", "3s"],
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("error[W470]: the time limit was reached (--timeout)"), "{stderr}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn sizes_may_be_fields() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = include_str!("structs/params.c");
    let output = tune(folder.path(), source, &["--size", "n=100", "--strategy", "direct"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("parameters `prm.nx`, `prm.ny` have no size"), "{stderr}");
}

/// Steps that tell elements apart by their subscripts alone leave structures alone.
const BODIES: &str = "typedef struct { float x, y, z, mass; } Body;
void f(int n, const Body p[n], float fx[n], float fy[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float ax = 0.0f, ay = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y;
            float r = dx * dx + dy * dy + 0.01f;
            ax += p[j].mass * dx / r;
            ay += p[j].mass * dy / r;
        }
        fx[i] = ax;
        fy[i] = ay;
    }
}
";

#[test]
fn copies_of_structures_are_refused() {
    let of_copies = |step: &str, source: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("x.sched"), format!("bind i -> x block 64\n{step}\n"))
            .expect("a writable folder");
        let output = tune(folder.path(), source, &["--size", "n=100", "--schedule", "x.sched"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{step}: {stderr}");
        stderr
    };
    for step in ["stage p", "stage p at j tile 8"] {
        let stderr = of_copies(step, BODIES);
        assert!(stderr.contains("its elements are structures"), "{step}: {stderr}");
    }
    let whole = "typedef struct { float x, y; } P;
void f(int n, const P p[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        P own = p[i];
        y[i] = own.x + own.y;
    }
}
";
    let stderr = of_copies("register_tile i by 2", whole);
    assert!(stderr.contains("it works on structures"), "{stderr}");
    let refused = |source: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("x.sched"), "scalarise i\n").expect("writable");
        let output = tune(folder.path(), source, &["--size", "n=100", "--schedule", "x.sched"]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let stderr = refused(BODIES);
    assert!(stderr.contains("its iterations have no structures of their own"), "{stderr}");
    // Rows in a structure are no numbers.
    let rows = whole.replace("float x, y;", "float x, y, t[2];");
    let stderr = refused(&rows);
    assert!(stderr.contains("`own` is used in another way than by its fields"), "{stderr}");
}

/// Threads share loops over structures, have several of them, and write fields of several, in every order of such steps.
#[test]
fn tiles_work_on_fields() {
    const MOVED: &str = "typedef struct { float x, v; int cell; } Particle;
void f(int n, Particle p[n], float e[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        p[i].v = p[i].v - 0.5f * p[i].x;
        p[i].x = p[i].x + 0.5f * p[i].v;
        p[i].cell = (int)(p[i].x * 8.0f);
        e[i] = p[i].v * p[i].v + p[i].x * p[i].x;
    }
}
";
    // Fields that change places are read before one of them is written.
    const SWAPPED: &str = "typedef struct { float x, y; } P;
void f(int n, P p[n], P q[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        P own = p[i];
        own = (P){own.y, own.x};
        q[i] = own;
        p[i] = (P){p[i].y, p[i].x};
    }
}
";
    let galaxy = include_str!("structs/nbody.c");
    let wide = "specialise n%4=0, p%16=0, e%16=0\nregister_tile i by 4\nvectorise i by 4";
    for (source, steps) in [
        (BODIES, "bind i -> y block 1x4\nshare j -> x by 32\nunroll j by 4"),
        (BODIES, "bind i -> y block 1x8\nshare j -> x by 8\nregister_tile i by 2"),
        (BODIES, "bind i -> x block 64\nregister_tile i by 4\nunroll j by 2"),
        (galaxy, "scalarise i\nbind i -> y block 1x4\nshare j -> x by 32\nunroll j by 4"),
        (galaxy, "scalarise i\nbind i -> x block 64\nregister_tile i by 2\nunroll j by 2"),
        (SWAPPED, "scalarise i\nbind i -> x block 64\nregister_tile i by 2"),
        (MOVED, "bind i -> x block 64\nregister_tile i by 4"),
        (MOVED, "bind i -> x block 64\nregister_tile i by 4\nvectorise i by 4\nbounds peel"),
        (MOVED, &format!("bind i -> x block 64\n{wide}")),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("x.sched"), format!("{steps}\n")).expect("writable");
        let output = tune(folder.path(), source, &["--size", "n=1000", "--schedule", "x.sched"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{steps}: {stderr}");
    }
}

/// Indices among the fields of structures get values that stay inside, and where no two iterations may write one
/// element, values of which no two are equal; in the emitted test program, too.
#[test]
fn fields_that_choose_elements_hold_suited_indices() {
    for (function, sizes, fill) in [
        ("relax", ["ne=1000", "nn=100"], "within(the_element.to, 0, 255);"),
        ("scatter", ["nn=1000", "nc=5"], "the_element.cell, 0 + (double)order[its_index]);"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sizes = sizes.iter().flat_map(|s| ["--size", s]);
        let options: Vec<&str> =
            sizes.chain(["--strategy", "direct", "--function", function]).collect();
        let output = tune(folder.path(), include_str!("structs/graph.c"), &options);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let test = folder.path().join(format!("out/{function}_test.cu"));
        let test = std::fs::read_to_string(test).expect("the test program");
        assert!(test.contains(fill), "no {fill} in {test}");
    }
}

/// A caller's structure that holds another of a larger alignment is declared as it lies in memory.
#[test]
fn headers_align_structures_inside_structures() {
    let source = "typedef struct { int x; double d; } In;\ntypedef struct { int q; In in[2]; } Out;\n\
                  void f(int n, const Out *o, double *y) {\n  #pragma omp parallel for\n  \
                  for (int i = 0; i < n; i++) y[i] = o[i].in[1].d + o[i].q;\n}\n";
    let (_, header) = verified("nested", source, &["n=100"]);
    assert!(header.contains("struct Out {") && !header.contains("__align__"), "{header}");
}

/// C and C++ pass them alike; callers have a declaration of their own.
#[test]
fn host_functions_take_structures_by_value() {
    let source = "typedef struct { int w, h; float *data; } Image;\ntypedef struct { float a, b; } Gain;\n\
                  void scale(Image in, Image out, Gain g) {\n  #pragma omp parallel for\n  \
                  for (int i = 0; i < in.w * in.h; i++) out.data[i] = g.a * in.data[i] + g.b;\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = ["--size", "in.w=30", "--size", "in.h=20", "--strategy", "direct"];
    let output = tune(folder.path(), source, &options);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let cuda = std::fs::read_to_string(folder.path().join("out/scale.cu")).expect("the kernel");
    let head = "scale_host(layout_of_in in, layout_of_out out, Gain g) {";
    assert!(cuda.contains(head) && cuda.contains("float *in_data = (float *)in.data;"), "{cuda}");
    let header = std::fs::read_to_string(folder.path().join("out/scale.h")).expect("the header");
    assert!(header.contains("what declares scale declares it"), "{header}");
}
