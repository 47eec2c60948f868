//! What the threads of a block do together: phases, exchanges, reductions, atomics, uniform control flow.

use super::value::Kind;
use super::{Generator, NARROW, POOL};

/// Kinds that have an array of the block, and their arrays. All are shared but `s_g`, which points into global memory.
pub(super) const SHARED: [(Kind, &str); 5] = [
    (Kind::Unsigned, "s_u"),
    (Kind::Float, "s_f"),
    (Kind::Double, "s_d"),
    (Kind::ULong, "s_q"),
    (Kind::Unsigned, "s_g"),
];

impl Generator<'_> {
    /// Declarations of both texts.
    pub(super) fn start(&mut self) {
        let (block, grid) = (self.launch.block, self.launch.grid);
        self.dynamic = self.choice.chance(30);
        for (kind, array) in SHARED {
            let ty = kind.c_name();
            if array == "s_g" {
                self.c_line(&format!("static {ty} g_u[{}], t{array}[{block}];", block * grid));
                continue;
            }
            self.c_line(&format!("static {ty} {array}[{block}], t{array}[{block}];"));
            if self.dynamic && array == "s_u" {
                self.cuda_line(&format!("extern __shared__ {ty} {array}[];"));
            } else {
                self.cuda_line(&format!("__shared__ {ty} {array}[{block}];"));
            }
        }
        self.c_line(&format!("static int from[{block}];"));
        self.c_line(&format!("static struct Part p0[{block}];"));
        self.cuda_line("__shared__ unsigned s_bins[16];");
        self.c_line("static unsigned s_bins[16];");
        self.cuda_line(
            "const int tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);",
        );
        self.cuda_line("const int block = blockIdx.x + gridDim.x * blockIdx.y;");
        self.cuda_line(&format!("const int i = block * {block} + tid;"));
        let c_names = POOL.iter().map(|(name, kind)| (*name, kind.c_name()));
        for (name, ty) in c_names.chain(NARROW) {
            self.c_line(&format!("static {ty} {name}[{block}];"));
        }
        self.c_line(&format!("for (int block = 0; block < {grid}; block++) {{"));
        self.depth += 1;
        self.line(&format!("unsigned *s_g = g_u + block * {block};"));
        self.threads_begin();
        self.pool();
        self.threads_end();
    }

    /// The variables of a thread, with values that differ from thread to thread.
    pub(super) fn pool(&mut self) {
        for (name, kind) in POOL {
            let value = match kind {
                Kind::Int => "i < n ? a[i] : tid",
                Kind::Unsigned => "i < n ? b[i] : 77u",
                Kind::Float => "i < n ? c[i] : 0.75f",
                Kind::Double => "i < n ? d[i] : 1.5",
                Kind::Long => "-3 * (long long)i",
                Kind::ULong => "(unsigned long long)i << 30",
            };
            self.cuda_line(&format!("{} {name} = {value};", kind.c_name()));
            self.c_line(&format!("{name}[tid] = {value};"));
        }
        for (name, ty) in NARROW {
            self.cuda_line(&format!("{ty} {name} = ({ty})(i * 37);"));
            self.c_line(&format!("{name}[tid] = ({ty})(i * 37);"));
        }
        let part = "{0.5f * tid, (unsigned)i, (short)tid, {1, tid, -i}}";
        self.cuda_line(&format!("struct Part p0 = {part};"));
        self.c_line(&format!("p0[tid] = (struct Part){part};"));
    }

    /// The results of every thread; surplus threads skip them or have left by then.
    pub(super) fn finish(&mut self) {
        let leave = self.choice.chance(40);
        self.threads_begin();
        if leave {
            self.cuda_line("if (i >= n)");
            self.cuda_line("    return;");
            self.c_line("if (i >= n) continue;");
            self.statement(2);
        } else {
            self.line("if (i < n) {");
            self.depth += 1;
        }
        self.results();
        if !leave {
            self.depth -= 1;
            self.line("}");
        }
        self.threads_end();
        self.depth -= 1;
    }

    /// Stores of everything that a thread has.
    pub(super) fn results(&mut self) {
        self.line("out_x[i] = @x0 ^ @x1;");
        self.line(
            "out_u[i] = @u0 + 3u * @u1 + 5u * @u2 + @b0 + (unsigned)@h0 + 7u * (unsigned)@g0 + fold(&@p0);",
        );
        self.line("out_q[i] = @q0 + (unsigned long long)@l0;");
        self.line("out_f[i] = @f0 + @f1 * @p0.x;");
        self.line("out_d[i] = @d0;");
    }

    /// Opens the loop over the threads in C.
    pub(super) fn threads_begin(&mut self) {
        let block = self.launch.block;
        self.c_line(&format!("for (int tid = 0; tid < {block}; tid++) {{"));
        self.c_line(&format!("    int i = block * {block} + tid; (void)i;"));
    }

    pub(super) fn threads_end(&mut self) {
        self.c_line("}");
        self.locals.clear();
    }

    /// Something all threads of the block take part in; `size` bounds the nesting.
    pub(super) fn phase(&mut self, size: usize) {
        let whole_warps = self.launch.block.is_multiple_of(32);
        match self.choice.below(13) {
            0 | 1 => self.own_work(),
            2 | 3 => self.exchange(),
            4..=6 if whole_warps => self.warp(),
            7 => self.barrier_vote(),
            8 => self.count(),
            9 if self.launch.block.is_power_of_two() => self.tree(),
            10 if size > 0 => self.uniform_loop(size - 1),
            11 if size > 0 => self.uniform_branch(size - 1),
            12 => self.add_globally(),
            _ => self.exchange(),
        }
    }

    fn own_work(&mut self) {
        self.threads_begin();
        // In C the body is a loop's: one more level; a brace keeps names of two phases apart.
        self.line("{");
        self.depth += 1;
        for _ in 0..1 + self.choice.below(4) {
            self.statement(2);
        }
        self.depth -= 1;
        self.line("}");
        self.threads_end();
    }

    /// One variable of the pool of the kind.
    pub(super) fn target(&mut self, kind: Kind) -> &'static str {
        let of: Vec<&str> = POOL.iter().filter(|p| p.1 == kind).map(|p| p.0).collect();
        of[self.choice.below(of.len())]
    }

    /// An index other than `tid` for every thread of the block but perhaps the middle one.
    fn partner(&mut self) -> String {
        let block = self.launch.block;
        match self.choice.below(3) {
            0 => format!("(tid + {}) % {block}", 1 + self.choice.below(block - 1)),
            1 => format!("{} - tid", block - 1),
            _ if block.is_power_of_two() => {
                format!("tid ^ {}", 1 + self.choice.below(block - 1))
            }
            _ => format!("(tid + {}) % {block}", block / 2),
        }
    }

    /// Every thread stores to its slot and reads another's, once or several times on one array. In a chain the
    /// barrier after the read is needed too, by the next store.
    fn exchange(&mut self) {
        let (kind, array) = SHARED[self.choice.below(SHARED.len())];
        let times = 1 + self.choice.below(3);
        for turn in 0..times {
            let (value, partner) = (self.value(kind, 3), self.partner());
            let target = self.target(kind);
            self.threads_begin();
            self.line(&format!("{array}[tid] = {value};"));
            self.threads_end();
            self.barrier("__syncthreads()");
            self.threads_begin();
            let op = self.choice.pick(&["=", "+="]);
            self.line(&format!("@{target} {op} {array}[{partner}];"));
            self.threads_end();
            if turn + 1 < times {
                self.barrier("__syncthreads()");
            } else {
                self.cuda_line("__syncthreads();");
            }
        }
    }

    /// A reduction of the block in halves, with a barrier in its loop.
    fn tree(&mut self) {
        let (kind, array) = SHARED[self.choice.below(SHARED.len())];
        let (value, target) = (self.value(kind, 2), self.target(kind));
        let (h, half) = (self.name("h"), self.launch.block / 2);
        self.threads_begin();
        self.line(&format!("{array}[tid] = {value};"));
        self.threads_end();
        self.barrier("__syncthreads()");
        let head = match self.choice.below(2) {
            0 => format!("for (int {h} = {half}; {h} > 0; {h} /= 2) {{"),
            _ => format!("for (unsigned {h} = {half}u; {h} != 0u; {h} >>= 1) {{"),
        };
        self.line(&head);
        self.depth += 1;
        self.threads_begin();
        self.line(&format!("if (tid < (int){h})"));
        self.line(&format!("    {array}[tid] += {array}[tid + {h}];"));
        self.threads_end();
        self.barrier("__syncthreads()");
        self.depth -= 1;
        self.line("}");
        self.threads_begin();
        self.line(&format!("@{target} = {array}[0];"));
        self.threads_end();
        self.cuda_line("__syncthreads();");
    }

    /// Counts in global memory, by all blocks at once.
    fn add_globally(&mut self) {
        let (bin, value) = (self.value(Kind::Unsigned, 2), self.value(Kind::Unsigned, 1));
        let condition = self.condition(1);
        self.threads_begin();
        self.line(&format!("if ({condition}) {{"));
        self.cuda_line(&format!("    atomicAdd(&counts[({bin}) & 15u], ({value}) >> 1);"));
        self.c_line(&format!("    counts[({bin}) & 15u] += ({value}) >> 1;"));
        self.line("}");
        self.threads_end();
    }

    /// A histogram by shared atomics, read by all threads and added to the global one.
    fn count(&mut self) {
        let (bin, value) = (self.value(Kind::Unsigned, 2), self.value(Kind::Unsigned, 2));
        let bins = "s_bins[({bin}) & 15u]".replace("{bin}", &bin);
        let (start, cuda, c) = match self.choice.below(10) {
            0 => ("0u", "atomicAdd(&BIN, VALUE);", "s_bins[k] += v;"),
            1 => ("5u", "atomicSub(&BIN, VALUE);", "s_bins[k] -= v;"),
            2 => ("0u", "atomicXor(&BIN, VALUE);", "s_bins[k] ^= v;"),
            3 => ("0u", "atomicOr(&BIN, VALUE);", "s_bins[k] |= v;"),
            4 => ("0xffffffffu", "atomicAnd(&BIN, VALUE);", "s_bins[k] &= v;"),
            5 => ("0u", "atomicMax(&BIN, VALUE);", "s_bins[k] = max(s_bins[k], v);"),
            6 => ("0xffffffffu", "atomicMin(&BIN, VALUE);", "s_bins[k] = min(s_bins[k], v);"),
            7 => (
                "3u",
                "atomicInc(&BIN, 12u);",
                "(void)v; s_bins[k] = s_bins[k] >= 12u ? 0u : s_bins[k] + 1u;",
            ),
            8 => (
                "3u",
                "atomicDec(&BIN, 12u);",
                "(void)v; s_bins[k] = s_bins[k] == 0u || s_bins[k] > 12u ? 12u : s_bins[k] - 1u;",
            ),
            // The loop that people write for an operation that has no atomic form.
            _ => (
                "1u",
                "unsigned *BIN_AT = &BIN, OLD = *(volatile unsigned *)BIN_AT, SEEN;\n\
                 do {\n    SEEN = OLD;\n    OLD = atomicCAS(BIN_AT, SEEN, SEEN * (VALUE | 1u));\n\
                 } while (OLD != SEEN);",
                "s_bins[k] *= v | 1u;",
            ),
        };
        let (at, old, seen) = (self.name("z"), self.name("z"), self.name("z"));
        let cuda = cuda.replace("BIN_AT", &at).replace("OLD", &old).replace("SEEN", &seen);
        let cuda = cuda.replace("BIN", &bins).replace("VALUE", &format!("({value})"));
        let target = self.target(Kind::Unsigned);
        let pick = self.value(Kind::Unsigned, 1);
        self.threads_begin();
        self.line("if (tid < 16)");
        self.line(&format!("    s_bins[tid] = {start};"));
        self.threads_end();
        self.barrier("__syncthreads()");
        self.threads_begin();
        cuda.lines().for_each(|line| self.cuda_line(line));
        self.c_line(&format!("unsigned k = ({bin}) & 15u, v = {value};"));
        self.c_line(c);
        self.threads_end();
        self.cuda_line("__syncthreads();");
        self.threads_begin();
        self.line(&format!("@{target} += s_bins[({pick}) & 15u];"));
        self.cuda_line("if (tid < 16)");
        self.cuda_line("    atomicAdd(&counts[tid], s_bins[tid]);");
        self.c_line("if (tid < 16) counts[tid] += s_bins[tid];");
        self.threads_end();
        self.cuda_line("__syncthreads();");
    }

    fn uniform_loop(&mut self, size: usize) {
        let r = self.name("r");
        let times = 1 + self.choice.below(3);
        self.line(&format!("for (int {r} = 0; {r} < {times}; {r}++) {{"));
        self.depth += 1;
        self.phase(size);
        self.phase(size);
        self.depth -= 1;
        self.line("}");
    }

    /// A branch the whole block takes the same way; the first block always takes it, so its barriers are reached.
    fn uniform_branch(&mut self, size: usize) {
        let condition = self.choice.pick(&[
            "block % 2 == 0",
            "n > block * 7",
            "block <= n % 3",
            "(block & 3) != 1",
        ]);
        self.line(&format!("if ({condition}) {{"));
        self.depth += 1;
        self.phase(size);
        self.depth -= 1;
        self.line("}");
    }
}
