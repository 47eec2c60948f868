//! A problem as something that the engine can search.

use std::sync::Arc;

use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{Action, Arg, Candidate, Compile, Invalid, Launch, Reason};
use warpsmith_tune::exchange::t1;
use warpsmith_tune::space::Configuration;

use super::arguments::Arguments;
use super::kernel::Kernel;
use super::sizes::{Shape, shape};
use crate::search::{Device, Draft, Task, Workload};

/// Other people's kernel with its arguments.
pub struct Foreign {
    problem: t1::Problem,
    kernel: Kernel,
    local: Vec<String>,
    /// Before the first launch of each configuration, and what a launch gets.
    calls: Arc<Calls>,
    tasks: [Task; 1],
}

#[derive(Debug)]
struct Calls {
    symbols: Vec<(String, Vec<u8>)>,
    parameters: Vec<Arg>,
}

impl Foreign {
    pub fn new(problem: t1::Problem, kernel: Kernel, arguments: Arguments) -> Foreign {
        let task = Task {
            label: arguments.summary,
            problem: arguments.memory,
            blobs: arguments.blobs,
            nearby: vec![],
            outputs: arguments.outputs,
            reference: None,
        };
        let calls = Calls { symbols: arguments.symbols, parameters: arguments.parameters };
        Foreign { problem, kernel, local: arguments.local, calls: Arc::new(calls), tasks: [task] }
    }

    /// The right outputs are those of this configuration.
    pub fn set_reference(&mut self, draft: Option<Arc<dyn Draft>>) {
        self.tasks[0].reference = draft;
    }

    /// How a configuration is launched.
    ///
    /// # Errors
    /// No device can launch it.
    pub fn shape(&self, configuration: &Configuration) -> Result<Shape, Invalid> {
        shape(&self.problem, &self.local, configuration)
    }
}

impl Workload for Foreign {
    fn draft(&self, configuration: &Configuration) -> Result<Arc<dyn Draft>, Invalid> {
        let shape = self.shape(configuration)?;
        Ok(Arc::new(One {
            key: configuration.key(),
            request: self.kernel.request(configuration, &shape),
            shape,
            calls: self.calls.clone(),
        }))
    }

    fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

/// One configuration.
struct One {
    key: String,
    request: Compile,
    shape: Shape,
    calls: Arc<Calls>,
}

impl Draft for One {
    fn request(&self) -> Compile {
        self.request.clone()
    }

    fn candidate(
        &self,
        binary: &Binary,
        _: usize,
        _: &mut dyn Device,
    ) -> Result<Candidate, Invalid> {
        let name = self.request.kernels.first().map_or("", String::as_str);
        let kernel = binary.kernels.iter().find(|k| k.name == name).ok_or_else(|| {
            Invalid::new(Reason::Compile, format!("there is no kernel `{name}` in the binary"))
        })?;
        let presets = self
            .calls
            .symbols
            .iter()
            .map(|(symbol, bytes)| Action::Preset { symbol: symbol.clone(), bytes: bytes.clone() });
        let launch = Action::Launch(Launch {
            kernel: kernel.symbol.clone(),
            grid: self.shape.grid,
            block: self.shape.block,
            shared: self.shape.shared,
            args: self.calls.parameters.clone(),
        });
        Ok(Candidate { key: self.key.clone(), actions: presets.chain([launch]).collect() })
    }
}
