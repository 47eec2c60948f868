//! The test program: a stand-alone file that compares the kernel with the original loops and times it.

use warpsmith_ir::{Expr, FuncId, Module, Scalar, Type, Var, VarId};

mod reals;
mod structs;
mod support;

use crate::accumulators;
use crate::context::{Context, Hooks, Printer, Target};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::{EmitError, Result};
use crate::expr::prec;
use crate::file;
use crate::function::is_output;
use crate::launcher::Emit;
use crate::names::{Names, identifier};
use crate::tidy::tidy;
use crate::types;
use crate::walk::Reach;

/// What the test program runs beside the launcher.
#[derive(Clone, Debug)]
pub struct TestProgram<'a> {
    /// The module of the original function, which is printed as the reference.
    pub module: &'a Module,
    /// The original function.
    pub function: FuncId,
    /// Values of scalar parameters where the command line gives none, by the user's name.
    pub defaults: Vec<(String, f64)>,
    /// Numbers of elements of array parameters, over the function's scalar parameters, where they are
    /// not the product of the declared shape.
    pub extents: Vec<(VarId, Expr)>,
    /// What arrays, or fields of their structures, hold at first, where not reals in [-1, 1] or small integers.
    pub fills: Vec<((VarId, Vec<u32>), Fill)>,
    /// Arrays of which the device takes sums in another order, and whether the result is such a sum.
    pub reordered: (Vec<VarId>, bool),
    /// No iteration of the marked loops needs another one, and nothing else writes: any of them may be run alone.
    pub independent: bool,
    /// Small sizes at which all elements are compared: values of integer parameters, by the user's name.
    pub points: Vec<Vec<(String, i64)>>,
}

/// Initial contents of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Integers in an interval, both ends included: indices, numbers of things.
    Within(Expr, Expr),
    /// Integers that do not decrease, from 0 to the value: where rows begin.
    Offsets(Expr),
    /// The integers from the value on in random order: each element of another array once.
    Shuffled(Expr),
    /// Reals or integers in an interval.
    Between(f64, f64),
    /// Zero in every element.
    Zeros,
    /// 0, 1, 2 and so on.
    Iota,
}

/// Value of an integer parameter that has no default.
const SOME_SIZE: i64 = 64;
/// Value of a real parameter that has no default: not 0 or 1, which hide mistakes.
const SOME_REAL: f64 = 0.75;

/// Prints a host function, and what it calls, as plain C++ for the processor.
///
/// # Errors
/// When something has no spelling in C++, see [`EmitError`].
pub fn reference_file(module: &Module, function: FuncId) -> Result<String> {
    let module = &serial(module);
    let names = Names::preferring(module, &file::helper_names(), &[function]);
    let cx = Context::new(module, &names);
    let (declarations, body) = reference(&cx, function)?;
    let mut out = Out::default();
    file::includes(&cx, &mut out);
    file::append(&mut out, &declarations);
    file::append(&mut out, &body);
    Ok(file::finish(out))
}

/// The module as a processor runs it: without temporaries that say nothing, one thread alone.
pub(crate) fn serial(module: &Module) -> Module {
    let mut module = tidy(module);
    for function in &mut module.functions {
        warpsmith_ir::serial::serialise_atomics(&mut function.body);
    }
    module
}

fn reference(cx: &Context<'_>, function: FuncId) -> Result<(Out, Out)> {
    asking_reference(cx, function, None)
}

/// The function with what it calls; its marked loops ask which iterations are run.
fn asking_reference(
    cx: &Context<'_>,
    function: FuncId,
    hooks: Option<Hooks>,
) -> Result<(Out, Out)> {
    let reach = Reach::from(cx.module, [function]);
    let mut body = Out::default();
    for &id in &reach.functions {
        body.gap();
        let mut printer = Printer::new(cx, id, Target::Host);
        printer.hooks = hooks.clone().filter(|_| id == function);
        printer.definition(&mut body)?;
    }
    Ok((file::declarations(cx, &reach, Target::Host)?, body))
}

