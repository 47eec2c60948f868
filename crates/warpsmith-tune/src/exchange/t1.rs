//! T1, the community's format of tuning problems: parameters, conditions, a kernel and how to call it.
//!
//! Other tools hand the strings in such a file to Python's `eval`. Here they are expressions of [`crate::expr`].

mod schema;

use serde_json::{Value as Json, json};
use warpsmith_ir::{Diagnostic, FileId};

use super::{Object, first_line, parse, place_of, span};
use crate::expr::{Expr, ExprError, Meaning};
use crate::space::{Configuration, Parameter, Space, SpaceError};
use crate::value::{Val, Value};

pub use self::schema::Unknown;

/// A tuning problem.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The whole file as it was read, so that writing it loses nothing.
    pub document: Object,
    /// The tuned parameters with their values.
    pub parameters: Vec<Parameter>,
    /// `Default` of each parameter, where the file has one.
    pub defaults: Vec<Option<Value>>,
    /// Conditions on the parameters, as written.
    pub constraints: Vec<String>,
    /// What is launched.
    pub kernel: Kernel,
    /// `Search.Name`.
    pub strategy: Option<String>,
    /// When the search is to end.
    pub budgets: Vec<BudgetLimit>,
    /// Names that mean nothing where they are.
    pub unknown: Vec<Unknown>,
}

/// One entry of `Budget`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetLimit {
    /// In seconds.
    TuningDuration(f64),
    /// In configurations.
    ConfigurationCount(u64),
    /// Of the space, in `(0, 1]`.
    ConfigurationFraction(f64),
}

/// Whether a global size counts blocks or threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeType {
    /// The grid in blocks.
    #[default]
    Cuda,
    /// The grid in threads.
    OpenCl,
}

/// What is launched. Sizes are expressions over the parameters and `ProblemSize`.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// `Language`, such as `CUDA`.
    pub language: String,
    /// The function's name in the file.
    pub name: String,
    /// Arguments of a template, as KTT spells them.
    pub type_names: Vec<String>,
    /// Relative to the problem's file.
    pub file: String,
    /// Options of the compiler, in their order.
    pub compiler_options: Vec<String>,
    /// The device that the file names.
    pub device: Option<String>,
    /// X, Y, Z; `1` where the file says nothing.
    pub global_size: [String; 3],
    /// Threads of a block along X, Y and Z; `1` where the file says nothing.
    pub local_size: [String; 3],
    /// What `global_size` counts.
    pub size_type: SizeType,
    /// Kernel Tuner: what the problem's size is divided by, an axis after the other, to get the grid.
    pub grid_divisors: [Vec<String>; 3],
    /// `ProblemSize`: an expression for each axis.
    pub problem_size: Vec<String>,
    /// Dynamic shared memory in bytes.
    pub shared_memory: Option<String>,
    /// One for each parameter of the kernel.
    pub arguments: Vec<Argument>,
    /// Results that the kernel's outputs are compared with.
    pub references: Vec<Reference>,
}

/// An argument of the kernel.
#[derive(Clone, Debug, Default)]
pub struct Argument {
    /// The argument's name.
    pub name: String,
    /// `float`, `int32`, …
    pub kind: String,
    /// `Vector` or `Scalar`.
    pub memory: String,
    /// `ReadOnly`, `WriteOnly` or `ReadWrite`.
    pub access: String,
    /// `Constant`, `Random`, `Generator`, `Script`, `BinaryRaw`, `BinaryHDF`.
    pub fill: String,
    /// What the fill needs: a number, a range, a file; as written.
    pub fill_value: Json,
    /// Elements of a vector: an expression.
    pub size: Option<String>,
    /// Whether it is a symbol in constant memory rather than a parameter.
    pub constant: bool,
    /// The file of binary data, or the expression of a generator.
    pub source: Option<String>,
    /// Bytes of an element of a `custom` type.
    pub type_size: Option<u64>,
    /// Of `Random`.
    pub seed: Option<u64>,
    /// Kernel Tuner's `MemType`, where it is something else than global or constant memory.
    pub special: Option<String>,
}

/// An expected result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// The argument that is compared.
    pub target: String,
    /// `AbsoluteDifference`, `SideBySideComparison`, …
    pub method: String,
    /// The difference that is accepted, where the file has one.
    pub threshold: Option<f64>,
    /// All of the entry.
    pub fields: Object,
}

