//! Textures and surfaces where no host code is run: arrays that `--arg` gives for them. Textures that nothing binds hold the
//! number 1 everywhere.

use std::collections::HashMap;
use std::path::Path;

use warpsmith_emu::{Buffer, BufferId, DeviceMemory, device_pointer};
use warpsmith_front::sema::TextureParameter;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, StructDef, Type};

use super::arrays::{self, make_buffer};
use super::{ArgContext, Buffers};
use crate::check::plan::base_name;
use crate::data::{self, ArgSpec, Init};
use crate::status::Failure;

/// Texels along each axis.
const EXTENT: i64 = 1 << 20;

/// Bytes of the largest texel.
const TEXEL: usize = 16;

/// Binds the textures of a module that are bound to nothing; their names.
pub fn bind_unbound(module: &Module, memory: &mut DeviceMemory) -> Vec<String> {
    let Some(record) = record_type(module) else { return vec![] };
    let mut names = vec![];
    for (i, global) in module.globals.iter().enumerate() {
        let Some(object) = object_of_texture(module, &global.ty) else { continue };
        let bound = |v: &Buffer| v.bytes[object..object + 8] != [0; 8];
        if memory.globals.get(i).is_none_or(bound) {
            continue;
        }
        let at = unbound(memory, record, &global.name);
        memory.globals[i].bytes[object..object + 8].copy_from_slice(&at.to_le_bytes());
        names.push(global.name.clone());
    }
    names
}

/// Whether a variable of the module is a texture reference.
pub(super) fn is_reference(module: &Module, name: &str) -> bool {
    let is = |g: &warpsmith_ir::Global| object_of_texture(module, &g.ty).is_some();
    module.globals.iter().any(|g| g.name == name && is(g))
}

/// Where the number of the texture object is in a variable of that type, if it is a texture reference.
pub(super) fn object_of_texture(module: &Module, ty: &Type) -> Option<usize> {
    let Type::Struct(id) = ty else { return None };
    let def = module.structs.get(id.0 as usize)?;
    let field = |name: &str| def.fields.iter().find(|f| f.name == name);
    field("filterMode").and(field("channelDesc"))?;
    Some(field("object")?.offset as usize)
}

/// A record without a step from one texel to the next.
fn one_texel_everywhere(record: &StructDef, data: u64) -> Vec<u8> {
    let extent = EXTENT as u64;
    filled(record, &[("data", data), ("width", extent), ("height", extent), ("depth", extent)])
}

/// A record with some of its fields; the others are 0.
fn filled(record: &StructDef, values: &[(&str, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; record.size as usize];
    for field in &record.fields {
        if let Some((_, value)) = values.iter().find(|(name, _)| *name == field.name) {
            let (at, n) =
                (field.offset as usize, field.ty.scalar().map_or(8, |s| s.bytes() as usize));
            bytes[at..at + n].copy_from_slice(&value.to_le_bytes()[..n]);
        }
    }
    bytes
}

/// How texels lie in an array of up to three extents, the outermost first. Positions beyond the edges mean those at the edge,
/// integers of 8 and 16 bits that are read as reals lie between -1 and 1.
fn record_of(module: &Module, record: &StructDef, array: &Buffer, data: u64) -> Vec<u8> {
    const CLAMPED: u64 = 1;
    let element = array.element.clone().unwrap_or(Type::F32);
    let texel = layout_of(module, &element).size;
    let slots = data::scalars_of(module, &element, 0);
    let scalar = slots.first().map(|(_, s)| *s);
    let extent = |from_last: usize| {
        let at = array.shape.len().checked_sub(1 + from_last);
        at.and_then(|i| array.shape.get(i)).copied().unwrap_or(1)
    };
    let (bits, is_float) = scalar.map_or((0, false), |s| (8 * u64::from(s.bytes()), s.is_float()));
    let kind = if is_float { 2 } else { u64::from(scalar.is_some_and(|s| !s.is_signed())) };
    let values = [
        ("data", data),
        ("width", extent(0)),
        ("height", extent(1)),
        ("depth", extent(2)),
        ("pitch", extent(0) * texel),
        ("element", texel),
        ("channels", slots.len() as u64),
        ("bits", bits),
        ("kind", kind),
        ("address0", CLAMPED),
        ("address1", CLAMPED),
        ("address2", CLAMPED),
        ("normalizedFloat", u64::from(!is_float && bits < 32)),
    ];
    filled(record, &values)
}

impl ArgContext<'_> {
    /// The parameter of that name, where it is a texture or a surface.
    pub(super) fn texture(&self, name: &str) -> Option<&TextureParameter> {
        let kernel = base_name(&self.module.function(self.kernel).name);
        self.variables.textures.iter().find(|t| t.kernel == kernel && t.name == name)
    }
}

