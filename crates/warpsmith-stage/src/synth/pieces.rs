//! Several conditions for one copy, where a single one does not tell the threads apart: the corners of a frame that is cut off
//! at two sides, say.

use super::bits::Bits;
use super::comparison::Comparison;
use super::condition::Atom;

/// Comparisons that are tried in pairs, and conditions that a copy is made under.
const MAX_PAIRED: usize = 400;
const MAX_PIECES: usize = 3;

/// Pairs of comparisons of which each holds on none of `no`, and one on each of `yes`: what covers most comes first.
pub fn pieces(atoms: &[&Atom], yes: &Bits, no: &Bits) -> Option<Vec<Vec<Comparison>>> {
    let mut all = vec![];
    let mut left = yes.clone();
    while !left.is_empty() {
        if all.len() == MAX_PIECES {
            return None;
        }
        let [a, b] = widest(atoms, &left, no)?;
        left = left.minus(&a.bits.and(&b.bits));
        let pair = [a, b].map(|a| a.comparison.clone());
        all.push(if pair[0] == pair[1] { pair[..1].to_vec() } else { pair.to_vec() });
    }
    Some(all)
}

/// The pair that holds on most rows and on none of `no`, of least cost; twice the same: one comparison does.
fn widest<'a>(atoms: &[&'a Atom], rows: &Bits, no: &Bits) -> Option<[&'a Atom; 2]> {
    let some = atoms.iter().filter(|a| !a.bits.is_disjoint(rows)).take(MAX_PAIRED);
    let some: Vec<&Atom> = some.copied().collect();
    let mut best: Option<(usize, u32, [&Atom; 2])> = None;
    for (i, a) in some.iter().enumerate() {
        for b in &some[i..] {
            let both = a.bits.and(&b.bits);
            if !both.is_disjoint(no) {
                continue;
            }
            let (count, cost) = (both.and(rows).count(), a.cost + b.cost);
            let better = best.is_none_or(|(n, c, _)| count > n || count == n && cost < c);
            if count > 0 && better {
                best = Some((count, cost, [a, b]));
            }
        }
    }
    best.map(|(.., pair)| pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::comparison::Compare;
    use crate::synth::term::Term;

    fn atom(n: usize, rows: &[usize]) -> Atom {
        let bits = Bits::from_fn(6, |i| rows.contains(&i));
        let (left, right) = (Term::Symbol(n), Term::Number(0));
        Atom { comparison: Comparison { left, op: Compare::Eq, right }, bits, cost: 1 }
    }

    #[test]
    fn what_no_pair_covers_alone_several_do() {
        let atoms = [atom(0, &[0, 1, 4]), atom(1, &[0, 1, 5]), atom(2, &[2, 4]), atom(3, &[2, 5])];
        let list: Vec<&Atom> = atoms.iter().collect();
        let of = |rows: &[usize]| Bits::from_fn(6, |i| rows.contains(&i));
        let found = pieces(&list, &of(&[0, 1, 2]), &of(&[3, 4, 5])).unwrap_or_default();
        let symbols = |c: &Vec<Comparison>| c.iter().flat_map(|c| c.left.symbols()).collect();
        let found: Vec<Vec<usize>> = found.iter().map(symbols).collect();
        assert_eq!(found, [[0, 1], [2, 3]]);
        assert!(pieces(&list, &of(&[3]), &of(&[0, 2])).is_none());
    }
}
