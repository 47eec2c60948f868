//! Libraries: patterns deleted or wrong, routines missing, the form with placeholders.

use warpsmith::fusion::library::Files;

use super::*;

/// A copy of the shipped library.
pub fn copied() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in Files::read(&root().join("library")).unwrap().files {
        std::fs::write(dir.path().join(&file.name), file.text.as_bytes()).unwrap();
    }
    dir
}

fn edit(dir: &Path, file: &str, change: impl Fn(String) -> String) {
    let path = dir.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed, "{file}: nothing was changed");
    std::fs::write(path, changed).unwrap();
}

pub fn is_pattern(line: &str) -> bool {
    line.contains("PATTERN") && line.contains("= start ")
}

#[test]
fn without_patterns_the_kernels_are_the_same() {
    let bare = copied();
    for file in Files::read(bare.path()).unwrap().files {
        if file.text.lines().any(is_pattern) {
            edit(bare.path(), &file.name, |text| {
                text.lines().filter(|l| !is_pattern(l)).map(|l| format!("{l}\n")).collect()
            });
        }
    }
    for name in ["bigfusion", "synctest", "stvenant", "stvenantinner"] {
        for (several, keep_loads) in [(false, false), (true, false), (true, true)] {
            let implementations = if several { vec!["*=2".to_string()] } else { vec![] };
            let with = FuseArgs { implementations, keep_loads, ..example(name) };
            let without = FuseArgs { library: Some(bare.path().into()), ..with.clone() };
            assert_eq!(fused(&with).covers[0].files, fused(&without).covers[0].files, "{name}");
        }
    }
}

#[test]
fn each_wrong_pattern_is_reported() {
    let script_of = |name: &str| match name {
        "mvmul33" => ("vector3 v, w; matrix3x3 A;", "A, v", "w", "A, v"),
        "madd33" => ("matrix3x3 v, w, A;", "A, v", "w", "A, v"),
        "ttmul411" => ("tensor3x3x3x3 A; vector3 v; tensor3x3x3 w;", "A, v", "w", "A, v"),
        _ => unreachable!(),
    };
    let damages: [fn(&str) -> String; 4] = [
        |line| line.replacen("start \"", "start \"1+", 1),
        |line| {
            let (before, count) = line.split_once("count ").unwrap();
            let (count, rest) = count.split_once(',').unwrap();
            format!("{before}count {},{rest}", count.parse::<u32>().unwrap() + 1)
        },
        |line| line.replacen("block \"1\"", "block \"2\"", 1),
        |line| line.replacen("stride \"", "stride \"2*", 1),
    ];
    let mut reported = 0;
    for name in ["mvmul33", "madd33", "ttmul411"] {
        let file = format!("{name}.cu");
        let text = std::fs::read_to_string(root().join("library").join(&file)).unwrap();
        let (declared, inputs, output, arguments) = script_of(name);
        let (_dir, args) = script(&format!(
            "{declared}\ninput {inputs};\n{output} = {name}({arguments});\nreturn {output};"
        ));
        let library = copied();
        for (number, line) in text.lines().enumerate().filter(|(_, l)| is_pattern(l)) {
            for damage in damages {
                // Of a single step the stride does not matter.
                if line.contains("count 1,") && damage(line).contains("stride \"2*") {
                    continue;
                }
                let changed: String = text
                    .lines()
                    .enumerate()
                    .map(|(n, l)| if n == number { damage(l) + "\n" } else { format!("{l}\n") })
                    .collect();
                std::fs::write(library.path().join(&file), changed).unwrap();
                let error = run(&FuseArgs { library: Some(library.path().into()), ..args.clone() });
                let (status, message) = error.err().unwrap_or_else(|| panic!("{}", damage(line)));
                assert_eq!(status, Status::BadInput);
                assert!(message.starts_with("error[W525]"), "{}\n{message}", damage(line));
                reported += 1;
            }
        }
    }
    assert!(reported > 60, "{reported}");
}