impl Buffers {
    /// The object for a parameter that is a texture or a surface; `None` of other parameters, and where a number is given.
    pub(super) fn texture(
        &mut self,
        cx: &ArgContext<'_>,
        name: &str,
        scalars: &HashMap<String, i128>,
    ) -> Result<Option<u64>, Failure> {
        let Some(texture) = cx.texture(name) else { return Ok(None) };
        match cx.args.spec(name) {
            Some(ArgSpec::Number(_)) => Ok(None),
            Some(_) => self.given_texture(cx, name, scalars).map(Some),
            None if texture.is_surface => {
                let error = cx.error(format!("the surface `{name}` has no texels"));
                Err(error.help(format!("write --arg {name}=float[64][64]")).into())
            }
            None => {
                let Some(record) = record_type(cx.module) else { return Ok(Some(0)) };
                self.unbound_textures.push(name.to_string());
                Ok(Some(unbound(&mut self.memory, record, name)))
            }
        }
    }

    /// The object that names the array which an option gives.
    pub(super) fn given_texture(
        &mut self,
        cx: &ArgContext<'_>,
        name: &str,
        scalars: &HashMap<String, i128>,
    ) -> Result<u64, Failure> {
        let Some(record) = record_type(cx.module) else { return Ok(0) };
        let id = match self.by_name.get(name) {
            Some(id) => *id,
            None => {
                let Some(spec) = cx.args.spec(name) else { return Ok(0) };
                let texel = texel_type(cx, spec).map_err(|why| cx.error(why))?;
                let buffer = make_buffer(cx, name, spec, &texel, scalars)?;
                if buffer.shape.len() > 3 {
                    let error =
                        cx.error(format!("the texture `{name}` has more than three extents"));
                    return Err(error.help(format!("write --arg {name}=float[64][64]")).into());
                }
                self.memory.buffers.push(buffer);
                let id = BufferId(self.memory.buffers.len() as u32 - 1);
                self.by_name.insert(name.to_string(), id);
                id
            }
        };
        let data = device_pointer(id, 0);
        let array = &self.memory.buffers[id.0 as usize];
        let bytes = record_of(cx.module, record, array, data);
        Ok(push(&mut self.memory, &format!("{name} (texture)"), bytes))
    }
}

/// What the elements of an array are that is given for a texture.
fn texel_type(cx: &ArgContext<'_>, spec: &ArgSpec) -> Result<Type, String> {
    match spec {
        ArgSpec::Array { element, .. } => arrays::resolve(cx.module, element),
        ArgSpec::Init(Init::File(path)) => Ok(Type::Scalar(data::read_npy(Path::new(path))?.ty)),
        _ => Ok(Type::F32),
    }
}

fn record_type(module: &Module) -> Option<&StructDef> {
    module.structs.iter().find(|s| s.name == "textureRecord")
}

/// A texture of 1 everywhere.
fn unbound(memory: &mut DeviceMemory, record: &StructDef, name: &str) -> u64 {
    let texel = 1u32.to_le_bytes().repeat(TEXEL / 4);
    let data = push(memory, &format!("{name} (texels)"), texel);
    let bytes = one_texel_everywhere(record, data);
    push(memory, &format!("{name} (texture)"), bytes)
}

fn push(memory: &mut DeviceMemory, name: &str, bytes: Vec<u8>) -> u64 {
    memory.buffers.push(Buffer { name: name.to_string(), bytes, ..Buffer::default() });
    device_pointer(BufferId(memory.buffers.len() as u32 - 1), 0)
}
