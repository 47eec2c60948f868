//! What host code computes for a launch: the numbers between `<<<` and `>>>`, worked out from the text without running it.
//!
//! Names are followed to their only value in the function around the launch, to constants of the file and to functions
//! that return one expression. What is not understood has no value; nothing is guessed.

use std::collections::{BTreeMap, HashMap};

use warpsmith_front::ast::{
    Block, Declarator, Expr, ExprKind, Initializer, Item, ItemKind, StmtKind, TranslationUnit,
};
use warpsmith_front::sema::walk;

use super::host_text::{
    Num, as_type, constant, each_declarator, function, init_expr, is_dim3, is_sum, list,
    names_dim3, number_text, path_name, plain, single, size_of,
};

/// Calls and names followed inside each other.
const MAX_DEPTH: u32 = 32;

/// A launch in the text.
#[derive(Clone, Debug)]
pub struct HostLaunch {
    /// The body of the function that it stands in.
    body: Block,
    config: Vec<Expr>,
    args: Vec<Expr>,
}

/// The launches of a kernel, by its name without template arguments.
pub fn launches(unit: &TranslationUnit, kernel: &str) -> Vec<HostLaunch> {
    let mut found = vec![];
    each_host_body(&unit.items, &mut |body| {
        walk::block(body, &mut |e| {
            if let ExprKind::Launch { callee, config, args } = &*e.kind
                && path_name(callee) == Some(kernel)
            {
                found.push(HostLaunch::of(body, config, args));
            }
        });
    });
    found
}

fn each_host_body(items: &[Item], see: &mut dyn FnMut(&Block)) {
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if !f.attrs.global => f.body.iter().for_each(&mut *see),
            ItemKind::Namespace { items, .. } | ItemKind::File(items) => each_host_body(items, see),
            _ => {}
        }
    }
}

/// Grid, block and bytes of dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub grid: [i128; 3],
    pub block: [i128; 3],
    pub shared: i128,
    /// A division of a plain size left a rest: the host code is written for other sizes.
    pub cut: bool,
}

impl HostLaunch {
    pub fn of(body: &Block, config: &[Expr], args: &[Expr]) -> HostLaunch {
        HostLaunch { body: body.clone(), config: config.to_vec(), args: args.to_vec() }
    }

    pub fn body(&self) -> &Block {
        &self.body
    }

    pub fn args(&self) -> &[Expr] {
        &self.args
    }

    /// What the host code launches when the kernel's parameters (in order) have these values; `None` stands for arrays.
    /// `more` are sizes of the host function by their names.
    pub fn numbers(
        &self,
        unit: &TranslationUnit,
        values: &[Option<i64>],
        more: &BTreeMap<String, i64>,
    ) -> Option<Numbers> {
        let mut reader = self.reader(unit, more);
        for (arg, value) in self.args.iter().zip(values) {
            if let (Some(name), Some(value)) = (path_name(plain(arg)), value) {
                reader.known.insert(name.to_string(), i128::from(*value));
            }
        }
        let grid = reader.dims(self.config.first()?)?;
        let block = reader.dims(self.config.get(1)?)?;
        let shared = match self.config.get(2) {
            Some(bytes) => reader.number(bytes)?.whole(),
            None => 0,
        };
        Some(Numbers { grid, block, shared, cut: reader.cut })
    }

    /// Fields of the kernel's parameters, `im.w`, by the names that the host has for the structures.
    pub fn fields(&self, params: &[&str], own: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
        let mut fields = BTreeMap::new();
        for (arg, param) in self.args.iter().zip(params) {
            let Some(name) = path_name(plain(arg)) else { continue };
            for (field, value) in own {
                let rest = field.strip_prefix(param).and_then(|f| f.strip_prefix('.'));
                fields.extend(rest.map(|rest| (format!("{name}.{rest}"), *value)));
            }
        }
        fields
    }

    /// The number that is passed for a parameter, as a whole one and as a real.
    pub fn number(
        &self,
        unit: &TranslationUnit,
        known: &BTreeMap<String, i64>,
        at: usize,
    ) -> Option<(i128, f64)> {
        let value = self.reader(unit, known).number(self.args.get(at)?)?;
        Some((value.whole(), value.real()))
    }

    fn reader<'a>(
        &'a self,
        unit: &'a TranslationUnit,
        known: &BTreeMap<String, i64>,
    ) -> Reader<'a> {
        let known = known.iter().map(|(n, v)| (n.clone(), i128::from(*v))).collect();
        Reader { unit, body: &self.body, known, depth: 0, cut: false }
    }
}

