//! The order of calls and the layout of shared memory, chosen together: the least buffer over all orders and layouts.

use std::collections::HashSet;

/// A shared variable of a fusion, of calls numbered from 0. Sizes are floats an element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    pub size: u32,
    /// The call that makes it; `None`: a load.
    pub producer: Option<usize>,
    /// Calls that read it.
    pub readers: u32,
    /// A load that is done before all calls; otherwise it is done before the first reader.
    pub early: bool,
    /// It is saved after all calls; otherwise, where it is saved, after its producer.
    pub late: bool,
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Calls in the order in which they run.
    pub order: Vec<usize>,
    /// For each item the first float of an element's share; times elements per block it is the offset.
    pub offsets: Vec<u32>,
    /// Floats an element of the whole buffer.
    pub size: u32,
    /// Every order and layout was taken into account.
    pub exact: bool,
}

/// As many items can be arranged.
pub const MAX_ITEMS: usize = 64;

/// Steps of the search, after which the best so far is taken.
const BUDGET: u32 = 200_000;

/// Looks for the least buffer. `before` are the calls that each call needs first, as bits.
pub fn arrange(before: &[u32], items: &[Item]) -> Chosen {
    let all = (1u32 << before.len()) - 1;
    let peaks = Peaks::new(before, items);
    let floor = peaks.best[0];
    let mut search = Search {
        before,
        items,
        peaks: &peaks,
        best: None,
        limit: u32::MAX,
        floor,
        budget: BUDGET,
        seen: HashSet::new(),
    };
    search.orders(0, all, &mut vec![]);
    let exact = search.budget > 0 || search.limit == floor;
    match search.best {
        Some((order, offsets, size)) => Chosen { order, offsets, size, exact },
        // The budget is larger than one order: there is always a first one.
        None => Chosen {
            order: (0..before.len()).collect(),
            offsets: vec![0; items.len()],
            size: 0,
            exact,
        },
    }
}

/// Whether an item takes space while a call runs, given the calls that ran before.
fn alive(item: &Item, done: u32, call: usize) -> bool {
    let now = done | 1 << call;
    let born = match item.producer {
        Some(p) => now >> p & 1 == 1,
        None => item.early || item.readers & now != 0,
    };
    let needed = item.readers & !done != 0 || item.producer == Some(call);
    born && (needed || item.late)
}

/// The least peak that is left after each set of calls.
struct Peaks {
    best: Vec<u32>,
}

impl Peaks {
    fn new(before: &[u32], items: &[Item]) -> Peaks {
        let all = (1u32 << before.len()) - 1;
        let mut best = vec![u32::MAX; all as usize + 1];
        best[all as usize] = 0;
        for done in (0..all).rev() {
            for (call, needs) in before.iter().enumerate() {
                if done >> call & 1 == 1 || needs & !done != 0 {
                    continue;
                }
                let peak = load(items, done, call).max(best[(done | 1 << call) as usize]);
                best[done as usize] = best[done as usize].min(peak);
            }
        }
        Peaks { best }
    }
}

fn load(items: &[Item], done: u32, call: usize) -> u32 {
    items.iter().filter(|i| alive(i, done, call)).map(|i| i.size).sum()
}

struct Search<'a> {
    before: &'a [u32],
    items: &'a [Item],
    peaks: &'a Peaks,
    best: Option<(Vec<usize>, Vec<u32>, u32)>,
    /// Only smaller buffers are of interest.
    limit: u32,
    floor: u32,
    budget: u32,
    /// Lives of orders whose layouts were looked at.
    seen: HashSet<Vec<u64>>,
}

