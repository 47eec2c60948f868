//! Files with marks in several kernels: each is staged by itself, and the others are read as if they had no plan.

use warpsmith_ir::{FileId, SourceMap};

use crate::program::Compiler;
use crate::session::{Input, Refusal};
use crate::source::marks::{self, Marks};
use crate::source::patch::Patch;
use crate::source::{scope, shape};
use crate::stage::{self, Staged};

/// A file whose kernels were staged.
#[derive(Debug)]
pub struct Several {
    /// The file with all that was changed.
    pub text: String,
    /// What each kernel was made from, and what became of it, in the order of the text.
    pub kernels: Vec<(Input, Staged)>,
}

/// Stages each kernel of a file that has marks, or the one that is asked for; marks of the others stay.
///
/// # Errors
/// As [`stage::stage`], of the first kernel that is refused; W708 where marks are in functions that several kernels may call.
pub fn stage(input: Input) -> Result<Several, Refusal> {
    let groups = groups(&input);
    if groups.len() < 2 {
        let staged = stage::stage(input.clone())?;
        return Ok(Several { text: staged.text.clone(), kernels: vec![(input, staged)] });
    }
    let asked = input.kernel.as_deref().map(shape::base_name);
    let mut edits = Patch::default();
    let mut kernels = vec![];
    for group in groups.iter().filter(|g| asked.is_none_or(|name| name == g.kernel)) {
        let mut own = input.clone();
        let others = groups.iter().filter(|o| o.kernel != group.kernel);
        for other in others {
            own.text = marks::reference(&own.text, &other.marks);
        }
        // What other kernels alone have is nothing to this one.
        let of_others = |name: &str| {
            let is_in = |g: &Group| g.parameters.iter().any(|p| p == name);
            !is_in(group) && groups.iter().any(is_in)
        };
        own.integers.retain(|n, _| !of_others(n.split('.').next().unwrap_or(n)));
        let staged = stage::stage(own.clone())?;
        edits.extend(&staged.edits);
        kernels.push((own, staged));
    }
    match edits.apply(&input.text) {
        Ok(text) if !kernels.is_empty() => Ok(Several { text, kernels }),
        // A kernel without marks, or texts that both change: what is wrong is said of the whole.
        _ => stage::stage(input).map(|staged| Several { text: staged.text, kernels }),
    }
}

/// The marks of one kernel.
struct Group {
    kernel: String,
    parameters: Vec<String>,
    marks: Marks,
}

/// The marks of each kernel; none where some are in no kernel, or where the file is not understood, which is said elsewhere.
fn groups(input: &Input) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    let Ok(found) = marks::find(&input.text, FileId(0)) else { return groups };
    let plain = marks::reference(&input.text, &found);
    let compiler = Compiler::new(input.settings.clone());
    let mut sources = SourceMap::new();
    let Ok(unit) = compiler.parse(&plain, &[], &mut sources) else { return groups };
    let mut of = |byte: usize| -> Option<usize> {
        let site = scope::site(&unit, &sources, byte).filter(|s| s.kernel)?;
        let known = groups.iter().position(|g| g.kernel == site.function);
        Some(known.unwrap_or_else(|| {
            let decl = scope::kernel(&unit, &site.function);
            let params = decl.iter().flat_map(|k| &k.params).filter_map(|p| p.name.clone());
            let parameters = params.collect();
            groups.push(Group { kernel: site.function, parameters, marks: Marks::default() });
            groups.len() - 1
        }))
    };
    let reads: Option<Vec<usize>> = found.reads.iter().map(|m| of(m.whole.start)).collect();
    let inserts: Option<Vec<usize>> = found.inserts.iter().map(|i| of(i.end)).collect();
    let (Some(reads), Some(inserts)) = (reads, inserts) else { return vec![] };
    found.reads.into_iter().zip(reads).for_each(|(m, g)| groups[g].marks.reads.push(m));
    found.inserts.into_iter().zip(inserts).for_each(|(i, g)| groups[g].marks.inserts.push(i));
    groups
}
