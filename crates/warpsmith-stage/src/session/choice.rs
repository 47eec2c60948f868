//! Which kernel of a file is staged, and which blocks it is for.

use warpsmith_ir::{Diagnostic, FileId, SourceMap};

use super::Input;
use crate::plan::Plan;
use crate::source::blocks::Blocks;
use crate::source::shape::{self, Extent, Instance};
use crate::source::{marks, scope, values};
use crate::usage::Usage;

type Unit = warpsmith_front::ast::TranslationUnit;

/// The kernel that is staged, with template arguments.
pub(super) fn kernel(
    input: &Input,
    unit: &Unit,
    sources: &SourceMap,
    found: &marks::Marks,
) -> Result<String, Diagnostic> {
    let kernels = warpsmith_front::sema::kernels_of(unit);
    let first = found.reads.first().map_or(0..0, |m| m.whole.clone());
    let span = marks::span(FileId(0), &first);
    let site = scope::site(unit, sources, first.start);
    let holding = site.filter(|s| s.kernel).map(|s| s.function);
    let name = match (&input.kernel, holding, kernels.as_slice()) {
        (Some(name), _, _) => name.clone(),
        (None, Some(name), _) => name,
        (None, None, [only]) => only.name.clone(),
        _ => {
            let names: Vec<String> = kernels.iter().map(|k| format!("`{}`", k.name)).collect();
            let help = match names.is_empty() {
                true => "the file has no kernel".to_string(),
                false => format!("name one with --kernel: the file has {}", names.join(", ")),
            };
            let error = Diagnostic::error("W304", "which kernel is to be staged?").help(help);
            return Err(match first.is_empty() {
                true => error,
                false => error.label(span, "this mark is in no kernel itself"),
            });
        }
    };
    let base = shape::base_name(&name);
    let Some(known) = kernels.iter().find(|k| k.base == base) else {
        let names: Vec<String> = kernels.iter().map(|k| format!("`{}`", k.name)).collect();
        return Err(Diagnostic::error("W304", format!("there is no kernel `{base}`"))
            .help(format!("the file has {}", names.join(", "))));
    };
    if !known.is_template || name.contains('<') {
        // What holds the marks is known by its plain name, namespaces or not.
        return Ok(if name == base && input.kernel.is_none() { known.name.clone() } else { name });
    }
    let (unclear, launched): (Vec<_>, Vec<_>) =
        shape::instances(unit, base, sources).into_iter().partition(|i| i.unknown.is_some());
    let instances = unit.instantiations.iter().map(|i| i.name.clone());
    let of_kernel = |n: &String| shape::base_name(n) == base && n.contains('<');
    let launched = launched.into_iter().map(|i| i.name);
    let full = |n: String| shape::qualified(&n, &known.name);
    let mut found: Vec<String> = instances.chain(launched).filter(of_kernel).map(full).collect();
    let squeezed = |n: &String| n.split_whitespace().collect::<String>();
    found.sort_by_key(squeezed);
    found.dedup_by_key(|n| squeezed(n));
    let error = Diagnostic::error("W304", format!("`{base}` is a template"))
        .label(known.span, "this kernel");
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => {
            let help = format!("name an instance with --kernel '{base}<…>'");
            Err(match unclear.first() {
                Some(Instance { name, unknown: Some(word) }) => error
                    .note(format!("it is launched as `{name}`, and no call says what `{word}` is"))
                    .help(help),
                _ => error.help(help),
            })
        }
        several => Err(error
            .note(format!("the file uses {}", several.join(" and ")))
            .help("one text serves them all, and only one is checked: name it with --kernel")),
    }
}

/// All marks have to be in the kernel that is checked, or in functions that no other kernel can call.
pub(super) fn one_kernel(
    unit: &Unit,
    sources: &SourceMap,
    found: &marks::Marks,
    kernel: &str,
) -> Result<(), Diagnostic> {
    let kernels = warpsmith_front::sema::kernels_of(unit);
    let places = found.reads.iter().map(|m| (&m.whole, m.whole.start));
    for (at, byte) in places.chain(found.inserts.iter().map(|i| (i, i.end))) {
        let Some(site) = scope::site(unit, sources, byte) else { continue };
        let own = site.kernel && site.function == shape::base_name(kernel);
        let helper = !site.kernel && kernels.len() == 1;
        if !own && !helper {
            return Err(Diagnostic::error(
                "W708",
                format!("this is not in the kernel `{kernel}` alone"),
            )
            .label(marks::span(FileId(0), at), "another kernel runs it, and only one is checked")
            .help("stage one kernel of a file at a time"));
        }
    }
    Ok(())
}

