//! Schedules with parameters: the schedules they stand for, and what is said about wrong ones.

mod common;

use common::render;
use expect_test::{Expect, expect};
use warpsmith_ir::SourceMap;
use warpsmith_opt::schedule::{self, space};

fn read(text: &str) -> Result<space::Space, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("input.sched", text);
    space::parse(&sources, file).map_err(|e| render(&e, &sources))
}

fn space_of(text: &str) -> space::Space {
    read(text).unwrap_or_else(|e| panic!("{e}"))
}

fn values_of(text: &str) -> Vec<i64> {
    space_of(&format!("param T in {text}\n")).params[0].values.clone()
}

#[test]
fn values_are_lists_or_rules() {
    assert_eq!(values_of("16, 32,8"), [16, 32, 8]);
    assert_eq!(values_of("pow2 1..16"), [1, 2, 4, 8, 16]);
    assert_eq!(values_of("pow2 3..70"), [4, 8, 16, 32, 64]);
    assert_eq!(values_of("divisors of 12"), [1, 2, 3, 4, 6, 12]);
    assert_eq!(values_of("8..64 step 24"), [8, 32, 56]);
    assert_eq!(values_of("2..5"), [2, 3, 4, 5]);
    let param = &space_of("param T in 1, 2 default 2  # a comment\n").params[0];
    assert_eq!((param.default, param.values.as_slice()), (2, [1, 2].as_slice()));
}

const TILES: &str = "
# Threads and iterations.
param BX in pow2 8..64
param BY in 4, 8 default 8
param T in 1..4
where BX * BY <= 256
where T == 1 || BX * T < 100 && (BY + T) % 2 == 0

bind i#2, j -> y, x block {BX}x{BY}     # the second loop
unroll k by {2 * T + BX / BY}
accumulate C
";

#[test]
fn a_space_lists_what_its_constraints_allow() {
    let space = space_of(TILES);
    assert_eq!(space.size(), 4 * 2 * 4);
    let (all, complete) = space.configurations(1000);
    assert!(complete);
    let expected = |bx: i64, by: i64, t: i64| {
        bx * by <= 256 && (t == 1 || (bx * t < 100 && (by + t) % 2 == 0))
    };
    let mut count = 0;
    for bx in [8, 16, 32, 64] {
        for by in [4, 8] {
            for t in 1..=4 {
                let values = [("BX", bx), ("BY", by), ("T", t)];
                let values = values.into_iter().map(|(n, v)| (n.to_string(), v)).collect();
                assert_eq!(space.allows(&values), expected(bx, by, t), "{bx} {by} {t}");
                assert_eq!(all.contains(&values), expected(bx, by, t), "{bx} {by} {t}");
                count += usize::from(expected(bx, by, t));
            }
        }
    }
    assert_eq!(all.len(), count);
    let (some, complete) = space.configurations(3);
    assert_eq!((some.len(), complete), (3, false));
    assert_eq!(some, all[..3]);
}

#[test]
fn values_go_into_the_steps() {
    let mut space = space_of(TILES);
    let steps = space.schedule(&space.defaults()).unwrap();
    assert_eq!(steps.print(), "bind i#2, j -> y, x block 8x8\nunroll k by 3\naccumulate C\n");
    space.fix("BX", 32).unwrap();
    space.fix("T", 4).unwrap();
    assert_eq!(space.size(), 2);
    let steps = space.schedule(&space.defaults()).unwrap();
    assert_eq!(steps.print(), "bind i#2, j -> y, x block 32x8\nunroll k by 12\naccumulate C\n");
    // What is written out has no parameters, and reads the same.
    assert_eq!(space_of(&steps.print()).schedule(&Default::default()).unwrap(), steps);
    let mut sources = SourceMap::new();
    let file = sources.add("x.sched", steps.print());
    assert_eq!(schedule::parse(&sources, file).unwrap(), steps);
    let unknown = space.fix("Q", 1).unwrap_err();
    assert!(unknown.render(&sources, false).contains("its parameters are BX, BY, T"));
    let other = space.fix("T", 2).unwrap_err();
    assert!(other.render(&sources, false).contains("its values are 4"));
}

#[test]
fn constraints_that_divide_by_zero_do_not_hold() {
    let space = space_of("param A in 1..3\nwhere 12 / (A - 2) > 0\naccumulate C\n");
    let (all, _) = space.configurations(10);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["A"], 3);
    let deep = format!("param A in 1, 2\nwhere {}A{}\n", "(".repeat(300), ")".repeat(300));
    assert!(read(&deep).unwrap_err().contains("too many parentheses"));
}

