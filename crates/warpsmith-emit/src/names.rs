//! The namer: every name in the output comes from here.
//!
//! The user's names are kept. A name changes only where C++ or CUDA forbids it, where it would hide
//! another one that is in sight, or where two things of the file would share it; then it gets a
//! trailing underscore or a number. The same module always gives the same names.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::{
    Block, ConstId, FuncId, Function, GlobalId, Module, Span, StmtKind, StructId, Type, Var, VarId,
    VarKind,
};

use crate::types::Reals;
use crate::walk;

/// Words no declaration may use: keywords of C++20, names that CUDA defines as macros, variables or
/// types, and macros of the headers that nvcc includes.
const RESERVED: &str = "
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t xor xor_eq
threadIdx blockIdx blockDim gridDim warpSize dim3 half half2 size_t ssize_t ptrdiff_t int8_t int16_t
int32_t int64_t uint8_t uint16_t uint32_t uint64_t uint ushort ulong uchar intptr_t uintptr_t
cudaError_t cudaStream_t cudaSuccess cudaMemcpyToSymbolAsync cudaMemcpyDeviceToDevice cooperative_groups cuda std assert printf NULL INFINITY NAN
EOF errno linux unix stdin stdout stderr major minor makedev HUGE_VAL M_PI M_E I
texture surface main";

/// Functions that emitted expressions may call, in all their spellings; a variable of such a name
/// would hide the function.
fn library_functions() -> impl Iterator<Item = String> {
    let math = warpsmith_ir::MathFn::ALL.iter();
    let math = math.flat_map(|f| ["", "f"].map(|suffix| format!("{}{suffix}", f.name())));
    let extra = "fabs fabsf fmin fminf fmax fmaxf abs llabs min max clock clock64 memcpy memset malloc free exit abort";
    math.chain(extra.split_whitespace().map(String::from))
}

/// Names of the C library that are free for variables but not for things of a file.
const LIBRARY: &str = "
y0 y1 yn j0 j1 jn gamma index rindex time read write open close pipe div ldiv signal remove rename
link select random rand srand system atof atoi atol qsort bsearch getenv setenv log2 logb ilogb
scalbn frexp modf nan tgamma significand drem finite gammaf stat fork exec wait kill sleep access
dup lseek truncate sync swab getopt daemon nice pause alarm environ strdup";

/// Vector types: `float4`, `uchar2` and the like.
fn is_vector_type(name: &str) -> bool {
    let base = name.trim_end_matches(['1', '2', '3', '4']);
    let bases = [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ];
    base.len() + 1 == name.len() && bases.contains(&base)
}

/// Shared memory declared outside of functions: all functions of the file that name it have the same, which
/// its name tells by two leading colons.
pub(crate) fn is_shared_of_file(var: &Var) -> bool {
    var.kind == VarKind::Shared && var.name.starts_with("::")
}

/// All names of one module's text.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    constants: Vec<String>,
    globals: Vec<String>,
    structs: Vec<String>,
    functions: Vec<String>,
    /// By function and variable.
    vars: Vec<Vec<String>>,
    reserved: HashSet<String>,
    /// How types of reals are spelled.
    pub(crate) reals: Reals,
}

impl Names {
    /// Names for everything in a module; `taken` are file-level names that the caller uses itself.
    pub fn new(module: &Module, taken: &[String]) -> Names {
        Names::preferring(module, taken, &[])
    }

    /// As `new`; where two functions want one name, those in `first` get it.
    pub fn preferring(module: &Module, taken: &[String], first: &[FuncId]) -> Names {
        let reserved: HashSet<String> =
            RESERVED.split_whitespace().map(String::from).chain(library_functions()).collect();
        let mut file = Taken { reserved: &reserved, used: taken.iter().cloned().collect() };
        let mut functions = vec![String::new(); module.functions.len()];
        let all = (0..functions.len()).map(|i| FuncId(i as u32));
        for id in first.iter().copied().chain(all) {
            if let Some(slot) = functions.get_mut(id.0 as usize)
                && slot.is_empty()
            {
                *slot = file.choose_global(&module.function(id).name);
            }
        }
        let structs = module.structs.iter().map(|s| file.choose_global(&s.name)).collect();
        let globals = module.globals.iter().map(|g| file.choose_global(&g.name)).collect();
        let constants = module.constants.iter().map(|c| file.choose_global(&c.name)).collect();
        // All dynamic shared arrays of a file are one array to the linker: the same name only for the same type.
        let mut dynamic: HashMap<(String, Type), String> = HashMap::new();
        let mut shared: HashMap<(String, Option<Span>), String> = HashMap::new();
        let mut dynamic_of = vec![];
        for function in &module.functions {
            let mut of_this = HashMap::new();
            for (i, var) in function.vars.iter().enumerate() {
                if is_shared_of_file(var) {
                    let key = (var.name.clone(), var.origin.span);
                    let choose = || file.choose_global(var.name.trim_start_matches(':'));
                    let name = shared.entry(key).or_insert_with(choose).clone();
                    of_this.insert(VarId(i as u32), name);
                }
                if var.kind == VarKind::DynamicShared {
                    let key = (var.name.clone(), var.ty.clone());
                    let name =
                        dynamic.entry(key).or_insert_with(|| file.choose_global(&var.name)).clone();
                    of_this.insert(VarId(i as u32), name);
                }
            }
            dynamic_of.push(of_this);
        }
        let mut names = Names {
            constants,
            globals,
            structs,
            functions,
            vars: vec![],
            reserved,
            reals: Reals::Plain,
        };
        for (i, dynamic) in dynamic_of.iter().enumerate() {
            let id = FuncId(i as u32);
            let mut used = names.seen_in(module, id);
            used.extend(taken.iter().cloned());
            let vars = name_vars(module.function(id), dynamic, &names.reserved, &used);
            names.vars.push(vars);
        }
        names
    }

