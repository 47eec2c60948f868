//! The test program: a stand-alone file that compares the kernel with the original loops and times it.

use warpsmith_ir::{Expr, FuncId, Module, Scalar, Type, Var, VarId};

use crate::accumulators;
use crate::context::{Context, Printer, Target};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::{EmitError, Result};
use crate::expr::prec;
use crate::file;
use crate::function::is_output;
use crate::launcher::Emit;
use crate::names::{Names, identifier};
use crate::struct_test;
use crate::tidy::tidy;
use crate::types;
use crate::walk::Reach;

/// What the test program runs beside the launcher.
#[derive(Clone, Debug)]
pub struct TestProgram<'a> {
    /// The module of the original function, which is printed as the reference.
    pub module: &'a Module,
    pub function: FuncId,
    /// Values of scalar parameters where the command line gives none, by the user's name.
    pub defaults: Vec<(String, f64)>,
    /// Numbers of elements of array parameters, over the function's scalar parameters, where they are
    /// not the product of the declared shape.
    pub extents: Vec<(VarId, Expr)>,
    /// What arrays hold at first, where not reals in [-1, 1] or small integers.
    pub fills: Vec<(VarId, Fill)>,
    /// Terms of the longest sum, over the scalar parameters: the tolerance grows with it.
    pub terms: Option<Expr>,
}

/// Initial contents of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Integers from 0 to the value less 1: indices into another array.
    Below(Expr),
    /// Reals or integers in an interval.
    Between(f64, f64),
    Zeros,
    /// 0, 1, 2 and so on: offsets of rows, a permutation.
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
    let module = &tidy(module);
    let names = Names::preferring(module, &file::helper_names(), &[function]);
    let cx = Context::new(module, &names);
    let (declarations, body) = reference(&cx, function)?;
    let mut out = Out::default();
    file::includes(&cx, &mut out);
    file::append(&mut out, &declarations);
    file::append(&mut out, &body);
    Ok(file::finish(out))
}

fn reference(cx: &Context<'_>, function: FuncId) -> Result<(Out, Out)> {
    let reach = Reach::from(cx.module, [function]);
    let mut body = Out::default();
    for &id in &reach.functions {
        body.gap();
        Printer::new(cx, id, Target::Host).definition(&mut body)?;
    }
    Ok((file::declarations(cx, &reach, Target::Host)?, body))
}

/// `NAME_test.cu`: includes `NAME.cu`, runs it and the original loops on the same data, prints the
/// first difference and the time, and exits with status 1 on a difference.
///
/// # Errors
/// When something has no spelling in CUDA C++, see [`EmitError`].
pub fn test_file(emit: &Emit<'_>, test: &TestProgram<'_>) -> Result<String> {
    if struct_test::is_needed(test) {
        return struct_test::print(emit, test);
    }
    let (module, widened) = accumulators::widen(&tidy(test.module), test.function);
    let test = &TestProgram { module: &module, ..test.clone() };
    let name = identifier(&emit.name);
    let taken: Vec<String> = [
        "argc",
        "argv",
        "argument",
        "Array",
        "Range",
        "check",
        "compare",
        "median_ms",
        "status",
        "random_unit",
        "assert_disjoint",
    ]
    .map(String::from)
    .into_iter()
    .chain([format!("{name}_launch"), format!("{name}_workspace")])
    .chain(file::helper_names())
    .chain(crate::host_entry::names(emit))
    .collect();
    let names = Names::preferring(test.module, &taken, &[test.function]);
    let cx = Context::new(test.module, &names);
    let (declarations, reference) = reference(&cx, test.function)?;
    let printer = Printer::new(&cx, test.function, Target::Host);
    let main = Main { emit, test, printer: &printer, name: &name };
    let mut body = Out::default();
    main.print(&mut body)?;

    let mut out = Out::default();
    out.comment(&format!(
        "{}_test.cu: compares {name}_launch with the original loops on random data, and times it.",
        emit.name
    ));
    out.comment("");
    out.comment(&format!(
        "  nvcc -O2{2} -o {0}_test {0}_test.cu && ./{0}_test{1}",
        emit.name,
        main.usage(),
        if main.rounds_to_integers() { " -fmad=false" } else { "" }
    ));
    if main.rounds_to_integers() {
        out.comment("");
        out.comment(
            "Integers that come from real numbers are compared exactly, so that the compiler must not contract a * b + c.",
        );
    }
    out.line("");
    out.line(&format!("#include \"{}.cu\"", emit.name));
    for header in ["assert.h", "math.h", "stdio.h", "stdlib.h"] {
        cx.include(header);
    }
    for header in ["algorithm", "string", "type_traits", "vector"] {
        cx.include(header);
    }
    file::includes(&cx, &mut out);
    out.line("");
    out.text.push_str(SUPPORT);
    if main.compares(Scalar::F16) {
        out.line("");
        out.line("static double as_double(half x) { return __half2float(x); }");
    }
    out.line("");
    out.text.push_str(COMPARE);
    if main.arrays().count() > 1 {
        out.line("");
        out.text.push_str(DISJOINT);
    }
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
    out.text.push_str(&body.text);
    Ok(file::finish(out))
}

