//! Random C functions with marked loops, within the loop language of `warpsmith tune`.
//!
//! By construction they have no undefined behaviour and their marked loops carry no dependence: a nest
//! writes only the element of its own iteration, integers stay small (`% 1009`) or are unsigned, divisors
//! are not zero, and conversions from reals are clamped. So host compiler, interpreter and emulator must
//! agree bit for bit.

use std::fmt::Write;

use crate::choice::Choice;

/// Name, element type and number of dimensions of the array parameters: `[n][m]`, `[n]` or `[m]`.
const ARRAYS: [(&str, &str, Shape); 8] = [
    ("A", "float", Shape::Matrix),
    ("B", "float", Shape::Matrix),
    ("C", "double", Shape::Matrix),
    ("U", "unsigned", Shape::Matrix),
    ("K", "int", Shape::Matrix),
    ("x", "float", Shape::Rows),
    ("u", "unsigned", Shape::Rows),
    ("y", "double", Shape::Columns),
];

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Matrix,
    Rows,
    Columns,
}

/// The kinds of value expressions have.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `int`, always in −1008 … 1008.
    Int,
    Unsigned,
    Float,
    Double,
}

/// A C file with one function `f(int n, int m, …)` made from the bytes.
pub fn c_program(bytes: &[u8]) -> String {
    let mut g = Generator {
        choice: Choice::new(bytes),
        text: String::new(),
        depth: 1,
        ..Generator::default_parts()
    };
    let nests = 1 + g.choice.below(3);
    let mut body = String::new();
    for _ in 0..nests {
        g.text.clear();
        g.nest();
        body += &g.text;
    }
    let params: Vec<String> = ARRAYS
        .iter()
        .map(|(name, ty, shape)| {
            let dims = match shape {
                Shape::Matrix => "[n][m]",
                Shape::Rows => "[n]",
                Shape::Columns => "[m]",
            };
            format!("{ty} {name}{dims}")
        })
        .collect();
    format!(
        "#include <math.h>\n\
         static inline float helper(float a, int k) {{\n    \
             if (k > 3)\n        return a * 0.5f + (float)k;\n    return a - 1.0f;\n}}\n\n\
         void f(int n, int m, {}, unsigned total[1])\n{{\n{body}}}\n",
        params.join(", ")
    )
}

struct Generator<'a> {
    choice: Choice<'a>,
    text: String,
    depth: usize,
    /// Local variables in scope: name and kind. Loop counters are `Int` and not assigned.
    locals: Vec<(String, Kind, bool)>,
    fresh: usize,
    /// Arrays this nest writes; they are read only at the own element.
    written: Vec<usize>,
    two_dimensional: bool,
    /// Whether the single counter runs over columns.
    over_columns: bool,
    loops: usize,
}

