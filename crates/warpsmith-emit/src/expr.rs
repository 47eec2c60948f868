//! Expressions, with as few casts and parentheses as C needs to give the same value.
//!
//! [`Printer::expr`] gives an expression its *natural* form: the text may have another C type than
//! the IR's, but C's conversion of it to the IR's type gives the IR's value. Each place of use then
//! either converts implicitly (assignment, argument, the usual arithmetic conversions) or asks for
//! [`Printer::exact`].

mod casts;

use warpsmith_ir::{BinaryOp, Builtin, Expr, ExprKind, Scalar, Type, UnaryOp, Value};

use crate::context::{Helper, Printer, Target};
use crate::convert::{common, lossless, promote};
use crate::doc::{Doc, cat, list, text};
use crate::error::{EmitError, Result};
use crate::literal;
use crate::types;

/// Precedences of C++, low to high.
pub(crate) mod prec {
    pub const SELECT: u8 = 2;
    pub const OR: u8 = 3;
    pub const AND: u8 = 4;
    pub const BIT_OR: u8 = 5;
    pub const BIT_XOR: u8 = 6;
    pub const BIT_AND: u8 = 7;
    pub const EQUALITY: u8 = 8;
    pub const RELATION: u8 = 9;
    pub const SHIFT: u8 = 10;
    pub const SUM: u8 = 11;
    pub const PRODUCT: u8 = 12;
    pub const UNARY: u8 = 13;
    pub const POSTFIX: u8 = 14;
    pub const PRIMARY: u8 = 15;
}

/// Text of an expression, how tightly it binds, and the type C gives it.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    pub doc: Doc,
    pub prec: u8,
    pub ty: Type,
    /// The text is this constant, which may be written in another way.
    pub literal: Option<Value>,
}

impl Printed {
    pub fn new(doc: Doc, prec: u8, ty: Type) -> Printed {
        Printed { doc, prec, ty, literal: None }
    }

    pub fn primary(s: impl Into<String>, ty: Type) -> Printed {
        Printed::new(text(s), prec::PRIMARY, ty)
    }

    /// In parentheses unless it binds at least as tightly as `least`.
    pub fn at_least(self, least: u8) -> Doc {
        if self.prec >= least { self.doc } else { parens(self.doc) }
    }
}

pub(crate) fn parens(doc: Doc) -> Doc {
    cat([text("("), doc.align(), text(")")])
}

fn precedence(op: BinaryOp) -> u8 {
    use BinaryOp::*;
    match op {
        Mul | Div | Rem => prec::PRODUCT,
        Add | Sub => prec::SUM,
        Shl | Shr => prec::SHIFT,
        Lt | Le | Gt | Ge => prec::RELATION,
        Eq | Ne => prec::EQUALITY,
        BitAnd => prec::BIT_AND,
        BitXor => prec::BIT_XOR,
        BitOr => prec::BIT_OR,
        LogicalAnd => prec::AND,
        LogicalOr => prec::OR,
    }
}

/// The loosest operand that stands without parentheses left and right of an operator: what C asks
/// for, and a little more where compilers warn and readers stumble.
fn operand_limits(op: BinaryOp) -> (u8, u8) {
    use BinaryOp::*;
    let p = precedence(op);
    match op {
        Shl | Shr => (prec::UNARY, prec::UNARY),
        BitAnd | BitOr | BitXor => (prec::UNARY, prec::UNARY),
        LogicalOr => (prec::BIT_OR, prec::BIT_OR),
        Eq | Ne => (prec::SHIFT, prec::SHIFT),
        Lt | Le | Gt | Ge => (prec::SHIFT, prec::SHIFT),
        _ => (p, p + 1),
    }
}

