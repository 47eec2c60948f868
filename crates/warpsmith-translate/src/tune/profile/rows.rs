//! Rows whose ends are read from memory, as those of a sparse matrix are: `for (k = start[i]; k < start[i + 1]; k++)`.
//! Where all rows together have as many elements as an array that `k` goes through, each has the mean.

use std::collections::BTreeMap;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopId, Module, Place, PlaceKind, Scalar,
    StmtKind, Value, VarId, VarKind, layout::layout_of,
};
use warpsmith_opt::analysis::access::{Base, base_of};
use warpsmith_opt::walk as tree;

use super::values::{Extents, Thread, Vars};

/// Of the arrays that a kernel's parameters point to, how many elements or bytes they have.
pub type Sizes = BTreeMap<VarId, f64>;

/// What a launch's arrays say of loops over rows.
pub struct Rows {
    /// Of the arrays.
    pub elements: Sizes,
    /// Loops over rows whose starts are read from memory: what is read, other for each row.
    pub ends: BTreeMap<LoopId, Expr>,
    /// Loops that go on until one of some rows is at its end, as where two rows are merged.
    pub merged: BTreeMap<LoopId, Merged>,
}

/// Rows that a loop goes through side by side.
pub struct Merged {
    /// What all of them have together, on average.
    pub elements: f64,
    /// A counter for each.
    pub counters: Vec<VarId>,
}

/// How much longer the longest of so many rows is than the mean, where lengths are spread as those between random ends
/// are: the harmonic number.
pub fn longest(rows: usize) -> f64 {
    (1..=rows.max(1)).map(|k| 1.0 / k as f64).sum()
}

/// The arguments of a launch with what the walk wants of pointers: in place of numbers of elements, of those that point
/// to starts of rows how far apart these are on average. Beside them these numbers.
pub fn lengths_for_pointers(
    module: &Module,
    kernel: &Function,
    at: Extents,
    args: &Vars<Value>,
) -> (Rows, Vars<Value>) {
    let thread = Thread::new([0; 3], [0; 3], args.clone());
    let value = |e: &Expr| thread.eval(module, at, e);
    let mut walked = args.clone();
    let (mut elements, mut ends) = (Sizes::new(), BTreeMap::new());
    for param in kernel.params.iter().filter(|p| kernel.var(**p).ty.is_pointer()) {
        walked.set(*param, None);
        elements.extend(args.get(*param).map(|n| (*param, n.as_i64() as f64)));
    }
    let copies = Copies::of(kernel);
    tree::each_stmt(&kernel.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind
            && let Some(starts) = copies.ends_of(l)
            && let Some(all) = gone_through((l.var, &l.body), &elements, &value)
            && let Some(rows) = elements.get(&starts)
        {
            let apart = (all / rows.max(1.0)).round().max(1.0) as i64;
            walked.set(starts, Some(Value::int(Scalar::I64, apart)));
            ends.extend(copies.found_in(&l.limit).map(|(read, _)| (l.id, read.clone())));
        }
    });
    let mut merged = BTreeMap::new();
    tree::each_stmt(&kernel.body, &mut |s| {
        let StmtKind::Loop { id, condition: Some(condition), body, .. } = &s.kind else { return };
        let rows = copies.rows_until(&condition.expr, body);
        let length = |(counter, starts): &(VarId, VarId)| match walked.get(*starts) {
            Some(apart) => Some(apart.as_i64() as f64),
            None => {
                let all = gone_through((*counter, body), &elements, &value)?;
                Some(all / elements.get(starts)?.max(1.0))
            }
        };
        let lengths: Option<Vec<f64>> = rows.iter().map(length).collect();
        if let Some(lengths) = lengths.filter(|l| !l.is_empty()) {
            let counters = rows.into_iter().map(|(counter, _)| counter).collect();
            merged.insert(*id, Merged { elements: lengths.iter().sum(), counters });
        }
    });
    (Rows { elements, ends, merged }, walked)
}

