//! The same graph as a picture that any browser shows: a band for each kernel in the order of launches, in it its calls in their
//! order, and arrows for the values that go between them. Lines that cross do so at right angles; none crosses a text.

mod layout;

use std::fmt::Write;

use self::layout::{ARROW, BOX, Band, FRAME, Layout, MARGIN, ROW, TITLE};
use crate::plan::{Covered, Planner};

const REGISTERS: &str = "#2a7d3f";
const SHARED: &str = "#1f5fa8";
const GLOBAL: &str = "#555555";

/// The picture of a cover.
pub fn svg(planner: &Planner<'_>, name: &str, cover: &Covered) -> String {
    let layout = layout::layout(planner, &cover.launches);
    let mut picture = Picture { planner, layout: &layout, body: String::new() };
    picture.frames();
    for band in &layout.bands {
        picture.band(band);
    }
    picture.lanes();
    let (width, height) =
        (layout.left + layout.width.max(460) + 2 * MARGIN, layout.bottom + 2 * MARGIN);
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
        let x = layout.left + k as i32 * 150;
        let _ = writeln!(text, "<text x=\"{x}\" y=\"{y}\" fill=\"{color}\">→ {what}</text>");
    }
    text + "</svg>\n"
}

struct Picture<'a> {
    planner: &'a Planner<'a>,
    layout: &'a Layout,
    body: String,
}

