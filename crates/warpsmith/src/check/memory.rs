//! Device memory and arguments of a launch, from what the user wrote.

mod arrays;
mod textures;
mod values;

use std::collections::{HashMap, HashSet};

use warpsmith_emu::{Arg, Buffer, BufferId, DeviceMemory};
use warpsmith_front::sema::FunctionAddress;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, FuncId, Module, Span, Type, Var};

use super::args::LaunchArgs;
use super::functions;
use super::variables::{self, Variables};
use crate::data::{ArgSpec, NamedSpec};
use crate::status::Failure;

pub use arrays::array_for;
use arrays::{growing, make_buffer, too_large};
use values::{all_given, by_value, scalar_arguments, value_bytes};

/// Buffers by name, so that the kernels of one `run` share them.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Content and bounds of the buffers, and the module's variables.
    pub memory: DeviceMemory,
    by_name: HashMap<String, BufferId>,
    /// Variables of the device that an option has set.
    variables_set: HashSet<String>,
    /// Launches prepared so far.
    launches: usize,
    /// Arrays without a size: their bounds are not checked, and the report says so.
    unbounded: Vec<String>,
    /// Textures that nobody binds: what they hold is made up, and the report says so.
    unbound_textures: Vec<String>,
}

/// What an argument list is made from.
pub struct ArgContext<'a> {
    /// The module that has the kernel.
    pub module: &'a Module,
    /// The kernel whose parameters need arguments.
    pub kernel: FuncId,
    /// What the command line or the directive gives.
    pub args: &'a LaunchArgs,
    /// The directive, for messages; `None`: the command line.
    pub span: Option<Span>,
    /// Seed of random content for which no seed was written.
    pub seed: u64,
    /// What parameters without a specification get.
    pub tried: Tried<'a>,
    /// Most bytes of all buffers together: `--max-memory`.
    pub max_memory: u64,
    /// Variables of the device that options set.
    pub variables: &'a Variables,
    /// Functions that parameters may point to.
    pub functions: &'a [FunctionAddress],
}

/// What one repetition gives to parameters that nobody gives anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried<'a> {
    /// For scalars, from `--scalars`.
    pub scalar: Option<&'a str>,
    /// Which of the functions that pointers to functions may point to.
    pub function: usize,
}

impl Buffers {
    /// No buffers yet, and the variables of `module` as it declares them.
    pub fn new(module: &Module) -> Buffers {
        Buffers { memory: DeviceMemory::new(module), ..Buffers::default() }
    }

    /// The buffer of this name; `None`: no launch has had one so far.
    pub fn find(&self, name: &str) -> Option<&Buffer> {
        self.by_name.get(name).map(|id| &self.memory.buffers[id.0 as usize])
    }

    /// What is not what the program has, in words, since this was asked last.
    pub fn made_up(&mut self) -> Vec<String> {
        let textures = std::mem::take(&mut self.unbound_textures).into_iter().map(|name| {
            format!("nothing binds the texture `{name}`: it holds the number 1 everywhere")
        });
        let arrays = std::mem::take(&mut self.unbounded).into_iter();
        let arrays =
            arrays.map(|name| format!("array `{name}` has no size: its bounds were not checked"));
        textures.chain(arrays).collect()
    }

