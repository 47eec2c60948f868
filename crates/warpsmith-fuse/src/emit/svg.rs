//! The same graph as a picture that any browser shows: a band for each kernel in the order of launches, in it its calls in their
//! order, and arrows for the values that go between them.

use std::collections::HashMap;
use std::fmt::Write;

use crate::plan::{Covered, Home, KernelPlan, Launch, Planner};
use crate::script::VarId;

/// Sizes in pixels: of a call's box, of the room around it, and of a band's title.
const BOX: (i32, i32) = (130, 40);
const GAP: (i32, i32) = (70, 60);
const TITLE: i32 = 26;
const BAND: i32 = TITLE + BOX.1 + 2 * GAP.1;
const MARGIN: i32 = 20;
/// What a loop's frame stands out.
const FRAME: i32 = 8;

const REGISTERS: &str = "#2a7d3f";
const SHARED: &str = "#1f5fa8";
const GLOBAL: &str = "#555555";

/// The picture of a cover.
pub fn svg(planner: &Planner<'_>, name: &str, cover: &Covered) -> String {
    let mut picture =
        Picture { planner, body: String::new(), bands: 0, width: 0, made: HashMap::new() };
    picture.launches(&cover.launches, 0);
    let (width, height) =
        (picture.width.max(460) + MARGIN, (picture.bands * BAND) + 2 * MARGIN + TITLE);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    let _ = writeln!(text, "<title>{}</title>", escaped(name));
    text.push_str("<defs>\n");
    for (id, color) in [("r", REGISTERS), ("s", SHARED), ("g", GLOBAL)] {
        let _ = writeln!(
            text,
            "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"{color}\"/></marker>"
        );
    }
    let _ = writeln!(text, "</defs>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>");
    text.push_str(&picture.body);
    let y = height - MARGIN;
    for (k, (what, color)) in
        [("in registers", REGISTERS), ("in shared memory", SHARED), ("in device memory", GLOBAL)]
            .iter()
            .enumerate()
    {
        let x = MARGIN + k as i32 * 140;
        let _ = writeln!(text, "<text x=\"{x}\" y=\"{y}\" fill=\"{color}\">→ {what}</text>");
    }
    text + "</svg>\n"
}

struct Picture<'a> {
    planner: &'a Planner<'a>,
    body: String,
    bands: i32,
    width: i32,
    /// Where values that kernels leave in device memory come from.
    made: HashMap<VarId, (i32, i32)>,
}

