//! The user's own C as a reference: compiled by the host compiler and run as a process of its own.
//!
//! A process rather than a library loaded into ours: a reference that crashes then costs a message, and no
//! `unsafe` is needed to call a function of any signature.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use warpsmith_front::cloops::{CInput, Held, Record};
use warpsmith_ir::Type;

/// A compiled reference.
#[derive(Debug)]
pub struct HostReference {
    folder: TempDir,
    program: PathBuf,
    /// For the report, for example `cc`.
    pub compiler: String,
}

/// Why there is no host reference.
#[derive(Debug)]
pub enum NoReference {
    /// No C compiler was found.
    NoCompiler,
    /// It refused the file; its message.
    Refused(String),
    /// There is no folder in which it could be compiled: what the system says.
    NoFolder(String),
}

/// Why a call gives nothing to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The C function divides an integer by zero, or the least one by -1: it has no meaning there.
    DividesByZero,
    /// A sentence.
    Failed(String),
}

/// Flags of the reference: no contraction and no excess precision, so that results can be compared bit for bit. The
/// pragmas are not obeyed: the reference is the serial program, whose sums run in source order.
const FLAGS: [&str; 4] = ["-O2", "-ffp-contract=off", "-w", "-std=gnu11"];
/// Flags that not every compiler has: operations on `_Float16` that round each result, as the device's do.
const HALF_FLAGS: [&str; 2] = ["-fexcess-precision=16", "-ffloat16-excess-precision=none"];

/// A flag for products and quotients of complex numbers by the usual formulas, as the kernels compute them.
const COMPLEX_FLAGS: [&str; 1] = ["-fcx-limited-range"];
/// Flags with which functions that nobody calls are left out before anything they need is looked for: a whole program
/// may use libraries in its `main` that are not named here.
const ALONE: [&str; 2] = ["-ffunction-sections", "-Wl,--gc-sections"];

