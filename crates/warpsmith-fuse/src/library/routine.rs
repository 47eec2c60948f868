//! Routines: the device functions of an implementation, and what their signatures must be.

use warpsmith_front::ast::{FunctionDecl, Param as AstParam, TypeKind, TypeName};
use warpsmith_ir::{Diagnostic, Span};

use super::TypeId;
use super::metadata::{Line, Metadata};
use super::pattern::Pattern;
use super::types::is_float_pointer;

/// A coordinate that a routine takes: of the thread in its block, or of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// `threadIdx` along this axis.
    Thread(usize),
    /// `blockIdx` along this axis.
    Block(usize),
}

impl Coordinate {
    const NAMES: [(&'static str, Coordinate); 6] = [
        ("tx", Coordinate::Thread(0)),
        ("ty", Coordinate::Thread(1)),
        ("tz", Coordinate::Thread(2)),
        ("bx", Coordinate::Block(0)),
        ("by", Coordinate::Block(1)),
        ("bz", Coordinate::Block(2)),
    ];

    /// The coordinate that a parameter of this name stands for.
    pub fn named(name: &str) -> Option<Coordinate> {
        Self::NAMES.iter().find(|(n, _)| *n == name).map(|(_, c)| *c)
    }

    /// As routines name it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, c)| *c == self).map_or("", |(n, _)| n)
    }
}

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// The array in global memory that a load reads or a save writes.
    Global,
    /// An argument with an access pattern, by its number: of compute the inputs and then the output.
    Element(usize),
    /// A position of the thread or the block.
    Coordinate(Coordinate),
}

/// What a routine is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Brings an argument to where it is computed with.
    Load,
    /// Computes the function.
    Compute,
    /// Stores the result.
    Save,
}

/// A device function of an implementation.
#[derive(Clone, Debug)]
pub struct Routine {
    /// `d_mmul33_2_load_1`
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What `#define`s of block sizes begin with: `MMUL33_2`.
    pub macros: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The element type that a load or save moves.
    pub data_type: Option<TypeId>,
    /// For each argument with a pattern, what the metadata say of it.
    pub patterns: Vec<Option<Pattern>>,
    /// The function as written.
    pub text: String,
    /// Name and parameters.
    pub span: Span,
}

impl Routine {
    /// The word that stands for the start of an argument's pattern in the body.
    pub fn placeholder(&self, argument: usize) -> String {
        match self.role {
            Role::Load | Role::Save => "APLS".into(),
            Role::Compute if argument + 1 == self.patterns.len() => "APOUT".into(),
            Role::Compute => format!("APIN{argument}"),
        }
    }

    /// The metadata key of an argument's pattern.
    pub fn pattern_key(&self, argument: usize) -> String {
        match self.role {
            Role::Load | Role::Save => "LSPATTERN".into(),
            Role::Compute if argument + 1 == self.patterns.len() => "OUTPATTERN".into(),
            Role::Compute => format!("INPATTERN {argument}"),
        }
    }

    /// The value of a name in a pattern or of a macro in a body: sizes of a block.
    pub fn block_size(&self, name: &str, shape: [u32; 3]) -> Option<i64> {
        let short =
            name.strip_prefix(&self.macros).and_then(|rest| rest.strip_prefix('_')).unwrap_or(name);
        let axis = ["BX", "BY", "BZ"].iter().position(|n| *n == short)?;
        Some(shape[axis].into())
    }
}

fn wrong(decl: &FunctionDecl, name: &str, what: String) -> Diagnostic {
    Diagnostic::error("W523", format!("`{name}` {what}"))
        .label(decl.head_span, "not the contract's signature")
}

/// The coordinates that metadata list.
///
/// # Errors
/// W524.
fn listed(line: &Line) -> Result<Vec<Coordinate>, Diagnostic> {
    let mut others = vec![];
    let separates = |c: char| c == ',' || c.is_whitespace();
    for word in line.value.split(separates).filter(|w| !w.is_empty()) {
        let Some(coordinate) = Coordinate::named(word) else {
            return Err(Diagnostic::error("W524", format!("`{word}` is no coordinate"))
                .label(line.span, "not understood")
                .help("the coordinates are tx, ty, tz, bx, by and bz"));
        };
        if others.contains(&coordinate) {
            return Err(Diagnostic::error("W524", format!("`{word}` stands twice"))
                .label(line.span, "here"));
        }
        others.push(coordinate);
    }
    Ok(others)
}

