//! Types and expressions as the user would write them, for messages and names.

use warpsmith_ir::{Scalar, Type, Value};

use super::Sema;
use super::builtin_api::{BuiltinTemplateArg, BuiltinType};
use super::function_values::AS_VALUE;
use super::model::*;
use super::types::path_text;
use crate::ast::{self, ExprKind};

impl<'a> Sema<'a> {
    /// A type in C++ spelling.
    pub(crate) fn type_text(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Scalar(s) => scalar_text(*s).into(),
            Type::Vector(s, n) => vector_text(*s, *n),
            Type::Pointer { pointee, volatile, readonly, .. } => {
                let constant = if *readonly { "const " } else { "" };
                let volatile = if *volatile { "volatile " } else { "" };
                format!("{constant}{volatile}{} *", self.type_text(pointee))
            }
            Type::Array(..) => {
                let extents: String = ty.extents().iter().map(|n| format!("[{n}]")).collect();
                format!("{}{extents}", self.type_text(ty.innermost()))
            }
            Type::Struct(id) => {
                let known = self.module.structs.get(id.0 as usize);
                known.map_or("struct", |s| s.name.trim_start_matches(AS_VALUE)).to_string()
            }
        }
    }

    pub(crate) fn qual_text(&self, q: &QualType) -> String {
        let constant = if q.is_const { "const " } else { "" };
        let reference = match q.reference {
            RefKind::No => "",
            RefKind::Lvalue => " &",
            RefKind::Rvalue => " &&",
        };
        format!("{constant}{}{reference}", self.type_text(&q.ty))
    }

    /// Template arguments as in an instance's name: `float,32`.
    pub(crate) fn args_text(&self, args: &[TArg]) -> String {
        let texts: Vec<String> = args
            .iter()
            .map(|a| match a {
                TArg::Type(q) => self.qual_text(q).replace(" *", "*").replace(" &", "&"),
                TArg::Value(v) => value_text(*v),
                TArg::Template(_, name) => name.clone(),
                TArg::Pack(inner) => self.args_text(inner),
            })
            .filter(|t| !t.is_empty())
            .collect();
        texts.join(",")
    }

    pub(crate) fn object_text(&self, object: &BuiltinType) -> String {
        let args: Vec<String> = object
            .args
            .iter()
            .map(|a| match a {
                BuiltinTemplateArg::Type(t) => self.type_text(t),
                BuiltinTemplateArg::Value(v) => value_text(*v),
            })
            .collect();
        if args.is_empty() {
            object.name.clone()
        } else {
            format!("{}<{}>", object.name, args.join(","))
        }
    }
}

/// A scalar type as a program writes it: `unsigned char`.
pub fn scalar_text(s: Scalar) -> &'static str {
    match s {
        Scalar::Bool => "bool",
        Scalar::I8 => "char",
        Scalar::U8 => "unsigned char",
        Scalar::I16 => "short",
        Scalar::U16 => "unsigned short",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned int",
        Scalar::I64 => "long long",
        Scalar::U64 => "unsigned long long",
        Scalar::F16 => "__half",
        Scalar::BF16 => "__nv_bfloat16",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

fn vector_text(s: Scalar, n: u8) -> String {
    let base = match s {
        Scalar::I8 => "char",
        Scalar::U8 => "uchar",
        Scalar::I16 => "short",
        Scalar::U16 => "ushort",
        Scalar::U32 => "uint",
        Scalar::I64 => "longlong",
        Scalar::U64 => "ulonglong",
        Scalar::F16 => "__half",
        Scalar::BF16 => "__nv_bfloat16",
        other => scalar_text(other),
    };
    format!("{base}{n}")
}

fn value_text(v: Value) -> String {
    match v.ty {
        Scalar::Bool => v.is_true().to_string(),
        Scalar::U64 => v.bits.to_string(),
        s if s.is_float() => v.as_f64().to_string(),
        _ => v.as_i64().to_string(),
    }
}

/// An expression in the user's words, with single blanks; long ones are cut.
pub(crate) fn expr_text(e: &ast::Expr) -> String {
    let mut out = String::new();
    write_expr(e, &mut out, 0);
    out
}

fn write_list(list: &[ast::Expr], out: &mut String, depth: u32) {
    for (i, e) in list.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_expr(e, out, depth);
    }
}

