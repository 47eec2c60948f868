// Defect: a linked list whose last node points to itself is walked to a null link that it does not have.
// expect: infinite-loop line=9
// expect: status=1

// warpsmith: grid=1 block=4 arg next=int[8] arg out=int[4]
__global__ void walk_list(const int *next, int *out)
{
    int node = threadIdx.x, last = node;
    while (node != -1) {
        last = node;
        node = next[node];
    }
    out[threadIdx.x] = last;
}