/// `NAME_test.cu`: includes `NAME.cu`, runs it and the original loops on the same data, prints the
/// first difference and the time, and exits with status 1 on a difference.
///
/// # Errors
/// When something has no spelling in CUDA C++, see [`EmitError`].
pub fn test_file(emit: &Emit<'_>, test: &TestProgram<'_>) -> Result<String> {
    let (module, widened) = accumulators::widen(&serial(test.module), test.function);
    let test = &TestProgram { module: &module, ..test.clone() };
    let name = identifier(&emit.name);
    let taken: Vec<String> = support::NAMES
        .split_whitespace()
        .map(String::from)
        .chain([format!("{name}_launch"), format!("{name}_workspace")])
        .chain(file::helper_names())
        .chain(crate::host_entry::names(emit))
        .collect();
    let mut names = Names::preferring(test.module, &taken, &[test.function]);
    let uses = reals::Use::of(test.module, test.function, test.reorders());
    names.reals = uses.reals;
    let cx = Context::new(test.module, &names);
    let hooks = Hooks {
        name: names.fresh(test.function, "iterations", &[]),
        takes: reals::asking_loops(test.module.function(test.function)),
    };
    let (declarations, reference) = asking_reference(&cx, test.function, Some(hooks))?;
    let printer = Printer::new(&cx, test.function, Target::Host);
    let main = Main { emit, test, printer: &printer, name: &name, uses: &uses };
    let mut body = Out::default();
    main.print(&mut body)?;

    let mut out = Out::default();
    main.introduction(&mut out);
    support::print(&main, &mut out);
    out.line("");
    out.comment("The original loops, run on the processor.");
    if widened {
        out.comment(
            "What they reduce is kept in double: one term after the other, it would lose more digits than the kernel does.",
        );
    }
    out.line("namespace reference {");
    out.line("");
    file::append(&mut out, &declarations);
    file::append(&mut out, &reference);
    out.line("");
    out.line("}  // namespace reference");
    out.line("");
    structs::each_number(&main, &mut out);
    out.text.push_str(&body.text);
    Ok(file::finish(out))
}

impl TestProgram<'_> {
    fn reorders(&self) -> bool {
        !self.reordered.0.is_empty() || self.reordered.1
    }
}

/// The main function of one test program.
struct Main<'p> {
    emit: &'p Emit<'p>,
    test: &'p TestProgram<'p>,
    printer: &'p Printer<'p>,
    name: &'p str,
    uses: &'p reals::Use,
}