fn wrong(text: &str, expected: Expect) {
    match read(text) {
        Ok(_) => panic!("`{text}` is read"),
        Err(message) => {
            let lines: Vec<&str> = message
                .lines()
                .map(str::trim)
                .filter(|l| l.contains('^') || l.starts_with("= "))
                .collect();
            expected.assert_eq(&lines.join("\n"));
        }
    }
}

#[test]
fn what_is_wrong_is_shown() {
    match read("param T in 1, 2\nregister_tile i by {T + U}\n") {
        Ok(_) => panic!("read"),
        Err(message) => expect![[r#"
            error[W232]: this line of a schedule with parameters is wrong
             --> input.sched:2:25
              |
            2 | register_tile i by {T + U}
              |                         ^ no parameter; there are T
              |
              = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps
        "#]]
        .assert_eq(&message),
    }
    wrong(
        "param\n",
        expect![[r#"
            |      ^ the name of a parameter is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param 3 in 1, 2\n",
        expect![[r#"
            |       ^^^^^^^^^ the name of a parameter is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T of 1, 2\n",
        expect![[r#"
            |         ^^^^^^^ `in` and the values are wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in\n",
        expect![[r#"
            |           ^ a list `1, 2, 4`, a range `8..64 step 8`, `pow2 1..16` or `divisors of 12` is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in many\n",
        expect![[r#"
            |            ^^^^ a list `1, 2, 4`, a range `8..64 step 8`, `pow2 1..16` or `divisors of 12` is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2,\n",
        expect![[r#"
            |                 ^ a list `1, 2, 4`, a range `8..64 step 8`, `pow2 1..16` or `divisors of 12` is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2, 1\n",
        expect![[r#"
            |                  ^ this value is there twice
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
}

#[test]
fn what_is_wrong_with_values_is_shown() {
    wrong(
        "param T in pow2 3..3\n",
        expect![[r#"
            |            ^^^^^^^^^ no value at all
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in pow2 3\n",
        expect![[r#"
            |                  ^ `..` and the last value are wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in divisors 12\n",
        expect![[r#"
            |                     ^^ `of` and a number are wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1..5000\n",
        expect![[r#"
            |            ^^^^^^^ more than 1024 values
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 99999999\n",
        expect![[r#"
            |            ^^^^^^^^ this number is too large
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2 default 3\n",
        expect![[r#"
            |                         ^ this is none of the values
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2 or 3\n",
        expect![[r#"
            |                 ^^^^ nothing more is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
}

#[test]
fn what_is_wrong_with_several_lines_is_shown() {
    wrong(
        "param T in 1, 2\nparam T in 3\n",
        expect![[r#"
            |       ^ `T` is a parameter already
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "where T < 3\n",
        expect![[r#"
            |       ^ there is no parameter before this line
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2\nwhere T <\n",
        expect![[r#"
            |          ^ a number, a parameter or `(` is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2\nwhere (T < 3\n",
        expect![[r#"
            |             ^ `)` is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2\nwhere T < 3 3\n",
        expect![[r#"
            |             ^ an operator is wanted here
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong(
        "param T in 1, 2\nunroll k by {T\n",
        expect![[r#"
            |             ^^ `}` is missing
            = help: write `param T in 1, 2, 4`, `where T <= 4`, and `{T}` in steps"#]],
    );
    wrong("param T in 1, 2\nunroll k by {T / 0}\n", expect!["|             ^^^^^^^ T = 1"]);
    wrong("param T in 1, 2\nunroll k by {1 - 2 * T}\n", expect!["|             ^^^^^^^^^^^ T = 1"]);
    wrong(
        "param T in 1, 2\nunroll k of {T}\n",
        expect![[r#"
              |         ^^^^^^^ not understood
              = note: with T = 1
              = help: for example `unroll k by 4`"#]],
    );
    wrong(
        "param T in 1, 2\nbind i, j -> y, x block {T}\n",
        expect![[r#"
            |                  ^^^^^^^^^^ the threads of a block along x and y, as in `block 32x4`, are wanted here
            = note: with T = 1
            = help: for example `bind i, j -> y, x block 32x8`"#]],
    );
}

#[test]
fn a_factor_of_one_leaves_its_step_out() {
    let space = space_of(
        "param T in 1, 2\nbind i -> x block 64\nregister_tile i by {T}\nunroll k by {T}\n",
    );
    let text = |t: i64| {
        let values = space::Values::from([("T".to_string(), t)]);
        space.schedule(&values).unwrap().print()
    };
    assert_eq!(text(1), "bind i -> x block 64\n");
    assert_eq!(text(2), "bind i -> x block 64\nregister_tile i by 2\nunroll k by 2\n");
}
