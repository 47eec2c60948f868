//! Bit-fields: members that are some bits of a word. The word is the field that memory has; a read takes the bits out
//! of it, a write puts them in and leaves the others.
//!
//! Members beside each other in one word are one piece of memory, as C++ has it: threads that write two of them race.

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, MathFn, Place, Scalar, Span, StmtKind, StructField, StructId, Type,
    layout,
};

use super::Sema;
use super::convert::cast_scalar;
use super::model::*;
use super::types::Found;
use crate::ast;

/// Marks the last step of a way to a member as bits of the word it ends at.
const CODE: u32 = 1 << 31;

/// Which bits of its word a member is, and the type it is declared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bits {
    pub shift: u8,
    /// 0 only for the unnamed ones that end a word.
    pub width: u8,
    pub ty: Scalar,
}

impl Bits {
    /// As a step of a way to a member.
    fn code(self) -> u32 {
        let ty = Scalar::ALL.iter().position(|s| *s == self.ty).unwrap_or(0) as u32;
        CODE | ty << 16 | u32::from(self.width) << 8 | u32::from(self.shift)
    }

    pub fn from_code(code: u32) -> Option<Bits> {
        let ty = *Scalar::ALL.get((code & !CODE) as usize >> 16)?;
        let bits = Bits { shift: code as u8, width: (code >> 8) as u8, ty };
        (code & CODE != 0).then_some(bits)
    }

    /// The type of the value that is read: what an `int` can hold is one (C++'s integral promotions).
    pub fn value_type(self) -> Scalar {
        match self.ty {
            Scalar::Bool => Scalar::Bool,
            _ if self.width < 32 => Scalar::I32,
            Scalar::U64 if self.width == 32 => Scalar::U32,
            Scalar::I64 if self.width == 32 => Scalar::I32,
            other => other,
        }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width.clamp(1, 64))
    }
}

/// A member of a class on its way into memory.
struct Placed {
    /// In bits from the start of the object.
    at: u64,
    size: u64,
    align: u64,
    /// For bits: their width and type.
    bits: Option<Bits>,
}

impl<'a> Sema<'a> {
    /// The bits a declaration asks for: width and type.
    pub(crate) fn declared_bits(
        &mut self,
        scope: ScopeId,
        item: &'a ast::Declarator,
        width: &'a ast::Expr,
        ty: &Type,
    ) -> Res<Bits> {
        let value = self.const_value(scope, width)?.as_i64();
        let Type::Scalar(s) = ty.clone() else {
            return fail("W060", item.span, "a bit-field is an integer");
        };
        let most = if s == Scalar::Bool { 1 } else { i64::from(s.bytes()) * 8 };
        let least = i64::from(!item.name.is_empty());
        if !s.is_integer() || !(least..=most).contains(&value) {
            let text = self.type_text(ty);
            return fail("W060", width.span, format!("`{text}` has no bit-field of {value} bits"));
        }
        let ty = if self.is_unsigned_enum(scope, &item.ty) { Scalar::U32 } else { s };
        Ok(Bits { shift: 0, width: value as u8, ty })
    }

    /// Whether a type names an enumeration whose values nobody gave a type and none of which is negative: compilers hold
    /// them in an `unsigned`, so that the highest bit of a bit-field is no sign.
    fn is_unsigned_enum(&mut self, scope: ScopeId, ty: &'a ast::TypeName) -> bool {
        let Some((decl, around)) = self.enumeration(scope, ty) else { return false };
        !decl.scoped
            && decl.underlying.is_none()
            && (0..decl.variants.len())
                .all(|i| self.enumerator_value(decl, i, around).is_ok_and(|v| v.as_i64() >= 0))
    }

