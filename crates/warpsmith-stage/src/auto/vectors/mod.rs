//! Several neighbours along x a thread: rows go to and from memory as vectors, and what lanes read of each other stays in registers.
//!
//! The kernel is written beside the one of the file, and launches take it where rows and addresses suit it. What every lane does is
//! the text of the user in a loop over the lanes; what vectors hold of it stands before that loop.

pub(crate) mod checked;
pub(crate) mod forms;
mod lanes;
mod launching;
mod region;
pub(crate) mod rows;

use std::collections::BTreeSet;

use super::cut::Cut;
use super::plans::Kernel;
use super::registers::{self, Queue};
use super::{cut, elements, unused};
use crate::source::patch::{Patch, indentation};
use crate::source::scope;
use forms::{Along, Forms};
use lanes::Lanes;
use region::Region;

/// A kernel whose threads have several neighbours each.
#[derive(Clone, Debug)]
pub struct Wide {
    pub name: String,
    /// The text of the kernel.
    pub made: String,
    /// Its name, with template arguments.
    pub kernel: String,
    pub lanes: i64,
    /// The parameter that bounds positions along x.
    pub size: Option<String>,
    /// Parameters that are multiples of the lanes.
    pub multiples: BTreeSet<String>,
    /// Arrays that begin at multiples of a vector.
    pub arrays: Vec<String>,
    /// Its outermost loop is cut among blocks.
    pub cut: Option<Cut>,
    pub ahead: u32,
}

impl Wide {
    /// The grid in the place of one of threads that have one neighbour each.
    pub fn grid(&self, grid: [u32; 3]) -> [u32; 3] {
        [grid[0].div_ceil(self.lanes as u32), grid[1], grid[2]]
    }

    /// The text of the file with the kernel behind the one that it stands for.
    pub fn beside(&self, text: &str, end: usize) -> String {
        let mut patch = Patch::default();
        patch.replace(end..end, format!("\n\n{}", self.made));
        patch.apply(text).unwrap_or_else(|_| text.to_string())
    }
}

/// Bytes of a vector.
const BYTES: i64 = 16;
/// Types of elements with their vectors, and how many elements those have.
const VECTORS: [(&str, &str, i64); 9] = [
    ("float", "float4", 4),
    ("int", "int4", 4),
    ("unsigned", "uint4", 4),
    ("unsigned int", "uint4", 4),
    ("int32_t", "int4", 4),
    ("uint32_t", "uint4", 4),
    ("double", "double2", 2),
    ("long long", "longlong2", 2),
    ("unsigned long long", "ulonglong2", 2),
];
/// The elements of a vector.
const PARTS: [&str; 4] = ["x", "y", "z", "w"];

/// The vector of a type of elements, and how many it has.
fn vector_of(element: &str) -> Option<(&'static str, i64)> {
    VECTORS.iter().find(|(t, ..)| *t == element).map(|(_, vector, count)| (*vector, *count))
}

/// Iterations that vectors in registers are read ahead; `None`: they do not stay in registers.
const QUEUES: [Option<u32>; 3] = [None, Some(0), Some(1)];

/// The kernel with several neighbours a thread, in all the ways that are worth a try; `of_cut`: it is the text of a cut kernel.
///
/// # Errors
/// Why there is none.
pub fn wide(kernel: &Kernel<'_>, name: &str, of_cut: Option<&Cut>) -> Result<Vec<Wide>, String> {
    let base = crate::source::shape::base_name(name);
    let output = kernel.accesses.iter().find(|a| a.stored).map(|a| a.array.as_str());
    let output = output.ok_or_else(|| kernel.no_store())?;
    let element = elements::plain_element(kernel.function, output, kernel.unit, kernel.sources);
    let element = element.ok_or("the type of its elements is not understood")?;
    let Some((_, count)) = vector_of(&element) else {
        return Err(format!("vectors of `{element}` are not known"));
    };
    let shared = super::read_only(kernel).into_iter().any(|array| {
        let reads: Vec<_> =
            kernel.accesses.iter().filter(|a| a.array == array && !a.stored).collect();
        kernel.shares(&reads)
    });
    if !shared {
        return Err("no two threads are known to read one element".into());
    }
    cut::unseen_stores(kernel)?;
    let mut forms = Forms::new(kernel, Along::Positions, count);
    region::alone(kernel, &forms)?;
    let region = region::find(kernel, &mut forms)?;
    let mut all: Vec<Wide> = vec![];
    for ahead in QUEUES {
        let writer =
            Writer { kernel, forms: &forms, region: &region, base, element: &element, of_cut };
        match writer.written(name, ahead) {
            Ok(Some(made)) => all.push(made),
            Ok(None) => {}
            Err(why) if all.is_empty() => return Err(why),
            Err(_) => {}
        }
    }
    Ok(all)
}

