//! One element that a kernel reads or stores: how it is written, and how its address moves with threads and loops.

use crate::source::marks::Bytes;
use crate::verify::proof::formula::Sum;

/// An element of an array in the text.
#[derive(Clone, Debug)]
pub struct Access {
    pub array: String,
    pub whole: Bytes,
    /// What stands before the subscript, `a[` or `at(`, and behind it.
    pub open: String,
    pub close: String,
    /// The subscript, or the arguments of what reads the element.
    pub index: String,
    /// The type of what a function makes of it.
    pub value: Option<String>,
    /// Its address as a sum, where that is known.
    pub at: Option<Sum>,
    /// It reads several elements: a macro brings more than one.
    pub several: bool,
    /// Elements of arrays are part of its subscript.
    pub by_data: bool,
    pub stored: bool,
    /// Each thread goes through a loop from an element of its own.
    pub from_thread: bool,
}

/// How an access moves with loops, in threads, rows and planes.
#[derive(Clone, Debug)]
pub struct Moves {
    /// By an iteration of each loop.
    pub steps: Vec<[i64; 3]>,
    /// From another access, where all counters stand at zero.
    pub offset: [i64; 3],
}

impl Access {
    /// The element, without what it may be read by: `__ldg(&a[i])` is `a[i]`.
    pub fn text(&self) -> String {
        self.with(&self.index)
    }

    /// The names that it is written with: the subscript's, and that of a local pointer.
    pub fn named(&self) -> String {
        match self.open.strip_suffix('[') {
            Some(pointer) if pointer != self.array => format!("{pointer} ; {}", self.index),
            _ => self.index.clone(),
        }
    }

    /// Whether it is read through a local pointer.
    pub fn is_through(&self) -> bool {
        let pointer = self.open.strip_suffix('[');
        pointer.is_some_and(|p| p != self.array && !p.contains(['.', '>']))
    }

    /// The element with another subscript.
    pub fn with(&self, index: &str) -> String {
        format!("{}{index}{}", self.open, self.close)
    }

    /// Whether what a thread reads in one iteration, another one reads in the next or soon after.
    pub fn slides(&self) -> bool {
        let step = || Some((self.value_at([2, 2, 0], 3)? - self.value([2, 2, 0])?).abs());
        let (Some([x, y]), Some(step)) = (self.strides(), step()) else { return false };
        let near = |stride: i64| stride != 0 && step % stride == 0 && step / stride.abs() <= NEAR;
        step != 0 && (near(x) || near(y))
    }

    /// The address at a thread, for sizes that are far apart.
    pub fn value(&self, thread: [i64; 3]) -> Option<i64> {
        self.value_at(thread, 2)
    }

    /// The same in an iteration of the loops around.
    pub fn value_at(&self, thread: [i64; 3], iteration: i64) -> Option<i64> {
        self.value_in(thread, &|_| iteration)
    }

    /// The same in an iteration of each loop.
    pub fn value_in(&self, thread: [i64; 3], iteration: &dyn Fn(&str) -> i64) -> Option<i64> {
        self.value_with(thread, iteration, None)
    }

    /// The same with one size that is small.
    fn value_with(
        &self,
        thread: [i64; 3],
        iteration: &dyn Fn(&str) -> i64,
        small: Option<&str>,
    ) -> Option<i64> {
        let sum = self.at.as_ref()?;
        let value = |name: &str| match name {
            "t_x" => thread[0],
            "t_y" => thread[1],
            "t_z" => thread[2],
            // Rows and columns that no symmetry makes equal.
            "u_bx" => 3,
            "u_by" => 5,
            "u_bz" => 4,
            n if n.contains("_n") => iteration(n),
            n if small == Some(n) => 1,
            // Sizes that no sum of a few threads and rows reaches.
            n => n.bytes().fold(0, |h, b| h * 10 + i64::from(b % 10)) * 7919 + 100_003,
        };
        Some(sum.value(&value))
    }

    /// How far the address moves from thread to thread along x and y.
    pub fn strides(&self) -> Option<[i64; 2]> {
        let here = self.value([2, 2, 0])?;
        Some([self.value([3, 2, 0])? - here, self.value([2, 3, 0])? - here])
    }

