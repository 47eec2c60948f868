//! The library of elementary functions: a folder of CUDA files.
//!
//! `types.cuh` holds the element types, `NAME.cu` the implementations of a function with their metadata, `NAME.cpp` its CPU
//! reference. Only the functions that a script uses are read, and each is checked layer by layer: the first thing that is
//! wrong is said, what would only follow from it is not.
//!
//! | code | says |
//! |---|---|
//! | W520 | the folder or a file of it cannot be read |
//! | W521 | an element type without a size |
//! | W522 | a routine that is missing |
//! | W523 | a name or a signature that is not the contract's |
//! | W524 | metadata that are wrong or missing |
//! | W525 | a pattern that says something else than the code |
//! | W526 | types that do not agree |
//! | W527 | a routine that cannot be used as it is |

mod expr;
mod function;
pub mod leftover;
mod macros;
mod metadata;
mod moves;
mod pattern;
mod reference;
mod routine;
pub mod subscripts;
mod types;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpsmith_front::parse::FileLoader;
use warpsmith_ir::{Diagnostic, SourceMap, Span};

pub use expr::Expr;
pub use leftover::Leftover;
pub use metadata::Extent;
pub use pattern::Pattern;
pub use routine::{Coordinate, Param, Role, Routine};

/// The file with the element types.
pub const TYPES: &str = "types.cuh";

/// Index into [`Library::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);

impl TypeId {
    /// Stands for a type that is not known, in messages only.
    pub const UNKNOWN: TypeId = TypeId(usize::MAX);
}

/// Index into the functions that have been loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// A fixed number of floats.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementType {
    /// The name of the type.
    pub name: String,
    /// Floats of one element.
    pub elements: u32,
    /// Where it is declared.
    pub span: Span,
}

/// A file of the library: its name inside of the folder, and its text.
#[derive(Clone, Debug)]
pub struct LibraryFile {
    /// The name of the file.
    pub name: String,
    /// What it holds.
    pub text: Arc<str>,
}

/// The files of a library.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// What stands before names in messages.
    pub folder: String,
    /// In the order in which they were read.
    pub files: Vec<LibraryFile>,
}

impl Files {
    /// Reads the `.cu`, `.cuh`, `.cpp` and `.h` files of a folder.
    ///
    /// # Errors
    /// W520.
    pub fn read(folder: &Path) -> Result<Files, Diagnostic> {
        let failed = |what: String| {
            Diagnostic::error("W520", what).help("name the folder of a library with --library")
        };
        let cannot = |e: std::io::Error| {
            failed(format!("cannot read the library `{}`: {e}", folder.display()))
        };
        let mut files = vec![];
        for entry in std::fs::read_dir(folder).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
            if !matches!(extension, "cu" | "cuh" | "cpp" | "h") || !path.is_file() {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(cannot)?;
            let name =
                path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let text = String::from_utf8(bytes)
                .map_err(|_| failed(format!("`{}` is not text in UTF-8", path.display())))?;
            files.push(LibraryFile { name, text: text.into() });
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Files { folder: folder.display().to_string(), files })
    }

    /// The text of a file.
    pub fn get(&self, name: &str) -> Option<&Arc<str>> {
        self.files.iter().find(|f| f.name == name).map(|f| &f.text)
    }

    /// As messages call a file.
    pub fn path(&self, name: &str) -> String {
        match self.folder.is_empty() {
            true => name.to_string(),
            false => format!("{}/{name}", self.folder.trim_end_matches('/')),
        }
    }
}

impl FileLoader for Files {
    fn load(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let text = self.get(&name).ok_or(std::io::ErrorKind::NotFound)?;
        Ok(text.as_bytes().to_vec())
    }
}

/// What a library says, as far as it has been asked.
#[derive(Clone, Debug)]
pub struct Library {
    /// Where everything was read from.
    pub files: Files,
    types: Vec<ElementType>,
    functions: Vec<Function>,
}

/// An elementary function.
#[derive(Clone, Debug)]
pub struct Function {
    /// As scripts call it.
    pub name: String,
    /// Types of the arguments.
    pub inputs: Vec<TypeId>,
    /// The type of the result.
    pub output: TypeId,
    /// At least one.
    pub implementations: Vec<Implementation>,
    /// What the function computes, element by element.
    pub reference: Reference,
    /// What stands in its file beside routines and kernels: macros and helper functions.
    pub leftover: Leftover,
}

/// Where the CPU reference stands.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The file, for messages and includes.
    pub path: PathBuf,
    /// All that must be compiled for it.
    pub source: Leftover,
    /// The part of it that is needed where the kernels' file is included.
    pub beside_kernels: String,
    /// It stands in the file of the implementations.
    pub beside_implementations: bool,
    /// Name and parameters.
    pub span: Span,
}

