//! The arrays that launches of a kernel get when the program of its file runs: the host code is interpreted, its kernels do nothing.
//!
//! Whatever way pointers go through references, members, lambdas or memory, what arrives at a launch is known. What kernels would have
//! computed is not: statements that ask for it are left out.

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema::{self, Libraries};
use warpsmith_ir::interp::{self, Arg, LaunchRequest, Launcher, Limits, Memory, Unknown};
use warpsmith_ir::{FuncId, Module, Origin, Type, Value};

use super::shape::{base_name, squeezed_arguments};

/// Statements and expressions of the host that are run, at most.
const STEPS: u64 = 60_000_000;
/// Bytes of all arrays: they are only named, and filled no further than the steps go.
const BYTES: u64 = 4 << 30;
/// Numbers that a program may want to be called with.
const ARGUMENTS: usize = 6;
/// Such a number: a size, mostly.
const ARGUMENT: &str = "64";
/// Others, by which programs may choose blocks.
const OTHERS: [&str; 2] = ["7", "1000"];
/// Launches with different arrays that are kept.
const LAUNCHES: usize = 64;

/// Where a pointer leads: the number of an array of the program, and the byte in it.
pub type Place = (usize, i64);

/// The pointers of one launch: the parameter, `a` or `grid.data`, and where it leads.
pub type Pointers = Vec<(String, Place)>;

/// What runs of a program show of the launches of a kernel.
#[derive(Debug, Default)]
pub struct Seen {
    /// Each way to pass arrays once.
    pub pointers: Vec<Pointers>,
    /// The blocks of the instance that was asked for, each once.
    pub blocks: Vec<[u32; 3]>,
}

/// The launches of a kernel by the `main` of its file; none where that is not there or not understood.
pub fn launches(unit: &TranslationUnit, libraries: &Libraries<'_>, kernel: &str) -> Seen {
    let mut first = Seen::default();
    with_main(unit, libraries, &mut |module, main, most| {
        let runs = (0..=most).map(|count| run(module, main, &[ARGUMENT].repeat(count), kernel));
        first = runs.into_iter().find(|seen| !seen.pointers.is_empty()).unwrap_or_default();
    });
    first
}

/// The blocks of all launches of a kernel, whatever numbers its program is called with, as far as some few show it.
pub fn blocks(unit: &TranslationUnit, libraries: &Libraries<'_>, kernel: &str) -> Vec<[u32; 3]> {
    let mut all = vec![];
    with_main(unit, libraries, &mut |module, main, most| {
        let usual = (0..=most).map(|count| [ARGUMENT].repeat(count));
        let others = OTHERS.iter().filter(|_| most > 0).map(|word| [*word].repeat(most));
        for words in usual.chain(others) {
            all.extend(run(module, main, &words, kernel).blocks);
        }
    });
    all
}

/// Shows the module and `main` of a program, and with how many numbers it may be called.
fn with_main(
    unit: &TranslationUnit,
    libraries: &Libraries<'_>,
    see: &mut dyn FnMut(&Module, FuncId, usize),
) {
    if !sema::has_host_function(unit, "main") {
        return;
    }
    let Ok(lowered) = sema::lower_program(unit, libraries, "main") else { return };
    let Some(main) = lowered.host_functions.first() else { return };
    let module = &lowered.module;
    let most = if module.function(*main).params.is_empty() { 0 } else { ARGUMENTS };
    see(module, *main, most);
}

/// One run of the program, called with some numbers.
fn run(module: &Module, main: FuncId, numbers: &[&str], kernel: &str) -> Seen {
    let mut memory = Memory::default();
    let words: Vec<String> = ["program"].iter().chain(numbers).map(|w| w.to_string()).collect();
    let values = memory.main_arguments(module.function(main), &words);
    let limits = Limits { max_steps: STEPS, ..Limits::default() };
    let mut notes = Notes { module, kernel, seen: Seen::default() };
    // How far it came is enough.
    let _ = interp::call(module, main, &values, &mut memory, &limits, &mut notes);
    notes.seen
}

/// Takes down what launches of a kernel get.
struct Notes<'m> {
    module: &'m Module,
    kernel: &'m str,
    seen: Seen,
}

impl Notes<'_> {
    /// The pointers of a value, and of the members of one that is a structure.
    fn pointers(&self, ty: &Type, name: &str, bytes: &[u8], at: usize, found: &mut Pointers) {
        match ty {
            Type::Pointer { .. } => {
                let own = bytes.get(at..at + 8).and_then(|b| b.try_into().ok());
                found
                    .extend(own.and_then(|b| place(&Arg::pointer_in(b))).map(|p| (name.into(), p)));
            }
            Type::Struct(id) => {
                for f in &self.module.structs[id.0 as usize].fields {
                    let inner = format!("{name}.{}", f.name);
                    self.pointers(&f.ty, &inner, bytes, at + f.offset as usize, found);
                }
            }
            _ => {}
        }
    }
}

fn place(arg: &Arg) -> Option<Place> {
    match arg {
        Arg::Pointer { buffer, offset } => Some((*buffer, *offset)),
        _ => None,
    }
}

impl Launcher for Notes<'_> {
    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        // The host may read what kernels write there without a copy.
        let lent: Vec<usize> =
            (0..memory.buffers.len()).filter(|b| memory.host.shared.contains(*b)).collect();
        for b in lent {
            memory.host.unknown.insert(b, Unknown::new(memory.buffers[b].len()));
        }
        let function = self.module.function(request.kernel);
        if base_name(&function.name) != base_name(self.kernel) {
            return Ok(());
        }
        let own = squeezed_arguments(self.kernel) == squeezed_arguments(&function.name);
        if own && !self.seen.blocks.contains(&request.block) {
            self.seen.blocks.push(request.block);
        }
        if self.seen.pointers.len() == LAUNCHES {
            return Ok(());
        }
        let mut found = vec![];
        for (arg, param) in request.args.iter().zip(&function.params) {
            let var = function.var(*param);
            match arg {
                Arg::Bytes(bytes) => self.pointers(&var.ty, &var.name, bytes, 0, &mut found),
                _ => found.extend(place(arg).map(|p| (var.name.clone(), p))),
            }
        }
        if !self.seen.pointers.contains(&found) {
            self.seen.pointers.push(found);
        }
        Ok(())
    }

    fn tolerant(&self) -> bool {
        true
    }

    fn hurries(&self) -> bool {
        true
    }

    /// Numbers that nobody knows do not decide where pointers lead.
    fn missing_arg(
        &mut self,
        _: &mut Memory,
        kernel: FuncId,
        index: usize,
        _: &Origin,
    ) -> Option<Arg> {
        let function = self.module.function(kernel);
        match &function.var(*function.params.get(index)?).ty {
            Type::Pointer { .. } => Some(Arg::Null),
            ty => Some(Arg::Value(Value::int(ty.scalar()?, 1))),
        }
    }

    fn copy_to_global(&mut self, _: warpsmith_ir::GlobalId, _: Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    fn most_bytes(&self) -> Option<u64> {
        Some(BYTES)
    }

    /// Kernels would have written to the memory of the device.
    fn unwritten(&self, _: usize, _: usize, bytes: usize) -> Option<Unknown> {
        Some(Unknown::new(bytes))
    }
}
