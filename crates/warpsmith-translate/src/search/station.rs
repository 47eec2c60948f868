//! A place where candidates are checked and timed: a device, reached through worker processes.
//!
//! Each task has a worker of its own, so that its memory stays on the device. A worker that is lost is started again; the
//! candidate it was busy with gets a second chance, because a worker may be ended from outside, and is to blame when it
//! takes down a second one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use warpsmith_gpu::client::{NO_BLOBS, Start, Worker, WorkerError};
use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{
    Action, Candidate, Element, Hello, Invalid, Limits, Measured, Output, Policy, Product, Reason,
    Reference, Reply, Request, Tolerance,
};
use warpsmith_gpu::stop::Stop;

use super::{Compared, Device, Draft, Workload};
use crate::data::scalar_from_bytes;
use crate::elements::{roundoff, scalar_of};

/// A compiled text with its launches for one task.
#[derive(Clone)]
pub struct Prepared {
    /// What the worker is asked to launch.
    pub launches: Launches,
    /// The compiled text.
    pub binary: Arc<Binary>,
}

/// What a worker is asked to launch.
#[derive(Clone)]
pub enum Launches {
    /// It is known before anything runs.
    Known(Candidate),
    /// The host goes on by values that the device computes: a run on the device tells.
    ByValues(Arc<dyn Draft>),
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
    /// Outputs that rounding errors in the arguments change beyond recognition.
    uncompared: BTreeSet<String>,
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
            Station {
                start,
                limit,
                workload,
                references,
                hello,
                seats,
                stop,
                halted: false,
                uncompared: BTreeSet::new(),
            }
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