impl Printer<'_> {
    /// The natural form.
    pub fn expr(&self, e: &Expr) -> Result<Printed> {
        match &*e.kind {
            ExprKind::Const(v) => Ok(self.constant(*v)),
            ExprKind::Named(id) => self.named(e, *id),
            ExprKind::Read(place) => self.read(place),
            ExprKind::AddressOf(place) => self.address_of(place, &e.ty),
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.ty),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e),
            ExprKind::PtrOffset(p, i) => self.ptr_offset(p, i),
            ExprKind::PtrDiff(a, b) => {
                let (a, b) = (self.expr(a)?.at_least(prec::SUM), self.expr(b)?);
                let doc = infix(a, "-", b.at_least(prec::PRODUCT));
                Ok(Printed::new(doc, prec::SUM, Type::I64))
            }
            ExprKind::Cast(a) => self.cast(a, &e.ty),
            ExprKind::Bitcast(a) => self.bitcast(a, e),
            ExprKind::Select(c, a, b) => self.select(c, a, b, e),
            ExprKind::Call(f, args) => self.math(*f, args, e),
            ExprKind::Builtin(b) => Ok(self.builtin(*b)),
            ExprKind::Make(parts) => self.make(parts, e),
            ExprKind::Member(a, i) => self.member(a, *i),
        }
    }

    /// Text whose C type is the IR's.
    pub fn exact(&self, e: &Expr) -> Result<Printed> {
        let printed = self.expr(e)?;
        self.coerce(printed, &e.ty)
    }

    /// Text for a place where C converts to the type by itself: an initialiser, the right side of an
    /// assignment, an argument, a returned value.
    pub fn implicit(&self, e: &Expr) -> Result<Printed> {
        let printed = self.expr(e)?;
        match (printed.ty.scalar(), e.ty.scalar()) {
            (Some(from), Some(to)) if from != to && half(from) != half(to) => {
                self.coerce(printed, &e.ty)
            }
            // A real with bounds becomes an integer only where it is said.
            (Some(from), Some(to)) if self.bounded() && from.is_float() && !to.is_float() => {
                self.coerce(printed, &e.ty)
            }
            (Some(_), Some(_)) => Ok(printed),
            _ => self.coerce(printed, &e.ty),
        }
    }

    /// Whether reals are written with bounds of their errors.
    fn bounded(&self) -> bool {
        self.cx.names.reals != types::Reals::Plain
    }

    /// A condition: C compares with zero by itself.
    pub fn condition(&self, e: &Expr) -> Result<Printed> {
        match &*e.kind {
            ExprKind::Cast(a) if e.ty == Type::BOOL && plain(&a.ty) => self.exact(a),
            _ => self.expr(e),
        }
    }

    fn constant(&self, value: Value) -> Printed {
        let l = literal::natural(value);
        if l.math {
            self.cx.include("math.h");
        }
        let level = if l.negative { prec::UNARY } else { prec::PRIMARY };
        let printed = Printed {
            literal: Some(value),
            ..Printed::new(text(l.text), level, Type::Scalar(l.ty))
        };
        if half(value.ty)
            && let Ok(p) = self.convert_half(printed.clone(), l.ty, value.ty)
        {
            return p;
        }
        printed
    }

    fn named(&self, e: &Expr, id: warpsmith_ir::ConstId) -> Result<Printed> {
        let constant = self.cx.module.constants.get(id.0 as usize);
        let constant = constant.ok_or_else(|| EmitError::new("an unknown constant", &e.origin))?;
        // There are no half-precision constant expressions.
        if half(constant.value.ty) {
            return Ok(self.constant(constant.value));
        }
        Ok(Printed::primary(self.cx.names.constant(id), Type::Scalar(constant.value.ty)))
    }

    fn unary(&self, op: UnaryOp, a: &Expr, ty: &Type) -> Result<Printed> {
        if op == UnaryOp::Not {
            return self.negation(a);
        }
        let operand = self.promoted(a)?;
        let result = operand.ty.scalar().map_or(ty.clone(), |s| Type::Scalar(promote(s)));
        let sign = if op == UnaryOp::Neg { "-" } else { "~" };
        // Not `--x`.
        let again = operand.prec == prec::UNARY && operand.doc.flat().starts_with('-');
        let level = if again { prec::POSTFIX } else { prec::UNARY };
        let doc = cat([text(sign), operand.at_least(level)]);
        let printed = Printed::new(doc, prec::UNARY, result);
        if small(ty) { self.coerce(printed, ty) } else { Ok(printed) }
    }

    /// `!a`, as the opposite comparison where that is the same.
    fn negation(&self, a: &Expr) -> Result<Printed> {
        if let ExprKind::Binary(op, x, y) = &*a.kind
            && let Some(opposite) = opposite(*op, x.ty.is_float())
        {
            return self.binary(opposite, x, y, a);
        }
        let doc = cat([text("!"), self.condition(a)?.at_least(prec::UNARY)]);
        Ok(Printed::new(doc, prec::UNARY, Type::BOOL))
    }

    /// An operand whose promoted C type is its IR type (or, for small integers, `int`).
    fn promoted(&self, e: &Expr) -> Result<Printed> {
        let p = self.expr(e)?;
        match (p.ty.scalar(), e.ty.scalar()) {
            (Some(from), Some(to))
                if promote(from) == promote(to) && lossless(from, promote(to)) =>
            {
                if small(&e.ty) {
                    self.coerce(p, &e.ty)
                } else {
                    Ok(p)
                }
            }
            _ => self.coerce(p, &e.ty),
        }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr, e: &Expr) -> Result<Printed> {
        use BinaryOp::*;
        if op.is_logical() {
            let (left, right) = (self.condition(a)?, self.condition(b)?);
            return Ok(self.join(op, left, right, Type::BOOL));
        }
        if matches!(op, Add | Sub)
            && let Some((flipped, positive)) = flip_negative(op, b)
        {
            return self.binary(flipped, a, &positive, e);
        }
        let (left, right) = match op {
            Shl | Shr => (self.promoted(a)?, self.shift_amount(b)?),
            _ => self.operands(a, b)?,
        };
        if op == Ne && left.ty == Type::BOOL && b.as_const().is_some_and(|v| v.bits == 0) {
            return Ok(left);
        }
        let computed = match (left.ty.scalar(), right.ty.scalar()) {
            _ if op.is_comparison() => Type::BOOL,
            (Some(l), _) if matches!(op, Shl | Shr) => Type::Scalar(promote(l)),
            (Some(l), Some(r)) => common(l, r).map_or(e.ty.clone(), Type::Scalar),
            _ => e.ty.clone(),
        };
        let printed = self.join(op, left, right, computed);
        // Arithmetic on small integers is done in `int` and cut back.
        if small(&e.ty) && !op.is_comparison() { self.coerce(printed, &e.ty) } else { Ok(printed) }
    }

    pub fn shift_amount(&self, e: &Expr) -> Result<Printed> {
        let p = self.expr(e)?;
        match (p.ty.scalar(), e.ty.scalar()) {
            (Some(from), Some(to)) if lossless(from, to) || p.literal.is_some() => Ok(p),
            _ => self.coerce(p, &e.ty),
        }
    }

    /// Two operands of one IR type, with the fewest casts for which C computes in that type.
    pub fn operands(&self, a: &Expr, b: &Expr) -> Result<(Printed, Printed)> {
        let (left, right) = (self.expr(a)?, self.expr(b)?);
        let (Some(ty), true) = (a.ty.scalar(), a.ty == b.ty) else {
            return Ok((self.coerce(left, &a.ty)?, self.coerce(right, &b.ty)?));
        };
        let meets = |left: &Printed, right: &Printed| match (left.ty.scalar(), right.ty.scalar()) {
            (Some(l), Some(r)) if promote(ty) != ty => {
                // Small integers: exact ones are compared and computed as `int`.
                let exact =
                    |s: Scalar, p: &Printed| s == ty || p.literal.is_some_and(|v| v.ty == ty);
                exact(l, left) && exact(r, right)
            }
            (Some(l), Some(r)) => common(l, r) == Some(ty),
            _ => false,
        };
        if meets(&left, &right) {
            return Ok((left, right));
        }
        let exact_left = self.coerce(left.clone(), &a.ty)?;
        let exact_right = self.coerce(right.clone(), &b.ty)?;
        // A suffix on a literal is lighter than a cast of the other operand.
        if right.literal.is_some() && meets(&left, &exact_right) {
            return Ok((left, exact_right));
        }
        if meets(&exact_left, &right) {
            return Ok((exact_left, right));
        }
        if meets(&left, &exact_right) {
            return Ok((left, exact_right));
        }
        Ok((exact_left, exact_right))
    }

    fn join(&self, op: BinaryOp, left: Printed, right: Printed, ty: Type) -> Printed {
        let (mut l, mut r) = operand_limits(op);
        // Chains of one associative bit operator read well without parentheses.
        let p = precedence(op);
        if left.prec == p && matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor) {
            l = p;
        }
        if op == BinaryOp::LogicalOr && left.prec == prec::OR {
            l = prec::OR;
        }
        if op == BinaryOp::LogicalAnd && right.prec == prec::AND {
            r = prec::AND;
        }
        if op == BinaryOp::LogicalOr && right.prec == prec::OR {
            r = prec::OR;
        }
        let doc = infix(left.at_least(l), op.symbol(), right.at_least(r));
        Printed::new(doc, p, ty)
    }

    fn select(&self, c: &Expr, a: &Expr, b: &Expr, e: &Expr) -> Result<Printed> {
        let cond = self.condition(c)?.at_least(prec::OR);
        let (then, otherwise) = match self.bounded() && e.ty.is_float() {
            // Neither of two such types converts to the other by itself.
            true => (self.exact(a)?, self.exact(b)?),
            false => self.operands(a, b)?,
        };
        let ty = match (then.ty.scalar(), otherwise.ty.scalar()) {
            (Some(x), Some(y)) if x == y => Type::Scalar(x),
            (Some(x), Some(y)) => common(x, y).map_or(e.ty.clone(), Type::Scalar),
            _ => e.ty.clone(),
        };
        let doc = cat([
            cond.group(),
            cat([Doc::Line(" "), text("? "), then.at_least(prec::OR).align().group()])
                .group()
                .nest(),
            cat([Doc::Line(" "), text(": "), otherwise.at_least(prec::SELECT).align().group()])
                .group()
                .nest(),
        ]);
        Ok(Printed::new(doc.group(), prec::SELECT, ty))
    }

    fn cast(&self, a: &Expr, to: &Type) -> Result<Printed> {
        if to.is_pointer() && is_zero(a) {
            return Ok(Printed::primary("nullptr", to.clone()));
        }
        let printed = self.expr(a)?;
        let (Some(shown), Some(from), Some(target)) =
            (printed.ty.scalar(), a.ty.scalar(), to.scalar())
        else {
            let exact = self.coerce(printed, &a.ty)?;
            return self.coerce(exact, to);
        };
        // Two conversions are one only where the first keeps every value.
        let printed = if lossless(shown, from) || printed.literal.is_some() {
            printed
        } else {
            self.coerce(printed, &a.ty)?
        };
        let shown = printed.ty.scalar().unwrap_or(shown);
        let explicit = half(shown) != half(target)
            || target == Scalar::Bool
            || (shown.is_float() && target.is_integer());
        if explicit && shown != target {
            let exact = self.coerce(printed, &a.ty)?;
            return self.coerce(exact, to);
        }
        // The literal was of the inner type; a suffix for the outer one would be another number.
        let literal = printed.literal.filter(|v| v.ty.is_integer() && target.is_integer());
        let literal = literal.map(|v| Value::int(target, v.as_i64()));
        Ok(Printed { literal, ..printed })
    }

    fn builtin(&self, b: Builtin) -> Printed {
        let postfix = |s: String| Printed::new(text(s), prec::POSTFIX, Type::U32);
        match b {
            Builtin::ThreadIdx(a) => postfix(format!("threadIdx.{}", a.name())),
            Builtin::BlockIdx(a) => postfix(format!("blockIdx.{}", a.name())),
            Builtin::BlockDim(a) => postfix(format!("blockDim.{}", a.name())),
            Builtin::GridDim(a) => postfix(format!("gridDim.{}", a.name())),
            Builtin::ClusterDim(a) => postfix(format!("__clusterDim().{}", a.name())),
            Builtin::LaneId => postfix(format!("{}()", self.cx.helper(Helper::LaneId))),
            // An `int` in CUDA; the number where it must be unsigned.
            Builtin::WarpSize => Printed {
                literal: Some(Value::int(Scalar::U32, 32)),
                ..Printed::primary("warpSize", Type::I32)
            },
            Builtin::ActiveMask => postfix("__activemask()".into()),
            Builtin::DynamicSharedBytes => {
                postfix(format!("{}()", self.cx.helper(Helper::DynamicSharedBytes)))
            }
            Builtin::Clock => Printed::new(text("(unsigned)clock()"), prec::UNARY, Type::U32),
            Builtin::Clock64 => Printed::new(text("clock64()"), prec::POSTFIX, Type::I64),
        }
    }

    fn make(&self, parts: &[Expr], e: &Expr) -> Result<Printed> {
        let mut docs = vec![];
        // Braces do not convert a variable to a type that may not hold its values; a call does.
        let braces = matches!(e.ty, Type::Struct(_) | Type::Array(..));
        for part in parts {
            let plain = self.implicit(part)?;
            let narrows = braces && plain.literal.is_none() && plain.ty != part.ty;
            docs.push(if narrows { self.exact(part)?.doc } else { plain.doc });
        }
        let (open, close) = match &e.ty {
            Type::Vector(Scalar::F16, 2) => {
                self.cx.include("cuda_fp16.h");
                (String::from("__halves2half2("), ")")
            }
            Type::Vector(Scalar::BF16, 2) => {
                self.cx.include("cuda_bf16.h");
                (String::from("__halves2bfloat162("), ")")
            }
            Type::Vector(..) => (format!("make_{}(", types::spell(&e.ty, self.cx.names)?), ")"),
            Type::Struct(_) => (format!("{}{{", types::spell(&e.ty, self.cx.names)?), "}"),
            Type::Array(..) => (String::from("{"), "}"),
            _ => {
                return Err(EmitError::new(
                    "a value built from parts that is no aggregate",
                    &e.origin,
                ));
            }
        };
        Ok(Printed::new(list(&open, docs, close), prec::POSTFIX, e.ty.clone()))
    }

    fn member(&self, a: &Expr, index: u32) -> Result<Printed> {
        let base = self.exact(a)?;
        let (name, ty) = self.part_of(&a.ty, index, &a.origin)?;
        let doc = cat([base.at_least(prec::POSTFIX), text(format!(".{name}"))]);
        Ok(Printed::new(doc, prec::POSTFIX, ty))
    }

    fn bitcast(&self, a: &Expr, e: &Expr) -> Result<Printed> {
        let (Some(from), Some(to)) = (a.ty.scalar(), e.ty.scalar()) else {
            return self.bitcast_memory(a, e);
        };
        if from == to || (from.is_integer() && to.is_integer()) {
            let exact = self.exact(a)?;
            return self.coerce(exact, &e.ty);
        }
        if self.target == Target::Host {
            let name = self.cx.helper(Helper::BitsAs);
            let open = format!("{name}<{}>(", types::scalar(to));
            return Ok(Printed::new(
                list(&open, vec![self.exact(a)?.doc], ")"),
                prec::POSTFIX,
                e.ty.clone(),
            ));
        }
        use Scalar::*;
        let name = match (from, to) {
            (F32, I32) => "__float_as_int",
            (F32, U32) => "__float_as_uint",
            (I32, F32) => "__int_as_float",
            (U32, F32) => "__uint_as_float",
            (F64, I64) => "__double_as_longlong",
            (I64, F64) => "__longlong_as_double",
            (F16, I16) => "__half_as_short",
            (F16, U16) => "__half_as_ushort",
            (I16, F16) => "__short_as_half",
            (U16, F16) => "__ushort_as_half",
            (BF16, I16) => "__bfloat16_as_short",
            (BF16, U16) => "__bfloat16_as_ushort",
            (I16, BF16) => "__short_as_bfloat16",
            (U16, BF16) => "__ushort_as_bfloat16",
            (F64, U64) => {
                let doc = list("__double_as_longlong(", vec![self.exact(a)?.doc], ")");
                return self.coerce(Printed::new(doc, prec::POSTFIX, Type::I64), &e.ty);
            }
            (U64, F64) => "__longlong_as_double",
            _ => return self.bitcast_memory(a, e),
        };
        self.include_half(from);
        self.include_half(to);
        let operand = if from == U64 { self.expr(a)? } else { self.exact(a)? };
        let doc = list(&format!("{name}("), vec![operand.doc], ")");
        Ok(Printed::new(doc, prec::POSTFIX, e.ty.clone()))
    }

    /// The same bytes seen through a pointer of another type.
    fn bitcast_memory(&self, a: &Expr, e: &Expr) -> Result<Printed> {
        let ExprKind::Read(place) = &*a.kind else {
            return Err(EmitError::new("a bit cast of a value that has no address", &e.origin));
        };
        let address =
            self.address_of(place, &Type::pointer(a.ty.clone(), warpsmith_ir::Space::Generic))?;
        let ty = types::spell(
            &Type::pointer(e.ty.clone(), warpsmith_ir::Space::Generic),
            self.cx.names,
        )?;
        let doc = list(&format!("*reinterpret_cast<{ty}>("), vec![address.doc], ")");
        Ok(Printed::new(doc, prec::UNARY, e.ty.clone()))
    }
}

