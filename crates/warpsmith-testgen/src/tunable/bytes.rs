//! Sums of products of bytes.

use super::Generator;

impl Generator<'_> {
    /// A product of matrices of bytes, with a sign or without, whose sums are `int`; with zero points or without.
    pub(super) fn bytes(&mut self) {
        let outer = self.depth;
        let [rows, columns, length] = self.sizes();
        self.ty = self.choice.pick(&["signed char", "unsigned char"]);
        let a = self.element("A", &[("i", rows), ("l", length)]);
        if self.choice.chance(10) {
            self.ty = "signed char";
        }
        let b = self.element("B", &[("l", length), ("j", columns)]);
        self.ty = "int";
        let target = self.output("C", &[rows.to_string(), columns.to_string()]) + "[i][j]";
        self.parallel(&[("i", "0", rows), ("j", "0", columns)]);
        self.line("int s = 0;");
        let inside = self.depth;
        self.count("l", "0", length);
        match self.choice.below(3) {
            0 => self.line(&format!("s += ({a} - 3) * ({b} + 5);")),
            _ => self.line(&format!("s += {a} * {b};")),
        }
        self.close_to(inside);
        self.line(&format!("{target} = s;"));
        self.close_to(outer);
    }
}
