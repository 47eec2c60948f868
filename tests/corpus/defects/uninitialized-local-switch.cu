// Defect: a switch without default leaves the result of the fourth operation unset.
// expect: uninitialized-local line=16
// expect: status=1
enum Op { ADD, SUB, MUL, DIV };

// warpsmith: grid=1 block=32 arg a=int[32]=iota arg b=int[32]=iota arg out=int[32]
__global__ void calculate(const int *a, const int *b, int *out)
{
    const int i = threadIdx.x;
    int r;
    switch (static_cast<Op>(i & 3)) {
    case ADD: r = a[i] + b[i]; break;
    case SUB: r = a[i] - b[i]; break;
    case MUL: r = a[i] * b[i]; break;
    }
    out[i] = r;
}
