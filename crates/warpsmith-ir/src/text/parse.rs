//! Parsing of modules, functions and types.

mod cursor;

use std::collections::HashMap;

use super::lex::{Tok, Token, tokens};
use super::names::builtin_type;
use super::words::Words;
use crate::diag::Diagnostic;
use crate::expr::Expr;
use crate::layout::lay_out;
use crate::module::{
    DimOrder, FuncId, Function, FunctionKind, Global, LaunchBounds, Layout, Module, NamedConst,
    StructDef, StructField, StructId, Var, VarId, VarKind,
};
use crate::span::{FileId, Origin, Span};
use crate::types::{Space, Type};
use crate::typing::Env;

/// Nesting deeper than this is refused, so that no text can exhaust the stack.
const MAX_DEPTH: u32 = 120;

/// Syntax errors; a number or name that does not fit.
const SYNTAX: &str = "W901";

pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// A name with its suffix.
pub(crate) type Name = (String, u32);

/// Which name has which number.
pub(crate) type Labels = HashMap<Name, u32>;

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    file: FileId,
    depth: u32,
    pub module: Module,
    structs: Labels,
    pub globals: Labels,
    pub constants: Labels,
    pub functions: Labels,
    /// Of the function being parsed.
    pub vars: Vec<Var>,
    pub var_labels: Labels,
    pub next_loop: u32,
    pub past_loop: u32,
}

/// A variable as it is declared, before numbers are given out.
struct Declared {
    name: Name,
    id: Option<u32>,
    var: Var,
    /// Where the extents of its shape begin: they may mention variables declared later.
    shape: Option<usize>,
    is_param: bool,
    span: Span,
}

pub(crate) fn module(text: &str, file: FileId) -> Result<Module, Vec<Diagnostic>> {
    let tokens = tokens(text).map_err(|at| {
        let span = Span { file, start: at, end: at + 1 };
        vec![Diagnostic::error(SYNTAX, "no token starts here").label(span, "unknown character")]
    })?;
    let mut p = Parser {
        tokens,
        at: 0,
        file,
        depth: 0,
        module: Module::default(),
        structs: Labels::new(),
        globals: Labels::new(),
        constants: Labels::new(),
        functions: Labels::new(),
        vars: vec![],
        var_labels: Labels::new(),
        next_loop: 0,
        past_loop: 0,
    };
    let starts = p.items().map_err(|d| vec![*d])?;
    let mut errors = vec![];
    for start in starts {
        p.at = start;
        match p.function() {
            Ok(f) => p.module.functions.push(f),
            Err(d) => errors.push(*d),
        }
    }
    if errors.is_empty() { Ok(p.module) } else { Err(errors) }
}

impl Parser {
    // ---- tokens ----

