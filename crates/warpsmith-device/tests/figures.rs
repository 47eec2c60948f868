//! Well-known kernels on an H200 whose times are known from elsewhere: profiles put together by hand from their
//! descriptions, times within a factor of 2, and in the right order.

use warpsmith_device::{
    Bound, GlobalTraffic, Gpu, KernelProfile, Parallelism, Prediction, SharedTraffic, TrafficKind,
    Work, predict,
};

fn on_h200(profile: &KernelProfile) -> Prediction {
    predict(Gpu::find("H200").expect("it is in the table"), profile).expect("it can be launched")
}

/// Asserts that the times are within a factor of 2 of the measured ones, and in the same order.
fn check(kernels: &[(&str, KernelProfile, f64)]) {
    let mut last = f64::INFINITY;
    for (name, profile, measured) in kernels {
        let predicted = on_h200(profile);
        let ratio = predicted.time_s / measured;
        let parts = &predicted.parts[..4];
        assert!((0.5..2.0).contains(&ratio), "{name}: {ratio:.2} of {measured:.3e} s, {parts:?}");
        assert!(predicted.time_s < last, "{name} is not faster than the one before: {parts:?}");
        last = predicted.time_s;
    }
}

/// A product of 4096² matrices by tiles that are staged in shared memory.
struct Tiles {
    /// Tile of a block: rows, columns, depth.
    tile: [u64; 3],
    /// Outputs of a thread.
    outputs: u64,
    /// Shared loads a thread and step of depth, and their wavefronts.
    loads: f64,
    wavefronts: f64,
    registers: u32,
    /// Copies that a thread has under way at a time.
    in_flight: f64,
    /// Barriers a step of tiles.
    barriers: f64,
}

const N: u64 = 4096;

fn product(t: &Tiles) -> KernelProfile {
    let [rows, columns, depth] = t.tile;
    let grid = [N / columns, N / rows, 1];
    let blocks = (grid[0] * grid[1]) as f64;
    let threads = (rows * columns / t.outputs) as u32;
    let warps = blocks * f64::from(threads) / 32.0;
    let n = N as f64;
    let copied = blocks * n * (rows + columns) as f64 / 32.0;
    let operand = |tile: u64, varies| GlobalTraffic {
        kind: TrafficKind::Load,
        requests: blocks * n * tile as f64 / 32.0 / 4.0,
        sectors: blocks * n * tile as f64 / 8.0,
        wavefronts: blocks * n * tile as f64 / 32.0,
        block_bytes: n * tile as f64 * 4.0,
        reuse_bytes: 0.0,
        between_passes: 0.0,
        grid_bytes: n * n * 4.0,
        varies,
        ..GlobalTraffic::default()
    };
    KernelProfile {
        grid,
        block_threads: threads,
        registers: t.registers,
        shared_static: ((rows + columns) * depth * 4) as u32,
        work: Work {
            fp32: warps * t.outputs as f64 * n,
            int: warps * n / depth as f64 * 20.0,
            control: warps * n / depth as f64 * 2.0,
            barriers: warps * n / depth as f64 * t.barriers,
            ..Work::default()
        },
        shared: SharedTraffic {
            loads: warps * n * t.loads,
            stores: copied / 4.0,
            wavefronts: warps * n * t.wavefronts + copied,
        },
        global: vec![operand(rows, [false, true, false]), operand(columns, [true, false, false])],
        parallelism: Parallelism {
            arithmetic: t.outputs as f64,
            global_loads: t.in_flight,
            shared_loads: t.loads * 2.0,
            ..Parallelism::default()
        },
        ..KernelProfile::default()
    }
}

