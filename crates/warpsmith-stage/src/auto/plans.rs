//! Plans as texts: the kernel with a tile, copies to it, and marks at the reads that the tile may serve.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, StmtKind, TranslationUnit};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::banks;
use super::cut::{Cut, operand};
use super::elements;
use super::find::{self, Access, Home};
use super::outer::Outer;
use super::windows::sum::Sum;
use super::{registers, transposes, windows};
use crate::source::aliased;
use crate::source::constants::Constant;
use crate::source::hosts;
use crate::source::marks;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;
use crate::source::shape::Extent;
use crate::source::values;

/// A kernel with a plan.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub name: String,
    pub text: String,
    /// The text has marks that are to be solved.
    pub marked: bool,
    /// The only block that it is for, where nothing in the file names one.
    pub block: Option<[u32; 3]>,
    /// The kernel's outermost loop is cut among blocks.
    pub cut: Option<Cut>,
    /// It reads so many iterations ahead.
    pub ahead: u32,
    /// Iterations come in vectors: loops of some and of a rest are to be checked.
    pub in_vectors: bool,
    /// Iterations come in tiles of so many.
    pub tiles: Option<i64>,
    /// It asserts which constants of the file go together.
    pub asserts: bool,
}

/// What plans are made from.
pub struct Kernel<'a> {
    pub text: &'a str,
    pub unit: &'a TranslationUnit,
    pub sources: &'a SourceMap,
    pub function: &'a ast::FunctionDecl,
    /// Its name with template arguments.
    pub name: &'a str,
    pub body: &'a ast::Block,
    pub accesses: &'a [Access],
    /// The same of local pointers into parameters.
    pub through: &'a [Access],
    /// Elements that are written otherwise than by one subscript of a parameter.
    pub indirect: &'a [Access],
    pub extents: [Extent; 3],
    /// Axes that threads of a block lie along.
    pub axes: [bool; 3],
    /// Axes of the grid that are asked for.
    pub blocks: [bool; 3],
    /// The block of the user's options.
    pub given: Option<[u32; 3]>,
    /// It has shared arrays already.
    pub shared: bool,
    /// Parameters that launches of the file pass one array for.
    pub aliased: &'a aliased::Shared,
    /// Looks at the same accesses with other values of constants.
    pub others: &'a dyn Fn() -> Vec<Others>,
}

/// The accesses of a kernel where a constant is larger by one.
pub struct Others {
    pub constant: Constant,
    pub accesses: Vec<Access>,
}

/// A block whose sizes plans may write as numbers where the file names none: a wide one, and a square one to transpose.
const WIDE: [u32; 3] = [32, 8, 1];
const LINE: [u32; 3] = [128, 1, 1];
pub(super) const SQUARE: [u32; 3] = [16, 16, 1];
/// Iterations that planes in registers are read ahead.
const AHEAD: [u32; 3] = [0, 1, 3];

impl<'k> Kernel<'k> {
    /// Elements of parameters, however they are written.
    pub fn elements(&self) -> impl Iterator<Item = &'k Access> + use<'k> {
        self.accesses.iter().chain(self.indirect)
    }

