//! What texts that record profiles have in common.

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::SourceMap;

/// What all instrumented texts use, parsed once with what stands in for libraries.
const COMMON: &str = r#"
__device__ long long *__ws_log; __device__ unsigned int *__ws_count; __device__ unsigned int *__ws_seen;
__device__ unsigned int __ws_rows; __device__ unsigned int __ws_full; __device__ int __ws_dynamic;
template <class T> __device__ unsigned long long __ws_at(const T *p) {
  if (sizeof(T) == 1) return *(const unsigned char *)p;
  if (sizeof(T) == 2) return *(const unsigned short *)p;
  if (sizeof(T) == 4) return *(const unsigned int *)p;
  unsigned long long bits = 0;
  if (sizeof(T) % 4)
    for (int n = 0; n < (int)sizeof(T); n++) bits = bits * 257 + ((const unsigned char *)p)[n];
  else
    for (int n = 0; n < (int)sizeof(T) / 4; n++) bits = bits * 0x9e3779b97f4a7c15ull + ((const unsigned int *)p)[n];
  return bits;
}
__device__ inline long long *__ws_row(long long id, int width) {
  unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned int flat = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned int t = block * (blockDim.x * blockDim.y * blockDim.z) + flat;
  unsigned int v = __ws_seen[t];
  __ws_seen[t] = v + 1;
  // Of later visits, blocks take down every eighth together, each block others.
  if (v >= __ws_full && ((block * 40503u + v) * 2654435761u >> 29)) return nullptr;
  unsigned int n = __ws_count[t];
  __ws_count[t] = n + 1;
  if (n >= __ws_rows) n = __ws_rows;
  long long *row = __ws_log + ((long long)t * (__ws_rows + 1) + n) * width;
  row[0] = id;
  return row;
}
template <class T, class S> __device__ void __ws_find(long long *held, const T *value, const S *array, int length, int words) {
  if (sizeof(T) != sizeof(S)) return;
  unsigned long long bits = __ws_at(value);
  for (int w = 0; w < words; w++) {
    unsigned long long set = 0;
    int end = length - w * 64 < 64 ? length - w * 64 : 64;
    for (int b = 0; b < end; b++) set |= (unsigned long long)(__ws_at(array + w * 64 + b) == bits) << b;
    held[w] = set;
  }
}
"#;

/// The declarations of [`COMMON`].
///
/// # Panics
/// Never: every profile needs them.
pub fn common() -> TranslationUnit {
    let options = ParseOptions::new(Language::Cuda);
    let parsed =
        parse::parse("(profiles)", COMMON.as_bytes(), &options, &DiskLoader, &mut SourceMap::new());
    parsed.map(|p| p.unit).unwrap_or_default()
}
