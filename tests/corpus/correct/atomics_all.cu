// Every atomic on a few words: add, sub, min, max, and, or, xor, inc, dec, exch, CAS loops for float max; old values used.

__device__ float atomic_max_float(float *address, float value)
{
    int *as_int = (int *)address;
    int old = *(volatile int *)as_int, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS(as_int, assumed, __float_as_int(value));
    } while (assumed != old);
    return __int_as_float(old);
}

// warpsmith: grid=2 block=64 arg i=int[8] arg u=uint[8] arg f=float[2] arg l=ulong[2] arg tickets=uint[128]
// warpsmith: grid=3 block=30 arg i=int[8] arg u=uint[8] arg f=float[2] arg l=ulong[2] arg tickets=uint[90]
__global__ void all_atomics(int *i, unsigned *u, float *f, unsigned long long *l, unsigned *tickets)
{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], (int)id);
    atomicSub(&i[1], 2);
    atomicMin(&i[2], -(int)id);
    atomicMax(&i[3], (int)id * 3);
    atomicExch(&i[4], (int)id);
    atomicAnd(&u[0], ~(1u << (id & 31)));
    atomicOr(&u[1], 1u << (id & 31));
    atomicXor(&u[2], id * 2654435761u);
    atomicInc(&u[3], 16u);
    atomicDec(&u[4], 9u);
    atomicAdd(&f[0], 0.5f * id);
    atomic_max_float(&f[1], (float)((id * 37) % 101));
    atomicAdd(&l[0], (unsigned long long)id << 33);
    atomicMax(&l[1], 0x100000000ull + id);
    tickets[atomicAdd(&u[5], 1u)] = id;
}
