//! Structures: their fields and layout, as the host's C compiler lays them out.
//!
//! A structure is looked at when something uses it: what no function touches may hold anything. Complex numbers are
//! structures of two reals.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use warpsmith_ir::{
    Diagnostic, Module, Origin, Scalar, Span, StructDef, StructField, StructId, Type, layout,
};

use super::types::{self, CType};
use super::unit::{Enumerator, Unit};
use super::{cx, literal};
use crate::ast::{Declarator, Expr, ExprKind, Initializer, Member, StructDecl, VarDecl};

/// The largest structure, in bytes: what a kernel takes as a parameter.
const MAX_BYTES: u64 = 4096;
/// Types nested deeper than this name themselves.
const MAX_DEPTH: usize = 64;

/// The structures in use. Ids are those of [`Module::structs`].
#[derive(Debug, Default)]
pub struct Table {
    /// Only the structures are filled in.
    module: RefCell<Module>,
    /// How C spells each; empty for one without a name.
    spellings: RefCell<Vec<String>>,
    known: RefCell<HashMap<Span, Option<StructId>>>,
    complex: [Cell<Option<StructId>>; 2],
    depth: Cell<usize>,
}

impl<'a> Unit<'a> {
    /// The structures that were used so far.
    pub fn structs(&self) -> Vec<StructDef> {
        self.table.module.borrow().structs.clone()
    }

    /// How C spells the structures, in the order of [`Unit::structs`]; empty for one without a name.
    pub fn spellings(&self) -> Vec<String> {
        self.table.spellings.borrow().clone()
    }

    /// Runs `f` one level deeper; `None` when types have been nested too deep to be sound.
    pub fn nested<T>(&self, f: impl FnOnce() -> T) -> Option<T> {
        if self.table.depth.get() >= MAX_DEPTH {
            return None;
        }
        self.table.depth.set(self.table.depth.get() + 1);
        let result = f();
        self.table.depth.set(self.table.depth.get() - 1);
        Some(result)
    }

    /// The structure of two reals of this type.
    pub fn complex(&self, part: Scalar) -> StructId {
        let cell = &self.table.complex[usize::from(part == Scalar::F64)];
        if let Some(id) = cell.get() {
            return id;
        }
        let (name, c) = match part {
            Scalar::F64 => ("double_complex", "double _Complex"),
            _ => ("float_complex", "float _Complex"),
        };
        let fields = ["re", "im"].map(|f| (f.to_string(), Type::Scalar(part)));
        let id = self.add(name, c.into(), fields.into(), 1, Origin::default());
        cell.set(Some(id));
        id
    }

    /// The type of the parts when the structure stands for a complex number.
    pub fn complex_part(&self, id: StructId) -> Option<Scalar> {
        let [single, double] = &self.table.complex;
        if single.get() == Some(id) {
            return Some(Scalar::F32);
        }
        (double.get() == Some(id)).then_some(Scalar::F64)
    }

    /// The structure with this tag; `None` when the file has none.
    ///
    /// # Errors
    /// W144 when the tag stands for two structures, or as [`Unit::structure`].
    pub fn named_structure(
        &'a self,
        name: &str,
        used: Span,
    ) -> Option<Result<StructId, Box<Diagnostic>>> {
        match self.tags.get(name)?.as_slice() {
            [only] => Some(self.structure(only)),
            [] => Some(Err(undefined(name, used).into())),
            [first, second, ..] => {
                let d = refuse(format!("`struct {name}` is defined twice"), second.span)
                    .label(first.span, "the first time")
                    .help("give the structures different names");
                Some(Err(d.into()))
            }
        }
    }