/// `left op right`, broken after the operator, or inside the parentheses that follow it.
pub(crate) fn infix(left: Doc, op: &str, right: Doc) -> Doc {
    if let Doc::Cat(parts) = &right
        && matches!(parts.first(), Some(Doc::Text(open)) if open == "(")
    {
        let right = cat([Doc::LineIfDeep, right.align().group()]).group();
        return cat([left, text(format!(" {op}")), right]);
    }
    let right = cat([Doc::Line(" "), right.align().group()]).group();
    cat([left, text(format!(" {op}")), right])
}

pub(crate) fn half(s: Scalar) -> bool {
    matches!(s, Scalar::F16 | Scalar::BF16)
}

/// An integer type that C computes with as `int`.
fn small(ty: &Type) -> bool {
    ty.scalar().is_some_and(|s| promote(s) != s)
}

/// A type that C compares with zero by itself.
fn plain(ty: &Type) -> bool {
    ty.is_pointer() || ty.scalar().is_some_and(|s| s.is_integer())
}

fn is_zero(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Const(v) => v.ty.is_integer() && v.bits == 0,
        ExprKind::Cast(a) => is_zero(a),
        _ => false,
    }
}

/// The comparison that is true exactly where `op` is false; NaN makes all but `==` and `!=` differ.
fn opposite(op: BinaryOp, float: bool) -> Option<BinaryOp> {
    use BinaryOp::*;
    Some(match op {
        Eq => Ne,
        Ne => Eq,
        Lt if !float => Ge,
        Le if !float => Gt,
        Gt if !float => Le,
        Ge if !float => Lt,
        _ => return None,
    })
}

/// `a + -3` is `a - 3`, and `a - -3` is `a + 3`.
fn flip_negative(op: BinaryOp, b: &Expr) -> Option<(BinaryOp, Expr)> {
    let v = b.as_const()?;
    let flipped = if op == BinaryOp::Add { BinaryOp::Sub } else { BinaryOp::Add };
    let positive = if v.ty.is_float() && !half(v.ty) {
        let x = v.as_f64();
        (x.is_sign_negative() && !x.is_nan()).then(|| Value::float(v.ty, -x))?
    } else if v.ty.is_signed() {
        let x = v.as_i64();
        let least = i64::MIN >> (64 - 8 * v.ty.bytes());
        (x < 0 && x > least).then(|| Value::int(v.ty, -x))?
    } else {
        return None;
    };
    Some((flipped, Expr::constant(positive).with_origin(b.origin.clone())))
}
