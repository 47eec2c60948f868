//! Memory of a launch: values that tell elements apart, in arrays as long as the unmodified kernel needs.

mod literals;
mod same;
mod tags;

pub use literals::{near_seeds, prepare_beside};
pub use same::holds_same;
pub use tags::{Data, SEEDS_A_WAY, Values};
use tags::{SMALL, Tags};

use std::collections::HashMap;

use warpsmith_emu::{
    Arg, Buffer, BufferId, Checks, DeviceMemory, LaunchConfig, Options, Outcome, Rule,
    device_pointer,
};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, Module, Scalar, Span, Type, Value};

use crate::launch::Launch;
use crate::mix::Mix;
use crate::program::{self, Limits, Program};

/// Memory and arguments of a launch.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The arrays, filled.
    pub memory: DeviceMemory,
    /// Grid, block, dynamic shared memory and arguments.
    pub config: LaunchConfig,
    /// Parameters that are arrays, in the order of the buffers.
    pub arrays: Vec<String>,
    /// The blocks that are run; empty: all.
    pub only: Vec<u32>,
    /// What shared memory holds before anybody stores there: no number that a kernel would mean.
    pub shared_fill: u8,
}

impl Prepared {
    /// Runs the blocks of the launch that are to be run.
    ///
    /// # Errors
    /// As [`program::run`].
    pub fn run(&mut self, program: &Program, checks: Checks) -> Result<Outcome, Diagnostic> {
        self.run_limited(program, checks, Limits::of(program))
    }

    fn run_limited(
        &mut self,
        program: &Program,
        checks: Checks,
        limits: Limits,
    ) -> Result<Outcome, Diagnostic> {
        let options = Options {
            checks,
            blocks: (!self.only.is_empty()).then(|| self.only.as_slice().into()),
            max_total_steps: limits.steps,
            max_memory: limits.memory,
            shared_fill: self.shared_fill,
            ways: true,
            ..Options::default()
        };
        program::emulate(program, &self.config, &mut self.memory, options)
    }
}

/// Lengths in bytes of the arrays of a launch, in the order of the parameters.
pub type Lengths = Vec<usize>;

/// Fills memory for a launch. Without lengths, arrays grow as the kernel needs.
///
/// # Errors
/// W703 for a parameter that no value can be chosen for.
pub fn prepare(
    program: &Program,
    launch: &Launch,
    lengths: Option<&Lengths>,
    data: Data<'_>,
) -> Result<Prepared, Diagnostic> {
    let function = program.module.function(program.kernel);
    let memory = DeviceMemory::new(&program.module);
    let (tags, mix) = (Tags::new(data, launch), Mix(data.seed));
    let (arrays, passed) = (vec![], HashMap::new());
    let (aliased, absent) = (&launch.aliased[..], &launch.absent[..]);
    let mut filling =
        Filling { program, lengths, data, memory, tags, mix, arrays, aliased, absent, passed };
    variables(launch, &mut filling);
    let mut args = vec![];
    let mut objects = vec![];
    for param in &function.params {
        let var = function.var(*param);
        let sized = |n: &str| launch.integers.contains_key(n);
        if let Some((ty, fields)) = object(&program.module, &var.ty, &var.name, &sized) {
            let bytes = filling.structure(ty, &var.name, &fields, launch);
            objects.push((args.len(), &var.name, ty, bytes));
            args.push(Arg::Bytes(vec![]));
            continue;
        }
        args.push(match &var.ty {
            Type::Pointer { pointee, .. } => {
                let buffer = filling.array(&var.name, pointee);
                match launch.absent.contains(&var.name) {
                    true => Arg::Null,
                    false => Arg::Pointer { buffer, offset: 0 },
                }
            }
            Type::Scalar(s) if s.is_float() => {
                let value = filling.tags.value(*s);
                Arg::Bytes(value.bits.to_le_bytes()[..s.bytes() as usize].to_vec())
            }
            Type::Scalar(s) => {
                let value = Value::int(*s, launch.integers.get(&var.name).copied().unwrap_or(1));
                Arg::Bytes(value.bits.to_le_bytes()[..s.bytes() as usize].to_vec())
            }
            ty => match fields(&program.module, ty, &var.name) {
                Some(fields) => Arg::Bytes(filling.structure(ty, &var.name, &fields, launch)),
                None => return Err(no_value(&var.name, var.origin.span)),
            },
        });
    }
    let Filling { mut memory, arrays, .. } = filling;
    // Behind all arrays, which are counted.
    for (arg, name, ty, bytes) in objects {
        let (name, element) = (name.clone(), Some(ty.clone()));
        let buffer = Buffer { name, element, bytes, exact: true, ..Buffer::default() };
        args[arg] = Arg::Pointer { buffer: memory.add(buffer), offset: 0 };
    }
    let config = LaunchConfig {
        kernel: program.kernel,
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.dynamic_shared,
        cluster: None,
        args,
    };
    let shared_fill = 0x40 | (Mix(data.seed).next() & 0x3f) as u8;
    Ok(Prepared { memory, config, arrays, only: launch.only.clone(), shared_fill })
}

