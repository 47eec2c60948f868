//! The three files of a tuned loop nest, whole.

mod build;

use build::*;
use expect_test::expect_file;
use warpsmith_emit::{Emit, TestProgram, Workspace, cuda_file, header_file, test_file};
use warpsmith_ir::*;

/// `C = A * B`, as the C programmer wrote it.
fn gemm_reference() -> Module {
    let mut g = Fun::new("gemm", FunctionKind::Host);
    let (n, m, l) = (g.param("n", Type::I32), g.param("m", Type::I32), g.param("l", Type::I32));
    let a = g.shaped("A", const_ptr(Type::F32), vec![n.clone(), l.clone()]);
    let b = g.shaped("B", const_ptr(Type::F32), vec![l.clone(), m.clone()]);
    let c = g.shaped("C", ptr(Type::F32), vec![n.clone(), m.clone()]);
    let (_, row) = g.local("i", Type::I32);
    let (_, col) = g.local("j", Type::I32);
    let (_, k) = g.local("k", Type::I32);
    let out = elem(&c, &[&row, &col], &[&m]);
    let term = mul(&elem(&a, &[&row, &k], &[&l]), &elem(&b, &[&k, &col], &[&m]));
    let inner = for_in(&k, &i(0), &l, LoopKind::Serial, vec![assign(&out, &add(&out, &term))]);
    let body = vec![assign(&out, &f(0.0)), inner];
    let columns = for_in(&col, &i(0), &m, LoopKind::Parallel(Parallel::default()), body);
    g.push(for_in(&row, &i(0), &n, LoopKind::Parallel(Parallel::default()), vec![columns]));
    Module { functions: vec![g.f], ..Module::default() }
}

/// The direct translation of it, with a launcher.
fn gemm_kernel() -> (Module, FuncId) {
    let mut module = Module::default();
    let bx = named(&mut module, "BLOCK_X", Value::int(Scalar::U32, 32), "threads along j");
    let by = named(&mut module, "BLOCK_Y", Value::int(Scalar::U32, 8), "threads along i");
    named(&mut module, "UNUSED", Value::i32(3), "nobody asks for this");
    let mut g = Fun::new("gemm_kernel", FunctionKind::Kernel);
    g.f.launch_bounds = Some(LaunchBounds { max_threads: 256, min_blocks: None });
    let (n, m, l) = (g.param("n", Type::I32), g.param("m", Type::I32), g.param("l", Type::I32));
    let a = g.param("A", const_ptr(Type::F32));
    let b = g.param("B", const_ptr(Type::F32));
    let c = g.param("C", ptr(Type::F32));
    let thread = |axis, size: &Expr| {
        let first = mul(&Expr::builtin(Builtin::BlockIdx(axis)), size);
        cast(&add(&first, &Expr::builtin(Builtin::ThreadIdx(axis))), Type::I32)
    };
    let (row_id, row) = g.local("i", Type::I32);
    let (col_id, col) = g.local("j", Type::I32);
    g.push(decl(row_id, Some(&thread(Axis::Y, &by))));
    g.push(decl(col_id, Some(&thread(Axis::X, &bx))));
    let outside =
        bin(BinaryOp::LogicalOr, &bin(BinaryOp::Ge, &row, &n), &bin(BinaryOp::Ge, &col, &m));
    g.push(when(&outside, vec![StmtKind::Return(None)]));
    let (acc_id, acc) = g.local("acc", Type::F32);
    let (_, k) = g.local("k", Type::I32);
    g.push(decl(acc_id, None)).comment = vec!["The element of C stays in a register.".into()];
    g.push(assign(&acc, &f(0.0)));
    let term = mul(&elem(&a, &[&row, &k], &[&l]), &elem(&b, &[&k, &col], &[&m]));
    g.push(for_in(&k, &i(0), &l, LoopKind::Serial, vec![assign(&acc, &add(&acc, &term))]));
    g.push(assign(&elem(&c, &[&row, &col], &[&m]), &acc));
    let kernel = module.add_function(g.f);

    let mut h = Fun::new("gemm_launch", FunctionKind::Host);
    let (n, m, l) = (h.param("n", Type::I32), h.param("m", Type::I32), h.param("l", Type::I32));
    let shape = |x: &Expr, y: &Expr| vec![x.clone(), y.clone()];
    let a = h.shaped("A", const_ptr(Type::F32), shape(&n, &l));
    let b = h.shaped("B", const_ptr(Type::F32), shape(&l, &m));
    let c = h.shaped("C", ptr(Type::F32), shape(&n, &m));
    let none =
        bin(BinaryOp::LogicalOr, &bin(BinaryOp::Le, &n, &i(0)), &bin(BinaryOp::Le, &m, &i(0)));
    h.push(when(&none, vec![StmtKind::Return(None)]));
    let blocks = |x: &Expr, size: &Expr| {
        let up = sub(&add(&cast(x, Type::U32), size), &u(1));
        bin(BinaryOp::Div, &up, size)
    };
    h.push(StmtKind::Launch(Launch {
        kernel,
        grid: [blocks(&m, &bx), blocks(&n, &by), u(1)],
        block: [bx.clone(), by.clone(), u(1)],
        shared: u(0),
        cluster: None,
        args: vec![n, m, l, a, b, c],
    }));
    let launcher = module.add_function(h.f);
    (module, launcher)
}

