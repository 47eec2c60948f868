//! One construct of the IR, one text.

mod build;

use build::*;
use warpsmith_ir::*;

/// Prints a kernel whose only work is to store an expression, and returns the stored text.
fn expr_text(make: impl FnOnce(&mut Fun) -> Expr) -> String {
    let mut k = kernel();
    let e = make(&mut k);
    let out = k.param("out", ptr(e.ty.clone()));
    k.push(assign(&elem(&out, &[&i(0)], &[]), &e));
    let text = k.print();
    let start = text.find("out[0] = ").unwrap() + "out[0] = ".len();
    let joined: Vec<&str> = text[start..].trim_end_matches("}").split_whitespace().collect();
    joined.join(" ").trim_end_matches(';').to_string()
}

/// Statements of a kernel's body, without the frame around them.
fn body_text(make: impl FnOnce(&mut Fun)) -> String {
    let mut k = kernel();
    make(&mut k);
    let text = k.print();
    let kernel = &text[text.find("__global__").unwrap()..];
    let body = kernel.split_once("{\n").unwrap().1;
    let lines: Vec<&str> =
        body.trim_end_matches('}').lines().map(|l| l.strip_prefix("    ").unwrap_or(l)).collect();
    lines.join("\n").trim_end().to_string()
}

fn ints(k: &mut Fun) -> [Expr; 3] {
    ["a", "b", "c"].map(|n| k.param(n, Type::I32))
}

fn floats(k: &mut Fun) -> [Expr; 3] {
    ["x", "y", "z"].map(|n| k.param(n, Type::F32))
}

#[test]
fn parentheses_stand_where_c_needs_them() {
    use BinaryOp::*;
    let text = |f: fn([Expr; 3]) -> Expr| expr_text(|k| f(ints(k)));
    assert_eq!(text(|[a, b, c]| add(&mul(&a, &b), &c)), "a * b + c");
    assert_eq!(text(|[a, b, c]| mul(&add(&a, &b), &c)), "(a + b) * c");
    assert_eq!(text(|[a, b, c]| sub(&a, &sub(&b, &c))), "a - (b - c)");
    assert_eq!(text(|[a, b, c]| sub(&sub(&a, &b), &c)), "a - b - c");
    assert_eq!(text(|[a, b, c]| bin(Div, &a, &mul(&b, &c))), "a / (b * c)");
    assert_eq!(text(|[a, b, _]| neg(&neg(&add(&a, &b)))), "-(-(a + b))");
    assert_eq!(text(|[a, b, _]| sub(&a, &neg(&b))), "a - -b");
    assert_eq!(text(|[a, b, c]| bin(Shl, &add(&a, &b), &c)), "(a + b) << c");
    assert_eq!(text(|[a, b, c]| bin(BitOr, &bin(BitAnd, &a, &b), &c)), "(a & b) | c");
    assert_eq!(text(|[a, b, c]| bin(BitAnd, &bin(BitAnd, &a, &b), &c)), "a & b & c");
    let logic = |op1, op2| {
        expr_text(move |k| {
            let [a, b, c] = ints(k);
            bin(op1, &bin(op2, &lt(&a, &b), &lt(&b, &c)), &lt(&a, &c))
        })
    };
    assert_eq!(logic(LogicalOr, LogicalAnd), "(a < b && b < c) || a < c");
    assert_eq!(logic(LogicalAnd, LogicalOr), "(a < b || b < c) && a < c");
    assert_eq!(logic(LogicalOr, LogicalOr), "a < b || b < c || a < c");
}

#[test]
fn negations_and_negative_constants_are_folded_into_the_operator() {
    let text = |f: fn([Expr; 3]) -> Expr| expr_text(|k| f(ints(k)));
    assert_eq!(text(|[a, ..]| add(&a, &i(-3))), "a - 3");
    assert_eq!(text(|[a, ..]| sub(&a, &i(-3))), "a + 3");
    assert_eq!(text(|[a, ..]| add(&a, &i(i32::MIN))), "a + (-2147483647 - 1)");
    assert_eq!(text(|[a, b, _]| not(&lt(&a, &b))), "a >= b");
    let real = |f: fn([Expr; 3]) -> Expr| expr_text(|k| f(floats(k)));
    assert_eq!(real(|[x, y, _]| not(&lt(&x, &y))), "!(x < y)");
    assert_eq!(real(|[x, y, _]| not(&bin(BinaryOp::Eq, &x, &y))), "x != y");
    assert_eq!(real(|[x, ..]| add(&x, &f(-0.5))), "x - 0.5f");
}

