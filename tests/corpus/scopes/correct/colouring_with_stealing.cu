// Greedy colouring of a ring by two colours a round. Blocks take vertices from their own part of the list, and then from the
// parts of others, so that heads are advanced with device scope; colours are read and written atomically.
// warpsmith: grid=3 block=32 arg head=int[3]=zeros arg colour=int[96]=zeros arg share=int[3]=iota
__global__ void colour_ring(int *head, int *colour, const int *share)
{
    for (int turn = 0; turn < gridDim.x; turn++) {
        int part = (blockIdx.x + turn) % gridDim.x;
        int limit = 32 - 4 * share[part];
        while (true) {
            int at;
            if (turn == 0) at = atomicAdd(&head[part], 1);
            else at = atomicAdd(&head[part], 1);
            if (at >= limit) break;
            int v = part * 32 + at, left = (v + 95) % 96, right = (v + 1) % 96;
            int l = atomicAdd(&colour[left], 0), r = atomicAdd(&colour[right], 0);
            int c = 1;
            while (c == l || c == r) c++;
            atomicExch(&colour[v], c);
        }
    }
}
