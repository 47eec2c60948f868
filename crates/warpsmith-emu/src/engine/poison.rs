//! Undefined values: where they come from, how they spread, and where using them is a finding.
//!
//! A register row has a bit for each lane that holds no defined value, and remembers one origin.
//! Carrying such a value is fine; it is reported when it decides a branch, forms an address, or is
//! stored to shared or global memory.

use warpsmith_ir::{BinaryOp, MathFn, Scalar};

use super::access::Warp;
use super::arithmetic::destination;
use super::block::{Block, Group, Mask};
use super::lanes::Pattern;
use super::launch::Machine;
use crate::api::{Access as Place, Finding, Rule};
use crate::compile::lir::{Access, Home, Op, Opd};

/// Where an undefined value came into being.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub pc: u32,
    /// The object it was read from; 0: a variable in a register.
    pub handle: u64,
    pub offset: u64,
    /// Index into the names, for variables; of an object of the thread: 1 where its scope had ended.
    pub name: u32,
}

/// What the shadow of local memory holds: bytes that have no value yet, and those whose object is gone.
pub const UNDEFINED: u8 = 1;
pub const ENDED: u8 = 2;

impl Machine<'_> {
    /// The number of an origin, from 1.
    fn origin(&mut self, o: Origin) -> u32 {
        let key = (o.pc, o.handle, o.name);
        if let Some(&n) = self.undefined.numbers.get(&key) {
            return n;
        }
        self.undefined.origins.push(o);
        let n = self.undefined.origins.len() as u32;
        self.undefined.numbers.insert(key, n);
        n
    }

    pub fn read_origin(&mut self, _b: &Block, handle: u64, offset: u64, pc: usize) -> u32 {
        self.origin(Origin { pc: pc as u32, handle, offset, name: 0 })
    }

    /// The origin of an operand's poison; 0: all its lanes are defined.
    #[inline(always)]
    fn poison_of(&self, b: &Block, g: &Group, o: Opd) -> u32 {
        match o {
            Opd::V(v) => b.origin[v as usize],
            Opd::S(s) if g.any_poison && g.poison[s as usize] => self.undefined.scalar.max(1),
            _ => 0,
        }
    }

    #[inline(always)]
    fn poison_bits(&self, b: &Block, g: &Group, o: Opd, warp: u32) -> u32 {
        match o {
            Opd::V(v) if b.origin[v as usize] != 0 => {
                b.poison[(v * (self.width / 32) + warp) as usize]
            }
            Opd::S(s) if g.poison[s as usize] => u32::MAX,
            _ => 0,
        }
    }

    /// Sets the poison of some lanes of a vector.
    fn set_bits(&mut self, b: &mut Block, row: u32, warp: u32, lanes: u32, bits: u32, origin: u32) {
        let at = (row * (self.width / 32) + warp) as usize;
        if b.origin[row as usize] == 0 {
            if bits & lanes == 0 {
                return;
            }
            // A place that held defined values: other warps may have stale bits.
            let first = (row * (self.width / 32)) as usize;
            b.poison[first..first + (self.width / 32) as usize].fill(0);
        }
        b.poison[at] = b.poison[at] & !lanes | bits & lanes;
        if bits & lanes != 0 {
            b.origin[row as usize] = origin;
        }
    }

    /// The row has defined values only, as far as its bits say.
    fn settle(&mut self, b: &mut Block, row: u32) {
        let n = (self.width / 32) as usize;
        let first = row as usize * n;
        if b.poison[first..first + n].iter().all(|w| *w == 0) {
            b.origin[row as usize] = 0;
        }
    }

    /// The destination got a defined value in all threads of the group.
    pub fn define(&mut self, b: &mut Block, g: &Group, dst: Opd, pc: usize) {
        let Opd::V(row) = dst else { return };
        if !self.checks.poison || b.origin[row as usize] == 0 {
            return;
        }
        let masked = self.program.masked[pc] && !g.full;
        for warp in g.lo..g.hi {
            let lanes = if masked { g.mask.warps[warp as usize] } else { u32::MAX };
            self.set_bits(b, row, warp, lanes, 0, 0);
        }
        self.settle(b, row);
    }

    /// A pure instruction: its result is undefined where an operand is.
    #[inline]
    pub fn carry_poison(&mut self, b: &mut Block, g: &mut Group, op: &Op, dst: Opd, pc: usize) {
        let (operands, n) = operands_of(op);
        let mut origin = 0;
        for o in &operands[..n] {
            origin = origin.max(self.poison_of(b, g, *o));
        }
        if origin != 0 && self.checks.operands && is_arithmetic(op) {
            operands[..n].iter().for_each(|o| self.report_use(b, g, *o, pc, "arithmetic"));
        }
        match dst {
            Opd::S(s) if g.any_poison || origin != 0 => {
                let undefined = self.scalar_is_undefined(g, op, &operands[..n]);
                g.poison[s as usize] = undefined;
                g.any_poison |= undefined;
            }
            Opd::V(row) => {
                if origin == 0 {
                    if b.origin[row as usize] != 0 {
                        self.define(b, g, dst, pc);
                    }
                    return;
                }
                self.carry_vector(b, g, op, &operands[..n], row, origin, pc);
            }
            _ => {}
        }
    }

    fn scalar_is_undefined(&self, g: &Group, op: &Op, operands: &[Opd]) -> bool {
        let undefined = |o: &Opd| matches!(o, Opd::S(s) if g.poison[*s as usize]);
        match op {
            Op::Select { c, a, b, .. } if !undefined(c) => {
                undefined(if self.scalar(g, *c) != 0 { a } else { b })
            }
            Op::Bin {
                op: op @ (BinaryOp::BitAnd | BinaryOp::BitOr),
                ty: Scalar::Bool,
                a,
                b,
                ..
            } => {
                let decides = |o: &Opd| {
                    !undefined(o) && (self.scalar(g, *o) == 0) == (*op == BinaryOp::BitAnd)
                };
                (undefined(a) || undefined(b)) && !decides(a) && !decides(b)
            }
            _ => operands.iter().any(undefined),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one instruction of one group")]
    fn carry_vector(
        &mut self,
        b: &mut Block,
        g: &Group,
        op: &Op,
        operands: &[Opd],
        row: u32,
        origin: u32,
        pc: usize,
    ) {
        let masked = self.program.masked[pc] && !g.full;
        for warp in g.lo..g.hi {
            let mut bits = 0;
            if let Op::Select { c, a, b: y, .. } = op {
                let unsure = self.poison_bits(b, g, *c, warp);
                let mut chosen = 0;
                for k in 0..32 {
                    if self.lane_value(b, g, *c, false, warp * 32 + k) != 0 {
                        chosen |= 1 << k;
                    }
                }
                bits = unsure
                    | chosen & self.poison_bits(b, g, *a, warp)
                    | !chosen & self.poison_bits(b, g, *y, warp);
            } else if let Op::Bin {
                op: op @ (BinaryOp::BitAnd | BinaryOp::BitOr),
                ty: Scalar::Bool,
                a,
                b: y,
                ..
            } = op
            {
                // One defined operand may decide: `false && undefined` is false.
                let (ua, uy) = (self.poison_bits(b, g, *a, warp), self.poison_bits(b, g, *y, warp));
                let neutral = u64::from(*op == BinaryOp::BitAnd);
                let (va, vy) = (
                    self.lanes_equal(b, g, *a, neutral, warp),
                    self.lanes_equal(b, g, *y, neutral, warp),
                );
                bits = ua & uy | ua & vy | uy & va;
            } else {
                for o in operands {
                    bits |= self.poison_bits(b, g, *o, warp);
                }
            }
            let active = g.mask.warps[warp as usize];
            let lanes = if masked { active } else { u32::MAX };
            self.set_bits(b, row, warp, lanes, bits & active, origin);
        }
        if b.origin[row as usize] != 0 {
            self.settle(b, row);
        }
    }

    /// Lanes of a warp in which a `bool` operand has the given value.
    fn lanes_equal(&self, b: &mut Block, g: &Group, o: Opd, value: u64, warp: u32) -> u32 {
        let mut is = |k: &u32| self.lane_value(b, g, o, false, warp * 32 + k) == value;
        (0..32).filter(|k| is(k)).fold(0, |m, k| m | 1 << k)
    }

    /// The variable comes into being without a value.
    pub fn undefine(&mut self, b: &mut Block, g: &mut Group, dst: Opd, name: u32, pc: usize) {
        match dst {
            Opd::S(s) => {
                g.scalars[s as usize] = 0;
                if self.checks.poison {
                    g.poison[s as usize] = true;
                    g.any_poison = true;
                    let o = Origin { pc: pc as u32, handle: 0, offset: 0, name };
                    self.undefined.scalar = self.origin(o);
                }
            }
            Opd::V(row) if self.checks.poison => {
                let o = Origin { pc: pc as u32, handle: 0, offset: 0, name };
                let origin = self.origin(o);
                for warp in g.lo..g.hi {
                    let lanes = g.mask.warps[warp as usize];
                    self.set_bits(b, row, warp, lanes, u32::MAX, origin);
                }
            }
            _ => {}
        }
    }

    /// A local object comes into being without a value in the group's threads, or its scope ends.
    pub fn undefine_local(&mut self, b: &mut Block, g: &Group, object: u32, why: u8) {
        let Home::Local { base, size } = self.home(object.into()) else { return };
        if !self.checks.poison {
            return;
        }
        b.local_undefined = true;
        let width = self.width as usize;
        for word in base as usize / 4..(base + size).div_ceil(4) as usize {
            let row = word * width * 4;
            if g.full {
                b.local_poison[row..row + width * 4].fill(why);
                continue;
            }
            for t in g.mask.threads() {
                let at = row + t as usize * 4;
                b.local_poison[at..at + 4].fill(why);
            }
        }
    }

    /// Any of the `n` bytes at an offset is undefined for a lane.
    pub fn is_undefined(&self, b: &Block, w: &Warp<'_>, offset: u64, n: u64, lane: u32) -> bool {
        if let Home::Local { base, .. } = w.view.home {
            let thread = (w.warp * 32 + lane) as usize;
            if n == 4 {
                let word = (u64::from(base) + offset) as usize / 4;
                let at = (word * self.width as usize + thread) * 4;
                return b.local_poison.get(at..at + 4).is_some_and(|p| p != [0; 4]);
            }
            return (0..n).any(|i| {
                let at = u64::from(base) + offset + i;
                let byte = (at / 4) as usize * self.width as usize * 4 + thread * 4;
                b.local_poison.get(byte + (at % 4) as usize).copied().unwrap_or(0) != 0
            });
        }
        if w.view.poison.is_null() {
            return false;
        }
        if n == 4 {
            // SAFETY: as below.
            return unsafe {
                w.view.poison.add(offset as usize).cast::<u32>().read_unaligned() != 0
            };
        }
        // SAFETY: the offset was checked with the size of the access, and there is one byte of
        // poison for each byte of the object.
        (0..n).any(|i| unsafe { w.view.poison.add((offset + i) as usize).read() } != 0)
    }

    /// The scope of the local object that a lane reads has ended.
    fn has_ended(&self, b: &Block, w: &Warp<'_>, offset: u64, lane: u32) -> bool {
        let Home::Local { base, .. } = w.view.home else { return false };
        let (at, thread) = (u64::from(base) + offset, (w.warp * 32 + lane) as usize);
        let byte = ((at / 4) as usize * self.width as usize + thread) * 4 + (at % 4) as usize;
        b.local_poison.get(byte) == Some(&ENDED)
    }

    /// The poison of one word of local memory in all lanes of a warp, when all access that word.
    fn local_row<'b>(
        &self,
        b: &'b mut Block,
        w: &Warp<'_>,
        shift: u64,
    ) -> Option<&'b mut [u8; 128]> {
        let (Home::Local { base, .. }, Pattern::Same) = (w.view.home, w.pattern) else {
            return None;
        };
        let word = (u64::from(base) + w.offsets[0] + shift) as usize / 4;
        let at = (word * self.width as usize + w.warp as usize * 32) * 4;
        b.local_poison.get_mut(at..)?.first_chunk_mut()
    }

    /// Undefined lanes of a load, to the destination.
    pub fn load_poison(
        &mut self,
        b: &mut Block,
        w: &Warp<'_>,
        dst: Opd,
        shift: u64,
        n: u64,
        pc: usize,
    ) {
        let Opd::V(row) = dst else { return };
        let local = matches!(w.view.home, Home::Local { .. });
        let mut bits = 0u32;
        let clean = local && n == 4 && self.local_row(b, w, shift).is_some_and(|p| *p == [0; 128]);
        if !clean && (!w.view.poison.is_null() || local && b.local_undefined) {
            for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
                if self.is_undefined(b, w, w.offsets[k as usize] + shift, n, k) {
                    bits |= 1 << k;
                }
            }
        }
        if bits == 0 && b.origin[row as usize] == 0 {
            return;
        }
        let lane = bits.trailing_zeros() & 31;
        let origin = match bits {
            0 => 0,
            _ => {
                let offset = w.offsets[lane as usize] + shift;
                let name = u32::from(self.has_ended(b, w, offset, lane));
                let handle = w.view.handle;
                self.origin(Origin { pc: pc as u32, handle, offset, name })
            }
        };
        self.set_bits(b, row, w.warp, w.mask, bits, origin);
        if bits == 0 {
            self.settle(b, row);
        }
    }

    /// Loads that were refused give undefined values without blaming them again.
    pub fn undefined_result(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        warp: u32,
        lanes: u32,
        _pc: usize,
    ) {
        let wide = crate::compile::lir::words(a.elem) == 2;
        for dst in &a.values {
            match *dst {
                Opd::V(row) => {
                    for k in (0..32).filter(|k| lanes >> k & 1 == 1) {
                        b.set_lane(row, self.width, wide, warp * 32 + k, 0);
                    }
                    if self.checks.poison && b.origin[row as usize] != 0 {
                        self.set_bits(b, row, warp, lanes, 0, 0);
                        self.settle(b, row);
                    }
                }
                Opd::S(s) => {
                    g.scalars[s as usize] = 0;
                    g.poison[s as usize] = false;
                }
                _ => {}
            }
        }
    }

    /// Poison of a store: to local memory it is carried, elsewhere it is a finding.
    #[expect(clippy::too_many_arguments, reason = "one access of one warp")]
    pub fn store_poison(
        &mut self,
        b: &mut Block,
        g: &Group,
        w: &Warp<'_>,
        src: Opd,
        shift: u64,
        n: u64,
        pc: usize,
    ) {
        let origin = self.poison_of(b, g, src);
        let bits = if origin == 0 { 0 } else { self.poison_bits(b, g, src, w.warp) & w.mask };
        if let Home::Local { base, .. } = w.view.home {
            if !b.local_undefined && bits == 0 {
                return;
            }
            b.local_undefined = true;
            if n == 4
                && bits == 0
                && w.mask == u32::MAX
                && let Some(row) = self.local_row(b, w, shift)
            {
                *row = [0; 128];
                return;
            }
            for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
                let thread = (w.warp * 32 + k) as usize;
                for i in 0..n {
                    let at = u64::from(base) + w.offsets[k as usize] + shift + i;
                    let row = (at / 4) as usize * self.width as usize * 4;
                    let byte = row + thread * 4 + (at % 4) as usize;
                    if let Some(p) = b.local_poison.get_mut(byte) {
                        *p = (bits >> k & 1) as u8;
                    }
                }
            }
            return;
        }
        if bits != 0 {
            let thread = w.warp * 32 + bits.trailing_zeros();
            self.report_undefined(b, origin, pc, "a store", thread, bits.count_ones());
        }
        self.define_memory(b, w, shift, n);
    }

    /// The bytes of a store are defined from now on.
    pub fn define_memory(&mut self, b: &mut Block, w: &Warp<'_>, shift: u64, n: u64) {
        if w.view.poison.is_null() {
            return;
        }
        let mut defined = 0;
        for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
            if n == 4 {
                // SAFETY: as in `is_undefined`; each of the four bytes is 0 or 1.
                unsafe {
                    let p =
                        w.view.poison.add((w.offsets[k as usize] + shift) as usize).cast::<u32>();
                    defined += u64::from(p.read_unaligned().count_ones());
                    p.write_unaligned(0);
                }
                continue;
            }
            for i in 0..n {
                // SAFETY: as in `is_undefined`.
                unsafe {
                    let p = w.view.poison.add((w.offsets[k as usize] + shift + i) as usize);
                    defined += u64::from(p.read());
                    p.write(0);
                }
            }
        }
        if matches!(w.view.home, Home::Shared { .. }) {
            b.shared_undefined = b.shared_undefined.saturating_sub(defined);
        }
    }

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

    /// Runs an access for some threads of the group only; loads give the others zero.
    pub fn with_threads(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        left: Mask,
        pc: usize,
        f: impl FnOnce(&mut Self, &mut Block, &mut Group),
    ) {
        let rest = g.mask.without(&left);
        for warp in g.lo..g.hi {
            let lanes = rest.warps[warp as usize];
            if lanes != 0 && !a.is_store {
                self.undefined_result(b, g, a, warp, lanes, pc);
            }
        }
        if left.is_empty() {
            return;
        }
        let mask = std::mem::replace(&mut g.mask, left);
        g.update(&b.alive);
        f(self, b, g);
        g.mask = mask;
        g.update(&b.alive);
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

    /// Lanes of an operand that are undefined, for warp operations.
    pub fn undefined_lanes(&self, b: &Block, g: &Group, o: Opd, warp: u32) -> u32 {
        if self.checks.poison { self.poison_bits(b, g, o, warp) } else { 0 }
    }

    /// Gives lanes of a result their poison.
    pub fn set_result_poison(
        &mut self,
        b: &mut Block,
        g: &Group,
        dst: Opd,
        warp: u32,
        (lanes, bits): (u32, u32),
        from: Opd,
    ) {
        let Opd::V(row) = dst else { return };
        if !self.checks.poison {
            return;
        }
        let origin = match self.poison_of(b, g, from) {
            0 if bits != 0 => {
                self.origin(Origin { pc: g.pc, handle: 0, offset: 0, name: u32::MAX })
            }
            o => o,
        };
        self.set_bits(b, row, warp, lanes, bits, origin);
        if b.origin[row as usize] != 0 {
            self.settle(b, row);
        }
    }
}

/// Computes with its operands: no copy, no choice, and no logical operation, of which one side may decide.
fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Bin { ty, .. } => *ty != Scalar::Bool,
        Op::MulAdd { .. } | Op::Un { .. } | Op::Math { .. } => true,
        _ => false,
    }
}

/// The operands of a pure instruction.
fn operands_of(op: &Op) -> ([Opd; 3], usize) {
    debug_assert!(destination(op).is_some());
    let k = Opd::K(0);
    match op {
        Op::Bin { a, b, .. } => ([*a, *b, k], 2),
        Op::MulAdd { a, b, c, .. } | Op::Select { c: a, a: b, b: c, .. } => ([*a, *b, *c], 3),
        Op::Un { a, .. } | Op::Mov { a, .. } | Op::Cast { a, .. } | Op::Bitcast { a, .. } => {
            ([*a, k, k], 1)
        }
        // Its result is defined, whatever its operand is.
        Op::Math { f: MathFn::Settled, .. } => ([k; 3], 0),
        Op::Math { args, .. } => (*args, 3),
        _ => ([k; 3], 0),
    }
}