#[test]
fn a_damaged_library_has_one_message_each() {
    let cases: [(&str, &str, &str, &str); 14] = [
        ("W521", "types.cuh", "// warpsmith: elements 9", ""),
        ("W521", "types.cuh", "elements 9", "elements many"),
        ("W522", "madd33.cu", "d_madd33_1_compute", "d_madd33_1_comput"),
        ("W522", "madd33.cu", "d_madd33_2_save", "d_madd33_2_safe"),
        ("W522", "madd33.cpp", "madd33_cpu", "madd_cpu"),
        ("W523", "madd33.cu", "cu_madd33_1(", "cu_add33_1("),
        (
            "W523",
            "madd33.cu",
            "d_madd33_1_load_1(matrix3x3 A, float *s_A, int tx, int bx)",
            "d_madd33_1_load_1(matrix3x3 A, float *s_A, int bx, int tx)",
        ),
        ("W523", "madd33.cpp", "const float *B, ", ""),
        ("W524", "madd33.cu", "BATCH = size (recommended 1)", ""),
        ("W524", "madd33.cu", "BX = 3", "BX = three"),
        ("W524", "madd33.cu", "Data location = shared", "Data location = global"),
        ("W524", "madd33.cu", "#*/", ""),
        ("W526", "madd33.cu", "Data type = matrix3x3", "Data type = matrix4x4"),
        ("W526", "madd33.cu", "cu_madd33_1(matrix3x3 A", "cu_madd33_1(float *A"),
    ];
    let (_dir, args) = script("matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;");
    for (code, file, from, to) in cases {
        let library = copied();
        edit(library.path(), file, |text| text.replacen(from, to, 1));
        let (status, message) =
            run(&FuseArgs { library: Some(library.path().into()), ..args.clone() })
                .err()
                .unwrap_or_else(|| panic!("{from} -> {to}"));
        assert_eq!(status, Status::BadInput, "{message}");
        assert!(message.starts_with(&format!("error[{code}]")), "{from} -> {to}\n{message}");
        assert_eq!(message.matches("error[").count(), 1, "{message}");
    }
}

#[test]
fn a_wrong_implementation_is_not_handed_out() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| {
        text.replace("+ B[tx * 9 + i]", "- B[tx * 9 + i]")
            .replace("+ B[ty * 9 + tx * 3 + j]", "- B[ty * 9 + tx * 3 + j]")
    });
    let (_dir, args) = script("matrix3x3 A, B, C;\ninput A, C;\nB = madd33(A, C);\nreturn B;");
    let (status, message) =
        run(&FuseArgs { library: Some(library.path().into()), ..args }).err().unwrap();
    assert_eq!(status, Status::No);
    assert!(
        message.starts_with("error[W540]: `B` is not what the CPU references give"),
        "{message}"
    );
}

#[test]
fn a_wrong_implementation_gives_way_to_a_right_one() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| text.replace("+ B[tx * 9 + i]", "- B[tx * 9 + i]"));
    let (_dir, args) = script("matrix3x3 A, B, C;\ninput A, C;\nB = madd33(A, C);\nreturn B;");
    let args = FuseArgs { library: Some(library.path().into()), ..args };
    let fused = run(&args).unwrap_or_else(|(_, text)| panic!("{text}"));
    assert_eq!(plans(&fused)[0].calls[0].implementation, 1, "{}", fused.text);
    let [warning] = fused.warnings.as_slice() else { panic!("{:?}", fused.warnings) };
    assert_eq!(warning.code, "W540");
    let note = "without implementation `1` of `madd33` the kernels are right";
    assert!(warning.notes.iter().any(|n| n == note), "{:?}", warning.notes);
    // Who asks for it gets no other one.
    let only = FuseArgs { implementations: vec!["madd33=1".into()], ..args };
    assert_eq!(run(&only).err().unwrap().0, Status::No);
}

/// A text without its comments of metadata for loads and saves.
fn without_metadata_of_moves(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let opens = line.starts_with("/*#") && line.ends_with("metadata");
        inside |= opens && (line.contains("_load_") || line.contains("_save"));
        if !inside {
            out += &format!("{line}\n");
        }
        inside &= !line.contains("#*/");
    }
    out
}

