//! `--device`: both sides at the full size on a GPU, or on what stands in for one, and how long each takes.

use std::path::Path;
use std::time::Duration;

use warpsmith_emu::DeviceMemory;
use warpsmith_gpu::client::{NO_BLOBS, Worker};
use warpsmith_gpu::protocol::{
    Action, Arg, BufferSpec, Candidate, Compile, Contents, Expected, Hello, Invalid, Launch,
    Measured, Output, Policy, Problem, Reason, Reference, Reply, Request, Tolerance,
};
use warpsmith_ir::{Diagnostic, Scalar, SourceMap};

use super::calls::{self, Bind, Given, Stage};
use super::launching::Shape;
use super::pairs::Place;
use super::run::{Data, Inputs, Nothing};
use super::side::{Code, Side, Step};
use super::variety::Sort;
use crate::check::args::CheckArgs;
use crate::check::files;
use crate::data::{self, scalar_bytes, scalar_from_bytes};
use crate::report::OnDevice;
use crate::search::Told;
use crate::status::Failure;
use warpsmith_translate::elements::{element, roundoff, scalar_of};
use warpsmith_translate::tune::device::{self, Place as Where, Wanted};
use warpsmith_translate::tune::measure::device_text;
use warpsmith_translate::tune::sizes::Point;
use warpsmith_translate::tune::verify::host_c::{ArgBytes, HostReference};

/// A binary, and for each kernel the name that it has there.
type Binary = (Vec<u8>, Vec<(String, String)>);

/// Time for one request: a compilation, a transfer, the runs of a kernel.
const REQUEST: Duration = Duration::from_secs(300);
/// What reals may differ by at the full size, where nobody follows the terms of sums, in units of the roundoff of the
/// largest element: contracted products where all was the same bit for bit before.
const CONTRACTED: f64 = 64.0;
/// Of sums in another order, times the square root of their length: rounding errors go as a random walk.
const OF_A_SUM: f64 = 8.0;

/// Runs both sides at these sizes.
///
/// # Errors
/// A device that is not there, sizes that are missing, texts that do not compile, runs that fail.
pub fn compare(
    args: &CheckArgs,
    data: &Data<'_>,
    length: &dyn Fn(usize, &Inputs) -> Option<u64>,
    exact: bool,
    sources: &mut SourceMap,
) -> Result<OnDevice, Failure> {
    if let Some(side) =
        [data.new, data.reference].into_iter().find(|s| matches!(s.code, Code::Host(_)))
    {
        let message = format!(
            "`{}` launches kernels in a loop or under a condition: it is not run on a device",
            side.name
        );
        return Err(Diagnostic::error("W309", message)
            .help("compare the kernels one by one with --kernel, or leave out --device")
            .into());
    }
    let point = point(args, data)?;
    // A sum is no longer than the largest size.
    let longest = point.values().copied().max().unwrap_or(1) as f64;
    let roundings = if exact { 0.0 } else { OF_A_SUM * longest.sqrt() };
    let name = args.device.as_deref().filter(|d| !d.is_empty()).unwrap_or("auto");
    let stop = warpsmith_gpu::stop::Stop::default();
    let wanted = Wanted { device: name.parse()?, arch: None, devices: None, launchers: &[], stop };
    let Where::Measure(stations) = device::searched(&wanted)? else {
        return Err(Diagnostic::error("W313", "there is no GPU to run on").into());
    };
    let hello = stations.hello.clone();
    let (worker, _) = match stations.first.take() {
        Some(first) => first,
        None => Worker::start(&stations.starts[0], REQUEST)
            .map_err(|e| failed("the device cannot be reached", &e.to_string()))?,
    };
    let inputs = match data.inputs(&point, data.new.args.seed.unwrap_or(0), Sort::Plain) {
        Ok(inputs) => inputs,
        Err(Nothing::Failed(failure)) => return Err(failure),
        Err(Nothing::Undefined(why)) => return Err(failed("there are no data of this size", &why)),
        Err(_) => {
            return Err(failed("there are no data of this size", "they take too much memory"));
        }
    };
    let mut run = Run {
        args,
        data,
        inputs,
        hello,
        worker,
        lengths: vec![],
        roundings: roundings.max(CONTRACTED),
    };
    run.lengths = (0..data.pairs.arrays.len()).map(|i| length(i, &run.inputs)).collect();
    run.both(&point, sources)
}