impl Picture<'_> {
    fn launches(&mut self, launches: &[Launch], depth: i32) {
        for launch in launches {
            match launch {
                Launch::Kernel(kernel) => self.kernel(kernel),
                Launch::Loop { source, body } => {
                    let first = self.bands;
                    self.launches(body, depth + 1);
                    for c in &source.carried {
                        if let Some(at) = self.made.get(&c.next).copied() {
                            self.made.insert(c.inside, at);
                        }
                    }
                    for (inner, after) in &source.results {
                        if let Some(at) = self.made.get(inner).copied() {
                            self.made.insert(*after, at);
                        }
                    }
                    self.frame(first, source.trips, depth);
                }
            }
        }
    }

    fn frame(&mut self, first: i32, trips: u64, depth: i32) {
        let out = (FRAME - 2 * depth).max(2);
        let (x, y) = (MARGIN - out, MARGIN + first * BAND - out);
        let (width, height) =
            (self.width - MARGIN + 2 * out, (self.bands - first) * BAND - 6 + 2 * out);
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"none\" stroke=\"#999\" stroke-dasharray=\"6 4\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#777\">{trips} times</text>",
            x + width - 8,
            y + out + 18
        );
    }

    fn kernel(&mut self, kernel: &KernelPlan) {
        let top = MARGIN + self.bands * BAND;
        self.bands += 1;
        let width = kernel.calls.len() as i32 * (BOX.0 + GAP.0) + GAP.0;
        self.width = self.width.max(MARGIN + width);
        let [x, y, z] = kernel.shape;
        let _ = writeln!(
            self.body,
            "<rect x=\"{MARGIN}\" y=\"{top}\" width=\"{width}\" height=\"{}\" rx=\"8\" fill=\"#fdf6d8\" stroke=\"#d9c97a\"/>\n<text x=\"{}\" y=\"{}\" font-weight=\"bold\">kernel {}: {x}:{y}:{z} threads, {} elements a block, {} bytes shared, {} barriers</text>",
            BAND - 6,
            MARGIN + 10,
            top + 18,
            self.bands,
            kernel.elements,
            kernel.shared_floats * 4,
            kernel.barriers()
        );
        let place = |c: usize| (MARGIN + GAP.0 + c as i32 * (BOX.0 + GAP.0), top + TITLE + GAP.1);
        let mut own: HashMap<usize, usize> = HashMap::new();
        for (c, call) in kernel.calls.iter().enumerate() {
            self.arguments(kernel, c, &own, &place);
            self.call(kernel, c, place(c));
            if let Some(result) = call.variables.last() {
                own.insert(*result, c);
            }
        }
        for (variable, c) in &own {
            let v = &kernel.variables[*variable];
            if v.output {
                let (x, y) = place(*c);
                self.made.insert(v.id, (x + BOX.0 / 2, y + BOX.1));
            }
        }
    }

    fn call(&mut self, kernel: &KernelPlan, c: usize, (x, y): (i32, i32)) {
        let (planner, call) = (self.planner, &kernel.calls[c]);
        let name = format!(
            "{}_{}",
            planner.library.function(call.function).name,
            planner.implementation(call).name
        );
        let result = call.variables.last().map(|v| &kernel.variables[*v]);
        let made = result.map_or(String::new(), |v| planner.variable_name(v.id));
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"white\" stroke=\"#333\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#777\">gives {}</text>",
            BOX.0,
            BOX.1,
            x + BOX.0 / 2,
            y + 17,
            escaped(&name),
            x + BOX.0 / 2,
            y + 33,
            escaped(&made)
        );
        if result.is_some_and(|v| v.output) {
            let (cx, bottom) = (x + BOX.0 / 2, y + BOX.1);
            self.arrow((cx, bottom), (cx, bottom + 34), "g", &made);
        }
    }

    /// Arrows to a call: from calls before it in the kernel, from kernels before, from the script's inputs.
    fn arguments(
        &mut self,
        kernel: &KernelPlan,
        c: usize,
        own: &HashMap<usize, usize>,
        place: &dyn Fn(usize) -> (i32, i32),
    ) {
        let (x, y) = place(c);
        let variables = &kernel.calls[c].variables;
        let mut seen: Vec<usize> = vec![];
        let mut outside = vec![];
        for variable in &variables[..variables.len() - 1] {
            if seen.contains(variable) {
                continue;
            }
            seen.push(*variable);
            let v = &kernel.variables[*variable];
            let name = self.planner.variable_name(v.id);
            let kind = if matches!(v.home, Home::Shared { .. }) { "s" } else { "r" };
            match own.get(variable) {
                Some(from) if from + 1 == c => {
                    let (fx, fy) = place(*from);
                    self.arrow((fx + BOX.0, fy + BOX.1 / 2), (x, y + BOX.1 / 2), kind, &name);
                }
                Some(from) => {
                    let (fx, fy) = place(*from);
                    let over = fy - 12 - 6 * (c - from) as i32;
                    self.arc((fx + BOX.0 - 20, fy), (x + 14, y), over, kind, &name);
                }
                None => outside.push((v.id, name)),
            }
        }
        let names: Vec<&str> = outside.iter().map(|(_, name)| name.as_str()).collect();
        if !names.is_empty() {
            let from = (x + BOX.0 / 2 + 20, y - 34);
            self.arrow(from, (from.0, y), "g", &names.join(", "));
        }
        for (id, _) in outside {
            if let Some(made) = self.made.get(&id).copied() {
                let to = (x + BOX.0 / 2 + 20, y - 34);
                self.line((made.0, made.1 + 34), to);
            }
        }
    }

    fn arrow(&mut self, from: (i32, i32), to: (i32, i32), kind: &str, label: &str) {
        let ((x, y), color) = (((from.0 + to.0) / 2, (from.1 + to.1) / 2), color(kind));
        let (dx, dy, anchor) = if from.0 == to.0 { (6, 0, "start") } else { (0, -5, "middle") };
        let _ = writeln!(
            self.body,
            "<path d=\"M{} {} L{} {}\" stroke=\"{color}\" fill=\"none\" marker-end=\"url(#{kind})\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" fill=\"{color}\">{}</text>",
            from.0,
            from.1,
            to.0,
            to.1,
            x + dx,
            y + dy,
            escaped(label)
        );
    }

    /// Over the boxes between two calls.
    fn arc(&mut self, from: (i32, i32), to: (i32, i32), over: i32, kind: &str, label: &str) {
        let color = color(kind);
        let _ = writeln!(
            self.body,
            "<path d=\"M{} {} C{} {over} {} {over} {} {}\" stroke=\"{color}\" fill=\"none\" marker-end=\"url(#{kind})\"/>\n<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{color}\">{}</text>",
            from.0,
            from.1,
            from.0,
            to.0,
            to.0,
            to.1,
            (from.0 + to.0) / 2,
            over + 4,
            escaped(label)
        );
    }

    fn line(&mut self, from: (i32, i32), to: (i32, i32)) {
        let _ = writeln!(
            self.body,
            "<path d=\"M{} {} C{} {} {} {} {} {}\" stroke=\"{GLOBAL}\" fill=\"none\" stroke-dasharray=\"3 3\"/>",
            from.0,
            from.1,
            from.0,
            from.1 + 30,
            to.0,
            to.1 - 30,
            to.0,
            to.1
        );
    }
}

fn color(kind: &str) -> &'static str {
    match kind {
        "r" => REGISTERS,
        "s" => SHARED,
        _ => GLOBAL,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
