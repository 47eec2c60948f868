//! Shadow cells: who touched a granule of memory last.

use super::{Event, Kind};
use crate::engine::access::Warp;
use crate::engine::block::DEVICE_WARPS;

/// Bits of a thread's number that are kept in [`Cell::threads`], enough for the blocks that devices take.
const BITS: usize = 10;
const LOW: u32 = (1 << BITS) - 1;
/// The most threads of a block that cells can tell apart.
pub const MOST_THREADS: u64 = 1 << (2 * BITS);

/// The accesses remembered for a granule: event numbers plus one, and the threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) writer: u32,
    pub(super) readers: [u32; 2],
    /// The low bits of the threads' numbers: the writer's, and those of the readers.
    threads: u32,
    /// The high bits, in the same way.
    high: u32,
}

impl Cell {
    fn from_words([writer, first, second, threads]: [u32; 4]) -> Cell {
        Cell { writer, readers: [first, second], threads, high: 0 }
    }

    fn from_head([writer, threads]: [u32; 2]) -> Cell {
        Cell { writer, threads, ..Cell::default() }
    }

    fn words(self) -> [u32; 4] {
        let [first, second] = self.readers;
        [self.writer, first, second, self.threads]
    }

    pub(super) fn thread(&self, slot: usize) -> u32 {
        let part = |bits: u32| bits >> (BITS * slot) & LOW;
        part(self.high) << BITS | part(self.threads)
    }

    pub(super) fn set(&mut self, slot: usize, event: u32, thread: u32) {
        match slot {
            0 => self.writer = event,
            n => self.readers[n - 1] = event,
        }
        let put = |bits: u32, part: u32| bits & !(LOW << (BITS * slot)) | part << (BITS * slot);
        self.threads = put(self.threads, thread & LOW);
        self.high = put(self.high, thread >> BITS);
    }
}

impl Cell {
    /// Remembers two threads that read in one event, in place of past readers and beside those of the
    /// same event: of different warps if possible. One thread leaves room for a past reader that is
    /// another: its own write may follow, as in `x[i] += y`, and needs the barrier after that reader.
    pub(super) fn add_readers(&mut self, event: u32, threads: [u32; 2]) {
        if self.readers[0] != event {
            let other = |s: &usize| self.readers[s - 1] != 0 && self.thread(*s) != threads[0];
            match [1, 2].into_iter().find(other) {
                Some(s) => self.set(2, self.readers[s - 1], self.thread(s)),
                None => self.readers[1] = 0,
            }
            self.set(1, event, threads[0]);
        }
        for t in threads {
            let (x, y) = (self.thread(1), self.thread(2));
            let second = self.readers[1] == event;
            if t != x && (!second || x / 32 == y / 32 && t / 32 != x / 32) {
                self.set(2, event, t);
            }
        }
    }
}

/// The cells of an object. Arrays that are only written, as results are, have no readers to remember: their cells take half
/// the memory, until somebody reads one.
#[derive(Default)]
pub(super) struct Cells {
    whole: Vec<[u32; 4]>,
    /// Writers and threads, in place of whole cells.
    heads: Vec<[u32; 2]>,
    /// [`Cell::high`] of each, where blocks have more threads than the low bits tell apart.
    high: Vec<[u32; 1]>,
    large_blocks: bool,
}

