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
use crate::verify::check::{Checker, Problem};
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
        if let Some(why) = self.wrong_with_data(&proved)? {
            return Ok(Err(why));
        }
        let pairs = match self.apart(&proved)? {
            Ok(pairs) => pairs,
            Err(why) => return Ok(Err(why)),
        };
        let made = Origin::asserted(origin, self.session, proved.made);
        let kernel = proved.form.kernel(&self.session.kernel);
        let made = told(self.session, kernel, made, &pairs);
        Ok(Ok((made, pairs.iter().map(overlaps::said).collect())))
    }

    /// What is wrong with a text that has no other launch where data are near the numbers that the kernel compares something with.
    fn wrong_with_data(&mut self, entrant: &Entrant) -> Result<Option<String>, Refusal> {
        if entrant.form.overlap.is_some() || entrant.form.wide.is_some() {
            return Ok(None);
        }
        let checker = self.checker_of(entrant);
        let patch = self.in_place(&entrant.made.text);
        let checked = checker.with_data_near(self.session, &patch)?;
        Ok(checked.problems.first().map(Problem::said))
    }

    /// Looks at an entrant in the launches that have its block, and constants that it compiles with.
    fn checker_of(&self, entrant: &Entrant) -> Checker {
        let mut launches = self.checker.launches.clone();
        let (compiler, kernel) = (&self.session.compiler, &self.session.kernel);
        let compiles = |constants: &[(String, i64)]| {
            constants.is_empty() || compiler.compile(&entrant.made.text, constants, kernel).is_ok()
        };
        launches.retain(|s| {
            entrant.block.is_none_or(|b| b == s.launch.block) && compiles(&s.launch.constants)
        });
        let cut = entrant.form.run.map(|(axis, _)| axis);
        Checker { launches, tiny: vec![], dropped: vec![], cut }
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
        let patch = self.in_place(&entrant.made.text);
        let all = self.checker_of(entrant);
        overlaps::differing(self.session, &all.launches, &mut |session, suited| {
            let fits = entrant.block.is_none_or(|b| b == suited.launch.block);
            let checker = all.of(if fits { vec![suited] } else { vec![] });
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
