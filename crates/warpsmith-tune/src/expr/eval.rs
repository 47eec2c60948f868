//! Computes expressions, with Python's rules for numbers, truth and comparison.

use std::ops::Range;

use super::{Binary, Compare, Expr, Function, Kind, Unary};
use crate::value::{Val, Value};

/// Why a value cannot be computed: where, and the reason in words.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// Bytes of the text of the part that has no value.
    pub span: Range<usize>,
    /// Why, in words: `division by zero`.
    pub reason: &'static str,
}

type Computed<T> = Result<T, &'static str>;

const NO_NUMBER: &str = "a number is wanted here";
const TOO_LARGE: &str = "the result does not fit into 64 bits";
const NO_LIST: &str = "a list is wanted here";

/// Longest list that an expression may make.
const LONGEST_LIST: usize = 1 << 20;

impl Expr {
    /// The value, when the name bound to slot `i` stands for `slots[i]`.
    ///
    /// # Errors
    /// The innermost part that has no value: a division by zero, a wrong type, a result beyond 64 bits.
    pub fn eval<'a>(&'a self, slots: &[Val<'a>]) -> Result<Val<'a>, EvalError> {
        let here = |computed: Computed<Val<'a>>| computed.map_err(|reason| self.error(reason));
        match &self.kind {
            Kind::Const(value) => Ok(value.view()),
            Kind::Slot(slot) => {
                here(slots.get(*slot).copied().ok_or("a parameter without a value"))
            }
            Kind::Name(_) | Kind::Local(_) => Err(self.error("a name without a value")),
            Kind::Unary(op, x) => here(unary(*op, x.eval(slots)?)),
            Kind::Binary(op, x, y) => here(binary(*op, x.eval(slots)?, y.eval(slots)?)),
            Kind::And(items) => self.first(items, slots, false),
            Kind::Or(items) => self.first(items, slots, true),
            Kind::Compare(first, rest) => self.chain(first, rest, slots),
            Kind::If { condition, then, other } => {
                if condition.eval(slots)?.truth() {
                    then.eval(slots)
                } else {
                    other.eval(slots)
                }
            }
            Kind::Call(function, arguments) => self.call(*function, arguments, slots),
            Kind::Index(list, index) => self.index(list, index, slots),
            Kind::List(_) | Kind::Each { .. } => {
                Err(self.error("a list may stand after `in`, in a call, or before an index only"))
            }
        }
    }

    /// The list it stands for.
    ///
    /// # Errors
    /// As [`Expr::eval`]; also when it is no list, or one of over a million values.
    pub fn eval_list<'a>(&'a self, slots: &[Val<'a>]) -> Result<Vec<Value>, EvalError> {
        match &self.kind {
            Kind::List(items) => items.iter().map(|item| item.eval_item(slots)).collect(),
            Kind::Each { element, variable, source, filter } => {
                let mut made = vec![];
                for value in source.eval_list(slots)? {
                    let kept = match filter {
                        Some(filter) => {
                            filter.with(variable, &value).eval_owned(slots)?.view().truth()
                        }
                        None => true,
                    };
                    if kept {
                        made.push(element.with(variable, &value).eval_owned(slots)?);
                    }
                }
                Ok(made)
            }
            Kind::Call(Function::List, arguments) if arguments.len() == 1 => {
                arguments[0].eval_list(slots)
            }
            Kind::Call(Function::Range, arguments) => {
                let bounds: Vec<i64> = arguments
                    .iter()
                    .map(|x| x.eval(slots)?.integer().ok_or(x.error("an integer is wanted here")))
                    .collect::<Result<_, _>>()?;
                range(&bounds).map_err(|reason| self.error(reason))
            }
            Kind::Binary(Binary::Add, x, y) => {
                let mut list = x.eval_list(slots)?;
                list.extend(y.eval_list(slots)?);
                Ok(list)
            }
            _ => match self.eval(slots)? {
                Val::List(items) => Ok(items.to_vec()),
                _ => Err(self.error(NO_LIST)),
            },
        }
    }

    /// A value of its own: of a list, its items.
    fn eval_owned<'a>(&'a self, slots: &[Val<'a>]) -> Result<Value, EvalError> {
        self.eval_item(slots)
    }

    fn eval_item<'a>(&'a self, slots: &[Val<'a>]) -> Result<Value, EvalError> {
        match &self.kind {
            Kind::List(_) | Kind::Each { .. } => self.eval_list(slots).map(Value::List),
            _ => self.eval(slots).map(Val::owned),
        }
    }

    /// The expression with the variable of a comprehension replaced by a value.
    fn with(&self, variable: &str, value: &Value) -> Expr {
        let mut expr = self.clone();
        expr.rewrite(&mut |part| {
            if matches!(&part.kind, Kind::Local(name) if name == variable) {
                part.kind = Kind::Const(value.clone());
            }
        });
        expr
    }

    fn error(&self, reason: &'static str) -> EvalError {
        EvalError { span: self.span.clone(), reason }
    }

    /// `and`, `or`: the first operand whose truth is `stop`, else the last one.
    fn first<'a>(
        &'a self,
        items: &'a [Expr],
        slots: &[Val<'a>],
        stop: bool,
    ) -> Result<Val<'a>, EvalError> {
        let mut last = Val::Bool(!stop);
        for item in items {
            last = item.eval(slots)?;
            if last.truth() == stop {
                break;
            }
        }
        Ok(last)
    }

