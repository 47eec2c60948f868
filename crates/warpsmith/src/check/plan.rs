//! Which kernels are launched, and how: the options of the command line joined with a file's directives.

use std::collections::HashSet;

use warpsmith_emu::Rule;
use warpsmith_front::ast::{Comment, Instantiation, TranslationUnit};
use warpsmith_front::sema::{self, KernelDecl, ParameterValue};
use warpsmith_ir::{Diagnostic, Span};

use super::args::{LaunchArgs, SourceArgs};
use super::directive::{self, Directive, VerifierLaunch};
use crate::data::{ArgSpec, NamedSpec};

/// Numbers that comparisons name are tried for so many launches of a kernel.
const MOST_COMPARISONS: usize = 12;

/// All that is to be run for one file.
#[derive(Debug, Default)]
pub struct Plan {
    /// What is run, in order.
    pub steps: Vec<Step>,
    /// Findings that comments of the source allow.
    pub allows: Vec<Allow>,
}

/// Launches in order on shared named buffers.
#[derive(Debug)]
pub struct Step {
    /// The launches, in order.
    pub launches: Vec<Planned>,
}

/// A launch that was asked for.
#[derive(Debug, Clone)]
pub struct Planned {
    /// With template arguments.
    pub kernel: String,
    /// Launch options: grid, block, shared memory, arguments.
    pub args: LaunchArgs,
    /// Options for reading the source: macros and folders of headers.
    pub source: SourceArgs,
    /// The directive, for messages; `None` from the command line.
    pub span: Option<Span>,
    /// The parameter that gets a number which a comparison names, where that is what the launch is for.
    pub tries: Option<String>,
}

/// `// warpsmith: allow RULE reason`.
#[derive(Debug, Clone)]
pub struct Allow {
    /// The rule whose findings are allowed.
    pub rule: Rule,
    /// The user's words.
    pub reason: String,
    /// Where the comment stands.
    pub span: Span,
}

/// Joins the command line with the directives of a file.
///
/// # Errors
/// W303 for a file without kernels, W304 for a name that is no kernel or is missing where several fit, W305 for a
/// malformed directive. A plan without steps means that the file has kernels but no launch.
pub fn make(
    unit: &TranslationUnit,
    cli: &LaunchArgs,
    source: &SourceArgs,
) -> Result<Plan, Vec<Diagnostic>> {
    planned(unit, cli, source, true)
}

/// As [`make`], but kernels of a `run` may be without a launch: something else says how they are launched.
///
/// # Errors
/// As [`make`].
pub fn for_comparison(
    unit: &TranslationUnit,
    cli: &LaunchArgs,
    source: &SourceArgs,
) -> Result<Plan, Vec<Diagnostic>> {
    planned(unit, cli, source, false)
}

fn planned(
    unit: &TranslationUnit,
    cli: &LaunchArgs,
    source: &SourceArgs,
    every_launch: bool,
) -> Result<Plan, Vec<Diagnostic>> {
    let kernels = sema::kernels_of(unit);
    if kernels.is_empty() {
        let error = Diagnostic::error("W303", "the file has no kernel");
        let error = match sema::calls_device_algorithms(unit) {
            true => error
                .note("its algorithms of thrust or CUB run kernels of their libraries, with its functors; these are not checked")
                .help("nothing is to be checked here; what a functor does can be checked in a kernel that calls it"),
            false => error.help("a kernel is a function marked `__global__`"),
        };
        return Err(vec![error]);
    }
    let instances = &unit.instantiations;
    let launched_by_host = every_launch && is_launched_by_host(unit, cli);
    let mut planner = Planner {
        kernels,
        launched_by_host,
        instances,
        cli,
        source,
        every_launch,
        plan: Plan::default(),
        errors: vec![],
    };
    let mut launches = vec![];
    let mut runs = vec![];
    for parsed in unit.comments.iter().filter_map(directive::parse) {
        match parsed {
            Ok(Directive::Allow { rule, reason, span }) => {
                planner.plan.allows.push(Allow { rule, reason, span })
            }
            Ok(Directive::Launch { args, span }) => {
                launches.extend(planner.launch(&args.launch, &args.source, span));
            }
            Ok(Directive::Run { kernels, span }) => runs.push((kernels, span)),
            Err(error) => planner.errors.push(error),
        }
    }
    if launches.is_empty() && runs.is_empty() {
        launches = planner.for_verifiers(unit);
    }
    planner.add_steps(launches, runs);
    if planner.errors.is_empty() { Ok(planner.plan) } else { Err(planner.errors) }
}

