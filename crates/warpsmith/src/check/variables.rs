//! `__constant__` and `__device__` variables: what options give them, and which of them hold nothing.

use std::collections::{HashMap, HashSet};

use warpsmith_emu::Buffer;
use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema::{self, TextureParameter};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::visit::{Access, Visitor, walk_place};
use warpsmith_ir::{Diagnostic, Global, Module, Place, PlaceKind, Scalar, Space, Type};

use super::args::LaunchArgs;
use crate::data::{self, ArgSpec, Init, scalar_bytes};

/// The names of a file that `--arg` may give although no kernel has a parameter of that name.
#[derive(Debug, Default, Clone)]
pub struct Variables {
    /// Every variable of the device.
    pub declared: Vec<String>,
    /// Those that host code sets: without it they hold nothing, also where C++ would say zero.
    pub set_by_host: Vec<String>,
    /// Parameters of kernels that are textures or surfaces.
    pub textures: Vec<TextureParameter>,
}

impl Variables {
    /// The variables of a file.
    pub fn of(unit: &TranslationUnit) -> Variables {
        Variables {
            declared: sema::device_variables(unit),
            set_by_host: sema::variables_set_by_host(unit),
            textures: sema::texture_parameters(unit),
        }
    }
}

/// What a result rests on: variables of the file that kernels read and that neither they nor the host nor an option sets.
pub fn never_set(module: &Module, variables: &Variables, args: &[&LaunchArgs]) -> Vec<String> {
    let given = |name: &str| args.iter().any(|a| a.spec(name).is_some());
    let names = zeros(module).into_iter().filter(|name| {
        let is = |all: &[String]| all.iter().any(|n| n == name);
        is(&variables.declared) && !is(&variables.set_by_host) && !given(name)
    });
    names.map(|name| format!("nothing sets `{name}`, which kernels read: it holds zeros")).collect()
}

/// Variables of the device without a value in their declaration that kernels read, and that nothing in the module sets or can
/// reach by an address: they hold zeros all the time.
fn zeros(module: &Module) -> Vec<&str> {
    let mut uses = Uses::default();
    module.functions.iter().for_each(|f| uses.block(&f.body));
    let zero = |(_, g): &(usize, &Global)| g.space == Space::Global && g.init.is_none();
    let globals = module.globals.iter().enumerate().filter(zero);
    globals
        .filter(|(i, _)| uses.read.contains(i) && !uses.reached.contains(i))
        .map(|(_, g)| g.name.as_str())
        .collect()
}

/// What a module does with its variables.
#[derive(Default)]
struct Uses {
    read: HashSet<usize>,
    /// They are written, or their address is taken.
    reached: HashSet<usize>,
}

impl Visitor for Uses {
    fn place(&mut self, place: &Place, access: Access) {
        if let PlaceKind::Global(id) = &*place.kind {
            match access {
                Access::Read => self.read.insert(id.0 as usize),
                Access::Write | Access::Address => self.reached.insert(id.0 as usize),
            };
        }
        walk_place(self, place, access);
    }
}

