//! From the script to single assignments: every assignment of a name is a variable of its own.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::{Diagnostic, Span};

use super::expand::{Step, expand};
use super::syntax::*;
use crate::library::{FunctionId, Library, TypeId};

/// Errors of one script that are shown.
const MAX_ERRORS: usize = 20;

/// Index into [`Program::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);

/// One version of a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// As the script calls it.
    pub name: String,
    /// From 1; an input is the first version of its name.
    pub version: usize,
    /// The type of the elements.
    pub ty: TypeId,
    /// How elements lie in memory.
    pub layout: Layout,
}

/// What a script means.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// All variables, by number.
    pub variables: Vec<Variable>,
    /// Those that the caller gives.
    pub inputs: Vec<VarId>,
    /// In the order of `return`; all different.
    pub outputs: Vec<VarId>,
    /// What is done.
    pub body: Region,
}

/// Nodes in an order in which values are defined before they are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// In the order of the script.
    pub nodes: Vec<Node>,
}

/// A statement of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A call of a function.
    Call(Call),
    /// A loop around calls.
    Loop(Loop),
}

/// `result = function(arguments)`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function of the library.
    pub function: FunctionId,
    /// What it reads.
    pub arguments: Vec<VarId>,
    /// What it writes.
    pub result: VarId,
    /// Where it stands.
    pub span: Span,
}

/// A body that is run at least once, one iteration after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// How often the body runs.
    pub trips: u64,
    /// Variables that go from one iteration to the next.
    pub carried: Vec<Carried>,
    /// Variables of the body's last iteration, and what they are called after the loop.
    pub results: Vec<(VarId, VarId)>,
    /// What is repeated.
    pub body: Region,
    /// Where it stands.
    pub span: Span,
}

/// A value that goes from iteration to iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// What the first iteration begins with.
    pub before: VarId,
    /// What the body reads.
    pub inside: VarId,
    /// What the next iteration gets.
    pub next: VarId,
}

impl Node {
    /// Variables that the node reads and that are defined outside of it, each once, in order.
    pub fn reads(&self) -> Vec<VarId> {
        let mut all = vec![];
        match self {
            Node::Call(call) => all.extend(&call.arguments),
            Node::Loop(l) => {
                let own: HashSet<VarId> = l.body.nodes.iter().flat_map(Node::writes).collect();
                let inside: HashSet<VarId> = l.carried.iter().map(|c| c.inside).collect();
                all.extend(l.carried.iter().map(|c| c.before));
                let read = l.body.nodes.iter().flat_map(Node::reads);
                let next = l.carried.iter().map(|c| c.next);
                all.extend(read.chain(next).filter(|v| !own.contains(v) && !inside.contains(v)));
            }
        }
        let mut seen = HashSet::new();
        all.retain(|v| seen.insert(*v));
        all
    }

    /// Variables that the node defines.
    pub fn writes(&self) -> Vec<VarId> {
        match self {
            Node::Call(call) => vec![call.result],
            Node::Loop(l) => l.results.iter().map(|(_, after)| *after).collect(),
        }
    }
}

/// Gives names their meaning and checks them against the library. Warnings go to `warnings`.
///
/// # Errors
/// All independent errors, see the table of [`crate::script`].
pub fn resolve(
    script: &Script,
    library: &Library,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Program, Vec<Diagnostic>> {
    let (declared, state) = (HashMap::new(), State::default());
    let mut r = Resolver { library, declared, errors: vec![], unknown_input: false, state };
    r.declare(script);
    let inputs = r.inputs(&script.inputs);
    let steps = match expand(&script.body) {
        Ok(steps) => steps,
        // What follows from a loop that is not understood is not said.
        Err(error) => {
            r.errors.push(error);
            return Err(r.errors);
        }
    };
    let body = r.region(&steps);
    let outputs = r.outputs(&script.outputs, &inputs);
    if !r.errors.is_empty() {
        return Err(each_once(r.errors));
    }
    unused_names(script, warnings);
    let mut program = Program { variables: r.state.variables, inputs, outputs, body };
    super::dead::remove(&mut program, warnings);
    Ok(program)
}

/// Errors, each once: in loops that are written out the same statement is wrong in every iteration.
fn each_once(errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = vec![];
    for error in errors {
        let same = |d: &Diagnostic| {
            let spans = |d: &Diagnostic| d.labels.iter().map(|l| l.span).collect::<Vec<_>>();
            d.code == error.code && d.message == error.message && spans(d) == spans(&error)
        };
        if all.len() < MAX_ERRORS && !all.iter().any(same) {
            all.push(error);
        }
    }
    all
}

struct Resolver<'a> {
    library: &'a Library,
    declared: HashMap<&'a str, (TypeId, Span)>,
    errors: Vec<Diagnostic>,
    /// A name among the inputs is not declared.
    unknown_input: bool,
    state: State<'a>,
}

