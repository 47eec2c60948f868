//! How many elements an array has of which nobody says it: what the reference touches, as a product of sizes.

use warpsmith_translate::tune::sizes::Point;

/// `times * Π (size + more)`; without factors a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub times: u64,
    pub factors: Vec<(String, i64)>,
}

impl Formula {
    pub fn at(&self, point: &Point) -> u64 {
        let factor = |(name, more): &(String, i64)| {
            u64::try_from(point.get(name).copied().unwrap_or(0) + more).unwrap_or(0)
        };
        self.factors.iter().map(factor).fold(self.times, u64::saturating_mul)
    }

    pub fn text(&self) -> String {
        let factor = |(name, more): &(String, i64)| match more {
            0 => name.clone(),
            n => format!("({name} + {n})"),
        };
        let factors: Vec<String> = self.factors.iter().map(factor).collect();
        match (self.times, factors.is_empty()) {
            (n, true) => n.to_string(),
            (1, false) => factors.join(" * "),
            (n, false) => format!("{n} * {}", factors.join(" * ")),
        }
    }
}

/// Sizes beyond these are no factors of one array.
const MOST_NAMES: usize = 5;

/// The smallest product that is nowhere less than what was touched; `None`: there is none.
pub fn fit(names: &[String], touched: &[(Point, u64)]) -> Option<Formula> {
    let names = &names[..names.len().min(MOST_NAMES)];
    let total =
        |f: &Formula| -> u64 { touched.iter().map(|(p, _)| f.at(p)).fold(0, u64::saturating_add) };
    let covers = |f: &Formula| touched.iter().all(|(p, n)| f.at(p) >= *n);
    let most = touched.iter().map(|(_, n)| *n).max()?;
    let constant = Formula { times: most, factors: vec![] };
    let mut best: Option<(u64, Formula)> = Some((total(&constant), constant));
    for factors in products(names) {
        for times in [1, 2, 3, 4, 8] {
            let f = Formula { times, factors: factors.clone() };
            let size = total(&f);
            if covers(&f) && best.as_ref().is_none_or(|(least, _)| size < *least) {
                best = Some((size, f));
            }
        }
    }
    best.map(|(_, f)| f)
}

/// Up to three sizes, each with a margin; those without come first.
fn products(names: &[String]) -> Vec<Vec<(String, i64)>> {
    let mut all: Vec<Vec<(String, i64)>> = vec![];
    let mut longer: Vec<Vec<(usize, i64)>> = vec![vec![]];
    for length in 1..=3 {
        let margins: &[i64] = if length < 3 { &[0, 1, 2, 4] } else { &[0, 1, 2] };
        let mut next = vec![];
        for shorter in &longer {
            let from = shorter.last().map_or(0, |(i, _)| *i);
            for i in from..names.len() {
                next.extend(margins.iter().map(|m| [shorter.clone(), vec![(i, *m)]].concat()));
            }
        }
        let named =
            |p: &Vec<(usize, i64)>| p.iter().map(|(i, m)| (names[*i].clone(), *m)).collect();
        all.extend(next.iter().map(named));
        longer = next;
    }
    all.sort_by_key(|p| p.iter().map(|(_, m)| *m).sum::<i64>());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(touched: &[(i64, i64, u64)]) -> String {
        let point = |n: i64, m: i64| Point::from([("n".to_string(), n), ("m".to_string(), m)]);
        let touched: Vec<(Point, u64)> =
            touched.iter().map(|(n, m, t)| (point(*n, *m), *t)).collect();
        fit(&["n".into(), "m".into()], &touched).map_or("none".into(), |f| f.text())
    }

    #[test]
    fn extents_as_products_of_sizes() {
        assert_eq!(fitted(&[(5, 7, 35), (11, 3, 33), (8, 9, 72)]), "n * m");
        // A stencil does not touch the last corner.
        assert_eq!(fitted(&[(5, 7, 34), (11, 3, 32), (8, 9, 71)]), "n * m");
        assert_eq!(fitted(&[(5, 7, 6), (11, 3, 12), (8, 9, 9)]), "(n + 1)");
        assert_eq!(fitted(&[(5, 7, 9), (11, 3, 9), (8, 9, 9)]), "9");
        assert_eq!(fitted(&[(5, 7, 62), (11, 3, 64), (8, 9, 109)]), "(n + 2) * (m + 2)");
    }
}
