//! Running an instrumented kernel, and reading what it took down.

use std::collections::{HashMap, VecDeque};

use warpsmith_emu::{Buffer, BufferId, Checks, device_pointer};
use warpsmith_ir::Diagnostic;
use warpsmith_ir::layout::layout_of;

use super::instrument::{Instrumented, Layout, Offered};
use crate::launch::Launch;
use crate::memory::{self, Data, Lengths};
use crate::program::{self, Program};

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

/// Words of the rows of all threads together that are kept of one launch, at most.
const MAX_WORDS: usize = 2 << 20;
/// Rows of a thread that there is room for at first; a launch with more is run again.
const FEW_ROWS: usize = 30;
/// Rows of a mark that are taken down of a launch; of later visits of each thread, some.
const FULL_ROWS: usize = 8192;

/// A launch of an instrumented kernel.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub program: &'a Program,
    pub instrumented: &'a Instrumented,
    pub launch: &'a Launch,
    /// Which of the profiled launches it is.
    pub number: usize,
    pub lengths: &'a Lengths,
    pub tagged: &'a [String],
    /// How many of the marks are reads.
    pub reads: usize,
    /// How often it is run with other values: elements of few bits are equal by accident now and then.
    pub runs: u64,
    /// Values that send branches both ways ([`Data::mixed`]).
    pub mixed: bool,
    /// Every visit is taken down, however many there are.
    pub whole: bool,
}

impl Run<'_> {
    /// Adds the rows of the launch to a profile.
    ///
    /// Further runs with other values tell equal values that are a coincidence from those that are not.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn collect(&self, profile: &mut Profile) -> Result<(), Diagnostic> {
        let mut first = self.once(1)?;
        for seed in 2..=self.runs {
            let second = self.once(seed)?;
            first.iter_mut().zip(&second).for_each(|(rows, others)| confirm(rows, others));
        }
        profile.resize(self.instrumented.layouts.len(), vec![]);
        let before: Vec<usize> = profile.iter().map(Vec::len).collect();
        for (i, rows) in first.iter_mut().enumerate() {
            for row in rows.iter_mut() {
                row.insert = row.insert.map(|(mark, row)| (mark, row + before[mark]));
            }
            profile[i].append(rows);
        }
        Ok(())
    }

    fn once(&self, seed: u64) -> Result<Profile, Diagnostic> {
        let Run { launch, instrumented, .. } = *self;
        let threads: usize = launch.grid.iter().chain(&launch.block).map(|d| *d as usize).product();
        let marks = instrumented.layouts.len();
        // However many threads there are: of a mark that is left out nothing would be known.
        let most = (MAX_WORDS / threads.max(1) / instrumented.width).clamp(1, 4096) - 1;
        let most = most.max(marks);
        // Copies are written for what all visits say together.
        let copies = instrumented.layouts.iter().any(|l| l.given || !l.offers.is_empty());
        let full = match self.whole || copies || marks > self.reads {
            true => u32::MAX,
            false => (FULL_ROWS * marks / threads.max(1)).max(2 * marks) as u32,
        };
        let few = most.min(FEW_ROWS);
        let (profile, rows) = self.with_room(seed, full, few)?;
        match rows > few && few < most {
            true => Ok(self.with_room(seed, full, rows.min(most))?.0),
            false => Ok(profile),
        }
    }

    /// The rows of a launch, so many of each thread at most, and how many the thread with the most of them has.
    fn with_room(&self, seed: u64, full: u32, cap: usize) -> Result<(Profile, usize), Diagnostic> {
        let Run { program, instrumented, launch, lengths, .. } = *self;
        let data = Data { seed, tagged: self.tagged, mixed: self.mixed };
        let mut prepared = memory::prepare(program, launch, Some(lengths), data)?;
        let threads: usize = launch.grid.iter().chain(&launch.block).map(|d| *d as usize).product();
        let log_bytes = threads * (cap + 1) * instrumented.width * 8;
        let add = |memory: &mut warpsmith_emu::DeviceMemory, bytes: usize| {
            memory.add(Buffer {
                name: "profile".into(),
                bytes: vec![0; bytes],
                ..Buffer::default()
            })
        };
        let log = add(&mut prepared.memory, log_bytes);
        let count = add(&mut prepared.memory, threads * 4);
        let seen = add(&mut prepared.memory, threads * 4);
        let set = |memory: &mut warpsmith_emu::DeviceMemory, name: &str, bytes: &[u8]| {
            let at = program.module.globals.iter().position(|g| g.name == name);
            if let Some(global) = at.and_then(|i| memory.globals.get_mut(i)) {
                global.bytes[..bytes.len()].copy_from_slice(bytes);
                global.poison.clear();
            }
        };
        set(&mut prepared.memory, "__ws_log", &device_pointer(log, 0).to_le_bytes());
        set(&mut prepared.memory, "__ws_count", &device_pointer(count, 0).to_le_bytes());
        set(&mut prepared.memory, "__ws_seen", &device_pointer(seen, 0).to_le_bytes());
        set(&mut prepared.memory, "__ws_full", &full.to_le_bytes());
        set(&mut prepared.memory, "__ws_rows", &(cap as u32).to_le_bytes());
        set(&mut prepared.memory, "__ws_dynamic", &launch.dynamic_shared.to_le_bytes());
        let offers = instrumented.layouts.iter().any(|l| !l.offers.is_empty());
        let arrays = offers.then(|| Arrays::of(program, &prepared.memory));
        let ran = program::run(program, &prepared.config, &mut prepared.memory, Checks::NONE)?;
        if ran.limit.is_some() && instrumented.layouts.len() > self.reads {
            // Threads that were not come to would seem to need no copy.
            return Ok((vec![vec![]; instrumented.layouts.len()], 0));
        }
        let log = &prepared.memory.buffers[log.0 as usize].bytes;
        let counts = &prepared.memory.buffers[count.0 as usize].bytes;
        let mut profile = decode(instrumented, log, counts, cap, self.number, self.reads);
        for row in profile.iter_mut().flatten() {
            for offer in &mut row.offers {
                let named = |address| arrays.as_ref()?.element(address as u64);
                offer.element = offer.element.and_then(named);
            }
        }
        Ok((profile, rows_of_all(counts).max().unwrap_or(0)))
    }
}

