// Defect: one of the classes whose update the kernel calls adds to the common total without an atomic.
// expect: race-global line=12 array=total
// expect: status=1
struct Rule {
    __device__ virtual void add(int *total, int v) const = 0;
};
struct Safe : Rule {
    __device__ void add(int *total, int v) const override { atomicAdd(total, v); }
};
struct Plain : Rule {
    __device__ void add(int *total, int v) const override {
        *total += v;
    }
};
__global__ void tally(int *total, bool safe)
{
    Safe a;
    Plain b;
    const Rule *rule = safe ? static_cast<const Rule *>(&a) : &b;
    rule->add(total, threadIdx.x);
}
int main()
{
    int *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    tally<<<1, 64>>>(total, true);
    tally<<<1, 64>>>(total, false);
    cudaFree(total);
    return 0;
}
