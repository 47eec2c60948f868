//! How conditions of several reads are written that have comparisons in common.
//!
//! A read right of a thread is in the tile where `threadIdx.x != BX - 1 && i != nx - 2`, one below where
//! `threadIdx.y != BY - 1 && j != ny - 2`, and the corner between them where all four hold. Written as two sides in parentheses
//! the corner's condition is made of values that the compiler has already; as one chain of four it has to keep more of them, which
//! costs registers, and loads wait for each other.

/// Comparisons that several conditions have in common.
#[derive(Debug, Default)]
pub struct Sides(Vec<Vec<String>>);

impl Sides {
    /// What conjunctions have in common, what most have first.
    pub fn of(conjunctions: &[Vec<String>]) -> Sides {
        let mut distinct: Vec<&Vec<String>> = vec![];
        for c in conjunctions.iter().filter(|c| c.len() > 1) {
            if !distinct.iter().any(|d| same(d, c)) {
                distinct.push(c);
            }
        }
        let mut common: Vec<Vec<String>> = vec![];
        for (i, a) in distinct.iter().enumerate() {
            for b in &distinct[i + 1..] {
                let both: Vec<String> = a.iter().filter(|c| b.contains(c)).cloned().collect();
                if both.len() > 1 && !common.iter().any(|c| same(c, &both)) {
                    common.push(both);
                }
            }
        }
        let holders = |side: &[String]| distinct.iter().filter(|d| within(side, d)).count();
        common.sort_by_key(|side| std::cmp::Reverse((holders(side), side.len())));
        Sides(common)
    }

    /// A conjunction with its sides together: in parentheses, but for one that it begins with and that stands alone.
    pub fn text(&self, conjunction: &[String]) -> String {
        let mut left: Vec<&String> = conjunction.iter().collect();
        // Where each part begins in the conjunction, its text, and whether it is a side.
        let mut parts: Vec<(Option<usize>, String, bool)> = vec![];
        let place = |c: &String| conjunction.iter().position(|other| other == c);
        for side in &self.0 {
            let whole = side.len() == conjunction.len();
            if whole || !side.iter().all(|c| left.contains(&c)) {
                continue;
            }
            let (taken, rest): (Vec<&String>, Vec<&String>) =
                left.into_iter().partition(|c| side.contains(c));
            let words: Vec<&str> = taken.iter().map(|c| c.as_str()).collect();
            parts.push((place(taken[0]), words.join(" && "), true));
            left = rest;
        }
        parts.extend(left.into_iter().map(|c| (place(c), c.clone(), false)));
        parts.sort();
        let alone = parts[0].2 && !parts[1..].iter().any(|p| p.2);
        let texts = parts.into_iter().map(|(_, text, side)| match side && !alone {
            true => format!("({text})"),
            false => text,
        });
        texts.collect::<Vec<_>>().join(" && ")
    }
}

fn within(side: &[String], of: &[String]) -> bool {
    side.iter().all(|c| of.contains(c))
}

fn same(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && within(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(" && ").map(str::to_string).collect()
    }

    #[test]
    fn corners_are_made_of_their_sides() {
        let (east, south) = ("x != 31 && i != nx - 2", "y != 3 && j != ny - 2");
        let all = [
            east,
            south,
            "x != 31 && y != 3 && i != nx - 2 && j != ny - 2",
            "y != 0 && x != 31 && i != nx - 2",
            "x != 0 && y != 3 && j != ny - 2",
            "x != 0 && y != 0",
        ]
        .map(words);
        let sides = Sides::of(&all);
        let texts: Vec<String> = all.iter().map(|c| sides.text(c)).collect();
        assert_eq!(
            texts,
            [
                east,
                south,
                "(x != 31 && i != nx - 2) && (y != 3 && j != ny - 2)",
                "y != 0 && (x != 31 && i != nx - 2)",
                "x != 0 && (y != 3 && j != ny - 2)",
                "x != 0 && y != 0",
            ]
        );
    }

    #[test]
    fn what_a_condition_begins_with_needs_no_parentheses() {
        let all = ["a && b", "a && c && b"].map(words);
        assert_eq!(Sides::of(&all).text(&all[1]), "a && b && c");
        assert_eq!(Sides::of(&all[1..]).text(&all[1]), "a && c && b");
    }
}
