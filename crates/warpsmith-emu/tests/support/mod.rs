//! Runs CUDA source with launches as its comments state them: the part of `check`'s directives that
//! the tests of the emulator need.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::HashMap;

use warpsmith_emu::{
    Arg, Buffer, BufferId, DeviceMemory, LaunchConfig, Options, Outcome, device_pointer, run,
};
use warpsmith_front::parse::{ParseOptions, parse};
use warpsmith_front::pp::{DiskLoader, Language};
use warpsmith_front::sema::{
    KernelSelection, Libraries, Request, kernels_of, lower_cuda, lower_with,
};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{FuncId, Module, Scalar, SourceMap, Type, Value};

/// A module with its source.
pub struct Source {
    pub module: Module,
    pub sources: SourceMap,
    pub names: HashMap<String, FuncId>,
}

/// Lowers all kernels of a text, and the template instances that are named.
pub fn lower(path: &str, text: &str, named: &[String]) -> Result<Source, String> {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse(path, text.as_bytes(), &options, &DiskLoader, &mut sources)
        .map_err(|e| e[0].render(&sources, false))?;
    let mut kernels: Vec<String> =
        kernels_of(&parsed.unit).into_iter().filter(|k| !k.is_template).map(|k| k.name).collect();
    kernels.extend(named.iter().cloned());
    kernels.dedup();
    let request = Request { kernels: KernelSelection::Named(kernels), host_functions: vec![] };
    // Reading what stands in for libraries takes longer than most kernels.
    let library = ["#include <cuda/", "mbarrier", "ldmatrix", "mma.sync"];
    let lowered = match library.iter().any(|word| text.contains(word)) {
        true => {
            let prelude = warpsmith_front::prelude::unit(&mut sources);
            lower_with(&parsed.unit, &Libraries::new(&prelude), &request)
        }
        false => lower_cuda(&parsed.unit, &request),
    };
    let lowered = lowered.map_err(|e| e[0].render(&sources, false))?;
    let names = lowered.kernels.iter().map(|k| (k.name.clone(), k.id)).collect();
    Ok(Source { module: lowered.module, sources, names })
}

/// One launch as a directive states it.
#[derive(Clone, Debug, Default)]
pub struct Directive {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub warp_sync: bool,
    pub args: Vec<(String, String)>,
}

/// The launches of a file, each with the kernel it belongs to, and the order given by `run`.
pub fn directives(text: &str) -> (Vec<Directive>, Vec<String>) {
    let (mut open, mut all, mut order) = (vec![], vec![], vec![]);
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if let Some(rest) = line.trim().strip_prefix("// warpsmith:") {
            let rest = rest.trim();
            if let Some(list) = rest.strip_prefix("run ") {
                order = list.split(',').map(|s| s.trim().to_string()).collect();
            } else if !rest.starts_with("allow") {
                open.push(directive(rest));
            }
        } else if line.contains("__global__") && !open.is_empty() {
            let name = kernel_name(&lines[i..]);
            for mut d in open.drain(..) {
                if d.kernel.is_empty() {
                    d.kernel.clone_from(&name);
                }
                all.push(d);
            }
        }
    }
    (all, order)
}

fn kernel_name(lines: &[&str]) -> String {
    let mut text = lines.iter().take(6).copied().collect::<Vec<_>>().join(" ");
    if let Some(at) = text.find("__launch_bounds__") {
        let mut depth = 0;
        let end = text[at..].char_indices().find_map(|(i, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            (c == ')' && depth == 0).then_some(at + i + 1)
        });
        text.replace_range(at..end.unwrap_or(at), "");
    }
    let start = text.find("__global__").unwrap_or(0);
    let head = text[start..].split('(').next().unwrap_or("");
    head.split_whitespace().last().unwrap_or("").to_string()
}

fn directive(text: &str) -> Directive {
    let mut d = Directive::default();
    let words = split_words(text);
    let mut it = words.iter();
    while let Some(word) = it.next() {
        match word.split_once('=') {
            Some(("grid", v)) => d.grid = dims(v),
            Some(("block", v)) => d.block = dims(v),
            Some(("shared", v)) => d.shared = v.parse().unwrap_or(0),
            Some(("kernel", v)) => d.kernel = v.to_string(),
            _ if word == "warp-sync" => d.warp_sync = true,
            _ if word == "arg" => {
                if let Some((name, spec)) = it.next().and_then(|w| w.split_once('=')) {
                    d.args.push((name.to_string(), spec.to_string()));
                }
            }
            _ => {}
        }
    }
    d
}

