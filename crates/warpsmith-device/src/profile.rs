//! What a kernel does, as counts: the input of the model.
//!
//! All counts are totals of one launch. An instruction is counted once a warp, not once a lane, as the vendor's
//! profiler counts (`smsp__inst_executed…`); sectors and wavefronts are counted as there too. Counts are floating-point
//! numbers because analyses average over warps.

use crate::architecture::Architecture;
use crate::occupancy::BlockShape;

/// A launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelProfile {
    /// Blocks along x, y and z; where blocks go over several tiles, those.
    pub grid: [u64; 3],
    /// Blocks that are started, where these go over the tiles of the grid in strides: so many run at a time at most.
    pub resident: Option<u64>,
    /// Threads a block.
    pub block_threads: u32,
    /// Registers a thread, from the assembler or estimated. More than a block of this size can have means spilling.
    pub registers: u32,
    /// Bytes a thread spills according to the assembler (stores and loads together).
    pub spill_bytes: u32,
    /// How often a thread runs through the code that spills: the trip count of the loop around it, 1 if unknown.
    pub spill_executions: f64,
    /// Static shared memory a block in bytes.
    pub shared_static: u32,
    /// Dynamic shared memory a block in bytes.
    pub shared_dynamic: u32,
    /// Instructions by class.
    pub work: Work,
    /// Shared-memory traffic.
    pub shared: SharedTraffic,
    /// Global-memory traffic, one entry an access or a group of accesses to one array.
    pub global: Vec<GlobalTraffic>,
    /// How much of it is independent.
    pub parallelism: Parallelism,
}

impl KernelProfile {
    /// Blocks of the launch.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1u64, |product, axis| product.saturating_mul(*axis))
    }

    /// Blocks that are started.
    pub fn started(&self) -> u64 {
        self.resident.map_or(self.blocks(), |most| most.min(self.blocks()))
    }

    /// Warps a block.
    pub fn warps_per_block(&self) -> u32 {
        self.block_threads.div_ceil(32)
    }

    /// What a block takes of a multiprocessor.
    pub fn block_shape(&self) -> BlockShape {
        BlockShape {
            threads: self.block_threads,
            registers: self.registers,
            shared_static: self.shared_static,
            shared_dynamic: self.shared_dynamic,
        }
    }

    /// Whether every count is a number that a launch can have: finite, not negative.
    pub fn is_sane(&self) -> bool {
        let (w, s, p) = (&self.work, &self.shared, &self.parallelism);
        let counts = [
            w.fp32,
            w.fp64,
            w.fp16,
            w.int,
            w.sfu,
            w.control,
            w.shuffles,
            w.barriers,
            w.waits,
            w.constants,
        ];
        let traffic = [s.loads, s.stores, s.wavefronts, self.spill_executions];
        let independent =
            [p.arithmetic, p.global_loads, p.shared_loads, p.copies_ahead, p.longest_block];
        let access = |g: &GlobalTraffic| {
            let bytes = [g.block_bytes, g.reuse_bytes, g.grid_bytes, g.between_passes];
            [g.requests, g.sectors, g.wavefronts, g.lanes, g.lanes_an_element]
                .into_iter()
                .chain(bytes)
        };
        let mut all = counts.iter().chain(&traffic).chain(&independent);
        let sane = |count: &f64| count.is_finite() && *count >= 0.0;
        all.all(sane) && self.global.iter().all(|g| access(g).all(|count| sane(&count)))
    }
}

/// Warp instructions by the unit that runs them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Single-precision additions, multiplications, fused multiply-adds, comparisons, minima.
    pub fp32: f64,
    /// The same in double precision.
    pub fp64: f64,
    /// Half precision; an instruction on a packed pair counts once.
    pub fp16: f64,
    /// Integer arithmetic, logic, address computation, predicates.
    pub int: f64,
    /// Reciprocals, roots, exponentials, sines, and conversions between integers and reals.
    pub sfu: f64,
    /// Branches, loop ends, votes.
    pub control: f64,
    /// Warp shuffles.
    pub shuffles: f64,
    /// Block-wide barriers, once for every warp that arrives.
    pub barriers: f64,
    /// Waits for asynchronous copies, once for every warp that waits.
    pub waits: f64,
    /// Reads of constant memory at an index that changes in a loop, once a warp: unrolled code has the addresses in its
    /// instructions and pays nothing.
    pub constants: f64,
}

/// Shared memory, as warp instructions and as what the banks do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SharedTraffic {
    /// Load requests: warp instructions.
    pub loads: f64,
    /// Store and atomic requests.
    pub stores: f64,
    /// Wavefronts of all of them: 1 a request without conflicts and with 4 bytes a lane, 4 with 16 bytes a lane, and
    /// as many times that as the worst bank has different words.
    pub wavefronts: f64,
}

