//! A part of cases that take long, all of which run by hand.

/// The cases that this run looks at: with `WARPSMITH_SAMPLE=K/N` in the environment every `N`-th from the `K`-th on, counted from 0; else
/// all.
///
/// # Panics
/// Where the variable is set to something else: a test that looked at nothing would pass.
pub fn sampled<T>(cases: Vec<T>) -> Vec<T> {
    match std::env::var("WARPSMITH_SAMPLE") {
        Ok(part) => part_of(cases, &part),
        Err(_) => cases,
    }
}

fn part_of<T>(cases: Vec<T>, part: &str) -> Vec<T> {
    let numbers = part.split_once('/').map(|(k, n)| (k.parse::<usize>(), n.parse::<usize>()));
    let (k, n) = match numbers {
        Some((Ok(k), Ok(n))) if k < n => (k, n),
        _ => panic!("WARPSMITH_SAMPLE is K/N with K < N, not `{part}`"),
    };
    cases.into_iter().skip(k).step_by(n).collect()
}

#[cfg(test)]
mod tests {
    use super::part_of;

    #[test]
    fn the_parts_together_are_all() {
        let cases: Vec<u32> = (0..10).collect();
        assert_eq!(part_of(cases.clone(), "1/3"), [1, 4, 7]);
        let mut all: Vec<u32> =
            (0..3).flat_map(|k| part_of(cases.clone(), &format!("{k}/3"))).collect();
        all.sort_unstable();
        assert_eq!(all, cases);
    }

    #[test]
    #[should_panic(expected = "K < N")]
    fn no_part_is_an_error() {
        part_of(vec![1, 2], "3/3");
    }
}
