//! Which offsets each thread touches: sets that can be compared at once.

use std::collections::HashMap;
use std::rc::Rc;

/// The offsets of one argument, for each thread of a block by its flat index, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    /// For each thread, the offsets that it touches, in ascending order.
    pub threads: Vec<Vec<u32>>,
}

impl Touch {
    /// Thread t touches element t, all of its `size` floats and nothing else.
    pub fn is_one_element_a_thread(&self, size: u32) -> bool {
        let own = |(t, offsets): (usize, &Vec<u32>)| {
            let first = t as u32 * size;
            offsets.iter().copied().eq(first..first + size)
        };
        self.threads.iter().enumerate().all(own)
    }

    /// Floats that a thread touches at most.
    pub fn floats(&self) -> u32 {
        self.threads.iter().map(|t| t.len() as u32).max().unwrap_or(0)
    }

    /// Length of the array that the thread with the widest range needs.
    pub fn width(&self) -> u32 {
        let widths = self.threads.iter().filter_map(|t| Some(t.last()? - t.first()? + 1));
        widths.max().unwrap_or(0)
    }
}

/// Names a [`Touch`]: two are compatible if every thread touches the same offsets, that is, if their names are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TouchId(pub u32);

/// All touches of a run, each once.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    all: Vec<Rc<Touch>>,
    known: HashMap<Rc<Touch>, TouchId>,
}

impl Touches {
    /// The number of a set, which is a new one for a new set.
    pub fn id(&mut self, touch: Touch) -> TouchId {
        if let Some(id) = self.known.get(&touch) {
            return *id;
        }
        let (id, touch) = (TouchId(self.all.len() as u32), Rc::new(touch));
        self.all.push(touch.clone());
        self.known.insert(touch, id);
        id
    }

    /// The set with this number.
    pub fn get(&self, id: TouchId) -> &Touch {
        &self.all[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_of_different_threads_are_not_compatible() {
        let mut touches = Touches::default();
        let straight = Touch { threads: vec![vec![0, 1], vec![2, 3]] };
        let crossed = Touch { threads: vec![vec![2, 3], vec![0, 1]] };
        let a = touches.id(straight.clone());
        assert_eq!(a, touches.id(straight));
        assert_ne!(a, touches.id(crossed), "the same offsets, touched by other threads");
    }
}