    /// Whether all threads read one element at a time, whichever of the sizes is small: a radius is, and where it is not all positions
    /// may be moved to a border.
    pub fn is_uniform(&self) -> bool {
        let mut sizes: Vec<Option<String>> = vec![None];
        if let Some(sum) = &self.at {
            sum.names(&mut |n| sizes.push(Some(n.to_string())));
        }
        sizes.iter().all(|small| {
            let at = |thread| self.value_with(thread, &|_| 2, small.as_deref());
            let here = at([2, 2, 0]);
            here.is_some() && at([3, 2, 0]) == here && at([2, 3, 0]) == here
        })
    }

    /// Whether threads next to each other read one element and others do not: positions are divided.
    pub fn repeats(&self, planes: bool) -> bool {
        let rows = if planes { 0..NEAR } else { 0..1 };
        let near = rows.flat_map(|y| (0..NEAR).map(move |x| [x, y, 0]));
        let Some(mut all) = near.map(|t| self.value(t)).collect::<Option<Vec<i64>>>() else {
            return false;
        };
        let threads = all.len();
        all.sort_unstable();
        all.dedup();
        (2..threads).contains(&all.len())
    }

    /// The loops that it changes with; `None` when it changes with what is not known.
    pub fn loops(&self) -> Option<Vec<String>> {
        let mut loops = vec![];
        let mut known = true;
        self.at.as_ref()?.names(&mut |n| match n {
            n if n.starts_with("t_n") => loops.push(n.to_string()),
            n => known &= !n.starts_with("t_f") && !n.starts_with("t_b"),
        });
        loops.sort();
        loops.dedup();
        known.then_some(loops)
    }

    /// Whether it changes with no loop that another does not change with, too.
    pub fn within(&self, other: &Access) -> bool {
        let (Some(own), Some(others)) = (self.loops(), other.loops()) else { return false };
        own.iter().all(|l| others.contains(l))
    }

    /// Threads, rows and planes from another access to this one.
    pub fn offset(&self, center: &Access) -> Option<[i64; 3]> {
        center.apart(self.value(HERE)? - center.value(HERE)?)
    }

    /// How some loops move it; they come with what their counters begin with.
    pub fn moves(&self, center: &Access, loops: &[(String, i64)]) -> Option<Moves> {
        let at = |a: &Access, moved: Option<&str>| {
            let own = |name: &str| loops.iter().any(|(l, _)| l == name);
            a.value_in(HERE, &|l| if own(l) { i64::from(moved == Some(l)) } else { 2 })
        };
        let zero = |a: &Access| {
            let mut zero = at(a, None)?;
            for (l, first) in loops {
                zero -= (at(a, Some(l))? - at(a, None)?) * first;
            }
            Some(zero)
        };
        let step = |(l, _): &(String, i64)| center.apart(at(self, Some(l))? - at(self, None)?);
        let steps = loops.iter().map(step).collect::<Option<Vec<_>>>()?;
        Some(Moves { steps, offset: center.apart(zero(self)? - zero(center)?)? })
    }

    /// A distance in threads, rows and planes.
    fn apart(&self, mut rest: i64) -> Option<[i64; 3]> {
        let [x, y] = self.strides()?;
        let z = self.value([2, 2, 3])? - self.value(HERE)?;
        let mut found = [0; 3];
        let mut order = [(0, x), (1, y), (2, z)];
        order.sort_by_key(|(_, stride)| std::cmp::Reverse(stride.abs()));
        for (axis, stride) in order.into_iter().filter(|(_, s)| *s != 0) {
            found[axis] = (rest as f64 / stride as f64).round() as i64;
            rest -= found[axis] * stride;
        }
        (rest == 0 && found.iter().all(|d| d.abs() <= 8)).then_some(found)
    }
}

/// The thread that addresses are compared at.
const HERE: [i64; 3] = [2, 2, 2];

/// Threads that are near enough to read the same elements in a loop.
const NEAR: i64 = 8;
