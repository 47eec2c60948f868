// Matrix products of a warp, as the programming guide's section on warp matrix functions describes them.
//
// How elements lie in the threads of a warp is not specified. Here a thread has a row of A (of the warp's rows, counted by
// its lane), a column of B, and a part of a row of the accumulator; so that every element of A and B is in some thread,
// and a product needs exchanges of B only. Products are exact where the type of the sum holds them, and added in order.
#ifndef WS_MMA_H
#define WS_MMA_H
namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
} // namespace precision

template <typename T> struct stored { typedef T type; };
template <> struct stored<precision::tf32> { typedef float type; };

template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

template <int m, int n, int k, typename T, typename Layout> class fragment<matrix_a, m, n, k, T, Layout> {
  public:
    typedef typename stored<T>::type element_type;
    static constexpr int num_elements = k;
    element_type x[k];
    static __device__ int row(int lane, int) { return lane % m; }
    static __device__ int column(int, int e) { return e; }
};
template <int m, int n, int k, typename T, typename Layout> class fragment<matrix_b, m, n, k, T, Layout> {
  public:
    typedef typename stored<T>::type element_type;
    static constexpr int num_elements = k;
    element_type x[k];
    static __device__ int row(int, int e) { return e; }
    static __device__ int column(int lane, int) { return lane % n; }
};
template <int m, int n, int k, typename T> class fragment<accumulator, m, n, k, T, void> {
  public:
    typedef T element_type;
    static constexpr int num_elements = m * n / 32;
    element_type x[m * n / 32];
    static __device__ int row(int lane, int) { return lane % m; }
    static __device__ int column(int lane, int e) { return lane / m * (m * n / 32) + e; }
};

__device__ inline int lane_of_warp() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

template <typename Use, int m, int n, int k, typename T, typename Layout, typename V>
__device__ void fill_fragment(fragment<Use, m, n, k, T, Layout> &a, const V &value) {
    for (int e = 0; e < a.num_elements; e++) a.x[e] = value;
}

template <typename Layout> struct by_columns { static constexpr bool value = false; };
template <> struct by_columns<col_major> { static constexpr bool value = true; };

template <typename F, typename P> __device__ void load_elements(F &a, const P *from, unsigned ldm, bool columns) {
    int lane = lane_of_warp();
    for (int e = 0; e < a.num_elements; e++) {
        size_t row = a.row(lane, e), column = a.column(lane, e);
        a.x[e] = from[columns ? column * ldm + row : row * ldm + column];
    }
    __syncwarp();
}
template <int m, int n, int k, typename T, typename Layout, typename P>
__device__ void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout> &a, const P *from, unsigned ldm) {
    load_elements(a, from, ldm, by_columns<Layout>::value);
}
template <int m, int n, int k, typename T, typename Layout, typename P>
__device__ void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout> &a, const P *from, unsigned ldm) {
    load_elements(a, from, ldm, by_columns<Layout>::value);
}
template <int m, int n, int k, typename T, typename P>
__device__ void load_matrix_sync(fragment<accumulator, m, n, k, T> &a, const P *from, unsigned ldm, layout_t layout) {
    load_elements(a, from, ldm, layout == mem_col_major);
}
template <int m, int n, int k, typename T, typename P>
__device__ void store_matrix_sync(P *to, const fragment<accumulator, m, n, k, T> &a, unsigned ldm, layout_t layout) {
    int lane = lane_of_warp();
    for (int e = 0; e < a.num_elements; e++) {
        size_t row = a.row(lane, e), column = a.column(lane, e);
        to[layout == mem_col_major ? column * ldm + row : row * ldm + column] = a.x[e];
    }
    __syncwarp();
}

__device__ inline float __float_to_tf32(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }

__device__ inline float widened(half x) { return __half2float(x); }
__device__ inline float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float widened(float x) { return x; }
__device__ inline double widened(double x) { return x; }
__device__ inline int widened(signed char x) { return x; }
__device__ inline int widened(unsigned char x) { return x; }

// d = a b + c; the half of a sum is rounded once, at the end.
template <int m, int n, int k, typename A, typename LA, typename B, typename LB, typename D, typename C>
__device__ void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, A, LA> &a,
                         const fragment<matrix_b, m, n, k, B, LB> &b, const fragment<accumulator, m, n, k, C> &c,
                         bool satf = false) {
    int lane = lane_of_warp();
    for (int e = 0; e < m * n / 32; e++) {
        auto sum = widened(c.x[e]);
        for (int i = 0; i < k; i++)
            sum += widened(a.x[i]) * __shfl_sync(0xffffffffu, widened(b.x[i]), c.column(lane, e));
        d.x[e] = sum;
    }
}
__device__ inline int widened(int x) { return x; }
} // namespace wmma
} // namespace nvcuda
#endif
