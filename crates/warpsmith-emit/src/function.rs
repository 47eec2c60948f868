//! Whole functions, and the launches in them.

use warpsmith_ir::{
    Block, Expr, Function, FunctionKind, Launch, Stmt, StmtKind, Type, VarId, VarKind,
};

use crate::context::{Context, Printer, Target};
use crate::doc::{Doc, INDENT, Out, WIDTH, cat, list, text};
use crate::error::{EmitError, Result};
use crate::names::is_shared_of_file;
use crate::stmt::out_line;
use crate::types::{self, Qualifiers, declare};
use crate::walk;

/// More dynamic shared memory than this a kernel gets only if it asks.
const DEFAULT_SHARED_LIMIT: u64 = 48 * 1024;

impl<'a> Printer<'a> {
    /// The parameters as declarations.
    pub fn parameters(&self, restrict: bool) -> Result<Vec<Doc>> {
        let mut docs = vec![];
        for &id in &self.function.params {
            let Some(v) = self.var(id) else {
                return Err(EmitError::new("an unknown parameter", &self.function.origin));
            };
            let q = Qualifiers {
                constant: false,
                restrict: restrict && v.restrict,
                reference: v.reference,
                spelled: self.spelled.get(&id).copied(),
            };
            docs.push(text(declare(&v.ty, self.name(id), q, self.cx.names)?));
        }
        docs.extend(self.hooks.iter().map(|h| text(format!("Iterations &{}", h.name))));
        Ok(docs)
    }

    /// Return type, attributes, name and parameters.
    pub fn head(&self) -> Result<Doc> {
        let f = self.function;
        let ret = types::spell(&f.ret, self.cx.names)?;
        let name = self.cx.names.function(self.id);
        let start = match (f.kind, self.target) {
            (FunctionKind::Kernel, _) => {
                let bounds = f.launch_bounds.map_or(String::new(), |b| match b.min_blocks {
                    Some(n) => format!(" __launch_bounds__({}, {n})", b.max_threads),
                    None => format!(" __launch_bounds__({})", b.max_threads),
                });
                format!("__global__ void{bounds}")
            }
            (FunctionKind::Device, Target::Device) => format!("__device__ {ret}"),
            (FunctionKind::Device | FunctionKind::Host, _) if self.cx.called.contains(&self.id) => {
                format!("static {ret}")
            }
            (FunctionKind::Device | FunctionKind::Host, _) => ret,
        };
        let glue = if start.ends_with('*') { "" } else { " " };
        Ok(list(&format!("{start}{glue}{name}("), self.parameters(true)?, ")"))
    }

    pub fn definition(&self, out: &mut Out) -> Result<()> {
        self.function.vars.iter().for_each(|v| self.cx.include_type(&v.ty));
        out.doc(&cat([self.head()?, text(" {")]));
        self.body(out)?;
        out_line(out, "}")
    }

    /// The statements, after declarations of what no statement declares.
    pub fn body(&self, out: &mut Out) -> Result<()> {
        let missing = self.undeclared();
        let body = trimmed(&self.function.body);
        let stmts: Vec<&Stmt> = missing.iter().chain(body).collect();
        out.depth += 1;
        let result = self.statements(out, &stmts);
        out.depth -= 1;
        result
    }

    fn undeclared(&self) -> Vec<Stmt> {
        let ids = (0..self.function.vars.len()).map(|i| VarId(i as u32));
        let missing = ids.filter(|id| {
            let u = self.use_of(*id);
            let elsewhere =
                self.var(*id).is_some_and(|v| v.kind == VarKind::Param || is_shared_of_file(v));
            !elsewhere && !u.declared && u.mentioned()
        });
        let origin = &self.function.origin;
        missing.map(|var| Stmt::new(StmtKind::Decl { var, init: None }, origin.clone())).collect()
    }

    /// `kernel<<<grid, block, shared, stream>>>(args);`
    pub fn launch(&self, out: &mut Out, l: &Launch, s: &Stmt) -> Result<()> {
        let kernel = self.cx.module.functions.get(l.kernel.0 as usize);
        let kernel = kernel.filter(|k| k.kind == FunctionKind::Kernel);
        let kernel =
            kernel.ok_or_else(|| EmitError::new("the launch of what is no kernel", &s.origin))?;
        self.launched.set(true);
        let name = self.cx.names.function(l.kernel).to_string();
        let shared = self.implicit(&l.shared)?.doc;
        if l.shared.as_const().is_none_or(|v| v.bits > DEFAULT_SHARED_LIMIT) {
            let attribute = text("cudaFuncAttributeMaxDynamicSharedMemorySize");
            let args = vec![text(name.clone()), attribute, shared.clone()];
            out.doc(&list("cudaFuncSetAttribute(", args, ");"));
        }
        let args = self.launch_args(l, kernel)?;
        if uses_grid_barrier(self.cx, l.kernel) {
            return self.cooperative_launch(out, l, kernel, &name, args);
        }
        let flat_1d = |dims: &[Expr; 3]| dims[1..].iter().all(is_one);
        if flat_1d(&l.grid) && flat_1d(&l.block) {
            let (grid, block) = (self.configuration(&l.grid[0])?, self.configuration(&l.block[0])?);
            let config = self.launch_brackets(l, grid, block, shared.clone());
            let call = list(&format!("{name}{}(", config.flat()), args.clone(), ");");
            if config.flat().len() + name.len() + out.depth * INDENT + 20 < WIDTH {
                out.doc(&call);
                return Ok(());
            }
        }
        let block = self.dim3(out, "block", &l.block)?;
        let grid = self.dim3(out, "grid", &l.grid)?;
        let config = self.launch_brackets(l, text(grid), text(block), shared);
        out.doc(&list(&format!("{name}{}(", config.flat()), args, ");"));
        Ok(())
    }

