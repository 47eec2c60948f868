//! Where an undefined value is used: findings.

use crate::api::{Access as Place, Finding, Rule};
use crate::compile::lir::{Access, Home, Opd};
use crate::engine::block::{Block, Group, Mask};
use crate::engine::launch::Machine;

impl Machine<'_> {
    /// Reports an undefined value that decides where control goes.
    #[inline]
    pub fn use_in_control(&mut self, b: &mut Block, g: &mut Group, cond: Opd) {
        if self.poison_of(b, g, cond) != 0 {
            let pc = g.pc as usize;
            self.report_use(b, g, cond, pc, "control flow");
        }
    }

    /// Reports undefined values that form an address. `Some`: the threads whose address is defined;
    /// the others must not make the access.
    #[inline]
    pub fn use_in_address(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        pc: usize,
    ) -> Option<Mask> {
        let mut left: Option<Mask> = None;
        for o in std::iter::once(a.base).chain(a.terms.iter().map(|t| t.index)) {
            if self.poison_of(b, g, o) == 0 {
                continue;
            }
            self.report_use(b, g, o, pc, "an address");
            let mut mask = left.unwrap_or_else(|| g.mask.clone());
            for warp in g.lo..g.hi {
                mask.warps[warp as usize] &= !self.poison_bits(b, g, o, warp);
            }
            left = Some(mask);
        }
        left
    }

    pub fn report_use(&mut self, b: &mut Block, g: &mut Group, o: Opd, pc: usize, what: &str) {
        let origin = self.poison_of(b, g, o);
        let mut count = 0;
        let mut thread = None;
        for warp in g.lo..g.hi {
            let bits = self.poison_bits(b, g, o, warp) & g.mask.warps[warp as usize];
            count += bits.count_ones();
            if bits != 0 {
                thread.get_or_insert(warp * 32 + bits.trailing_zeros());
            }
        }
        if let Some(thread) = thread {
            self.report_undefined(b, origin, pc, what, thread, count);
        }
    }

    pub fn report_undefined(
        &mut self,
        b: &Block,
        origin: u32,
        pc: usize,
        what: &str,
        thread: u32,
        count: u32,
    ) {
        let Some(o) = self.undefined.origins.get(origin as usize - 1).cloned() else { return };
        let home = self.home(o.handle);
        // A variable that nothing set is one mistake, wherever it is used.
        let key = match home {
            Home::Variable { index, .. } => (u32::MAX, index),
            _ => (origin, pc as u32),
        };
        if let Some(&at) = self.undefined.uses.get(&key) {
            return self.found.report.count(at, count.into());
        }
        let ended = matches!(home, Home::Local { .. }) && o.name != 0;
        let rule = match home {
            Home::Local { .. } if ended => Rule::Dangling,
            Home::Invalid | Home::Local { .. } => Rule::UninitializedLocal,
            Home::Buffer(_) => Rule::UninitializedGlobal,
            Home::Variable { .. } => Rule::UninitializedVariable,
            Home::Shared { .. } | Home::Cluster { .. } => Rule::UninitializedShared,
        };
        let name = match home {
            Home::Invalid => self.program.names.get(o.name as usize).cloned().unwrap_or_default(),
            _ => self.object_name(o.handle),
        };
        let text = match home {
            Home::Invalid => format!("`{name}`"),
            _ => self.element_text(o.handle, o.offset as i64),
        };
        let kind = match home {
            Home::Variable { constant: true, .. } => Some("constant"),
            _ => None,
        };
        let first = match home {
            Home::Invalid if name.is_empty() => "shuffle",
            Home::Invalid => "declaration",
            _ => "read",
        };
        let mut places: Vec<Place> = vec![self.place(b, o.pc as usize, first, Some(thread))];
        let usage = self.place(b, pc, "use", Some(thread));
        if usage.span != places[0].span {
            places.push(usage);
        }
        let message = if let Home::Variable { constant, .. } = home {
            let variable = if constant { "constant" } else { "device variable" };
            format!("the {variable} `{name}` is used in {what}, and nothing has set it")
        } else if name.is_empty() {
            format!("the value of an inactive lane is used in {what}")
        } else if ended {
            format!("{text} is used in {what}, but the scope of `{name}` ended before it was read")
        } else {
            format!("{text} is used in {what} before it has a value")
        };
        let index = match home {
            Home::Invalid => vec![],
            _ => self.element_index(o.handle, o.offset as i64),
        };
        let at = self.found.report.add(Finding {
            rule,
            kind,
            message,
            accesses: places,
            array: (!name.is_empty()).then_some(name),
            index,
            interval: Some(b.interval),
            count: count.into(),
        });
        self.undefined.uses.insert(key, at);
    }
}