    pub fn env(&self) -> Env<'_> {
        Env { module: &self.module, vars: &self.vars }
    }

    // ---- items ----

    /// Reads all items but functions; of those, notes the names, and returns where they start.
    fn items(&mut self) -> Parsed<Vec<usize>> {
        self.struct_names()?;
        let mut functions = vec![];
        loop {
            let start = self.at;
            if matches!(self.peek(), Tok::End) {
                return Ok(functions);
            }
            if self.eat_word("struct") {
                self.struct_def()?;
            } else if self.eat_word("static") {
                self.global()?;
            } else if self.eat_word("const") {
                self.constant()?;
            } else if self.word_at(0).and_then(FunctionKind::from_word).is_some() {
                self.advance();
                self.word("fn")?;
                let id = functions.len() as u32;
                self.define(|p| &mut p.functions, id)?;
                functions.push(start);
                self.skip_body()?;
            } else {
                return self.expected("`struct`, `static`, `const`, `kernel`, `device` or `host`");
            }
        }
    }

    /// Structs may mention each other before they are defined.
    fn struct_names(&mut self) -> Parsed<()> {
        let mut id = 0;
        for at in 0..self.tokens.len() {
            self.at = at;
            if self.is_word("struct") {
                self.advance();
                self.define(|p| &mut p.structs, id)?;
                id += 1;
            }
        }
        self.at = 0;
        Ok(())
    }

    fn define(&mut self, labels: fn(&mut Parser) -> &mut Labels, id: u32) -> Parsed<Name> {
        let span = self.token_span();
        let name = self.name()?;
        if labels(self).insert(name.clone(), id).is_some() {
            return self.fail(span, format!("`{}` is defined twice; write `{0}.1`", name.0));
        }
        Ok(name)
    }

    /// Goes past the braces of a function: the first that are inside no other brackets.
    fn skip_body(&mut self) -> Parsed<()> {
        let mut depth = 0u32;
        loop {
            match self.peek() {
                Tok::End => return self.expected("`}`"),
                Tok::Symbol("{" | "(" | "[") => depth += 1,
                Tok::Symbol("}" | ")" | "]") => depth = depth.saturating_sub(1),
                _ => {}
            }
            let closes = self.is_symbol("}");
            self.advance();
            if closes && depth == 0 {
                return Ok(());
            }
        }
    }

    fn struct_def(&mut self) -> Parsed<()> {
        let start = self.here();
        let (name, _) = self.name()?;
        let size: Option<u64> = if self.eat_word("size") { Some(self.integer()?) } else { None };
        let align: Option<u64> = if self.eat_word("align") { Some(self.integer()?) } else { None };
        let origin = self.origin(start);
        self.symbol("{")?;
        let fields = self.list("}", |p| {
            let (name, _) = p.name()?;
            p.symbol(":")?;
            let ty = p.ty()?;
            let offset: Option<u64> = if p.eat_symbol("@") { Some(p.integer()?) } else { None };
            Ok((name, ty, offset))
        })?;
        let types: Vec<Type> = fields.iter().map(|(_, ty, _)| ty.clone()).collect();
        let (offsets, natural) = lay_out(&self.module, &types, 1);
        let fields = fields
            .into_iter()
            .zip(offsets)
            .map(|((name, ty, at), natural)| StructField {
                name,
                ty,
                offset: at.unwrap_or(natural),
            })
            .collect();
        let (size, align) = (size.unwrap_or(natural.size), align.unwrap_or(natural.align));
        self.module.structs.push(StructDef { name, fields, size, align, origin });
        Ok(())
    }

    fn global(&mut self) -> Parsed<()> {
        let start = self.here();
        let space: Space = self.word_of("a memory space")?;
        let id = self.module.globals.len() as u32;
        let (name, _) = self.define(|p| &mut p.globals, id)?;
        self.symbol(":")?;
        let ty = self.ty()?;
        let init = if self.eat_symbol("=") {
            let span = self.token_span();
            let hex = self.string()?;
            match bytes_of(&hex) {
                Some(bytes) => Some(bytes),
                None => return self.fail(span, "expected pairs of hexadecimal digits"),
            }
        } else {
            None
        };
        self.symbol(";")?;
        let origin = self.origin(start);
        self.module.globals.push(Global { name, ty, space, init, origin });
        Ok(())
    }

    fn constant(&mut self) -> Parsed<()> {
        let id = self.module.constants.len() as u32;
        let (name, _) = self.define(|p| &mut p.constants, id)?;
        self.symbol("=")?;
        let value = self.literal()?;
        let comment = match self.peek() {
            Tok::Str(_) => self.string()?,
            _ => String::new(),
        };
        self.symbol(";")?;
        self.module.constants.push(NamedConst { name, value, comment });
        Ok(())
    }

    // ---- functions ----

    fn function(&mut self) -> Parsed<Function> {
        let start = self.here();
        let kind: FunctionKind = self.word_of("the kind of a function")?;
        self.word("fn")?;
        let (name, _) = self.name()?;
        let mut f = Function::new(name, kind);
        self.symbol("(")?;
        let mut declared = self.list(")", |p| p.declared(VarKind::Param, true))?;
        if self.eat_symbol("->") {
            f.ret = self.ty()?;
        }
        if self.eat_word("launch_bounds") {
            self.symbol("(")?;
            let max_threads = self.integer()?;
            let min_blocks = if self.eat_symbol(",") { Some(self.integer()?) } else { None };
            self.symbol(")")?;
            f.launch_bounds = Some(LaunchBounds { max_threads, min_blocks });
        }
        if self.eat_word("cluster_dims") {
            self.symbol("(")?;
            let x = self.integer()?;
            self.symbol(",")?;
            let y = self.integer()?;
            self.symbol(",")?;
            f.cluster = Some([x, y, self.integer()?]);
            self.symbol(")")?;
        }
        let mut loops = None;
        if self.eat_word("loops") {
            self.symbol("(")?;
            loops = Some(self.integer()?);
            self.symbol(")")?;
        }
        f.origin = self.origin(start);
        self.symbol("{")?;
        while let Some(kind) = self.word_at(0).and_then(VarKind::from_word) {
            self.advance();
            declared.push(self.declared(kind, false)?);
            self.symbol(";")?;
        }
        f.params = self.number_vars(declared)?;
        (self.next_loop, self.past_loop) = (0, 0);
        f.body = self.rest_of_block()?;
        f.next_loop = loops.unwrap_or(self.past_loop);
        f.vars = std::mem::take(&mut self.vars);
        Ok(f)
    }

    fn declared(&mut self, kind: VarKind, is_param: bool) -> Parsed<Declared> {
        let start = self.here();
        let mut words = Var::new("", Type::Void, kind);
        loop {
            match self.word_at(0) {
                Some("const") => words.constant = true,
                Some("restrict") => words.restrict = true,
                Some("ref") => words.reference = true,
                Some("pitched") => words.pitched = true,
                Some("inferred") => words.inferred = true,
                Some("not_null") => words.not_null = true,
                Some("narrow") => words.narrow = true,
                _ => break,
            }
            self.advance();
        }
        let name = self.name()?;
        let id = if self.eat_symbol("@") { Some(self.integer()?) } else { None };
        self.symbol(":")?;
        let ty = self.ty()?;
        let mut shape = None;
        if self.eat_word("shape") {
            self.symbol("[")?;
            shape = Some(self.at);
            self.skip_brackets()?;
        }
        let align = if self.eat_word("align") { self.integer()? } else { 0 };
        let layout = self.layout()?;
        let span = self.span(start);
        let origin = Origin::at(span);
        let var = Var { name: name.0.clone(), ty, align, layout, origin, ..words };
        Ok(Declared { name, id, var, shape, is_param, span })
    }

    /// `layout pad 1 transposed swizzled`.
    fn layout(&mut self) -> Parsed<Layout> {
        if !self.eat_word("layout") {
            return Ok(Layout::default());
        }
        let pad = if self.eat_word("pad") { self.integer()? } else { 0 };
        let mut order = DimOrder::Straight;
        for other in [DimOrder::Transposed, DimOrder::Turned] {
            if self.eat_word(other.word()) {
                order = other;
            }
        }
        Ok(Layout { pad, order, swizzled: self.eat_word("swizzled") })
    }

    /// Goes past the `]` that closes the bracket just opened.
    fn skip_brackets(&mut self) -> Parsed<()> {
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Tok::End => return self.expected("`]`"),
                Tok::Symbol("[") => depth += 1,
                Tok::Symbol("]") => depth -= 1,
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    /// Gives the variables their numbers and reads their shapes; returns the parameters.
    fn number_vars(&mut self, declared: Vec<Declared>) -> Parsed<Vec<VarId>> {
        let count = declared.len();
        let mut slots: Vec<Option<Var>> = vec![None; count];
        self.var_labels.clear();
        let mut free = 0;
        let taken: Vec<u32> = declared.iter().filter_map(|d| d.id).collect();
        let (mut params, mut shapes) = (vec![], vec![]);
        for d in declared {
            let id = d.id.unwrap_or_else(|| {
                while taken.contains(&free) {
                    free += 1;
                }
                free += 1;
                free - 1
            });
            match slots.get_mut(id as usize) {
                Some(slot @ None) => *slot = Some(d.var),
                _ => return self.fail(d.span, "this number is taken or leaves a gap"),
            }
            if self.var_labels.insert(d.name.clone(), id).is_some() {
                return self
                    .fail(d.span, format!("`{}` is declared twice; write `{0}.1`", d.name.0));
            }
            params.extend(d.is_param.then_some(VarId(id)));
            shapes.extend(d.shape.map(|at| (id as usize, at)));
        }
        // As many different numbers below `count` as there are variables: no slot is left.
        self.vars = slots.into_iter().flatten().collect();
        let body = self.at;
        for (id, at) in shapes {
            self.at = at;
            let shape: Vec<Expr> = self.list("]", |p| p.expr())?;
            self.vars[id].shape = Some(shape);
        }
        self.at = body;
        Ok(params)
    }

    pub fn function_id(&mut self) -> Parsed<FuncId> {
        self.look_up(|p| &p.functions, "function").map(FuncId)
    }

    // ---- types ----

    pub fn ty(&mut self) -> Parsed<Type> {
        self.nested(|p| p.ty_inner())
    }

    fn ty_inner(&mut self) -> Parsed<Type> {
        if self.eat_symbol("*") {
            let space = self.word_at(0).and_then(Space::from_word);
            if space.is_some() {
                self.advance();
            }
            let readonly = self.eat_word("const");
            let volatile = self.eat_word("volatile");
            let pointee = self.ty()?.into();
            let space = space.unwrap_or(Space::Generic);
            return Ok(Type::Pointer { pointee, space, volatile, readonly });
        }
        if self.eat_symbol("[") {
            let element = self.ty()?;
            self.symbol(";")?;
            let length = self.integer()?;
            self.symbol("]")?;
            return Ok(Type::array(element, length));
        }
        if let Some(ty) = self.word_at(0).and_then(builtin_type) {
            self.advance();
            return Ok(ty);
        }
        self.look_up(|p| &p.structs, "struct").map(|id| Type::Struct(StructId(id)))
    }

    /// Takes the next token.
    pub fn skip(&mut self) {
        self.advance();
    }
}

/// Bytes from pairs of hexadecimal digits.
fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).ok()).collect()
}
