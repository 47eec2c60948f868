//! Launches that a program makes again and again, as a benchmark does.
//!
//! A launch on the same memory as one before leaves the same memory behind and has the same findings: its outcome is taken
//! from that one. Of launches that differ from earlier ones only in what memory holds or in numbers, so many are run as a
//! budget allows; the others are not run, what they would have written is not known, and the report says so. Longer than others
//! are launches run where the host has read memory of the device since the last one like it: how often a loop repeats may hang on
//! that. When that budget is spent, too, the host does not know what it reads, and its loop ends.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use warpsmith_emu::{Arg, Buffer, DeviceMemory, LaunchConfig, Outcome};
use warpsmith_ir::{Module, Span, Type};

use super::super::invent::holds_pointers;

/// Thread instructions from which a launch is worth comparing its memory with others'.
const WORTH: u64 = 1_000_000;
/// Bytes that launches changed and that are kept for launches like them, at most.
const MOST_KEPT: usize = 256 << 20;
/// Launches with the same arrays that are always run.
const ALWAYS: u64 = 3;
/// Looks at memory that found nothing known, after which a launch that is not due is left out without one.
const MOST_UNKNOWN: u32 = 6;
/// Thread instructions of the first launch of each kind, all together, beyond which launches are mostly run in part; and from
/// which a launch is run in part, before, after, and when little time is left.
const ALL_LAUNCHES: u64 = 12_000_000_000;
const MOST_WHOLE: u64 = 3_000_000_000;
const LEAST_WHOLE: u64 = 200_000_000;
const IN_HURRY: u64 = 20_000_000;
/// Thread instructions of launches beyond the first of their kind, all together, that are run: with the same numbers, and
/// with others.
const BUDGET: u64 = 1_000_000_000;
const BUDGET_OF_NUMBERS: u64 = 2_000_000_000;
/// The same, of launches each of which the host reads something of before the next.
const BUDGET_OF_READ: u64 = 2_500_000_000;

/// A launch but for what memory holds and for numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    at: Option<Span>,
    kernel: u32,
    shape: [u32; 7],
    /// Name, length and offset of each array.
    arrays: Vec<Option<(String, usize, i64)>>,
}

/// How often a kind of launch was made.
#[derive(Default)]
struct Count {
    run: u64,
    left_out: u64,
    /// The numbers it was run with.
    numbers: HashSet<Vec<Vec<u8>>>,
    /// Work of the last one.
    steps: u64,
    /// Blocks of the last one, where not all were run.
    sampled: bool,
    /// They were as many as there was time for.
    late: bool,
    /// With these numbers and arrays it changed nothing, when memory was as this number says.
    settled: Option<(u64, Vec<Arg>)>,
    /// Looks at memory in a row that found nothing known.
    unknown: u32,
    /// How often the host had read memory of the device at the last one.
    read: u64,
    /// A launch of this kind did something that is not seen in memory.
    special: bool,
    /// Buffers that launches of this kind changed.
    changed: HashSet<usize>,
    known: Vec<Known>,
}

/// A launch of which all is known.
struct Known {
    before: State,
    /// What it changed, by position in the state.
    after: Vec<(usize, Buffer)>,
}

/// What the outcome of a launch hangs on: its numbers, its arrays by position, and a digest of each piece of memory.
#[derive(Clone, PartialEq, Eq)]
struct State {
    args: Vec<Argument>,
    memory: Vec<[u64; 2]>,
}

#[derive(Clone, PartialEq, Eq)]
enum Argument {
    Bytes(Vec<u8>),
    Array(usize, i64),
    Null,
}

/// What to do with a launch.
pub enum Verdict {
    Run(Pending),
    /// Memory is as it would be afterwards.
    Done,
    LeaveOut,
}

/// A launch that is about to run.
pub struct Pending {
    kind: Kind,
    numbers: Vec<Vec<u8>>,
    before: Option<State>,
}

