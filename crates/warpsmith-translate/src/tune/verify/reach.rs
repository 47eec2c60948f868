//! Further sizes for paths that the usual ones do not reach.
//!
//! Sizes are solved for: those at which a grid gets its second block along an axis are found by asking the launcher, those
//! around which conditions change are read off the text. Combinations of them are drawn; the launcher says which of them
//! could show anything new, a few blocks of the emulator whether they do, and those that do are run whole and compared.
//! Where that is not enough, sizes as small as a kernel's conditions allow are changed one at a time: several loops beside each
//! other cost too much where each of them is a multiple of what one must be.

use std::collections::BTreeSet;

use warpsmith_emu as emu;
use warpsmith_tune::rng::Rng;

use super::coverage::Coverage;
use super::inputs;
use super::lowered;
use super::oversized::{Budget, Large, THREADS};
use super::part::Part;
use super::sampled::{self, Sampled};
use super::variant::Variant;
use super::witness::{CONSTANT_MEMORY, How, Witness, WitnessError, WitnessRun};
use super::{Failed, Verified, Verifier};
use crate::tune::sizes::Point;

/// The most iterations of all loops together, by the product of all sizes, in the order they are tried: cheap ones first.
const WORK: [u64; 3] = [1 << 16, 1 << 19, 1 << 22];
/// Elements of all arrays at a point.
const ELEMENTS: u64 = 1 << 24;
/// Combinations that are drawn for each of [`WORK`].
const DRAWS: usize = 160;
/// Of them, those that are looked at in a few blocks.
const PROBES: usize = 60;
/// Runs that do not take a way that they promised, before such promises count less.
const FRUITLESS: usize = 4;
/// Sizes that are run whole.
const RUNS: usize = 12;
/// Of sizes that differ in one parameter from the smallest, those that are looked at.
const NEIGHBOURS: usize = 400;
/// The longest loop that is tried where all others are as short as can be.
const LONG: i64 = 512;
/// The same where nothing shorter will do, and how many lengths of each are tried.
const LONGEST: i64 = 2100;
const LONGER: usize = 6;
/// Statements of a launcher that is asked for its grids: a loop in time need not go on to the largest size.
const TILE_STEPS: u64 = 2_000_000;
/// Thread instructions of one look, and of all looks of a round.
const PROBE_STEPS: u64 = 100_000_000;
const ROUND_STEPS: u64 = 4 * PROBE_STEPS;
/// The most blocks along an axis where limits on blocks are lowered.
pub(in crate::tune) const FEWER_BLOCKS: u32 = 3;
/// The largest sizes that the launcher takes its usual way for, where limits on them are lowered.
const FEW_SIZES: u32 = 3;

/// Runs further sizes as long as something is missing.
///
/// # Errors
/// [`Failed`], where the kernel is wrong at one.
pub fn verify(
    verifier: &Verifier<'_>,
    candidates: &[Point],
    verified: &mut Verified,
) -> Result<(), Failed> {
    let Some(params) = candidates.first().map(|p| p.keys().cloned().collect::<Vec<_>>()) else {
        return Ok(());
    };
    if verified.coverage.is_complete() {
        return Ok(());
    }
    let with = |most: u32| Some((verifier.witness.with_fewer_blocks(most.into())?, most));
    // A second stride of the one block costs less than one of several, where the work is quadratic in a size.
    let lowered: Vec<(Witness, u32)> = [FEWER_BLOCKS, 1].into_iter().filter_map(with).collect();
    let asked_in_c = lowered::compared_with(verifier.module(), &verifier.function().body);
    let below = |least| verifier.witness.with_lower_sizes(least, FEW_SIZES.into(), &asked_in_c);
    let beyond = below(lowered::LEAST_SIZE);
    let few_sizes = |text| Variant::FewSizes(text, FEW_SIZES);
    let few_blocks = lowered.iter().map(|(text, most)| Variant::FewBlocks(text, *most));
    let variants = [Variant::Plain].into_iter().chain(few_blocks);
    let variants = variants.chain(beyond.as_ref().map(few_sizes)).chain([Variant::Unaligned]);
    let own = own_moduli(verifier);
    let search = Search { verifier, variants: variants.collect(), moduli: modulus(&own), own };
    search.all(&params, verified)?;
    match below(lowered::LEAST_LIMIT) {
        Some(text) if !verified.coverage.is_complete() => {
            Search { variants: vec![few_sizes(&text)], ..search }.unlikely(&params, verified)
        }
        _ => Ok(()),
    }
}

