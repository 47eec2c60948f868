// Defect: the bound is that of the row above, one more than the view has
// expect: out-of-bounds line=14 array=v.data
// expect: status=1
struct View {
    const float *data;
    int size;
};

#define BLOCK 64
// warpsmith: kernel='copy<BLOCK>' grid=1 block=64 arg v.data=float[49]=random arg v.size=49 arg out=float[50]
template <int N> __global__ void __launch_bounds__(N) copy(View v, float *out)
{
    const int i = blockIdx.x * N + threadIdx.x;
    if (i <= v.size) out[i] = v.data[i];
}
