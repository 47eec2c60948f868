//! `--size`: values for the integer parameters of the function.

use std::collections::BTreeMap;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{Diagnostic, Function, Module, Place, PlaceKind, Scalar, Type, VarId};
use warpsmith_opt::requirement::Requirement;

use super::extents;
use crate::data::{self, ArgSpec, NamedSpec};
use crate::status::{Failure, Status};

/// Values of the size parameters at one point, by name.
pub type Point = BTreeMap<String, i64>;

/// Where a size was written, for messages: an option, or the file's own default.
#[derive(Clone, Debug)]
pub struct SizeSpec {
    /// The parameter.
    pub name: String,
    /// Its values; with several, one kernel is chosen for all of them.
    pub values: Vec<i64>,
}

/// Reads `n=4096` or `n=1024,2048`.
///
/// # Errors
/// W311 for a malformed option, or a size that is zero, negative or overflows.
pub fn parse(text: &str) -> Result<SizeSpec, Failure> {
    let (name, list) = text.split_once('=').ok_or_else(|| {
        Failure::from(
            Diagnostic::error("W311", format!("`--size {text}` has no `=`"))
                .help("write --size n=4096"),
        )
    })?;
    let values = list.split(',').map(|v| parse_value(name, v.trim())).collect::<Result<_, _>>()?;
    Ok(SizeSpec { name: name.trim().to_string(), values })
}

fn parse_value(name: &str, text: &str) -> Result<i64, Failure> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let message = format!("size `{name}={text}` is not a whole number");
        return Err(Diagnostic::error("W311", message).help("write --size n=4096").into());
    }
    let Ok(value) = text.parse::<i64>() else {
        let message = format!("size `{name}={text}` overflows 64 bits");
        return Err(Diagnostic::error("W311", message).help("write --size n=4096").into());
    };
    match value {
        0 => Err(Diagnostic::error("W311", format!("size `{name}=0` leaves nothing to tune"))
            .note("the kernel handles size 0, and is verified there")
            .help(format!("give the size at which it is to be fast: --size {name}=4096"))
            .into()),
        v if v < 0 => Err(Diagnostic::error("W311", format!("size `{name}={v}` is negative"))
            .help(format!("give the size at which it is to be fast: --size {name}=4096"))
            .into()),
        v => Ok(v),
    }
}

/// Names and types of the integers passed by value, in order: parameters, and fields of structures (`grid.nx`), with the
/// parameter that each is or is in.
pub fn size_params(module: &Module, function: &Function) -> Vec<(VarId, String, Scalar)> {
    let numbers = |id: &VarId| {
        let var = function.var(*id);
        let id = *id;
        let fields = fields(module, &var.name, &var.ty, 0).into_iter();
        fields.filter(|f| f.ty.is_integer()).map(move |f| (id, f.name, f.ty))
    };
    function.params.iter().flat_map(numbers).collect()
}

/// A number in a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// `grid.nx`; the name of the whole for a number.
    pub name: String,
    /// In bytes.
    pub offset: u64,
    /// Its type.
    pub ty: Scalar,
}

/// The numbers in a value of a type that are not in arrays.
pub fn fields(module: &Module, name: &str, ty: &Type, offset: u64) -> Vec<Field> {
    match ty {
        Type::Scalar(s) => vec![Field { name: name.to_string(), offset, ty: *s }],
        Type::Struct(id) => {
            let inside = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
            let each = |f: &warpsmith_ir::StructField| {
                fields(module, &format!("{name}.{}", f.name), &f.ty, offset + f.offset)
            };
            inside.iter().flat_map(each).collect()
        }
        _ => vec![],
    }
}

/// `grid.nx` for the place of a field of a variable, or of a field in it; the variable's name for a variable.
pub fn field_name(module: &Module, function: &Function, place: &Place) -> Option<String> {
    match &*place.kind {
        PlaceKind::Var(id) => Some(function.var(*id).name.clone()),
        PlaceKind::Field(inner, at) => {
            let Type::Struct(id) = inner.ty else { return None };
            let field = module.structs.get(id.0 as usize)?.fields.get(*at as usize)?;
            Some(format!("{}.{}", field_name(module, function, inner)?, field.name))
        }
        _ => None,
    }
}