#[test]
fn casts_stand_where_c_would_compute_something_else() {
    // The usual conversions do it.
    assert_eq!(
        expr_text(|k| mul(&k.param("x", Type::F32), &cast(&k.param("n", Type::I32), Type::F32))),
        "x * n"
    );
    // They would compute in `int`.
    let quotient = expr_text(|k| {
        let n = k.param("n", Type::I32);
        bin(BinaryOp::Div, &cast(&n, Type::F32), &cast(&n, Type::F32))
    });
    assert_eq!(quotient, "(float)n / n");
    let product = expr_text(|k| {
        let n = k.param("n", Type::I32);
        mul(&cast(&n, Type::I64), &cast(&n, Type::I64))
    });
    assert_eq!(product, "(long long)n * n");
    // A suffix instead of a cast.
    assert_eq!(
        expr_text(|k| add(&cast(&k.param("n", Type::I32), Type::I64), &Expr::int(Scalar::I64, 7))),
        "n + 7ll"
    );
    assert_eq!(expr_text(|k| add(&k.param("n", Type::I64), &Expr::int(Scalar::I64, 7))), "n + 7");
    // Two conversions that are not one.
    assert_eq!(
        expr_text(|k| cast(&cast(&k.param("n", Type::I32), Type::Scalar(Scalar::U8)), Type::I32)),
        "(unsigned char)n"
    );
    assert_eq!(
        expr_text(|k| cast(&cast(&k.param("n", Type::I64), Type::I32), Type::I64)),
        "(int)n"
    );
    // Truncation of a real is always visible.
    assert_eq!(expr_text(|k| cast(&k.param("x", Type::F32), Type::I32)), "(int)x");
    assert_eq!(expr_text(|k| cast(&k.param("x", Type::F64), Type::F32)), "x");
    assert_eq!(expr_text(|k| cast(&k.param("n", Type::I32), Type::BOOL)), "n != 0");
    // An unsigned comparison of a signed variable.
    let unsigned = expr_text(|k| lt(&cast(&k.param("n", Type::I32), Type::U32), &u(9)));
    assert_eq!(unsigned, "n < 9u");
}

#[test]
fn small_integers_are_cut_back() {
    let small = Type::Scalar(Scalar::U8);
    let text = expr_text(|k| {
        let (p, q) = (k.param("p", small.clone()), k.param("q", small.clone()));
        bin(BinaryOp::Div, &add(&p, &q), &Expr::int(Scalar::U8, 2))
    });
    assert_eq!(text, "(unsigned char)((unsigned char)(p + q) / 2)");
}

#[test]
fn selects_and_math_functions_have_the_spelling_of_their_type() {
    let select = expr_text(|k| {
        let [a, b, c] = ints(k);
        Expr::new(ExprKind::Select(lt(&a, &b), add(&a, &b), c.clone()), Type::I32, o())
    });
    assert_eq!(select, "a < b ? a + b : c");
    let call1 = |f: MathFn, ty: Type| {
        expr_text(move |k| {
            let x = k.param("x", ty.clone());
            call(f, &[&x], ty)
        })
    };
    assert_eq!(call1(MathFn::Sqrt, Type::F32), "sqrtf(x)");
    assert_eq!(call1(MathFn::Sqrt, Type::F64), "sqrt(x)");
    assert_eq!(call1(MathFn::Abs, Type::F32), "fabsf(x)");
    assert_eq!(call1(MathFn::Abs, Type::I32), "abs(x)");
    assert_eq!(call1(MathFn::Rcp, Type::F32), "1.0f / x");
    assert_eq!(call1(MathFn::Saturate, Type::F32), "__saturatef(x)");
    assert_eq!(call1(MathFn::Brev, Type::U32), "__brev(x)");
    assert_eq!(call1(MathFn::Sqrt, Type::Scalar(Scalar::F16)), "hsqrt(x)");
    assert_eq!(
        call1(MathFn::Tan, Type::Scalar(Scalar::F16)),
        "__float2half(tanf(__half2float(x)))"
    );
    let call2 = |f: MathFn, ty: Type| {
        expr_text(move |k| {
            let (x, y) = (k.param("x", ty.clone()), k.param("y", ty.clone()));
            call(f, &[&x, &y], ty)
        })
    };
    assert_eq!(call2(MathFn::Min, Type::F32), "fminf(x, y)");
    assert_eq!(call2(MathFn::Max, Type::I32), "max(x, y)");
    assert_eq!(call2(MathFn::MulHi, Type::U64), "__umul64hi(x, y)");
    let fma = expr_text(|k| {
        let [x, y, z] = floats(k);
        call(MathFn::Fma, &[&x, &y, &z], Type::F32)
    });
    assert_eq!(fma, "fmaf(x, y, z)");
    // An overload is chosen by the exact type.
    let mixed = expr_text(|k| {
        let n = k.param("n", Type::I32);
        call(MathFn::Min, &[&cast(&n, Type::I64), &Expr::int(Scalar::I64, 8)], Type::I64)
    });
    assert_eq!(mixed, "min((long long)n, 8ll)");
    let nan = expr_text(|k| call(MathFn::IsNan, &[&k.param("x", Type::F32)], Type::BOOL));
    assert_eq!(nan, "isnan(x)");
}

#[test]
fn elements_are_addressed_in_64_bits_only_where_it_matters() {
    type Subscripts = fn(&[Expr; 3]) -> (Vec<Expr>, Vec<Expr>);
    let text = |index: Subscripts| {
        expr_text(move |k| {
            let a = k.param("A", const_ptr(Type::F32));
            let (index, dims) = index(&ints(k));
            elem(&a, &index.iter().collect::<Vec<_>>(), &dims.iter().collect::<Vec<_>>())
        })
    };
    assert_eq!(text(|[a, ..]| (vec![a.clone()], vec![])), "A[a]");
    assert_eq!(text(|[a, ..]| (vec![cast(a, Type::I64)], vec![])), "A[a]");
    assert_eq!(
        text(|[a, b, c]| (vec![a.clone(), b.clone()], vec![c.clone()])),
        "A[(size_t)a * c + b]"
    );
    assert_eq!(
        text(|[a, b, c]| (vec![sub(a, &i(1)), sub(b, &i(1))], vec![c.clone()])),
        "A[(size_t)(a - 1) * c + b - 1]"
    );
    assert_eq!(
        text(|[a, b, c]| (vec![a.clone(), b.clone(), c.clone()], vec![b.clone(), c.clone()])),
        "A[((size_t)a * b + b) * c + c]"
    );
    assert_eq!(text(|[a, b, _]| (vec![i(0), a.clone()], vec![b.clone()])), "A[a]");
    assert_eq!(
        text(|[a, b, c]| (vec![a.clone(), b.clone()], vec![cast(c, Type::U64)])),
        "A[(size_t)a * c + b]"
    );
}

