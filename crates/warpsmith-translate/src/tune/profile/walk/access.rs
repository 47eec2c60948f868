//! What an access to memory costs: requests, sectors, banks, and the arithmetic of its addresses.

use std::collections::BTreeSet;

use warpsmith_device::{l1_wavefronts, shared_wavefronts};
use warpsmith_ir::{
    Expr, ExprKind, Place, PlaceKind, Space, Type, Value, Var, VarKind, layout::layout_of,
};
use warpsmith_opt::analysis::access::{Base, base_of};
use warpsmith_opt::walk as tree;

use super::{Loops, Site, Walk};
use crate::tune::profile::footprint;
use crate::tune::profile::lanes::Lanes;
use crate::tune::profile::pointers::{Guarded, Row};
use crate::tune::profile::values::{MAX_LOOPS, Thread};

/// Bytes of the widest load.
const WIDEST: i64 = 16;

/// Of the bytes of wide loads, the share that is to be used.
const DENSE: f64 = 0.75;

/// Words of unrolled loops that are looked at: beyond that, the code is not kept unrolled.
const MOST_WORDS: f64 = 4096.0;

/// Loads that bring several words of shared memory.
#[derive(Clone, Copy)]
struct Wide {
    /// Those that are used, on average.
    words: f64,
    bytes: i64,
    /// Words in registers that later iterations use.
    waiting: f64,
}

/// Words that the lanes of a warp want of the bank that most of them want, where they fall into 32 banks by chance: the
/// mean.
const SCATTERED_BANKS: f64 = 3.5;

