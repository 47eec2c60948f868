//! The parts of a test program that are the same for all functions, each where it is needed.

use crate::doc::Out;
use crate::file;

use super::{Main, structs};
use warpsmith_ir::Scalar;

/// Names of the program's own at file level.
pub(super) const NAMES: &str = "
argc argv argument Array Output Range Tally Totals Verdict Real Plain Input Common Decision Clock Iterations Ran TooLong
check median_ms status random_unit assert_disjoint in_doubt doubts doubt as_double verdict verdict_of_reals
unit_roundoff joined sum order function_of whole_of seconds_since PATIENCE run_all run_sampled run_part choose
set_given Rounding any_order same_order test reference each_number each_number_of put within between
shuffled Kept the_element its_index";

const FIRST: &str = include_str!("support/first.h");
const REAL: &str = include_str!("support/real.h");
const FUNCTIONS: &str = include_str!("support/functions.h");
const WHOLE: &str = include_str!("support/whole.h");
const PLAIN_REALS: &str = include_str!("support/plain_reals.h");
const HALF: &str = include_str!("support/half.h");
const HALF_REALS: &str = include_str!("support/half_reals.h");
const ITERATIONS: &str = include_str!("support/iterations.h");
const ALL: &str = include_str!("support/all.h");
const SAMPLE: &str = include_str!("support/sample.h");
const ARRAY: &str = include_str!("support/array.h");
const STRUCTS: &str = include_str!("support/structs.h");
const DISJOINT: &str = include_str!("support/disjoint.h");
const TIME: &str = include_str!("support/time.h");

const HEADERS: [&str; 14] = [
    "assert.h",
    "math.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "algorithm",
    "atomic",
    "chrono",
    "initializer_list",
    "memory",
    "string",
    "type_traits",
    "utility",
    "vector",
];

/// Everything between the first line that includes the kernel and the original loops.
pub(super) fn print(main: &Main<'_>, out: &mut Out) {
    let (cx, uses) = (main.printer.cx, main.uses);
    HEADERS.into_iter().for_each(|header| cx.include(header));
    if uses.bounded() {
        cx.include("cmath");
    }
    if main.test.independent {
        cx.include("iterator");
        cx.include("thread");
    }
    let half = main.compares(Scalar::F16) || uses.half;
    if half {
        cx.include("cuda_fp16.h");
    }
    file::includes(cx, out);
    out.line("");
    out.text.push_str(FIRST);
    if half {
        out.text.push_str(HALF);
    }
    if uses.bounded() {
        reals(main, out);
        if uses.half {
            out.text.push_str(HALF_REALS);
        }
    } else if uses.any {
        out.text.push_str(PLAIN_REALS);
    }
    out.text.push_str(ITERATIONS);
    out.text.push_str(ALL);
    if main.test.independent {
        out.text.push_str(SAMPLE);
    }
    let expected = match uses.bounded() {
        true => "typename std::conditional<std::is_integral<T>::value, T, Real<T>>::type",
        false => "T",
    };
    out.line("");
    if structs::is_needed(main) {
        structs::expected(main, expected, out);
    } else {
        out.comment("What the loops keep an element as.");
        out.line("template <class T>");
        out.line(&format!("using Expected = {expected};"));
    }
    out.text.push_str(ARRAY);
    if structs::is_needed(main) {
        out.text.push_str(STRUCTS);
    }
    if main.arrays().count() > 1 {
        out.text.push_str(DISJOINT);
    }
    out.text.push_str(TIME);
}

fn reals(main: &Main<'_>, out: &mut Out) {
    out.line("");
    out.line("struct Rounding {");
    out.depth += 1;
    out.comment("Whether the compiler may make one operation of a * b + c.");
    out.line(&format!("static const bool contracted = {};", !main.rounds_to_integers()));
    out.comment("Whether the kernel takes sums in another order than the loops do.");
    out.line(&format!("static const bool reordered = {};", main.uses.reorders));
    out.depth -= 1;
    out.line("};");
    out.text.push_str(REAL);
    let (general, whole, lines) = main.uses.definitions();
    if general {
        out.text.push_str(FUNCTIONS);
    }
    if whole {
        out.text.push_str(WHOLE);
    }
    for line in lines {
        out.line("");
        line.lines().for_each(|l| out.line(l));
    }
}