impl Search<'_> {
    fn orders(&mut self, done: u32, all: u32, order: &mut Vec<usize>) {
        if self.limit == self.floor || self.budget == 0 {
            return;
        }
        if done == all {
            self.layouts(order);
            return;
        }
        for call in 0..self.before.len() {
            let ready = done >> call & 1 == 0 && self.before[call] & !done == 0;
            let next = done | 1 << call;
            if !ready
                || load(self.items, done, call).max(self.peaks.best[next as usize]) >= self.limit
            {
                continue;
            }
            order.push(call);
            self.orders(next, all, order);
            order.pop();
        }
    }

    fn layouts(&mut self, order: &[usize]) {
        let lives = self.lives(order);
        if !self.seen.insert(lives.clone()) {
            return;
        }
        let mut layout = Layout {
            items: self.items,
            lives: &lives,
            offsets: vec![0; self.items.len()],
            found: None,
            budget: self.budget,
            limit: self.limit,
            floor: self.floor,
        };
        layout.place(0, 0, 0);
        (self.budget, self.limit) = (layout.budget, layout.limit);
        if let Some(offsets) = layout.found {
            self.best = Some((order.to_vec(), offsets, self.limit));
        }
    }

    /// For each call of an order the items that take space while it runs, as bits.
    fn lives(&self, order: &[usize]) -> Vec<u64> {
        let mut done = 0;
        let mut lives = vec![];
        for call in order {
            let now = self.items.iter().enumerate().filter(|(_, i)| alive(i, done, *call));
            lives.push(now.fold(0u64, |all, (i, _)| all | 1 << i));
            done |= 1 << call;
        }
        lives
    }
}

/// Placing items one after the other, each as low as it goes, offsets never descending.
///
/// This finds a best layout: take one, and place its items in the order of their offsets, each as low as it goes: none comes to
/// lie higher. Repeated, offsets get smaller until nothing changes; then they ascend.
struct Layout<'a> {
    items: &'a [Item],
    /// Items that are there together.
    lives: &'a [u64],
    offsets: Vec<u32>,
    found: Option<Vec<u32>>,
    budget: u32,
    /// Only smaller buffers are of interest; none is smaller than `floor`.
    limit: u32,
    floor: u32,
}