#[test]
fn loads_and_saves_need_no_metadata_where_their_signatures_say_all() {
    let bare = copied();
    for file in Files::read(bare.path()).unwrap().files {
        if file.text.contains("_load_1 metadata") {
            edit(bare.path(), &file.name, |text| without_metadata_of_moves(&text));
        }
    }
    for name in ["bigfusion", "stvenant"] {
        let implementations = vec!["*=2".to_string()];
        let with = FuseArgs { implementations, keep_loads: true, ..example(name) };
        let without = FuseArgs { library: Some(bare.path().into()), ..with.clone() };
        assert_eq!(fused(&with).covers[0].files, fused(&without).covers[0].files, "{name}");
    }
    edit(bare.path(), "madd33.cu", |text| {
        text.replacen("d_madd33_1_load_1(matrix3x3 A,", "d_madd33_1_load_1(float *A,", 1)
    });
    let (_dir, args) = script("matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;");
    let (status, message) =
        run(&FuseArgs { library: Some(bare.path().into()), ..args }).err().unwrap();
    assert_eq!(status, Status::BadInput);
    assert!(
        message.starts_with("error[W524]: `d_madd33_1_load_1` has no `Data type`"),
        "{message}"
    );
}

#[test]
fn an_implementation_with_a_barrier_is_left_out() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| {
        text.replace(
            "for (int i = 0; i < 9; i++) C[",
            "for (int i = 0; i < 9; i++) __syncthreads(), C[",
        )
    });
    let (_dir, args) = script("matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;");
    let args = FuseArgs { library: Some(library.path().into()), ..args };
    let other = fused(&args);
    assert_eq!(plans(&other)[0].calls[0].implementation, 1, "{}", other.text);
    assert_eq!(other.warnings.iter().map(|w| w.code).collect::<Vec<_>>(), ["W527"]);
    // Where there is no other one, that is an error.
    let only = FuseArgs { implementations: vec!["madd33=1".into()], ..args };
    let (status, message) = run(&only).err().unwrap();
    assert_eq!((status, &message[..11]), (Status::BadInput, "error[W527]"), "{message}");
}

/// The product as the thesis has it: offsets that begin with a placeholder, in a variable that is stepped on; one load for
/// both inputs; helpers, a macro, a batch, and the reference in the same file.
const PLACEHOLDERS: &str = include_str!("placeholders.cu");
const TIMES: &str =
    "#pragma once\n__device__ inline float times(float a, float b) { return a * b; }\n";

#[test]
fn placeholders_stand_for_starts() {
    let library = copied();
    std::fs::write(library.path().join("product.cu"), PLACEHOLDERS).unwrap();
    // A header of the library that two functions include, is written once.
    std::fs::write(library.path().join("times.cuh"), TIMES).unwrap();
    edit(library.path(), "madd33.cu", |text| {
        text.replacen("#include \"types.cuh\"", "#include \"types.cuh\"\n#include \"times.cuh\"", 1)
    });
    let (_dir, args) = script(
        "matrix3x3 A, B, C, D, E;\ninput A, B;\nC = product(A, B);\nD = madd33(C, A);\nE = product(D, C);\nreturn E;",
    );
    for keep_loads in [false, true] {
        let library = Some(library.path().to_path_buf());
        let implementations = vec!["*=2".into()];
        let args = FuseArgs { library, keep_loads, implementations, ..args.clone() };
        let fused = fused(&args);
        leave(&format!("placeholders_{keep_loads}"), &fused);
        let plan = &plans(&fused)[0];
        assert_eq!((plan.calls.len(), plan.batch), (3, 2));
        // D goes from the addition to the first argument of the product in registers.
        assert!(plan.registers() >= 1, "{}", fused.text);
    }
}

#[test]
fn patterns_may_have_macros_of_the_file_but_sizes_of_blocks_are_the_generators() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| {
        let text = text.replacen(
            "#include \"types.cuh\"",
            "#include \"types.cuh\"\n#define DIM 3\n#define LEN (DIM * DIM)\n#ifndef MADD33_2_BY\n#define MADD33_2_BY 7\n#endif",
            1,
        );
        text.replace("start \"ty*9+tx*3\"", "start \"ty*LEN+tx*DIM\"")
            .replace("Other parameters = tx, ty, bx", "Other parameters = tx ty bx")
    });
    let given = Some(library.path().to_path_buf());
    let args =
        FuseArgs { implementations: vec!["*=2".into()], library: given, ..example("synctest") };
    leave("macros_in_patterns", &fused(&args));
    edit(library.path(), "madd33.cu", |text| text.replacen("#define DIM 3", "#define DIM 4", 1));
    let (status, message) = run(&args).err().unwrap();
    assert_eq!((status, &message[..11]), (Status::BadInput, "error[W525]"), "{message}");
}

