//! Search spaces: parameters with their values, constraints on them, and the configurations that remain.
//!
//! Parameters that no constraint joins, directly or through others, form *components*. Each component's valid tuples
//! are enumerated once; a configuration is a tuple of each, so a space of independent parameters costs nothing however
//! large its product is, and counting and uniform sampling are exact.

mod enumerate;
mod neighbours;

use std::fmt;
use std::sync::Arc;

use warpsmith_ir::{Diagnostic, FileId};

pub use neighbours::Neighbourhood;

use crate::expr::{Expr, ExprError, Meaning};
use crate::rng::Rng;
use crate::value::{Val, Value};

/// Most values of a parameter, and most valid tuples of a component (eight bytes each).
const MOST_VALUES: usize = u16::MAX as usize;
const MOST_TUPLES: usize = 100_000_000;

/// A tunable parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name that constraints and configurations use.
    pub name: String,
    /// In the order given; for numbers usually ascending.
    pub values: Vec<Value>,
}

impl Parameter {
    /// A parameter with these values, in this order.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Parameter {
        Parameter { name: name.into(), values: values.into_iter().collect() }
    }

    /// `count` values from `first` on, each made of the one before by `step`: `|x| x * 2` gives powers of two.
    /// Ends early where `step` does.
    pub fn by_rule(
        name: impl Into<String>,
        first: i64,
        count: usize,
        step: impl Fn(i64) -> Option<i64>,
    ) -> Parameter {
        let values = std::iter::successors(Some(first), |x| step(*x)).take(count);
        Parameter::new(name, values.map(Value::Int))
    }

    /// All divisors of `n`, ascending.
    pub fn divisors(name: impl Into<String>, n: u32) -> Parameter {
        let divides = |d: &u32| n.is_multiple_of(*d);
        Parameter::new(name, (1..=n).filter(divides).map(|d| Value::Int(i64::from(d))))
    }

    /// Whether all values are numbers, so that their order means something.
    pub fn is_ordered(&self) -> bool {
        self.values.iter().all(|v| !matches!(v, Value::Bool(_)) && v.number().is_some())
    }

    fn position(&self, value: &Value) -> Option<u16> {
        self.values.iter().position(|v| v == value).map(|i| i as u16)
    }
}

/// A condition on the parameters, ready to be computed.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The condition as written.
    pub text: String,
    expr: Expr,
    /// The parts that must all hold, each with the parameters it reads.
    conjuncts: Vec<(Expr, Vec<usize>)>,
    parameters: Vec<usize>,
}

/// Why a space cannot be made.
#[derive(Clone, Debug)]
pub enum SpaceError {
    /// The text of constraint `index` is no expression over the parameters.
    Expression {
        /// Position of the constraint, from 0.
        index: usize,
        /// What is wrong, and where in the constraint's text.
        error: ExprError,
    },
    /// Constraint `index` has no value for a configuration: a division by zero, for instance.
    Evaluation {
        /// Position of the constraint, from 0.
        index: usize,
        /// What has no value, and where in the constraint's text.
        error: ExprError,
        /// The configuration, in words.
        configuration: String,
    },
    /// A parameter has no values.
    NoValues {
        /// Its name.
        parameter: String,
    },
    /// A parameter has more values than the space can number.
    TooManyValues {
        /// Its name.
        parameter: String,
    },
    /// Two parameters have the same name.
    Repeated {
        /// The name.
        parameter: String,
    },
    /// A value is listed twice.
    RepeatedValue {
        /// The parameter's name.
        parameter: String,
        /// The value.
        value: Value,
    },
    /// More combinations of parameters that constraints connect than can be listed.
    TooLarge {
        /// Names of these parameters.
        parameters: Vec<String>,
    },
    /// The caller said so before the end.
    Stopped,
}

impl SpaceError {
    /// As a message; `place` tells the file and byte at which the text of a constraint starts.
    pub fn diagnostic(&self, place: &dyn Fn(usize) -> Option<(FileId, u32)>) -> Diagnostic {
        let at = |index: usize, error: &ExprError| match place(index) {
            Some((file, start)) => error.diagnostic(file, start),
            None => {
                Diagnostic::error("W400", format!("constraint {}: {}", index + 1, error.message))
            }
        };
        match self {
            SpaceError::Expression { index, error } => at(*index, error),
            SpaceError::Evaluation { index, error, configuration } => {
                let mut d = at(*index, error);
                d.code = "W401";
                d.message = "this constraint has no value for a configuration".into();
                d.note(format!("for {configuration}"))
                    .help("exclude such configurations first: `x != 0 and n % x == 0`")
            }
            SpaceError::NoValues { parameter } => {
                Diagnostic::error("W402", format!("parameter `{parameter}` has no values"))
            }
            SpaceError::TooManyValues { parameter } => Diagnostic::error(
                "W402",
                format!("parameter `{parameter}` has over {MOST_VALUES} values"),
            ),
            SpaceError::Repeated { parameter } => {
                Diagnostic::error("W402", format!("two parameters are called `{parameter}`"))
            }
            SpaceError::RepeatedValue { parameter, value } => {
                let text = format!("parameter `{parameter}` lists {} twice", value.literal());
                Diagnostic::error("W402", text)
            }
            SpaceError::TooLarge { parameters } => {
                let names = parameters.join("`, `");
                let text = format!("too many configurations of `{names}` satisfy the constraints");
                Diagnostic::error("W403", text)
                    .note(format!("at most {MOST_TUPLES} valid combinations of parameters that constraints join"))
                    .help("give the parameters fewer values, or add constraints")
            }
            SpaceError::Stopped => {
                Diagnostic::error("W404", "the enumeration of the space was ended")
            }
        }
    }
}