/// Whether the program in the file says how the kernel that is asked for is launched.
fn is_launched_by_host(unit: &TranslationUnit, cli: &LaunchArgs) -> bool {
    let Some(wanted) = cli.kernel.as_ref().filter(|_| cli.grid.is_none() && cli.block.is_none())
    else {
        return false;
    };
    sema::has_host_function(unit, "main")
        && sema::launches_of(unit).iter().any(|s| base_name(&s.kernel) == base_name(wanted))
}

/// The options of a verifier in a file's comments, where nothing else says how its kernels are launched.
fn verifier_launch(unit: &TranslationUnit) -> Option<(&Comment, VerifierLaunch)> {
    let says = |c| Some((c, directive::verifier_launch(c)?));
    let found = unit.comments.iter().find_map(says)?;
    (!directive::any_launch(unit) && sema::launches_of(unit).is_empty()).then_some(found)
}

/// Whether a file is one for a verifier.
pub fn is_for_verifiers(unit: &TranslationUnit) -> bool {
    verifier_launch(unit).is_some()
}

/// What a file for verifiers asks for that no program has.
pub fn liberties(args: &LaunchArgs) -> impl Iterator<Item = &'static str> {
    let all = [
        (args.large_blocks, "blocks have more threads than any device takes"),
        (args.only_warps, "races between threads of different warps were not looked for"),
    ];
    all.into_iter().filter_map(|(taken, text)| taken.then_some(text))
}

struct Planner<'a> {
    kernels: Vec<KernelDecl>,
    /// The kernel that is asked for is launched by the file's host code.
    launched_by_host: bool,
    instances: &'a [Instantiation],
    cli: &'a LaunchArgs,
    source: &'a SourceArgs,
    /// Every kernel of a `run` needs a launch.
    every_launch: bool,
    plan: Plan,
    errors: Vec<Diagnostic>,
}