/// The first kernel of every course with its indices the wrong way round: neighbouring threads compute neighbouring
/// rows, so each read of A touches 32 lines that are 16 KiB apart.
fn naive() -> KernelProfile {
    let (n, warps) = (N as f64, (N * N / 32) as f64);
    let read = |sectors: f64, wavefronts: f64, varies| GlobalTraffic {
        kind: TrafficKind::Load,
        requests: warps * n,
        sectors: warps * n * sectors,
        wavefronts: warps * n * wavefronts,
        block_bytes: 32.0 * n * 4.0,
        reuse_bytes: 32.0 * 32.0 + 8.0 * 128.0,
        between_passes: 0.0,
        grid_bytes: n * n * 4.0,
        varies,
        ..GlobalTraffic::default()
    };
    KernelProfile {
        grid: [N / 32, N / 32, 1],
        block_threads: 1024,
        registers: 32,
        work: Work { fp32: warps * n, int: warps * n, control: warps * n / 4.0, ..Work::default() },
        global: vec![read(32.0, 32.0, [true, false, false]), read(1.0, 1.0, [false, true, false])],
        parallelism: Parallelism {
            arithmetic: 1.0,
            global_loads: 8.0,
            shared_loads: 1.0,
            ..Parallelism::default()
        },
        ..KernelProfile::default()
    }
}

#[test]
fn matrix_products_from_naive_to_the_best_known() {
    let seconds = |tflops: f64| 2.0 * (N as f64).powi(3) / (tflops * 1e12);
    // One output a thread: both operands from shared memory for every multiplication.
    let square = Tiles {
        tile: [32, 32, 32],
        outputs: 1,
        loads: 1.25,
        wavefronts: 2.0,
        registers: 32,
        in_flight: 2.0,
        barriers: 2.0,
    };
    // 8×8 outputs a thread, float4 reads; threads of a warp 32 bytes apart, which conflicts two ways.
    let register_tiles = Tiles {
        tile: [128, 128, 8],
        outputs: 64,
        loads: 4.0,
        wavefronts: 24.0,
        registers: 128,
        in_flight: 2.0,
        barriers: 2.0,
    };
    // 8×16 outputs a thread, the threads of a warp in a tile of their own: fewer reads an output.
    let warp_tiles = Tiles {
        tile: [128, 128, 16],
        outputs: 128,
        loads: 6.0,
        wavefronts: 24.0,
        registers: 200,
        in_flight: 8.0,
        barriers: 2.0,
    };
    // The same amount a thread without conflicts, the next tile copied meanwhile: one barrier a tile.
    let best = Tiles {
        tile: [64, 256, 16],
        outputs: 128,
        loads: 6.0,
        wavefronts: 16.0,
        registers: 240,
        in_flight: 40.0,
        barriers: 1.0,
    };
    check(&[
        ("naive", naive(), seconds(0.50)),
        ("square tiles", product(&square), seconds(9.1)),
        ("register tiles", product(&register_tiles), seconds(31.4)),
        ("warp tiles", product(&warp_tiles), seconds(36.2)),
        ("the best known", product(&best), seconds(48.3)),
    ]);
    assert_eq!(on_h200(&naive()).bound, Bound::L1);
}

/// Each byte of an image once, by the blocks of both axes.
fn of_image(bytes: f64) -> GlobalTraffic {
    GlobalTraffic {
        reuse_bytes: 0.0,
        between_passes: 0.0,
        grid_bytes: bytes,
        varies: [true, true, false],
        ..GlobalTraffic::default()
    }
}