#[test]
fn a_routine_that_leaves_out_floats_is_left_out() {
    // A start that a body takes from its metadata cannot be compared with the body; but its threads must touch everything.
    let library = tempfile::tempdir().unwrap();
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuse/robots/library");
    for file in Files::read(&robots).unwrap().files {
        std::fs::write(library.path().join(&file.name), file.text.as_bytes()).unwrap();
    }
    let start = "OUTPATTERN = start \"ty*16+tx*2\"";
    edit(library.path(), "act16.cu", |text| {
        text.replacen(start, "OUTPATTERN = start \"ty*15+tx\"", 1)
    });
    let (_dir, args) = script("mat4 A, B;\ninput A;\nB = act16(A);\nreturn B;");
    let fused = fused(&FuseArgs { library: Some(library.path().into()), ..args });
    let [warning] = fused.warnings.as_slice() else { panic!("{:?}", fused.warnings) };
    assert_eq!(warning.code, "W527");
    assert!(
        warning.message.starts_with("`d_act16_8_compute` leaves out `r["),
        "{}",
        warning.message
    );
}

#[test]
fn a_placeholder_without_a_pattern_is_reported() {
    let library = copied();
    let text: String = PLACEHOLDERS
        .lines()
        .filter(|l| !l.starts_with("OUTPATTERN"))
        .map(|l| format!("{l}\n"))
        .collect();
    std::fs::write(library.path().join("product.cu"), text).unwrap();
    std::fs::write(library.path().join("times.cuh"), TIMES).unwrap();
    let (_dir, args) = script("matrix3x3 A, B;\ninput A;\nB = product(A, A);\nreturn B;");
    let (status, message) =
        run(&FuseArgs { library: Some(library.path().into()), ..args }).err().unwrap();
    assert_eq!((status, &message[..11]), (Status::BadInput, "error[W524]"), "{message}");
}

#[test]
fn what_only_the_library_can_move_is_no_structure_of_arrays() {
    let library = copied();
    // The load turns the matrix around: the tool's own copy cannot stand in for it.
    edit(library.path(), "madd33.cu", |text| {
        text.replace(
            "s_A[i * MADD33_1_BX + tx] = block_A[",
            "s_A[i * MADD33_1_BX + tx] = 1.0f * block_A[",
        )
        .replace(
            "s_A[i * 3 * MADD33_2_BY + ty * 3 + tx] = block_A[",
            "s_A[i * 3 * MADD33_2_BY + ty * 3 + tx] = 1.0f * block_A[",
        )
    });
    let library = Some(library.path().to_path_buf());
    let (_dir, args) =
        script("soa matrix3x3 A; matrix3x3 B, C;\ninput A, C;\nB = madd33(A, C);\nreturn B;");
    let (status, message) = run(&FuseArgs { library: library.clone(), ..args }).err().unwrap();
    assert_eq!(status, Status::BadInput, "{message}");
    assert!(
        message.contains("W530") && message.contains("`A` is a structure of arrays"),
        "{message}"
    );
    let (_dir, args) =
        script("matrix3x3 A; soa matrix3x3 B, C;\ninput A, C;\nB = madd33(A, C);\nreturn B;");
    fused(&FuseArgs { library, ..args });
}

#[test]
fn macros_may_mention_sizes_of_blocks_and_starts_of_patterns() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| {
        let macros = "#include \"types.cuh\"\n#define ROWS MADD33_2_BY\n#define WIDE (3 * ROWS)\n#define FROM(start, j) (start + (j))";
        text.replacen("#include \"types.cuh\"", macros, 1)
            .replace("i * 3 * MADD33_2_BY", "i * WIDE")
            .replace("C[ty * 9 + tx * 3 + j]", "C[FROM(APOUT, j)]")
            .replace("A[ty * 9 + tx * 3 + j]", "A[FROM(APIN0, j)]")
    });
    for keep_loads in [false, true] {
        let (library, implementations) = (Some(library.path().into()), vec!["*=2".into()]);
        let with = FuseArgs { library, implementations, keep_loads, ..example("synctest") };
        let without = FuseArgs { library: None, ..with.clone() };
        let (with, without) = (fused(&with), fused(&without));
        leave(&format!("macros_{keep_loads}"), &with);
        let registers = |fused: &Fused| plans(fused).iter().map(|p| p.registers()).sum::<usize>();
        assert_eq!(registers(&with), registers(&without));
    }
}

