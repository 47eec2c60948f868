//! What the picture shows and where: bands with calls, arcs between calls, lanes beside the bands for what goes from kernel to kernel.

use std::collections::HashMap;
use std::rc::Rc;

use crate::plan::{Home, KernelPlan, Launch, Planner};
use crate::script::VarId;

/// Sizes in pixels: of a call's box; of a title; of the room for an arc, a row or a lane; of arrows in and out with their labels.
pub const BOX: (i32, i32) = (130, 40);
pub const TITLE: i32 = 28;
pub const LEVEL: i32 = 18;
pub const ROW: i32 = 10;
pub const ARROW: i32 = 34;
pub const MARGIN: i32 = 20;
/// Between bands, and what a loop's frame stands out.
pub const BETWEEN: i32 = 10;
pub const FRAME: i32 = 10;
/// About what a letter takes.
pub const LETTER: i32 = 8;

/// A value that goes from one call of a kernel to a later one.
pub struct Arc {
    pub from: usize,
    pub to: usize,
    pub name: String,
    /// In registers, else in shared memory.
    pub registers: bool,
    /// Rows above the boxes; arcs of one row do not meet. `None`: straight from box to box.
    pub level: Option<i32>,
}

/// A value that a call reads from device memory.
pub struct Incoming {
    pub call: usize,
    pub name: String,
    /// The lane that brings it, where a kernel made it.
    pub lane: Option<usize>,
}

/// One kernel.
pub struct Band {
    pub kernel: Rc<KernelPlan>,
    pub title: String,
    pub arcs: Vec<Arc>,
    pub incoming: Vec<Incoming>,
    /// Calls whose results go to device memory, and the lane of those that later kernels read.
    pub outgoing: Vec<(usize, Option<usize>)>,
    pub top: i32,
}

/// A value on its way from one band to others.
pub struct Lane {
    pub from: usize,
    /// The last band that reads it.
    pub to: usize,
    /// How far left of the bands, from 0 on.
    pub column: i32,
}

/// A loop around bands.
pub struct Frame {
    pub trips: u64,
    pub depth: i32,
    pub top: i32,
    pub bottom: i32,
}

pub struct Layout {
    pub bands: Vec<Band>,
    pub lanes: Vec<Lane>,
    pub frames: Vec<Frame>,
    /// Between boxes.
    pub gap: i32,
    /// Where bands begin, and how wide the widest is.
    pub left: i32,
    pub width: i32,
    /// Below the last band.
    pub bottom: i32,
}

/// Works out where everything goes.
pub fn layout(planner: &Planner<'_>, launches: &[Launch]) -> Layout {
    let all = Layout {
        bands: vec![],
        lanes: vec![],
        frames: vec![],
        gap: 0,
        left: 0,
        width: 0,
        bottom: MARGIN,
    };
    let mut making = Making { planner, layout: all, order: vec![], made: HashMap::new() };
    making.launches(launches, 0);
    let Making { mut layout, order, .. } = making;
    layout.stack(&order);
    let longest = layout.bands.iter().flat_map(|b| &b.arcs).map(|a| a.name.chars().count()).max();
    layout.gap = (longest.unwrap_or(0) as i32 * LETTER + 24).clamp(70, 220);
    let depth = layout.frames.iter().map(|f| f.depth + 1).max().unwrap_or(0);
    layout.columns();
    let columns = layout.lanes.iter().map(|l| l.column + 1).max().unwrap_or(0);
    layout.left = MARGIN + columns * ROW + depth * FRAME;
    layout.width = layout.bands.iter().map(|b| layout.band_width(b)).max().unwrap_or(0);
    layout
}

impl Layout {
    pub fn band_width(&self, band: &Band) -> i32 {
        let boxes = band.kernel.calls.len() as i32 * (BOX.0 + self.gap) + self.gap;
        boxes.max(band.title.chars().count() as i32 * LETTER + 2 * FRAME)
    }

