//! Both sides on the same data.

use std::collections::HashMap;
use std::sync::Arc;

use warpsmith_emu::{BufferId, DeviceMemory};
use warpsmith_front::sema;
use warpsmith_ir::interp::{self, InterpErrorKind, Limits, Memory};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, Module, Scalar, Type, Value};

use super::calls::Given;
use super::launching::Shape;
use super::pairs::{Array, Number, Pairs, Place};
use super::shadow;
use super::side::{Code, Side, Step};
use super::variety::{self, Constants, Sort};
use crate::check::variables;
use crate::data::{
    self, ArgSpec, Element, Init, NamedSpec, eval_extent, scalar_bytes, scalar_from_bytes,
};
use crate::status::Failure;
use warpsmith_translate::tune::sizes::Point;
use warpsmith_translate::tune::verify::host_c::ArgBytes;
use warpsmith_translate::tune::verify::inputs::{self, NoData};

/// Elements after which invented data begin again: a prime, so that no stride meets equal ones.
const PATTERN: u64 = 4093;
/// Steps of the interpreter for one launch.
pub const REFERENCE_STEPS: u64 = 15_000_000;

/// Where data come from.
pub struct Data<'a> {
    pub new: &'a Side,
    pub reference: &'a Side,
    pub pairs: &'a Pairs,
    /// `--arg`, and those of the directives.
    pub specs: &'a [NamedSpec],
    pub max_memory: u64,
    pub constants: Constants,
    /// Which of the arrays of the pairs select elements of others: they keep their plain values.
    pub selects: Vec<bool>,
}

/// What both sides are given at one point.
pub struct Inputs {
    pub point: Point,
    pub seed: u64,
    pub sort: Sort,
    /// One for each of [`Pairs::numbers`].
    pub numbers: Vec<Value>,
    /// One for each of [`Pairs::arrays`].
    pub arrays: Vec<Content>,
}

/// An array before a launch.
#[derive(Clone, Debug)]
pub enum Content {
    Bytes(Vec<u8>),
    /// As long as somebody touches it.
    Grows(Arc<[u8]>),
}

impl Content {
    /// The first bytes of it.
    pub fn bytes(&self, length: u64) -> Vec<u8> {
        match self {
            Content::Bytes(bytes) => bytes.clone(),
            Content::Grows(pattern) => {
                pattern.iter().copied().cycle().take(length as usize).collect()
            }
        }
    }
}

/// Bytes of the arrays of [`Pairs`] after a launch; `None` where a side has no such array.
pub type Arrays = Vec<Option<Vec<u8>>>;

/// What the reference computed: the arrays of [`Pairs`] afterwards, where it has them.
pub struct Computed {
    pub arrays: Arrays,
    /// Statements and expressions, or thread instructions.
    pub steps: u64,
}

impl Computed {
    /// How many bytes its arrays have, which those of the new side have, too.
    pub fn lengths(&self) -> Vec<Option<u64>> {
        self.arrays.iter().map(|a| a.as_ref().map(|b| b.len() as u64)).collect()
    }
}

/// Why a point says nothing.
pub enum Nothing {
    /// The reference has no meaning there.
    Undefined(String),
    /// Its own assumptions exclude it.
    Excluded,
    TooLarge,
    Failed(Failure),
}

impl From<Failure> for Nothing {
    fn from(failure: Failure) -> Nothing {
        Nothing::Failed(failure)
    }
}

