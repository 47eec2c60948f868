//! An iteration as it was noted, each value under a name of its own.

use std::collections::{HashMap, HashSet};

use super::super::code::{Address, Code, Index, Op, Pc, Reg};
use super::LONGEST;
use crate::types::Scalar;

/// A value of every iteration: an index into the lanes.
pub(super) type Val = u32;

/// An element of memory that all iterations use, like a variable.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub at: Address,
    pub ty: Scalar,
    /// What an iteration finds there, where it reads it before it writes it.
    pub found: Option<Val>,
    /// What it leaves there.
    pub left: Option<Val>,
    /// The noted operation that read it first.
    first_read: Option<usize>,
}

/// A value that an iteration has from the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub value: Val,
    /// What the iteration before made of it.
    pub last: Val,
    /// Where the first has it from: a register, or one of the spots.
    pub from: Result<Reg, usize>,
}

/// What is computed for all iterations together, or for one after the other.
#[derive(Clone, Debug)]
pub(super) enum Unit {
    /// An operation.
    Each(usize),
    Cycle(Cycle),
}

/// Values that depend on themselves, an iteration before.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    /// Of [`Strip::carried`].
    pub carried: Vec<usize>,
    pub ops: Vec<usize>,
}

/// A noted iteration. Registers of its operations are values.
#[derive(Clone, Debug, Default)]
pub(super) struct Strip {
    pub ops: Vec<Op>,
    /// Operations that are the same for all iterations, in their order.
    pub uniform: Vec<usize>,
    pub units: Vec<Unit>,
    /// Registers that no iteration changes.
    pub fixed: Vec<(Reg, Val)>,
    pub carried: Vec<Carried>,
    pub spots: Vec<Spot>,
    /// What registers hold after an iteration, and whether they hold something.
    pub written: Vec<(Reg, Val)>,
    pub known: Vec<(Reg, bool)>,
    /// Registers that must hold something before.
    pub needs: Vec<Reg>,
    pub steps: u64,
    pub values: usize,
}

/// The operations up to the `end` of the iteration as a strip; `None` where they cannot be one.
pub(super) fn strip(code: &Code<'_>, noted: &[Pc], end: Pc) -> Option<Strip> {
    let written: HashSet<Reg> = noted
        .iter()
        .filter_map(|pc| target(&mut code.ops[*pc as usize].clone()).copied())
        .collect();
    // Spots that turn out to be written make what was read there no fixed value, and other spots none.
    let mut changing = HashSet::new();
    loop {
        let mut trace = Trace { written: &written, changing: &changing, ..Trace::new() };
        for (i, pc) in noted.iter().enumerate() {
            let goes_to = noted.get(i + 1).copied().unwrap_or(end);
            trace.noted(&code.ops[*pc as usize], i, goes_to)?;
        }
        let is_new =
            |s: &&Spot| s.left.is_some() && s.first_read.is_some_and(|i| !changing.contains(&i));
        let new: Vec<usize> =
            trace.strip.spots.iter().filter(is_new).filter_map(|s| s.first_read).collect();
        if new.is_empty() {
            return trace.finish();
        }
        changing.extend(new);
    }
}

/// The register that an operation writes.
fn target(op: &mut Op) -> Option<&mut Reg> {
    use Op::*;
    match op {
        Copy { to, .. } | Binary { to, .. } | AnyBinary { to, .. } | Unary { to, .. } => Some(to),
        Cast { to, .. } | Bits { to, .. } | Extend { to, .. } | Math { to, .. } => Some(to),
        Offset { to, .. } | Difference { to, .. } | Load { to, .. } => Some(to),
        _ => None,
    }
}

