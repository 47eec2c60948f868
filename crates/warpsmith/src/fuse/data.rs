//! What covers are verified on: elements of several kinds, and what the references make of them.
//!
//! A routine may be right for numbers below 1 and wrong beyond, for all but equal ones, or left of a constant of its own.
//! So half of the elements are plain, a quarter has a magnitude of its own in each input, and a quarter is made of zeros,
//! small integers and the constants that stand in the functions' code. An element whose results are not finite says
//! nothing of kernels that sum in another order: it is made smaller, and in the end plain.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_fuse::plan::Planner;
use warpsmith_fuse::script::VarId;
use warpsmith_ir::Diagnostic;

use super::reference::{Expected, References};

/// Exponents of 2 of the magnitudes: results of kernels go wrong with large numbers rather than with small ones, and
/// products of very small ones leave the range in which relative errors mean something.
const EXPONENTS: std::ops::RangeInclusive<i32> = -6..=24;

/// How often an element is made smaller before it is made plain.
const ATTEMPTS: u32 = 3;

/// The share of a number that errors may have for it to say something.
const DIGITS: f64 = 0.05;

/// Kinds of elements, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Between -1 and 1.
    Plain,
    /// Between -2^e and 2^e, another e for each input.
    Scaled,
    /// Zeros, small integers, constants of the code.
    Special,
}

impl Kind {
    /// The kind that an element has if its results are finite.
    fn of(element: usize) -> Kind {
        match element % 4 {
            1 => Kind::Scaled,
            3 => Kind::Special,
            _ => Kind::Plain,
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Kind::Plain => "numbers between -1 and 1",
            Kind::Scaled => "numbers of different magnitudes, up to 2^24",
            Kind::Special => "zeros, small integers and constants of the functions' code",
        }
    }
}

/// Inputs and expected outputs: for the largest number of elements so far; fewer are a part of them.
pub struct Data<'a> {
    pub planner: &'a Planner<'a>,
    references: &'a References,
    seed: u64,
    constants: Vec<f32>,
    pub inputs: Vec<Vec<f32>>,
    pub expected: Expected,
    /// What each element turned out to be.
    pub kinds: Vec<Kind>,
}

