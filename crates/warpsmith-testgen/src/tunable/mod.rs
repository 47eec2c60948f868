//! Random C functions that the steps of a schedule apply to: contractions, stencils and convolutions, element-wise nests,
//! reductions, rows, triangles, perfect serial nests, gathers, histograms, rings, products of bytes, structures, bodies of several loops and time loops, with extents at run time or
//! constant.
//!
//! By construction they have no undefined behaviour at any size from 0 up and their marked loops carry no dependence: a
//! nest reads no array that it writes, but for the element of its own iteration; `int` values stay small.

mod bodies;
mod bytes;
mod histogram;
mod loops;
mod operands;
mod turned;

use crate::choice::Choice;

/// A C file with one function `f(int n, int m, int k, …)`, nest by nest, so that failures can be made smaller.
#[derive(Clone, Debug)]
pub struct TunableProgram {
    arrays: Vec<Array>,
    nests: Vec<String>,
}

#[derive(Clone, Debug)]
struct Array {
    name: String,
    ty: &'static str,
    extents: Vec<String>,
    written: bool,
}

/// The sizes of the function, all `int`.
pub const TUNABLE_SIZES: [&str; 3] = ["n", "m", "k"];

impl TunableProgram {
    /// The program that the bytes choose, of one to three nests.
    pub fn new(bytes: &[u8]) -> TunableProgram {
        let mut g = Generator {
            choice: Choice::new(bytes),
            arrays: vec![],
            used: vec![],
            ty: "float",
            counter: "int",
            text: String::new(),
            depth: 1,
        };
        let count = [1, 1, 1, 2, 2, 3][g.choice.below(6)];
        let mut nests = vec![];
        for _ in 0..count {
            g.used.clear();
            g.ty = g
                .choice
                .pick(&["float", "float", "float", "double", "unsigned", "unsigned", "int"]);
            g.counter = g.choice.pick(&["int", "int", "int", "int", "int", "int", "long long"]);
            g.nest();
            nests.push(std::mem::take(&mut g.text));
        }
        TunableProgram { arrays: g.arrays, nests }
    }

    /// The number of nests.
    pub fn nests(&self) -> usize {
        self.nests.len()
    }

    /// The program without one of its nests.
    pub fn without(&self, nest: usize) -> TunableProgram {
        let mut less = self.clone();
        less.nests.remove(nest);
        less
    }

    /// The text of the file.
    pub fn source(&self) -> String {
        let mut params: Vec<String> = TUNABLE_SIZES.iter().map(|s| format!("int {s}")).collect();
        let body = self.nests.concat();
        let mentioned = |name: &str| body.contains(&format!("{name}["));
        params.extend(self.arrays.iter().filter(|a| mentioned(&a.name)).map(|a| {
            let extents: String = a.extents.iter().map(|e| format!("[{e}]")).collect();
            let qualifier = if a.written { "" } else { "const " };
            format!("{qualifier}{} {}{extents}", a.ty, a.name)
        }));
        let used = bodies::STRUCTURES
            .iter()
            .filter(|(name, _)| self.arrays.iter().any(|a| a.ty == *name && mentioned(&a.name)));
        let structures: String = used
            .map(|(name, field)| format!("typedef struct {{ {field} x, y, w; }} {name};\n"))
            .collect();
        let params = params.join(", ");
        format!("#include <math.h>\n\n{structures}void f({params})\n{{\n{body}}}\n")
    }
}

/// A subscript with the extent that its dimension needs.
struct Subscript {
    text: String,
    extent: String,
}

struct Generator<'a> {
    choice: Choice<'a>,
    arrays: Vec<Array>,
    /// Arrays of the nest in the making.
    used: Vec<usize>,
    /// Of the elements of the nest.
    ty: &'static str,
    counter: &'static str,
    text: String,
    depth: usize,
}