/// Memory that is being filled, array by array.
struct Filling<'a> {
    program: &'a Program,
    lengths: Option<&'a Lengths>,
    data: Data<'a>,
    memory: DeviceMemory,
    tags: Tags,
    mix: Mix,
    arrays: Vec<String>,
    /// Pointers that the array of an earlier one is passed for.
    aliased: &'a [[String; 2]],
    /// Those that are null.
    absent: &'a [String],
    passed: HashMap<String, BufferId>,
}

impl Filling<'_> {
    /// The array that a pointer goes to; of a member of a structure the structure's name tells whether it is tagged.
    fn array(&mut self, name: &str, pointee: &Type) -> BufferId {
        let length = self.lengths.and_then(|l| l.get(self.arrays.len()).copied());
        let element = pointee.innermost().clone();
        let told_apart = !matches!(self.data.kind, Values::Mixed | Values::Near);
        let tagged = told_apart && self.data.is_tagged(name);
        let (program, tags, mix) = (self.program, &mut self.tags, &mut self.mix);
        let bytes = match length {
            Some(n) => contents(program, &element, n, tagged, tags, mix),
            None => vec![],
        };
        let pattern = match length {
            Some(_) => vec![],
            None => contents(program, &element, 4096, false, tags, mix),
        };
        self.arrays.push(name.to_string());
        let own = self.memory.add(Buffer {
            name: name.to_string(),
            element: Some(element),
            bytes,
            grows: length.is_none(),
            exact: true,
            pattern: pattern.into(),
            ..Buffer::default()
        });
        let of = |[a, b]: &[String; 2]| match name {
            _ if a == name => self.passed.get(b).copied(),
            _ if b == name => self.passed.get(a).copied(),
            _ => None,
        };
        let passed = self.aliased.iter().find_map(of).unwrap_or(own);
        self.passed.insert(name.to_string(), passed);
        passed
    }

    /// The bytes of a structure, with arrays for its pointers.
    fn structure(&mut self, ty: &Type, name: &str, fields: &[Field], launch: &Launch) -> Vec<u8> {
        let mut bytes = by_value(self.program, ty, fields, launch, &mut self.tags);
        self.pointers(ty, name, 0, &mut bytes);
        bytes
    }

    /// Arrays for the pointers in a structure.
    fn pointers(&mut self, ty: &Type, name: &str, at: usize, bytes: &mut [u8]) {
        let module = &self.program.module;
        match ty {
            Type::Pointer { pointee, .. } => {
                let buffer = self.array(name, pointee);
                if !self.absent.iter().any(|n| n == name) {
                    let pointer = device_pointer(buffer, 0).to_le_bytes();
                    bytes[at..at + pointer.len()].copy_from_slice(&pointer);
                }
            }
            Type::Array(element, n) => {
                let step = layout_of(module, element).size as usize;
                for i in 0..*n as usize {
                    self.pointers(element, &format!("{name}[{i}]"), at + i * step, bytes);
                }
            }
            Type::Struct(id) => {
                for f in &module.structs[id.0 as usize].fields {
                    let inner = format!("{name}.{}", f.name);
                    self.pointers(&f.ty, &inner, at + f.offset as usize, bytes);
                }
            }
            _ => {}
        }
    }
}

fn no_value(name: &str, span: Option<Span>) -> Diagnostic {
    let error = Diagnostic::error("W703", format!("no value can be chosen for parameter `{name}`"))
        .help("pass numbers, pointers, and structures of these to the kernel");
    match span {
        Some(span) => error.label(span, "it holds more than numbers and pointers to them"),
        None => error,
    }
}

/// A number in a value: its name, `size.x`, and where it is.
pub type Field = (String, usize, Scalar);

/// The numbers that a structure or vector is made of, beside pointers to some; `None`: it holds something else, too.
pub fn fields(module: &Module, ty: &Type, name: &str) -> Option<Vec<Field>> {
    let mut all = vec![];
    numbers(module, ty, name, 0, &mut all).then_some(all)
}

/// The one structure that a pointer goes to, `p->nx`, with its numbers: it holds pointers itself, or a size of the kernel.
pub fn object<'a>(
    module: &Module,
    ty: &'a Type,
    name: &str,
    sized: &dyn Fn(&str) -> bool,
) -> Option<(&'a Type, Vec<Field>)> {
    let Type::Pointer { pointee, .. } = ty else { return None };
    let Type::Struct(_) = **pointee else { return None };
    let fields = fields(module, pointee, name)?;
    let own = points(module, pointee) || fields.iter().any(|(n, ..)| sized(n));
    own.then_some((pointee, fields))
}

