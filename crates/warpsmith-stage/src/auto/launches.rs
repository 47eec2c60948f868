//! Launches of a kernel in the host code of its file: the sizes that they pass, and other grids for them.

use std::collections::{BTreeMap, HashMap};

use warpsmith_front::ast::{self, ExprKind, TranslationUnit};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::cut::{AXES, operand};
use super::find;
use super::plans::replaced;
use crate::source::patch::Patch;
use crate::source::shape::{self, base_name};

/// One launch, with the function that it stands in.
struct Found {
    grid: ast::Expr,
    /// Arguments by the names of the kernel's parameters.
    arguments: HashMap<String, ast::Expr>,
    /// The declared types of variables that the grid may be.
    grid_type: Option<String>,
    /// Initialisers of the function's variables.
    values: HashMap<String, String>,
}

/// A file, as launches are looked for in it.
pub struct File<'a> {
    pub text: &'a str,
    pub unit: &'a TranslationUnit,
    pub sources: &'a SourceMap,
    pub kernel: &'a ast::FunctionDecl,
    pub name: &'a str,
}

/// Host code with other grids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    pub patch: Patch,
    /// The grids as they are now, in order.
    pub grids: Vec<String>,
    /// Launches that are as they were.
    pub missed: usize,
}

impl File<'_> {
    fn launches(&self) -> Vec<Found> {
        let mut all = vec![];
        shape::each_body(&self.unit.items, &mut |body| {
            walk::block(body, &mut |e| {
                let ExprKind::Launch { callee, config, args } = &*e.kind else { return };
                let Some(grid) = config.first() else { return };
                if base_name(self.sources.text(callee.span)) != self.name {
                    return;
                }
                let names = self.kernel.params.iter().map(|p| p.name.clone().unwrap_or_default());
                let variable = super::outer::name(grid);
                all.push(Found {
                    grid: grid.clone(),
                    arguments: names.zip(args.iter().cloned()).collect(),
                    grid_type: variable.and_then(|n| find::declared_type(body, n, self.sources)),
                    values: find::initialisers(body, self.sources),
                });
            });
        });
        all
    }

    /// Sizes that the first launch passes as numbers.
    pub fn sizes(&self) -> BTreeMap<String, i64> {
        self.all_sizes().into_iter().next().unwrap_or_default()
    }

    /// The same of every launch.
    pub fn all_sizes(&self) -> Vec<BTreeMap<String, i64>> {
        self.launches().iter().map(|found| self.passed(found)).collect()
    }

    fn passed(&self, found: &Found) -> BTreeMap<String, i64> {
        let mut sizes = BTreeMap::new();
        for (name, e) in &found.arguments {
            let mut text = self.sources.text(e.span).trim().to_string();
            for _ in 0..4 {
                let known = found.values.get(&text).or_else(|| self.unit.macros.get(&text));
                match known {
                    Some(value) => text = value.trim().to_string(),
                    None => break,
                }
            }
            if let Ok(n) = text.parse() {
                sizes.insert(name.clone(), n);
            }
        }
        sizes
    }

    /// Gives all launches blocks along an axis: iterations over `run`, or so many where the host does not know the iterations.
    pub fn with_blocks(
        &self,
        axis: usize,
        count: Option<&str>,
        run: i64,
        otherwise: i64,
    ) -> Edited {
        let mut edited = Edited::default();
        for found in self.launches() {
            let blocks = count
                .and_then(|c| self.in_arguments(c, &found))
                .map_or(otherwise.to_string(), |c| blocks(&c, run));
            let at = found.grid.span.start as usize..found.grid.span.end as usize;
            let own = self.is_own(&found.grid);
            match self.grid(&found, axis, &blocks).filter(|_| own) {
                Some(grid) => {
                    edited.patch.replace(at, grid.clone());
                    edited.grids.push(grid);
                }
                None => edited.missed += 1,
            }
        }
        edited
    }

    /// A number of the kernel's parameters as one of a launch's arguments.
    fn in_arguments(&self, count: &str, found: &Found) -> Option<String> {
        let mut values = HashMap::new();
        for name in crate::source::scope::names(count) {
            let Some(e) = found.arguments.get(&name) else { continue };
            let mut pure = true;
            walk::expr(e, &mut |e| {
                pure &= !matches!(
                    &*e.kind,
                    ExprKind::Call { .. }
                        | ExprKind::Assign { .. }
                        | ExprKind::IncDec { .. }
                        | ExprKind::Lambda(_)
                );
            });
            if !pure {
                return None;
            }
            values.insert(name, self.sources.text(e.span).to_string());
        }
        Some(replaced(count, &values))
    }

    /// A grid with other blocks along an axis; `None` for one that is not understood.
    fn grid(&self, found: &Found, axis: usize, blocks: &str) -> Option<String> {
        let mut dims = self.dims(&found.grid, found.grid_type.as_deref())?;
        dims.resize(dims.len().max(axis + 1), "1".into());
        dims[axis] = blocks.to_string();
        if axis == 1 && dims.get(2).is_some_and(|z| z.ends_with(".z")) {
            dims.truncate(2);
        }
        Some(format!("dim3({})", dims.join(", ")))
    }

    /// What a grid has along its axes; `None` for one that is not understood. A variable has the type that it is declared with.
    pub fn dims(&self, grid: &ast::Expr, grid_type: Option<&str>) -> Option<Vec<String>> {
        let text = |e: &ast::Expr| self.sources.text(e.span).to_string();
        Some(match &*grid.kind {
            ExprKind::Call { callee, args } if text(callee) == "dim3" => {
                args.iter().map(text).collect()
            }
            ExprKind::Construct { args, .. } if text(grid).starts_with("dim3") => args
                .iter()
                .map(|a| match a {
                    ast::Initializer::Expr(e) => Some(text(e)),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>()?,
            ExprKind::Path(_) if grid_type == Some("dim3") => {
                let name = text(grid);
                (0..3).map(|a| format!("{name}.{}", AXES[a])).collect()
            }
            ExprKind::Path(_) => {
                grid_type.filter(|t| is_whole(t))?;
                vec![text(grid)]
            }
            ExprKind::Number(_) | ExprKind::Binary { .. } | ExprKind::Paren(_) => {
                vec![text(grid)]
            }
            _ => return None,
        })
    }

    /// Whether an expression stands in the file as it is, alone between commas.
    pub fn is_own(&self, e: &ast::Expr) -> bool {
        let at = e.span.start as usize..e.span.end as usize;
        e.span.file.0 == 0
            && self.text.get(at.clone()) == Some(self.sources.text(e.span))
            && self.text[at.end..].trim_start().starts_with([',', '>'])
    }
}

fn is_whole(ty: &str) -> bool {
    ty.split_whitespace()
        .all(|w| matches!(w, "int" | "unsigned" | "long" | "size_t" | "uint32_t" | "auto"))
}

/// Blocks for so many iterations: at least one, and no more than a grid can have.
pub fn blocks(count: &str, run: i64) -> String {
    let count = match count.parse::<i64>() {
        Ok(_) => count.to_string(),
        Err(_) => format!("(int){}", operand(count)),
    };
    format!("min({count} / {run} + 1, 65535)")
}
