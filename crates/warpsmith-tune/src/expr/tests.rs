use super::*;
use crate::value::Val;

fn bound(text: &str, names: &[&str]) -> Result<Expr, ExprError> {
    Expr::parse(text)?.bind(&|name| names.iter().position(|n| *n == name).map(Meaning::Slot))
}

/// The value of an expression, as Python would print it, or why it has none.
fn value(text: &str, given: &[(&str, Value)]) -> String {
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    let expr = match bound(text, &names) {
        Ok(expr) => expr,
        Err(error) => {
            return format!("{}..{}: {}", error.span.start, error.span.end, error.message);
        }
    };
    let slots: Vec<Val> = given.iter().map(|(_, value)| value.view()).collect();
    match expr.eval(&slots) {
        Ok(value) => value.owned().to_string(),
        Err(error) => format!("{:?}: {}", &text[error.span], error.reason),
    }
}

fn of(text: &str) -> String {
    value(text, &[])
}

#[test]
fn arithmetic_is_pythons() {
    assert_eq!(of("7 // 2 * 2 + 7 % 2"), "7");
    assert_eq!(of("-7 // 2"), "-4");
    assert_eq!(of("-7 % 3"), "2");
    assert_eq!(of("7 % -3"), "-2");
    assert_eq!(of("7 / 2"), "3.5");
    assert_eq!(of("4 / 2"), "2.0");
    assert_eq!(of("2 ** 3 ** 2"), "512");
    assert_eq!(of("-2 ** 2"), "-4");
    assert_eq!(of("2 ** -1"), "0.5");
    assert_eq!(of("7.5 // 2"), "3.0");
    assert_eq!(of("1 << 4 | 3 & 2 ^ 1"), "19");
    assert_eq!(of("1_000 + 0x10 + 1e3"), "2016.0");
    assert_eq!(of("True + 1"), "2");
    assert_eq!(of("~5"), "-6");
    assert_eq!(of("round(2.5) + round(3.5)"), "6");
    assert_eq!(of("(1 + 2) * 3"), "9");
}

#[test]
fn conditions_are_pythons() {
    assert_eq!(of("1 < 2 < 3"), "True");
    assert_eq!(of("1 < 3 < 2"), "False");
    assert_eq!(of("1 == 1.0 and not 0"), "True");
    assert_eq!(of("0 or 5"), "5");
    assert_eq!(of("0 and 1 // 0"), "0");
    assert_eq!(of("3 in [1, 2, 3]"), "True");
    assert_eq!(of("3 not in (1, 2)"), "True");
    assert_eq!(of("not 3 in range(3)"), "True");
    assert_eq!(of("1 if 0 else 2 if 0 else 3"), "3");
    assert_eq!(of("'row' != 'col'"), "True");
    assert_eq!(of("'a' in 'cat'"), "True");
    assert_eq!(of("max(1, 2.5, 2) + min([4, 3]) + abs(-1) + len([1, 2])"), "8.5");
    assert_eq!(of("all([x > 0 for x in [1, 2]]) and any(x > 1 for x in [1, 2])"), "True");
    assert_eq!(of("sum(x * x for x in range(4) if x % 2 == 1)"), "10");
    assert_eq!(of("[4, 5, 6][-1]"), "6");
}

#[test]
fn names_stand_for_values() {
    let given = [
        ("x", Value::Int(32)),
        ("layout", Value::from("row")),
        ("n", Value::List(vec![Value::Int(7)])),
    ];
    assert_eq!(value("layout == 'row' and x*2 <= 64", &given), "True");
    assert_eq!(value("n[0] + max(n) + max(x)", &given), "46");
    assert_eq!(value("y + 1", &given), "0..1: `y` is no parameter");
    assert_eq!(bound("x < y and y < x or z", &["x", "y", "z"]).unwrap().slots(), [0, 1, 2]);
    assert_eq!(Expr::parse("x < y and [x for x in z]").unwrap().names(), ["x", "y", "z"]);
}