/// The bytes of arrays, given their elements.
pub fn bytes(module: &Module, kernel: &Function, elements: &Sizes) -> Sizes {
    let of = |param: VarId| {
        let element = kernel.var(param).ty.pointee();
        element.map_or(0.0, |e| layout_of(module, e).size as f64)
    };
    elements.iter().map(|(param, n)| (*param, n * of(*param))).collect()
}

/// Variables and arrays of a block or a thread, each with the array of the kernel's parameters that it is a copy of a part of.
#[derive(Default)]
struct Copies(BTreeMap<VarId, VarId>);

impl Copies {
    fn of(kernel: &Function) -> Copies {
        let mut copies = Copies::default();
        tree::each_stmt(&kernel.body, &mut |s| {
            let (to, value) = match &s.kind {
                StmtKind::Decl { var, init: Some(value) } => (Some(*var), value),
                StmtKind::Assign { place, value } => (place.root_var(), value),
                _ => return,
            };
            if let Some(to) = to.filter(|to| !kernel.params.contains(to))
                && let Some(array) = copies.read(value)
            {
                copies.0.insert(to, array);
            }
        });
        copies
    }

    /// The only array that an expression reads, itself or from a copy.
    fn read(&self, e: &Expr) -> Option<VarId> {
        self.found_in(e).map(|(_, array)| array)
    }

    /// What in an expression reads that array.
    fn found_in<'e>(&self, e: &'e Expr) -> Option<(&'e Expr, VarId)> {
        let mut arrays = vec![];
        tree::each_expr(e, &mut |e| {
            let ExprKind::Read(place) = &*e.kind else { return };
            let array = match (&*place.kind, base_of(place)) {
                (PlaceKind::Var(v), _) => self.0.get(v).copied().map(Some),
                (_, Base::Var(v)) => Some(Some(self.0.get(&v).copied().unwrap_or(v))),
                _ => Some(None),
            };
            arrays.extend(array.map(|array| (e, array)));
        });
        match arrays.as_slice() {
            [(read, Some(array))] => Some((*read, *array)),
            _ => None,
        }
    }

    /// Of a loop that goes on while all of some counters, which it moves on by one, are below ends of rows: the counters, and the arrays
    /// that the ends are read from.
    fn rows_until(&self, condition: &Expr, body: &Block) -> Vec<(VarId, VarId)> {
        let row = |e: &Expr| {
            let ExprKind::Binary(BinaryOp::Lt | BinaryOp::Ne, a, b) = &*e.kind else { return None };
            let ExprKind::Read(place) = &*a.without_casts().kind else { return None };
            let PlaceKind::Var(counter) = *place.kind else { return None };
            counts_up(body, counter).then_some((counter, self.read(b)?))
        };
        tree::conjuncts(condition).into_iter().filter_map(row).collect()
    }

    /// The array that both ends of a loop are read from.
    fn ends_of(&self, l: &ForLoop) -> Option<VarId> {
        let (first, limit) = (self.read(&l.first)?, self.read(&l.limit)?);
        (first == limit).then_some(first)
    }
}

/// Whether a variable is moved on by one somewhere in a block, and changed in no other way.
pub fn counts_up(body: &Block, var: VarId) -> bool {
    let (mut up, mut other) = (false, false);
    tree::each_stmt(body, &mut |s| {
        let place = tree::operands(s).writes.filter(|p| p.root_var() == Some(var));
        if place.is_none() {
            return;
        }
        let one = match &s.kind {
            StmtKind::Assign { value, .. } => match &*value.without_casts().kind {
                ExprKind::Binary(BinaryOp::Add, a, b) => {
                    let own = matches!(&*a.without_casts().kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(var));
                    own && b.as_const().is_some_and(|v| !v.ty.is_float() && v.as_i64() == 1)
                }
                _ => false,
            },
            _ => false,
        };
        up |= one;
        other |= !one;
    });
    up && !other
}

/// The array in shared memory that an assignment copies an element to, and where that comes from; beyond the end of the
/// array, zeros may stand for it.
pub fn copied<'a>(kernel: &Function, place: &Place, value: &'a Expr) -> Option<(VarId, &'a Place)> {
    let to = place.root_var().filter(|v| kernel.var(*v).kind == VarKind::Shared)?;
    match &*value.kind {
        ExprKind::Read(from) if matches!(&*from.kind, PlaceKind::Elem { .. }) => Some((to, from)),
        ExprKind::Select(_, inner, zero) if zero.as_const().is_some() => {
            copied(kernel, place, inner)
        }
        _ => None,
    }
}

