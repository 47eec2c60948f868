//! Pointers that a chosen plan is right for where they lead to different arrays alone.
//!
//! What is read early or in another order is not what the kernel reads where it stores to the same array. Where the file passes such arrays
//! the plan is refused; where it does not, the text says what it is right for.

use super::held::{self, Origin};
use super::ranking::{Entrant, Ranking};
use super::{Best, Found};
use crate::session::{Refusal, Session};
use crate::source::patch::Patch;
use crate::stage::overlaps;
use crate::verify::check::Checker;
use warpsmith_ir::SourceMap;

impl Ranking<'_> {
    /// What is handed out of an entrant: proved where a solver is there, with what it is right for alone.
    ///
    /// # Errors
    /// What the emulator refuses; within, what speaks against it.
    pub(super) fn finished(
        &mut self,
        found: &Found,
        taken: Entrant,
    ) -> Result<Result<(Best, Vec<String>), String>, Refusal> {
        let origin = Origin::of(found, &self.session.kernel, &taken);
        let proved = match self.proved(&found.plans, taken)? {
            Ok(proved) => proved,
            Err(why) => return Ok(Err(why)),
        };
        let pairs = match self.apart(&proved)? {
            Ok(pairs) => pairs,
            Err(why) => return Ok(Err(why)),
        };
        let made = Origin::asserted(origin, self.session, proved.made);
        let kernel = proved.form.kernel(&self.session.kernel);
        let made = told(self.session, kernel, made, &pairs);
        Ok(Ok((made, pairs.iter().map(overlaps::said).collect())))
    }

    /// The pairs that must not overlap, beside those that marks tell of.
    ///
    /// # Errors
    /// What the emulator refuses; within, that the file passes parts of one array for such a pair.
    fn apart(&mut self, entrant: &Entrant) -> Result<Result<Vec<[String; 2]>, String>, Refusal> {
        let form = &entrant.form;
        let differing = match (&form.overlap, &form.wide) {
            // Blocks compute what others store, whatever is passed.
            (Some(_), _) => {
                overlaps::differing(self.session, &self.checker.launches, &mut |_, _| Ok(true))?
            }
            (None, Some(wide)) => self.wide_differing(wide)?,
            (None, None) => self.text_differing(entrant)?,
        };
        let parts = &self.session.aliased.parts;
        if let Some([a, b]) = differing.iter().find(|pair| parts.contains(pair)) {
            return Ok(Err(format!("the file passes parts of one array for `{a}` and `{b}`")));
        }
        let told = |pair: &[String; 2]| {
            let staged = entrant.made.staged.as_ref();
            staged.is_some_and(|s| s.assumed.contains(&overlaps::said(pair)))
        };
        Ok(Ok(differing.into_iter().filter(|pair| !told(pair)).collect()))
    }

    fn text_differing(&mut self, entrant: &Entrant) -> Result<Vec<[String; 2]>, Refusal> {
        let mut patch = Patch::default();
        patch.replace(0..self.session.plan.text.len(), entrant.made.text.as_str());
        let cut = entrant.form.run.map(|(axis, _)| axis);
        let fits = |block: [u32; 3]| entrant.block.is_none_or(|b| b == block);
        let mut launches = self.checker.launches.clone();
        launches.retain(|s| fits(s.launch.block));
        overlaps::differing(self.session, &launches, &mut |session, suited| {
            if !fits(suited.launch.block) {
                return Ok(false);
            }
            let checker = Checker { launches: vec![suited], tiny: vec![], dropped: vec![], cut };
            Ok(!checker.check(session, &patch, 1)?.problems.is_empty())
        })
    }
}

/// A result whose kernel says what must not overlap.
fn told(session: &Session, kernel: &str, made: Best, pairs: &[[String; 2]]) -> Best {
    match with(session, kernel, &made.text, pairs) {
        Some(text) if !pairs.is_empty() => Best { text, ..made },
        _ => made,
    }
}

fn with(session: &Session, kernel: &str, text: &str, pairs: &[[String; 2]]) -> Option<String> {
    let mut sources = SourceMap::new();
    let unit = session.compiler.parse(text, &[], &mut sources).ok()?;
    let (_, start, indent) = held::opening(&unit, kernel, text)?;
    let said: Vec<String> = pairs.iter().map(overlaps::said).collect();
    let line = format!("\n{indent}// Right where {}.", said.join(" and "));
    let ends = text[start..].starts_with(['\n', '\r']);
    let mut patch = Patch::default();
    patch.replace(start..start, if ends { line } else { line + "\n" });
    patch.apply(text).ok()
}