#[test]
fn pointers_read_as_c() {
    assert_eq!(expr_text(|k| deref(&k.param("p", ptr(Type::F32)))), "*p");
    let offset = |k: &mut Fun, n: i32| {
        let p = k.param("p", ptr(Type::F32));
        Expr::new(ExprKind::PtrOffset(p.clone(), i(n)), p.ty.clone(), o())
    };
    assert_eq!(expr_text(|k| offset(k, 3)), "p + 3");
    assert_eq!(expr_text(|k| offset(k, -3)), "p - 3");
    assert_eq!(expr_text(|k| deref(&offset(k, 3))), "p[3]");
    assert_eq!(
        expr_text(|k| address(&elem(&k.param("p", ptr(Type::F32)), &[&i(3)], &[]))),
        "&p[3]"
    );
    let vector = Type::Vector(Scalar::F32, 4);
    let view = expr_text(|k| {
        let p = k.param("p", const_ptr(Type::F32));
        deref(&cast(&address(&elem(&p, &[&i(4)], &[])), const_ptr(vector.clone())))
    });
    assert_eq!(view, "*reinterpret_cast<const float4 *>(&p[4])");
    let null = expr_text(|k| {
        bin(
            BinaryOp::Eq,
            &k.param("p", ptr(Type::F32)),
            &cast(&Expr::int(Scalar::U64, 0), ptr(Type::F32)),
        )
    });
    assert_eq!(null, "p == nullptr");
    let difference = expr_text(|k| {
        let (p, q) = (k.param("p", ptr(Type::F32)), k.param("q", ptr(Type::F32)));
        Expr::new(ExprKind::PtrDiff(p, q), Type::I64, o())
    });
    assert_eq!(difference, "p - q");
}

#[test]
fn bits_are_seen_through_intrinsics() {
    let text = |from: Type, to: Type| {
        expr_text(move |k| Expr::new(ExprKind::Bitcast(k.param("x", from)), to, o()))
    };
    assert_eq!(text(Type::F32, Type::I32), "__float_as_int(x)");
    assert_eq!(text(Type::U32, Type::F32), "__uint_as_float(x)");
    assert_eq!(text(Type::F64, Type::I64), "__double_as_longlong(x)");
    assert_eq!(text(Type::U32, Type::I32), "(int)x");
    assert_eq!(text(Type::Vector(Scalar::F32, 2), Type::F64), "*reinterpret_cast<double *>(&x)");
}

#[test]
fn vectors_and_components() {
    let f4 = Type::Vector(Scalar::F32, 4);
    let made = expr_text(|k| {
        let [x, y, z] = floats(k);
        Expr::new(ExprKind::Make(vec![x, y, z, f(1.0)]), f4.clone(), o())
    });
    assert_eq!(made, "make_float4(x, y, z, 1.0f)");
    let part =
        expr_text(|k| Expr::new(ExprKind::Member(k.param("v", f4.clone()), 2), Type::F32, o()));
    assert_eq!(part, "v.z");
    let stored = body_text(|k| {
        let (v_id, v) = k.local("v", f4.clone());
        let p = k.param("p", ptr(f4.clone()));
        k.push(decl(v_id, Some(&deref(&p))));
        let component = Place::new(PlaceKind::Component(place(&v), 3), Type::F32, o());
        k.push(StmtKind::Assign { place: component, value: f(0.0) });
        k.push(assign(&deref(&p), &v));
    });
    assert_eq!(stored, "float4 v = *p;\nv.w = 0.0f;\n*p = v;");
}

#[test]
fn declarations_wait_for_their_first_value() {
    let text = body_text(|k| {
        let p = k.param("p", ptr(Type::I32));
        let (a_id, a) = k.local("a", Type::I32);
        let (b_id, b) = k.local("b", Type::I32);
        let (unused, _) = k.local("unused", Type::I32);
        k.push(decl(a_id, None));
        k.push(decl(b_id, None));
        k.push(decl(unused, Some(&i(3))));
        k.push(assign(&a, &deref(&p)));
        k.push(assign(&b, &add(&a, &i(1))));
        k.push(assign(&b, &mul(&b, &a)));
        k.push(assign(&deref(&p), &b));
    });
    assert_eq!(text, "const int a = *p;\nint b = a + 1;\nb *= a;\n*p = b;");
}

#[test]
fn a_value_given_in_a_branch_leaves_the_declaration_where_it_is() {
    let text = body_text(|k| {
        let p = k.param("p", ptr(Type::I32));
        let (a_id, a) = k.local("a", Type::I32);
        k.push(decl(a_id, None));
        let otherwise = block(vec![assign(&a, &i(2))]);
        let kind = StmtKind::If {
            cond: lt(&deref(&p), &i(0)),
            then: block(vec![assign(&a, &i(1))]),
            otherwise,
        };
        k.push(kind);
        k.push(assign(&deref(&p), &a));
    });
    assert_eq!(text, "int a;\nif (*p < 0) {\n    a = 1;\n} else {\n    a = 2;\n}\n*p = a;");
}