impl Cells {
    /// None yet, for blocks of so many warps.
    pub(super) fn new(warps: u32) -> Cells {
        Cells { large_blocks: warps > DEVICE_WARPS, ..Cells::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.whole.len().max(self.heads.len())
    }

    /// Makes room for so many; `whole`: readers are expected.
    pub(super) fn grow(&mut self, length: usize, whole: bool) {
        match whole && self.heads.is_empty() || !self.whole.is_empty() {
            true => lengthen(&mut self.whole, length),
            false => lengthen(&mut self.heads, length),
        }
        if self.large_blocks {
            lengthen(&mut self.high, length);
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Option<Cell> {
        let low = match self.whole.get(at) {
            Some(cell) => Cell::from_words(*cell),
            None => Cell::from_head(*self.heads.get(at)?),
        };
        let [high] = if self.large_blocks { self.high[at] } else { [0] };
        Some(Cell { high, ..low })
    }

    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, cell: Cell) {
        self.change(at, |c| *c = cell);
    }

    /// Changes a cell; `None`: there is none.
    #[inline(always)]
    pub(super) fn change<R>(&mut self, at: usize, act: impl FnOnce(&mut Cell) -> R) -> Option<R> {
        if self.large_blocks {
            return self.change_of_large(at, act);
        }
        if let Some(words) = self.whole.get_mut(at) {
            let mut cell = Cell::from_words(*words);
            let result = act(&mut cell);
            *words = cell.words();
            return Some(result);
        }
        let mut cell = Cell::from_head(*self.heads.get(at)?);
        let result = act(&mut cell);
        self.put(at, cell);
        Some(result)
    }

    /// As [`Cells::change`], apart from it so that the cells of usual blocks cost nothing more.
    #[inline(never)]
    fn change_of_large<R>(&mut self, at: usize, act: impl FnOnce(&mut Cell) -> R) -> Option<R> {
        let mut cell = self.get(at)?;
        let result = act(&mut cell);
        self.high[at] = [cell.high];
        self.put(at, cell);
        Some(result)
    }

    /// Keeps all of a cell but its high bits.
    fn put(&mut self, at: usize, cell: Cell) {
        if self.whole.is_empty() {
            if cell.readers == [0; 2] {
                self.heads[at] = [cell.writer, cell.threads];
                return;
            }
            self.widen();
        }
        self.whole[at] = cell.words();
    }

    #[cold]
    fn widen(&mut self) {
        let heads = std::mem::take(&mut self.heads);
        self.whole = vec![[0; 4]; heads.len()];
        for (cell, [writer, threads]) in self.whole.iter_mut().zip(heads) {
            if writer != 0 {
                *cell = Cell::from_head([writer, threads]).words();
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cell> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Whether something wrote one of these.
    pub(super) fn written(&self, mut range: std::ops::Range<usize>) -> bool {
        range.any(|at| self.get(at).is_some_and(|c| c.writer != 0))
    }
}

/// Makes a list of cells so long. Arrays of integers that are zero come from the system page by page as they are touched, and
/// launches often touch a few elements here and there of large arrays. Arrays without a size grow with each access: their cells are
/// moved as often as doubling takes.
fn lengthen<const N: usize>(cells: &mut Vec<[u32; N]>, length: usize) {
    if length <= cells.capacity() {
        cells.resize(length, [0; N]);
        return;
    }
    let mut longer = vec![[0; N]; length.max(2 * cells.len())];
    longer.truncate(length);
    longer[..cells.len()].copy_from_slice(cells);
    *cells = longer;
}

/// Events and the cells that refer to them.
#[derive(Default)]
pub(super) struct Shadow {
    pub(super) events: Vec<Event>,
    /// The latest event of each instruction.
    pub(super) latest: Vec<u32>,
    /// By object.
    pub(super) cells: Vec<Cells>,
    /// The cells that a whole object has, for those that were touched.
    pub(super) counted: Vec<usize>,
    /// Some event is atomic: reader slots may hold writers.
    pub(super) has_atomics: bool,
}

impl Shadow {
    pub(super) fn event(&mut self, e: Event) -> u32 {
        let pc = e.pc as usize;
        if self.latest.len() <= pc {
            self.latest.resize(pc + 1, 0);
        }
        let last = self.latest[pc];
        if last != 0 && self.events[last as usize - 1] == e {
            return last;
        }
        self.has_atomics |= e.kind.is_atomic();
        self.events.push(e);
        self.latest[pc] = self.events.len() as u32;
        self.latest[pc]
    }
}

/// Earlier events that an instruction's accesses to an object need not be compared with any more: barriers
/// order them before all threads of the block, and the barriers are known to be needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settled {
    /// The event, its block and the object this is about.
    pub(super) event: u32,
    pub(super) block: u32,
    pub(super) handle: u64,
    pub(super) earlier: [u32; 3],
    pub(super) next: u8,
}

impl Settled {
    /// The event needs no comparison; 0 stands for none.
    #[inline(always)]
    pub(super) fn holds(&self, earlier: u32) -> bool {
        earlier == 0 || self.earlier.contains(&earlier)
    }

    pub(super) fn add(&mut self, earlier: u32) {
        if !self.holds(earlier) {
            self.earlier[usize::from(self.next)] = earlier;
            self.next = (self.next + 1) % 3;
        }
    }
}

/// The cells of an object while an access goes through them.
pub(super) struct Scan {
    pub(super) cells: Cells,
    pub(super) event: u32,
    pub(super) e: Event,
    pub(super) handle: u64,
    pub(super) granule: u32,
    /// The granule at hand.
    pub(super) at: u64,
    pub(super) shared: bool,
    pub(super) reads: bool,
    pub(super) settled: Settled,
    /// Events of a shared object up to this one are of earlier intervals.
    pub(super) past: u32,
    pub(super) has_atomics: bool,
    pub(super) has_async: bool,
}

impl Scan {
    /// Remembers a thread's access to a granule all of whose earlier accesses are settled. False: it is left as it
    /// was, for a comparison with the earlier ones.
    #[inline(always)]
    pub(super) fn note_settled(&mut self, granule: u64, thread: u32) -> bool {
        let (cells, scan) = (
            &mut self.cells,
            Known {
                event: self.event,
                kind: self.e.kind,
                settled: &self.settled,
                past: self.past,
                has_atomics: self.has_atomics,
                has_async: self.has_async,
            },
        );
        cells.change(granule as usize, |c| scan.note(c, thread)).unwrap_or(false)
    }

    /// Reads of all lanes are what the cells hold already.
    pub(super) fn all_known(&self, w: &Warp<'_>) -> bool {
        if !self.reads || w.size > 1 << self.granule || w.mask != u32::MAX {
            return false;
        }
        w.offsets.iter().all(|offset| {
            self.cells.get((offset >> self.granule) as usize).is_some_and(|c| {
                let (x, y) = (c.thread(1) / 32, c.thread(2) / 32);
                self.settled.holds(c.writer)
                    && c.readers == [self.event; 2]
                    && (x != y || x == w.warp)
            })
        })
    }
}

/// What an access has to know of its cell's past.
struct Known<'s> {
    event: u32,
    kind: Kind,
    settled: &'s Settled,
    past: u32,
    has_atomics: bool,
    has_async: bool,
}

impl Known<'_> {
    /// As [`Scan::note_settled`].
    #[inline(always)]
    fn note(&self, c: &mut Cell, thread: u32) -> bool {
        let event = self.event;
        let past = |id: u32| id <= self.past;
        // A thread is in order with itself, except with its copies under way.
        let own = |c: &Cell, slot: usize, id: u32| {
            past(id) && c.thread(slot) == thread && !self.has_async
        };
        let ordered = |c: &Cell, slot: usize, id: u32| self.settled.holds(id) || own(c, slot, id);
        if c.writer != event && !ordered(c, 0, c.writer) {
            return false;
        }
        let readers_ordered = |c: &Cell| ordered(c, 1, c.readers[0]) && ordered(c, 2, c.readers[1]);
        match self.kind {
            Kind::Read if !self.has_atomics && c.writer != event => {
                if c.readers[0] != event && !c.readers.into_iter().all(past) {
                    return false;
                }
                c.add_readers(event, [thread; 2]);
                true
            }
            Kind::Write if c.writer != event && readers_ordered(c) => {
                c.readers = [0; 2];
                c.set(0, event, thread);
                true
            }
            Kind::Atomic if c.readers[0] == event && c.readers[1] == 0 || readers_ordered(c) => {
                // Several atomic writers stay known, for a plain access by the last of them.
                let other = c.thread(0);
                let second = c.writer == event && other != thread;
                let keep = if second { (event, other) } else { (c.readers[0], c.thread(1)) };
                c.readers = [0; 2];
                if keep.0 == event {
                    c.set(1, event, keep.1);
                }
                c.set(0, event, thread);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_are_only_written_are_half_as_large() {
        let mut cells = Cells::default();
        cells.grow(4, false);
        cells.change(1, |c| c.set(0, 7, 3));
        assert!(cells.whole.is_empty() && cells.heads.len() == 4);
        assert_eq!(cells.get(1).map(|c| (c.writer, c.thread(0))), Some((7, 3)));
        // The first reader needs whole cells; what was known stays.
        cells.change(2, |c| c.add_readers(9, [5, 5]));
        assert!(cells.heads.is_empty() && cells.len() == 4);
        assert_eq!(cells.get(1).map(|c| (c.writer, c.readers)), Some((7, [0, 0])));
        assert_eq!(cells.get(2).map(|c| (c.writer, c.readers)), Some((0, [9, 0])));
        assert!(cells.written(0..2) && !cells.written(2..4) && cells.get(4).is_none());
        // An array that grows an element at a time is not moved each time.
        cells.grow(5, false);
        assert_eq!((cells.len(), cells.iter().count(), cells.whole.capacity()), (5, 5, 8));
    }

    /// Threads whose numbers differ in high bits only are told apart, in cells of either form and after either grows.
    #[test]
    fn cells_of_large_blocks_know_all_bits_of_a_thread() {
        let mut cells = Cells::new(64);
        cells.grow(2, false);
        cells.change(0, |c| c.set(0, 7, 1029));
        assert!(cells.whole.is_empty());
        cells.grow(4, false);
        cells.change(1, |c| c.add_readers(9, [5, 1029]));
        cells.change(3, |c| c.set(0, 8, (MOST_THREADS - 1) as u32));
        let threads = |at: usize| cells.get(at).map(|c| [0, 1, 2].map(|slot| c.thread(slot)));
        assert_eq!(threads(0), Some([1029, 0, 0]));
        assert_eq!(threads(1), Some([0, 5, 1029]));
        assert_eq!(threads(3), Some([(1 << 20) - 1, 0, 0]));
        assert!(Cells::new(32).high.is_empty() && !Cells::new(32).large_blocks);
    }

    #[test]
    fn readers_of_one_event_add_up() {
        let mut c = Cell::default();
        c.add_readers(7, [3, 3]);
        assert_eq!((c.readers, c.thread(1)), ([7, 0], 3));
        // The same instruction in a later iteration: another lane, then another warp.
        c.add_readers(7, [4, 4]);
        assert_eq!((c.readers, c.thread(1), c.thread(2)), ([7, 7], 3, 4));
        c.add_readers(7, [40, 41]);
        assert_eq!((c.thread(1), c.thread(2)), (3, 40));
        // A new event takes the place of one, and of both where it has two threads.
        c.add_readers(9, [5, 5]);
        assert_eq!((c.readers, c.thread(1), c.thread(2)), ([9, 7], 5, 3));
        c.add_readers(11, [5, 6]);
        assert_eq!((c.readers, c.thread(1), c.thread(2)), ([11, 11], 5, 6));
        // The same thread is no other reader.
        let mut c = Cell::default();
        c.add_readers(7, [3, 3]);
        c.add_readers(9, [3, 3]);
        assert_eq!((c.readers, c.thread(1)), ([9, 0], 3));
    }
}