fn split_words(text: &str) -> Vec<String> {
    let (mut out, mut word, mut quoted) = (vec![], String::new(), false);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => {
                if !word.is_empty() {
                    out.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

fn dims(v: &str) -> [u32; 3] {
    let mut out = [1; 3];
    for (slot, part) in out.iter_mut().zip(v.split(',')) {
        *slot = part.parse().unwrap_or(1);
    }
    out
}

/// Memory with named buffers.
pub struct Memory {
    pub device: DeviceMemory,
    pub names: HashMap<String, BufferId>,
}

impl Memory {
    pub fn new(module: &Module) -> Memory {
        Memory { device: DeviceMemory::new(module), names: HashMap::new() }
    }
}

/// Executes one launch.
pub fn launch(
    source: &Source,
    d: &Directive,
    memory: &mut Memory,
    options: &Options,
) -> Result<Outcome, String> {
    let kernel = *source.names.get(&d.kernel).ok_or(format!("no kernel `{}`", d.kernel))?;
    let module = &source.module;
    let function = module.function(kernel);
    let mut args = vec![];
    for &p in &function.params {
        let v = function.var(p);
        args.push(argument(module, &v.name, &v.ty, d, memory)?);
    }
    let config = LaunchConfig {
        kernel,
        grid: d.grid,
        block: d.block,
        dynamic_shared: d.shared,
        cluster: None,
        args,
    };
    let mut options = options.clone();
    options.warp_lockstep = d.warp_sync;
    run(module, &config, &mut memory.device, &options).map_err(|e| format!("{e:?}"))
}

fn argument(
    module: &Module,
    name: &str,
    ty: &Type,
    d: &Directive,
    memory: &mut Memory,
) -> Result<Arg, String> {
    let spec = d.args.iter().find(|(n, _)| n == name).map(|(_, s)| s.as_str());
    match ty {
        Type::Pointer { pointee, .. } => {
            let id = match memory.names.get(name) {
                Some(id) => *id,
                None => {
                    let b = buffer(module, name, pointee, spec)?;
                    let id = memory.device.add(b);
                    memory.names.insert(name.to_string(), id);
                    id
                }
            };
            Ok(Arg::Pointer { buffer: id, offset: 0 })
        }
        Type::Scalar(s) => {
            let text = spec.ok_or(format!("no value for `{name}`"))?;
            Ok(Arg::Bytes(number(*s, text)?))
        }
        Type::Struct(id) => {
            let mut bytes = vec![0; layout_of(module, ty).size as usize];
            for field in &module.structs[id.0 as usize].fields {
                let name = format!("{name}.{}", field.name);
                let part = match argument(module, &name, &field.ty, d, memory)? {
                    Arg::Bytes(part) => part,
                    Arg::Pointer { buffer, offset } => {
                        device_pointer(buffer, offset).to_le_bytes().to_vec()
                    }
                    Arg::Null => vec![0; 8],
                };
                let at = field.offset as usize;
                bytes[at..at + part.len()].copy_from_slice(&part);
            }
            Ok(Arg::Bytes(bytes))
        }
        Type::Vector(s, lanes) => {
            let text = spec.ok_or(format!("no value for `{name}`"))?;
            let list: Vec<&str> = text.trim_matches(['{', '}']).split(',').collect();
            if list.len() != usize::from(*lanes) {
                return Err(format!("`{text}` has not {lanes} values"));
            }
            let parts: Result<Vec<_>, String> = list.into_iter().map(|t| number(*s, t)).collect();
            Ok(Arg::Bytes(parts?.concat()))
        }
        _ => Err(format!("parameter `{name}` of type {ty:?}")),
    }
}

/// The bytes of a scalar.
fn number(s: Scalar, text: &str) -> Result<Vec<u8>, String> {
    let v: f64 = text.trim().parse().map_err(|_| format!("`{text}` is no number"))?;
    let value = if s.is_float() { Value::float(s, v) } else { Value::int(s, v as i64) };
    Ok(value.bits.to_le_bytes()[..s.bytes() as usize].to_vec())
}

fn buffer(
    module: &Module,
    name: &str,
    element: &Type,
    spec: Option<&str>,
) -> Result<Buffer, String> {
    let spec = spec.unwrap_or("");
    let (shape_text, fill) = spec.split_once('=').unwrap_or((spec, "zeros"));
    let shape: Vec<u64> = shape_text
        .split('[')
        .skip(1)
        .map(|p| p.trim_end_matches(']').parse().unwrap_or(1))
        .collect();
    let size = layout_of(module, element).size.max(1);
    let count: u64 = shape.iter().product();
    let mut bytes = vec![0u8; (count * size) as usize];
    let scalar = match element {
        Type::Scalar(s) | Type::Vector(s, _) => Some(*s),
        _ => None,
    };
    if let Some(s) = scalar {
        let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ name.len() as u64;
        for (i, chunk) in bytes.chunks_mut(s.bytes() as usize).enumerate() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 40) as f64 / (1u64 << 24) as f64;
            let v = match fill {
                "iota" => Value::int(s, i as i64),
                f if f.starts_with("random") && s.is_float() => Value::float(s, unit * 2.0 - 1.0),
                f if f.starts_with("random") => Value::int(s, (unit * 256.0) as i64),
                _ => Value::int(s, 0),
            };
            chunk.copy_from_slice(&v.bits.to_le_bytes()[..chunk.len()]);
        }
    }
    let poison = if fill == "uninit" { vec![true; bytes.len()] } else { vec![] };
    Ok(Buffer {
        name: name.to_string(),
        element: Some(element.clone()),
        shape: if shape.len() > 1 { shape } else { vec![] },
        bytes,
        grows: spec.is_empty(),
        poison,
        ..Buffer::default()
    })
}

/// All launches of a text, in order.
pub fn run_text(path: &str, text: &str, options: &Options) -> Result<Vec<Outcome>, String> {
    let (all, order) = directives(text);
    let named: Vec<String> =
        all.iter().map(|d| d.kernel.clone()).filter(|k| k.contains('<')).collect();
    let source = lower(path, text, &named)?;
    let mut out = vec![];
    if order.is_empty() {
        for d in &all {
            let mut memory = Memory::new(&source.module);
            out.push(launch(&source, d, &mut memory, options)?);
        }
        return Ok(out);
    }
    let mut memory = Memory::new(&source.module);
    for name in order {
        let d = all.iter().find(|d| d.kernel == name).ok_or(format!("no launch of `{name}`"))?;
        out.push(launch(&source, d, &mut memory, options)?);
    }
    Ok(out)
}

/// 1-based line of the start of a span.
pub fn line(text: &str, start: u32) -> usize {
    text[..(start as usize).min(text.len())].matches('\n').count() + 1
}
