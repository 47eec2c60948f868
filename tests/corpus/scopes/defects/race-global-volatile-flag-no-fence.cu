// Defect: volatile accesses of other places are not ordered by themselves.
// expect: race-global line=13 array=data
// expect: status=1
// warpsmith: grid=2 block=1 arg data=int[1]=zeros arg flag=int[1]=zeros arg out=int[1]=zeros
__global__ void older(volatile int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 9;
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}