    fn chain<'a>(
        &'a self,
        first: &'a Expr,
        rest: &'a [(Compare, Expr)],
        slots: &[Val<'a>],
    ) -> Result<Val<'a>, EvalError> {
        if let [(op @ (Compare::In | Compare::NotIn), list)] = rest {
            let holds = self.member(first.eval(slots)?, list, slots)?;
            return Ok(Val::Bool(holds == (*op == Compare::In)));
        }
        let mut left = first.eval(slots)?;
        for (op, expr) in rest {
            let right = expr.eval(slots)?;
            if !compare(*op, left, right).map_err(|reason| self.error(reason))? {
                return Ok(Val::Bool(false));
            }
            left = right;
        }
        Ok(Val::Bool(true))
    }

    fn member<'a>(
        &'a self,
        x: Val<'a>,
        list: &'a Expr,
        slots: &[Val<'a>],
    ) -> Result<bool, EvalError> {
        match &list.kind {
            Kind::List(items) => {
                for item in items {
                    if item.eval(slots)?.equals(x) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Kind::Each { .. } | Kind::Call(Function::Range | Function::List, _) => {
                Ok(list.eval_list(slots)?.iter().any(|item| item.view().equals(x)))
            }
            _ => match (list.eval(slots)?, x) {
                (Val::List(items), _) => Ok(items.iter().any(|item| item.view().equals(x))),
                (Val::Str(text), Val::Str(part)) => Ok(text.contains(part)),
                _ => Err(list.error(NO_LIST)),
            },
        }
    }

    fn index<'a>(
        &'a self,
        list: &'a Expr,
        index: &'a Expr,
        slots: &[Val<'a>],
    ) -> Result<Val<'a>, EvalError> {
        let at = index.eval(slots)?.integer().ok_or(index.error("an integer is wanted here"))?;
        let place = |length: usize| {
            let from_end = if at < 0 { at.checked_add(length as i64) } else { Some(at) };
            from_end.and_then(|i| usize::try_from(i).ok()).filter(|i| *i < length)
        };
        let outside = || index.error("there is no such element");
        if let Kind::List(items) = &list.kind {
            return items[place(items.len()).ok_or_else(outside)?].eval(slots);
        }
        match list.eval(slots)? {
            Val::List(items) => Ok(items[place(items.len()).ok_or_else(outside)?].view()),
            _ => Err(list.error(NO_LIST)),
        }
    }

    fn call<'a>(
        &'a self,
        function: Function,
        arguments: &'a [Expr],
        slots: &[Val<'a>],
    ) -> Result<Val<'a>, EvalError> {
        let here = |computed: Computed<Val<'a>>| computed.map_err(|reason| self.error(reason));
        match (function, arguments) {
            (Function::Min | Function::Max, [_, _, ..]) => {
                let mut best = arguments[0].eval(slots)?;
                for x in &arguments[1..] {
                    best = here(extreme(function, best, x.eval(slots)?))?;
                }
                Ok(best)
            }
            (Function::Len, [Expr { kind: Kind::Const(Value::Str(text)), .. }]) => {
                Ok(Val::Int(text.chars().count() as i64))
            }
            (Function::Min | Function::Max | Function::Sum | Function::Len, [list])
            | (Function::Any | Function::All, [list]) => {
                here(of_list(function, &list.numbers(slots)?))
            }
            (Function::Pow, [x, y]) => here(binary(Binary::Pow, x.eval(slots)?, y.eval(slots)?)),
            (Function::Range | Function::List, _) => {
                Err(self.error("a list may stand after `in`, in a call, or before an index only"))
            }
            (_, [x]) => here(of_one(function, x.eval(slots)?)),
            _ => Err(self.error("the wrong number of arguments")),
        }
    }

    /// The list's items; of a number the number alone, as tools take `max(x)` of a fixed parameter.
    fn numbers<'a>(&'a self, slots: &[Val<'a>]) -> Result<Vec<Value>, EvalError> {
        match &self.kind {
            Kind::Slot(_) | Kind::Const(_) => match self.eval(slots)? {
                Val::List(items) => Ok(items.to_vec()),
                Val::Str(_) => Err(self.error(NO_LIST)),
                x => Ok(vec![x.owned()]),
            },
            _ => self.eval_list(slots),
        }
    }
}