fn numbers(module: &Module, ty: &Type, name: &str, at: usize, all: &mut Vec<Field>) -> bool {
    match ty {
        Type::Scalar(s) => all.push((name.to_string(), at, *s)),
        Type::Vector(s, n) => {
            let letters = ["x", "y", "z", "w"].iter().take((*n).into()).enumerate();
            all.extend(
                letters.map(|(i, l)| (format!("{name}.{l}"), at + i * s.bytes() as usize, *s)),
            );
        }
        Type::Array(element, n) => {
            let step = layout_of(module, element).size as usize;
            return (0..*n as usize)
                .all(|i| numbers(module, element, &format!("{name}[{i}]"), at + i * step, all));
        }
        Type::Struct(id) => {
            return module.structs[id.0 as usize].fields.iter().all(|f| {
                let name = format!("{name}.{}", f.name);
                numbers(module, &f.ty, &name, at + f.offset as usize, all)
            });
        }
        // What is behind another pointer there is not known.
        Type::Pointer { pointee, .. } => {
            return numbers(module, pointee, name, 0, &mut vec![]) && !points(module, pointee);
        }
        _ => return false,
    }
    true
}

/// Whether a pointer is in a value.
fn points(module: &Module, ty: &Type) -> bool {
    match ty {
        Type::Pointer { .. } => true,
        Type::Array(element, _) => points(module, element),
        Type::Struct(id) => {
            module.structs[id.0 as usize].fields.iter().any(|f| points(module, &f.ty))
        }
        _ => false,
    }
}

/// The bytes of a structure: whole numbers as the launch has them by name, reals that tell them apart.
fn by_value(
    program: &Program,
    ty: &Type,
    fields: &[Field],
    launch: &Launch,
    tags: &mut Tags,
) -> Vec<u8> {
    let mut bytes = vec![0; layout_of(&program.module, ty).size as usize];
    for (name, at, s) in fields {
        let value = match s.is_float() {
            true => tags.value(*s),
            false => Value::int(*s, launch.integers.get(name).copied().unwrap_or(1)),
        };
        let n = s.bytes() as usize;
        bytes[*at..*at + n].copy_from_slice(&value.bits.to_le_bytes()[..n]);
    }
    bytes
}

/// Variables of the device hold what the launch says; those that nobody sets hold values, too.
fn variables(launch: &Launch, filling: &mut Filling<'_>) {
    let module = &filling.program.module;
    for (global, buffer) in module.globals.iter().zip(&mut filling.memory.globals) {
        if let Some(s) = global.ty.innermost().scalar().filter(|_| global.init.is_none()) {
            buffer.poison.clear();
            let several = matches!(global.ty, Type::Array(..));
            let size = s.bytes() as usize;
            for chunk in buffer.bytes.chunks_exact_mut(size) {
                let value = match s.is_float() {
                    true => filling.tags.value(s),
                    false if several => Value::int(s, (filling.mix.next() % SMALL) as i64),
                    false => break,
                };
                chunk.copy_from_slice(&value.bits.to_le_bytes()[..size]);
            }
        }
        let held = fields(module, &global.ty, &global.name).unwrap_or_default();
        for (name, at, s) in held {
            if let Some(value) = launch.integers.get(&name) {
                let n = s.bytes() as usize;
                let value = Value::int(s, *value).bits.to_le_bytes();
                buffer.bytes[at..at + n].copy_from_slice(&value[..n]);
            }
        }
    }
}

/// The numbers that a value is made of, and where they are in it.
fn parts(program: &Program, ty: &Type, at: usize, all: &mut Vec<(usize, Scalar)>) {
    let size = |ty: &Type| layout_of(&program.module, ty).size as usize;
    match ty {
        Type::Scalar(s) => all.push((at, *s)),
        Type::Vector(s, n) => {
            all.extend((0..usize::from(*n)).map(|i| (at + i * s.bytes() as usize, *s)));
        }
        Type::Array(element, n) => {
            let step = size(element);
            (0..*n as usize).for_each(|i| parts(program, element, at + i * step, all));
        }
        Type::Struct(id) => {
            for f in &program.module.structs[id.0 as usize].fields {
                parts(program, &f.ty, at + f.offset as usize, all);
            }
        }
        _ => {}
    }
}

/// Fills bytes with numbers of `N` bytes each.
fn fill<const N: usize>(bytes: &mut [u8], mut next: impl FnMut() -> u64) {
    for chunk in bytes.chunks_exact_mut(N) {
        chunk.copy_from_slice(&next().to_le_bytes()[..N]);
    }
}

