// Edit distance of two short strings by anti-diagonals in one block: three rotating shared rows, one barrier a diagonal.
#define MAXLEN 48

__device__ int min3(int a, int b, int c) { return min(a, min(b, c)); }

// warpsmith: grid=1 block=48 arg a=uchar[40]=random arg b=uchar[47]=random arg n=40 arg m=47 arg distance=int[1]
// warpsmith: grid=1 block=64 arg a=uchar[9]=iota arg b=uchar[5]=iota arg n=9 arg m=5 arg distance=int[1]
__global__ void levenshtein(const unsigned char *a, const unsigned char *b, int n, int m, int *distance)
{
    __shared__ int diag[3][MAXLEN + 1];  // diag[d % 3][i]: cell (i, d - i)
    const int t = threadIdx.x;
    for (int d = 0; d <= n + m; ++d) {
        int *now = diag[d % 3], *last = diag[(d + 2) % 3], *older = diag[(d + 1) % 3];
        for (int i = t; i <= n; i += blockDim.x) {
            const int j = d - i;
            if (j < 0 || j > m) continue;
            if (i == 0 || j == 0)
                now[i] = i + j;
            else
                now[i] = min3(last[i - 1] + 1, last[i] + 1, older[i - 1] + ((a[i - 1] & 3) != (b[j - 1] & 3)));
        }
        __syncthreads();
    }
    if (t == 0) *distance = diag[(n + m) % 3][n];
}
