// Copies of tiles by tensor maps (PTX)
// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void f(float *x)
{
    __shared__ alignas(128) float tile[32];
    __shared__ unsigned long long bar;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile), at = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                 :: "r"(to), "l"(x), "r"(0), "r"(at));
}
