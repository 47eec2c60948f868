//! The graph as a picture in Graphviz's language: a box around the calls of each kernel.

use std::fmt::Write;

use crate::plan::{Covered, Home, KernelPlan, Launch, Planner};

/// The graph of a cover.
pub fn dot(planner: &Planner<'_>, name: &str, cover: &Covered) -> String {
    let mut text = format!(
        "digraph {name} {{\n    rankdir = LR;\n    node [shape = box, fontname = \"sans-serif\"];\n"
    );
    let mut kernel = 0;
    clusters(planner, &cover.launches, "    ", &mut kernel, &mut 0, &mut text);
    for v in planner.program.inputs.iter().chain(&planner.program.outputs) {
        let _ = writeln!(
            text,
            "    v{} [shape = plaintext, label = \"{}\"];",
            v.0,
            planner.variable_name(*v)
        );
    }
    text.push_str("}\n");
    text
}

fn clusters(
    planner: &Planner<'_>,
    launches: &[Launch],
    indent: &str,
    kernel: &mut usize,
    loops: &mut usize,
    text: &mut String,
) {
    for launch in launches {
        match launch {
            Launch::Kernel(plan) => {
                *kernel += 1;
                one_kernel(planner, plan, *kernel, indent, text);
            }
            Launch::Loop { source, body } => {
                *loops += 1;
                let _ = writeln!(
                    text,
                    "{indent}subgraph cluster_loop{loops} {{\n{indent}    style = dashed;\n{indent}    label = \"{} times\";",
                    source.trips
                );
                clusters(planner, body, &format!("{indent}    "), kernel, loops, text);
                let _ = writeln!(text, "{indent}}}");
                let ways =
                    source.carried.iter().flat_map(|c| [(c.before, c.inside), (c.next, c.inside)]);
                for (from, to) in ways.chain(source.results.iter().copied()) {
                    let _ = writeln!(text, "{indent}v{} -> v{} [style = dashed];", from.0, to.0);
                }
            }
        }
    }
}

fn one_kernel(
    planner: &Planner<'_>,
    plan: &KernelPlan,
    number: usize,
    indent: &str,
    text: &mut String,
) {
    let [x, y, z] = plan.shape;
    let _ = writeln!(
        text,
        "{indent}subgraph cluster_kernel{number} {{\n{indent}    style = filled;\n{indent}    fillcolor = lightyellow;"
    );
    let _ = writeln!(
        text,
        "{indent}    label = \"kernel {number}: {x}x{y}x{z} threads, {} elements a block\";",
        plan.elements
    );
    for (c, call) in plan.calls.iter().enumerate() {
        let f = planner.library.function(call.function);
        let one = planner.implementation(call);
        let _ = writeln!(
            text,
            "{indent}    k{number}_{c} [label = \"{} ({})\", style = filled, fillcolor = white];",
            f.name, one.name
        );
    }
    let _ = writeln!(text, "{indent}}}");
    let made = |v: usize| plan.calls.iter().position(|c| c.variables.last() == Some(&v));
    for (c, call) in plan.calls.iter().enumerate() {
        let (result, arguments) = match call.variables.split_last() {
            Some((result, arguments)) => (*result, arguments),
            None => continue,
        };
        let mut seen = vec![];
        for v in arguments {
            if seen.contains(v) {
                continue;
            }
            seen.push(*v);
            let variable = &plan.variables[*v];
            let home = if matches!(variable.home, Home::Registers { .. }) {
                "registers"
            } else {
                "shared"
            };
            let label = format!("{} ({home})", planner.variable_name(variable.id));
            let from = made(*v).map_or(format!("v{}", variable.id.0), |m| format!("k{number}_{m}"));
            let _ = writeln!(text, "{indent}{from} -> k{number}_{c} [label = \"{label}\"];");
        }
        if plan.variables[result].output {
            let _ = writeln!(text, "{indent}k{number}_{c} -> v{};", plan.variables[result].id.0);
        }
    }
}