/// The number of a configuration in its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigId(pub u64);

/// A configuration as positions in the parameters' lists of values.
pub type Point = Vec<u16>;

/// Parameters that constraints join, with their valid tuples.
#[derive(Clone, Debug)]
struct Component {
    /// Ascending.
    parameters: Vec<usize>,
    /// What a step of each parameter adds to the code of a tuple.
    strides: Vec<u64>,
    /// Ascending.
    codes: Vec<u64>,
    /// What a step to the next tuple adds to the number of a configuration.
    stride: u64,
}

/// All configurations that satisfy the constraints.
#[derive(Clone, Debug)]
pub struct Space {
    parameters: Vec<Parameter>,
    constraints: Vec<Constraint>,
    components: Vec<Component>,
    count: u64,
}

impl Space {
    /// Enumerates the configurations.
    ///
    /// # Errors
    /// A constraint that is not understood or has no value, a parameter without values or listed twice, and more
    /// configurations than can be held or numbered.
    pub fn new(parameters: Vec<Parameter>, constraints: &[String]) -> Result<Space, SpaceError> {
        Space::new_until(parameters, constraints, &|| false)
    }

    /// As [`Space::new`]; `stop` is asked now and then whether to give up.
    ///
    /// # Errors
    /// As [`Space::new`], and [`SpaceError::Stopped`].
    pub fn new_until(
        parameters: Vec<Parameter>,
        constraints: &[String],
        stop: &dyn Fn() -> bool,
    ) -> Result<Space, SpaceError> {
        check_parameters(&parameters)?;
        let constraints = constraints
            .iter()
            .enumerate()
            .map(|(index, text)| {
                Constraint::new(text, &parameters)
                    .map_err(|error| SpaceError::Expression { index, error })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut components = vec![];
        for joined in enumerate::components(parameters.len(), &constraints) {
            let codes = enumerate::tuples(&parameters, &constraints, &joined, stop)?;
            components.push(Component::new(&parameters, joined, codes));
        }
        if !enumerate::constants_hold(&constraints, &parameters)? {
            components.iter_mut().for_each(|c| c.codes.clear());
        }
        Space::of(parameters, constraints, components)
    }

    /// A space of just these configurations, as a recorded one is. Repeated ones count once.
    ///
    /// # Errors
    /// As [`Space::new`]; [`SpaceError::TooLarge`] too where a point does not fit the parameters.
    pub fn of_points(parameters: Vec<Parameter>, points: &[Point]) -> Result<Space, SpaceError> {
        check_parameters(&parameters)?;
        let all: Vec<usize> = (0..parameters.len()).collect();
        enumerate::check_product(&parameters, &all)?;
        let mut component = Component::new(&parameters, all, vec![]);
        let mut codes = points.iter().map(|p| component.code_of(p)).collect::<Vec<u64>>();
        codes.sort_unstable();
        codes.dedup();
        component.codes = codes;
        Space::of(parameters, vec![], vec![component])
    }

    fn of(
        parameters: Vec<Parameter>,
        constraints: Vec<Constraint>,
        mut components: Vec<Component>,
    ) -> Result<Space, SpaceError> {
        let mut count = 1u64;
        for component in components.iter_mut().rev() {
            component.stride = count.max(1);
            count = count.checked_mul(component.codes.len() as u64).ok_or_else(|| {
                SpaceError::TooLarge {
                    parameters: parameters.iter().map(|p| p.name.clone()).collect(),
                }
            })?;
        }
        Ok(Space { parameters, constraints, components, count })
    }

    /// The parameters, in the order given.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The constraints, in the order given.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// How many configurations there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many there would be without constraints.
    pub fn raw_count(&self) -> f64 {
        self.parameters.iter().map(|p| p.values.len() as f64).product()
    }

    /// The configuration of a number below [`Space::count`].
    pub fn point(&self, id: ConfigId) -> Point {
        let mut point = vec![0; self.parameters.len()];
        for component in &self.components {
            let rank = (id.0 / component.stride) % (component.codes.len() as u64).max(1);
            let Some(code) = component.codes.get(rank as usize) else { continue };
            for (i, &parameter) in component.parameters.iter().enumerate() {
                let radix = self.parameters[parameter].values.len() as u64;
                point[parameter] = (code / component.strides[i] % radix) as u16;
            }
        }
        point
    }

    /// The number of a configuration; `None` when it is not in the space.
    pub fn id(&self, point: &[u16]) -> Option<ConfigId> {
        let fits = |(p, &x): (&Parameter, &u16)| usize::from(x) < p.values.len();
        if point.len() != self.parameters.len() || !self.parameters.iter().zip(point).all(fits) {
            return None;
        }
        let mut id = 0;
        for component in &self.components {
            let rank = component.codes.binary_search(&component.code_of(point)).ok()?;
            id += rank as u64 * component.stride;
        }
        Some(ConfigId(id))
    }

    /// A configuration drawn uniformly; `None` when there is none.
    pub fn sample(&self, rng: &mut Rng) -> Option<ConfigId> {
        (self.count > 0).then(|| ConfigId(rng.below(self.count)))
    }

    /// The values of a configuration.
    pub fn configuration(&self, id: ConfigId) -> Configuration {
        let point = self.point(id);
        let pairs = self.parameters.iter().zip(&point);
        Configuration {
            values: pairs
                .map(|(p, &i)| (p.name.clone(), p.values[usize::from(i)].clone()))
                .collect(),
        }
    }

    /// The number of a configuration given by values in any order.
    pub fn find(&self, configuration: &Configuration) -> Option<ConfigId> {
        let point: Option<Point> = self
            .parameters
            .iter()
            .map(|p| configuration.get(&p.name).and_then(|value| p.position(value)))
            .collect();
        self.id(&point?)
    }

    /// All configurations in their order.
    pub fn ids(&self) -> impl Iterator<Item = ConfigId> + use<> {
        (0..self.count).map(ConfigId)
    }

    /// Parameters that take more than one value, by position.
    pub fn free_parameters(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&i| self.parameters[i].values.len() > 1).collect()
    }
}

fn check_parameters(parameters: &[Parameter]) -> Result<(), SpaceError> {
    for (i, p) in parameters.iter().enumerate() {
        let parameter = p.name.clone();
        if p.values.is_empty() {
            return Err(SpaceError::NoValues { parameter });
        }
        if p.values.len() > MOST_VALUES {
            return Err(SpaceError::TooManyValues { parameter });
        }
        if parameters[..i].iter().any(|other| other.name == p.name) {
            return Err(SpaceError::Repeated { parameter });
        }
        // Lists of numbers of this length are short; the quadratic search is below a millisecond for most.
        let twice = p.values.iter().enumerate().find(|(k, v)| p.values[..*k].contains(v));
        if let Some((_, value)) = twice {
            return Err(SpaceError::RepeatedValue { parameter, value: value.clone() });
        }
    }
    Ok(())
}

impl Constraint {
    fn new(text: &str, parameters: &[Parameter]) -> Result<Constraint, ExprError> {
        let slot = |name: &str| parameters.iter().position(|p| p.name == name).map(Meaning::Slot);
        let expr = Expr::parse(text)?.bind(&slot).map_err(|error| {
            let known: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            let help = Some(format!("the parameters are `{}`", known.join("`, `")));
            ExprError { help, ..error }
        })?;
        let with_slots = |part: Expr| {
            let slots = part.slots();
            (part, slots)
        };
        let conjuncts = expr.conjuncts().into_iter().map(with_slots).collect();
        Ok(Constraint { text: text.to_string(), parameters: expr.slots(), expr, conjuncts })
    }
}

impl Component {
    fn new(all: &[Parameter], parameters: Vec<usize>, codes: Vec<u64>) -> Component {
        let mut strides = vec![1u64; parameters.len()];
        for i in (1..parameters.len()).rev() {
            strides[i - 1] = strides[i] * all[parameters[i]].values.len() as u64;
        }
        Component { parameters, strides, codes, stride: 1 }
    }

