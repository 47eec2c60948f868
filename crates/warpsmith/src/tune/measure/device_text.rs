//! The part of an emitted file that runs on the device: what a run-time compiler gets.
//!
//! Nothing is printed anew: the text is the user's file with blanks in place of the host's functions, so that lines in
//! the compiler's messages are those of the file.

use warpsmith_front::ast::{FunctionName, Item, ItemKind};
use warpsmith_front::parse::{self, Language, ParseOptions};
use warpsmith_ir::{Diagnostic, SourceMap};

use crate::tune::witness::Given;

/// Text for the device, with its kernels in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceText {
    pub text: String,
    pub kernels: Vec<String>,
}

/// Leaves out host functions, the file's own header and the runtime's, which only they need.
///
/// # Errors
/// The parser's messages.
pub fn device_text(
    name: &str,
    text: &str,
    files: &[(String, String)],
    sources: &mut SourceMap,
) -> Result<DeviceText, Vec<Diagnostic>> {
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse::parse(name, text.as_bytes(), &options, &Given(files), sources)?;
    let mut bytes = text.as_bytes().to_vec();
    let mut kernels = vec![];
    for item in &parsed.unit.items {
        let ItemKind::Function(f) = &item.kind else { continue };
        match (&f.name, f.attrs.global) {
            (FunctionName::Plain(path), true) => kernels.extend(path.as_name().map(String::from)),
            _ if f.attrs.device => {}
            _ => blank(&mut bytes, sources, item, name),
        }
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    let needed = |line: &str| {
        let own = line.starts_with("#include \"");
        !own && !line.starts_with("#include <cuda_runtime.h>")
    };
    let lines: Vec<&str> = text.lines().map(|l| if needed(l) { l } else { "" }).collect();
    Ok(DeviceText { text: lines.join("\n") + "\n", kernels })
}

/// Blanks for everything but line ends, where the item stands in this file.
fn blank(bytes: &mut [u8], sources: &SourceMap, item: &Item, name: &str) {
    if sources.get(item.span.file).is_none_or(|f| f.path != name) {
        return;
    }
    let range = item.span.start as usize..item.span.end as usize;
    for b in bytes.get_mut(range).into_iter().flatten() {
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
                    __device__ int one() { return 1; }\n__global__ void f(int *x) { *x = one(); }\n\n\
                    cudaError_t f_launch(int *x, cudaStream_t s) {\n    f<<<1, 1, 0, s>>>(x);\n    \
                    return cudaGetLastError();\n}\nsize_t f_workspace() { return 8; }\n";
        let files = [("f.h".to_string(), String::new())];
        let found = device_text("f.cu", text, &files, &mut SourceMap::new()).unwrap();
        assert_eq!(found.kernels, ["f"]);
        assert!(!found.text.contains("f_launch") && !found.text.contains("f_workspace"));
        assert!(!found.text.contains("f.h") && found.text.contains("cuda_fp16.h"));
        assert!(found.text.contains("__device__ int one()") && found.text.contains("__constant__"));
        assert_eq!(found.text.lines().count(), text.lines().count());
    }
}
