//! Running an instrumented kernel, and reading what it took down.

use std::collections::{HashMap, VecDeque};

use warpsmith_emu::{Buffer, BufferId, Rule, device_pointer};
use warpsmith_ir::Diagnostic;
use warpsmith_ir::layout::layout_of;

use super::instrument::{Instrumented, Layout, Offered};
use crate::launch::Launch;
use crate::memory::{self, Data, Lengths, Prepared, Values};
use crate::program::{Limits, Program};
use crate::source::forks::Choices;

/// One visit of a thread to a mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Which of the profiled launches it is from.
    pub launch: usize,
    /// Flat number of the thread in the launch.
    pub thread: u32,
    /// Values of the symbols.
    pub values: Vec<i64>,
    /// Elements of shared arrays that hold what is read: array and flat position.
    pub places: Vec<(u8, u32)>,
    /// For a read with a given place: where it is, and whether the element is there.
    pub given: Option<Given>,
    /// The visit of the same thread to the place for copies before this one: mark and number of the row there.
    pub insert: Option<(usize, usize)>,
    /// For a place for copies: what copies there could put where.
    pub offers: Vec<Offer>,
    /// For a place for copies: how often the thread has come by before.
    pub visit: usize,
}

/// What a row says of a given place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The flat position in the array.
    pub place: i64,
    /// The element is there.
    pub right: bool,
    /// Names the element.
    pub element: i64,
}

/// A copy that a thread could make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub mark: usize,
    pub place: i64,
    /// Names the element; `None`: it or its place does not exist.
    pub element: Option<i64>,
}

/// The rows of every mark, then of every place for copies.
pub type Profile = Vec<Vec<Row>>;

/// Words that are taken down of one launch, at most: so many that allocators give fresh pages, of which most are never touched.
const MAX_WORDS: usize = 5 << 20;
/// Variables that point to the log, to how much of it each warp has used, to what threads have seen, and to what forks are given.
const LOGS: [&str; 4] = ["__ws_log", "__ws_used", "__ws_seen", "__ws_forks"];
/// Rows of a mark that are taken down of a launch; of later visits of each thread, some.
const FULL_ROWS: usize = 2048;

/// A launch of an instrumented kernel.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub program: &'a Program,
    pub instrumented: &'a Instrumented,
    pub launch: &'a Launch,
    pub lengths: &'a Lengths,
    pub tagged: &'a [String],
    /// How many of the marks are reads.
    pub reads: usize,
    /// How often it is run with other values: elements of few bits are equal by accident now and then.
    pub runs: u64,
    /// The first of the values.
    pub seed: u64,
    /// What the values are good for.
    pub kind: Values,
    /// Every visit is taken down, however many there are.
    pub whole: bool,
    /// What stands in the place of what data decide, out of how many forks.
    pub choices: (&'a Choices, usize),
}