#[derive(Clone, Default)]
struct State<'a> {
    /// As declared.
    layouts: HashMap<&'a str, Layout>,
    variables: Vec<Variable>,
    /// The present version of each name.
    current: HashMap<&'a str, VarId>,
    versions: HashMap<&'a str, usize>,
}

impl<'a> State<'a> {
    fn new_version(&mut self, name: &'a str, ty: TypeId) -> VarId {
        let version = self.versions.entry(name).or_insert(0);
        *version += 1;
        let layout = self.layouts.get(name).copied().unwrap_or_default();
        self.variables.push(Variable { name: name.to_string(), version: *version, ty, layout });
        let id = VarId(self.variables.len() - 1);
        self.current.insert(name, id);
        id
    }
}

impl<'a> Resolver<'a> {
    fn error(
        &mut self,
        code: &'static str,
        message: String,
        span: Span,
        label: &str,
    ) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(code, message).label(span, label));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    fn declare(&mut self, script: &'a Script) {
        for declaration in &script.declarations {
            let ty = self.library.find_type(&declaration.ty.text);
            if ty.is_none() {
                let known = self.library.type_names().join(", ");
                let (name, span) = (&declaration.ty.text, declaration.ty.span);
                let d = self.error(
                    "W501",
                    format!("`{name}` is no type of the library"),
                    span,
                    "unknown type",
                );
                d.help.push(format!("the library has {known}"));
            }
            for name in &declaration.names {
                if let Some((_, before)) = self.declared.get(name.text.as_str()) {
                    let before = *before;
                    let d = self.error(
                        "W507",
                        format!("`{}` is declared twice", name.text),
                        name.span,
                        "again here",
                    );
                    d.labels.push(warpsmith_ir::Label { span: before, text: "first here".into() });
                    continue;
                }
                // A name of an unknown type is known all the same: one error is enough.
                self.declared.insert(&name.text, (ty.unwrap_or(TypeId::UNKNOWN), name.span));
                self.state.layouts.insert(&name.text, declaration.layout);
            }
        }
    }

    /// The declared type of a name.
    fn type_of(&mut self, name: &Name) -> Option<TypeId> {
        if let Some((ty, _)) = self.declared.get(name.text.as_str()) {
            return Some(*ty);
        }
        let message = format!("`{}` is not declared", name.text);
        let d = self.error("W509", message, name.span, "unknown name");
        d.help.push("declare it before `input`: TYPE name;".into());
        None
    }

    fn inputs(&mut self, names: &'a [Name]) -> Vec<VarId> {
        let mut ids = vec![];
        for name in names {
            let Some(ty) = self.type_of(name) else {
                self.unknown_input = true;
                continue;
            };
            if self.state.current.contains_key(name.text.as_str()) {
                self.error(
                    "W507",
                    format!("`{}` is an input twice", name.text),
                    name.span,
                    "again here",
                );
                continue;
            }
            ids.push(self.state.new_version(&name.text, ty));
        }
        ids
    }

    fn outputs(&mut self, names: &'a [Name], inputs: &[VarId]) -> Vec<VarId> {
        let mut ids: Vec<VarId> = vec![];
        for name in names {
            if self.type_of(name).is_none() {
                continue;
            }
            match self.state.current.get(name.text.as_str()).copied() {
                Some(id) if ids.contains(&id) => {
                    self.error(
                        "W507",
                        format!("`{}` is returned twice", name.text),
                        name.span,
                        "again here",
                    );
                }
                Some(id) if !inputs.contains(&id) => ids.push(id),
                _ => {
                    let message = format!("the output `{}` is never assigned", name.text);
                    self.error("W506", message, name.span, "no call gives it a value");
                }
            }
        }
        ids
    }

    fn region(&mut self, steps: &[Step<'a>]) -> Region {
        let mut nodes = vec![];
        for step in steps {
            match step {
                Step::Call(call) => nodes.extend(self.call(call).map(Node::Call)),
                Step::Loop { trips: 0, body, .. } => {
                    let before = self.state.clone();
                    self.region(body);
                    self.state = before;
                }
                Step::Loop { trips, body, source } => {
                    nodes.push(Node::Loop(self.one_loop(*trips, body, source)));
                }
            }
        }
        Region { nodes }
    }

    fn one_loop(&mut self, trips: u64, body: &[Step<'a>], source: &'a ForStatement) -> Loop {
        let mut assigned = vec![];
        targets(body, &mut assigned);
        let mut carried = vec![];
        for name in &assigned {
            let Some(before) = self.state.current.get(name).copied() else { continue };
            let ty = self.state.variables[before.0].ty;
            carried.push((*name, before, self.state.new_version(name, ty)));
        }
        let body = self.region(body);
        let read: HashSet<VarId> = body.nodes.iter().flat_map(Node::reads).collect();
        let mut results = vec![];
        for name in assigned {
            let Some(inner) = self.state.current.get(name).copied() else { continue };
            let ty = self.state.variables[inner.0].ty;
            results.push((name, inner, self.state.new_version(name, ty)));
        }
        let next =
            |name: &str| results.iter().find(|(n, ..)| *n == name).map(|(_, inner, _)| *inner);
        let carried = carried
            .into_iter()
            .filter(|(_, _, inside)| read.contains(inside))
            .filter_map(|(name, before, inside)| {
                Some(Carried { before, inside, next: next(name)? })
            })
            .collect();
        let results = results.into_iter().map(|(_, inner, after)| (inner, after)).collect();
        Loop { trips, carried, results, body, span: source.span }
    }

    fn call(&mut self, call: &'a CallStatement) -> Option<Call> {
        let function = self.library.find_function(&call.function.text);
        if function.is_none() {
            let known = self.library.function_names().join(", ");
            let (name, span) = (&call.function.text, call.function.span);
            let d = self.error(
                "W502",
                format!("`{name}` is no function of the library"),
                span,
                "unknown function",
            );
            d.help.push(format!("the library has {known}"));
        }
        let arguments: Vec<Option<VarId>> =
            call.arguments.iter().map(|a| self.argument(a)).collect();
        let declared = self.type_of(&call.target);
        let result = match (function, declared) {
            (Some(function), Some(ty)) => {
                let found = self.check_types(call, function, &arguments, ty);
                found.then_some(function)
            }
            _ => None,
        };
        // The name has a value from here on, whatever was wrong with it: one error is enough.
        let id = self.state.new_version(&call.target.text, declared.unwrap_or(TypeId::UNKNOWN));
        let arguments: Option<Vec<VarId>> = arguments.into_iter().collect();
        Some(Call { function: result?, arguments: arguments?, result: id, span: call.span })
    }

    fn argument(&mut self, name: &'a Name) -> Option<VarId> {
        self.type_of(name)?;
        let known = self.state.current.get(name.text.as_str()).copied();
        if known.is_none() {
            // It may be what an input was meant to be: one error is enough.
            if self.unknown_input {
                return None;
            }
            let message = format!("`{}` is used before it has a value", name.text);
            let d = self.error("W505", message, name.span, "no value yet");
            d.help.push("assign it above, or make it an input".into());
            // Said once: later uses of the name are taken to be fine.
            let ty = self.declared.get(name.text.as_str()).map_or(TypeId::UNKNOWN, |(ty, _)| *ty);
            return Some(self.state.new_version(&name.text, ty));
        }
        known
    }

    fn check_types(
        &mut self,
        call: &CallStatement,
        function: FunctionId,
        arguments: &[Option<VarId>],
        target: TypeId,
    ) -> bool {
        let library = self.library;
        let f = library.function(function);
        let before = self.errors.len();
        if arguments.len() != f.inputs.len() {
            let (takes, given) = (f.inputs.len(), arguments.len());
            let message = format!(
                "`{}` takes {takes} argument{}, not {given}",
                f.name,
                if takes == 1 { "" } else { "s" }
            );
            let signature = library.signature_text(function);
            self.error("W503", message, call.span, "wrong number of arguments")
                .notes
                .push(signature);
            return false;
        }
        let wrong = |a: TypeId, b: TypeId| a != b && a != TypeId::UNKNOWN && b != TypeId::UNKNOWN;
        for (i, (id, name)) in arguments.iter().zip(&call.arguments).enumerate() {
            let Some(id) = id else { continue };
            let ty = self.state.variables[id.0].ty;
            if wrong(ty, f.inputs[i]) {
                let (is, wants) = (library.type_name(ty), library.type_name(f.inputs[i]));
                let message =
                    format!("argument {} of `{}` is a `{wants}`, not a `{is}`", i + 1, f.name);
                let signature = library.signature_text(function);
                self.error("W504", message, name.span, &format!("a `{is}`")).notes.push(signature);
            }
        }
        if wrong(target, f.output) {
            let (is, gives) = (library.type_name(target), library.type_name(f.output));
            let message =
                format!("`{}` gives a `{gives}`, but `{}` is a `{is}`", f.name, call.target.text);
            let signature = library.signature_text(function);
            self.error("W504", message, call.target.span, &format!("a `{is}`"))
                .notes
                .push(signature);
        }
        self.errors.len() == before
    }
}

/// Names that a list assigns, each once, in order.
fn targets<'a>(steps: &[Step<'a>], names: &mut Vec<&'a str>) {
    for step in steps {
        match step {
            Step::Call(call) if !names.contains(&call.target.text.as_str()) => {
                names.push(&call.target.text);
            }
            Step::Call(_) | Step::Loop { trips: 0, .. } => {}
            Step::Loop { body, .. } => targets(body, names),
        }
    }
}