#[test]
fn helpers_know_no_sizes_of_blocks() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| {
        let helper =
            "#include \"types.cuh\"\n__device__ inline int width() { return MADD33_1_BX; }";
        text.replacen("#include \"types.cuh\"", helper, 1)
    });
    let args = FuseArgs { library: Some(library.path().into()), ..example("synctest") };
    let (status, message) = run(&args).err().unwrap();
    assert_eq!(status, Status::BadInput);
    assert!(
        message.starts_with("error[W523]: a helper function cannot use `MADD33_1_BX`"),
        "{message}"
    );
    assert!(message.contains("madd33.cu:4:40"), "{message}");
}

/// Body and pattern agree whatever the pattern says: results tell, also of implementations that are not taken.
#[test]
fn each_wrong_start_behind_a_placeholder_is_reported() {
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuse/robots/library");
    let library = tempfile::tempdir().unwrap();
    for file in Files::read(&robots).unwrap().files {
        std::fs::write(library.path().join(&file.name), file.text.as_bytes()).unwrap();
    }
    let text = std::fs::read_to_string(robots.join("act16.cu")).unwrap();
    let (_dir, args) = script("mat4 A, B;\ninput A;\nB = act16(A);\nreturn B;");
    // Other threads' floats, and floats of the same thread in another order.
    let starts = ["(7-tx)*2+ty*16", "ty*16+(tx+1)%8*2", "ty*16+tx*2/4*4", "ty%2*16+tx*2"];
    let mut reported = 0;
    for (number, _) in text.lines().enumerate().filter(|(_, l)| is_pattern(l)) {
        for start in starts {
            let damaged = |(n, l): (usize, &str)| match n == number {
                true => l.replacen("ty*16+tx*2", start, 1) + "\n",
                false => format!("{l}\n"),
            };
            let changed: String = text.lines().enumerate().map(damaged).collect();
            assert_ne!(changed, text);
            std::fs::write(library.path().join("act16.cu"), changed).unwrap();
            let all = FuseArgs { library: Some(library.path().into()), ..args.clone() };
            let fused = run(&all).unwrap_or_else(|(_, text)| panic!("{text}"));
            let [warning] = fused.warnings.as_slice() else { panic!("{:?}", fused.warnings) };
            assert!(["W525", "W527"].contains(&warning.code), "{warning:?}");
            assert_ne!(plans(&fused)[0].calls[0].implementation, 0, "{}", fused.text);
            let only = FuseArgs { implementations: vec!["act16=8".into()], ..all };
            let (status, message) = run(&only).err().unwrap();
            assert_eq!(status, Status::BadInput, "{message}");
            reported += usize::from(message.contains("does not give what `act16_cpu` gives"));
        }
    }
    assert!(reported >= 8, "{reported}");
}

/// A library with a function `f` on three floats, one thread an element.
fn one_function(compute: &str, reference: &str) -> tempfile::TempDir {
    let library = tempfile::tempdir().unwrap();
    let types = "typedef float *vector3; // warpsmith: elements 3\n";
    std::fs::write(library.path().join("types.cuh"), types).unwrap();
    add_function(library.path(), "f", ("", compute), reference);
    library
}

/// Writes such a function, with what stands before its routines.
fn add_function(library: &Path, name: &str, (before, compute): (&str, &str), reference: &str) {
    let macros = format!("{}_A", name.to_uppercase());
    let text = format!(
        "#include \"types.cuh\"
{before}
__device__ void d_{name}_a_load_1(vector3 g, float *s, int tx, int bx) {{ for (int i = 0; i < 3; i++) s[i * {macros}_BX + tx] = g[(bx * 3 + i) * {macros}_BX + tx]; }}
__device__ void d_{name}_a_compute(float *u, float *r, int tx) {{ {compute} }}
__device__ void d_{name}_a_save(float *s, vector3 g, int tx, int bx) {{ for (int i = 0; i < 3; i++) g[(bx * 3 + i) * {macros}_BX + tx] = s[i * {macros}_BX + tx]; }}
/*# {name}_a metadata
GX = size
GY = 1
GZ = 1
BX = size (recommended 32)
BY = 1
BZ = 1
BATCH = 1
#*/
__global__ void cu_{name}_a(vector3 u, vector3 r) {{}}
void {name}_cpu(const float *u, float *r) {{ {reference} }}
"
    );
    std::fs::write(library.join(format!("{name}.cu")), text).unwrap();
}

