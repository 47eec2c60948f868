//! How a run begins: the module's variables, and the arguments of its function.

use super::{Frame, Interp, Run};
use crate::interp::bounds::Track;
use crate::interp::capture::Captured;
use crate::interp::eval::{Item, number, pointer};
use crate::interp::fast::{Loops, Registers};
use crate::interp::memory::{Image, Pointer, Val};
use crate::interp::{Arg, InterpError, InterpErrorKind, Launcher, Limits, Memory};
use crate::layout::layout_of;
use crate::module::{FuncId, Function, Module};
use crate::span::Origin;
use crate::types::{Space, Type};
use crate::value::Value;

impl<'m, 'a, T: Track> Interp<'m, 'a, T> {
    pub fn new(
        module: &'m Module,
        memory: &'a mut Memory,
        limits: &'a Limits,
        launcher: &'a mut dyn Launcher,
    ) -> Self {
        Interp {
            module,
            memory,
            limits,
            launcher,
            objects: vec![],
            local_bytes: 0,
            spare_images: vec![],
            spare_slots: vec![],
            globals: vec![],
            managed: vec![],
            in_memory: vec![None; module.functions.len()],
            frame: Frame { function: None, slots: vec![] },
            depth: 0,
            in_library: 0,
            streams: crate::interp::streams::Streams::default(),
            library_call: Origin::default(),
            steps: 0,
            returned: None,
            working: None,
            last_call: false,
            patient_until: None,
            pending: vec![],
            captured: Captured::default(),
            races: None,
            team: None,
            collectives: 0,
            loops: Loops::default(),
            registers: Registers::default(),
        }
    }

    pub fn run(mut self, function: FuncId, args: &[Arg]) -> Result<Option<Value>, InterpError> {
        let result = self.run_inner(function, args);
        self.memory.steps += self.steps;
        result.map_err(|e| *e)
    }

    pub(super) fn run_inner(&mut self, function: FuncId, args: &[Arg]) -> Run<Option<Value>> {
        self.make_globals()?;
        self.working =
            crate::interp::host::working(self.launcher.tolerant(), self.module, function);
        if self.working.is_some() {
            let number = |(i, id): (usize, &u32)| Some((*id, self.launcher.managed(i)?));
            self.managed = self.globals.iter().enumerate().filter_map(number).collect();
        }
        let f = self.module.function(function);
        let items = self.arguments(f, args)?;
        let result = self.call(function, items, &f.origin)?;
        self.memory.result_bound = None;
        match result {
            Some((Val::Num(v), bound)) => {
                self.memory.result_bound =
                    T::export(bound).filter(|b| v.ty.is_float() || b.slack > 0.0);
                Ok(Some(v))
            }
            Some(_) => self.unsupported("returning anything but a scalar", &f.origin),
            None => Ok(None),
        }
    }

    pub(super) fn make_globals(&mut self) -> Run<()> {
        for g in &self.module.globals {
            let known = g.init.is_some() || g.space != Space::Constant;
            let id = self.allocate(&g.name, &g.ty, known, &g.origin)?;
            if let (Some(init), Some(object)) = (&g.init, self.object_mut(id)) {
                for (to, from) in object.image.bytes.iter_mut().zip(init) {
                    *to = *from;
                }
            }
            self.globals.push(id);
        }
        Ok(())
    }

    pub(super) fn arguments(&mut self, f: &Function, args: &[Arg]) -> Run<Vec<Item<T>>> {
        let bad =
            |this: &Self, why: String| Err(this.error(InterpErrorKind::BadCall(why), &f.origin));
        if args.len() != f.params.len() {
            return bad(
                self,
                format!("{} arguments for {} parameters", args.len(), f.params.len()),
            );
        }
        let mut items = vec![];
        for (arg, param) in args.iter().zip(&f.params) {
            let Some(var) = f.vars.get(param.0 as usize) else {
                return bad(self, "the function has an unknown parameter".into());
            };
            items.push(match (arg, &var.ty) {
                (Arg::Value(v), Type::Scalar(s)) if v.ty == *s => number::<T>(*v),
                (Arg::Pointer { buffer, offset }, Type::Pointer { .. })
                    if *buffer < self.memory.buffers.len() =>
                {
                    pointer::<T>(Pointer { object: Some(*buffer as u32), offset: *offset })
                }
                (Arg::Null, Type::Pointer { .. }) => pointer::<T>(Pointer::NULL),
                (Arg::Bytes(bytes), ty)
                    if ty.is_aggregate()
                        && layout_of(self.module, ty).size == bytes.len() as u64 =>
                {
                    let mut image = Image::new(bytes.len(), true);
                    image.bytes.copy_from_slice(bytes);
                    (Val::Bytes(Box::new(image)), T::input(Value::i32(0)))
                }
                _ => {
                    return bad(
                        self,
                        format!("the argument for `{}` does not fit its type", var.name),
                    );
                }
            });
        }
        Ok(items)
    }
}