/// The launches of one run of a program.
pub struct Repeats {
    /// [`WORTH`], [`BUDGET`], [`BUDGET_OF_NUMBERS`] and [`BUDGET_OF_READ`].
    worth: u64,
    budget: u64,
    budget_of_numbers: u64,
    budget_of_read: u64,
    counts: HashMap<Kind, Count>,
    /// Kinds of which some were left out, in order.
    left_out: Vec<Kind>,
    spent: u64,
    /// Thread instructions of the first launch of each kind.
    first: u64,
    /// [`ALWAYS`].
    always: u64,
    /// Little time is left.
    hurries: bool,
    kept: usize,
    /// How often the host has read memory of the device: what it does next may hang on that.
    reads: Cell<u64>,
    /// Buffers that launches may have written that were not run.
    stale: HashSet<usize>,
    /// Changes whenever memory may have.
    version: u64,
}

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats {
            worth: WORTH,
            budget: BUDGET,
            budget_of_numbers: BUDGET_OF_NUMBERS,
            budget_of_read: BUDGET_OF_READ,
            counts: HashMap::new(),
            left_out: vec![],
            spent: 0,
            first: 0,
            always: ALWAYS,
            hurries: false,
            kept: 0,
            reads: Cell::new(0),
            stale: HashSet::new(),
            version: 0,
        }
    }
}

impl Repeats {
    /// What is to be done with a launch; `all`: every one is run whose outcome is not known.
    pub fn verdict(
        &mut self,
        module: &Module,
        config: &LaunchConfig,
        at: Option<Span>,
        memory: &mut DeviceMemory,
        all: bool,
    ) -> Verdict {
        let kind = kind(config, at, memory);
        let numbers = numbers(config);
        let worth = self.worth;
        let Some(count) = self.counts.get_mut(&kind).filter(|c| c.steps >= worth) else {
            return Verdict::Run(Pending { kind, numbers, before: None });
        };
        if count
            .settled
            .as_ref()
            .is_some_and(|(v, args)| *v == self.version && *args == config.args)
        {
            count.run += 1;
            count.read = self.reads.get();
            return Verdict::Done;
        }
        let same = count.numbers.contains(&numbers);
        let budget = if same { self.budget } else { self.budget_of_numbers };
        let due = !count.sampled && (count.run < self.always || self.spent < budget)
            || !same && (count.run + count.left_out).is_power_of_two();
        // One that took all the time it had would take that of launches that have not had their turn.
        let read =
            !count.late && count.read != self.reads.get() && self.spent < self.budget_of_read;
        let arrays = written(module, config);
        // Looking at all of memory takes time, too.
        let looks = !count.sampled && (due || count.unknown < MOST_UNKNOWN);
        let before = looks.then(|| live(memory)).and_then(|live| {
            let before = state(config, memory, &live)?;
            Some((live, before))
        });
        if let Some((live, before)) = &before
            && let Some(known) = count.known.iter().find(|k| k.before == *before)
        {
            for (position, buffer) in &known.after {
                *piece_mut(memory, live, *position) = buffer.clone();
            }
            count.unknown = 0;
            count.run += 1;
            count.read = self.reads.get();
            match known.after.is_empty() {
                true => count.settled = Some((self.version, config.args.clone())),
                false => self.version += 1,
            }
            return Verdict::Done;
        }
        count.unknown += 1;
        let before = before.map(|(_, before)| before);
        // What managed memory or a variable holds may decide what the host does next; a part of the blocks tells nobody.
        let all = all && !(count.sampled && self.spent >= budget);
        let (false, false, false, Some(arrays)) = (all, due, count.special || read, arrays) else {
            return Verdict::Run(Pending { kind, numbers, before });
        };
        if count.left_out == 0 {
            self.left_out.push(kind);
        }
        count.left_out += 1;
        let buffers: Vec<usize> = arrays.into_iter().chain(count.changed.iter().copied()).collect();
        self.version += 1;
        self.not_written(&buffers, memory);
        Verdict::LeaveOut
    }