impl Run<'_> {
    /// The rows of the launch.
    ///
    /// Further runs with other values tell equal values that are a coincidence from those that are not.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn taken(&self) -> Result<Profile, Diagnostic> {
        let mut lengths = self.lengths.clone();
        let mut first = self.once(self.seed, &mut lengths)?;
        for run in 1..self.runs {
            let second = self.once(self.seed + run, &mut lengths)?;
            first.iter_mut().zip(&second).for_each(|(rows, others)| confirm(rows, others));
        }
        Ok(first)
    }

    fn once(&self, seed: u64, lengths: &mut Lengths) -> Result<Profile, Diagnostic> {
        let Run { program, instrumented, .. } = *self;
        let room = self.room();
        let (ran, prepared) = memory::run_within((program, Limits::of(program)), lengths, |l| {
            self.prepared(seed, l, room)
        })?;
        let leaves = (self.kind == Values::Wide || !self.choices.0.is_empty())
            && ran.findings.iter().any(|f| f.rule == Rule::OutOfBounds);
        if ran.limit.is_some() && instrumented.layouts.len() > self.reads || leaves {
            // Threads that were not come to would seem to need no copy, and no data send some where these were sent.
            return Ok(vec![vec![]; instrumented.layouts.len()]);
        }
        let offers = instrumented.layouts.iter().any(|l| !l.offers.is_empty());
        let before = offers.then(|| self.filled(seed, lengths)).transpose()?;
        let arrays = before.map(|p| Arrays::of(program, &p.memory));
        let bytes = |behind: usize| {
            let buffers = &prepared.memory.buffers;
            &buffers[buffers.len() - LOGS.len() + behind].bytes[..]
        };
        let layouts = &instrumented.layouts;
        let (bytes, used, block) = (bytes(0), bytes(1), self.threads()[1]);
        let log = Log { layouts, arrays, bytes, used, room, block };
        Ok(log.decode(self.reads))
    }

    /// Blocks of the launch, and threads of one.
    fn threads(&self) -> [usize; 2] {
        [self.launch.grid, self.launch.block]
            .map(|dims| dims.iter().map(|d| *d as usize).product::<usize>())
    }

    fn warps(&self) -> usize {
        let [blocks, block] = self.threads();
        blocks * block.div_ceil(32)
    }

    /// Words of a warp in the log.
    fn room(&self) -> usize {
        // However many threads there are: of a mark that is left out nothing would be known.
        let visit = |l: &Layout| 2 + 32 * l.words() + l.held;
        let once: usize = self.instrumented.layouts.iter().map(visit).sum();
        (MAX_WORDS / self.warps().max(1)).max(once)
    }

    /// Memory of the launch before it.
    fn filled(&self, seed: u64, lengths: &Lengths) -> Result<Prepared, Diagnostic> {
        let data = Data { seed, tagged: self.tagged, kind: self.kind };
        memory::prepare(self.program, self.launch, Some(lengths), data)
    }

    /// Memory of the launch, the log and what belongs to it behind everything else.
    fn prepared(&self, seed: u64, lengths: &Lengths, room: usize) -> Result<Prepared, Diagnostic> {
        let Run { program, launch, .. } = *self;
        let mut prepared = self.filled(seed, lengths)?;
        let memory = &mut prepared.memory;
        let ([blocks, block], warps) = (self.threads(), self.warps());
        let [log, used, seen] =
            [warps * room * 8, warps * 4, blocks * block * 4].map(|n| vec![0; n]);
        let logs = [log, used, seen, self.forks()]
            .map(|bytes| memory.add(Buffer { name: "profile".into(), bytes, ..Buffer::default() }));
        let mut set = |name: &str, bytes: &[u8]| {
            let at = program.module.globals.iter().position(|g| g.name == name);
            if let Some(global) = at.and_then(|i| memory.globals.get_mut(i)) {
                global.bytes[..bytes.len()].copy_from_slice(bytes);
                global.poison.clear();
            }
        };
        for (name, buffer) in LOGS.into_iter().zip(logs) {
            set(name, &device_pointer(buffer, 0).to_le_bytes());
        }
        set("__ws_full", &self.full(blocks * block).to_le_bytes());
        set("__ws_room", &(room as u32).to_le_bytes());
        set("__ws_dynamic", &launch.dynamic_shared.to_le_bytes());
        Ok(prepared)
    }

    /// For each fork whether something is to stand in its place, and what.
    fn forks(&self) -> Vec<u8> {
        let (choices, count) = self.choices;
        let words =
            |n: usize| [i64::from(choices.contains_key(&n)), choices.get(&n).copied().unwrap_or(0)];
        (0..count).flat_map(words).flat_map(i64::to_le_bytes).collect()
    }

    /// Visits of a thread after which only some are taken down. Copies are written for what all visits say together.
    fn full(&self, threads: usize) -> u32 {
        let layouts = &self.instrumented.layouts;
        let copies = layouts.iter().any(|l| l.given || !l.offers.is_empty());
        match self.whole || copies || layouts.len() > self.reads {
            true => u32::MAX,
            false => (FULL_ROWS * layouts.len() / threads.max(1)).max(2 * layouts.len()) as u32,
        }
    }
}

/// Adds the rows of a launch to a profile, which knows launches by number.
pub fn append(mut taken: Profile, launch: usize, profile: &mut Profile) {
    profile.resize(taken.len(), vec![]);
    let before: Vec<usize> = profile.iter().map(Vec::len).collect();
    for (i, rows) in taken.iter_mut().enumerate() {
        for row in rows.iter_mut() {
            row.launch = launch;
            row.insert = row.insert.map(|(mark, row)| (mark, row + before[mark]));
        }
        profile[i].append(rows);
    }
}

