//! Semantic lowering: the syntax tree of CUDA C++ to the IR.
//!
//! [`lower_cuda`] starts at the kernels and launchers that are asked for and lowers what they reach, and
//! nothing else: host code around them is never looked at. Templates are instantiated on demand, each
//! instance is one function of the module.
//!
//! How C++ becomes IR:
//! * a reference parameter is a pointer; a local reference is another name for a place;
//! * a class is a struct, its methods device functions with a `this` pointer; bases come first as fields;
//! * a lambda is a struct of its captures with a call operator;
//! * an expression with effects becomes statements in C++'s order, its values temporaries.
//!
//! | code | says |
//! |---|---|
//! | W048 | (warning) an annotation that cannot be run |
//! | W050, W051, W052 | an undeclared name, a member that does not exist, something that is no type |
//! | W053 | a construct that is not supported |
//! | W054 | a wrong array length |
//! | W055–W057 | packs, wrong template arguments, a missing one |
//! | W058–W060 | an incomplete class, a wrong base, a bit-field |
//! | W061, W062 | a value of nothing, operands or conversions that do not fit |
//! | W063, W064 | no function fits the call, several do |
//! | W065 | a variable of another function |
//! | W066, W067 | recursion, templates without end |
//! | W068, W069, W072 | a call across host and device, of a function without a body, of a kernel |
//! | W070, W071 | a kernel's parameters and launch bounds |
//! | W073 | what a reference cannot be bound to |
//! | W074, W075 | a number, a name that is no value |
//! | W076, W097 | not constant at compile time, a failed static assertion |
//! | W077 | `this` where there is no object |
//! | W078 | (warning) division by zero |
//! | W079, W080 | assignment to a value, to a constant |
//! | W081, W082 | what cannot be called, `printf` |
//! | W083, W084 | initialisers |
//! | W085–W089 | labels, jumps, `goto`, assembly, `return` |
//! | W090–W095 | static variables, destructors, constants without a value, alignment, shared and global variables |
//! | W096 | a pragma |
//! | W098, W099 | launches and host functions |

mod access;
mod access_sets;
mod annotations;
mod argument_words;
mod assembly;
mod assign;
mod bit_fields;
pub mod builtin_api;
mod calls;
mod captures;
mod consteval;
mod construct;
mod context;
mod convert;
mod copies;
mod decl;
mod deduce;
mod deduce_class;
mod deduced_returns;
mod definitions;
mod device_launches;
mod device_memory;
mod endings;
mod expr;
mod expr_ops;
mod finish;
mod function_pointers;
mod function_values;
mod functions;
mod group_operators;
mod host;
mod host_globals;
mod host_memory;
mod host_symbols;
mod inherited;
mod init;
mod initializer_list;
mod instead;
mod invoke;
mod kernel_addresses;
mod kernel_attributes;
mod kernels;
mod lambda;
mod lambda_bases;
mod launch_calls;
mod launching;
mod libraries;
mod loops;
mod member_inits;
mod member_pointers;
mod misread;
mod model;
mod new_delete;
mod optimistic;
mod order;
mod overload;
mod own_names;
mod packs;
mod printed;
mod printf;
mod program;
mod ranges;
mod reference_fields;
pub(crate) mod refused;
mod request;
mod requirements;
mod scope;
mod specialised;
mod static_members;
mod stmt;
mod streams;
mod structs;
mod templates;
mod text;
mod three_way;
mod traits;
mod types;
mod variable_length;
mod verifier_files;
mod virtuals;
pub mod walk;
mod wanted;

use std::borrow::Cow;
use std::collections::HashMap;

use warpsmith_ir::{Diagnostic, Expr, FuncId, FunctionKind, Module, Span, StructId};

use crate::ast::{self, TranslationUnit};
use crate::deep;
pub use argument_words::{argument_words, option_words};
pub use kernels::{KernelDecl, TextureParameter, kernels_of, texture_parameters};
pub use libraries::Libraries;
use model::*;
pub use program::{
    LaunchSite, calls_device_algorithms, device_variables, has_host_function, launches_of,
    managed_variables, variables_set_by_host,
};
pub use refused::{REFUSALS, Refusal};
pub use text::scalar_text;
pub use verifier_files::{
    ALL_DIFFER_FROM, ParameterValue, declares_only, numbers_of_conditions, read_as_verifiers_do,
    values_of_comparisons, values_of_conditions,
};