    /// Launches were not run, or not whole, that may have written these buffers.
    fn not_written(&mut self, buffers: &[usize], memory: &mut DeviceMemory) {
        for buffer in buffers {
            self.stale.insert(*buffer);
            if let Some(b) = memory.buffers.get_mut(*buffer) {
                b.invented |=
                    b.element.as_ref().is_none_or(|t| t.scalar().is_none_or(|s| s.is_integer()));
            }
        }
    }

    /// Little time is left: launches are run in part and none is repeated, so that each place with a launch gets its turn.
    pub fn hurry(&mut self) {
        (self.hurries, self.always) = (true, 1);
        (self.budget, self.budget_of_numbers, self.budget_of_read) = (0, 0, 0);
    }

    /// Memory may have changed.
    pub fn changed(&mut self) {
        self.version += 1;
    }

    /// Of a launch only some blocks were run. The buffers that the others may have written: all, where nobody can tell.
    pub fn sampled(
        &mut self,
        module: &Module,
        config: &LaunchConfig,
        memory: &mut DeviceMemory,
    ) -> Vec<usize> {
        let buffers = written_by(module, config, memory);
        self.not_written(&buffers, memory);
        buffers
    }

    /// Thread instructions from which the next launch is run in part.
    pub fn sample_beyond(&self) -> u64 {
        match self.hurries {
            true => IN_HURRY,
            false => (ALL_LAUNCHES.saturating_sub(self.first) / 4).clamp(LEAST_WHOLE, MOST_WHOLE),
        }
    }

    /// Takes down how a launch went.
    pub fn ran(
        &mut self,
        pending: Pending,
        config: &LaunchConfig,
        outcome: &Outcome,
        memory: &DeviceMemory,
    ) {
        let Pending { kind, numbers, before } = pending;
        let count = self.counts.entry(kind).or_default();
        let steps = outcome.stats.thread_instructions;
        match count.run {
            0 => self.first += steps,
            _ => self.spent += steps,
        }
        self.version += 1;
        count.sampled = outcome.sampled.is_some();
        count.late = outcome.sampled.as_ref().is_some_and(|part| part.late);
        count.run += 1;
        count.read = self.reads.get();
        count.steps = steps;
        count.numbers.insert(numbers);
        count.special |=
            !outcome.printed.is_empty() || outcome.limit.is_some() || outcome.assumption_failed;
        let Some(before) = before.filter(|_| outcome.sampled.is_none()) else { return };
        let live = live(memory);
        let Some(after) = state(config, memory, &live) else { return };
        let differ: Vec<usize> = (0..live.len() + memory.globals.len())
            .filter(|i| before.memory.get(*i) != after.memory.get(*i))
            .collect();
        count.special |= differ.iter().any(|i| *i >= live.len());
        count.changed.extend(differ.iter().filter_map(|i| live.get(*i)));
        let size: usize = differ.iter().map(|i| size(piece(memory, &live, *i))).sum();
        if count.special || self.kept + size > MOST_KEPT {
            return;
        }
        if differ.is_empty() {
            count.settled = Some((self.version, config.args.clone()));
        }
        self.kept += size;
        let kept = differ.into_iter().map(|i| (i, piece(memory, &live, i).clone()));
        count.known.push(Known { before, after: kept.collect() });
    }

    /// Whether launches that were not run may have written a buffer.
    pub fn is_stale(&self, buffer: usize) -> bool {
        self.stale.contains(&buffer)
    }

    /// The host has written a part of the buffer, or all of it.
    pub fn filled(&mut self, buffer: usize, whole: bool) {
        if whole {
            self.stale.remove(&buffer);
        }
    }

    /// The host reads memory of the device.
    pub fn host_reads(&self) {
        self.reads.set(self.reads.get() + 1);
    }