#[test]
fn assignments_are_shortened_where_c_computes_the_same() {
    let text = |make: fn(&mut Fun) -> (Expr, Expr)| {
        body_text(move |k| {
            let (to, value) = make(k);
            k.push(assign(&to, &value));
        })
    };
    assert_eq!(
        text(|k| {
            let x = deref(&k.param("p", ptr(Type::F32)));
            (x.clone(), mul(&x, &f(2.0)))
        }),
        "*p *= 2.0f;"
    );
    assert_eq!(
        text(|k| {
            let x = deref(&k.param("p", ptr(Type::I32)));
            (x.clone(), add(&x, &i(1)))
        }),
        "++*p;"
    );
    // In double, and back.
    let widened = text(|k| {
        let x = deref(&k.param("p", ptr(Type::F32)));
        let half = Expr::constant(Value::float(Scalar::F64, 0.5));
        (x.clone(), cast(&mul(&cast(&x, Type::F64), &half), Type::F32))
    });
    assert_eq!(widened, "*p *= 0.5;");
    // An integer addition to a truncated real is none to the real.
    let truncated = text(|k| {
        let x = deref(&k.param("p", ptr(Type::F32)));
        (x.clone(), cast(&add(&cast(&x, Type::I32), &i(1)), Type::F32))
    });
    assert_eq!(truncated, "*p = (int)*p + 1;");
    let pointer = body_text(|k| {
        let q = k.param("q", const_ptr(Type::F32));
        let out = k.param("out", ptr(Type::F32));
        let next = Expr::new(ExprKind::PtrOffset(q.clone(), i(4)), q.ty.clone(), o());
        k.push(assign(&q, &next));
        k.push(assign(&deref(&out), &deref(&q)));
    });
    assert_eq!(pointer, "q += 4;\n*out = *q;");
}

#[test]
fn counted_loops() {
    let text = |compare, first: i32, limit: i32, step: i32, kind: LoopKind| {
        body_text(move |k| {
            let p = k.param("p", ptr(Type::I32));
            let (var, v) = k.local("i", Type::I32);
            let body = block(vec![assign(&elem(&p, &[&v], &[]), &v)]);
            let (first, limit, step) = (i(first), i(limit), i(step));
            k.push(StmtKind::For(ForLoop {
                id: LoopId(0),
                var,
                declares: true,
                first,
                compare,
                limit,
                step,
                kind,
                body,
            }));
        })
    };
    use BinaryOp::*;
    let body = "\n    p[i] = i;\n}";
    assert_eq!(
        text(Lt, 0, 8, 1, LoopKind::Serial),
        format!("for (int i = 0; i < 8; ++i) {{{body}")
    );
    assert_eq!(
        text(Ge, 7, 0, -1, LoopKind::Serial),
        format!("for (int i = 7; i >= 0; --i) {{{body}")
    );
    assert_eq!(
        text(Gt, 7, 0, -3, LoopKind::Serial),
        format!("for (int i = 7; i > 0; i -= 3) {{{body}")
    );
    assert_eq!(
        text(Ne, 0, 8, 2, LoopKind::Unrolled(Some(4))),
        format!("#pragma unroll 4\nfor (int i = 0; i != 8; i += 2) {{{body}")
    );
    assert_eq!(
        text(Lt, 0, 8, 1, LoopKind::Unrolled(None)),
        format!("#pragma unroll\nfor (int i = 0; i < 8; ++i) {{{body}")
    );
    let bound = |level| LoopKind::Bound(Binding { level, axis: Axis::X, extent: None });
    assert_eq!(
        text(Lt, 0, 8, 1, bound(BindLevel::Thread)),
        format!(
            "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 8; i += gridDim.x * blockDim.x) {{{body}"
        )
    );
    assert_eq!(
        text(Lt, 2, 8, 3, bound(BindLevel::Block)),
        format!("for (int i = 2 + (int)threadIdx.x * 3; i < 8; i += (int)blockDim.x * 3) {{{body}")
    );
}

fn general(
    at_end: bool,
    before: Vec<StmtKind>,
    cond: &Expr,
    body: Vec<StmtKind>,
    step: Vec<StmtKind>,
) -> StmtKind {
    let condition = LoopCondition { before: block(before), expr: cond.clone(), at_end };
    StmtKind::Loop {
        id: LoopId(0),
        condition: Some(condition),
        body: block(body),
        step: block(step),
    }
}

/// A loop over `v`, which comes from `*p`.
fn loop_text(make: fn(&Expr, &Expr) -> StmtKind) -> String {
    body_text(move |k| {
        let p = k.param("p", ptr(Type::I32));
        let (id0, v) = k.local("v", Type::I32);
        k.push(decl(id0, Some(&deref(&p))));
        k.push(make(&v, &deref(&p)));
        k.push(assign(&deref(&p), &v));
    })
    .replace("int v = *p;\n", "")
    .replace("\n*p = v;", "")
}