/// The main function of one test program.
struct Main<'p> {
    emit: &'p Emit<'p>,
    test: &'p TestProgram<'p>,
    printer: &'p Printer<'p>,
    name: &'p str,
}

impl Main<'_> {
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
            || outputs.any(|(_, v)| self.element(v).is_ok_and(|s| s == ty))
    }

    /// The command line's arguments, for the comment at the top.
    fn usage(&self) -> String {
        let scalars = self.params().filter(|(_, v)| v.ty.scalar().is_some());
        scalars.map(|(id, _)| format!(" [{}]", self.printer.name(id))).collect()
    }

    fn print(&self, out: &mut Out) -> Result<()> {
        out.line("int main(int argc, char **argv) {");
        out.depth += 1;
        self.scalars(out)?;
        self.allocate(out)?;
        out.gap();
        self.run(out)?;
        out.gap();
        self.verdict(out)?;
        out.depth -= 1;
        out.line("}");
        Ok(())
    }

    fn scalars(&self, out: &mut Out) -> Result<()> {
        let mut position = 0;
        for (id, v) in self.params() {
            let Some(s) = v.ty.scalar() else { continue };
            if position == 0 {
                out.comment("Sizes and other scalars, in order, may be given on the command line.");
            }
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

    fn element(&self, v: &Var) -> Result<Scalar> {
        let element = v.ty.pointee().map(Type::innermost).and_then(Type::scalar);
        element.ok_or_else(|| EmitError::new(format!("test data for `{}`", v.name), &v.origin))
    }

    fn allocate(&self, out: &mut Out) -> Result<()> {
        out.gap();
        for (id, v) in self.arrays() {
            let s = self.element(v)?;
            self.printer.include_half(s);
            let name = self.printer.name(id);
            let extents = self.extents(id, v)?;
            let open = format!("Array<{}> {name}(\"{name}\", {{", types::scalar(s));
            out.doc(&list(&open, extents, "});"));
            out.doc(&self.fill(id, name, s)?);
        }
        let ret = &self.printer.function.ret;
        if let Some(s) = ret.scalar() {
            let result = self.own("result");
            out.line(&format!("Array<{}> {result}(\"{result}\", {{1}});", types::scalar(s)));
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
        let fill = self.test.fills.iter().find(|(var, _)| *var == id).map(|f| &f.1);
        Ok(match fill {
            Some(Fill::Zeros) => text(format!("{name}.fill(0.0, 0.0);")),
            Some(Fill::Iota) => text(format!("{name}.count_up();")),
            Some(Fill::Between(low, high)) => text(format!("{name}.fill({low:?}, {high:?});")),
            Some(Fill::Below(limit)) => {
                let limit = self.printer.expr(limit)?.at_least(prec::SUM);
                cat([text(format!("{name}.fill(0, ")), limit, text(" - 1);")])
            }
            None if s.is_float() => text(format!("{name}.fill(-1.0, 1.0);")),
            None if s == Scalar::Bool => text(format!("{name}.fill(0, 1);")),
            None if s.is_signed() => text(format!("{name}.fill(-8, 8);")),
            None => text(format!("{name}.fill(0, 16);")),
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
        out.doc(&cat([text("check("), self.launch(), text(", \"launch\");")]));
        out.line("check(cudaDeviceSynchronize(), \"kernel\");");
        let mut args = vec![];
        for (id, v) in self.params() {
            let name = self.printer.name(id);
            args.push(text(if v.ty.is_pointer() { format!("{name}.host") } else { name.into() }));
        }
        let function = self.printer.cx.names.function(self.test.function);
        let call = list(&format!("reference::{function}("), args, ")");
        if self.printer.function.ret.scalar().is_some() {
            let left = text(format!("{}.host[0]", self.own("result")));
            out.doc(&crate::stmt::assignment(left, "=", call));
        } else {
            out.doc(&cat([call, text(";")]));
        }
        Ok(())
    }

    fn verdict(&self, out: &mut Out) -> Result<()> {
        let mut outputs: Vec<String> = self
            .arrays()
            .filter(|(_, v)| is_output(v))
            .map(|(id, _)| self.printer.name(id).to_string())
            .collect();
        if self.printer.function.ret.scalar().is_some() {
            outputs.push(self.own("result"));
        }
        let terms = match &self.test.terms {
            Some(e) => self.printer.expr(e)?.doc,
            None => text("16"),
        };
        let (terms_name, same) = (self.own("terms"), self.own("same"));
        out.comment("Rounding errors grow with the length of the sums.");
        out.doc(&cat([text(format!("const double {terms_name} = ")), terms.align(), text(";")]));
        if outputs.is_empty() {
            return Err(EmitError::new("a test without outputs", &self.printer.function.origin));
        }
        for (i, name) in outputs.iter().enumerate() {
            out.line(&match (i, outputs.len()) {
                (0, 1) => format!("const bool {same} = {name}.compare({terms_name});"),
                (0, _) => format!("bool {same} = {name}.compare({terms_name});"),
                _ => format!("{same} = {name}.compare({terms_name}) && {same};"),
            });
        }
        out.line(&format!(
            "printf(\"{}: %s\\n\", {same} ? \"equal\" : \"DIFFERENT\");",
            self.emit.name
        ));
        out.gap();
        let ms = self.own("ms");
        out.line(&format!("const double {ms} = median_ms([&] {{"));
        out.depth += 1;
        out.doc(&cat([text("return "), self.launch(), text(";")]));
        out.depth -= 1;
        out.line("});");
        out.line(&format!("printf(\"{}: %.4f ms\\n\", {ms});", self.emit.name));
        out.line(&format!("return {same} ? 0 : 1;"));
        Ok(())
    }
}

/// What every test program needs, before the overloads of `as_double`.
const SUPPORT: &str = "\
// Stops the program when a call of the CUDA runtime failed.
static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, \"%s: %s\\n\", what, cudaGetErrorString(status));
    exit(2);
}

// The next of a fixed sequence of numbers in [0, 1).
static double random_unit() {
    static unsigned long long state = 0x9e3779b97f4a7c15ull;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

// The largest relative error of one rounding; 0 for integers, which are compared exactly.
template <class T>
static double unit_roundoff() {
    if (std::is_integral<T>::value) return 0.0;
    const int digits = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : 11;
    return ldexp(1.0, -digits);
}

template <class T>
static double as_double(T x) {
    return (double)x;
}
";

/// Only for tests with several arrays.
const DISJOINT: &str = "\
static void assert_disjoint(const std::vector<Range> &ranges) {
    for (size_t i = 0; i < ranges.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            assert(ranges[i].end <= ranges[j].begin || ranges[j].end <= ranges[i].begin);
        }
    }
}
";

/// What compares and measures.
const COMPARE: &str = "\
struct Range {
    const char *begin, *end;
};

// An array of the test, on both sides.
template <class T>
struct Array {
    const char *name;
    std::vector<size_t> extents;
    size_t count = 1;
    T *host, *device;

    Array(const char *name, std::vector<size_t> extents) : name(name), extents(extents) {
        for (size_t extent : extents) count *= extent;
        const size_t bytes = std::max<size_t>(1, count) * sizeof(T);
        host = (T *)calloc(bytes, 1);
        if (!host) {
            fprintf(stderr, \"%s: no memory\\n\", name);
            exit(2);
        }
        check(cudaMalloc((void **)&device, bytes), name);
        check(cudaMemset(device, 0xff, bytes), name);
    }

    Array(const Array &) = delete;

    ~Array() {
        free(host);
        cudaFree(device);
    }

    Range range() const { return {(const char *)device, (const char *)(device + count)}; }

    // Random numbers from low to high, whole ones for integers.
    void fill(double low, double high) {
        const bool whole = std::is_integral<T>::value;
        for (size_t i = 0; i < count; ++i) {
            const double u = random_unit();
            const double x = whole ? floor(u * (high - low + 1)) : u * (high - low);
            host[i] = (T)(float)(low + x);
        }
    }

    // 0, 1, 2 …
    void count_up() {
        for (size_t i = 0; i < count; ++i) host[i] = (T)(float)i;
    }

    void upload() {
        check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice), name);
    }

    // Whether the device holds what the host does, up to the rounding of sums of so many terms;
    // prints the first difference.
    bool compare(double terms) const {
        std::vector<char> bytes(std::max<size_t>(1, count) * sizeof(T));
        check(cudaMemcpy(bytes.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), name);
        const T *got = (const T *)bytes.data();
        const double tolerance = 4.0 * std::max(1.0, terms) * unit_roundoff<T>();
        for (size_t i = 0; i < count; ++i) {
            const double x = as_double(got[i]), y = as_double(host[i]);
            if (got[i] == host[i] || (x != x && y != y)) continue;
            if (fabs(x - y) <= tolerance * std::max(1.0, fabs(y))) continue;
            printf(\"%s%s is %.9g, should be %.9g\\n\", name, index(i).c_str(), x, y);
            return false;
        }
        return true;
    }

    // The place of an element: [i][j].
    std::string index(size_t flat) const {
        std::string s;
        for (size_t d = extents.size(); d-- > 0;) {
            s = \"[\" + std::to_string(flat % extents[d]) + \"]\" + s;
            flat /= extents[d];
        }
        return s;
    }
};

// The median time of a launch, in milliseconds, after a warm-up.
template <class Launch>
static double median_ms(Launch launch) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), \"event\");
    check(cudaEventCreate(&stop), \"event\");
    std::vector<float> times;
    for (int run = -3; run < 11; ++run) {
        check(cudaEventRecord(start), \"event\");
        check(launch(), \"launch\");
        check(cudaEventRecord(stop), \"event\");
        check(cudaEventSynchronize(stop), \"kernel\");
        float ms = 0.0f;
        check(cudaEventElapsedTime(&ms, start, stop), \"event\");
        if (run >= 0) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}
";
