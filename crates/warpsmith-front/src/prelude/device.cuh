namespace cooperative_groups {
// Asynchronous copies of a group: its threads copy word by word, and bytes that are no words at once.
template <typename G>
__device__ void copyBytes(const G &group, void *to, const void *from, size_t bytes) {
    size_t words = ((size_t)to % 4 == 0 && (size_t)from % 4 == 0) ? bytes / 4 : 0;
    for (size_t i = group.thread_rank(); i < words; i += group.size())
        __pipeline_memcpy_async((char *)to + 4 * i, (const char *)from + 4 * i, 4);
    for (size_t i = 4 * words + group.thread_rank(); i < bytes; i += group.size())
        ((char *)to)[i] = ((const char *)from)[i];
    __pipeline_commit();
}
template <typename G, typename T, typename N>
__device__ void memcpy_async(const G &group, T *to, const T *from, N bytes) {
    copyBytes(group, to, from, (size_t)bytes);
}
// With the numbers of elements that either side has.
template <typename G, typename T, typename N, typename M>
__device__ void memcpy_async(const G &group, T *to, N room, const T *from, M count) {
    size_t elements = (size_t)room < (size_t)count ? (size_t)room : (size_t)count;
    copyBytes(group, to, from, elements * sizeof(T));
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
template <typename G, typename F, typename... A> __device__ auto invoke_one_broadcast(const G &group, F f, A... values) {
    decltype(f(values...)) result;
    if (group.thread_rank() == 0) result = f(values...);
    return group.shfl(result, 0);
}
} // namespace cooperative_groups

// Orders and scopes of atomic functions, with the numbers that the compiler has for them.
enum {
    __NV_ATOMIC_RELAXED = 0, __NV_ATOMIC_CONSUME = 1, __NV_ATOMIC_ACQUIRE = 2, __NV_ATOMIC_RELEASE = 3,
    __NV_ATOMIC_ACQ_REL = 4, __NV_ATOMIC_SEQ_CST = 5
};
enum {
    __NV_THREAD_SCOPE_THREAD = 0, __NV_THREAD_SCOPE_BLOCK = 1, __NV_THREAD_SCOPE_CLUSTER = 2,
    __NV_THREAD_SCOPE_DEVICE = 3, __NV_THREAD_SCOPE_SYSTEM = 4
};

namespace cuda {
enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 3 };
enum memory_order {
    memory_order_relaxed = 0, memory_order_consume = 1, memory_order_acquire = 2, memory_order_release = 3,
    memory_order_acq_rel = 4, memory_order_seq_cst = 5
};
namespace std {
using ::cuda::memory_order;
using ::cuda::memory_order_relaxed;
using ::cuda::memory_order_consume;
using ::cuda::memory_order_acquire;
using ::cuda::memory_order_release;
using ::cuda::memory_order_acq_rel;
using ::cuda::memory_order_seq_cst;
} // namespace std

template <thread_scope S> struct scopeOfAtomics {
    static constexpr int value = S == thread_scope_system ? 4 : (S == thread_scope_device ? 3 : (S == thread_scope_block ? 1 : 0));
};

// Operations on a variable that others change too.
template <typename T, thread_scope S = thread_scope_system> struct atomic_ref {
    typedef T value_type;
    T *p;
    __device__ atomic_ref(T &r) : p(&r) {}
    __device__ T fetch_add(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_add(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T fetch_sub(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_sub(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T fetch_min(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_min(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T fetch_max(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_max(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T fetch_and(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_and(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T fetch_or(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_or(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T fetch_xor(T v, int order = memory_order_seq_cst) const { return __nv_atomic_fetch_xor(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T exchange(T v, int order = memory_order_seq_cst) const { return __nv_atomic_exchange_n(p, v, order, scopeOfAtomics<S>::value); }
    __device__ T load(int order = memory_order_seq_cst) const { return __nv_atomic_load_n(p, order, scopeOfAtomics<S>::value); }
    __device__ void store(T v, int order = memory_order_seq_cst) const { __nv_atomic_store_n(p, v, order, scopeOfAtomics<S>::value); }
    __device__ bool compare_exchange_strong(T &expected, T wanted, int order = memory_order_seq_cst) const {
        return __nv_atomic_compare_exchange_n(p, &expected, wanted, false, order, order, scopeOfAtomics<S>::value);
    }
    __device__ bool compare_exchange_strong(T &expected, T wanted, int success, int failure) const {
        return compare_exchange_strong(expected, wanted, success == memory_order_relaxed ? failure : success);
    }
    __device__ bool compare_exchange_weak(T &expected, T wanted, int order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, wanted, order);
    }
    __device__ bool compare_exchange_weak(T &expected, T wanted, int success, int failure) const {
        return compare_exchange_strong(expected, wanted, success, failure);
    }
    __device__ void wait(T old, int order = memory_order_seq_cst) const { while (load(order) == old) {} }
    __device__ void notify_one() const {}
    __device__ void notify_all() const {}
    __device__ bool is_lock_free() const { return true; }
    __device__ T operator++(int) const { return fetch_add(1); }
    __device__ T operator++() const { return fetch_add(1) + 1; }
    __device__ T operator--(int) const { return fetch_sub(1); }
    __device__ T operator--() const { return fetch_sub(1) - 1; }
    __device__ T operator+=(T v) const { return fetch_add(v) + v; }
    __device__ T operator-=(T v) const { return fetch_sub(v) - v; }
    __device__ T operator&=(T v) const { return fetch_and(v) & v; }
    __device__ T operator|=(T v) const { return fetch_or(v) | v; }
    __device__ T operator^=(T v) const { return fetch_xor(v) ^ v; }
    __device__ T operator=(T v) const { store(v); return v; }
    __device__ operator T() const { return load(); }
};
} // namespace cuda

// Copies and fills that kernels ask for are grids of their own, which come behind the kernel like all that it launches.
__global__ void copy_in_kernel(char *to, const char *from, size_t bytes) {
    for (size_t i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}
__global__ void fill_in_kernel(unsigned char *to, int value, size_t bytes) {
    for (size_t i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = (unsigned char)value;
}
__device__ int cudaMemcpyAsync_in_kernel(void *to, const void *from, size_t bytes, int way = 4, cudaStream_t s = 0) {
    if (bytes) copy_in_kernel<<<1, 256, 0, s>>>((char *)to, (const char *)from, bytes);
    return 0;
}
__device__ int cudaMemsetAsync_in_kernel(void *to, int value, size_t bytes, cudaStream_t s = 0) {
    if (bytes) fill_in_kernel<<<1, 256, 0, s>>>((unsigned char *)to, value, bytes);
    return 0;
}
