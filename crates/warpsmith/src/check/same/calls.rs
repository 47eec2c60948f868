//! What a side is called with: arrays and numbers, some of them fields of structures, and the kernels that get them one
//! after the other.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, FuncId, Function, Module, Span, Type, Value};

use super::launching::Launching;
use crate::data::{self, Init, scalar_bytes};
use warpsmith_translate::tune::sizes::Point;

/// An array or a number: a parameter, or a field of one, `grid.nx`.
#[derive(Clone, Debug)]
pub struct Slot {
    pub name: String,
    /// A scalar or a pointer.
    pub ty: Type,
    pub span: Option<Span>,
    /// Nobody but its accesses says how long the array is.
    pub inferred: bool,
}

/// What a parameter of a kernel gets.
#[derive(Clone, Debug)]
pub enum Bind {
    /// Numbers and pointers at their places in bytes: one for a scalar, several for a structure.
    Slots(Vec<(u64, usize)>),
    /// What the host code computes from the sizes.
    Host,
}

/// A kernel of a side.
#[derive(Clone, Debug)]
pub struct Stage {
    /// With template arguments.
    pub name: String,
    pub function: FuncId,
    pub launching: Launching,
    pub binds: Vec<Bind>,
}

/// The slots of the parameters of a function, added to those that are there; one of a name stands for all of that name.
///
/// # Errors
/// W309: a parameter that is neither numbers nor arrays.
pub fn bind(
    module: &Module,
    f: &Function,
    names: &dyn Fn(usize, &str) -> Option<String>,
    slots: &mut Vec<Slot>,
) -> Result<Vec<Bind>, Diagnostic> {
    let mut binds = vec![];
    for (k, param) in f.params.iter().enumerate() {
        let var = f.var(*param);
        let Some(name) = names(k, &var.name) else {
            binds.push(Bind::Host);
            continue;
        };
        let mut pieces = vec![];
        if !parts(module, &name, &var.ty, 0, &mut pieces) {
            let message =
                format!("`{}` of `{}` is no number, array or structure of them", var.name, f.name);
            let d = Diagnostic::error("W309", message).help(
                "--same-as compares functions of arrays and numbers: write one that passes the parts",
            );
            return Err(match var.origin.span {
                Some(span) => d.label(span, "here"),
                None => d,
            });
        }
        let mut places = vec![];
        for (offset, name, ty) in pieces {
            let whole = offset == 0 && !var.ty.is_aggregate();
            let slot = Slot { name, ty, span: var.origin.span, inferred: whole && var.inferred };
            places.push((offset, add(slots, slot)?));
        }
        binds.push(Bind::Slots(places));
    }
    Ok(binds)
}

fn add(slots: &mut Vec<Slot>, new: Slot) -> Result<usize, Diagnostic> {
    let Some(at) = slots.iter().position(|s| s.name == new.name) else {
        slots.push(new);
        return Ok(slots.len() - 1);
    };
    let own = &mut slots[at];
    let agree = match (own.ty.pointee(), new.ty.pointee()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => own.ty == new.ty || own.ty.is_integer() && new.ty.is_integer(),
        _ => false,
    };
    if !agree {
        let message = format!("`{}` has different types in the kernels that are run", new.name);
        let d = Diagnostic::error("W309", message)
            .help("kernels that run one after the other share what has one name");
        return Err(match new.span {
            Some(span) => d.label(span, "here"),
            None => d,
        });
    }
    // Written by one of them.
    if matches!(new.ty, Type::Pointer { readonly: false, .. }) {
        own.ty = new.ty;
    }
    Ok(at)
}

/// Numbers and pointers of a value; whether there is nothing else in it.
fn parts(
    module: &Module,
    name: &str,
    ty: &Type,
    offset: u64,
    into: &mut Vec<(u64, String, Type)>,
) -> bool {
    match ty {
        Type::Scalar(_) | Type::Pointer { .. } => {
            into.push((offset, name.to_string(), ty.clone()));
            true
        }
        Type::Vector(s, n) => {
            let size = u64::from(s.bytes());
            let one = |i: u64| ["x", "y", "z", "w"][i as usize];
            let all = (0..u64::from(*n))
                .map(|i| (offset + i * size, format!("{name}.{}", one(i)), Type::Scalar(*s)));
            into.extend(all);
            true
        }
        Type::Array(element, n) if *n <= 64 => {
            let size = layout_of(module, element).size;
            (0..*n).all(|i| parts(module, &format!("{name}.{i}"), element, offset + i * size, into))
        }
        Type::Struct(id) => {
            let fields = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
            fields.iter().all(|f| {
                let name = format!("{name}.{}", f.name);
                parts(module, &name, &f.ty, offset + f.offset, into)
            })
        }
        _ => false,
    }
}

/// The bytes of a parameter: numbers, and pointers as emulator and interpreter write them.
pub fn bytes_of(
    module: &Module,
    ty: &Type,
    places: &[(u64, usize)],
    value: &dyn Fn(usize) -> Option<Given>,
) -> Vec<u8> {
    let mut bytes = data::fill(module, ty, 1, &Init::Zeros, 0);
    for (offset, slot) in places {
        let piece = match value(*slot) {
            Some(Given::Number(v)) => scalar_bytes(v),
            Some(Given::Buffer(id)) => ((u64::from(id) + 1) << 40).to_le_bytes().to_vec(),
            None => continue,
        };
        let at = *offset as usize;
        if let Some(to) = bytes.get_mut(at..at + piece.len()) {
            to.copy_from_slice(&piece);
        }
    }
    bytes
}

/// What a slot holds at a launch.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    Number(Value),
    /// The number of the buffer.
    Buffer(u32),
}

impl Stage {
    /// The values of the kernel's parameters that are whole numbers, by its own names.
    pub fn sizes(&self, f: &Function, slots: &[Slot], by_slot: &Point) -> Point {
        let mut sizes = Point::new();
        for (param, bind) in f.params.iter().zip(&self.binds) {
            let Bind::Slots(places) = bind else { continue };
            for (_, slot) in places {
                let name = &slots[*slot].name;
                let Some(value) = by_slot.get(name) else { continue };
                let own = if places.len() == 1 { f.var(*param).name.clone() } else { name.clone() };
                sizes.insert(own, *value);
            }
        }
        sizes
    }
}
