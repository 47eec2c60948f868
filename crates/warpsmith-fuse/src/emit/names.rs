//! Names of variables in emitted code.

use std::collections::{HashMap, HashSet};

use crate::script::{Node, Program, Region, VarId};

/// Words of C++ that a script may use.
const LANGUAGE: &str = "alignas alignof and asm auto bool break case catch char class const constexpr continue decltype \
    default delete do double else enum explicit export extern false float for friend goto if inline \
    int long mutable namespace new noexcept not nullptr operator or private protected public \
    register return short signed sizeof static struct switch template this throw true try typedef \
    typeid typename union unsigned using virtual void volatile while xor";

/// Names that emitted code uses itself.
const OURS: &str = "main count thread first here step block shared stream workspace room error e dim3 size_t min max \
    blockIdx threadIdx blockDim gridDim seconds printf abs sqrt exp log sin cos tan pow argc argv \
    begin end best round ms per_second differ fill nudge widen compare bytes device k i atoi malloc calloc free memcpy \
    fabsf load_block save_block load_columns save_columns load_own save_own";

/// Macros of the headers that it includes, and of compilers.
const MACROS: &str =
    "unix linux errno assert stdin stdout stderr NULL EOF INFINITY NAN HUGE_VAL RAND_MAX M_PI M_E";

/// A C name for each variable: an input and an output have the script's name, where it is free.
#[derive(Clone, Debug)]
pub struct Names {
    of: HashMap<VarId, String>,
}

impl Names {
    /// Names for the variables of a script that are not reserved.
    pub fn new(program: &Program, reserved: &[String]) -> Names {
        let known = [LANGUAGE, OURS, MACROS].into_iter().flat_map(str::split_whitespace);
        let mut taken: HashSet<String> = known.map(str::to_string).collect();
        taken.extend((1..=loops(&program.body)).map(|n| format!("i{n}")));
        taken.extend(reserved.iter().cloned());
        let mut names = Names { of: HashMap::new() };
        let first = program.inputs.iter().map(|v| (*v, ""));
        let second = program.outputs.iter().map(|v| (*v, "_out"));
        let rest = (0..program.variables.len()).map(|v| (VarId(v), ""));
        for (id, suffix) in first.chain(second).chain(rest) {
            if names.of.contains_key(&id) {
                continue;
            }
            let variable = &program.variables[id.0];
            let plain = variable.name.clone();
            let mut number = variable.version.max(2);
            let mut name = plain.clone();
            let free = |name: &String| all_of(name).iter().all(|n| !taken.contains(n));
            if !free(&name) && !suffix.is_empty() {
                name = format!("{plain}{suffix}");
            }
            while !free(&name) {
                name = format!("{plain}_{number}");
                number += 1;
            }
            taken.extend(all_of(&name));
            names.of.insert(id, name);
        }
        names
    }

    /// The name of a variable.
    pub fn get(&self, id: VarId) -> &str {
        self.of.get(&id).map_or("?", |n| n)
    }
}

/// Loops, each of which has a counter.
fn loops(region: &Region) -> usize {
    let inner = region.nodes.iter().map(|node| match node {
        Node::Loop(l) => 1 + loops(&l.body),
        Node::Call(_) => 0,
    });
    inner.sum()
}

/// A name, and those that are made of it: in kernels, launchers, loops and on the host.
fn all_of(name: &str) -> Vec<String> {
    let derived = ["s", "r", "d", "p", "n", "c", "device"].map(|before| format!("{before}_{name}"));
    let loops = [format!("d_{name}_even"), format!("d_{name}_odd")];
    let more =
        loops.into_iter().chain(["expected", "nudged", "spread"].map(|s| format!("{name}_{s}")));
    derived.into_iter().chain(more).chain([name.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_words_each_once() {
        let words: Vec<&str> =
            [LANGUAGE, OURS, MACROS].into_iter().flat_map(str::split_whitespace).collect();
        let different: HashSet<&&str> = words.iter().collect();
        assert_eq!(different.len(), words.len());
        // Words at the end of a line of the list do not run into those of the next one.
        for list in [LANGUAGE, OURS, MACROS] {
            assert!(list.split_whitespace().all(|w| w.len() <= 12), "{list}");
        }
    }
}
