//! Iterations that number what they find by an atomic update keep the order of C: their loop is serial.

use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::{LoopKind, SourceMap, Stmt, StmtKind};

fn function(mark: &str) -> CInput {
    let text = format!(
        "void f(int n, const float x[n], float out[n], int *count) {{
            {mark}
            for (int i = 0; i < n; i++) {{
                int at;
                #pragma omp atomic capture
                at = (*count)++;
                out[at] = x[i];
            }}
            #pragma omp parallel for
            for (int j = 0; j < n; j++) out[j] = -out[j];
        }}"
    );
    let options = ParseOptions::new(Language::C);
    let mut sources = SourceMap::new();
    let parsed = parse::parse("t.c", text.as_bytes(), &options, &DiskLoader, &mut sources);
    cloops::lower_c(&parsed.unwrap().unit, None).unwrap()
}

#[test]
fn a_marked_loop_with_captured_numbers_is_in_order() {
    let marked = function("#pragma omp parallel for");
    let parallel = |s: &Stmt| match &s.kind {
        StmtKind::For(l) => Some(matches!(l.kind, LoopKind::Parallel(_))),
        _ => None,
    };
    let body = &marked.module.function(marked.function).body;
    let loops: Vec<bool> = body.stmts.iter().filter_map(parallel).collect();
    assert_eq!(loops, [false, true]);
    assert_eq!(marked.in_order.map(|d| d.code), Some("W161"));
    assert!(function("").in_order.is_none());
}
