//! Scripts of elementary functions with loops, also nested, and the same with all loops written out.

use crate::choice::Choice;

/// A script, and what it means without loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopedScript {
    pub with_loops: String,
    pub written_out: String,
}

/// Functions of the shipped library on matrices, vectors and scalars, with the types of inputs and output.
const FUNCTIONS: [(&str, &str, char); 8] = [
    ("madd33", "mm", 'm'),
    ("mmul33", "mm", 'm'),
    ("mvmul33", "mv", 'v'),
    ("smmul33", "ms", 'm'),
    ("svmul3", "vs", 'v'),
    ("venorm3", "v", 's'),
    ("vvmulabs3", "vv", 's'),
    ("smimul33", "s", 'm'),
];
/// Types, and the variables of each; the first two are inputs.
const VARIABLES: [(char, &str, [&str; 4]); 3] = [
    ('m', "matrix3x3", ["A", "B", "C", "D"]),
    ('v', "vector3", ["u", "v", "w", "x"]),
    ('s', "scalar", ["r", "s", "t", "q"]),
];
const COUNTERS: [&str; 3] = ["i", "j", "k"];
/// Calls that the written-out script may have.
const MOST: usize = 60;

enum Statement {
    /// Target, and function with arguments.
    Call(String, String),
    For {
        counter: &'static str,
        limits: Limits,
        body: Vec<Statement>,
    },
}

/// From where to where a loop counts; the second with the counter of the loop around it.
enum Limits {
    Numbers(usize, usize),
    FromOuter(&'static str, usize),
}

/// Makes a script from bytes: loops at most three deep, some without an iteration, some whose limits are counters of loops around
/// them. Whatever is read has a value.
pub fn looped_script(bytes: &[u8]) -> LoopedScript {
    let mut making = Making { choice: Choice::new(bytes), known: [2; 3] };
    let mut body = making.list(0, MOST);
    // Something is assigned, whatever loops do.
    body.push(making.call());
    let mut head = String::new();
    for (_, ty, names) in VARIABLES {
        head += &format!("{ty} {};\n", names.join(", "));
    }
    head += "input A, B, u, v, r, s;\n";
    let (mut with_loops, mut written_out) = (head.clone(), head);
    print(&body, "", &mut with_loops);
    let mut assigned = vec![];
    write_out(&body, &mut vec![], &mut written_out, &mut assigned);
    let end = format!("return {};\n", assigned.join(", "));
    LoopedScript { with_loops: with_loops + &end, written_out: written_out + &end }
}

struct Making<'a> {
    choice: Choice<'a>,
    /// How many variables of each type have a value for sure.
    known: [usize; 3],
}

impl Making<'_> {
    /// Statements that are at most so many calls when they are run once.
    fn list(&mut self, depth: usize, most: usize) -> Vec<Statement> {
        let mut list = vec![];
        let mut left = most;
        for _ in 0..1 + self.choice.below(4) {
            let trips = self.choice.below(8);
            if depth < COUNTERS.len() && left > 2 * trips && self.choice.chance(50) {
                list.push(self.one_loop(depth, trips, left));
                left = left.saturating_sub(left.min(left / trips.max(1) * trips));
            } else if left > 0 {
                list.push(self.call());
                left -= 1;
            }
        }
        list
    }

    fn one_loop(&mut self, depth: usize, trips: usize, most: usize) -> Statement {
        let before = self.known;
        let counter = COUNTERS[depth];
        // From the counter of the loop around it to a number: fewer and fewer iterations.
        let limits = match depth > 0 && self.choice.chance(30) {
            true => Limits::FromOuter(COUNTERS[depth - 1], trips),
            false => {
                let first = self.choice.below(3);
                Limits::Numbers(first, first + trips)
            }
        };
        let body = self.list(depth + 1, most / trips.max(1));
        if trips == 0 || matches!(limits, Limits::FromOuter(..)) {
            self.known = before;
        }
        Statement::For { counter, limits, body }
    }

    fn call(&mut self) -> Statement {
        let (name, inputs, output) = FUNCTIONS[self.choice.below(FUNCTIONS.len())];
        let place = |ty: char| VARIABLES.iter().position(|v| v.0 == ty).unwrap_or(0);
        let mut arguments = vec![];
        for ty in inputs.chars() {
            let at = place(ty);
            arguments.push(VARIABLES[at].2[self.choice.below(self.known[at])]);
        }
        let at = place(output);
        let target = self.choice.below((self.known[at] + 1).min(4));
        self.known[at] = self.known[at].max(target + 1);
        let call = format!("{name}({})", arguments.join(", "));
        Statement::Call(VARIABLES[at].2[target].to_string(), call)
    }
}

fn print(list: &[Statement], indent: &str, text: &mut String) {
    for statement in list {
        match statement {
            Statement::Call(target, call) => *text += &format!("{indent}{target} = {call};\n"),
            Statement::For { counter, limits, body } => {
                let (first, limit) = match limits {
                    Limits::Numbers(first, limit) => (first.to_string(), limit),
                    Limits::FromOuter(outer, limit) => (outer.to_string(), limit),
                };
                *text += &format!(
                    "{indent}for ({counter} = {first}; {counter} < {limit}; {counter}++) {{\n"
                );
                print(body, &format!("{indent}    "), text);
                *text += &format!("{indent}}}\n");
            }
        }
    }
}

/// The calls in the order in which they run, and the variables that they assign.
fn write_out(
    list: &[Statement],
    counters: &mut Vec<(&'static str, usize)>,
    text: &mut String,
    assigned: &mut Vec<String>,
) {
    for statement in list {
        match statement {
            Statement::Call(target, call) => {
                *text += &format!("{target} = {call};\n");
                if !assigned.contains(target) {
                    assigned.push(target.clone());
                }
            }
            Statement::For { counter, limits, body } => {
                let value = |name: &str| counters.iter().find(|c| c.0 == name).map_or(0, |c| c.1);
                let (first, limit) = match limits {
                    Limits::Numbers(first, limit) => (*first, *limit),
                    Limits::FromOuter(outer, limit) => (value(outer), *limit),
                };
                for at in first..limit {
                    counters.push((counter, at));
                    write_out(body, counters, text, assigned);
                    counters.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_loops_and_mean_few_calls() {
        let (mut loops, mut nested) = (0, 0);
        for seed in 0..200 {
            let script = looped_script(&crate::noise(seed, 200));
            let calls = script.written_out.matches(" = ").count();
            assert!((1..=200).contains(&calls), "{calls}\n{}", script.with_loops);
            assert!(!script.written_out.contains("for"));
            loops += usize::from(script.with_loops.contains("for (i"));
            nested += usize::from(script.with_loops.contains("for (j"));
        }
        assert!(loops > 80 && nested > 40, "{loops} and {nested}");
        assert_eq!(looped_script(&[]), looped_script(&[]));
    }
}