/// Runs second blocks that only lower limits make affordable, as of kernels that run whole waves of blocks.
///
/// # Errors
/// [`Failed`], where the kernel is wrong at one.
pub fn second_blocks(
    verifier: &Verifier<'_>,
    candidates: &[Point],
    verified: &mut Verified,
) -> Result<(), Failed> {
    if verified.one_block.is_empty() {
        return Ok(());
    }
    let Some(lowered) = verifier.witness.with_fewer_blocks(FEWER_BLOCKS.into()) else {
        return Ok(());
    };
    let variant = Variant::FewBlocks(&lowered, FEWER_BLOCKS);
    Large { verifier, variant }.second_blocks(candidates, verified)
}

/// What the search has done so far.
struct Tally {
    hoped: Coverage,
    runs: usize,
    fruitless: usize,
    /// Thread instructions of looks in this round.
    steps: u64,
}

impl Tally {
    fn new(verified: &Verified) -> Tally {
        Tally { hoped: verified.coverage.clone(), runs: 0, fruitless: 0, steps: 0 }
    }

    fn is_spent(&self) -> bool {
        self.runs >= RUNS || self.steps >= ROUND_STEPS
    }
}

struct Search<'a> {
    verifier: &'a Verifier<'a>,
    /// The ways in which sizes are run.
    variants: Vec<Variant<'a>>,
    /// A multiple of every number by which sizes are divided in conditions of the launcher.
    moduli: i64,
    /// The same for each size alone, in the order of the conditions.
    own: Vec<(String, i64)>,
}

/// What the launcher divides each size by, as long as it is small.
fn own_moduli(verifier: &Verifier<'_>) -> Vec<(String, i64)> {
    let facts = super::launcher_cases::of_launcher(
        verifier.witness.module().function(verifier.witness.launcher()),
    );
    let multiple = |fact| match fact {
        super::launcher_cases::Fact::Multiple(name, n) if (1..=1024).contains(&n) => {
            Some((name, n))
        }
        _ => None,
    };
    facts.into_iter().flatten().filter_map(multiple).collect()
}