impl Generator<'_> {
    fn nest(&mut self) {
        match self.choice.below(21) {
            0..=2 => self.contraction(),
            3 | 4 => self.stencil(),
            5 => self.convolution(),
            6 => self.elements(),
            7 => self.reduction(),
            8 => self.rows(),
            9 => self.triangle(),
            10 => self.serial_pair(),
            11 => self.histogram(),
            12 => self.running(),
            13 => self.bodies(),
            14 => self.parts(),
            15 => self.ring(),
            16 => self.spread(),
            17 => self.columns(),
            18 => self.picked(),
            19 => self.bytes(),
            _ => self.time_loop(),
        }
    }

    /// A sum over one or two serial loops for each element of a matrix or of a batch of them.
    fn contraction(&mut self) {
        let [rows, columns, length] = self.sizes();
        let batch = self.choice.chance(15);
        let outer = self.depth;
        let mut loops = vec![("i", "0", rows), ("j", "0", columns)];
        let mut own = vec![("i", rows), ("j", columns)];
        if batch {
            loops.insert(0, ("b", "0", "3"));
            own.insert(0, ("b", "3"));
        }
        let swapped = self.choice.chance(20);
        if swapped {
            let last = own.len() - 1;
            own.swap(last, last - 1);
        }
        let extents: Vec<String> = own.iter().map(|(_, e)| e.to_string()).collect();
        let target = own.iter().fold(self.output("C", &extents), |t, (c, _)| t + "[" + c + "]");
        let (mut left, mut right) =
            (vec![("i", rows), ("l", length)], vec![("l", length), ("j", columns)]);
        if batch {
            left.insert(0, ("b", "3"));
            right.insert(0, ("b", "3"));
        }
        let second = self.choice.chance(20);
        if second {
            left.push(("p", "3"));
        }
        let (a, b) = (self.element("A", &left), self.element("B", &right));
        self.parallel(&loops);
        let form = self.choice.below(5);
        let (sum, start) = match form {
            0 | 1 => (target.clone(), Some(format!("{target} = {};", self.zero()))),
            2 => (target.clone(), None),
            _ => ("s".to_string(), Some(format!("{} s = {};", self.ty, self.zero()))),
        };
        start.inspect(|s| self.line(s));
        let inside = self.depth;
        self.count("l", "0", length);
        if second {
            self.count("p", "0", "3");
        }
        let term = if self.choice.chance(20) {
            let w = self.element("w", &[("l", length)]);
            format!("{a} * {b} * {w}")
        } else {
            format!("{a} * {b}")
        };
        self.combined(&sum, [&a, &b], &term);
        self.close_to(inside);
        if form > 2 {
            self.scaled(&target);
        } else if self.choice.chance(30) {
            let bias = self.element("bias", &[("j", columns)]);
            let value = self.least(&format!("({target} + {bias})"), self.zero());
            self.line(&format!("{target} = {value};"));
        }
        self.close_to(outer);
    }

    /// Stores the sum `s`, or a multiple of it, which may be added to a multiple of what was there.
    fn scaled(&mut self, target: &str) {
        let (alpha, beta) = (self.literal(), self.literal());
        let value = self.choice.pick(&["s", "alpha", "both"]);
        match value {
            "s" => self.line(&format!("{target} = s;")),
            "alpha" => self.line(&format!("{target} += {alpha} * s;")),
            _ => self.line(&format!("{target} = {alpha} * s + {beta} * {target};")),
        }
    }

    /// What a sum gets of two elements, most often a term.
    fn combined(&mut self, sum: &str, [a, b]: [&str; 2], term: &str) {
        match self.choice.below(6) {
            0 => {
                let value = self.least(sum, &format!("({a} + {b})"));
                self.line(&format!("{sum} = {value};"));
            }
            1 => {
                let limit = self.literal();
                self.line(&format!("if ({a} < {limit})"));
                self.line(&format!("    {sum} += {term};"));
            }
            2 if self.is_real() => self.line(&format!("{sum} -= {term};")),
            _ => self.line(&format!("{sum} += {term};")),
        }
    }

    /// Neighbours at a few offsets, in one to three dimensions.
    fn stencil(&mut self) {
        let outer = self.depth;
        let dims = 1 + self.choice.below(3);
        let radius = 1 + self.choice.below(2);
        let sizes = self.sizes();
        let counters = &["i", "j", "p"][..dims];
        let first = radius.to_string();
        let limits: Vec<String> = sizes[..dims].iter().map(|s| format!("{s} - {radius}")).collect();
        let loops: Vec<(&str, &str, &str)> =
            counters.iter().zip(&limits).map(|(c, l)| (*c, first.as_str(), l.as_str())).collect();
        let extents: Vec<String> = sizes[..dims].iter().map(|s| s.to_string()).collect();
        let (target, source) = (self.output("V", &extents), self.input("U", &extents));
        let own: String = counters.iter().map(|c| format!("[{c}]")).collect();
        let coefficients = self.choice.chance(25).then(|| self.input("K", &extents));
        let mut terms = vec![];
        for _ in 0..2 + self.choice.below(5) {
            let at: String = counters
                .iter()
                .map(|c| match self.choice.below(2 * radius + 3) {
                    o if o < radius => format!("[{c} - {}]", o + 1),
                    o if o < 2 * radius => format!("[{c} + {}]", o - radius + 1),
                    _ => format!("[{c}]"),
                })
                .collect();
            let factor = self.literal();
            terms.push(format!("{factor} * {source}{at}"));
        }
        if let Some(k) = coefficients {
            terms.push(format!("{k}{own} * {source}{own}"));
        }
        self.parallel(&loops);
        let op = self.choice.pick(&["=", "=", "+="]);
        self.line(&format!("{target}{own} {op} {};", terms.join(" + ")));
        self.close_to(outer);
    }

    /// A window of constant extents with a filter, in one or two dimensions: dilated, strided or clamped.
    fn convolution(&mut self) {
        let outer = self.depth;
        let two = self.choice.chance(70);
        let sizes = self.sizes();
        let window = ["3", "5", "2"][self.choice.below(3)];
        let (stride, dilation) = (1 + self.choice.below(2), 1 + self.choice.below(2));
        let clamped = self.choice.chance(25);
        let dims = if two { 2 } else { 1 };
        let (counters, taps) = (&["i", "j"][..dims], &["a", "b"][..dims]);
        let extents: Vec<String> = sizes[..dims].iter().map(|s| s.to_string()).collect();
        let places: Vec<Subscript> = (0..dims)
            .map(|d| {
                let (c, t, size) = (counters[d], taps[d], sizes[d]);
                if clamped {
                    let at = format!("{c} + {t} - 1");
                    let text = format!("({at} < 0 ? 0 : {at} > {size} - 1 ? {size} - 1 : {at})");
                    return Subscript { text, extent: size.to_string() };
                }
                let own = if stride > 1 { format!("{stride} * {c}") } else { c.to_string() };
                let tap = if dilation > 1 { format!("{dilation} * {t}") } else { t.to_string() };
                let extent = format!("{stride} * {size} + 8");
                Subscript { text: format!("{own} + {tap}"), extent }
            })
            .collect();
        let source_extents: Vec<String> = places.iter().map(|p| p.extent.clone()).collect();
        let (target, source) = (self.output("O", &extents), self.input("I", &source_extents));
        let filter = self.input("F", &vec![window.to_string(); dims]);
        let own: String = counters.iter().map(|c| format!("[{c}]")).collect();
        let at: String = places.iter().map(|p| format!("[{}]", p.text)).collect();
        let tap: String = taps.iter().map(|t| format!("[{t}]")).collect();
        let loops: Vec<(&str, &str, &str)> =
            counters.iter().zip(&sizes).map(|(c, s)| (*c, "0", *s)).collect();
        self.parallel(&loops);
        let local = self.choice.chance(60);
        let sum = if local { "s".to_string() } else { format!("{target}{own}") };
        let start = if local { format!("{} s", self.ty) } else { sum.clone() };
        let zero = self.zero();
        self.line(&format!("{start} = {zero};"));
        let inside = self.depth;
        for t in taps {
            self.count(t, "0", window);
        }
        self.line(&format!("{sum} += {source}{at} * {filter}{tap};"));
        self.close_to(inside);
        if local {
            self.line(&format!("{target}{own} = s;"));
        }
        self.close_to(outer);
    }

    /// Each element from elements and vectors, in one to three dimensions, perhaps with steps.
    fn elements(&mut self) {
        let outer = self.depth;
        let dims = 1 + self.choice.below(3);
        let sizes = self.sizes();
        let counters: Vec<(&str, &str)> =
            ["i", "j", "p"].into_iter().zip(sizes).take(dims).collect();
        let extents: Vec<String> = counters.iter().map(|(_, e)| e.to_string()).collect();
        let own: String = counters.iter().map(|(c, _)| format!("[{c}]")).collect();
        let target = self.output("Y", &extents) + &own;
        let a = self.element("X", &counters);
        let row = self.element("r", &counters[..1]);
        let column = self.element("c", &counters[dims - 1..]);
        if self.choice.chance(50) {
            for (name, limit) in &counters {
                self.line("#pragma omp parallel for");
                self.stride(name, limit);
            }
        } else {
            let loops: Vec<_> = counters.iter().map(|(c, e)| (*c, "0", *e)).collect();
            self.parallel(&loops);
        }
        let factor = self.literal();
        match self.choice.below(5) {
            0 => self.line(&format!("{target} = {factor} * {a} + {row};")),
            1 => {
                self.line(&format!("{} t = {a} - {column};", self.ty));
                self.line(&format!("if (t > {factor})"));
                self.line(&format!("    {target} += t * {row};"));
            }
            2 if self.is_real() => {
                let call = if self.ty == "float" { "sqrtf(fabsf" } else { "sqrt(fabs" };
                self.line(&format!("{target} = {call}({a} * {column})) + {row};"));
            }
            _ => self.line(&format!("{target} += {row} * {column} + {a};")),
        }
        self.close_to(outer);
    }

    /// A sum, least or largest value of a vector or a matrix.
    fn reduction(&mut self) {
        let outer = self.depth;
        let dims = 1 + self.choice.below(2);
        let sizes = self.sizes();
        let counters: Vec<(&str, &str)> = ["i", "j"].into_iter().zip(sizes).take(dims).collect();
        let total = self.output("T", &["1".to_string()]);
        let (a, b) = (self.element("X", &counters), self.element("Z", &counters));
        let least = self.choice.chance(30);
        let op = match (least, self.is_real()) {
            (true, _) => "min",
            (_, true) => "+",
            _ => self.choice.pick(&["+", "^", "|", "+"]),
        };
        let s = format!("s{}", self.arrays.len());
        self.line(&format!("{} {s} = {total}[0];", self.ty));
        let collapse = if dims > 1 { " collapse(2)" } else { "" };
        self.line(&format!("#pragma omp parallel for{collapse} reduction({op}: {s})"));
        for (name, limit) in &counters {
            if dims == 1 && self.choice.chance(30) {
                self.stride(name, limit);
            } else {
                self.count(name, "0", limit);
            }
        }
        match least {
            true => self.line(&format!("{s} = {a} < {s} ? {a} : {s};")),
            false => self.line(&format!("{s} {op}= {a} * {b};")),
        }
        self.close_to(outer);
        self.line(&format!("{total}[0] = {s};"));
    }

    /// Imperfect: each row is summed and then changed by its sum, once or twice.
    fn rows(&mut self) {
        let outer = self.depth;
        let [rows, columns, _] = self.sizes();
        let own = [rows.to_string(), columns.to_string()];
        let (target, sums) = (self.output("Y", &own), self.output("S", &own[..1]));
        let a = self.element("X", &[("i", rows), ("j", columns)]);
        let w = self.element("w", &[("j", columns)]);
        self.parallel(&[("i", "0", rows)]);
        let inside = self.depth;
        let direct = self.choice.chance(50);
        let sum = if direct { format!("{sums}[i]") } else { "s".to_string() };
        let start = if direct { sum.clone() } else { format!("{} s", self.ty) };
        let first = self.literal();
        self.line(&format!("{start} = {first};"));
        self.count("j", "0", columns);
        self.line(&format!("{sum} += {a} * {w};"));
        self.close_to(inside);
        if !direct {
            self.line(&format!("{sums}[i] = s;"));
        }
        if self.choice.chance(70) {
            self.count("j", "0", columns);
            let value = if direct { format!("{sums}[i]") } else { "s".to_string() };
            self.line(&format!("{target}[i][j] = {a} - {value};"));
            if self.choice.chance(50) {
                self.close_to(inside);
                self.line(&format!("{} t = {};", self.ty, self.zero()));
                self.count("j", "0", columns);
                self.line(&format!("t += {target}[i][j];"));
                self.close_to(inside);
                self.count("j", "0", columns);
                self.line(&format!("{target}[i][j] -= t;"));
            }
        }
        self.close_to(outer);
    }

    /// Each element of a row from those before: a variable that the row is added to, or the element before.
    fn running(&mut self) {
        let outer = self.depth;
        let [rows, columns, _] = self.sizes();
        let own = [rows.to_string(), columns.to_string()];
        let (target, last) = (self.output("Y", &own), self.output("S", &own[..1]));
        let a = self.element("X", &[("i", rows), ("j", columns)]);
        let w = self.element("w", &[("j", columns)]);
        self.parallel(&[("i", "0", rows)]);
        let inside = self.depth;
        if self.choice.chance(40) {
            self.count("j", "1", columns);
            let more = self.choice.pick(&["", " - 1"]);
            self.line(&format!("{target}[i][j] = {target}[i][j - 1] + {a} * {w}{more};"));
            self.close_to(outer);
            return;
        }
        let first = self.literal();
        self.line(&format!("{} s = {first};", self.ty));
        match self.choice.chance(30) {
            true => self.count_down("j", columns),
            false => self.count("j", "0", columns),
        }
        let (add, store) = (format!("s += {a};"), format!("{target}[i][j] = s - {w};"));
        let lines = match self.choice.below(6) {
            0 => [add, store],
            1 => [store, add],
            // Linear, with slopes that keep small integers exact.
            2 => [format!("s = {a} - s;"), store],
            3 => [format!("if ({a} > {w}) s = {w}; s -= 2 * s; s += {a};"), store],
            4 => [format!("if ({a} > {w}) s -= {a};"), store],
            _ => [format!("if ({a} > s) s = {a};"), store],
        };
        lines.iter().for_each(|l| self.line(l));
        self.close_to(inside);
        self.line(&format!("{last}[i] = s;"));
        self.close_to(outer);
    }

    /// Bounds that depend on the outer counter.
    fn triangle(&mut self) {
        let outer = self.depth;
        let [n, ..] = self.sizes();
        let square = [n.to_string(), n.to_string()];
        let below = self.choice.chance(50);
        let (first, limit) = if below { ("0", "i + 1") } else { ("i", n) };
        if self.choice.chance(50) {
            let target = self.output("S", &square[..1]);
            let (a, x) = (self.input("L", &square), self.element("x", &[("j", n)]));
            self.parallel(&[("i", "0", n)]);
            let zero = self.zero();
            self.line(&format!("{target}[i] = {zero};"));
            self.count("j", first, limit);
            self.line(&format!("{target}[i] += {a}[i][j] * {x};"));
        } else {
            let target = self.output("Y", &square);
            let (row, x) = (self.element("r", &[("i", n)]), self.element("x", &[("j", n)]));
            self.parallel(&[("i", "0", n), ("j", first, limit)]);
            self.line(&format!("{target}[i][j] += {row} * {x};"));
        }
        self.close_to(outer);
    }

    /// Two serial loops one directly in the other, in a marked one.
    fn serial_pair(&mut self) {
        let outer = self.depth;
        let [rows, columns, length] = self.sizes();
        let own = [rows, columns, length].map(str::to_string);
        self.counter = "int";
        let counters = [("i", rows), ("j", columns), ("l", length)];
        if self.choice.chance(60) {
            let target = self.output("Y", &own);
            let (a, w) = (self.element("X", &counters), self.element("w", &counters[1..]));
            self.parallel(&[("i", "0", rows)]);
            self.count("j", "0", columns);
            self.count("l", "0", length);
            self.line(&format!("{target}[i][j][l] = {a} * {w};"));
        } else {
            let target = self.output("S", &own[..1]);
            let (a, w) = (self.element("X", &counters), self.element("w", &counters[1..]));
            self.parallel(&[("i", "0", rows)]);
            self.count("j", "0", columns);
            self.count("l", "0", length);
            self.line(&format!("{target}[i] += {a} * {w};"));
        }
        self.close_to(outer);
    }

    /// Two nests that take turns, and a gather from a table in between.
    fn time_loop(&mut self) {
        let outer = self.depth;
        let [rows, columns, _] = self.sizes();
        let own = [rows.to_string(), columns.to_string()];
        let (a, b) = (self.output("P", &own), self.output("Q", &own));
        let table = self.input("table", &["8".to_string()]);
        self.open("for (int t = 0; t < 2; t++)");
        let inside = self.depth;
        let low = [("i", "1", rows), ("j", "0", columns)];
        self.parallel(&low);
        let factor = self.literal();
        self.line(&format!("{b}[i][j] = {a}[i - 1][j] + {factor} * {a}[i][j];"));
        self.close_to(inside);
        self.parallel(&low);
        self.line(&format!("{a}[i][j] = {b}[i][j] * {table}[(3 * i + j) & 7];"));
        self.close_to(outer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn programs_differ_are_balanced_and_lose_nests() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..200 {
            let program = TunableProgram::new(&noise(seed, 300));
            let source = program.source();
            assert_eq!(source.matches('{').count(), source.matches('}').count(), "{source}");
            assert_eq!(source.matches('(').count(), source.matches(')').count(), "{source}");
            if program.nests() > 1 {
                assert!(program.without(0).source().len() < source.len());
            }
            seen.insert(source);
        }
        assert!(seen.len() > 190, "{}", seen.len());
    }
}
