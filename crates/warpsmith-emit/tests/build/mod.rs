//! Short spellings for building IR in tests.
#![allow(dead_code)]

use std::sync::Arc;

use warpsmith_ir::*;

pub fn o() -> Origin {
    Origin::default()
}

pub fn ptr(pointee: Type) -> Type {
    Type::pointer(pointee, Space::Global)
}

pub fn const_ptr(pointee: Type) -> Type {
    Type::Pointer {
        pointee: Arc::new(pointee),
        space: Space::Global,
        volatile: false,
        readonly: true,
    }
}

/// A function under construction.
pub struct Fun {
    pub f: Function,
}

impl Fun {
    pub fn new(name: &str, kind: FunctionKind) -> Fun {
        Fun { f: Function::new(name, kind) }
    }

    pub fn param(&mut self, name: &str, ty: Type) -> Expr {
        let mut v = Var::new(name, ty.clone(), VarKind::Param);
        v.restrict = ty.is_pointer();
        Expr::var(self.f.add_param(v), ty)
    }

    pub fn shaped(&mut self, name: &str, ty: Type, shape: Vec<Expr>) -> Expr {
        let e = self.param(name, ty);
        let id = *self.f.params.last().unwrap();
        self.f.vars[id.0 as usize].shape = Some(shape);
        e
    }

    pub fn local(&mut self, name: &str, ty: Type) -> (VarId, Expr) {
        self.var(name, ty, VarKind::Local)
    }

    pub fn var(&mut self, name: &str, ty: Type, kind: VarKind) -> (VarId, Expr) {
        let id = self.f.add_var(Var::new(name, ty.clone(), kind));
        (id, Expr::var(id, ty))
    }

    pub fn push(&mut self, kind: StmtKind) -> &mut Stmt {
        self.f.body.stmts.push(Stmt::new(kind, o()));
        self.f.body.stmts.last_mut().unwrap()
    }

    /// The text of a module with this function alone, without its last newline.
    pub fn print(self) -> String {
        let module = Module { functions: vec![self.f], ..Module::default() };
        print(&module).trim_end().to_string()
    }
}

/// A kernel with one `int` and one `float` array, for tests of single expressions and statements.
pub fn kernel() -> Fun {
    Fun::new("k", FunctionKind::Kernel)
}

pub fn id(e: &Expr) -> VarId {
    match &*e.kind {
        ExprKind::Read(p) => p.root_var().unwrap(),
        _ => panic!("not a variable"),
    }
}

pub fn place(e: &Expr) -> Place {
    match &*e.kind {
        ExprKind::Read(p) => p.clone(),
        _ => panic!("not a place"),
    }
}

pub fn bin(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr::binary(op, a.clone(), b.clone())
}

pub fn add(a: &Expr, b: &Expr) -> Expr {
    bin(BinaryOp::Add, a, b)
}

pub fn sub(a: &Expr, b: &Expr) -> Expr {
    bin(BinaryOp::Sub, a, b)
}

pub fn mul(a: &Expr, b: &Expr) -> Expr {
    bin(BinaryOp::Mul, a, b)
}

pub fn lt(a: &Expr, b: &Expr) -> Expr {
    bin(BinaryOp::Lt, a, b)
}

pub fn not(a: &Expr) -> Expr {
    Expr::new(ExprKind::Unary(UnaryOp::Not, a.clone()), Type::BOOL, o())
}

pub fn neg(a: &Expr) -> Expr {
    Expr::new(ExprKind::Unary(UnaryOp::Neg, a.clone()), a.ty.clone(), o())
}

pub fn i(v: i32) -> Expr {
    Expr::i32(v)
}

pub fn u(v: i64) -> Expr {
    Expr::int(Scalar::U32, v)
}

pub fn f(v: f64) -> Expr {
    Expr::constant(Value::float(Scalar::F32, v))
}

