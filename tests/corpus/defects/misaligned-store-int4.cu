// Defect: the guard looks at the length of the row, not at its start: rows of 6 ints are stored as int4 from the row start.
// expect: misaligned line=10 array=out
// expect: status=1

// warpsmith: grid=1 block=8 arg out=int[8][6] arg cols=6
__global__ void clear_row_heads(int *out, int cols)
{
    int *row = out + threadIdx.x * cols;
    if (cols >= 4)
        *reinterpret_cast<int4 *>(row) = make_int4(1, 2, 3, 4);
}
