#define N 64
__shared__ float buf[N];
__shared__ int count;
__device__ void put(int i, float v) { buf[i] = v; }
__device__ float get(int i) { return buf[i]; }
// warpsmith: grid=2 block=64 arg a=float[128]=random arg b=float[128]
__global__ void rev(const float *a, float *b) {
  int t = threadIdx.x;
  if (t == 0) count = N - 1;
  put(t, a[blockIdx.x * N + t]);
  __syncthreads();
  b[blockIdx.x * N + t] = get(count - t);
}