/// One way to compute an elementary function.
#[derive(Clone, Debug)]
pub struct Implementation {
    /// What follows the function's name: `2` of `mmul33_2`.
    pub name: String,
    /// Blocks along x, y and z.
    pub grid: [Extent; 3],
    /// Threads of a block along x, y and z.
    pub block: [Extent; 3],
    /// Steps that a block makes, one after the other.
    pub batch: Extent,
    /// For each input the index of the load that serves it.
    pub load_of: Vec<usize>,
    /// One for each argument.
    pub loads: Vec<Routine>,
    /// Computes in shared memory or registers.
    pub compute: Routine,
    /// Stores the result.
    pub save: Routine,
    /// The metadata comment of the kernel.
    pub span: Span,
}

impl Implementation {
    /// Sizes of its block when that holds so many elements; `None` when it cannot.
    pub fn shape(&self, elements: u32) -> Option<[u32; 3]> {
        let mut free = false;
        let shape = self.block.map(|extent| match extent {
            Extent::Fixed(n) => n,
            Extent::Free { .. } => {
                free = true;
                elements
            }
        });
        let counts = free || self.fixed_counts().contains(&elements);
        let threads: u64 = shape.iter().map(|n| u64::from(*n)).product();
        (counts && threads <= 1024 && shape[2] <= 64).then_some(shape)
    }

    /// How many elements a block may have whose sizes are all given: one, or as many as some of them say. Which it is, what its
    /// routines touch tells. Empty when a dimension is free.
    pub fn fixed_counts(&self) -> Vec<u32> {
        let sizes = self.block.map(|extent| match extent {
            Extent::Fixed(n) => Some(n),
            Extent::Free { .. } => None,
        });
        let [Some(x), Some(y), Some(z)] = sizes else { return vec![] };
        let times = u32::saturating_mul;
        let mut all =
            vec![1, x, y, z, times(x, y), times(y, z), times(x, z), times(times(x, y), z)];
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Elements that a thread handles in sequence.
    pub fn batch(&self) -> u32 {
        match self.batch {
            Extent::Fixed(n) => n,
            Extent::Free { recommended } => recommended.unwrap_or(1),
        }
    }

    /// The axis of the grid along which blocks follow one another in the data.
    pub fn data_axis(&self) -> usize {
        self.grid.iter().position(|extent| matches!(extent, Extent::Free { .. })).unwrap_or(0)
    }

    /// The elements per block that its author recommends.
    pub fn recommended(&self) -> Option<u32> {
        self.block.iter().find_map(|extent| match extent {
            Extent::Free { recommended } => *recommended,
            Extent::Fixed(_) => None,
        })
    }
}

impl Library {
    /// Reads the element types.
    ///
    /// # Errors
    /// W520 without `types.cuh`, W521 for a type without a size, and what the parser says.
    pub fn open(files: Files, sources: &mut SourceMap) -> Result<Library, Vec<Diagnostic>> {
        let types = types::read(&files, sources)?;
        Ok(Library { files, types, functions: vec![] })
    }

    /// Reads the functions of these names as far as the library has them; one that it has not is for the script to be
    /// told.
    ///
    /// # Errors
    /// See the table of [`crate::library`].
    pub fn load<'a>(
        &mut self,
        names: impl IntoIterator<Item = &'a str>,
        sources: &mut SourceMap,
    ) -> Result<(), Vec<Diagnostic>> {
        for name in names {
            if self.find_function(name).is_none() && self.files.get(&format!("{name}.cu")).is_some()
            {
                let function = function::read(name, self, sources)?;
                self.functions.push(function);
            }
        }
        Ok(())
    }

    /// A type by its name, without regard to case.
    pub fn find_type(&self, name: &str) -> Option<TypeId> {
        self.types.iter().position(|t| t.name.eq_ignore_ascii_case(name)).map(TypeId)
    }

    /// A function that was loaded.
    pub fn find_function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| f.name == name).map(FunctionId)
    }

    /// The function of an id; ids are only made by `find_function`, so a bad one is a bug of ours.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0]
    }

    /// All functions, in the order of the files.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The type's name in messages.
    pub fn type_name(&self, id: TypeId) -> &str {
        self.types.get(id.0).map_or("?", |t| &t.name)
    }

    /// Floats of one element.
    pub fn elements(&self, id: TypeId) -> u32 {
        self.types.get(id.0).map_or(0, |t| t.elements)
    }

    /// The names of all element types.
    pub fn type_names(&self) -> Vec<&str> {
        self.types.iter().map(|t| t.name.as_str()).collect()
    }

    /// All functions that the folder has, loaded or not.
    pub fn function_names(&self) -> Vec<&str> {
        self.files.files.iter().filter_map(|f| f.name.strip_suffix(".cu")).collect()
    }

    /// `matrix3x3 mmul33(matrix3x3, matrix3x3)`.
    pub fn signature_text(&self, id: FunctionId) -> String {
        let f = self.function(id);
        let inputs: Vec<&str> = f.inputs.iter().map(|t| self.type_name(*t)).collect();
        format!("the library has `{} {}({})`", self.type_name(f.output), f.name, inputs.join(", "))
    }
}