/// The least common multiple of all of them, as long as it is small.
fn modulus(own: &[(String, i64)]) -> i64 {
    own.iter().fold(1, |all, (_, n)| {
        let more = all / gcd(all, *n) * n;
        if more <= 4096 { more } else { all }
    })
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What each size must be a multiple of.
struct Least(Vec<(String, i64)>);

impl Least {
    /// Multiples of that, not below zero, in order.
    fn whole(&self, pools: &[Vec<i64>]) -> Vec<Vec<i64>> {
        let pools = self.0.iter().zip(pools).map(|((_, n), pool)| {
            let values: BTreeSet<i64> = pool.iter().map(|v| (v + n - 1) / n * n).collect();
            values.into_iter().filter(|v| *v >= 0).collect()
        });
        pools.collect()
    }

    /// The least sizes but for some.
    fn with(&self, changes: &[(usize, i64)]) -> Point {
        let mut point: Point = self.0.iter().map(|(p, n)| (p.clone(), (*n).max(1))).collect();
        for (k, value) in changes {
            point.insert(self.0[*k].0.clone(), *value);
        }
        point
    }
}

impl Search<'_> {
    /// Runs sizes as long as something is missing.
    fn all(&self, params: &[String], verified: &mut Verified) -> Result<(), Failed> {
        if params.is_empty() {
            return self.only_size(verified);
        }
        let pools: Vec<Vec<i64>> = params.iter().map(|p| self.pool(params, p)).collect();
        self.drawn(params, &pools, verified)?;
        self.around_least(params, &pools, verified)
    }

    /// The same with limits lowered that sizes could be beyond, but that data have to be beyond, too, or what arrays hold. Behind such a limit may
    /// stand what is right there only: where a run goes wrong, none has shown anything.
    fn unlikely(&self, params: &[String], verified: &mut Verified) -> Result<(), Failed> {
        let before = verified.coverage.clone();
        match self.all(params, verified) {
            Err(Failed::Wrong { .. } | Failed::Differs { .. } | Failed::Race { .. }) => {
                verified.coverage = before;
                Ok(())
            }
            other => other,
        }
    }

    /// Combinations of sizes that are drawn.
    fn drawn(
        &self,
        params: &[String],
        pools: &[Vec<i64>],
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let mut rng = Rng::new(1);
        // With ways that data of zeros take and other data do not.
        let mut tally = Tally::new(verified);
        for work in WORK {
            let mut seen = BTreeSet::new();
            let mut probes = 0;
            tally.steps = 0;
            for draw in 0..DRAWS {
                if verified.coverage.is_complete() || tally.is_spent() || probes >= PROBES {
                    break;
                }
                let point = self.draw(draw, params, pools, &mut rng);
                if !self.is_affordable(&point, work) || !seen.insert(point.clone()) {
                    continue;
                }
                probes += self.look(&point, &mut tally, verified)?;
            }
        }
        Ok(())
    }

    /// The least sizes, and those that differ from them in a size or two.
    fn around_least(
        &self,
        params: &[String],
        pools: &[Vec<i64>],
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let least = self.least(params);
        let [alone, near] = self.neighbours(&least, pools);
        let far = self.longer(&least, pools);
        for (points, most) in [(alone, NEIGHBOURS), (near, PROBES), (far, PROBES)] {
            // What larger sizes promised and did not show, as they took too long, smaller ones may.
            let mut tally = Tally::new(verified);
            let mut probes = 0;
            for point in points.into_iter().take(NEIGHBOURS) {
                if verified.coverage.is_complete() || tally.is_spent() || probes >= most {
                    break;
                }
                if self.is_affordable(&point, WORK[2]) {
                    probes += self.look(&point, &mut tally, verified)?;
                }
            }
        }
        Ok(())
    }

    /// Where there is one size, it is run in the other ways: in part, if it was before.
    fn only_size(&self, verified: &mut Verified) -> Result<(), Failed> {
        let point = Point::new();
        let in_part = !verified.in_part.is_empty();
        let others = self.variants.iter().filter(|v| !matches!(v, Variant::Plain));
        for variant in others.copied() {
            if verified.coverage.is_complete() {
                break;
            }
            if !self.may_help(variant, &point, &verified.coverage) {
                continue;
            }
            let sampled = match in_part {
                true => sampled::verify(self.verifier, &point, variant)?,
                false => Sampled::RunWhole,
            };
            match sampled {
                // One way may be cheap where another is not.
                Sampled::RunWhole => {
                    self.run(variant, &point, &Budget::ONLY_POINT, verified)?;
                }
                Sampled::Agrees { run, name, .. } => {
                    verified.agreed_in_part(&point, &name, &run);
                }
                Sampled::Unknown => {}
            }
        }
        Ok(())
    }

    /// The sizes of a parameter at which something may change, in order.
    fn pool(&self, params: &[String], param: &str) -> Vec<i64> {
        let module = self.verifier.witness.module();
        let mut numbers: Vec<i64> = self.verifier.special.to_vec();
        for function in &module.functions {
            numbers.extend(lowered::compared_with(module, &function.body));
        }
        numbers.retain(|n| (1..=1 << 21).contains(n));
        let mut values = vec![0, 1, 2, 3, 5, 8, 37, 64];
        for n in numbers {
            values.extend([n - 1, n, n + 1, 2 * n, 2 * n + 1, 3 * n, 4 * n, 4 * n + 1]);
        }
        for tile in self.tiles(params, param) {
            let many = i64::from(FEWER_BLOCKS) * tile;
            values.extend([tile - 1, tile, tile + 1, tile + tile / 2 + 1, 2 * tile, 2 * tile + 1]);
            values.extend([many, many + 1, 2 * many + tile / 2, 8 * tile, 8 * tile + 1]);
        }
        values.retain(|v| (0..=1 << 22).contains(v));
        // A function may ask whether a size is below zero.
        if self.is_signed(param) {
            values.push(-1);
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    fn is_signed(&self, param: &str) -> bool {
        let function = self.verifier.function();
        let vars = function.params.iter().map(|p| function.var(*p));
        let own = vars.into_iter().find(|v| v.name == param);
        own.and_then(|v| v.ty.scalar()).is_some_and(warpsmith_ir::Scalar::is_signed)
    }

    /// The largest sizes of a parameter with one block along an axis, where larger ones have several: what blocks compute.
    fn tiles(&self, params: &[String], param: &str) -> BTreeSet<i64> {
        let mut tiles = BTreeSet::new();
        let own = self.own_modulus(param);
        let bases = [4096, 4096 + 1, self.moduli * 32].map(|base| [(base, 1), (base, own)]);
        let mut bases = bases.concat();
        bases.dedup();
        for (base, multiple) in bases {
            // A launcher that asks for multiples takes another way at other sizes.
            let at = |size: i64| -> Point {
                let own = (size + multiple - 1) / multiple * multiple;
                let of = |p: &String| (p.clone(), if p == param { own } else { base });
                params.iter().map(of).collect()
            };
            let several = |size: i64| -> BTreeSet<(String, usize)> {
                let grids = self.grids(&at(size)).into_iter();
                grids
                    .flat_map(|(k, grid)| {
                        (0..3).filter(move |a| grid[*a] > 1).map(move |a| (k.clone(), a))
                    })
                    .collect()
            };
            let most: i64 = 1 << 20;
            let always = several(1);
            for axis in several(most).difference(&always) {
                let (mut low, mut high) = (1, most);
                while high - low > 1 {
                    let middle = low + (high - low) / 2;
                    match several(middle).contains(axis) {
                        true => high = middle,
                        false => low = middle,
                    }
                }
                tiles.insert((low + multiple - 1) / multiple * multiple);
            }
        }
        tiles
    }

    fn grids(&self, point: &Point) -> super::witness::Grids {
        let args = inputs::without_contents(&self.verifier.sources, point, CONSTANT_MEMORY);
        let result = self.verifier.result_type();
        args.and_then(|args| self.verifier.witness.grids(&args, result, TILE_STEPS).ok())
            .unwrap_or_default()
    }

    /// Half of the draws are multiples of everything that the launcher asks for.
    fn draw(&self, draw: usize, params: &[String], pools: &[Vec<i64>], rng: &mut Rng) -> Point {
        let aligned = draw.is_multiple_of(2);
        // Loops that do nothing, and once, beside others that fill blocks.
        let few = draw / 2 / params.len();
        let (few_of, few) = (draw / 2 % params.len(), i64::try_from(few).unwrap_or(i64::MAX));
        let of = |(k, (param, pool)): (usize, (&String, &Vec<i64>))| {
            let value = match few {
                // All loops begin a second block and are cut off in it.
                0..=2 => [40, 70, 130][few as usize],
                3 | 4 if k == few_of => return (param.clone(), few - 3),
                3 | 4 => 64 + i64::from(!aligned),
                _ => rng.pick(pool).copied().unwrap_or(1),
            };
            let whole = (value + self.moduli - 1) / self.moduli * self.moduli;
            (param.clone(), if aligned { whole } else { value })
        };
        params.iter().zip(pools).enumerate().map(of).collect()
    }

    /// Every size the least that a kernel's own conditions allow, and no iteration or only one of those that have none.
    fn least(&self, params: &[String]) -> Least {
        Least(params.iter().map(|p| (p.clone(), self.own_modulus(p))).collect())
    }

    /// What a launcher asks a size to be a multiple of.
    fn own_modulus(&self, param: &str) -> i64 {
        let own = self.own.iter().filter(|(name, _)| name == param);
        modulus(&own.cloned().collect::<Vec<_>>())
    }

    /// The least sizes and each of them at the sizes at which something may change; and each of these beside a second step of
    /// another loop.
    fn neighbours(&self, least: &Least, pools: &[Vec<i64>]) -> [Vec<Point>; 2] {
        let pools = least.whole(pools);
        let (mut alone, mut found) = (vec![least.with(&[])], vec![]);
        let most = pools.iter().map(Vec::len).max().unwrap_or(0);
        for rank in 0..most {
            for (k, pool) in pools.iter().enumerate() {
                // From both ends: a path may want a long loop, and little of all others.
                let long = pool.iter().rev().filter(|v| **v <= LONG).nth(rank);
                for value in pool.get(rank).into_iter().chain(long) {
                    alone.push(least.with(&[(k, *value)]));
                    for other in (0..pools.len()).filter(|o| *o != k) {
                        let more = 2 * least.0[other].1.max(1);
                        found.push(least.with(&[(k, *value), (other, more)]));
                    }
                }
            }
        }
        let mut seen = BTreeSet::new();
        [alone, found].map(|mut points| {
            points.retain(|point| seen.insert(point.clone()));
            points
        })
    }

    /// Each size alone at those beyond the ones that are tried first, the least ones of each: blocks may be that long.
    fn longer(&self, least: &Least, pools: &[Vec<i64>]) -> Vec<Point> {
        let mut pools = least.whole(pools);
        pools.iter_mut().for_each(|pool| pool.retain(|v| (LONG + 1..=LONGEST).contains(v)));
        let of_rank = |rank: usize| {
            let pools = pools.iter().enumerate();
            pools.filter_map(move |(k, pool)| Some(least.with(&[(k, *pool.get(rank)?)])))
        };
        (0..LONGER).flat_map(of_rank).collect()
    }

    /// Looks whether a point promises anything, and runs it where it does; the number of looks.
    fn look(
        &self,
        point: &Point,
        tally: &mut Tally,
        verified: &mut Verified,
    ) -> Result<usize, Failed> {
        let mut probes = 0;
        for variant in self.variants.iter().copied() {
            if !self.may_help(variant, point, &verified.coverage) {
                continue;
            }
            probes += 1;
            let probe = match self.probe(variant, point) {
                Some(Ok(probe)) => probe,
                Some(Err(WitnessError::Limit(_))) => {
                    tally.steps += PROBE_STEPS;
                    continue;
                }
                _ => continue,
            };
            tally.steps += probe.thread_instructions;
            let gains = |c: &Coverage| c.clone().add("", probe.grids.keys(), &probe.ways);
            if gains(&verified.coverage) && gains(&tally.hoped) {
                tally.runs += 1;
                self.run(variant, point, &Budget::ONE_MORE, verified)?;
                if gains(&verified.coverage) {
                    tally.fruitless += 1;
                    // Another size may have data that go this way, too.
                    if tally.fruitless > FRUITLESS {
                        tally.hoped.add("", probe.grids.keys(), &probe.ways);
                    }
                }
            }
        }
        Ok(probes)
    }

    fn is_affordable(&self, point: &Point, work: u64) -> bool {
        let product =
            point.values().try_fold(1u64, |all, v| all.checked_mul(v.unsigned_abs().max(1)));
        let sources = &self.verifier.sources;
        let elements = sources.total_elements(point);
        product.is_some_and(|n| n <= work) && elements.is_some_and(|n| n <= ELEMENTS)
    }

    /// Whether the launcher goes a new way, or launches a kernel of which something is missing.
    fn may_help(&self, variant: Variant<'_>, point: &Point, coverage: &Coverage) -> bool {
        let sources = &self.verifier.sources;
        let Some(args) = inputs::without_contents(sources, point, CONSTANT_MEMORY) else {
            return false;
        };
        let text = variant.text(self.verifier.witness);
        let asked = text.asks_for(&args, self.verifier.result_type(), variant.is_unaligned());
        asked.is_ok_and(|a| a.threads <= THREADS && coverage.may_gain(a.grids.keys(), &a.ways))
    }

    /// A few blocks, on arrays of zeros; `None`: they would be too large.
    fn probe(
        &self,
        variant: Variant<'_>,
        point: &Point,
    ) -> Option<Result<WitnessRun, WitnessError>> {
        let args = inputs::without_contents(&self.verifier.sources, point, usize::MAX)?;
        let options = emu::Options {
            checks: emu::Checks::NONE,
            max_total_steps: PROBE_STEPS,
            ..self.verifier.options.clone()
        };
        let text = variant.text(self.verifier.witness);
        let part = Part::new(false);
        let how = How { unaligned: variant.is_unaligned(), part: Some(part) };
        Some(text.run_as(&args, self.verifier.result_type(), &options, how))
    }

    fn run(
        &self,
        variant: Variant<'_>,
        point: &Point,
        budget: &Budget,
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let large = Large { verifier: self.verifier, variant };
        match large.at_point(point, budget, verified) {
            Err(Failed::Limit(_) | Failed::Input(_)) => Ok(()),
            other => other,
        }
    }
}