impl Picture<'_> {
    fn frames(&mut self) {
        let deepest = self.layout.frames.iter().map(|f| f.depth).max().unwrap_or(0);
        for frame in &self.layout.frames {
            let out = (deepest - frame.depth + 1) * FRAME;
            let (x, y) = (self.layout.left - out, frame.top);
            let (width, height) = (self.layout.width + 2 * out, frame.bottom - frame.top);
            let _ = writeln!(
                self.body,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"none\" stroke=\"#999\" stroke-dasharray=\"6 4\"/>\n<text x=\"{}\" y=\"{}\" fill=\"#777\">{} times</text>",
                x + FRAME,
                y + 18,
                frame.trips
            );
        }
    }

    fn band(&mut self, band: &Band) {
        let (left, top) = (self.layout.left, band.top);
        let _ = writeln!(
            self.body,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"#fdf6d8\" stroke=\"#d9c97a\"/>\n<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            self.layout.band_width(band),
            band.height(),
            left + 10,
            top + 18,
            band.title
        );
        for c in 0..band.kernel.calls.len() {
            self.call(band, c);
        }
        self.arcs(band);
        self.incoming(band);
        self.outgoing(band);
    }

    fn call(&mut self, band: &Band, c: usize) {
        let (planner, call) = (self.planner, &band.kernel.calls[c]);
        let (x, y) = self.layout.place(band, c);
        let function = &planner.library.function(call.function).name;
        let name = format!("{function}_{}", planner.implementation(call).name);
        let result = call.variables.last().map(|v| band.kernel.variables[*v].id);
        let made = result.map_or(String::new(), |v| planner.variable_name(v));
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"white\" stroke=\"#333\"/>",
            BOX.0, BOX.1
        );
        let middle = x + BOX.0 / 2;
        self.text((middle, y + 17), "middle", "#000", &shortened(&name, 18));
        self.text((middle, y + 33), "middle", "#777", &shortened(&format!("gives {made}"), 18));
    }

    /// Straight from box to box, or up, along its row and down.
    fn arcs(&mut self, band: &Band) {
        for (k, arc) in band.arcs.iter().enumerate() {
            let (kind, color) = if arc.registers { ("r", REGISTERS) } else { ("s", SHARED) };
            let ((fx, y), (tx, _)) =
                (self.layout.place(band, arc.from), self.layout.place(band, arc.to));
            let Some(level) = arc.level else {
                let (from, to, half) = (fx + BOX.0, tx, y + BOX.1 / 2);
                self.path(&format!("M{from} {half} H{to}"), color, Some(kind));
                self.text(((from + to) / 2, half - 5), "middle", color, &arc.name);
                continue;
            };
            // Ends of several arcs are beside each other, and so are their beginnings.
            let others = band.arcs[..k].iter().filter(|a| a.level.is_some());
            let (mut leaving, mut arriving) = (0, 0);
            for other in others {
                leaving += i32::from(other.from == arc.from);
                arriving += i32::from(other.to == arc.to);
            }
            let (from, to) = (fx + BOX.0 - 8 - 10 * leaving.min(4), tx + 10 + 10 * arriving.min(4));
            let over = y - 14 - level * layout::LEVEL;
            self.path(&format!("M{from} {y} V{over} H{to} V{y}"), color, Some(kind));
            self.text((fx + BOX.0 - 2, over - 3), "start", color, &arc.name);
        }
    }

    fn incoming(&mut self, band: &Band) {
        for c in 0..band.kernel.calls.len() {
            let own: Vec<&layout::Incoming> =
                band.incoming.iter().filter(|i| i.call == c).collect();
            if own.is_empty() {
                continue;
            }
            let (x, y) = self.layout.place(band, c);
            let x = x + BOX.0 / 2;
            let top = band.top + TITLE + band.rows_in() + 4;
            self.path(&format!("M{x} {top} V{y}"), GLOBAL, Some("g"));
            let names: Vec<&str> = own.iter().map(|i| i.name.as_str()).collect();
            let most = ((BOX.0 + self.layout.gap - 12) / layout::LETTER) as usize;
            self.text((x + 6, top + 11), "start", GLOBAL, &shortened(&names.join(", "), most));
        }
    }

    fn outgoing(&mut self, band: &Band) {
        for (c, _) in &band.outgoing {
            let (x, y) = self.layout.place(band, *c);
            let (x, y) = (x + BOX.0 / 2, y + BOX.1);
            let result = band.kernel.calls[*c].variables.last();
            let made = result.map(|v| self.planner.variable_name(band.kernel.variables[*v].id));
            self.path(&format!("M{x} {y} V{}", y + ARROW - 4), GLOBAL, Some("g"));
            let most = ((BOX.0 + self.layout.gap - 12) / layout::LETTER) as usize;
            self.text(
                (x + 6, y + 20),
                "start",
                GLOBAL,
                &shortened(&made.unwrap_or_default(), most),
            );
        }
    }

    /// From the row below a call along its lane to the rows of those that read it.
    fn lanes(&mut self) {
        for band in &self.layout.bands {
            let rows = band.outgoing.iter().filter_map(|(c, lane)| Some((*c, (*lane)?)));
            for (row, (c, lane)) in rows.enumerate() {
                let (x, y) = self.layout.place(band, c);
                let (x, bottom) = (x + BOX.0 / 2, y + BOX.1 + ARROW);
                let along = bottom + row as i32 * ROW;
                let lane_x = self.layout.lane_x(lane);
                let last = &self.layout.bands[self.layout.lanes[lane].to];
                let end = last.row_of(lane).unwrap_or(along);
                let text = format!("M{x} {} V{along} H{lane_x} V{end}", bottom - 4);
                self.dashed(&text);
            }
            for (along, c, lane) in band.rows() {
                let x = self.layout.place(band, c).0 + BOX.0 / 2;
                let top = band.top + TITLE + band.rows_in() + 4;
                self.dashed(&format!("M{} {along} H{x} V{top}", self.layout.lane_x(lane)));
            }
        }
    }

    fn path(&mut self, d: &str, color: &str, end: Option<&str>) {
        let end = end.map_or(String::new(), |kind| format!(" marker-end=\"url(#{kind})\""));
        let _ = writeln!(self.body, "<path d=\"{d}\" stroke=\"{color}\" fill=\"none\"{end}/>");
    }

    fn dashed(&mut self, d: &str) {
        let _ = writeln!(
            self.body,
            "<path d=\"{d}\" stroke=\"{GLOBAL}\" fill=\"none\" stroke-dasharray=\"3 3\"/>"
        );
    }

    fn text(&mut self, (x, y): (i32, i32), anchor: &str, color: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{color}\">{}</text>",
            escaped(text)
        );
    }
}

/// At most so many letters.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