impl Walk<'_> {
    /// A read of constant memory: one for all iterations of unrolled loops that the index does not depend on, and none
    /// where every loop that it depends on is unrolled, because the value then is an operand of the instruction that
    /// uses it.
    pub(super) fn constant(&mut self, place: &Place) {
        let of = self.loops_of_place(place);
        if of & self.serial_loops() != 0 {
            self.work.constants += self.warps() * self.times(of | self.serial_loops());
        }
    }

    /// An access to global or shared memory.
    pub(super) fn access(&mut self, place: &Place, store: bool) {
        let bytes = layout_of(self.module, &place.ty).size.max(1) as i64;
        self.access_bytes(place, bytes, store);
    }

    /// What a thread has just stored to global memory it need not read, where nothing else is stored there.
    pub(super) fn keep(&mut self, place: &Place) {
        let base = base_of(place);
        let shared = matches!(base, Base::Var(v) if in_shared(self.kernel.var(v)));
        if !shared && self.written.get(&base) == Some(&1) {
            self.known.push((place.clone(), self.loops.len()));
        }
    }

    /// Subscripts that come from memory are read before the access.
    fn subscripts(&mut self, place: &Place) {
        let read = tree::subscripts(place).into_iter().filter(|e| tree::reads_memory(e));
        read.for_each(|e| self.expr(e));
    }

    /// Whether a register holds what was read there in the same loop; from now on it does.
    fn is_held(&mut self, place: &Place) -> bool {
        let depth = self.loops.len();
        let held = self.known.iter().any(|(p, d)| *d == depth && p.kind == place.kind);
        if !held {
            self.known.push((place.clone(), depth));
        }
        held
    }

    /// An access to so many bytes from a place on.
    pub(super) fn access_bytes(&mut self, place: &Place, bytes: i64, store: bool) {
        self.subscripts(place);
        let base = base_of(place);
        if let Base::Global(g) = base
            && self.module.globals.get(g.0 as usize).is_some_and(|g| g.space == Space::Constant)
        {
            return self.constant(place);
        }
        if !store && self.is_held(place) {
            return;
        }
        let shared = matches!(base, Base::Var(v) if in_shared(self.kernel.var(v)));
        let of = self.loops_of_place(place);
        if let (Base::Var(v), true, true) = (base, shared, store) {
            // What the block's threads put there is other in each iteration.
            self.depends[v.0 as usize] |= self.all_loops();
        }
        let kept = !store && (shared || !self.written.contains_key(&base));
        let around = match (kept, shared) {
            (true, true) => of | self.serial_loops(),
            (true, false) => of | self.around_serial(of),
            _ => self.all_loops(),
        };
        let around = around | self.guarded;
        let first = self.first.address(self.module, self.at, place);
        let change = first.as_ref().map(|f| f.offset.change);
        let addresses = self.addresses_of(place);
        let wide = match (kept && shared && !self.copying, change.as_ref()) {
            (true, Some(change)) => self.wide(bytes, around, change, &addresses),
            _ => None,
        };
        let wide = wide.unwrap_or(Wide { words: 1.0, bytes, waiting: 0.0 });
        let times = match kept && self.guarded == 0 && !self.subscript_is_chosen(place) {
            true => self.different(around, change.as_ref()) / wide.words,
            false => self.times(around),
        };
        self.held += wide.waiting;
        let mut site = Site::new(base, shared, store);
        (site.copied, site.atomic, site.bytes) = (self.copying, self.adding, wide.bytes);
        self.requests(&mut site, &addresses, wide.bytes, times);
        if !shared && addresses.iter().zip(&self.active).any(|(a, active)| *active && a.is_none()) {
            self.gathered(&mut site, place, bytes, times);
        }
        if let Some(change) = change {
            (site.shifts, site.around) = self.shifts(around, &change);
            site.hull = hull(&addresses, wide.bytes, &site.shifts);
        } else if let Some((shift, number)) = self.moved_on(place, bytes) {
            (site.shifts, site.around) = (vec![shift], vec![number]);
        }
        self.addresses(place, &site, of, around, site.requests / times.max(1.0));
        if !store {
            self.spread[0] += site.requests;
            self.spread[1] += site.requests / self.busy();
            if !self.copying {
                self.loads_side_by_side(&site, of, change.as_ref(), wide.words);
            }
        }
        self.sites.push(site);
    }

    /// The loops that a place depends on.
    fn loops_of_place(&self, place: &Place) -> Loops {
        let mut of = place.root_var().map_or(0, |v| self.depends[v.0 as usize]);
        tree::each_expr_of_place(place, &mut |e| {
            if let ExprKind::Read(p) | ExprKind::AddressOf(p) = &*e.kind {
                of |= p.root_var().map_or(0, |v| self.depends[v.0 as usize]);
            }
        });
        of
    }

    /// Where a place lies in each active thread.
    fn addresses_of(&self, place: &Place) -> Vec<Option<i64>> {
        self.addresses_in(&self.lanes, place)
    }

    fn addresses_in(&self, lanes: &Thread<Lanes>, place: &Place) -> Vec<Option<i64>> {
        let address = lanes.address(self.module, self.at, place);
        let offset = |(lane, active): (usize, &bool)| {
            address.as_ref().filter(|_| *active)?.offset.of(lane).map(Value::as_i64)
        };
        self.active.iter().enumerate().map(offset).collect()
    }

    /// Counts the requests of all warps, each made so many times, and what they touch.
    fn requests(&self, site: &mut Site, addresses: &[Option<i64>], bytes: i64, times: f64) {
        let touches = times * self.share * self.lanes_left();
        for (warp, active) in addresses.chunks(32).zip(self.active.chunks(32)) {
            let lanes = active.iter().filter(|a| **a).count();
            if lanes == 0 {
                continue;
            }
            site.requests += times * self.share;
            site.lanes += touches * lanes as f64;
            let known: Vec<i64> = warp.iter().flatten().copied().collect();
            if known.len() < lanes {
                // Through data: every lane goes its own way.
                site.sectors += touches * lanes as f64;
                let waves = match site.shared {
                    true => {
                        self.scattered_banks(site, lanes as f64) * (bytes as f64 / 4.0).max(1.0)
                    }
                    false => lanes as f64 / 2.0,
                };
                site.wavefronts += touches * waves;
                continue;
            }
            let touched = footprint::sectors(known.iter().copied(), bytes);
            site.sectors += touches * touched.len() as f64;
            let waves = match site.shared {
                true => {
                    let lanes: Vec<Option<u64>> =
                        warp.iter().map(|a| a.map(|a| a as u64)).collect();
                    f64::from(shared_wavefronts(&lanes, bytes as u64, site.atomic).wavefronts)
                }
                false => l1_wavefronts(known.iter().map(|a| *a as u64), bytes as u64),
            };
            site.wavefronts += touches * waves;
            if !site.shared {
                site.first.extend(touched);
            }
        }
        footprint::in_order(&mut site.first);
    }

    /// Passes over the banks for lanes that data send to elements of an array in shared memory. Those that update one word take
    /// turns: where there are fewer words than banks, as many as the fullest word has lanes.
    fn scattered_banks(&self, site: &Site, lanes: f64) -> f64 {
        let words = match site.base {
            Base::Var(v) if site.atomic => self.kernel.var(v).ty.extents().iter().product::<u64>(),
            _ => 0,
        };
        let mean = lanes / words.max(1) as f64;
        let fullest = mean + (2.0 * mean * (words.max(1) as f64).ln()).sqrt();
        if words > 0 { fullest.max(SCATTERED_BANKS) } else { SCATTERED_BANKS }.min(lanes)
    }

    /// Counts sectors and wavefronts of addresses that data decide about: lanes that read the same number there go the same way.
    fn gathered(&mut self, site: &mut Site, place: &Place, bytes: i64, times: f64) {
        // An array of the thread's own lies at the same place for all lanes, and holds something else for each.
        if self.subscript_is_private(place) {
            return;
        }
        let addresses = match self.at_positions(place) {
            Some(lanes) => self.addresses_in(&lanes, place),
            None => {
                self.lanes.scatters = true;
                let addresses = self.addresses_of(place);
                self.lanes.scatters = false;
                addresses
            }
        };
        let mut guess =
            Site { atomic: site.atomic, ..Site::new(site.base, site.shared, site.store) };
        self.requests(&mut guess, &addresses, bytes, times);
        (site.sectors, site.wavefronts) = (guess.sectors, guess.wavefronts);
    }

    /// Whether a subscript is an element of an array of the thread's own.
    fn subscript_is_private(&self, place: &Place) -> bool {
        !self.private_elements(place).is_empty()
    }

    /// Whether loops beside choose a subscript among elements of an array of the thread's own: the compiler cannot know that two of
    /// these are equal.
    fn subscript_is_chosen(&self, place: &Place) -> bool {
        let beside = self.side_by_side();
        let chosen = |e: &Expr| self.loops_of(e) & beside != 0;
        let elements = self.private_elements(place);
        elements.into_iter().any(|p| tree::subscripts(p).into_iter().any(chosen))
    }

    /// The elements of arrays of the thread's own that subscripts are made of.
    fn private_elements<'p>(&self, place: &'p Place) -> Vec<&'p Place> {
        let private = |v| self.kernel.var(v).kind == VarKind::Local;
        let mut found = vec![];
        tree::each_expr_of_place(place, &mut |e| {
            if let ExprKind::Read(p) = &*e.kind
                && matches!(&*p.kind, PlaceKind::Index(..))
                && p.root_var().is_some_and(private)
            {
                found.push(p);
            }
        });
        found
    }

    /// By how much the innermost loop moves an address on that begins nobody knows where, and the number of this loop.
    fn moved_on(&self, place: &Place, bytes: i64) -> Option<((i64, f64), usize)> {
        let level = self.loops.last()?;
        let counts = |e: &Expr| {
            matches!(&*e.without_casts().kind, ExprKind::Read(p)
                if matches!(*p.kind, PlaceKind::Var(v) if level.counters.contains(&v)))
        };
        let last = tree::subscripts(place).into_iter().next_back();
        last.is_some_and(counts).then_some(((bytes, level.trips * level.lanes), level.number))
    }

    /// By how much loops move an address, innermost first, and the numbers of these loops.
    fn shifts(&self, around: Loops, change: &[i64; MAX_LOOPS]) -> (Vec<(i64, f64)>, Vec<usize>) {
        let loops = self.loops.iter().zip(change).enumerate().rev();
        let moved = loops.filter(|(k, _)| around >> k & 1 == 1);
        moved
            .map(|(_, (level, change))| ((*change, level.trips * level.lanes), level.number))
            .unzip()
    }

    /// Counts loads that stand side by side in the code, and what of them waits in registers.
    fn loads_side_by_side(
        &mut self,
        site: &Site,
        of: Loops,
        change: Option<&[i64; MAX_LOOPS]>,
        words: f64,
    ) {
        let beside = of & self.side_by_side() & !self.apart;
        let together = self.different(beside, change);
        // What several iterations want stays in registers from the first of them to the last.
        self.held += together * (1.0 - together / self.times(beside)).max(0.0);
        if site.shared {
            self.shared_together += (together / words).min(16.0);
            return;
        }
        let innermost = self.loops.iter().rev().find(|l| !l.unrolled).map(|l| l.number);
        self.together.add(innermost, site.requests, together.min(16.0));
    }
}