/// Errors after which lowering stops.
pub(crate) const MAX_ERRORS: usize = 20;
/// The code of the warning about an annotation that cannot be run.
pub const NOT_RUN: &str = "W048";
/// How deep syntax and templates may be nested.
const MAX_DEPTH: u32 = 8000;
/// Stack for the recursion over syntax and nested instances: what [`MAX_DEPTH`] needs, with room.
const STACK: usize = 1 << 30;

/// Which kernels to lower.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelSelection {
    /// Every `__global__` function that is no template, in order of the source.
    All,
    /// These, in this order; templates with their arguments: `f<float, 32>`.
    Named(Vec<String>),
    /// The same, with where each name was written, for messages.
    Asked(Vec<(String, Span)>),
}

/// What is wanted of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Which kernels are lowered.
    pub kernels: KernelSelection,
    /// Host functions that launch kernels, by name.
    pub host_functions: Vec<String>,
}

impl Request {
    /// All kernels and no host code.
    pub fn all_kernels() -> Request {
        Request { kernels: KernelSelection::All, host_functions: vec![] }
    }
}

/// The IR of what was wanted.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The kernels, with what they call.
    pub module: Module,
    /// The kernels in the order of the request, or of the source.
    pub kernels: Vec<KernelInfo>,
    /// The host functions in the order of the request.
    pub host_functions: Vec<FuncId>,
    /// What does not stop the lowering.
    pub warnings: Vec<Diagnostic>,
    /// The functions whose address is taken, by what a pointer to them holds.
    pub function_addresses: Vec<FunctionAddress>,
}

/// What a pointer to a function holds.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionAddress {
    /// The structure that stands for pointers to such functions.
    pub pointer: StructId,
    /// The function.
    pub name: String,
    /// The number that pointers to it hold.
    pub number: u64,
}

/// A lowered kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelInfo {
    /// The function of the module.
    pub id: FuncId,
    /// As it was asked for, or as the source names it.
    pub name: String,
    /// Name and parameters in the source.
    pub span: Span,
}

/// Lowers the kernels and launchers of a file, with everything they use.
///
/// All independent errors are returned, up to 20.
pub fn lower_cuda(unit: &TranslationUnit, request: &Request) -> Result<Lowered, Vec<Diagnostic>> {
    lower_deep(unit, request, None)
}

/// Lowers a host function as a whole program, with the kernels it launches. What is not understood in it is left out and
/// named where it stands, see [`warpsmith_ir::Runtime::Skipped`].
pub fn lower_program(
    unit: &TranslationUnit,
    libraries: &Libraries<'_>,
    entry: &str,
) -> Result<Lowered, Vec<Diagnostic>> {
    let kernels = KernelSelection::Named(vec![]);
    let request = Request { kernels, host_functions: vec![entry.to_string()] };
    lower_deep(unit, &request, Some((libraries, true)))
}

/// As [`lower_cuda`], with declarations that stand in for libraries of the device.
pub fn lower_with(
    unit: &TranslationUnit,
    libraries: &Libraries<'_>,
    request: &Request,
) -> Result<Lowered, Vec<Diagnostic>> {
    lower_deep(unit, request, Some((libraries, false)))
}