#[test]
fn loops_that_count_nothing() {
    assert_eq!(
        loop_text(|v, _| general(
            false,
            vec![],
            &lt(v, &i(99)),
            vec![assign(v, &mul(v, &i(3)))],
            vec![]
        )),
        "while (v < 99) {\n    v *= 3;\n}"
    );
    assert_eq!(
        loop_text(|v, _| general(
            true,
            vec![],
            &lt(v, &i(99)),
            vec![assign(v, &mul(v, &i(3)))],
            vec![]
        )),
        "do {\n    v *= 3;\n} while (v < 99);"
    );
    assert_eq!(
        loop_text(|v, p| general(
            false,
            vec![],
            &lt(v, &i(99)),
            vec![assign(p, v)],
            vec![assign(v, &mul(v, &i(3)))]
        )),
        "for (; v < 99; v *= 3) {\n    *p = v;\n}"
    );
    assert_eq!(
        loop_text(|v, p| general(
            false,
            vec![assign(p, v)],
            &lt(v, &i(99)),
            vec![assign(v, &mul(v, &i(3)))],
            vec![]
        )),
        "while (true) {\n    *p = v;\n    if (v >= 99) break;\n    v *= 3;\n}"
    );
    assert_eq!(
        loop_text(|v, _| StmtKind::Loop {
            id: LoopId(0),
            condition: None,
            body: block(vec![
                assign(v, &mul(v, &i(3))),
                when(&lt(&i(99), v), vec![StmtKind::Break])
            ]),
            step: Block::default()
        }),
        "while (true) {\n    v *= 3;\n    if (99 < v) break;\n}"
    );
}

#[test]
fn continue_does_not_skip_the_test_at_the_end() {
    assert_eq!(
        loop_text(|v, p| {
            let skip = when(&lt(v, &i(5)), vec![StmtKind::Continue]);
            general(
                true,
                vec![assign(p, v)],
                &lt(v, &i(99)),
                vec![assign(v, &mul(v, &i(3))), skip],
                vec![],
            )
        }),
        "for (bool first = true;; first = false) {\n    if (!first) {\n        *p = v;\n        if (v >= 99) break;\n    }\n    v *= 3;\n    if (v < 5) continue;\n}"
    );
}

#[test]
fn branches_and_switches() {
    let text = body_text(|k| {
        let [a, b, _] = ints(k);
        let p = k.param("p", ptr(Type::I32));
        let set = |n: i32| block(vec![assign(&deref(&p), &i(n))]);
        let inner = StmtKind::If { cond: lt(&b, &a), then: set(2), otherwise: set(3) };
        k.push(StmtKind::If { cond: lt(&a, &b), then: set(1), otherwise: block(vec![inner]) });
        let mut two = set(5);
        two.stmts.push(Stmt::new(StmtKind::Break, o()));
        let cases = vec![
            Case { values: vec![1, 2], is_default: false, body: two },
            Case { values: vec![-7], is_default: true, body: set(6) },
        ];
        k.push(StmtKind::Switch { selector: a, cases });
    });
    let expected = "\
if (a < b) {
    *p = 1;
} else if (b < a) {
    *p = 2;
} else {
    *p = 3;
}
switch (a) {
case 1:
case 2:
    *p = 5;
    break;
case -7:
default:
    *p = 6;
}";
    assert_eq!(text, expected);
}

#[test]
fn shared_memory_and_barriers() {
    let text = body_text(|k| {
        let p = k.param("p", ptr(Type::F32));
        let tile = Type::array(Type::array(Type::F32, 17), 16);
        let (_, tile) = k.var("tile", tile, VarKind::Shared);
        let (dynamic_id, dynamic) =
            k.var("extra", Type::array(Type::F32, 0), VarKind::DynamicShared);
        k.f.vars[dynamic_id.0 as usize].align = 16;
        let t = Expr::builtin(Builtin::ThreadIdx(Axis::X));
        k.push(assign(&at(&at(&tile, &t), &i(0)), &f(1.0)));
        k.push(assign(&at(&dynamic, &t), &f(2.0)));
        k.push(StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None });
        let (count_id, count) = k.local("count", Type::I32);
        let operand = Some(lt(&t, &u(3)));
        k.push(decl(count_id, None));
        k.push(StmtKind::Barrier {
            kind: BarrierKind::BlockCount,
            operand,
            result: Some(count_id),
        });
        k.push(StmtKind::Barrier { kind: BarrierKind::Warp, operand: Some(u(0xff)), result: None });
        k.push(StmtKind::Fence(Scope::Device));
        let first = at(&at(&tile, &t), &i(0));
        k.push(assign(&deref(&p), &add(&cast(&count, Type::F32), &first)));
    });
    let expected = "\
__shared__ float tile[16][17];
extern __shared__ __align__(16) float extra[];
tile[threadIdx.x][0] = 1.0f;
extra[threadIdx.x] = 2.0f;
__syncthreads();
const int count = __syncthreads_count(threadIdx.x < 3);
__syncwarp(255);
__threadfence();
*p = count + tile[threadIdx.x][0];";
    assert_eq!(text, expected);
}

