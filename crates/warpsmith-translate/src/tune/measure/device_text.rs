//! The part of an emitted file that runs on the device: what a run-time compiler gets.
//!
//! Nothing is printed anew: the text is the user's file with blanks in place of the host's functions, so that lines in
//! the compiler's messages are those of the file.

use warpsmith_front::ast::{FunctionName, Item, ItemKind};
use warpsmith_front::parse::{self, Language, ParseOptions};
use warpsmith_ir::{Diagnostic, SourceMap};

use crate::tune::verify::witness::Given;

/// Text for the device, with its kernels in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceText {
    /// CUDA C without host code.
    pub text: String,
    /// Names of its kernels, in the order of the text.
    pub kernels: Vec<String>,
}

/// Leaves out host functions, the file's own header and the runtime's, which only they need, and the kernels that are not
/// `wanted`.
///
/// # Errors
/// The parser's messages.
pub fn device_text(
    name: &str,
    text: &str,
    files: &[(String, String)],
    wanted: impl Fn(&str) -> bool,
    sources: &mut SourceMap,
) -> Result<DeviceText, Vec<Diagnostic>> {
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse::parse(name, text.as_bytes(), &options, &Given(files), sources)?;
    let mut bytes = text.as_bytes().to_vec();
    let mut kernels = vec![];
    let mut before = 0;
    for item in &parsed.unit.items {
        let ItemKind::Function(f) = &item.kind else { continue };
        let kernel = match &f.name {
            FunctionName::Plain(path) if f.attrs.global => path.as_name().filter(|k| wanted(k)),
            _ => None,
        };
        match kernel {
            Some(kernel) => kernels.push(kernel.to_string()),
            None if f.attrs.device && !f.attrs.global => {}
            None => blank(&mut bytes, sources, item, name, before),
        }
        before = item.span.end as usize;
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    let needed = |line: &str| {
        let own = line.starts_with("#include \"");
        !own && !line.starts_with("#include <cuda_runtime.h>")
    };
    let lines: Vec<&str> = text.lines().map(|l| if needed(l) { l } else { "" }).collect();
    Ok(DeviceText { text: lines.join("\n") + "\n", kernels })
}

/// Blanks for everything but line ends, where the item stands in this file, and its `__global__` behind `before`, which is
/// no part of its span.
fn blank(bytes: &mut [u8], sources: &SourceMap, item: &Item, name: &str, before: usize) {
    const MARK: &[u8] = b"__global__";
    if sources.get(item.span.file).is_none_or(|f| f.path != name) {
        return;
    }
    let (start, end) = (item.span.start as usize, item.span.end as usize);
    let between = bytes.get(before..start).unwrap_or_default();
    let mark = between.windows(MARK.len()).rposition(|w| w == MARK);
    let start = mark.map_or(start, |at| before + at);
    for b in bytes.get_mut(start..end).into_iter().flatten() {
        if *b != b'\n' {
            *b = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_functions_and_their_headers_become_blanks() {
        let text = "#include \"f.h\"\n#include <cuda_fp16.h>\n__constant__ float c[4];\n\
                    __device__ int one() { return 1; }\n__global__ void f(int *x) { *x = one(); }\n\
                    __global__ void g(int *x) { *x = 2; }\n\
                    cudaError_t f_launch(int *x, cudaStream_t s) {\n    f<<<1, 1, 0, s>>>(x);\n    \
                    return cudaGetLastError();\n}\nsize_t f_workspace() { return 8; }\n";
        let files = [("f.h".to_string(), String::new())];
        let found = device_text("f.cu", text, &files, |k| k == "f", &mut SourceMap::new()).unwrap();
        assert_eq!(found.kernels, ["f"]);
        assert!(!found.text.contains("f_launch") && !found.text.contains("f_workspace"));
        assert!(!found.text.contains("void g") && found.text.matches("__global__").count() == 1);
        assert!(!found.text.contains("f.h") && found.text.contains("cuda_fp16.h"));
        assert!(found.text.contains("__device__ int one()") && found.text.contains("__constant__"));
        assert_eq!(found.text.lines().count(), text.lines().count());
    }
}