    /// The enumeration that a type names, through aliases, too.
    fn enumeration(
        &mut self,
        scope: ScopeId,
        ty: &'a ast::TypeName,
    ) -> Option<(&'a ast::EnumDecl, ScopeId)> {
        match &ty.kind {
            ast::TypeKind::Inline(inline) => match &**inline {
                ast::InlineType::Enum(e) => Some((e, scope)),
                ast::InlineType::Struct(_) => None,
            },
            ast::TypeKind::Named(path) => {
                let Ok(Found::Entities(list, _)) = self.resolve_path(scope, path) else {
                    return None;
                };
                match *list.first()? {
                    Entity::Enum { decl, scope } => Some((decl, scope)),
                    Entity::Alias { decl, scope } => self.enumeration(scope, &decl.ty),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Lays a class out that has bit-fields. `types` has a member of the declared type for each, which makes way for words.
    pub(crate) fn lay_out_bits(
        &mut self,
        id: StructId,
        types: Vec<(String, Type)>,
        mut fields: Vec<FieldInfo<'a>>,
        is_union: bool,
        align: u64,
    ) -> Res<()> {
        let placed = self.place_members(&types, &fields, is_union);
        let words = words_of(&placed, is_union);
        let (mut made, mut moved): (Vec<StructField>, Vec<u32>) = (vec![], vec![]);
        let mut units: Vec<(usize, u32)> = vec![];
        for (i, (name, ty)) in types.into_iter().enumerate() {
            let word = match words[i] {
                None if placed[i].bits.is_none() => None,
                None if placed[i].bits.is_some_and(|b| b.width == 0) => {
                    moved.push(u32::MAX);
                    continue;
                }
                None => {
                    let span = fields.iter().find(|f| f.index == i as u32).map(|f| f.span);
                    let Some(span) = span else { return Err(Failure::Reported) };
                    let d =
                        error("W060", span, "this bit-field shares its word with another member");
                    return Err(d
                        .help("put the other member first, or make it a bit-field, too")
                        .into());
                }
                Some(word) => Some(word),
            };
            let Some(word) = word else {
                moved.push(made.len() as u32);
                made.push(StructField { name, ty, offset: placed[i].at / 8 });
                continue;
            };
            let known = units.iter().find(|(w, _)| !is_union && *w == word.leader);
            let index = known.map_or(made.len() as u32, |(_, index)| *index);
            if known.is_none() {
                units.push((word.leader, index));
                made.push(StructField { name, ty: Type::Scalar(word.ty), offset: word.at });
            }
            moved.push(index);
            if let (Some(f), Some(bits)) =
                (fields.iter_mut().find(|f| f.index == i as u32), placed[i].bits)
            {
                f.bits = Some(Bits { shift: (placed[i].at - word.at * 8) as u8, ..bits });
            }
        }
        let align = placed.iter().map(|p| p.align).fold(align.max(1), u64::max);
        let end = placed.iter().map(|p| (p.at + p.size).div_ceil(8)).max().unwrap_or(1).max(1);
        if let Some(def) = self.module.structs.get_mut(id.0 as usize) {
            (def.fields, def.size, def.align) = (made, end.next_multiple_of(align), align);
        }
        self.move_members(id, &moved, &mut fields);
        if let Some(info) = self.classes.get_mut(&id) {
            info.fields = fields;
            info.complete = true;
        }
        Ok(())
    }

    /// Where members lie, as the compilers of 64-bit hosts place them: bits go on where the last member ended, unless they
    /// would lie in two words of their type.
    fn place_members(
        &self,
        types: &[(String, Type)],
        fields: &[FieldInfo<'a>],
        is_union: bool,
    ) -> Vec<Placed> {
        let mut end = 0u64;
        let mut all = vec![];
        for (i, (name, ty)) in types.iter().enumerate() {
            let l = layout::layout_of(&self.module, ty);
            let bits = fields.iter().find(|f| f.index == i as u32).and_then(|f| f.bits);
            let (word, align) = (l.size * 8, l.align.max(1));
            let placed = match bits {
                None => {
                    let at = end.div_ceil(8).next_multiple_of(align) * 8;
                    Placed { at, size: word, align, bits }
                }
                Some(b) => {
                    let width = u64::from(b.width);
                    let crosses = width == 0 || end / word != (end + width - 1) / word;
                    let at = if crosses { end.next_multiple_of(word) } else { end };
                    let align = if name.is_empty() { 1 } else { align };
                    Placed { at, size: width, align, bits }
                }
            };
            end = if is_union { 0 } else { placed.at + placed.size };
            all.push(placed);
        }
        all
    }

    /// Gives members the numbers that their fields have now.
    fn move_members(&mut self, id: StructId, moved: &[u32], fields: &mut Vec<FieldInfo<'a>>) {
        let scope = self.class(id).scope;
        let new = |index: u32| moved.get(index as usize).copied().unwrap_or(index);
        let codes: Vec<(u32, u32)> =
            fields.iter().filter_map(|f| Some((f.index, f.bits?.code()))).collect();
        let inherited: Vec<u32> = self.class(id).bases.iter().filter_map(|b| b.index).collect();
        if let Some(s) = self.scopes.get_mut(scope.0 as usize) {
            for entity in s.to_mut().names.values_mut().flatten() {
                let Entity::Field { class, path } = entity else { continue };
                let Some(first) = path.first().copied().filter(|_| *class == id) else { continue };
                let code = codes.iter().find(|(index, _)| *index == first);
                path[0] = new(first);
                path.extend(code.map(|(_, code)| *code));
            }
        }
        debug_assert!(inherited.iter().all(|i| new(*i) == *i), "bases come first");
        fields.retain(|f| new(f.index) != u32::MAX);
        for f in fields {
            f.index = new(f.index);
        }
    }

    /// The value of a bit-field.
    pub(crate) fn read_bits(&mut self, word: Place, bits: Bits, span: Span) -> Res<Expr> {
        let (unsigned, signed) = wide(&word);
        let whole = cast_scalar(self.read_place(word, false, span), unsigned, span);
        let size = unsigned.bytes() as u8 * 8;
        let value = if bits.ty.is_signed() {
            let up = self.shifted(BinaryOp::Shl, whole, size - bits.shift - bits.width, span)?;
            let up = cast_scalar(up, signed, span);
            self.shifted(BinaryOp::Shr, up, size - bits.width, span)?
        } else {
            let down = self.shifted(BinaryOp::Shr, whole, bits.shift, span)?;
            let mask = Expr::int(unsigned, bits.mask() as i64).with_origin(span);
            self.binary_values(BinaryOp::BitAnd, down, mask, span)?
        };
        Ok(cast_scalar(value, bits.value_type(), span))
    }

    fn shifted(&mut self, op: BinaryOp, value: Expr, by: u8, span: Span) -> Res<Expr> {
        if by == 0 {
            return Ok(value);
        }
        self.binary_values(op, value, Expr::i32(by.into()).with_origin(span), span)
    }

    /// A value of the declared type where its bits lie in the word, and nothing else.
    pub(crate) fn bits_in_place(
        &mut self,
        value: Expr,
        bits: Bits,
        word: Scalar,
        span: Span,
    ) -> Res<Expr> {
        let wide = if word.bytes() == 8 { Scalar::U64 } else { Scalar::U32 };
        let value = cast_scalar(value, wide, span);
        let mask = Expr::int(wide, bits.mask() as i64).with_origin(span);
        let value = self.binary_values(BinaryOp::BitAnd, value, mask, span)?;
        self.shifted(BinaryOp::Shl, value, bits.shift, span)
    }

    /// Stores a value of the declared type into its bits.
    pub(crate) fn write_bits(
        &mut self,
        word: Place,
        bits: Bits,
        value: Expr,
        span: Span,
    ) -> Res<()> {
        let Type::Scalar(stored) = word.ty.clone() else { return Err(Failure::Reported) };
        let mut new = self.bits_in_place(value, bits, stored, span)?;
        if u32::from(bits.width) < stored.bytes() * 8 {
            let (unsigned, _) = wide(&word);
            let old = self.read_place(word.clone(), false, span);
            // Bits that nobody has written yet do not make those undefined that are written now.
            let ty = old.ty.clone();
            let old = Expr::new(ExprKind::Call(MathFn::Settled, vec![old]), ty, span);
            let old = cast_scalar(old, unsigned, span);
            let others = !(bits.mask() << bits.shift);
            let others = Expr::int(unsigned, others as i64).with_origin(span);
            let kept = self.binary_values(BinaryOp::BitAnd, old, others, span)?;
            new = self.binary_values(BinaryOp::BitOr, kept, new, span)?;
        }
        let value = cast_scalar(new, stored, span);
        self.emit(StmtKind::Assign { place: word, value }, span);
        Ok(())
    }

    /// A word whose members are given by a list, in their order; what the list does not give has its default.
    pub(crate) fn word_of(
        &mut self,
        class: StructId,
        index: u32,
        span: Span,
        mut given: impl FnMut(&mut Self, &FieldInfo<'a>) -> Res<Option<Expr>>,
    ) -> Res<Option<Expr>> {
        let fields = self.class(class).fields.clone();
        let Some((_, &Type::Scalar(stored))) = layout::field_of(&self.module, class, index) else {
            return Ok(None);
        };
        let mut whole: Option<Expr> = None;
        for field in fields.iter().filter(|f| f.index == index && f.bits.is_some()) {
            let Some(bits) = field.bits.filter(|_| !field.name.is_empty()) else { continue };
            let value = match given(self, field)? {
                Some(value) => value,
                None => Expr::int(bits.ty, 0).with_origin(span),
            };
            let part = self.bits_in_place(value, bits, stored, span)?;
            whole = Some(match whole {
                Some(w) => self.binary_values(BinaryOp::BitOr, w, part, span)?,
                None => part,
            });
        }
        Ok(whole.map(|w| cast_scalar(w, stored, span)))
    }

    /// Whether a field is a word of bit-fields.
    pub(crate) fn is_word(&self, class: StructId, index: u32) -> bool {
        let info = self.classes.get(&class);
        info.is_some_and(|i| i.fields.iter().any(|f| f.index == index && f.bits.is_some()))
    }
}

/// The types in which a word's bits are worked on.
fn wide(word: &Place) -> (Scalar, Scalar) {
    match word.ty {
        Type::Scalar(s) if s.bytes() == 8 => (Scalar::U64, Scalar::I64),
        _ => (Scalar::U32, Scalar::I32),
    }
}

/// A word of memory that holds bit-fields.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The first of its members.
    leader: usize,
    /// In bytes.
    at: u64,
    ty: Scalar,
}

/// The word of each member that has bits; `None` where there is none that no other member lies in.
fn words_of(placed: &[Placed], is_union: bool) -> Vec<Option<Word>> {
    let free = |from: u64, bytes: u64| {
        let other =
            |p: &&Placed| p.bits.is_none() && p.at < (from + bytes) * 8 && from * 8 < p.at + p.size;
        is_union || !placed.iter().any(|p| other(&p))
    };
    let mut spans: Vec<Option<(u64, u64)>> = vec![];
    for p in placed {
        let Some(bits) = p.bits.filter(|b| b.width > 0) else {
            spans.push(None);
            continue;
        };
        let last = p.at + p.size - 1;
        let holding = |bytes: &u64| p.at / (bytes * 8) == last / (bytes * 8);
        let whole = u64::from(bits.ty.bytes());
        let sizes = [whole, 1, 2, 4, 8].into_iter().filter(|b| *b <= whole && holding(b));
        let windows = sizes.map(|bytes| (p.at / (bytes * 8) * bytes, bytes));
        spans.push(windows.clone().find(|(from, bytes)| free(*from, *bytes)));
    }
    let outermost = |(from, bytes): (u64, u64)| {
        let around = |s: &&(u64, u64)| s.0 <= from && from + bytes <= s.0 + s.1;
        let all = spans.iter().flatten().filter(around);
        let widest = if is_union { None } else { all.max_by_key(|s| s.1) };
        widest.copied().unwrap_or((from, bytes))
    };
    let word = |span: Option<(u64, u64)>| {
        let (at, bytes) = outermost(span?);
        let leader = spans.iter().position(|s| s.is_some_and(|s| outermost(s) == (at, bytes)))?;
        let ty = match bytes {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        };
        Some(Word { leader, at, ty })
    };
    spans.iter().map(|s| word(*s)).collect()
}
