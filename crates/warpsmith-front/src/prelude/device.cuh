// The heap of the device. Memory that is freed is not used again; bounds inside of the heap are not looked at.
__device__ unsigned long long deviceHeapUsed = 0;
__device__ uint4 deviceHeap[1 << 20];

__device__ inline void *deviceAllocate(size_t bytes) {
    unsigned long long words = (bytes + 15) / 16;
    unsigned long long at = atomicAdd(&deviceHeapUsed, words);
    if (at + words > (1 << 20)) return 0;
    return &deviceHeap[at];
}

namespace cooperative_groups {
// Asynchronous copies of a group: its threads copy word by word, and bytes that are no words at once.
template <typename G, typename T>
__device__ void memcpy_async(const G &group, T *to, const T *from, size_t bytes) {
    size_t words = ((size_t)to % 4 == 0 && (size_t)from % 4 == 0) ? bytes / 4 : 0;
    for (size_t i = group.thread_rank(); i < words; i += group.size())
        __pipeline_memcpy_async((char *)to + 4 * i, (const char *)from + 4 * i, 4);
    for (size_t i = 4 * words + group.thread_rank(); i < bytes; i += group.size())
        ((char *)to)[i] = ((const char *)from)[i];
    __pipeline_commit();
}
template <typename G> __device__ void wait(const G &group) {
    __pipeline_wait_prior(0);
    group.sync();
}
template <int STAGES, typename G> __device__ void wait_prior(const G &group) {
    __pipeline_wait_prior(STAGES);
    group.sync();
}
template <typename G, typename T, typename F> __device__ T inclusive_scan(const G &group, T value, F op) {
    for (unsigned d = 1; d < group.size(); d *= 2) {
        T before = group.shfl_up(value, d);
        if (group.thread_rank() >= d) value = op(before, value);
    }
    return value;
}
template <typename G, typename T> __device__ T inclusive_scan(const G &group, T value) {
    for (unsigned d = 1; d < group.size(); d *= 2) {
        T before = group.shfl_up(value, d);
        if (group.thread_rank() >= d) value = before + value;
    }
    return value;
}
template <typename G, typename T, typename F> __device__ T exclusive_scan(const G &group, T value, F op) {
    T all = inclusive_scan(group, value, op), before = group.shfl_up(all, 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <typename G, typename T> __device__ T exclusive_scan(const G &group, T value) {
    T all = inclusive_scan(group, value), before = group.shfl_up(all, 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <typename G, typename F, typename... A> __device__ void invoke_one(const G &group, F f, A... values) {
    if (group.thread_rank() == 0) f(values...);
}
} // namespace cooperative_groups

namespace cuda {
enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 3 };
enum memory_order {
    memory_order_relaxed = 0, memory_order_consume = 1, memory_order_acquire = 2, memory_order_release = 3,
    memory_order_acq_rel = 4, memory_order_seq_cst = 5
};
namespace std {
using ::cuda::memory_order_relaxed;
using ::cuda::memory_order_acquire;
using ::cuda::memory_order_release;
using ::cuda::memory_order_acq_rel;
using ::cuda::memory_order_seq_cst;
} // namespace std

// Operations on a variable that others change too; orders but the relaxed one are fences around it.
template <typename T, thread_scope S = thread_scope_system> struct atomic_ref {
    T *p;
    __device__ atomic_ref(T &r) : p(&r) {}
    __device__ void before(int order) const { if (order >= memory_order_release) __threadfence(); }
    __device__ void after(int order) const {
        if (order != memory_order_relaxed && order != memory_order_release) __threadfence();
    }
    __device__ T fetch_add(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicAdd(p, v); after(order); return old; }
    __device__ T fetch_sub(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicSub(p, v); after(order); return old; }
    __device__ T fetch_min(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicMin(p, v); after(order); return old; }
    __device__ T fetch_max(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicMax(p, v); after(order); return old; }
    __device__ T fetch_and(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicAnd(p, v); after(order); return old; }
    __device__ T fetch_or(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicOr(p, v); after(order); return old; }
    __device__ T fetch_xor(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicXor(p, v); after(order); return old; }
    __device__ T exchange(T v, int order = memory_order_seq_cst) const { before(order); T old = atomicExch(p, v); after(order); return old; }
    __device__ T load(int order = memory_order_seq_cst) const { T v = *(volatile T *)p; after(order == memory_order_relaxed ? memory_order_relaxed : memory_order_acquire); return v; }
    __device__ void store(T v, int order = memory_order_seq_cst) const { before(order); *(volatile T *)p = v; }
    __device__ bool compare_exchange_strong(T &expected, T wanted, int order = memory_order_seq_cst) const {
        before(order);
        T old = atomicCAS(p, expected, wanted);
        after(order);
        bool same = old == expected;
        expected = old;
        return same;
    }
    __device__ bool compare_exchange_weak(T &expected, T wanted, int order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, wanted, order);
    }
    __device__ T operator++(int) const { return fetch_add(1); }
    __device__ T operator++() const { return fetch_add(1) + 1; }
    __device__ T operator+=(T v) const { return fetch_add(v) + v; }
    __device__ operator T() const { return load(); }
};
} // namespace cuda
