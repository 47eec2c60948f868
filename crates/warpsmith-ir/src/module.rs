//! Modules and functions.

use crate::expr::Expr;
use crate::span::Origin;
use crate::stmt::{Block, LoopId};
use crate::types::{Space, Type};
use crate::value::Value;

/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// Index into [`Function::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Index into [`Module::structs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub u32);

/// Index into [`Module::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// Index into [`Module::constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub u32);

/// Everything one input file means: one translation unit after instantiation of templates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Structures and unions, by [`StructId`].
    pub structs: Vec<StructDef>,
    /// Variables outside functions, by [`GlobalId`].
    pub globals: Vec<Global>,
    /// Named constants, by [`ConstId`].
    pub constants: Vec<NamedConst>,
    /// Kernels, device and host functions, by [`FuncId`].
    pub functions: Vec<Function>,
}

/// A structure or a union.
#[derive(Clone, Debug, PartialEq)]
pub struct StructDef {
    /// The user's name, template arguments included.
    pub name: String,
    /// The members, in order of declaration.
    pub fields: Vec<StructField>,
    /// Size and alignment in bytes, see [`crate::layout::lay_out`]. Unions have all offsets 0.
    pub size: u64,
    /// Its address is a multiple of this.
    pub align: u64,
    /// Where it is declared.
    pub origin: Origin,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// The user's name.
    pub name: String,
    /// Type of the member.
    pub ty: Type,
    /// In bytes from the start of the struct.
    pub offset: u64,
}

/// A named compile-time constant (`constexpr int BM = 64;`), so that emitted code says what its numbers are.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedConst {
    /// The name in the emitted code.
    pub name: String,
    /// Its value, which has its type.
    pub value: Value,
    /// What it means, printed beside it.
    pub comment: String,
}

/// A `__constant__` or `__device__` variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// The user's name.
    pub name: String,
    /// Type of the variable.
    pub ty: Type,
    /// `Constant` or `Global`.
    pub space: Space,
    /// Initial bytes, little-endian, as long as the type; `None`: poison for `__constant__`, zeros for `__device__`.
    pub init: Option<Vec<u8>>,
    /// Where it is declared.
    pub origin: Origin,
}

/// Where a function runs, and who may call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `__global__`.
    Kernel,
    /// `__device__`.
    Device,
    /// Runs on the host: the user's C function, or a launcher.
    Host,
}

/// A kernel, a device function or a host function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name as the user would call it; template instances as `f<float,32>`.
    pub name: String,
    /// Where it runs.
    pub kind: FunctionKind,
    /// Parameters in order, each with [`VarKind::Param`].
    pub params: Vec<VarId>,
    /// Type of what it returns; `Void` for kernels.
    pub ret: Type,
    /// Parameters and variables, by [`VarId`].
    pub vars: Vec<Var>,
    /// Its statements.
    pub body: Block,
    /// The limits that the program sets for launches of the kernel; `None`: it sets none.
    pub launch_bounds: Option<LaunchBounds>,
    /// Blocks of a cluster along x, y and z, as `__cluster_dims__` says; `None`: it does not.
    pub cluster: Option<[u32; 3]>,
    /// It stands in for a function of a library: what happens in it is reported where it is called.
    pub of_library: bool,
    /// One more than the largest [`LoopId`] in use.
    pub next_loop: u32,
    /// Where it is declared.
    pub origin: Origin,
}

/// `__launch_bounds__(max_threads, min_blocks)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Most threads of a block.
    pub max_threads: u32,
    /// Blocks that should fit on a multiprocessor at the same time.
    pub min_blocks: Option<u32>,
}

/// Storage of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    /// A parameter, set by the caller; each thread of a kernel has its own copy.
    Param,
    /// A variable of one thread; in a register unless its address is taken or it is an array.
    Local,
    /// `__shared__` of constant size: one per block, poison at block start. A name that begins with `::` is declared at
    /// file level: functions that have one of the same name and origin share it.
    Shared,
    /// `extern __shared__ T name[]`: all of them start at the same address; the type is an array of length 0.
    DynamicShared,
}

/// The order in which the dimensions of a buffer lie in its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DimOrder {
    /// As the subscripts are written, the last one along rows.
    #[default]
    Straight,
    /// The last two dimensions change places.
    Transposed,
    /// The first dimension goes last, as that of the results among the weights of a convolution.
    Turned,
}

impl DimOrder {
    /// All orders, as written.
    pub const ALL: [DimOrder; 3] = [DimOrder::Straight, DimOrder::Transposed, DimOrder::Turned];

