//! The numbers of the model that no manual gives, with what they were fitted to.

/// Fitted constants. All but the launch overhead are properties of the model as much as of a GPU, and are used for
/// every GPU; they were fitted on an H200 (see each field).
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Seconds from the start of a kernel's time to its first block's first instruction and from the last block's
    /// end to the end of the time. Fitted: an empty kernel between events.
    pub launch_s: f64,
    /// Extra seconds until a stream from device memory runs at full speed. Fitted: device-to-device copies of 16 MB
    /// to 8.6 GB, whose time is 8 µs plus bytes over bandwidth.
    pub dram_ramp_s: f64,
    /// Share of the data sheet's bandwidth that a copy reaches: 4,253 of 4,800 GB/s.
    pub dram_share: f64,
    /// Blocks that the whole GPU starts a clock. Fitted: stencils of 2 and 4 million blocks of one or two warps.
    pub blocks_per_clock: f64,
    /// Clocks until a block's first instruction, and to retire it. Fitted: stencils of one to 32 cells a thread.
    pub block_start: f64,
    /// Clocks of a barrier, beyond what the slowest warp takes. Fitted.
    pub barrier: f64,
    /// Clocks of a multiprocessor to start a warp: its registers are set up one by one. Fitted: blocks of 1,024 threads
    /// with little work each.
    pub warp_start: f64,
    /// Clocks, times their share of all instructions, of a read of constant memory at an index that changes in a loop, when more blocks are resident than
    /// [`Self::constant_blocks`] and run out of step: the cache of immediate constants then misses. Fitted: convolutions
    /// whose filter loops are not unrolled; the profiler shows 90 % of their stalls to be of this kind.
    pub constant_miss: f64,
    /// Resident blocks up to which such reads hit.
    pub constant_blocks: u32,
    /// Share of L2 that is of use before lines are lost: both halves keep copies of what both read. Fitted.
    pub l2_share: f64,
    /// How much of what resident blocks could share in L1 they do share: they run in step, but not exactly. Fitted.
    pub l1_sharing: f64,
    /// Share of L1 that is of use before lines are lost. Fitted.
    pub l1_share: f64,
    /// Sectors that L2 could move while it executes the atomic operation of one lane. Fitted: additions of rows to 4,096 sums in
    /// device memory by 16,384 blocks, and of ones to 2²⁵ random elements of two arrays.
    pub atomic_lane: f64,
    /// Seconds from one atomic operation on an element to the next. Measured: 2²⁶ keys that meet in one bin in 52.2 ms, 0.78 ns each; of 5.3 x 10⁷
    /// pairs of normal deviates the 47 % that meet in the first ring in 20.4 ms, 0.83 ns.
    pub atomic_turn_s: f64,
    /// Exponent of the norm that joins times that overlap: ∞ would be their maximum, 1 their sum. Fitted.
    pub overlap: f64,
    /// What each resident block beyond the first adds to an exponent of 1 where barriers keep phases apart.
    pub overlap_per_block: f64,
    /// The exponent of one resident block without barriers: its warps start together and run the same code, so that
    /// all of them wait for memory, and then all of them want to issue. Fitted: on an H200, 32 warps of one block with guarded
    /// cells of 65 instructions take 1,220 clocks a cell, which is the 520 of the issue and the 700 of the wait.
    pub overlap_in_step: f64,
    /// What each further block adds to that; blocks do not start at the same time. Fitted: stencils of blocks of 32 to
    /// 1,024 threads.
    pub overlap_out_of_step: f64,
    /// Share of the issue slots that real code reaches (dual use of register banks, instruction fetch). Fitted: the
    /// best matrix products and convolutions.
    pub issue_share: f64,
    /// Of integer instructions, the share that the integer unit itself runs: the assembler writes additions and moves
    /// as multiply-adds, too, which the unit for reals takes. Fitted: stencils, whose instructions are addresses mostly.
    pub integer_unit: f64,
}

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration {
            launch_s: 2.5e-6,
            dram_ramp_s: 4.0e-6,
            dram_share: 0.886,
            blocks_per_clock: 0.837,
            block_start: 800.0,
            barrier: 8.0,
            warp_start: 14.0,
            constant_miss: 75.0,
            constant_blocks: 8,
            l2_share: 0.48,
            l1_sharing: 0.27,
            l1_share: 1.0,
            atomic_lane: 0.7,
            atomic_turn_s: 0.8e-9,
            overlap: 3.7,
            overlap_per_block: 0.62,
            overlap_in_step: 1.2,
            overlap_out_of_step: 0.2,
            issue_share: 0.75,
            integer_unit: 0.64,
        }
    }
}