#[test]
fn what_has_no_value_says_where() {
    assert_eq!(of("1 + 4 % 0"), r#""4 % 0": division by zero"#);
    assert_eq!(of("2 ** 64"), r#""2 ** 64": the result does not fit into 64 bits"#);
    assert_eq!(of("'a' + 1"), r#""'a' + 1": a number is wanted here"#);
    assert_eq!(of("'a' < 1"), r#""'a' < 1": these two cannot be compared"#);
    assert_eq!(of("[1, 2][5]"), r#""5": there is no such element"#);
    assert_eq!(
        of("-9223372036854775807 - 2"),
        r#""-9223372036854775807 - 2": the result does not fit into 64 bits"#
    );
    assert_eq!(of("1 << 64"), r#""1 << 64": the result does not fit into 64 bits"#);
    assert_eq!(of("(-8) ** 0.5"), r#""(-8) ** 0.5": a root of a negative number"#);
    assert_eq!(
        of("len(list(range(9999999)))"),
        r#""range(9999999)": a list of over a million values"#
    );
    assert_eq!(of("abs()"), r#""abs()": the wrong number of arguments"#);
}

#[test]
fn what_is_not_in_the_grammar_is_refused_with_its_place() {
    let refused = |text: &str| {
        let error = Expr::parse(text).unwrap_err();
        (error.span.start, error.message, error.help.unwrap_or_default())
    };
    let is = |at: usize, message: &str, help: &str| (at, message.to_string(), help.to_string());
    assert_eq!(refused("x && y"), is(2, "an operator or the end is wanted here", "write `and`"));
    assert_eq!(
        refused("x = 1"),
        is(2, "an operator or the end is wanted here", "write `==` to compare")
    );
    assert_eq!(refused("x +"), is(3, "a value is wanted here", ""));
    assert_eq!(refused("(x"), is(2, "an operator, `,` or `)` is wanted here", ""));
    assert_eq!(refused(""), is(0, "a value is wanted here", ""));
    let (at, message, _) = refused("__import__('os').system('true')");
    assert_eq!(at, 0);
    assert!(message.starts_with("a function that is known"), "{message}");
    let (at, _, help) = refused("lambda p: p > 1");
    assert_eq!((at, help.as_str()), (0, "write the condition on the parameters' names alone"));
    assert_eq!(refused("1 if 2").1, "`else` with the other value is wanted here");
    assert_eq!(refused(&"(".repeat(5000)).1, "longer than 2000 bytes");
    assert_eq!(refused(&"(".repeat(500)).1, "more than 40 brackets inside each other");
    assert_eq!(refused(&format!("{}1", "2**".repeat(400))).1, "more than 16 powers");
}

#[test]
fn conditions_fall_apart_into_what_must_hold() {
    let expr = Expr::parse("a < b <= c and (d or e) and f").unwrap();
    let texts: Vec<&str> =
        expr.conjuncts().iter().map(|e| &"a < b <= c and (d or e) and f"[e.span.clone()]).collect();
    assert_eq!(texts, ["a < b", "b <= c", "(d or e)", "f"]);
}

#[test]
fn lists_of_values_can_be_written_as_rules() {
    let list =
        |text: &str| Value::List(Expr::parse(text).unwrap().eval_list(&[]).unwrap()).to_string();
    assert_eq!(list("[16, 32, 'a', 1.5, True]"), "[16, 32, 'a', 1.5, True]");
    assert_eq!(list("[2**i for i in range(1, 4)]"), "[2, 4, 8]");
    assert_eq!(list("list(range(8, 0, -4)) + [1]"), "[8, 4, 1]");
    assert_eq!(list("[x for x in range(1, 13) if 12 % x == 0]"), "[1, 2, 3, 4, 6, 12]");
    assert_eq!(list("(1, 2)"), "[1, 2]");
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[ab0-9 ()\\[\\]<>=!%*/+.,'\"a-z-]{0,60}") {
        if let Ok(expr) = bound(&text, &["a", "b"]) {
            let _ = expr.eval(&[Val::Int(3), Val::Float(0.5)]);
            let _ = expr.eval_list(&[Val::Int(3), Val::Float(0.5)]);
        }
    }

    #[test]
    fn splitting_a_condition_keeps_its_truth(a in -5i64..5, b in -5i64..5, c in -5i64..5) {
        let text = "a < b <= c and a != b and not c == a";
        let expr = bound(text, &["a", "b", "c"]).unwrap();
        let slots = [Val::Int(a), Val::Int(b), Val::Int(c)];
        let parts = expr.conjuncts().iter().all(|e| e.eval(&slots).unwrap().truth());
        proptest::prop_assert_eq!(expr.eval(&slots).unwrap().truth(), parts);
    }
}