    /// Each kind of launch of which some were not run: place, kernel, grid and block, how many, and of how many.
    pub fn left_out(&self) -> impl Iterator<Item = (Option<Span>, u32, [u32; 7], u64, u64)> {
        self.left_out.iter().filter_map(|kind| {
            let count = self.counts.get(kind)?;
            Some((kind.at, kind.kernel, kind.shape, count.left_out, count.run + count.left_out))
        })
    }
}

fn kind(config: &LaunchConfig, at: Option<Span>, memory: &DeviceMemory) -> Kind {
    let ([a, b, c], [x, y, z]) = (config.grid, config.block);
    let array = |arg: &Arg| match arg {
        Arg::Pointer { buffer, offset } => {
            memory.buffers.get(buffer.0 as usize).map(|b| (b.name.clone(), b.bytes.len(), *offset))
        }
        _ => None,
    };
    let shape = [a, b, c, x, y, z, config.dynamic_shared];
    Kind { at, kernel: config.kernel.0, shape, arrays: config.args.iter().map(array).collect() }
}

fn numbers(config: &LaunchConfig) -> Vec<Vec<u8>> {
    let bytes = |arg: &Arg| match arg {
        Arg::Bytes(bytes) => Some(bytes.clone()),
        _ => None,
    };
    config.args.iter().filter_map(bytes).collect()
}

/// The buffers that a launch may write: all, where nobody can tell.
pub(super) fn written_by(
    module: &Module,
    config: &LaunchConfig,
    memory: &DeviceMemory,
) -> Vec<usize> {
    written(module, config).unwrap_or_else(|| live(memory))
}

/// The buffers that a launch may write; `None`: pointers inside of objects lead to others.
fn written(module: &Module, config: &LaunchConfig) -> Option<Vec<usize>> {
    let kernel = module.function(config.kernel);
    let mut all = vec![];
    for (arg, param) in config.args.iter().zip(&kernel.params) {
        match (&kernel.var(*param).ty, arg) {
            (Type::Pointer { pointee, .. }, _) if holds_pointers(module, pointee) => return None,
            (Type::Pointer { readonly: false, .. }, Arg::Pointer { buffer, .. }) => {
                all.push(buffer.0 as usize);
            }
            (Type::Pointer { .. } | Type::Scalar(_) | Type::Vector(..), _) => {}
            _ => return None,
        }
    }
    Some(all)
}

/// The buffers that are not freed.
fn live(memory: &DeviceMemory) -> Vec<usize> {
    let alive = |(i, b): (usize, &Buffer)| (!b.freed && !b.bytes.is_empty()).then_some(i);
    memory.buffers.iter().enumerate().filter_map(alive).collect()
}

/// `None`: an argument leads to memory that is not there.
fn state(config: &LaunchConfig, memory: &DeviceMemory, live: &[usize]) -> Option<State> {
    let mut args = vec![];
    for arg in &config.args {
        args.push(match arg {
            Arg::Bytes(bytes) => Argument::Bytes(bytes.clone()),
            Arg::Null => Argument::Null,
            Arg::Pointer { buffer, offset } => {
                let at = live.iter().position(|b| *b == buffer.0 as usize)?;
                Argument::Array(at, *offset)
            }
        });
    }
    let buffers = live.iter().map(|i| &memory.buffers[*i]);
    Some(State { args, memory: buffers.chain(&memory.globals).map(digest).collect() })
}

fn piece<'m>(memory: &'m DeviceMemory, live: &[usize], position: usize) -> &'m Buffer {
    match live.get(position) {
        Some(i) => &memory.buffers[*i],
        None => &memory.globals[position - live.len()],
    }
}

fn piece_mut<'m>(memory: &'m mut DeviceMemory, live: &[usize], position: usize) -> &'m mut Buffer {
    match live.get(position) {
        Some(i) => &mut memory.buffers[*i],
        None => &mut memory.globals[position - live.len()],
    }
}

