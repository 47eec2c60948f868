//! Nests over arrays of structures, and nests whose bodies have several loops.

use super::Generator;

/// Structures by name, with the type of their fields.
pub(super) const STRUCTURES: [(&str, &str); 2] = [("Body", "float"), ("Cell", "unsigned")];

impl Generator<'_> {
    /// Structures moved by themselves, or with what all of them come to; as a whole, or field by field.
    pub(super) fn bodies(&mut self) {
        let outer = self.depth;
        let [n, ..] = self.sizes();
        let (structure, field) = STRUCTURES[self.choice.below(STRUCTURES.len())];
        self.ty = structure;
        let own = [n.to_string()];
        let (from, to) = (self.array("P", &own, 50, false), self.array("Q", &own, 30, true));
        self.ty = field;
        let sums = self.choice.chance(50).then(|| self.output("Y", &own));
        let factor = self.literal();
        let whole = self.choice.chance(70);
        let mine = if whole { "s".to_string() } else { format!("{from}[i]") };
        self.parallel(&[("i", "0", n)]);
        if whole {
            self.line(&format!("{structure} s = {from}[i];"));
        }
        if let Some(sums) = sums {
            let start = self.literal();
            self.line(&format!("{field} a = {start};"));
            let inside = self.depth;
            self.count("j", "0", n);
            let other = self.choice.pick(&["t", "P"]).replace('P', &format!("{from}[j]"));
            if other == "t" {
                self.line(&format!("{structure} t = {from}[j];"));
            }
            self.line(&format!("a += {other}.w * ({other}.x - {mine}.y);"));
            self.close_to(inside);
            self.line(&format!("{sums}[i] = a;"));
        }
        let moved = format!("{mine}.x * {factor} - {mine}.y");
        let lines = match (whole, self.choice.below(3)) {
            (true, 0) => vec![format!("s.x = {moved};"), format!("{to}[i] = s;")],
            (true, 1) => vec![format!("{to}[i] = ({structure}){{s.y, {moved}, s.w}};")],
            (_, 2) => vec![format!("{to}[i] = {from}[i];")],
            _ => ["y", "x", "w"]
                .iter()
                .zip(["x", "y", "w"])
                .map(|(a, b)| format!("{to}[i].{a} = {mine}.{b};"))
                .collect(),
        };
        lines.iter().for_each(|l| self.line(l));
        self.close_to(outer);
    }

    /// A row of sums of products, after what is found in a pass over it or in an array of the iteration.
    pub(super) fn parts(&mut self) {
        let outer = self.depth;
        if self.ty == "int" {
            self.ty = "unsigned";
        }
        let [rows, columns, length] = self.sizes();
        let (y, z) = (
            self.output("Y", &[rows.to_string(), columns.to_string()]),
            self.output("Z", &[rows.to_string()]),
        );
        let a = self.element("A", &[("i", rows), ("l", length)]);
        let b = self.element("B", &[("l", length), ("j", columns)]);
        let ty = self.ty;
        let (first, zero) = (self.literal(), self.zero());
        self.parallel(&[("i", "0", rows)]);
        let inside = self.depth;
        let array = self.choice.chance(40);
        if array {
            self.line(&format!("{ty} h[4];"));
            self.count("p", "0", "4");
            self.line(&format!("h[p] = {first};"));
            self.count("l", "0", length);
            self.line(&format!("h[p] += {a};"));
        } else {
            self.line(&format!("{ty} s = {first};"));
            self.count("l", "0", length);
            self.line(&format!("s += {a};"));
        }
        self.close_to(inside);
        let found = if array { "h[j % 4]" } else { "s" };
        self.line(&format!("{ty} top = {zero};"));
        self.count("j", "0", columns);
        self.line(&format!("{ty} t = {zero};"));
        let deep = self.depth;
        self.count("l", "0", length);
        self.line(&format!("t += {a} * {b};"));
        self.close_to(deep);
        self.line(&format!("{y}[i][j] = t - {found};"));
        if self.choice.chance(50) {
            self.line(&format!("if ({y}[i][j] > top) top = {y}[i][j];"));
        }
        self.close_to(inside);
        self.line(&format!("{z}[i] = top;"));
        self.close_to(outer);
    }
}