const TWICE: (&str, &str) = (
    "for (int i = 0; i < 3; i++) r[tx * 3 + i] = 2 * u[tx * 3 + i];",
    "for (int i = 0; i < 3; i++) r[i] = 2 * u[i];",
);

#[test]
fn variables_of_branches_that_data_decide_on_are_followed() {
    // The bubble sort declares a variable in such a branch, and others behind it.
    let sorts = |u: &str, r: &str| {
        format!(
            "float t[3]; for (int i = 0; i < 3; i++) t[i] = {u}[i];
    for (int a = 0; a < 3; a++) for (int b = a + 1; b < 3; b++) if (t[b] < t[a]) {{ float x = t[a]; t[a] = t[b]; t[b] = x; }} else {{ int none = 0; }}
    for (int i = 0; i < 3; i++) {{ float y = t[i]; {r}[i] = y; }}"
        )
    };
    let library = one_function(&sorts("(u + tx * 3)", "(r + tx * 3)"), &sorts("u", "r"));
    let (_dir, args) = script("vector3 u, v, w;\ninput u;\nv = f(u);\nw = f(v);\nreturn w;");
    fused(&FuseArgs { library: Some(library.path().into()), ..args });
}

#[test]
fn routines_that_never_end_and_references_that_leave_their_result_are_refused() {
    let (_dir, args) = script("vector3 u, v, w;\ninput u;\nv = f(u);\nw = f(v);\nreturn w;");
    let of = |compute: &str, reference: &str| {
        let library = one_function(compute, reference);
        run(&FuseArgs { library: Some(library.path().into()), ..args.clone() }).err().unwrap()
    };
    let (status, message) = of(&format!("{} while (u[tx * 3] < 1e30f) ;", TWICE.0), TWICE.1);
    assert_eq!(status, Status::No, "{message}");
    assert!(message.starts_with("error[W540]: infinite-loop"), "{message}");
    let (status, message) = of(TWICE.0, "for (int i = 0; i < 4; i++) r[i] = 2 * u[i % 3];");
    assert_eq!(status, Status::BadInput, "{message}");
    assert!(message.starts_with("error[W541]"), "{message}");
}

#[test]
fn routines_that_are_wrong_for_few_numbers_only_are_found() {
    let (_dir, args) = script("vector3 u, v;\ninput u;\nv = f(u);\nreturn v;");
    // The same for every number of a magnitude below 1, but exact zeros and equal ones.
    let reference = "for (int i = 0; i < 3; i++) r[i] = 2 * u[i];";
    let wrong_where = |condition: &str| {
        let compute = format!(
            "for (int i = 0; i < 3; i++) {{ float x = u[tx * 3 + i]; r[tx * 3 + i] = {condition} ? 3 * x + 1 : 2 * x; }}"
        );
        let library = one_function(&compute, reference);
        run(&FuseArgs { library: Some(library.path().into()), ..args.clone() })
    };
    for condition in [
        "x > 1",
        "x < -20",
        "fabsf(x) > 300000.0f",
        "x == 0",
        "x == 37.25f",
        "x > 37.25f && x < 37.26f",
        "x == 2",
        "u[tx * 3] == u[tx * 3 + 1]",
    ] {
        let (status, message) =
            wrong_where(condition).err().unwrap_or_else(|| panic!("{condition}"));
        assert_eq!(status, Status::No, "{condition}: {message}");
        assert!(message.contains("is not what the CPU references give"), "{condition}: {message}");
    }
    assert!(wrong_where("x > 1 && x < 1").is_ok());
}