/// What an access to global memory does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrafficKind {
    /// Through L1 to a register.
    #[default]
    Load,
    /// Through to L2.
    Store,
    /// Executed in L2.
    Atomic,
    /// `cp.async`, to shared memory past the registers; 16-byte copies pass L1 too.
    AsyncCopy,
}

/// One global access, or several to one array that share sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GlobalTraffic {
    /// Load, store, atomic operation or asynchronous copy.
    pub kind: TrafficKind,
    /// Warp instructions.
    pub requests: f64,
    /// 32-byte sectors that the requests ask for, each request counted for itself.
    pub sectors: f64,
    /// L1 wavefronts of those requests: tags lie in four banks by the number of the 128-byte line, and a wavefront
    /// looks up one line of each and moves four sectors at most. Coalesced floats take 1; lanes a multiple of 512
    /// bytes apart take as many as there are lines. Filled by [`l1_wavefronts`] from addresses.
    pub wavefronts: f64,
    /// Bytes of the different sectors that one block touches.
    pub block_bytes: f64,
    /// Bytes that a block touches between two uses of the same sector, by which L1 is judged: 0 when no sector is
    /// used twice, one plane for a stencil that streams through planes, everything when all is used again at the end.
    pub reuse_bytes: f64,
    /// Bytes of the different sectors that the whole grid touches.
    pub grid_bytes: f64,
    /// Bytes of all arrays that a block touches between an earlier access of another loop to the same sectors and this one, as of the second
    /// pass over a row: 0 where nothing has read them before.
    pub between_passes: f64,
    /// Lanes that take part in the requests, summed: asked of atomic operations, which L2 executes one by one.
    pub lanes: f64,
    /// Of atomic operations, lanes that update one element, on average: one waits for the other.
    pub lanes_an_element: f64,
    /// Along which grid axes the touched bytes differ. For A of a matrix product only along y: all blocks of a row
    /// of blocks read the same.
    pub varies: [bool; 3],
}

/// L1 wavefronts of one request, from the byte addresses of its active lanes and the bytes a lane.
///
/// Measured: on an H200, a warp that touches eight lines takes eight wavefronts when they are a multiple of four lines
/// apart, and about three when they are not.
pub fn l1_wavefronts(addresses: impl IntoIterator<Item = u64>, bytes: u64) -> f64 {
    let sector = u64::from(Architecture::SECTOR);
    let per_line = u64::from(Architecture::LINE) / sector;
    let mut touched: Vec<u64> = vec![];
    for address in addresses {
        touched.extend(address / sector..=address.saturating_add(bytes.saturating_sub(1)) / sector);
    }
    touched.sort_unstable();
    touched.dedup();
    let mut lines: Vec<u64> = touched.iter().map(|s| s / per_line).collect();
    lines.dedup();
    let bank = |b: u64| lines.iter().filter(|line| **line % 4 == b).count();
    let tags = (0..4).map(bank).max().unwrap_or(0) as f64;
    tags.max(touched.len() as f64 / 4.0)
}

/// What a request to shared memory costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BankUse {
    /// Passes over the banks.
    pub wavefronts: u32,
    /// Without conflicts.
    pub ideal: u32,
}

/// Wavefronts of one request to shared memory, from the byte addresses of the lanes of a warp (`None`: not active) and
/// the bytes a lane. A wavefront takes one 4-byte word from each of 32 banks, for all lanes that want it; `atomic`
/// accesses of several lanes to one word take turns.
///
/// Half a warp is served at a time where lanes want 8 bytes, and a quarter where they want 16; but two neighbouring
/// parts together, when each lane of both wants the same as the lane next to it, or each the same as the next but one.
/// Measured on an H200.
pub fn shared_wavefronts(lanes: &[Option<u64>], bytes: u64, atomic: bool) -> BankUse {
    let width = match bytes {
        16.. => 8,
        8.. => 16,
        _ => 32,
    };
    let mut all = BankUse::default();
    let mut serve = |lanes: &[Option<u64>]| {
        let of = |a: &u64| a / 4..=a.saturating_add(bytes.saturating_sub(1)) / 4;
        let mut words: Vec<u64> = lanes.iter().flatten().flat_map(of).collect();
        words.sort_unstable();
        if !atomic {
            words.dedup();
        }
        let mut banks = [0u32; 32];
        words.iter().for_each(|w| banks[(w % 32) as usize] += 1);
        all.wavefronts += banks.into_iter().max().unwrap_or(0);
        all.ideal += u32::from(!words.is_empty());
    };
    for pair in lanes.chunks(2 * width) {
        let same = |(a, b): (&Option<u64>, &Option<u64>)| a.is_none() || b.is_none() || a == b;
        let neighbours = pair.chunks_exact(2).all(|c| same((&c[0], &c[1])));
        let crossed = pair.chunks_exact(4).all(|c| same((&c[0], &c[2])) && same((&c[1], &c[3])));
        match width == 32 || neighbours || crossed {
            true => serve(pair),
            false => pair.chunks(width).for_each(&mut serve),
        }
    }
    all
}

