//! How values of every type are taken apart into scalars.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, Scalar, Type};

use super::lir::Leaf;

/// Aggregates of more scalars than this are only handled in memory: as many words as the parameters of a kernel have at most.
const MAX_LEAVES: usize = 8191;

/// A run of equal scalars that one memory instruction moves.
pub(super) struct Piece {
    pub offset: u64,
    pub ty: Scalar,
    pub count: u8,
}

/// The scalars of a type in memory order; `None` when there are too many.
pub(super) fn leaves(module: &Module, ty: &Type) -> Option<Vec<Leaf>> {
    let mut out = vec![];
    for p in pieces(module, ty)? {
        for i in 0..u64::from(p.count) {
            out.push(Leaf { offset: p.offset + i * u64::from(p.ty.bytes()), ty: p.ty });
        }
    }
    Some(out)
}

/// The memory accesses that move a value of a type.
pub(super) fn pieces(module: &Module, ty: &Type) -> Option<Vec<Piece>> {
    let mut out = vec![];
    add_pieces(module, ty, 0, &mut out, 0)?;
    Some(out)
}

fn add_pieces(module: &Module, ty: &Type, at: u64, out: &mut Vec<Piece>, depth: u32) -> Option<()> {
    if depth > 64 || out.len() > MAX_LEAVES {
        return None;
    }
    match ty {
        Type::Void => {}
        Type::Scalar(s) => out.push(Piece { offset: at, ty: *s, count: 1 }),
        Type::Pointer { .. } => out.push(Piece { offset: at, ty: Scalar::U64, count: 1 }),
        Type::Vector(s, n @ (2 | 4)) if u32::from(*n) * s.bytes() <= 16 => {
            out.push(Piece { offset: at, ty: *s, count: *n });
        }
        Type::Vector(s, n) => {
            // Three components are three accesses; so are the two halves of 32 bytes.
            let width = u64::from(s.bytes());
            out.extend((0..u64::from(*n)).map(|i| Piece {
                offset: at + i * width,
                ty: *s,
                count: 1,
            }));
        }
        Type::Array(element, n) => {
            let size = layout_of(module, element).size;
            if *n > MAX_LEAVES as u64 {
                return None;
            }
            for i in 0..*n {
                add_pieces(module, element, at + i * size, out, depth + 1)?;
            }
        }
        Type::Struct(id) => {
            let def = module.structs.get(id.0 as usize)?;
            if has_overlap(module, ty) {
                return add_words(at, def.size, def.align, out);
            }
            for f in &def.fields {
                add_pieces(module, &f.ty, at + f.offset, out, depth + 1)?;
            }
        }
    }
    Some(())
}

/// A union is moved as plain words.
fn add_words(at: u64, size: u64, align: u64, out: &mut Vec<Piece>) -> Option<()> {
    let ty = match (align, size) {
        (8.., _) if size.is_multiple_of(8) => Scalar::U64,
        (4.., _) if size.is_multiple_of(4) => Scalar::U32,
        (2.., _) if size.is_multiple_of(2) => Scalar::U16,
        _ => Scalar::U8,
    };
    let width = u64::from(ty.bytes());
    if size / width > MAX_LEAVES as u64 {
        return None;
    }
    out.extend((0..size / width).map(|i| Piece { offset: at + i * width, ty, count: 1 }));
    Some(())
}

/// A struct with fields that share bytes: a union.
pub(super) fn has_overlap(module: &Module, ty: &Type) -> bool {
    let Type::Struct(id) = ty else { return false };
    let Some(def) = module.structs.get(id.0 as usize) else { return false };
    let mut end = 0;
    def.fields.iter().any(|f| {
        let overlaps = f.offset < end;
        end = f.offset + layout_of(module, &f.ty).size;
        overlaps
    })
}

/// A union somewhere inside.
pub(super) fn holds_union(module: &Module, ty: &Type) -> bool {
    match ty {
        Type::Array(e, _) => holds_union(module, e),
        Type::Struct(id) => {
            has_overlap(module, ty)
                || module
                    .structs
                    .get(id.0 as usize)
                    .is_some_and(|d| d.fields.iter().any(|f| holds_union(module, &f.ty)))
        }
        _ => false,
    }
}

/// Number of leaves of a type.
pub(super) fn leaf_count(module: &Module, ty: &Type) -> usize {
    leaves(module, ty).map_or(0, |l| l.len())
}
