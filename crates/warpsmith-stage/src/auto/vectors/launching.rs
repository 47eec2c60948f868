//! Launches that take the kernel of vectors where sizes and addresses suit it.

use warpsmith_front::ast::{self, ExprKind, StmtKind, TypeKind};
use warpsmith_front::sema::walk;

use super::Wide;
use crate::auto::cut::operand;
use crate::auto::find;
use crate::auto::launches::{Edited, File, blocks};
use crate::auto::temporal;
use crate::source::patch::indentation;
use crate::source::shape;

/// Gives all launches of a file the choice between a kernel and its form with vectors; `run`: iterations that a block along the axis
/// of a cut loop goes through, and blocks where the host does not know the iterations.
pub fn edited(wide: &Wide, file: &File<'_>, run: Option<(i64, i64)>) -> Edited {
    let mut edited = Edited::default();
    shape::each_body(&file.unit.items, &mut |body| {
        temporal::statements(&body.stmts, false, &mut |s, _| {
            let StmtKind::Expr(e) = &s.kind else { return };
            if !is_launch(file, e) {
                return;
            }
            match (Launch { wide, file, body, run }).choice(e) {
                Some((grid, text)) => {
                    let at = s.span.start as usize..s.span.end as usize;
                    edited.patch.replace(at, text);
                    edited.grids.push(grid);
                }
                None => edited.missed += 1,
            }
        });
    });
    edited
}

fn is_launch(file: &File<'_>, e: &ast::Expr) -> bool {
    matches!(&*e.kind, ExprKind::Launch { callee, .. } if shape::base_name(file.sources.text(callee.span)) == file.name)
}

struct Launch<'a> {
    wide: &'a Wide,
    file: &'a File<'a>,
    body: &'a ast::Block,
    run: Option<(i64, i64)>,
}

impl Launch<'_> {
    fn text(&self, e: &ast::Expr) -> String {
        self.file.sources.text(e.span).trim().to_string()
    }

    fn dims(&self, e: &ast::Expr) -> Option<Vec<String>> {
        let ty = crate::auto::outer::name(e)
            .and_then(|n| find::declared_type(self.body, n, self.file.sources));
        self.file.dims(e, ty.as_deref())
    }

    /// What stands in the place of a launch, and the grid of the kernel of vectors.
    fn choice(&self, e: &ast::Expr) -> Option<(String, String)> {
        let ExprKind::Launch { callee, config, args } = &*e.kind else { return None };
        let own = self.file.text.get(e.span.start as usize..e.span.end as usize)?;
        let whole = own == self.file.sources.text(e.span) && args.iter().all(pure);
        (whole && config.iter().all(pure) && callee.span.file.0 == 0).then_some(())?;
        let mut grid = self.dims(config.first()?)?;
        let block = self.dims(config.get(1)?)?;
        let mut conditions: Vec<String> = vec![];
        for name in &self.wide.multiples {
            let size = self.argument(args, name)?;
            match size.parse::<i64>() {
                Ok(n) => (n % self.wide.lanes == 0).then_some(())?,
                Err(_) => conditions.push(format!("{size} % {} == 0", self.wide.lanes)),
            }
        }
        conditions.dedup();
        let (wide, count) = (operand(&grid[0]), self.wide.lanes);
        conditions.push(match &self.wide.size {
            // What is taken from an unsigned size may be less than nothing, so that the grid alone ends the rows.
            Some(size) if !self.is_signed(size) => format!("{wide} % {count} == 0"),
            Some(size) => {
                let size = self.argument(args, size)?;
                format!("(long long){wide} * {} >= {size}", operand(&block[0]))
            }
            None => format!("{wide} % {count} == 0"),
        });
        let mut addresses = vec![];
        for name in &self.wide.arrays {
            addresses.push(format!("(size_t){}", self.argument(args, name)?));
        }
        conditions.push(match addresses.as_slice() {
            [only] => format!("{only} % 16 == 0"),
            all => format!("({}) % 16 == 0", all.join(" | ")),
        });
        grid[0] = format!("({wide} + {}) / {count}", count - 1);
        if let (Some(cut), Some((run, otherwise))) = (&self.wide.cut, self.run) {
            let known = cut.count.as_ref().and_then(|c| self.counted(c, args));
            grid.resize(grid.len().max(cut.axis + 1), "1".into());
            grid[cut.axis] = known.map_or(otherwise.to_string(), |c| blocks(&c, run));
        }
        let grid = format!("dim3({})", grid.join(", "));
        let list = |e: &[ast::Expr]| e.iter().map(|e| self.text(e)).collect::<Vec<_>>();
        let mut configured = list(config);
        configured[0] = grid.clone();
        let base = shape::base_name(&self.wide.kernel);
        let name = self.text(callee).replacen(self.file.name, base, 1);
        let indent = indentation(self.file.text, e.span.start as usize);
        let text = format!(
            "if ({}) {{\n{indent}    {name}<<<{}>>>({});\n{indent}}} else {{\n{indent}    {own};\n{indent}}}",
            conditions.join(&format!("\n{indent}    && ")),
            configured.join(", "),
            list(args).join(", "),
        );
        Some((grid, text))
    }

    /// Whether a parameter is known to be a number with a sign.
    fn is_signed(&self, name: &str) -> bool {
        let param = self.file.kernel.params.iter().find(|p| p.name.as_deref() == Some(name));
        param.is_some_and(|p| match &p.ty.kind {
            TypeKind::Builtin(words) => {
                let signed = ["int", "long", "short", "signed"];
                words.iter().all(|w| signed.contains(&w.as_str()))
            }
            TypeKind::Named(path) => path
                .as_name()
                .is_some_and(|n| ["int32_t", "int64_t", "ptrdiff_t", "ssize_t"].contains(&n)),
            _ => false,
        })
    }

    /// What is passed for a parameter, or for a member of one.
    fn argument(&self, args: &[ast::Expr], name: &str) -> Option<String> {
        let (base, member) = name.split_once('.').unwrap_or((name, ""));
        let mut params = self.file.kernel.params.iter();
        let at = params.position(|p| p.name.as_deref() == Some(base))?;
        let text = operand(&self.text(args.get(at)?));
        Some(if member.is_empty() { text } else { format!("{text}.{member}") })
    }

    /// A number of iterations with the arguments put in.
    fn counted(&self, count: &str, args: &[ast::Expr]) -> Option<String> {
        let mut values = std::collections::HashMap::new();
        for name in crate::source::scope::names(count) {
            if let Some(text) = self.argument(args, &name) {
                values.insert(name, text);
            }
        }
        Some(crate::auto::plans::replaced(count, &values))
    }
}

/// Whether an expression may stand twice.
fn pure(e: &ast::Expr) -> bool {
    let mut pure = true;
    walk::expr(e, &mut |e| {
        pure &= match &*e.kind {
            ExprKind::Assign { .. } | ExprKind::IncDec { .. } | ExprKind::Lambda(_) => false,
            // What makes a grid.
            ExprKind::Call { callee, .. } => crate::auto::outer::name(callee) == Some("dim3"),
            _ => true,
        };
    });
    pure
}
