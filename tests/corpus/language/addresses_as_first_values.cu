// Addresses in the initialisers of variables: of other variables, of their parts and of texts, in structures and tables, too.
__device__ int table[4] = {1, 2, 3, 4};
__device__ int *cursor = table;
__device__ int *behind = &table[2];
__constant__ int *const fixed = table + 1;
struct Piece {
    const char *name;
    int *first;
    int length;
};
__device__ Piece pieces[2] = {{"low", table, 2}, {"upper", table + 2, 2}};
__device__ const char *names[] = {"a", "bb", "ccc"};
__constant__ const char *const units[2] = {"m", "kg"};
__device__ int **to_cursor = &cursor;

__device__ int length(const char *text)
{
    int n = 0;
    while (*text++) n++;
    return n;
}

// warpsmith: grid=1 block=32 arg out=int[32]
// warpsmith: run addresses, moved
__global__ void addresses(int *out)
{
    static const char *of_kernel[] = {"k", "ll"};
    __assert(cursor[1] == 2 && *behind == 3 && fixed[0] == 2);
    __assert(cursor == table && behind - cursor == 2 && *to_cursor == table);
    __assert(pieces[1].first[1] == 4 && length(pieces[1].name) == 5);
    __assert(length(of_kernel[1]) == 2 && length(units[1]) == 2);
    out[threadIdx.x] = length(names[threadIdx.x % 3]);
    __syncthreads();
    __assert(out[2] == 3);
    if (threadIdx.x == 0) cursor = behind;
}

// warpsmith: grid=1 block=32 arg out=int[32] arg more=int[64]
__global__ void moved(const int *out, int *more)
{
    more[threadIdx.x] = *cursor + out[threadIdx.x];
    __assert(*cursor == 3);
}
