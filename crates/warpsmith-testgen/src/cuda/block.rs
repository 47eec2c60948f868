//! What the threads of a block do together: phases, exchanges, shuffles, votes, uniform control flow.

use super::value::Kind;
use super::{Generator, NARROW, POOL};

/// Kinds that have a shared array, and their arrays.
const SHARED: [(Kind, &str); 4] =
    [(Kind::Unsigned, "s_u"), (Kind::Float, "s_f"), (Kind::Double, "s_d"), (Kind::ULong, "s_q")];

impl Generator<'_> {
    /// Declarations of both texts.
    pub(super) fn start(&mut self) {
        let (block, grid) = (self.launch.block, self.launch.grid);
        for (kind, array) in SHARED {
            self.cuda_line(&format!("__shared__ {} {array}[{block}];", kind.c_name()));
            self.c_line(&format!("static {0} {array}[{block}], t{array}[{block}];", kind.c_name()));
        }
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
        self.threads_begin();
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
        self.threads_end();
    }

    /// The results of every thread.
    pub(super) fn finish(&mut self) {
        self.threads_begin();
        self.line("if (i < n) {");
        self.depth += 1;
        self.line("out_x[i] = @x0 ^ @x1;");
        self.line(
            "out_u[i] = @u0 + 3u * @u1 + 5u * @u2 + @b0 + (unsigned)@h0 + 7u * (unsigned)@g0;",
        );
        self.line("out_q[i] = @q0 + (unsigned long long)@l0;");
        self.line("out_f[i] = @f0 + @f1;");
        self.line("out_d[i] = @d0;");
        self.depth -= 1;
        self.line("}");
        self.threads_end();
        self.depth -= 1;
    }

    /// Opens the loop over the threads in C.
    fn threads_begin(&mut self) {
        let block = self.launch.block;
        self.c_line(&format!("for (int tid = 0; tid < {block}; tid++) {{"));
        self.c_line(&format!("    int i = block * {block} + tid; (void)i;"));
    }

    fn threads_end(&mut self) {
        self.c_line("}");
        self.locals.clear();
    }

    /// Something all threads of the block take part in; `size` bounds the nesting.
    pub(super) fn phase(&mut self, size: usize) {
        let whole_warps = self.launch.block.is_multiple_of(32);
        match self.choice.below(10) {
            0 | 1 => self.own_work(),
            2 | 3 => self.exchange(),
            4 if whole_warps => self.warp_exchange(),
            5 if whole_warps => self.shuffle(),
            6 if whole_warps => self.vote(),
            7 => self.count(),
            8 if size > 0 => self.uniform_loop(size - 1),
            9 if size > 0 => self.uniform_branch(size - 1),
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
    fn target(&mut self, kind: Kind) -> &'static str {
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

    /// The same within warps, ordered by `__syncwarp`.
    fn warp_exchange(&mut self) {
        let (kind, array) = SHARED[self.choice.below(SHARED.len())];
        let value = self.value(kind, 3);
        let target = self.target(kind);
        let other = 1 + self.choice.below(31);
        self.threads_begin();
        self.line(&format!("{array}[tid] = {value};"));
        self.threads_end();
        self.barrier("__syncwarp()");
        self.threads_begin();
        self.line(&format!("@{target} = {array}[tid ^ {other}];"));
        self.threads_end();
        self.cuda_line("__syncthreads();");
    }

    fn shuffle(&mut self) {
        let (kind, array) = SHARED[self.choice.below(SHARED.len())];
        let width = [32, 32, 16, 8, 4][self.choice.below(5)];
        let by = 1 + self.choice.below(width - 1);
        let value = self.value(kind, 3);
        let target = self.target(kind);
        let lane = format!("tid % {width}");
        let (call, source) = match self.choice.below(4) {
            0 => ("xor", format!("tid ^ {by}")),
            1 => ("up", format!("{lane} >= {by} ? tid - {by} : tid")),
            2 => ("down", format!("{lane} + {by} < {width} ? tid + {by} : tid")),
            _ => ("", format!("tid - {lane} + {by}")),
        };
        let call =
            if call.is_empty() { "__shfl_sync".into() } else { format!("__shfl_{call}_sync") };
        let width = if width == 32 { String::new() } else { format!(", {width}") };
        self.cuda_line(&format!("@{target} = {call}(0xffffffffu, {value}, {by}{width});"));
        self.threads_begin();
        self.c_line(&format!("t{array}[tid] = {value};"));
        self.threads_end();
        self.threads_begin();
        self.c_line(&format!("@{target} = t{array}[{source}];"));
        self.threads_end();
    }

    fn vote(&mut self) {
        let condition = self.condition(2);
        let target = self.target(Kind::Unsigned);
        let block = self.launch.block;
        let (call, warp, combine) = match self.choice.below(6) {
            0 => ("__ballot_sync(0xffffffffu, ", true, "r |= ts_u[k] << (k & 31)"),
            1 => ("(unsigned)__any_sync(0xffffffffu, ", true, "r |= ts_u[k]"),
            2 => ("(unsigned)__all_sync(0xffffffffu, ", true, "r |= !ts_u[k]"),
            3 => ("(unsigned)__syncthreads_count(", false, "r += ts_u[k]"),
            4 => ("(unsigned)(0 != __syncthreads_or(", false, "r |= ts_u[k]"),
            _ => ("(unsigned)(0 != __syncthreads_and(", false, "r |= !ts_u[k]"),
        };
        let all = combine.contains('!');
        let close = if call.contains("0 != ") { "))" } else { ")" };
        self.cuda_line(&format!("@{target} ^= {call}{condition}{close};"));
        self.threads_begin();
        self.c_line(&format!("ts_u[tid] = {condition};"));
        self.threads_end();
        self.threads_begin();
        let (first, count) = if warp { ("tid - tid % 32", 32) } else { ("0", block) };
        self.c_line("unsigned r = 0;");
        self.c_line(&format!("for (int k = {first}, e = k + {count}; k < e; k++) {combine};"));
        self.c_line(&format!("@{target} ^= {};", if all { "!r" } else { "r" }));
        self.threads_end();
    }

    /// A histogram by shared atomics, read by all threads and added to the global one.
    fn count(&mut self) {
        let (bin, value) = (self.value(Kind::Unsigned, 2), self.value(Kind::Unsigned, 2));
        let (call, c) = match self.choice.below(4) {
            0 => ("atomicAdd", "+= v"),
            1 => ("atomicXor", "^= v"),
            2 => ("atomicOr", "|= v"),
            _ => ("atomicMax", "= max(s_bins[k], v)"),
        };
        let target = self.target(Kind::Unsigned);
        let pick = self.value(Kind::Unsigned, 1);
        self.threads_begin();
        self.line("if (tid < 16)");
        self.line("    s_bins[tid] = 0u;");
        self.threads_end();
        self.barrier("__syncthreads()");
        self.threads_begin();
        self.cuda_line(&format!("{call}(&s_bins[({bin}) & 15u], {value});"));
        self.c_line(&format!("unsigned k = ({bin}) & 15u, v = {value};"));
        self.c_line(&format!("s_bins[k] {c};"));
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
