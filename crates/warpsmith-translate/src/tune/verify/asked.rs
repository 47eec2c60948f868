//! What a launcher would launch, found without running any kernel.

use std::collections::BTreeSet;

use warpsmith_ir::interp::{LaunchRequest, Launcher, Memory};
use warpsmith_ir::{GlobalId, Module, Way};

use super::witness::{Grids, enlarge};

/// What a launcher gets in place of values of the device where nothing runs: something with which its loops begin, and
/// soon end.
#[derive(Default)]
pub struct Guess {
    asked: usize,
}

impl Guess {
    /// The next answer, of so many bytes.
    ///
    /// # Errors
    /// Where no answer ends the loop.
    pub fn next(&mut self, bytes: u64) -> Result<Vec<u8>, String> {
        self.asked += 1;
        if self.asked > 64 {
            return Err("it depends on data how often a loop of the launcher runs".into());
        }
        let width = bytes as usize;
        let largest = |float: &[u8]| match float.len() == width {
            true => float.to_vec(),
            false => [vec![0xff; width.saturating_sub(1)], vec![0x7f]].concat(),
        };
        let large = |sign: f64| match width {
            8 => largest(&(sign * f64::MAX).to_le_bytes()),
            _ => largest(&(sign as f32 * f32::MAX).to_le_bytes()),
        };
        Ok(match self.asked % 4 {
            1 => large(1.0),
            2 => vec![0; width],
            3 => (0..width).map(|k| u8::from(k == 0)).collect(),
            _ => large(-1.0),
        })
    }
}

/// What a launcher would launch.
#[derive(Debug, Default)]
pub struct Asked {
    pub grids: Grids,
    /// Of all launches together.
    pub threads: u64,
    /// The ways that it takes.
    pub ways: BTreeSet<Way>,
}

/// Takes down what is launched.
pub(super) struct GridRecorder<'a> {
    pub module: &'a Module,
    pub asked: Asked,
    pub guess: Guess,
}

impl Launcher for GridRecorder<'_> {
    fn copy_to_global(&mut self, _: GlobalId, _: Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    fn fetch(&mut self, _: &Memory, _: usize, _: i64, bytes: u64) -> Result<Vec<u8>, String> {
        self.guess.next(bytes)
    }

    fn launch(&mut self, _: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        enlarge(&mut self.asked.grids, &self.module.function(request.kernel).name, request.grid);
        let threads = request.grid.iter().chain(&request.block).map(|n| u64::from(*n));
        let threads = threads.fold(1, u64::saturating_mul);
        self.asked.threads = self.asked.threads.saturating_add(threads);
        Ok(())
    }
}