/// Calls the function with every register that an operation reads.
fn operands(op: &mut Op, mut each: impl FnMut(&mut Reg)) {
    use Op::*;
    match op {
        Copy { a, .. } | Unary { a, .. } | Cast { a, .. } | Bits { a, .. } => each(a),
        Extend { a, .. } | JumpIf { a, .. } => each(a),
        Binary { a, b, .. } | AnyBinary { a, b, .. } | Difference { a, b, .. } => {
            [a, b].into_iter().for_each(each);
        }
        Branch { a, b, .. } => [a, b].into_iter().for_each(each),
        InRange { index, length, .. } => [index, length].into_iter().for_each(each),
        Math { args, count, .. } => {
            args[..usize::from(*count)].iter_mut().for_each(|(a, _)| each(a));
            // What is not asked for must be there all the same.
            let first = args[0];
            args[usize::from(*count)..].fill(first);
        }
        Offset { at, .. } | Load { at, .. } => operands_of(at, each),
        Store { at, a, .. } => {
            each(a);
            operands_of(at, each);
        }
        _ => {}
    }
}

fn operands_of(at: &mut Address, mut each: impl FnMut(&mut Reg)) {
    each(&mut at.base);
    if let Some(i) = &mut at.index {
        each(&mut i.of);
    }
}

type Place = (Val, Option<(Val, i64, bool)>, i64, Scalar);

fn place_of(at: &Address, ty: Scalar) -> Place {
    (at.base, at.index.map(|Index { of, scale, narrow }| (of, scale, narrow)), at.offset, ty)
}

struct Trace<'a> {
    strip: Strip,
    written: &'a HashSet<Reg>,
    /// First reads of spots that are written, too.
    changing: &'a HashSet<usize>,
    current: HashMap<Reg, Val>,
    flags: HashMap<Reg, bool>,
    uniform: Vec<bool>,
    inputs: Vec<(Reg, Val)>,
    /// What the same operation on the same values gave.
    same: HashMap<String, Val>,
    spots: HashMap<Place, usize>,
    /// What the iteration itself wrote last.
    stored: HashMap<Place, Val>,
}

