//! Texture references that nobody binds where no host code is run: they hold the number 1 everywhere.

use warpsmith_emu::{Buffer, BufferId, DeviceMemory, device_pointer};
use warpsmith_ir::{Module, StructDef, Type};

/// Texels along each axis.
const EXTENT: i64 = 1 << 20;

/// Bytes of the largest texel.
const TEXEL: usize = 16;

/// Binds the textures of a module that are bound to nothing; their names.
pub fn bind_unbound(module: &Module, memory: &mut DeviceMemory) -> Vec<String> {
    let Some(record) = module.structs.iter().find(|s| s.name == "textureRecord") else {
        return vec![];
    };
    let mut names = vec![];
    for (i, global) in module.globals.iter().enumerate() {
        let Some(object) = object_of_texture(module, &global.ty) else { continue };
        let bound = |v: &Buffer| v.bytes[object..object + 8] != [0; 8];
        if memory.globals.get(i).is_none_or(bound) {
            continue;
        }
        let texel = 1u32.to_le_bytes().repeat(TEXEL / 4);
        let data = push(memory, &format!("{} (texels)", global.name), texel);
        let bytes = one_texel_everywhere(record, data);
        let at = push(memory, &format!("{} (texture)", global.name), bytes);
        memory.globals[i].bytes[object..object + 8].copy_from_slice(&at.to_le_bytes());
        names.push(global.name.clone());
    }
    names
}

/// Where the number of the texture object is in a variable of that type, if it is a texture reference.
fn object_of_texture(module: &Module, ty: &Type) -> Option<usize> {
    let Type::Struct(id) = ty else { return None };
    let def = module.structs.get(id.0 as usize)?;
    let field = |name: &str| def.fields.iter().find(|f| f.name == name);
    field("filterMode").and(field("channelDesc"))?;
    Some(field("object")?.offset as usize)
}

/// A record without a step from one texel to the next.
fn one_texel_everywhere(record: &StructDef, data: u64) -> Vec<u8> {
    let mut bytes = vec![0; record.size as usize];
    let values = [
        ("data", data.to_le_bytes()),
        ("width", EXTENT.to_le_bytes()),
        ("height", EXTENT.to_le_bytes()),
        ("depth", EXTENT.to_le_bytes()),
    ];
    for field in &record.fields {
        if let Some((_, value)) = values.iter().find(|(name, _)| *name == field.name) {
            let at = field.offset as usize;
            bytes[at..at + 8].copy_from_slice(value);
        }
    }
    bytes
}

fn push(memory: &mut DeviceMemory, name: &str, bytes: Vec<u8>) -> u64 {
    memory.buffers.push(Buffer { name: name.to_string(), bytes, ..Buffer::default() });
    device_pointer(BufferId(memory.buffers.len() as u32 - 1), 0)
}
