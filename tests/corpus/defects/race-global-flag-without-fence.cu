// Defect: the data of the look-back is published by a flag without a fence between data and flag.
// expect: race-global line=16 array=total
// expect: status=1

// warpsmith: grid=2 block=1 arg in=int[2]=iota arg total=int[2] arg flag=int[2]
__global__ void look_back(const int *in, int *total, volatile int *flag)
{
    const int b = blockIdx.x;
    int sum = in[b] + 1;
    if (b > 0) {
        while (flag[b - 1] == 0)
            ;
        __threadfence();
        sum += total[b - 1];
    }
    total[b] = sum;
    flag[b] = 1;
}