    /// The upper left corner of a call's box.
    pub fn place(&self, band: &Band, call: usize) -> (i32, i32) {
        let x = self.left + self.gap + call as i32 * (BOX.0 + self.gap);
        (x, band.top + TITLE + band.rows_in() + ARROW + band.levels() * LEVEL)
    }

    pub fn lane_x(&self, lane: usize) -> i32 {
        let depth = self.frames.iter().map(|f| f.depth + 1).max().unwrap_or(0);
        self.left - depth * FRAME - (self.lanes[lane].column + 1) * ROW
    }

    /// Puts bands and frames one below the other, when it is known how high they are.
    fn stack(&mut self, order: &[Item]) {
        for item in order {
            match *item {
                Item::Band(k) => {
                    self.bands[k].top = self.bottom;
                    self.bottom += self.bands[k].height() + BETWEEN;
                }
                Item::Begin(k) => {
                    self.frames[k].top = self.bottom;
                    self.bottom += TITLE;
                }
                Item::End(k) => {
                    self.frames[k].bottom = self.bottom;
                    self.bottom += BETWEEN;
                }
            }
        }
    }

    /// Columns for lanes, so that those of one column do not meet.
    fn columns(&mut self) {
        for k in 0..self.lanes.len() {
            let meets =
                |other: &Lane| other.from <= self.lanes[k].to && self.lanes[k].from <= other.to;
            let taken: Vec<i32> =
                self.lanes[..k].iter().filter(|l| meets(l)).map(|l| l.column).collect();
            self.lanes[k].column = (0..).find(|c| !taken.contains(c)).unwrap_or(0);
        }
    }
}

impl Band {
    pub fn levels(&self) -> i32 {
        self.arcs.iter().filter_map(|a| a.level).max().map_or(0, |l| l + 1)
    }

    /// Room for the rows on which values come in from lanes.
    pub fn rows_in(&self) -> i32 {
        self.incoming.iter().filter(|i| i.lane.is_some()).count() as i32 * ROW
    }

    /// Where those rows are, with the call that each leads to and the lane that it comes from.
    pub fn rows(&self) -> impl Iterator<Item = (i32, usize, usize)> {
        let all = self.incoming.iter().filter_map(|i| Some((i.call, i.lane?))).enumerate();
        all.map(|(row, (call, lane))| (self.top + TITLE + row as i32 * ROW, call, lane))
    }

    /// The last row of a lane.
    pub fn row_of(&self, lane: usize) -> Option<i32> {
        self.rows().filter(|r| r.2 == lane).map(|r| r.0).last()
    }

    pub fn rows_out(&self) -> i32 {
        self.outgoing.iter().filter(|o| o.1.is_some()).count() as i32 * ROW
    }

    pub fn height(&self) -> i32 {
        let above = TITLE + self.rows_in() + ARROW + self.levels() * LEVEL;
        above + BOX.1 + ARROW + self.rows_out() + ROW
    }
}

/// What comes one below the other.
enum Item {
    Band(usize),
    Begin(usize),
    End(usize),
}

struct Making<'a> {
    planner: &'a Planner<'a>,
    layout: Layout,
    order: Vec<Item>,
    /// The band and the call that made a value in device memory.
    made: HashMap<VarId, Made>,
}

#[derive(Clone, Copy)]
struct Made {
    band: usize,
    call: usize,
}

