// Defect: every block waits for a flag that nobody sets.
// expect: infinite-loop line=8
// expect: status=1

// warpsmith: grid=1 block=1 arg flag=int[1]=zeros arg out=int[1]
__global__ void wait_for_ever(volatile int *flag, int *out)
{
    while (flag[0] == 0) {
    }
    out[0] = 1;
}
