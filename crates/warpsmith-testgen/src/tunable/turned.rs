//! Nests with remainders, nests whose iterations update the same elements, and declarations between two parallel loops.

use super::Generator;

impl Generator<'_> {
    /// Neighbours in a ring, in one or two dimensions.
    pub(super) fn ring(&mut self) {
        let outer = self.depth;
        let sizes = self.sizes();
        let dims = 1 + self.choice.below(2);
        let counters = &["i", "j"][..dims];
        let extents: Vec<String> = sizes[..dims].iter().map(|s| s.to_string()).collect();
        let (target, source) = (self.output("V", &extents), self.input("U", &extents));
        let own: String = counters.iter().map(|c| format!("[{c}]")).collect();
        let loops: Vec<(&str, &str, &str)> =
            counters.iter().zip(&sizes).map(|(c, s)| (*c, "0", *s)).collect();
        let mut terms = vec![];
        for _ in 0..2 + self.choice.below(2) {
            let at: String = { counters.iter().zip(&sizes) }
                .map(|(c, s)| match self.choice.below(4) {
                    0 => format!("[({c} + 1) % {s}]"),
                    1 => format!("[({c} + {s} - 1) % {s}]"),
                    2 => format!("[({c} - 1 + {s}) % {s}]"),
                    _ => format!("[{c}]"),
                })
                .collect();
            let factor = self.literal();
            terms.push(format!("{factor} * {source}{at}"));
        }
        self.parallel(&loops);
        self.line(&format!("{target}{own} = {};", terms.join(" + ")));
        self.close_to(outer);
    }

    /// A window over the elements that are spread with zeros between them.
    pub(super) fn spread(&mut self) {
        let outer = self.depth;
        let [n, ..] = self.sizes();
        let step = self.choice.pick(&["2", "3"]);
        let window = self.choice.pick(&["4", "5", "3"]);
        let limit = format!("{step} * {n}");
        let target = self.output("V", std::slice::from_ref(&limit));
        let source = self.input("U", &[n.to_string()]);
        let filter = self.input("F", &[window.to_string()]);
        self.parallel(&[("i", "0", &limit)]);
        let zero = self.zero();
        self.line(&format!("{} s = {zero};", self.ty));
        let inside = self.depth;
        self.count("l", "0", window);
        self.line(&format!("if (i >= l && (i - l) % {step} == 0)"));
        self.line(&format!("    s += {filter}[l] * {source}[(i - l) / {step}];"));
        self.close_to(inside);
        self.line(&format!("{target}[i] = s;"));
        self.close_to(outer);
    }

    /// Rows that are added up in each column.
    pub(super) fn columns(&mut self) {
        let outer = self.depth;
        let [rows, columns, _] = self.sizes();
        let target = self.output("S", &[columns.to_string()]);
        let a = self.element("X", &[("i", rows), ("j", columns)]);
        let r = self.element("r", &[("i", rows)]);
        let op = if self.is_real() { "+" } else { self.choice.pick(&["+", "^"]) };
        self.line(&format!("#pragma omp parallel for reduction({op}: {target}[:{columns}])"));
        self.count("i", "0", rows);
        let own = self.choice.chance(50);
        if own {
            self.line(&format!("{} w = {r};", self.ty));
        }
        let factor = if own { "w".to_string() } else { r };
        self.count("j", "0", columns);
        self.line(&format!("{target}[j] {op}= {factor} * {a};"));
        self.close_to(outer);
    }

    /// Rows of a table that the outer counter chooses.
    pub(super) fn picked(&mut self) {
        let outer = self.depth;
        let [rows, columns, _] = self.sizes();
        let target = self.output("Y", &[rows.to_string(), columns.to_string()]);
        let table = self.input("T", &[rows.to_string(), columns.to_string()]);
        let r = self.element("r", &[("i", rows)]);
        self.parallel(&[("i", "0", rows)]);
        let row = self.choice.pick(&["i / 2", "{n} - 1 - i", "i & ~1"]).replace("{n}", rows);
        self.line(&format!("{} row = {row};", self.counter));
        let scaled = self.choice.chance(50);
        if scaled {
            self.line(&format!("{} w = {r};", self.ty));
        }
        let factor = if scaled { "w".to_string() } else { self.literal().to_string() };
        self.count("j", "0", columns);
        self.line(&format!("{target}[i][j] = {factor} * {table}[row][j];"));
        self.close_to(outer);
    }
}
