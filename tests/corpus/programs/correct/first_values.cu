// Variables of the host whose first values are computed before main, from others of the file, by functions and by constructors, and
// static ones of a function, which get theirs once.
#include <cassert>
#include <cstdlib>
#include <vector>

int total = 1 << 10;
const int perBlock = total / 4;
dim3 block(perBlock, 1, 1);
dim3 grid((total + block.x - 1) / block.x);

static int doubled(int n) { return 2 * n; }
int twice = doubled(total);
static const float factor = static_cast<float>(twice) / total;

struct Sizes {
    int bytes;
    int calls;
    Sizes(int n) : bytes(n * (int)sizeof(float)), calls(0) {}
    Sizes() : bytes(4), calls(7) {}
};
Sizes sizes(total);
Sizes plain;
Sizes several[2] = {Sizes(total), Sizes(twice)};
std::vector<int> rows(3, total);

namespace inner {
int shifted = doubled(twice) >> 2;
}

__global__ void scale(float *x, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = by * i;
}

static int numbered() {
    static int next = doubled(10);
    static Sizes kept(next);
    next++;
    assert(kept.bytes == 80);
    return next;
}

int main() {
    assert(perBlock == 256 && twice == 2048 && inner::shifted == total);
    assert(plain.calls == 7 && several[1].bytes == 2 * sizes.bytes && rows.size() == 3 && rows[2] == total);
    assert(numbered() == 21 && numbered() == 22);
    float *x;
    cudaMalloc(&x, sizes.bytes);
    scale<<<grid, block>>>(x, factor, total);
    std::vector<float> h(total);
    cudaMemcpy(h.data(), x, sizes.bytes, cudaMemcpyDeviceToHost);
    assert(h[total - 1] == 2.0f * (total - 1));
    cudaFree(x);
    return 0;
}
