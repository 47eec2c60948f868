// Rectangular transpose with guards on both sides of the barrier, templated on the element type, with a matrix view struct.

template <typename T>
struct MatrixView {
    T *data;
    int rows, cols;
    __device__ T &operator()(int r, int c) const { return data[r * cols + c]; }
    __device__ bool contains(int r, int c) const { return r < rows && c < cols; }
};

// warpsmith: kernel='transpose<float,16>' grid=3,2 block=16,16 arg src=float[20][40]=iota arg dst=float[40][20] arg rows=20 arg cols=40
// warpsmith: kernel='transpose<double,8>' grid=2,4 block=8,8 arg src=double[31][9]=random arg dst=double[9][31] arg rows=31 arg cols=9
template <typename T, int TILE>
__global__ void transpose(T *src, T *dst, int rows, int cols)
{
    __shared__ T tile[TILE][TILE + 1];
    MatrixView<T> in = {src, rows, cols};
    MatrixView<T> out = {dst, cols, rows};

    int r = blockIdx.y * TILE + threadIdx.y;
    int c = blockIdx.x * TILE + threadIdx.x;
    if (in.contains(r, c)) tile[threadIdx.y][threadIdx.x] = in(r, c);
    __syncthreads();

    r = blockIdx.x * TILE + threadIdx.y;
    c = blockIdx.y * TILE + threadIdx.x;
    if (out.contains(r, c)) out(r, c) = tile[threadIdx.x][threadIdx.y];
}
