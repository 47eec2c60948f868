//! Lines, and loops in their spellings.

use super::Generator;

impl Generator<'_> {
    pub(super) fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += line;
        self.text.push('\n');
    }

    pub(super) fn open(&mut self, line: &str) {
        self.line(&format!("{line} {{"));
        self.depth += 1;
    }

    pub(super) fn close_to(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            self.line("}");
        }
    }

    /// A loop of step one from `first` below `limit`, in one of its spellings.
    pub(super) fn count(&mut self, name: &str, first: &str, limit: &str) {
        let ty = self.counter;
        match self.choice.below(8) {
            0 => {
                self.open(&format!("for ({ty} {name} = {first}; {name} <= {limit} - 1; {name}++)"))
            }
            1 => self.open(&format!("for ({ty} {name} = {first}; {name} < {limit}; {name} += 1)")),
            _ => self.open(&format!("for ({ty} {name} = {first}; {name} < {limit}; {name}++)")),
        }
    }

    /// A loop from the end.
    pub(super) fn count_down(&mut self, name: &str, limit: &str) {
        self.open(&format!("for ({} {name} = {limit} - 1; {name} >= 0; {name}--)", self.counter));
    }

    /// A loop with steps, up or down.
    pub(super) fn stride(&mut self, name: &str, limit: &str) {
        let ty = self.counter;
        let step = self.choice.pick(&["2", "3", "5", "1"]);
        let first = self.choice.pick(&["0", "1", "2"]);
        if self.choice.chance(30) {
            self.open(&format!(
                "for ({ty} {name} = {limit} - 1; {name} >= {first}; {name} -= {step})"
            ));
        } else {
            self.open(&format!("for ({ty} {name} = {first}; {name} < {limit}; {name} += {step})"));
        }
    }

    /// Marked loops over ranges, one in the other: collapsed, each with a mark, or only the first marked.
    pub(super) fn parallel(&mut self, loops: &[(&str, &str, &str)]) {
        let style = self.choice.below(4);
        for (at, (name, first, limit)) in loops.iter().enumerate() {
            match (at, style) {
                (0, 0 | 1) if loops.len() > 1 => {
                    self.line(&format!("#pragma omp parallel for collapse({})", loops.len()));
                }
                (0, _) | (_, 2) => self.line("#pragma omp parallel for"),
                _ => {}
            }
            self.count(name, first, limit);
        }
    }
}