impl Problem {
    /// Reads a problem.
    ///
    /// # Errors
    /// One diagnostic: what is no JSON, a field that is missing or of the wrong kind, a list of values or an expression
    /// that is not understood.
    pub fn read(text: &str, file: FileId) -> Result<Problem, Diagnostic> {
        let document: Object = parse(text, file)?;
        let unknown = schema::check(text, file, &document)?;
        let reader = Reader { text, file };
        let space = reader.object(&document, "ConfigurationSpace")?;
        let mut parameters = vec![];
        let mut defaults = vec![];
        for p in reader.list(space, "TuningParameters")? {
            let (parameter, default) = reader.parameter(p)?;
            parameters.push(parameter);
            defaults.push(default);
        }
        let mut constraints = vec![];
        for condition in space.get("Conditions").and_then(Json::as_array).into_iter().flatten() {
            let expression = condition.get("Expression").and_then(Json::as_str);
            let expression =
                expression.ok_or_else(|| reader.refuse("a condition has no text `Expression`"))?;
            constraints.push(expression.to_string());
        }
        let kernel = reader.kernel(reader.object(&document, "KernelSpecification")?)?;
        let search = document.get("Search").and_then(|s| s.get("Name")).and_then(Json::as_str);
        let strategy = search.map(str::to_string);
        let mut budgets = vec![];
        // Older files hold a single one in place of the list.
        let limits = match document.get("Budget") {
            Some(Json::Array(list)) => list.as_slice(),
            Some(one @ Json::Object(_)) => std::slice::from_ref(one),
            _ => &[],
        };
        for budget in limits {
            budgets.push(reader.budget(budget)?);
        }
        let problem = Problem {
            document,
            parameters,
            defaults,
            constraints,
            kernel,
            strategy,
            budgets,
            unknown,
        };
        problem.check_sizes(&reader)?;
        Ok(problem)
    }

    /// A problem of ours: parameters, constraints and the kernel's file; anything further goes into the document.
    pub fn new(
        name: &str,
        file: &str,
        parameters: Vec<Parameter>,
        constraints: Vec<String>,
    ) -> Problem {
        let tuning: Vec<Json> = parameters
            .iter()
            .map(|p| {
                let values = Value::List(p.values.clone()).literal();
                json!({"Name": p.name, "Type": type_name(p), "Values": values})
            })
            .collect();
        let conditions: Vec<Json> = constraints
            .iter()
            .map(|text| {
                let expr = Expr::parse(text);
                let names = expr.as_ref().map(Expr::names).unwrap_or_default();
                json!({"Parameters": names, "Expression": text})
            })
            .collect();
        let one = || ["1", "1", "1"].map(str::to_string);
        let document = json!({
            "ConfigurationSpace": {"TuningParameters": tuning, "Conditions": conditions},
            "KernelSpecification": {
                "Language": "CUDA",
                "KernelName": name,
                "KernelFile": file,
                "GlobalSizeType": "CUDA",
                "GlobalSize": {"X": "1"},
                "LocalSize": {"X": "1"},
                "Arguments": [],
            },
            "General": {"TimeUnit": "Milliseconds", "OutputFormat": "JSON"},
        });
        let document = match document {
            Json::Object(document) => document,
            _ => Object::new(),
        };
        let kernel = Kernel {
            language: "CUDA".into(),
            name: name.into(),
            file: file.into(),
            global_size: one(),
            local_size: one(),
            ..Kernel::default()
        };
        let defaults = vec![None; parameters.len()];
        Problem {
            document,
            parameters,
            defaults,
            constraints,
            kernel,
            strategy: None,
            budgets: vec![],
            unknown: vec![],
        }
    }