#[test]
fn atomics() {
    let text = |op, ty: Type, scope, wanted: bool| {
        body_text(move |k| {
            let p = k.param("p", ptr(ty.clone()));
            let q = k.param("q", ptr(ty.clone()));
            let v = k.param("v", ty.clone());
            let (old_id, old) = k.local("old", ty.clone());
            k.push(decl(old_id, None));
            let compare = (op == AtomicOp::Cas).then(|| v.clone());
            let result = Some(old_id);
            k.push(StmtKind::Atomic { op, pointer: p, value: v, compare, result, scope });
            if wanted {
                k.push(assign(&deref(&q), &old));
            }
        })
    };
    use AtomicOp::*;
    let device = Scope::Device;
    assert_eq!(text(Add, Type::F32, device, false), "atomicAdd(p, v);");
    assert_eq!(
        text(Add, Type::I32, Scope::Block, true),
        "const int old = atomicAdd_block(p, v);\n*q = old;"
    );
    assert_eq!(text(Max, Type::U64, Scope::System, false), "atomicMax_system(p, v);");
    assert_eq!(
        text(Add, Type::I64, device, false),
        "atomicAdd(reinterpret_cast<unsigned long long *>(p), v);"
    );
    assert_eq!(text(Cas, Type::U32, device, false), "atomicCAS(p, v, v);");
    assert_eq!(text(Sub, Type::F32, device, false), "atomicAdd(p, -v);");
    assert_eq!(
        text(Load, Type::F32, device, true),
        "const float old = atomicAdd(p, -0.0f);\n*q = old;"
    );
    assert_eq!(text(Store, Type::U32, device, false), "atomicExch(p, v);");
    assert_eq!(text(Min, Type::F32, device, false), "atomic_min(p, v);");
    assert_eq!(text(Mul, Type::I64, device, false), "atomic_mul(p, v);");
    assert_eq!(text(Raise, Type::F64, device, false), "atomic_raise(p, v);");
    assert_eq!(text(Lower, Type::I32, device, false), "atomicMin(p, v);");
    assert_eq!(
        text(Exchange, Type::F64, device, false),
        "__longlong_as_double(atomicExch(reinterpret_cast<unsigned long long *>(p),\n                                __double_as_longlong(v)));"
    );
}

#[test]
fn a_temporary_that_only_carries_a_result_is_not_printed() {
    let text = body_text(|k| {
        let p = k.param("p", ptr(Type::I32));
        let (temporary_id, temporary) = k.local("tmp", Type::I32);
        let (old_id, old) = k.local("old", Type::I32);
        let (pointer, value) = (p.clone(), i(2));
        let (op, result, scope) = (AtomicOp::Add, Some(temporary_id), Scope::Device);
        k.push(decl(temporary_id, None));
        k.push(StmtKind::Atomic { op, pointer, value, compare: None, result, scope });
        k.push(decl(old_id, Some(&temporary)));
        k.push(assign(&elem(&p, &[&old], &[]), &old));
    });
    assert_eq!(text, "const int old = atomicAdd(p, 2);\np[old] = old;");
}

#[test]
fn warp_operations() {
    let text = |op, args: fn(&Expr) -> Vec<Expr>, ty: Type| {
        body_text(move |k| {
            let v = k.param("v", Type::I32);
            let p = k.param("p", ptr(ty.clone()));
            let (id0, r) = k.local("r", ty.clone());
            k.push(decl(id0, None));
            k.push(StmtKind::Warp { op, mask: u(0xffff_ffff), args: args(&v), result: Some(id0) });
            k.push(assign(&deref(&p), &r));
        })
        .replace("\n*p = r;", "")
    };
    use WarpOp::*;
    assert_eq!(
        text(ShuffleDown, |v| vec![v.clone(), u(4), i(32)], Type::I32),
        "const int r = __shfl_down_sync(0xffffffffu, v, 4);"
    );
    assert_eq!(
        text(Shuffle, |v| vec![v.clone(), i(0), i(16)], Type::I32),
        "const int r = __shfl_sync(0xffffffffu, v, 0, 16);"
    );
    assert_eq!(
        text(Ballot, |v| vec![lt(v, &i(3))], Type::U32),
        "const unsigned r = __ballot_sync(0xffffffffu, v < 3);"
    );
    assert_eq!(
        text(Any, |v| vec![lt(v, &i(3))], Type::BOOL),
        "const bool r = __any_sync(0xffffffffu, v < 3);"
    );
    assert_eq!(
        text(MatchAll, |v| vec![v.clone()], Type::U32),
        "int all_equal;\nconst unsigned r = __match_all_sync(0xffffffffu, v, &all_equal);"
    );
    assert_eq!(
        text(ReduceMax, |v| vec![v.clone()], Type::I32),
        "const int r = __reduce_max_sync(0xffffffffu, v);"
    );
}

