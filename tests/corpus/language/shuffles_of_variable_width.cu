// Shuffles whose width is known when the kernel runs.
// warpsmith: grid=1 block=64 arg x=int[64]=iota arg width=8
// warpsmith: grid=1 block=64 arg x=int[64]=iota arg width=32
__global__ void segments(int *x, int width)
{
    int t = threadIdx.x, lane = t % width, first = t - lane;
    int v = x[t];
    __assert(__shfl_sync(0xffffffff, v, 1, width) == first + 1);
    __assert(__shfl_sync(0xffffffff, v, -1, width) == first + width - 1);
    __assert(__shfl_up_sync(0xffffffff, v, 2, width) == (lane >= 2 ? t - 2 : t));
    __assert(__shfl_down_sync(0xffffffff, v, 3, width) == (lane + 3 < width ? t + 3 : t));
    __assert(__shfl_xor_sync(0xffffffff, v, 1, width) == (t ^ 1));
    for (int d = width / 2; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d, width);
    if (lane == 0) {
        __assert(v == width * first + width * (width - 1) / 2);
        x[t] = v;
    }
}