pub fn cast(a: &Expr, ty: Type) -> Expr {
    Expr::new(ExprKind::Cast(a.clone()), ty, o())
}

pub fn call(f: MathFn, args: &[&Expr], ty: Type) -> Expr {
    Expr::new(ExprKind::Call(f, args.iter().map(|e| (*e).clone()).collect()), ty, o())
}

pub fn elem(pointer: &Expr, index: &[&Expr], dims: &[&Expr]) -> Expr {
    let ty = pointer.ty.pointee().unwrap().clone();
    let own = |list: &[&Expr]| list.iter().map(|e| (*e).clone()).collect();
    let kind = PlaceKind::Elem { pointer: pointer.clone(), index: own(index), dims: own(dims) };
    Expr::read(Place::new(kind, ty, o()))
}

pub fn at(array: &Expr, index: &Expr) -> Expr {
    let Type::Array(element, _) = &array.ty else { panic!("not an array") };
    let kind = PlaceKind::Index(place(array), index.clone());
    Expr::read(Place::new(kind, (**element).clone(), o()))
}

pub fn deref(pointer: &Expr) -> Expr {
    let ty = pointer.ty.pointee().unwrap().clone();
    Expr::read(Place::new(PlaceKind::Deref(pointer.clone()), ty, o()))
}

pub fn address(e: &Expr) -> Expr {
    Expr::new(ExprKind::AddressOf(place(e)), Type::pointer(e.ty.clone(), Space::Generic), o())
}

pub fn assign(to: &Expr, value: &Expr) -> StmtKind {
    StmtKind::Assign { place: place(to), value: value.clone() }
}

pub fn decl(var: VarId, init: Option<&Expr>) -> StmtKind {
    StmtKind::Decl { var, init: init.cloned() }
}

pub fn block(kinds: Vec<StmtKind>) -> Block {
    Block::new(kinds.into_iter().map(|k| Stmt::new(k, o())).collect())
}

pub fn for_in(
    var: &Expr,
    first: &Expr,
    limit: &Expr,
    kind: LoopKind,
    body: Vec<StmtKind>,
) -> StmtKind {
    StmtKind::For(ForLoop {
        id: LoopId(0),
        var: id(var),
        declares: true,
        first: first.clone(),
        compare: BinaryOp::Lt,
        limit: limit.clone(),
        step: Expr::int(first.ty.scalar().unwrap(), 1),
        kind,
        body: block(body),
    })
}

pub fn when(cond: &Expr, then: Vec<StmtKind>) -> StmtKind {
    StmtKind::If { cond: cond.clone(), then: block(then), otherwise: Block::default() }
}

pub fn global_index(a: Axis) -> Expr {
    let b = Expr::builtin;
    add(&mul(&b(Builtin::BlockIdx(a)), &b(Builtin::BlockDim(a))), &b(Builtin::ThreadIdx(a)))
}

pub fn named(module: &mut Module, name: &str, value: Value, comment: &str) -> Expr {
    module.constants.push(NamedConst { name: name.into(), value, comment: comment.into() });
    let id = ConstId(module.constants.len() as u32 - 1);
    Expr::new(ExprKind::Named(id), Type::Scalar(value.ty), o())
}

/// The text of a module. With `WARPSMITH_EMITTED=DIR` it is left there for a CUDA compiler as well.
pub fn print(module: &Module) -> String {
    let text = warpsmith_emit::module_file(module).unwrap();
    keep("sm_90", &text);
    text
}

/// Leaves emitted text for the compiler, under a name that tells the oldest architecture it is for.
pub fn keep(arch: &str, text: &str) {
    if let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") {
        let mut hash = std::collections::hash_map::DefaultHasher::new();
        std::hash::Hash::hash(text, &mut hash);
        let name = format!("{arch}-{:016x}.cu", std::hash::Hasher::finish(&hash));
        std::fs::write(std::path::Path::new(&dir).join(name), text).unwrap();
    }
}