impl Walk<'_> {
    /// How wide a load of shared memory is: where a loop along neighbouring words is unrolled and every lane's first is
    /// aligned, the compiler loads two or four together. Seen in its text for rows of tiles whose loop is unrolled.
    fn wide(
        &self,
        bytes: i64,
        around: Loops,
        change: &[i64; MAX_LOOPS],
        addresses: &[Option<i64>],
    ) -> Option<Wide> {
        let beside = around & self.side_by_side() & !self.apart;
        let unrolled = |k: usize| beside >> k & 1 == 1;
        let along = |n: i64| {
            // The rows of other iterations are as long as the tile.
            let aligned = |of: i64| of % (n * bytes) == 0;
            let all = addresses.iter().flatten().all(|a| aligned(*a))
                && change.iter().all(|c| *c == bytes || aligned(*c));
            let loops = self.loops.iter().enumerate().take(MAX_LOOPS);
            let mut whole = loops
                .filter(|(k, l)| unrolled(*k) && change[*k] == bytes && l.trips as i64 % n == 0);
            whole.next().filter(|_| all).map(|(k, _)| k)
        };
        let rows = [4, 2].into_iter().filter(|n| n * bytes <= WIDEST);
        let found = rows.filter_map(|n| Some((n, along(n)?))).next();
        let rows = found.map(|(n, k)| {
            // Where the loop along the words is around others, each of these has a load whose words wait for their iterations.
            let inner = self.loops.iter().enumerate().take(MAX_LOOPS).skip(k + 1);
            let inner = inner.filter(|(k, _)| unrolled(*k) && change[*k] != 0);
            let others: f64 = inner.map(|(_, l)| l.trips).product();
            Wide { words: n as f64, bytes: n * bytes, waiting: n as f64 * (others - 1.0).max(0.0) }
        });
        rows.or_else(|| self.across_rows(bytes, beside, change, addresses))
    }

    /// The same for rows that end with a padding word: where the loop over them is unrolled as well, their words follow each
    /// other at constants, and the compiler loads them together with the padding. Its text for a tile of 32 rows of 16 words
    /// with one of padding has 136 loads of four words, as many as 32 times 17 words are.
    fn across_rows(
        &self,
        bytes: i64,
        beside: Loops,
        change: &[i64; MAX_LOOPS],
        addresses: &[Option<i64>],
    ) -> Option<Wide> {
        let unrolled = |k: usize| beside >> k & 1 == 1;
        let aligned = |of: i64| of % WIDEST == 0;
        let others = (0..self.loops.len().min(MAX_LOOPS)).filter(|k| !unrolled(*k));
        if bytes >= WIDEST
            || !addresses.iter().flatten().all(|a| aligned(*a))
            || !others.map(|k| change[k]).all(aligned)
        {
            return None;
        }
        let mut words = BTreeSet::from([0]);
        for (k, l) in self.loops.iter().enumerate().take(MAX_LOOPS) {
            if !unrolled(k) || change[k] == 0 {
                continue;
            }
            if words.len() as f64 * l.trips > MOST_WORDS {
                return None;
            }
            let moved = |t: i64| words.iter().map(move |w| w + t * change[k]);
            words = (0..l.trips as i64).flat_map(moved).collect();
        }
        let loads: BTreeSet<i64> = words.iter().map(|w| w.div_euclid(WIDEST)).collect();
        let each = words.len() as f64 / loads.len() as f64;
        (each * bytes as f64 >= DENSE * WIDEST as f64).then_some(Wide {
            words: each,
            bytes: WIDEST,
            waiting: 0.0,
        })
    }

    /// Counts the arithmetic of an access's addresses, made by so many warps.
    fn addresses(&mut self, place: &Place, site: &Site, of: Loops, around: Loops, warps: f64) {
        let serial = self.times(around & self.serial_loops());
        if let Some(row) = Row::of(self.module, self.at, &self.first, place) {
            let beside = of & self.side_by_side();
            let unrolled = self.loops.iter().enumerate().filter(|(k, _)| beside >> k & 1 == 1);
            let unrolled: Vec<(usize, f64)> = unrolled.map(|(k, l)| (k, l.trips)).collect();
            let guarded = Guarded { loops: self.side_by_side() & self.apart, load: !site.store };
            let added = self.pointers.add(site.base, &row, &unrolled, guarded, self.loops.len());
            // In loops that remain, pointers are moved on; the numbers of rows come from before.
            self.work.int += warps * (added.rows + added.pointers * serial);
            return;
        }
        // Addresses of unrolled code are constants away from each other, and those of one array often.
        let near = |other: &Site| other.base == site.base && other.shifts == site.shifts;
        let address = if self.sites.iter().any(near) { 0.5 } else { 1.0 };
        self.work.int += address * warps * serial;
    }

    /// Instructions of a division or a remainder by what is known at run time only.
    pub(super) fn division(&mut self, a: &Expr, b: &Expr) -> f64 {
        let depth = self.loops.len();
        if self.divided.iter().any(|(x, y, d)| *d <= depth && x.kind == a.kind && y.kind == b.kind)
        {
            return 2.0;
        }
        self.divided.push((a.clone(), b.clone(), depth));
        16.0
    }
}

/// The bytes between the lowest and the highest address of a block's lanes in all iterations of loops that shift them.
fn hull(addresses: &[Option<i64>], bytes: i64, shifts: &[(i64, f64)]) -> Option<(i64, i64)> {
    let known = || addresses.iter().flatten().copied();
    let (mut low, mut high) = (known().min()?, known().max()? + bytes - 1);
    for (shift, trips) in shifts {
        let last = (*shift as f64 * (trips - 1.0).max(0.0)) as i64;
        low = low.saturating_add(last.min(0));
        high = high.saturating_add(last.max(0));
    }
    Some((low, high))
}

/// An array in shared memory, or a pointer into it.
fn in_shared(var: &Var) -> bool {
    let points = matches!(&var.ty, Type::Pointer { space: Space::Shared, .. });
    points || matches!(var.kind, VarKind::Shared | VarKind::DynamicShared)
}