fn contents(
    program: &Program,
    ty: &Type,
    length: usize,
    tagged: bool,
    tags: &mut Tags,
    mix: &mut Mix,
) -> Vec<u8> {
    let mut scalars = vec![];
    parts(program, ty, 0, &mut scalars);
    let size = (layout_of(&program.module, ty).size as usize).max(1);
    let mut bytes = vec![0; length.next_multiple_of(size)];
    match scalars.as_slice() {
        // Most arrays are of one of these, and may be long where constants of the file are their sizes.
        [(0, Scalar::F32)] if size == 4 => fill::<4>(&mut bytes, || tags.value(Scalar::F32).bits),
        [(0, Scalar::F64)] if size == 8 => fill::<8>(&mut bytes, || tags.value(Scalar::F64).bits),
        _ => {
            let mut value = |s: Scalar| match s.is_float() || tagged {
                true => tags.value(s),
                // Half of them are 0 and a quarter 1, so that counts and comparisons come out all ways.
                false if tags.way.is_some() => {
                    Value::int(s, mix.next().trailing_zeros().min(6).into())
                }
                false => Value::int(s, (mix.next() % tags.span) as i64),
            };
            for element in bytes.chunks_exact_mut(size) {
                for (at, s) in &scalars {
                    let n = s.bytes() as usize;
                    element[*at..*at + n].copy_from_slice(&value(*s).bits.to_le_bytes()[..n]);
                }
            }
        }
    }
    bytes.truncate(length);
    bytes
}

/// What a launch of the unmodified kernel needs.
#[derive(Debug)]
pub struct Needed {
    /// How long its arrays are.
    pub lengths: Lengths,
    /// What else it did: its findings say whether a launch suits it.
    pub outcome: Outcome,
    /// It stored nothing to its arrays.
    pub idle: bool,
}

/// Runs the unmodified kernel on arrays that grow as it needs.
///
/// # Errors
/// What the emulator refuses.
pub fn needed(program: &Program, launch: &Launch, data: Data<'_>) -> Result<Needed, Diagnostic> {
    let mut prepared = prepare(program, launch, None, data)?;
    let limits = match launch.of_file {
        Some(_) => Limits::OF_FILE,
        None if launch.far => Limits::FAR,
        None if launch.beyond => Limits::BEYOND,
        None if launch.integers.values().any(|v| *v <= 0) => Limits::EMPTY,
        None => Limits::of(program),
    };
    let outcome = prepared.run_limited(program, Checks::ALL, limits)?;
    let arrays = || prepared.memory.buffers.iter().take(prepared.arrays.len());
    // Arrays of structures have whole ones, whichever members the kernel reads.
    let whole = |b: &Buffer| {
        let size = b.element.as_ref().map_or(1, |t| layout_of(&program.module, t).size as usize);
        b.bytes.len().next_multiple_of(size.max(1))
    };
    let lengths = arrays().map(whole).collect();
    let kept = |b: &Buffer| {
        let mut pieces = b.bytes.chunks(b.pattern.len().max(1));
        pieces.all(|piece| b.pattern.get(..piece.len()).is_none_or(|p| p == piece))
    };
    let idle = arrays().all(kept);
    Ok(Needed { lengths, outcome, idle })
}

/// How often arrays are made longer before what is read beyond them counts.
const LONGER: usize = 4;

/// Runs what `prepare` puts together, an unmodified kernel, with lengths that grow until they suffice for its data: those that lengths were found with may
/// have sent threads another way.
///
/// # Errors
/// What the emulator refuses.
pub fn run_within(
    (program, limits): (&Program, Limits),
    lengths: &mut Lengths,
    mut prepare: impl FnMut(&Lengths) -> Result<Prepared, Diagnostic>,
) -> Result<(Outcome, Prepared), Diagnostic> {
    let mut tries = 0;
    loop {
        let mut p = prepare(lengths)?;
        let outcome = p.run_limited(program, Checks::NONE, limits)?;
        tries += 1;
        let leaves = outcome.findings.iter().any(|f| f.rule == Rule::OutOfBounds);
        if !leaves || tries == LONGER || !lengthen((program, limits), lengths, prepare(lengths)?)? {
            return Ok((outcome, p));
        }
    }
}

/// Whether arrays have to be longer for a run, which they then are.
fn lengthen(
    (program, limits): (&Program, Limits),
    lengths: &mut Lengths,
    p: Prepared,
) -> Result<bool, Diagnostic> {
    let mut p = p;
    let before = lengths.clone();
    p.memory.buffers.iter_mut().take(p.arrays.len()).for_each(|b| b.grows = true);
    p.run_limited(program, Checks::NONE, limits)?;
    let grown = p.memory.buffers.iter().map(|b| b.bytes.len());
    lengths.iter_mut().zip(grown).for_each(|(known, n)| *known = n.max(*known));
    Ok(*lengths != before)
}
