//! What the threads of a warp do together: exchanges by memory and by registers, votes and reductions.

use super::Generator;
use super::block::SHARED;
use super::value::Kind;

impl Generator<'_> {
    /// Something that whole warps take part in.
    pub(super) fn warp(&mut self) {
        match self.choice.below(8) {
            0 => self.warp_exchange(),
            1 | 2 => self.shuffle(),
            3 => self.shuffle_from_anywhere(),
            4 => self.butterfly(),
            5 => self.matching(),
            _ => self.vote(),
        }
    }

    /// Every thread stores to its slot and reads another's of its warp, ordered by `__syncwarp`.
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

    /// The value of every thread, into `t…` in C.
    fn publish(&mut self, array: &str, value: &str) {
        self.threads_begin();
        self.c_line(&format!("t{array}[tid] = {value};"));
        self.threads_end();
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
        self.publish(array, &value);
        self.threads_begin();
        self.c_line(&format!("@{target} = t{array}[{source}];"));
        self.threads_end();
    }

    /// A shuffle from a lane that each thread computes, perhaps by half a warp only.
    fn shuffle_from_anywhere(&mut self) {
        let (kind, array) = SHARED[self.choice.below(SHARED.len())];
        let (value, lane) = (self.value(kind, 2), self.value(Kind::Unsigned, 2));
        let target = self.target(kind);
        let half = self.choice.chance(40);
        self.publish(array, &value);
        self.threads_begin();
        if half {
            self.line("if ((tid & 16) != 0) {");
            self.cuda_line(&format!(
                "    @{target} = __shfl_sync(0xffff0000u, {value}, (int)(({lane}) & 15u), 16);"
            ));
        } else {
            self.cuda_line(&format!(
                "@{target} = __shfl_sync(0xffffffffu, {value}, (int)({lane}));"
            ));
        }
        // The lanes are read before any target changes: they may depend on it.
        let mask = if half { 15 } else { 31 };
        self.c_line(&format!("from[tid] = tid - (tid & {mask}) + (int)(({lane}) & {mask}u);"));
        if half {
            self.line("}");
        }
        self.threads_end();
        self.threads_begin();
        let guard = if half { "if ((tid & 16) != 0) " } else { "" };
        self.c_line(&format!("{guard}@{target} = t{array}[from[tid]];"));
        self.threads_end();
    }

    /// The reduction that people write: halves the distance, and all lanes end with the result.
    fn butterfly(&mut self) {
        let (kind, array) = [(Kind::Unsigned, "s_u"), (Kind::ULong, "s_q"), (Kind::Float, "s_f")]
            [self.choice.below(3)];
        let target = self.target(kind);
        let o = self.name("o");
        let (call, source) = match self.choice.below(2) {
            0 => ("xor", format!("tid ^ {o}")),
            _ => ("down", format!("tid % 32 + {o} < 32 ? tid + {o} : tid")),
        };
        let floats = kind == Kind::Float;
        let (value, other) = match (floats, self.choice.below(3)) {
            (true, _) | (false, 0) => (format!("@{target}"), "OTHER + @TARGET"),
            (false, 1) => (format!("(@{target} >> 1)"), "max(@TARGET, OTHER)"),
            (false, _) => (format!("@{target}"), "(OTHER << 1) ^ @TARGET"),
        };
        let other = other.replace("TARGET", target);
        self.line(&format!("for (int {o} = 16; {o} > 0; {o} >>= 1) {{"));
        self.depth += 1;
        let shuffled = format!("__shfl_{call}_sync(0xffffffffu, {value}, {o})");
        let got = self.name("g");
        self.cuda_line(&format!("{} {got} = {shuffled};", kind.c_name()));
        self.cuda_line(&format!("@{target} = {};", other.replace("OTHER", &got)));
        self.publish(array, &value);
        self.threads_begin();
        self.c_line(&format!("{} {got} = t{array}[{source}];", kind.c_name()));
        self.c_line(&format!("@{target} = {};", other.replace("OTHER", &got)));
        self.threads_end();
        self.depth -= 1;
        self.line("}");
    }

    /// Which lanes have the same value, or what all of a warp have together.
    fn matching(&mut self) {
        let value = self.value(Kind::Unsigned, 2);
        let target = self.target(Kind::Unsigned);
        let (call, combine) = match self.choice.below(4) {
            0 | 1 => (
                format!("__match_any_sync(0xffffffffu, ({value}) & 3u)"),
                "r |= (unsigned)((ts_u[k] & 3u) == (ts_u[tid] & 3u)) << (k & 31)",
            ),
            2 => (format!("__reduce_add_sync(0xffffffffu, {value})"), "r += ts_u[k]"),
            _ => (format!("__reduce_or_sync(0xffffffffu, {value})"), "r |= ts_u[k]"),
        };
        self.cuda_line(&format!("@{target} ^= {call};"));
        self.publish("s_u", &value);
        self.threads_begin();
        self.c_line("unsigned r = 0;");
        self.c_line(&format!("for (int k = tid - tid % 32, e = k + 32; k < e; k++) {combine};"));
        self.c_line(&format!("@{target} ^= r;"));
        self.threads_end();
    }

    /// A vote of a warp.
    fn vote(&mut self) {
        match self.choice.below(3) {
            0 => self.count_votes("__ballot_sync(0xffffffffu, ", true, "r |= ts_u[k] << (k & 31)"),
            1 => self.count_votes("(unsigned)__any_sync(0xffffffffu, ", true, "r |= ts_u[k]"),
            _ => self.count_votes("(unsigned)__all_sync(0xffffffffu, ", true, "r |= !ts_u[k]"),
        }
    }

    /// A barrier that counts or combines a condition.
    pub(super) fn barrier_vote(&mut self) {
        match self.choice.below(3) {
            0 => self.count_votes("(unsigned)__syncthreads_count(", false, "r += ts_u[k]"),
            1 => self.count_votes("(unsigned)(0 != __syncthreads_or(", false, "r |= ts_u[k]"),
            _ => self.count_votes("(unsigned)(0 != __syncthreads_and(", false, "r |= !ts_u[k]"),
        }
    }

    fn count_votes(&mut self, call: &str, warp: bool, combine: &str) {
        let condition = self.condition(2);
        let target = self.target(Kind::Unsigned);
        let block = self.launch.block;
        let all = combine.contains('!');
        let close = if call.contains("0 != ") { "))" } else { ")" };
        self.cuda_line(&format!("@{target} ^= {call}{condition}{close};"));
        self.publish("s_u", &condition);
        self.threads_begin();
        let (first, count) = if warp { ("tid - tid % 32", 32) } else { ("0", block) };
        self.c_line("unsigned r = 0;");
        self.c_line(&format!("for (int k = {first}, e = k + {count}; k < e; k++) {combine};"));
        self.c_line(&format!("@{target} ^= {};", if all { "!r" } else { "r" }));
        self.threads_end();
    }
}
