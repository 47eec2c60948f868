//! A place where candidates are checked and timed: a device, reached through worker processes.
//!
//! Each task has a worker of its own, so that its memory stays on the device. A worker that is lost is started again; the
//! candidate it was busy with gets a second chance, because a worker may be ended from outside, and is to blame when it
//! takes down a second one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use warpsmith_gpu::client::{NO_BLOBS, Start, Worker, WorkerError};
use warpsmith_gpu::protocol::{
    Candidate, Element, Hello, Invalid, Limits, Measured, Output, Policy, Product, Reason,
    Reference, Reply, Request,
};
use warpsmith_gpu::stop::Stop;

use super::{Compared, Workload};
use crate::data::scalar_from_bytes;
use crate::elements::scalar_of;

/// A compiled text with its launches for one task.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What the worker is asked to launch.
    pub candidate: Candidate,
    /// The compiled text.
    pub binary: Arc<Vec<u8>>,
}

/// The runs that gave the right outputs, one for each task, shared by all stations.
pub type References = Vec<Mutex<Option<Prepared>>>;

/// Time for starting a worker and for handing it the problem.
const SETUP: Duration = Duration::from_secs(120);
/// Elements of each output that tell how large its values are.
const SAMPLES: u64 = 4096;
/// 2³² by the golden ratio: multiples of it lie all over any stretch.
const SPREAD: u64 = 0x9E37_79B9;

pub struct Station {
    start: Start,
    /// For one request about candidates.
    limit: Duration,
    workload: Arc<dyn Workload>,
    references: Arc<References>,
    hello: Hello,
    /// A worker for each task.
    seats: Vec<Seat>,
    /// Ends what is under way.
    stop: Stop,
    /// It has ended something: no fault of the candidate or of the device.
    halted: bool,
}

#[derive(Default)]
struct Seat {
    worker: Option<Worker>,
    /// It knows the right outputs.
    instructed: bool,
}

/// Why a station cannot go on.
#[derive(Debug)]
pub struct Lost(pub String);

/// What a candidate may take at a task.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// For checking and timing it.
    pub limit: Duration,
    pub policy: Policy,
}

impl Station {
    /// Starts the workers, but for the first where it runs already, and hands them the problems.
    ///
    /// # Errors
    /// A worker does not start, or the device has no room.
    pub fn start(
        start: Start,
        greeted: Option<(Worker, Hello)>,
        limit: Duration,
        workload: Arc<dyn Workload>,
        references: Arc<References>,
        stop: Stop,
    ) -> Result<Station, Lost> {
        let was_greeted = greeted.is_some();
        let (worker, hello) = match greeted {
            Some(greeted) => greeted,
            None => Worker::start_until(&start, SETUP, &stop).map_err(|e| Lost(e.to_string()))?,
        };
        let mut seats: Vec<Seat> = workload.tasks().iter().map(|_| Seat::default()).collect();
        let mut station = {
            if let Some(first) = seats.first_mut() {
                first.worker = Some(worker);
            }
            Station { start, limit, workload, references, hello, seats, stop, halted: false }
        };
        for task in 0..station.seats.len() {
            match station.set_up(task) {
                // It may have been ended while nobody looked.
                Err(_) if task == 0 && was_greeted && station.seats[0].worker.is_none() => {
                    station.set_up(task)?;
                }
                done => done?,
            }
        }
        Ok(station)
    }

    /// Whether something was ended because nobody waits for it any more; its result says nothing.
    pub fn was_halted(&self) -> bool {
        self.halted
    }

    /// The device and its software.
    pub fn device(&self) -> &Hello {
        &self.hello
    }

    /// A worker with the problem and, where they are known, the right outputs.
    fn set_up(&mut self, task: usize) -> Result<(), Lost> {
        if self.seats[task].worker.is_none() {
            let started = Worker::start_until(&self.start, SETUP, &self.stop);
            self.halted |= matches!(started, Err(WorkerError::Stopped));
            let (worker, _) = started.map_err(|e| Lost(e.to_string()))?;
            self.seats[task] = Seat { worker: Some(worker), instructed: false };
        }
        let workload = self.workload.clone();
        let it = &workload.tasks()[task];
        let request = Request::Prepare(it.problem.clone());
        match self.ask(task, &request, &it.blobs, SETUP).map_err(|e| Lost(e.to_string()))? {
            (Reply::Done, _) => {}
            (Reply::Invalid(invalid), _) => return Err(Lost(invalid.detail)),
            _ => return Err(Lost("the worker answered something else".into())),
        }
        // Recorded results are right or wrong already, and some problems say what is right.
        self.seats[task].instructed = it.outputs.is_empty()
            || !it.problem.expected.is_empty()
            || self.hello.backend == "replay";
        let known = self.references[task].lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known.filter(|_| !self.seats[task].instructed) {
            Some(reference) => self.instruct(task, &reference).map_err(|e| Lost(e.detail)),
            None => Ok(()),
        }
    }

