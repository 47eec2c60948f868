//! Files that another command takes: what a message about them says to do next.

use std::path::Path;

use crate::status::Failure;

/// What reads are marked with that `stage` is to serve from shared memory.
const STAGE_MARK: &str = "__opt__";

/// What a file seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cuda,
    C,
    Script,
    Problem,
    Other,
}

fn kind(path: &Path, text: &[u8]) -> Kind {
    let has = |word: &[u8]| text.windows(word.len()).any(|w| w == word);
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        _ if has(b"__global__") => Kind::Cuda,
        Some("cu" | "cuh") => Kind::Cuda,
        Some("c" | "h" | "cc" | "cpp") => Kind::C,
        Some("ws") => Kind::Script,
        Some("json") => Kind::Problem,
        _ => Kind::Other,
    }
}

/// What to do with a file that `command` cannot take; `None`: it is of the kind that it takes.
pub fn instead(command: &str, path: &Path, text: &[u8]) -> Option<String> {
    let file = path.display();
    let kind = kind(path, text);
    let takes = match command {
        "check" | "stage" => kind == Kind::Cuda,
        "fuse" => kind == Kind::Script,
        "ladder" => kind == Kind::C,
        _ => matches!(kind, Kind::C | Kind::Problem),
    };
    // What marks reads for `stage` is no function of CUDA.
    let marked = || text.windows(STAGE_MARK.len()).any(|w| w == STAGE_MARK.as_bytes());
    if command == "check" && takes && marked() {
        return Some(format!(
            "`{file}` has marks of `warpsmith stage`: `warpsmith stage {file}` makes a kernel of it, which it checks itself"
        ));
    }
    if takes {
        return None;
    }
    Some(match kind {
        Kind::Cuda => format!(
            "`{file}` is a CUDA file: `warpsmith check {file}` looks for errors in it, `warpsmith stage {file} --auto` for reads that \
             shared memory can serve"
        ),
        Kind::C => format!(
            "`{file}` is a C file: `warpsmith tune {file}` makes CUDA kernels of its marked loops"
        ),
        Kind::Script => {
            format!("`{file}` is a script of elementary functions: `warpsmith fuse {file}`")
        }
        Kind::Problem => format!("`{file}` is a tuning problem: `warpsmith tune {file}`"),
        Kind::Other => format!("`warpsmith {command}` takes {}", wanted(command)),
    })
}

fn wanted(command: &str) -> &'static str {
    match command {
        "check" => "CUDA files (.cu), and folders of them",
        "stage" => "a CUDA file (.cu) with marked reads, or any with --auto",
        "fuse" => "a script of elementary functions (.ws)",
        "ladder" => "a C file (.c) with a matrix product",
        _ => "a C file (.c) with marked loops, or a tuning problem (.json)",
    }
}

/// The failure, with a hint where the file is one for another command.
pub fn explained(mut failure: Failure, command: &str, path: &Path, text: &[u8]) -> Failure {
    if let (Some(hint), Some(first)) =
        (instead(command, path, text), failure.diagnostics.first_mut())
    {
        first.help.push(hint);
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_what_they_hold() {
        let of =
            |command, name: &str, text: &str| instead(command, Path::new(name), text.as_bytes());
        assert_eq!(of("tune", "a.c", "void f() {}"), None);
        assert_eq!(of("tune", "a.json", "{}"), None);
        assert!(
            of("tune", "a.c", "__global__ void f() {}").unwrap().contains("warpsmith check a.c")
        );
        assert!(of("check", "a.c", "void f() {}").unwrap().contains("warpsmith tune a.c"));
        let marked = "__global__ void f(float *a) { a[0] = __opt__(a[1]); }";
        assert!(of("check", "a.cu", marked).unwrap().contains("warpsmith stage a.cu"));
        assert_eq!(of("stage", "a.cu", marked), None);
        assert!(of("stage", "a.ws", "").unwrap().contains("warpsmith fuse a.ws"));
        assert!(of("fuse", "a.json", "").unwrap().contains("warpsmith tune a.json"));
        assert!(of("tune", "notes.txt", "hello").unwrap().contains("takes a C file"));
    }
}
