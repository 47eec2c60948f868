//! For tests of the verification: what `tune` verifies, changed between two of its parts as a bug there would change it.
//!
//! The change happens to the lowered program, as by a wrong rewrite, or to the emitted text, as by a wrong emitter; what
//! comes after is `tune`'s own.

use warpsmith_front::cloops::CInput;
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::SourceMap;
use warpsmith_opt::Program;
use warpsmith_tune::space::{ConfigId, Configuration};

use super::arch::Arch;
use super::measure::{Candidates, Nests, Source};
use super::pipeline;
use super::request::TuneRequest;
use super::sizes::Point;
use super::verified_files::{Files, Translation};
use super::verify::Verified;
pub use super::verify::host_c::ArgBytes;
use super::verify::witness::{Witness, WitnessError};
use crate::data::NamedSpec;
use crate::status::Failure;

/// A translated function, not yet emitted.
pub struct Prepared {
    request: TuneRequest,
    /// As the user wrote it.
    written: CInput,
    /// With its reals in the type that the program computes in.
    input: CInput,
    arch: Arch,
    specs: Vec<NamedSpec>,
    sizes: Vec<Point>,
    steps: String,
    /// The kernels and the launcher that the schedule makes.
    pub program: Program,
}

impl Prepared {
    /// Reads and translates, as `tune` does.
    ///
    /// # Errors
    /// As `tune`'s, up to there.
    pub fn new(request: &TuneRequest, sources: &mut SourceMap) -> Result<Prepared, Failure> {
        let arch = pipeline::named_arch(request)?;
        let input = pipeline::read(request, sources)?;
        let specs = pipeline::argument_specs(request, &input)?;
        let sizes = pipeline::chosen_sizes(request, &input, &specs, arch)?;
        let (program, steps, _) =
            pipeline::translate(request, None, &input, &sizes, arch, sources)?;
        let steps = steps.print();
        let written = input;
        let input = pipeline::in_its_types(&written, &program);
        Ok(Prepared {
            request: request.clone(),
            written,
            input,
            arch,
            specs,
            sizes,
            steps,
            program,
        })
    }

    fn work<'a>(&'a self, program: &'a Program) -> Translation<'a> {
        let Prepared { request, written, input, arch, specs, sizes, .. } = self;
        let (arch, interruptible) = (*arch, false);
        Translation { request, input, written, program, arch, specs, sizes, interruptible }
    }

    fn files(&self, program: &Program) -> Result<Files, Failure> {
        self.work(program).print(&[], &[], &[], &self.steps)
    }

    /// What a search of the templates measures, and its first configuration. `changed` is made of the emitted text of every
    /// schedule, the direct translation included.
    ///
    /// # Errors
    /// Data that does not fit, or no legal schedule.
    pub fn nests(
        &self,
        changed: Option<fn(&str) -> String>,
    ) -> Result<(Nests, Configuration), Failure> {
        let kernel = self.arch.kernel(self.input.module.clone(), self.input.function);
        let sources = SourceMap::new();
        let (gpu, stop) = (self.arch.gpu(), Stop::default());
        let candidates = Candidates::of_templates(&kernel, gpu, &self.sizes, &sources, &stop)?;
        let first = candidates.space.configuration(ConfigId(0));
        let nests = Nests::new(Source {
            request: self.request.clone(),
            input: self.input.clone(),
            arch: self.arch,
            specs: self.specs.clone(),
            sizes: self.sizes.clone(),
            candidates,
            changed,
        })?;
        Ok((nests, first))
    }

    /// The text of the emitted file for a program, mine or a changed one.
    ///
    /// # Errors
    /// The program has no text.
    pub fn text(&self, program: &Program) -> Result<String, Failure> {
        Ok(self.files(program)?.swap_remove(0).1)
    }

    /// Verifies a text in place of the emitted one, without the host compiler, which sees nothing of it.
    ///
    /// # Errors
    /// As `tune`'s: the text is no program (status 70), or a wrong one (1), or a limit was reached (3).
    pub fn verify(&self, text: &str, sources: &mut SourceMap) -> Result<Verified, Failure> {
        let mut files = self.files(&self.program)?;
        files[0].1 = text.to_string();
        let (_, verified) = self.work(&self.program).verify(&files, None, sources)?;
        Ok(verified)
    }

    /// The emitted header and test program of a verified text.
    ///
    /// # Errors
    /// The program has no text.
    pub fn test_program(&self, verified: &Verified) -> Result<[String; 2], Failure> {
        let points = self.work(&self.program).test_points(verified);
        let files = self.work(&self.program).print(&[], &[], &points, &self.steps)?;
        let [_, (_, header), (_, test), ..] = files.as_slice() else {
            return Ok(<[String; 2]>::default());
        };
        Ok([header.clone(), test.clone()])
    }

    /// A text as the kernel of a test program, which the emulator runs.
    ///
    /// # Errors
    /// The text is no program.
    pub fn device(&self, text: &str) -> Result<Device<'_>, Failure> {
        let mut files = self.files(&self.program)?;
        files[0].1 = text.to_string();
        let witness = self.work(&self.program).witness(&files, &mut SourceMap::new())?;
        Ok(Device { prepared: self, witness })
    }
}

/// An emulated device that knows one file.
pub struct Device<'p> {
    prepared: &'p Prepared,
    witness: Witness,
}

/// What came of a launch.
pub struct Launched {
    /// Why the device reports an error, if it does.
    pub error: Option<String>,
    /// Races that it shows, of which a device says nothing.
    pub races: Vec<String>,
    /// The arrays in their order, and last the result.
    pub arrays: Vec<Vec<u8>>,
}

impl Device<'_> {
    /// Whether the C function returns a number, for which the launcher has a pointer more.
    pub fn returns(&self) -> bool {
        let input = &self.prepared.input;
        input.module.function(input.function).ret.scalar().is_some()
    }

    /// Calls the launcher with the arguments of the C function.
    pub fn launch(&self, args: &[ArgBytes]) -> Launched {
        let input = &self.prepared.input;
        let result = input.module.function(input.function).ret.scalar();
        let options = warpsmith_emu::Options {
            max_steps: MAX_STEPS,
            ..self.prepared.work(&self.prepared.program).options()
        };
        match self.witness.run(args, result, &options) {
            Err(WitnessError::Failed(why)) => Launched::failed(why),
            Err(WitnessError::Limit(limit)) => Launched::failed(limit.to_string()),
            Ok(run) => {
                let (races, errors): (Vec<_>, Vec<_>) =
                    run.findings.iter().partition(|f| f.rule.name().starts_with("race"));
                let arrays = run.args.into_iter().filter_map(|a| match a {
                    ArgBytes::Array(bytes) => Some(bytes),
                    ArgBytes::Value(_) => None,
                });
                Launched {
                    error: errors.first().map(|f| format!("{}: {}", f.rule.name(), f.message)),
                    races: races.iter().map(|f| f.message.clone()).collect(),
                    arrays: arrays.chain(run.result).collect(),
                }
            }
        }
    }
}

/// Steps of a thread after which it is in an infinite loop; test programs run small sizes.
const MAX_STEPS: u64 = 2_000_000;

impl Launched {
    fn failed(why: String) -> Launched {
        Launched { error: Some(why), races: vec![], arrays: vec![] }
    }
}
