// Streams, events and owners that begin as null pointers, are compared with them and passed as such.
#include <cassert>
#include <memory>

__global__ void is_true(const bool *facts, int n)
{
    if (threadIdx.x < n) assert(facts[threadIdx.x]);
}

struct Handles {
    cudaStream_t stream = nullptr;
    cudaStream_t other = NULL;
    cudaEvent_t event = nullptr;
};

class Runner {
public:
    void run(const bool *facts, int n, cudaStream_t stream = nullptr)
    {
        is_true<<<1, 32, 0, stream>>>(facts, n);
        launches++;
    }
    int launches = 0;
};

int main()
{
    bool *facts;
    cudaMallocManaged(&facts, 8 * sizeof(bool));
    Handles h;
    facts[0] = h.stream == nullptr;
    facts[1] = h.event == nullptr && h.other == NULL && !h.stream;
    cudaStreamCreate(&h.stream);
    facts[2] = h.stream != nullptr;
    std::unique_ptr<int> owner = nullptr;
    facts[3] = owner == nullptr;
    owner = std::make_unique<int>(3);
    facts[4] = owner != nullptr;
    std::shared_ptr<int> shared;
    facts[5] = shared == nullptr;
    owner = nullptr;
    facts[6] = !owner;
    cudaStream_t none{nullptr};
    none = nullptr;
    facts[7] = none == h.other;
    Runner runner;
    runner.run(facts, 8);
    runner.run(facts, 8, h.stream);
    runner.run(facts, 2 * runner.launches, nullptr);
    cudaStreamSynchronize(h.stream);
    cudaStreamSynchronize(nullptr);
    cudaStreamDestroy(h.stream);
    cudaFree(facts);
    return 0;
}
