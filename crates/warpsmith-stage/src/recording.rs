//! What texts that record profiles have in common.

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::SourceMap;

/// What all instrumented texts use, parsed once with what stands in for libraries.
const COMMON: &str = r#"
__device__ long long *__ws_log; __device__ unsigned int *__ws_used; __device__ unsigned int *__ws_seen;
__device__ unsigned int __ws_room; __device__ unsigned int __ws_full; __device__ int __ws_dynamic;
__device__ long long *__ws_forks;
// What data decide, or what is to stand in its place: whether anything is, and what, for each fork.
template <class T> __device__ T __ws_fork(int n, T here) {
  return __ws_forks[2 * n] ? (T)__ws_forks[2 * n + 1] : here;
}
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
// A constant as if it were an element of an array.
template <class T, class K> __device__ long long __ws_name(const T *, K constant) {
  T element = constant;
  return __ws_at(&element);
}
// Room for the threads of a warp that come by together: the mark, who they are, a row each, and then what arrays hold, once for all.
__device__ inline long long *__ws_row(int id, int width, int held, int &rank, int &count) {
  unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned int flat = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned int threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned int t = block * threads + flat;
  unsigned int v = __ws_seen[t];
  __ws_seen[t] = v + 1;
  // Of later visits, blocks take down every eighth together, each block others.
  if (v >= __ws_full && ((block * 40503u + v) * 2654435761u >> 29)) return nullptr;
  unsigned int warp = block * ((threads + 31) / 32) + flat / 32;
  unsigned int lanes = __activemask();
  rank = __popc(lanes & ((1u << flat % 32) - 1));
  count = __popc(lanes);
  unsigned int at = __ws_used[warp];
  unsigned int end = at + 2 + count * width + held;
  // What has no room ends the log: nothing after it is taken down.
  __ws_used[warp] = end <= __ws_room ? end : __ws_room + 1;
  if (end > __ws_room) return nullptr;
  long long *visit = __ws_log + (unsigned long long)warp * __ws_room + at;
  visit[0] = id;
  visit[1] = lanes;
  return visit + 2 + rank * width;
}
// Whether elements are reals: two arrays of dynamic memory may have the same bits.
template <class T> __device__ bool __ws_real(const T *) { return false; }
__device__ inline bool __ws_real(const float *) { return true; }
__device__ inline bool __ws_real(const double *) { return true; }
// The elements of an array behind their number, which is negative where none can be what is read.
template <class T, class S> __device__ void __ws_hold(long long *held, const T *value, const S *array, int length, int rank, int count) {
  bool fits = sizeof(T) == sizeof(S) && __ws_real(value) == __ws_real(array);
  *held = fits ? length : -1 - length;
  if (!fits) return;
  for (int n = rank; n < length; n += count) held[1 + n] = __ws_at(array + n);
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
