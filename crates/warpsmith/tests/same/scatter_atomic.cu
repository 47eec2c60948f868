// same-as: references.c:scatter_add
// Four elements a thread.
__global__ void scatter_atomic(int n, const int *at, const int *v, int *out) {
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first + 3 < n) {
        for (int k = 0; k < 4; k++) atomicAdd(&out[at[first + k]], v[first + k]);
    } else {
        for (int i = first; i < n; i++) atomicAdd(&out[at[i]], v[i]);
    }
}
void scatter_add(int n, const int *at, const int *v, int *out) {
    scatter_atomic<<<(n + 255) / 256, 64>>>(n, at, v, out);
}
// right: for (int k = 0; k < 4; k++) => for (int k = 3; k >= 0; k--)
// fault: atomicAdd(&out[at[i]], v[i]) => out[at[i]] += v[i]
// fault: atomicAdd(&out[at[first + k]], v[first + k]) => out[at[first + k]] += v[first + k]
// fault: atomicAdd(&out[at[i]], v[i]) => atomicExch(&out[at[i]], v[i])
// fault: first + 3 < n => first + 2 < n
// fault: int i = first; i < n; => int i = first + 1; i < n;
// fault: (n + 255) / 256 => n / 256
// fault: k = 0; k < 4 => k = 0; k < 3
// fault: v[first + k]) => v[first])
// fault: atomicAdd(&out[at[i]], v[i]) => atomicMax(&out[at[i]], out[at[i]] + v[i])
