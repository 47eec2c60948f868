//! From C source to a translated program, and both run on the same data.
#![allow(dead_code)] // every test file uses its own part

use std::collections::BTreeMap;

use warpsmith_emu::{
    Arg as DeviceArg, Buffer, BufferId, Checks, DeviceMemory, LaunchConfig, Options, Outcome,
};
use warpsmith_front::{cloops, parse, pp};
use warpsmith_ir::interp::{self, Arg, LaunchRequest, Launcher, Limits, Memory, NoLaunch};
use warpsmith_ir::{
    Expr, ExprKind, FuncId, Function, GlobalId, Module, Scalar, SourceMap, Type, Value, VarId,
    visit,
};
use warpsmith_opt::kernel::Nest;
use warpsmith_opt::kernel::OfGpu;
use warpsmith_opt::rewrite::precision;
use warpsmith_opt::{Kernel, Program, Schedule, analysis::guards, lower, schedule, translate};

/// The messages of a schedule that is refused.
#[track_caller]
pub fn refused_text(source: &str, schedule: &str) -> String {
    match Input::new(source).scheduled(schedule) {
        Ok(_) => panic!("`{schedule}` is taken"),
        Err(text) => text,
    }
}

/// A lowered C function with the files its spans point into.
pub struct Input {
    pub module: Module,
    pub function: FuncId,
    pub sources: SourceMap,
    /// Shared memory of a block in bytes.
    pub gpu: OfGpu,
}

impl Input {
    pub fn new(source: &str) -> Input {
        let mut sources = SourceMap::new();
        let options = parse::ParseOptions::new(pp::Language::C);
        let parsed =
            parse::parse("input.c", source.as_bytes(), &options, &pp::DiskLoader, &mut sources);
        let parsed = parsed.unwrap_or_else(|e| panic!("{}", render(&e, &sources)));
        let lowered = cloops::lower_c(&parsed.unit, None);
        let lowered = lowered.unwrap_or_else(|e| panic!("{}", render(&e, &sources)));
        let gpu = OfGpu::default();
        Input { module: lowered.module, function: lowered.function, sources, gpu }
    }

    pub fn kernel(&self) -> Kernel {
        let kernel = Kernel::new(self.module.clone(), self.function);
        Kernel { gpu: self.gpu, ..kernel }
    }

    pub fn translate(&self) -> (Program, Schedule) {
        let result = translate(&self.module, self.function, &self.sources);
        result.unwrap_or_else(|e| panic!("{}", render(&e, &self.sources)))
    }

    /// The program that a schedule makes.
    pub fn scheduled(&mut self, text: &str) -> Result<Program, String> {
        let file = self.sources.add("input.sched", text);
        let kernel = self.kernel();
        let result = schedule::parse(&self.sources, file)
            .and_then(|s| schedule::replay(&kernel, &s, &self.sources))
            .and_then(|k| lower::lower(&k, &self.sources));
        result.map_err(|e| render(&e, &self.sources))
    }

    /// The messages of a translation that must fail.
    pub fn refusal(&self) -> String {
        match translate(&self.module, self.function, &self.sources) {
            Ok((_, schedule)) => panic!("translated by\n{schedule}"),
            Err(e) => render(&e, &self.sources),
        }
    }
}

pub fn render(diagnostics: &[warpsmith_ir::Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|d| d.render(sources, false) + "\n").collect()
}

/// Values of the scalar parameters by name.
pub type Sizes = BTreeMap<&'static str, i64>;