    /// The id of a structure, laid out at its first use.
    ///
    /// # Errors
    /// W144 with the field that has no counterpart: a union, a bit-field, a pointer, an unnamed structure inside.
    pub fn structure(&'a self, decl: &'a StructDecl) -> Result<StructId, Box<Diagnostic>> {
        let known = self.table.known.borrow().get(&decl.span).copied();
        match known {
            Some(Some(id)) => return Ok(id),
            Some(None) => {
                return Err(refuse("this structure contains itself", decl.span).into());
            }
            None => {}
        }
        self.table.known.borrow_mut().insert(decl.span, None);
        let defined = self.define(decl);
        match &defined {
            Ok(id) => self.table.known.borrow_mut().insert(decl.span, Some(*id)),
            // The next use says the same.
            Err(_) => self.table.known.borrow_mut().remove(&decl.span),
        };
        defined
    }

    fn define(&'a self, decl: &'a StructDecl) -> Result<StructId, Box<Diagnostic>> {
        if decl.is_union {
            return Err(refuse("unions are not part of the loop language", decl.span)
                .help("keep the alternatives in fields of their own")
                .into());
        }
        if let Some(span) = self.packed {
            return Err(refuse("structures under `#pragma pack` are not supported", decl.span)
                .label(span, "packed from here on")
                .help("order the fields by size instead, the largest first")
                .into());
        }
        let align = match &decl.align {
            None => 1,
            Some(e) => match self.constant(e) {
                Some(0) => {
                    return Err(refuse("packed structures are not supported", decl.span)
                        .help("order the fields by size instead, the largest first")
                        .into());
                }
                Some(n) if (1..=128).contains(&n) && (n as u64).is_power_of_two() => n as u64,
                _ => return Err(refuse("this alignment is not supported", e.span).into()),
            },
        };
        let mut fields = vec![];
        for member in decl.members.iter().flatten() {
            match member {
                Member::Field(vars) => self.fields(vars, &mut fields)?,
                Member::Struct(s) if s.name.is_some() => {}
                Member::Struct(s) => return Err(unnamed(s.span).into()),
                Member::Enum(_) | Member::StaticAssert(_) => {}
                Member::Method(f) => {
                    return Err(refuse("functions in structures are not C", f.head_span).into());
                }
                Member::Alias(a) => {
                    return Err(refuse("this member is not C", a.span).into());
                }
                Member::Using(path) => {
                    return Err(refuse("this member is not C", path.span).into());
                }
                Member::Unsupported { what, span } => {
                    return Err(refuse(format!("{what} is not supported"), *span).into());
                }
            }
        }
        if fields.is_empty() {
            return Err(refuse("a structure without fields", decl.span).into());
        }
        let alias = self.struct_aliases.get(&decl.span).copied();
        let spelling = match (&decl.name, alias) {
            (Some(tag), _) => format!("struct {tag}"),
            (None, Some(alias)) => alias.to_string(),
            (None, None) => String::new(),
        };
        // A typedef's name is the one that the rest of the file uses.
        let name = alias.or(decl.name.as_deref()).unwrap_or("unnamed");
        let id = self.add(name, spelling, fields, align, decl.span.into());
        let bytes = self.table.module.borrow().structs[id.0 as usize].size;
        if bytes > MAX_BYTES {
            let message = format!("this structure has {bytes} bytes, more than {MAX_BYTES}");
            return Err(refuse(message, decl.span)
                .help("pass its arrays as parameters of their own")
                .into());
        }
        Ok(id)
    }

    fn fields(
        &'a self,
        vars: &'a VarDecl,
        fields: &mut Vec<(String, Type)>,
    ) -> Result<(), Box<Diagnostic>> {
        if let Some(align) = &vars.attrs.align {
            return Err(refuse("the alignment of a single field is not supported", align.span)
                .help("align the whole structure")
                .into());
        }
        for d in &vars.declarators {
            if let Some(bits) = &d.bits {
                return Err(refuse("bit-fields are not supported", bits.span)
                    .help("use a whole integer with shifts and masks")
                    .into());
            }
            if d.name.is_empty() {
                return Err(unnamed(d.span).into());
            }
            let ty = self.field_type(d)?;
            fields.push((d.name.clone(), ty));
        }
        Ok(())
    }

