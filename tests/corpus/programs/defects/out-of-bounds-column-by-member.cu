// Defect: the guard is off by one; the element behind the last is read by a pointer to a member.
// expect: out-of-bounds line=9 array=d
// expect: out-of-bounds line=9 array=out
// expect: status=1
struct Record { int id; float price; double weight; };
__global__ void column(const Record *records, float Record::*member, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = records[i].*member;
}
int main()
{
    const int n = 1000;
    Record *d;
    float *out;
    cudaMalloc(&d, n * sizeof(Record));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(d, 0, n * sizeof(Record));
    column<<<(n + 127) / 128, 128>>>(d, &Record::price, out, n);
    cudaDeviceSynchronize();
    return 0;
}