#[test]
fn what_a_script_hides_is_found_by_running_each_implementation_alone() {
    let library =
        one_function("for (int i = 0; i < 3; i++) r[tx * 3 + i] = 3 * u[tx * 3 + i];", TWICE.1);
    let huge = "for (int i = 0; i < 3; i++) r[tx * 3 + i] = 1e30f * u[tx * 3 + i];";
    add_function(
        library.path(),
        "g",
        ("", huge),
        "for (int i = 0; i < 3; i++) r[i] = 1e30f * u[i];",
    );
    let run_with = |body: &str| {
        let (_dir, args) = script(&format!("vector3 u, v, w;\ninput u;\n{body}\nreturn w;"));
        run(&FuseArgs { library: Some(library.path().into()), ..args })
    };
    // Infinite, whatever comes in.
    let (status, message) = run_with("v = f(u); w = g(v); w = g(w);").err().unwrap();
    assert_eq!(status, Status::No, "{message}");
    let said = "error[W540]: implementation `a` of `f` does not give what `f_cpu` gives";
    assert!(message.starts_with(said), "{message}");
    let fused =
        run_with("w = g(u); w = g(w); w = g(w);").unwrap_or_else(|(_, text)| panic!("{text}"));
    assert!(fused.text.contains("not judged: `w`"), "{}", fused.text);
    let said = fused.result["verification"]["assumptions"].to_string();
    assert!(said.contains("not judged: `w`"), "{said}");
}

#[test]
fn functions_that_lay_out_their_data_differently_do_not_share_a_kernel() {
    let columns = "for (int i = 0; i < 3; i++) r[i * F_A_BX + tx] = u[(i + 1) % 3 * F_A_BX + tx];";
    let library = one_function(columns, "for (int i = 0; i < 3; i++) r[i] = u[(i + 1) % 3];");
    let rows =
        "float s = u[tx * 3] + u[tx * 3 + 1]; for (int i = 0; i < 3; i++) r[tx * 3 + i] = s;";
    add_function(
        library.path(),
        "g",
        ("", rows),
        "for (int i = 0; i < 3; i++) r[i] = u[0] + u[1];",
    );
    // A load and a save of the library bring each float to its place: those of `f` and `g` are another's.
    let text = std::fs::read_to_string(library.path().join("f.cu")).unwrap();
    let own = text
        .replace("= g[(bx * 3 + i) * F_A_BX + tx]", "= g[(bx * F_A_BX + tx) * 3 + i]")
        .replace("g[(bx * 3 + i) * F_A_BX + tx] =", "g[(bx * F_A_BX + tx) * 3 + i] =");
    std::fs::write(library.path().join("f.cu"), own).unwrap();
    let (_dir, args) =
        script("vector3 u, v, w;\ninput u;\nv = g(u);\nw = f(v);\nw = g(w);\nreturn w;");
    let args = FuseArgs { library: Some(library.path().into()), ..args };
    let fused = run(&args).unwrap_or_else(|(_, text)| panic!("{text}"));
    assert_eq!(plans(&fused).len(), 3, "{}", fused.text);
}

#[test]
fn a_macro_has_one_meaning_and_may_hide_subscripts() {
    let (_dir, args) = script("vector3 u, v, w;\ninput u;\nv = f(u);\nw = f(v);\nreturn w;");
    let with = |before: &str, compute: &str| {
        let library = one_function("", "");
        add_function(library.path(), "f", (before, compute), TWICE.1);
        run(&FuseArgs { library: Some(library.path().into()), ..args.clone() })
    };
    for (before, compute) in [
        ("#define AT u[tx * 3 + i]", "for (int i = 0; i < 3; i++) r[tx * 3 + i] = 2 * AT;"),
        (
            "#define AT(a, k) ((a)[tx * 3 + (k)])",
            "for (int i = 0; i < 3; i++) AT(r, i) = 2 * AT(u, i);",
        ),
        ("", "for (int i = 0; i < 3; i++) { (r)[tx * 3 + i] = 2 * (u)[tx * 3 + i]; }"),
        (
            "#define LENGTH 3\n__device__ int length() { return LENGTH; }\n#undef LENGTH",
            "for (int i = 0; i < length(); i++) r[tx * 3 + i] = 2 * u[tx * 3 + i];",
        ),
    ] {
        let fused = with(before, compute).unwrap_or_else(|(_, text)| panic!("{before}\n{text}"));
        assert_right(&fused);
        let registers: usize = plans(&fused).iter().map(|p| p.registers()).sum();
        assert!(registers >= 1, "{before}\n{}", fused.text);
    }
    let (status, message) = with("#define N 3\n#define N 2", TWICE.0).err().unwrap();
    assert_eq!(status, Status::BadInput, "{message}");
    assert!(message.starts_with("error[W527]: the macro `N` has two meanings"), "{message}");
}