fn range(bounds: &[i64]) -> Computed<Vec<Value>> {
    let (first, last, step) = match *bounds {
        [last] => (0, last, 1),
        [first, last] => (first, last, 1),
        [first, last, step] => (first, last, step),
        _ => return Err("`range` takes one to three numbers"),
    };
    if step == 0 {
        return Err("the step is zero");
    }
    let mut list = vec![];
    let mut at = first;
    while (step > 0 && at < last) || (step < 0 && at > last) {
        if list.len() == LONGEST_LIST {
            return Err("a list of over a million values");
        }
        list.push(Value::Int(at));
        at = match at.checked_add(step) {
            Some(next) => next,
            None => break,
        };
    }
    Ok(list)
}

fn unary<'a>(op: Unary, x: Val<'a>) -> Computed<Val<'a>> {
    match (op, x) {
        (Unary::Not, x) => Ok(Val::Bool(!x.truth())),
        (Unary::Minus, Val::Float(x)) => Ok(Val::Float(-x)),
        (Unary::Plus, Val::Float(_)) => Ok(x),
        _ => {
            let x = x.integer().ok_or(NO_NUMBER)?;
            match op {
                Unary::Minus => x.checked_neg().map(Val::Int).ok_or(TOO_LARGE),
                Unary::Invert => Ok(Val::Int(!x)),
                Unary::Plus | Unary::Not => Ok(Val::Int(x)),
            }
        }
    }
}

fn binary<'a>(op: Binary, x: Val<'a>, y: Val<'a>) -> Computed<Val<'a>> {
    if let (Some(x), Some(y)) = (x.integer(), y.integer()) {
        return integers(op, x, y);
    }
    let (x, y) = (x.number().ok_or(NO_NUMBER)?, y.number().ok_or(NO_NUMBER)?);
    let result = match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div | Binary::FloorDiv | Binary::Mod if y == 0.0 => return Err("division by zero"),
        Binary::Div => x / y,
        Binary::FloorDiv => (x / y).floor(),
        Binary::Mod => x - y * (x / y).floor(),
        Binary::Pow => power(x, y)?,
        _ => return Err("integers are wanted on both sides"),
    };
    Ok(Val::Float(result))
}

fn integers<'a>(op: Binary, x: i64, y: i64) -> Computed<Val<'a>> {
    let result = match op {
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        Binary::Mul => x.checked_mul(y),
        Binary::Div | Binary::FloorDiv | Binary::Mod if y == 0 => return Err("division by zero"),
        Binary::Div => return Ok(Val::Float(x as f64 / y as f64)),
        // Python rounds towards minus infinity, and the remainder has the divisor's sign.
        Binary::FloorDiv => {
            x.checked_div(y).map(|q| if (x % y != 0) && ((x < 0) != (y < 0)) { q - 1 } else { q })
        }
        Binary::Mod => {
            x.checked_rem(y).map(|r| if r != 0 && ((r < 0) != (y < 0)) { r + y } else { r })
        }
        Binary::Pow if y < 0 => return power(x as f64, y as f64).map(Val::Float),
        Binary::Pow => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        Binary::BitAnd => Some(x & y),
        Binary::BitOr => Some(x | y),
        Binary::BitXor => Some(x ^ y),
        Binary::Shl | Binary::Shr if y < 0 => return Err("a shift by a negative number"),
        Binary::Shl if x == 0 => Some(0),
        Binary::Shl => (y < 63).then(|| x.checked_mul(1 << y)).flatten(),
        Binary::Shr => Some(x >> y.min(63)),
    };
    result.map(Val::Int).ok_or(TOO_LARGE)
}