    /// Why no store is known of it.
    pub fn no_store(&self) -> &'static str {
        let mut by_macro = false;
        walk::block(self.body, &mut |e| {
            if let ExprKind::Assign { target, .. } = &*e.kind
                && let ExprKind::Index { .. } = &*scope::plain(target).kind
            {
                by_macro |= !self.sources.text(target.span).ends_with(']');
            }
        });
        match by_macro {
            true => "a macro names the element that it stores to",
            false => "it stores to no array by subscripts",
        }
    }

    /// All plans for one array.
    pub fn plans(&self, array: &str) -> Vec<Plan> {
        // What all threads of a block read together comes with one request as it is.
        let together = |a: &&Access| a.strides() == Some([0, 0]) && !self.is_deep();
        let reads = self.elements().filter(|a| a.array == array && !a.stored);
        let mut all: Vec<&Access> = reads.filter(|a| !together(a)).collect();
        all.sort_by_key(|a| a.whole.start);
        let mut plans = vec![];
        if !self.shares(&all) {
            return plans;
        }
        let element = all.iter().find_map(|a| a.value.clone());
        let element = element
            .or_else(|| elements::element_type(self.function, array, self.unit, self.sources));
        let Some(element) = element else { return plans };
        // Planes are read by subscripts that are moved on.
        let plain =
            |a: &&Access| a.open.ends_with('[') && !a.index.contains("][") && !a.is_through();
        let plain = all.iter().all(plain);
        for ahead in AHEAD.into_iter().filter(|_| plain) {
            plans.extend(registers::plan(self, array, &element, &all, ahead));
        }
        plans.extend(windows::plans(self, array, &element, &all));
        plans.extend(transposes::plans(self, array, &element, &all));
        for center in self.centers(&all) {
            let (index, home) = match self.home(&center.named(), &all) {
                Some(home) => (center.index.clone(), Some(home)),
                None if center.is_through() => continue,
                None => self.resolved(&center.index, &all),
            };
            // Threads would come to the barrier in different iterations.
            let outer = Outer::around(self, &all);
            let skips = |h: &Home| {
                h.looped && outer.as_ref().is_some_and(|o| o.goes_on_before(h.span.start))
            };
            let Some(home) = home.filter(|h| !skips(h)) else { continue };
            let made = Made {
                kernel: self,
                center,
                array,
                element: &element,
                index: &index,
                home: &home,
                all: &all,
            };
            plans.extend(made.halo(center));
            plans.extend(made.tile());
            plans.extend(made.transposed());
            if plans.iter().any(|p| p.marked) {
                break;
            }
        }
        plans
    }

    /// Whether threads of a block may read the same elements, or in an order that suits no row of memory.
    pub fn shares(&self, all: &[&Access]) -> bool {
        let x = all.first().and_then(|a| a.strides()).unwrap_or([0, 0])[0];
        self.shares_elements(all) || x.abs() != 1 || self.is_scattered()
    }

    /// Whether threads of a block may read the same elements, each thread some of its own.
    pub fn shares_elements(&self, all: &[&Access]) -> bool {
        let [x, y] = all.first().and_then(|a| a.strides()).unwrap_or([0, 0]);
        let alone = all.iter().all(|a| a.at.is_some() && a.at == all[0].at);
        let own_loop =
            all.iter().any(|a| a.several || a.loops().is_none_or(|l| l.len() > 1) || a.slides());
        let divided = all.iter().any(|a| a.repeats(self.axes[1]));
        !alone || own_loop || self.axes[1] && y == 0 && x != 0 || divided
    }

    /// Whether a store goes across rows.
    fn is_scattered(&self) -> bool {
        let strides = self.elements().filter(|a| a.stored).filter_map(|a| a.strides());
        strides.into_iter().any(|s| s[0].abs() > 32)
    }

    /// Whether a name is a variable: of the kernel, or one of the file that is no constant. Types of casts are none.
    pub fn is_variable(&self, name: &str) -> bool {
        let own = self.function.params.iter().any(|p| p.name.as_deref() == Some(name))
            || scope::declared(self.body).contains_key(name);
        own || of_file(&self.unit.items, name)
            && !scope::constants(self.unit, name).contains(&name.to_string())
    }

    /// Whether a name is a parameter of the kernel's template.
    pub fn is_template_parameter(&self, name: &str) -> bool {
        let mut params = self.function.template.iter().flat_map(|t| &t.params);
        params.any(|p| p.name.as_deref() == Some(name))
    }

    /// The value of a text that is made of constants and of the template's parameters.
    pub fn value(&self, text: &str) -> Option<i64> {
        let params = self.function.template.iter().flat_map(|t| &t.params);
        let arguments = hosts::template_arguments(self.name).unwrap_or_default();
        let named = params.zip(arguments).filter_map(|(p, a)| Some((p.name.clone()?, a)));
        let values: HashMap<String, String> = named.collect();
        values::value_of(self.unit, &replaced(text, &values))
    }

    /// Variables that have to be declared where a subscript stands.
    fn variables(&self, index: &str) -> Vec<String> {
        let names = scope::names(index).into_iter();
        names.filter(|n| self.is_variable(n) && !self.is_template_parameter(n)).collect()
    }

    /// Threads, rows and planes from an access to another, with the constants of the file that they come from.
    fn apart(&self, others: &[Others], a: &Access, center: &Access) -> Option<[Sum; 3]> {
        let offset = a.offset(center)?;
        let at = |a: &Access| self.elements().position(|e| std::ptr::eq(e, a));
        let mut sums = offset.map(Sum::number);
        for Others { constant, accesses } in others {
            let other = |a: &Access| accesses.get(at(a)?);
            let (Some(own), Some(center)) = (other(a), other(center)) else { continue };
            let Some(moved) = own.offset(center) else { continue };
            let name = Sum::of(&constant.name).minus(&Sum::number(constant.value));
            for (axis, sum) in sums.iter_mut().enumerate() {
                *sum = sum.plus(moved[axis] - offset[axis], &name);
            }
        }
        Some(sums)
    }

    /// Accesses that are likely a thread's own element: those that others lie around.
    fn centers<'b>(&'b self, all: &[&'b Access]) -> Vec<&'b Access> {
        let stores = self.elements().filter(|a| a.stored);
        let mut list: Vec<(i64, &Access)> = all
            .iter()
            .copied()
            .chain(stores)
            .filter(|a| a.loops().is_some() && a.strides().is_some_and(|s| s[0] != 0))
            .map(|c| {
                let far = all.iter().map(|a| match a.offset(c) {
                    Some([x, y, z]) => x.abs() + y.abs() + z.abs(),
                    None => 20,
                });
                (far.sum(), c)
            })
            .collect();
        list.sort_by_key(|(far, c)| (*far, c.whole.start));
        list.into_iter().map(|(_, c)| c).take(3).collect()
    }

    /// Where what needs the names of a text can stand before some accesses.
    fn home(&self, text: &str, all: &[&Access]) -> Option<Home> {
        find::home(self.body, all, &self.variables(text), self.unit, self.sources)
    }

    /// A subscript in which variables that are declared too late have their initialisers.
    fn resolved(&self, index: &str, all: &[&Access]) -> (String, Option<Home>) {
        let values = find::initialisers(self.body, self.sources);
        let mut text = index.to_string();
        for _ in 0..4 {
            if let Some(home) = self.home(&text, all) {
                return (text, Some(home));
            }
            text = replaced(&text, &values);
        }
        (text, None)
    }

    /// Where the kernel begins, with what stands before its name.
    pub fn first(&self) -> usize {
        let at = self.function.head_span.start as usize;
        let tokens = marks::tokens(self.text);
        let ends = |t: &&marks::Tok| {
            let piece = &self.text[t.at.clone()];
            t.at.start < at && (t.directive || [";", "}", "{"].contains(&piece))
        };
        let before = tokens.iter().filter(ends).map(|t| t.at.end).max().unwrap_or(0);
        tokens.iter().find(|t| t.at.start >= before).map_or(before, |t| t.at.start)
    }

    /// What stands before the body, with another name and one parameter more.
    ///
    /// # Errors
    /// What is not understood of it.
    pub fn head(&self, name: &str, other: &str, parameter: &str) -> Result<String, String> {
        let text = self.text;
        let body = self.body.span.map_or(0, |s| s.start as usize);
        let tokens = marks::tokens(text);
        let first = self.first();
        let close = tokens
            .iter()
            .rev()
            .find(|t| t.at.end <= body && text[t.at.clone()] == *")")
            .ok_or("its head is not understood")?;
        let word = |t: &&marks::Tok| {
            t.at.start >= first && t.at.end <= body && text[t.at.clone()] == *name
        };
        let named = tokens.iter().find(word).ok_or("its name comes from a macro")?;
        let mut patch = Patch::default();
        patch.replace(named.at.start - first..named.at.end - first, other);
        patch.replace(close.at.start - first..close.at.start - first, parameter);
        let head = text.get(first..body).ok_or("its head is not understood")?;
        patch.apply(head).map_err(|_| "its head is not understood".into())
    }

    /// Whether threads of a block lie along z, too.
    pub fn is_deep(&self) -> bool {
        let span = self.body.span.map_or(0..0, |s| s.start as usize..s.end as usize);
        self.text.get(span).is_some_and(|t| t.contains("threadIdx.z"))
    }

    pub fn extent(&self, axis: usize, block: Option<[u32; 3]>) -> Option<String> {
        match &self.extents[axis] {
            _ if !self.axes[axis] => Some("1".into()),
            Extent::Constant(name) => Some(name.clone()),
            Extent::Number(n) => Some(n.to_string()),
            Extent::Free => block.map(|b| b[axis].to_string()),
        }
    }

    /// The block that a plan writes down, when the file names none.
    pub fn written(&self, square: bool) -> Option<[u32; 3]> {
        let free = (0..2).any(|a| self.axes[a] && self.extents[a] == Extent::Free);
        let usual = match (square, self.axes[1]) {
            (true, _) => SQUARE,
            (false, true) => WIDE,
            (false, false) => LINE,
        };
        free.then(|| self.given.unwrap_or(usual))
    }
}