/// Takes out what another run did not see, too. Where data decide on the way, a visit may have none of its like there; where they
/// decide on variables in scope alone, a thread's visits come in the same order.
fn confirm(rows: &mut [Row], others: &[Row]) {
    let mut like: HashMap<(u32, &[i64]), VecDeque<usize>> = HashMap::new();
    for (i, other) in others.iter().enumerate() {
        like.entry((other.thread, &other.values)).or_default().push_back(i);
    }
    let mut left: HashMap<u32, (Vec<usize>, Vec<usize>)> = HashMap::new();
    let mut pairs = vec![];
    for (i, row) in rows.iter().enumerate() {
        let same = like.get_mut(&(row.thread, row.values.as_slice()));
        match same.and_then(VecDeque::pop_front) {
            Some(other) => pairs.push((i, other)),
            None => left.entry(row.thread).or_default().0.push(i),
        }
    }
    like.into_iter().for_each(|((t, _), unmet)| left.entry(t).or_default().1.extend(unmet));
    for (own, mut unmet) in left.into_values().filter(|(a, b)| a.len() == b.len()) {
        unmet.sort_unstable();
        pairs.extend(own.into_iter().zip(unmet));
    }
    pairs.into_iter().for_each(|(i, other)| join(&mut rows[i], &others[other]));
}

/// Keeps of a visit what its like in another run says, too.
fn join(row: &mut Row, other: &Row) {
    row.places.retain(|p| other.places.contains(p));
    if let (Some(a), Some(b)) = (&mut row.given, &other.given) {
        a.right &= b.right;
        a.element = joined(a.element, b.element);
    }
    for (a, b) in row.offers.iter_mut().zip(&other.offers) {
        a.element = a.element.zip(b.element).map(|(a, b)| joined(a, b));
    }
}

/// The name of an element in several runs.
fn joined(a: i64, b: i64) -> i64 {
    a.wrapping_mul(0x0100_0000_01b3) ^ b
}

/// The arrays of a launch before it: for each its address, the bytes of an element, and what it holds.
struct Arrays(Vec<(u64, usize, Vec<u8>)>);

impl Arrays {
    fn of(program: &Program, memory: &warpsmith_emu::DeviceMemory) -> Arrays {
        let size = |b: &Buffer| {
            b.element.as_ref().map_or(1, |t| layout_of(&program.module, t).size as usize)
        };
        let one = |(i, b): (usize, &Buffer)| {
            (device_pointer(BufferId(i as u32), 0), size(b), b.bytes.clone())
        };
        Arrays(memory.buffers.iter().enumerate().map(one).collect())
    }

    /// Names the element at an address as the instrumented text does.
    fn element(&self, address: u64) -> Option<i64> {
        self.0.iter().find_map(|(start, size, bytes)| {
            let at = usize::try_from(address.wrapping_sub(*start)).ok()?;
            let bytes = bytes.get(at..at.checked_add(*size)?)?;
            let word = |w: &[u8]| w.iter().rev().fold(0u64, |all, b| all << 8 | u64::from(*b));
            let hash = |parts: std::slice::Chunks<'_, u8>, by: u64| {
                parts.fold(0u64, |all, w| all.wrapping_mul(by).wrapping_add(word(w)))
            };
            Some(match size {
                1 | 2 | 4 => word(bytes),
                n if n % 4 != 0 => hash(bytes.chunks(1), 257),
                _ => hash(bytes.chunks(4), 0x9e37_79b9_7f4a_7c15),
            } as i64)
        })
    }
}

/// What a launch took down.
struct Log<'a> {
    layouts: &'a [Layout],
    /// What elements held before, where copies are offered.
    arrays: Option<Arrays>,
    bytes: &'a [u8],
    /// Words that each warp has filled.
    used: &'a [u8],
    /// Words of each warp.
    room: usize,
    /// Threads of a block.
    block: usize,
}

/// Elements that are compared at once.
const PIECE: usize = 16;

/// A row: of which mark it is, where it begins, and where what arrays held.
type Taken = (usize, usize, usize);

