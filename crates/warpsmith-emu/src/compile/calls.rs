//! Calls of device functions: each is expanded in place.

use std::collections::HashMap;

use warpsmith_ir::{Expr, ExprKind, FuncId, FunctionKind, Place, PlaceKind, Type, VarId};

use super::facts::without_casts;
use super::lir::*;
use super::lower::{Frame, Lower, Result, Slot};
use super::places::{Addr, PlaceRef, variable_read};

/// Deeper nests of calls are refused.
const MAX_DEPTH: usize = 100;

impl<'m> Lower<'m> {
    pub fn call(&mut self, callee: FuncId, args: &[Expr], result: Option<&Place>) -> Result<()> {
        let module = self.module;
        let Some(function) = module.functions.get(callee.0 as usize) else {
            return self.unsupported("a call of a function that does not exist");
        };
        if function.kind == FunctionKind::Kernel {
            return self.unsupported("a call of a kernel");
        }
        if self.frames.len() > MAX_DEPTH {
            return self.unsupported("recursion, or calls nested more than 100 deep");
        }
        let result_place = result.map(|p| self.place(p)).transpose()?;
        let bound = self.bind_arguments(callee, args)?;
        let (site, end) = (self.site, self.label());
        let leaves = self.leaves(&function.ret).unwrap_or_default();
        let returns: Vec<Opd> = leaves.iter().map(|l| self.register(l.ty)).collect();
        let around = self.in_library;
        self.in_library |= function.of_library;
        let region = self.enter(vec![], 0);
        self.frames.push(Frame {
            function,
            id: callee,
            slots: HashMap::new(),
            region,
            returns: returns.clone(),
            end,
            is_kernel: false,
        });
        for (param, binding) in function.params.iter().zip(bound) {
            self.bind(*param, binding)?;
        }
        let exits = std::mem::take(&mut self.exits);
        self.block(&function.body)?;
        self.exits = exits;
        self.in_library = around;
        self.leave();
        self.emit(Op::Label(end))?;
        // Whoever returns early ends the same variables.
        self.ended(&function.body)?;
        self.frames.pop();
        self.site = site;
        match (result_place, result) {
            (Some(place), Some(p)) => self.write(&place, &p.ty, &returns),
            _ => Ok(()),
        }
    }

    /// Evaluates the arguments in the caller.
    fn bind_arguments(&mut self, callee: FuncId, args: &[Expr]) -> Result<Vec<Binding>> {
        let function = self.module.function(callee);
        let mut out = vec![];
        for (param, arg) in function.params.iter().zip(args) {
            let alias = self
                .facts
                .get(callee)
                .and_then(|f| f.alias.get(param.0 as usize).copied())
                .unwrap_or(false);
            out.push(self.argument(arg, alias)?);
        }
        if out.len() != function.params.len() {
            return self.unsupported("a call with too few arguments");
        }
        Ok(out)
    }

    fn argument(&mut self, arg: &Expr, alias: bool) -> Result<Binding> {
        if alias {
            let arg = without_casts(arg);
            if let ExprKind::AddressOf(p) = &*arg.kind {
                match self.place(p)? {
                    PlaceRef::Memory(addr) => {
                        let pointer = self.address_value(&addr)?;
                        return Ok(Binding::Value(vec![pointer]));
                    }
                    place => return Ok(Binding::Alias(place)),
                }
            }
            if let Some(v) = variable_read(arg)
                && let Slot::Alias(place) = self.slot(v)?
            {
                return Ok(Binding::Alias(place));
            }
        }
        // `&*p` of an aliasing parameter that is handed to an ordinary pointer.
        if let ExprKind::AddressOf(p) = &*arg.kind
            && let PlaceKind::Deref(inner) = &*p.kind
        {
            return Ok(Binding::Value(self.value(inner)?));
        }
        Ok(Binding::Value(self.value(arg)?))
    }

    fn bind(&mut self, param: VarId, binding: Binding) -> Result<()> {
        let values = match binding {
            Binding::Alias(place) => {
                self.frame_mut().slots.insert(param, Slot::Alias(place));
                return Ok(());
            }
            Binding::Value(v) => v,
        };
        let ty = self.frame().function.var(param).ty.clone();
        // A copy: the caller's variable may change through a reference while the callee runs.
        let needs_copy = values.iter().any(|v| matches!(v, Opd::R(_)));
        self.bind_values(param, &ty, values, needs_copy)
    }

    /// Gives a parameter its value.
    pub fn bind_values(
        &mut self,
        param: VarId,
        ty: &Type,
        values: Vec<Opd>,
        needs_copy: bool,
    ) -> Result<()> {
        let (constant, memory) = self
            .facts
            .get(self.frame().id)
            .map(|f| (f.constant[param.0 as usize], f.memory[param.0 as usize]))
            .unwrap_or((false, true));
        if constant && !memory && !needs_copy {
            self.frame_mut().slots.insert(param, Slot::Value(values));
            return Ok(());
        }
        let slot = self.local_slot(param)?;
        self.frame_mut().slots.insert(param, slot.clone());
        let place = match slot {
            Slot::Registers(r) => PlaceRef::Registers(r),
            Slot::Memory(p) => PlaceRef::Memory(Addr::constant(p, warpsmith_ir::Space::Local)),
            _ => return self.unsupported("a parameter of this type"),
        };
        self.write(&place, ty, &values)
    }
}

/// What a parameter gets.
enum Binding {
    Value(Vec<Opd>),
    Alias(PlaceRef),
}
