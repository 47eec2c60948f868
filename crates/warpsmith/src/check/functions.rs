//! Parameters of kernels that are pointers to functions.
//!
//! `--arg f=&NAME` names the function. One that is not given points to each function in turn whose address the file takes
//! and that has its type, in files for verifiers also to none; `__requires` leaves out those that are not meant.

use warpsmith_front::sema::FunctionAddress;
use warpsmith_ir::{FuncId, Module, StructId, Type, Var};

use super::args::LaunchArgs;
use super::memory::ArgContext;
use crate::data::ArgSpec;
use crate::status::Failure;

/// More combinations than this are not tried.
const MOST_TRIED: usize = 64;

/// What a parameter holds; `None` when it is no pointer to functions of the file.
///
/// # Errors
/// W306 for a name that is no function it may point to.
pub fn argument(cx: &ArgContext<'_>, var: &Var) -> Result<Option<u64>, Failure> {
    let list = fitting(cx.functions, &var.ty);
    if list.is_empty() {
        return Ok(None);
    }
    match cx.args.spec(&var.name) {
        None => {
            let all = chosen(cx.module, cx.kernel, cx.args, cx.functions, cx.tried.function);
            Ok(all.into_iter().find(|(name, _)| *name == var.name).map(|(_, f)| f.number))
        }
        Some(ArgSpec::Number(name)) if name == "0" => Ok(Some(0)),
        Some(ArgSpec::Function(name)) if list.iter().any(|f| f.name == *name) => {
            Ok(list.iter().find(|f| f.name == *name).map(|f| f.number))
        }
        Some(_) => {
            let some = list.iter().filter(|f| f.number != 0);
            let mut options: Vec<String> = some.map(|f| as_option(&var.name, f)).collect();
            options.push(format!("{}=0 for null", var.name));
            let message = format!("argument `{}` is no function that it may point to", var.name);
            let help = format!("write {}", options.join(", or "));
            Err(cx.error(message).help(help).into())
        }
    }
}

/// What an option says of a parameter that points to a function, or to none.
pub fn as_option(parameter: &str, function: &FunctionAddress) -> String {
    match function.number {
        0 => format!("{parameter}=0"),
        _ => format!("{parameter}=&{}", function.name),
    }
}

/// Null pointers, one for each type of pointers to functions.
pub fn nulls(module: &Module) -> Vec<FunctionAddress> {
    let pointers = module.structs.iter().enumerate().filter(|(_, s)| s.name.contains("(*)"));
    let null = |at: usize| FunctionAddress {
        pointer: StructId(at as u32),
        name: String::new(),
        number: 0,
    };
    pointers.map(|(at, _)| null(at)).collect()
}

/// How many ways there are to choose functions for the parameters of a kernel that nobody gives one.
pub fn choices(
    module: &Module,
    kernel: FuncId,
    args: &LaunchArgs,
    functions: &[FunctionAddress],
) -> usize {
    let each = open_parameters(module, kernel, args, functions);
    each.map(|v| fitting(functions, &v.ty).len()).product::<usize>().clamp(1, MOST_TRIED)
}

/// The functions of one choice, with the parameters that get them.
pub fn chosen<'m>(
    module: &'m Module,
    kernel: FuncId,
    args: &'m LaunchArgs,
    functions: &'m [FunctionAddress],
    choice: usize,
) -> Vec<(&'m str, &'m FunctionAddress)> {
    let mut rest = choice;
    let mut all = vec![];
    for var in open_parameters(module, kernel, args, functions) {
        let list = fitting(functions, &var.ty);
        all.push((var.name.as_str(), list[rest % list.len()]));
        rest /= list.len();
    }
    all
}

fn open_parameters<'m>(
    module: &'m Module,
    kernel: FuncId,
    args: &'m LaunchArgs,
    functions: &'m [FunctionAddress],
) -> impl Iterator<Item = &'m Var> {
    let function = module.function(kernel);
    let vars = function.params.iter().map(|p| function.var(*p));
    vars.filter(|v| args.spec(&v.name).is_none() && !fitting(functions, &v.ty).is_empty())
}

fn fitting<'f>(functions: &'f [FunctionAddress], ty: &Type) -> Vec<&'f FunctionAddress> {
    let Type::Struct(id) = ty else { return vec![] };
    functions.iter().filter(|f| f.pointer == *id).collect()
}