#[test]
fn rounding_errors_that_a_loop_damps_are_no_fault() {
    let root = "sqrtf(u[at] * u[at] + u[at + 1] * u[at + 1] + u[at + 2] * u[at + 2])";
    let compute = format!(
        "int at = tx * 3; float s = 1.0f / {root}; for (int i = 0; i < 3; i++) r[tx * 3 + i] = u[tx * 3 + i] * s;"
    );
    let reference =
        format!("int at = 0; float s = {root}; for (int i = 0; i < 3; i++) r[i] = u[i] / s;");
    let library = one_function(&compute, &reference);
    let (_dir, args) = script(
        "vector3 u, v;\ninput u;\nv = f(u);\nfor (i = 0; i < 40; i++) { v = f(v); }\nreturn v;",
    );
    fused(&FuseArgs { library: Some(library.path().into()), ..args });
}

#[test]
fn a_function_of_the_contract_is_defined_once_and_ends() {
    let (_dir, args) = script("vector3 u, v;\ninput u;\nv = f(u);\nreturn v;");
    let refused = |reference: &str, more: &str| {
        let library = one_function(TWICE.0, reference);
        edit(library.path(), "f.cu", |text| text + more);
        run(&FuseArgs { library: Some(library.path().into()), ..args.clone() }).err().unwrap()
    };
    let (status, message) =
        refused(TWICE.1, "void f_cpu(const float *u, float *r) { r[0] = 1; }\n");
    assert_eq!(status, Status::BadInput);
    assert!(message.starts_with("error[W523]: `f_cpu` is defined twice"), "{message}");
    let (status, message) = refused("while (1) r[0] = 1;", "// no end\n");
    assert_eq!(status, Status::BadInput);
    assert!(message.starts_with("error[W541]"), "{message}");
}

#[test]
fn mistakes_in_routines_are_shown_on_their_lines() {
    let library = one_function("r[tx] = u[tx] * nothing;", TWICE.1);
    let text = std::fs::read_to_string(library.path().join("f.cu")).unwrap();
    let line = text.lines().position(|l| l.contains("nothing")).unwrap() + 1;
    let (_dir, args) = script("vector3 u, v;\ninput u;\nv = f(u);\nreturn v;");
    let message = run(&FuseArgs { library: Some(library.path().into()), ..args }).err().unwrap().1;
    assert!(message.starts_with("error[W050]: `nothing` is not declared"), "{message}");
    assert!(message.contains(&format!("/f.cu (block 32x1x1):{line}:")), "{line}\n{message}");
}

#[test]
fn references_that_run_on_few_numbers_only_are_taken_on_those() {
    let (_dir, args) = script("vector3 u, v, w;\ninput u;\nv = f(u);\nw = f(v);\nreturn w;");
    // A table of eight numbers, and one divided by a square that large numbers overflow.
    let body = |u: &str, r: &str| {
        format!(
            "const float t[8] = {{1, 2, 3, 5, 7, 11, 13, 17}};
    for (int i = 0; i < 3; i++) {{ float x = 0.01f * {u}[i]; {r}[i] = t[(int)(x * 3.5f + 3.5f)] / (1 + x * x * x * x * x * x * x * x); }}"
        )
    };
    let library = one_function(&body("(u + tx * 3)", "(r + tx * 3)"), &body("u", "r"));
    fused(&FuseArgs { library: Some(library.path().into()), ..args });
}

#[test]
fn blocks_of_given_sizes_have_as_many_elements_as_their_routines_touch() {
    let library = copied();
    edit(library.path(), "madd33.cu", |text| text.replace("BY = size (recommended 64)", "BY = 20"));
    let implementations = vec!["*=2".to_string()];
    let args =
        FuseArgs { library: Some(library.path().into()), implementations, ..example("synctest") };
    for keep_loads in [false, true] {
        let fused = fused(&FuseArgs { keep_loads, ..args.clone() });
        assert!(
            plans(&fused).iter().all(|p| p.elements == 20 && p.shape == [3, 20, 1]),
            "{}",
            fused.text
        );
        leave(&format!("given_block_{keep_loads}"), &fused);
    }
}