impl HostReference {
    /// Compiles the user's file with a small driver around it.
    ///
    /// # Errors
    /// [`NoReference`]; neither is fatal, the IR interpreter remains.
    pub fn build(
        file: &Path,
        input: &CInput,
        options: &[String],
    ) -> Result<HostReference, NoReference> {
        let refused = |e: std::io::Error| NoReference::NoFolder(e.to_string());
        let folder = tempfile::tempdir().map_err(refused)?;
        let source = folder.path().join("driver.c");
        let absolute = std::path::absolute(file).map_err(refused)?;
        std::fs::write(&source, driver(&absolute, input)).map_err(refused)?;
        let program = folder.path().join("reference");
        let compiler = compiler();
        let compile = |extra: &[&str]| {
            let mut command = Command::new(&compiler);
            command.args(FLAGS).args(options).args(extra);
            command.arg("-o").arg(&program).arg(&source).arg("-lm").stdin(Stdio::null());
            command.output()
        };
        let flags = if uses_complex(input) { &COMPLEX_FLAGS[..] } else { &HALF_FLAGS[..] };
        let wanted = flags.iter().filter(|_| uses_half(file) || uses_complex(input));
        let wanted = wanted.map(|flag| Some(*flag));
        let mut output = None;
        for (own, alone) in wanted.chain([None]).flat_map(|w| [(w, &[][..]), (w, &ALONE)]) {
            let extra: Vec<&str> = own.into_iter().chain(alone.iter().copied()).collect();
            let attempt = compile(&extra).map_err(|_| NoReference::NoCompiler)?;
            let done = attempt.status.success();
            // The message of the first attempt speaks of the file alone.
            if done || output.is_none() {
                output = Some(attempt);
            }
            if done {
                break;
            }
        }
        let Some(output) = output else { return Err(NoReference::NoCompiler) };
        if !output.status.success() {
            return Err(NoReference::Refused(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(HostReference { folder, program, compiler })
    }

    /// Runs the function on arguments given as bytes, one entry a parameter: the value of a scalar, the content
    /// of an array. Changes the arrays; returns the bytes of the function's result, if it has one.
    ///
    /// # Errors
    /// [`NoAnswer`] when the program crashes, does not end in time, or its files cannot be exchanged.
    pub fn call(&self, args: &mut [ArgBytes], limit: Duration) -> Result<Vec<u8>, NoAnswer> {
        let failed = |e: std::io::Error| NoAnswer::Failed(e.to_string());
        let input = self.folder.path().join("input");
        let output = self.folder.path().join("output");
        std::fs::write(&input, input_bytes(args)).map_err(failed)?;
        let mut child = Command::new(&self.program)
            .arg(&input)
            .arg(&output)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let Some(status) = wait_at_most(&mut child, limit).map_err(failed)? else {
            let why = format!("it did not end within {} s", limit.as_secs());
            return Err(NoAnswer::Failed(why));
        };
        if status.code() == Some(OTHER_LAYOUT) {
            let why = "the C compiler lays a structure out in another way";
            return Err(NoAnswer::Failed(why.to_string()));
        }
        if divides_by_zero(status) {
            return Err(NoAnswer::DividesByZero);
        }
        if !status.success() {
            return Err(NoAnswer::Failed(format!("it ended with {status}")));
        }
        let result = std::fs::read(&output).map_err(failed)?;
        let mut rest = result.as_slice();
        for arg in args.iter_mut() {
            if let ArgBytes::Array(content) = arg {
                let Some((own, after)) = rest.split_at_checked(content.len()) else {
                    return Err(NoAnswer::Failed("its output is too short".to_string()));
                };
                content.copy_from_slice(own);
                rest = after;
            }
        }
        Ok(rest.to_vec())
    }
}

/// The C compiler: `$CC`, else `cc`.
pub fn compiler() -> String {
    std::env::var("CC").ok().filter(|c| !c.is_empty()).unwrap_or("cc".to_string())
}

/// The file that a driver reads its arguments from: their bytes, and before those of an array how many they are.
pub fn input_bytes(args: &[ArgBytes]) -> Vec<u8> {
    let mut bytes = vec![];
    for arg in args {
        if let ArgBytes::Array(content) = arg {
            bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        }
        bytes.extend_from_slice(arg.bytes());
    }
    bytes
}

/// Waits for a program; one that runs longer is killed (`None`).
///
/// # Errors
/// The system's.
pub fn wait_at_most(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Whether a program ended at an integer division that has no result.
#[cfg(unix)]
fn divides_by_zero(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    /// The signal for arithmetic without a result, everywhere.
    const SIGFPE: i32 = 8;
    status.signal() == Some(SIGFPE)
}

#[cfg(not(unix))]
fn divides_by_zero(_: ExitStatus) -> bool {
    false
}

/// Whether the file mentions 16-bit reals.
fn uses_half(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("_Float16"))
}

/// An argument as bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgBytes {
    /// A number or a structure passed by value, in its memory layout.
    Value(Vec<u8>),
    /// What a pointer points to: the elements of the whole array.
    Array(Vec<u8>),
}

impl ArgBytes {
    /// The bytes of either.
    pub fn bytes(&self) -> &[u8] {
        match self {
            ArgBytes::Value(b) | ArgBytes::Array(b) => b,
        }
    }
}

/// A program that reads the arguments from a file, calls the function, and writes the arrays and the result to another.
///
/// `void *` converts to every array parameter, variable-length ones included, so no types need be spelled but those of
/// scalars; `__typeof__` of a call gives the type of the result.
fn driver(file: &Path, input: &CInput) -> String {
    let function = input.module.function(input.function);
    let mut text = String::from("#define main warpsmith_user_main\n");
    let path = file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    text += &format!("#include \"{path}\"\n#undef main\n");
    text += "#include <stdio.h>\n#include <stdlib.h>\n#include <stdint.h>\n#include <string.h>\n";
    text += "static void ws_read(void *to, size_t n, FILE *f) { if (n && fread(to, 1, n, f) != n) exit(90); }\n";
    text += "static void ws_write(const void *from, size_t n, FILE *f) { if (n && fwrite(from, 1, n, f) != n) exit(91); }\n";
    text += "int main(int argc, char **argv) {\n  if (argc < 3) return 92;\n";
    text += "  FILE *in = fopen(argv[1], \"rb\"), *out = fopen(argv[2], \"wb\");\n";
    text += "  if (!in || !out) return 93;\n";
    text += &layout_checks(input);
    let (mut before, mut after) = (String::new(), String::new());
    let own = function.params.len() - input.globals;
    for (i, id) in function.params.iter().enumerate() {
        let var = function.var(*id);
        let name = &var.name;
        match (i < own, var.ty.is_pointer()) {
            (true, _) => {}
            (false, false) => before += &format!("  {name} = ws_{i};\n"),
            (false, true) => {
                before += &format!("  memcpy({name}, ws_{i}, ws_len_{i});\n");
                after += &format!("  memcpy(ws_{i}, {name}, ws_len_{i});\n");
            }
        }
        if var.ty.is_pointer() {
            text += &format!("  uint64_t ws_len_{i}; ws_read(&ws_len_{i}, 8, in);\n");
            text += &format!(
                "  void *ws_{i} = malloc(ws_len_{i} + 1); ws_read(ws_{i}, ws_len_{i}, in);\n"
            );
        } else {
            let ty = match &var.ty {
                _ if i >= own => &format!("__typeof__({name})"),
                Type::Struct(id) => input.structs.get(id.0 as usize).map_or("", String::as_str),
                ty => c_scalar(ty),
            };
            text += &format!("  {ty} ws_{i}; ws_read(&ws_{i}, sizeof ws_{i}, in);\n");
        }
    }
    text += &before;
    for (k, record) in input.records.iter().enumerate() {
        text += &filled(k, record);
        after += &read_back(k, record);
    }
    text + &called(input, own, &after) + "  return fclose(out) != 0;\n}\n"
}

/// The call, and what writes the arrays and the result; `after`: what stands between them.
fn called(input: &CInput, own: usize, after: &str) -> String {
    let function = input.module.function(input.function);
    let call = format!("{}({})", function.name, arguments(input, own).join(", "));
    let mut text = match function.ret {
        Type::Void => format!("  {call};\n"),
        _ => format!("  __typeof__({call}) ws_result = {call};\n"),
    };
    text += after;
    for (i, id) in function.params.iter().enumerate() {
        if function.var(*id).ty.is_pointer() {
            text += &format!("  ws_write(ws_{i}, ws_len_{i}, out);\n");
        }
    }
    if function.ret != Type::Void {
        text += "  ws_write(&ws_result, sizeof ws_result, out);\n";
    }
    text
}

/// The arguments of the call, one for each parameter of the C function.
fn arguments(input: &CInput, own: usize) -> Vec<String> {
    let mut args = vec![];
    let mut at = 0;
    for (k, record) in input.records.iter().enumerate() {
        args.extend((at..record.at).map(|i| format!("ws_{i}")));
        args.push(format!("{}ws_record_{k}", if record.by_address { "&" } else { "" }));
        at = record.at + record.fields.len();
    }
    args.extend((at..own).map(|i| format!("ws_{i}")));
    args
}

/// A structure with the parameters that stand for its fields in it, and those that its pointers lead to.
fn filled(k: usize, record: &Record) -> String {
    let mut text = format!("  {} ws_record_{k};\n", record.c_type);
    text += &format!("  memset((void *)&ws_record_{k}, 0, sizeof ws_record_{k});\n");
    let mut inside = vec![];
    for (n, field) in record.fields.iter().enumerate() {
        let inner = field.path.match_indices("->").map(|(at, _)| &field.path[..at]);
        for path in inner.filter(|path| !path.is_empty()) {
            if inside.contains(&path) {
                continue;
            }
            let (place, object) =
                (place(k, record, path), format!("ws_inside_{k}_{}", inside.len()));
            text += &format!("  __typeof__(*{place}) {object};\n");
            text += &format!("  memset((void *)&{object}, 0, sizeof {object});\n");
            text += &format!("  *(void **)&{place} = (void *)&{object};\n");
            inside.push(path);
        }
        let (place, i) = (place(k, record, &field.path), record.at + n);
        text += &match field.held {
            Held::Value | Held::Pointer => {
                format!("  memcpy((void *)&{place}, &ws_{i}, sizeof {place});\n")
            }
            Held::Address => format!("  memcpy((void *)&{place}, ws_{i}, sizeof {place});\n"),
            Held::Array => format!("  memcpy((void *){place}, ws_{i}, sizeof {place});\n"),
        };
    }
    text
}

/// What the function has set in a structure itself.
fn read_back(k: usize, record: &Record) -> String {
    let held = record.fields.iter().enumerate().filter_map(|(n, field)| {
        let (place, i) = (place(k, record, &field.path), record.at + n);
        match field.held {
            Held::Value | Held::Pointer => None,
            Held::Address => Some(format!("  memcpy(ws_{i}, (void *)&{place}, sizeof {place});\n")),
            Held::Array => Some(format!("  memcpy(ws_{i}, (void *){place}, sizeof {place});\n")),
        }
    });
    held.collect()
}

/// A field of a structure of the driver.
fn place(k: usize, record: &Record, path: &str) -> String {
    let by = if record.by_address { "(&" } else { "(" };
    format!("{by}ws_record_{k}){path}")
}

/// The status of a program whose compiler disagrees about a structure.
const OTHER_LAYOUT: i32 = 94;

/// Statements that compare size and fields of every structure with a name.
fn layout_checks(input: &CInput) -> String {
    let named = input.structs.iter().zip(&input.module.structs).filter(|(c, _)| !c.is_empty());
    let mut text = String::new();
    for (c, def) in named {
        let mut wrong = format!("sizeof({c}) != {}", def.size);
        // The parts of a complex number have no names in C.
        for f in def.fields.iter().filter(|_| !c.contains("_Complex")) {
            wrong += &format!(" || __builtin_offsetof({c}, {}) != {}", f.name, f.offset);
        }
        text += &format!("  if ({wrong}) return {OTHER_LAYOUT};\n");
    }
    for record in &input.records {
        text += &record_layout(record);
    }
    text
}

/// Compares the fields of a structure in use with those of its definition for C++.
fn record_layout(record: &Record) -> String {
    let Some(definition) = &record.definition else { return String::new() };
    let definition = definition.replace("bool ", "_Bool ");
    let c = &record.c_type;
    let mut text = String::from("  {\n");
    text += &format!("    typedef {definition} ws_layout;\n");
    text += &format!("    if (sizeof(ws_layout) != sizeof({c})) return {OTHER_LAYOUT};\n");
    for field in &record.fields {
        // Up to the last arrow it is another structure, which the same pointers lead to.
        let path = &field.path;
        let offset = |ty: &str| match path.rfind("->").filter(|at| *at > 0) {
            Some(at) => format!(
                "__builtin_offsetof(__typeof__(*(({ty} *)0){}), {})",
                &path[..at],
                &path[at + 2..]
            ),
            None => {
                format!("__builtin_offsetof({ty}, {})", path.trim_start_matches(['-', '>', '.']))
            }
        };
        let differs = format!("{} != {}", offset("ws_layout"), offset(c));
        text += &format!("    if ({differs}) return {OTHER_LAYOUT};\n");
    }
    text + "  }\n"
}

fn uses_complex(input: &CInput) -> bool {
    input.structs.iter().any(|c| c.contains("_Complex"))
}

/// C's name of a scalar of the right size.
pub fn c_scalar(ty: &Type) -> &'static str {
    use warpsmith_ir::Scalar::*;
    match ty.scalar() {
        Some(Bool) => "_Bool",
        Some(I8) => "int8_t",
        Some(U8) => "uint8_t",
        Some(I16) => "int16_t",
        Some(U16) => "uint16_t",
        Some(I32) => "int32_t",
        Some(U32) => "uint32_t",
        Some(I64) => "int64_t",
        Some(F16) => "_Float16",
        Some(F32) => "float",
        Some(F64) => "double",
        _ => "uint64_t",
    }
}
