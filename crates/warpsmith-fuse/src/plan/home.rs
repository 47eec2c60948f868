//! Where each variable of a kernel lives, and what moves it from and to device memory.

use std::collections::HashMap;

use super::place::{InRegisters, Use, in_registers};
use super::*;
use crate::access::ArgumentAccess;
use crate::script::Layout;

/// A variable before its home is known.
pub(super) struct Draft {
    pub id: VarId,
    pub size: u32,
    pub layout: Layout,
    /// The call that makes it.
    pub producer: Option<usize>,
    /// Calls that read it, as bits.
    pub readers: u32,
    pub output: bool,
    pub load: Option<Mover>,
    pub save: Option<Mover>,
    /// In registers, or why not.
    pub home: Result<InRegisters, String>,
    /// Nothing that is there can move it.
    pub impossible: bool,
}

impl Planner<'_> {
    /// The variables of a kernel, each with what moves it and where it lives.
    pub(super) fn drafts(&self, reading: &Reading<'_>, calls: &mut [PlannedCall]) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = vec![];
        let mut known: HashMap<VarId, usize> = HashMap::new();
        for (c, (_, call)) in reading.calls.iter().enumerate() {
            for id in call.arguments.iter().chain([&call.result]) {
                let at = *known.entry(*id).or_insert_with(|| {
                    let variable = &self.program.variables[id.0];
                    let size = self.library.elements(variable.ty);
                    let output = reading.needed_after.contains(id);
                    let home = Err(String::new());
                    drafts.push(Draft {
                        id: *id,
                        size,
                        layout: variable.layout,
                        producer: None,
                        readers: 0,
                        output,
                        load: None,
                        save: None,
                        home,
                        impossible: false,
                    });
                    drafts.len() - 1
                });
                calls[c].variables.push(at);
            }
            for id in &call.arguments {
                drafts[known[id]].readers |= 1 << c;
            }
            drafts[known[&call.result]].producer = Some(c);
        }
        for (d, draft) in drafts.iter_mut().enumerate() {
            self.home(d, draft, calls);
        }
        drafts
    }

    /// Chooses what moves a variable, and whether it can live in registers.
    fn home(&self, number: usize, draft: &mut Draft, calls: &[PlannedCall]) {
        let saves = draft.producer.filter(|_| draft.output);
        let loads = match draft.producer {
            None => self.loads(number, calls),
            Some(_) => vec![],
        };
        let by_tool = match (saves, loads.is_empty()) {
            (Some(producer), _) => calls[producer].access.save.plain_copy,
            (None, false) => loads.iter().any(|l| calls[l.0].access.loads[l.1].plain_copy),
            (None, true) => false,
        };
        draft.save = saves.map(|call| Mover::Routine { call, load: 0, place: Place::Shared });
        if self.options.baseline {
            draft.home = Err("the baseline keeps everything in shared memory".into());
        } else {
            self.by_routines(number, draft, &loads, calls);
        }
        if let Some((call, load)) = loads.first().filter(|_| draft.load.is_none()) {
            let (call, load) = (*call, *load);
            draft.load = Some(Mover::Routine { call, load, place: Place::Shared });
        }
        let moved = draft.load.is_some() || draft.save.is_some();
        let columns = draft.layout == Layout::Soa;
        let keeps = (self.options.keep_loads || self.options.baseline) && !columns;
        if moved && by_tool && !keeps {
            self.by_tool(number, draft, calls);
        }
        // What the library's routines move is an array of structures.
        draft.impossible = moved && columns && !by_tool;
    }

    /// Routines of the library move it: any load of its type would do; the first that lets the variable live in registers, else
    /// the first.
    fn by_routines(
        &self,
        number: usize,
        draft: &mut Draft,
        loads: &[(usize, usize)],
        calls: &[PlannedCall],
    ) {
        let touches = &self.accesses.borrow().touches;
        if draft.producer.is_some() {
            draft.home = in_registers(&self.uses(number, draft, calls, None), touches);
            return;
        }
        for (call, load) in loads {
            let home =
                in_registers(&self.uses(number, draft, calls, Some((*call, *load))), touches);
            let routine = Mover::Routine { call: *call, load: *load, place: Place::Shared };
            if draft.load.is_none() || home.is_ok() {
                let done = home.is_ok();
                (draft.load, draft.home) = (Some(routine), home);
                if done {
                    break;
                }
            }
        }
    }

    /// Our own copies in place of the library's: into registers where neighbouring threads then move neighbouring floats, else
    /// by the whole block through shared memory.
    fn by_tool(&self, number: usize, draft: &mut Draft, calls: &[PlannedCall]) {
        let columns = draft.layout == Layout::Soa;
        let save = draft.save.take();
        let uses = self.uses(number, draft, calls, None);
        let accesses = self.accesses.borrow();
        let home = in_registers(&uses, &accesses.touches).ok().filter(|home| {
            let own = accesses.touches.get(home.touch).is_one_element_a_thread(draft.size);
            own && (columns || draft.size == 1) && !self.options.baseline
        });
        let by = match (&home, columns) {
            (Some(_), _) => Mover::Own,
            (None, true) => Mover::Columns,
            (None, false) => Mover::Block,
        };
        draft.load = draft.load.map(|_| by);
        draft.save = save.map(|_| by);
        draft.home = home.ok_or_else(|| match columns {
            true => "the block moves it as a whole, a float of all elements after the other".into(),
            false => "the block moves it as a whole, 16 bytes at a time".into(),
        });
    }

    /// Loads of the library that serve a variable: call, and number of its implementation's load.
    fn loads(&self, variable: usize, calls: &[PlannedCall]) -> Vec<(usize, usize)> {
        let mut all = vec![];
        for (c, call) in calls.iter().enumerate() {
            let one = self.implementation(call);
            for (argument, load) in one.load_of.iter().enumerate() {
                if call.variables[argument] == variable && !all.contains(&(c, *load)) {
                    all.push((c, *load));
                }
            }
        }
        all
    }

    /// All uses of a variable by routines.
    fn uses<'c>(
        &'c self,
        variable: usize,
        draft: &Draft,
        calls: &'c [PlannedCall],
        load: Option<(usize, usize)>,
    ) -> Vec<Use<'c>> {
        let mut uses = vec![];
        let used = |call: &'c PlannedCall, name: &'c str, access: &'c ArgumentAccess| Use {
            name,
            threads: call.access.threads(),
            access,
        };
        if let Some((c, k)) = load {
            let name = &self.implementation(&calls[c]).loads[k].name;
            uses.push(used(&calls[c], name, &calls[c].access.loads[k].arguments[0]));
        }
        for call in calls {
            let name = &self.implementation(call).compute.name;
            let arguments = call.access.compute.arguments.iter().zip(&call.variables);
            let own = arguments.filter(|(_, v)| **v == variable);
            uses.extend(own.map(|(access, _)| used(call, name, access)));
        }
        if let (Some(Mover::Routine { .. }), Some(p)) = (draft.save, draft.producer) {
            let name = &self.implementation(&calls[p]).save.name;
            uses.push(used(&calls[p], name, &calls[p].access.save.arguments[0]));
        }
        uses
    }
}
