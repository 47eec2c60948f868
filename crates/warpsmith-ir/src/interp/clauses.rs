//! The clauses of parallel loops, with the meaning they have when the loop runs serially.

use super::bounds::Track;
use super::eval::Item;
use super::exec::{Interp, Slot};
use super::memory::Image;
use crate::module::VarId;
use crate::stmt::Parallel;

/// What a variable of a clause held before the loop.
pub(crate) enum Saved<T: Track> {
    Unset,
    Value(Item<T>),
    Image(Image),
}

impl<T: Track> Interp<'_, '_, T> {
    /// What the variables of the clauses hold before the loop.
    pub fn save(&mut self, p: &Parallel) -> Vec<(VarId, Saved<T>)> {
        let mut vars: Vec<VarId> = vec![];
        for var in p.private.iter().chain(&p.first_private).chain(&p.last_private) {
            if !vars.contains(var) {
                vars.push(*var);
            }
        }
        vars.into_iter().map(|var| (var, self.snapshot(var))).collect()
    }

    fn snapshot(&mut self, var: VarId) -> Saved<T> {
        match self.slot(var) {
            Some(Slot::Value(item)) => Saved::Value(item.clone()),
            Some(Slot::Object(id)) => {
                let id = *id;
                self.object_mut(id).map_or(Saved::Unset, |o| Saved::Image(o.image.clone()))
            }
            _ => Saved::Unset,
        }
    }

    fn put_back(&mut self, var: VarId, saved: &Saved<T>) {
        match saved {
            Saved::Unset => self.unset(var),
            Saved::Value(item) => self.set_slot(var, Slot::Value(item.clone())),
            Saved::Image(image) => {
                if let Some(Slot::Object(id)) = self.slot(var) {
                    let id = *id;
                    if let Some(object) = self.object_mut(id) {
                        object.image = image.clone();
                    }
                }
            }
        }
    }

    /// Each iteration has its own copy: poison, or for `firstprivate` the value from before the loop.
    pub fn start_iteration(&mut self, p: &Parallel, saved: &[(VarId, Saved<T>)]) {
        for (var, before) in saved {
            if p.first_private.contains(var) {
                self.put_back(*var, before);
            } else {
                self.unset(*var);
            }
        }
    }

    /// After the loop the variables are as before, except `lastprivate` ones of a loop that ran.
    pub fn restore(&mut self, p: &Parallel, saved: Vec<(VarId, Saved<T>)>, ran: bool) {
        for (var, before) in saved {
            if !(ran && p.last_private.contains(&var)) {
                self.put_back(var, &before);
            }
        }
    }
}
