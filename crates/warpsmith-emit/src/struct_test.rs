//! The test program of a function that works on structures: all their numbers are filled, and compared, one by one.

use warpsmith_ir::{Expr, Scalar, Type, Value, Var, VarId};

use crate::accumulators;
use crate::context::{Context, Printer, Target};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::{EmitError, Result};
use crate::expr::prec;
use crate::file;
use crate::function::is_output;
use crate::launcher::Emit;
use crate::names::{Names, identifier};
use crate::test_file::{Fill, TestProgram, serial};
use crate::types;
use crate::walk::Reach;

/// Value of an integer that has no default.
const SOME_SIZE: i64 = 64;
/// Value of a real that has no default: not 0 or 1, which hide mistakes.
const SOME_REAL: f64 = 0.75;

/// Whether a parameter is, or points to, a structure.
pub(crate) fn is_needed(test: &TestProgram<'_>) -> bool {
    let function = test.module.function(test.function);
    function.params.iter().any(|p| {
        let ty = &function.var(*p).ty;
        matches!(ty.pointee().unwrap_or(ty).innermost(), Type::Struct(_))
    })
}

/// As [`crate::test_file`].
///
/// # Errors
/// When something has no spelling in CUDA C++, see [`EmitError`].
pub(crate) fn print(emit: &Emit<'_>, test: &TestProgram<'_>) -> Result<String> {
    let (module, _) = accumulators::widen(&serial(test.module), test.function);
    let test = &TestProgram { module: &module, ..test.clone() };
    let name = identifier(&emit.name);
    let taken: Vec<String> = NAMES
        .split_whitespace()
        .map(String::from)
        .chain([format!("{name}_launch"), format!("{name}_workspace")])
        .chain(file::helper_names())
        .collect();
    let names = Names::preferring(test.module, &taken, &[test.function]);
    let cx = Context::new(test.module, &names);
    let reach = Reach::from(cx.module, [test.function]);
    let mut reference = Out::default();
    for &id in &reach.functions {
        reference.gap();
        Printer::new(&cx, id, Target::Host).definition(&mut reference)?;
    }
    let declarations = file::declarations(&cx, &reach, Target::Host)?;
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
    out.comment(&format!("  nvcc -O2 -o {0}_test {0}_test.cu && ./{0}_test", emit.name));
    out.line("");
    out.line(&format!("#include \"{}.cu\"", emit.name));
    for header in ["math.h", "stdio.h", "stdlib.h", "algorithm", "type_traits", "vector"] {
        cx.include(header);
    }
    file::includes(&cx, &mut out);
    out.line("");
    out.text.push_str(SUPPORT);
    let mut done = vec![];
    for id in emit.shared_structs() {
        each_number(&cx, id, &mut done, &mut out);
    }
    out.line("");
    if !test.fills.is_empty() {
        out.text.push_str(FILLS);
        out.gap();
    }
    out.text.push_str(COMPARE);
    out.line("");
    out.comment("The original loops, run on the processor.");
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

/// A function for a structure that calls another for every number in it, after those of structures inside.
fn each_number(
    cx: &Context<'_>,
    id: warpsmith_ir::StructId,
    done: &mut Vec<warpsmith_ir::StructId>,
    out: &mut Out,
) {
    let Some(def) = cx.module.structs.get(id.0 as usize).filter(|_| !done.contains(&id)) else {
        return;
    };
    done.push(id);
    for field in &def.fields {
        if let Type::Struct(inner) = field.ty.innermost() {
            each_number(cx, *inner, done, out);
        }
    }
    let name = cx.names.structure(id);
    out.line("");
    out.line("template <class F>");
    out.line(&format!("static void each_number({name} &a, {name} &b, F f) {{"));
    for field in &def.fields {
        out.line(&format!("    each_number(a.{0}, b.{0}, f);", field.name));
    }
    out.line("}");
}

struct Main<'p> {
    emit: &'p Emit<'p>,
    test: &'p TestProgram<'p>,
    printer: &'p Printer<'p>,
    name: &'p str,
}