/// The values of `--size`, one for each whole number that is not given.
fn point(args: &CheckArgs, data: &Data<'_>) -> Result<Point, Failure> {
    let mut point = Point::new();
    for n in data.pairs.numbers.iter().filter(|n| n.ty.is_integer()) {
        let given = args.size.iter().find(|(name, _)| n.names.contains(name)).map(|(_, v)| *v);
        let fixed = data.fixed(&n.names);
        let Some(value) = given.or(fixed) else {
            let d = Diagnostic::error("W309", format!("which `{}` is the full size?", n.name));
            return Err(d.help(format!("write --size {}=1048576 beside --device", n.name)).into());
        };
        point.insert(n.name.clone(), value);
    }
    let known = |name: &String| data.pairs.numbers.iter().any(|n| n.names.contains(name));
    match args.size.iter().find(|(name, _)| !known(name)) {
        Some((name, _)) => {
            Err(Failure::input("W306", format!("neither side has a size `{name}` (--size)")))
        }
        None => Ok(point),
    }
}

fn failed(what: &str, why: &str) -> Failure {
    Diagnostic::error("W313", what.to_string()).note(why.to_string()).into()
}

struct Run<'a> {
    args: &'a CheckArgs,
    data: &'a Data<'a>,
    inputs: Inputs,
    hello: Hello,
    worker: Worker,
    /// Bytes of each array of the pairs.
    lengths: Vec<Option<u64>>,
    /// What reals may differ by, in units of the roundoff.
    roundings: f64,
}

/// A side that is ready to run.
struct Ready {
    binary: Vec<u8>,
    candidate: Candidate,
}

