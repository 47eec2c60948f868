//! Launches that were counted already: those of nests that two programs of one function have in common.

use warpsmith_ir::{
    ConstId, Expr, ExprKind, Function, FunctionKind, Global, LoopId, Module, StructDef, Value,
    visit::{self, Rewriter},
};

use super::Walked;
use super::values::{Extents, Vars};

/// Profiles of launches.
#[derive(Default)]
pub struct Known {
    /// What kernels refer to by numbers; nothing is known of a module where it is different.
    shared: Option<Shared>,
    launches: Vec<(Counted, Walked)>,
}

#[derive(PartialEq)]
struct Shared {
    structs: Vec<StructDef>,
    globals: Vec<Global>,
    device: Vec<Function>,
}

impl Shared {
    fn of(module: &Module) -> Shared {
        let device = module.functions.iter().filter(|f| f.kind == FunctionKind::Device);
        Shared {
            structs: module.structs.clone(),
            globals: module.globals.clone(),
            device: device.cloned().collect(),
        }
    }
}

/// What a profile follows from.
#[derive(PartialEq)]
pub struct Counted {
    kernel: Function,
    constants: Vec<Value>,
    at: Extents,
    args: Vec<Option<Value>>,
}

impl Counted {
    /// A launch without what does not count: names, and the numbers of loops and named constants.
    pub fn of(module: &Module, kernel: &Function, at: Extents, args: &Vars<Value>) -> Counted {
        let mut kernel = kernel.clone();
        let args = kernel.params.iter().map(|p| args.get(*p)).collect();
        (kernel.name, kernel.next_loop) = (String::new(), 0);
        let mut numbers = Numbers::default();
        numbers.block(&mut kernel.body);
        for var in &mut kernel.vars {
            var.name = String::new();
            var.shape.iter_mut().flatten().for_each(|extent| numbers.expr(extent));
        }
        let value = |id: &ConstId| module.constants.get(id.0 as usize).map(|c| c.value);
        let constants = numbers.constants.iter().filter_map(value).collect();
        Counted { kernel, constants, at, args }
    }
}

/// Numbers anew in the order of the text.
#[derive(Default)]
struct Numbers {
    loops: Vec<LoopId>,
    constants: Vec<ConstId>,
}

fn number<T: Copy + PartialEq>(known: &mut Vec<T>, id: T) -> u32 {
    let at = known.iter().position(|k| *k == id).unwrap_or_else(|| {
        known.push(id);
        known.len() - 1
    });
    at as u32
}

impl Rewriter for Numbers {
    fn loop_id(&mut self, id: &mut LoopId) {
        *id = LoopId(number(&mut self.loops, *id));
    }

    fn expr(&mut self, expr: &mut Expr) {
        match &mut *expr.kind {
            ExprKind::Named(id) => *id = ConstId(number(&mut self.constants, *id)),
            _ => visit::rewrite_expr(self, expr),
        }
    }
}

impl Known {
    /// Knows nothing of programs whose kernels refer to other functions, globals and structs.
    pub fn beside(module: &Module) -> Known {
        Known { shared: Some(Shared::of(module)), launches: vec![] }
    }

    /// Whether there is any use in asking about kernels of a module.
    pub fn applies(&self, module: &Module) -> bool {
        let shared = |s: &Shared| *s == Shared::of(module);
        !self.launches.is_empty() && self.shared.as_ref().is_some_and(shared)
    }

    pub(super) fn add(&mut self, launch: Counted, walked: Walked) {
        self.launches.push((launch, walked));
    }

    pub(super) fn find(&self, launch: &Counted) -> Option<Walked> {
        self.launches.iter().find(|(known, _)| known == launch).map(|(_, walked)| walked.clone())
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_front::cloops;
    use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
    use warpsmith_ir::SourceMap;
    use warpsmith_opt::{Kernel, lower, schedule};

    use super::super::known;

    const TWO: &str = "
void two(int n, const float A[n][n], const float B[n][n], float C[n][n], float D[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                D[i][j] += C[i][k] * B[k][j];
}
";

    /// The second kernel has constants and loops of other numbers, beside another first one.
    #[test]
    fn a_kernel_is_the_same_beside_another_one() {
        let mut sources = SourceMap::new();
        let options = ParseOptions::new(Language::C);
        let parsed = parse("two.c", TWO.as_bytes(), &options, &DiskLoader, &mut sources).unwrap();
        let input = cloops::lower_c(&parsed.unit, None).unwrap();
        let kernel = Kernel::new(input.module, input.function);
        let second =
            "bind i#2, j#2 -> y, x block 16x16\nregister_tile i#2 by 2\nstage B at k#2 tile 8\n";
        let [plain, tiled] = ["", "register_tile j by 4\nstage A at k tile 4\n"].map(|more| {
            let text = format!("bind i, j -> y, x block 32x4\n{more}{second}");
            let file = sources.add("two.sched", text);
            let steps = schedule::parse(&sources, file).unwrap();
            let kernel = schedule::replay(&kernel, &steps, &sources).unwrap();
            let program = lower::lower(&kernel, &sources).unwrap();
            let sizes = [64, 100].map(|n| [("n".to_string(), n)].into());
            assert_eq!(program.kernels.len(), 2);
            let known = known(&program.module, program.launcher, &sizes);
            assert!(known.applies(&program.module));
            known
        });
        let same: Vec<bool> =
            plain.launches.iter().map(|(launch, ..)| tiled.find(launch).is_some()).collect();
        assert_eq!(same, [false, true, false, true]);
        for at in [1, 3] {
            assert_eq!(plain.launches[at].1, tiled.launches[at].1);
        }
    }
}
