// Text processing on unsigned char: character classes, in-place upper case, word starts counted by a block vote.

__device__ bool is_letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// warpsmith: grid=2 block=64 arg text='unsigned char[128]=random' arg upper='unsigned char[128]' arg words=int[1] arg n=128
// warpsmith: grid=3 block=32 arg text='unsigned char[90]=iota' arg upper='unsigned char[90]' arg words=int[1] arg n=90
// warpsmith: grid=3 block=41 arg text='unsigned char[123]=iota' arg upper='unsigned char[123]' arg words=int[1] arg n=123
// warpsmith: grid=12 block=256 arg text='unsigned char[3000]=random' arg upper='unsigned char[3000]' arg words=int[1] arg n=3000
__global__ void count_words(const unsigned char *text, unsigned char *upper, int *words, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool starts = false;
    if (i < n) {
        unsigned char c = text[i];
        starts = is_letter(c) && (i == 0 || !is_letter(text[i - 1]));
        if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
        upper[i] = c;
    }
    int in_block = __syncthreads_count(starts);
    if (threadIdx.x == 0 && in_block > 0) atomicAdd(words, in_block);
}