impl Planner<'_> {
    /// The launches a directive asks for: one, or one of each explicit instantiation of a template.
    fn launch(&mut self, args: &LaunchArgs, source: &SourceArgs, span: Span) -> Vec<Planned> {
        let kernels = self.launched_kernels(args, span).unwrap_or_default();
        let planned = |kernel| Planned {
            kernel,
            args: args.clone(),
            source: self.source.with(source),
            span: Some(span),
            tries: None,
        };
        kernels.into_iter().map(planned).collect()
    }

    /// The launches of a file whose first comment has the options of a verifier, of all its kernels. Numbers that nobody
    /// gives are those that conditions name, and as many as there are threads; then one at a time those that comparisons name.
    fn for_verifiers(&mut self, unit: &TranslationUnit) -> Vec<Planned> {
        let Some((comment, launch)) = verifier_launch(unit).filter(|_| self.cli.grid.is_none())
        else {
            return vec![];
        };
        let VerifierLaunch { grid, block, lockstep, only_warps, no_benign, source } = launch;
        let threads = u64::from(grid.0[0]) * u64::from(block.0[0]);
        let mut scalars = sema::numbers_of_conditions(unit);
        scalars.extend([threads, 1]);
        let mut once = HashSet::new();
        scalars.retain(|n| once.insert(*n));
        let args = LaunchArgs {
            grid: Some(grid),
            block: Some(block),
            scalars: scalars.iter().map(u64::to_string).collect(),
            warp_sync: lockstep,
            no_benign,
            only_warps,
            large_blocks: !warpsmith_emu::block_fits(block.0),
            // Results of functions without bodies: some are zero, and all differ.
            seeds: sema::declares_only(unit).then_some(2),
            ..LaunchArgs::default()
        };
        let given = sema::values_of_conditions(unit);
        let tried = sema::values_of_comparisons(unit);
        let source = self.source.with(&source);
        let mut all = vec![];
        for kernel in self.kernels.iter().filter(|k| !k.is_template) {
            let planned = |args| Planned {
                kernel: kernel.name.clone(),
                args,
                source: source.clone(),
                span: Some(comment.span),
                tries: None,
            };
            let of_this = |v: &&ParameterValue| v.kernel == kernel.base;
            let mut args = args.clone();
            given.iter().filter(of_this).for_each(|v| give(&mut args, v));
            all.push(planned(args.clone()));
            args.scalars = vec![threads.to_string(), "1".to_string()];
            let open = tried.iter().filter(of_this).filter(|v| args.spec(&v.parameter).is_none());
            for value in open.take(MOST_COMPARISONS) {
                let mut args = args.clone();
                give(&mut args, value);
                let tries = Some(value.parameter.clone());
                all.push(Planned { tries, ..planned(args) });
            }
        }
        all
    }

    /// What a name without template arguments stands for: the instances the file asks for, else itself.
    fn instances_of(&self, name: &str) -> Vec<String> {
        let of = self.instances.iter().map(|i| &i.name);
        let mut all: Vec<String> =
            of.filter(|i| base_name(i) == base_name(name)).cloned().collect();
        all.dedup();
        if all.is_empty() || name.contains('<') { vec![name.to_string()] } else { all }
    }

    fn launched_kernels(&mut self, args: &LaunchArgs, span: Span) -> Option<Vec<String>> {
        match &args.kernel {
            Some(name) => {
                self.known(name, Some(span))?;
                Some(self.instances_of(name))
            }
            None => {
                let next = self
                    .kernels
                    .iter()
                    .find(|k| k.item.file == span.file && k.item.start >= span.end);
                let Some(next) = next else {
                    let error = Diagnostic::error("W305", "no kernel follows this directive")
                        .label(span, "here")
                        .help(
                            "a directive belongs to the next kernel; or name one with kernel=NAME",
                        );
                    self.errors.push(error);
                    return None;
                };
                let instances = self.instances_of(&next.name);
                if next.is_template && instances.iter().all(|i| !i.contains('<')) {
                    let error = Diagnostic::error("W304", format!("`{}` is a template", next.name))
                        .label(span, "this launch does not say which instance")
                        .help(format!(
                            "name the instance, for example kernel='{}<float,32>'",
                            next.name
                        ));
                    self.errors.push(error);
                    return None;
                }
                Some(instances)
            }
        }
    }

    /// Checks that a name, without its template arguments, is a kernel of the file.
    fn known(&mut self, name: &str, span: Option<Span>) -> Option<()> {
        let base = base_name(name);
        if self.kernels.iter().any(|k| k.base == base) {
            return Some(());
        }
        let names: Vec<String> = self.kernels.iter().map(|k| format!("`{}`", k.name)).collect();
        let mut error = Diagnostic::error("W304", format!("there is no kernel `{base}`"))
            .help(format!("the file has {}", names.join(", ")));
        if let Some(span) = span {
            error = error.label(span, "named here");
        }
        self.errors.push(error);
        None
    }

    /// Turns directives and options into steps. Kernels that a `run` names are launched there and not alone.
    fn add_steps(&mut self, launches: Vec<Planned>, runs: Vec<(Vec<String>, Span)>) {
        let wanted = self.cli.kernel.clone();
        if let Some(name) = &wanted
            && self.known(name, None).is_none()
        {
            return;
        }
        let fits = |kernel: &str| {
            wanted
                .as_ref()
                .is_none_or(|w| kernel == w || (!w.contains('<') && base_name(kernel) == *w))
        };
        let in_runs: Vec<&String> = runs.iter().flat_map(|(names, _)| names).collect();
        let alone = |p: &Planned| !in_runs.iter().any(|n| names_kernel(n, &p.kernel));
        for planned in launches.iter().filter(|p| fits(&p.kernel) && alone(p)) {
            self.plan.steps.push(Step { launches: vec![self.merged(planned)] });
        }
        for (names, span) in &runs {
            if wanted.is_some() && !names.iter().any(|n| fits(n)) {
                continue;
            }
            if let Some(step) = self.run_step(names, *span, &launches) {
                self.plan.steps.push(step);
            }
        }
        if self.plan.steps.is_empty() && self.errors.is_empty() {
            self.add_command_line();
        }
    }

    fn run_step(&mut self, names: &[String], span: Span, launches: &[Planned]) -> Option<Step> {
        let mut step = Step { launches: vec![] };
        for (at, name) in names.iter().enumerate() {
            self.known(name, Some(span))?;
            match launches.iter().find(|p| names_kernel(name, &p.kernel)) {
                Some(planned) => {
                    let mut launch = self.merged(planned);
                    if at + 1 < names.len() {
                        // What the command line wants of buffers it wants at the end of the run.
                        launch.args.dump.clone_from(&planned.args.dump);
                        launch.args.expect.clone_from(&planned.args.expect);
                    }
                    step.launches.push(launch);
                }
                None if !self.every_launch => {
                    let (args, source) = (LaunchArgs::default(), self.source.clone());
                    let (kernel, span) = (name.clone(), Some(span));
                    let planned = Planned { kernel, args, source, span, tries: None };
                    step.launches.push(self.merged(&planned));
                }
                None => {
                    let error = Diagnostic::error("W305", format!("`{name}` has no launch to run"))
                        .label(span, "named here")
                        .help(format!("write `// warpsmith: grid=… block=…` before `{name}`"));
                    self.errors.push(error);
                    return None;
                }
            }
        }
        Some(step)
    }

    fn merged(&self, planned: &Planned) -> Planned {
        let args = LaunchArgs { kernel: None, ..self.cli.clone() }.or(&planned.args);
        Planned { args, ..planned.clone() }
    }

    /// A launch given by options alone.
    fn add_command_line(&mut self) {
        let nothing_asked =
            self.cli.grid.is_none() && self.cli.block.is_none() && self.cli.kernel.is_none();
        if nothing_asked || self.launched_by_host {
            return;
        }
        let name = match (&self.cli.kernel, self.kernels.as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.name.clone(),
            (None, several) => {
                let names: Vec<String> = several.iter().map(|k| format!("`{}`", k.name)).collect();
                self.errors.push(
                    Diagnostic::error("W304", "the file has several kernels")
                        .help(format!("choose one with --kernel: {}", names.join(", "))),
                );
                return;
            }
        };
        for kernel in self.instances_of(&name) {
            let (args, source) = (self.cli.clone(), self.source.clone());
            let planned = Planned { kernel, args, source, span: None, tries: None };
            self.plan.steps.push(Step { launches: vec![planned] });
        }
    }
}

