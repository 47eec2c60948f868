//! The emitted text, parsed again and run: host code by the interpreter, kernels by the emulator with all checks on.

use warpsmith_emu::{self as emu, Buffer, Checks, DeviceMemory, Emulator, Finding};
use warpsmith_front::parse::{self, FileLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Request};
use warpsmith_ir::interp::{self, Arg, LaunchRequest, Launcher, Limits, Memory};
use warpsmith_ir::{Diagnostic, FuncId, GlobalId, Module, Scalar, SourceMap, Type, Value};

use warpsmith_translate::launches;

/// Instructions of all threads of a launch: many times what some hundred elements take, and few enough that a routine which never
/// ends is found out.
const MAX_STEPS: u64 = 1_000_000_000;

/// The emitted files as a program.
pub struct Witness {
    module: Module,
    host: FuncId,
}

/// Files by name; nothing else can be included.
struct Given<'a>(&'a [(String, String)]);

impl FileLoader for Given<'_> {
    fn load(&self, path: &std::path::Path) -> std::io::Result<Vec<u8>> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let found = self.0.iter().find(|(n, _)| *n == name);
        found
            .map(|(_, text)| text.clone().into_bytes())
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

impl Witness {
    /// Parses `NAME.cu` of the given files.
    ///
    /// # Errors
    /// What the front end does not understand of it.
    pub fn parse(
        name: &str,
        files: &[(String, String)],
        sources: &mut SourceMap,
    ) -> Result<Witness, Vec<Diagnostic>> {
        let file = format!("{name}.cu");
        let text = files.iter().find(|(n, _)| *n == file).map_or("", |(_, t)| t);
        let options = ParseOptions::new(Language::Cuda);
        let parsed = parse::parse(&file, text.as_bytes(), &options, &Given(files), sources)?;
        let entry = format!("{name}_host");
        let request = Request {
            kernels: KernelSelection::Named(vec![]),
            host_functions: vec![entry.clone()],
        };
        let lowered = sema::lower_cuda(&parsed.unit, &request)?;
        let host = lowered.module.find_function(&entry);
        let host = host.ok_or_else(|| {
            vec![Diagnostic::error("W540", format!("the emitted file has no `{entry}`"))]
        })?;
        Ok(Witness { module: lowered.module, host })
    }

    /// Calls `NAME_host(count, inputs…, outputs…)`; gives the outputs and what the emulator found.
    ///
    /// # Errors
    /// A sentence, when it does not run to its end.
    pub fn run(
        &self,
        count: usize,
        inputs: &[Vec<f32>],
        outputs: &[usize],
    ) -> Result<(Vec<Vec<f32>>, Vec<Finding>), String> {
        let bytes =
            |floats: &[f32]| floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>();
        let mut buffers: Vec<Vec<u8>> = inputs.iter().map(|i| bytes(i)).collect();
        // What is not written stands out: no computation gives these bits.
        buffers.extend(outputs.iter().map(|length| vec![0xa5; length * 4]));
        let mut memory = Memory::new(buffers);
        memory.on_host = memory.buffers.len();
        let arrays = (0..memory.buffers.len()).map(|buffer| Arg::Pointer { buffer, offset: 0 });
        let args: Vec<Arg> = std::iter::once(Arg::Value(Value::int(Scalar::I32, count as i64)))
            .chain(arrays)
            .collect();
        let mut launcher = Emulated::new(&self.module, memory.on_host);
        let limits = Limits { max_steps: 100_000_000, ..Limits::default() };
        let status =
            interp::call(&self.module, self.host, &args, &mut memory, &limits, &mut launcher);
        // What was found says more than what it led to.
        if status.is_err() && !launcher.findings.is_empty() {
            return Ok((vec![], launcher.findings));
        }
        let status = status.map_err(|e| e.to_string())?;
        if status.is_some_and(|s| s.as_i64() != 0) {
            return Err("the host function returns an error".into());
        }
        if !memory.allocated.is_empty() {
            return Err("the host function keeps memory of the device".into());
        }
        let floats = |b: &Vec<u8>| {
            b.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
        };
        let results =
            memory.buffers[inputs.len()..inputs.len() + outputs.len()].iter().map(floats).collect();
        Ok((results, launcher.findings))
    }
}

/// Runs launches in the emulator; the first buffers are the host's, of which the device sees nothing.
struct Emulated<'a> {
    emulator: Emulator<'a>,
    device: DeviceMemory,
    options: emu::Options,
    findings: Vec<Finding>,
}

impl<'a> Emulated<'a> {
    fn new(module: &'a Module, on_host: usize) -> Emulated<'a> {
        let mut device = DeviceMemory::new(module);
        device.buffers = vec![Buffer::default(); on_host];
        let checks = Checks::STRICT;
        let max_total_steps = MAX_STEPS;
        let options = emu::Options { checks, max_total_steps, ..emu::Options::default() };
        Emulated { emulator: Emulator::new(module), device, options, findings: vec![] }
    }

    /// Lends the buffers of the device to the emulator, or takes them back.
    fn exchange(&mut self, memory: &mut Memory) {
        let on_host = memory.on_host;
        for (lent, own) in self.device.buffers.iter_mut().zip(&mut memory.buffers).skip(on_host) {
            std::mem::swap(&mut lent.bytes, own);
        }
    }
}

impl Launcher for Emulated<'_> {
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        launches::set_global(&mut self.device, global, bytes)
    }

    fn allocated(&mut self, buffer: usize, bytes: usize) {
        self.allocated_at(buffer, bytes, "", None);
    }

    fn allocated_at(&mut self, buffer: usize, bytes: usize, name: &str, _: Option<&Type>) {
        let name =
            if name.is_empty() { format!("allocation {}", buffer + 1) } else { name.to_string() };
        self.device.buffers.resize_with(buffer, Buffer::default);
        let element = Some(Type::F32);
        self.device.buffers.push(Buffer {
            name,
            element,
            poison: vec![true; bytes],
            ..Buffer::default()
        });
    }

    fn fetch(
        &mut self,
        memory: &Memory,
        buffer: usize,
        offset: i64,
        bytes: u64,
    ) -> Result<Vec<u8>, String> {
        let content = memory.bytes_at(&Arg::Pointer { buffer, offset }, bytes)?;
        let poison = self.device.buffers.get(buffer).map_or(&[][..], |b| &b.poison);
        if poison.iter().skip(offset as usize).take(bytes as usize).any(|p| *p) {
            return Err("a copy to the host reads elements that no kernel wrote".into());
        }
        Ok(content)
    }

    fn filled(&mut self, buffer: usize, offset: usize, bytes: usize) {
        launches::filled(&mut self.device, buffer, offset, bytes);
    }

    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let config = launches::config(&request, memory.on_host)?;
        self.exchange(memory);
        let outcome = self.emulator.run(&config, &mut self.device, &self.options);
        self.exchange(memory);
        let outcome = outcome.map_err(launches::message)?;
        self.findings.extend(outcome.findings.into_iter().filter(|f| !f.rule.is_note()));
        match outcome.limit {
            Some(_) => Err("a limit of the emulator was reached".into()),
            None => Ok(()),
        }
    }
}