/// How much a thread has to do at the same time: what hides latency besides other warps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parallelism {
    /// Independent chains of arithmetic, for instance the accumulators of a thread.
    pub arithmetic: f64,
    /// Global loads that a thread has issued before it needs the first.
    pub global_loads: f64,
    /// Shared loads that a thread has issued before it needs the first.
    pub shared_loads: f64,
    /// Between the start of an asynchronous copy and the wait for it, the waits for other copies: 0 where a copy is
    /// waited for at once, 1 with two strips in shared memory.
    pub copies_ahead: f64,
    /// Share of a block's warps that have the work; the others wait for them.
    pub busy_warps: f64,
    /// What the longest block has to do, as a multiple of what blocks have on average: 2 where the work grows from nothing
    /// along the grid, as in a product with a triangle.
    pub longest_block: f64,
}

impl Default for Parallelism {
    fn default() -> Parallelism {
        Parallelism {
            arithmetic: 1.0,
            global_loads: 1.0,
            shared_loads: 1.0,
            copies_ahead: 0.0,
            busy_warps: 1.0,
            longest_block: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavefronts_follow_lines_and_their_banks() {
        let lanes = |stride: u64| (0..32).map(move |lane| lane * stride);
        assert_eq!(l1_wavefronts(lanes(4), 4), 1.0, "coalesced floats");
        assert_eq!(l1_wavefronts(lanes(16), 16), 4.0, "coalesced float4");
        assert_eq!(l1_wavefronts(lanes(0), 4), 1.0, "a broadcast");
        assert_eq!(l1_wavefronts(lanes(128), 4), 8.0, "32 lines over four banks");
        assert_eq!(l1_wavefronts(lanes(512), 4), 32.0, "32 lines in one bank");
        assert_eq!(l1_wavefronts([], 4), 0.0);
        assert_eq!(l1_wavefronts([u64::MAX], 8), 1.0, "no overflow");
    }

    #[test]
    fn wavefronts_of_shared_memory_follow_banks() {
        let request = |bytes: u64, f: &dyn Fn(u64) -> u64| {
            let lanes: Vec<Option<u64>> = (0..32).map(|k| Some(f(k))).collect();
            let used = shared_wavefronts(&lanes, bytes, false);
            (used.wavefronts, used.ideal)
        };
        // The table in bench/NOTES.md, cycles a request.
        assert_eq!(request(4, &|k| 4 * k), (1, 1), "a row");
        assert_eq!(request(4, &|_| 64), (1, 1), "one address");
        assert_eq!(request(4, &|k| 8 * k), (2, 1), "every other word");
        assert_eq!(request(4, &|k| 128 * k), (32, 1), "a column of 32");
        assert_eq!(request(8, &|k| 8 * k), (2, 2), "a row of doubles");
        assert_eq!(request(8, &|k| 16 * k), (4, 2), "every other double");
        assert_eq!(request(8, &|k| k / 2 * 8), (1, 1), "two neighbours alike");
        assert_eq!(request(8, &|k| k % 16 * 8), (2, 2), "both halves of the warp alike");
        assert_eq!(request(16, &|k| 16 * k), (4, 4), "a row of float4");
        assert_eq!(request(16, &|k| k / 8 * 16), (2, 2), "eight neighbours alike");
        assert_eq!(request(16, &|k| k % 2 * 16), (2, 2), "every other lane alike");
        assert_eq!(request(16, &|k| k % 8 * 16), (4, 4), "quarters alike");
        assert_eq!(request(16, &|k| k / 8 * 128), (4, 2), "eight alike, groups in one bank");
        let one = |k: u64| (k == 5).then_some(u64::MAX - 2);
        let lanes: Vec<Option<u64>> = (0..32).map(one).collect();
        assert_eq!(shared_wavefronts(&lanes, 4, false).wavefronts, 1, "no overflow");
        assert_eq!(shared_wavefronts(&[None; 32], 16, false), BankUse::default());
        let counter = shared_wavefronts(&[Some(8); 32], 4, true);
        assert_eq!((counter.wavefronts, counter.ideal), (32, 1), "one counter");
    }

    #[test]
    fn absurd_counts_are_noticed() {
        let mut profile = KernelProfile::default();
        assert!(profile.is_sane());
        profile.work.fp32 = f64::NAN;
        assert!(!profile.is_sane());
        profile.work.fp32 = 0.0;
        profile.global = vec![GlobalTraffic { sectors: -1.0, ..GlobalTraffic::default() }];
        assert!(!profile.is_sane());
    }
}