impl Generator<'_> {
    fn default_parts() -> Generator<'static> {
        Generator {
            choice: Choice::new(&[]),
            text: String::new(),
            depth: 1,
            locals: vec![],
            fresh: 0,
            written: vec![],
            two_dimensional: false,
            over_columns: false,
            loops: 0,
        }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.depth));
    }

    /// One marked nest.
    fn nest(&mut self) {
        self.locals.clear();
        self.loops = 0;
        self.two_dimensional = self.choice.chance(50);
        self.over_columns = !self.two_dimensional && self.choice.chance(30);
        if !self.two_dimensional && self.choice.chance(20) {
            return self.reduction();
        }
        let fits: Vec<usize> = (0..ARRAYS.len()).filter(|a| self.is_own(*a)).collect();
        self.written = vec![fits[self.choice.below(fits.len())]];
        if self.choice.chance(40) {
            self.written.push(fits[self.choice.below(fits.len())]);
        }
        let collapse = self.two_dimensional && self.choice.chance(60);
        self.line(if collapse {
            "#pragma omp parallel for collapse(2)"
        } else {
            "#pragma omp parallel for"
        });
        let counter = if self.over_columns { "j" } else { "i" };
        let limit = if self.over_columns { "m" } else { "n" };
        self.header(counter, limit);
        if self.two_dimensional {
            self.header("j", "m");
        }
        self.body(3);
        for at in self.written.clone() {
            let kind = kind_of(ARRAYS[at].1);
            let value = self.value(kind, 3);
            let target = self.own_element(at);
            let op =
                if kind == Kind::Int { "=" } else { self.choice.pick(&["=", "+=", "-=", "*="]) };
            self.line(&format!("{target} {op} {value};"));
        }
        while self.depth > 1 {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// A sum, maximum or other reduction of unsigned values, which reassociate exactly.
    fn reduction(&mut self) {
        self.written = vec![];
        let (op, name) =
            [("+", "s"), ("^", "s"), ("|", "s"), ("max", "s"), ("min", "s"), ("*", "s")]
                [self.choice.below(6)];
        let start = self.choice.pick(&["0u", "1u", "*total"]);
        self.line(&format!("unsigned {name}{} = {start};", self.fresh));
        let var = format!("{name}{}", self.fresh);
        self.fresh += 1;
        self.line(&format!("#pragma omp parallel for reduction({op}: {var})"));
        let (counter, limit) = if self.over_columns { ("j", "m") } else { ("i", "n") };
        self.header(counter, limit);
        self.body(2);
        let value = self.value(Kind::Unsigned, 3);
        let update = match op {
            "max" => format!("{var} = {var} > ({value}) ? {var} : ({value});"),
            "min" => format!("if (({value}) < {var}) {var} = ({value});"),
            _ => format!("{var} {op}= {value};"),
        };
        self.line(&update);
        self.depth -= 1;
        self.line("}");
        self.line(&format!("*total = {var};"));
    }

    /// Opens a counted loop; the counter is in scope from here on.
    fn header(&mut self, counter: &str, limit: &str) {
        let step = self.choice.pick(&["1", "1", "1", "2", "3"]);
        let first = self.choice.pick(&["0", "0", "0", "1", "2"]);
        let head = match self.choice.below(5) {
            0 | 1 if step == "1" => {
                format!("for (int {counter} = {first}; {counter} < {limit}; {counter}++) {{")
            }
            2 => format!(
                "for (int {counter} = {first}; {counter} <= {limit} - 1; {counter} += {step}) {{"
            ),
            3 => format!(
                "for (int {counter} = {limit} - 1; {counter} >= {first}; {counter} -= {step}) {{"
            ),
            _ => format!(
                "for (int {counter} = {first}; {counter} < {limit}; {counter} += {step}) {{"
            ),
        };
        self.line(&head);
        self.depth += 1;
        self.locals.push((counter.to_string(), Kind::Int, false));
    }

    /// Some statements on locals.
    fn body(&mut self, size: usize) {
        for _ in 0..self.choice.below(size + 1) {
            self.statement(2);
        }
    }

    fn statement(&mut self, size: usize) {
        match self.choice.below(8) {
            0..=2 => self.declaration(),
            3 => self.assignment(),
            4 if size > 0 => self.branch(size - 1),
            5 | 6 if size > 0 && self.loops < 3 => self.inner_loop(size - 1),
            7 if size > 0 => self.local_array(),
            _ => self.declaration(),
        }
    }

    fn declaration(&mut self) {
        let kind = [Kind::Float, Kind::Int, Kind::Unsigned, Kind::Double][self.choice.below(4)];
        let value = self.value(kind, 3);
        let name = self.name("t");
        self.line(&format!("{} {name} = {value};", c_name(kind)));
        self.locals.push((name, kind, true));
    }

    fn assignment(&mut self) {
        let targets: Vec<(String, Kind)> =
            self.locals.iter().filter(|l| l.2).map(|l| (l.0.clone(), l.1)).collect();
        if targets.is_empty() {
            return self.declaration();
        }
        let (name, kind) = targets[self.choice.below(targets.len())].clone();
        let value = self.value(kind, 3);
        let op = if kind == Kind::Int { "=" } else { self.choice.pick(&["=", "+=", "-=", "*="]) };
        self.line(&format!("{name} {op} {value};"));
    }

    fn branch(&mut self, size: usize) {
        let condition = self.condition(2);
        self.line(&format!("if ({condition}) {{"));
        self.scope(|g| g.statement(size));
        if self.choice.chance(50) {
            self.line("} else {");
            self.scope(|g| g.statement(size));
        }
        self.line("}");
    }

    /// A serial loop inside, of one of C's three kinds, perhaps with `continue` or `break`.
    fn inner_loop(&mut self, size: usize) {
        self.loops += 1;
        let k = self.name("k");
        let limit = self.choice.pick(&["m", "n", "5", "3"]);
        let form = self.choice.below(4);
        match form {
            0 => self.line(&format!("int {k} = 0;")),
            1 => self.line(&format!("int {k} = {limit};")),
            _ => {}
        }
        match form {
            0 => self.line(&format!("while ({k} < {limit}) {{")),
            1 => self.line("do {"),
            _ => self.line(&format!("for (int {k} = 0; {k} < {limit}; {k}++) {{")),
        }
        let counter = k.clone();
        self.scope(|g| {
            if form < 2 {
                g.line(&format!("{k} {};", if form == 0 { "+= 1" } else { "-= 2" }));
            } else {
                g.locals.push((k.clone(), Kind::Int, false));
                if g.choice.chance(30) {
                    let condition = g.condition(1);
                    let leave = g.choice.pick(&["continue", "break"]);
                    g.line(&format!("if ({condition})"));
                    g.line(&format!("    {leave};"));
                }
            }
            g.assignment();
            g.statement(size);
        });
        self.line(&if form == 1 { format!("}} while ({counter} > 0);") } else { "}".to_string() });
    }

    fn local_array(&mut self) {
        let name = self.name("w");
        let value = self.value(Kind::Float, 2);
        self.line(&format!("float {name}[4];"));
        let k = self.name("q");
        self.line(&format!("for (int {k} = 0; {k} < 4; {k}++)"));
        self.line(&format!("    {name}[{k}] = {value} * (float){k};"));
        let index = self.value(Kind::Unsigned, 1);
        let result = self.name("t");
        self.line(&format!("float {result} = {name}[({index}) & 3u];"));
        self.locals.push((result, Kind::Float, true));
    }

    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        let locals = self.locals.len();
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.locals.truncate(locals);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn condition(&mut self, size: usize) -> String {
        if size > 0 && self.choice.chance(25) {
            let (a, b) = (self.condition(size - 1), self.condition(size - 1));
            let op = self.choice.pick(&["&&", "||"]);
            return format!("({a} {op} {b})");
        }
        let kind = [Kind::Int, Kind::Unsigned, Kind::Float, Kind::Double][self.choice.below(4)];
        let (a, b) = (self.value(kind, size), self.value(kind, size));
        format!("({a} {} {b})", self.choice.pick(&["<", "<=", ">", ">=", "==", "!="]))
    }

    /// An expression of a kind, at most `size` operators deep.
    fn value(&mut self, kind: Kind, size: usize) -> String {
        if size == 0 || self.choice.is_empty() || self.choice.chance(25) {
            return self.leaf(kind);
        }
        let size = size - 1;
        if self.choice.chance(10) {
            let (c, a, b) =
                (self.condition(size.min(1)), self.value(kind, size), self.value(kind, size));
            return format!("({c} ? {a} : {b})");
        }
        match kind {
            Kind::Int => self.int(size),
            Kind::Unsigned => self.unsigned(size),
            Kind::Float => self.float(size),
            Kind::Double => self.double(size),
        }
    }

    fn int(&mut self, size: usize) -> String {
        match self.choice.below(5) {
            0 => {
                let x = self.value(Kind::Float, size);
                format!("(int)fminf(fmaxf({x}, -1000.0f), 1000.0f)")
            }
            1 => {
                let a = self.value(Kind::Int, size);
                format!("(-({a}))")
            }
            2 => {
                let u = self.value(Kind::Unsigned, size);
                format!("(int)(({u}) % 1000u)")
            }
            _ => {
                let (a, b) = (self.value(Kind::Int, size), self.value(Kind::Int, size));
                format!("(({a} {} {b}) % 1009)", self.choice.pick(&["+", "-", "*"]))
            }
        }
    }

    fn unsigned(&mut self, size: usize) -> String {
        let a = self.value(Kind::Unsigned, size);
        match self.choice.below(5) {
            0 => format!("(~{a})"),
            1 => format!("({a} {} {})", self.choice.pick(&["<<", ">>"]), self.choice.below(32)),
            2 => {
                let b = self.value(Kind::Unsigned, size);
                format!("({a} {} (1u | {b}))", self.choice.pick(&["/", "%"]))
            }
            3 => {
                let b = self.value(Kind::Int, size);
                format!("({a} + (unsigned)({b}))")
            }
            _ => {
                let b = self.value(Kind::Unsigned, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*", "&", "|", "^"]))
            }
        }
    }

    fn float(&mut self, size: usize) -> String {
        let a = self.value(Kind::Float, size);
        match self.choice.below(7) {
            0 => format!("fabsf({a})"),
            1 => format!("sqrtf(fabsf({a}))"),
            2 => {
                let b = self.value(Kind::Float, size);
                format!("{}({a}, {b})", self.choice.pick(&["fminf", "fmaxf"]))
            }
            3 => {
                let k = self.value(Kind::Int, size);
                format!("helper({a}, {k})")
            }
            4 => {
                let b = self.value(Kind::Float, size);
                format!("({a} / (1.0f + {b} * {b}))")
            }
            5 => {
                let d = self.value(Kind::Double, size);
                format!("({a} + (float)({d}))")
            }
            _ => {
                let b = self.value(Kind::Float, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*"]))
            }
        }
    }

    fn double(&mut self, size: usize) -> String {
        let a = self.value(Kind::Double, size);
        match self.choice.below(4) {
            0 => {
                let b = self.value(Kind::Float, size);
                format!("({a} * {b})")
            }
            1 => {
                let k = self.value(Kind::Int, size);
                format!("({a} + {k})")
            }
            2 => format!("floor({a})"),
            _ => {
                let b = self.value(Kind::Double, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*"]))
            }
        }
    }

    /// A constant, a local, or an array element of the kind.
    fn leaf(&mut self, kind: Kind) -> String {
        let locals: Vec<String> =
            self.locals.iter().filter(|l| l.1 == kind).map(|l| l.0.clone()).collect();
        if !locals.is_empty() && self.choice.chance(50) {
            return locals[self.choice.below(locals.len())].clone();
        }
        let arrays: Vec<usize> = (0..ARRAYS.len())
            .filter(|a| kind_of(ARRAYS[*a].1) == kind)
            .filter(|a| !self.written.contains(a) || self.is_own(*a))
            .collect();
        if !arrays.is_empty() && self.choice.chance(70) {
            let at = arrays[self.choice.below(arrays.len())];
            let element = if self.written.contains(&at) {
                self.own_element(at)
            } else {
                self.any_element(at)
            };
            // Integers stay small however often a nest runs.
            return if kind == Kind::Int { format!("({element} % 1009)") } else { element };
        }
        match kind {
            Kind::Int => self.choice.pick(&["0", "1", "7", "-3", "100"]).to_string(),
            Kind::Unsigned => {
                self.choice.pick(&["0u", "1u", "17u", "0xffffffffu", "4000000000u"]).to_string()
            }
            Kind::Float => {
                self.choice.pick(&["0.0f", "1.0f", "0.1f", "-2.5f", "3e10f", "1e-20f"]).to_string()
            }
            Kind::Double => self.choice.pick(&["0.0", "1.0", "0.1", "-1e100", "2.5"]).to_string(),
        }
    }

    /// Whether the iteration has an element of its own in the array.
    fn is_own(&self, at: usize) -> bool {
        match ARRAYS[at].2 {
            Shape::Matrix => self.two_dimensional,
            Shape::Rows => !self.two_dimensional && !self.over_columns,
            Shape::Columns => !self.two_dimensional && self.over_columns,
        }
    }

    fn own_element(&mut self, at: usize) -> String {
        let name = ARRAYS[at].0;
        match ARRAYS[at].2 {
            Shape::Matrix => format!("{name}[i][j]"),
            Shape::Rows => format!("{name}[i]"),
            Shape::Columns => format!("{name}[j]"),
        }
    }

    fn any_element(&mut self, at: usize) -> String {
        let name = ARRAYS[at].0;
        let (row, column) = (self.index("i", "n"), self.index("j", "m"));
        match ARRAYS[at].2 {
            Shape::Matrix => format!("{name}[{row}][{column}]"),
            Shape::Rows => format!("{name}[{row}]"),
            Shape::Columns => format!("{name}[{column}]"),
        }
    }

    /// An index in 0 … limit − 1; the loop it stands in runs only when the limit is positive, or the other one is
    /// and then the index is a remainder by a possible zero – so only counters of loops in scope are used plainly.
    fn index(&mut self, counter: &str, limit: &str) -> String {
        if self.locals.iter().any(|l| l.0 == counter) {
            return match self.choice.below(4) {
                0 | 1 => counter.to_string(),
                2 => format!("({counter} + {}) % {limit}", 1 + self.choice.below(3)),
                _ => format!("{limit} - 1 - {counter}"),
            };
        }
        // The limit of a loop that is not around here may be 0: such an element does not exist.
        "0".to_string()
    }
}

fn kind_of(ty: &str) -> Kind {
    match ty {
        "int" => Kind::Int,
        "unsigned" => Kind::Unsigned,
        "float" => Kind::Float,
        _ => Kind::Double,
    }
}

fn c_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "int",
        Kind::Unsigned => "unsigned",
        Kind::Float => "float",
        Kind::Double => "double",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn programs_differ_and_are_balanced() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..200 {
            let program = c_program(&noise(seed, 400));
            assert_eq!(program.matches('{').count(), program.matches('}').count(), "{program}");
            assert!(program.contains("#pragma omp parallel for"));
            seen.insert(program);
        }
        assert!(seen.len() > 190);
    }

    #[test]
    fn no_bytes_still_make_a_program() {
        assert!(c_program(&[]).contains("void f("));
    }
}
