//! Nests bound to the machine: what they compute, and what their threads may not do to each other.

use super::*;
use crate::text::parse;

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn as_floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c)).collect()
}

/// Verifies and runs the function `f(n, arrays…)`; the arrays afterwards.
fn run(text: &str, n: i32, arrays: &[&[f32]]) -> Result<Vec<Vec<f32>>, InterpErrorKind> {
    let module = parse(text).unwrap_or_else(|d| panic!("{d:?}"));
    crate::verify::verify(&module).unwrap_or_else(|v| panic!("{v:?}"));
    run_module(&module, n, arrays)
}

fn run_module(
    module: &Module,
    n: i32,
    arrays: &[&[f32]],
) -> Result<Vec<Vec<f32>>, InterpErrorKind> {
    let mut memory = Memory::new(arrays.iter().map(|a| floats(a)).collect());
    let mut args = vec![Arg::Value(Value::i32(n))];
    args.extend((0..arrays.len()).map(|buffer| Arg::Pointer { buffer, offset: 0 }));
    let result = call(module, FuncId(0), &args, &mut memory, &Limits::default(), &mut NoLaunch);
    result.map_err(|e| e.kind)?;
    Ok(memory.buffers.iter().map(|b| as_floats(b)).collect())
}

/// A product in tiles of 4 x 4 through shared memory, with these statements before and after a strip is used.
fn product(copies: &str, after: &str) -> String {
    format!(
        "host fn f(n: i32, a: *global const f32 shape [n, n], b: *global const f32 shape [n, n], c: *global f32 shape [n, n]) {{
            shared sa: [[f32; 4]; 4] layout pad 1; shared sb: [[f32; 4]; 4];
            var by: i32; var bx: i32; var ty: i32; var tx: i32; var i: i32; var j: i32; var s: f32;
            var k0: i32; var k: i32; var r: i32; var q: i32; var r2: i32; var q2: i32;
            bind(grid.y) for by in 0..(n + 3) / 4 {{
                bind(grid.x) for bx in 0..(n + 3) / 4 {{
                    let sa; let sb;
                    bind(block.y, 4) for ty in 0..4 {{
                        bind(block.x, 4) for tx in 0..4 {{
                            let i = by * 4 + ty;
                            let j = bx * 4 + tx;
                            let s = 0.0f32;
                            for k0 in 0..n by 4 {{
                                {copies}
                                for k in 0..4 {{ s = s + sa[ty][k] * sb[k][tx]; }}
                                {after}
                            }}
                            if i < n && j < n {{ c[i, j; n] = s; }}
                        }}
                    }}
                }}
            }}
        }}"
    )
}

const COPIES: &str = "
    fill(r < 4, q < 4) sa[r][q] = a[by * 4 + r, k0 + q; n] if by * 4 + r < n && k0 + q < n;
    fill(r2 < 4, q2 < 4) sb[r2][q2] = b[k0 + r2, bx * 4 + q2; n] if k0 + r2 < n && bx * 4 + q2 < n vector 4;
    barrier block;";