    /// Names of the file that a function uses: its variables may hide all others.
    fn seen_in(&self, module: &Module, function: FuncId) -> HashSet<String> {
        let reach = walk::Reach::from(module, [function]);
        let functions = reach.functions.iter().filter(|f| **f != function);
        let functions = functions.map(|f| self.function(*f));
        let constants = reach.constants.iter().map(|c| self.constant(*c));
        let globals = reach.globals.iter().map(|g| self.global(*g));
        let structs = reach.structs.iter().map(|s| self.structure(*s));
        functions.chain(constants).chain(globals).chain(structs).map(String::from).collect()
    }

    pub fn constant(&self, id: ConstId) -> &str {
        self.constants.get(id.0 as usize).map_or("?", String::as_str)
    }

    pub fn global(&self, id: GlobalId) -> &str {
        self.globals.get(id.0 as usize).map_or("?", String::as_str)
    }

    pub fn structure(&self, id: StructId) -> &str {
        self.structs.get(id.0 as usize).map_or("?", String::as_str)
    }

    pub fn function(&self, id: FuncId) -> &str {
        self.functions.get(id.0 as usize).map_or("?", String::as_str)
    }

    pub fn var(&self, function: FuncId, id: VarId) -> &str {
        let vars = self.vars.get(function.0 as usize);
        vars.and_then(|v| v.get(id.0 as usize)).map_or("?", String::as_str)
    }

    /// A file-level name of the caller's instead of the one chosen for a function.
    pub fn set_function(&mut self, id: FuncId, name: &str) {
        if let Some(n) = self.functions.get_mut(id.0 as usize) {
            *n = name.into();
        }
    }

    /// A name for something of the emitter's own in a function: not that of any variable of the
    /// function, nor of anything of the file, nor in `used`.
    pub fn fresh(&self, function: FuncId, wish: &str, used: &[String]) -> String {
        let file = [&self.constants, &self.globals, &self.structs, &self.functions];
        let vars = self.vars.get(function.0 as usize).into_iter().flatten();
        let used = file.into_iter().flatten().chain(vars).chain(used).cloned().collect();
        Taken { reserved: &self.reserved, used }.choose(wish)
    }
}

/// A name with what may not be chosen again.
struct Taken<'a> {
    reserved: &'a HashSet<String>,
    used: HashSet<String>,
}

impl Taken<'_> {
    fn free(&self, name: &str) -> bool {
        !self.used.contains(name) && !self.forbidden(name)
    }

    fn forbidden(&self, name: &str) -> bool {
        self.reserved.contains(name) || is_vector_type(name)
    }

    /// The wish, or the nearest name to it that is free.
    fn choose(&mut self, wish: &str) -> String {
        let mut name = identifier(wish);
        if self.forbidden(&name) {
            name.push('_');
        }
        if !self.free(&name) {
            let stem = if name.ends_with(|c: char| c.is_ascii_digit()) {
                format!("{name}_")
            } else {
                name.trim_end_matches('_').to_string()
            };
            let numbered = (2..).map(|n| format!("{stem}{n}"));
            name = numbered.into_iter().find(|n| self.free(n)).unwrap_or(stem);
        }
        self.used.insert(name.clone());
        name
    }

    /// As `choose`, for a name of the file, where the C library's names count as well.
    fn choose_global(&mut self, wish: &str) -> String {
        if LIBRARY.split_whitespace().any(|n| n == wish) {
            return self.choose(&format!("{wish}_"));
        }
        self.choose(wish)
    }
}

