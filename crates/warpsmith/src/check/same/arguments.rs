//! The arguments of a launch or call, for interpreter, emulator and the host's program.

use warpsmith_emu::{Arg, BufferId};
use warpsmith_ir::interp;
use warpsmith_ir::{FuncId, Module, Scalar, Type, Value};

use super::calls::{self, Bind, Given, Stage};
use super::launching::Launching;
use super::pairs::Place;
use super::run::{Data, Inputs};
use super::side::{Code, Side};
use crate::data::scalar_bytes;
use warpsmith_translate::tune::sizes::Point;
use warpsmith_translate::tune::verify::host_c::ArgBytes;

impl Data<'_> {
    /// What the slots of the reference hold, the buffers, and which of them is each array of the pairs. Arrays that grow
    /// are as long as they are after the run.
    #[expect(clippy::type_complexity, reason = "three lists that are made in one walk")]
    pub fn interpreted(
        &self,
        inputs: &Inputs,
        after: &[Option<Vec<u8>>],
    ) -> (Vec<Option<Given>>, Vec<Vec<u8>>, Vec<Option<usize>>) {
        let mut given = self.numbers_of(false, inputs);
        let (mut buffers, mut places) = (vec![], vec![]);
        for (i, (a, content)) in self.pairs.arrays.iter().zip(&inputs.arrays).enumerate() {
            let Some(Place::Param(at)) = a.reference else {
                places.push(None);
                continue;
            };
            let length = after.get(i).and_then(Option::as_ref).map_or(0, |b| b.len() as u64);
            given[at] = Some(Given::Buffer(buffers.len() as u32));
            places.push(Some(buffers.len()));
            buffers.push(content.bytes(length));
        }
        (given, buffers, places)
    }

    /// The numbers among the slots of a side.
    pub fn numbers_of(&self, of_new: bool, inputs: &Inputs) -> Vec<Option<Given>> {
        let side = if of_new { self.new } else { self.reference };
        let mut given = vec![None; side.slots.len()];
        for (n, v) in self.pairs.numbers.iter().zip(&inputs.numbers) {
            if let Some(at) = if of_new { n.new } else { n.reference } {
                let ty = side.slots[at].ty.scalar().unwrap_or(n.ty);
                given[at] = Some(Given::Number(converted(*v, ty)));
            }
        }
        given
    }

    /// The arguments of a function of a side for the interpreter.
    pub fn interp_args(
        &self,
        side: &Side,
        function: FuncId,
        binds: &[Bind],
        given: &[Option<Given>],
        of_host: Option<(&Stage, &Point)>,
    ) -> Vec<interp::Arg> {
        let f = side.module.function(function);
        let one = |(at, bind): (usize, &Bind)| {
            let own = interp_arg(&side.module, &f.var(f.params[at]).ty, bind, given);
            own.unwrap_or_else(|| {
                match of_host.and_then(|(s, sizes)| host_number(side, s, sizes, at)) {
                    Some(v) => interp::Arg::Value(v),
                    None => interp::Arg::Null,
                }
            })
        };
        binds.iter().enumerate().map(one).collect()
    }

    pub fn emu_args(
        &self,
        side: &Side,
        stage: &Stage,
        given: &[Option<Given>],
        sizes: &Point,
    ) -> Vec<Arg> {
        let f = side.module.function(stage.function);
        let one = |(at, bind): (usize, &Bind)| {
            let ty = &f.var(f.params[at]).ty;
            match bind {
                Bind::Slots(places) if ty.is_aggregate() => {
                    Arg::Bytes(calls::bytes_of(&side.module, ty, places, &|s| given[s]))
                }
                Bind::Slots(places) => match places.first().and_then(|(_, s)| given[*s]) {
                    Some(Given::Number(v)) => {
                        Arg::Bytes(scalar_bytes(converted(v, ty.scalar().unwrap_or(v.ty))))
                    }
                    Some(Given::Buffer(b)) => Arg::Pointer { buffer: BufferId(b), offset: 0 },
                    None => Arg::Null,
                },
                Bind::Host => match host_number(side, stage, sizes, at) {
                    Some(v) => Arg::Bytes(scalar_bytes(v)),
                    None => Arg::Null,
                },
            }
        };
        stage.binds.iter().enumerate().map(one).collect()
    }

    /// The arguments of the C function as its own program takes them.
    pub fn bytes_for_c(&self, inputs: &Inputs) -> Vec<ArgBytes> {
        let side = self.reference;
        let Code::C(_, binds) = &side.code else { return vec![] };
        let (given, buffers, _) = self.interpreted(inputs, &[]);
        let f = side.ir();
        let one = |(at, bind): (usize, &Bind)| {
            let ty = &f.var(f.params[at]).ty;
            let Bind::Slots(places) = bind else { return ArgBytes::Value(vec![]) };
            match places.first().and_then(|(_, s)| given[*s]) {
                Some(Given::Buffer(b)) if !ty.is_aggregate() => {
                    ArgBytes::Array(buffers[b as usize].clone())
                }
                Some(Given::Number(v)) if !ty.is_aggregate() => {
                    let ty = ty.scalar().unwrap_or(v.ty);
                    ArgBytes::Value(scalar_bytes(converted(v, ty)))
                }
                _ => ArgBytes::Value(calls::bytes_of(&side.module, ty, places, &|s| given[s])),
            }
        };
        binds.iter().enumerate().map(one).collect()
    }
}

/// What slots give a parameter; `None` where the host code computes it.
pub fn interp_arg(
    module: &Module,
    ty: &Type,
    bind: &Bind,
    given: &[Option<Given>],
) -> Option<interp::Arg> {
    let Bind::Slots(places) = bind else { return None };
    if ty.is_aggregate() {
        return Some(interp::Arg::Bytes(calls::bytes_of(module, ty, places, &|s| given[s])));
    }
    Some(match places.first().and_then(|(_, s)| given[*s]) {
        Some(Given::Number(v)) => interp::Arg::Value(converted(v, ty.scalar().unwrap_or(v.ty))),
        Some(Given::Buffer(b)) => interp::Arg::Pointer { buffer: b as usize, offset: 0 },
        None => interp::Arg::Null,
    })
}

/// What the host code computes for a parameter.
pub fn host_number(side: &Side, stage: &Stage, sizes: &Point, at: usize) -> Option<Value> {
    let Launching::Host(launch) = &stage.launching else { return None };
    let (whole, real) = launch.number(&side.unit, &side.sizes_of_host(sizes), at)?;
    let f = side.module.function(stage.function);
    let ty = f.var(f.params[at]).ty.scalar()?;
    Some(match ty.is_float() {
        true => Value::float(ty, real),
        false => Value::int(ty, i64::try_from(whole).ok()?),
    })
}

/// A whole number as one of another width, a real as it is.
pub fn converted(value: Value, ty: Scalar) -> Value {
    if ty.is_integer() { Value::int(ty, value.as_i64()) } else { value }
}