impl Main<'_> {
    fn params(&self) -> impl Iterator<Item = (VarId, &Var)> {
        let params = self.printer.function.params.iter();
        params.filter_map(|id| Some((*id, self.printer.var(*id)?)))
    }

    fn arrays(&self) -> impl Iterator<Item = (VarId, &Var)> {
        self.params().filter(|(_, v)| v.ty.is_pointer())
    }

    fn spell(&self, ty: &Type) -> Result<String> {
        types::spell(ty, self.printer.cx.names)
    }

    fn own(&self, wish: &str) -> String {
        self.printer.cx.names.fresh(self.test.function, wish, &[])
    }

    fn print(&self, out: &mut Out) -> Result<()> {
        out.line("int main(int argc, char **argv) {");
        out.depth += 1;
        self.values(out)?;
        self.allocate(out)?;
        self.run(out)?;
        self.verdict(out)?;
        out.depth -= 1;
        out.line("}");
        Ok(())
    }

    /// Numbers and structures passed by value.
    fn values(&self, out: &mut Out) -> Result<()> {
        let mut position = 0;
        for (id, v) in self.params().filter(|(_, v)| !v.ty.is_pointer()) {
            if position == 0 {
                out.comment("Sizes and other numbers, in order, may be given on the command line.");
            }
            let name = self.printer.name(id).to_string();
            if let Some(s) = v.ty.scalar() {
                let left = format!("const {} {name} = ", types::scalar(s));
                self.number(out, &left, &v.name, s, &mut position)?;
                continue;
            }
            out.line(&format!("{} {name} = {{}};", self.spell(&v.ty)?));
            out.line(&format!(
                "each_number({name}, {name}, [](auto &x, auto &) {{ set(x, {SOME_REAL:?}); }});"
            ));
            self.fields(out, &name, &v.name, &v.ty, &mut position)?;
        }
        if position == 0 {
            out.line("(void)argc, (void)argv;");
        }
        Ok(())
    }

    fn fields(
        &self,
        out: &mut Out,
        place: &str,
        name: &str,
        ty: &Type,
        position: &mut usize,
    ) -> Result<()> {
        match ty {
            Type::Scalar(s) => self.number(out, &format!("{place} = "), name, *s, position),
            Type::Struct(id) => {
                let def = self.printer.cx.module.structs.get(id.0 as usize);
                for f in def.map_or(&[][..], |d| &d.fields) {
                    let (place, name) =
                        (format!("{place}.{}", f.name), format!("{name}.{}", f.name));
                    self.fields(out, &place, &name, &f.ty, position)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn number(
        &self,
        out: &mut Out,
        left: &str,
        name: &str,
        s: Scalar,
        position: &mut usize,
    ) -> Result<()> {
        *position += 1;
        let at = *position;
        let default = self.test.defaults.iter().find(|(n, _)| n == name).map(|d| d.1);
        let value = match default {
            Some(d) => Value::float(s, d),
            None if s.is_float() => Value::float(s, SOME_REAL),
            None => Value::int(s, SOME_SIZE),
        };
        let default = self.printer.implicit(&Expr::constant(value))?.at_least(prec::UNARY);
        let parsed = match s {
            Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => "atof",
            _ => "atoll",
        };
        let parsed = format!("({}){parsed}(argv[{at}])", types::scalar(s));
        out.doc(&cat([text(format!("{left}argc > {at} ? {parsed} : ")), default, text(";")]));
        Ok(())
    }

    fn allocate(&self, out: &mut Out) -> Result<()> {
        out.gap();
        for (id, v) in self.arrays() {
            let Some(element) = v.ty.pointee().map(Type::innermost) else { continue };
            self.printer.cx.include_type(element);
            let name = self.printer.name(id);
            let extents = self.extents(id, v)?;
            let open = format!("Array<{}> {name}(\"{name}\", {{", self.spell(element)?);
            out.doc(&list(&open, extents, "});"));
            out.line(&format!("{name}.fill(-1.0, 1.0);"));
            for ((_, fields), fill) in self.test.fills.iter().filter(|((var, _), _)| *var == id) {
                out.doc(&self.fill(name, element, fields, fill)?);
            }
        }
        if let Some(s) = self.printer.function.ret.scalar() {
            let result = self.own("result");
            out.line(&format!("Array<{}> {result}(\"{result}\", {{1}});", types::scalar(s)));
        }
        if self.emit.workspace.is_some() {
            let scalars = self.params().filter(|(_, v)| v.ty.scalar().is_some());
            let args = scalars.map(|(id, _)| text(self.printer.name(id))).collect();
            let call = list(&format!("{}_workspace(", self.name), args, ")");
            let workspace = self.own("workspace");
            let open = format!("Array<unsigned char> {workspace}(\"{workspace}\", {{");
            out.doc(&cat([text(open), call, text("});")]));
        }
        Ok(())
    }

    /// Other contents for an array, or for one field of its structures.
    fn fill(&self, name: &str, element: &Type, fields: &[u32], fill: &Fill) -> Result<Doc> {
        let structs = &self.printer.cx.module.structs;
        let (mut ty, mut place, mut loops) = (element, "x".to_string(), String::new());
        for (depth, field) in fields.iter().enumerate() {
            if matches!(ty, Type::Array(..)) {
                let inner = format!("x{depth}");
                loops += &format!("for (auto &{inner} : {place}) ");
                (ty, place) = (ty.innermost(), inner);
            }
            let Type::Struct(id) = ty else { break };
            let Some(f) = structs.get(id.0 as usize).and_then(|s| s.fields.get(*field as usize))
            else {
                break;
            };
            place += &format!(".{}", f.name);
            ty = &f.ty;
        }
        let each = |set: &str, args: Vec<Doc>, tail: String| {
            let args = [vec![text(&place)], args].concat();
            let open = format!("{name}.each([&](auto &x, size_t i) {{ (void)i; {loops}{set}(");
            list(&open, args, &format!("{tail}); }});"))
        };
        let value = |e: &Expr| self.printer.expr(e).map(|p| p.doc);
        Ok(match fill {
            Fill::Zeros => text(format!("{name}.fill(0.0, 0.0);")),
            Fill::Iota => text(format!("{name}.count_up();")),
            Fill::Within(low, high) => {
                each("within", vec![value(low)?, value(high)?], String::new())
            }
            Fill::Between(low, high) => {
                let ends = [low, high].map(|x| text(format!("{x:?}")));
                each("between", ends.into(), String::new())
            }
            Fill::Shuffled(first) => {
                each("put", vec![value(first)?], format!(" + {name}.shuffled(i)"))
            }
            Fill::Offsets(last) => each("put", vec![value(last)?], format!(" * {name}.part(i)")),
        })
    }

    fn extents(&self, id: VarId, v: &Var) -> Result<Vec<Doc>> {
        let count = self.test.extents.iter().find(|(var, _)| *var == id).map(|e| &e.1);
        let shape: Vec<&Expr> = match (count, &v.shape) {
            (Some(count), _) => vec![count],
            (None, Some(shape)) => shape.iter().collect(),
            (None, None) => return Ok(vec![text("1")]),
        };
        let size = |e: &&Expr| -> Result<Doc> {
            let p = self.printer.expr(e)?;
            Ok(match p.literal {
                Some(_) => p.doc,
                None => cat([text("(size_t)"), p.at_least(prec::UNARY)]),
            })
        };
        shape.iter().map(size).collect()
    }

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
        out.gap();
        for (id, _) in self.arrays() {
            out.line(&format!("{}.upload();", self.printer.name(id)));
        }
        out.doc(&cat([text("check("), self.launch(), text(", \"launch\");")]));
        out.line("check(cudaDeviceSynchronize(), \"kernel\");");
        let mut args = vec![];
        for (id, v) in self.params() {
            let name = self.printer.name(id);
            let pointee = v.ty.pointee().map(Type::innermost);
            args.push(text(match (pointee, &v.ty) {
                // The original loops have structures of their own, so that their functions are not those of the kernel.
                (Some(ty @ Type::Struct(_)), _) => {
                    format!("(reference::{} *){name}.host", self.spell(ty)?)
                }
                (Some(_), _) => format!("{name}.host"),
                (None, ty @ Type::Struct(_)) => format!("(reference::{} &){name}", self.spell(ty)?),
                (None, _) => name.to_string(),
            }));
        }
        let function = self.printer.cx.names.function(self.test.function);
        let call = list(&format!("reference::{function}("), args, ")");
        match self.printer.function.ret.scalar() {
            Some(_) => {
                let left = text(format!("{}.host[0]", self.own("result")));
                out.doc(&crate::stmt::assignment(left, "=", call));
            }
            None => out.doc(&cat([call, text(";")])),
        }
        Ok(())
    }

    fn verdict(&self, out: &mut Out) -> Result<()> {
        out.gap();
        let outputs = self.arrays().filter(|(_, v)| is_output(v));
        let mut outputs: Vec<String> =
            outputs.map(|(id, _)| self.printer.name(id).to_string()).collect();
        if self.printer.function.ret.scalar().is_some() {
            outputs.push(self.own("result"));
        }
        if outputs.is_empty() {
            return Err(EmitError::new("a test without outputs", &self.printer.function.origin));
        }
        let same = self.own("same");
        for (i, name) in outputs.iter().enumerate() {
            out.line(&match i {
                0 => format!("bool {same} = {name}.compare();"),
                _ => format!("{same} = {name}.compare() && {same};"),
            });
        }
        let title = &self.emit.name;
        out.line(&format!("printf(\"{title}: %s\\n\", {same} ? \"equal\" : \"DIFFERENT\");"));
        let ms = self.own("ms");
        out.line(&format!("const double {ms} = median_ms([&] {{"));
        out.depth += 1;
        out.doc(&cat([text("return "), self.launch(), text(";")]));
        out.depth -= 1;
        out.line("});");
        out.line(&format!("printf(\"{title}: %.4f ms\\n\", {ms});"));
        out.line(&format!("return {same} ? 0 : 1;"));
        Ok(())
    }
}

/// Names of the program that no variable may take.
const NAMES: &str = "argc argv Array check compare each_number set as_double tolerance median_ms status random_unit within between put x";

const SUPPORT: &str = "\
// Stops the program when a call of the CUDA runtime failed.
static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, \"%s: %s\\n\", what, cudaGetErrorString(status));
    exit(2);
}

// The next of a fixed sequence of numbers in [0, 1).
inline double random_unit() {
    static unsigned long long state = 0x9e3779b97f4a7c15ull;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

template <class T>
static double as_double(T x) {
    return (double)x;
}

template <class T>
static void set(T &x, double value) {
    x = (T)(float)value;
}

// The difference that a number may have: none for integers; for reals the rounding errors of some
// operations, in which the compiler may make one of a * b + c.
template <class T>
static double tolerance(double x) {
    if (std::is_integral<T>::value) return 0.0;
    const int digits = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : 11;
    return 256.0 * ldexp(1.0, -digits) * std::max(1.0, fabs(x));
}

// Calls f for each number of two values of the same type, side by side.
template <class T, class F>
static void each_number(T &a, T &b, F f) {
    f(a, b);
}

template <class T, size_t n, class F>
static void each_number(T (&a)[n], T (&b)[n], F f) {
    for (size_t i = 0; i < n; ++i) each_number(a[i], b[i], f);
}
";

const FILLS: &str = "\
// Random integers from low to high, both included.
template <class T>
static void within(T &numbers, long long low, long long high) {
    const double room = high > low ? (double)(high - low) + 1.0 : 1.0;
    each_number(numbers, numbers, [&](auto &x, auto &) {
        x = (std::decay_t<decltype(x)>)(low + (long long)(random_unit() * room));
    });
}

// Random reals from low to high.
template <class T>
static void between(T &numbers, double low, double high) {
    each_number(numbers, numbers, [&](auto &x, auto &) { set(x, low + random_unit() * (high - low)); });
}

template <class T>
static void put(T &numbers, double value) {
    each_number(numbers, numbers, [&](auto &x, auto &) { x = (std::decay_t<decltype(x)>)value; });
}
";

const COMPARE: &str = "\
// An array of the test, on both sides.
template <class T>
struct Array {
    const char *name;
    size_t count = 1;
    T *host, *device;
    std::vector<size_t> order;

    Array(const char *name, std::vector<size_t> extents) : name(name) {
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

    // Random reals from low to high; integers from 0 to 15 unless both are 0.
    void fill(double low, double high) {
        for (size_t i = 0; i < count; ++i) {
            each_number(host[i], host[i], [&](auto &x, auto &) {
                const double u = random_unit();
                const bool whole = std::is_integral<std::decay_t<decltype(x)>>::value;
                set(x, whole ? (low == high ? low : floor(16.0 * u)) : low + u * (high - low));
            });
        }
    }

    // 0, 1, 2 …
    void count_up() {
        size_t next = 0;
        for (size_t i = 0; i < count; ++i) {
            each_number(host[i], host[i], [&](auto &x, auto &) { set(x, (double)next++); });
        }
    }

    // Changes elements, one after the other.
    template <class F>
    void each(F change) {
        for (size_t i = 0; i < count; ++i) change(host[i], i);
    }

    // Each number below the count once, in an order without pattern.
    size_t shuffled(size_t i) {
        if (order.size() != count) {
            order.resize(count);
            for (size_t k = 0; k < count; ++k) order[k] = k;
            for (size_t k = count; k > 1; --k) {
                std::swap(order[k - 1], order[(size_t)(random_unit() * k)]);
            }
        }
        return order[i];
    }

    // From 0 at the first element to 1 at the last.
    double part(size_t i) const {
        return count > 1 ? (double)i / (double)(count - 1) : 1.0;
    }

    void upload() {
        check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice), name);
    }

    // Whether the device holds what the host does; prints the first difference.
    bool compare() {
        T *got = (T *)malloc(std::max<size_t>(1, count) * sizeof(T));
        if (!got) exit(2);
        check(cudaMemcpy(got, device, count * sizeof(T), cudaMemcpyDeviceToHost), name);
        bool same = true;
        for (size_t i = 0; i < count && same; ++i) {
            int number = 0;
            each_number(got[i], host[i], [&](auto &a, auto &b) {
                const double x = as_double(a), y = as_double(b);
                const bool near = fabs(x - y) <= tolerance<std::decay_t<decltype(a)>>(y);
                if (same && !(a == b || (x != x && y != y) || near)) {
                    printf(\"%s[%zu], number %d is %.9g, should be %.9g\\n\", name, i, number, x, y);
                    same = false;
                }
                ++number;
            });
        }
        free(got);
        return same;
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
