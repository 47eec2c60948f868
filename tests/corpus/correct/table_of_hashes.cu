// Numbers without pattern in `int`, of which the low bits and a remainder choose an element.

// warpsmith: grid=2 block=64 arg table=int[256]=iota arg out=int[128] arg seed=12345
__global__ void look_up(const int *table, int *out, int seed)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int h = (seed + t) * 1103515245 + 12345;
    int low = table[h & 255];
    int rest = table[((h % 251) + 251) % 251];
    out[t] = low * 256 + rest;
}