impl Log<'_> {
    fn word(&self, at: usize) -> i64 {
        let bytes = self.bytes.get(at * 8..at * 8 + 8).and_then(|b| b.try_into().ok());
        bytes.map_or(0, i64::from_le_bytes)
    }

    fn decode(&self, reads: usize) -> Profile {
        let mut profile: Profile = vec![vec![]; self.layouts.len()];
        let mut threads: Vec<Vec<Taken>> = vec![];
        let mut full = vec![];
        for warp in 0..self.used.len() / 4 {
            let begun = warp / self.block.div_ceil(32) * self.block;
            let lanes = self.lanes(warp).into_iter();
            let first = threads.len();
            threads.extend(lanes.take(self.block - (first - begun)));
            if self.used_by(warp) > self.room {
                full.extend(first..threads.len());
            }
        }
        // What comes after the last place for copies is there in part where there is no more room: it would seem that nobody reads
        // what is missing.
        let copied = |taken: &Vec<Taken>| taken.iter().filter(|t| t.0 >= reads).count();
        let complete = full.iter().map(|t| copied(&threads[*t])).filter(|n| *n > 0).min();
        for (thread, taken) in threads.iter_mut().enumerate() {
            if let Some(n) = complete {
                let mut places = (0..taken.len()).filter(|i| taken[*i].0 >= reads);
                let end = places.nth((n - 1).max(1)).unwrap_or(taken.len());
                taken.truncate(end);
            }
            self.rows(thread, taken, reads, &mut profile);
        }
        profile
    }

    fn used_by(&self, warp: usize) -> usize {
        let bytes = self.used.get(warp * 4..warp * 4 + 4).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes) as usize
    }

    /// The rows of each thread of a warp.
    fn lanes(&self, warp: usize) -> Vec<Vec<Taken>> {
        let mut lanes = vec![vec![]; 32];
        let (mut at, end) = (warp * self.room, (warp + 1) * self.room);
        // Nothing is behind the last visit.
        while at + 2 < end && self.word(at + 1) != 0 {
            let (id, mask) = (self.word(at) as usize, self.word(at + 1) as u32);
            let Some(layout) = self.layouts.get(id) else { break };
            let held = at + 2 + mask.count_ones() as usize * layout.words();
            let coming = (0..32).filter(|lane| mask >> lane & 1 == 1);
            for (n, lane) in coming.enumerate() {
                lanes[lane].push((id, at + 2 + n * layout.words(), held));
            }
            at = (0..layout.arrays).fold(held, |at, _| at + 1 + self.length(at).0);
        }
        lanes
    }

    /// How much of an array is at a word, and whether it can be what is read.
    fn length(&self, at: usize) -> (usize, bool) {
        match self.word(at) {
            n @ 0.. => (n as usize, true),
            n => ((-1 - n) as usize, false),
        }
    }

    /// Adds the rows of a thread to a profile.
    fn rows(&self, thread: usize, taken: &[Taken], reads: usize, profile: &mut Profile) {
        let mut insert = None;
        let mut visits = vec![0; self.layouts.len()];
        for (id, start, held) in taken {
            let mut row = self.row(&self.layouts[*id], *start, *held);
            (row.thread, row.insert) = (thread as u32, insert);
            row.visit = visits[*id];
            visits[*id] += 1;
            if *id >= reads {
                insert = Some((*id, profile[*id].len()));
            }
            profile[*id].push(row);
        }
    }

    fn row(&self, layout: &Layout, start: usize, held: usize) -> Row {
        let word = |i: usize| self.word(start + i);
        let end = layout.symbols;
        let given = layout.given.then(|| Given {
            place: word(end),
            right: word(end + 1) != 0,
            element: word(end + 2),
        });
        let mut next = end;
        let offer = |o: &Offered| {
            let [place, found, constant] = [0, 1, 2].map(|i| word(next + i));
            next += o.words();
            let element = |found| match o.padded && constant != 0 {
                false => self.arrays.as_ref()?.element(found as u64),
                true => Some(found),
            };
            let element = (0..o.length).contains(&place).then_some(found).and_then(element);
            Offer { mark: o.mark, place, element }
        };
        Row {
            values: (0..end).map(word).collect(),
            places: if layout.arrays > 0 { self.places(layout, word(end), held) } else { vec![] },
            given,
            offers: layout.offers.iter().map(offer).collect(),
            ..Row::default()
        }
    }

    /// Where an element is in what arrays held.
    fn places(&self, layout: &Layout, element: i64, mut at: usize) -> Vec<(u8, u32)> {
        let mut places = vec![];
        for array in 0..layout.arrays {
            let (length, alike) = self.length(at);
            let held = self.bytes[(at + 1) * 8..].as_chunks().0;
            let held = held.get(..length).filter(|_| alike).unwrap_or_default();
            let is_it = |bytes: &[u8; 8]| i64::from_le_bytes(*bytes) == element;
            // Most pieces are without it, and are compared at once.
            for (n, piece) in held.chunks(PIECE).enumerate() {
                if piece.iter().fold(false, |found, w| found | is_it(w)) {
                    let here = piece.iter().enumerate().filter(|(_, w)| is_it(w));
                    places.extend(here.map(|(i, _)| (array as u8, (n * PIECE + i) as u32)));
                }
            }
            at += 1 + length;
        }
        places
    }
}
