//! Names of kernels as reports show them.

/// The name without namespaces, template arguments and the numbers that tell instances apart.
pub fn kernel_at(name: &str) -> &str {
    let plain = name.split(['<', '(']).next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain)
}

/// Extents as a launch shows them.
pub fn dims(d: [u32; 3]) -> String {
    match d {
        [x, 1, 1] => format!("{x}"),
        [x, y, 1] => format!("({x},{y})"),
        [x, y, z] => format!("({x},{y},{z})"),
    }
}
