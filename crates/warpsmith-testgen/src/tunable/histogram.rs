//! Histograms: bins that iterations update atomically, chosen by values of an array.

use super::Generator;

impl Generator<'_> {
    /// Bins of integers (`float` sums in another order are not comparable), chosen by an index array in one or two
    /// dimensions, under a condition or not, with the weight one, a constant, or an element.
    pub(super) fn histogram(&mut self) {
        let outer = self.depth;
        self.ty = self.choice.pick(&["unsigned", "int"]);
        let bins = self.choice.pick(&["16", "32", "256"]);
        let weight = match self.choice.below(4) {
            0 | 1 => None,
            2 => Some(self.literal().to_string()),
            _ => Some(String::new()),
        };
        let dims = 1 + self.choice.below(2);
        let sizes = self.sizes();
        let own: Vec<(&str, &str)> = ["i", "j"].into_iter().zip(sizes).take(dims).collect();
        let extents = [bins.to_string()];
        let target = self.output("H", &extents);
        let (kind, ty) = (self.ty, self.choice.pick(&["int", "unsigned"]));
        self.ty = ty;
        let index = self.element("X", &own);
        self.ty = kind;
        let weight = weight.map(|w| if w.is_empty() { self.element("W", &own) } else { w });
        let loops: Vec<(&str, &str, &str)> = own.iter().map(|(c, e)| (*c, "0", *e)).collect();
        self.parallel(&loops);
        if self.choice.chance(25) {
            let limit = self.choice.pick(&["3", "7"]);
            self.open(&format!("if ({index} > {limit})"));
        }
        self.line("#pragma omp atomic");
        let bin = format!("{target}[{index} & ({bins} - 1)]");
        self.line(&match weight {
            None => format!("{bin}++;"),
            Some(weight) => format!("{bin} += {weight};"),
        });
        self.close_to(outer);
    }
}