/// A point with the integers that `--arg` gives: what extents are computed of.
pub fn with_numbers(
    module: &Module,
    function: &Function,
    specs: &[NamedSpec],
    point: &Point,
) -> Point {
    let mut all = point.clone();
    for (_, name, scalar) in size_params(module, function) {
        let spec = specs.iter().find(|s| s.name == name).map(|s| &s.spec);
        if let Some(ArgSpec::Number(text)) = spec
            && let Ok(value) = data::parse_scalar(text, scalar)
        {
            all.entry(name).or_insert(value.as_i64());
        }
    }
    all
}

/// The value of a polynomial over parameters at a point; `None` where one of them has no value there.
pub fn value_at(poly: &Poly, function: &Function, point: &Point) -> Option<i128> {
    poly.eval(&|atom| match atom {
        Atom::Var(v) => point.get(&function.var(*v).name).map(|x| i128::from(*x)),
        _ => None,
    })
}

/// Refuses sizes at which the marks of the function are wrong.
///
/// # Errors
/// W229, the answer being no, for the first of them.
pub fn check_requirements(
    function: &Function,
    requires: &[Requirement],
    points: &[Point],
) -> Result<(), Failure> {
    for required in requires {
        let slack = required.slack();
        let broken = |p: &&Point| value_at(&slack, function, p).is_some_and(|x| x < 0);
        if let Some(point) = points.iter().find(broken) {
            let values: Vec<String> = point.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let message =
                format!("at {} a marked loop is not known to be right", values.join(", "));
            let needs = format!("this needs {}", required.text(function));
            let d = Diagnostic::error("W229", message);
            let d = match required.at {
                Some(at) => d.label(at, needs),
                None => d.note(needs),
            };
            let d = d.note(required.why.clone());
            return Err(Failure::from(d.help("give other sizes")).with_status(Status::No));
        }
    }
    Ok(())
}

/// Whether conditions hold at a point, as far as it tells.
pub fn hold(function: &Function, requires: &[Requirement], point: &Point) -> bool {
    let broken = |r: &Requirement| value_at(&r.slack(), function, point).is_some_and(|x| x < 0);
    !requires.iter().any(broken)
}

/// The point with the nearest values that satisfy the conditions.
pub fn satisfying(function: &Function, requires: &[Requirement], mut point: Point) -> Point {
    for required in requires {
        let broken = value_at(&required.slack(), function, &point).is_some_and(|x| x < 0);
        let bound = value_at(&required.bound, function, &point).and_then(|b| i64::try_from(b).ok());
        if let (true, Some(bound)) = (broken, bound) {
            point.insert(function.var(required.var).name.clone(), bound);
        }
    }
    point
}

/// Zips the lists of sizes into points and checks that each names a parameter, fits its type, and that
/// every parameter the array extents need has a value.
///
/// # Errors
/// W311, one message for the first problem.
pub fn points(
    module: &Module,
    function: &Function,
    given: &[SizeSpec],
    fixed: &[String],
) -> Result<Vec<Point>, Failure> {
    let params = size_params(module, function);
    for spec in given {
        if spec.name.is_empty() {
            return Err(Diagnostic::error("W311", "a size without a name")
                .help("write --size n=4096")
                .into());
        }
        check_name(function, &params, &spec.name)?;
    }
    let longest = given.iter().map(|s| s.values.len()).max().unwrap_or(1);
    if let Some(bad) = given.iter().find(|s| s.values.len() != longest && s.values.len() != 1) {
        let message =
            format!("`{}` has {} values, another size has {longest}", bad.name, bad.values.len());
        return Err(Diagnostic::error("W311", message)
            .help("lists of sizes must be equally long, or hold one value")
            .into());
    }
    let has_size = |name: &str| given.iter().any(|s| s.name == name);
    let names = params.iter().map(|(_, name, _)| name);
    let lacking: Vec<&str> =
        names.filter(|n| !has_size(n) && !fixed.contains(*n)).map(String::as_str).collect();
    if !lacking.is_empty() {
        return Err(missing(&lacking));
    }
    let mut points = vec![];
    for i in 0..longest {
        let mut point = Point::new();
        for (_, name, scalar) in &params {
            let own = given.iter().rev().find(|s| s.name == *name);
            let own = own.map(|s| s.values[if s.values.len() == 1 { 0 } else { i }]);
            let Some(value) = own else { continue };
            check_range(name, value, *scalar)?;
            point.insert(name.clone(), value);
        }
        points.push(point);
    }
    Ok(points)
}