/// A convolution of a 4096² image with a square filter, the tile with its halo in shared memory, rows of it streamed
/// through registers for all outputs of a thread.
fn convolution(filter: u64, block: [u64; 2], outputs: [u64; 2]) -> KernelProfile {
    let halo = filter - 1;
    let tile = [block[0] * outputs[0], block[1] * outputs[1]];
    let grid = [N / tile[0], N / tile[1], 1];
    let blocks = (grid[0] * grid[1]) as f64;
    let threads = (block[0] * block[1]) as u32;
    let warps = blocks * f64::from(threads) / 32.0;
    let words = ((tile[0] + halo) * (tile[1] + halo)) as f64;
    let each = (outputs[0] * outputs[1]) as f64;
    // Rows that a thread reads, each as whole float4: four wavefronts a request.
    let loads = (outputs[1] + halo) as f64 * (outputs[0] + halo).div_ceil(4) as f64;
    let image = (N * N) as f64 * 4.0;
    KernelProfile {
        grid,
        block_threads: threads,
        registers: 64,
        shared_static: (words * 4.0) as u32,
        work: Work {
            fp32: warps * each * (filter * filter) as f64,
            int: blocks * words / 32.0 * 4.0 + warps * 20.0,
            control: blocks * words / 32.0,
            barriers: warps,
            ..Work::default()
        },
        shared: SharedTraffic {
            loads: warps * loads,
            stores: blocks * words / 32.0,
            wavefronts: warps * loads * 4.0 + blocks * words / 32.0,
        },
        global: vec![
            GlobalTraffic {
                kind: TrafficKind::AsyncCopy,
                requests: blocks * words / 32.0,
                sectors: blocks * words / 8.0 * 1.2,
                wavefronts: blocks * words / 32.0 * 1.2,
                block_bytes: words * 4.0 * 1.2,
                ..of_image(image)
            },
            GlobalTraffic {
                kind: TrafficKind::Store,
                requests: warps * each / 4.0,
                sectors: image / 32.0,
                wavefronts: warps * each,
                block_bytes: image / blocks,
                ..of_image(image)
            },
        ],
        parallelism: Parallelism {
            arithmetic: each,
            global_loads: 8.0,
            shared_loads: 4.0,
            ..Parallelism::default()
        },
        ..KernelProfile::default()
    }
}

#[test]
fn convolutions_of_three_sizes() {
    let seconds =
        |filter: u64, tflops: f64| 2.0 * (filter * filter * N * N) as f64 / (tflops * 1e12);
    check(&[
        ("17×17", convolution(17, [16, 16], [4, 2]), seconds(17, 51.7)),
        ("11×11", convolution(11, [8, 16], [8, 2]), seconds(11, 42.2)),
        ("5×5", convolution(5, [16, 16], [4, 2]), seconds(5, 17.7)),
    ]);
}

/// A copy of so many bytes, read plus written, by threads of one float4 each.
fn copy(moved: f64) -> KernelProfile {
    let blocks = (moved / 2.0 / 16.0 / 256.0).ceil();
    let half = |kind| GlobalTraffic {
        kind,
        requests: moved / 2.0 / 512.0,
        sectors: moved / 2.0 / 32.0,
        wavefronts: moved / 2.0 / 128.0,
        block_bytes: 4096.0,
        reuse_bytes: 0.0,
        between_passes: 0.0,
        grid_bytes: moved / 2.0,
        varies: [true, false, false],
        ..GlobalTraffic::default()
    };
    KernelProfile {
        grid: [blocks as u64, 1, 1],
        block_threads: 256,
        registers: 16,
        work: Work { int: blocks * 8.0 * 8.0, ..Work::default() },
        global: vec![half(TrafficKind::Load), half(TrafficKind::Store)],
        ..KernelProfile::default()
    }
}

/// Copies between 16 MB and 8.6 GB: small ones are far from the full bandwidth.
#[test]
fn copies_reach_the_measured_bandwidth_of_their_size() {
    let measured =
        [(16e6, 1209e9), (128e6, 3498e9), (302e6, 3756e9), (872e6, 4077e9), (8.6e9, 4253e9)];
    for (bytes, bandwidth) in measured {
        let predicted = on_h200(&copy(bytes));
        let ratio = bytes / predicted.time_s / bandwidth;
        assert!((0.7..1.4).contains(&ratio), "{bytes:e}: {ratio:.2} {:?}", &predicted.parts[..3]);
        assert_eq!(predicted.bound, Bound::Dram, "{bytes:e}");
    }
}
