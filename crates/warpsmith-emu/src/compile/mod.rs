//! Kernels to linear register code, for one launch: sizes and scalar arguments are constants.

mod assign;
mod calls;
mod cluster;
mod exprs;
mod facts;
pub mod lir;
mod loops;
mod lower;
mod overflow;
pub mod places;
mod split;
mod stmts;
mod uniform;
mod values;
mod walk;
mod ways;

use std::collections::{HashMap, HashSet};

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    FuncId, Function, FunctionKind, Module, Runtime, Space, Stmt, StmtKind, Type, VarKind, eval,
};

use self::lir::{Home, Op, Opd, Program, to_register};
use self::lower::{Frame, Lower};
use self::places::OFFSET_BITS;
use crate::api::{Arg, DeviceMemory, EmuError, LaunchConfig};

/// Makes a kernel ready to run; with `ways` it takes down where threads go.
///
/// # Errors
/// Arguments that do not fit the parameters, and constructs that are not executed.
pub fn compile(
    module: &Module,
    launch: &LaunchConfig,
    memory: &DeviceMemory,
    ways: bool,
) -> Result<Program, EmuError> {
    let Some(kernel) = module.functions.get(launch.kernel.0 as usize) else {
        return Err(EmuError::BadLaunch("there is no such kernel".to_string()));
    };
    if kernel.kind != FunctionKind::Kernel {
        return Err(EmuError::BadLaunch(format!("`{}` is not a kernel", kernel.name)));
    }
    let mut l = Lower::new(module, launch);
    l.ways = ways;
    l.facts.add(module, launch.kernel, 0);
    l.out.cluster = launch.cluster.or(kernel.cluster).unwrap_or([1; 3]);
    l.out.reaches_clusters = cluster::reaches(module, launch.kernel);
    add_objects(&mut l, memory);
    add_shared(&mut l, launch)?;
    let end = l.label();
    l.frames.push(Frame {
        function: kernel,
        id: launch.kernel,
        slots: HashMap::new(),
        region: 0,
        returns: vec![],
        end,
        is_kernel: true,
    });
    bind_parameters(&mut l, memory)?;
    l.block(&kernel.body)?;
    l.at(kernel.origin.span);
    l.emit(Op::Exit { explicit: false })?;
    overflow::keep_needed(&mut l);
    let uniform = uniform::find(&mut l);
    split::split_indices(&mut l, &uniform);
    Ok(assign::assign(l, &uniform))
}

/// Buffers and module variables.
fn add_objects(l: &mut Lower<'_>, memory: &DeviceMemory) {
    l.object("null", &Type::Void, Home::Invalid);
    for (i, b) in memory.buffers.iter().enumerate() {
        let element = b.element.clone().unwrap_or(Type::Scalar(warpsmith_ir::Scalar::U8));
        l.object(&b.name, &element, Home::Buffer(i as u32));
        if let Some(o) = l.out.objects.last_mut() {
            let mut extents = b.shape.clone();
            extents.extend(std::mem::take(&mut o.extents));
            o.extents = extents;
        }
    }
    l.out.heap = memory.heap.as_ref().map(|heap| u64::from(heap.buffer.0) + 1);
    l.out.first_variable = l.out.objects.len() as u64;
    for (i, g) in l.module.globals.iter().enumerate() {
        let constant = g.space == Space::Constant;
        l.object(&g.name, &g.ty, Home::Variable { index: i as u32, constant });
    }
}

/// `__shared__` variables of the kernel and of the functions it calls.
fn add_shared(l: &mut Lower<'_>, launch: &LaunchConfig) -> Result<(), EmuError> {
    let module = l.module;
    let mut base = 0u64;
    let mut dynamic = vec![];
    // Variables of the file are one for all functions.
    let mut of_file = std::collections::HashMap::new();
    for id in reachable(module, launch.kernel) {
        let function = module.function(id);
        for (i, v) in function.vars.iter().enumerate() {
            let var = warpsmith_ir::VarId(i as u32);
            match v.kind {
                VarKind::Shared => {
                    let key = (v.name.as_str(), v.origin.span);
                    let shown = v.name.strip_prefix("::");
                    if let Some(known) = of_file.get(&key).filter(|_| shown.is_some()) {
                        l.objects_by_var.insert((id, var), *known);
                        continue;
                    }
                    let layout = layout_of(module, &v.ty);
                    let align = layout.align.max(u64::from(v.align)).max(16);
                    base = base.next_multiple_of(align);
                    let home = Home::Shared { base: base as u32, size: layout.size as u32 };
                    base = base.saturating_add(layout.size);
                    if base > 1 << 20 {
                        l.at(v.origin.span);
                        return l.unsupported("more than 1 MiB of shared memory");
                    }
                    let pointer = l.shared_object(shown.unwrap_or(&v.name), &v.ty, home);
                    of_file.insert(key, pointer);
                    l.objects_by_var.insert((id, var), pointer);
                }
                VarKind::DynamicShared => dynamic.push((id, var)),
                _ => {}
            }
        }
    }
    base = base.next_multiple_of(256);
    let end = base.saturating_add(launch.dynamic_shared.into());
    if end > 1 << 20 {
        return Err(EmuError::BadLaunch("more than 1 MiB of shared memory".to_string()));
    }
    if let Some(&(id, var)) = dynamic.first() {
        let v = module.function(id).var(var);
        let home = Home::Shared { base: base as u32, size: launch.dynamic_shared };
        let pointer = l.shared_object(&v.name, &v.ty, home);
        dynamic.iter().for_each(|key| {
            l.objects_by_var.insert(*key, pointer);
        });
    }
    l.out.shared_bytes = end as u32;
    Ok(())
}

