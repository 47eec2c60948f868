//! The loops in every order on one core of the CPU: what the order alone is worth, before there is a GPU.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use warpsmith_ir::Function;
use warpsmith_opt::schedule::orders::{Order, Orders};
use warpsmith_translate::tune::sizes::Point;
use warpsmith_translate::tune::verify::host_c::{self, ArgBytes, c_scalar};

/// No extent is larger: the six orders take seconds then.
pub const LARGEST: i64 = 700;
/// All orders together; those that are not reached have no time.
const LIMIT: Duration = Duration::from_secs(20);

/// What the compiler is asked for.
pub const FLAGS: &str = "-O2";

/// The orders with their times.
#[derive(Clone, Debug)]
pub struct OnCpu {
    /// The order, and milliseconds of one run where it was reached.
    pub orders: Vec<(Order, Option<f64>)>,
    /// The size they ran at.
    pub point: Point,
    /// For example `cc -O2`.
    pub compiler: String,
}

/// The size that the CPU gets.
pub fn point(of: &Point) -> Point {
    of.iter().map(|(name, v)| (name.clone(), (*v).min(LARGEST))).collect()
}

/// Compiles and runs all orders on these arguments.
///
/// # Errors
/// A phrase: why there are no times.
pub fn time(
    orders: &Orders,
    source: &Function,
    args: &[ArgBytes],
    point: Point,
) -> Result<OnCpu, String> {
    let text = program(orders, source)?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("orders.c"), text).map_err(|e| e.to_string())?;
    std::fs::write(place("input"), host_c::input_bytes(args)).map_err(|e| e.to_string())?;
    let compiler = host_c::compiler();
    let mut command = Command::new(&compiler);
    command.args([FLAGS, "-w", "-std=gnu11", "-o"]).arg(place("orders")).arg(place("orders.c"));
    let done = command.arg("-lm").stdin(Stdio::null()).output();
    let done = done.map_err(|_| format!("there is no C compiler `{compiler}`"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said.lines().find(|l| l.contains("error")).unwrap_or_default();
        return Err(format!("`{compiler}` refuses their text: {first}"));
    }
    let times = run(&place("orders"), &place("input"))?;
    let times = times.into_iter().map(Some).chain(std::iter::repeat(None));
    let orders = orders.list.iter().cloned().zip(times).collect();
    Ok(OnCpu { orders, point, compiler: format!("{compiler} {FLAGS}") })
}

/// The times that the program says until it ends or its time is over.
fn run(program: &Path, input: &Path) -> Result<Vec<f64>, String> {
    let child = Command::new(program)
        .arg(input)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|e| e.to_string())?;
    let out = child.stdout.take().ok_or("its output cannot be read")?;
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(Result::ok);
        lines.filter_map(|l| l.trim().parse().ok()).collect::<Vec<f64>>()
    });
    let status = host_c::wait_at_most(&mut child, LIMIT).map_err(|e| e.to_string())?;
    let times = reader.join().unwrap_or_default();
    match status {
        Some(status) if !status.success() => Err(format!("their program ended with {status}")),
        _ if times.is_empty() => Err(format!("one alone takes more than {} s", LIMIT.as_secs())),
        _ => Ok(times),
    }
}

/// The functions, and a `main` that reads the arguments, and prints how long each function takes.
fn program(orders: &Orders, source: &Function) -> Result<String, String> {
    let functions = warpsmith_emit::module_file(&orders.module).map_err(|e| e.to_string())?;
    let mut text = String::from(
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n",
    );
    text += &functions;
    text += "\nstatic void take(void *to, size_t n, FILE *in)\n{\n    if (n && fread(to, 1, n, in) != n) exit(90);\n}\n";
    text += "\nint main(int argc, char **argv)\n{\n    FILE *in = argc > 1 ? fopen(argv[1], \"rb\") : NULL;\n    if (!in) return 91;\n";
    let mut names = vec![];
    for (i, param) in source.params.iter().enumerate() {
        let ty = &source.var(*param).ty;
        text += &match ty.is_pointer() {
            true => format!(
                "    uint64_t n{i};\n    take(&n{i}, 8, in);\n    void *a{i} = malloc(n{i} + 1);\n    if (!a{i}) return 92;\n    take(a{i}, n{i}, in);\n"
            ),
            false if ty.scalar().is_some() => {
                format!("    {} a{i};\n    take(&a{i}, sizeof a{i}, in);\n", c_scalar(ty))
            }
            false => return Err("a parameter is a structure".to_string()),
        };
        names.push(format!("a{i}"));
    }
    text += "    struct timespec from, to;\n";
    for order in &orders.list {
        text += &format!(
            "    clock_gettime(CLOCK_MONOTONIC, &from);\n    {}({});\n    clock_gettime(CLOCK_MONOTONIC, &to);\n",
            order.function,
            names.join(", ")
        );
        text += "    printf(\"%.6f\\n\", (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) / 1e6);\n    fflush(stdout);\n";
    }
    Ok(text + "    return 0;\n}\n")
}
