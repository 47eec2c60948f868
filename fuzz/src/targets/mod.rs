//! The fuzz targets: each looks at one input, and panics when it finds a bug.

pub mod c_mutants;
pub mod c_nests;
pub mod c_text;
pub mod check_mutants;
pub mod cuda_kernels;
pub mod cuda_mutants;
pub mod cuda_text;
pub mod data_specs;
pub mod ir_text;
pub mod random_schedules;
pub mod schedules;

/// A target.
pub type Target = fn(&[u8]);

/// All of them, by name.
pub const ALL: &[(&str, Target)] = &[
    ("c_mutants", c_mutants::run),
    ("c_nests", c_nests::run),
    ("c_text", c_text::run),
    ("check_mutants", check_mutants::run),
    ("cuda_kernels", cuda_kernels::run),
    ("cuda_mutants", cuda_mutants::run),
    ("cuda_text", cuda_text::run),
    ("data_specs", data_specs::run),
    ("ir_text", ir_text::run),
    ("random_schedules", random_schedules::run),
    ("schedules", schedules::run),
];