#[test]
fn asynchronous_copies_and_messages() {
    let mut k = kernel();
    let p = k.param("p", const_ptr(Type::F32));
    let n = k.param("n", Type::I32);
    let (_, tile) = k.var("tile", Type::array(Type::F32, 64), VarKind::Shared);
    let destination = address(&at(&tile, &n));
    let source = address(&elem(&p, &[&n], &[]));
    k.push(StmtKind::AsyncCopy { destination, source, bytes: i(16), zero_fill: None });
    k.push(StmtKind::AsyncCommit);
    k.push(StmtKind::AsyncWait(1));
    k.push(StmtKind::Printf {
        format: "%d %f\n".into(),
        args: vec![n.clone(), cast(&deref(&p), Type::F64)],
    });
    k.push(StmtKind::Assert { cond: lt(&n, &i(64)), text: "n < 64".into() });
    k.push(StmtKind::Assume { cond: lt(&i(0), &n), text: "0 < n".into() });
    k.push(when(&lt(&n, &i(0)), vec![StmtKind::Trap]));
    let expected = "\
#include <assert.h>
#include <cuda_pipeline.h>
#include <stdio.h>

__global__ void k(const float *__restrict__ p, int n) {
    __shared__ float tile[64];
    __pipeline_memcpy_async(&tile[n], &p[n], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    printf(\"%d %f\\n\", n, *p);
    assert(n < 64);
    __builtin_assume(0 < n);
    if (n < 0) {
        __trap();
    }
}";
    assert_eq!(k.print(), expected);
}

/// A structure, weights in constant memory and a counter in global memory.
fn bodies_and_weights() -> (Module, Type, Type) {
    let mut module = Module::default();
    let fields = vec![
        StructField { name: "pos".into(), ty: Type::Vector(Scalar::F32, 3), offset: 0 },
        StructField { name: "mass".into(), ty: Type::F32, offset: 12 },
    ];
    module.structs.push(StructDef {
        name: "Body".into(),
        fields,
        size: 16,
        align: 16,
        origin: o(),
    });
    let body = Type::Struct(StructId(0));
    let init: Vec<u8> = [1.0f32, -0.5].iter().flat_map(|v| v.to_le_bytes()).collect();
    let weights = Type::array(Type::F32, 2);
    module.globals.push(Global {
        name: "weights".into(),
        ty: weights.clone(),
        space: Space::Constant,
        init: Some(init),
        origin: o(),
    });
    module.globals.push(Global {
        name: "counter".into(),
        ty: Type::U32,
        space: Space::Global,
        init: None,
        origin: o(),
    });
    (module, body, weights)
}

/// A function of the device that adds a weight to what it gets by reference.
fn scale(weights: Type, limit: &Expr) -> Function {
    let mut d = Fun::new("scale<float,2>", FunctionKind::Device);
    d.f.ret = Type::F32;
    let sum =
        d.f.add_param(Var { reference: true, ..Var::new("sum", ptr(Type::F32), VarKind::Param) });
    let sum = deref(&Expr::var(sum, ptr(Type::F32)));
    let w = at(&Expr::read(Place::new(PlaceKind::Global(GlobalId(0)), weights, o())), &i(1));
    d.push(assign(&sum, &add(&sum, &w)));
    d.push(StmtKind::Return(Some(bin(BinaryOp::Div, &sum, limit))));
    d.f
}

#[test]
fn structs_globals_constants_and_calls() {
    let (mut module, body, weights) = bodies_and_weights();
    let limit = named(&mut module, "LIMIT", Value::float(Scalar::F32, f64::INFINITY), "");

    let device = module.add_function(scale(weights, &limit));

    let mut k = Fun::new("k", FunctionKind::Kernel);
    let p = k.param("bodies", ptr(body.clone()));
    let (total_id, total) = k.local("total", Type::F32);
    let (r_id, r) = k.local("new", Type::F32);
    k.push(decl(total_id, Some(&f(0.0))));
    k.push(decl(r_id, None));
    k.push(StmtKind::Call {
        function: device,
        args: vec![address(&total)],
        result: Some(place(&r)),
    });
    let element = place(&elem(&p, &[&i(2)], &[]));
    let mass = Place::new(PlaceKind::Field(element, 1), Type::F32, o());
    k.push(StmtKind::Assign { place: mass, value: r.clone() });
    let first = Place::new(PlaceKind::Deref(p.clone()), body.clone(), o());
    let pos = Place::new(PlaceKind::Field(first, 0), Type::Vector(Scalar::F32, 3), o());
    let x = Place::new(PlaceKind::Component(pos, 0), Type::F32, o());
    k.push(StmtKind::Assign { place: x, value: r });
    let value = Expr::new(
        ExprKind::Make(vec![
            Expr::new(
                ExprKind::Make(vec![f(0.0), f(0.0), f(1.0)]),
                Type::Vector(Scalar::F32, 3),
                o(),
            ),
            f(2.0),
        ]),
        body.clone(),
        o(),
    );
    k.push(StmtKind::Assign { place: place(&elem(&p, &[&i(1)], &[])), value });
    module.add_function(k.f);
    let expected = "\
#include <math.h>

struct __align__(16) Body {
    float3 pos;
    float mass;
};

constexpr float LIMIT = INFINITY;

__constant__ float weights[2] = {1.0f, -0.5f};

__device__ float scale_float_2(float &sum) {
    sum += weights[1];
    return sum / LIMIT;
}

__global__ void k(Body *__restrict__ bodies) {
    float total = 0.0f;
    const float new_ = scale_float_2(total);
    bodies[2].mass = new_;
    bodies->pos.x = new_;
    bodies[1] = Body{make_float3(0.0f, 0.0f, 1.0f), 2.0f};
}
";
    assert_eq!(print(&module), expected);
}

#[test]
fn arrays_in_registers() {
    let text = body_text(|k| {
        let p = k.param("p", ptr(Type::F32));
        let ty = Type::array(Type::F32, 2);
        let (acc_id, acc) = k.local("acc", ty.clone());
        let (w_id, w) = k.local("w", ty.clone());
        let make = |a: f64, b: f64| Expr::new(ExprKind::Make(vec![f(a), f(b)]), ty.clone(), o());
        k.push(decl(acc_id, Some(&make(0.0, 0.0))));
        k.push(decl(w_id, Some(&make(1.0, 2.0))));
        k.push(assign(&w, &make(3.0, 4.0)));
        k.push(assign(&deref(&p), &add(&at(&acc, &i(0)), &at(&w, &i(1)))));
    });
    assert_eq!(
        text,
        "float acc[2] = {};\nfloat w[2] = {1.0f, 2.0f};\nw[0] = 3.0f;\nw[1] = 4.0f;\n*p = acc[0] + w[1];"
    );
}

#[test]
fn braces_convert_nothing_silently() {
    let text = body_text(|k| {
        let n = k.param("n", Type::I32);
        let p = k.param("p", ptr(Type::F32));
        let ty = Type::array(Type::F32, 2);
        let (w_id, w) = k.local("w", ty.clone());
        let parts = vec![f(1.0), n.clone().cast(Type::F32)];
        k.push(decl(w_id, Some(&Expr::new(ExprKind::Make(parts), ty, o()))));
        k.push(assign(&at(&w, &i(0)), &n.cast(Type::F32)));
        k.push(assign(&deref(&p), &add(&at(&w, &i(0)), &at(&w, &i(1)))));
    });
    assert_eq!(text, "float w[2] = {1.0f, (float)n};\nw[0] = n;\n*p = w[0] + w[1];");
}

#[test]
fn launches() {
    let mut module = Module::default();
    let mut k = Fun::new("step", FunctionKind::Kernel);
    k.push(StmtKind::Barrier { kind: BarrierKind::Grid, operand: None, result: None });
    let n = k.param("n", Type::I32);
    let _ = n;
    let cooperative = module.add_function(k.f);
    let plain = module.add_function(Fun::new("plain", FunctionKind::Kernel).f);
    let mut h = Fun::new("host", FunctionKind::Host);
    let n = h.param("n", Type::I32);
    let launch = |kernel, grid: [Expr; 3], shared: i64, args| {
        StmtKind::Launch(Launch {
            kernel,
            grid,
            block: [u(64), u(2), u(1)],
            shared: u(shared),
            cluster: None,
            args,
        })
    };
    let blocks = cast(&bin(BinaryOp::Shr, &n, &i(6)), Type::U32);
    h.push(launch(plain, [blocks, u(1), u(1)], 65536, vec![]));
    h.push(launch(cooperative, [u(8), u(1), u(1)], 0, vec![add(&n, &i(1))]));
    module.add_function(h.f);
    let expected = "\
#include <cooperative_groups.h>

__global__ void step(int n) {
    cooperative_groups::this_grid().sync();
}

__global__ void plain() {
}

void host(int n) {
    cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    const dim3 block(64, 2);
    const dim3 grid(n >> 6);
    plain<<<grid, block, 65536>>>();
    const dim3 block2(64, 2);
    const dim3 grid2(8);
    int n_arg = n + 1;
    void *args[] = {&n_arg};
    cudaLaunchCooperativeKernel((const void *)step, grid2, block2, args, 0, 0);
}
";
    assert_eq!(print(&module), expected);
}

#[test]
fn long_lines_are_broken_at_operators() {
    let text = body_text(|k| {
        let p = k.param("output_of_the_whole_computation", ptr(Type::F32));
        let a = k.param("first_input_with_a_long_name", const_ptr(Type::F32));
        let w = k.param("second_input_with_a_long_name", const_ptr(Type::F32));
        let mut sum = f(0.0);
        for n in 0..7 {
            sum = add(&sum, &mul(&elem(&a, &[&i(n)], &[]), &elem(&w, &[&i(n)], &[])));
        }
        k.push(assign(&deref(&p), &sum));
    });
    assert!(text.lines().all(|l| l.chars().count() + 4 <= 100), "{text}");
    assert!(text.lines().count() > 4, "{text}");
    assert!(text.lines().rev().skip(1).all(|l| l.ends_with(['+', '*', '='])), "{text}");
}

#[test]
fn half_precision_converts_through_functions() {
    let half = Type::Scalar(Scalar::F16);
    let text = expr_text(|k| {
        let h = k.param("h", half.clone());
        let x = k.param("x", Type::F32);
        let product = mul(&h, &cast(&x, half.clone()));
        cast(&add(&product, &Expr::constant(Value::float(Scalar::F16, 0.5))), Type::F32)
    });
    assert_eq!(text, "__half2float(h * __float2half(x) + __float2half(0.5f))");
}

#[test]
fn what_cuda_cannot_say_is_an_error() {
    let refused = |make: fn(&mut Fun)| {
        let mut k = kernel();
        make(&mut k);
        let module = Module { functions: vec![k.f], ..Module::default() };
        warpsmith_emit::module_file(&module).unwrap_err().to_string()
    };
    let atomic = refused(|k| {
        let pointer = k.param("p", ptr(Type::F32));
        let kind = StmtKind::Atomic {
            op: AtomicOp::Xor,
            pointer,
            value: f(1.0),
            compare: None,
            result: None,
            scope: Scope::Device,
        };
        k.push(kind);
    });
    assert_eq!(atomic, "CUDA C has no spelling for an atomic exclusive or of `float`");
    let shared = body_text(|k| {
        let (_, x) = k.var("x", Type::I32, VarKind::Shared);
        let p = k.param("p", ptr(Type::I32));
        k.push(assign(&x, &i(1)));
        k.push(assign(&deref(&p), &x));
    });
    assert_eq!(shared, "__shared__ int x;\nx = 1;\n*p = x;");
    let array = refused(|k| {
        let ty = Type::array(Type::I32, 2);
        let (_, x) = k.var("x", ty.clone(), VarKind::Shared);
        let (_, y) = k.var("y", ty, VarKind::Shared);
        k.push(assign(&x, &y));
    });
    assert_eq!(array, "CUDA C has no spelling for the assignment of an array");
}
