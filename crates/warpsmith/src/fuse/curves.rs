//! Times of routines as they were measured on a GPU, with growing shared memory: kept in a file, interpolated between.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpsmith_fuse::library::Library;
use warpsmith_fuse::predict::{RoutineUse, Times};
use warpsmith_ir::Diagnostic;
use warpsmith_tune::store::fingerprint;

use super::model::Model;
use crate::search::store;
use crate::status::Failure;

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    pub schema: u32,
    /// As the driver names it.
    pub device: String,
    pub driver: String,
    /// Elements for which times were taken.
    pub elements: u64,
    pub curves: Vec<Curve>,
}

/// One routine in blocks of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// As in the library, or `load` and `save` for our own copies.
    pub routine: String,
    /// What its function's file held; our own copies have none.
    pub source: Option<String>,
    /// Floats of an element that it moves; 0 for computations.
    pub moved: u32,
    pub elements_per_block: u32,
    /// Bytes of shared memory beyond its own need, ascending, and seconds.
    pub points: Vec<(u32, f64)>,
}

impl Curve {
    /// Seconds with so much additional shared memory: interpolated, and constant beyond what was measured.
    fn seconds(&self, additional: u32) -> Option<f64> {
        let after = self.points.iter().position(|(at, _)| *at >= additional);
        let (before, after) = match after {
            Some(0) => return self.points.first().map(|(_, s)| *s),
            None => return self.points.last().map(|(_, s)| *s),
            Some(k) => (self.points.get(k - 1)?, self.points.get(k)?),
        };
        let share = f64::from(additional - before.0) / f64::from((after.0 - before.0).max(1));
        Some(before.1 + share * (after.1 - before.1))
    }
}

/// The version of the file's form.
const SCHEMA: u32 = 1;

/// Where the curves of a device are kept: beside the user's store.
///
/// # Errors
/// The environment names no home.
pub fn path(device: &str, store_file: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let store = store::path(store_file)?;
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = device.chars().map(word).collect();
    Ok(store.with_file_name(format!("fuse-{name}.json")))
}

impl Curves {
    pub fn new(device: String, driver: String, elements: u64) -> Curves {
        Curves { schema: SCHEMA, device, driver, elements, curves: vec![] }
    }

    /// Reads a file; `None`: it is not there.
    ///
    /// # Errors
    /// W545: it cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Option<Curves>, Failure> {
        let wrong = |why: String| {
            let what = format!("`{}` holds no times of routines", path.display());
            Diagnostic::error("W545", what).note(why).help("`warpsmith fuse --benchmark` makes it")
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(wrong(e.to_string()).into()),
        };
        let curves: Curves = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let ascending = |c: &Curve| c.points.is_sorted_by_key(|p| p.0) && !c.points.is_empty();
        let positive = |c: &Curve| c.points.iter().all(|p| p.1.is_finite() && p.1 >= 0.0);
        match curves.schema == SCHEMA && curves.curves.iter().all(|c| ascending(c) && positive(c)) {
            true => Ok(Some(curves)),
            false => Err(wrong("its schema or its points are others".into()).into()),
        }
    }

    /// Puts curves in, in place of older ones of the same routines.
    pub fn replace(&mut self, new: Vec<Curve>) {
        let key = |c: &Curve| (c.routine.clone(), c.moved, c.elements_per_block);
        self.curves.retain(|old| new.iter().all(|n| key(n) != key(old)));
        self.curves.extend(new);
        self.curves.sort_by_key(key);
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// W302.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        if let Some(folder) = path.parent() {
            // What is wrong is said when the file is written.
            let _ = std::fs::create_dir_all(folder);
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        crate::output::write_file(path, text.as_bytes())
    }
}

/// What a function's file says: curves of another text do not count.
pub fn source_of(library: &Library, function: &str) -> Option<String> {
    library.files.get(&format!("{function}.cu")).map(|text| fingerprint(text))
}

/// Measured times, and those of the model where nothing was measured.
pub struct Measured<'a> {
    pub curves: Curves,
    pub library: &'a Library,
    pub model: Model,
    /// Elements to predict for.
    pub elements: u64,
}

impl Measured<'_> {
    fn curve(&self, routine: &RoutineUse<'_>) -> Option<&Curve> {
        let same = |c: &&Curve| c.routine == routine.name && c.moved == routine.moved;
        let candidates = self.curves.curves.iter().filter(same).filter(|c| self.is_current(c));
        let distance = |c: &&Curve| {
            let ratio = f64::from(c.elements_per_block) / f64::from(routine.elements.max(1));
            (ratio.ln().abs() * 1e6) as u64
        };
        candidates.min_by_key(distance)
    }

    fn is_current(&self, curve: &Curve) -> bool {
        let Some(source) = &curve.source else { return true };
        let functions = self.library.functions().iter();
        let own = functions.filter(|f| curve.routine.starts_with(&format!("d_{}_", f.name)));
        own.max_by_key(|f| f.name.len())
            .is_some_and(|f| source_of(self.library, &f.name).as_ref() == Some(source))
    }
}

impl Times for Measured<'_> {
    fn seconds(&self, routine: &RoutineUse<'_>) -> f64 {
        let measured = self.curve(routine).and_then(|c| c.seconds(routine.additional_shared));
        match measured {
            Some(seconds) => seconds * self.elements as f64 / self.curves.elements.max(1) as f64,
            None => self.model.seconds(routine),
        }
    }

    fn launch(&self) -> f64 {
        self.model.launch()
    }

    fn starting(&self, elements_per_block: u32) -> f64 {
        self.model.starting(elements_per_block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u32, f64)]) -> Curve {
        let (routine, source) = ("d_f_1_compute".to_string(), None);
        Curve { routine, source, moved: 0, elements_per_block: 64, points: points.to_vec() }
    }

    #[test]
    fn between_points_it_is_linear_and_beyond_them_constant() {
        let c = curve(&[(100, 1.0), (200, 3.0)]);
        assert_eq!(
            [0, 100, 150, 200, 999].map(|at| c.seconds(at).unwrap()),
            [1.0, 1.0, 2.0, 3.0, 3.0]
        );
    }

    #[test]
    fn what_is_written_is_read_and_what_is_not_ours_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/curves.json");
        assert_eq!(Curves::read(&path).unwrap(), None);
        let mut curves = Curves::new("H200".into(), "1".into(), 1000);
        curves.replace(vec![curve(&[(0, 1.0)])]);
        curves.replace(vec![curve(&[(0, 2.0)])]);
        curves.write(&path).unwrap();
        assert_eq!(Curves::read(&path).unwrap(), Some(curves.clone()));
        assert_eq!(curves.curves.len(), 1, "the newer one");
        for text in ["", "{}", &serde_json::to_string(&Curves { schema: 9, ..curves }).unwrap()] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Curves::read(&path).unwrap_err().diagnostics[0].code, "W545");
        }
    }
}