fn power(x: f64, y: f64) -> Computed<f64> {
    if x == 0.0 && y < 0.0 {
        return Err("division by zero");
    }
    let result = x.powf(y);
    if result.is_nan() && !x.is_nan() && !y.is_nan() {
        return Err("a root of a negative number");
    }
    Ok(result)
}

fn compare(op: Compare, x: Val, y: Val) -> Computed<bool> {
    match op {
        Compare::Equal => return Ok(x.equals(y)),
        Compare::NotEqual => return Ok(!x.equals(y)),
        Compare::In | Compare::NotIn => {
            let found = match (x, y) {
                (x, Val::List(items)) => items.iter().any(|item| item.view().equals(x)),
                (Val::Str(part), Val::Str(text)) => text.contains(part),
                _ => return Err(NO_LIST),
            };
            return Ok(found == (op == Compare::In));
        }
        _ => {}
    }
    let order = match (x, y) {
        (Val::Str(x), Val::Str(y)) => Some(x.cmp(y)),
        _ => match (x.integer(), y.integer()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            _ => {
                let refused = "these two cannot be compared";
                x.number().ok_or(refused)?.partial_cmp(&y.number().ok_or(refused)?)
            }
        },
    };
    Ok(order.is_some_and(|order| match op {
        Compare::Less => order.is_lt(),
        Compare::LessEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

/// The lesser or greater of two; the first one of equals, as in Python.
fn extreme<'a>(function: Function, x: Val<'a>, y: Val<'a>) -> Computed<Val<'a>> {
    let op = if function == Function::Min { Compare::Less } else { Compare::Greater };
    Ok(if compare(op, y, x)? { y } else { x })
}

fn of_list<'a>(function: Function, items: &[Value]) -> Computed<Val<'a>> {
    match function {
        Function::Len => return Ok(Val::Int(items.len() as i64)),
        Function::Any => return Ok(Val::Bool(items.iter().any(|x| x.view().truth()))),
        Function::All => return Ok(Val::Bool(items.iter().all(|x| x.view().truth()))),
        _ => {}
    }
    let mut result = match function {
        Function::Sum => Val::Int(0),
        _ => items.first().ok_or("the list is empty")?.view(),
    };
    for item in items {
        result = match function {
            Function::Sum => binary(Binary::Add, result, item.view())?,
            _ => extreme(function, result, item.view())?,
        };
    }
    match result {
        Val::Int(x) => Ok(Val::Int(x)),
        Val::Float(x) => Ok(Val::Float(x)),
        Val::Bool(x) => Ok(Val::Bool(x)),
        Val::Str(_) | Val::List(_) => Err(NO_NUMBER),
    }
}

fn of_one<'a>(function: Function, x: Val<'a>) -> Computed<Val<'a>> {
    let whole = |x: f64| {
        // 2^63 is a double, 2^63 - 1 is none.
        let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x);
        if fits { Ok(Val::Int(x as i64)) } else { Err(TOO_LARGE) }
    };
    if function == Function::Bool {
        return Ok(Val::Bool(x.truth()));
    }
    if let (
        Function::Int | Function::Round | Function::Ceil | Function::Floor | Function::Abs,
        Some(i),
    ) = (function, x.integer())
    {
        let i = if function == Function::Abs { i.checked_abs() } else { Some(i) };
        return i.map(Val::Int).ok_or(TOO_LARGE);
    }
    let number = x.number().ok_or(NO_NUMBER)?;
    match function {
        Function::Abs => Ok(Val::Float(number.abs())),
        Function::Float => Ok(Val::Float(number)),
        Function::Int => whole(number.trunc()),
        // Python rounds halves to even.
        Function::Round => whole(number.round_ties_even()),
        Function::Ceil => whole(number.ceil()),
        Function::Floor => whole(number.floor()),
        Function::Sqrt if number < 0.0 => Err("a root of a negative number"),
        Function::Sqrt => Ok(Val::Float(number.sqrt())),
        Function::Log2 if number <= 0.0 => Err("a logarithm of a number that is not positive"),
        Function::Log2 => Ok(Val::Float(number.log2())),
        _ => Err("the wrong number of arguments"),
    }
}