impl Layout<'_> {
    fn place(&mut self, placed: u64, from: u32, size: u32) {
        if placed.count_ones() as usize == self.items.len() {
            self.limit = size;
            self.found = Some(self.offsets.clone());
            return;
        }
        let mut next: Vec<(u32, usize)> = (0..self.items.len())
            .filter(|i| placed >> i & 1 == 0)
            .map(|i| (self.lowest(i, placed), i))
            .filter(|(at, _)| *at >= from)
            .collect();
        // The lowest first, and of those the largest: close to what a good layout looks like.
        next.sort_by_key(|(at, i)| (*at, std::cmp::Reverse(self.items[*i].size)));
        for (at, item) in next {
            self.budget = self.budget.saturating_sub(1);
            if self.limit == self.floor || self.budget == 0 {
                return;
            }
            let end = (at + self.items[item].size).max(size);
            if end >= self.limit || !self.rest_fits(placed, at) {
                continue;
            }
            self.offsets[item] = at;
            self.place(placed | 1 << item, at, end);
        }
    }

    /// Whether what is not placed yet can still lie above an offset and below the limit.
    fn rest_fits(&self, placed: u64, from: u32) -> bool {
        self.lives.iter().all(|together| {
            let above: u32 = (0..self.items.len())
                .filter(|i| together >> i & 1 == 1)
                .map(|i| match placed >> i & 1 {
                    0 => self.items[i].size,
                    _ => (self.offsets[i] + self.items[i].size)
                        .saturating_sub(from.max(self.offsets[i])),
                })
                .sum();
            let waiting = together & !placed != 0;
            !waiting || from + above < self.limit
        })
    }

    /// The lowest offset at which an item meets none of those placed.
    fn lowest(&self, item: usize, placed: u64) -> u32 {
        let beside =
            self.lives.iter().filter(|l| *l >> item & 1 == 1).fold(0, |all, l| all | l) & placed;
        let mut taken: Vec<(u32, u32)> = (0..self.items.len())
            .filter(|i| beside >> i & 1 == 1 && *i != item)
            .map(|i| (self.offsets[i], self.offsets[i] + self.items[i].size))
            .collect();
        taken.sort_unstable();
        let mut at = 0;
        for (start, end) in taken {
            if at + self.items[item].size <= start {
                break;
            }
            at = at.max(end);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(most: usize) -> impl Strategy<Value = (Vec<u32>, Vec<Item>)> {
        (1..=most).prop_flat_map(|n| {
            let edges = proptest::collection::vec(any::<u32>(), n);
            let sizes = proptest::collection::vec(1u32..5, n + 1);
            let flags =
                proptest::collection::vec((any::<bool>(), any::<bool>(), any::<u32>()), n + 1);
            (edges, sizes, flags).prop_map(move |(edges, sizes, flags)| {
                let before: Vec<u32> =
                    edges.iter().enumerate().map(|(i, e)| e & (e >> 9) & ((1 << i) - 1)).collect();
                let mut items = vec![];
                for (i, (size, (early, late, readers))) in sizes.iter().zip(&flags).enumerate() {
                    let produced = i < n;
                    let readers = match produced {
                        true => (0..n)
                            .filter(|r| before[*r] >> i & 1 == 1)
                            .fold(0, |all, r| all | 1 << r),
                        false => (readers & ((1 << n) - 1)).max(1),
                    };
                    items.push(Item {
                        size: *size,
                        producer: produced.then_some(i),
                        readers,
                        early: *early,
                        late: *late && produced,
                    });
                }
                (before, items)
            })
        })
    }

    /// The least buffer by trying all orders, and of each all sequences of placing items at every offset there is.
    fn brute(before: &[u32], items: &[Item]) -> u32 {
        fn orders(
            before: &[u32],
            done: u32,
            order: &mut Vec<usize>,
            see: &mut dyn FnMut(&[usize]),
        ) {
            if order.len() == before.len() {
                return see(order);
            }
            for call in 0..before.len() {
                if done >> call & 1 == 0 && before[call] & !done == 0 {
                    order.push(call);
                    orders(before, done | 1 << call, order, see);
                    order.pop();
                }
            }
        }
        /// Whether the items fit below a limit: every offset is tried for every item.
        fn fits(items: &[Item], lives: &[Vec<bool>], offsets: &mut Vec<u32>, limit: u32) -> bool {
            let i = offsets.len();
            if i == items.len() {
                return true;
            }
            for at in 0..=limit.saturating_sub(items[i].size) {
                let free = (0..i).all(|j| {
                    let together = lives[i].iter().zip(&lives[j]).any(|(a, b)| *a && *b);
                    !together
                        || at + items[i].size <= offsets[j]
                        || offsets[j] + items[j].size <= at
                });
                if free && at + items[i].size <= limit {
                    offsets.push(at);
                    if fits(items, lives, offsets, limit) {
                        return true;
                    }
                    offsets.pop();
                }
            }
            false
        }
        let mut best: u32 = items.iter().map(|i| i.size).sum();
        let mut known: HashSet<Vec<Vec<bool>>> = HashSet::new();
        orders(before, 0, &mut vec![], &mut |order| {
            let position = |call: usize| order.iter().position(|c| *c == call).unwrap();
            let lives: Vec<Vec<bool>> = items
                .iter()
                .map(|item| {
                    let reads: Vec<usize> = (0..before.len())
                        .filter(|r| item.readers >> r & 1 == 1)
                        .map(position)
                        .collect();
                    let first = match item.producer {
                        Some(p) => position(p),
                        None if item.early => 0,
                        None => *reads.iter().min().unwrap(),
                    };
                    let mut last = reads.iter().copied().max().unwrap_or(first).max(first);
                    if item.late {
                        last = before.len() - 1;
                    }
                    (0..before.len()).map(|t| t >= first && t <= last).collect()
                })
                .collect();
            let peak = (0..before.len())
                .map(|t| {
                    (0..items.len()).filter(|i| lives[*i][t]).map(|i| items[i].size).sum::<u32>()
                })
                .max()
                .unwrap_or(0);
            if known.insert(lives.clone()) {
                while best > peak && fits(items, &lives, &mut vec![], best - 1) {
                    best -= 1;
                }
            }
        });
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn the_buffer_is_the_least_there_is((before, items) in problem(8)) {
            let chosen = arrange(&before, &items);
            prop_assert!(chosen.exact);
            prop_assert_eq!(chosen.size, brute(&before, &items));
        }
    }
}