/// How often a loop with this counter and body would run that goes once through the largest array that it counts in: through its
/// elements, or rows of it. `value` knows what strides are.
pub fn gone_through(
    (counter, body): (VarId, &Block),
    elements: &Sizes,
    value: &dyn Fn(&Expr) -> Option<Value>,
) -> Option<f64> {
    let mut largest: Option<f64> = None;
    let mut see = |place: &Place| {
        if let Base::Var(array) = base_of(place)
            && let Some(all) = elements.get(&array)
            && let Some(stride) = stride(place, counter, value).filter(|stride| *stride > 0.0)
        {
            largest = largest.into_iter().chain([all / stride]).reduce(f64::max);
        }
    };
    tree::each_stmt(body, &mut |s| {
        for e in tree::operands(s).reads {
            tree::each_expr(e, &mut |e| {
                if let ExprKind::Read(place) | ExprKind::AddressOf(place) = &*e.kind {
                    see(place);
                }
            });
        }
    });
    largest
}

/// How many elements further a place lies with the next value of a variable, where that is always the same.
fn stride(place: &Place, var: VarId, value: &dyn Fn(&Expr) -> Option<Value>) -> Option<f64> {
    let PlaceKind::Elem { index, dims, .. } = &*place.kind else { return None };
    let mut all = 0.0;
    for (k, subscript) in index.iter().enumerate() {
        let factor = factor(subscript, var, value)?;
        if factor != 0.0 {
            let rows = dims.get(k..)?.iter();
            all += rows.map(|e| Some(value(e)?.as_i64() as f64)).product::<Option<f64>>()? * factor;
        }
    }
    Some(all)
}

