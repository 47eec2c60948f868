//! Expressions: the same text in both languages, without undefined behaviour in either.

use super::{Generator, NARROW, POOL};

/// The types of expressions; narrower ones occur as leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Int,
    Unsigned,
    Long,
    ULong,
    Float,
    Double,
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Int, Kind::Unsigned, Kind::Long, Kind::ULong, Kind::Float, Kind::Double];

    pub fn c_name(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Unsigned => "unsigned",
            Kind::Long => "long long",
            Kind::ULong => "unsigned long long",
            Kind::Float => "float",
            Kind::Double => "double",
        }
    }
}

impl Generator<'_> {
    pub(super) fn condition(&mut self, size: usize) -> String {
        match self.choice.below(9) {
            3 if size > 0 => {
                let (a, b) = (self.value(Kind::Float, size), self.value(Kind::Float, size));
                format!("__hlt(__float2half({a}), __float2half({b}))")
            }
            0 if size > 0 => {
                let (a, b) = (self.condition(size - 1), self.condition(size - 1));
                let op = self.choice.pick(&["&&", "||"]);
                format!("({a} {op} {b})")
            }
            1 if size > 0 => format!("(!{})", self.condition(size - 1)),
            2 => self.choice.pick(&["(tid % 3 == 1)", "(i < n)", "((tid & 4) != 0)"]).to_string(),
            _ => {
                let kind = Kind::ALL[self.choice.below(Kind::ALL.len())];
                let (a, b) = (self.value(kind, size), self.value(kind, size));
                let op = self.choice.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({a} {op} {b})")
            }
        }
    }

    /// An expression of a kind, at most `size` operators deep.
    pub(super) fn value(&mut self, kind: Kind, size: usize) -> String {
        if size == 0 || self.choice.is_empty() || self.choice.chance(25) {
            return self.leaf(kind);
        }
        let size = size - 1;
        if self.choice.chance(10) {
            let condition = self.condition(size.min(1));
            let (a, b) = (self.value(kind, size), self.value(kind, size));
            return format!("({condition} ? {a} : {b})");
        }
        match kind {
            Kind::Int => self.int(size),
            Kind::Unsigned => self.unsigned(size),
            Kind::Long => self.long(size),
            Kind::ULong => self.ulong(size),
            Kind::Float => self.float(size),
            Kind::Double => self.double(size),
        }
    }

    fn int(&mut self, size: usize) -> String {
        let a = self.value(Kind::Int, size);
        match self.choice.below(10) {
            0 => format!("(int)fminf(fmaxf({}, -1000.0f), 1000.0f)", self.value(Kind::Float, size)),
            1 => format!("(int)({})", self.value(Kind::Unsigned, size)),
            2 => format!("(int)({})", self.value(Kind::Long, size)),
            3 => format!("({a} >> {})", self.choice.below(32)),
            4 => {
                let b = self.value(Kind::Int, size);
                let op = self.choice.pick(&["/", "%"]);
                format!("({a} {op} (({b} & 1023) + 1))")
            }
            5 => {
                let b = self.value(Kind::Int, size);
                format!("{}({a}, {b})", self.choice.pick(&["min", "max", "__mulhi"]))
            }
            6 => format!("{}({a})", self.choice.pick(&["__clz", "__ffs", "~", "!"])),
            7 => format!("__popc({})", self.value(Kind::Unsigned, size)),
            8 => {
                let b = self.value(Kind::Int, size);
                format!("({a} {} {b})", self.choice.pick(&["&", "|", "^"]))
            }
            // Sums of what may be any number are made where they wrap.
            _ => {
                let b = self.value(Kind::Int, size);
                let op = self.choice.pick(&["+", "-", "*"]);
                format!("(int)((unsigned)({a}) {op} (unsigned)({b}))")
            }
        }
    }

    fn unsigned(&mut self, size: usize) -> String {
        let a = self.value(Kind::Unsigned, size);
        match self.choice.below(15) {
            11 => format!("table[({a}) & 7u]"),
            12 => {
                let (k, b) = (self.choice.below(4), self.value(Kind::Unsigned, size));
                format!("PICK({k}, (unsigned)({a}), (unsigned)({b}))")
            }
            13 => {
                let (k, b) = (self.choice.below(40), self.value(Kind::Unsigned, size));
                format!("__funnelshift_r({a}, {b}, {k})")
            }
            14 => format!("({a} + (unsigned)sizeof(struct Part))"),
            0 => format!("(~{a})"),
            1 => {
                let op = self.choice.pick(&["<<", ">>"]);
                let b = self.value(Kind::Unsigned, size);
                format!("({a} {op} ({b} & 31u))")
            }
            2 => {
                let b = self.value(Kind::Unsigned, size);
                format!("({a} {} ({b} | 1u))", self.choice.pick(&["/", "%"]))
            }
            3 => format!("({a} + (unsigned)({}))", self.value(Kind::Int, size)),
            4 => format!("(unsigned)({})", self.value(Kind::ULong, size)),
            5 => format!("__brev({a})"),
            6 => {
                let b = self.value(Kind::Unsigned, size);
                format!("{}({a}, {b})", self.choice.pick(&["min", "max", "__umulhi"]))
            }
            7 => {
                let (b, c) = (self.value(Kind::Unsigned, size), self.value(Kind::Unsigned, size));
                let call = self.choice.pick(&["__funnelshift_l", "__byte_perm"]);
                format!("{call}({a}, {b}, {c})")
            }
            8 => {
                let k = self.value(Kind::Int, size);
                format!("mix({a}, {k})")
            }
            // Within the range of the conversion, NaN included.
            9 => {
                let x = self.value(Kind::Double, size);
                format!("(unsigned)fmin(fmax({x}, 0.0), 4e9)")
            }
            _ => {
                let b = self.value(Kind::Unsigned, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*", "&", "|", "^"]))
            }
        }
    }

    fn long(&mut self, size: usize) -> String {
        let a = self.value(Kind::Long, size);
        match self.choice.below(6) {
            4 => format!("(long long)__clzll({a})"),
            0 => format!("((long long)({}) * 70001)", self.value(Kind::Int, size)),
            1 => format!("(long long)({})", self.value(Kind::ULong, size)),
            2 => format!("({a} >> {})", self.choice.below(64)),
            3 => {
                let b = self.value(Kind::Long, size);
                let op = self.choice.pick(&["/", "%"]);
                format!("({a} {op} (({b} & 65535) + 2))")
            }
            _ => {
                let b = self.value(Kind::Unsigned, size);
                format!("({a} / 2 {} ({b}))", self.choice.pick(&["+", "-"]))
            }
        }
    }

    fn ulong(&mut self, size: usize) -> String {
        let a = self.value(Kind::ULong, size);
        match self.choice.below(6) {
            0 => format!("({a} {} {})", self.choice.pick(&["<<", ">>"]), self.choice.below(64)),
            1 => format!("(unsigned long long)({})", self.value(Kind::Int, size)),
            2 => {
                let b = self.value(Kind::Unsigned, size);
                format!("((unsigned long long)({b}) * 0x100000001ull)")
            }
            3 => {
                let b = self.value(Kind::ULong, size);
                format!("({a} {} ({b} | 3u))", self.choice.pick(&["/", "%"]))
            }
            4 => format!("({a} + (unsigned long long)__popcll({a}))"),
            _ => {
                let b = self.value(Kind::ULong, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*", "&", "|", "^"]))
            }
        }
    }

    fn float(&mut self, size: usize) -> String {
        let a = self.value(Kind::Float, size);
        match self.choice.below(12) {
            10 => {
                let b = self.value(Kind::Float, size);
                let call = self.choice.pick(&["__hadd", "__hsub", "__hmul"]);
                format!("__half2float({call}(__float2half({a}), __float2half({b})))")
            }
            11 => format!("__half2float(__float2half({a}))"),
            0 => format!("sqrtf(fabsf({a}))"),
            1 => {
                format!("{}({a})", self.choice.pick(&["floorf", "ceilf", "truncf", "rintf", "-"]))
            }
            2 => {
                let (b, c) = (self.value(Kind::Float, size), self.value(Kind::Float, size));
                format!("fmaf({a}, {b}, {c})")
            }
            3 => format!("({a} / (1.0f + {a} * {a}))"),
            4 => format!("(float)({})", self.value(Kind::Double, size)),
            5 => format!("(float)({})", self.value(Kind::Unsigned, size)),
            6 => format!("(float)({})", self.value(Kind::Long, size)),
            // A finite number whatever the bits: the exponent is masked.
            7 => {
                let b = self.value(Kind::Unsigned, size);
                format!("__uint_as_float(({b} & 0x807fffffu) | 0x3f000000u)")
            }
            _ => {
                let b = self.value(Kind::Float, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*"]))
            }
        }
    }

    fn double(&mut self, size: usize) -> String {
        let a = self.value(Kind::Double, size);
        match self.choice.below(6) {
            0 => format!("({a} * {})", self.value(Kind::Float, size)),
            1 => format!("({a} + {})", self.value(Kind::Int, size)),
            2 => format!("{}({a})", self.choice.pick(&["floor", "sqrt", "fabs", "-"])),
            3 => format!("(double)({})", self.value(Kind::ULong, size)),
            4 => {
                let b = self.value(Kind::Double, size);
                format!("fma({a}, {b}, 0.5)")
            }
            _ => {
                let b = self.value(Kind::Double, size);
                format!("({a} {} {b})", self.choice.pick(&["+", "-", "*", "/"]))
            }
        }
    }

    /// A constant, a variable, an index, or an element of an input that every thread may read.
    fn leaf(&mut self, kind: Kind) -> String {
        let mut names: Vec<String> =
            self.locals.iter().filter(|l| l.1 == kind).map(|l| l.0.clone()).collect();
        names.extend(POOL.iter().filter(|p| p.1 == kind).map(|p| format!("@{}", p.0)));
        if kind == Kind::Int {
            names.extend(NARROW.iter().map(|p| format!("@{}", p.0)));
            names.extend(["tid", "i", "block", "n"].map(String::from));
        }
        if self.choice.chance(60) {
            return names[self.choice.below(names.len())].clone();
        }
        let element = format!("(tid + {}) % n", self.choice.below(40));
        let read = self.choice.chance(50);
        match kind {
            Kind::Int if read => format!("a[{element}]"),
            Kind::Unsigned if read => format!("b[{element}]"),
            Kind::Float if read => format!("c[{element}]"),
            Kind::Double if read => format!("d[{element}]"),
            Kind::Int => self.choice.pick(&["0", "1", "7", "-3", "0x7fffffff"]).to_string(),
            Kind::Unsigned => {
                self.choice.pick(&["0u", "1u", "17u", "0xffffffffu", "4000000000u"]).to_string()
            }
            Kind::Long => self.choice.pick(&["0ll", "-1ll", "5000000000ll"]).to_string(),
            Kind::ULong => self.choice.pick(&["0ull", "3ull", "0xfedcba9876543210ull"]).to_string(),
            Kind::Float => {
                self.choice.pick(&["0.0f", "1.0f", "0.1f", "-2.5f", "3e10f", "1e-20f"]).to_string()
            }
            Kind::Double => self.choice.pick(&["0.0", "1.0", "0.1", "-1e100", "2.5"]).to_string(),
        }
    }
}
