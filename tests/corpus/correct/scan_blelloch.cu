// Work-efficient Blelloch scan with the bank-padding macro: up-sweep, clear, down-sweep, computed shared indices.
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

// warpsmith: kernel='prescan<128>' grid=1 block=64 arg n=128 arg g_odata=int[128] arg g_idata=int[128]=iota
// warpsmith: kernel='prescan<64>' grid=2 block=32 arg n=101 arg g_odata=int[101] arg g_idata=int[101]=iota
// warpsmith: kernel='prescan<64>' grid=2 block=32 arg n=80 arg g_odata=int[80] arg g_idata=int[80]=iota
template <int N>
__global__ void prescan(int *g_odata, const int *g_idata, int n)
{
    __shared__ int temp[N + CONFLICT_FREE_OFFSET(N)];
    const int thid = threadIdx.x;
    const int base = blockIdx.x * N;
    int offset = 1;

    int ai = thid;
    int bi = thid + (N / 2);
    const int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    const int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = base + ai < n ? g_idata[base + ai] : 0;
    temp[bi + bankOffsetB] = base + bi < n ? g_idata[base + bi] : 0;

    for (int d = N >> 1; d > 0; d >>= 1) {  // build the sum in place up the tree
        __syncthreads();
        if (thid < d) {
            int i = offset * (2 * thid + 1) - 1;
            int j = offset * (2 * thid + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i);
            j += CONFLICT_FREE_OFFSET(j);
            temp[j] += temp[i];
        }
        offset *= 2;
    }
    if (thid == 0) temp[N - 1 + CONFLICT_FREE_OFFSET(N - 1)] = 0;

    for (int d = 1; d < N; d *= 2) {  // traverse down the tree and build the scan
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int i = offset * (2 * thid + 1) - 1;
            int j = offset * (2 * thid + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i);
            j += CONFLICT_FREE_OFFSET(j);
            int t = temp[i];
            temp[i] = temp[j];
            temp[j] += t;
        }
    }
    __syncthreads();

    if (base + ai < n) g_odata[base + ai] = temp[ai + bankOffsetA];
    if (base + bi < n) g_odata[base + bi] = temp[bi + bankOffsetB];
}