/// Gives a parameter a number, unless it has one.
fn give(args: &mut LaunchArgs, v: &ParameterValue) {
    if args.spec(&v.parameter).is_none() {
        let number = ArgSpec::Number(v.value.to_string());
        args.args.push(NamedSpec::new(&v.parameter, number));
    }
}

/// Whether a name in a `run` means a launched kernel; without template arguments it means any instance.
fn names_kernel(name: &str, kernel: &str) -> bool {
    let squeezed = |s: &str| s.split_whitespace().collect::<String>();
    squeezed(name) == squeezed(kernel)
        || !name.contains('<') && base_name(kernel) == base_name(name)
}

/// Whether a launch, as reports name it, is one of that kernel: `file.cu:7: scale<float><<<4, 64>>>`.
pub fn is_launch_of(launch: &str, kernel: &str) -> bool {
    let name = launch.split("<<<").next().and_then(|l| l.rsplit(": ").next());
    launch.contains("<<<") && name.is_some_and(|name| names_kernel(kernel, name))
}

/// The name before the template arguments.
pub fn base_name(kernel: &str) -> &str {
    let plain = kernel.split('<').next().unwrap_or(kernel).trim();
    plain.rsplit("::").next().unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
    use warpsmith_ir::SourceMap;

    fn kernels(text: &str, cli: &LaunchArgs) -> Result<Vec<String>, String> {
        let options = ParseOptions::new(Language::Cuda);
        let mut sources = SourceMap::new();
        let parsed = parse::parse("t.cu", text.as_bytes(), &options, &DiskLoader, &mut sources);
        let unit = parsed.map_err(|list| list[0].message.clone())?.unit;
        let plan = make(&unit, cli, &SourceArgs::default());
        let steps = plan.map_err(|list| list[0].message.clone())?.steps;
        Ok(steps.into_iter().flat_map(|s| s.launches).map(|l| l.kernel).collect())
    }

    const TEMPLATE: &str = "// warpsmith: grid=1 block=32\n\
        template <typename T, int N> __global__ void f(T *x) { x[threadIdx.x] = N; }\n";

    #[test]
    fn explicit_instantiations_say_which_instances_a_launch_means() {
        let text = format!(
            "{TEMPLATE}template __global__ void f<float, 4>(float *);\ntemplate __global__ void f<int, 2>(int *);\n"
        );
        let both = Ok(vec!["f<float, 4>".to_string(), "f<int, 2>".to_string()]);
        assert_eq!(kernels(&text, &LaunchArgs::default()), both);
        let named = LaunchArgs { kernel: Some("f".into()), ..Default::default() };
        assert_eq!(kernels(&text, &named), both);
        let in_run = format!("{text}// warpsmith: run f\n");
        assert_eq!(kernels(&in_run, &LaunchArgs::default()).map(|k| k.len()), Ok(1));
    }

    #[test]
    fn a_template_without_instances_is_an_error() {
        let message = kernels(TEMPLATE, &LaunchArgs::default());
        assert_eq!(message, Err("`f` is a template".to_string()));
    }
}
