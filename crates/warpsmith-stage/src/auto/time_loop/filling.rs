//! What host code fills the arrays of a time loop with.

use std::collections::HashMap;

use warpsmith_front::ast::{self, Initializer, StmtKind};
use warpsmith_ir::{SourceMap, Span};

use crate::auto::outer;
use crate::source::marks::Bytes;
use crate::source::scope;

/// What an array was filled with last.
#[derive(Clone, Debug)]
struct Filled {
    from: String,
    bytes: String,
    at: Span,
}

/// What the host code fills two arrays with, call by call.
#[derive(Default)]
pub(super) struct Filling {
    /// What pointers are declared as.
    values: HashMap<String, String>,
    /// What the two were declared from.
    pub arrays: [String; 2],
    sizes: [Option<String>; 2],
    filled: [Option<Filled>; 2],
}

impl Filling {
    /// Of two arrays, before any call is looked at.
    pub fn of(stmts: &[ast::Stmt], sources: &SourceMap, arrays: [&String; 2]) -> Filling {
        let mut filling = Filling::default();
        pointers(stmts, sources, &mut filling.values);
        filling.arrays = arrays.map(|a| filling.root(a));
        filling
    }

    /// The name that a pointer was declared from.
    fn root(&self, name: &str) -> String {
        let mut name = name.trim().to_string();
        for _ in 0..4 {
            match self.values.get(&name) {
                Some(value) => name = value.clone(),
                None => break,
            }
        }
        name
    }

    /// Takes down what a call does to them; a `certain` one is made whenever the function runs.
    pub fn call(&mut self, name: &str, args: &[String], at: Span, certain: bool) {
        for k in 0..2 {
            let array = self.arrays[k].clone();
            let named = |t: &String| scope::names(t).iter().any(|n| self.root(n) == array);
            let filled = match (name, args) {
                ("cudaMalloc", [a, n]) if named(a) => {
                    self.sizes[k] = Some(n.clone()).filter(|_| certain);
                    None
                }
                ("cudaMemcpy", [a, from, bytes, _]) if self.root(a) == array => {
                    Some(Filled { from: self.root(from), bytes: bytes.clone(), at })
                }
                ("cudaMemset", [a, value, bytes]) if self.root(a) == array => {
                    Some(Filled { from: format!("set {value}"), bytes: bytes.clone(), at })
                }
                ("cudaMemcpy", [_, from, ..]) if self.root(from) == array => continue,
                ("cudaFree", _) => continue,
                _ if args.iter().any(named) => None,
                _ => continue,
            };
            self.filled[k] = filled.filter(|_| certain);
            // A copy of what it held is a copy no longer.
            let other = &mut self.filled[1 - k];
            if other.as_ref().is_some_and(|o| o.from == array) {
                *other = None;
            }
        }
    }

    /// Whether both hold the same: what of the host they were filled from, and the text between the two copies.
    pub fn same(&self) -> Option<(Option<String>, Bytes)> {
        let [Some(size), Some(other)] = &self.sizes else { return None };
        let whole = |f: &Filled| f.bytes == *size && size == other;
        for (k, filled) in self.filled.iter().enumerate() {
            if let Some(f) = filled
                && f.from == self.arrays[1 - k]
                && whole(f)
            {
                return Some((None, 0..0));
            }
        }
        let [Some(a), Some(b)] = &self.filled else { return None };
        let between = a.at.end.min(b.at.end) as usize..a.at.start.max(b.at.start) as usize;
        (a.from == b.from && whole(a) && whole(b)).then(|| (Some(a.from.clone()), between))
    }
}

/// Pointers that are declared as other pointers: `float *from = a;`.
fn pointers(stmts: &[ast::Stmt], sources: &SourceMap, values: &mut HashMap<String, String>) {
    for s in stmts {
        match &s.kind {
            StmtKind::Vars(vars) => {
                for d in &vars.declarators {
                    if let Some(Initializer::Expr(e)) = &d.init
                        && outer::name(e).is_some()
                    {
                        values.insert(d.name.clone(), sources.text(e.span).trim().to_string());
                    }
                }
            }
            StmtKind::Block(b) => pointers(&b.stmts, sources, values),
            _ => {}
        }
    }
}
