// Least and greatest of lists, values that may be missing, offsets of members, alternatives, calls with places left open.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <variant>
#include <vector>

struct Particle {
    float x, y;
    double mass;
    int id;
};
struct Block {
    int size = 1;
};
struct Grid {
    int x = 1, y = 1;
};
struct Line {
    int n = 1;
};
using Shape = std::variant<Block, Grid, Line>;
struct Threads {
    int operator()(const Block &b) const { return b.size; }
    int operator()(const Grid &g) const { return g.x * g.y; }
    int operator()(Line line) const { return line.n; }
};

static_assert(offsetof(Particle, mass) == 8, "two floats before it");

template <typename F, typename... A> auto doubled(F f, A... a)
{
    if constexpr (std::is_same<decltype(f(a...)), int>::value)
        return 2 * f(a...);
    else
        return f(a...) + f(a...);
}

__global__ void describe(size_t *at, int *chosen, int given)
{
    at[0] = offsetof(Particle, mass);
    at[1] = offsetof(Particle, id);
    chosen[0] = given ?: 7;
    chosen[1] = (given + 1) ?: 9;
}

// Sums of all before each: a barrier stands between the neighbours that read and the one that adds.
__global__ void scan(int *x, const int *start)
{
    __shared__ int part[64];
    int mine = x[threadIdx.x];
    part[threadIdx.x] = mine + *start;
    for (unsigned d = 1; d < blockDim.x; d <<= 1) {
        __syncthreads();
        int add = threadIdx.x >= d ? part[threadIdx.x - d] - *start : 0;
        __syncthreads();
        part[threadIdx.x] += add;
    }
    x[threadIdx.x] = part[threadIdx.x] - mine;
}

int less(int a, int b) { return a - b; }

int main(int argc, char **argv)
{
    int given = argc - 1;
    int threads = given ?: 64;
    int most = std::max({3, threads, 5}), least = std::min({3, threads, 5});
    int far = std::max({-70, 2, 6}, [](int a, int b) { return std::abs(a) < std::abs(b); });
    auto both = std::minmax({4, 8, 1, 9});
    if (most != 64 || least != 3 || far != -70 || both.first != 1 || both.second != 9) return 1;
    if (std::max(3, 9, std::greater<int>()) != 3) return 1;

    std::vector<Shape> shapes = {Block{64}, Grid{8, 4}, Line{32}};
    int total = 0;
    for (const auto &shape : shapes) total += std::visit(Threads{}, shape);
    if (total != 128 || shapes[1].index() != 1 || std::get<Grid>(shapes[1]).y != 4) return 2;
    if (!std::holds_alternative<Block>(shapes[0]) || std::get_if<Line>(&shapes[0])) return 2;
    shapes[0] = Grid{1, 2};
    if (shapes[0].index() != 1) return 2;

    auto back = std::bind(less, std::placeholders::_2, std::placeholders::_1);
    if (back(3, 10) != 7 || doubled(less, 9, 5) != 8) return 3;

    size_t *at;
    int *x, *start;
    cudaMallocManaged(&at, 2 * sizeof(size_t));
    cudaMallocManaged(&x, most * sizeof(int));
    cudaMalloc(&start, sizeof(int));
    describe<<<1, 1>>>(at, x, given);
    cudaDeviceSynchronize();
    if (at[0] != 8 || at[1] != 16 || x[0] != 7 || x[1] != 1) return 4;

    std::vector<int> want(most), got(most);
    for (int i = 0; i < most; i++) {
        x[i] = i;
        want[i] = i * (i - 1) / 2;
    }
    const int zero = 0;
    cudaMemcpy(start, &zero, sizeof(int), cudaMemcpyHostToDevice);
    scan<<<1, most>>>(x, start);
    cudaMemcpy(got.data(), x, most * sizeof(int), cudaMemcpyDeviceToHost);
    if (got != want) return 5;
    cudaFree(at);
    cudaFree(x);
    cudaFree(start);
    return 0;
}