impl Trace<'_> {
    fn new() -> Trace<'static> {
        static NONE: std::sync::LazyLock<(HashSet<Reg>, HashSet<usize>)> =
            std::sync::LazyLock::new(Default::default);
        Trace {
            strip: Strip::default(),
            written: &NONE.0,
            changing: &NONE.1,
            current: HashMap::new(),
            flags: HashMap::new(),
            uniform: vec![],
            inputs: vec![],
            same: HashMap::new(),
            spots: HashMap::new(),
            stored: HashMap::new(),
        }
    }

    fn value(&mut self, uniform: bool) -> Val {
        self.uniform.push(uniform);
        self.uniform.len() as Val - 1
    }

    fn read(&mut self, reg: Reg) -> Val {
        if let Some(v) = self.current.get(&reg) {
            return *v;
        }
        let uniform = !self.written.contains(&reg);
        let v = self.value(uniform);
        self.current.insert(reg, v);
        match uniform {
            true => self.strip.fixed.push((reg, v)),
            false => self.inputs.push((reg, v)),
        }
        v
    }

    fn sets(&mut self, reg: Reg, v: Val) {
        self.current.insert(reg, v);
        self.flags.insert(reg, true);
    }

    /// Adds an operation, which is the `i`th; `None` where it has no place in a strip.
    fn noted(&mut self, op: &Op, i: usize, goes_to: Pc) -> Option<()> {
        match op {
            Op::Jump { .. } | Op::Again { .. } | Op::Library { .. } => {}
            Op::Tick { steps } => self.strip.steps += u64::from(*steps),
            Op::Check { a } => match self.flags.get(a) {
                Some(true) => {}
                Some(false) => return None,
                None => self.strip.needs.push(*a),
            },
            Op::Unset { first, end } => self.flags.extend((*first..*end).map(|reg| (reg, false))),
            Op::Copy { to, a } => {
                let v = self.read(*a);
                self.sets(*to, v);
            }
            Op::NoValue { .. } | Op::Interpret | Op::End => return None,
            op => self.operation(op.clone(), i, goes_to),
        }
        Some(())
    }

    fn operation(&mut self, mut op: Op, i: usize, goes_to: Pc) {
        let reg = target(&mut op).copied();
        let mut uniform = true;
        operands(&mut op, |a| {
            *a = self.read(*a);
            uniform &= self.uniform[*a as usize];
        });
        match &mut op {
            Op::Load { ty, at, .. } => return self.load(*ty, *at, i, reg.unwrap_or_default()),
            Op::Store { ty, at, a } => return self.store(*ty, *at, *a),
            // From here on: what has to hold in every iteration.
            Op::JumpIf { when, to, .. } | Op::Branch { when, to, .. } => {
                *when = *when == (goes_to == *to);
            }
            _ => {}
        }
        if let (Some(to), Some(reg)) = (target(&mut op), reg) {
            *to = 0;
            let name = format!("{op:?}");
            if let Some(v) = self.same.get(&name).copied() {
                return self.sets(reg, v);
            }
            let v = self.value(uniform);
            self.same.insert(name, v);
            target(&mut op).into_iter().for_each(|to| *to = v);
            self.sets(reg, v);
        }
        self.add(op, uniform);
    }

    fn add(&mut self, op: Op, uniform: bool) {
        if uniform {
            self.strip.uniform.push(self.strip.ops.len());
        }
        self.strip.ops.push(op);
    }

    fn is_fixed(&self, at: &Address) -> bool {
        self.uniform[at.base as usize] && at.index.is_none_or(|i| self.uniform[i.of as usize])
    }

    fn spot(&mut self, at: Address, ty: Scalar) -> usize {
        let next = self.strip.spots.len();
        let spot = *self.spots.entry(place_of(&at, ty)).or_insert(next);
        if spot == next {
            self.strip.spots.push(Spot { at, ty, found: None, left: None, first_read: None });
        }
        spot
    }

    fn load(&mut self, ty: Scalar, at: Address, i: usize, reg: Reg) {
        if let Some(v) = self.stored.get(&place_of(&at, ty)) {
            return self.sets(reg, *v);
        }
        if !self.is_fixed(&at) {
            let to = self.value(false);
            self.add(Op::Load { ty, to, at }, false);
            return self.sets(reg, to);
        }
        let spot = self.spot(at, ty);
        let v = match self.strip.spots[spot].found {
            Some(v) => v,
            None => {
                let changes = self.changing.contains(&i);
                let to = self.value(!changes);
                if !changes {
                    self.add(Op::Load { ty, to, at }, true);
                }
                let spot = &mut self.strip.spots[spot];
                (spot.found, spot.first_read) = (Some(to), Some(i));
                to
            }
        };
        self.sets(reg, v);
    }

    fn store(&mut self, ty: Scalar, at: Address, a: Val) {
        self.stored.insert(place_of(&at, ty), a);
        match self.is_fixed(&at) {
            true => {
                let spot = self.spot(at, ty);
                self.strip.spots[spot].left = Some(a);
            }
            false => self.add(Op::Store { ty, at, a }, false),
        }
    }

    fn finish(mut self) -> Option<Strip> {
        // What an iteration leaves without a value the next one does not find.
        if self.strip.needs.iter().any(|reg| self.flags.get(reg) == Some(&false)) {
            return None;
        }
        for (reg, value) in std::mem::take(&mut self.inputs) {
            let last = self.current[&reg];
            self.strip.carried.push(Carried { value, last, from: Ok(reg) });
        }
        for (i, spot) in self.strip.spots.iter().enumerate() {
            if let (Some(value), Some(last)) = (spot.found, spot.left) {
                self.strip.carried.push(Carried { value, last, from: Err(i) });
            }
        }
        let written = self.current.iter().filter(|(reg, _)| self.written.contains(reg));
        self.strip.written = written.map(|(reg, v)| (*reg, *v)).collect();
        self.strip.known = self.flags.iter().map(|(reg, known)| (*reg, *known)).collect();
        self.strip.values = self.uniform.len() + self.strip.ops.len();
        self.units()?;
        (self.uniform.len() <= LONGEST).then_some(self.strip)
    }

    /// Finds what depends on itself, and an order for all of it.
    fn units(&mut self) -> Option<()> {
        let graph = Graph::of(&mut self.strip, &self.uniform);
        let mut cycle_of = vec![None; graph.needs.len()];
        let mut cycles: Vec<Cycle> = vec![];
        let ops = self.strip.ops.len();
        for i in 0..self.strip.carried.len() {
            let node = ops + i;
            if cycle_of[node].is_some() {
                continue;
            }
            let (before, after) = (reached(&graph.needs, node), reached(&graph.feeds, node));
            let members: Vec<usize> =
                (0..graph.needs.len()).filter(|x| before[*x] && after[*x]).collect();
            if members.is_empty() {
                continue;
            }
            let mut cycle = Cycle::default();
            for member in members {
                cycle_of[member] = Some(cycles.len());
                match member.checked_sub(ops) {
                    Some(carried) => cycle.carried.push(carried),
                    None if matches!(self.strip.ops[member], Op::Load { .. }) => return None,
                    None => cycle.ops.push(member),
                }
            }
            cycles.push(cycle);
        }
        let mut order = Order { graph: &graph, cycle_of, cycles, done: vec![], units: vec![], ops };
        order.done = vec![false; graph.needs.len()];
        self.strip.uniform.iter().for_each(|op| order.done[*op] = true);
        (0..graph.needs.len()).for_each(|node| order.visit(node));
        self.strip.units = order.units;
        Some(())
    }
}