    /// The file's text.
    pub fn write(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The configurations.
    ///
    /// # Errors
    /// As [`Space::new`], at the place of the constraint in the problem's text.
    pub fn space(&self, text: &str, file: FileId) -> Result<Space, Diagnostic> {
        match self.space_until(text, file, &|| false)? {
            Some(space) => Ok(space),
            None => Err(Diagnostic::error("W404", "the enumeration of the space was ended")),
        }
    }

    /// As [`Problem::space`]; `stop` is asked now and then, and `None` is the answer when it says so.
    ///
    /// # Errors
    /// As [`Problem::space`].
    pub fn space_until(
        &self,
        text: &str,
        file: FileId,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Space>, Diagnostic> {
        match Space::new_until(self.parameters.clone(), &self.constraints, stop) {
            Ok(space) => Ok(Some(space)),
            Err(SpaceError::Stopped) => Ok(None),
            Err(error) => Err(error.diagnostic(&|index| {
                let at = place_of(text, self.constraints.get(index)?)?;
                Some((file, span(file, at, at).start))
            })),
        }
    }

    /// Computes a size for a configuration: parameters stand for their values there, `ProblemSize` for the list.
    ///
    /// # Errors
    /// The place in `text` that is not understood or has no value.
    pub fn size(&self, text: &str, configuration: &Configuration) -> Result<Value, ExprError> {
        let values = configuration.values.iter();
        self.compute(text, values.map(|(name, value)| (name.as_str(), value.clone())).collect())
    }

    /// Computes the size of an argument, which does not depend on a configuration: parameters stand for the lists of
    /// their values, as in `max(filter_width) * ProblemSize[0]`; one with a single value stands for it too.
    ///
    /// # Errors
    /// As [`Problem::size`].
    pub fn argument_size(&self, text: &str) -> Result<Value, ExprError> {
        let stand = |p: &Parameter| match p.values.as_slice() {
            [only] => only.clone(),
            many => Value::List(many.to_vec()),
        };
        self.compute(text, self.parameters.iter().map(|p| (p.name.as_str(), stand(p))).collect())
    }

    fn compute(&self, text: &str, mut known: Vec<(&str, Value)>) -> Result<Value, ExprError> {
        let mut sizes = vec![];
        for size in &self.kernel.problem_size {
            sizes.push(evaluate(size, &known)?);
        }
        known.push(("ProblemSize", Value::List(sizes)));
        evaluate(text, &known)
    }

    /// Reads all expressions of sizes once, so that mistakes show at the start.
    fn check_sizes(&self, reader: &Reader) -> Result<(), Diagnostic> {
        let kernel = &self.kernel;
        let sizes = kernel.global_size.iter().chain(&kernel.local_size).chain(&kernel.problem_size);
        let divisors = kernel.grid_divisors.iter().flatten();
        let of_arguments = kernel.arguments.iter().filter_map(|a| a.size.as_ref());
        for text in sizes.chain(divisors).chain(&kernel.shared_memory).chain(of_arguments) {
            let known = |name: &str| {
                let parameter = self.parameters.iter().any(|p| p.name == name);
                (parameter || name == "ProblemSize").then_some(Meaning::Slot(0))
            };
            Expr::parse(text)
                .and_then(|expr| expr.bind(&known))
                .map_err(|error| reader.expression(text, &error))?;
        }
        Ok(())
    }
}

fn evaluate(text: &str, known: &[(&str, Value)]) -> Result<Value, ExprError> {
    let slot = |name: &str| known.iter().position(|(n, _)| *n == name).map(Meaning::Slot);
    let expr = Expr::parse(text)?.bind(&slot)?;
    let slots: Vec<Val> = known.iter().map(|(_, value)| value.view()).collect();
    let value = expr.eval(&slots);
    value.map(Val::owned).map_err(|e| ExprError {
        span: e.span,
        message: e.reason.to_string(),
        help: None,
    })
}

fn type_name(p: &Parameter) -> &'static str {
    let all = |is: fn(&Value) -> bool| p.values.iter().all(is);
    if all(|v| matches!(v, Value::Bool(_))) {
        "bool"
    } else if all(|v| matches!(v, Value::Int(_))) {
        "int"
    } else if all(|v| v.number().is_some()) {
        "float"
    } else {
        "string"
    }
}

/// Takes a problem apart, with the text for places in messages.
struct Reader<'a> {
    text: &'a str,
    file: FileId,
}

