//! Emitted files as the workload of a search: the number of the file is its only parameter.

use std::sync::Arc;

use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{Candidate, Compile, Invalid, Reason};
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_tune::space::{Configuration, Parameter, SharedSpace, Space};
use warpsmith_tune::value::Value;

use crate::search::{Device, Draft, NoDevice, Task, Workload};
use warpsmith_translate::tune::measure::{device_text, recorded};
use warpsmith_translate::tune::verify::host_c::ArgBytes;
use warpsmith_translate::tune::verify::witness::Witness;

/// Files with a launcher `NAME_launch(count, arrays…, workspace, stream)`, and the arrays that it is called with.
pub struct Texts {
    /// What names in the files begin with.
    pub name: String,
    /// Name and text; the first of each list is the one with the kernels.
    pub files: Vec<Vec<(String, String)>>,
    pub task: [Task; 1],
    /// Elements.
    pub count: u64,
    /// Arrays before the workspace.
    pub arrays: usize,
}

/// The parameter whose value is a file's number, from 1 on.
const NUMBER: &str = "cover";

impl Texts {
    /// All numbers.
    ///
    /// # Errors
    /// There are none, or too many.
    pub fn space(&self) -> Result<SharedSpace, Diagnostic> {
        let numbers = (1..=self.files.len() as i64).map(Value::Int);
        let space = Space::new(vec![Parameter::new(NUMBER, numbers)], &[]);
        space.map(Arc::new).map_err(|e| e.diagnostic(&|_| None))
    }

    /// The position of a configuration's files.
    pub fn position(configuration: &Configuration) -> Option<usize> {
        match configuration.get(NUMBER) {
            Some(Value::Int(n)) => usize::try_from(n - 1).ok(),
            _ => None,
        }
    }

    /// What the launcher is called with. It does not look into arrays.
    fn arguments(&self) -> Vec<ArgBytes> {
        let count = i32::try_from(self.count).unwrap_or(i32::MAX).to_le_bytes().to_vec();
        let arrays = (0..self.arrays).map(|_| ArgBytes::Array(vec![]));
        std::iter::once(ArgBytes::Value(count)).chain(arrays).collect()
    }

    fn text(&self, position: usize) -> Result<Text, Invalid> {
        let ours = |why: Vec<Diagnostic>| {
            let why = why.first().map_or_else(String::new, |d| d.message.clone());
            Invalid::new(Reason::Compile, why)
        };
        let files = self.files.get(position);
        let files = files.ok_or_else(|| Invalid::new(Reason::Constraints, "no such cover"))?;
        let (file, text) = &files[0];
        let mut sources = SourceMap::new();
        let launcher = format!("{}_launch", self.name);
        let witness = Witness::parse(file, text, &launcher, files, &mut sources).map_err(ours)?;
        let found =
            device_text(file, text, files, |_| true, &mut SourceMap::new()).map_err(ours)?;
        let request = Compile {
            source: found.text,
            file: file.clone(),
            arch: String::new(),
            options: vec!["--std=c++17".into()],
            kernels: found.kernels,
        };
        let room = self.task[0].problem.buffers.last().map_or(0, |b| b.bytes);
        Ok(Text { key: position.to_string(), request, witness, args: self.arguments(), room })
    }

    /// The most bytes of workspace that one of the files asks for.
    ///
    /// # Errors
    /// A launcher that cannot be followed: a bug of ours.
    pub fn workspace(&self) -> Result<u64, Invalid> {
        let mut most = 0;
        for position in 0..self.files.len() {
            let text = self.text(position)?;
            let asked = recorded(&text.witness, &text.args, None, &[], &mut NoDevice::default())?;
            most = most.max(asked.1);
        }
        Ok(most)
    }
}

impl Workload for Texts {
    fn draft(&self, configuration: &Configuration) -> Result<Arc<dyn Draft>, Invalid> {
        let position = Texts::position(configuration);
        let none = || Invalid::new(Reason::Constraints, "no number");
        Ok(Arc::new(self.text(position.ok_or_else(none)?)?))
    }

    fn tasks(&self) -> &[Task] {
        &self.task
    }
}

/// One file on its way to the compiler.
struct Text {
    key: String,
    request: Compile,
    witness: Witness,
    args: Vec<ArgBytes>,
    /// Bytes that are there for the workspace.
    room: u64,
}

impl Draft for Text {
    fn request(&self) -> Compile {
        self.request.clone()
    }

    fn candidate(
        &self,
        binary: &Binary,
        _: usize,
        device: &mut dyn Device,
    ) -> Result<Candidate, Invalid> {
        let (actions, bytes) = recorded(&self.witness, &self.args, None, &binary.kernels, device)?;
        if bytes > self.room {
            let detail = format!("its workspace has {bytes} bytes");
            return Err(Invalid::new(Reason::Constraints, detail));
        }
        Ok(Candidate { key: self.key.clone(), actions })
    }
}
