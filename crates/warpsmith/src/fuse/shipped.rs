//! The library that warpsmith brings. `library` beside `src` leads to the folder of the repository, so that a package of this
//! crate holds its files.

use warpsmith_fuse::library::{Files, LibraryFile};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../library/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "madd33.cpp",
    "madd33.cu",
    "madd55.cpp",
    "madd55.cu",
    "mmul33.cpp",
    "mmul33.cu",
    "mmul55.cpp",
    "mmul55.cu",
    "mvmul33.cpp",
    "mvmul33.cu",
    "smimul33.cpp",
    "smimul33.cu",
    "smmul33.cpp",
    "smmul33.cu",
    "smmul55.cpp",
    "smmul55.cu",
    "svmul3.cpp",
    "svmul3.cu",
    "ttmul311.cpp",
    "ttmul311.cu",
    "ttmul3212.cpp",
    "ttmul3212.cu",
    "ttmul411.cpp",
    "ttmul411.cu",
    "types.cuh",
    "venorm3.cpp",
    "venorm3.cu",
    "vvmulabs3.cpp",
    "vvmulabs3.cu",
];

/// Its files.
pub fn files() -> Files {
    let file =
        |(name, text): &(&str, &str)| LibraryFile { name: name.to_string(), text: (*text).into() };
    Files { folder: "library".into(), files: FILES.iter().map(file).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn all_files_of_the_folder_are_here() {
        let on_disk =
            Files::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library")).unwrap();
        let names = |files: &Files| files.files.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&files()), names(&on_disk));
    }
}