    /// The arguments of one launch; makes the buffers that are not there yet.
    ///
    /// # Errors
    /// W306 for an argument that is missing, unknown or does not fit its parameter; W307 for buffers beyond the memory limit.
    pub fn arguments(&mut self, cx: &ArgContext<'_>) -> Result<Vec<Arg>, Failure> {
        let function = cx.module.function(cx.kernel);
        let names: Vec<&str> =
            function.params.iter().map(|p| function.var(*p).name.as_str()).collect();
        let mut seen = HashSet::new();
        if let Some(twice) = cx.args.args.iter().find(|a| !seen.insert(&a.name)) {
            let message = format!("argument `{}` is given twice", twice.name);
            return Err(cx.error(message).help("keep the one that is meant").into());
        }
        let declared = |name: &str| {
            cx.variables.declared.iter().any(|d| d == name)
                || textures::is_reference(cx.module, name)
        };
        let unknown = |a: &&NamedSpec| !names.contains(&base(&a.name)) && !declared(&a.name);
        if let Some(unknown) = cx.args.args.iter().find(unknown) {
            let error = variables::unknown(&function.name, &unknown.name, &names, cx.variables);
            return Err(cx.at_launch(error).into());
        }
        all_given(cx)?;
        let scalars = scalar_arguments(cx)?;
        self.set_variables(cx, &names, &scalars)?;
        self.unbound_textures.extend(textures::bind_unbound(cx.module, &mut self.memory));
        let mut args = vec![];
        for param in &function.params {
            let var = function.var(*param);
            args.push(match &var.ty {
                Type::Pointer { pointee, .. } => self.pointer(cx, var, pointee, &scalars)?,
                Type::Struct(_) => Arg::Bytes(self.object(cx, var, &scalars)?),
                ty => Arg::Bytes(match self.texture(cx, &var.name, &scalars)? {
                    Some(object) => object.to_le_bytes().to_vec(),
                    None => by_value(cx, var, ty)?,
                }),
            });
        }
        Ok(args)
    }

    /// The variables of the device as options give them, before the first launch; those that only host code sets hold
    /// nothing without it.
    fn set_variables(
        &mut self,
        cx: &ArgContext<'_>,
        parameters: &[&str],
        scalars: &HashMap<String, i128>,
    ) -> Result<(), Failure> {
        let mut references = vec![];
        for (global, variable) in cx.module.globals.iter().zip(&mut self.memory.globals) {
            if !self.variables_set.insert(global.name.clone()) {
                continue;
            }
            let given = cx.args.spec(&global.name).filter(|_| !parameters.contains(&&*global.name));
            let Some(spec) = given else {
                self.variables_set.remove(&global.name);
                let host = cx.variables.set_by_host.contains(&global.name);
                if self.launches == 0 && host && global.init.is_none() {
                    variable.poison = vec![true; variable.bytes.len()];
                }
                continue;
            };
            if let Some(at) = textures::object_of_texture(cx.module, &global.ty) {
                references.push((global.name.clone(), at));
                continue;
            }
            variables::set(cx.module, &global.ty, variable, spec, scalars, cx.seed).map_err(
                |(why, help)| cx.error(format!("variable `{}`: {why}", global.name)).help(help),
            )?;
        }
        self.launches += 1;
        for (name, at) in references {
            let object = self.given_texture(cx, &name, scalars)?;
            let global = cx.module.globals.iter().position(|g| g.name == name);
            if let Some(variable) = global.and_then(|i| self.memory.globals.get_mut(i)) {
                variable.bytes[at..at + 8].copy_from_slice(&object.to_le_bytes());
            }
        }
        Ok(())
    }

    fn pointer(
        &mut self,
        cx: &ArgContext<'_>,
        var: &Var,
        pointee: &Type,
        scalars: &HashMap<String, i128>,
    ) -> Result<Arg, Failure> {
        self.pointer_named(cx, &var.name, pointee, scalars)
    }

    /// The buffer behind a pointer: a parameter, or a field of one (`a.data`).
    fn pointer_named(
        &mut self,
        cx: &ArgContext<'_>,
        name: &str,
        pointee: &Type,
        scalars: &HashMap<String, i128>,
    ) -> Result<Arg, Failure> {
        let spec = cx.args.spec(name);
        if let Some(ArgSpec::Number(text)) = spec {
            if text == "0" {
                return Ok(Arg::Null);
            }
            let message = format!("`{name}` is a pointer; `{text}` is no data for it");
            return Err(cx.error(message).help(format!("write {name}=float[256]=random")).into());
        }
        if let Some(id) = self.by_name.get(name) {
            return Ok(Arg::Pointer { buffer: *id, offset: 0 });
        }
        let buffer = match spec {
            None => self.growing(cx, name, pointee),
            Some(spec) => make_buffer(cx, name, spec, pointee, scalars)?,
        };
        let used: u64 = self.memory.buffers.iter().map(|b| b.bytes.len() as u64).sum();
        if used + buffer.bytes.len() as u64 > cx.max_memory {
            return Err(too_large(cx, name));
        }
        self.memory.buffers.push(buffer);
        let id = BufferId(self.memory.buffers.len() as u32 - 1);
        self.by_name.insert(name.to_string(), id);
        Ok(Arg::Pointer { buffer: id, offset: 0 })
    }