fn gemm_emit(module: &Module, launcher: FuncId) -> Emit<'_> {
    Emit {
        module,
        name: "gemm".into(),
        launcher,
        description: vec!["the function gemm of gemm.c, one thread for each element of C.".into()],
        assumptions: vec!["A, B and C do not overlap.".into()],
        verification: vec![
            "checked: the text of this file, run in the emulator, gave what the original gives at \
             n, m, l = 0, 1, 31, 32, 33, with a tolerance of 4 L u times the sum of the terms."
                .into(),
        ],
        arch: "sm_90".into(),
        spellings: vec![],
        result: None,
        workspace: None,
        host: None,
    }
}

#[test]
fn gemm_reads_as_written_by_hand() {
    let (module, launcher) = gemm_kernel();
    let emit = gemm_emit(&module, launcher);
    expect_file!["golden/gemm.cu"].assert_eq(&cuda_file(&emit).unwrap());
    expect_file!["golden/gemm.h"].assert_eq(&header_file(&emit).unwrap());
    let reference = gemm_reference();
    let test = TestProgram {
        module: &reference,
        function: FuncId(0),
        defaults: vec![("n".into(), 1024.0), ("m".into(), 1024.0), ("l".into(), 1024.0)],
        extents: vec![],
        fills: vec![],
        reordered: (vec![], false),
        independent: true,
        points: vec![vec![("n".into(), 1), ("m".into(), 33), ("l".into(), 5)]],
    };
    expect_file!["golden/gemm_test.cu"].assert_eq(&test_file(&emit, &test).unwrap());
}

/// The sum of an array, as a loop.
fn total() -> Module {
    let mut r = Fun::new("total", FunctionKind::Host);
    r.f.ret = Type::F32;
    let n = r.param("n", Type::I32);
    let x = r.shaped("x", const_ptr(Type::F32), vec![n.clone()]);
    let (sum_id, sum) = r.local("sum", Type::F32);
    let (_, at) = r.local("i", Type::I32);
    r.push(decl(sum_id, Some(&f(0.0))));
    let step = assign(&sum, &add(&sum, &elem(&x, &[&at], &[])));
    r.push(for_in(&at, &i(0), &n, LoopKind::Serial, vec![step]));
    r.push(StmtKind::Return(Some(sum)));
    Module { functions: vec![r.f], ..Module::default() }
}

/// A total: the result comes back through a pointer, and blocks leave partial sums in a workspace.
#[test]
fn a_result_and_a_workspace_are_documented_parameters() {
    let mut module = Module::default();
    let block_size = named(&mut module, "BLOCK", Value::int(Scalar::U32, 256), "");
    let mut k = Fun::new("total_partial", FunctionKind::Kernel);
    let (n, x) = (k.param("n", Type::I32), k.param("x", const_ptr(Type::F32)));
    let partial = k.param("partial", ptr(Type::F32));
    let (id0, at0) = k.local("i", Type::I32);
    k.push(decl(id0, Some(&cast(&global_index(Axis::X), Type::I32))));
    k.push(when(
        &lt(&at0, &n),
        vec![assign(&elem(&partial, &[&at0], &[]), &elem(&x, &[&at0], &[]))],
    ));
    let kernel = module.add_function(k.f);
    let mut h = Fun::new("total_launch", FunctionKind::Host);
    let n = h.param("n", Type::I32);
    let x = h.shaped("x", const_ptr(Type::F32), vec![n.clone()]);
    let _result = h.param("result", ptr(Type::F32));
    let work = h.param("workspace", ptr(Type::Void));
    let blocks = bin(BinaryOp::Div, &add(&cast(&n, Type::U32), &u(255)), &block_size);
    let partial = cast(&work, ptr(Type::F32));
    h.push(StmtKind::Launch(Launch {
        kernel,
        grid: [blocks.clone(), u(1), u(1)],
        block: [block_size, u(1), u(1)],
        shared: u(0),
        cluster: None,
        args: vec![n, x, partial],
    }));
    let launcher = module.add_function(h.f);
    let bytes = mul(&cast(&blocks, Type::U64), &Expr::int(Scalar::U64, 4));
    let emit = Emit {
        name: "total".into(),
        description: vec!["the sum of an array.".into()],
        assumptions: vec![],
        verification: vec![],
        result: Some(VarId(2)),
        workspace: Some(Workspace { param: VarId(3), bytes }),
        ..gemm_emit(&module, launcher)
    };
    expect_file!["golden/total.cu"].assert_eq(&cuda_file(&emit).unwrap());
    expect_file!["golden/total.h"].assert_eq(&header_file(&emit).unwrap());

    let reference = total();
    let test = TestProgram {
        module: &reference,
        function: FuncId(0),
        defaults: vec![],
        extents: vec![],
        fills: vec![],
        reordered: (vec![], true),
        independent: false,
        points: vec![],
    };
    expect_file!["golden/total_test.cu"].assert_eq(&test_file(&emit, &test).unwrap());
}

#[test]
fn a_launcher_must_be_a_host_function() {
    let (module, _) = gemm_kernel();
    let error = cuda_file(&gemm_emit(&module, FuncId(0))).unwrap_err();
    assert_eq!(error.to_string(), "CUDA C has no spelling for a launcher that is no host function");
    assert!(cuda_file(&gemm_emit(&module, FuncId(9))).is_err());
}
