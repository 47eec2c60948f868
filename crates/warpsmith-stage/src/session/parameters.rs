//! The whole-number parameters of a kernel, and those that the user gives values.

use warpsmith_ir::{Diagnostic, Type};

use super::{Refusal, Session};
use crate::memory;

impl Session {
    /// The integer parameters, from the unmodified kernel at some block shape, and what variables of the device hold that launches give
    /// values as well.
    pub(super) fn read_parameters(&mut self, symbols: &[String]) -> Result<(), Refusal> {
        let block = self.input.block.unwrap_or([16, 16, 1]);
        let text = self.plan.reference(block);
        let program =
            self.compiler.compile(&text, &[], &self.kernel).map_err(|d| self.refuse(false, d))?;
        let function = program.module.function(program.kernel);
        let vars = || function.params.iter().map(|p| function.var(*p));
        let role = |n: &str| self.usage.roles.contains_key(n);
        let base = |n: &str| n.split('.').next().unwrap_or(n).to_string();
        let fields = vars().filter_map(|v| {
            let object = memory::object(&program.module, &v.ty, &v.name, &role);
            let own = object.map(|(_, fields)| fields);
            own.or_else(|| memory::fields(&program.module, &v.ty, &v.name))
        });
        let globals = program.module.globals.iter().filter(|g| symbols.contains(&g.name));
        let single = globals.filter(|g| !matches!(g.ty, Type::Array(..)));
        let held: Vec<memory::Field> = single
            .filter_map(|g| memory::fields(&program.module, &g.ty, &g.name))
            .flatten()
            .collect();
        let integers = fields.flatten().chain(held).filter(|(_, _, s)| s.is_integer());
        self.parameters = integers.map(|(name, ..)| name).collect();
        self.knows_given()?;
        let of_kernel = |n: &&String| role(n) && !symbols.contains(&base(n));
        let members = self.parameters.iter().filter(of_kernel);
        let pointed = |n: &&String| {
            vars().any(|v| v.ty.is_pointer() && n.split('.').next() == Some(v.name.as_str()))
        };
        let written = |n: &String| match pointed(&n) {
            true => n.replacen('.', "->", 1),
            false => n.clone(),
        };
        let members: Vec<String> = members.filter(|n| n.contains('.')).map(written).collect();
        self.plan.record(&members, &self.usage);
        let own = |n: &&String| symbols.contains(&base(n)) && (!n.contains('.') || role(n));
        let held: Vec<String> = self.parameters.iter().filter(own).cloned().collect();
        self.plan.record_variables(&held, &self.usage);
        Ok(())
    }

    /// Whole numbers that are given are parameters of the kernel.
    fn knows_given(&self) -> Result<(), Refusal> {
        let unknown = |n: &&String| !self.parameters.contains(*n);
        // Kernels that plans of ours make have parameters of their own.
        let asked = !self.input.quick && !self.input.chosen;
        let Some(name) = self.input.integers.keys().find(unknown).filter(|_| asked) else {
            return Ok(());
        };
        let message =
            format!("kernel `{}` has no parameter `{name}` of whole numbers", self.kernel);
        let error = Diagnostic::error("W306", message);
        let error = match self.parameters.as_slice() {
            [] => error.help("it has none"),
            all => error.help(format!("such are {}", all.join(", "))),
        };
        Err(self.refuse(false, vec![error]))
    }
}