    /// Makes the right outputs at every task whose reference is known.
    ///
    /// # Errors
    /// The reference does not run.
    pub fn confirm(&mut self) -> Result<(), Invalid> {
        for task in 0..self.seats.len() {
            let known =
                self.references[task].lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(reference) = known.filter(|_| !self.seats[task].instructed) else { continue };
            if let Err(invalid) = self.instruct(task, &reference) {
                let is_gone = self.seats[task].worker.is_none() && !self.halted;
                if !is_gone || invalid.reason == Reason::Timeout {
                    return Err(invalid);
                }
                // The worker may have been ended from outside: a second one is lost by the reference.
                self.set_up(task).map_err(|Lost(why)| Invalid::new(Reason::Runtime, why))?;
            }
        }
        Ok(())
    }

    fn ask<B: AsRef<[u8]> + Sync>(
        &mut self,
        task: usize,
        request: &Request,
        blobs: &[B],
        limit: Duration,
    ) -> Result<(Reply, Vec<Vec<u8>>), WorkerError> {
        let seat = &mut self.seats[task];
        let Some(worker) = &mut seat.worker else {
            return Err(WorkerError::Died("it could not be started again".into()));
        };
        let reply = worker.ask(request, blobs, limit);
        if let Err(error) = &reply {
            self.halted |= *error == WorkerError::Stopped;
            *seat = Seat::default();
        }
        reply
    }

    /// Runs what gives the right outputs: once to see how large they are, then with tolerances to match.
    ///
    /// # Errors
    /// It does not run.
    fn instruct(&mut self, task: usize, reference: &Prepared) -> Result<(), Invalid> {
        let workload = self.workload.clone();
        let outputs = &workload.tasks()[task].outputs;
        let plain = outputs.iter().map(|o| output(o, 0.0)).collect();
        let values = self.reference_outputs(task, reference, plain)?;
        let sized = outputs.iter().zip(&values).map(|(o, v)| output(o, largest(o.element, v)));
        self.reference_outputs(task, reference, sized.collect())?;
        self.seats[task].instructed = true;
        Ok(())
    }

    fn reference_outputs(
        &mut self,
        task: usize,
        reference: &Prepared,
        outputs: Vec<Output>,
    ) -> Result<Vec<Vec<u8>>, Invalid> {
        let workload = self.workload.clone();
        let buffers = &workload.tasks()[task].problem.buffers;
        let samples = outputs.iter().map(|o| {
            let n = buffers.get(o.buffer).map_or(0, |b| b.bytes) / o.element.size();
            samples_of(n)
        });
        let samples = samples.collect();
        self.run_for_outputs(task, reference, outputs, samples, false)
    }

    fn run_for_outputs(
        &mut self,
        task: usize,
        reference: &Prepared,
        outputs: Vec<Output>,
        samples: Vec<Vec<u64>>,
        whole: bool,
    ) -> Result<Vec<Vec<u8>>, Invalid> {
        let candidate = reference.candidate.clone();
        let request = Request::Reference(Reference { candidate, outputs, samples, whole });
        match self.ask(task, &request, &[&*reference.binary], SETUP) {
            Ok((Reply::Done, values)) => Ok(values),
            Ok((Reply::Invalid(invalid), _)) => Err(invalid),
            Ok(_) => Err(Invalid::new(Reason::Runtime, "the worker answered something else")),
            Err(error) => Err(Invalid::from(&error)),
        }
    }

    /// Elements of the outputs that a candidate leaves behind, by flat index, one list for each output.
    ///
    /// # Errors
    /// It does not run.
    pub fn outputs(
        &mut self,
        task: usize,
        prepared: &Prepared,
        elements: Vec<Vec<u64>>,
    ) -> Result<Vec<Vec<u8>>, Invalid> {
        if self.seats[task].worker.is_none() {
            self.set_up(task).map_err(|Lost(why)| Invalid::new(Reason::Runtime, why))?;
        }
        // The worker takes them for the right ones from now on.
        self.seats[task].instructed = false;
        let workload = self.workload.clone();
        let outputs = workload.tasks()[task].outputs.iter().map(|o| output(o, 0.0)).collect();
        self.run_for_outputs(task, prepared, outputs, elements, true)
    }

    /// Checks and times a candidate at every task; ends at the first at which it fails.
    ///
    /// # Errors
    /// No worker can be had any more; the candidate is not to blame.
    pub fn measure(
        &mut self,
        entrant: &[Prepared],
        allowed: &[Allowed],
    ) -> Result<Vec<Measured>, Lost> {
        let mut results = vec![];
        for (task, (prepared, allowed)) in entrant.iter().zip(allowed).enumerate() {
            let result = self.measure_one(task, prepared, allowed)?;
            let failed = matches!(result, Measured::Invalid(_));
            results.push(result);
            if failed {
                break;
            }
        }
        Ok(results)
    }

