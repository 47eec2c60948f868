//! Kernels measured on an H200 (`calibration/measure.py`), with the profile counted from their parameters.

// Each of the programs that share this file needs another part of it.
#![allow(dead_code)]

use warpsmith_device::{
    GlobalTraffic, KernelProfile, Parallelism, SharedTraffic, TrafficKind, Work,
};

/// One measured kernel.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub family: String,
    /// Its parameters, as measure.py names them.
    pub config: String,
    pub profile: KernelProfile,
    /// Median time of a launch.
    pub seconds: f64,
    /// Dynamic shared memory and the driver's resident blocks a multiprocessor.
    pub occupancy: Vec<(u32, u32)>,
    /// Bytes of local memory a thread.
    pub local: u32,
}

/// All of them, in the file's order.
pub fn all() -> Vec<Recorded> {
    let text = include_str!("../data/h200.csv");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    lines.map(|line| row(&columns, line)).collect()
}

fn row(columns: &[&str], line: &str) -> Recorded {
    let cells: Vec<&str> = line.split(',').collect();
    let text = |name: &str| cells[columns.iter().position(|c| *c == name).expect(name)];
    let number = |name: &str| text(name).parse::<f64>().expect(name);
    let whole = |name: &str| text(name).parse::<u32>().expect(name);
    let pairs = text("occupancy").split(' ').map(|pair| pair.split_once(':').expect("a pair"));
    let profile = KernelProfile {
        grid: ["gx", "gy", "gz"].map(|axis| u64::from(whole(axis))),
        block_threads: whole("threads"),
        registers: whole("registers"),
        shared_static: whole("shared"),
        work: Work {
            fp32: number("fp32"),
            int: number("int"),
            control: number("control"),
            barriers: number("barriers"),
            constants: number("constants"),
            ..Work::default()
        },
        shared: SharedTraffic {
            loads: number("shared_loads"),
            stores: number("shared_stores"),
            wavefronts: number("shared_wavefronts"),
        },
        global: text("accesses").split(' ').map(access).collect(),
        parallelism: Parallelism {
            arithmetic: number("ilp"),
            global_loads: number("load_ilp"),
            shared_loads: number("shared_ilp"),
            ..Parallelism::default()
        },
        ..KernelProfile::default()
    };
    Recorded {
        family: text("family").to_string(),
        config: text("config").to_string(),
        profile,
        seconds: number("ms") / 1e3,
        occupancy: pairs
            .map(|(d, b)| (d.parse().expect("bytes"), b.parse().expect("blocks")))
            .collect(),
        local: whole("local"),
    }
}

fn access(text: &str) -> GlobalTraffic {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |i: usize| parts[i].parse::<f64>().expect("a count");
    GlobalTraffic {
        kind: if parts[0] == "store" { TrafficKind::Store } else { TrafficKind::Load },
        requests: number(1),
        sectors: number(2),
        wavefronts: number(3),
        block_bytes: number(4),
        reuse_bytes: number(5),
        between_passes: 0.0,
        grid_bytes: number(6),
        varies: ['x', 'y', 'z'].map(|axis| parts[7].contains(axis)),
        ..GlobalTraffic::default()
    }
}

/// Spearman's rank correlation; ties get the mean of their ranks.
pub fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let a = ranks(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let b = ranks(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let dot = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(p, q)| (p - mean) * (q - mean)).sum()
    };
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let first = order.iter().position(|i| i == &group[0]).expect("one of them");
        for i in group {
            ranks[*i] = first as f64 + (group.len() as f64 - 1.0) / 2.0;
        }
    }
    ranks
}