    fn field_type(&'a self, d: &'a Declarator) -> Result<Type, Box<Diagnostic>> {
        let ty = self
            .nested(|| types::read(self, &d.ty, false))
            .unwrap_or_else(|| Err(refuse("this structure contains itself", d.span).into()))?;
        if let Some(value) = ty.value() {
            return Ok(value);
        }
        match ty {
            CType::Array { element, extents, .. } => {
                let mut ty = element;
                for extent in extents.iter().rev() {
                    let length = extent.and_then(|e| self.constant(e)).filter(|n| *n > 0);
                    let Some(length) = length else {
                        let span = extent.map_or(d.span, |e| e.span);
                        return Err(refuse("the extent of this field is no constant", span)
                            .help("pass the array as a parameter of its own")
                            .into());
                    };
                    ty = Type::array(ty, length as u64);
                }
                Ok(ty)
            }
            _ => Err(refuse("a structure with a pointer in it cannot go to the device", d.span)
                .help("pass the array behind the pointer as a parameter of its own")
                .into()),
        }
    }

    fn add(
        &self,
        name: &str,
        spelling: String,
        fields: Vec<(String, Type)>,
        align: u64,
        origin: Origin,
    ) -> StructId {
        let mut module = self.table.module.borrow_mut();
        let types: Vec<Type> = fields.iter().map(|(_, t)| t.clone()).collect();
        let (offsets, whole) = layout::lay_out(&module, &types, align);
        let fields = fields.into_iter().zip(offsets);
        let fields = fields.map(|((name, ty), offset)| StructField { name, ty, offset }).collect();
        let (size, align) = (whole.size, whole.align);
        module.structs.push(StructDef { name: name.into(), fields, size, align, origin });
        self.table.spellings.borrow_mut().push(spelling);
        StructId(module.structs.len() as u32 - 1)
    }

    /// The value of a constant integer expression that stands outside of functions.
    pub fn constant(&self, e: &Expr) -> Option<i64> {
        self.nested(|| self.constant_inside(e)).flatten()
    }

    fn constant_inside(&self, e: &Expr) -> Option<i64> {
        match &*e.kind {
            ExprKind::Number(text) => {
                let v = literal::parse_number(text).ok()?;
                v.ty.is_integer().then(|| v.as_i64())
            }
            ExprKind::Char(c) => Some(*c),
            ExprKind::Paren(inner) => self.constant(inner),
            ExprKind::Unary { op, operand } if op == "-" => self.constant(operand)?.checked_neg(),
            ExprKind::Unary { op, operand } if op == "+" => self.constant(operand),
            ExprKind::Binary { op, left, right } => {
                let value = |e| self.constant(e).map(|v| warpsmith_ir::Value::int(Scalar::I64, v));
                let op = super::expr::binary_op(op)?;
                cx::fold_binary(op, value(left)?, value(right)?).map(|v| v.as_i64())
            }
            ExprKind::Path(path) => self.named_constant(path.as_name()?),
            _ => None,
        }
    }

    fn named_constant(&self, name: &str) -> Option<i64> {
        match self.enumerators.get(name) {
            Some(Enumerator::Value(e)) => return self.constant(e),
            Some(Enumerator::After(None, steps)) => return Some(*steps),
            Some(Enumerator::After(Some(before), steps)) => {
                return self.nested(|| self.named_constant(before))??.checked_add(*steps);
            }
            Some(Enumerator::OfType) => return None,
            None => {}
        }
        let (_, declarator) = self.globals.get(name)?;
        match &declarator.init {
            Some(Initializer::Expr(e)) if declarator.ty.is_const => self.constant(e),
            _ => None,
        }
    }
}

/// A name without the fields behind it.
pub fn undefined(name: &str, used: Span) -> Diagnostic {
    refuse(format!("`{name}` is declared but not defined"), used)
        .help("define it with its fields, or include the file that does")
}

fn refuse(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("W144", message).label(span, "here")
}

fn unnamed(span: Span) -> Diagnostic {
    refuse("a structure inside another needs a name", span)
        .help("name the field, as in `struct { float x, y; } at;`")
}
