//! `ladder.html`: one page that needs no network, with bars, the code of each version beside that of the one before, and
//! pictures of what one warp's accesses ask of memory.

use std::collections::BTreeMap;

use warpsmith_device::TrafficKind;
use warpsmith_emu::counters::{BANKS, SECTOR};

use super::page::{
    as_compiled, capital, cpu_rows, cpu_title, fma_share, lecture, library, limits, on_device,
    predicted, sums, title,
};
use super::{Ladder, Version, code};
use crate::diff::{Side, compared};
use warpsmith_translate::tune::counters::View;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1300px;padding:0 1em;color:#222}\
table{border-collapse:collapse}td,th{padding:2px 8px;text-align:left}td.n{text-align:right}\
.bar{background:#3b78b5;height:1em}.code{table-layout:fixed;width:100%;font:12px/1.35 monospace}\
.code td{white-space:pre-wrap;vertical-align:top;padding:0 4px;overflow-wrap:anywhere}.code tr{height:1.35em}\
.old{background:#fbe4e4}.new{background:#e2f4e2}.why{border-left:4px solid #c80;padding-left:.6em}\
figure{margin:.6em 0}figcaption{font-size:13px}svg text{font:9px monospace}pre{background:#f4f4f4;padding:.5em}";

/// What the counters are, for those who meet them here.
const LEGEND: &str = "<p>A <b>sector</b> is 32 bytes, the unit in which global memory moves: a warp that reads 32 neighbouring floats needs four. \
Shared memory has 32 <b>banks</b> of 4-byte words; a <b>wavefront</b> is one turn in which each bank serves one word, to all lanes that want it. \
A <b>bank conflict</b> is a turn more, since two lanes want different words of one bank. \
<b>As compiled</b>: a compiler loads neighbouring words of shared memory together where it can see that they are aligned; 16 bytes a lane take two turns even where all lanes want the same.</p>\n";

/// The whole page.
pub fn page(ladder: &Ladder) -> String {
    let title = escaped(&title(ladder));
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
    );
    text += &kinds(ladder);
    text += LEGEND;
    text += &bars(ladder);
    for (name, why) in &ladder.left_out {
        text += &format!("<p>Left out: {}, because {}.</p>\n", escaped(name), escaped(why));
    }
    text += &cpu(ladder);
    for (k, version) in ladder.versions.iter().enumerate() {
        let before = k.checked_sub(1).and_then(|k| ladder.versions.get(k));
        text += &section(k, version, before);
    }
    text + "</body></html>\n"
}

/// What kinds of figures there are.
fn kinds(ladder: &Ladder) -> String {
    let counted = "sectors, wavefronts and conflicts are <b>emulated</b>: counted from the addresses of a run, of what compilers leave of the text: an element that a loop only adds to stays in a register.";
    match &ladder.on {
        Some(on) => format!(
            "<p>Bars show <b>{}</b> times, beside those that the device model <b>predicted</b>; {counted} {}</p>\n",
            escaped(&on.told.on(&on.device)),
            escaped(&capital(&limits(ladder).map_or(String::new(), |l| l + ".")))
        ),
        None => format!(
            "<p>Times are <b>predicted</b> by the device model; {counted} Nothing here was measured on a GPU.</p>\n"
        ),
    }
}

/// The table of all versions, with a bar for each time: the device's, else the predicted one.
fn bars(ladder: &Ladder) -> String {
    let predicted_seconds = |v: &Version| v.tuned.seconds.as_ref().and_then(|s| s.first()).copied();
    let seconds = |v: &Version| match &ladder.on {
        Some(_) => v.ms.map(|ms| ms / 1e3),
        None => predicted_seconds(v),
    };
    let longest = ladder.versions.iter().filter_map(seconds).fold(0.0, f64::max);
    let head =
        ladder.on.as_ref().map_or(String::new(), |on| format!("<th>{}</th>", on.told.word()));
    let mut text = format!(
        "<table><tr><th>version</th>{head}<th>predicted</th><th></th><th>FMA share</th><th>sectors</th><th>shared wavefronts</th><th>as compiled</th><th>bank conflicts</th></tr>\n"
    );
    for (k, v) in ladder.versions.iter().enumerate() {
        let s = sums(v);
        let width = seconds(v).map_or(0.0, |t| 300.0 * t / longest.max(f64::MIN_POSITIVE));
        text += &format!(
            "<tr><td><a href=\"#v{k}\">{}</a>{}</td>{}<td class=\"n\">{}</td><td><div class=\"bar\" style=\"width:{width:.0}px\"></div></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            escaped(&v.folder(k)),
            escaped(&lecture(v)),
            ladder
                .on
                .as_ref()
                .map_or(String::new(), |_| format!("<td class=\"n\">{}</td>", on_device(v))),
            predicted(v),
            fma_share(v),
            s.sectors,
            s.wavefronts,
            as_compiled(v),
            s.conflicts
        );
    }
    text += "</table>\n";
    if let Some(line) = library(ladder) {
        text += &format!("<p>{}.</p>\n", escaped(&capital(&line)));
    }
    text
}

/// The orders of the loops on the CPU, with a bar for each time.
fn cpu(ladder: &Ladder) -> String {
    let title = match cpu_title(ladder) {
        Ok(title) => title,
        Err(why) => return format!("<p>{}.</p>\n", with_code(&capital(&why))),
    };
    let times = |on: &super::OnCpu| on.orders.iter().map(|(_, ms)| *ms).collect::<Vec<_>>();
    let times = ladder.on_cpu.as_ref().map(times).unwrap_or_default();
    let longest = times.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut text = format!(
        "<h2>Before the GPU: the order of the loops</h2>\n<p>{}. Neighbouring iterations of the innermost loop should want neighbouring words.</p>\n<table><tr><th>loops</th><th>time</th><th></th><th>the innermost loop wants of</th></tr>\n",
        with_code(&capital(&title))
    );
    for ([loops, time, through], ms) in cpu_rows(ladder).iter().zip(times) {
        let width = 300.0 * ms.unwrap_or(0.0) / longest;
        text += &format!(
            "<tr><td>{}</td><td class=\"n\">{time}</td><td><div class=\"bar\" style=\"width:{width:.0}px\"></div></td><td>{}</td></tr>\n",
            escaped(loops),
            escaped(through)
        );
    }
    text + "</table>\n"
}

fn section(index: usize, version: &Version, before: Option<&Version>) -> String {
    let name = escaped(&version.name);
    let lecture = escaped(&lecture(version));
    let idea = with_code(&capital(&version.idea));
    let mut text =
        format!("<h2 id=\"v{index}\">{} {name}{lecture}</h2>\n<p>{idea}.</p>\n", index + 1);
    if !version.given_up.is_empty() {
        let steps = escaped(&version.given_up.join("; "));
        text += &format!("<p>Given up: <code>{steps}</code></p>\n");
    }
    for line in version.slower.iter().chain(&version.remarks) {
        text += &format!("<p class=\"why\">{}.</p>\n", with_code(&capital(line)));
    }
    text += &format!("<pre>{}</pre>\n", escaped(version.tuned.schedule.trim_end()));
    text += &match before {
        Some(before) => format!(
            "<details><summary>The code, beside that of the version before</summary>\n{}",
            side_by_side(shown(before), shown(version))
        ),
        None => format!(
            "<details><summary>The code</summary>\n<pre>{}</pre>\n",
            escaped(shown(version))
        ),
    };
    text += "</details>\n<details><summary>What one warp's accesses ask of memory</summary>\n";
    for view in version.launches.iter().flat_map(|l| l.views.iter().flatten()) {
        text += &picture(view);
    }
    text + "</details>\n"
}

/// Kernels and launcher. What calls them with arrays of the host has nothing to teach here.
fn shown(version: &Version) -> &str {
    let text = code(&version.tuned);
    let host = ["\n// Device memory; the first error", "\nextern \"C\" void "];
    let end = host.iter().filter_map(|mark| text.find(mark)).min();
    text[..end.unwrap_or(text.len())].trim_end()
}

/// Both texts in columns; lines that only one of them has are marked.
fn side_by_side(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = "<table class=\"code\">\n".to_string();
    let (mut gone, mut come) = (vec![], vec![]);
    let flush = |text: &mut String, gone: &mut Vec<&str>, come: &mut Vec<&str>| {
        for k in 0..gone.len().max(come.len()) {
            let cell = |lines: &[&str], class: &str| match lines.get(k) {
                Some(line) => format!("<td class=\"{class}\">{}</td>", escaped(line)),
                None => "<td></td>".to_string(),
            };
            *text += &format!("<tr>{}{}</tr>\n", cell(gone, "old"), cell(come, "new"));
        }
        gone.clear();
        come.clear();
    };
    for (side, line) in compared(&old, &new) {
        match side {
            Side::Old => gone.push(line),
            Side::New => come.push(line),
            Side::Both => {
                flush(&mut text, &mut gone, &mut come);
                text += &format!("<tr><td>{0}</td><td>{0}</td></tr>\n", escaped(line));
            }
        }
    }
    flush(&mut text, &mut gone, &mut come);
    text + "</table>\n"
}

/// One request of a warp: which lane reads which bank of shared memory, or which sector of global memory.
fn picture(view: &View) -> String {
    let kind = match view.kind {
        TrafficKind::Load => "load",
        TrafficKind::Store => "store",
        TrafficKind::Atomic => "atomic",
        TrafficKind::AsyncCopy => "async copy",
    };
    let array = escaped(&view.array);
    if view.by_data || view.lanes.is_empty() {
        return format!("<p><code>{array}</code>: {kind}, at addresses that depend on data</p>\n");
    }
    let words = words(view);
    let (cells, [columns, rows], what) = match view.shared {
        true => {
            let (cells, rows) = by_banks(&words);
            let what = match view.bytes {
                ..=4 => "columns are the 32 banks; a column with two words is a conflict",
                _ => "columns are the 32 banks; half or a quarter of the lanes is served at a time",
            };
            (cells, [BANKS, rows], what)
        }
        false => {
            let (cells, rows) = by_sectors(&words);
            (cells, [8, rows], "rows are sectors of 32 bytes; empty words are fetched for nothing")
        }
    };
    let memory = if view.shared { "shared" } else { "global" };
    let (width, height) = (columns * 26 + 2, rows * 16 + 2);
    let mut svg = format!("<svg width=\"{width}\" height=\"{height}\" role=\"img\">");
    for (column, row, lanes) in cells {
        let (x, y) = (column * 26 + 1, row * 16 + 1);
        let fill = if lanes.is_empty() { "#eee" } else { "#bcd8f2" };
        svg += &format!("<rect x=\"{x}\" y=\"{y}\" width=\"25\" height=\"15\" fill=\"{fill}\"/>");
        if let Some((first, rest)) = lanes.split_first() {
            let more = if rest.is_empty() { String::new() } else { format!("+{}", rest.len()) };
            svg += &format!("<text x=\"{}\" y=\"{}\">{first}{more}</text>", x + 1, y + 11);
        }
    }
    format!(
        "<figure><figcaption><code>{array}</code>: {memory} {kind} of {} bytes a lane, {} requests; {what}</figcaption>{svg}</svg></figure>\n",
        view.bytes, view.requests
    )
}

/// The lanes that touch each word of 4 bytes.
fn words(view: &View) -> BTreeMap<u64, Vec<usize>> {
    let mut words: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (lane, byte) in view.lanes.iter().enumerate() {
        let Some(byte) = byte else { continue };
        for word in byte / 4..(byte + u64::from(view.bytes)).div_ceil(4) {
            words.entry(word).or_default().push(lane);
        }
    }
    words
}

/// Column, row and lanes of a cell.
type Cell = (u64, u64, Vec<usize>);

/// Words above each other in the column of their bank, and how many rows there are.
fn by_banks(words: &BTreeMap<u64, Vec<usize>>) -> (Vec<Cell>, u64) {
    let mut height = BTreeMap::new();
    let mut cells = vec![];
    for (word, lanes) in words {
        let row = height.entry(word % BANKS).or_insert(0);
        cells.push((word % BANKS, *row, lanes.clone()));
        *row += 1;
    }
    (cells, height.into_values().max().unwrap_or(0))
}

/// A row for each sector that is touched, with all of its words.
fn by_sectors(words: &BTreeMap<u64, Vec<usize>>) -> (Vec<Cell>, u64) {
    let each = SECTOR / 4;
    let mut sectors: Vec<u64> = words.keys().map(|w| w / each).collect();
    sectors.dedup();
    let mut cells = vec![];
    for (row, sector) in sectors.iter().enumerate() {
        for word in 0..each {
            let lanes = words.get(&(sector * each + word)).cloned().unwrap_or_default();
            cells.push((word, row as u64, lanes));
        }
    }
    (cells, sectors.len() as u64)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A sentence in which names stand between backticks.
fn with_code(text: &str) -> String {
    let part = |(k, part): (usize, &str)| match k % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(words: &[u64]) -> BTreeMap<u64, Vec<usize>> {
        words.iter().enumerate().map(|(lane, w)| (*w, vec![lane])).collect()
    }

    #[test]
    fn a_column_of_a_tile_stands_in_one_bank_and_with_padding_in_all() {
        let column = |stride: u64| (0..32).map(|k| k * stride).collect::<Vec<u64>>();
        assert_eq!(by_banks(&touched(&column(32))).1, 32);
        assert_eq!(by_banks(&touched(&column(33))).1, 1);
    }

    #[test]
    fn neighbours_share_sectors_and_strangers_have_one_each() {
        let row: Vec<u64> = (0..32).collect();
        assert_eq!(by_sectors(&touched(&row)).1, 4);
        let far: Vec<u64> = (0..32).map(|k| k * 100).collect();
        let (cells, rows) = by_sectors(&touched(&far));
        assert_eq!((cells.len(), rows), (256, 32));
        assert_eq!(cells.iter().filter(|(_, _, lanes)| !lanes.is_empty()).count(), 32);
    }

    #[test]
    fn changed_lines_are_marked_beside_each_other() {
        let table = side_by_side("a\nb < c\n", "a\nd\ne\n");
        assert!(table.contains("<tr><td>a</td><td>a</td></tr>"), "{table}");
        assert!(
            table.contains("<td class=\"old\">b &lt; c</td><td class=\"new\">d</td>"),
            "{table}"
        );
        assert!(table.contains("<tr><td></td><td class=\"new\">e</td></tr>"), "{table}");
    }
}
