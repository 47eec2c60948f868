// Defect: a matrix product of the whole warp stands in a branch that half of its lanes take
// expect: divergent-barrier line=10
// expect: status=1
// warpsmith: grid=1 block=32 arg a=double[32] arg b=double[32] arg c=double[64]=zeros
__global__ void product(const double *a, const double *b, double *c)
{
    int t = threadIdx.x;
    double d0 = 0, d1 = 0;
    if (t < 16)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d0), "+d"(d1) : "d"(a[t]), "d"(b[t]));
    c[2 * t] = d0;
    c[2 * t + 1] = d1;
}
