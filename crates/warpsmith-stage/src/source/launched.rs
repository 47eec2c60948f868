//! Launches of a kernel with the numbers that host code gives them, as far as its text says these: constants, variables that are
//! set once, what they are computed from, and arguments of calls.

use std::collections::{BTreeMap, HashMap, HashSet};

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::hosts::{self, Names};
use super::scope;
use super::shape::base_name;
use super::ties::{self, References};
use super::values;

/// One launch; what the text does not say is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// The kernel, with template arguments where they are written.
    pub kernel: String,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: Option<u32>,
    /// Whole numbers that are passed, by the kernel's parameter.
    pub integers: BTreeMap<String, i64>,
}

/// Calls of calls that are followed, and variables of variables.
const MAX_NESTED: u32 = 8;

/// All launches of a kernel in host code, each once.
pub fn of_host(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Vec<Launched> {
    let base = base_name(kernel);
    let Some(function) = scope::kernel(unit, base) else { return vec![] };
    let references = ties::by_reference(unit);
    let mut all = vec![];
    hosts::each_function(unit, sources, &mut |body, names| {
        let mut found = vec![];
        walk::block(body, &mut |e| {
            let ExprKind::Launch { callee, config, args } = &*e.kind else { return };
            if base_name(sources.text(callee.span)) == base {
                let callee = names.put_in(sources.text(callee.span));
                found.push((callee, config.clone(), args.clone()));
            }
        });
        if found.is_empty() {
            return;
        }
        for parameters in called_with(unit, body, &references, 0) {
            let host = Host::new(unit, names, body, &references, parameters);
            for (callee, config, args) in &found {
                let launched = host.launched(callee, config, args, function);
                if !all.contains(&launched) {
                    all.push(launched);
                }
            }
        }
    });
    all
}

/// A number as C computes with it.
#[derive(Clone, Copy, Debug)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    fn whole(self) -> Option<i64> {
        match self {
            Number::Whole(n) => Some(n),
            Number::Real(r) => (r.abs() < 1e15).then_some(r as i64),
        }
    }

    fn real(self) -> f64 {
        match self {
            Number::Whole(n) => n as f64,
            Number::Real(r) => r,
        }
    }
}

/// A function of the host, called with known numbers.
struct Host<'a> {
    unit: &'a TranslationUnit,
    names: &'a Names,
    made: HashMap<String, Vec<Option<ast::Expr>>>,
    types: HashMap<String, ast::TypeName>,
    dims: HashMap<String, Vec<ast::Expr>>,
    fields: HashMap<String, Fields>,
    changed: HashSet<String>,
    parameters: HashMap<String, i64>,
}

/// What the fields of a structure are made from, and their types.
type Fields = HashMap<String, (ast::Expr, ast::TypeName)>;

/// The function that a body is of.
fn function_of<'a>(
    functions: &[&'a ast::FunctionDecl],
    body: &ast::Block,
) -> Option<&'a ast::FunctionDecl> {
    let own = |f: &&ast::FunctionDecl| f.body.as_ref().is_some_and(|b| b.span == body.span);
    functions.iter().copied().find(own)
}

/// Numbers that a function is called with, by parameter: once for each call, or once without any where none is found.
fn called_with(
    unit: &TranslationUnit,
    body: &ast::Block,
    references: &References<'_>,
    depth: u32,
) -> Vec<HashMap<String, i64>> {
    let functions = hosts::functions(&unit.items);
    let Some(own) =
        function_of(&functions, body).filter(|f| !f.params.is_empty() && depth < MAX_NESTED)
    else {
        return vec![HashMap::new()];
    };
    let mut all = vec![];
    for caller in functions.iter().filter_map(|f| f.body.as_ref()).filter(|b| b.span != body.span) {
        let mut calls = vec![];
        walk::block(caller, &mut |e| {
            let ExprKind::Call { callee, args } = &*e.kind else { return };
            let name = match &*callee.kind {
                ExprKind::Path(path) => path.segments.last().map(|s| &s.name),
                ExprKind::Member { member, .. } => Some(&member.name),
                _ => None,
            };
            if name.is_some_and(|n| n == hosts::name_of(own)) {
                calls.push(args.clone());
            }
        });
        if calls.is_empty() {
            continue;
        }
        let names = Names::default();
        for parameters in called_with(unit, caller, references, depth + 1) {
            let host = Host::new(unit, &names, caller, references, parameters);
            for args in &calls {
                let named = own.params.iter().zip(args);
                let known = named.filter_map(|(p, a)| Some((p.name.clone()?, host.whole(a, 0)?)));
                all.push(known.collect());
            }
        }
    }
    if all.is_empty() { vec![HashMap::new()] } else { all }
}