impl Reader<'_> {
    fn refuse(&self, why: &str) -> Diagnostic {
        let head = span(self.file, 0, first_line(self.text));
        Diagnostic::error("W411", "this is no T1 problem").label(head, why.to_string())
    }

    /// A message at a string of the file.
    fn at(&self, content: &str, message: &str, why: &str) -> Diagnostic {
        let place = place_of(self.text, content);
        let (start, end) = place.map_or((0, first_line(self.text)), |at| (at, at + content.len()));
        Diagnostic::error("W411", message).label(span(self.file, start, end), why.to_string())
    }

    fn expression(&self, text: &str, error: &ExprError) -> Diagnostic {
        match place_of(self.text, text) {
            Some(at) => error.diagnostic(self.file, span(self.file, at, at).start),
            None => self.refuse(&format!("`{text}`: {}", error.message)),
        }
    }

    fn object<'o>(&self, object: &'o Object, name: &str) -> Result<&'o Object, Diagnostic> {
        let found = object.get(name).and_then(Json::as_object);
        found.ok_or_else(|| self.refuse(&format!("an object `{name}` is wanted in this file")))
    }

    fn list<'o>(&self, object: &'o Object, name: &str) -> Result<&'o Vec<Json>, Diagnostic> {
        let found = object.get(name).and_then(Json::as_array);
        found.ok_or_else(|| self.refuse(&format!("a list `{name}` is wanted in this file")))
    }

    fn string<'o>(&self, object: &'o Json, name: &str, of: &str) -> Result<&'o str, Diagnostic> {
        let found = object.get(name).and_then(Json::as_str);
        found.ok_or_else(|| self.refuse(&format!("a text `{name}` is wanted in {of}")))
    }

    fn parameter(&self, p: &Json) -> Result<(Parameter, Option<Value>), Diagnostic> {
        let name = self.string(p, "Name", "each parameter")?;
        let kind = p.get("Type").and_then(Json::as_str).unwrap_or("int");
        let values = match p.get("Values") {
            Some(Json::String(text)) => {
                let expr = Expr::parse(text).map_err(|error| self.expression(text, &error))?;
                let list = expr.eval_list(&[]).map_err(|error| {
                    let message = error.reason.to_string();
                    self.expression(text, &ExprError { span: error.span, message, help: None })
                })?;
                // A tuple of one, or a bare number in brackets of a sloppy writer, is still a list.
                list.into_iter()
                    .map(|v| typed(v, kind))
                    .collect::<Option<Vec<Value>>>()
                    .ok_or_else(|| {
                        self.at(
                            text,
                            "the values of a parameter do not have its type",
                            &format!("`{kind}` is wanted"),
                        )
                    })?
            }
            // Not in the schema, and what it means is plain.
            Some(Json::Array(list)) => {
                let values: Option<Vec<Value>> =
                    list.iter().map(|v| Value::from_json(v).and_then(|v| typed(v, kind))).collect();
                values.ok_or_else(|| {
                    self.at(
                        name,
                        "the values of a parameter do not have its type",
                        &format!("`{kind}` is wanted"),
                    )
                })?
            }
            _ => return Err(self.at(name, "a parameter has no values", "`Values` is wanted here")),
        };
        let default = p.get("Default").and_then(Value::from_json).and_then(|v| typed(v, kind));
        Ok((Parameter::new(name, values), default))
    }

    fn budget(&self, budget: &Json) -> Result<BudgetLimit, Diagnostic> {
        let kind = self.string(budget, "Type", "each budget")?;
        let value = budget.get("BudgetValue").and_then(Json::as_f64).filter(|v| *v >= 0.0);
        let value = value
            .ok_or_else(|| self.at(kind, "a budget has no value", "`BudgetValue` is wanted"))?;
        match kind {
            "TuningDuration" => Ok(BudgetLimit::TuningDuration(value)),
            "ConfigurationCount" => Ok(BudgetLimit::ConfigurationCount(value as u64)),
            "ConfigurationFraction" => Ok(BudgetLimit::ConfigurationFraction(value.min(1.0))),
            _ => Err(self.at(
                kind,
                "this kind of budget is not known",
                "TuningDuration, ConfigurationCount or ConfigurationFraction is wanted",
            )),
        }
    }

    fn kernel(&self, k: &Object) -> Result<Kernel, Diagnostic> {
        let whole = Json::Object(k.clone());
        let text =
            |name: &str| self.string(&whole, name, "`KernelSpecification`").map(str::to_string);
        let strings = |json: Option<&Json>| -> Vec<String> {
            match json {
                Some(Json::Array(list)) => list.iter().map(expression_text).collect(),
                Some(Json::Null) | None => vec![],
                Some(one) => vec![expression_text(one)],
            }
        };
        let axes = |name: &str| {
            ["X", "Y", "Z"].map(|axis| {
                let size = k.get(name).and_then(|sizes| sizes.get(axis));
                size.filter(|s| !s.is_null()).map_or("1".to_string(), expression_text)
            })
        };
        let size_type = match k.get("GlobalSizeType").and_then(Json::as_str) {
            None | Some("CUDA") => SizeType::Cuda,
            Some("OpenCL" | "Vulkan") => SizeType::OpenCl,
            Some(other) => {
                return Err(self.at(
                    other,
                    "this type of global size is not known",
                    "CUDA or OpenCL is wanted",
                ));
            }
        };
        let mut arguments = vec![];
        for a in k.get("Arguments").and_then(Json::as_array).into_iter().flatten() {
            arguments.push(self.argument(a)?);
        }
        let references = k.get("ReferenceArguments").and_then(Json::as_array).into_iter().flatten();
        let device = k.get("Device").and_then(|d| d.get("Name")).and_then(Json::as_str);
        Ok(Kernel {
            language: text("Language")?,
            name: text("KernelName")?,
            type_names: strings(k.get("KernelTypeNames")),
            file: text("KernelFile")?,
            compiler_options: strings(k.get("CompilerOptions")),
            device: device.map(str::to_string),
            global_size: axes("GlobalSize"),
            local_size: axes("LocalSize"),
            size_type,
            grid_divisors: ["GridDivX", "GridDivY", "GridDivZ"].map(|name| strings(k.get(name))),
            problem_size: strings(k.get("ProblemSize")),
            shared_memory: k.get("SharedMemory").filter(|s| !s.is_null()).map(expression_text),
            arguments,
            references: references.filter_map(Json::as_object).map(reference).collect(),
        })
    }

    fn argument(&self, a: &Json) -> Result<Argument, Diagnostic> {
        let memory_type = a.get("MemType").and_then(Json::as_str);
        let or = |name: &str, otherwise: &str| {
            a.get(name).and_then(Json::as_str).unwrap_or(otherwise).to_string()
        };
        Ok(Argument {
            name: or("Name", ""),
            kind: self.string(a, "Type", "each argument")?.to_string(),
            memory: self.string(a, "MemoryType", "each argument")?.to_string(),
            access: or("AccessType", "ReadWrite"),
            fill: or("FillType", "Constant"),
            fill_value: a.get("FillValue").cloned().unwrap_or_default(),
            size: a.get("Size").filter(|s| !s.is_null()).map(expression_text),
            constant: memory_type == Some("Constant"),
            source: a.get("DataSource").and_then(Json::as_str).map(str::to_string),
            type_size: a.get("TypeSize").and_then(Json::as_u64),
            seed: a.get("RandomSeed").and_then(Json::as_u64),
            special: memory_type
                .filter(|t| !["Constant", "Global"].contains(t))
                .map(str::to_string),
        })
    }
}

fn reference(fields: &Object) -> Reference {
    let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or_default().to_string();
    Reference {
        target: text("TargetName"),
        method: text("ValidationMethod"),
        threshold: fields.get("ValidationThreshold").and_then(Json::as_f64),
        fields: fields.clone(),
    }
}

/// A number or a text as the text of an expression.
fn expression_text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_string)
}

/// A value as one of a type; `None` when it is none.
fn typed(value: Value, kind: &str) -> Option<Value> {
    match (kind, value) {
        ("int" | "uint", Value::Bool(x)) => Some(Value::Int(i64::from(x))),
        ("int" | "uint", Value::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => {
            Some(Value::Int(x as i64))
        }
        ("int" | "uint", Value::Float(_) | Value::Str(_)) => None,
        ("float", Value::Int(x)) => Some(Value::Float(x as f64)),
        ("float", Value::Str(_)) => None,
        ("bool", Value::Int(x @ (0 | 1))) => Some(Value::Bool(x == 1)),
        ("bool", Value::Int(_) | Value::Float(_) | Value::Str(_)) => None,
        (_, Value::List(_)) => None,
        (_, value) => Some(value),
    }
}
