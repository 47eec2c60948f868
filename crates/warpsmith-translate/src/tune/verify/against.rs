//! Comparisons of one point: what the interpreter computed against the function as written, the host compiler's code, and the
//! emitted kernel.

use std::time::Duration;

use warpsmith_emu as emu;
use warpsmith_ir::interp;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Function, Scalar, Type, Var};

use super::compare::{self, Difference, first_difference};
use super::host_c::{ArgBytes, HostReference, NoAnswer};
use super::inputs::Sources;
use super::witness::WitnessRun;
use super::{Failed, Left, Outside, Reference, TIME_LIMIT, Verifier, Written};
use crate::data::scalars_of;

/// With whom the interpreter is compared.
#[derive(Clone, Copy)]
pub(in crate::tune) enum Against {
    /// Another order of sums, but the same math functions.
    Kernel,
    /// Other math functions, but the same order.
    Host,
    /// Reals of this type instead of those of the function.
    Written(Scalar),
}

impl Against {
    pub(in crate::tune) fn allowed(
        self,
        scalar: Scalar,
        bound: interp::Bound,
        reassociated: bool,
    ) -> f64 {
        match self {
            Against::Kernel if reassociated => compare::of_a_sum(scalar, bound),
            Against::Kernel => 0.0,
            Against::Host => compare::of_math_functions(bound),
            Against::Written(new) => compare::of_precision(scalar, new, bound),
        }
    }
}

/// Where compilers differ about a real that an integer type does not hold.
const UNFIT: &str = "a real number is converted to an integer type that does not hold it";

/// What the host compiler's code says about a point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tune) enum HostSays {
    Same,
    /// A decision hangs on the last bit of a math function.
    Nothing,
    /// The C function has no meaning there, for this reason.
    Undefined(&'static str),
}