/// What stands for a letter that CUDA does not allow in names: those of western Europe without their marks, as one
/// writes them where there are none; any other as `u` and its number.
fn letters(c: char) -> String {
    const LATIN: &[(&str, &str)] = &[
        ("ä", "ae"),
        ("ö", "oe"),
        ("ü", "ue"),
        ("ß", "ss"),
        ("æ", "ae"),
        ("ø", "oe"),
        ("œ", "oe"),
        ("å", "aa"),
        ("þ", "th"),
        ("àáâã", "a"),
        ("ç", "c"),
        ("èéêë", "e"),
        ("ìíîï", "i"),
        ("ñ", "n"),
        ("òóôõ", "o"),
        ("ùúû", "u"),
        ("ýÿ", "y"),
        ("ð", "d"),
    ];
    let small: String = c.to_lowercase().collect();
    match LATIN.iter().find(|(from, _)| from.contains(&small)) {
        Some((_, to)) if c.is_lowercase() => (*to).to_string(),
        Some((_, to)) => to[..1].to_uppercase() + &to[1..],
        None => format!("u{:x}", u32::from(c)),
    }
}

/// Words that C++ keeps for itself and C leaves free.
const ONLY_CPP: &str = "
and and_eq asm bitand bitor catch class compl concept const_cast consteval constexpr constinit
co_await co_return co_yield decltype delete dynamic_cast explicit export friend mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast
requires static_cast template this throw try typeid typename using virtual xor xor_eq";

/// A piece of C with other names in place of those that are no names in C++.
pub(crate) fn in_cpp(c: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let words = c.split_inclusive(|c| !is_letter(c));
    let renamed = words.map(|piece| {
        let word = piece.trim_end_matches(|c| !is_letter(c));
        match ONLY_CPP.split_whitespace().any(|k| k == word) {
            true => format!("{word}_in_c{}", &piece[word.len()..]),
            false => piece.to_string(),
        }
    });
    renamed.collect()
}

/// The text as an identifier: `f<float,32>` becomes `f_float_32`, `größe` becomes `groesse`.
pub fn identifier(wish: &str) -> String {
    let mut name = String::new();
    for c in wish.chars() {
        if !c.is_ascii() && c.is_alphanumeric() {
            name.push_str(&letters(c));
        } else if c.is_ascii_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if name.ends_with('_') && !wish.ends_with('_') {
        name.pop();
    }
    // Two leading underscores, or one and a capital, belong to the compiler.
    let bytes = name.as_bytes();
    let compilers = bytes.first() == Some(&b'_')
        && bytes.get(1).is_some_and(|b| *b == b'_' || b.is_ascii_uppercase());
    if compilers {
        name = name.trim_start_matches('_').to_string();
    }
    match name.bytes().next() {
        None => "v".into(),
        Some(b) if b.is_ascii_digit() => format!("v{name}"),
        _ => name,
    }
}

fn name_vars(
    function: &Function,
    dynamic: &HashMap<VarId, String>,
    reserved: &HashSet<String>,
    file: &HashSet<String>,
) -> Vec<String> {
    let mut scopes = Scopes {
        function,
        names: vec![None; function.vars.len()],
        taken: Taken { reserved, used: file.clone() },
    };
    for (id, name) in dynamic {
        scopes.taken.used.insert(name.clone());
        scopes.names[id.0 as usize] = Some(name.clone());
    }
    for &param in &function.params {
        scopes.name(param);
    }
    for (i, u) in walk::var_uses(function).iter().enumerate() {
        if u.dead() {
            // It is not printed, and takes no name from others.
            scopes.names[i].get_or_insert_default();
        } else if !u.declared {
            // Whatever no statement declares is declared at the top of the function.
            scopes.name(VarId(i as u32));
        }
    }
    scopes.block(&function.body);
    scopes.names.into_iter().map(Option::unwrap_or_default).collect()
}

/// Names are given where variables come into being, and set free where their scope ends.
struct Scopes<'a> {
    function: &'a Function,
    names: Vec<Option<String>>,
    taken: Taken<'a>,
}