impl Main<'_> {
    /// What the file is, and how it is compiled.
    fn introduction(&self, out: &mut Out) {
        let (emit, name) = (self.emit, self.name);
        out.comment(&format!(
            "{}_test.cu: compares {name}_launch with the original loops on random data, and times it.",
            emit.name
        ));
        out.comment("");
        out.comment(&format!(
            "  nvcc -O2{2} -o {0}_test {0}_test.cu && ./{0}_test{1}",
            emit.name,
            self.usage(),
            if self.rounds_to_integers() { " -fmad=false" } else { "" }
        ));
        out.comment("");
        if self.rounds_to_integers() {
            out.comment(
                "Integers that come from real numbers are compared exactly, so that the compiler must not contract a * b + c.",
            );
        } else if self.uses.bounded() {
            out.comment(
                "Reals must be the same bits, except where a sum is taken in another order, where the compiler \
                 may make one operation of a * b + c, or where a function of the library took part: these lie \
                 within 4 L u times the sum of the absolute values of their terms, L the number of terms and u \
                 the error of one rounding; of long sums 32 sqrt(L) u, as roundings are independent.",
            );
        }
        out.line("");
        out.line(&format!("#include \"{}.cu\"", emit.name));
    }

    /// Whether integers among the outputs may come from real arithmetic.
    fn rounds_to_integers(&self) -> bool {
        let function = self.test.module.function(self.test.function);
        let integer = |ty: &Type| ty.scalar().is_some_and(Scalar::is_integer);
        let written = function.params.iter().filter_map(|p| match &function.var(*p).ty {
            Type::Pointer { pointee, readonly: false, .. } => Some(&**pointee),
            _ => None,
        });
        let integers = written.chain([&function.ret]).any(integer);
        let mut real = false;
        for function in &self.test.module.functions {
            warpsmith_ir::visit::for_each_expr(&function.body, &mut |e| {
                let arithmetic = matches!(&*e.kind, warpsmith_ir::ExprKind::Binary(..));
                real |= arithmetic && e.ty.scalar().is_some_and(Scalar::is_float);
            });
        }
        integers && real
    }

    fn params(&self) -> impl Iterator<Item = (VarId, &Var)> {
        let params = self.printer.function.params.iter();
        params.filter_map(|id| Some((*id, self.printer.var(*id)?)))
    }

    fn arrays(&self) -> impl Iterator<Item = (VarId, &Var)> {
        self.params().filter(|(_, v)| v.ty.is_pointer())
    }

    /// Whether an output has elements of a type.
    fn compares(&self, ty: Scalar) -> bool {
        let mut outputs = self.arrays().filter(|(_, v)| is_output(v));
        self.printer.function.ret.scalar() == Some(ty)
            || outputs.any(|(_, v)| self.element(v).is_ok_and(|t| *t == Type::Scalar(ty)))
    }

    /// The command line's arguments, for the comment at the top.
    fn usage(&self) -> String {
        let scalars = self.params().filter(|(_, v)| v.ty.scalar().is_some());
        scalars.map(|(id, _)| format!(" [{}]", self.printer.name(id))).collect()
    }

    fn print(&self, out: &mut Out) -> Result<()> {
        out.comment(
            "Runs the kernel and the original loops at one size and compares what they leave.",
        );
        let mut params = vec![];
        for (id, v) in self.params().filter(|(_, v)| !v.ty.is_pointer()) {
            params.push(text(format!("{} {}", self.spell(&v.ty)?, self.printer.name(id))));
        }
        params.push(text(format!("Totals &{}", self.own("totals"))));
        out.doc(&cat([list("static void test(", params, ")"), text(" {")]));
        out.depth += 1;
        self.allocate(out)?;
        out.gap();
        self.run(out)?;
        out.gap();
        self.verdict(out)?;
        out.depth -= 1;
        out.line("}");
        out.gap();
        out.line("int main(int argc, char **argv) {");
        out.depth += 1;
        self.scalars(out)?;
        out.gap();
        self.tests(out)?;
        out.depth -= 1;
        out.line("}");
        Ok(())
    }

    fn scalars(&self, out: &mut Out) -> Result<()> {
        let mut position = 0;
        for (id, v) in self.params().filter(|(_, v)| !v.ty.is_pointer()) {
            if position == 0 {
                out.comment("Sizes and other scalars, in order, may be given on the command line.");
            }
            let Some(s) = v.ty.scalar() else {
                self.structure(out, id, v, &mut position)?;
                continue;
            };
            position += 1;
            let default = self.test.defaults.iter().find(|(n, _)| *n == v.name).map(|d| d.1);
            let value = match default {
                Some(d) => warpsmith_ir::Value::float(s, d),
                None if s.is_float() => warpsmith_ir::Value::float(s, SOME_REAL),
                None => warpsmith_ir::Value::int(s, SOME_SIZE),
            };
            let default = self.printer.implicit(&Expr::constant(value))?.at_least(prec::UNARY);
            let parse = match s {
                Scalar::F16 | Scalar::BF16 => "(float)atof",
                Scalar::F32 => "(float)atof",
                Scalar::F64 => "atof",
                Scalar::I64 | Scalar::U64 | Scalar::U32 => "atoll",
                _ => "atoi",
            };
            let ty = types::scalar(s);
            let left = format!("const {ty} {} = ", self.printer.name(id));
            let parsed = match s {
                Scalar::F16 => format!("__float2half({parse}(argv[{position}]))"),
                Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::I64 => {
                    format!("{parse}(argv[{position}])")
                }
                _ => format!("({ty}){parse}(argv[{position}])"),
            };
            out.doc(&cat([
                text(format!("{left}argc > {position} ? {parsed} : ")),
                default,
                text(";"),
            ]));
        }
        Ok(())
    }

    /// What an array is made of: a number, or a structure.
    fn element<'v>(&self, v: &'v Var) -> Result<&'v Type> {
        let element = v.ty.pointee().map(Type::innermost);
        let known = element.filter(|t| matches!(t, Type::Scalar(_) | Type::Struct(_)));
        known.ok_or_else(|| EmitError::new(format!("test data for `{}`", v.name), &v.origin))
    }

    fn spell(&self, ty: &Type) -> Result<String> {
        match ty.scalar() {
            Some(s) => Ok(types::scalar(s).to_string()),
            None => types::spell(ty, self.printer.cx.names),
        }
    }

    fn allocate(&self, out: &mut Out) -> Result<()> {
        out.gap();
        for (id, v) in self.arrays() {
            let element = self.element(v)?;
            self.printer.cx.include_type(element);
            let name = self.printer.name(id);
            let extents = self.extents(id, v)?;
            let class = self.class(v);
            let open = format!("{class}<{}> {name}(\"{name}\", {{", self.spell(element)?);
            out.doc(&list(&open, extents, "});"));
            match element.scalar() {
                Some(s) => out.doc(&self.fill(id, name, s)?),
                None => self.fill_structures(out, id, name, element)?,
            }
        }
        let ret = &self.printer.function.ret;
        if let Some(s) = ret.scalar() {
            let result = self.own("result");
            out.line(&format!("Output<{}> {result}(\"{result}\", {{1}});", types::scalar(s)));
        }
        if self.emit.workspace.is_some() {
            let scalars = self.params().filter(|(_, v)| v.ty.scalar().is_some());
            let args = scalars.map(|(id, _)| text(self.printer.name(id))).collect();
            let call = list(&format!("{}_workspace(", self.name), args, ")");
            let workspace = self.own("workspace");
            out.doc(&cat([
                text(format!("Array<unsigned char> {workspace}(\"{workspace}\", {{")),
                call,
                text("});"),
            ]));
        }
        Ok(())
    }

    /// Arrays that the loops write, or that lie in memory with bounds, have a second copy.
    fn class(&self, v: &Var) -> &'static str {
        let bounded = match v.ty.pointee().map(Type::innermost) {
            Some(Type::Struct(_)) => true,
            element => {
                element.and_then(Type::scalar).is_some_and(Scalar::is_float) && !self.uses.inputs()
            }
        };
        if is_output(v) || bounded { "Output" } else { "Array" }
    }

    /// A name of the program's own, the same at every call.
    fn own(&self, wish: &str) -> String {
        self.printer.cx.names.fresh(self.test.function, wish, &[])
    }

    fn extents(&self, id: VarId, v: &Var) -> Result<Vec<Doc>> {
        let count = self.test.extents.iter().find(|(var, _)| *var == id).map(|e| &e.1);
        let shape: Vec<&Expr> = match (count, &v.shape) {
            (Some(count), _) => vec![count],
            (None, Some(shape)) => shape.iter().collect(),
            (None, None) => return Ok(vec![text("1")]),
        };
        shape.into_iter().map(|e| self.size(e)).collect()
    }

    /// An extent as `size_t`: a constant or a value that a braced list would not narrow silently.
    fn size(&self, e: &Expr) -> Result<Doc> {
        let p = self.printer.expr(e)?;
        Ok(match p.literal {
            Some(_) => p.doc,
            None => cat([text("(size_t)"), p.at_least(prec::UNARY)]),
        })
    }

    fn fill(&self, id: VarId, name: &str, s: Scalar) -> Result<Doc> {
        let fill = self.test.fills.iter().find(|((var, _), _)| *var == id).map(|f| &f.1);
        Ok(match fill {
            Some(Fill::Zeros) => text(format!("{name}.fill(0.0, 0.0);")),
            Some(Fill::Iota) => text(format!("{name}.count_up();")),
            Some(Fill::Shuffled(first)) => {
                list(&format!("{name}.shuffle("), vec![self.printer.expr(first)?.doc], ");")
            }
            Some(Fill::Between(low, high)) => text(format!("{name}.fill({low:?}, {high:?});")),
            Some(Fill::Within(low, high)) => {
                let ends = vec![self.printer.expr(low)?.doc, self.printer.expr(high)?.doc];
                list(&format!("{name}.fill("), ends, ");")
            }
            Some(Fill::Offsets(last)) => {
                list(&format!("{name}.offsets("), vec![self.printer.expr(last)?.doc], ");")
            }
            None if s.is_float() => text(format!("{name}.fill(-1.0, 1.0);")),
            None if s == Scalar::Bool => text(format!("{name}.fill(0, 1);")),
            None if s.is_signed() => text(format!("{name}.fill(-100, 100);")),
            None => text(format!("{name}.fill(0, 100);")),
        })
    }

    /// The launch, as an expression.
    fn launch(&self) -> Doc {
        let mut args = vec![];
        for (k, (id, v)) in self.params().enumerate() {
            let name = self.printer.name(id);
            args.push(text(match self.emit.spellings.get(k).copied().flatten() {
                _ if !v.ty.is_pointer() => name.to_string(),
                Some(s) if types::is_another_type(s) => format!("({s} *){name}.device"),
                _ => format!("{name}.device"),
            }));
        }
        if self.printer.function.ret.scalar().is_some() {
            args.push(text(format!("{}.device", self.own("result"))));
        }
        if self.emit.workspace.is_some() {
            args.push(text(format!("{}.device", self.own("workspace"))));
        }
        args.push(text("0"));
        list(&format!("{}_launch(", self.name), args, ")")
    }

    fn run(&self, out: &mut Out) -> Result<()> {
        let ranges: Vec<Doc> = self
            .arrays()
            .map(|(id, _)| text(format!("{}.range()", self.printer.name(id))))
            .collect();
        if ranges.len() > 1 {
            out.comment("The kernel is right only for arrays that do not overlap.");
            out.doc(&list("assert_disjoint({", ranges, "});"));
        }
        for (id, _) in self.arrays() {
            out.line(&format!("{}.upload();", self.printer.name(id)));
        }
        let ret = self.printer.function.ret.scalar();
        if ret.is_some() {
            out.line(&format!("{}.upload();", self.own("result")));
        }
        out.doc(&cat([text("check("), self.launch(), text(", \"launch\");")]));
        out.line("check(cudaDeviceSynchronize(), \"kernel\");");
        let mut args = vec![];
        for (id, v) in self.params() {
            let name = self.printer.name(id);
            if let Type::Struct(_) = &v.ty {
                args.push(text(self.expected_structure(out, name, &v.ty)?));
                continue;
            }
            args.push(text(match self.class(v) {
                _ if !v.ty.is_pointer() => name.to_string(),
                "Output" => format!("{name}.expected.get()"),
                _ => format!("{name}.host"),
            }));
        }
        args.push(text(self.own("iterations")));
        let function = self.printer.cx.names.function(self.test.function);
        let call = list(&format!("reference::{function}("), args, ")");
        let runner = if self.test.independent { "run_sampled" } else { "run_all" };
        let (ran, iterations) = (self.own("ran"), self.own("iterations"));
        out.line(&format!("const Ran {ran} = {runner}([&](Iterations &{iterations}) {{"));
        out.depth += 1;
        if ret.is_some() {
            let left = text(format!("{}.expected[0]", self.own("result")));
            out.doc(&crate::stmt::assignment(left, "=", call));
        } else {
            out.doc(&cat([call, text(";")]));
        }
        out.depth -= 1;
        out.line("});");
        Ok(())
    }

    fn verdict(&self, out: &mut Out) -> Result<()> {
        let (ran, totals, tally) = (self.own("ran"), self.own("totals"), self.own("tally"));
        let reordered = |id: VarId| self.test.reordered.0.contains(&id);
        let mut outputs: Vec<(String, bool)> = self
            .arrays()
            .filter(|(_, v)| is_output(v))
            .map(|(id, _)| (self.printer.name(id).to_string(), reordered(id)))
            .collect();
        if self.printer.function.ret.scalar().is_some() {
            outputs.push((self.own("result"), self.test.reordered.1));
        }
        if outputs.is_empty() {
            return Err(EmitError::new("a test without outputs", &self.printer.function.origin));
        }
        let mut parts = vec![];
        for (id, v) in self.params().filter(|(_, v)| v.ty.scalar().is_some_and(Scalar::is_integer))
        {
            parts.push(text(format!("{{\"{}\", (long long){}}}", v.name, self.printer.name(id))));
        }
        out.doc(&list(&format!("Tally {tally}({ran}, {{"), parts, "});"));
        for (name, any_order) in &outputs {
            let order = if *any_order { "any_order" } else { "same_order" };
            out.line(&format!("{name}.compare({order}, {tally});"));
        }
        out.line(&format!("{totals}.add({tally});"));
        out.line(&format!("if (!{totals}.timed) return;"));
        out.gap();
        let ms = self.own("ms");
        out.line(&format!("const double {ms} = median_ms([&] {{"));
        out.depth += 1;
        out.doc(&cat([text("return "), self.launch(), text(";")]));
        out.depth -= 1;
        out.line("});");
        out.line(&format!("printf(\"{}: %.4f ms\\n\", {ms});", self.emit.name));
        Ok(())
    }

    /// The main function's calls: small sizes, then those of the command line.
    fn tests(&self, out: &mut Out) -> Result<()> {
        let totals = self.own("totals");
        let names: Vec<String> = self
            .params()
            .filter(|(_, v)| v.ty.scalar().is_some_and(Scalar::is_integer))
            .map(|(_, v)| v.name.clone())
            .collect();
        // A size in a structure has the value that main gives it.
        let plain = self.test.points.iter().flatten().all(|(n, _)| names.contains(n));
        let call = |point: Option<&[(String, i64)]>| {
            let mut args = vec![];
            for (id, v) in self.params().filter(|(_, v)| !v.ty.is_pointer()) {
                let at = point.and_then(|p| p.iter().find(|(n, _)| *n == v.name));
                args.push(text(
                    at.map_or(self.printer.name(id).to_string(), |(_, n)| n.to_string()),
                ));
            }
            args.push(text(totals.clone()));
            list("test(", args, ");")
        };
        out.line(&format!("Totals {totals};"));
        if !self.test.points.is_empty() && !names.is_empty() && plain {
            out.comment(
                "All elements, at small sizes around the numbers that the kernel tells apart.",
            );
            for point in &self.test.points {
                out.doc(&call(Some(point)));
            }
        }
        out.line(&format!("{totals}.timed = true;"));
        out.doc(&call(None));
        out.line(&format!("return {totals}.report(\"{}\");", self.emit.name));
        Ok(())
    }
}