/// Checks that no size is given by two options.
///
/// # Errors
/// W311 for the first that is.
pub fn check_once(given: &[SizeSpec]) -> Result<(), Failure> {
    let twice = |(k, s): (usize, &SizeSpec)| given[..k].iter().any(|o| o.name == s.name);
    let Some((_, SizeSpec { name, .. })) = given.iter().enumerate().find(|found| twice(*found))
    else {
        return Ok(());
    };
    let help =
        format!("write one --size {name}=…; several points are a list: --size {name}=1024,2048");
    Err(Diagnostic::error("W311", format!("size `{name}` is given twice")).help(help).into())
}

fn missing(names: &[&str]) -> Failure {
    let message = match names {
        [name] => format!("parameter `{name}` has no size"),
        _ => format!("parameters `{}` have no size", names.join("`, `")),
    };
    let sizes = names.iter().map(|name| format!("{name}=1024")).collect::<Vec<_>>();
    let first = names[0];
    Diagnostic::error("W311", message)
        .help(format!(
            "add --size {}, or write `// warpsmith: size {}` in the file; a number that is no size can be given with --arg {first}=7",
            sizes.join(" --size "), sizes.join(" ")
        ))
        .into()
}

fn check_name(
    function: &Function,
    params: &[(VarId, String, Scalar)],
    name: &str,
) -> Result<(), Failure> {
    if params.iter().any(|(_, n, _)| n == name) {
        return Ok(());
    }
    let names: Vec<&str> = params.iter().map(|(_, n, _)| n.as_str()).collect();
    let help = if names.is_empty() {
        format!("`{}` has no integer parameters", function.name)
    } else {
        format!("the integer parameters of `{}` are {}", function.name, names.join(", "))
    };
    Err(Diagnostic::error("W311", format!("there is no size parameter `{name}`")).help(help).into())
}

fn check_range(name: &str, value: i64, scalar: Scalar) -> Result<(), Failure> {
    let bits = scalar.bytes() * 8 - u32::from(scalar.is_signed());
    let fits = bits >= 63 || value < 1i64 << bits;
    if fits {
        return Ok(());
    }
    let message = format!("size `{name}={value}` overflows the parameter's type ({scalar})");
    let most = (1i128 << bits) - 1;
    Err(Diagnostic::error("W311", message).help(format!("at most {most} fits")).into())
}

/// Checks that all arrays fit the memory of the architecture at a point.
///
/// # Errors
/// W312 with the bytes needed.
pub fn check_memory(
    module: &Module,
    function: &Function,
    point: &Point,
    memory: u64,
    arch: &str,
) -> Result<(), Failure> {
    let mut total = 0u128;
    for id in &function.params {
        let var = function.var(*id);
        let Some(pointee) = var.ty.pointee() else { continue };
        let Ok(Some(count)) = extents::elements(module, function, var, point) else { continue };
        let size = warpsmith_ir::layout::layout_of(module, pointee).size;
        total += u128::from(count) * u128::from(size);
    }
    if total <= u128::from(memory) {
        return Ok(());
    }
    let sizes: Vec<String> = point.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let message = format!("the arrays need {total} bytes at {}", sizes.join(", "));
    Err(Diagnostic::error("W312", message)
        .note(format!("the largest board with {arch} has {memory} bytes"))
        .help("choose a smaller size")
        .into())
}