fn write_expr(e: &ast::Expr, out: &mut String, depth: u32) {
    if depth > 100 || out.len() > 400 {
        out.push('…');
        return;
    }
    let d = depth + 1;
    match &*e.kind {
        ExprKind::Number(text) => out.push_str(text),
        ExprKind::Bool(b) => out.push_str(&b.to_string()),
        ExprKind::Char(c) => match u8::try_from(*c).ok().filter(u8::is_ascii_graphic) {
            Some(c) => out.push_str(&format!("'{}'", char::from(c))),
            None => out.push_str(&c.to_string()),
        },
        ExprKind::Str(text) => out.push_str(&format!("{text:?}")),
        ExprKind::NullPtr => out.push_str("nullptr"),
        ExprKind::This => out.push_str("this"),
        ExprKind::Path(path) => out.push_str(&path_text(path)),
        ExprKind::Paren(inner) => {
            out.push('(');
            write_expr(inner, out, d);
            out.push(')');
        }
        ExprKind::Unary { op, operand } => {
            out.push_str(op);
            write_expr(operand, out, d);
        }
        ExprKind::IncDec { op, prefix, operand } => {
            if *prefix {
                out.push_str(op);
            }
            write_expr(operand, out, d);
            if !*prefix {
                out.push_str(op);
            }
        }
        ExprKind::Binary { op, left, right } => write_infix(left, op, right, out, d),
        ExprKind::Assign { op, target, value } => write_infix(target, op, value, out, d),
        ExprKind::Conditional { cond, then, otherwise } => {
            write_infix(cond, "?", then, out, d);
            out.push_str(" : ");
            write_expr(otherwise, out, d);
        }
        ExprKind::Otherwise { value, otherwise } => write_infix(value, "?:", otherwise, out, d),
        ExprKind::Comma(a, b) => {
            write_expr(a, out, d);
            out.push_str(", ");
            write_expr(b, out, d);
        }
        ExprKind::Call { callee, args } => {
            write_expr(callee, out, d);
            out.push('(');
            write_list(args, out, d);
            out.push(')');
        }
        ExprKind::Index { base, index } => {
            write_expr(base, out, d);
            out.push('[');
            write_expr(index, out, d);
            out.push(']');
        }
        ExprKind::Member { base, arrow, member, class } => {
            write_expr(base, out, d);
            out.push_str(if *arrow { "->" } else { "." });
            if let Some(class) = class {
                out.push_str(&super::types::path_text(class));
                out.push_str("::");
            }
            out.push_str(&member.name);
        }
        ExprKind::Cast { operand, ty, .. } => {
            out.push_str(&format!("({})", type_name_text(ty)));
            write_expr(operand, out, d);
        }
        ExprKind::SizeofType(ty) => out.push_str(&format!("sizeof({})", type_name_text(ty))),
        _ => out.push('…'),
    }
}

fn write_infix(left: &ast::Expr, op: &str, right: &ast::Expr, out: &mut String, depth: u32) {
    write_expr(left, out, depth);
    out.push(' ');
    out.push_str(op);
    out.push(' ');
    write_expr(right, out, depth);
}

fn type_name_text(ty: &ast::TypeName) -> String {
    let constant = if ty.is_const { "const " } else { "" };
    let base = match &ty.kind {
        ast::TypeKind::Void => "void".into(),
        ast::TypeKind::Auto => "auto".into(),
        ast::TypeKind::DecltypeAuto => "decltype(auto)".into(),
        ast::TypeKind::Builtin(words) => words.join(" "),
        ast::TypeKind::Named(path) => path_text(path),
        ast::TypeKind::Pointer { to, .. } => format!("{} *", type_name_text(to)),
        ast::TypeKind::Reference { to, .. } => format!("{} &", type_name_text(to)),
        _ => "…".into(),
    };
    format!("{constant}{base}")
}