impl<'a> Host<'a> {
    fn new(
        unit: &'a TranslationUnit,
        names: &'a Names,
        body: &ast::Block,
        references: &References<'_>,
        mut parameters: HashMap<String, i64>,
    ) -> Host<'a> {
        let made = scope::declared(body);
        let mut changed = ties::changed_in(body, &made, references);
        changed.extend(scope::hiding(body));
        let own = function_of(&hosts::functions(&unit.items), body);
        // Constants of the file do not show through parameters that nobody knows.
        let own = own.iter().flat_map(|f| &f.params).filter_map(|p| p.name.clone());
        changed.extend(own.filter(|n| !parameters.contains_key(n)));
        parameters.retain(|name, _| !changed.contains(name) && !made.contains_key(name));
        let fields = constant_fields(unit, body, &changed);
        let types = declared_types(body);
        Host { unit, names, dims: declared_dims(body), fields, made, types, changed, parameters }
    }

    fn launched(
        &self,
        callee: &str,
        config: &[ast::Expr],
        args: &[ast::Expr],
        kernel: &ast::FunctionDecl,
    ) -> Launched {
        let array = |p: &ast::Param| matches!(&p.ty.kind, TypeKind::Pointer { .. });
        let passed = kernel.params.iter().zip(args).filter(|(p, _)| !array(p));
        let integers = passed.flat_map(|(p, a)| {
            let Some(name) = &p.name else { return vec![] };
            match ties::variable(a).and_then(|v| self.fields.get(v)) {
                Some(fields) => self.record(name, fields),
                None => self.whole(a, 0).map(|n| (name.clone(), n)).into_iter().collect(),
            }
        });
        let shared = match config.get(2) {
            Some(e) => self.whole(e, 0).and_then(|n| u32::try_from(n).ok()),
            None => Some(0),
        };
        Launched {
            kernel: callee.to_string(),
            grid: config.first().and_then(|e| self.extents(e)),
            block: config.get(1).and_then(|e| self.extents(e)),
            shared,
            integers: integers.collect(),
        }
    }

    /// The known fields of a variable that is passed as a parameter.
    fn record(&self, parameter: &str, fields: &Fields) -> Vec<(String, i64)> {
        let own = fields
            .keys()
            .filter_map(|f| Some((format!("{parameter}.{f}"), self.field(fields, f, 0)?.whole()?)));
        own.collect()
    }

    fn field(&self, fields: &Fields, name: &str, depth: u32) -> Option<Number> {
        let (value, ty) = fields.get(name)?;
        cast(self.number(value, &HashMap::new(), depth + 1)?, ty)
    }

    fn extents(&self, e: &ast::Expr) -> Option<[u32; 3]> {
        let mut all = [1; 3];
        for (own, e) in all.iter_mut().zip(&self.dims(e)?) {
            *own = u32::try_from(self.whole(e, 0)?).ok().filter(|n| *n > 0)?;
        }
        Some(all)
    }

    /// What a `dim3` or a number has along its axes.
    fn dims(&self, e: &ast::Expr) -> Option<Vec<ast::Expr>> {
        let e = scope::plain(e);
        match &*e.kind {
            ExprKind::Path(path) => {
                let Some(name) = path.as_name() else { return Some(vec![e.clone()]) };
                match self.dims.get(name) {
                    Some(_) if self.changed.contains(name) => None,
                    Some(dims) => Some(dims.clone()),
                    None => Some(vec![e.clone()]),
                }
            }
            _ => Some(dim3(e).unwrap_or_else(|| vec![e.clone()])),
        }
    }

    fn whole(&self, e: &ast::Expr, depth: u32) -> Option<i64> {
        self.number(e, &HashMap::new(), depth)?.whole()
    }

    /// The value of an expression, in which some names have values of their own.
    fn number(&self, e: &ast::Expr, own: &HashMap<String, Number>, depth: u32) -> Option<Number> {
        if depth > 4 * MAX_NESTED {
            return None;
        }
        let of = |e: &ast::Expr| self.number(e, own, depth + 1);
        match &*e.kind {
            ExprKind::Number(text) => number(text),
            ExprKind::Paren(e) => of(e),
            ExprKind::Cast { operand, ty, .. } => cast(of(operand)?, ty),
            ExprKind::Path(path) if path.segments.len() > 1 => {
                let plain = path.segments.iter().filter(|s| s.args.is_none());
                let words: Vec<&str> = plain.map(|s| s.name.as_str()).collect();
                let whole = words.len() == path.segments.len();
                let value = whole.then(|| values::value_of(self.unit, &words.join("::")))?;
                value.map(Number::Whole)
            }
            ExprKind::Path(path) => self.named(path.as_name()?, own, depth),
            ExprKind::Unary { op, operand } if op == "-" => match of(operand)? {
                Number::Whole(n) => Some(Number::Whole(n.checked_neg()?)),
                Number::Real(r) => Some(Number::Real(-r)),
            },
            ExprKind::Binary { op, left, right } => binary(op, of(left)?, of(right)?),
            ExprKind::Conditional { cond, then, otherwise } => match of(cond)?.whole()? {
                0 => of(otherwise),
                _ => of(then),
            },
            ExprKind::Member { base, arrow: false, member, .. } => {
                let ExprKind::Path(path) = &*scope::plain(base).kind else { return None };
                let name = path.as_name()?;
                if let Some(fields) = self.fields.get(name) {
                    return self.field(fields, &member.name, depth);
                }
                let axis = ["x", "y", "z"].iter().position(|a| *a == member.name)?;
                if self.changed.contains(name) {
                    return None;
                }
                match self.dims.get(name)?.get(axis) {
                    Some(e) => of(e),
                    None => Some(Number::Whole(1)),
                }
            }
            ExprKind::Call { callee, args } => {
                let args: Vec<Number> = args.iter().map(of).collect::<Option<_>>()?;
                let ExprKind::Path(path) = &*callee.kind else { return None };
                self.called(&path.segments.last()?.name, &args, depth)
            }
            _ => None,
        }
    }

    fn named(&self, name: &str, own: &HashMap<String, Number>, depth: u32) -> Option<Number> {
        if let Some(known) = own.get(name) {
            return Some(*known);
        }
        if self.changed.contains(name) {
            return None;
        }
        match (self.parameters.get(name), self.made.get(name).map(Vec::as_slice)) {
            (Some(n), _) => Some(Number::Whole(*n)),
            (None, Some([Some(init)])) => {
                cast(self.number(init, own, depth + 1)?, self.types.get(name)?)
            }
            (None, Some(_)) => None,
            (None, None) => {
                values::value_of(self.unit, &self.names.put_in(name)).map(Number::Whole)
            }
        }
    }

    /// A function of the file that only returns something, or one of those that everybody uses here.
    fn called(&self, name: &str, args: &[Number], depth: u32) -> Option<Number> {
        match (name, args) {
            ("ceil" | "ceilf", [n]) => return Some(Number::Real(n.real().ceil())),
            ("floor" | "floorf", [n]) => return Some(Number::Real(n.real().floor())),
            ("min", [a, b]) => return Some(if b.real() < a.real() { *b } else { *a }),
            ("max", [a, b]) => return Some(if b.real() > a.real() { *b } else { *a }),
            _ => {}
        }
        let functions = hosts::functions(&self.unit.items);
        let mut all = functions.iter().filter(|f| hosts::name_of(f) == name && f.body.is_some());
        let (Some(function), None) = (all.next(), all.next()) else { return None };
        let [ast::Stmt { kind: StmtKind::Return(Some(Initializer::Expr(e))), .. }] =
            function.body.as_ref()?.stmts.as_slice()
        else {
            return None;
        };
        let passed = function
            .params
            .iter()
            .zip(args)
            .map(|(p, a)| Some((p.name.clone().unwrap_or_default(), cast(*a, &p.ty)?)));
        let passed: HashMap<String, Number> = passed.collect::<Option<_>>()?;
        // Names that are no parameters are constants there.
        let inner = Host {
            unit: self.unit,
            names: self.names,
            made: HashMap::new(),
            types: HashMap::new(),
            dims: HashMap::new(),
            fields: HashMap::new(),
            changed: HashSet::new(),
            parameters: HashMap::new(),
        };
        cast(inner.number(e, &passed, depth + 1)?, function.ret.as_ref()?)
    }
}