fn unused_names(script: &Script, warnings: &mut Vec<Diagnostic>) {
    let mut used: HashSet<&str> = HashSet::new();
    used.extend(script.inputs.iter().chain(&script.outputs).map(|n| n.text.as_str()));
    mentioned(&script.body, &mut used);
    for name in script.declarations.iter().flat_map(|d| &d.names) {
        if !used.contains(name.text.as_str()) {
            let message = format!("`{}` is declared but never used", name.text);
            warnings.push(Diagnostic::warning("W510", message).label(name.span, "never used"));
        }
    }
    let mut read: HashSet<&str> = HashSet::new();
    arguments(&script.body, &mut read);
    for name in script.inputs.iter().filter(|n| !read.contains(n.text.as_str())) {
        let message = format!("the input `{}` is never used", name.text);
        warnings.push(Diagnostic::warning("W510", message).label(name.span, "no call reads it"));
    }
}

fn mentioned<'a>(statements: &'a [Statement], used: &mut HashSet<&'a str>) {
    for statement in statements {
        match statement {
            Statement::Call(c) => {
                used.insert(&c.target.text);
                used.extend(c.arguments.iter().map(|a| a.text.as_str()));
            }
            Statement::For(f) => mentioned(&f.body, used),
        }
    }
}

fn arguments<'a>(statements: &'a [Statement], read: &mut HashSet<&'a str>) {
    for statement in statements {
        match statement {
            Statement::Call(c) => read.extend(c.arguments.iter().map(|a| a.text.as_str())),
            Statement::For(f) => arguments(&f.body, read),
        }
    }
}