/// The coordinates that a signature ends with, where no metadata list them.
///
/// # Errors
/// W523.
fn in_signature(
    decl: &FunctionDecl,
    name: &str,
    rest: &[AstParam],
) -> Result<Vec<Coordinate>, Diagnostic> {
    let mut others = vec![];
    for param in rest {
        let coordinate =
            param.name.as_deref().and_then(Coordinate::named).filter(|_| is_int(param));
        let Some(coordinate) = coordinate.filter(|c| !others.contains(c)) else {
            return Err(wrong(decl, name, "takes something that is no coordinate".into())
                .label(param.span, "expected one of `int tx`, `ty`, `tz`, `bx`, `by`, `bz`"));
        };
        others.push(coordinate);
    }
    Ok(others)
}

/// Reads the parameters of a load or a save, which the metadata list, where there are any.
///
/// # Errors
/// W523, W524.
pub(super) fn move_params(
    decl: &FunctionDecl,
    name: &str,
    role: Role,
    metadata: Option<&Metadata>,
) -> Result<Vec<Param>, Diagnostic> {
    let line = metadata.and_then(|m| m.line("Other parameters"));
    let listed = line.map(listed).transpose()?;
    let (first, second) = match role {
        Role::Load => (Param::Global, Param::Element(0)),
        _ => (Param::Element(0), Param::Global),
    };
    let [a, b, rest @ ..] = decl.params.as_slice() else {
        return Err(wrong(decl, name, "takes fewer than two parameters".into()));
    };
    for (param, kind) in [(a, first), (b, second)] {
        let fits = match kind {
            Param::Global => {
                matches!(param.ty.kind, TypeKind::Named(_)) || is_float_pointer(&param.ty)
            }
            _ => is_float_pointer(&param.ty),
        };
        if !fits {
            let order = match role {
                Role::Load => "a load takes the array in global memory, then `float *`",
                _ => "a save takes `float *`, then the array in global memory",
            };
            return Err(wrong(decl, name, "has parameters of other types".into()).note(order));
        }
    }
    let names: Vec<&str> = rest.iter().map(|p| p.name.as_deref().unwrap_or("")).collect();
    let others = match (listed, line) {
        (Some(others), Some(line)) => {
            let listed: Vec<&str> = others.iter().map(|c| c.name()).collect();
            if names != listed || !rest.iter().all(is_int) {
                let expected: Vec<String> = listed.iter().map(|n| format!("int {n}")).collect();
                let help = format!("its last parameters should be `{}`", expected.join(", "));
                let what = "takes other coordinates than its metadata list".into();
                let d = wrong(decl, name, what).label(line.span, "listed here");
                return Err(d.help(help));
            }
            others
        }
        _ => in_signature(decl, name, rest)?,
    };
    let others = others.into_iter().map(Param::Coordinate);
    Ok([first, second].into_iter().chain(others).collect())
}

/// Reads the parameters of compute: so many inputs, the output, and coordinates of the thread.
///
/// # Errors
/// W523.
pub(super) fn compute_params(
    decl: &FunctionDecl,
    name: &str,
    inputs: usize,
) -> Result<Vec<Param>, Diagnostic> {
    let arrays = decl.params.iter().take_while(|p| is_float_pointer(&p.ty)).count();
    if arrays != inputs + 1 {
        let what =
            format!("takes {arrays} arrays, but its kernel has {inputs} inputs and an output");
        return Err(wrong(decl, name, what)
            .help("compute takes `float *` for each input, then for the output"));
    }
    let mut params: Vec<Param> = (0..arrays).map(Param::Element).collect();
    for param in &decl.params[arrays..] {
        let coordinate = param.name.as_deref().and_then(Coordinate::named);
        let thread = coordinate.filter(|c| matches!(c, Coordinate::Thread(_)) && is_int(param));
        let Some(coordinate) = thread else {
            return Err(Diagnostic::error(
                "W523",
                format!("`{name}` takes something that is no coordinate of the thread"),
            )
            .label(param.span, "expected `int tx`, `int ty` or `int tz`"));
        };
        if params.contains(&Param::Coordinate(coordinate)) {
            return Err(wrong(decl, name, format!("takes `{}` twice", coordinate.name())));
        }
        params.push(Param::Coordinate(coordinate));
    }
    Ok(params)
}

fn is_int(param: &AstParam) -> bool {
    is_int_type(&param.ty)
}

fn is_int_type(ty: &TypeName) -> bool {
    let words = |w: &[String]| w == ["int"] || w == ["unsigned", "int"] || w == ["unsigned"];
    matches!(&ty.kind, TypeKind::Builtin(w) if words(w))
}