/// What variables are declared as.
fn declared_types(body: &ast::Block) -> HashMap<String, ast::TypeName> {
    let mut all = HashMap::new();
    scope::each_vars(&body.stmts, &mut |vars| {
        all.extend(vars.declarators.iter().map(|d| (d.name.clone(), d.ty.clone())));
    });
    all
}

/// Fields of structures that a body declares constant, with numbers in braces for all of them; not of those that are `changed`: there
/// may be several of a name.
fn constant_fields(
    unit: &TranslationUnit,
    body: &ast::Block,
    changed: &HashSet<String>,
) -> HashMap<String, Fields> {
    let mut all = HashMap::new();
    scope::each_vars(&body.stmts, &mut |vars| {
        let fixed = |d: &ast::Declarator| vars.attrs.is_constexpr || d.ty.is_const;
        for d in vars.declarators.iter().filter(|d| fixed(d) && !changed.contains(&d.name)) {
            let TypeKind::Named(path) = &d.ty.kind else { continue };
            let fields = path.as_name().filter(|name| !changed.contains(*name));
            let fields = fields.and_then(|name| values::fields(unit, name));
            let (Some(fields), Some(Initializer::List(items, _))) = (fields, &d.init) else {
                continue;
            };
            let plain = |i: &ast::InitItem| match i.designator {
                None => expression(&i.value),
                Some(_) => None,
            };
            let given: Option<Vec<ast::Expr>> = items.iter().map(plain).collect();
            if let Some(given) = given.filter(|g| g.len() == fields.len()) {
                let typed = fields.into_iter().zip(given);
                let typed = typed.map(|((field, ty), value)| (field, (value, ty)));
                all.insert(d.name.clone(), typed.collect());
            }
        }
    });
    all
}