impl<'a> Data<'a> {
    pub fn new(planner: &'a Planner<'a>, references: &'a References, seed: u64) -> Data<'a> {
        let outputs = planner.program.outputs.len();
        let expected = Expected { outputs: vec![vec![]; outputs], bounds: vec![vec![]; outputs] };
        let inputs = vec![vec![]; planner.program.inputs.len()];
        let constants = constants(planner);
        Data { planner, references, seed, constants, inputs, expected, kinds: vec![] }
    }

    /// Floats of an element of a variable.
    pub fn size(&self, v: VarId) -> usize {
        self.planner.library.elements(self.planner.program.variables[v.0].ty) as usize
    }

    /// Makes sure that there are so many elements.
    ///
    /// # Errors
    /// W541: a reference that cannot be run, on plain numbers.
    pub fn grow(&mut self, count: usize) -> Result<(), Diagnostic> {
        let mut made: Vec<Option<Made>> = (self.kinds.len()..count).map(|_| None).collect();
        for attempt in 0..=ATTEMPTS {
            let missing: Vec<usize> = (0..made.len()).filter(|k| made[*k].is_none()).collect();
            for (k, one) in missing.iter().zip(self.attempt(&missing, attempt)?) {
                made[*k] = one;
            }
        }
        for one in made.into_iter().flatten() {
            self.kinds.push(one.kind);
            append(&mut self.inputs, one.inputs);
            append(&mut self.expected.outputs, one.expected.outputs);
            append(&mut self.expected.bounds, one.expected.bounds);
        }
        Ok(())
    }

    /// Makes elements, each counted from those that are there; those that cannot be used are missing.
    fn attempt(&self, elements: &[usize], attempt: u32) -> Result<Vec<Option<Made>>, Diagnostic> {
        if elements.is_empty() {
            return Ok(vec![]);
        }
        let element = |k: &usize| self.element(self.kinds.len() + k, attempt);
        let all: Vec<(Kind, Vec<Vec<f32>>)> = elements.iter().map(element).collect();
        match self.run(&all) {
            Ok(made) => {
                let usable = |one: &Made| attempt == ATTEMPTS || one.expected.is_finite();
                Ok(made.into_iter().map(|one| usable(&one).then_some(one)).collect())
            }
            Err(why) if attempt == ATTEMPTS => Err(why),
            // A reference that runs on plain numbers only: one by one. One that never runs is said at once.
            Err(_) => {
                self.run(&[self.element(0, ATTEMPTS)])?;
                let alone = |one: &(Kind, Vec<Vec<f32>>)| {
                    let mut made = self.run(std::slice::from_ref(one)).ok()?;
                    made.pop().filter(|one| one.expected.is_finite())
                };
                Ok(all.iter().map(alone).collect())
            }
        }
    }

    /// The references' results for elements, each given as its inputs.
    fn run(&self, elements: &[(Kind, Vec<Vec<f32>>)]) -> Result<Vec<Made>, Diagnostic> {
        let (program, library) = (self.planner.program, self.planner.library);
        let inputs: Vec<Vec<f32>> = (0..program.inputs.len())
            .map(|k| elements.iter().flat_map(|(_, inputs)| &inputs[k]).copied().collect())
            .collect();
        let expected = self.references.run(program, library, &inputs, elements.len())?;
        let sizes: Vec<usize> = program.outputs.iter().map(|v| self.size(*v)).collect();
        let part = |e: usize| Expected {
            outputs: parts(&expected.outputs, &sizes, e),
            bounds: parts(&expected.bounds, &sizes, e),
        };
        let one = |(e, (kind, inputs)): (usize, &(Kind, Vec<Vec<f32>>))| Made {
            kind: *kind,
            inputs: inputs.clone(),
            expected: part(e),
        };
        Ok(elements.iter().enumerate().map(one).collect())
    }

    /// The inputs of an element. Each has random numbers of its own, whatever the number of elements.
    fn element(&self, element: usize, attempt: u32) -> (Kind, Vec<Vec<f32>>) {
        let seed = self.seed ^ (element as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let kind = if attempt == ATTEMPTS { Kind::Plain } else { Kind::of(element) };
        let input = |v: &VarId| self.floats(self.size(*v), kind, attempt, &mut rng);
        (kind, self.planner.program.inputs.iter().map(input).collect())
    }

    fn floats(
        &self,
        size: usize,
        kind: Kind,
        attempt: u32,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Vec<f32> {
        let exponents = u64::from(EXPONENTS.end().abs_diff(*EXPONENTS.start())) + 1;
        let exponent = EXPONENTS.start() + (rng.next_u64() >> 32).rem_euclid(exponents) as i32;
        // Smaller with each attempt; the last one is plain.
        let smaller = f32::from(1u8 << (2 * attempt));
        let scale = (exponent as f32 / smaller).exp2();
        let one = |rng: &mut Xoshiro256PlusPlus| match kind {
            Kind::Plain => random(rng),
            Kind::Scaled => random(rng) * scale,
            Kind::Special => {
                let number =
                    &self.constants[(rng.next_u64() >> 32) as usize % self.constants.len()];
                number / smaller
            }
        };
        (0..size).map(|_| one(rng)).collect()
    }

    /// Outputs none of whose numbers says anything: they are infinite, zero or no numbers, or all their digits may be rounding errors.
    pub fn doubted(&self) -> Vec<&str> {
        let program = self.planner.program;
        let judged = |k: usize| {
            let (floats, bounds) = (&self.expected.outputs[k], &self.expected.bounds[k]);
            floats.iter().zip(bounds).any(|(x, b)| {
                let allowed = super::verify::allowed(*x, *b);
                x.is_finite() && *x != 0.0 && allowed <= DIGITS * f64::from(x.abs())
            })
        };
        let doubted = program.outputs.iter().enumerate().filter(|(k, _)| !judged(*k));
        doubted.map(|(_, v)| program.variables[v.0].name.as_str()).collect()
    }
}

/// An element: its inputs, and what comes of them.
struct Made {
    kind: Kind,
    inputs: Vec<Vec<f32>>,
    expected: Expected,
}

/// Between -1 and 1, with all bits of the mantissa.
pub fn random(rng: &mut Xoshiro256PlusPlus) -> f32 {
    let bits = rng.next_u64() >> 40;
    bits as f32 / (1u64 << 23) as f32 - 1.0
}

fn append<T>(all: &mut [Vec<T>], more: Vec<Vec<T>>) {
    for (array, more) in all.iter_mut().zip(more) {
        array.extend(more);
    }
}

/// An element's part of each array.
fn parts<T: Clone>(arrays: &[Vec<T>], sizes: &[usize], element: usize) -> Vec<Vec<T>> {
    let part =
        |(array, size): (&Vec<T>, &usize)| array[element * size..(element + 1) * size].to_vec();
    arrays.iter().zip(sizes).map(part).collect()
}

/// Small integers, and for each constant in the code of the functions that number, the numbers beside it, and one beyond.
fn constants(planner: &Planner<'_>) -> Vec<f32> {
    let mut found = vec![];
    for f in planner.library.functions() {
        let files = ["cu", "cpp"].map(|ending| format!("{}.{ending}", f.name));
        for text in files.iter().filter_map(|name| planner.library.files.get(name)) {
            for number in literals(text) {
                let near = [number, number.next_up(), number.next_down(), 1.5 * number];
                found.extend(near.into_iter().flat_map(|x| [x, -x]));
            }
        }
    }
    // No number of the code more often than the others.
    found.sort_by(f32::total_cmp);
    found.dedup();
    let small = [0.0, 0.0, 1.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5];
    small.into_iter().chain(found).collect()
}

/// Floating-point literals of C text, their values; those that are of no use as data are left out.
fn literals(text: &str) -> Vec<f32> {
    let boundary = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_');
    let mut found = vec![];
    // The sign of an exponent is part of its number.
    for word in
        text.replace("e-", "e\u{1}").replace("E-", "e\u{1}").split(|c| boundary(c) && c != '\u{1}')
    {
        let word = word.replace('\u{1}', "-");
        let number = word.trim_end_matches(['f', 'F']);
        let is_real = number.contains('.') || number.contains(['e', 'E']);
        if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !is_real {
            continue;
        }
        found.extend(number.parse::<f32>().ok().filter(|x| (1e-6..=2e7).contains(x)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_code_are_read() {
        let text =
            "if (x > 12.5f || y<1e-3f) s = a[3].y * 0.25; /* 7 */ z = .5f + 2.e2 - v1.0 + 1e30f;";
        assert_eq!(literals(text), [12.5, 1e-3, 0.25, 0.5, 200.0]);
    }
}