impl Making<'_> {
    fn launches(&mut self, launches: &[Launch], depth: i32) {
        for launch in launches {
            match launch {
                Launch::Kernel(kernel) => self.kernel(kernel),
                Launch::Loop { source, body } => {
                    let number = self.layout.frames.len();
                    let frame = Frame { trips: source.trips, depth, top: 0, bottom: 0 };
                    self.layout.frames.push(frame);
                    self.order.push(Item::Begin(number));
                    for c in &source.carried {
                        self.renamed(c.before, c.inside);
                    }
                    self.launches(body, depth + 1);
                    for (inner, after) in &source.results {
                        self.renamed(*inner, *after);
                    }
                    self.order.push(Item::End(number));
                }
            }
        }
    }

    /// A value that goes by another name from here on.
    fn renamed(&mut self, from: VarId, to: VarId) {
        if let Some(made) = self.made.get(&from).copied() {
            self.made.insert(to, made);
        }
    }

    fn kernel(&mut self, kernel: &Rc<KernelPlan>) {
        let number = self.layout.bands.len();
        let [x, y, z] = kernel.shape;
        let barriers = match kernel.barriers() {
            1 => "1 barrier".to_string(),
            n => format!("{n} barriers"),
        };
        let title = format!(
            "kernel {}: {x}:{y}:{z} threads, {} elements a block, {} bytes shared, {barriers}",
            number + 1,
            kernel.elements,
            kernel.shared_floats * 4,
        );
        let mut band = Band {
            kernel: kernel.clone(),
            title,
            arcs: vec![],
            incoming: vec![],
            outgoing: vec![],
            top: 0,
        };
        self.values(number, &mut band);
        levels(&mut band.arcs);
        for (c, call) in kernel.calls.iter().enumerate() {
            let result = call.variables.last().map(|v| &kernel.variables[*v]);
            if let Some(v) = result.filter(|v| v.output) {
                band.outgoing.push((c, None));
                self.made.insert(v.id, Made { band: number, call: c });
            }
        }
        self.order.push(Item::Band(number));
        self.layout.bands.push(band);
    }

    /// Arcs and incoming values of a kernel.
    fn values(&mut self, number: usize, band: &mut Band) {
        let kernel = band.kernel.clone();
        let mut made_here: HashMap<usize, usize> = HashMap::new();
        for (to, call) in kernel.calls.iter().enumerate() {
            let inputs = call.variables.len() - 1;
            for (k, variable) in call.variables[..inputs].iter().enumerate() {
                if call.variables[..k].contains(variable) {
                    continue;
                }
                let v = &kernel.variables[*variable];
                let name = self.planner.variable_name(v.id);
                let registers = matches!(v.home, Home::Registers { .. });
                match made_here.get(variable).copied() {
                    Some(from) => band.arcs.push(Arc { from, to, name, registers, level: None }),
                    None => {
                        let lane = self.lane(v.id, number);
                        band.incoming.push(Incoming { call: to, name, lane });
                    }
                }
            }
            if let Some(result) = call.variables.last() {
                made_here.insert(*result, to);
            }
        }
    }

    /// The lane that brings a value to a band, where an earlier kernel made it.
    fn lane(&mut self, id: VarId, to: usize) -> Option<usize> {
        let Made { band, call } = *self.made.get(&id)?;
        let outgoing = self.layout.bands[band].outgoing.iter_mut().find(|o| o.0 == call)?;
        let lane = match outgoing.1 {
            Some(lane) => lane,
            None => {
                self.layout.lanes.push(Lane { from: band, to, column: 0 });
                self.layout.lanes.len() - 1
            }
        };
        outgoing.1 = Some(lane);
        self.layout.lanes[lane].to = to;
        Some(lane)
    }
}

/// Rows for arcs: short ones low, and none of a row over another. Those from box to box are straight, the first of each pair.
fn levels(arcs: &mut [Arc]) {
    let mut order: Vec<usize> = (0..arcs.len()).collect();
    order.sort_by_key(|k| (arcs[*k].to - arcs[*k].from, arcs[*k].from));
    let mut done: Vec<usize> = vec![];
    for k in order {
        let (from, to) = (arcs[k].from, arcs[k].to);
        let straight =
            to == from + 1 && !done.iter().any(|d| arcs[*d].from == from && arcs[*d].to == to);
        if !straight {
            let meets = |d: &&usize| arcs[**d].from <= to && from <= arcs[**d].to;
            let taken: Vec<i32> =
                done.iter().filter(meets).filter_map(|d| arcs[*d].level).collect();
            arcs[k].level = (0..).find(|l| !taken.contains(l));
        }
        done.push(k);
    }
}