    /// The bytes of a struct: as a whole, `p={1, 2.5}`, or field by field, `p.n=1`. A pointer in it that is not
    /// given points to a buffer that grows, as for a parameter.
    fn object(
        &mut self,
        cx: &ArgContext<'_>,
        var: &Var,
        scalars: &HashMap<String, i128>,
    ) -> Result<Vec<u8>, Failure> {
        if let Some(number) = functions::argument(cx, var)? {
            return Ok(number.to_le_bytes().to_vec());
        }
        let fields = leaves(cx.module, &var.ty, &var.name, 0);
        let of_this = |a: &&NamedSpec| base(&a.name) == var.name && a.name != var.name;
        for given in cx.args.args.iter().filter(of_this) {
            let known = fields.iter().any(|f| f.name == given.name);
            if !known {
                let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                let error = cx.error(format!("there is no field `{}`", given.name));
                return Err(error.help(format!("its fields are {}", names.join(", "))).into());
            }
        }
        let by_field = cx.args.args.iter().any(|a| of_this(&a));
        let mut bytes = match cx.args.spec(&var.name) {
            None if by_field || fields.iter().all(|f| f.ty.is_pointer()) => {
                vec![0u8; layout_of(cx.module, &var.ty).size as usize]
            }
            _ => by_value(cx, var, &var.ty)?,
        };
        for field in &fields {
            let at = field.offset as usize;
            match (&field.ty, cx.args.spec(&field.name)) {
                (Type::Pointer { pointee, .. }, _) => {
                    let number = match self.pointer_named(cx, &field.name, pointee, scalars)? {
                        Arg::Pointer { buffer, offset } => {
                            warpsmith_emu::device_pointer(buffer, offset)
                        }
                        _ => 0,
                    };
                    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
                }
                (ty, Some(spec)) => {
                    let part = value_bytes(cx, &field.name, ty, spec)?;
                    bytes[at..at + part.len()].copy_from_slice(&part);
                }
                (_, None) if by_field && cx.args.spec(&var.name).is_none() => {
                    let error = cx.error(format!("field `{}` has no value", field.name));
                    return Err(error.help(format!("add --arg {}=1", field.name)).into());
                }
                _ => {}
            }
        }
        Ok(bytes)
    }

    fn growing(&mut self, cx: &ArgContext<'_>, name: &str, pointee: &Type) -> Buffer {
        self.unbounded.push(name.to_string());
        growing(cx.module, name, pointee, cx.seed)
    }
}

impl ArgContext<'_> {
    /// W306 at the launch that this is about.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.at_launch(Diagnostic::error("W306", message))
    }

    fn at_launch(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.span {
            Some(span) => diagnostic.label(span, "in this launch"),
            None => diagnostic,
        }
    }
}

/// The parameter that an argument names, itself or by a field.
fn base(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// A part of a struct that can be given a value: a number, a vector, an array, a pointer.
struct Leaf {
    /// `p.a.b`.
    name: String,
    offset: u64,
    ty: Type,
}

/// Pointers of an array in a structure that lead to arrays of their own, at most.
const MOST_POINTERS: u64 = 256;

fn leaves(module: &Module, ty: &Type, name: &str, offset: u64) -> Vec<Leaf> {
    if let Type::Array(element, n) = ty
        && matches!(**element, Type::Pointer { .. })
        && *n <= MOST_POINTERS
    {
        let one = |i| leaves(module, element, &format!("{name}[{i}]"), offset + 8 * i);
        return (0..*n).flat_map(one).collect();
    }
    let Type::Struct(id) = ty else {
        return vec![Leaf { name: name.to_string(), offset, ty: ty.clone() }];
    };
    let fields = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
    let part = |f: &warpsmith_ir::StructField| {
        leaves(module, &f.ty, &format!("{name}.{}", f.name), offset + f.offset)
    };
    fields.iter().flat_map(part).collect()
}