    /// Puts what belongs to the dimensions in the order of memory.
    pub fn arrange<T>(self, dims: &mut [T]) {
        let n = dims.len();
        match self {
            DimOrder::Transposed if n >= 2 => dims.swap(n - 1, n - 2),
            DimOrder::Turned if n >= 2 => dims.rotate_left(1),
            _ => {}
        }
    }

    /// Which of `n` dimensions runs along rows in memory; `None` where there are none.
    pub fn last(self, n: usize) -> Option<usize> {
        match self {
            DimOrder::Transposed if n >= 2 => Some(n - 2),
            DimOrder::Turned if n >= 2 => Some(0),
            _ => n.checked_sub(1),
        }
    }

    /// The word for it in schedules and in the text form; none where nothing is said.
    pub fn word(self) -> &'static str {
        match self {
            DimOrder::Straight => "",
            DimOrder::Transposed => "transposed",
            DimOrder::Turned => "turned",
        }
    }
}

/// Where the elements of a buffer lie in its memory. It changes addresses only, never what a program means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Unused elements at the end of each row, against bank conflicts.
    pub pad: u32,
    /// Which dimension follows which.
    pub order: DimOrder,
    /// The columns of each row are permuted by the row's number, against bank conflicts.
    pub swizzled: bool,
}

/// A parameter or a variable of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// The user's name, or that of the rewrite that made it; not unique.
    pub name: String,
    /// Type of the variable.
    pub ty: Type,
    /// Its storage.
    pub kind: VarKind,
    /// A C++ reference parameter: `ty` is a pointer that is never null and never changes.
    pub reference: bool,
    /// Not assigned after its declaration, as the user said (`const`); for pointers see [`Type::Pointer`].
    pub constant: bool,
    /// `restrict`.
    pub restrict: bool,
    /// Rows of the array lie further apart than they are long.
    pub pitched: bool,
    /// Extents of an array parameter, outermost first, as expressions over other parameters
    /// (`float A[n][m]`, `#pragma ws bounds(A: n, m)`); the pointee of `ty` is the innermost element. `None`: not declared.
    pub shape: Option<Vec<Expr>>,
    /// The shape was found from the accesses; nobody declared it.
    pub inferred: bool,
    /// The function asked whether the pointer is null, and what it does then was left out: callers must not pass null.
    pub not_null: bool,
    /// The function computes subscripts of the array in 32 bits that wrap around. Only up to 2³² elements are they what
    /// subscripts in 64 bits are.
    pub narrow: bool,
    /// `__align__(n)` in bytes; 0: natural.
    pub align: u32,
    /// Of a shared array.
    pub layout: Layout,
    /// Where it is declared.
    pub origin: Origin,
}

impl Var {
    /// A variable without qualifiers, shape or origin.
    pub fn new(name: impl Into<String>, ty: Type, kind: VarKind) -> Var {
        Var {
            name: name.into(),
            ty,
            kind,
            reference: false,
            constant: false,
            restrict: false,
            pitched: false,
            shape: None,
            inferred: false,
            not_null: false,
            narrow: false,
            align: 0,
            layout: Layout::default(),
            origin: Origin::default(),
        }
    }
}

impl Function {
    /// A function without parameters and statements that returns nothing.
    pub fn new(name: impl Into<String>, kind: FunctionKind) -> Function {
        Function {
            name: name.into(),
            kind,
            params: vec![],
            ret: Type::Void,
            vars: vec![],
            body: Block::default(),
            launch_bounds: None,
            cluster: None,
            of_library: false,
            next_loop: 0,
            origin: Origin::default(),
        }
    }

    /// Adds a variable and gives it an id. Parameters are added by [`Function::add_param`].
    pub fn add_var(&mut self, var: Var) -> VarId {
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    /// Adds a variable of kind `Param` and appends it to the parameters.
    pub fn add_param(&mut self, var: Var) -> VarId {
        let id = self.add_var(var);
        self.params.push(id);
        id
    }

    /// An id that no loop of the function has had.
    pub fn fresh_loop(&mut self) -> LoopId {
        self.next_loop += 1;
        LoopId(self.next_loop - 1)
    }

    /// The variable; ids are only made by `add_var`, so a bad one is a bug of ours.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0 as usize]
    }
}

impl Module {
    /// Adds a function and gives it an id.
    pub fn add_function(&mut self, function: Function) -> FuncId {
        self.functions.push(function);
        FuncId(self.functions.len() as u32 - 1)
    }

    /// The function; ids are only made by `add_function`, so a bad one is a bug of ours.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The first function of this name; `None` when there is none.
    pub fn find_function(&self, name: &str) -> Option<FuncId> {
        let at = self.functions.iter().position(|f| f.name == name)?;
        Some(FuncId(at as u32))
    }
}