fn multiplied(copies: &str, after: &str) -> Result<Vec<f32>, InterpErrorKind> {
    let n = 6usize;
    let a: Vec<f32> = (0..n * n).map(|x| (x % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..n * n).map(|x| (x % 5) as f32 - 2.0).collect();
    let text = product(copies, after);
    let arrays = run(&text, n as i32, &[&a, &b, &vec![0.0; n * n]])?;
    let expected: Vec<f32> =
        (0..n * n).map(|x| (0..n).map(|k| a[x / n * n + k] * b[k * n + x % n]).sum()).collect();
    assert_eq!(arrays[2], expected);
    Ok(arrays[2].clone())
}

#[test]
fn a_product_through_shared_memory() {
    multiplied(COPIES, "barrier block;").expect("no races");
}

#[test]
fn a_missing_barrier_is_a_race() {
    let after = multiplied(COPIES, "").expect_err("the next strip overwrites this one");
    assert!(matches!(after, InterpErrorKind::Race { blocks: false, writes: [false, true], .. }));
    let before = multiplied(&COPIES.replace("barrier block;", ""), "barrier block;");
    let before = before.expect_err("others have not copied yet");
    assert!(matches!(before, InterpErrorKind::Race { blocks: false, writes: [true, false], .. }));
}

#[test]
fn asynchronous_copies_are_waited_for() {
    let copies = COPIES.replace("n;\n", "n async;\n").replace("vector 4", "vector 4 async");
    let waits = copies.replace("barrier", "async_commit; async_wait 0; barrier");
    multiplied(&waits, "barrier block;").expect("waited for");
    let early = multiplied(&copies, "barrier block;").expect_err("nothing waited");
    assert!(matches!(early, InterpErrorKind::NotArrived { .. }), "{early:?}");
    // One group may still be on its way, and it is the one that is used.
    let late = copies.replace("barrier", "async_commit; async_wait 1; barrier");
    assert!(matches!(multiplied(&late, "barrier block;"), Err(InterpErrorKind::NotArrived { .. })));
    // What arrives after the barrier is there for the thread that copied it only.
    let after = copies.replace("barrier block;", "barrier block; async_commit; async_wait 0;");
    assert!(matches!(multiplied(&after, "barrier block;"), Err(InterpErrorKind::Race { .. })));
}

#[test]
fn threads_that_stay_away_from_a_barrier() {
    let copies = COPIES.replace("barrier block;", "if i < n { barrier block; }");
    let kind = multiplied(&copies, "barrier block;").expect_err("the last block is not full");
    assert_eq!(kind, InterpErrorKind::Divergent { of: 16, come: 8 });
}

#[test]
fn operands_of_collective_statements_are_the_same_for_all() {
    let copies = COPIES.replace("k0 + r2, bx", "k0 + (r2 + ty) % 4, bx");
    let kind =
        multiplied(&copies, "barrier block;").expect_err("each row of threads copies another");
    assert!(matches!(kind, InterpErrorKind::NotUniform(_)), "{kind:?}");
}

/// Rows of 8 by blocks of two rows of four threads, which combine their sums.
fn combined(statement: &str, start: &str, add: &str) -> Result<Vec<Vec<f32>>, InterpErrorKind> {
    let text = format!(
        "host fn f(n: i32, x: *global const f32, y: *global f32, z: *global f32) {{
            var b: i32; var ty: i32; var t: i32; var s: f32; var k: i32; var p: i32; var i: i32;
            bind(grid.x) for b in 0..n / 2 {{
                bind(block.y, 2) for ty in 0..2 {{
                    bind(block.x, 4) for t in 0..4 {{
                        let i = b * 2 + ty;
                        let s = {start};
                        let p = 0;
                        for k in t..8 by 4 {{ {add} }}
                        {statement}
                        if t == 0 {{ y[i] = s; z[i] = p as f32; }}
                    }}
                }}
            }}
        }}"
    );
    let x: Vec<f32> = (0..32).map(|x| ((x * 5) % 11) as f32).collect();
    run(&text, 4, &[&x, &[0.0; 4], &[0.0; 4]])
}

#[test]
fn values_of_threads_are_combined_along_an_axis() {
    let sums = combined("combine + s over(block.x);", "0.0f32", "s = s + x[i * 8 + k];").unwrap();
    let x = &sums[0];
    let row = |i: usize| &x[i * 8..i * 8 + 8];
    assert_eq!(sums[1], (0..4).map(|i| row(i).iter().sum()).collect::<Vec<f32>>());
    // Along both axes, the rows of a block come together.
    let all = "combine + s over(block.x, block.y);";
    let both = combined(all, "0.0f32", "s = s + x[i * 8 + k];").unwrap();
    assert_eq!(both[1][0], row(0).iter().chain(row(1)).sum::<f32>());
    assert_eq!(both[1][0], both[1][1]);
}

#[test]
fn the_place_of_the_greatest_value_comes_along() {
    let add = "if x[i * 8 + k] > s { s = x[i * 8 + k]; p = k; }";
    let found = combined("combine max s at p over(block.x);", "-1.0f32", add).unwrap();
    for i in 0..4 {
        let row = &found[0][i * 8..i * 8 + 8];
        let best = row.iter().fold(0.0f32, |a, b| a.max(*b));
        assert_eq!(found[1][i], best);
        assert_eq!(found[2][i], row.iter().position(|v| *v == best).unwrap() as f32);
    }
}

#[test]
fn shuffles_add_the_values_of_lanes() {
    let steps: String = [2, 1]
        .map(|by| {
            format!(
                "let o{by}; o{by} = warp shuffle_down(4294967295u32; s, {by}, 4); s = s + o{by};"
            )
        })
        .concat();
    let text = format!(
        "host fn f(n: i32, x: *global const f32, y: *global f32) {{
            var l: i32; var s: f32; var o1: f32; var o2: f32;
            bind(block.x, 8) for l in 0..8 {{
                let s = x[l];
                {steps}
                if l % 4 == 0 {{ y[l / 4] = s; }}
            }}
        }}"
    );
    let arrays = run(&text, 8, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], &[0.0; 2]]).unwrap();
    assert_eq!(arrays[1], [10.0, 26.0]);
}