/// Variables of type `dim3` with what they are made from.
fn declared_dims(body: &ast::Block) -> HashMap<String, Vec<ast::Expr>> {
    let mut all = HashMap::new();
    scope::each_vars(&body.stmts, &mut |vars| {
        for d in vars.declarators.iter().filter(|d| is_dim3(&d.ty) || d.ty.kind == TypeKind::Auto) {
            let dims = match &d.init {
                Some(Initializer::Call(args, _)) => Some(args.clone()),
                Some(Initializer::List(items, _)) => {
                    items.iter().map(|i| expression(&i.value)).collect()
                }
                Some(Initializer::Expr(e)) => dim3(e),
                None => None,
            };
            all.extend(dims.filter(|d| d.len() <= 3).map(|dims| (d.name.clone(), dims)));
        }
    });
    all
}

/// The arguments of `dim3(…)`.
fn dim3(e: &ast::Expr) -> Option<Vec<ast::Expr>> {
    match &*e.kind {
        ExprKind::Call { callee, args } => match &*callee.kind {
            ExprKind::Path(path) if path.as_name() == Some("dim3") => Some(args.clone()),
            _ => None,
        },
        ExprKind::Construct { ty, args, .. } if is_dim3(ty) => {
            args.iter().map(expression).collect()
        }
        _ => None,
    }
}