/// Whether a kernel, or a function that it calls, takes memory of the heap.
pub fn kernel_allocates(module: &Module, kernel: FuncId) -> bool {
    let known = module.functions.get(kernel.0 as usize).is_some();
    known && reachable(module, kernel).into_iter().any(|id| takes_memory(module.function(id)))
}

/// Whether code of the device in the module takes memory of the heap.
pub fn allocates(module: &Module) -> bool {
    let mut of_device = module.functions.iter().filter(|f| f.kind != FunctionKind::Host);
    of_device.any(takes_memory)
}

fn takes_memory(function: &Function) -> bool {
    let mut found = false;
    walk::block(&function.body, &mut |n| {
        let call = |s: &Stmt| matches!(s.kind, StmtKind::Runtime(Runtime::AllocateHost { .. }));
        found |= matches!(n, walk::Node::Stmt(s) if call(s));
    });
    found
}

/// The kernel and the functions it calls, in order of first call.
pub fn reachable(module: &Module, kernel: FuncId) -> Vec<FuncId> {
    let mut list = vec![kernel];
    let mut seen = HashSet::from([kernel]);
    let mut at = 0;
    while at < list.len() {
        let function = module.function(list[at]);
        walk::block(&function.body, &mut |n| {
            if let walk::Node::Stmt(Stmt { kind: StmtKind::Call { function, .. }, .. }) = n
                && (function.0 as usize) < module.functions.len()
                && seen.insert(*function)
            {
                list.push(*function);
            }
        });
        at += 1;
    }
    list
}

/// Parameters are constants of the launch.
fn bind_parameters(l: &mut Lower<'_>, memory: &DeviceMemory) -> Result<(), EmuError> {
    let function = l.frame().function;
    let (params, args) = (&function.params, &l.launch.args);
    if params.len() != args.len() {
        return Err(EmuError::BadArgument {
            index: args.len().min(params.len()),
            message: format!("{} parameters, {} arguments", params.len(), args.len()),
        });
    }
    for (index, (&param, arg)) in params.iter().zip(args).enumerate() {
        let ty = &function.var(param).ty;
        let values = argument_values(l, ty, arg, memory)
            .map_err(|message| EmuError::BadArgument { index, message })?;
        l.at(function.var(param).origin.span);
        l.bind_values(param, ty, values, false)?;
    }
    Ok(())
}

fn argument_values(
    l: &Lower<'_>,
    ty: &Type,
    arg: &Arg,
    memory: &DeviceMemory,
) -> Result<Vec<Opd>, String> {
    match arg {
        Arg::Pointer { buffer, offset } if ty.is_pointer() => {
            if buffer.0 as usize >= memory.buffers.len() {
                return Err("there is no such buffer".to_string());
            }
            Ok(vec![Opd::K(crate::memory::device_pointer(*buffer, *offset))])
        }
        Arg::Null if ty.is_pointer() => Ok(vec![Opd::K(0)]),
        Arg::Pointer { .. } | Arg::Null => Err("a pointer for a value".to_string()),
        Arg::Bytes(bytes) => {
            let size = layout_of(l.module, ty).size;
            if bytes.len() as u64 != size {
                return Err(format!("{} bytes for a value of {size}", bytes.len()));
            }
            let leaves = l.leaves(ty).ok_or("a value of this size")?;
            let leaf = |leaf: lir::Leaf| {
                let part = bytes.get(leaf.offset as usize..).unwrap_or(&[]);
                eval::from_bytes(leaf.ty, part).map(|v| Opd::K(to_register(v)))
            };
            leaves.into_iter().map(leaf).collect::<Option<_>>().ok_or("too few bytes".to_string())
        }
    }
}

/// The object number of a pointer and its byte offset in the object.
#[inline]
pub fn split_pointer(pointer: u64) -> (u64, i64) {
    let offset = ((pointer << (64 - OFFSET_BITS)) as i64) >> (64 - OFFSET_BITS);
    (pointer.wrapping_sub(offset as u64) >> OFFSET_BITS, offset)
}