#[test]
fn blocks_may_not_write_what_others_touch() {
    let text = |index: &str| {
        format!(
            "host fn f(n: i32, x: *global f32) {{
                var b: i32; var t: i32; var i: i32;
                bind(grid.x) for b in 0..n {{
                    bind(block.x, 4) for t in 0..4 {{
                        let i = b * 4 + t;
                        x[{index}] = x[i] + 1.0f32;
                    }}
                }}
            }}"
        )
    };
    assert!(run(&text("i"), 2, &[&[0.0; 9]]).is_ok());
    let other = run(&text("i + 1"), 2, &[&[0.0; 9]]).expect_err("the neighbour");
    assert!(matches!(other, InterpErrorKind::Race { blocks: false, .. }), "{other:?}");
    let far = run(&text("(i + 4) % 8"), 2, &[&[0.0; 9]]).expect_err("the other block's");
    assert!(matches!(far, InterpErrorKind::Race { blocks: true, .. }), "{far:?}");
}

#[test]
fn atomic_updates_are_in_order() {
    let text = "host fn f(n: i32, x: *global f32) {
        var b: i32; var t: i32;
        bind(grid.x) for b in 0..n {
            bind(block.x, 4) for t in 0..4 { atomic add device(&x[0], 1.0f32); }
        }
    }";
    assert_eq!(run(text, 3, &[&[0.0]]).unwrap()[0], [12.0]);
    let read =
        text.replace("}\n        }", "}\n bind(block.x, 4) for t in 0..4 { x[0] = 1.0f32; } }");
    assert!(parse(&read).is_ok());
}

#[test]
fn lanes_run_statement_by_statement() {
    let text = "host fn f(n: i32, x: *global f32) {
        var l: i32; var v: f32;
        vector for l in 0..4 {
            let v = x[l];
            x[l + 1] = v;
        }
    }";
    assert_eq!(run(text, 0, &[&[1.0, 2.0, 3.0, 4.0, 5.0]]).unwrap()[0], [1.0, 1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn threads_that_cannot_be_are_refused_before_they_are_made() {
    for header in
        ["vector for l in 0..2000000000", "bind(block.x, 2000000000) for l in 0..2000000000"]
    {
        let text = format!(
            "host fn f(n: i32, x: *global f32) {{ var l: i32; {header} {{ x[0] = 1.0f32; }} }}"
        );
        let module = parse(&text).unwrap_or_else(|d| panic!("{d:?}"));
        let mut memory = Memory::new(vec![floats(&[0.0])]);
        let args = [Arg::Value(Value::i32(1)), Arg::Pointer { buffer: 0, offset: 0 }];
        let result =
            call(&module, FuncId(0), &args, &mut memory, &Limits::default(), &mut NoLaunch);
        assert!(matches!(result.unwrap_err().kind, InterpErrorKind::Unsupported(_)));
    }
}

#[test]
fn arrays_of_threads_are_each_ones_own() {
    let text = "host fn f(n: i32, a: *global f32 shape [n]) {
        var b: i32; var t: i32; var k: i32; var own: [f32; 2];
        bind(grid.x) for b in 0..3 {
            bind(block.x, 2) for t in 0..2 {
                let own;
                for k in 0..2 { own[k] = 1.0f32; }
                a[b * 2 + t] = own[0] + own[1];
            }
        }
    }";
    let arrays = run(text, 6, &[&[0.0; 6]]).expect("no races");
    assert_eq!(arrays[0], [2.0; 6]);
    let together = text.replace("a[b * 2 + t]", "a[t]");
    let race = run(&together, 6, &[&[0.0; 6]]).expect_err("blocks write one element");
    assert!(matches!(race, InterpErrorKind::Race { blocks: true, .. }), "{race:?}");
}

#[test]
fn nothing_waits_for_threads_that_have_returned() {
    // No step makes such a nest, and the verifier refuses it: it stands for a kernel whose threads return early.
    let text = "host fn f(n: i32, a: *global f32 shape [n]) {
        shared s: [f32; 8]; var b: i32; var t: i32; var k: i32;
        bind(grid.x) for b in 0..1 {
            let s;
            bind(block.x, 8) for t in 0..8 {
                for k in 0..2 {
                    if t >= n - k { return; }
                    s[t] = a[t];
                    barrier block;
                }
                a[t] = s[n - 2 - t] + 1.0f32;
            }
        }
    }";
    let module = parse(text).unwrap_or_else(|d| panic!("{d:?}"));
    let out = run_module(&module, 5, &[&[1.0, 2.0, 3.0, 4.0, 5.0]]);
    assert_eq!(out, Ok(vec![vec![5.0, 4.0, 3.0, 2.0, 5.0]]));
}
