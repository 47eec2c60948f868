//! Overload resolution: which function a call means.

use warpsmith_ir::{Span, Type};

use super::Sema;
use super::deduce::mentions;
use super::model::*;
use super::templates::{Bindings, despaced};
use crate::{ast, builtins};

/// A function that a call could mean.
struct Candidate<'a> {
    f: FnDecl<'a>,
    /// Where its template parameters are bound; the scope of the declaration when it is no template.
    scope: ScopeId,
    args: Vec<TArg>,
    params: Vec<QualType>,
    ranks: Vec<u32>,
    /// The first of them is that of the object.
    ranks_object: bool,
    /// How much of the parameters' types is spelled out: partial ordering of templates in simple form.
    specificity: usize,
}

/// The function a call means, with template parameters bound.
#[derive(Clone, Debug)]
pub(crate) struct Chosen<'a> {
    pub f: FnDecl<'a>,
    pub scope: ScopeId,
    pub args: Vec<TArg>,
    /// How well each argument fits, that of the object first.
    ranks: Vec<u32>,
}

impl<'a> Chosen<'a> {
    /// A function that is no template, for arguments of its own types.
    pub fn plain(f: FnDecl<'a>) -> Chosen<'a> {
        Chosen::bound(f, f.scope, vec![])
    }

    /// A function whose template parameters are bound in `scope`, for arguments of its own types.
    pub fn bound(f: FnDecl<'a>, scope: ScopeId, args: Vec<TArg>) -> Chosen<'a> {
        Chosen { f, scope, args, ranks: vec![] }
    }

    /// Some argument is made an object of a class first.
    pub fn converts(&self) -> bool {
        self.ranks.iter().any(|rank| *rank >= super::convert::USER)
    }
}

impl<'a> Sema<'a> {
    /// Picks the best of several functions for arguments, as C++ ranks them.
    pub(crate) fn resolve_overload(
        &mut self,
        name: &str,
        fns: &[FnDecl<'a>],
        explicit: Option<&[TArg]>,
        object: Option<(warpsmith_ir::StructId, bool)>,
        args: &[Operand<'a>],
        span: Span,
    ) -> Res<Chosen<'a>> {
        let mut viable = vec![];
        let mut reasons = vec![];
        for f in fns {
            match self.candidate(*f, explicit, object, args, span) {
                Ok(c) => viable.push(c),
                Err(why) => reasons.push((*f, why)),
            }
        }
        if viable.is_empty() {
            return Err(self.no_match(name, &reasons, args, span));
        }
        let best = (0..viable.len()).find(|&i| {
            (0..viable.len()).all(|j| i == j || is_better(&viable[i], &viable[j], i < j))
        });
        match best {
            Some(i) => {
                let c = viable.swap_remove(i);
                Ok(Chosen { f: c.f, scope: c.scope, args: c.args, ranks: c.ranks })
            }
            None => {
                let mut d = error("W064", span, format!("the call of `{name}` is ambiguous"));
                for c in viable.iter().take(4) {
                    d = d.label(c.f.decl.head_span, "could be this one");
                }
                Err(d.into())
            }
        }
    }

    /// Whether the predefined function of that name fits better than the user's that was chosen among the file's own; as
    /// good as each other, it is the one that is no template.
    pub(crate) fn predefined_wins(
        &mut self,
        name: &str,
        chosen: &Chosen<'a>,
        args: &[Operand<'a>],
    ) -> bool {
        let f = chosen.f;
        // One of a namespace or a class hides what is outside.
        if f.class.is_some()
            || self.file_around(f.scope) != f.scope
            || self.is_of_library(f.decl.head_span)
        {
            return false;
        }
        let mut types = vec![];
        for arg in args {
            let Some(q) = self.operand_type(arg) else { return false };
            types.push(self.decayed(q).ty);
        }
        let Some(own) = builtins::overloads::overload(name, &types) else { return false };
        let mut better = false;
        for ((arg, ty), users) in args.iter().zip(own.params).zip(&chosen.ranks) {
            match self.rank(arg, &QualType::plain(ty)) {
                Some(rank) if rank <= *users => better |= rank < *users,
                _ => return false,
            }
        }
        let is_template = f.decl.template.as_ref().is_some_and(|t| !t.params.is_empty());
        better || is_template && !own.is_template
    }

    /// Whether a function, a template perhaps, takes one value of exactly that type.
    pub(crate) fn takes_exactly(&mut self, f: FnDecl<'a>, ty: &Type) -> bool {
        let span = self.f_span();
        let value = warpsmith_ir::Expr::new(warpsmith_ir::ExprKind::Make(vec![]), ty.clone(), span);
        let found = self.candidate(f, None, None, &[Operand::Value(value)], span);
        found.is_ok_and(|c| c.params.first().is_some_and(|q| q.ty == *ty))
    }

    fn candidate(
        &mut self,
        f: FnDecl<'a>,
        explicit: Option<&[TArg]>,
        object: Option<(warpsmith_ir::StructId, bool)>,
        args: &[Operand<'a>],
        span: Span,
    ) -> Result<Candidate<'a>, String> {
        if super::definitions::is_specialisation(f.decl) {
            return Err("it is a specialisation, used when its template is chosen".into());
        }
        let header = f.decl.template.as_ref().filter(|t| !t.params.is_empty());
        let (scope, bound) = match header {
            Some(header) => {
                self.deduce_call(f, header, explicit.unwrap_or_default(), args, span)?
            }
            None if explicit.is_some() && f.decl.template.is_none() => {
                return Err("it is no template".into());
            }
            None => (f.scope, vec![]),
        };
        if let Some(reason) = header.and_then(|header| self.unmet(header, scope)) {
            return Err(reason);
        }
        let params = self.param_types(f, scope).map_err(|e| match e {
            Failure::New(d) => d.message,
            Failure::Reported => "its parameters have errors".into(),
        })?;
        if let Some(ret) = f.decl.ret.as_ref().filter(|t| header.is_some() && may_fail(t)) {
            self.resolve_type(scope, ret).map_err(|e| excluded(ret, e))?;
        }
        let required = f.decl.params.iter().filter(|p| p.default.is_none()).count();
        let required = if params.len() == f.decl.params.len() { required } else { params.len() };
        if args.len() < required || args.len() > params.len() {
            let expected = match (required, params.len()) {
                (a, b) if a == b => format!("{a}"),
                (a, b) => format!("{a} to {b}"),
            };
            return Err(format!("it takes {expected} arguments, {} given", args.len()));
        }
        let mut ranks = vec![];
        if let Some((_, is_const)) = object
            && f.needs_object()
        {
            if is_const && !f.decl.is_const {
                return Err("it is not `const`, the object is".into());
            }
            ranks.push(u32::from(f.decl.is_const && !is_const));
        }
        let ranks_object = !ranks.is_empty();
        for (i, (arg, param)) in args.iter().zip(&params).enumerate() {
            // A number becomes a `dim3`, but no `uint3`, which is the same type here.
            let written = f.decl.params.get(i).map(|p| &p.ty);
            let number = self.operand_type(arg).is_some_and(|q| q.ty.scalar().is_some());
            let vector = matches!(param.ty, Type::Vector(..));
            let made =
                number && vector && written.is_some_and(|t| !super::construct::type_is_dim3(t));
            let Some(rank) = self.rank(arg, param).filter(|_| !made) else {
                if let Operand::Foreign { names, .. } = arg {
                    let name = names.first().map_or("", String::as_str);
                    return Err(format!("`{name}` is not declared"));
                }
                let from = self.operand_type(arg).map_or("list".into(), |t| self.qual_text(&t));
                let to = self.qual_text(param);
                return Err(format!("argument {} is `{from}`, the parameter `{to}`", i + 1));
            };
            ranks.push(rank);
        }
        let specificity =
            header.map_or(usize::MAX, |_| f.decl.params.iter().map(|p| spelled_out(&p.ty)).sum());
        Ok(Candidate { f, scope, args: bound, params, ranks, ranks_object, specificity })
    }

    /// Why template arguments do not meet the conditions on them, if they do not.
    fn unmet(&mut self, header: &'a ast::TemplateHeader, scope: ScopeId) -> Option<String> {
        header.requires.iter().find_map(|e| match self.const_value(scope, e) {
            Ok(v) if v.is_true() => None,
            Ok(_) => Some("its `requires` does not hold".into()),
            Err(Failure::New(d)) => {
                Some(format!("its `requires` is not understood: {}", d.message))
            }
            Err(Failure::Reported) => Some("its `requires` has errors".into()),
        })
    }

    /// Template arguments of a call: explicit ones first, the rest from the arguments' types.
    fn deduce_call(
        &mut self,
        f: FnDecl<'a>,
        header: &'a ast::TemplateHeader,
        explicit: &[TArg],
        args: &[Operand<'a>],
        span: Span,
    ) -> Result<(ScopeId, Vec<TArg>), String> {
        let mut found = Bindings::new();
        let mut given = explicit.iter();
        for param in &header.params {
            let name = super::templates::param_name(param);
            if param.pack {
                let rest: Vec<TArg> = given.by_ref().cloned().collect();
                if !rest.is_empty() {
                    found.insert(name, TArg::Pack(rest));
                }
            } else if let Some(arg) = given.next() {
                found.insert(name, arg.clone());
            }
        }
        if given.next().is_some() {
            return Err("it takes fewer template arguments".into());
        }
        for (i, param) in f.decl.params.iter().enumerate() {
            if let Some(pack) = pack_param(&param.ty, &header.params) {
                self.deduce_pack(
                    &pack,
                    param,
                    args.get(i..).unwrap_or_default(),
                    header,
                    f,
                    &mut found,
                )?;
                continue;
            }
            let Some(arg) = args.get(i) else { continue };
            if !mentions(&param.ty, &header.params) {
                continue;
            }
            if let Operand::List(items) = arg {
                self.deduce_list(&param.ty, items, &header.params, f.scope, &mut found)?;
                continue;
            }
            // A parameter whose own template arguments were all given takes conversions.
            if all_given(&param.ty, header, explicit.len()) {
                continue;
            }
            let Some(actual) = self.argument_type(arg, &param.ty) else {
                return Err(format!("argument {} has no type to deduce from", i + 1));
            };
            if !self.deduce_type(&param.ty, &actual, &header.params, f.scope, false, &mut found) {
                let text = self.qual_text(&actual);
                return Err(format!(
                    "argument {} of type `{text}` does not fit the parameter",
                    i + 1
                ));
            }
        }
        for param in &header.params {
            let name = super::templates::param_name(param);
            let has_default = match &param.kind {
                ast::TemplateParamKind::Type { default } => default.is_some(),
                ast::TemplateParamKind::Value { default, .. } => default.is_some(),
                ast::TemplateParamKind::Template { default } => default.is_some(),
            };
            if !has_default && !param.pack && !found.contains_key(&name) {
                return Err(format!("template argument `{name}` cannot be deduced"));
            }
        }
        self.bind_found(header, found, f.scope, span).map_err(|e| match e {
            Failure::New(d) => d.message,
            Failure::Reported => "its template arguments have errors".into(),
        })
    }

    fn deduce_pack(
        &mut self,
        pack: &str,
        param: &'a ast::Param,
        rest: &[Operand<'a>],
        header: &'a ast::TemplateHeader,
        f: FnDecl<'a>,
        found: &mut Bindings,
    ) -> Result<(), String> {
        let mut list = vec![];
        for arg in rest {
            let Some(actual) = self.argument_type(arg, &param.ty) else {
                return Err("an argument has no type to deduce from".into());
            };
            let mut one = Bindings::new();
            if !self.deduce_type(&param.ty, &actual, &header.params, f.scope, false, &mut one) {
                return Err("an argument does not fit the parameter pack".into());
            }
            list.extend(one.remove(pack));
        }
        found.insert(pack.to_string(), TArg::Pack(list));
        Ok(())
    }

    /// The type deduction sees: decayed for a value parameter, as it is for a reference.
    fn argument_type(&mut self, arg: &Operand<'a>, param: &ast::TypeName) -> Option<QualType> {
        let actual = despaced(self.operand_type(arg)?);
        let lvalue = matches!(arg, Operand::Place { .. } | Operand::Shaped { .. });
        match &param.kind {
            ast::TypeKind::Reference { to, rvalue } => {
                // A forwarding reference to an lvalue deduces a reference.
                let forwards =
                    *rvalue && !to.is_const && matches!(to.kind, ast::TypeKind::Named(_));
                if forwards && lvalue {
                    return Some(QualType { reference: RefKind::Lvalue, ..actual });
                }
                Some(actual)
            }
            _ => {
                let mut q = self.decayed(actual);
                q.is_const = false;
                q.is_volatile = false;
                Some(q)
            }
        }
    }

    /// The parameters' types of a function, packs expanded.
    pub(crate) fn param_types(&mut self, f: FnDecl<'a>, scope: ScopeId) -> Res<Vec<QualType>> {
        let mut all = vec![];
        for param in &f.decl.params {
            if let Some(elements) = self.pack_elements(&param.ty, scope) {
                for inner in elements {
                    all.push(self.resolve_type(inner, &param.ty)?);
                }
                continue;
            }
            let q = self.resolve_type(scope, &param.ty)?;
            if q.ty == Type::Void && !q.is_reference() && f.decl.params.len() == 1 {
                continue;
            }
            all.push(self.decayed(q));
        }
        Ok(all)
    }

    /// One scope per element when a type names a parameter pack, with the pack's name meaning the element.
    pub(crate) fn pack_elements(
        &mut self,
        ty: &'a ast::TypeName,
        scope: ScopeId,
    ) -> Option<Vec<ScopeId>> {
        let name = named_plainly(ty)?;
        let elements = match self.lookup(scope, name).first() {
            Some(Entity::Pack(list)) => list.clone(),
            _ => return None,
        };
        let scopes = elements.into_iter().map(|e| {
            let inner = self.new_scope(Some(scope), ScopeKind::Template);
            self.declare(inner, name, e);
            inner
        });
        Some(scopes.collect())
    }

    fn no_match(
        &mut self,
        name: &str,
        reasons: &[(FnDecl<'a>, String)],
        args: &[Operand<'a>],
        span: Span,
    ) -> Failure {
        if let [(f, why)] = reasons {
            let d = error("W063", span, format!("`{name}` cannot be called like this: {why}"));
            return d.label(f.decl.head_span, "declared here").into();
        }
        let types: Vec<String> = args
            .iter()
            .map(|a| self.operand_type(a).map_or("{…}".into(), |t| self.type_text(&t.ty)))
            .collect();
        let message = format!("no function `{name}` takes ({})", types.join(", "));
        let mut d = error("W063", span, message);
        for (f, why) in reasons.iter().take(6) {
            d = d.label(f.decl.head_span, why.clone());
        }
        d.into()
    }
}

/// Whether `a` wins over `b`; of two equals, the one with a body, then the earlier.
fn is_better(a: &Candidate<'_>, b: &Candidate<'_>, earlier: bool) -> bool {
    let ranks = compared_ranks(a, b);
    let le = ranks.iter().all(|(x, y)| x <= y);
    let lt = ranks.iter().any(|(x, y)| x < y);
    if !le {
        return false;
    }
    if lt {
        return true;
    }
    if a.specificity != b.specificity {
        return a.specificity > b.specificity;
    }
    if a.params != b.params {
        return false;
    }
    // Which of two sets of conditions is the stricter one is not looked at.
    let [one, other] =
        [a, b].map(|c| matches!(&c.f.decl.template, Some(t) if !t.requires.is_empty()));
    if one || other {
        return !other;
    }
    match (a.f.decl.body.is_some(), b.f.decl.body.is_some()) {
        (true, false) => true,
        (false, true) => false,
        _ => earlier,
    }
}

/// The ranks of two candidates side by side. What `const` adds counts between two references only ([over.ics.rank] of the
/// C++ standard): a copy and a reference to a constant are equally good.
fn compared_ranks(a: &Candidate<'_>, b: &Candidate<'_>) -> Vec<(u32, u32)> {
    let params = |c: &Candidate<'_>, at: usize| {
        let argument = at.checked_sub(usize::from(c.ranks_object));
        argument.and_then(|i| c.params.get(i)).map(QualType::is_reference)
    };
    let pairs = a.ranks.iter().zip(&b.ranks).enumerate();
    let equal = |(at, (x, y)): (usize, (&u32, &u32))| {
        let one_copies = params(a, at).zip(params(b, at)).is_some_and(|(p, q)| p != q);
        let small = (*x).max(*y) <= super::convert::QUALIFIED;
        if one_copies && small { (0, 0) } else { (*x, *y) }
    };
    pairs.map(equal).collect()
}

/// Number of nodes a type pattern spells out besides names.
fn spelled_out(ty: &ast::TypeName) -> usize {
    let own = usize::from(ty.is_const);
    match &ty.kind {
        ast::TypeKind::Pointer { to, .. } | ast::TypeKind::Reference { to, .. } => {
            let pointer = usize::from(matches!(ty.kind, ast::TypeKind::Pointer { .. }));
            own + 2 * pointer + spelled_out(to)
        }
        ast::TypeKind::Array { element, .. } => own + 2 + spelled_out(element),
        ast::TypeKind::Named(path) => {
            own + path
                .segments
                .iter()
                .map(|s| s.args.as_ref().map_or(0, |a| 2 + a.len()))
                .sum::<usize>()
        }
        ast::TypeKind::Builtin(_) => own + 3,
        _ => own,
    }
}

/// The name under references, pointers and `const`, when it is a plain one.
fn named_plainly(ty: &ast::TypeName) -> Option<&str> {
    match &ty.kind {
        ast::TypeKind::Named(path) => path.as_name(),
        ast::TypeKind::Pointer { to, .. } | ast::TypeKind::Reference { to, .. } => {
            named_plainly(to)
        }
        _ => None,
    }
}

fn pack_param(ty: &ast::TypeName, params: &[ast::TemplateParam]) -> Option<String> {
    let name = named_plainly(ty)?;
    params.iter().any(|p| p.pack && p.name.as_deref() == Some(name)).then(|| name.to_string())
}

/// Whether a type names only template parameters that were given explicitly.
fn all_given(ty: &ast::TypeName, header: &ast::TemplateHeader, given: usize) -> bool {
    let rest = header.params.get(given.min(header.params.len())..).unwrap_or_default();
    !mentions(ty, rest)
}

/// Whether a return type may be there only for some template arguments.
fn may_fail(ty: &ast::TypeName) -> bool {
    match &ty.kind {
        ast::TypeKind::Named(path) => path.segments.iter().any(|s| s.args.is_some()),
        ast::TypeKind::Pointer { to, .. } | ast::TypeKind::Reference { to, .. } => may_fail(to),
        _ => false,
    }
}

/// Why a return type is not there.
fn excluded(ty: &ast::TypeName, why: Failure) -> String {
    let on_purpose = super::templates::names_in_type(ty).iter().any(|n| n.starts_with("enable_if"));
    match why {
        Failure::New(d) if !on_purpose => format!("of its return type {}", d.message),
        _ => "its return type excludes it".to_string(),
    }
}
