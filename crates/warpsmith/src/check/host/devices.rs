//! Programs that want more than one device, and end where there is one.

use super::super::runner::Runner;
use super::super::shown;
use super::{Program, Ran, Running};
use crate::status::Failure;

/// The variable of the host's libraries that says how many devices there are.
const DEVICES: &str = "devicesOfTheMachine";
/// As many as programs for several devices ask for.
const SEVERAL: i32 = 2;

impl Program {
    /// The same program on a machine with two devices; `None` where it does not ask how many there are.
    fn on_several_devices(&self) -> Option<Program> {
        let mut module = self.module.clone();
        let count = module.globals.iter_mut().find(|g| g.name == DEVICES)?;
        count.init = Some(SEVERAL.to_le_bytes().to_vec());
        Some(Program { warnings: vec![], module, entry: self.entry })
    }
}

impl Runner<'_> {
    /// A run on a machine with one device, and on one with two where the program ended on that before it launched anything.
    pub(super) fn on_enough_devices(&mut self, of: &Running<'_>) -> Result<Ran, Failure> {
        let mark = self.mark();
        let ran = self.program_once(of)?;
        let ended = ran.ended.is_some() || ran.status.is_some();
        if ran.launched > 0 || !ended {
            return Ok(ran);
        }
        let Some(program) = of.program.on_several_devices() else { return Ok(ran) };
        self.back_to(&mark);
        let more = self.program_once(&Running { program: &program, ..*of })?;
        if more.launched == 0 {
            self.back_to(&mark);
            return Ok(ran);
        }
        self.assume(format!(
            "{}: it ends where there is one device; it was run as if there were {SEVERAL}",
            shown(of.path)
        ));
        Ok(more)
    }
}