/// Runs C function and translation on the same data and compares every array and the result, bit for bit. The data
/// are small integers, whose sums are exact in any order.
pub fn check(source: &str, sizes: &[&[(&'static str, i64)]]) {
    let input = Input::new(source);
    let (program, _) = input.translate();
    for point in sizes {
        check_program(&input, &program, &point.iter().copied().collect());
    }
}

/// Runs the program that a schedule makes at the sizes, and returns its text; `SHOW=1` prints it.
pub fn check_scheduled(source: &str, schedule: &str, sizes: &[&[(&'static str, i64)]]) -> String {
    let mut input = Input::new(source);
    let program = input.scheduled(schedule).unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    if let Some(to) = program.precision {
        input.module = precision::retyped(&input.module, to);
    }
    let text = warpsmith_emit::module_file(&program.module).unwrap();
    if std::env::var_os("SHOW").is_some() {
        eprintln!("// {schedule}\n{text}");
    }
    for point in sizes {
        check_program(&input, &program, &point.iter().copied().collect());
    }
    check_steps(&mut input, schedule, sizes);
    text
}

/// Interprets the function after every step of a schedule at the smallest sizes: it computes what it did, and no two
/// iterations that are bound to threads touch the same element.
fn check_steps(input: &mut Input, schedule: &str, sizes: &[&[(&'static str, i64)]]) {
    let size = |(_, n): &(&str, i64)| *n.max(&1);
    let work = |p: &&&[(&str, i64)]| p.iter().map(size).fold(1, i64::saturating_mul);
    let Some(point) = sizes.iter().filter(|p| work(p) <= 20_000).max_by_key(work) else { return };
    let sizes: Sizes = point.iter().copied().collect();
    let function = input.module.function(input.function);
    let (args, buffers) = arguments(function, &sizes, 0);
    let limits = Limits::default();
    let mut expected = Memory::new(buffers.clone());
    let call = |module: &Module, args: &[Arg], memory: &mut Memory| {
        interp::call(module, input.function, args, memory, &limits, &mut NoLaunch)
    };
    let result = call(&input.module, &args, &mut expected).expect("the reference runs");
    let steps: Vec<&str> = schedule.split(['\n', ';']).collect();
    for taken in 1..=steps.len() {
        let file = input.sources.add("input.sched", steps[..taken].join("\n"));
        let kernel = Kernel { gpu: input.gpu, ..Kernel::new(input.module.clone(), input.function) };
        let replayed = schedule::parse(&input.sources, file)
            .and_then(|s| schedule::replay(&kernel, &s, &input.sources));
        let Ok(kernel) = replayed else { continue };
        // Another precision is another program; memory that clauses give to each iteration is not in the tree.
        if kernel.precision.is_some() || kernel.nests.values().any(|n| has_memory(&kernel, n)) {
            return;
        }
        let (mut own, mut memory) = (args.clone(), Memory::new(buffers.clone()));
        add_derived(&kernel, &sizes, &mut own, &mut memory);
        let got = call(&kernel.module, &own, &mut memory)
            .unwrap_or_else(|e| panic!("after {:?} at {sizes:?}: {e}", &steps[..taken]));
        assert_eq!(got, result, "the result after {:?} at {sizes:?}", &steps[..taken]);
        let same = expected.buffers.iter().zip(&memory.buffers).all(|(e, a)| e == a);
        assert!(same, "an array differs after {:?} at {sizes:?}", &steps[..taken]);
    }
}

/// Whether clauses of a nest name arrays or what pointers lead to.
fn has_memory(kernel: &Kernel, nest: &Nest) -> bool {
    let c = &nest.clauses;
    let own = c.private.iter().chain(&c.first_private).chain(&c.last_private).copied();
    let mut named = own.chain(c.reductions.iter().map(|r| r.var));
    named.any(|v| kernel.func().var(v).ty.scalar().is_none())
}

/// Puts numbers in place of named constants.
fn put_constants(module: &Module, e: &mut Expr) {
    visit::map_subexprs(e, &mut |e| {
        if let ExprKind::Named(id) = &*e.kind {
            *e = Expr::constant(module.constants[id.0 as usize].value);
        }
    });
}

/// Values and memory of the parameters that rewrites made.
fn add_derived(kernel: &Kernel, sizes: &Sizes, args: &mut Vec<Arg>, memory: &mut Memory) {
    let function = kernel.func();
    let mut known = BTreeMap::new();
    let value = |known: &BTreeMap<VarId, i128>, e: &warpsmith_ir::Expr| {
        let given = |v| sizes.get(function.var(v).name.as_str()).map(|n| i128::from(*n));
        let of = |v| known.get(&v).copied().or_else(|| given(v));
        let mut e = e.clone();
        put_constants(&kernel.module, &mut e);
        visit::map_subexprs(&mut e, &mut |e| {
            // All arrays begin at addresses that everything is aligned at.
            if let ExprKind::Cast(address) = &*e.kind
                && address.ty.is_pointer()
            {
                *e = Expr::int(warpsmith_ir::Scalar::U64, 0);
            }
        });
        guards::eval(&e, &of).expect("a value over the sizes")
    };
    for length in &kernel.lengths {
        known.insert(length.var, value(&known, &length.value));
    }
    for p in function.params.iter().skip(args.len()) {
        let var = function.var(*p);
        if let Some(n) = known.get(p) {
            args.push(Arg::Value(Value::int(var.ty.scalar().expect("a number"), *n as i64)));
            continue;
        }
        let count: i128 = var.shape.iter().flatten().map(|e| value(&known, e).max(0)).product();
        let element = var.ty.pointee().and_then(Type::scalar).expect("an array of numbers");
        memory.buffers.push(vec![0; count as usize * element.bytes() as usize]);
        args.push(Arg::Pointer { buffer: memory.buffers.len() - 1, offset: 0 });
    }
}

pub fn check_program(input: &Input, program: &Program, sizes: &Sizes) {
    check_shifted(input, program, sizes, 0);
}

/// As [`check_program`], with arrays that begin so many elements after an address that everything is aligned at.
pub fn check_shifted(input: &Input, program: &Program, sizes: &Sizes, shift: usize) {
    let function = input.module.function(input.function);
    let (mut args, buffers) = arguments(function, sizes, shift);
    let mut expected = Memory::new(buffers.clone());
    let limits = Limits::default();
    let result =
        interp::call(&input.module, input.function, &args, &mut expected, &limits, &mut NoLaunch)
            .unwrap_or_else(|e| panic!("reference at {sizes:?}: {e}"));

    let mut actual = Memory::new(buffers);
    let count = actual.buffers.len();
    let mut push = |bytes: u64, args: &mut Vec<Arg>| {
        actual.buffers.push(vec![0xA5; bytes as usize]);
        args.push(Arg::Pointer { buffer: actual.buffers.len() - 1, offset: 0 });
    };
    let mut result_at = None;
    if let Some(ty) = function.ret.scalar() {
        assert!(program.result_param.is_some());
        push(ty.bytes().into(), &mut args);
        result_at = Some((count, ty));
    }
    if let Some(workspace) = &program.workspace {
        let launcher = program.module.function(program.launcher);
        let size = |v| sizes.get(launcher.var(v).name.as_str()).map(|n| i128::from(*n));
        let mut bytes = workspace.bytes.clone();
        put_constants(&program.module, &mut bytes);
        let bytes = guards::eval(&bytes, &size).expect("bytes over the sizes");
        push(u64::try_from(bytes).expect("a number of bytes"), &mut args);
    }
    let globals = DeviceMemory::new(&program.module).globals;
    let mut device = Device { module: &program.module, globals };
    interp::call(&program.module, program.launcher, &args, &mut actual, &limits, &mut device)
        .unwrap_or_else(|e| panic!("translation at {sizes:?}: {e}"));
    for (k, (e, a)) in expected.buffers.iter().zip(&actual.buffers).enumerate() {
        assert!(e == a, "array {k} differs at {sizes:?}");
    }
    if let (Some((at, ty)), Some(value)) = (result_at, result) {
        let bits = value.bits.to_le_bytes();
        let size = ty.bytes() as usize;
        assert_eq!(actual.buffers[at], bits[..size], "the result differs at {sizes:?}");
    }
}

/// Arguments and buffers for a C function: arrays have the size of their declared shape.
fn arguments(function: &Function, sizes: &Sizes, shift: usize) -> (Vec<Arg>, Vec<Vec<u8>>) {
    let value = |name: &str| *sizes.get(name).unwrap_or_else(|| panic!("no value for `{name}`"));
    let mut buffers: Vec<Vec<u8>> = vec![];
    let args = function.params.iter().map(|p| {
        let var = function.var(*p);
        if let Some(ty) = var.ty.scalar() {
            return Arg::Value(Value::int(ty, value(&var.name)));
        }
        let extents = var.shape.iter().flatten().map(|e| {
            let lookup = |v| Some(i128::from(value(&function.var(v).name)));
            guards::eval(e, &lookup).expect("an extent over parameters").max(0) as usize
        });
        let count: usize = extents.product();
        let element = var.ty.pointee().and_then(Type::scalar).expect("an array of numbers");
        buffers.push(data(element, count + shift, buffers.len()));
        let offset = (shift * element.bytes() as usize) as i64;
        Arg::Pointer { buffer: buffers.len() - 1, offset }
    });
    (args.collect(), buffers)
}

/// Small integers in an order without a pattern that a wrong index could hit.
fn data(ty: Scalar, count: usize, seed: usize) -> Vec<u8> {
    let mut state = seed as u64 * 977 + 12345;
    let mut bytes = vec![];
    for _ in 0..count {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let value = Value::int(ty, (state >> 33) as i64 % 9 - if ty.is_float() { 4 } else { 0 });
        bytes.extend(&value.bits.to_le_bytes()[..ty.bytes() as usize]);
    }
    bytes
}

/// Runs launches in the emulator; any finding is an error.
struct Device<'a> {
    module: &'a Module,
    /// Variables of the device, which outlive a launch.
    globals: Vec<Buffer>,
}

impl Launcher for Device<'_> {
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        let variable = self.globals.get_mut(global.0 as usize).ok_or("no such variable")?;
        (variable.bytes, variable.poison) = (bytes, vec![]);
        Ok(())
    }

    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let mut device = DeviceMemory::new(self.module);
        device.globals = std::mem::take(&mut self.globals);
        for (k, bytes) in std::mem::take(&mut memory.buffers).into_iter().enumerate() {
            let name = format!("buffer{k}");
            device.add(Buffer { name, bytes, ..Buffer::default() });
        }
        let args = request.args.iter().map(|arg| match arg {
            Arg::Value(v) => {
                DeviceArg::Bytes(v.bits.to_le_bytes()[..v.ty.bytes() as usize].to_vec())
            }
            Arg::Pointer { buffer, offset } => {
                DeviceArg::Pointer { buffer: BufferId(*buffer as u32), offset: *offset }
            }
            Arg::Null => DeviceArg::Null,
            Arg::Bytes(b) => DeviceArg::Bytes(b.clone()),
        });
        let launch = LaunchConfig {
            kernel: request.kernel,
            grid: request.grid,
            block: request.block,
            dynamic_shared: request.shared as u32,
            cluster: None,
            args: args.collect(),
        };
        let options = Options { checks: Checks::STRICT, ..Options::default() };
        let outcome = warpsmith_emu::run(self.module, &launch, &mut device, &options);
        self.globals = device.globals;
        memory.buffers = device.buffers.into_iter().map(|b| b.bytes).collect();
        let Outcome { findings, limit, .. } = outcome.map_err(|e| format!("{e:?}"))?;
        match findings.iter().find(|f| !f.rule.is_note()) {
            Some(f) => Err(format!("{}: {}", f.rule.name(), f.message)),
            None if limit.is_some() => Err(format!("{limit:?}")),
            None => Ok(()),
        }
    }
}

/// Values of the scalar parameters, point by point.
pub type Points<'a> = &'a [&'a [(&'static str, i64)]];

/// The text has these pieces, in this order.
#[track_caller]
pub fn has(text: &str, pieces: &[&str]) {
    let mut rest = text;
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => panic!("no `{piece}` (any more) in\n{text}"),
        }
    }
}

/// [`has`], however the lines of the text are broken.
#[track_caller]
pub fn has_flat(text: &str, pieces: &[&str]) {
    has(&text.split_whitespace().collect::<Vec<_>>().join(" "), pieces);
}

pub const GEMM: &str = "
void gemm(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0f;
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}
";

/// The same, added to what the result was, doubled.
pub const SCALED_GEMM: &str = "
void gemm(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 2.0f * C[i][j];
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}
";