impl Run<'_> {
    fn both(&mut self, point: &Point, sources: &mut SourceMap) -> Result<OnDevice, Failure> {
        let (new, reference) = (self.data.new, self.data.reference);
        let shapes = self.shapes(new)?;
        let ready = self.ready(true, &shapes, sources)?;
        let outputs = self.outputs();
        let mut expected = vec![];
        let mut blobs = self.blobs()?;
        let buffers = self.buffers(&blobs);
        if !reference.is_kernel() {
            for (output, bytes) in outputs.iter().zip(self.of_c(&outputs)?) {
                let output = within(output, &bytes);
                expected.push(Expected { output, blob: blobs.len() });
                blobs.push(bytes);
            }
        }
        self.done(&Request::Prepare(Problem { buffers, expected }), &blobs)?;
        let mut reference_ms = None;
        if reference.is_kernel() {
            let shapes = self.shapes(reference)?;
            let own = self.ready(false, &shapes, sources)?;
            self.expect(&own, outputs)?;
            reference_ms = match self.measure(&own)? {
                Ok(ms) => Some(ms),
                Err(invalid) => return Err(failed("the reference does not run", &invalid.detail)),
            };
        }
        let (ms, differs) = match self.measure(&ready)? {
            Ok(ms) => (Some(ms), None),
            Err(invalid) if invalid.reason == Reason::Correctness => (None, Some(invalid.detail)),
            Err(invalid) => return Err(failed("the kernel does not run", &invalid.to_string())),
        };
        let sizes: Vec<String> = point.iter().map(|(n, v)| format!("{n}={v}")).collect();
        Ok(OnDevice {
            device: self.hello.device.clone(),
            times: Told::by(&self.hello).word(),
            sizes: sizes.join(", "),
            ms,
            reference_ms,
            differs,
        })
    }

    fn shapes(&self, side: &Side) -> Result<Vec<Shape>, Failure> {
        let of_new = std::ptr::eq(side, self.data.new);
        let sizes = self.data.sizes(&self.inputs, of_new);
        let shapes = side.stages().map(|stage| side.shape(stage, &sizes));
        shapes.collect::<Result<_, _>>().map_err(|why| {
            failed(
                &format!("`{}` is not launched at the full size", side.name),
                &format!("{why:?}: the host code or the launch that is written has no grid there"),
            )
        })
    }

    /// Compiles a side and says what it does.
    fn ready(
        &mut self,
        of_new: bool,
        shapes: &[Shape],
        sources: &mut SourceMap,
    ) -> Result<Ready, Failure> {
        let side = if of_new { self.data.new } else { self.data.reference };
        let (binary, symbols) = self.compile(side, sources)?;
        let given = self.given(of_new);
        let mut actions = self.variables(side)?;
        let mut left = shapes.iter();
        let Code::Kernels(steps) = &side.code else {
            return Ok(Ready { binary, candidate: Candidate::default() });
        };
        for step in steps {
            actions.push(match step {
                Step::Fill { slot, value } => {
                    let Some(Given::Buffer(b)) = given[*slot] else { continue };
                    let bytes = self.lengths[b as usize].unwrap_or(0);
                    Action::Fill { buffer: b as usize, offset: 0, bytes, value: *value }
                }
                Step::Launch(stage) => {
                    let Some(shape) = left.next() else { continue };
                    let symbol = symbols.iter().find(|(n, _)| *n == stage.name);
                    Action::Launch(Launch {
                        kernel: symbol.map_or(stage.name.clone(), |(_, s)| s.clone()),
                        grid: shape.grid,
                        block: shape.block,
                        shared: shape.shared,
                        args: self.arguments(side, stage, &given)?,
                    })
                }
            });
        }
        let key = if of_new { "new" } else { "reference" };
        Ok(Ready { binary, candidate: Candidate { key: key.to_string(), actions } })
    }

    fn compile(&mut self, side: &Side, sources: &mut SourceMap) -> Result<Binary, Failure> {
        let text = files::read(&side.path)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let name =
            side.path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let headers = beside(&side.path);
        let made = device_text(&name, &text, &headers, |_| true, sources).map_err(|list| {
            Failure::from(
                list.into_iter()
                    .next()
                    .unwrap_or_else(|| Diagnostic::error("W313", "the text cannot be read")),
            )
        })?;
        let mut kernels: Vec<String> = side.stages().map(|s| s.name.clone()).collect();
        kernels.dedup();
        let defines = self.args.source.defines().into_iter().map(|(n, v)| format!("-D{n}={v}"));
        let request = Request::Compile(Compile {
            source: made.text,
            file: name.clone(),
            arch: self.hello.arch.clone(),
            options: defines.collect(),
            kernels,
        });
        match self.ask(&request, &[])? {
            (Reply::Compiled(infos, _), mut blobs) if !blobs.is_empty() => {
                let symbols = infos.into_iter().map(|k| (k.name, k.symbol)).collect();
                Ok((blobs.swap_remove(0), symbols))
            }
            (Reply::Invalid(invalid), _) => {
                Err(failed(&format!("`{name}` does not compile for the device"), &invalid.detail))
            }
            _ => Err(failed("the worker gave no sensible answer", "to a text to compile")),
        }
    }

    fn ask(
        &mut self,
        request: &Request,
        blobs: &[Vec<u8>],
    ) -> Result<(Reply, Vec<Vec<u8>>), Failure> {
        let reply = match blobs.is_empty() {
            true => self.worker.ask(request, &NO_BLOBS, REQUEST),
            false => self.worker.ask(request, blobs, REQUEST),
        };
        reply.map_err(|e| failed("the device stopped answering", &e.to_string()))
    }

    fn done(&mut self, request: &Request, blobs: &[Vec<u8>]) -> Result<(), Failure> {
        match self.ask(request, blobs)? {
            (Reply::Invalid(invalid), _) => {
                Err(failed("the device cannot hold the data", &invalid.detail))
            }
            _ => Ok(()),
        }
    }

    /// The arrays before a run.
    fn blobs(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let arrays = self.data.pairs.arrays.iter().zip(&self.inputs.arrays).zip(&self.lengths);
        let one = |((a, content), length): (
            (&super::pairs::Array, &super::run::Content),
            &Option<u64>,
        )| {
            let Some(length) = length else {
                let what = format!("how long is `{}` at the full size?", a.name);
                let help = format!("say it: --arg '{}=float[n]=random'", a.name);
                return Err(Failure::from(Diagnostic::error("W309", what).help(help)));
            };
            let mut bytes = content.bytes(*length);
            bytes.resize((*length).max(1) as usize, 0);
            Ok(bytes)
        };
        arrays.map(one).collect()
    }

    fn buffers(&self, blobs: &[Vec<u8>]) -> Vec<BufferSpec> {
        let one = |(at, (array, blob)): (usize, (&super::pairs::Array, &Vec<u8>))| BufferSpec {
            name: array.name.clone(),
            bytes: blob.len() as u64,
            contents: Contents::Blob(at),
        };
        self.data.pairs.arrays.iter().zip(blobs).enumerate().map(one).collect()
    }

    /// What is compared: arrays that both sides have.
    fn outputs(&self) -> Vec<Output> {
        let arrays = self.data.pairs.arrays.iter().enumerate();
        let both = arrays.filter(|(_, a)| a.new.is_some() && a.reference.is_some());
        let one = |(buffer, a): (usize, &super::pairs::Array)| {
            let (module, ty) = self.data.element(a);
            let slots = data::scalars_of(module, &ty, 0);
            let scalar = slots.first().map_or(Scalar::U8, |(_, s)| *s);
            let uniform = slots.iter().all(|(_, s)| *s == scalar);
            let scalar = if uniform { scalar } else { Scalar::U8 };
            let relative = self.roundings * roundoff(scalar);
            Output {
                buffer,
                element: element(scalar),
                tolerance: Tolerance { absolute: relative, relative, ..Tolerance::default() },
            }
        };
        both.map(one).collect()
    }

    /// The slots of a side: buffers by their place among the pairs.
    fn given(&self, of_new: bool) -> Vec<Option<Given>> {
        let mut given = self.data.numbers_of(of_new, &self.inputs);
        for (i, a) in self.data.pairs.arrays.iter().enumerate() {
            let at = match (of_new, a.reference) {
                (true, _) => a.new,
                (false, Some(Place::Param(at))) => Some(at),
                (false, _) => None,
            };
            if let Some(at) = at {
                given[at] = Some(Given::Buffer(i as u32));
            }
        }
        given
    }

    fn arguments(
        &self,
        side: &Side,
        stage: &Stage,
        given: &[Option<Given>],
    ) -> Result<Vec<Arg>, Failure> {
        let f = side.module.function(stage.function);
        let of_new = std::ptr::eq(side, self.data.new);
        let sizes = self.data.sizes(&self.inputs, of_new);
        let one = |(at, bind): (usize, &Bind)| {
            let ty = &f.var(f.params[at]).ty;
            let places = match bind {
                Bind::Slots(places) => places,
                Bind::Host => {
                    let value = super::arguments::host_number(side, stage, &sizes, at);
                    return Ok(value.map_or(Arg::Null, |v| Arg::Bytes(scalar_bytes(v))));
                }
            };
            if ty.is_aggregate() {
                if places.iter().any(|(_, s)| matches!(given[*s], Some(Given::Buffer(_)))) {
                    let what =
                        "a structure with pointers in it cannot be passed to the device here";
                    return Err(failed(
                        what,
                        &format!("`{}` of `{}`", f.var(f.params[at]).name, stage.name),
                    ));
                }
                return Ok(Arg::Bytes(calls::bytes_of(&side.module, ty, places, &|s| given[s])));
            }
            Ok(match places.first().and_then(|(_, s)| given[*s]) {
                Some(Given::Number(v)) => Arg::Bytes(scalar_bytes(super::arguments::converted(
                    v,
                    ty.scalar().unwrap_or(v.ty),
                ))),
                Some(Given::Buffer(b)) => Arg::Buffer { buffer: b as usize, offset: 0 },
                None => Arg::Null,
            })
        };
        stage.binds.iter().enumerate().map(one).collect()
    }

    /// Variables of the device that the text leaves open get the values that the emulator gave them.
    fn variables(&self, side: &Side) -> Result<Vec<Action>, Failure> {
        let memory: DeviceMemory = self.data.device_memory(side, &self.inputs)?;
        let open =
            side.module.globals.iter().zip(&memory.globals).filter(|(g, _)| g.init.is_none());
        let preset =
            open.map(|(g, b)| Action::Preset { symbol: g.name.clone(), bytes: b.bytes.clone() });
        Ok(preset.collect())
    }

    /// What a C function computes, by the host's compiler.
    fn of_c(&self, outputs: &[Output]) -> Result<Vec<Vec<u8>>, Failure> {
        let side = self.data.reference;
        let Code::C(input, _) = &side.code else { return Ok(vec![]) };
        let include = self.args.source.include.iter().map(|i| format!("-I{}", i.display()));
        let defines = self.args.source.defines().into_iter().map(|(n, v)| format!("-D{n}={v}"));
        let options: Vec<String> = include.chain(defines).collect();
        let no = |why: String| failed("the reference cannot be run by the host's C compiler", &why);
        let program =
            HostReference::build(&side.path, input, &options).map_err(|e| no(format!("{e:?}")))?;
        let mut call: Vec<ArgBytes> = self.data.bytes_for_c(&self.inputs);
        let result = program.call(&mut call, REQUEST).map_err(|e| no(format!("{e:?}")))?;
        let of = |o: &Output| match self.data.pairs.arrays[o.buffer].reference {
            Some(Place::Param(slot)) => {
                let at = side.place_in_c(slot).map_or(0, |(at, _)| at);
                call.get(at).map_or(vec![], |a| a.bytes().to_vec())
            }
            _ => result.clone(),
        };
        Ok(outputs.iter().map(of).collect())
    }

    /// What the reference leaves behind is expected from now on.
    fn expect(&mut self, reference: &Ready, outputs: Vec<Output>) -> Result<(), Failure> {
        let samples = outputs
            .iter()
            .map(|o| {
                let count = self.lengths[o.buffer].unwrap_or(0) / o.element.size();
                (0..count).step_by((count / 4096).max(1) as usize).collect()
            })
            .collect();
        let (candidate, whole) = (reference.candidate.clone(), true);
        let binary = [reference.binary.clone()];
        let asked =
            Reference { candidate: candidate.clone(), outputs: outputs.clone(), samples, whole };
        let (reply, found) = self.ask(&Request::Reference(asked.clone()), &binary)?;
        if let Reply::Invalid(invalid) = reply {
            return Err(failed("the reference does not run at the full size", &invalid.detail));
        }
        // Rounding errors of sums follow their terms: a share of the largest element.
        let outputs = outputs.iter().zip(&found).map(|(o, bytes)| within(o, bytes)).collect();
        let again = Reference { outputs, ..asked };
        match self.ask(&Request::Reference(again), &binary)?.0 {
            Reply::Invalid(invalid) => {
                Err(failed("the reference does not run at the full size", &invalid.detail))
            }
            _ => Ok(()),
        }
    }

    /// The median time in milliseconds, or why the side does not count.
    fn measure(&mut self, ready: &Ready) -> Result<Result<f64, Invalid>, Failure> {
        let (candidate, policy) = (ready.candidate.clone(), Policy::default());
        let binary = [ready.binary.clone()];
        match self.ask(&Request::Measure { candidate, policy }, &binary)?.0 {
            Reply::Measured(Measured::Times(mut times)) if !times.is_empty() => {
                times.sort_by(f64::total_cmp);
                Ok(Ok(times[times.len() / 2]))
            }
            Reply::Measured(Measured::Invalid(invalid)) | Reply::Invalid(invalid) => {
                Ok(Err(invalid))
            }
            _ => Err(failed("the worker gave no sensible answer", "to a measurement")),
        }
    }
}

/// The absolute tolerance as a share of the largest finite element.
fn within(output: &Output, bytes: &[u8]) -> Output {
    let ty = scalar_of(output.element);
    let values = bytes.chunks_exact(ty.bytes() as usize);
    let values = values.map(|b| scalar_from_bytes(ty, b).as_f64().abs()).filter(|v| v.is_finite());
    let largest = if ty.is_float() { values.fold(0.0, f64::max) } else { 0.0 };
    let tolerance = Tolerance { absolute: output.tolerance.absolute * largest, ..output.tolerance };
    Output { tolerance, ..output.clone() }
}

/// Headers beside a file, by their names.
fn beside(path: &Path) -> Vec<(String, String)> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let headers = entries.filter_map(|e| {
        let path = e.ok()?.path();
        let is_header =
            path.extension().is_some_and(|e| ["h", "cuh", "hpp"].iter().any(|x| e == *x));
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(&path).ok().filter(|_| is_header)?))
    });
    headers.collect()
}