/// How many rows each thread has.
fn rows_of_all(counts: &[u8]) -> impl Iterator<Item = usize> + '_ {
    counts.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]) as usize)
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

fn decode(
    instrumented: &Instrumented,
    log: &[u8],
    counts: &[u8],
    cap: usize,
    launch: usize,
    reads: usize,
) -> Profile {
    let word = |at: usize| {
        let bytes = log.get(at * 8..at * 8 + 8).and_then(|b| b.try_into().ok());
        bytes.map_or(0, i64::from_le_bytes)
    };
    let mut profile: Profile = vec![vec![]; instrumented.layouts.len()];
    for (thread, count) in rows_of_all(counts).enumerate() {
        let mut insert = None;
        let mut visits = vec![0; instrumented.layouts.len()];
        let id_of = |n: usize| word((thread * (cap + 1) + n) * instrumented.width) as usize;
        // What comes after the last place for copies is there in part where there is no more room: it would seem that nobody reads
        // what is missing.
        let mut places = (1..cap).rev().filter(|_| count > cap);
        let end = places.find(|n| (reads..instrumented.layouts.len()).contains(&id_of(*n)));
        for n in 0..end.unwrap_or(count.min(cap)) {
            let start = (thread * (cap + 1) + n) * instrumented.width;
            let id = word(start) as usize;
            let Some(layout) = instrumented.layouts.get(id) else { continue };
            let mut row = decode_row(layout, &|i| word(start + i));
            (row.launch, row.thread, row.insert) = (launch, thread as u32, insert);
            row.visit = visits[id];
            visits[id] += 1;
            if id >= reads {
                insert = Some((id, profile[id].len()));
            }
            profile[id].push(row);
        }
    }
    profile
}

fn decode_row(layout: &Layout, word: &dyn Fn(usize) -> i64) -> Row {
    let values = (0..layout.symbols).map(|s| word(1 + s)).collect();
    let mut places = vec![];
    let mut end = 1 + layout.symbols;
    for (a, words) in layout.arrays.iter().enumerate() {
        for w in 0..*words {
            let mut set = word(end + w) as u64;
            while set != 0 {
                places.push((a as u8, w as u32 * 64 + set.trailing_zeros()));
                set &= set - 1;
            }
        }
        end += words;
    }
    let given = layout.given.then(|| Given {
        place: word(end),
        right: word(end + 1) != 0,
        element: word(end + 2),
    });
    let offer = |(n, o): (usize, &Offered)| {
        let (place, address) = (word(end + 2 * n), word(end + 2 * n + 1));
        let element = (0 <= place && place < o.length).then_some(address);
        Offer { mark: o.mark, place, element }
    };
    let offers = layout.offers.iter().enumerate().map(offer).collect();
    Row { values, places, given, offers, ..Row::default() }
}
