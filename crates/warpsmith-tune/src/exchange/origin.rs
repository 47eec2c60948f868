//! Which problem of a store a file of ours was written from, so that it finds its way back.

use serde_json::Value as Json;

use super::Object;
use crate::store::ProblemKey;

/// The field in the head of the file.
const FIELD: &str = "warpsmith_problem";
const SPACE: &str = "space";

/// A problem of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What its times depend on.
    pub key: ProblemKey,
    /// What its configurations are made of, as a T1 text, where somebody has said it.
    pub space: Option<String>,
}

impl Origin {
    /// Adds the problem to the head of a file.
    pub fn write(&self, head: &mut Object) {
        let mut object = self.key.to_json();
        if let Some(space) = &self.space {
            object.insert(SPACE.into(), space.as_str().into());
        }
        head.insert(FIELD.into(), Json::Object(object));
    }

    /// The problem that a head names.
    pub fn read(head: &Object) -> Option<Origin> {
        let object = head.get(FIELD)?.as_object()?;
        let space = object.get(SPACE).and_then(Json::as_str).map(str::to_string);
        Some(Origin { key: ProblemKey::from_json(object)?, space })
    }
}