fn lower_deep(
    unit: &TranslationUnit,
    request: &Request,
    libraries: Option<(&Libraries<'_>, bool)>,
) -> Result<Lowered, Vec<Diagnostic>> {
    // Deeply nested syntax needs a deep stack; the limit on depth is made for this one.
    deep::with(STACK, || lower_here(unit, request, libraries, MAX_DEPTH))
        .unwrap_or_else(|_| lower_here(unit, request, libraries, MAX_DEPTH / 64))
}

fn lower_here(
    unit: &TranslationUnit,
    request: &Request,
    libraries: Option<(&Libraries<'_>, bool)>,
    max_depth: u32,
) -> Result<Lowered, Vec<Diagnostic>> {
    let names = parse_names(unit, request)?;
    let arena = request::Arena::new();
    let mut sema = Sema::new(&arena, max_depth);
    let root = sema.root;
    sema.library_files = &unit.library_files;
    if let Some((libraries, program)) = libraries {
        sema.program = program;
        if program {
            sema.launching = launching::launching_names(&unit.items);
        }
        sema.use_libraries(libraries);
    }
    sema.declare_items(root, &unit.items);
    for (cond, scope) in std::mem::take(&mut sema.static_asserts) {
        // An assertion about things that only host code knows says nothing about kernels.
        if let Ok(v) = sema.const_value(scope, cond)
            && !v.is_true()
        {
            sema.check_static_assert(scope, cond);
        }
    }
    let kernels = match &names {
        Some(names) => sema.named_kernels(names),
        None => sema.all_kernels(),
    };
    let hosts = sema.named_hosts(&request.host_functions, first_span(unit));
    if let (true, Some(entry)) = (sema.program, hosts.first()) {
        sema.begin_program(*entry);
    }
    sema.finish_function_pointers();
    sema.run_queued_launches();
    if !sema.errors.is_empty() {
        sema.errors.truncate(MAX_ERRORS);
        return Err(sema.errors);
    }
    sema.finish(kernels, hosts)
}

/// A requested kernel: the text, and what it parses to.
type ParsedName = (String, ast::Path);

fn parse_names(
    unit: &TranslationUnit,
    request: &Request,
) -> Result<Option<Vec<ParsedName>>, Vec<Diagnostic>> {
    let none = first_span(unit);
    let names: Vec<(String, Span)> = match &request.kernels {
        KernelSelection::All => return Ok(None),
        KernelSelection::Named(names) => names.iter().map(|n| (n.clone(), none)).collect(),
        KernelSelection::Asked(names) => names.clone(),
    };
    let mut parsed = vec![];
    let mut errors = vec![];
    for (name, span) in names {
        let expanded = request::with_macros(&name, &unit.macros);
        match request::kernel_name(&expanded, span) {
            Ok(n) => parsed.push((name, n.path)),
            Err(why) => errors.push(
                error("W050", span, why)
                    .help("write it like a call: f, ns::f, f<float>, f<float, 32>"),
            ),
        }
    }
    if errors.is_empty() { Ok(Some(parsed)) } else { Err(errors) }
}

fn first_span(unit: &TranslationUnit) -> Span {
    let none = Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 };
    unit.items.first().map_or(none, |i| Span { end: i.span.start, ..i.span })
}

/// A lambda expression, the scope it is evaluated in, and what it captures.
type LambdaKey = (usize, ScopeId, Vec<(String, warpsmith_ir::Type)>);

/// Definitions of methods outside of their class, by class and name.
type OutOfLine<'a> = HashMap<(String, String), Vec<FnDecl<'a>>>;

/// The state of one lowering.
pub(crate) struct Sema<'a> {
    pub(crate) module: Module,
    pub(crate) arena: &'a request::Arena,
    /// Those of libraries are copied when something is added to them.
    pub(crate) scopes: Vec<Cow<'a, Scope<'a>>>,
    /// Class templates that are template arguments.
    pub(crate) template_args: Vec<Vec<Entity<'a>>>,
    /// What functions under construction promise of their results.
    pub(crate) promises: Vec<annotations::Promise<'a>>,
    /// The value that a promise speaks of.
    pub(crate) returned: Option<Expr>,
    pub(crate) root: ScopeId,
    /// Functions under construction; the last is current. Never empty.
    pub(crate) fns: Vec<FnState>,
    pub(crate) next_serial: u32,
    pub(crate) classes: HashMap<StructId, ClassInfo<'a>>,
    /// Stands in for classes that do not exist.
    pub(crate) no_class: ClassInfo<'a>,
    pub(crate) class_memo: HashMap<(usize, ScopeId, Vec<TArg>), StructId>,
    pub(crate) objects: Vec<(builtin_api::BuiltinType, StructId)>,
    /// Classes of closures by expression, scope and captures.
    pub(crate) lambda_types: Vec<(LambdaKey, StructId)>,
    pub(crate) instances: HashMap<FnKey, InstanceState>,
    pub(crate) globals: HashMap<(usize, ScopeId), Option<Entity<'a>>>,
    /// The same for variables of the host, which kernels may not use.
    pub(crate) host_globals: HashMap<(usize, ScopeId), Option<Entity<'a>>>,
    /// Whether host functions are a whole program, of which not everything need be understood.
    pub(crate) program: bool,
    /// Names of functions of the host that launch something, see [`launching`].
    pub(crate) launching: std::collections::HashSet<String>,
    /// The scopes of the files of a program that has several.
    pub(crate) files: Vec<ScopeId>,
    /// These files, and namespaces in them, with the scope of what several files share of each.
    pub(crate) shared_by: Vec<(ScopeId, ScopeId)>,
    /// Sources that stand in for headers of the vendor: what is wrong in them is their caller's doing.
    pub(crate) library_files: &'a [warpsmith_ir::FileId],
    /// What stands in for libraries.
    pub(crate) libraries: Option<&'a Libraries<'a>>,
    /// Variables of the host whose first value is not constant, each behind those that it needs.
    pub(crate) late_globals: Vec<host_globals::Late>,
    /// The types that stand for functions used as values, by declaration and template arguments.
    pub(crate) function_types: Vec<(usize, Option<Vec<TArg>>, StructId)>,
    /// Where instances of variable templates are looked at, by declaration and arguments.
    pub(crate) variable_templates: HashMap<(usize, Vec<TArg>), ScopeId>,
    pub(crate) pointers: function_pointers::FunctionPointers<'a>,
    virtuals: virtuals::Virtuals<'a>,
    queue: device_launches::Queue,
    /// The function that is called next was named with its class, which makes a virtual one an ordinary one.
    pub(crate) names_its_class: bool,
    pub(crate) out_of_line: Cow<'a, OutOfLine<'a>>,
    pub(crate) static_members: static_members::StaticMembers<'a>,
    pub(crate) functions_in_order: Vec<FnDecl<'a>>,
    pub(crate) static_asserts: Vec<(&'a ast::Expr, ScopeId)>,
    /// What is taken for granted of every launch, see [`annotations`].
    pub(crate) axioms: Vec<(&'a ast::Expr, ScopeId)>,
    /// Arrays of the host whose length is not constant.
    pub(crate) lengths: Vec<variable_length::Length>,
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) warnings: Vec<Diagnostic>,
    depth: u32,
    max_depth: u32,
}

impl<'a> Sema<'a> {
    fn new(arena: &'a request::Arena, max_depth: u32) -> Sema<'a> {
        let none = Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 };
        let root = ScopeId(0);
        let mut sema = Sema {
            module: Module::default(),
            arena,
            scopes: vec![],
            template_args: vec![],
            promises: vec![],
            returned: None,
            root,
            fns: vec![],
            next_serial: 0,
            classes: HashMap::new(),
            no_class: ClassInfo {
                name: String::new(),
                decl: None,
                scope: root,
                fields: vec![],
                bases: vec![],
                ctors: vec![],
                conversions: vec![],
                destructor: None,
                numbered: false,
                template: None,
                lambda: None,
                function: None,
                complete: false,
            },
            class_memo: HashMap::new(),
            objects: vec![],
            lambda_types: vec![],
            instances: HashMap::new(),
            globals: HashMap::new(),
            host_globals: HashMap::new(),
            program: false,
            launching: Default::default(),
            files: vec![],
            shared_by: vec![],
            library_files: &[],
            libraries: None,
            late_globals: vec![],
            function_types: vec![],
            variable_templates: HashMap::new(),
            pointers: function_pointers::FunctionPointers::default(),
            virtuals: virtuals::Virtuals::default(),
            queue: device_launches::Queue::default(),
            names_its_class: false,
            out_of_line: Cow::Owned(HashMap::new()),
            static_members: HashMap::new(),
            functions_in_order: vec![],
            static_asserts: vec![],
            axioms: vec![],
            lengths: vec![],
            errors: vec![],
            warnings: vec![],
            depth: 0,
            max_depth,
        };
        sema.root = sema.new_scope(None, ScopeKind::Namespace);
        sema.push_fn("(file)", FunctionKind::Device, root, none);
        sema.f().is_const_eval = true;
        sema
    }

    /// The function under construction. There always is one: `pop_fn` puts a fresh one in place of the last.
    pub(crate) fn f(&mut self) -> &mut FnState {
        let last = self.fns.len() - 1;
        &mut self.fns[last]
    }

    pub(crate) fn report(&mut self, d: Diagnostic) {
        // A name that is not declared is one mistake, however often it is used.
        let known = |e: &Diagnostic| *e == d || d.code == "W050" && e.message == d.message;
        if self.errors.len() < MAX_ERRORS && !self.errors.iter().any(known) {
            self.errors.push(d);
        }
    }

    pub(crate) fn warn(&mut self, code: &'static str, span: Span, message: &str) {
        let d = Diagnostic::warning(code, message).label(span, "");
        if !self.warnings.contains(&d) {
            self.warnings.push(d);
        }
    }

    /// One level deeper in syntax or templates; an error when there are too many.
    pub(crate) fn deeper<T>(
        &mut self,
        span: Span,
        step: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<T> {
        if self.depth >= self.max_depth {
            return fail("W067", span, "this is nested too deeply");
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }
}