/// What needs what: operations, and after them the carried values.
struct Graph {
    needs: Vec<Vec<usize>>,
    feeds: Vec<Vec<usize>>,
}

impl Graph {
    fn of(strip: &mut Strip, uniform: &[bool]) -> Graph {
        let ops = strip.ops.len();
        let nodes = ops + strip.carried.len();
        let mut made_by = HashMap::new();
        for (i, op) in strip.ops.iter_mut().enumerate() {
            target(op).into_iter().for_each(|to| {
                made_by.insert(*to, i);
            });
        }
        made_by.extend(strip.carried.iter().enumerate().map(|(i, c)| (c.value, ops + i)));
        let mut graph = Graph { needs: vec![vec![]; nodes], feeds: vec![vec![]; nodes] };
        let mut needs = |node: usize, value: Val| {
            if let Some(of) = made_by.get(&value).filter(|_| !uniform[value as usize]) {
                graph.needs[node].push(*of);
                graph.feeds[*of].push(node);
            }
        };
        for (i, op) in strip.ops.iter_mut().enumerate() {
            operands(op, |a| needs(i, *a));
        }
        strip.carried.iter().enumerate().for_each(|(i, c)| needs(ops + i, c.last));
        graph
    }
}

/// The nodes that a way of at least one edge leads to.
fn reached(edges: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut left = edges[from].clone();
    while let Some(node) = left.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            left.extend(&edges[node]);
        }
    }
    seen
}

struct Order<'g> {
    graph: &'g Graph,
    cycle_of: Vec<Option<usize>>,
    cycles: Vec<Cycle>,
    done: Vec<bool>,
    units: Vec<Unit>,
    ops: usize,
}

impl Order<'_> {
    /// Puts a node after all that it needs.
    fn visit(&mut self, node: usize) {
        if self.done[node] {
            return;
        }
        let cycle = match self.cycle_of[node] {
            Some(cycle) => std::mem::take(&mut self.cycles[cycle]),
            // A value that the iteration before made, without any use of itself.
            None if node >= self.ops => Cycle { carried: vec![node - self.ops], ops: vec![] },
            None => Cycle { carried: vec![], ops: vec![node] },
        };
        let carried = cycle.carried.iter().map(|c| c + self.ops);
        let members: Vec<usize> = cycle.ops.iter().copied().chain(carried).collect();
        members.iter().for_each(|member| self.done[*member] = true);
        let graph = self.graph;
        for needed in members.iter().flat_map(|member| &graph.needs[*member]) {
            self.visit(*needed);
        }
        self.units.push(match (&cycle.carried[..], &cycle.ops[..]) {
            ([], [op]) => Unit::Each(*op),
            _ => Unit::Cycle(cycle),
        });
    }
}
