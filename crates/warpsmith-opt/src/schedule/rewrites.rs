//! The steps that a schedule can take, described: one table, from which the lists for users are made.

use std::sync::LazyLock;

/// One kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewriteInfo {
    /// The word a step starts with.
    pub name: &'static str,
    /// A step as a schedule has it.
    pub example: &'static str,
    pub does: &'static str,
    /// When it is legal.
    pub legal: &'static str,
}

/// All kinds of steps, roughly in the order in which schedules take them.
pub const REWRITES: &[RewriteInfo] = &[
    RewriteInfo {
        name: "precision",
        example: "precision float",
        does: "computes all reals in `float`, `double` or `half`: variables, literals, and the arrays and numbers that the launcher takes",
        legal: "nothing is bound yet, no bits of a real are used, and no literal becomes infinite; the result is compared with that of the function as written, within the rounding errors of the less precise type",
    },
    RewriteInfo {
        name: "bind",
        example: "bind i, j -> y, x block 32x8",
        does: "gives the iterations of parallel loops to the threads of a grid, in blocks of these extents along x, y, z",
        legal: "the loops are nested one directly in the other, their iterations are independent, and a block has at most 1024 threads",
    },
    RewriteInfo {
        name: "reduce",
        example: "reduce s block 256 grid 256",
        does: "spreads a nest that reduces to a scalar over the threads of a block and the blocks of a grid; with more than one thread or block along y or z, as in `reduce s block 128x2 grid 4x32x16`, its loops go to the axes, the innermost to x, else all iterations are numbered",
        legal: "the nest is marked with a reduction of the variable and is otherwise parallel; the threads of a block are a power of two; there are as many loops as axes, and at most three",
    },
    RewriteInfo {
        name: "indexing",
        example: "indexing i sparse",
        does: "chooses the threads that work on a loop with a step: one for each iteration (`dense`), or every step-th (`sparse`)",
        legal: "the loop is bound, its step is constant and not one, and nothing needs its last value",
    },
    RewriteInfo {
        name: "specialise",
        example: "specialise n=1024, m%32=0",
        does: "makes a second kernel for sizes that are known, or known to be multiples; the launcher chooses",
        legal: "the sizes are integer parameters that nothing assigns, and their nests are bound",
    },
    RewriteInfo {
        name: "interchange",
        example: "interchange i",
        does: "swaps a loop with the one directly inside it",
        legal: "no two iterations that change places conflict, and the inner bounds do not depend on the outer counter",
    },
    RewriteInfo {
        name: "rectangle",
        example: "rectangle j",
        does: "runs a loop whose range depends on the loops around it (a triangle, a band) over all values that it takes: what comes before the first effect is computed by all iterations, the rest under the condition that the iteration is one of the shape; blocks outside the shape end at once",
        legal: "the loop and those directly around it count up by one, and its bounds are sums of their counters, or least and greatest values of such sums",
    },
    RewriteInfo {
        name: "scatter",
        example: "scatter j",
        does: "turns sums that each iteration of a parallel loop gathers in an inner loop into atomic updates: the inner loop becomes the parallel one, and goes through all sums; what sums begin at and what is made of them become nests of their own. A matrix that was read column by column is then read row by row",
        legal: "the loop is marked, not bound yet, and holds one sum by `+` over one serial loop and one store to an element that nothing else in it touches; all ranges are known when the launcher starts; sums of reals are then compared with a tolerance",
    },
    RewriteInfo {
        name: "expand",
        example: "expand r",
        does: "writes the iterations of a short serial loop one after the other: steps that follow see every access of a stencil whose radius is a loop, and what neighbouring iterations read of the same row is read once",
        legal: "the loop is serial, inside no bound one, and has at most 16 iterations that are known; no iteration leaves it or ends early, and nothing else reads or writes its counter",
    },
    RewriteInfo {
        name: "distribute",
        example: "distribute i",
        does: "makes loops of their own of the loops in a parallel loop's body and of what stands between them, so that a nest with something beside its inner loop (the diagonal of a correlation) can have both loops on axes",
        legal: "the loop is marked, not bound, the launcher knows its bounds, its iterations are proved independent and do not end early, and no part uses a variable that another one sets",
    },
    RewriteInfo {
        name: "fuse_loops",
        example: "fuse_loops i, i#2",
        does: "makes one loop of two that stand beside each other, with those directly inside them as far as both nests go: what both read is read once",
        legal: "the loops are not bound, have the same range, and what stands between them can move; no iteration of the second needs more of the first than the same iteration: of parallel loops the iterations of the fused one are proved independent, of serial ones they are so but for sums",
    },
    RewriteInfo {
        name: "split",
        example: "split k by 32",
        does: "cuts a serial loop into strips: a loop over strips around a loop in the strip",
        legal: "the loop counts up by one and does not end early",
    },
    RewriteInfo {
        name: "split_k",
        example: "split_k k by 4",
        does: "splits the sum over a serial loop into parts: a nest over `k_part` and the parallel loops leaves partial results in the workspace, the old nest (its loops now `i#2`, `j#2`) combines them in order",
        legal: "the loop is directly in a nest that is not bound yet, all bounds are sizes, and it only combines one variable or element with something; sums of reals are then compared with a tolerance",
    },
    RewriteInfo {
        name: "privatise",
        example: "privatise bins block 256 grid 528",
        does: "gives every block of threads a copy of an array in shared memory for what its iterations update atomically (a histogram, sums by key), and adds the copies up; with `run 16` a thread takes 16 neighbouring iterations at a time and loads what they read side by side in vectors",
        legal: "the array has constant extents, fits in shared memory, and is touched by atomic updates of one operation only; the nest is marked, not bound yet, and the launcher knows its bounds when it starts; a run needs an array of one dimension that each iteration reads at its counter and nothing writes",
    },
    RewriteInfo {
        name: "keep_rows",
        example: "keep_rows i by 256 each 8 vector 4",
        does: "gives each row of a nest to threads that keep its elements in registers from one loop over it to the next (softmax, norms of rows): each is read once and written once; with `rows 4` a block has four rows at a time; rows that are longer than threads times elements, or not aligned for vectors, are left to the nest as it was, which later steps bind",
        legal: "the nest is marked, not bound yet, and the launcher knows its bounds and those of the loops over a row, which stand beside each other in it; their iterations are independent but for variables that each combines something with by one operation; what they write is accessed at one place only; sums of reals are then compared with a tolerance",
    },
    RewriteInfo {
        name: "keep_sums",
        example: "keep_sums i by 256 vector 4 rows 128 group 8",
        does: "lets blocks go down the rows of a matrix with the sums of its columns in registers, and adds up its rows on the way (both products of BiCGK, sums by columns): each element is read once, and each column updated once for the rows of a block; rows are loaded in groups; what is not aligned for vectors is left to the nest as it was, which later steps bind",
        legal: "the nest is one marked loop, not bound yet, around one serial loop that updates elements atomically by `+`; the launcher knows the bounds of both; what is updated moves with the serial loop's counter only; before that loop stand declarations, behind it one store for each variable that it adds to; nothing else in the nest touches what is added to",
    },
    RewriteInfo {
        name: "tile",
        example: "tile k, l by 32x8",
        does: "computes two nested serial loops tile by tile",
        legal: "both loops can be split, and the loops in the middle interchanged",
    },
    RewriteInfo {
        name: "accumulate",
        example: "accumulate C",
        does: "keeps an element that serial loops add to in a register, loaded before and stored after them",
        legal: "the element's subscripts do not change in the loops, and nothing else there may be the same element",
    },
    RewriteInfo {
        name: "stage",
        example: "stage A at k tile 16 pad 1",
        does: "copies what a block reads of an array to shared memory, in strips of a serial loop or all at once, with padding, `transposed`, or `swizzled` (columns permuted from row to row, against bank conflicts); all at once also `async`, by `cp.async`; reads that differ by more than a constant have copies of their own, of which `stage A#2` makes the second",
        legal: "nothing in the nest writes the array, its subscripts are sums of counters, and the copies fit in the shared memory that the architecture gives a block; to swizzle, rows have a power of two of elements and no padding",
    },
    RewriteInfo {
        name: "constant",
        example: "constant f",
        does: "reads a small array from constant memory, to which the launcher copies it on the stream",
        legal: "the array has constant extents and at most 64 KB, nothing writes it, and the threads of a warp read one element at a time",
    },
    RewriteInfo {
        name: "register_tile",
        example: "register_tile i by 4",
        does: "gives each thread several iterations of a bound loop",
        legal: "the loop counts up by one and nothing leaves an iteration early",
    },
    RewriteInfo {
        name: "vectorise",
        example: "vectorise j by 4",
        does: "lets a thread's iterations come in groups of neighbours whose elements it accesses together, or (`vectorise B by 4`) copies a staged array in vectors",
        legal: "the thread's iterations are a multiple of the group; global arrays need a kernel that knows their alignment, from `specialise m%4=0, C%16=0`",
    },
    RewriteInfo {
        name: "align",
        example: "align i by 4",
        does: "lets blocks begin at a multiple of a vector although the loop begins at 1: groups of `vectorise i by 4` are then aligned, read whole vectors, and store element by element at the ends of rows only",
        legal: "the loop is bound, counts up by one, and does not begin at a multiple already; no array is staged",
    },
    RewriteInfo {
        name: "share",
        example: "share k -> x by 32",
        does: "gives the iterations of a serial loop to threads of the block along an axis that no loop is bound to: they combine what they summed up by shuffles or through shared memory, and one of them goes on with what is stored; rows are then read side by side",
        legal: "the loop counts up by one, runs under no condition, and its iterations are independent but for variables that each combines something with by one operation; sums of reals are then compared with a tolerance",
    },
    RewriteInfo {
        name: "warp",
        example: "warp i, j by 8x4",
        does: "lays the lanes of a warp out as a rectangle, so that each warp computes a compact tile",
        legal: "the lanes are 32, and divide the threads of the block along each loop",
    },
    RewriteInfo {
        name: "pipeline",
        example: "pipeline k stages 2",
        does: "starts the copies of the next strips before the current one is used, by `cp.async`",
        legal: "arrays are staged in strips of the loop, each copy has 4, 8 or 16 bytes, and all strips in flight fit in shared memory",
    },
    RewriteInfo {
        name: "stream",
        example: "stream dy along y",
        does: "goes through what a serial loop reads row by row, so that a row that several of a thread's iterations share is read once, into registers where its array is staged",
        legal: "a thread has several iterations of the bound loop; the serial loop has a constant range, is run by all threads alike and not cut into strips, something in it is read at a sum of both counters, and what it sets belongs to one iteration",
    },
    RewriteInfo {
        name: "double_buffer",
        example: "double_buffer k",
        does: "reads from shared memory what the next iteration of a strip needs before the current one is computed",
        legal: "strips of the loop are staged, and it is unrolled entirely or by an even number",
    },
    RewriteInfo {
        name: "rasterise",
        example: "rasterise i by 8",
        does: "runs the blocks in groups along a loop, so that those that run together share what they read",
        legal: "the loop is bound right outside the innermost one",
    },
    RewriteInfo {
        name: "stride",
        example: "stride j",
        does: "lets the threads along x go through their loop in strides of the grid, as those along y and z do",
        legal: "the loop is bound to x, and its blocks compute no tiles",
    },
    RewriteInfo {
        name: "bounds",
        example: "bounds peel",
        does: "lets blocks whose iterations all exist run without guards (`peel`), pads arrays with zeros to whole tiles so that nobody asks (`pad`: copies in the workspace), or lets every thread ask (`guard`, the default)",
        legal: "a nest is computed in tiles: take it after `register_tile` and `stage`; to pad, subscripts must be counters plus something, under no condition, and what is written past the end must lie behind the arrays",
    },
    RewriteInfo {
        name: "pitch",
        example: "pitch A 32",
        does: "lets the rows of an array begin at multiples of so many elements: the function works on a copy in the workspace, `A_pitched` for later steps",
        legal: "the array has two or more extents that the launcher knows at its start, is used by its elements only, and is not staged yet",
    },
    RewriteInfo {
        name: "unroll",
        example: "unroll k by 4",
        does: "unrolls a serial loop by a factor, or entirely",
        legal: "always, for a loop that each thread runs on its own",
    },
];

/// The names for a message, `a`, `b` or `c`.
pub(super) static NAMES: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<String> = REWRITES.iter().map(|r| format!("`{}`", r.name)).collect();
    match all.split_last() {
        Some((end, rest)) => format!("a step starts with {} or {end}", rest.join(", ")),
        None => String::new(),
    }
});

/// What helps with a line that could not be read: an example of the step it starts, or where they all are described.
pub(super) fn help(line: &str) -> String {
    let word = line.split_whitespace().next();
    match REWRITES.iter().find(|r| Some(r.name) == word) {
        Some(r) => format!("for example `{}`", r.example),
        None => "`warpsmith tune --list-rewrites` describes the steps".into(),
    }
}

/// The table as text for a terminal: a paragraph for each step.
pub fn list() -> String {
    let mut text = String::new();
    for r in REWRITES {
        text.push_str(&format!("{}\n    {}\n    legal: {}\n\n", r.example, r.does, r.legal));
    }
    text
}
