// Defect: the string takes one byte more than was allocated, for the zero at its end
// expect: out-of-bounds line=14 array=heap
// expect: status=1

// warpsmith: grid=1 block=8 arg lengths=int[8]
__global__ void copies_of_text(int *lengths)
{
    const char *text = "warp";
    int n = 0;
    while (text[n]) n++;
    char *copy = (char *)malloc(n);
    if (!copy) return;
    for (int i = 0; i <= n; i++)
        copy[i] = text[i];
    lengths[threadIdx.x] = n + (copy[0] == 'w');
    free(copy);
}