/// What fixes the block: host code, extents of arrays, or the user.
pub(super) fn extents(
    input: &Input,
    plan: &Plan,
    (unit, sources, blocks): (&Unit, &SourceMap, &Blocks),
    kernel: &str,
    usage: &Usage,
) -> [Extent; 3] {
    let arrays = plan.arrays();
    let by_block =
        arrays.iter().any(|a| a.is_dynamic() || a.extents.iter().any(|e| e.contains("blockDim")));
    let host = shape::of_host(unit, shape::base_name(kernel), sources);
    let mut extents = match host {
        Some(extents) => launched(extents, blocks),
        None => {
            // What blocks are counted in says which name belongs to which axis.
            let mut positions = shape::of_positions(unit, kernel, sources, &arrays);
            if let Some(read) = plan.reads.first() {
                let rows = shape::row_constants(unit, shape::base_name(kernel), sources);
                let arrays = shape::of_arrays(&read.site, unit, usage.axes, &rows);
                for (own, other) in positions.iter_mut().zip(arrays) {
                    // What positions are counted in is a number of threads even where no array says so.
                    let number = matches!(own, Extent::Number(_)) && other == Extent::Free;
                    if !matches!(own, Extent::Constant(_)) && !number {
                        *own = other;
                    }
                }
            }
            // Names were only guessed from: a block that the user gives is what is meant, and other values of the names would not
            // go with it.
            if let Some(block) = input.block.filter(|b| contradicts(&positions, *b, unit)) {
                positions = block.map(Extent::Number);
            }
            positions
        }
    };
    for a in 0..3 {
        let number = matches!(extents[a], Extent::Number(_)) && usage.axes[a];
        if by_block && number {
            extents[a] = Extent::Free;
        }
        // Threads along an axis that nothing asks for would all do the same.
        if !usage.threads[a] {
            extents[a] = Extent::Number(1);
        }
        // Arrays of constant size that no named constant makes suit one shape alone.
        if let (Extent::Free, false, Some(block)) = (&extents[a], by_block, input.block) {
            extents[a] = Extent::Number(block[a]);
        }
    }
    extents
}

/// Extents as all launches have them, where no name of the text says them.
fn launched(mut extents: [Extent; 3], blocks: &Blocks) -> [Extent; 3] {
    let Some([first, others @ ..]) = blocks.as_deref() else { return extents };
    for (a, extent) in extents.iter_mut().enumerate().filter(|(_, e)| e.constant().is_none()) {
        *extent = match others.iter().all(|b| b[a] == first[a]) {
            true => Extent::Number(first[a]),
            false => Extent::Free,
        };
    }
    extents
}

/// Whether extents have other values in the file than a block has.
fn contradicts(extents: &[Extent; 3], block: [u32; 3], unit: &Unit) -> bool {
    let said = |extent: &Extent| match extent {
        Extent::Number(n) => Some(i64::from(*n)),
        Extent::Constant(name) => values::value_of(unit, name),
        Extent::Free => None,
    };
    let differs = |(e, n): (&Extent, u32)| n > 0 && said(e).is_some_and(|s| s != i64::from(n));
    extents.iter().zip(block).any(differs)
}

/// What is known of the block's extents: from the user's options, and from the constants of the file.
pub(super) fn own_extents(input: &Input, extents: &[Extent; 3], unit: &Unit) -> [Option<u32>; 3] {
    let named = |name: &String| {
        let given = input.settings.defines.iter().find(|(n, _)| n == name).map(|(_, v)| v);
        let given = given.and_then(|text| text.trim().parse().ok());
        given.or_else(|| u32::try_from(values::value_of(unit, name)?).ok())
    };
    std::array::from_fn(|a| match &extents[a] {
        Extent::Number(n) => Some(*n),
        Extent::Constant(name) => named(name),
        Extent::Free => input.block.map(|b| b[a]),
    })
}

/// The block that the user's options or the constants of the file make.
pub(super) fn own_block(extents: &[Option<u32>; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = *extents;
    let block = [x?, y?, z?];
    (block.iter().product::<u32>() <= 1024).then_some(block)
}