    fn measure_one(
        &mut self,
        task: usize,
        prepared: &Prepared,
        allowed: &Allowed,
    ) -> Result<Measured, Lost> {
        let mut taken_down = 0;
        loop {
            if self.seats[task].worker.is_none()
                && let Err(lost) = self.set_up(task)
            {
                if taken_down > 0 {
                    return Err(lost);
                }
                taken_down += 1;
                continue;
            }
            if !self.seats[task].instructed
                && let Err(invalid) = self.agree(task, prepared)
            {
                if self.seats[task].worker.is_none() && taken_down == 0 {
                    taken_down += 1;
                    continue;
                }
                return Ok(Measured::Invalid(invalid));
            }
            let request =
                Request::Measure { candidate: prepared.candidate.clone(), policy: allowed.policy };
            match self.ask(task, &request, &[&*prepared.binary], allowed.limit) {
                Ok((Reply::Measured(measured), _)) => return Ok(measured),
                Ok((Reply::Invalid(invalid), _)) => return Ok(Measured::Invalid(invalid)),
                Ok(_) => {
                    let what = "no measurement came";
                    return Ok(Measured::Invalid(Invalid::new(Reason::Runtime, what)));
                }
                Err(WorkerError::Died(_)) if taken_down == 0 => taken_down += 1,
                Err(error) => return Ok(Measured::Invalid(Invalid::from(&error))),
            }
        }
    }

    /// Takes the outputs that another station has found, or those of this candidate as the right ones.
    fn agree(&mut self, task: usize, first: &Prepared) -> Result<(), Invalid> {
        let references = self.references.clone();
        let mut known = references[task].lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(reference) => self.instruct(task, reference),
            None => {
                self.instruct(task, first)?;
                *known = Some(first.clone());
                Ok(())
            }
        }
    }

    /// Times candidates in turns, at one task.
    ///
    /// # Errors
    /// One of them took the worker down.
    pub fn race(
        &mut self,
        task: usize,
        entrants: &[Prepared],
        rounds: u32,
        policy: &Policy,
    ) -> Result<Vec<Measured>, Lost> {
        if self.seats[task].worker.is_none() {
            self.set_up(task)?;
        }
        let request = Request::Race {
            candidates: entrants.iter().map(|e| e.candidate.clone()).collect(),
            rounds,
            policy: *policy,
        };
        let binaries: Vec<&Vec<u8>> = entrants.iter().map(|e| &*e.binary).collect();
        let limit = self.limit.saturating_mul(u32::try_from(entrants.len()).unwrap_or(1).max(1));
        match self.ask(task, &request, &binaries, limit).map_err(|e| Lost(e.to_string()))? {
            (Reply::Raced(results), _) => Ok(results),
            (Reply::Invalid(invalid), _) => Err(Lost(invalid.detail)),
            _ => Err(Lost("the worker answered something else".into())),
        }
    }

    /// What the device reaches at most; `None` where there is nothing to measure.
    pub fn limits(&mut self, bytes: u64) -> Option<Limits> {
        match self.ask(0, &Request::Limits { bytes }, &NO_BLOBS, SETUP) {
            Ok((Reply::Limits(limits), _)) => Some(limits),
            _ => None,
        }
    }
}

impl Station {
    /// Milliseconds of the vendor's library for a product; `None` where there is none.
    pub fn product(&mut self, product: &Product) -> Option<f64> {
        match self.ask(0, &Request::Product(*product), &NO_BLOBS, SETUP) {
            Ok((Reply::Product(ms), _)) => Some(ms),
            _ => None,
        }
    }
}

/// Which of so many elements are looked at to see how large they are: one in each of so many stretches, at another place in each. At
/// the same place all would lie in one column where a stretch is a number of rows; those of running sums grow along rows.
fn samples_of(elements: u64) -> Vec<u64> {
    let step = elements.div_ceil(SAMPLES).max(1);
    let place = |k: u64| k * step + k.wrapping_mul(SPREAD) % step;
    (0..elements.div_ceil(step)).map(place).filter(|at| *at < elements).collect()
}

/// What is expected of an output that should hold these bytes.
pub fn expected(compared: &Compared, bytes: &[u8]) -> Output {
    output(compared, largest(compared.element, bytes))
}

fn output(compared: &Compared, largest: f64) -> Output {
    let mut tolerance = compared.tolerance;
    tolerance.absolute += compared.of_largest * largest;
    Output { buffer: compared.buffer, element: compared.element, tolerance }
}

/// The largest finite magnitude among sampled elements.
fn largest(element: Element, bytes: &[u8]) -> f64 {
    let ty = scalar_of(element);
    let values = bytes.chunks_exact(ty.bytes() as usize);
    let values = values.map(|e| scalar_from_bytes(ty, e).as_f64().abs());
    values.filter(|v| v.is_finite()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn samples_lie_in_many_columns() {
        for (rows, columns) in [(8192, 4096), (8192, 8192), (4096, 1024), (1000, 1000)] {
            let samples = samples_of(rows * columns);
            let met: BTreeSet<u64> = samples.iter().map(|at| at % columns).collect();
            assert!(
                met.len() as u64 * 4 > columns.min(SAMPLES),
                "{rows} x {columns}: {}",
                met.len()
            );
        }
    }
}