    fn launch_args(&self, l: &Launch, kernel: &Function) -> Result<Vec<Doc>> {
        let mut docs = vec![];
        for (arg, param) in l.args.iter().zip(&kernel.params) {
            let reference = kernel.vars.get(param.0 as usize).is_some_and(|v| v.reference);
            if reference {
                return Err(EmitError::new("a kernel with a reference parameter", &kernel.origin));
            }
            docs.push(self.implicit(arg)?.doc);
        }
        Ok(docs)
    }

    /// A size in `<<<…>>>`, where a `>` of its own would be misread.
    fn configuration(&self, e: &Expr) -> Result<Doc> {
        let doc = self.implicit(e)?.doc;
        Ok(if doc.flat().contains('>') { crate::expr::parens(doc) } else { doc })
    }

    fn launch_brackets(&self, l: &Launch, grid: Doc, block: Doc, shared: Doc) -> Doc {
        let mut config = vec![grid, block];
        match &self.stream {
            Some(stream) => config.extend([shared, text(stream.clone())]),
            None if l.shared.as_const().is_some_and(|v| v.bits == 0) => {}
            None => config.push(shared),
        }
        list("<<<", config, ">>>")
    }

    /// Declares `const dim3 name(x, y, z);` and returns the name.
    fn dim3(&self, out: &mut Out, wish: &str, dims: &[Expr; 3]) -> Result<String> {
        let name = self.fresh(wish);
        let used = dims.iter().rposition(|d| !is_one(d)).map_or(1, |i| i + 1);
        let mut docs = vec![];
        for d in &dims[..used] {
            docs.push(self.implicit(d)?.doc);
        }
        out.doc(&list(&format!("const dim3 {name}("), docs, ");"));
        Ok(name)
    }

    /// A launch whose blocks all run at once, which a barrier of the grid needs.
    fn cooperative_launch(
        &self,
        out: &mut Out,
        l: &Launch,
        kernel: &Function,
        name: &str,
        args: Vec<Doc>,
    ) -> Result<()> {
        let block = self.dim3(out, "block", &l.block)?;
        let grid = self.dim3(out, "grid", &l.grid)?;
        let mut addresses = vec![];
        for (doc, param) in args.into_iter().zip(&kernel.params) {
            let Some(v) = kernel.vars.get(param.0 as usize) else { continue };
            let copy = self.fresh(&format!("{}_arg", v.name));
            let left = declare(&v.ty, &copy, Qualifiers::default(), self.cx.names)?;
            out.doc(&crate::stmt::assignment(text(left), "=", doc));
            addresses.push(text(format!("&{copy}")));
        }
        let array = self.fresh("args");
        out.doc(&list(&format!("void *{array}[] = {{"), addresses, "};"));
        let stream = self.stream.clone().unwrap_or_else(|| "0".into());
        let mut rest: Vec<Doc> =
            [format!("(const void *){name}"), grid, block, array].map(text).into();
        rest.extend([self.implicit(&l.shared)?.doc, text(stream)]);
        out.doc(&list("cudaLaunchCooperativeKernel(", rest, ");"));
        Ok(())
    }
}

/// Without a `return;` at the end, which says nothing.
fn trimmed(body: &Block) -> &[Stmt] {
    match body.stmts.split_last() {
        Some((last, rest)) if matches!(last.kind, StmtKind::Return(None)) => rest,
        _ => &body.stmts,
    }
}

fn is_one(e: &Expr) -> bool {
    e.as_const().is_some_and(|v| v.as_i64() == 1)
}

fn uses_grid_barrier(cx: &Context<'_>, kernel: warpsmith_ir::FuncId) -> bool {
    let reach = walk::Reach::from(cx.module, [kernel]);
    reach.functions.iter().any(|id| {
        let mut found = false;
        walk::block(&cx.module.function(*id).body, &mut |node| {
            if let walk::Node::Stmt(s) = node {
                found |= matches!(
                    s.kind,
                    StmtKind::Barrier { kind: warpsmith_ir::BarrierKind::Grid, .. }
                );
            }
        });
        found
    })
}

/// Whether a function hands something back through memory or its value: what a test compares.
pub(crate) fn is_output(v: &warpsmith_ir::Var) -> bool {
    matches!(&v.ty, Type::Pointer { readonly: false, .. })
}