fn size(buffer: &Buffer) -> usize {
    buffer.bytes.len() + buffer.poison.len()
}

/// 128 bits that tell contents apart.
fn digest(buffer: &Buffer) -> [u64; 2] {
    let mut state = [buffer.bytes.len() as u64, u64::from(buffer.grows)];
    let mut words = buffer.bytes.chunks_exact(8);
    for word in &mut words {
        mix(&mut state, word.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b)));
    }
    mix(&mut state, words.remainder().iter().fold(1, |w, b| w << 8 | u64::from(*b)));
    // Most memory has been written altogether.
    let bits = if buffer.poison.contains(&true) { &buffer.poison[..] } else { &[] };
    for bits in bits.chunks(64) {
        mix(&mut state, bits.iter().fold(0, |w, b| w << 1 | u64::from(*b)));
    }
    state
}

fn mix(state: &mut [u64; 2], word: u64) {
    state[0] = (state[0] ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    state[1] = (state[1].rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_emu::{self as emu, BufferId, Options};
    use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
    use warpsmith_front::sema::{self, KernelSelection, Request};
    use warpsmith_ir::SourceMap;

    const TEXT: &[u8] = b"struct View { int *p; };\n\
        __global__ void copy(int *to, const int *from, int n) { int i = threadIdx.x; if (i < n) to[i] = from[i]; }\n\
        __global__ void count(int *to, const int *from, int n) { int i = threadIdx.x; if (i < n) to[i] += from[i]; }\n\
        __global__ void inside(View to, const int *from, int n) { int i = threadIdx.x; if (i < n) to.p[i] += from[i]; }\n\
        __device__ int total;\n\
        __global__ void tally(int *to, const int *from, int n) { if (threadIdx.x < n) atomicAdd(&total, from[0]); }\n";

    struct Bench {
        module: Module,
        memory: DeviceMemory,
        repeats: Repeats,
        ran: usize,
    }

    impl Bench {
        fn new() -> Bench {
            let mut sources = SourceMap::new();
            let options = ParseOptions::new(Language::Cuda);
            let parsed = parse::parse("a.cu", TEXT, &options, &DiskLoader, &mut sources);
            let unit = parsed.expect("the text is right").unit;
            let request = Request { kernels: KernelSelection::All, host_functions: vec![] };
            let lowered = sema::lower_cuda(&unit, &request).expect("the text is right");
            let mut memory = DeviceMemory::new(&lowered.module);
            for name in ["to", "from"] {
                let bytes = [3, 0, 0, 0].repeat(32);
                memory.add(Buffer { name: name.into(), bytes, ..Buffer::default() });
            }
            let repeats =
                Repeats { worth: 0, budget: 0, budget_of_numbers: 0, ..Repeats::default() };
            Bench { module: lowered.module, memory, repeats, ran: 0 }
        }

        /// `R`: it was run; `D`: its outcome was known; `L`: it was left out.
        fn launch(&mut self, kernel: &str, n: i32, all: bool) -> char {
            let id = self.module.functions.iter().position(|f| f.name == kernel);
            let kernel = warpsmith_ir::FuncId(id.expect("a kernel") as u32);
            let array = |i| Arg::Pointer { buffer: BufferId(i), offset: 0 };
            let to = match self.module.function(kernel).name == "inside" {
                true => Arg::Bytes(emu::device_pointer(BufferId(0), 0).to_le_bytes().to_vec()),
                false => array(0),
            };
            let args = vec![to, array(1), Arg::Bytes(n.to_le_bytes().to_vec())];
            let (grid, block) = ([1, 1, 1], [32, 1, 1]);
            let config =
                LaunchConfig { kernel, grid, block, dynamic_shared: 0, cluster: None, args };
            let memory = &mut self.memory;
            match self.repeats.verdict(&self.module, &config, None, memory, all) {
                Verdict::Run(pending) => {
                    let outcome = emu::run(&self.module, &config, memory, &Options::default());
                    let outcome = outcome.expect("a launch");
                    self.repeats.ran(pending, &config, &outcome, memory);
                    self.ran += 1;
                    'R'
                }
                Verdict::Done => 'D',
                Verdict::LeaveOut => 'L',
            }
        }

        fn launches(&mut self, kernel: &str, numbers: impl Iterator<Item = i32>) -> String {
            numbers.map(|n| self.launch(kernel, n, false)).collect()
        }
    }

    #[test]
    fn a_launch_on_the_same_memory_is_not_run_again() {
        let mut bench = Bench::new();
        assert_eq!(bench.launches("copy", [32; 5].into_iter()), "RRDDD");
        // What the host changes in between is seen, and so is what it puts back.
        bench.memory.buffers[1].bytes[0] = 9;
        bench.repeats.changed();
        assert_eq!(bench.launch("copy", 32, true), 'R');
        assert_eq!(bench.memory.buffers[0].bytes[0], 9);
        bench.memory.buffers[1].bytes[0] = 3;
        bench.memory.buffers[0].bytes[0] = 3;
        bench.repeats.changed();
        assert_eq!(bench.launch("copy", 32, false), 'D');
        assert_eq!(bench.memory.buffers[0].bytes[0], 3);
        assert_eq!(bench.repeats.left_out().count(), 0);
    }

    #[test]
    fn what_a_known_launch_wrote_is_written_again() {
        let mut bench = Bench::new();
        bench.launch("count", 32, false);
        bench.memory.buffers[0].bytes = [3, 0, 0, 0].repeat(32);
        bench.repeats.changed();
        bench.launch("count", 32, false);
        bench.memory.buffers[0].bytes = [3, 0, 0, 0].repeat(32);
        bench.repeats.changed();
        assert_eq!(bench.launch("count", 32, false), 'D');
        assert_eq!(bench.memory.buffers[0].bytes, [6, 0, 0, 0].repeat(32));
    }

    #[test]
    fn beyond_the_budget_launches_are_left_out_and_counted() {
        let mut bench = Bench::new();
        assert_eq!(bench.launches("count", [32; 8].into_iter()), "RRRLLLLL");
        assert!(bench.repeats.is_stale(0) && !bench.repeats.is_stale(1));
        let left_out: Vec<_> = bench.repeats.left_out().map(|l| (l.3, l.4)).collect();
        assert_eq!(left_out, [(5, 8)]);
        assert_eq!(bench.launch("count", 32, true), 'R', "all of them are wanted");
        bench.repeats.host_reads();
        assert_eq!(bench.launch("count", 32, false), 'R', "the host may go on differently");
        assert_eq!(bench.launch("count", 32, false), 'L');
        bench.repeats.filled(0, true);
        assert!(!bench.repeats.is_stale(0));
    }

    #[test]
    fn launches_whose_results_the_host_reads_are_left_out_when_their_own_budget_is_spent() {
        let mut bench = Bench::new();
        bench.repeats.budget_of_read = 2_000;
        let mut seen = String::new();
        for _ in 0..12 {
            bench.repeats.host_reads();
            seen.push(bench.launch("count", 32, false));
        }
        let run = seen.find('L').expect("some are left out");
        assert!(run > 3 && seen[run..].chars().all(|c| c == 'L'), "{seen}");
    }

    #[test]
    fn other_numbers_are_tried_now_and_then() {
        let mut bench = Bench::new();
        assert_eq!(bench.launches("count", 1..18), "RRRLRLLLRLLLLLLLR");
    }

    #[test]
    fn launches_that_reach_further_than_their_arrays_are_never_left_out() {
        let mut bench = Bench::new();
        assert_eq!(bench.launches("inside", [32; 6].into_iter()), "RRRRRR");
        assert_eq!(bench.launches("tally", [32; 6].into_iter()), "RRRRRR");
    }
}
