//! Configurations close to another one.

use super::{ConfigId, Point, Space};
use crate::rng::Rng;

/// What close means; the names are Kernel Tuner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// One parameter differs, by any amount.
    Hamming,
    /// One parameter differs, and no valid configuration lies between on that line: the nearest in each direction.
    Adjacent,
    /// Every parameter differs by one place in its list at most, and at least one does.
    StrictlyAdjacent,
}

/// Most strictly adjacent neighbours listed: with many parameters they are powers of three.
const MOST_NEIGHBOURS: usize = 20_000;

impl Space {
    /// The neighbours of a configuration in the space, without itself.
    pub fn neighbours(&self, id: ConfigId, kind: Neighbourhood) -> Vec<ConfigId> {
        self.neighbours_of(&self.point(id), kind)
    }

    /// The same for a point that need not be in the space.
    pub fn neighbours_of(&self, point: &[u16], kind: Neighbourhood) -> Vec<ConfigId> {
        let mut point = point.to_vec();
        let mut found = vec![];
        match kind {
            Neighbourhood::Hamming => {
                for parameter in self.free_parameters() {
                    found.extend(self.along(&mut point, parameter).into_iter().map(|(_, id)| id));
                }
            }
            Neighbourhood::Adjacent => {
                for parameter in self.free_parameters() {
                    let here = point[parameter];
                    let line = self.along(&mut point, parameter);
                    let below = line.iter().rfind(|(at, _)| *at < here);
                    let above = line.iter().find(|(at, _)| *at > here);
                    found.extend(below.into_iter().chain(above).map(|(_, id)| *id));
                }
            }
            Neighbourhood::StrictlyAdjacent => self.box_around(&point, &mut found),
        }
        found
    }

    /// The configurations that differ in one parameter only, with its position there, ascending.
    fn along(&self, point: &mut Point, parameter: usize) -> Vec<(u16, ConfigId)> {
        let here = point[parameter];
        let mut line = vec![];
        for at in (0..self.parameters[parameter].values.len() as u16).filter(|at| *at != here) {
            point[parameter] = at;
            line.extend(self.id(point).map(|id| (at, id)));
        }
        point[parameter] = here;
        line
    }

    /// A random neighbour by Hamming distance; cheaper than listing them all. `None` when there is none.
    pub fn random_neighbour(&self, id: ConfigId, rng: &mut Rng) -> Option<ConfigId> {
        let mut point = self.point(id);
        let free = self.free_parameters();
        for _ in 0..20 {
            let &parameter = rng.pick(&free)?;
            let here = point[parameter];
            let others = self.parameters[parameter].values.len() - 1;
            let at = rng.index(others) as u16;
            point[parameter] = if at < here { at } else { at + 1 };
            if let Some(found) = self.id(&point) {
                return Some(found);
            }
            point[parameter] = here;
        }
        rng.pick(&self.neighbours(id, Neighbourhood::Hamming)).copied()
    }

    /// The valid configuration made of a point by changing as little as a few tries find; itself when it is valid.
    pub fn repaired(&self, point: &[u16], rng: &mut Rng) -> Option<ConfigId> {
        if let Some(id) = self.id(point) {
            return Some(id);
        }
        for kind in
            [Neighbourhood::Adjacent, Neighbourhood::Hamming, Neighbourhood::StrictlyAdjacent]
        {
            if let Some(&id) = rng.pick(&self.neighbours_of(point, kind)) {
                return Some(id);
            }
        }
        None
    }

    /// All valid points at most one place away in every parameter.
    fn box_around(&self, point: &[u16], found: &mut Vec<ConfigId>) {
        // Component by component: the valid tuples near this one, as parts of a configuration's number.
        let mut partial = vec![(0u64, false)];
        for component in &self.components {
            let mut near = vec![];
            for (rank, &code) in component.codes.iter().enumerate() {
                let mut moved = false;
                let inside =
                    component.parameters.iter().zip(&component.strides).all(|(&p, stride)| {
                        let at = (code / stride % self.parameters[p].values.len() as u64) as u16;
                        moved |= at != point[p];
                        at.abs_diff(point[p]) <= 1
                    });
                if inside {
                    near.push((rank as u64 * component.stride, moved));
                }
            }
            let mut next = vec![];
            for (id, moved) in &partial {
                for (part, also) in &near {
                    if next.len() < MOST_NEIGHBOURS {
                        next.push((id + part, *moved || *also));
                    }
                }
            }
            partial = next;
        }
        found.extend(partial.into_iter().filter(|(_, moved)| *moved).map(|(id, _)| ConfigId(id)));
    }
}
