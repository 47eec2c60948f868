//! Statements of one thread on its own variables: the same text in both languages.

use super::value::Kind;
use super::{Generator, NARROW, POOL};

impl Generator<'_> {
    pub(super) fn statement(&mut self, size: usize) {
        match self.choice.below(19) {
            0 | 1 => self.assignment(),
            2 => self.declaration(),
            3 => self.narrow(),
            4 => self.call(),
            5 if size > 0 => self.branch(size - 1),
            6 if size > 0 && self.loops < 2 => self.counted_loop(size - 1),
            7 if size > 0 && self.loops < 2 => self.while_loop(size - 1),
            8 if size > 0 => self.switch(size - 1),
            9 => self.local_array(),
            10 => self.increment(),
            11 | 12 => self.structure(),
            13 => self.vector(),
            14 => self.pointer(),
            15 => self.compound(),
            16 if size > 0 && self.loops < 2 => self.endless_loop(size - 1),
            17 => self.lambda(),
            _ => self.assignment(),
        }
    }

    fn declaration(&mut self) {
        let kind = Kind::ALL[self.choice.below(Kind::ALL.len())];
        let value = self.value(kind, 3);
        let name = self.name("t");
        self.line(&format!("{} {name} = {value};", kind.c_name()));
        self.locals.push((name, kind, true));
    }

    /// A variable that can be assigned, as the texts spell it.
    fn assignable(&mut self) -> (String, Kind) {
        let locals: Vec<(String, Kind)> =
            self.locals.iter().filter(|l| l.2).map(|l| (l.0.clone(), l.1)).collect();
        if !locals.is_empty() && self.choice.chance(30) {
            return locals[self.choice.below(locals.len())].clone();
        }
        let (name, kind) = POOL[self.choice.below(POOL.len())];
        (format!("@{name}"), kind)
    }

    fn assignment(&mut self) {
        let (name, kind) = self.assignable();
        let value = self.value(kind, 3);
        let op = match kind {
            Kind::Int | Kind::Long => "=",
            Kind::Unsigned | Kind::ULong => {
                self.choice.pick(&["=", "+=", "-=", "*=", "^=", "|=", "&="])
            }
            Kind::Float | Kind::Double => self.choice.pick(&["=", "=", "+=", "-=", "*="]),
        };
        self.line(&format!("{name} {op} {value};"));
    }

    /// Arithmetic on a type that promotes to `int`: it is done in `unsigned` and cut off.
    fn narrow(&mut self) {
        let (name, ty) = NARROW[self.choice.below(NARROW.len())];
        let value = self.value(Kind::Unsigned, 2);
        let by = 1 + self.choice.below(3);
        match self.choice.below(5) {
            0 => self.line(&format!("@{name} = ({ty})({value});")),
            1 => self.line(&format!("@{name} ^= {value};")),
            2 => self.line(&format!("@{name}++;")),
            3 => self.line(&format!("@{name} >>= {by};")),
            _ => self.line(&format!("@{name} += {value};")),
        }
    }

    fn call(&mut self) {
        let value = self.value(Kind::Unsigned, 2);
        let (u, f) = (self.choice.pick(&["u0", "u1", "u2"]), self.choice.pick(&["f0", "f1"]));
        self.line(&format!("twist(&@{u}, &@{f}, {value});"));
    }

    /// Assignments that compute, and several in one statement.
    fn compound(&mut self) {
        let value = self.value(Kind::Unsigned, 2);
        match self.choice.below(6) {
            0 => self.line(&format!("@u0 <<= ({value}) & 31u;")),
            1 => self.line(&format!("@q0 >>= ({value}) & 63u;")),
            2 => self.line(&format!("@u1 %= ({value}) | 1u;")),
            3 => self.line(&format!("@q0 /= ({value}) | 1u, @u2 = (unsigned)@q0;")),
            4 => self.line(&format!("@u0 = @u1 = {value};")),
            _ => {
                let (condition, z) = (self.condition(2), self.name("z"));
                self.line(&format!("bool {z} = {condition};"));
                self.line(&format!("@x0 ^= {z}, {z} = !{z} && ({value}) > 'a', @u1 += {z};"));
            }
        }
    }

    /// A function object called where it is written; in C its body.
    fn lambda(&mut self) {
        let (value, factor) = (self.value(Kind::Unsigned, 2), 1 + self.choice.below(9));
        self.cuda_line(&format!(
            "@u1 = [&](unsigned z) {{ @u0 += z; return z * {factor}u ^ @u2; }}({value});"
        ));
        let z = self.name("z");
        self.c_line(&format!("unsigned {z} = {value};"));
        self.c_line(&format!("@u0 += {z}, @u1 = {z} * {factor}u ^ @u2;"));
    }

    /// A loop that only a `break` ends.
    fn endless_loop(&mut self, size: usize) {
        let k = self.name("w");
        let start = self.value(Kind::Unsigned, 1);
        self.line(&format!("unsigned {k} = ({start}) & 7u;"));
        let head = self.choice.pick(&["for (;;) {", "while (true) {"]);
        self.line(head);
        self.loops += 1;
        self.scope(|g| {
            g.line(&format!("if ({k}++ > 6u)"));
            g.line("    break;");
            g.statement(size);
        });
        self.loops -= 1;
        self.line("}");
    }

    /// Side effects whose order C and C++ define.
    fn increment(&mut self) {
        let condition = self.condition(1);
        match self.choice.below(4) {
            0 => self.line("@u0 = @u1++ ^ 5u;"),
            1 => self.line("@u1 = --@u2 + 1u;"),
            2 => {
                self.line(&format!("if ({condition} && @u0++ > 9u)"));
                self.line("    @u2 += 2u;");
            }
            _ => {
                self.line(&format!("if ({condition} || ++@q0 % 3u == 0u)"));
                self.line("    @l0 = ~@l0 / 2;");
            }
        }
    }

    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        let locals = self.locals.len();
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.locals.truncate(locals);
    }

    fn branch(&mut self, size: usize) {
        let condition = self.condition(2);
        self.line(&format!("if ({condition}) {{"));
        self.scope(|g| {
            g.statement(size);
            g.statement(size);
        });
        if self.choice.chance(60) {
            self.line("} else {");
            self.scope(|g| g.statement(size));
        }
        self.line("}");
    }

    /// A loop whose number of iterations differs between threads.
    fn counted_loop(&mut self, size: usize) {
        let k = self.name("k");
        let limit = self.value(Kind::Unsigned, 1);
        let (head, last) = match self.choice.below(3) {
            0 => (
                format!("for (unsigned {k} = 0u, e{k} = ({limit}) & 7u; {k} < e{k}; {k}++) {{"),
                "0u",
            ),
            1 => (format!("for (unsigned {k} = ({limit}) & 7u; {k} > 0u; {k}--) {{"), "2u"),
            _ => {
                (format!("for (unsigned {k} = 1u; {k} <= (unsigned)(tid & 5); {k} += 2u) {{"), "3u")
            }
        };
        self.line(&head);
        self.loops += 1;
        self.scope(|g| {
            g.locals.push((k.clone(), Kind::Unsigned, false));
            g.statement(size);
            if g.choice.chance(50) {
                let (condition, leave) = (g.condition(1), g.choice.pick(&["break", "continue"]));
                g.line(&format!("if ({condition} && {k} != {last})"));
                g.line(&format!("    {leave};"));
            }
            g.assignment();
        });
        self.loops -= 1;
        self.line("}");
    }

    fn while_loop(&mut self, size: usize) {
        let k = self.name("w");
        let start = self.value(Kind::Unsigned, 1);
        let until = self.choice.chance(50);
        self.line(&format!("int {k} = (int)(({start}) & 15u);"));
        self.line(&if until { "do {".to_string() } else { format!("while ({k} > 0) {{") });
        self.loops += 1;
        self.scope(|g| {
            g.line(&format!("{k} -= 3;"));
            if g.choice.chance(40) {
                let condition = g.condition(1);
                g.line(&format!("if ({condition})"));
                g.line("    continue;");
            }
            g.statement(size);
        });
        self.loops -= 1;
        self.line(&if until { format!("}} while ({k} > 0);") } else { "}".to_string() });
    }

    fn switch(&mut self, size: usize) {
        let value = self.value(Kind::Unsigned, 2);
        self.line(&format!("switch (({value}) % 5u) {{"));
        for label in ["case 0:", "case 1:", "case 3:", "default:"] {
            self.line(&format!("{label} {{"));
            self.scope(|g| g.statement(size));
            self.line("}");
            // Falling through is a case of its own.
            if self.choice.chance(65) {
                self.line("    break;");
            }
        }
        self.line("}");
    }

    fn local_array(&mut self) {
        let name = self.name("v");
        let k = self.name("j");
        let (value, index) = (self.value(Kind::Unsigned, 2), self.value(Kind::Unsigned, 1));
        self.line(&format!("unsigned {name}[4];"));
        self.line(&format!("for (int {k} = 0; {k} < 4; {k}++)"));
        self.line(&format!("    {name}[{k}] = ({value}) * (unsigned)(3 * {k} + 1);"));
        self.line(&format!("{name}[({index}) & 3u] ^= 11u;"));
        let at = self.choice.below(4);
        self.line(&format!("@u2 += {name}[{at}] + {name}[(@u0 >> 3) & 3u];"));
    }
}
