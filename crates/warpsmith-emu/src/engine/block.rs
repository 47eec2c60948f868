//! The state of a block: groups of threads with a common program counter, and their registers.

use crate::compile::lir::Program;

/// The most warps that a block has on a device.
pub const DEVICE_WARPS: u32 = 32;
const USUAL: usize = DEVICE_WARPS as usize;

/// The lanes of each warp, one bit each; warps that were never set have none.
#[derive(Clone, Debug, Default)]
pub struct Warps {
    usual: [u32; USUAL],
    /// Those of the blocks that no device takes.
    more: Vec<u32>,
}

impl Warps {
    pub fn len(&self) -> usize {
        USUAL + self.more.len()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &u32> {
        self.usual.iter().chain(&self.more)
    }

    /// Those of both, warp by warp.
    fn with(&self, other: &Warps, both: impl Fn(u32, u32) -> u32) -> Warps {
        let more = USUAL..self.len().max(other.len());
        Warps {
            usual: std::array::from_fn(|w| both(self.usual[w], other.usual[w])),
            more: more.map(|w| both(self[w], other[w])).collect(),
        }
    }
}

impl std::ops::Index<usize> for Warps {
    type Output = u32;

    #[inline(always)]
    fn index(&self, warp: usize) -> &u32 {
        let of_more = || self.more.get(warp - USUAL).unwrap_or(&0);
        self.usual.get(warp).unwrap_or_else(of_more)
    }
}

impl std::ops::IndexMut<usize> for Warps {
    fn index_mut(&mut self, warp: usize) -> &mut u32 {
        if warp < USUAL {
            return &mut self.usual[warp];
        }
        let at = warp - USUAL;
        if self.more.len() <= at {
            self.more.resize(at + 1, 0);
        }
        &mut self.more[at]
    }
}

impl PartialEq for Warps {
    fn eq(&self, other: &Warps) -> bool {
        let mut more = USUAL..self.len().max(other.len());
        self.usual == other.usual && more.all(|w| self[w] == other[w])
    }
}

/// Threads of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mask {
    pub warps: Warps,
}

impl Mask {
    /// The first `threads` threads.
    pub fn first(threads: u32) -> Mask {
        let mut m = Mask::default();
        for warp in 0..threads.div_ceil(32) {
            m.warps[warp as usize] = u32::MAX >> (32 - (threads - 32 * warp).min(32));
        }
        m
    }

    /// Some threads of one warp.
    pub fn of(warp: u32, lanes: u32) -> Mask {
        let mut m = Mask::default();
        m.warps[warp as usize] = lanes;
        m
    }

    pub fn is_empty(&self) -> bool {
        self.warps.iter().all(|w| *w == 0)
    }

    pub fn count(&self) -> u32 {
        self.warps.iter().map(|w| w.count_ones()).sum()
    }

    pub fn without(&self, other: &Mask) -> Mask {
        Mask { warps: self.warps.with(&other.warps, |a, b| a & !b) }
    }

    pub fn or(&self, other: &Mask) -> Mask {
        Mask { warps: self.warps.with(&other.warps, |a, b| a | b) }
    }

    /// Flat numbers of the threads, ascending.
    pub fn threads(&self) -> impl Iterator<Item = u32> + '_ {
        self.warps.iter().enumerate().flat_map(|(w, bits)| {
            (0..32).filter(move |k| bits >> k & 1 == 1).map(move |k| w as u32 * 32 + k)
        })
    }
}

/// Why a group does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Ready,
    /// At a barrier of the block.
    Barrier,
    /// At a warp operation whose other lanes have not come.
    Warp,
    Grid,
    /// At the barrier of the cluster.
    Cluster,
    /// At the barrier with this number.
    Named(u8),
    /// In a loop whose state repeats; runs again when memory changes. Holds the count of changes.
    Spin(u64),
}

/// Threads that run together.
#[derive(Clone, Debug)]
pub struct Group {
    pub pc: u32,
    pub mask: Mask,
    /// All threads that have not ended belong to it.
    pub full: bool,
    /// Warps with threads of the group: `lo..hi`.
    pub lo: u32,
    pub hi: u32,
    pub active: u32,
    pub scalars: Vec<u64>,
    /// Scalars that hold no defined value.
    pub poison: Vec<bool>,
    pub any_poison: bool,
    pub wait: Wait,
    /// Instructions each of its threads has executed, at most.
    pub steps: u64,
    /// Backward jumps since it was chosen to run.
    pub turns: u64,
    pub spin: Spin,
}

/// Watch over a loop for a state that repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spin {
    /// Backward jumps of one loop in a row.
    pub count: u64,
    pub loop_id: u32,
    pub hash: u64,
    pub changes: u64,
    pub armed: bool,
    /// Whether the loop read memory anew that the host may write; `None`: it was not watched.
    pub reads_host: Option<bool>,
}

