//! Comments in a staged text: from where reads come, how sure that is, and what launches have to keep to.

use std::collections::{BTreeMap, BTreeSet};

use super::named::Only;
use super::wording::{claimed, list};
use super::{Access, Verdict, blocks, not_run, own_block};
use crate::proving::ShapeProof;
use crate::session::Session;
use crate::source::patch::{Patch, indentation};
use crate::source::ties::Tie;
use crate::verify::check::Checked;
use crate::verify::unmet::Unmet;

/// What comments say of all statements.
struct Terms {
    /// What host code makes of parameters, for which alone proofs hold: ` where ow == w / 2`.
    tied: String,
    /// The same with what the user gives, for which alone checks do.
    told: String,
    /// What proofs assume besides.
    assumed: String,
    /// What checks do not show.
    unmet: String,
    /// The instance of a template of types.
    instance: String,
}

impl Terms {
    fn new(session: &Session, proofs: &[ShapeProof], (only, unmet, apart): Known<'_>) -> Terms {
        let mut ties: Vec<String> = session.ties().iter().map(Tie::text).collect();
        ties.extend(apart.iter().cloned());
        let given = only.iter().map(|o| o.what.clone());
        let told: Vec<String> = ties.iter().cloned().chain(given).collect();
        let unmet: Vec<String> = unmet.iter().map(|u| not_run::said(session, u)).collect();
        let own = own_block(session);
        let here = |p: &&ShapeProof| session.own.is_none() || p.block == own;
        let assumed: BTreeSet<&String> =
            proofs.iter().filter(here).flat_map(|p| &p.assumed).collect();
        let assumed: Vec<String> = assumed.into_iter().cloned().collect();
        Terms {
            tied: listed(" where ", &ties, " and "),
            told: listed(" where ", &told, " and "),
            assumed: listed("; assumed: ", &assumed, ", "),
            unmet: listed("; no launch shows what follows where ", &unmet, ", or "),
            instance: match session.typed {
                true => format!(" as `{}`", session.kernel),
                false => String::new(),
            },
        }
    }
}

/// What the text is known to hold for alone, what was so in no launch, and which pointers must not overlap.
type Known<'a> = (&'a [Only], &'a [Unmet], &'a [String]);

/// Parts in one phrase; nothing where there are none.
fn listed(before: &str, all: &[String], between: &str) -> String {
    if all.is_empty() { String::new() } else { format!("{before}{}", all.join(between)) }
}

/// A comment before each statement whose reads were staged.
pub(super) fn comments(
    session: &Session,
    accesses: &[Access],
    checked: &Checked,
    proofs: &[ShapeProof],
    known: Known<'_>,
) -> Patch {
    let mut statements: BTreeMap<usize, Vec<&Access>> = BTreeMap::new();
    for (m, access) in accesses.iter().enumerate() {
        if let Some(s) = session.plan.reads[m].site.statements.last() {
            statements.entry(s.start as usize).or_default().push(access);
        }
    }
    let mut patch = Patch::default();
    let terms = Terms::new(session, proofs, known);
    for (at, here) in statements {
        let line = line(session, checked, &here, &terms);
        let indent = indentation(&session.plan.text, at);
        patch.replace(at..at, format!("// {line}\n{indent}"));
    }
    patch
}

fn line(session: &Session, checked: &Checked, here: &[&Access], terms: &Terms) -> String {
    let Terms { tied, told, assumed, unmet, instance } = terms;
    let everywhere =
        |b: &[u32; 3]| here.iter().all(|a| a.verdict != Verdict::Proved || a.proved.contains(b));
    let (sure, rest): (Vec<_>, Vec<_>) = blocks(checked).into_iter().partition(everywhere);
    let shapes = claimed(session, &blocks(checked));
    let more = match rest.is_empty() {
        true => String::new(),
        false => format!("; checked with {}", list(&rest)),
    };
    let sure = claimed(session, &sure);
    let count = |v: Verdict| here.iter().filter(|a| a.verdict == v).count();
    let (proved, checked) = (count(Verdict::Proved), count(Verdict::Checked));
    let of = format!("{} from shared memory", sum_of(proved + checked, here.len()));
    match (proved, checked) {
        (0, 0) => "Not in shared memory: read from global memory as before.".to_string(),
        (_, 0) => {
            format!(
                "{of}{tied}: proved for all sizes with blocks of {sure}{instance}{more}{assumed}."
            )
        }
        (0, _) => {
            format!("{of}{told}: checked with blocks of {shapes}{instance}, not proved{unmet}.")
        }
        (p, _) => format!(
            "{of}{told}: checked with blocks of {shapes}{instance}, {p} of them proved for all sizes{assumed}{unmet}."
        ),
    }
}

fn sum_of(served: usize, all: usize) -> String {
    let come = if served == 1 { "comes" } else { "come" };
    match served == all {
        true if all == 1 => format!("The marked read {come}"),
        true => format!("All {all} marked reads {come}"),
        false => format!("{served} of {all} marked reads {come}"),
    }
}
