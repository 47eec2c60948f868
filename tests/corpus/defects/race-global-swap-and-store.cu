// A loop of compare-and-swap on a word that another thread sets plainly.
// expect: race-global line=10 array=word
// expect: race-global line=12 array=word
// expect: race-global line=20 array=word
// expect: status=1
__device__ void add_two(int *word)
{
    int old, assumed;
    // What others swap in may be seen here, what others store may not.
    old = *word;
    do {
        assumed = old, old = atomicCAS(word, assumed, assumed + 2);
    } while (assumed != old);
}

// warpsmith: grid=2 block=32 arg word=int[1]=zeros
__global__ void updated(int *word)
{
    if (blockIdx.x == 0) add_two(word);
    else if (threadIdx.x == 5) *word = 7;
}