struct Writer<'a> {
    kernel: &'a Kernel<'a>,
    forms: &'a Forms<'a>,
    region: &'a Region<'a>,
    base: &'a str,
    element: &'a str,
    of_cut: Option<&'a Cut>,
}

impl<'a> Writer<'a> {
    /// One kernel; `None` where there is nothing to keep in registers.
    fn written(&self, name: &str, ahead: Option<u32>) -> Result<Option<Wide>, String> {
        let kernel = self.kernel;
        let mut lanes = Lanes::new(kernel, self.forms, self.region, self.element)?;
        let mut patch = Patch::default();
        let mut kept = vec![];
        if let Some(ahead) = ahead {
            let queues = self.queues(&mut lanes, ahead);
            if queues.is_empty() {
                return Ok(None);
            }
            let outer = self.region.outer.as_ref().ok_or("there is no loop")?;
            let before: String = queues.iter().map(|(_, q)| q.before.as_str()).collect();
            patch.replace(outer.start()..outer.start(), before);
            kept = queues;
        }
        let text = lanes.text(&kept)?;
        patch.replace(self.region.at.clone(), text);
        self.region.open_guards(&mut patch);
        for p in self.forms.positions.iter().filter(|p| p.axis == 0) {
            patch.replace(
                p.at.clone(),
                format!("{} * ({})", lanes.count, &kernel.text[p.at.clone()]),
            );
        }
        let other = format!("{}_by_{}", self.base, lanes.count);
        if scope::names(kernel.text).contains(&other) {
            return Err(format!("the name `{other}` is taken"));
        }
        unused::without(kernel, &self.region.at, &|_| 0, &mut patch);
        let whole = patch.apply(kernel.text).map_err(|_| "the edits overlap")?;
        let body = kernel.body.span.ok_or("its body is not understood")?;
        let rest = kernel.text.len() - body.end as usize;
        let body = &whole[body.start as usize..whole.len() - rest];
        let head = kernel.head(self.base, &other, "")?;
        let indent = indentation(kernel.text, kernel.first());
        let made = format!(
            "{indent}// {} neighbours along x a thread: rows go to and from memory as vectors.\n{indent}{head}{body}",
            if lanes.count == 2 { "Two" } else { "Four" }
        );
        Ok(Some(Wide {
            name: self.name(lanes.count, &kept, ahead),
            made,
            kernel: name.replacen(self.base, &other, 1),
            lanes: lanes.count,
            size: self.region.size.clone(),
            multiples: lanes.multiples.clone(),
            arrays: lanes.arrays(),
            cut: self.of_cut.cloned(),
            ahead: ahead.unwrap_or(0),
        }))
    }

    fn name(&self, count: i64, kept: &[(String, Queue<'_>)], ahead: Option<u32>) -> String {
        let cut = self.of_cut.map_or(String::new(), |c| format!("`{}` cut, ", c.counter));
        let arrays: Vec<String> = kept.iter().map(|(a, _)| format!("`{a}`")).collect();
        let early = if ahead.is_some_and(|n| n > 0) { ", read early" } else { "" };
        match arrays.is_empty() {
            true => format!("{cut}{count} neighbours a thread"),
            false => format!(
                "{cut}{count} neighbours a thread, {} through registers{early}",
                arrays.join(", ")
            ),
        }
    }

    /// Arrays whose planes go through registers as vectors.
    fn queues(&self, lanes: &mut Lanes<'a>, ahead: u32) -> Vec<(String, Queue<'a>)> {
        let region = self.region;
        let Some(outer) =
            region.outer.as_ref().filter(|o| !o.bare && region.whole && region.ragged.is_empty())
        else {
            return vec![];
        };
        let mut all = vec![];
        for array in lanes.read_arrays() {
            let reads: Vec<_> =
                self.kernel.accesses.iter().filter(|a| a.array == array && !a.stored).collect();
            let element = lanes.vector;
            let reader = registers::Reader { array: &array, element, vector: true };
            let Some(queue) = registers::queue(self.kernel, outer, reader, &reads, ahead) else {
                continue;
            };
            if queue.held.iter().all(|(a, _)| lanes.is_vector(a)) {
                queue.held.iter().for_each(|(a, name)| lanes.hold(a, name));
                all.push((array, queue));
            }
        }
        all
    }
}
