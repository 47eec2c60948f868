// Defect: the loop that fills the scratch memory of a thread leaves its last element out
// expect: uninitialized-global line=14 array=heap
// expect: status=1

// warpsmith: grid=2 block=32 arg x=float[512]=iota arg y=float[64] arg n=8
__global__ void differences(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *row = (float *)malloc(n * sizeof(float));
    if (row == NULL) return;
    for (int k = 0; k < n - 1; k++) row[k] = x[i * n + k + 1] - x[i * n + k];
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += row[k];
    y[i] = sum;
    free(row);
}