    /// Outputs that cannot be compared: rounding errors in the arguments change them beyond recognition.
    pub fn uncompared(&self) -> &BTreeSet<String> {
        &self.uncompared
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
        self.prepare(task, &it.blobs).map_err(|invalid| Lost(invalid.detail))?;
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

    /// Hands the worker the problem with these contents.
    fn prepare(&mut self, task: usize, blobs: &[Vec<u8>]) -> Result<(), Invalid> {
        let workload = self.workload.clone();
        let request = Request::Prepare(workload.tasks()[task].problem.clone());
        match self.ask(task, &request, blobs, SETUP) {
            Ok((Reply::Done, _)) => Ok(()),
            Ok((Reply::Invalid(invalid), _)) => Err(invalid),
            Ok(_) => Err(Invalid::new(Reason::Runtime, "the worker answered something else")),
            Err(error) => Err(Invalid::from(&error)),
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
        let plain: Vec<Output> = outputs.iter().map(|o| output(o, 0.0)).collect();
        let nearby = match workload.tasks()[task].nearby.as_slice() {
            [] => None,
            nearby => {
                self.prepare(task, nearby)?;
                let values = self.reference_outputs(task, reference, plain.clone())?;
                self.prepare(task, &workload.tasks()[task].blobs)?;
                Some(values)
            }
        };
        let values = self.reference_outputs(task, reference, plain)?;
        let mut sized = vec![];
        for (at, (compared, values)) in outputs.iter().zip(&values).enumerate() {
            let nearby = nearby.as_ref().map_or(values, |n| &n[at]);
            match within(compared, values, nearby) {
                Some(output) => sized.push(output),
                None => {
                    let name = &workload.tasks()[task].problem.buffers[compared.buffer].name;
                    self.uncompared.insert(name.clone());
                }
            }
        }
        self.reference_outputs(task, reference, sized)?;
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
        let candidate = self.candidate(task, reference, SETUP)?;
        let request = Request::Reference(Reference { candidate, outputs, samples, whole });
        match self.ask(task, &request, &[&reference.binary.cubin], SETUP) {
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
            let candidate = match self.candidate(task, prepared, allowed.limit) {
                Ok(candidate) => candidate,
                Err(invalid) => {
                    let is_gone = self.seats[task].worker.is_none();
                    if is_gone && invalid.reason != Reason::Timeout && taken_down == 0 {
                        taken_down += 1;
                        continue;
                    }
                    return Ok(Measured::Invalid(invalid));
                }
            };
            let request = Request::Measure { candidate, policy: allowed.policy };
            match self.ask(task, &request, &[&prepared.binary.cubin], allowed.limit) {
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
        let (mut candidates, mut binaries, mut results) = (vec![], vec![], vec![]);
        for entrant in entrants {
            let candidate = self.candidate(task, entrant, self.limit);
            if self.seats[task].worker.is_none() {
                self.set_up(task)?;
            }
            // Those without a result yet run.
            results.push(match candidate {
                Ok(candidate) => {
                    candidates.push(candidate);
                    binaries.push(&entrant.binary.cubin);
                    None
                }
                Err(invalid) => Some(Measured::Invalid(invalid)),
            });
        }
        let request = Request::Race { candidates, rounds, policy: *policy };
        let limit = self.limit.saturating_mul(u32::try_from(entrants.len()).unwrap_or(1).max(1));
        match self.ask(task, &request, &binaries, limit).map_err(|e| Lost(e.to_string()))? {
            (Reply::Raced(ran), _) => {
                let mut ran = ran.into_iter();
                Ok(results.into_iter().filter_map(|known| known.or_else(|| ran.next())).collect())
            }
            (Reply::Invalid(invalid), _) => Err(Lost(invalid.detail)),
            _ => Err(Lost("the worker answered something else".into())),
        }
    }

    /// What is launched; where the host goes on by values of the device, they are had from it in this time.
    fn candidate(
        &mut self,
        task: usize,
        prepared: &Prepared,
        limit: Duration,
    ) -> Result<Candidate, Invalid> {
        match &prepared.launches {
            Launches::Known(candidate) => Ok(candidate.clone()),
            Launches::ByValues(draft) => {
                let (binary, end) = (&*prepared.binary, Instant::now() + limit);
                let mut run = Underway { station: self, task, binary, end, values: 0 };
                draft.candidate(binary, task, &mut run)
            }
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

/// A run of which the host gets to know how it goes on.
struct Underway<'a> {
    station: &'a mut Station,
    task: usize,
    binary: &'a Binary,
    /// It may not last longer.
    end: Instant,
    /// So many the device has given.
    values: u64,
}

impl Device for Underway<'_> {
    fn value(&mut self, actions: &[Action]) -> Result<Vec<u8>, Invalid> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let values = self.values;
            let why = format!("its host waited for {values} values and was not at its end in time");
            return Err(Invalid::new(Reason::Timeout, why));
        }
        let request = Request::Advance { actions: actions.to_vec(), first: self.values == 0 };
        self.values += 1;
        match self.station.ask(self.task, &request, &[&self.binary.cubin], left) {
            Ok((Reply::Done, mut read)) => read
                .pop()
                .ok_or_else(|| Invalid::new(Reason::Runtime, "the worker has read nothing")),
            Ok((Reply::Invalid(invalid), _)) => Err(invalid),
            Ok(_) => Err(Invalid::new(Reason::Runtime, "the worker answered something else")),
            Err(error) => Err(Invalid::from(&error)),
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

/// What is expected of an output, given some of its elements, and what they are with a rounding error in every other argument.
/// Where 4·L·u of the largest element is allowed, it is 4·L times what such an error changes, if that is more. `None`: it is
/// as much as the elements are.
fn within(compared: &Compared, values: &[u8], nearby: &[u8]) -> Option<Output> {
    let largest = largest(compared.element, values);
    let usual = output(compared, largest);
    if values == nearby {
        return Some(usual);
    }
    let ty = scalar_of(compared.element);
    let elements = |bytes: &[u8]| -> Vec<f64> {
        let each = bytes.chunks_exact(ty.bytes() as usize);
        each.map(|e| scalar_from_bytes(ty, e).as_f64()).collect()
    };
    let pairs = elements(values).into_iter().zip(elements(nearby));
    let moved = pairs.filter(|(a, b)| a != b).map(|(a, b)| (a - b).abs());
    // Not a number where only one of both is none.
    let moved = moved.fold(0.0, |most: f64, m| if m > most || m.is_nan() { m } else { most });
    let errors = if ty.is_float() { compared.of_largest / roundoff(ty) } else { f64::INFINITY };
    let absolute = usual.tolerance.absolute.max(errors * moved);
    let tolerance = Tolerance { absolute, ..usual.tolerance };
    (!moved.is_nan() && absolute < largest).then_some(Output { tolerance, ..usual })
}

fn output(compared: &Compared, largest: f64) -> Output {
    let mut tolerance = compared.tolerance;
    tolerance.absolute += compared.of_largest * largest;
    // Samples of numbers that grow over many orders of magnitude miss the largest ones.
    tolerance.own = tolerance.own.max(compared.of_largest);
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

    /// Of numbers that grow over many orders of magnitude, samples miss the largest ones, whose rounding errors follow
    /// themselves.
    #[test]
    fn elements_beyond_the_samples_have_errors_of_their_own_size() {
        let compared = Compared {
            buffer: 0,
            element: Element::F32,
            tolerance: Tolerance::default(),
            of_largest: 1e-3,
        };
        let Tolerance { absolute, .. } = output(&compared, 100.0).tolerance;
        let allowed = |x: f64| output(&compared, 100.0).tolerance.at(x);
        assert!((absolute - 0.1).abs() < 1e-12);
        assert_eq!((allowed(0.0), allowed(-100.0)), (absolute, absolute));
        assert!((allowed(-1e30) / 1e27 - 1.0).abs() < 1e-12);
        assert_eq!((allowed(f64::INFINITY), allowed(f64::NAN)), (0.0, 0.0));
    }
}