    fn code_of(&self, point: &[u16]) -> u64 {
        self.parameters.iter().zip(&self.strides).map(|(&p, s)| u64::from(point[p]) * s).sum()
    }
}

/// A configuration by names and values, in the order of the space's parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// Name and value of each parameter.
    pub values: Vec<(String, Value)>,
}

impl Configuration {
    /// The value of a parameter; `None` where there is none of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The values joined by commas: how Kernel Tuner names a configuration.
    pub fn key(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|(_, value)| value.to_string()).collect();
        values.join(",")
    }

    /// Computes an expression over the parameters, such as a grid size.
    ///
    /// # Errors
    /// Names that are no parameters; what has no value.
    pub fn compute(&self, expr: &Expr) -> Result<Value, ExprError> {
        let slot = |name: &str| self.values.iter().position(|(n, _)| n == name).map(Meaning::Slot);
        let bound = expr.clone().bind(&slot)?;
        let slots: Vec<Val> = self.values.iter().map(|(_, value)| value.view()).collect();
        let value = bound.eval(&slots).map_err(|e| ExprError {
            span: e.span,
            message: e.reason.to_string(),
            help: None,
        })?;
        Ok(value.owned())
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> =
            self.values.iter().map(|(name, value)| format!("{name}={}", value.literal())).collect();
        f.write_str(&pairs.join(" "))
    }
}

/// A space that several threads look at.
pub type SharedSpace = Arc<Space>;

#[cfg(test)]
mod tests;