/// What a variable is multiplied by in a linear expression.
fn factor(e: &Expr, var: VarId, value: &dyn Fn(&Expr) -> Option<Value>) -> Option<f64> {
    if !tree::mentions(e, var) {
        return Some(0.0);
    }
    match &*e.kind {
        ExprKind::Read(p) => matches!(&*p.kind, PlaceKind::Var(_)).then_some(1.0),
        ExprKind::Cast(inner) => factor(inner, var, value),
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            Some(factor(a, var, value)? + factor(b, var, value)?)
        }
        ExprKind::Binary(BinaryOp::Sub, a, b) => {
            Some(factor(a, var, value)? - factor(b, var, value)?)
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) if !tree::mentions(b, var) => {
            Some(factor(a, var, value)? * value(b)?.as_i64() as f64)
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) if !tree::mentions(a, var) => {
            Some(factor(b, var, value)? * value(a)?.as_i64() as f64)
        }
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use warpsmith_device::TrafficKind;
    use warpsmith_front::cloops;
    use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
    use warpsmith_ir::SourceMap;
    use warpsmith_opt::{Kernel, lower, schedule};

    use super::super::{Launched, profiles};

    const ROWS: &str = "
void rows(int n, int m, const int start[n + 1], const int column[m], const float value[m],
          const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
";

    const CLAMPED: &str = "
static int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
void clamped(int n, int m, const float x[n][m], float y[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = x[i][inside(j + 1, m)] - x[i][inside(j - 1, m)];
}
";

    pub fn launched<const N: usize>(
        source: &str,
        steps: &str,
        sizes: [(&str, i64); N],
    ) -> Launched {
        all_launched(source, steps, sizes).remove(0)
    }

    pub fn all_launched<const N: usize>(
        source: &str,
        steps: &str,
        sizes: [(&str, i64); N],
    ) -> Vec<Launched> {
        let mut sources = SourceMap::new();
        let options = ParseOptions::new(Language::C);
        let parsed = parse("a.c", source.as_bytes(), &options, &DiskLoader, &mut sources).unwrap();
        let input = cloops::lower_c(&parsed.unit, None).unwrap();
        let kernel = Kernel::new(input.module, input.function);
        let file = sources.add("a.sched", steps.to_string());
        let steps = schedule::parse(&sources, file).unwrap();
        let kernel = schedule::replay(&kernel, &steps, &sources).unwrap();
        let program = lower::lower(&kernel, &sources).unwrap();
        let sizes = sizes.map(|(name, n)| (name.to_string(), n)).into();
        profiles(&program.module, program.launcher, &sizes)
    }

    const TRIANGLE: &str = "
void triangle(int n, int m, const float A[n][n], const float B[n][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0.0f;
            for (int k = FROM; k < TO; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}
";

    /// The last rows of blocks, or the first, have twice as much to do as those in the middle, whose strips are mostly away from
    /// the diagonal: nobody asks there which iterations count.
    #[test]
    fn strips_at_the_diagonal_are_few_and_the_longest_blocks_have_twice_the_work() {
        let steps = "rectangle k\nbind i, j -> y, x block 16x8\nregister_tile i by 8\nregister_tile j by 8\n\
                     stage A at k tile 16\nstage B at k tile 16\nunroll k\n";
        let sizes = [("n", 2048), ("m", 2048)];
        for (from, to) in [("0", "i + 1"), ("i", "n")] {
            let source = TRIANGLE.replace("FROM", from).replace("TO", to);
            let profile = launched(&source, steps, sizes).profile;
            let longest = profile.parallelism.longest_block;
            assert!((1.8..2.2).contains(&longest), "{from} {to}: {longest}");
            let products = 2048.0f64.powi(3) / 2.0 / 32.0;
            let more = profile.work.fp32 / products;
            assert!((0.95..1.1).contains(&more), "{from} {to}: {more} x {products}");
            let asked = profile.work.int / products;
            assert!(asked < 0.5, "{from} {to}: {asked} integers a product");
        }
    }

    /// Parts of the sums lie inside the triangle, at its diagonal or outside: no single block is like the others.
    #[test]
    fn parts_of_a_triangle_have_half_of_the_work_of_a_square() {
        let steps = "rectangle k\nsplit_k k by 8\nbind i#2, j#2 -> y, x block 32x8\n\
                     bind k_part, i, j -> z, y, x block 8x8x1\naccumulate s_parts\n\
                     register_tile i by 8\nregister_tile j by 8\n\
                     stage A at k tile 16\nstage B at k tile 16\nunroll k\n";
        let source = TRIANGLE.replace("FROM", "0").replace("TO", "i + 1");
        let profile = launched(&source, steps, [("n", 1024), ("m", 1024)]).profile;
        let products = 1024.0f64.powi(3) / 2.0 / 32.0;
        let more = profile.work.fp32 / products;
        assert!((0.7..1.5).contains(&more), "{more} x {products}");
    }

    const SCORES: &str = "
void scores(int h, int t, int d, const float q[h][d], const float k[t][h][d], float s[h][t]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < h; i++)
        for (int j = 0; j < t; j++) {
            float sum = 0.0f;
            for (int x = 0; x < d; x++) sum += q[i][x] * k[j][i][x];
            s[i][j] = sum;
        }
}
";

    /// Iterations of a thread beside each other in vectors of four read as many elements as others, where nothing is shared.
    #[test]
    fn vectors_of_a_tile_read_elements_of_their_own() {
        let steps = "bind i, j -> y, x block 8x4\nregister_tile i by 8\nregister_tile j by 16\n\
                     stage q at x tile 8 pad 4 transposed\nunroll x\n";
        let reads = |more: &str| {
            let sizes = [("h", 32), ("t", 4096), ("d", 128)];
            let profile = launched(SCORES, &format!("{steps}{more}"), sizes).profile;
            let loads = profile.global.iter().filter(|g| g.kind == TrafficKind::Load);
            loads.map(|g| g.requests).fold(0.0, f64::max)
        };
        assert_eq!(reads("vectorise i by 4\nvectorise j by 4\n"), reads(""));
    }

    /// 2¹⁶ rows of 32 elements: the values take 2²¹ / 8 sectors if lanes go through them side by side.
    #[test]
    fn rows_of_a_matrix_are_as_long_as_its_elements_say() {
        let sizes = [("n", 1 << 16), ("m", 1 << 21)];
        let alone = launched(ROWS, "bind i -> x block 128\n", sizes).profile;
        let shared = launched(ROWS, "bind i -> y block 1x8\nshare k -> x by 32\n", sizes).profile;
        let bytes = f64::from(4 << 21);
        for profile in [&alone, &shared] {
            let whole = profile.global.iter().filter(|g| g.grid_bytes >= bytes * 0.9).count();
            assert_eq!(whole, 2, "the values and their columns: {:?}", profile.global);
        }
        let gathered = f64::from(1 << 21);
        let sectors =
            |p: &super::super::KernelProfile| p.global.iter().map(|g| g.sectors).sum::<f64>();
        assert!(sectors(&alone) > 2.9 * gathered, "every element is a sector of its own");
        assert!(sectors(&shared) < 1.5 * gathered, "only the gathered ones are");
    }

    /// The lengths of rows come from arrays' extents, so that a copy of the starts in shared memory hides nothing.
    #[test]
    fn rows_without_known_starts_share_the_elements_among_the_threads() {
        let sizes = [("n", 1 << 16), ("m", 1 << 21)];
        let plain = launched(ROWS, "bind i -> x block 128\n", sizes).profile;
        let staged = launched(ROWS, "bind i -> x block 128\nstage start\n", sizes).profile;
        let ratio = staged.work.fp32 / plain.work.fp32;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    const COMMON: &str = "
void common(int n, int m, const int start[n + 1], const int at[m], const int with[n], int found[n]) {
    #pragma omp parallel for
    for (int u = 0; u < n; u++) {
        int count = 0, i = start[u], j = start[with[u]];
        while (i < start[u + 1] && j < start[with[u] + 1]) {
            if (at[i] < at[j]) i++;
            else if (at[i] > at[j]) j++;
            else { count++; i++; j++; }
        }
        found[u] = count;
    }
}
";

    /// Two rows of 32 are 64 steps, more in the lane that has most; what data begin a row at is gone through in small steps.
    #[test]
    fn merged_rows_have_as_many_steps_as_both_have_elements() {
        let sizes = |m: i64| [("n", 1 << 16), ("m", m << 16)];
        let of = |m| launched(COMMON, "bind u -> x block 128\n", sizes(m)).profile;
        let (long, short) = (of(32), of(8));
        let ratio = long.work.control / short.work.control;
        assert!((3.5..4.5).contains(&ratio), "{ratio}");
        let scattered = |g: &&warpsmith_device::GlobalTraffic| g.reuse_bytes > 0.0;
        assert!(long.global.iter().any(|g| scattered(&g)), "{:?}", long.global);
    }

    #[test]
    fn subscripts_through_functions_of_the_users_are_followed() {
        let profile =
            launched(CLAMPED, "bind i, j -> y, x block 32x8\n", [("n", 512), ("m", 4096)]).profile;
        let requests: f64 = profile.global.iter().map(|g| g.requests).sum();
        let sectors: f64 = profile.global.iter().map(|g| g.sectors).sum();
        assert!(sectors / requests < 6.0, "{sectors} of {requests}");
    }

    const COLUMNS: &str = "
void columns(int n, int m, int k, const int start[n + 1], const int at[m], const float v[m], const float b[n][k],
             float c[n][k]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            float s = 0.0f;
            for (int e = start[i]; e < start[i + 1]; e++)
                s += v[e] * b[at[e]][j];
            c[i][j] = s;
        }
}
";

    /// Threads of one row go through the same elements: behind copies of the ends in shared memory and in registers, too.
    #[test]
    fn rows_are_as_long_for_several_columns_and_behind_copies() {
        let sizes = [("n", 1 << 14), ("m", 1 << 19), ("k", 64)];
        // A warp has two rows, and goes on until the longer one ends.
        let products = 1.5 * f64::from(1 << 19) * 64.0 / 32.0;
        let tiles = "register_tile i by 2\nregister_tile j by 2\n";
        for steps in ["", "stage start\n", tiles, &format!("{tiles}stage start\n")] {
            let steps = format!("bind i, j -> y, x block 16x16\n{steps}");
            let profile = launched(COLUMNS, &steps, sizes).profile;
            let more = profile.work.fp32 / products;
            assert!((0.9..1.1).contains(&more), "{steps}{more} x {products}");
        }
        // A warp reads two rows of 16 columns, wherever these are: four sectors, and not one for each lane.
        let profile = launched(COLUMNS, "bind i, j -> y, x block 16x16\n", sizes).profile;
        let gathered = profile.global.iter().map(|g| g.sectors).fold(0.0, f64::max);
        assert!((0.9..1.1).contains(&(gathered * 1.5 / products / 4.0)), "{gathered}");
    }

    const SEGMENTS: &str = "
void segments(int n, int m, int k, const int start[n + 1], const float x[m][k], float y[n][k]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            float s = 0.0f;
            for (int e = start[i]; e < start[i + 1]; e++)
                s += x[e][j];
            y[i][j] = s;
        }
}
";

    /// What is gone through are rows of an array, also where they are read in vectors.
    #[test]
    fn segments_are_as_long_as_there_are_rows_for_them() {
        let sizes = [("n", 1 << 12), ("m", 1 << 18), ("k", 64)];
        let sums = 1.5 * f64::from(1 << 18) * 64.0 / 32.0;
        let wide = "specialise k%4=0, x%16=0, y%16=0\nregister_tile j by 4\nvectorise j by 4\n";
        for steps in ["", wide] {
            let profile =
                launched(SEGMENTS, &format!("bind i, j -> y, x block 16x16\n{steps}"), sizes)
                    .profile;
            let more = profile.work.fp32 / sums;
            assert!((0.9..1.1).contains(&more), "{steps}{more} x {sums}");
        }
    }

    const LARGEST: &str = "
void largest(int n, int m, const float x[n][m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i][0];
        for (int k = 1; k < m; k++) v = x[i][k] > v ? x[i][k] : v;
        y[i] = v;
    }
}
";

    /// A block's threads copy a strip row after row: all of its bytes are those of the array.
    #[test]
    fn strips_of_more_rows_than_threads_reach_at_once_are_counted_whole() {
        let steps = "bind i -> x block 64\nstage x#2 at k tile 8\n";
        let profile = launched(LARGEST, steps, [("n", 1 << 16), ("m", 64)]).profile;
        let most = profile.global.iter().map(|g| g.grid_bytes).fold(0.0, f64::max);
        let all = f64::from(1 << 16) * 64.0 * 4.0;
        assert!((0.9..1.1).contains(&(most / all)), "{most} of {all}");
    }

    const WINDOW: &str = "
void window(int n, int m, const float x[n][n][m], const float w[9][m], float y[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0.0f;
            for (int r = -1; r <= 1; r++)
                for (int q = -1; q <= 1; q++) {
                    if (i + r < 0 || i + r >= n || j + q < 0 || j + q >= n) continue;
                    for (int k = 0; k < m; k++) s += x[i + r][j + q][k] * w[3 * r + q + 4][k];
                }
            y[i][j] = s;
        }
}
";

    /// The first place of a window is outside for threads and blocks at an edge: the others count.
    #[test]
    fn windows_at_an_edge_have_all_of_their_places() {
        let products = 256.0f64.powi(2) * 9.0 * 32.0 / 32.0;
        for steps in [
            "bind i, j -> y, x block 32x1\n",
            "bind i, j -> y, x block 32x8\n",
            "rectangle k\nbind i, j -> y, x block 32x1\nregister_tile j by 4\nunroll r\nunroll q\n",
            "rectangle k\nbind i, j -> y, x block 32x1\nregister_tile j by 2\nstage w at k tile 8\nunroll r\nunroll q\n",
        ] {
            let profile = launched(WINDOW, steps, [("n", 256), ("m", 32)]).profile;
            let more = profile.work.fp32 / products;
            assert!((0.85..1.3).contains(&more), "{steps}{more} x {products}");
        }
    }
}
