//! Arrays, subscripts and literals of a nest.

use super::{Array, Generator, Subscript, TUNABLE_SIZES};

impl Generator<'_> {
    /// An array of the nest's type that it reads: an earlier one where one fits, or a new one.
    pub(super) fn input(&mut self, letter: &str, extents: &[String]) -> String {
        self.array(letter, extents, 50, false)
    }

    pub(super) fn output(&mut self, letter: &str, extents: &[String]) -> String {
        self.array(letter, extents, 30, true)
    }

    pub(super) fn array(
        &mut self,
        letter: &str,
        extents: &[String],
        again: usize,
        written: bool,
    ) -> String {
        let fits: Vec<usize> = (0..self.arrays.len())
            .filter(|a| !self.used.contains(a))
            .filter(|a| self.arrays[*a].ty == self.ty && self.arrays[*a].extents == extents)
            .collect();
        // Results that are operands again would overflow `int`.
        let at = if !fits.is_empty() && self.ty != "int" && self.choice.chance(again) {
            fits[self.choice.below(fits.len())]
        } else {
            let name = format!("{letter}{}", self.arrays.len());
            self.arrays.push(Array { name, ty: self.ty, extents: extents.to_vec(), written });
            self.arrays.len() - 1
        };
        self.arrays[at].written |= written;
        self.used.push(at);
        self.arrays[at].name.clone()
    }

    /// Three different sizes; the last may be a small constant.
    pub(super) fn sizes(&mut self) -> [&'static str; 3] {
        let mut order = TUNABLE_SIZES;
        order.rotate_left(self.choice.below(3));
        if self.choice.chance(30) {
            order[2] = self.choice.pick(&["3", "7", "16"]);
        }
        order
    }

    /// `counter`, which is below `extent`, in a subscript: often plain, else moved, spread or reversed.
    pub(super) fn subscript(&mut self, counter: &str, extent: &str) -> Subscript {
        let (text, extent) = match self.choice.below(12) {
            0 => (format!("{counter} + 1"), format!("{extent} + 1")),
            1 => (format!("{counter} + 3"), format!("{extent} + 3")),
            2 => (format!("2 * {counter}"), format!("2 * {extent}")),
            3 => (format!("2 * {counter} + 1"), format!("2 * {extent} + 1")),
            4 => (format!("{extent} - 1 - {counter}"), extent.to_string()),
            _ => (counter.to_string(), extent.to_string()),
        };
        Subscript { text, extent }
    }

    /// An element of an input at these counters, in this order or the last two swapped.
    pub(super) fn element(&mut self, letter: &str, counters: &[(&str, &str)]) -> String {
        let mut places: Vec<Subscript> =
            counters.iter().map(|(counter, extent)| self.subscript(counter, extent)).collect();
        let last = places.len();
        if last > 1 && self.choice.chance(40) {
            places.swap(last - 1, last - 2);
        }
        let extents: Vec<String> = places.iter().map(|p| p.extent.clone()).collect();
        let name = self.input(letter, &extents);
        places.iter().fold(name, |text, p| text + "[" + &p.text + "]")
    }

    pub(super) fn is_real(&self) -> bool {
        matches!(self.ty, "float" | "double")
    }

    /// A literal of the nest's type.
    pub(super) fn literal(&mut self) -> &'static str {
        match self.ty {
            "float" => self.choice.pick(&["0.5f", "2.0f", "-1.25f", "0.1f"]),
            "double" => self.choice.pick(&["0.5", "2.0", "-1.25", "0.1"]),
            "unsigned" => self.choice.pick(&["3u", "7u", "1u", "40503u"]),
            _ => self.choice.pick(&["3", "-2", "1", "5"]),
        }
    }

    pub(super) fn zero(&self) -> &'static str {
        match self.ty {
            "float" => "0.0f",
            "double" => "0.0",
            "unsigned" => "0u",
            _ => "0",
        }
    }

    /// The smaller or larger of two values.
    pub(super) fn least(&mut self, a: &str, b: &str) -> String {
        let op = self.choice.pick(&["<", ">"]);
        match (self.ty, op) {
            ("float", "<") => format!("fminf({a}, {b})"),
            ("float", _) => format!("fmaxf({a}, {b})"),
            _ => format!("{a} {op} {b} ? {a} : {b}"),
        }
    }
}