impl Verifier<'_> {
    /// The same for the function as it was written.
    fn of<'w>(&'w self, written: Written<'w>) -> Verifier<'w> {
        let sources = Sources {
            module: written.module,
            function: written.module.function(written.function),
            specs: self.sources.specs,
            seed: self.sources.seed,
            max_memory: self.sources.max_memory,
        };
        Verifier {
            sources,
            function: written.function,
            host: None,
            written: None,
            witness: self.witness,
            // Rounding errors are bounded for everything.
            reassociated: vec![true; self.function().params.len() + 1],
            same_writes: self.same_writes,
            options: self.options.clone(),
            total_steps: self.total_steps,
            tuned: self.tuned,
            special: self.special,
            with_data: self.with_data,
            requires: self.requires,
            texts: self.texts,
        }
    }

    /// The function in its new types must say what it says as it was written, but for the rounding errors of the less
    /// precise of both.
    pub(super) fn against_written(
        &self,
        written: Written<'_>,
        inputs: &[ArgBytes],
        reference: &Reference,
        point: &str,
    ) -> Result<(), Failed> {
        let old = self.of(written);
        let (new_types, old_types) = (scalars(self.function()), scalars(old.function()));
        let types = new_types.iter().zip(&old_types);
        let converted: Vec<ArgBytes> = inputs
            .iter()
            .zip(types)
            .map(|(input, (from, to))| in_type(input, *from, *to))
            .collect();
        let before = match old.interpret(&converted, self.point_steps()) {
            Ok(before) => before,
            Err(Outside::TooLarge(_)) => return Ok(()),
            Err(Outside::Leaves(Left { why, .. }) | Outside::Unsupported(why)) => {
                return Err(Failed::References { point: point.to_string(), message: why });
            }
        };
        let wrong = |what: &str, d: &Difference| Failed::Precision {
            point: point.to_string(),
            message: describe(what, d, "the function as written", "in the new type it"),
        };
        let against = Against::Written(written.precision);
        let (params, function) = (&self.function().params, self.function());
        let arrays = (0..params.len()).filter(|k| function.var(params[*k]).ty.is_pointer());
        for (buffer, param) in arrays.enumerate() {
            let Some(bytes) = reference.memory.buffers.get(buffer) else { continue };
            let bytes = compare::converted(new_types[param], old_types[param], bytes);
            if let Some((name, d)) = old.compare_array(buffer, &before, &bytes, against) {
                return Err(wrong(&name, &d));
            }
        }
        if let (Some(to), Some(from), Some(result)) =
            (old.result_type(), self.result_type(), &reference.result)
        {
            let result = compare::converted(from, to, result);
            if let Some(d) = old.compare_result(&before, &result, against) {
                return Err(wrong("the result", &d));
            }
        }
        Ok(())
    }

    /// The user's C must say what the interpreter says, or one of the two misunderstands the source. Both run the sums
    /// in source order: what they may differ by is what their math functions do.
    pub(in crate::tune) fn against_host(
        &self,
        host: &HostReference,
        inputs: &[ArgBytes],
        reference: &Reference,
        point: &str,
    ) -> Result<HostSays, Failed> {
        let wrong = |message: String| Failed::References { point: point.to_string(), message };
        let differs = |what: &str, d: &Difference| match reference.memory.unfit {
            true => Ok(HostSays::Undefined(UNFIT)),
            false => Err(wrong(describe(what, d, "the interpreter", "the host compiler"))),
        };
        let mut args = inputs.to_vec();
        let result = match host.call(&mut args, self.patience(Duration::from_secs(60))) {
            Ok(result) => result,
            Err(NoAnswer::DividesByZero) => {
                return Ok(HostSays::Undefined("an integer is divided by zero"));
            }
            Err(_) if self.late() => return Err(Failed::Limit(TIME_LIMIT)),
            Err(NoAnswer::Failed(why)) => {
                return Err(wrong(format!("the program made from the C file failed: {why}")));
            }
        };
        if reference.memory.doubtful {
            return Ok(HostSays::Nothing);
        }
        let arrays = args.iter().filter_map(|a| match a {
            ArgBytes::Array(bytes) => Some(bytes.as_slice()),
            ArgBytes::Value(_) => None,
        });
        for (buffer, actual) in arrays.enumerate() {
            if let Some((name, d)) = self.compare_array(buffer, reference, actual, Against::Host) {
                return differs(&name, &d);
            }
        }
        match self.compare_result(reference, &result, Against::Host) {
            Some(d) => differs("the result", &d),
            None => Ok(HostSays::Same),
        }
    }

    /// What the emulator found.
    pub(in crate::tune) fn findings(&self, run: &WitnessRun, point: &str) -> Result<(), Failed> {
        let wrong = |message: String, notes: Vec<String>| Failed::Wrong {
            point: point.to_string(),
            message,
            notes,
        };
        let allowed = |f: &&emu::Finding| !(self.same_writes && f.rule == emu::Rule::RaceBenign);
        if let Some(finding) = run.findings.iter().find(allowed) {
            let more = run.findings.iter().skip(1).take(4).map(|f| f.message.clone());
            let mut notes: Vec<String> = more.collect();
            if finding.rule == emu::Rule::RaceGlobal {
                notes.push("where a subscript comes from data, iterations that share an element are not independent: remove the mark, put `#pragma omp atomic` before an update that they share, or give the data that the loop is made for, as with --arg NAME=iota".to_string());
            }
            let message = format!("{}: {}", finding.rule.name(), finding.message);
            if finding.rule == emu::Rule::RaceGlobal {
                let (point, array) = (point.to_string(), finding.array.clone());
                return Err(Failed::Race { point, message, notes, array });
            }
            return Err(wrong(message, notes));
        }
        Ok(())
    }

    pub(in crate::tune) fn against_witness(
        &self,
        run: &WitnessRun,
        reference: &Reference,
        point: &str,
    ) -> Result<(), Failed> {
        self.findings(run, point)?;
        let wrong =
            |message: String| Failed::Differs { point: point.to_string(), message, notes: vec![] };
        let arrays = run.args.iter().filter_map(|a| match a {
            ArgBytes::Array(bytes) => Some(bytes.as_slice()),
            ArgBytes::Value(_) => None,
        });
        for (buffer, actual) in arrays.enumerate() {
            if let Some((name, d)) = self.compare_array(buffer, reference, actual, Against::Kernel)
            {
                return Err(wrong(describe(&name, &d, "the C function", "the kernel")));
            }
        }
        if let Some(actual) = &run.result
            && let Some(d) = self.compare_result(reference, actual, Against::Kernel)
        {
            return Err(wrong(describe("the result", &d, "the C function", "the kernel")));
        }
        Ok(())
    }

    /// The `buffer`-th array parameter: its name and the first difference.
    fn compare_array(
        &self,
        buffer: usize,
        reference: &Reference,
        actual: &[u8],
        against: Against,
    ) -> Option<(String, Difference)> {
        let function = self.function();
        let vars = function.params.iter().map(|p| function.var(*p)).enumerate();
        let (param, var) = vars.filter(|(_, v)| v.ty.is_pointer()).nth(buffer)?;
        let reassociated = self.reassociated.get(param).is_some_and(|r| *r);
        let element = var.ty.pointee()?;
        let expected = reference.memory.buffers.get(buffer)?;
        let allowed = |offset: u64, scalar: Scalar| {
            let bound = reference.memory.bound(buffer, offset, scalar);
            bound.map_or(0.0, |b| against.allowed(scalar, b, reassociated))
        };
        let Some(scalar) = element.scalar() else {
            return self.compare_structures(var, element, (expected, actual), &allowed);
        };
        let width = u64::from(scalar.bytes());
        let allowed = |i: u64| allowed(i * width, scalar);
        first_difference(scalar, expected, actual, &allowed).map(|d| (format!("`{}`", var.name), d))
    }

    /// Structures number by number; what lies between them has no value.
    fn compare_structures(
        &self,
        var: &Var,
        element: &Type,
        (expected, actual): (&[u8], &[u8]),
        allowed: &dyn Fn(u64, Scalar) -> f64,
    ) -> Option<(String, Difference)> {
        let size = layout_of(self.module(), element).size.max(1);
        let mut first: Option<(String, Difference)> = None;
        for (k, (offset, scalar)) in scalars_of(self.module(), element, 0).into_iter().enumerate() {
            let of = |bytes: &[u8]| -> Vec<u8> {
                let range = offset as usize..(offset + u64::from(scalar.bytes())) as usize;
                let elements = bytes.chunks_exact(size as usize);
                elements.flat_map(|e| e[range.clone()].iter().copied()).collect()
            };
            let allowed = |i: u64| allowed(i * size + offset, scalar);
            if let Some(d) = first_difference(scalar, &of(expected), &of(actual), &allowed)
                && first.as_ref().is_none_or(|(_, f)| d.index < f.index)
            {
                first = Some((format!("number {k} of the elements of `{}`", var.name), d));
            }
        }
        first
    }

    fn compare_result(
        &self,
        reference: &Reference,
        actual: &[u8],
        against: Against,
    ) -> Option<Difference> {
        let scalar = self.result_type()?;
        let expected = reference.result.as_ref()?;
        let reassociated = self.reassociated.last().is_some_and(|r| *r);
        let bound = reference.memory.result_bound;
        let allowed = |_| bound.map_or(0.0, |b| against.allowed(scalar, b, reassociated));
        first_difference(scalar, expected, actual, &allowed)
    }
}

fn describe(what: &str, d: &Difference, expected: &str, actual: &str) -> String {
    let within =
        if d.allowed > 0.0 { format!(" (allowed: {:e})", d.allowed) } else { String::new() };
    format!(
        "{what} differs at index {}: {expected} computes {}, {actual} {}{within}; {} differ in all",
        d.index, d.expected, d.actual, d.count
    )
}

/// The types of numbers and of elements that the parameters have.
fn scalars(function: &Function) -> Vec<Scalar> {
    let element = |ty: &Type| ty.pointee().unwrap_or(ty).scalar().unwrap_or(Scalar::U8);
    function.params.iter().map(|p| element(&function.var(*p).ty)).collect()
}

/// The same numbers in another type.
fn in_type(input: &ArgBytes, from: Scalar, to: Scalar) -> ArgBytes {
    match input {
        ArgBytes::Array(bytes) => ArgBytes::Array(compare::converted(from, to, bytes)),
        ArgBytes::Value(bytes) => ArgBytes::Value(compare::converted(from, to, bytes)),
    }
}
