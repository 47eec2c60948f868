// Defect: the pointer that is freed has moved on through the memory
// expect: invalid-pointer line=14 array=heap
// expect: status=1

// warpsmith: grid=1 block=4 arg out=int[4]
__global__ void count_down(int *out)
{
    int *p = (int *)malloc(5 * sizeof(int));
    for (int i = 0; i < 5; i++) p[i] = 4 - i;
    int steps = 0;
    while (*p != 0) { p++; steps++; }
    out[threadIdx.x] = steps;
    __syncwarp(0xf);
    free(p);
}
