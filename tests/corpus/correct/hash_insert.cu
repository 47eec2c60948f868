// Open-addressing hash table: slots claimed by atomicCAS in a probing loop, values accumulated by atomicAdd, lookups by a second kernel.
#include <stdint.h>
constexpr uint32_t kEmpty = 0u;

__host__ __device__ inline uint32_t hash32(uint32_t k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    k ^= k >> 16;
    return k;
}

// warpsmith: grid=2 block=32 arg table_keys=uint[64] arg table_values=uint[64] arg capacity=64 arg n=51
__global__ void hash_insert(uint32_t *table_keys, uint32_t *table_values, uint32_t capacity, uint32_t n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t key = i / 3 + 1;  // every key comes three times
    uint32_t slot = hash32(key) & (capacity - 1);
    while (true) {
        const uint32_t prev = atomicCAS(&table_keys[slot], kEmpty, key);
        if (prev == kEmpty || prev == key) {
            atomicAdd(&table_values[slot], i);
            return;
        }
        slot = (slot + 1) & (capacity - 1);
    }
}

// warpsmith: grid=1 block=32 arg table_keys=uint[64] arg table_values=uint[64] arg found=uint[30] arg capacity=64 arg m=30
__global__ void hash_lookup(const uint32_t *table_keys, const uint32_t *table_values, uint32_t *found, uint32_t capacity, uint32_t m)
{
    const uint32_t i = threadIdx.x;
    if (i >= m) return;
    const uint32_t key = i + 1;
    uint32_t slot = hash32(key) & (capacity - 1), answer = 0xffffffffu;
    for (uint32_t probes = 0; probes < capacity; ++probes) {
        const uint32_t k = table_keys[slot];
        if (k == key) { answer = table_values[slot]; break; }
        if (k == kEmpty) break;
        slot = (slot + 1) & (capacity - 1);
    }
    found[i] = answer;
}

// warpsmith: run hash_insert, hash_lookup
