//! Elements of arrays in place of variables of which a thread has one for each of its iterations.

use std::collections::BTreeMap;

use warpsmith_ir::{Place, PlaceKind, Type, VarId, visit};

use crate::analysis::axes::Axes;
use crate::rewrite::register_tile::tile::Replica;

/// Puts elements in place of variables that became arrays.
pub(crate) struct UseArrays<'u> {
    pub arrays: &'u BTreeMap<VarId, Axes>,
    pub replicas: &'u BTreeMap<usize, Replica>,
    pub host: &'u warpsmith_ir::Function,
}

impl visit::Rewriter for UseArrays<'_> {
    fn place(&mut self, place: &mut Place) {
        if let PlaceKind::Var(v) = *place.kind
            && let Some(axes) = self.arrays.get(&v)
        {
            let whole =
                Place::new(PlaceKind::Var(v), self.host.var(v).ty.clone(), place.origin.clone());
            *place = element_of(whole, *axes, self.replicas);
            return;
        }
        visit::rewrite_place(self, place);
    }
}

/// The element of an array over some of the thread's iterations.
pub(crate) fn element_of(whole: Place, axes: Axes, replicas: &BTreeMap<usize, Replica>) -> Place {
    let (mut at, origin) = (whole.clone(), whole.origin);
    for (k, replica) in replicas {
        if axes >> k & 1 == 1
            && let Type::Array(element, _) = at.ty.clone()
        {
            let kind = PlaceKind::Index(at, replica.number());
            at = Place::new(kind, element.as_ref().clone(), origin.clone());
        }
    }
    at
}
