//! Enumerates the tuples that satisfy the constraints, depth first: each part of a constraint is tested as soon as the
//! last of its parameters has a value, and what few parameters decide is looked up in a table.

use super::{Constraint, MOST_TUPLES, Parameter, SpaceError};
use crate::expr::{Expr, ExprError};
use crate::value::{Val, Value};

/// Largest number of tuples for which the truth of a condition is kept.
const LARGEST_TABLE: usize = 1 << 22;

/// Groups of parameters that constraints join, each ascending, in the order of their first parameters.
pub(super) fn components(count: usize, constraints: &[Constraint]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..count).collect();
    for constraint in constraints {
        // Parts of one constraint may guard each other, so all its parameters stay together.
        for pair in constraint.parameters.windows(2) {
            let (from, to) =
                (group[pair[0]].max(group[pair[1]]), group[pair[0]].min(group[pair[1]]));
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let firsts = (0..count).filter(|&i| group[i] == i);
    firsts.map(|first| (0..count).filter(|&i| group[i] == first).collect()).collect()
}

/// Whether constraints without parameters hold.
pub(super) fn constants_hold(
    constraints: &[Constraint],
    parameters: &[Parameter],
) -> Result<bool, SpaceError> {
    for (index, constraint) in constraints.iter().enumerate() {
        if constraint.parameters.is_empty() {
            match constraint.expr.eval(&[]) {
                Ok(value) if value.truth() => {}
                Ok(_) => return Ok(false),
                Err(error) => return Err(no_value(index, error, parameters, &[], &[])),
            }
        }
    }
    Ok(true)
}

/// Refuses components whose tuples cannot be numbered with 64 bits.
pub(super) fn check_product(all: &[Parameter], joined: &[usize]) -> Result<(), SpaceError> {
    let product =
        joined.iter().try_fold(1u64, |product, &p| product.checked_mul(all[p].values.len() as u64));
    product.map(|_| ()).ok_or_else(|| too_large(all, joined))
}

fn too_large(all: &[Parameter], joined: &[usize]) -> SpaceError {
    SpaceError::TooLarge { parameters: joined.iter().map(|&p| all[p].name.clone()).collect() }
}

/// Values that are tried between two questions whether to give up.
const PATIENCE: u32 = 1 << 14;

/// Codes of all valid tuples of the parameters `joined`, ascending. `stop` is asked now and then.
pub(super) fn tuples(
    all: &[Parameter],
    constraints: &[Constraint],
    joined: &[usize],
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u64>, SpaceError> {
    check_product(all, joined)?;
    let order = order(all, constraints, joined);
    let mut search = Search {
        all,
        domains: all.iter().map(|p| p.values.iter().map(Value::view).collect()).collect(),
        checks: checks(all, constraints, &order),
        strides: strides(all, joined, &order),
        slots: vec![Val::Bool(false); all.len()],
        indices: vec![0; all.len()],
        order,
        found: vec![],
        stop,
        tried: 0,
    };
    search.descend(0, 0)?;
    let mut found = search.found;
    found.sort_unstable();
    Ok(found)
}

/// The order in which parameters get values: always the one that completes most conditions next, then the one that
/// conditions mention most, then the one with the fewest values.
fn order(all: &[Parameter], constraints: &[Constraint], joined: &[usize]) -> Vec<usize> {
    let parts: Vec<&[usize]> = constraints
        .iter()
        .flat_map(|c| c.conjuncts.iter().map(|(_, slots)| slots.as_slice()))
        .collect();
    let mut order: Vec<usize> = vec![];
    while order.len() < joined.len() {
        let score = |p: usize| {
            let known = |q: &usize| *q == p || order.contains(q);
            let mentions = parts.iter().filter(|s| s.contains(&p));
            let completed = mentions.clone().filter(|s| s.iter().all(known)).count();
            let open = mentions.clone().filter(|s| s.iter().any(|q| order.contains(q))).count();
            (completed, open, mentions.count(), std::cmp::Reverse(all[p].values.len()))
        };
        let free = joined.iter().copied().filter(|p| !order.contains(p));
        match free.max_by_key(|&p| (score(p), std::cmp::Reverse(p))) {
            Some(next) => order.push(next),
            None => break,
        }
    }
    order
}

/// The step of each parameter, in the order of the search, in the code of a tuple.
fn strides(all: &[Parameter], joined: &[usize], order: &[usize]) -> Vec<u64> {
    let stride = |p: usize| {
        joined.iter().filter(|&&q| q > p).map(|&q| all[q].values.len() as u64).product::<u64>()
    };
    order.iter().map(|&p| stride(p)).collect()
}

/// A condition that is tested at one depth of the search.
struct Check<'a> {
    expr: &'a Expr,
    constraint: usize,
    /// Whether having no value is the user's error; else another part of the constraint may exclude such tuples.
    strict: bool,
    table: Option<Table>,
}

/// The truth of a condition for all values of its parameters, filled as it is asked for.
struct Table {
    /// Parameters and what a step of each adds to the index.
    radix: Vec<(usize, usize)>,
    /// 0 unknown, 1 false, 2 true.
    truth: Vec<u8>,
}

impl Table {
    fn new(all: &[Parameter], slots: &[usize]) -> Option<Table> {
        let mut radix = vec![];
        let mut size = 1usize;
        for &slot in slots {
            radix.push((slot, size));
            size = size.checked_mul(all[slot].values.len()).filter(|s| *s <= LARGEST_TABLE)?;
        }
        Some(Table { radix, truth: vec![0; size] })
    }
}

/// The conditions to test after each parameter of the order.
fn checks<'a>(
    all: &[Parameter],
    constraints: &'a [Constraint],
    order: &[usize],
) -> Vec<Vec<Check<'a>>> {
    let mut checks: Vec<Vec<Check>> = order.iter().map(|_| vec![]).collect();
    let depth_of =
        |slots: &[usize]| slots.iter().filter_map(|s| order.iter().position(|p| p == s)).max();
    for (constraint, c) in constraints.iter().enumerate() {
        let inside = c.parameters.iter().all(|p| order.contains(p));
        let Some(last) = depth_of(&c.parameters).filter(|_| inside) else { continue };
        for (part, slots) in &c.conjuncts {
            // A part without parameters is tested where the first other one is.
            let depth = depth_of(slots).unwrap_or(last);
            let strict = c.conjuncts.len() == 1;
            let table = Table::new(all, slots);
            checks[depth].push(Check { expr: part, constraint, strict, table });
        }
        if c.conjuncts.len() > 1 {
            // What a part could not decide is decided, or complained about, by the whole.
            let table = Table::new(all, &c.parameters);
            checks[last].push(Check { expr: &c.expr, constraint, strict: true, table });
        }
    }
    for list in &mut checks {
        list.sort_by_key(|check| check.strict && check.table.is_none());
    }
    checks
}