impl Data<'_> {
    fn spec(&self, names: &[String]) -> Option<&ArgSpec> {
        self.specs.iter().find(|s| names.contains(&s.name)).map(|s| &s.spec)
    }

    /// The data of a point.
    ///
    /// # Errors
    /// Data that cannot be had.
    pub fn inputs(&self, point: &Point, seed: u64, sort: Sort) -> Result<Inputs, Nothing> {
        let mut inputs = self.plain(point, seed)?;
        self.turn(&mut inputs, sort);
        Ok(inputs)
    }

    /// Gives what nobody gave values to data of another sort.
    fn turn(&self, inputs: &mut Inputs, sort: Sort) {
        inputs.sort = sort;
        let given =
            |names: &[String]| self.specs.iter().any(|s| s.filled && names.contains(&s.name));
        for (i, a) in self.pairs.arrays.iter().enumerate() {
            let is_data = matches!(a.reference, Some(Place::Param(_))) && !self.selects[i];
            if !is_data || given(&a.names) {
                continue;
            }
            let (module, element) = self.element(a);
            let slots = data::scalars_of(module, &element, 0);
            let shape = (layout_of(module, &element).size as usize, slots.as_slice());
            let seed = inputs.seed ^ data::name_hash(&a.name);
            let turn = |bytes: &mut [u8]| variety::turn(sort, &self.constants, shape, bytes, seed);
            match &mut inputs.arrays[i] {
                Content::Bytes(bytes) => turn(bytes),
                Content::Grows(pattern) => {
                    let mut bytes = pattern.to_vec();
                    turn(&mut bytes);
                    *pattern = bytes.into();
                }
            }
        }
        for (n, value) in self.pairs.numbers.iter().zip(&mut inputs.numbers) {
            if sort != Sort::Special && n.ty.is_float() && !given(&n.names) {
                let seed = inputs.seed ^ data::name_hash(&n.name);
                let mut bytes = scalar_bytes(*value);
                let shape = (bytes.len(), &[(0, value.ty)][..]);
                variety::turn(sort, &self.constants, shape, &mut bytes, seed);
                *value = scalar_from_bytes(value.ty, &bytes);
            }
        }
    }

    fn plain(&self, point: &Point, seed: u64) -> Result<Inputs, Nothing> {
        match &self.reference.code {
            Code::C(..) => self.inputs_of_c(point, seed),
            Code::Kernels(_) | Code::Host(_) => {
                let numbers = self.pairs.numbers.iter().map(|n| self.number(n, point, seed));
                let numbers = numbers.collect::<Result<_, _>>()?;
                let arrays = self.pairs.arrays.iter().map(|a| self.content(a, point, seed));
                Ok(Inputs {
                    point: point.clone(),
                    seed,
                    sort: Sort::Plain,
                    numbers,
                    arrays: arrays.collect::<Result<_, _>>()?,
                })
            }
        }
    }

    /// The value of an expression of sizes; `None` for a number.
    fn worked_out(&self, text: &str, ty: Scalar, point: &Point) -> Option<Result<Value, String>> {
        if data::parse_scalar(text, ty).is_ok() {
            return None;
        }
        let value = data::eval_number(text, &self.scalars(point));
        let wide = value.and_then(|v| i64::try_from(v).map_err(|_| "it is too large".to_string()));
        Some(wide.map(|v| match ty.is_float() {
            true => Value::float(ty, v as f64),
            false => Value::int(ty, v),
        }))
    }

    fn number(&self, n: &Number, point: &Point, seed: u64) -> Result<Value, Nothing> {
        if let Some(value) = point.get(&n.name).filter(|_| n.ty.is_integer()) {
            return Ok(Value::int(n.ty, *value));
        }
        match self.spec(&n.names) {
            Some(ArgSpec::Number(text)) => match self.worked_out(text, n.ty, point) {
                Some(Ok(value)) => Ok(value),
                Some(Err(_)) => Err(Nothing::Excluded),
                None => data::parse_scalar(text, n.ty)
                    .map_err(|why| Failure::input("W306", format!("`{}`: {why}", n.name)).into()),
            },
            Some(_) => {
                let why = format!("`{0}` is a number: write {0}=1.5", n.name);
                Err(Failure::input("W306", why).into())
            }
            None => {
                let seed = seed ^ data::name_hash(&n.name);
                let bytes = data::fill(
                    &self.reference.module,
                    &Type::Scalar(n.ty),
                    1,
                    &Init::Random(None),
                    seed,
                );
                Ok(scalar_from_bytes(n.ty, &bytes))
            }
        }
    }

    /// The element type of an array, and the module that it is of.
    pub fn element(&self, array: &Array) -> (&Module, Type) {
        let of =
            |side: &Side, at: usize| side.slots[at].ty.pointee().cloned().unwrap_or(Type::Void);
        match (array.reference, array.new) {
            (Some(Place::Param(at)), _) => (&self.reference.module, of(self.reference, at)),
            (_, Some(at)) => (&self.new.module, of(self.new, at)),
            _ => (&self.reference.module, self.reference.ir().ret.clone()),
        }
    }

    fn content(&self, array: &Array, point: &Point, seed: u64) -> Result<Content, Failure> {
        let (module, element) = self.element(array);
        let seed = seed ^ data::name_hash(&array.name);
        let wrong =
            |why: String| Failure::input("W306", format!("argument `{}`: {why}", array.name));
        if array.reference == Some(Place::Result) {
            return Ok(Content::Bytes(data::fill(module, &element, 1, &Init::Zeros, 0)));
        }
        let random = Init::Random(None);
        let (dims, init) = match self.spec(&array.names) {
            None => return Ok(grows(module, &element, &random, seed)),
            Some(ArgSpec::Init(Init::File(path)))
            | Some(ArgSpec::Array { init: Init::File(path), .. }) => {
                let held = data::read_npy(std::path::Path::new(path)).map_err(wrong)?;
                return Ok(Content::Bytes(held.bytes));
            }
            Some(ArgSpec::Init(init)) => return Ok(grows(module, &element, init, seed)),
            Some(ArgSpec::Array { element: given, dims, init }) => {
                let slots = |ty: &Type| data::scalars_of(module, ty, 0).first().map(|(_, s)| *s);
                if let Element::Type(given) = given
                    && slots(given) != slots(&element)
                {
                    return Err(wrong("its elements have another type".to_string()));
                }
                let filled = self
                    .specs
                    .iter()
                    .find(|s| array.names.contains(&s.name))
                    .is_some_and(|s| s.filled);
                (dims, if filled { init } else { &random })
            }
            Some(_) => return Err(wrong("it is an array; write float[256]=random".to_string())),
        };
        let scalars = self.scalars(point);
        let mut bytes = layout_of(module, &element).size.max(1);
        for dim in dims {
            bytes = bytes.saturating_mul(eval_extent(dim, &scalars).map_err(wrong)?);
        }
        if bytes > self.max_memory {
            return Err(wrong(format!("{bytes} bytes are more than --max-memory allows"))
                .with_status(crate::status::Status::Limit));
        }
        let count = bytes / layout_of(module, &element).size.max(1);
        Ok(Content::Bytes(data::fill(module, &element, count, init, seed)))
    }

    /// Sizes by all their names, for extents.
    fn scalars(&self, point: &Point) -> HashMap<String, i128> {
        let all = self.pairs.numbers.iter().filter_map(|n| Some((n, *point.get(&n.name)?)));
        all.flat_map(|(n, v)| n.names.iter().map(move |name| (name.clone(), i128::from(v))))
            .collect()
    }

    /// As verification of `tune` makes them, with index arrays in range.
    fn inputs_of_c(&self, point: &Point, seed: u64) -> Result<Inputs, Nothing> {
        let f = self.reference.ir();
        let renamed = self.specs.iter().map(|s| {
            let names = self
                .pairs
                .numbers
                .iter()
                .map(|n| &n.names)
                .chain(self.pairs.arrays.iter().map(|a| &a.names));
            let other = names.filter(|n| n.contains(&s.name)).find_map(|n| n.last());
            let worked_out = match &s.spec {
                ArgSpec::Number(text) => self.worked_out(text, Scalar::I64, point),
                _ => None,
            };
            let spec = match worked_out {
                Some(Ok(v)) => ArgSpec::Number(v.as_i64().to_string()),
                _ => s.spec.clone(),
            };
            let s = &NamedSpec { spec, ..s.clone() };
            NamedSpec { name: other.cloned().unwrap_or_else(|| s.name.clone()), ..s.clone() }
        });
        let specs: Vec<NamedSpec> = renamed.collect();
        let sources = inputs::Sources {
            module: &self.reference.module,
            function: f,
            specs: &specs,
            seed,
            max_memory: self.max_memory,
        };
        let given = match inputs::arguments(&sources, point) {
            Ok(given) => given,
            Err(NoData::Memory { .. }) => return Err(Nothing::TooLarge),
            Err(bad) => return Err(Nothing::Failed(bad.failure())),
        };
        let mut numbers = vec![];
        for n in &self.pairs.numbers {
            let place = n.reference.and_then(|slot| Some((slot, self.reference.place_in_c(slot)?)));
            numbers.push(match place.map(|(slot, (at, offset))| (slot, &given[at], offset)) {
                Some((slot, ArgBytes::Value(bytes), offset)) => {
                    let ty = self.reference.slots[slot].ty.scalar().unwrap_or(n.ty);
                    scalar_from_bytes(ty, bytes.get(offset as usize..).unwrap_or(&[]))
                }
                _ => self.number(n, point, seed)?,
            });
        }
        let mut arrays = vec![];
        for a in &self.pairs.arrays {
            let place = match a.reference {
                Some(Place::Param(slot)) => self.reference.place_in_c(slot),
                _ => None,
            };
            arrays.push(match place.map(|(at, _)| &given[at]) {
                Some(ArgBytes::Array(bytes)) => Content::Bytes(bytes.clone()),
                _ => self.content(a, point, seed)?,
            });
        }
        Ok(Inputs { point: point.clone(), seed, sort: Sort::Plain, numbers, arrays })
    }

    /// The values of a side's numbers by its own names.
    pub fn sizes(&self, inputs: &Inputs, of_new: bool) -> Point {
        let side = if of_new { self.new } else { self.reference };
        let own = self.pairs.numbers.iter().zip(&inputs.numbers).filter(|(n, _)| n.ty.is_integer());
        let named = own.filter_map(|(n, v)| {
            let at = if of_new { n.new } else { n.reference }?;
            Some((side.slots[at].name.clone(), v.as_i64()))
        });
        named.collect()
    }

    /// Runs the C function.
    ///
    /// # Errors
    /// [`Nothing`].
    pub fn c_function(
        &self,
        inputs: &Inputs,
        bounds: bool,
        limits: &Limits,
    ) -> Result<(Memory, Computed), Nothing> {
        let (given, buffers, at) = self.interpreted(inputs, &[]);
        let Code::C(_, binds) = &self.reference.code else { return Err(Nothing::TooLarge) };
        let args = self.interp_args(self.reference, self.reference.function, binds, &given, None);
        let mut memory = Memory::new(buffers);
        let limits = Limits { max_steps: REFERENCE_STEPS, track_bounds: bounds, ..limits.clone() };
        let reference = self.reference;
        let run = interp::call(
            &reference.module,
            reference.function,
            &args,
            &mut memory,
            &limits,
            &mut interp::NoLaunch,
        );
        let result = run.map_err(|e| match &e.kind {
            InterpErrorKind::StepLimit(_) => Nothing::TooLarge,
            InterpErrorKind::Unsupported(_) | InterpErrorKind::BadCall(_) => {
                Nothing::Failed(e.to_diagnostic().into())
            }
            _ => Nothing::Undefined(e.to_string()),
        })?;
        let arrays = self.pairs.arrays.iter().zip(at).map(|(a, at)| match a.reference {
            Some(Place::Result) => result.map(scalar_bytes),
            _ => at.map(|at| memory.buffers[at].clone()),
        });
        let computed = Computed { arrays: arrays.collect(), steps: memory.steps };
        Ok((memory, computed))
    }

    /// How far sums may differ, and which buffer each array of the pairs is there.
    ///
    /// # Errors
    /// A sentence: why nothing tells.
    pub fn shadow(
        &self,
        inputs: &Inputs,
        shapes: Option<&[Shape]>,
        after: &[Option<Vec<u8>>],
        limits: &Limits,
    ) -> Result<(Memory, Vec<Option<usize>>), String> {
        let reference = self.reference;
        if let Code::Host(_) = &reference.code {
            return self.host_shadow(inputs, after, limits);
        }
        let Some(shapes) = shapes else {
            let at = self.interpreted(inputs, after).2;
            let run = self.c_function(inputs, true, limits);
            return run
                .map(|(memory, _)| (memory, at))
                .map_err(|_| "it cannot be followed".to_string());
        };
        let (given, buffers, at) = self.interpreted(inputs, after);
        let mut module = reference.module.clone();
        if shapes.len() > 1 && !module.globals.is_empty() {
            return Err("several kernels share variables of the device".to_string());
        }
        let memory = self
            .device_memory(reference, inputs)
            .map_err(|_| "its variables have no values".to_string())?;
        for (g, b) in module.globals.iter_mut().zip(&memory.globals) {
            g.init = Some(b.bytes.clone());
        }
        let limits = Limits { max_steps: REFERENCE_STEPS, ..limits.clone() };
        let sizes = self.sizes(inputs, false);
        let mut memory = Memory::new(buffers);
        let mut shapes = shapes.iter();
        let Code::Kernels(steps) = &reference.code else { return Err("it is no kernel".into()) };
        for step in steps {
            match step {
                Step::Fill { slot, value } => {
                    if let Some(Given::Buffer(b)) = given[*slot] {
                        memory.buffers[b as usize].fill(*value);
                    }
                }
                Step::Launch(stage) => {
                    let Some(shape) = shapes.next() else { break };
                    let of_host = Some((&**stage, &sizes));
                    let args =
                        self.interp_args(reference, stage.function, &stage.binds, &given, of_host);
                    shadow::of_kernel(&module, stage.function, shape, &args, &mut memory, &limits)?;
                }
            }
        }
        Ok((memory, at))
    }

    /// The whole number that options give.
    pub fn fixed(&self, names: &[String]) -> Option<i64> {
        match self.spec(names) {
            Some(ArgSpec::Number(text)) => {
                data::parse_scalar(text, Scalar::I64).ok().map(Value::as_i64)
            }
            _ => None,
        }
    }

    /// Which buffer of [`Data::kernels`] an array is on the new side.
    pub fn buffer_of(&self, array: usize) -> BufferId {
        BufferId(self.pairs.arrays[..array].iter().filter(|a| a.new.is_some()).count() as u32)
    }

    /// The variables of the device: as options give them, as the text says, else the same invented values on both sides.
    pub fn device_memory(&self, side: &Side, inputs: &Inputs) -> Result<DeviceMemory, Failure> {
        let mut memory = DeviceMemory::new(&side.module);
        let set = sema::variables_set_by_host(&side.unit);
        let scalars = self.scalars(&inputs.point);
        for (g, variable) in side.module.globals.iter().zip(&mut memory.globals) {
            let spec = self.specs.iter().find(|s| s.name == g.name).map(|s| &s.spec);
            let undefined =
                !variable.poison.is_empty() || g.init.is_none() && set.contains(&g.name);
            let seed = inputs.seed ^ data::name_hash(&g.name);
            if let Some(spec) = spec {
                variables::set(&side.module, &g.ty, variable, spec, &scalars, seed).map_err(
                    |(why, help)| {
                        Failure::from(
                            Diagnostic::error("W306", format!("variable `{}`: {why}", g.name))
                                .help(help),
                        )
                    },
                )?;
            } else if undefined {
                variable.bytes = data::fill(&side.module, &g.ty, 1, &Init::Random(None), seed);
            }
            variable.poison = vec![];
        }
        Ok(memory)
    }
}

fn grows(module: &Module, element: &Type, init: &Init, seed: u64) -> Content {
    Content::Grows(data::fill(module, element, PATTERN, init, seed).into())
}
