//! Which parameter of the new kernel is which of the reference: by `--map`, by name, else in order.

use std::collections::BTreeSet;

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, Module, Scalar, Type};

use super::calls::{Bind, Slot};
use super::side::{Code, Side};
use crate::data;

/// An array, or an array and a returned number.
#[derive(Clone, Debug)]
pub struct Array {
    /// The new kernel's name, or the reference's.
    pub name: String,
    /// Its names on both sides, by which options give it.
    pub names: Vec<String>,
    /// Place among the slots of the side.
    pub new: Option<usize>,
    pub reference: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Param(usize),
    /// What a C function returns.
    Result,
}

/// A number passed by value.
#[derive(Clone, Debug)]
pub struct Number {
    /// The reference's name, or the new kernel's.
    pub name: String,
    /// Its names on both sides, by which options give it.
    pub names: Vec<String>,
    pub new: Option<usize>,
    pub reference: Option<usize>,
    pub ty: Scalar,
}

#[derive(Debug, Default)]
pub struct Pairs {
    pub arrays: Vec<Array>,
    pub numbers: Vec<Number>,
    /// What the comparison rests on.
    pub assumed: Vec<String>,
}

/// `NEW=REF` of `--map`.
pub type Map = (String, String);

struct Param<'a> {
    at: usize,
    var: &'a Slot,
    taken: bool,
}

impl Param<'_> {
    /// Reals or whole numbers by value; `None` for pointers.
    fn number(&self) -> Option<Scalar> {
        self.var.ty.scalar()
    }

    fn readonly(&self) -> bool {
        matches!(self.var.ty, Type::Pointer { readonly: true, .. })
    }
}

/// Pairs the parameters of both sides.
///
/// # Errors
/// W309: an unknown name in `--map`, parameters of other kinds or types, numbers or arrays without a counterpart that can be
/// told. Numbers that are `worked_out` from others have no counterpart but one of their name.
pub fn pair(
    new: &Side,
    reference: &Side,
    map: &[Map],
    worked_out: &[String],
) -> Result<Pairs, Diagnostic> {
    let (mut a, mut b) = (params(new), params(reference));
    let mut pairs = Pairs::default();
    let mut found: Vec<(usize, usize)> = vec![];
    for (own, other) in map {
        found.push((named(new, &a, own)?, named(reference, &b, other)?));
    }
    for (i, p) in a.iter().enumerate() {
        let free = |j: usize| found.iter().all(|(x, y)| *x != i && *y != j);
        if let Some(j) = b.iter().position(|q| q.var.name == p.var.name).filter(|j| free(*j)) {
            found.push((i, j));
        }
    }
    for (i, j) in &found {
        (a[*i].taken, b[*j].taken) = (true, true);
    }
    // A field of the name of a number or an array, `m.rows` and `rows`, where no other is called so.
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
    for i in 0..a.len() {
        let name = last(&a[i].var.name);
        let only = |list: &[Param<'_>]| {
            let mut all = list.iter().enumerate().filter(|(_, p)| last(&p.var.name) == name);
            all.next().filter(|_| all.next().is_none()).map(|(k, _)| k)
        };
        let dotted = |j: usize| a[i].var.name.contains('.') || b[j].var.name.contains('.');
        if let (Some(_), Some(j)) = (only(&a), only(&b))
            && !a[i].taken
            && !b[j].taken
            && dotted(j)
        {
            (a[i].taken, b[j].taken) = (true, true);
            found.push((i, j));
        }
    }
    let mut kept: Vec<bool> = vec![];
    for list in [&mut a, &mut b] {
        for p in list.iter_mut() {
            let alone = !p.taken && worked_out.contains(&p.var.name);
            kept.push(alone);
            p.taken |= alone;
        }
    }
    for constness in [true, false] {
        let in_order = rest_in_order((new, &a), (reference, &b), constness);
        for (i, j) in &in_order {
            (a[*i].taken, b[*j].taken) = (true, true);
            pairs.assumed.push(format!(
                "`{}` of the kernel is `{}` of the reference, by their order (--map {0}={1} says so, or another)",
                a[*i].var.name, b[*j].var.name
            ));
        }
        found.extend(in_order);
    }
    for (p, alone) in a.iter_mut().chain(&mut b).zip(kept) {
        p.taken &= !alone;
    }
    found.sort_unstable();
    for (i, j) in found {
        pairs.add(Some((new, &a[i])), Some((reference, &b[j])))?;
    }
    for p in a.iter().filter(|p| !p.taken) {
        pairs.add(Some((new, p)), None)?;
    }
    for p in b.iter().filter(|p| !p.taken) {
        pairs.add(None, Some((reference, p)))?;
    }
    pairs.pair_result(new, reference);
    Ok(pairs)
}

