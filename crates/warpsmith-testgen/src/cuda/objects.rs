//! Statements on structs, vectors and pointers: the same text in both languages.

use super::Generator;
use super::value::Kind;

impl Generator<'_> {
    /// A statement on the thread's struct, or on a copy of it.
    pub(super) fn structure(&mut self) {
        let (u, f) = (self.value(Kind::Unsigned, 2), self.value(Kind::Float, 2));
        match self.choice.below(7) {
            0 => self.line(&format!("@p0 = turn(@p0, (int)({u}));")),
            1 => self.line(&format!("@p0.k ^= {u};")),
            2 => self.line(&format!("@p0.x = {f};")),
            3 => self.line(&format!("@p0.v[({u}) % 3u] = @p0.v[@u0 % 3u] ^ @x0;")),
            4 => {
                let p = self.name("p");
                self.line(&format!("struct Part {p} = @p0;"));
                self.line(&format!("{p}.s = (short)({u});"));
                self.line(&format!("@u1 += fold(&{p}) ^ fold(&@p0);"));
                if self.choice.chance(50) {
                    self.line(&format!("@p0 = {p};"));
                }
            }
            5 => {
                let p = self.name("p");
                self.line(&format!("struct Part *{p} = &@p0;"));
                self.line(&format!("{p}->s += (short)(({u}) & 63u);"));
                self.line(&format!("{p}->v[1] = ~{p}->v[1], {p}->v[2] ^= (int){p}->k;"));
            }
            _ => {
                let p = self.name("p");
                let at = self.value(Kind::Unsigned, 1);
                self.line(&format!("struct Part {p}[2] = {{@p0, @p0}};"));
                self.line(&format!("{p}[({at}) & 1u].k = {u};"));
                self.line(&format!("@u2 ^= fold({p}) + fold(&{p}[1]);"));
            }
        }
    }

    /// A vector made of values, or read from an input as a whole.
    pub(super) fn vector(&mut self) {
        let v = self.name("v");
        match self.choice.below(3) {
            0 => {
                let parts: Vec<String> = (0..4).map(|_| self.value(Kind::Float, 1)).collect();
                self.line(&format!("float4 {v} = make_float4({});", parts.join(", ")));
                self.line(&format!("{v}.y *= {v}.x;"));
                self.line(&format!("@f1 = ({v}.w - {v}.y) + {v}.z;"));
            }
            1 => {
                let at = self.value(Kind::Unsigned, 1);
                self.line(&format!("uint2 {v} = *(const uint2 *)(b + 2u * (({at}) & 7u));"));
                self.line(&format!("@u0 += {v}.x ^ ({v}.y >> 3);"));
            }
            _ => {
                let (a, b) = (self.value(Kind::Unsigned, 2), self.value(Kind::Unsigned, 2));
                let k = self.name("k");
                self.line(&format!("uint2 {v} = make_uint2({a}, {b}), {k} = {v};"));
                self.line(&format!("{k}.x = {v}.y, {k}.y += {v}.x;"));
                self.line(&format!("@u2 = {k}.x * 3u ^ {k}.y;"));
            }
        }
    }

    /// Pointers into inputs: arithmetic, differences, walks and comparisons.
    pub(super) fn pointer(&mut self) {
        let p = self.name("p");
        let at = self.value(Kind::Unsigned, 1);
        match self.choice.below(4) {
            0 => {
                self.line(&format!("const float *{p} = c + ({at}) % (unsigned)n;"));
                self.line(&format!("@f0 += *{p};"));
                self.line(&format!("@x1 ^= (int)({p} - c);"));
            }
            1 => {
                let e = self.name("e");
                let count = self.choice.below(6);
                self.line(&format!(
                    "for (const unsigned *{p} = b + (({at}) & 7u), *{e} = {p} + {count}; {p} < {e}; ++{p})"
                ));
                self.line(&format!("    @u1 = @u1 * 3u + *{p};"));
            }
            2 => {
                self.line(&format!("unsigned *{p} = (({at}) & 1u) ? &@u0 : &@u2;"));
                self.line(&format!("*{p} += 9u;"));
                self.line("BUMP(@u2, @u0);");
            }
            _ => {
                self.line(&format!("const int *{p} = &a[n - 1];"));
                self.line(&format!("if (*{p} > __ldg(a) || {p} - (({at}) & 7u) > a)"));
                self.line(&format!("    @x0 = {p}[-(int)(({at}) & 7u)];"));
            }
        }
    }
}
