//! Integers that are linear in the coordinates of thread and block.

/// `constant + Σ coefficient · coordinate`, the coordinates being tx, ty, tz, bx, by, bz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    pub constant: i64,
    pub by: [i64; 6],
}

impl Affine {
    pub fn constant(constant: i64) -> Affine {
        Affine { constant, by: [0; 6] }
    }

    /// A coordinate, by its number.
    pub fn coordinate(axis: usize) -> Affine {
        let mut by = [0; 6];
        by[axis] = 1;
        Affine { constant: 0, by }
    }

    /// Its value, where that does not depend on coordinates.
    pub fn as_constant(&self) -> Option<i64> {
        (self.by == [0; 6]).then_some(self.constant)
    }

    pub fn plus(&self, other: &Affine) -> Option<Affine> {
        self.combined(other, i64::checked_add)
    }

    pub fn minus(&self, other: &Affine) -> Option<Affine> {
        self.combined(other, i64::checked_sub)
    }

    fn combined(&self, other: &Affine, op: fn(i64, i64) -> Option<i64>) -> Option<Affine> {
        let mut by = [0; 6];
        for (axis, c) in by.iter_mut().enumerate() {
            *c = op(self.by[axis], other.by[axis])?;
        }
        Some(Affine { constant: op(self.constant, other.constant)?, by })
    }

    pub fn times(&self, factor: i64) -> Option<Affine> {
        let mut by = [0; 6];
        for (axis, c) in by.iter_mut().enumerate() {
            *c = self.by[axis].checked_mul(factor)?;
        }
        Some(Affine { constant: self.constant.checked_mul(factor)?, by })
    }

    /// Its value for a thread of block 0.
    pub fn at_thread(&self, thread: [u32; 3]) -> Option<i64> {
        let terms = self.by.iter().zip(thread).map(|(c, t)| c.checked_mul(t.into()));
        terms.into_iter().try_fold(self.constant, |sum, term| sum.checked_add(term?))
    }
}
