//! Runs of the new side that do not come to their end: refused launches, host code that goes wrong or on for ever.

use warpsmith_emu::EmuError;
use warpsmith_ir::SourceMap;

use super::launched::NoRun;
use super::run::Nothing;
use super::side::Code;
use super::{Comparison, Launch};

/// Times the steps of the reference after which launches of host code are without end.
const ENDLESS: u64 = 1000;

impl Comparison<'_> {
    /// The new side took as many steps as it may. A host function that has not come to its end after a thousand times those
    /// of the reference launches kernels for ever.
    pub fn without_end(
        &mut self,
        launch: &Launch<'_>,
        (reference, taken): (u64, u64),
        sources: &SourceMap,
    ) -> Result<(), Nothing> {
        let new = self.data.new;
        if !matches!(new.code, Code::Host(_)) || taken < ENDLESS * reference.max(1) {
            return Err(Nothing::TooLarge);
        }
        let message = format!(
            "`{}` has not come to its end after {taken} steps of its threads; the reference takes {reference}",
            new.name
        );
        let sizes = launch.inputs.point.iter().map(|(n, v)| format!("{n}={v}"));
        let sizes = sizes.collect::<Vec<_>>().join(", ");
        let label = format!("{} with {sizes}", new.describe());
        self.ran.push(launch.inputs.point.clone());
        self.runner.launched(&label);
        let span = new.ir().origin.span;
        self.runner.refused("infinite-loop", message, span, &label, false, sources);
        self.found = true;
        Ok(())
    }

    /// The kernels of the new side were refused, or its host code goes wrong.
    pub fn not_run(
        &mut self,
        why: NoRun,
        launch: &Launch<'_>,
        sources: &SourceMap,
    ) -> Result<(), Nothing> {
        let new = self.data.new;
        let (rule, message, span, label) = match why {
            NoRun::Refused { kernel, shape, error: EmuError::BadLaunch(message) } => {
                let span = new.module.function(kernel).origin.span;
                ("invalid-launch", message, span, self.label(launch, kernel, &shape))
            }
            NoRun::Beyond { message, span } => ("out-of-bounds", message, span, new.describe()),
            why => return Err(why.of_reference(new)),
        };
        self.runner.launched(&label);
        self.runner.refused(rule, message, span, &label, false, sources);
        self.found = true;
        Ok(())
    }
}