impl Scopes<'_> {
    fn name(&mut self, id: VarId) -> Option<String> {
        let var = self.function.vars.get(id.0 as usize)?;
        let slot = self.names.get_mut(id.0 as usize)?;
        if slot.is_some() {
            return None;
        }
        let name = self.taken.choose(&var.name);
        *slot = Some(name.clone());
        Some(name)
    }

    /// Names of variables that the block declares although another block has declared them before: they are in use in
    /// all of it.
    fn named_again(&self, block: &Block) -> Vec<String> {
        let mut again = vec![];
        let mut note = |id: VarId| {
            let name = self.names.get(id.0 as usize).and_then(Option::as_ref);
            again.extend(name.filter(|n| !self.taken.used.contains(*n)).cloned());
        };
        warpsmith_ir::visit::for_each_stmt(block, &mut |s| match &s.kind {
            StmtKind::Decl { var, .. } => note(*var),
            StmtKind::For(l) if l.declares => note(l.var),
            _ => {}
        });
        again
    }

    fn block(&mut self, block: &Block) {
        let mut opened = self.named_again(block);
        self.taken.used.extend(opened.iter().cloned());
        for s in &block.stmts {
            match &s.kind {
                StmtKind::Decl { var, .. } => opened.extend(self.name(*var)),
                StmtKind::For(l) => {
                    let counter = if l.declares { self.name(l.var) } else { None };
                    self.block(&l.body);
                    counter.iter().for_each(|n| {
                        self.taken.used.remove(n);
                    });
                }
                StmtKind::Loop { condition, body, step, .. } => {
                    // These three may be printed as one block: what one declares stays in sight of the next.
                    let mut all = Block::default();
                    let before = condition.iter().flat_map(|c| &c.before.stmts);
                    all.stmts.extend(before.chain(&body.stmts).chain(&step.stmts).cloned());
                    self.block(&all);
                }
                other => walk::nested_blocks(other, &mut |b| self.block(b)),
            }
        }
        for name in opened {
            self.taken.used.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_ir::{FunctionKind, Stmt, Var};

    fn names_of(vars: &[&str]) -> Vec<String> {
        let mut f = Function::new("gemm", FunctionKind::Kernel);
        for v in vars {
            let id = f.add_var(Var::new(*v, Type::I32, VarKind::Local));
            let init = Some(warpsmith_ir::Expr::i32(0));
            let place = warpsmith_ir::Place::var(id, Type::I32);
            let value = warpsmith_ir::Expr::read(place.clone());
            for kind in [StmtKind::Decl { var: id, init }, StmtKind::Assign { place, value }] {
                f.body.stmts.push(Stmt::new(kind, warpsmith_ir::Origin::default()));
            }
        }
        let module = Module { functions: vec![f], ..Module::default() };
        Names::new(&module, &[]).vars.remove(0)
    }

    #[test]
    fn names_of_the_user_are_kept() {
        assert_eq!(names_of(&["i", "A_shared", "block", "y1"]), ["i", "A_shared", "block", "y1"]);
    }

    #[test]
    fn names_of_the_language_get_an_underscore() {
        let names = names_of(&["new", "threadIdx", "float4", "min", "this", "half"]);
        assert_eq!(names, ["new_", "threadIdx_", "float4_", "min_", "this_", "half_"]);
    }

    #[test]
    fn variables_that_two_blocks_declare_keep_their_name_in_both() {
        let mut f = Function::new("f", FunctionKind::Kernel);
        let mut add = |wish: &str| f.add_var(Var::new(wish, Type::I32, VarKind::Local));
        let (first, shared, second) = (add("a"), add("a"), add("a2"));
        let block = |vars: [VarId; 2]| {
            let mut b = Block::default();
            for var in vars {
                let init = Some(warpsmith_ir::Expr::i32(0));
                let place = warpsmith_ir::Place::var(var, Type::I32);
                let value = warpsmith_ir::Expr::read(place.clone());
                for kind in [StmtKind::Decl { var, init }, StmtKind::Assign { place, value }] {
                    b.stmts.push(Stmt::new(kind, warpsmith_ir::Origin::default()));
                }
            }
            Stmt::new(StmtKind::Scope(b), warpsmith_ir::Origin::default())
        };
        f.body.stmts = vec![block([first, shared]), block([second, shared])];
        let module = Module { functions: vec![f], ..Module::default() };
        let names = Names::new(&module, &[]).vars.remove(0);
        assert_eq!(names[1], "a2");
        assert_ne!(names[2], names[1], "both are declared in the second block");
    }

    #[test]
    fn names_in_sight_are_not_hidden() {
        assert_eq!(names_of(&["i", "i", "x1", "x1", "gemm"]), ["i", "i2", "x1", "x1_2", "gemm"]);
    }

    #[test]
    fn names_that_only_c_allows_get_others() {
        assert_eq!(
            in_cpp("struct {\n    void *new[3];\n    int news;\n} this"),
            "struct {\n    void *new_in_c[3];\n    int news;\n} this_in_c"
        );
        assert_eq!(in_cpp("->mesh.class"), "->mesh.class_in_c");
    }

    #[test]
    fn anything_becomes_an_identifier() {
        assert_eq!(identifier("f<float,32>"), "f_float_32");
        assert_eq!(identifier("3d"), "v3d");
        assert_eq!(identifier("__x"), "x");
        assert_eq!(identifier("größe"), "groesse");
        assert_eq!(identifier("<>"), "v");
    }
}