struct Reader<'a> {
    unit: &'a TranslationUnit,
    body: &'a Block,
    known: HashMap<String, i128>,
    depth: u32,
    cut: bool,
}

impl Reader<'_> {
    /// A `dim3`, or a number that stands for one.
    fn dims(&mut self, e: &Expr) -> Option<[i128; 3]> {
        let e = plain(e);
        match &*e.kind {
            ExprKind::Construct { args, .. } if is_dim3(e) => {
                let args: Vec<&Expr> = args.iter().map(init_expr).collect::<Option<_>>()?;
                self.extents(&args)
            }
            ExprKind::Call { callee, args } if path_name(callee) == Some("dim3") => {
                self.extents(&args.iter().collect::<Vec<_>>())
            }
            ExprKind::InitList(items) => self.extents(&list(items)?),
            ExprKind::Conditional { cond, then, otherwise } => {
                match self.number(cond)?.whole() != 0 {
                    true => self.dims(then),
                    false => self.dims(otherwise),
                }
            }
            ExprKind::Path(_) => {
                let name = path_name(e)?;
                let found = (!self.known.contains_key(name)).then(|| self.declared(name)).flatten();
                match found {
                    Some(d) if names_dim3(&d.ty) => self.declared_dims(&d),
                    _ => Some([self.number(e)?.whole(), 1, 1]),
                }
            }
            _ => Some([self.number(e)?.whole(), 1, 1]),
        }
    }

    fn declared_dims(&mut self, d: &Declarator) -> Option<[i128; 3]> {
        if self.changed(&d.name) {
            return None;
        }
        match d.init.as_ref()? {
            Initializer::Call(args, _) => self.extents(&args.iter().collect::<Vec<_>>()),
            Initializer::List(items, _) => self.extents(&list(items)?),
            Initializer::Expr(e) => self.deeper(|r| r.dims(e)),
        }
    }

    fn extents(&mut self, parts: &[&Expr]) -> Option<[i128; 3]> {
        let mut dims = [1; 3];
        if let [only] = parts
            && is_dim3(plain(only))
        {
            return self.dims(only);
        }
        for (dim, part) in dims.iter_mut().zip(parts) {
            *dim = self.number(part)?.whole();
        }
        (parts.len() <= 3).then_some(dims)
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    fn number(&mut self, e: &Expr) -> Option<Num> {
        self.deeper(|r| r.number_of(e))
    }

    fn number_of(&mut self, e: &Expr) -> Option<Num> {
        match &*e.kind {
            ExprKind::Number(text) => number_text(text),
            ExprKind::Bool(b) => Some(Num::Whole((*b).into())),
            ExprKind::Paren(inner) => self.number(inner),
            ExprKind::Path(_) => self.named(path_name(e)?),
            ExprKind::Unary { op, operand } => {
                let x = self.number(operand)?;
                match (op.as_str(), x) {
                    ("+", x) => Some(x),
                    ("-", Num::Whole(n)) => Some(Num::Whole(-n)),
                    ("-", Num::Real(x)) => Some(Num::Real(-x)),
                    ("!", x) => Some(Num::Whole((x.real() == 0.0).into())),
                    _ => None,
                }
            }
            ExprKind::Binary { op, left, right } => self.binary(op, left, right),
            ExprKind::Conditional { cond, then, otherwise } => {
                match self.number(cond)?.real() != 0.0 {
                    true => self.number(then),
                    false => self.number(otherwise),
                }
            }
            ExprKind::Cast { ty, operand, .. } => Some(as_type(ty, self.number(operand)?)),
            ExprKind::Construct { ty, args, .. } if !is_dim3(e) => match args.as_slice() {
                [one] => Some(as_type(ty, self.number(init_expr(one)?)?)),
                _ => None,
            },
            // A field of a structure that is passed by value.
            ExprKind::Member { base, member, .. } if self.field(base, &member.name).is_some() => {
                self.field(base, &member.name)
            }
            ExprKind::Member { base, member, .. } => {
                let axis = ["x", "y", "z"].iter().position(|a| *a == member.name)?;
                Some(Num::Whole(self.dims(base)?[axis]))
            }
            ExprKind::SizeofType(ty) => size_of(ty).map(Num::Whole),
            ExprKind::Call { callee, args } => self.call(callee, args),
            _ => None,
        }
    }

    fn binary(&mut self, op: &str, left: &Expr, right: &Expr) -> Option<Num> {
        let (a, b) = (self.number(left)?, self.number(right)?);
        let truth = |b: bool| Some(Num::Whole(b.into()));
        let (x, y) = (a.real(), b.real());
        match op {
            "<" => return truth(x < y),
            "<=" => return truth(x <= y),
            ">" => return truth(x > y),
            ">=" => return truth(x >= y),
            "==" => return truth(x == y),
            "!=" => return truth(x != y),
            "&&" => return truth(x != 0.0 && y != 0.0),
            "||" => return truth(x != 0.0 || y != 0.0),
            _ => {}
        }
        let (Num::Whole(a), Num::Whole(b)) = (a, b) else {
            return Some(Num::Real(match op {
                "+" => x + y,
                "-" => x - y,
                "*" => x * y,
                "/" => x / y,
                _ => return None,
            }));
        };
        let value = match op {
            "+" => a.checked_add(b)?,
            "-" => a.checked_sub(b)?,
            "*" => a.checked_mul(b)?,
            "/" => {
                // `(n + 255) / 256` rounds up and is meant to; `N / 256` of a constant has no blocks for a rest, which
                // it has not. A caller may pass any size.
                self.cut |= !is_sum(left) && b != 0 && a % b != 0 && self.is_constant(left, 0);
                a.checked_div(b)?
            }
            "%" => a.checked_rem(b)?,
            "<<" => a.checked_mul(1i128 << u32::try_from(b).ok().filter(|b| *b < 64)?)?,
            ">>" => a >> u32::try_from(b).ok().filter(|b| *b < 64)?,
            "&" => a & b,
            "|" => a | b,
            "^" => a ^ b,
            _ => return None,
        };
        Some(Num::Whole(value))
    }

    /// Whether an expression is made of numbers, constants and variables of the function, none of its parameters.
    fn is_constant(&self, e: &Expr, depth: u32) -> bool {
        let mut constant = depth < MAX_DEPTH;
        walk::expr(e, &mut |e| {
            if let Some(name) = path_name(e).filter(|_| matches!(&*e.kind, ExprKind::Path(_))) {
                let own = match self.declared(name) {
                    None => self::constant(&self.unit.items, name).is_some(),
                    Some(d) => {
                        let init = d.init.as_ref();
                        let value = init.and_then(|i| init_expr(i).or_else(|| single(i)));
                        depth < MAX_DEPTH && value.is_some_and(|e| self.is_constant(e, depth + 1))
                    }
                };
                constant &= own;
            }
        });
        constant
    }

    fn field(&self, base: &Expr, member: &str) -> Option<Num> {
        let key = format!("{}.{member}", path_name(plain(base))?);
        self.known.get(&key).map(|n| Num::Whole(*n))
    }

    fn named(&mut self, name: &str) -> Option<Num> {
        if let Some(value) = self.known.get(name) {
            return Some(Num::Whole(*value));
        }
        if let Some(d) = self.declared(name) {
            let changes = self.assigned(name);
            return match (d.init.as_ref(), changes.as_slice()) {
                (Some(init), []) => {
                    let e = init_expr(init).or_else(|| single(init))?.clone();
                    Some(as_type(&d.ty, self.number(&e)?))
                }
                (None, [Some(only)]) => Some(as_type(&d.ty, self.number(only)?)),
                _ => None,
            };
        }
        constant(&self.unit.items, name).and_then(|(ty, e)| {
            let value = self.number(&e)?;
            Some(ty.map_or(value, |ty| as_type(&ty, value)))
        })
    }

    /// The declaration of a variable of the function.
    fn declared(&self, name: &str) -> Option<Declarator> {
        let mut found = None;
        each_declarator(self.body, &mut |d| {
            if d.name == name && found.is_none() {
                found = Some(d.clone());
            }
        });
        found
    }

    /// Whether a variable or a part of it gets another value.
    fn changed(&self, name: &str) -> bool {
        let mut changed = false;
        walk::block(self.body, &mut |e| {
            let target = match &*e.kind {
                ExprKind::Assign { target, .. } | ExprKind::AssignList { target, .. } => target,
                ExprKind::IncDec { operand, .. } => operand,
                _ => return,
            };
            let base = match &*plain(target).kind {
                ExprKind::Member { base, .. } => plain(base),
                _ => plain(target),
            };
            changed |= path_name(base) == Some(name);
        });
        changed
    }

    /// The values that a variable is given after its declaration; `None` for one that is not plain.
    fn assigned(&self, name: &str) -> Vec<Option<Expr>> {
        let mut values = vec![];
        walk::block(self.body, &mut |e| match &*e.kind {
            ExprKind::Assign { op, target, value } if path_name(plain(target)) == Some(name) => {
                values.push((op == "=").then(|| value.clone()));
            }
            ExprKind::IncDec { operand, .. } if path_name(plain(operand)) == Some(name) => {
                values.push(None);
            }
            _ => {}
        });
        values
    }

    fn call(&mut self, callee: &Expr, args: &[Expr]) -> Option<Num> {
        let name = path_name(callee)?;
        let values: Vec<Num> = args.iter().map(|a| self.number(a)).collect::<Option<_>>()?;
        match (name, values.as_slice()) {
            ("min", [a, b]) => return Some(if b.real() < a.real() { *b } else { *a }),
            ("max", [a, b]) => return Some(if b.real() > a.real() { *b } else { *a }),
            ("ceil" | "ceilf", [a]) => return Some(Num::Real(a.real().ceil())),
            ("floor" | "floorf", [a]) => return Some(Num::Real(a.real().floor())),
            _ => {}
        }
        let f = function(&self.unit.items, name)?;
        let [only] = f.body.as_ref()?.stmts.as_slice() else { return None };
        let StmtKind::Return(Some(Initializer::Expr(result))) = &only.kind else { return None };
        let names = f.params.iter().map(|p| p.name.clone());
        let inner: HashMap<String, i128> =
            names.zip(&values).filter_map(|(n, v)| Some((n?, v.whole()))).collect();
        if inner.len() != values.len() || values.iter().any(|v| matches!(v, Num::Real(_))) {
            return None;
        }
        let body = Block::default();
        let mut reader =
            Reader { unit: self.unit, body: &body, known: inner, depth: self.depth, cut: false };
        let value = reader.number(result)?;
        self.cut |= reader.cut;
        Some(f.ret.as_ref().map_or(value, |ty| as_type(ty, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
    use warpsmith_ir::SourceMap;

    fn numbers(host: &str, values: &[Option<i64>]) -> Option<Numbers> {
        let text = format!("__global__ void k(float *x, int n, int m) {{}}\n{host}");
        let options = ParseOptions::new(Language::Cuda);
        let mut sources = SourceMap::new();
        let parsed = parse::parse("t.cu", text.as_bytes(), &options, &DiskLoader, &mut sources);
        let unit = parsed.expect("it is parsed").unit;
        launches(&unit, "k").first()?.numbers(&unit, values, &BTreeMap::new())
    }

    const SIZES: [Option<i64>; 3] = [None, Some(1000), Some(37)];

    #[test]
    fn launches_as_people_write_them() {
        let host = "#define BLOCK 256\nstatic int cdiv(int a, int b) { return (a + b - 1) / b; }
void run(float *d, int rows, int cols) {
    dim3 block(32, BLOCK / 32);
    const dim3 grid = dim3(cdiv(cols, block.x), (rows + block.y - 1) / block.y);
    size_t bytes = block.x * (block.y + 1) * sizeof(float);
    k<<<grid, block, bytes>>>(d, rows, cols);
}";
        let n = numbers(host, &SIZES).unwrap();
        assert_eq!((n.grid, n.block, n.shared), ([2, 125, 1], [32, 8, 1], 32 * 9 * 4));
        assert!(!n.cut);
    }

    #[test]
    fn whole_blocks_are_written_for_multiples() {
        let host = "int main() { float *d; const int N = 4096; int grid = N / 256; k<<<grid, 256>>>(d, N, 1); }";
        assert!(numbers(host, &SIZES).unwrap().cut);
        let n = numbers(host, &[None, Some(512), Some(1)]).unwrap();
        assert_eq!((n.grid[0], n.cut), (2, false));
    }

    #[test]
    fn callers_pass_any_size() {
        let host = "void run(float *d, int n) { int grid = n / 256; k<<<grid, 256>>>(d, n, 1); }";
        assert!(!numbers(host, &SIZES).unwrap().cut);
    }

    #[test]
    fn reals_and_choices() {
        let host = "enum { T = 64 };\nvoid run(float *d, int n) { int b = n < 64 ? n : T; k<<<(int)ceil(n / 64.0), b>>>(d, n, 0); }";
        let n = numbers(host, &SIZES).unwrap();
        assert_eq!((n.grid[0], n.block[0]), (16, 64));
    }

    #[test]
    fn what_changes_has_no_value() {
        let host = "void run(float *d, int n) { int g = 1; while (g * 64 < n) g *= 2; k<<<g, 64>>>(d, n, 0); }";
        assert_eq!(numbers(host, &SIZES), None);
        let host = "void run(float *d, int n) { dim3 g(1); g.x = n; k<<<g, 64>>>(d, n, 0); }";
        assert_eq!(numbers(host, &SIZES), None);
    }
}
