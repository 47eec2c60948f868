//! What printing needs to know, and what it finds out on the way.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{FuncId, Function, LoopId, Module, Scalar, StructId, Type, Var, VarId};

use crate::names::Names;
use crate::walk::{self, VarUse};

/// Where the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Device,
    /// C++ for the processor, as nvcc's host compiler reads it.
    Host,
}

/// Small functions that stand for hardware values and operations without a CUDA function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    LaneId,
    DynamicSharedBytes,
    AtomicMinFloat,
    AtomicMaxFloat,
    AtomicMinDouble,
    AtomicMaxDouble,
    AtomicMul(Scalar),
    AtomicLower(Scalar),
    AtomicRaise(Scalar),
    BitsAs,
    /// An element of a matrix, or of a box, whose rows lie apart.
    PitchedRows,
    PitchedPlanes,
}

impl Helper {
    pub fn name(self) -> &'static str {
        match self {
            Helper::LaneId => "lane_id",
            Helper::DynamicSharedBytes => "dynamic_shared_bytes",
            Helper::AtomicMinFloat | Helper::AtomicMinDouble => "atomic_min",
            Helper::AtomicMaxFloat | Helper::AtomicMaxDouble => "atomic_max",
            Helper::AtomicMul(_) => "atomic_mul",
            Helper::AtomicLower(_) => "atomic_lower",
            Helper::AtomicRaise(_) => "atomic_raise",
            Helper::BitsAs => "bits_as",
            Helper::PitchedRows | Helper::PitchedPlanes => "element_at",
        }
    }

    /// One of each name.
    pub const ALL: [Helper; 12] = [
        Helper::LaneId,
        Helper::DynamicSharedBytes,
        Helper::AtomicMinFloat,
        Helper::AtomicMaxFloat,
        Helper::AtomicMinDouble,
        Helper::AtomicMaxDouble,
        Helper::AtomicMul(Scalar::F32),
        Helper::AtomicLower(Scalar::F32),
        Helper::AtomicRaise(Scalar::F32),
        Helper::BitsAs,
        Helper::PitchedRows,
        Helper::PitchedPlanes,
    ];
}

/// Headers and helpers that the text printed so far relies on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub includes: BTreeSet<&'static str>,
    pub helpers: BTreeSet<Helper>,
}

/// One file being printed.
pub(crate) struct Context<'a> {
    pub module: &'a Module,
    pub names: &'a Names,
    pub needs: RefCell<Needs>,
    /// Functions that others of the module call: of no use outside the file.
    pub called: BTreeSet<FuncId>,
    /// Structures that the user's own code may declare, too: their definitions can be left out.
    pub shared: BTreeSet<StructId>,
}

impl<'a> Context<'a> {
    pub fn new(module: &'a Module, names: &'a Names) -> Context<'a> {
        Context {
            module,
            names,
            needs: RefCell::default(),
            called: walk::called(module),
            shared: BTreeSet::new(),
        }
    }

    /// The headers that a type needs.
    pub fn include_type(&self, ty: &Type) {
        match ty {
            Type::Scalar(Scalar::F16) | Type::Vector(Scalar::F16, _) => self.include("cuda_fp16.h"),
            Type::Scalar(Scalar::BF16) | Type::Vector(Scalar::BF16, _) => {
                self.include("cuda_bf16.h");
            }
            Type::Pointer { pointee, .. } => self.include_type(pointee),
            Type::Array(element, _) => self.include_type(element),
            // Its definition includes what its fields need.
            Type::Void | Type::Scalar(_) | Type::Vector(..) | Type::Struct(_) => {}
        }
    }

    pub fn include(&self, header: &'static str) {
        self.needs.borrow_mut().includes.insert(header);
    }

    /// The name of a helper, which is then printed with the file.
    pub fn helper(&self, helper: Helper) -> &'static str {
        self.needs.borrow_mut().helpers.insert(helper);
        helper.name()
    }
}

/// What a test program asks at the head of iterations, of an object of this name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks {
    pub name: String,
    /// Loops whose iterations ask whether they are run, and whether another marked loop is around.
    pub takes: Vec<(LoopId, bool)>,
}

/// One function being printed.
pub(crate) struct Printer<'a> {
    pub cx: &'a Context<'a>,
    pub id: FuncId,
    pub function: &'a Function,
    pub target: Target,
    /// By variable.
    pub uses: Vec<VarUse>,
    /// The name of the stream kernels are launched on; only launchers have one.
    pub stream: Option<String>,
    /// Whether the text so far starts a kernel.
    pub launched: Cell<bool>,
    /// Parameters with a type that the user's code calls by a name of the standard headers.
    pub spelled: BTreeMap<VarId, &'static str>,
    /// Only the reference of a test program has some.
    pub hooks: Option<Hooks>,
    /// Names of the emitter's own that are in use.
    own: RefCell<Vec<String>>,
}

impl<'a> Printer<'a> {
    pub fn new(cx: &'a Context<'a>, id: FuncId, target: Target) -> Printer<'a> {
        let function = cx.module.function(id);
        Printer {
            cx,
            id,
            function,
            target,
            uses: walk::var_uses(function),
            stream: None,
            launched: Cell::new(false),
            spelled: BTreeMap::new(),
            hooks: None,
            own: RefCell::default(),
        }
    }

    /// A name for something of the emitter's own, different from all others in the function.
    pub fn fresh(&self, wish: &str) -> String {
        let mut own = self.own.borrow_mut();
        let name = self.cx.names.fresh(self.id, wish, &own);
        own.push(name.clone());
        name
    }

    /// How the function uses a variable.
    pub fn use_of(&self, id: VarId) -> VarUse {
        self.uses.get(id.0 as usize).copied().unwrap_or_default()
    }

    pub fn name(&self, var: VarId) -> &str {
        self.cx.names.var(self.id, var)
    }

    pub fn var(&self, id: VarId) -> Option<&Var> {
        self.function.vars.get(id.0 as usize)
    }

    /// The variable is a C++ reference parameter: its pointer is written as the thing itself.
    pub fn is_reference(&self, id: VarId) -> bool {
        self.var(id).is_some_and(|v| v.reference)
    }
}
