// A graph class of the host, its rows as a tuple, and levels until nothing changes; the body of `main` is one `try`.
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));           \
    } while (0)

class Graph {
    std::vector<std::vector<int>> neighbours;

public:
    explicit Graph(int n) : neighbours(n) {}
    void connect(int a, int b)
    {
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }
    std::tuple<std::vector<int>, std::vector<int>> rows() const
    {
        std::vector<int> starts(neighbours.size() + 1, 0), columns;
        for (size_t i = 0; i < neighbours.size(); i++) {
            starts[i + 1] = starts[i] + (int)neighbours[i].size();
            for (auto v : neighbours[i]) columns.push_back(v);
        }
        return std::make_tuple(starts, columns);
    }
};

__global__ void expand(const int *starts, const int *columns, int *level, int n, int now, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int own = atomicAdd(&level[v], 0);
    if (own != now) return;
    for (int e = starts[v]; e < starts[v + 1]; ++e)
        if (atomicCAS(&level[columns[e]], -1, now + 1) == -1) atomicExch(changed, 1);
}

int main(int argc, char **argv)
try {
    int n = argc > 1 ? std::stoi(argv[1]) : 100;
    Graph graph(n);
    for (int i = 1; i < n; i++) {
        graph.connect(i, i / 2);
        if (i % 9 == 0) graph.connect(i, i - 9);
    }
    auto [starts, columns] = graph.rows();
    std::vector<int> level(n, -1);
    level[0] = 0;
    int *d_starts, *d_columns, *d_level, *d_changed;
    CHECK(cudaMalloc(&d_starts, starts.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_columns, columns.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_level, level.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_changed, sizeof(int)));
    CHECK(cudaMemcpy(d_starts, starts.data(), starts.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_level, level.data(), level.size() * sizeof(int), cudaMemcpyHostToDevice));
    int now = 0, changed;
    do {
        changed = 0;
        CHECK(cudaMemcpy(d_changed, &changed, sizeof(int), cudaMemcpyHostToDevice));
        expand<<<(n + 63) / 64, 64>>>(d_starts, d_columns, d_level, n, now++, d_changed);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&changed, d_changed, sizeof(int), cudaMemcpyDeviceToHost));
    } while (changed);
    CHECK(cudaMemcpy(level.data(), d_level, level.size() * sizeof(int), cudaMemcpyDeviceToHost));
    std::priority_queue<int> farthest;
    for (int l : level) farthest.push(l);
    printf("%d levels, the farthest is %d away\n", now, farthest.top());
    cudaFree(d_starts);
    cudaFree(d_columns);
    cudaFree(d_level);
    cudaFree(d_changed);
    return 0;
} catch (const std::exception &e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