impl Group {
    /// Brings the derived fields in line with the mask.
    pub fn update(&mut self, alive: &Mask) {
        let w = &self.mask.warps;
        self.lo = w.iter().position(|b| *b != 0).unwrap_or(0) as u32;
        self.hi = w.iter().rev().position(|b| *b != 0).map_or(0, |p| w.len() - p) as u32;
        self.full = self.mask == *alive;
        self.active = self.mask.count();
    }

    /// The scalars that are live at the program counter agree, so the groups can go on as one.
    pub fn agrees(&self, other: &Group, program: &Program) -> bool {
        let at = program.live_at.get(self.pc as usize).copied().unwrap_or(u32::MAX);
        match program.live.get(at as usize) {
            Some(live) => live.iter().all(|&s| {
                let s = s as usize;
                self.scalars[s] == other.scalars[s] && self.poison[s] == other.poison[s]
            }),
            None => self.scalars == other.scalars && self.poison == other.poison,
        }
    }

    pub fn join(&mut self, other: &Group) {
        self.mask = self.mask.or(&other.mask);
        self.steps = self.steps.max(other.steps);
        self.any_poison |= other.any_poison;
        self.turns = 0;
        let reads_host = self.spin.reads_host.zip(other.spin.reads_host).map(|(a, b)| a || b);
        self.spin = Spin { reads_host, ..Spin::default() };
    }
}

/// A block that is being executed.
pub struct Block {
    pub id: u32,
    pub coords: [u32; 3],
    /// Lane vectors: the word `o` of lane `l` is at `o * width + l`; wide values take two rows.
    pub registers: Vec<u64>,
    /// Room for results that are blended into a vector: three wide vectors.
    pub scratch: Vec<u64>,
    /// Undefined lanes of each register row, one word a warp.
    pub poison: Vec<u32>,
    /// For each register row: the origin of its poison plus one; 0: all lanes are defined.
    pub origin: Vec<u32>,
    pub groups: Vec<Group>,
    pub alive: Mask,
    /// Where each thread ended; `u32::MAX` while it runs.
    pub exits: Vec<u32>,
    pub shared: Vec<u8>,
    /// One for each byte: undefined. Empty when not looked for.
    pub shared_poison: Vec<u8>,
    /// Undefined bytes left in the whole of shared memory.
    pub shared_undefined: u64,
    /// Word `o / 4` of lane `l` is at `o / 4 * width + l`.
    pub local: Vec<u32>,
    pub local_poison: Vec<u8>,
    pub local_undefined: bool,
    pub interval: u32,
    pub printed: Vec<(u32, String)>,
    pub checks: super::order::BlockOrder,
    pub copies: super::copies::Copies,
    pub named: super::named_barriers::NamedBarriers,
    pub done: bool,
    /// Its threads failed to meet, and it was stopped.
    pub abandoned: bool,
}

impl Block {
    /// Bytes that a block takes.
    pub fn bytes(program: &Program, width: u32, checks: bool) -> u64 {
        let w = u64::from(width);
        let registers = (u64::from(program.register_words) + 6) * w * 4;
        let shadow = if checks { 6 } else { 0 };
        registers
            + u64::from(program.shared_bytes) * (1 + shadow)
            + u64::from(program.local_bytes) * w * 2
            + 4096
    }

    /// The first lane of a register row.
    #[inline(always)]
    pub fn row(&mut self, offset: u32, width: u32) -> *mut u32 {
        debug_assert!((offset + 1) * width <= self.registers.len() as u32 * 2);
        // The offset is one that register assignment gave out, so the row lies inside.
        self.registers.as_mut_ptr().cast::<u32>().wrapping_add((offset * width) as usize)
    }

    /// One lane of a register. Panics where there is no such register or lane.
    #[inline(always)]
    pub fn lane(&self, offset: u32, width: u32, wide: bool, lane: u32) -> u64 {
        assert!(lane < width, "a lane of the block");
        match wide {
            false => self.word(offset * width + lane).into(),
            true => {
                let low = offset * width + 2 * lane;
                u64::from(self.word(low)) | u64::from(self.word(low + 1)) << 32
            }
        }
    }

    /// Sets what [`Block::lane`] gives.
    #[inline(always)]
    pub fn set_lane(&mut self, offset: u32, width: u32, wide: bool, lane: u32, value: u64) {
        assert!(lane < width, "a lane of the block");
        match wide {
            false => self.set_word(offset * width + lane, value as u32),
            true => {
                let low = offset * width + 2 * lane;
                self.set_word(low, value as u32);
                self.set_word(low + 1, (value >> 32) as u32);
            }
        }
    }

    #[inline(always)]
    fn word(&self, at: u32) -> u32 {
        (self.registers[at as usize / 2] >> half(at)) as u32
    }

    #[inline(always)]
    fn set_word(&mut self, at: u32, value: u32) {
        let of_two = &mut self.registers[at as usize / 2];
        *of_two = *of_two & !(0xffff_ffff << half(at)) | u64::from(value) << half(at);
    }
}

/// How far a word of 32 bits is from the low end of the 64 bits that it shares with a neighbour in memory.
fn half(word: u32) -> u32 {
    let second = word % 2 == 1;
    if second == cfg!(target_endian = "little") { 32 } else { 0 }
}
