// A hash table with linear probing: keys claimed by atomicCAS, empty slots from a fill of bytes.
#include <cstdint>
#include <vector>
struct KeyValue {
    uint32_t key;
    uint32_t value;
};
const uint32_t kCapacity = 256;
const uint32_t kEmpty = 0xffffffff;

__device__ uint32_t hash(uint32_t k)
{
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    k ^= k >> 16;
    return k & (kCapacity - 1);
}

__global__ void insert(KeyValue *table, const KeyValue *pairs, unsigned int count)
{
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < count) {
        uint32_t key = pairs[thread].key;
        uint32_t value = pairs[thread].value;
        uint32_t slot = hash(key);
        while (true) {
            uint32_t previous = atomicCAS(&table[slot].key, kEmpty, key);
            if (previous == kEmpty || previous == key) {
                table[slot].value = value;
                return;
            }
            slot = (slot + 1) & (kCapacity - 1);
        }
    }
}

KeyValue *create()
{
    KeyValue *table;
    cudaMalloc(&table, sizeof(KeyValue) * kCapacity);
    static_assert(kEmpty == 0xffffffff, "the fill expects it");
    cudaMemset(table, 0xff, sizeof(KeyValue) * kCapacity);
    return table;
}

int main()
{
    KeyValue *table = create();
    std::vector<KeyValue> pairs;
    pairs.reserve(kCapacity / 2);
    for (uint32_t i = 0; i < kCapacity / 2; i++) pairs.push_back(KeyValue{i * 3 + 1, i});
    KeyValue *d;
    cudaMalloc(&d, sizeof(KeyValue) * pairs.size());
    cudaMemcpy(d, pairs.data(), sizeof(KeyValue) * pairs.size(), cudaMemcpyHostToDevice);
    int least, block;
    cudaOccupancyMaxPotentialBlockSize(&least, &block, insert, 0, 0);
    insert<<<((uint32_t)pairs.size() + 63) / 64, 64>>>(table, d, (uint32_t)pairs.size());
    cudaDeviceSynchronize();
}