fn is_dim3(ty: &ast::TypeName) -> bool {
    matches!(&ty.kind, TypeKind::Named(path) if path.as_name() == Some("dim3"))
}

fn expression(init: &Initializer) -> Option<ast::Expr> {
    match init {
        Initializer::Expr(e) => Some(e.clone()),
        _ => None,
    }
}

fn number(text: &str) -> Option<Number> {
    let real = || text.trim_end_matches(['f', 'F']).parse().ok().map(Number::Real);
    if values::is_octal(text) {
        return values::whole(text).map(Number::Whole);
    }
    values::whole(text).map(Number::Whole).or_else(real)
}

/// A value as another type; `None` where that does not hold it, or is no number's.
fn cast(value: Number, ty: &ast::TypeName) -> Option<Number> {
    match &ty.kind {
        TypeKind::Auto => Some(value),
        TypeKind::Builtin(words) if words.iter().any(|w| w == "float" || w == "double") => {
            Some(Number::Real(value.real()))
        }
        _ => values::held(value.whole()?, ty).map(Number::Whole),
    }
}

fn binary(op: &str, a: Number, b: Number) -> Option<Number> {
    let truth = |t: bool| Some(Number::Whole(t.into()));
    match op {
        "<" => return truth(a.real() < b.real()),
        "<=" => return truth(a.real() <= b.real()),
        ">" => return truth(a.real() > b.real()),
        ">=" => return truth(a.real() >= b.real()),
        "==" => return truth(a.real() == b.real()),
        "!=" => return truth(a.real() != b.real()),
        _ => {}
    }
    let (Number::Whole(a), Number::Whole(b)) = (a, b) else {
        let (a, b) = (a.real(), b.real());
        return Some(Number::Real(match op {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" if b != 0.0 => a / b,
            _ => return None,
        }));
    };
    let shift = u32::try_from(b).ok().filter(|n| *n < 31);
    let value = match op {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        "<<" => a.checked_mul(1 << shift?),
        ">>" => Some(a >> shift?),
        _ => None,
    };
    value.map(Number::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Compiler, Settings};

    fn of(host: &str) -> Vec<Launched> {
        let text = format!(
            "#define N 100\nconst int BX = 16;\n__global__ void f(float *a, int n, int m) {{}}\n{host}\n"
        );
        let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
        let mut sources = SourceMap::new();
        let unit = compiler.parse(&text, &[], &mut sources).expect("it is parsed");
        of_host(&unit, "f", &sources)
    }

    fn one(host: &str) -> Launched {
        let all = of(host);
        let [only] = all.as_slice() else { panic!("{all:?}") };
        only.clone()
    }

    /// What is known of a launch of `s.a` and `s.b` behind these declarations and statements.
    fn fields_of(structure: &str, set: &str) -> Launched {
        one(&format!("{structure}\nint main() {{ {set} f<<<s.a, 8>>>(0, s.a, s.b); }}"))
    }

    #[test]
    fn fields_of_constant_structures_are_numbers() {
        let sizes = [("n".to_string(), 12), ("m".to_string(), 8)].into();
        for set in ["const S s = {12, N / 12};", "constexpr S s{12, 010};"] {
            let known = fields_of("struct S { int a; short b; };", set);
            assert_eq!((known.grid, &known.integers), (Some([12, 1, 1]), &sizes), "{set}");
        }
    }

    #[test]
    fn fields_that_may_be_others_are_missing() {
        let plain = "struct S { int a, b; }; void rd(int &n) { n = 640; }";
        for (structure, set) in [
            ("struct S { int a, b; void grow() { a = 640; } };", "S s = {12, 8}; s.grow();"),
            (plain, "S s = {12, 8}; int &r = s.a; r = 640;"),
            (plain, "S s = {12, 8}; rd(s.a);"),
            (plain, "S s = {12, 8}; std::swap(s.a, s.b);"),
            (plain, "S s; s.a = 12; if (N) s = {640, 1};"),
            (plain, "S s = {12, 8}; auto f = [&] { s.a = 640; }; f();"),
            (plain, "const S s = {.a = 12, .b = 8};"),
            (plain, "const S s = {12};"),
            (plain, "struct S { int b, a; }; const S s = {12, 8};"),
            ("struct S { unsigned char a; int b; };", "const S s = {352, N * N * N * N * N};"),
            ("struct S { static const int W = 4; int a, b; };", "const S s = {12, 8};"),
            ("struct S { int a, b; S(int x, int y) : a(y), b(x) {} };", "const S s{12, 8};"),
            ("struct B { int z; }; struct S : B { int a, b; };", "const S s = {12, 8, 7};"),
            ("struct V { int x, y; }; struct S { V v; int a, b; };", "const S s = {1, 2, 12};"),
            ("struct S { int v[2], a, b; };", "const S s = {1, 2, 12, 8};"),
            (
                "namespace p { struct S { int b, a; }; } struct S { int a, b; };",
                "const S s = {1, 2};",
            ),
        ] {
            let known = fields_of(structure, set);
            assert_eq!((known.grid, known.integers), (None, BTreeMap::new()), "{structure} {set}");
        }
    }

    #[test]
    fn names_of_types_and_lambdas_hide_constants() {
        for host in [
            "int main() { auto run = [](int BX) { f<<<BX, 8>>>(0, 1, 1); }; run(3); }",
            "int main() { enum { BX = 3 }; f<<<BX, 8>>>(0, 1, 1); }",
            "int main() { for (int BX : {1, 2}) f<<<BX, 8>>>(0, 1, 1); }",
            "struct P { int y, x; };\nint main() { P p = {3, 4}; f<<<p.x, 8>>>(0, 1, 1); }",
            "int main() { dim3 p(3); int &r = p.x; r = 4; f<<<p, 8>>>(0, 1, 1); }",
        ] {
            assert!(of(host).iter().all(|l| l.grid.is_none()), "{host}: {:?}", of(host));
        }
    }

    #[test]
    fn numbers_of_host_code_are_worked_out() {
        let sizes = |n, m| [("n".to_string(), n), ("m".to_string(), m)].into();
        let known = |grid, block| (Some(grid), Some(block));
        let Launched { grid, block, integers, .. } = one(
            "int up(int a, int b) { return (a + b - 1) / b; }
int main() { int n = N * 2; dim3 block(BX, 8); dim3 grid(up(n, block.x), (N + block.y - 1) / block.y);
    f<<<grid, block>>>(0, n, 1 << 4); }",
        );
        assert_eq!((grid, block), known([13, 13, 1], [16, 8, 1]));
        assert_eq!(integers, sizes(200, 16));
        let Launched { grid, block, .. } =
            one("int main() { f<<<(int)ceil((float)N / 32), BX * 2>>>(0, N, 1); }");
        assert_eq!((grid, block), known([4, 1, 1], [32, 1, 1]));
    }

    #[test]
    fn functions_are_followed_to_their_calls() {
        let host = "void run(float *a, int n) { f<<<n / BX, BX>>>(a, n, n - 1); }
int main() { run(0, 64); run(0, 4 * 64); }";
        let grids: Vec<_> = of(host).into_iter().map(|l| l.grid).collect();
        assert_eq!(grids, [Some([4, 1, 1]), Some([16, 1, 1])]);
    }

    #[test]
    fn what_the_text_does_not_say_is_missing() {
        let Launched { grid, block, integers, .. } =
            one("int main(int argc, char **argv) { int n = atoi(argv[1]);
    int m = 3; m++; dim3 block(8); block.y = 4; f<<<n / 8, block>>>(0, n, m); }");
        assert_eq!((grid, block, integers), (None, None, BTreeMap::new()));
    }
}
