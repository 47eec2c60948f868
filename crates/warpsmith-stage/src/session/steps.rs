//! Who hears of the steps of a long way.

use std::rc::Rc;

/// Is told the name of a step.
pub type Hear = Rc<dyn Fn(&str)>;

/// Hears of each step that begins, for whoever waits.
#[derive(Clone, Default)]
pub struct Steps {
    hear: Option<Hear>,
    /// What the steps are a part of.
    within: String,
}

impl Steps {
    /// Steps that `hear` is told of.
    pub fn new(hear: Hear) -> Steps {
        Steps { hear: Some(hear), within: String::new() }
    }

    /// Steps of a part of the work, which is named before each.
    pub fn within(&self, part: &str) -> Steps {
        Steps { hear: self.hear.clone(), within: format!("{}{part}: ", self.within) }
    }

    /// Says that the step of this name begins.
    pub fn begin(&self, name: &str) {
        if let Some(hear) = &self.hear {
            hear(&format!("{}{name}", self.within));
        }
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.hear.is_some() { "heard" } else { "unheard" })
    }
}
