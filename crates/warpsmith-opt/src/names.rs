//! Names of variables that rewrites make.

use warpsmith_ir::Function;

/// A name that no variable of the function has.
pub fn fresh_name(function: &Function, wanted: &str) -> String {
    let taken = |name: &str| function.vars.iter().any(|v| v.name == name);
    if !taken(wanted) {
        return wanted.into();
    }
    (2u32..).map(|k| format!("{wanted}{k}")).find(|name| !taken(name)).unwrap_or_default()
}