struct Search<'a> {
    all: &'a [Parameter],
    domains: Vec<Vec<Val<'a>>>,
    order: Vec<usize>,
    checks: Vec<Vec<Check<'a>>>,
    strides: Vec<u64>,
    slots: Vec<Val<'a>>,
    indices: Vec<u16>,
    found: Vec<u64>,
    stop: &'a dyn Fn() -> bool,
    /// Values since the start, modulo 2³².
    tried: u32,
}

impl Search<'_> {
    fn descend(&mut self, depth: usize, code: u64) -> Result<(), SpaceError> {
        let Some(&parameter) = self.order.get(depth) else {
            if self.found.len() == MOST_TUPLES {
                return Err(too_large(self.all, &self.order));
            }
            self.found.push(code);
            return Ok(());
        };
        for index in 0..self.domains[parameter].len() {
            self.slots[parameter] = self.domains[parameter][index];
            self.indices[parameter] = index as u16;
            self.tried = self.tried.wrapping_add(1);
            if self.tried.is_multiple_of(PATIENCE) && (self.stop)() {
                return Err(SpaceError::Stopped);
            }
            if self.holds(depth)? {
                self.descend(depth + 1, code + index as u64 * self.strides[depth])?;
            }
        }
        Ok(())
    }

    fn holds(&mut self, depth: usize) -> Result<bool, SpaceError> {
        for i in 0..self.checks[depth].len() {
            let check = &mut self.checks[depth][i];
            let at = check.table.as_ref().map(|table| {
                let digits =
                    table.radix.iter().map(|(p, step)| usize::from(self.indices[*p]) * step);
                digits.sum::<usize>()
            });
            if let (Some(table), Some(at)) = (&check.table, at) {
                match table.truth[at] {
                    1 => return Ok(false),
                    2 => continue,
                    _ => {}
                }
            }
            let truth = match check.expr.eval(&self.slots) {
                Ok(value) => value.truth(),
                Err(_) if !check.strict => true,
                Err(error) => {
                    let index = check.constraint;
                    return Err(no_value(
                        index,
                        error,
                        self.all,
                        &self.order[..=depth],
                        &self.indices,
                    ));
                }
            };
            if let (Some(table), Some(at)) = (&mut check.table, at) {
                table.truth[at] = 1 + u8::from(truth);
            }
            if !truth {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn no_value(
    index: usize,
    error: crate::expr::EvalError,
    all: &[Parameter],
    known: &[usize],
    indices: &[u16],
) -> SpaceError {
    let value = |p: &usize| {
        let parameter = &all[*p];
        format!("{}={}", parameter.name, parameter.values[usize::from(indices[*p])].literal())
    };
    let configuration = known.iter().map(value).collect::<Vec<_>>().join(" ");
    let error = ExprError { span: error.span, message: error.reason.to_string(), help: None };
    SpaceError::Evaluation { index, error, configuration }
}
