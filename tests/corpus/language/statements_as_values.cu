// Statements in parentheses, whose last expression is the value: in conditions of loops, inside each other, without a value.
#include <cassert>
#define LEAST(x, y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })
#define MOST(x, y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x > _y ? _x : _y; })

// warpsmith: grid=2 block=32 arg a=int[64] arg n=40
__global__ void triangle(int *a, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x, sum = 0;
    for (int k = MOST(0, i - 8); k <= LEAST(n - 1, i + 8); k++) {
        sum += LEAST(MOST(k, 3), 2 * i);
        ({ if (k == i) sum += 100; });
    }
    int last = ({
        int found = 0;
        for (int k = 0; k < 8; k++) {
            if (k * k > i) break;
            found = k;
        }
        found;
    });
    assert(last * last <= i);
    a[i] = sum + last;
}
