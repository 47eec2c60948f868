//! Schedules as text: what is derived, printed, read and replayed.

mod common;

use common::{Input, check_program};
use warpsmith_opt::schedule;

const GEMM: &str = "
void gemm(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
}
";

#[test]
fn the_direct_translation_is_a_schedule_like_any_other() {
    let mut input = Input::new(GEMM);
    let (direct, derived) = input.translate();
    assert_eq!(derived.print(), "bind i, j -> y, x block 32x8\n");
    let replayed = input.scheduled(&derived.print()).unwrap();
    assert_eq!(replayed.module, direct.module);
}

#[test]
fn printing_and_reading_are_inverse() {
    let text = "bind i, j -> y, x block 32x8\nbind i#2 -> x block 64\nreduce s block 128 grid 32\naccumulate C\ninterchange k\nbind a, b, c -> z, y, x block 8x4x2\n";
    let mut input = Input::new(GEMM);
    let file = input.sources.add("a.sched", text);
    assert_eq!(schedule::parse(&input.sources, file).unwrap().print(), text);
    let loose = "# a comment\n\n  bind i,j->y,x 32x8   # another\r\naccumulate   C\n";
    let file = input.sources.add("b.sched", loose);
    let read = schedule::parse(&input.sources, file).unwrap();
    assert_eq!(read.print(), "bind i, j -> y, x block 32x8\naccumulate C\n");
}

#[test]
fn scheduled_programs_compute_the_same() {
    let schedules = [
        "accumulate C\nbind i, j -> y, x 8x4",
        "bind i, j -> x, y block 16x16\naccumulate C",
        "interchange i\nbind j, i -> y, x 32x4\naccumulate C",
        "bind i -> x 64",
        "bind j -> x 64\naccumulate C",
    ];
    for text in schedules {
        let mut input = Input::new(GEMM);
        let program = input.scheduled(text).unwrap_or_else(|e| panic!("{e}"));
        for (n, m, k) in [(0, 1, 2), (1, 1, 1), (5, 33, 3), (17, 16, 0), (65, 9, 8)] {
            check_program(&input, &program, &[("n", n), ("m", m), ("k", k)].into_iter().collect());
        }
    }
}

/// Also after one that is refused, and one that is shorter.
#[test]
fn schedules_replayed_beside_each_other_give_what_each_gives_alone() {
    let mut input = Input::new(GEMM);
    let texts = [
        "bind i, j -> y, x block 32x8\naccumulate C\nregister_tile i by 2\n",
        "bind i, j -> y, x block 32x8\naccumulate C\nregister_tile j by 4\n",
        "bind i, j -> y, x block 32x8\naccumulate x\nregister_tile j by 4\n",
        "bind i, j -> y, x block 32x8\naccumulate x\n",
        "bind i, j -> y, x block 32x8\n",
        "",
        "accumulate C\nbind i -> x block 64\n",
    ];
    let files = texts.map(|text| input.sources.add("a.sched", text));
    let kernel = input.kernel();
    let replays = schedule::Replays::new(&kernel, &input.sources);
    let mut refused = 0;
    for file in files {
        let steps = schedule::parse(&input.sources, file).unwrap();
        let seen = |k: &warpsmith_opt::Kernel| (k.module.clone(), k.nests.clone(), k.steps.clone());
        let alone = schedule::replay(&kernel, &steps, &input.sources);
        refused += usize::from(alone.is_err());
        assert_eq!(replays.of(&steps, seen), alone.ok().as_ref().map(seen), "{}", steps.print());
    }
    assert_eq!(refused, 2);
}

#[test]
fn any_text_is_read_or_refused() {
    for text in [
        "bind",
        "bind i",
        "bind i ->",
        "bind i -> x",
        "reduce",
        "bind i -> x 99999999999",
        "é ü",
        "#",
        "bind i -> x 0",
        "accumulate",
        "bind i -> x 4 4",
        "interchange i j",
        "\0",
    ] {
        let mut input = Input::new(GEMM);
        if let Err(message) = input.scheduled(text) {
            assert!(message.starts_with("error[W2"), "{text}: {message}");
        }
    }
}

/// Of four marked loops three go to axes: the outer one stays marked, and the nest behind is the next that wants steps all the same.
#[test]
fn a_nest_that_is_bound_inside_is_done() {
    let source = "
void both(int n, float a[n][n][n][n], float b[n]) {
    #pragma omp parallel for collapse(4)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    a[i][j][k][l] += 1.0f;
    #pragma omp parallel for
    for (int m = 0; m < n; m++)
        b[m] = 2.0f;
}
";
    let mut input = Input::new(source);
    let file = input.sources.add("a.sched", "bind j, k, l -> z, y, x block 4x4x4\n");
    let steps = schedule::parse(&input.sources, file).unwrap();
    let kernel = input.kernel();
    let roots = kernel.marked_roots();
    assert_eq!(kernel.open_roots(), roots);
    let bound = schedule::replay(&kernel, &steps, &input.sources).unwrap();
    assert_eq!(bound.marked_roots(), roots);
    assert_eq!(bound.open_roots(), roots[1..]);
}