/// A text in which names have their values, in parentheses where those are more than a word.
pub fn replaced(text: &str, values: &HashMap<String, String>) -> String {
    let mut patch = Patch::default();
    let tokens = marks::tokens(text);
    for (i, t) in tokens.iter().enumerate() {
        let member = i > 0 && text[tokens[i - 1].at.clone()] == *".";
        if let Some(value) = values.get(&text[t.at.clone()]).filter(|_| !member) {
            patch.replace(t.at.clone(), operand(value));
        }
    }
    patch.apply(text).unwrap_or_default()
}

/// One array with its own element and the place for the copy.
struct Made<'a> {
    kernel: &'a Kernel<'a>,
    center: &'a Access,
    array: &'a str,
    element: &'a str,
    index: &'a str,
    home: &'a Home,
    all: &'a [&'a Access],
}

impl Made<'_> {
    fn tile_name(&self) -> String {
        format!("{}_tile", find::plain_name(self.array))
    }

    /// The thread's own element of the array, which may be known from where it stores.
    fn element(&self) -> Option<String> {
        let (center, own) = (self.center, *self.all.first()?);
        if center.array == self.array {
            return Some(center.with(self.index));
        }
        if own.is_through() {
            return None;
        }
        let several = |a: &Access| a.index.matches("][").count();
        if own.open.ends_with('[') && center.open.ends_with('[') && several(own) == several(center)
        {
            return Some(own.with(self.index));
        }
        let other = HashMap::from([(center.array.clone(), self.array.to_string())]);
        (own.open == center.open).then(|| own.with(&replaced(self.index, &other)))
    }

    /// The declaration at the beginning of the kernel, with what stands behind its name, the copy and the barriers.
    fn staged(&self, extents: &str, copy: &str, more: bool) -> Patch {
        let text = self.kernel.text;
        let mut patch = Patch::default();
        let start = self.kernel.body.span.map_or(0, |s| s.start as usize) + 1;
        let first = self.kernel.body.stmts.first().map_or(start, |s| s.span.start as usize);
        let inner = indentation(text, first);
        let tile = self.tile_name();
        patch
            .replace(start..start, format!("\n{inner}__shared__ {} {tile}{extents}", self.element));
        let at = self.home.span.start;
        let indent = indentation(text, at);
        let insert = if more { format!("\n{indent}    __insert();") } else { String::new() };
        let guarded = match (&self.home.condition, more) {
            (Some(c), false) => format!("if ({c}) {copy}"),
            (Some(c), true) => format!("if ({c}) {{\n{indent}    {copy}{insert}\n{indent}}}"),
            (None, false) => copy.to_string(),
            (None, true) => format!("{{\n{indent}    {copy}{insert}\n{indent}}}"),
        };
        patch.replace(at..at, format!("{guarded}\n{indent}__syncthreads();\n{indent}"));
        if self.home.looped {
            let end = self.home.end;
            patch.replace(end..end, format!("\n{indent}__syncthreads();"));
        }
        patch
    }

    fn done(&self, name: &str, patch: &Patch) -> Option<Plan> {
        let name = format!("{name} of `{}`", self.array);
        patch.apply(self.kernel.text).ok().map(|text| Plan {
            name,
            text,
            marked: true,
            ..Plan::default()
        })
    }

    /// Threads of the block along z, where the file says it.
    fn depth(&self) -> Option<String> {
        let all = self.kernel.axes.iter().all(|a| *a);
        self.kernel.extent(2, None).filter(|_| all)
    }

    /// The elements of the block's own threads.
    fn tile(&self) -> Option<Plan> {
        let tile = self.tile_name();
        let (extents, place) = match (self.kernel.extent(0, None), self.kernel.extent(1, None)) {
            (Some(x), _) if !self.kernel.axes[1] => (format!("[{x}]"), "[threadIdx.x]".to_string()),
            (Some(x), Some(y)) if self.kernel.is_deep() => {
                let z = self.depth()?;
                (format!("[{z}][{y}][{x}]"), "[threadIdx.z][threadIdx.y][threadIdx.x]".to_string())
            }
            (Some(x), Some(y)) => (format!("[{y}][{x}]"), "[threadIdx.y][threadIdx.x]".to_string()),
            _ if self.kernel.is_deep() => return None,
            _ if !self.kernel.axes[1] => ("[blockDim.x]".into(), "[threadIdx.x]".into()),
            _ => (
                "[blockDim.y * blockDim.x]".into(),
                "[threadIdx.y * blockDim.x + threadIdx.x]".into(),
            ),
        };
        let copy = format!("{tile}{place} = {};", self.element()?);
        let mut patch = self.staged(&format!("{extents};"), &copy, false);
        for a in self.all {
            patch.replace(a.whole.clone(), format!("__opt__({})", a.text()));
        }
        // Extents that ask for the block become constant.
        let usual = if self.kernel.axes[1] { SQUARE } else { LINE };
        let block = self.kernel.written(false).map(|_| self.kernel.given.unwrap_or(usual));
        self.done("tile", &patch).map(|plan| Plan { block, ..plan })
    }

    /// The same with what lies around them as far as reads go.
    fn halo(&self, center: &Access) -> Option<Plan> {
        let others = (self.kernel.others)();
        let near: Vec<(&&Access, [Sum; 3])> = self
            .all
            .iter()
            .filter(|a| a.within(center))
            .filter_map(|a| Some((a, self.kernel.apart(&others, a, center)?)))
            .collect();
        let reach = |axis: usize| self.reach(&near, center, axis);
        let [rx, ry, rz] = [reach(0), reach(1), reach(2)];
        // Copies stand before the reads: what is declared between them is written out.
        let global = |a: &Access| {
            let (index, home) = match a.is_through() {
                true => (a.index.clone(), self.kernel.home(&a.named(), self.all)),
                false => self.kernel.resolved(&a.index, self.all),
            };
            home.filter(|h| h.span == self.home.span).map(|_| a.with(&index))
        };
        let globals: Option<Vec<String>> = near.iter().map(|(a, _)| global(a)).collect();
        let globals = globals.filter(|_| [&rx, &ry, &rz].iter().any(|r| !r.is_zero()))?;
        let wide = |e: String, r: &Sum| format!("{e}{}", r.plus(1, r).behind());
        let at = |name: &str, d: Sum| format!("{name}{}", d.behind());
        let block = self.kernel.written(false);
        let x = self.kernel.extent(0, block)?;
        let deep = self.kernel.is_deep();
        let place = |[dx, dy, dz]: &[Sum; 3]| {
            let inner = format!("[{}]", at("threadIdx.x", rx.plus(1, dx)));
            let outer = match deep {
                true => format!("[{}]", at("threadIdx.z", rz.plus(1, dz))),
                false => String::new(),
            };
            match self.kernel.axes[1] {
                true => format!("{outer}[{}]{inner}", at("threadIdx.y", ry.plus(1, dy))),
                false => inner,
            }
        };
        let length = wide(x.clone(), &rx);
        let longer = banks::padding(self.kernel, self.element, &x, &length);
        let [more, why] = longer.unwrap_or_default();
        let extents = match self.kernel.axes[1] {
            true => format!("[{}][{length}{more}]", wide(self.kernel.extent(1, block)?, &ry)),
            false => format!("[{length}]"),
        };
        let extents = match deep {
            true => format!("[{}]{extents}", wide(self.depth()?, &rz)),
            false => extents,
        };
        let tile = self.tile_name();
        let copy = format!("{tile}{} = {};", place(&Default::default()), self.element()?);
        let mut patch = self.staged(&format!("{extents};{why}"), &copy, true);
        for ((a, offset), global) in near.iter().zip(globals) {
            let mark = format!("__opt__({tile}{}, {global})", place(offset));
            patch.replace(a.whole.clone(), mark);
        }
        self.done("tile with a halo", &patch).map(|plan| Plan { block, ..plan })
    }

    /// How far reads go along an axis.
    fn reach(&self, near: &[(&&Access, [Sum; 3])], center: &Access, axis: usize) -> Sum {
        let far = |(a, _): &&(&&Access, [Sum; 3])| a.offset(center).map_or(0, |o| o[axis].abs());
        let Some(furthest) = near.iter().max_by_key(far) else { return Sum::default() };
        let (number, sum) = (furthest.0.offset(center).map_or(0, |o| o[axis]), &furthest.1[axis]);
        if number < 0 { Sum::default().minus(sum) } else { sum.clone() }
    }

    /// A read and a store of which only one goes along with the threads: the block hands over through a square tile.
    fn transposed(&self) -> Option<Plan> {
        let [read] = self.all else { return None };
        let store =
            self.kernel.elements().find(|a| a.stored && inside(&a.whole, &self.home.span))?;
        let (r, w) = (read.strides()?, store.strides()?);
        if r[0] != 1
            || w[1] != 1
            || w[0].abs() < 32
            || self.kernel.extents[0] != self.kernel.extents[1]
        {
            return None;
        }
        let block = self.kernel.written(true);
        if block.is_some_and(|b| b[0] != b[1]) {
            return None;
        }
        let side = self.kernel.extent(0, block)?;
        let tile = self.tile_name();
        // One element more a row keeps columns in different banks.
        let extents = format!("[{side}][{side} + 1]");
        let copy = format!("{tile}[threadIdx.y][threadIdx.x] = {};", self.element()?);
        let mut patch = self.staged(&format!("{extents};"), &copy, false);
        let (start, end) = (self.home.span.start, self.home.span.end);
        let indent = indentation(self.kernel.text, start).to_string();
        let swapped: String =
            self.positions(start).iter().map(|s| format!("\n{indent}    {}", swap(s))).collect();
        patch.replace(
            start..start,
            format!("{{\n{indent}    // Threads change places, so that a row of them writes a row.{swapped}\n{indent}    "),
        );
        let lines = self.kernel.text[start..end].match_indices('\n').map(|(i, _)| start + i + 1);
        let filled = |i: &usize| !self.kernel.text[*i..].starts_with(['\n', '\r']);
        for line in lines.filter(|i| filled(i) && !read.whole.contains(i)) {
            patch.replace(line..line, "    ");
        }
        patch.replace(read.whole.clone(), format!("__opt__({})", read.text()));
        patch.replace(end..end, format!("\n{indent}}}"));
        self.done("transposing tile", &patch).map(|plan| Plan { block, ..plan })
    }

    /// Declarations before a place that depend on the thread.
    fn positions(&self, before: usize) -> Vec<&str> {
        let mut names: Vec<String> = vec!["threadIdx".into()];
        let mut all = vec![];
        for s in &self.kernel.body.stmts {
            let StmtKind::Vars(vars) = &s.kind else { continue };
            let text = self.kernel.sources.text(s.span);
            let uses = scope::names(text).iter().any(|n| names.contains(n));
            if (s.span.start as usize) < before && uses && !vars.attrs.shared {
                names.extend(vars.declarators.iter().map(|d| d.name.clone()));
                all.push(text);
            }
        }
        all
    }
}

fn inside(inner: &marks::Bytes, outer: &marks::Bytes) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Threads along x for those along y.
fn swap(text: &str) -> String {
    let text = text.replace("threadIdx.x", "threadIdx.?").replace("threadIdx.y", "threadIdx.x");
    text.replace("threadIdx.?", "threadIdx.y")
}

/// Whether a file declares a variable outside of functions.
fn of_file(items: &[ast::Item], name: &str) -> bool {
    items.iter().any(|item| match &item.kind {
        ast::ItemKind::Vars(v) => v.declarators.iter().any(|d| d.name == name),
        ast::ItemKind::Namespace { items, .. } => of_file(items, name),
        _ => false,
    })
}