fn params(side: &Side) -> Vec<Param<'_>> {
    side.slots.iter().enumerate().map(|(at, var)| Param { at, var, taken: false }).collect()
}

fn named(side: &Side, params: &[Param<'_>], name: &str) -> Result<usize, Diagnostic> {
    params.iter().position(|p| p.var.name == name).ok_or_else(|| {
        let names: Vec<&str> = params.iter().map(|p| p.var.name.as_str()).collect();
        Diagnostic::error("W309", format!("`{}` has no parameter `{name}`", side.name))
            .help(format!("its parameters are {}; write --map NEW=REFERENCE", names.join(", ")))
    })
}

/// Parameters without a counterpart of their name, where each kind has as many on both sides. `constness`: arrays that are
/// only read are a kind of their own.
fn rest_in_order(
    (new, a): (&Side, &[Param<'_>]),
    (reference, b): (&Side, &[Param<'_>]),
    constness: bool,
) -> Vec<(usize, usize)> {
    let rest = |list: &[Param<'_>], module: &Module| -> Vec<(String, usize)> {
        let kind = |p: &Param<'_>| match p.number() {
            Some(s) if s.is_float() => "real".to_string(),
            Some(_) => "whole".to_string(),
            None => {
                let flat = p.var.ty.pointee().map(|ty| flat(module, ty));
                format!("{flat:?} {}", constness && p.readonly())
            }
        };
        let free = list.iter().enumerate().filter(|(_, p)| !p.taken);
        free.map(|(i, p)| (kind(p), i)).collect()
    };
    let (x, y) = (rest(a, &new.module), rest(b, &reference.module));
    let kinds: BTreeSet<&String> = x.iter().chain(&y).map(|(k, _)| k).collect();
    let mut pairs = vec![];
    for kind in kinds {
        let of = |list: &[(String, usize)]| -> Vec<usize> {
            list.iter().filter(|(k, _)| k == kind).map(|(_, i)| *i).collect()
        };
        let (x, y) = (of(&x), of(&y));
        if x.len() == y.len() {
            pairs.extend(x.into_iter().zip(y));
        }
    }
    pairs
}

/// The scalars of an element; one for elements that repeat it.
fn flat(module: &Module, ty: &Type) -> (u64, Vec<(u64, Scalar)>) {
    let unsigned = |s: Scalar| match s {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        s => s,
    };
    let slots: Vec<(u64, Scalar)> =
        data::scalars_of(module, ty, 0).into_iter().map(|(o, s)| (o, unsigned(s))).collect();
    match slots.first() {
        Some((_, first)) if slots.iter().all(|(_, s)| s == first) => {
            (first.bytes().into(), vec![(0, *first)])
        }
        _ => (layout_of(module, ty).size, slots),
    }
}

impl Pairs {
    fn add(
        &mut self,
        new: Option<(&Side, &Param<'_>)>,
        reference: Option<(&Side, &Param<'_>)>,
    ) -> Result<(), Diagnostic> {
        let Some((_, first)) = new.or(reference) else { return Ok(()) };
        if let (Some((s, p)), Some((t, q))) = (new, reference)
            && !agree((s, p), (t, q))
        {
            let type_of = |side: &Side, p: &Param<'_>| {
                warpsmith_ir::text::print_type(&side.module, &p.var.ty)
            };
            let message = format!(
                "`{}` of the kernel is {}, `{}` of the reference is {}",
                p.var.name,
                type_of(s, p),
                q.var.name,
                type_of(t, q)
            );
            return Err(Diagnostic::error("W309", message)
                .help("both sides must compute with the same types; --map NEW=REFERENCE pairs other parameters"));
        }
        let (new_at, reference_at) = (new.map(|(_, p)| p.at), reference.map(|(_, p)| p.at));
        let names: Vec<String> =
            [new, reference].into_iter().flatten().map(|(_, p)| p.var.name.clone()).collect();
        match first.number() {
            Some(ty) => {
                let name = names.last().cloned().unwrap_or_default();
                self.numbers.push(Number { name, names, new: new_at, reference: reference_at, ty });
            }
            None => {
                let (name, reference) = (first.var.name.clone(), reference_at.map(Place::Param));
                self.arrays.push(Array { name, names, new: new_at, reference });
            }
        }
        Ok(())
    }

    /// A number that a C function returns is the only array of the kernel that would be left over.
    fn pair_result(&mut self, new: &Side, reference: &Side) {
        let Code::C(..) = &reference.code else { return };
        let Some(scalar) = reference.ir().ret.scalar() else { return };
        let fits = |a: &Array| {
            let var = a.new.map(|at| &new.slots[at]);
            a.reference.is_none()
                && var.is_some_and(|v| v.ty.pointee().and_then(Type::scalar) == Some(scalar))
        };
        // Of several the one that the last kernel writes.
        let written = |a: &Array| {
            let last = new.stages().last();
            let binds = last.iter().flat_map(|s| {
                let f = new.module.function(s.function);
                f.params.iter().zip(&s.binds).map(|(p, b)| (f.var(*p), b))
            });
            let mut own = binds.filter(|(_, b)| match b {
                Bind::Slots(places) => places.iter().any(|(_, slot)| a.new == Some(*slot)),
                Bind::Host => false,
            });
            own.any(|(var, _)| matches!(var.ty, Type::Pointer { readonly: false, .. }))
        };
        let several = self.arrays.iter().filter(|a| fits(a)).count() > 1;
        let mut left = self.arrays.iter_mut().filter(|a| fits(a) && (!several || written(a)));
        if let (Some(array), None) = (left.next(), left.next()) {
            array.reference = Some(Place::Result);
            self.assumed.push(format!(
                "the first element of `{}`, zero before, is what `{}` returns",
                array.name, reference.name
            ));
        }
    }
}

/// Bytes on one side that the other side reads and writes as words of several.
fn as_words(bytes: &(u64, Vec<(u64, Scalar)>), words: &(u64, Vec<(u64, Scalar)>)) -> bool {
    let only = |list: &(u64, Vec<(u64, Scalar)>)| match list.1.as_slice() {
        [(0, s)] => Some(*s),
        _ => None,
    };
    only(bytes) == Some(Scalar::U8)
        && only(words).is_some_and(|s| s.is_integer() && s != Scalar::Bool)
}

fn agree((s, p): (&Side, &Param<'_>), (t, q): (&Side, &Param<'_>)) -> bool {
    match (p.number(), q.number()) {
        (Some(a), Some(b)) => a.is_float() == b.is_float() && (!a.is_float() || a == b),
        (None, None) => {
            let (x, y) = (p.var.ty.pointee(), q.var.ty.pointee());
            x.zip(y).is_some_and(|(x, y)| {
                let (x, y) = (flat(&s.module, x), flat(&t.module, y));
                x == y || as_words(&x, &y) || as_words(&y, &x)
            })
        }
        _ => false,
    }
}
