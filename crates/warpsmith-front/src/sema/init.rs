//! Initialisers: lists in braces, default values, members of constructors.

use std::collections::VecDeque;

use warpsmith_ir::{Expr, ExprKind, Scalar, Span, StructId, Type};

use super::Sema;
use super::convert::null_pointer;
use super::model::*;
use crate::ast::{self, Designator, Initializer};

/// A value written out element by element has at most that many elements.
const MAX_ELEMENTS: u64 = 1 << 16;

/// An entry of a list that waits for its place.
pub(super) enum Entry<'a> {
    Source(&'a ast::InitItem),
    Ready(Operand<'a>, Span),
}

impl<'a> Sema<'a> {
    /// The value of an initialiser for a variable of that type.
    pub(crate) fn init_value(
        &mut self,
        ty: &Type,
        init: &'a Initializer,
        ones: bool,
        span: Span,
    ) -> Res<Expr> {
        match init {
            Initializer::Expr(e) => self.init_from_expr(ty, e),
            Initializer::List(items, at) => self.list_or_construct(ty, items, ones, *at),
            Initializer::Call(args, at) => {
                let list = self.arguments(args)?;
                let _ = span;
                self.construct(ty, list, ones, *at)
            }
        }
    }

    fn init_from_expr(&mut self, ty: &Type, e: &'a ast::Expr) -> Res<Expr> {
        match self.expr(e)? {
            Operand::List(items) => self.list_or_construct(ty, items, false, e.span),
            Operand::Str(text) if matches!(ty, Type::Array(..)) => {
                self.string_value(ty, &text, e.span)
            }
            other => {
                let value = self.rvalue_of(other, e.span)?;
                self.convert_to(value, ty, e.span)
            }
        }
    }

    fn list_or_construct(
        &mut self,
        ty: &Type,
        items: &'a [ast::InitItem],
        ones: bool,
        span: Span,
    ) -> Res<Expr> {
        if ones && matches!(ty, Type::Vector(..)) {
            let list = self.list_operands(items)?;
            return self.construct(ty, list, true, span);
        }
        // Braces around the text that fills an array.
        if let (Type::Array(element, _), [only]) = (ty, items)
            && element.scalar().is_some()
            && let Initializer::Expr(e) = &only.value
            && let ast::ExprKind::Str(text) = &*e.kind
        {
            return self.string_value(ty, text, e.span);
        }
        self.list_value(ty, items, self.f_scope(), span)
    }

    fn list_operands(&mut self, items: &'a [ast::InitItem]) -> Res<Vec<Operand<'a>>> {
        let mut list = vec![];
        for item in items {
            list.push(match &item.value {
                Initializer::Expr(e) => {
                    if let ast::ExprKind::PackExpansion(pattern) = &*e.kind {
                        list.extend(self.expand_operands(pattern, e.span)?);
                        continue;
                    }
                    self.expr(e)?
                }
                Initializer::List(inner, _) => Operand::List(inner),
                Initializer::Call(_, at) => {
                    return fail("W075", *at, "this is not understood in a list");
                }
            });
        }
        Ok(list)
    }

    /// `{ … }` as a value of a type; names are looked up in `scope`.
    pub(crate) fn list_value(
        &mut self,
        ty: &Type,
        items: &'a [ast::InitItem],
        scope: ScopeId,
        span: Span,
    ) -> Res<Expr> {
        let saved = std::mem::replace(&mut self.f().scope, scope);
        let result = self.deeper(span, |s| s.list_value_here(ty, items, span));
        self.f().scope = saved;
        result
    }

    fn list_value_here(&mut self, ty: &Type, items: &'a [ast::InitItem], span: Span) -> Res<Expr> {
        if let Some(element) = self.listed_type(ty) {
            let list = self.list_operands(items)?;
            return self.listed(ty, &element, list, span);
        }
        if let Some(class) = self.is_class(ty)
            && (!self.class(class).ctors.is_empty() || self.is_polymorphic(class))
        {
            let list = self.list_operands(items)?;
            let list = self.list_arguments(class, list, span)?;
            return self.construct_class(class, list, span);
        }
        if !ty.is_aggregate() {
            return match items {
                [] => self.zero_value(ty, span),
                [only] => {
                    let entry = Entry::Source(only);
                    self.entry_value(ty, entry)
                }
                _ => fail(
                    "W083",
                    span,
                    format!("{} values for one `{}`", items.len(), self.type_text(ty)),
                ),
            };
        }
        // `T x{y}` with `y` of the same type is a copy.
        if let [only] = items
            && only.designator.is_none()
            && pack_in(only).is_none()
            && let Initializer::Expr(e) = &only.value
            && matches!(ty, Type::Struct(_) | Type::Vector(..))
        {
            let operand = self.expr(e)?;
            if self.operand_type(&operand).is_some_and(|q| q.ty == *ty) {
                return self.rvalue_of(operand, span);
            }
            let mut queue = VecDeque::from([Entry::Ready(operand, e.span)]);
            return self.fill(ty, &mut queue, span);
        }
        if items.iter().any(|i| i.designator.is_some()) {
            return self.designated(ty, items, span);
        }
        let mut queue = self.entries(items)?;
        let value = self.fill(ty, &mut queue, span)?;
        if !queue.is_empty() {
            let text = self.type_text(ty);
            return fail(
                "W083",
                span,
                format!("too many values for `{text}`: {} left over", queue.len()),
            );
        }
        Ok(value)
    }

    /// The entries of a list, with packs expanded.
    fn entries(&mut self, items: &'a [ast::InitItem]) -> Res<VecDeque<Entry<'a>>> {
        let mut queue = VecDeque::new();
        for item in items {
            match pack_in(item) {
                Some((pattern, span)) => {
                    let list = self.expand_in_turn(pattern, span)?;
                    queue.extend(list.into_iter().map(|o| Entry::Ready(o, span)));
                }
                None => queue.push_back(Entry::Source(item)),
            }
        }
        Ok(queue)
    }

    /// Members in order from operands, as for `T(a, b)` without a constructor.
    pub(crate) fn aggregate_from(
        &mut self,
        ty: &Type,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Expr> {
        let mut queue: VecDeque<Entry<'a>> =
            args.into_iter().map(|a| Entry::Ready(a, span)).collect();
        let value = self.fill(ty, &mut queue, span)?;
        if !queue.is_empty() {
            let text = self.type_text(ty);
            return fail("W083", span, format!("too many values for `{text}`"));
        }
        Ok(value)
    }

    /// Takes what an aggregate needs from the front of a list; what is missing has its default.
    fn fill(&mut self, ty: &Type, queue: &mut VecDeque<Entry<'a>>, span: Span) -> Res<Expr> {
        let count = self.element_count(ty, span)?;
        let (mut parts, mut marks) = (vec![], vec![]);
        let mut bases = self.bases_of(ty).into_iter().peekable();
        for i in 0..count {
            self.take_empty(&mut bases, queue)?;
            bases.next_if(|base| base.index == Some(i as u32));
            marks.push(self.mark());
            let element = self.element_type(ty, i);
            if let Type::Struct(id) = ty
                && self.is_word(*id, i as u32)
            {
                parts.push(self.fill_word(*id, i as u32, queue, span)?);
                continue;
            }
            if let Some(field) = self.reference_field(ty, i) {
                parts.push(self.bound_to_entry(&field, queue.pop_front(), span)?);
                continue;
            }
            let part = match queue.pop_front() {
                Some(entry) => self.fill_one(&element, entry, queue, span)?,
                None => self.default_element(ty, i, &element, span)?,
            };
            parts.push(part);
        }
        self.take_empty(&mut bases, queue)?;
        // A part has its value before the parts behind it are looked at: `{n, ++n}`.
        if marks.first().is_some_and(|first| self.mark() > *first) {
            for (part, mark) in parts.iter_mut().zip(marks.into_iter().skip(1)).rev() {
                *part = self.settle(part.clone(), mark, span);
            }
        }
        Ok(Expr::new(ExprKind::Make(parts), ty.clone(), span))
    }

    fn bases_of(&self, ty: &Type) -> Vec<BaseInfo> {
        self.is_class(ty).map(|class| self.class(class).bases.clone()).unwrap_or_default()
    }

    /// Bases without members take no room, but an entry of the list: `{}`, or an object of theirs.
    fn take_empty(
        &mut self,
        bases: &mut std::iter::Peekable<std::vec::IntoIter<BaseInfo>>,
        queue: &mut VecDeque<Entry<'a>>,
    ) -> Res<()> {
        while let Some(base) = bases.next_if(|base| base.index.is_none()) {
            let ty = Type::Struct(base.class);
            let (operand, at) = match queue.pop_front() {
                None => return Ok(()),
                Some(Entry::Ready(operand, at)) => (operand, at),
                Some(Entry::Source(item)) => match &item.value {
                    Initializer::Expr(e) => (self.expr(e)?, e.span),
                    Initializer::List(items, at) => (Operand::List(items), *at),
                    Initializer::Call(..) => {
                        self.entry_value(&ty, Entry::Source(item))?;
                        continue;
                    }
                },
            };
            let fits = matches!(operand, Operand::List(_))
                || self.operand_type(&operand).is_some_and(|q| q.ty == ty);
            match fits {
                true => drop(self.operand_value(&ty, operand, at)?),
                false => queue.push_front(Entry::Ready(operand, at)),
            }
        }
        Ok(())
    }

    /// A word of bit-fields takes an entry for each of them.
    fn fill_word(
        &mut self,
        class: StructId,
        index: u32,
        queue: &mut VecDeque<Entry<'a>>,
        span: Span,
    ) -> Res<Expr> {
        let mut next = std::mem::take(queue);
        let whole = self.word_of(class, index, span, |s, field| {
            let bits = field.bits.map_or(Scalar::I32, |b| b.ty);
            match next.pop_front() {
                Some(entry) => s.entry_value(&Type::Scalar(bits), entry).map(Some),
                None => s.default_bits(class, field, span),
            }
        })?;
        *queue = next;
        Ok(whole.unwrap_or_else(|| Expr::int(Scalar::U32, 0).with_origin(span)))
    }

    /// What a bit-field is declared to begin with.
    pub(crate) fn default_bits(
        &mut self,
        class: StructId,
        field: &FieldInfo<'a>,
        span: Span,
    ) -> Res<Option<Expr>> {
        let (Some(init), Some(bits)) = (field.init, field.bits) else { return Ok(None) };
        let scope = self.class(class).scope;
        self.init_in_scope(&Type::Scalar(bits.ty), init, scope, span).map(Some)
    }

    fn fill_one(
        &mut self,
        element: &Type,
        entry: Entry<'a>,
        queue: &mut VecDeque<Entry<'a>>,
        span: Span,
    ) -> Res<Expr> {
        let is_list = matches!(&entry, Entry::Source(i) if matches!(i.value, Initializer::List(..)))
            || matches!(&entry, Entry::Ready(Operand::List(_), _));
        if is_list || !element.is_aggregate() {
            return self.entry_value(element, entry);
        }
        // Braces may be left out: an element that is no such object starts its members.
        let (operand, at) = match entry {
            Entry::Ready(o, at) => (o, at),
            Entry::Source(item) => match &item.value {
                Initializer::Expr(e) => (self.expr(e)?, e.span),
                _ => return self.entry_value(element, Entry::Source(item)),
            },
        };
        if let (Operand::Str(text), Type::Array(inner, _)) = (&operand, element)
            && inner.scalar().is_some()
        {
            return self.string_value(element, text, at);
        }
        let target = QualType::plain(element.clone());
        if self.operand_type(&operand).is_some_and(|q| q.ty == *element)
            || self.rank(&operand, &target).is_some()
        {
            let value = self.rvalue_of(operand, at)?;
            return self.convert_to(value, element, at);
        }
        queue.push_front(Entry::Ready(operand, at));
        self.deeper(span, |s| s.fill(element, queue, span))
    }

    fn entry_value(&mut self, ty: &Type, entry: Entry<'a>) -> Res<Expr> {
        match entry {
            Entry::Source(item) => match &item.value {
                Initializer::Expr(e) => self.init_from_expr(ty, e),
                Initializer::List(items, at) => self.list_value(ty, items, self.f_scope(), *at),
                Initializer::Call(_, at) => fail("W075", *at, "this is not understood in a list"),
            },
            Entry::Ready(operand, span) => self.operand_value(ty, operand, span),
        }
    }

    /// An element of a list that was looked at already.
    pub(crate) fn operand_value(
        &mut self,
        ty: &Type,
        operand: Operand<'a>,
        span: Span,
    ) -> Res<Expr> {
        if let Operand::List(items) = operand {
            return self.list_value(ty, items, self.f_scope(), span);
        }
        let value = self.rvalue_of(operand, span)?;
        self.convert_to(value, ty, span)
    }

    /// `{ .y = 1 }`, `{ [3] = 2 }`; entries without a designator follow the one before.
    fn designated(&mut self, ty: &Type, items: &'a [ast::InitItem], span: Span) -> Res<Expr> {
        let count = self.element_count(ty, span)?;
        let mut parts: Vec<Option<Expr>> = vec![None; count as usize];
        let mut next = 0u64;
        for item in items {
            match &item.designator {
                Some(Designator::Index(e)) => {
                    next = self.const_value(self.f_scope(), e)?.as_i64() as u64
                }
                Some(Designator::Field(name)) => {
                    next = self.designated_field(ty, name, span)?;
                    if let Type::Struct(id) = ty
                        && self.is_word(*id, next as u32)
                    {
                        let slot = parts.get_mut(next as usize);
                        let Some(slot) = slot else { return Err(Failure::Reported) };
                        let before = slot.take();
                        *slot = self.designated_bits(*id, next as u32, name, item, before, span)?;
                        continue;
                    }
                }
                None => {}
            }
            let element = self.element_type(ty, next);
            if next >= count {
                let text = self.type_text(ty);
                return fail("W083", span, format!("`{text}` has no element {next}"));
            }
            let value = match self.reference_field(ty, next) {
                Some(field) => self.bound_to_entry(&field, Some(Entry::Source(item)), span)?,
                None => self.entry_value(&element, Entry::Source(item))?,
            };
            if let Some(slot) = parts.get_mut(next as usize) {
                *slot = Some(value);
            }
            next += 1;
        }
        let mut all = vec![];
        for (i, part) in parts.into_iter().enumerate() {
            let element = self.element_type(ty, i as u64);
            all.push(match part {
                Some(p) => p,
                None => self.default_element(ty, i as u64, &element, span)?,
            });
        }
        Ok(Expr::new(ExprKind::Make(all), ty.clone(), span))
    }

    /// `.bits = value`, beside what is known of the word so far.
    fn designated_bits(
        &mut self,
        class: StructId,
        index: u32,
        name: &str,
        item: &'a ast::InitItem,
        before: Option<Expr>,
        span: Span,
    ) -> Res<Option<Expr>> {
        let value = self.word_of(class, index, span, |s, field| {
            let bits = field.bits.map_or(Scalar::I32, |b| b.ty);
            match field.name == name {
                true => s.entry_value(&Type::Scalar(bits), Entry::Source(item)).map(Some),
                false => Ok(None),
            }
        })?;
        let (Some(before), Some(value)) = (&before, &value) else { return Ok(value.or(before)) };
        let ty = value.ty.clone();
        let both =
            self.binary_values(warpsmith_ir::BinaryOp::BitOr, before.clone(), value.clone(), span)?;
        self.convert_to(both, &ty, span).map(Some)
    }

    fn designated_field(&mut self, ty: &Type, name: &str, span: Span) -> Res<u64> {
        let found = match ty {
            Type::Struct(id) => {
                self.class(*id).fields.iter().find(|f| f.name == name).map(|f| f.index.into())
            }
            Type::Vector(..) => {
                ["x", "y", "z", "w"].iter().position(|c| *c == name).map(|i| i as u64)
            }
            _ => None,
        };
        match found {
            Some(i) => Ok(i),
            None => {
                let text = self.type_text(ty);
                fail("W051", span, format!("`{text}` has no member `{name}`"))
            }
        }
    }

    pub(crate) fn element_count(&mut self, ty: &Type, span: Span) -> Res<u64> {
        let count = match ty {
            Type::Array(_, n) => *n,
            Type::Vector(_, n) => u64::from(*n),
            Type::Struct(id) => {
                self.module.structs.get(id.0 as usize).map_or(0, |s| s.fields.len() as u64)
            }
            _ => 1,
        };
        if count > MAX_ELEMENTS {
            return fail(
                "W084",
                span,
                format!("an initialiser of {count} elements is too large (limit {MAX_ELEMENTS})"),
            );
        }
        Ok(count)
    }

    fn element_type(&self, ty: &Type, i: u64) -> Type {
        match ty {
            Type::Array(element, _) => (**element).clone(),
            Type::Vector(s, _) => Type::Scalar(*s),
            Type::Struct(id) => warpsmith_ir::layout::field_of(&self.module, *id, i as u32)
                .map_or(Type::Void, |(_, t)| t.clone()),
            other => other.clone(),
        }
    }

    /// The value of an element that the list does not give: its own initialiser, or zeros.
    fn default_element(&mut self, ty: &Type, i: u64, element: &Type, span: Span) -> Res<Expr> {
        if let Type::Struct(id) = ty
            && self.is_word(*id, i as u32)
        {
            return self.fill_word(*id, i as u32, &mut VecDeque::new(), span);
        }
        if let Type::Struct(id) = ty
            && let Some(field) = self.class(*id).fields.iter().find(|f| u64::from(f.index) == i)
            && let Some(init) = field.init
        {
            let scope = self.class(*id).scope;
            return self.init_in_scope(element, init, scope, span);
        }
        self.zero_value(element, span)
    }

    pub(crate) fn init_in_scope(
        &mut self,
        ty: &Type,
        init: &'a Initializer,
        scope: ScopeId,
        span: Span,
    ) -> Res<Expr> {
        let saved = std::mem::replace(&mut self.f().scope, scope);
        let value = self.init_value(ty, init, false, span);
        self.f().scope = saved;
        value
    }

    /// Zeros; for a class its default members.
    pub(crate) fn zero_value(&mut self, ty: &Type, span: Span) -> Res<Expr> {
        match ty {
            Type::Scalar(s) => Ok(Expr::int(*s, 0).with_origin(span)),
            Type::Pointer { .. } => Ok(null_pointer(ty, span)),
            Type::Void => fail("W052", span, "there is no value of type void"),
            Type::Struct(id)
                if self.classes.get(id).is_some_and(|c| !c.ctors.is_empty())
                    || self.is_polymorphic(*id) =>
            {
                self.construct_class(*id, vec![], span)
            }
            _ => self.deeper(span, |s| s.fill(ty, &mut VecDeque::new(), span)),
        }
    }

    fn string_value(&mut self, ty: &Type, text: &str, span: Span) -> Res<Expr> {
        let Type::Array(element, n) = ty else {
            return fail("W062", span, "a string fills an array of characters");
        };
        let Type::Scalar(s) = **element else {
            return fail("W062", span, "a string fills an array of characters");
        };
        let count = self.element_count(ty, span)?;
        if text.len() as u64 > *n {
            return fail(
                "W083",
                span,
                format!("the string has {} characters, the array {n}", text.len()),
            );
        }
        let bytes = text.bytes().map(i64::from).chain(std::iter::repeat(0));
        let parts = bytes.take(count as usize).map(|b| Expr::int(s, b).with_origin(span)).collect();
        Ok(Expr::new(ExprKind::Make(parts), ty.clone(), span))
    }

    /// The number of elements a list gives an array without a length.
    pub(crate) fn list_length(&mut self, init: &'a Initializer) -> Res<u64> {
        match init {
            Initializer::List(items, _) => {
                if let [only] = items.as_slice()
                    && let Initializer::Expr(e) = &only.value
                    && let ast::ExprKind::Str(text) = &*e.kind
                {
                    return Ok(text.len() as u64 + 1);
                }
                let (mut next, mut length) = (0u64, 0u64);
                for item in items {
                    if let Some(Designator::Index(e)) = &item.designator {
                        next = self.const_value(self.f_scope(), e)?.as_i64().max(0) as u64;
                    }
                    next += match pack_in(item) {
                        Some((pattern, span)) => self.expand_pack(pattern, span)?.len() as u64,
                        None => 1,
                    };
                    length = length.max(next);
                }
                Ok(length)
            }
            Initializer::Expr(e) => match &*e.kind {
                ast::ExprKind::Str(text) => Ok(text.len() as u64 + 1),
                ast::ExprKind::InitList(items) => Ok(items.len() as u64),
                _ => fail("W054", e.span, "the array needs a length"),
            },
            Initializer::Call(_, span) => fail("W054", *span, "the array needs a length"),
        }
    }
}

/// The pattern of an entry `f(args)...`.
fn pack_in(item: &ast::InitItem) -> Option<(&ast::Expr, Span)> {
    let Initializer::Expr(e) = &item.value else { return None };
    match &*e.kind {
        ast::ExprKind::PackExpansion(pattern) => Some((pattern, e.span)),
        _ => None,
    }
}