/// Gives a variable the value of an option.
///
/// # Errors
/// A sentence, when the value does not fit the variable, and how to write one that does.
pub fn set(
    module: &Module,
    ty: &Type,
    variable: &mut Buffer,
    spec: &ArgSpec,
    scalars: &HashMap<String, i128>,
    seed: u64,
) -> Result<(), (String, String)> {
    let slots = data::scalars_of(module, ty, 0);
    let name = variable.name.clone();
    match spec {
        ArgSpec::Number(_) | ArgSpec::Parts(_) => {
            let numbers = numbers(spec).map_err(|why| (why, example(&name, &slots)))?;
            if numbers.len() != slots.len() {
                let why = format!("it has {} values, not {}", slots.len(), numbers.len());
                return Err((why, example(&name, &slots)));
            }
            for ((offset, scalar), text) in slots.iter().zip(&numbers) {
                let value = data::parse_scalar(text, *scalar)
                    .map_err(|why| (why, example(&name, &slots)))?;
                let at = *offset as usize;
                variable.bytes[at..at + scalar.bytes() as usize]
                    .copy_from_slice(&scalar_bytes(value));
            }
        }
        ArgSpec::Init(Init::File(path)) | ArgSpec::Array { init: Init::File(path), .. } => {
            let array = data::read_npy(std::path::Path::new(path))
                .map_err(|why| (why, "name a file that NumPy wrote".to_string()))?;
            let fits = slots.iter().all(|(_, s)| *s == array.ty);
            if !fits || array.bytes.len() != variable.bytes.len() {
                let why = format!(
                    "the file holds {} bytes of {}, the variable {} bytes",
                    array.bytes.len(),
                    array.ty,
                    variable.bytes.len()
                );
                return Err((why, example(&name, &slots)));
            }
            variable.bytes = array.bytes;
        }
        ArgSpec::Function(_) => {
            let why = "it cannot be given a function from here".to_string();
            return Err((why, "set it in the file: `__device__ Op op = add;`".to_string()));
        }
        ArgSpec::Init(init) => fill(module, ty, variable, init, seed),
        ArgSpec::Array { element, dims, init } => {
            let mut count = 1u64;
            for dim in dims {
                let extent =
                    data::eval_extent(dim, scalars).map_err(|why| (why, example(&name, &slots)))?;
                count = count.saturating_mul(extent);
            }
            let inner = ty.innermost();
            let has = layout_of(module, ty).size / layout_of(module, inner).size.max(1);
            let same = matches!(element, data::Element::Type(t) if t == inner)
                || matches!((element, inner), (data::Element::Named(_), Type::Struct(_)));
            if count != has || !same {
                let why = "its type or extent is another one".to_string();
                return Err((why, example(&name, &slots)));
            }
            fill(module, ty, variable, init, seed);
        }
    }
    variable.poison = match spec {
        ArgSpec::Init(Init::Uninit) | ArgSpec::Array { init: Init::Uninit, .. } => {
            vec![true; variable.bytes.len()]
        }
        _ => vec![],
    };
    Ok(())
}

fn fill(module: &Module, ty: &Type, variable: &mut Buffer, init: &Init, seed: u64) {
    let inner = ty.innermost();
    let count = layout_of(module, ty).size / layout_of(module, inner).size.max(1);
    let seed = seed ^ data::name_hash(&variable.name);
    variable.bytes = data::fill(module, inner, count, init, seed);
}

fn numbers(spec: &ArgSpec) -> Result<Vec<String>, String> {
    match spec {
        ArgSpec::Number(text) => Ok(vec![text.clone()]),
        ArgSpec::Parts(parts) => {
            let all: Result<Vec<Vec<String>>, String> = parts.iter().map(numbers).collect();
            Ok(all?.concat())
        }
        _ => Err("an array stands where a number is wanted".to_string()),
    }
}

/// How the variable's value is written.
fn example(name: &str, slots: &[(u64, Scalar)]) -> String {
    match slots.len() {
        1 => format!("write {name}=1"),
        n if n <= 4 => format!("write {name}={{{}}}", vec!["1"; n].join(", ")),
        _ => format!("write {name}=random, {name}=@file.npy or {name}={{1, 2, …}}"),
    }
}

/// What to say of a variable that an option gives and nobody knows.
pub fn unknown(kernel: &str, name: &str, parameters: &[&str], variables: &Variables) -> Diagnostic {
    let message = format!("kernel `{kernel}` has no parameter `{name}`");
    let help = match variables.declared.as_slice() {
        [] => format!("its parameters are {}", parameters.join(", ")),
        all => format!(
            "its parameters are {}; variables of the device are {}",
            parameters.join(", "),
            all.join(", ")
        ),
    };
    Diagnostic::error("W306", message).help(help)
}
