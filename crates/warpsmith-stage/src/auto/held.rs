//! Plans that nobody marked are made from what a kernel reads with the constants of the file: the same plan is made with another value
//! of each. What becomes another text holds for one value, and says so.

use super::plans::{Others, Plan};
use super::ranking::Entrant;
use super::{Best, Found, found};
use super::{banks, find};
use crate::session::{Input, Session};
use crate::source::constants::{self, Constant};
use crate::source::patch::{Patch, indentation};
use crate::source::{scope, shape};
use crate::stage;
use warpsmith_front::ast::{Block, TranslationUnit};
use warpsmith_ir::SourceMap;

/// What a chosen plan was made as.
pub(super) struct Origin {
    /// The texts that it may have come from.
    texts: Vec<String>,
    /// The kernel that it is launched as.
    kernel: String,
}

impl Origin {
    /// `None`: of a plan with marks, whose result is looked at with other values already.
    pub(super) fn of(found: &Found, kernel: &str, entrant: &Entrant) -> Option<Origin> {
        let form = &entrant.form;
        let (texts, kernel): (Vec<String>, String) = match (&form.overlap, &form.wide) {
            (Some(o), _) => {
                let blocked = found.blocked.iter().flatten();
                let own = blocked.filter(|b| b.overlap.kernel == o.kernel);
                (own.map(|b| b.text.clone()).collect(), o.kernel.clone())
            }
            (None, Some(w)) => (vec![w.made.clone()], w.kernel.clone()),
            (None, None) => {
                let named = |p: &&Plan| p.name == entrant.plan && !p.marked;
                let own: Vec<&Plan> = found.plans.iter().filter(named).collect();
                let same = own.iter().find(|p| p.text == entrant.made.text);
                let own = same.map_or(own.clone(), |p| vec![p]);
                (own.into_iter().map(|p| p.text.clone()).collect(), kernel.to_string())
            }
        };
        (!texts.is_empty()).then_some(Origin { texts, kernel })
    }

    /// The result of a plan, which does not compile with values of constants that the plan is not for.
    pub(super) fn asserted(origin: Option<Origin>, session: &Session, made: Best) -> Best {
        let Some(origin) = origin else { return made };
        let free = session.free_constants().into_iter();
        let fixed: Vec<Constant> = free.filter(|c| origin.depends(session, c)).collect();
        if fixed.is_empty() {
            return made;
        }
        match origin.with(session, &made.text, &fixed) {
            Some(text) => Best { text, ..made },
            None => made,
        }
    }

    /// Whether the plan is another one with another value of a constant. With values that do not compile there is none.
    fn depends(&self, session: &Session, constant: &Constant) -> bool {
        let plain = |text: &str| {
            let own = [(constant.key.clone(), constant.value)];
            let text = banks::unpadded(text);
            shape::constants(&text, &own).apply(&text).unwrap_or(text)
        };
        let own: Vec<String> = self.texts.iter().map(|t| plain(t)).collect();
        let of = |value: i64| {
            let changed = [(constant.key.clone(), value)];
            let text = &session.plan.text;
            let text = shape::constants(text, &changed).apply(text).ok()?;
            let kernel = Some(constants::instance(&session.kernel, &changed));
            let mut input = Input { plain: true, text, kernel, ..session.input.clone() };
            for (name, given) in &mut input.settings.defines {
                if *name == constant.key {
                    *given = value.to_string();
                }
            }
            let other = found(&Session::new(input).ok()?).ok()?;
            let plans = other.plans.into_iter().map(|p| p.text);
            let blocked = other.blocked.into_iter().flatten().map(|b| b.text);
            let wide = other.wide.into_iter().flatten().map(|w| w.made);
            let all: Vec<String> = plans.chain(blocked).chain(wide).map(|t| plain(&t)).collect();
            Some(own.iter().any(|t| !all.contains(t)))
        };
        of(constant.value + 1).or_else(|| of(constant.value - 1)).unwrap_or(false)
    }

    /// A text whose kernel asserts values of constants.
    fn with(&self, session: &Session, text: &str, fixed: &[Constant]) -> Option<String> {
        let mut sources = SourceMap::new();
        let unit = session.compiler.parse(text, &[], &mut sources).ok()?;
        let (body, start, indent) = opening(&unit, &self.kernel, text)?;
        let mut patch = Patch::default();
        for constant in fixed {
            let declares = |s: &&warpsmith_front::ast::Stmt| {
                matches!(&s.kind, warpsmith_front::ast::StmtKind::Vars(v)
                    if v.declarators.iter().any(|d| d.name == constant.name))
            };
            let local = body.stmts.iter().find(declares).map(|s| s.span.end as usize);
            let at = local.unwrap_or(start);
            patch.replace(at..at, format!("\n{indent}{}", stage::assertion(constant, None)));
        }
        patch.apply(text).ok()
    }
}

/// The body of a kernel, where it begins behind its brace, and the indentation of its first statement.
pub(super) fn opening<'u, 't>(
    unit: &'u TranslationUnit,
    kernel: &str,
    text: &'t str,
) -> Option<(&'u Block, usize, &'t str)> {
    let body = scope::kernel(unit, shape::base_name(kernel))?.body.as_ref()?;
    let start = body.span?.start as usize + 1;
    let first = body.stmts.first().map_or(start, |s| s.span.start as usize);
    Some((body, start, indentation(text, first)))
}

/// Where the kernel's accesses are with other values of the constants that it depends on; of those that do not compile there are none.
pub(super) fn positions_with(session: &Session) -> Vec<Others> {
    let one = |constant: Constant| {
        let changed = [(constant.key.clone(), constant.value + 1)];
        let text = session.plan.text.clone();
        let mut sources = SourceMap::new();
        let unit = session.compiler.parse(&text, &changed, &mut sources).ok()?;
        let program = session.compiler.compile(&text, &changed, &session.kernel).ok()?;
        let function = scope::kernel(&unit, shape::base_name(&session.kernel))?;
        let found = find::accesses(function, &unit, &sources, &program, &text);
        let accesses = found.own.into_iter().chain(found.indirect).collect();
        Some(Others { constant, accesses })
    };
    session.free_constants().into_iter().filter_map(one).collect()
}
