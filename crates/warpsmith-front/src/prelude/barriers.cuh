// Barriers in memory (`mbarrier` of PTX), and what libcu++ makes of them: barriers, latches, semaphores, pipelines, atomic
// variables. A barrier counts arrivals by atomic operations, so that what it orders, and what it does not, is seen as in
// any other program.
//
// The word of a barrier, which programs may not look into: 20 bits of arrivals that are pending, 20 of those that a phase
// expects, 20 of bytes that are to come (the middle stands for none), and the number of the phase.
#define WS_MBARRIER_PENDING(word) ((unsigned)(word) & 0xfffffu)
#define WS_MBARRIER_EXPECTED(word) ((unsigned)((word) >> 20) & 0xfffffu)
#define WS_MBARRIER_BYTES(word) ((unsigned)((word) >> 40) & 0xfffffu)
#define WS_MBARRIER_NO_BYTES 0x80000u

// Scopes are numbered as for the compiler's atomic functions: 1 is the block, 3 the device.
template <int SCOPE> struct mbarrierWord {
    static __device__ void init(unsigned long long *word, unsigned count) {
        *word = (unsigned long long)count | (unsigned long long)count << 20 | (unsigned long long)WS_MBARRIER_NO_BYTES << 40;
    }
    // The phase is over. What all have released stays in the word: who completes it knows no more than before, until it waits.
    static __device__ void flip(unsigned long long *word, unsigned expected) {
        __nv_atomic_fetch_add(word, (1ull << 60) + expected, __NV_ATOMIC_RELAXED, SCOPE);
    }
    // `drop` arrivals are not expected in later phases. Gives the word before, which names the phase.
    static __device__ unsigned long long arrive(unsigned long long *word, unsigned n, unsigned drop) {
        unsigned long long less = (unsigned long long)n + ((unsigned long long)drop << 20);
        unsigned long long old = __nv_atomic_fetch_add(word, 0ull - less, __NV_ATOMIC_RELEASE, SCOPE);
        if (WS_MBARRIER_PENDING(old) < n) __trap();
        if (WS_MBARRIER_PENDING(old) == n && WS_MBARRIER_BYTES(old) == WS_MBARRIER_NO_BYTES)
            flip(word, WS_MBARRIER_EXPECTED(old) - drop);
        return old;
    }
    static __device__ void expect(unsigned long long *word, unsigned bytes) {
        __nv_atomic_fetch_add(word, (unsigned long long)bytes << 40, __NV_ATOMIC_RELAXED, SCOPE);
    }
    static __device__ void complete(unsigned long long *word, unsigned bytes) {
        unsigned long long old = __nv_atomic_fetch_add(word, 0ull - ((unsigned long long)bytes << 40), __NV_ATOMIC_RELEASE, SCOPE);
        if (WS_MBARRIER_PENDING(old) == 0 && WS_MBARRIER_BYTES(old) == WS_MBARRIER_NO_BYTES + bytes)
            flip(word, WS_MBARRIER_EXPECTED(old));
    }
    static __device__ bool passed(unsigned long long *word, unsigned long long token) {
        return (__nv_atomic_load_n(word, __NV_ATOMIC_ACQUIRE, SCOPE) ^ token) >> 60 != 0;
    }
    static __device__ bool passedParity(unsigned long long *word, unsigned parity) {
        return (unsigned)(__nv_atomic_load_n(word, __NV_ATOMIC_ACQUIRE, SCOPE) >> 60 & 1) != (parity & 1);
    }
};

// What inline PTX calls; `on` is the predicate of the instruction.
__device__ inline void ptxMbarrierInit(bool on, unsigned long long *word, unsigned count) {
    if (on) mbarrierWord<1>::init(word, count);
}
__device__ inline unsigned long long ptxMbarrierArrive(bool on, unsigned long long *word, unsigned n, unsigned drop) {
    unsigned long long token = 0;
    if (on) token = mbarrierWord<1>::arrive(word, n, drop);
    return token;
}
__device__ inline unsigned long long ptxMbarrierArriveExpecting(bool on, unsigned long long *word, unsigned bytes, unsigned drop) {
    unsigned long long token = 0;
    if (on) {
        mbarrierWord<1>::expect(word, bytes);
        token = mbarrierWord<1>::arrive(word, 1, drop);
    }
    return token;
}
__device__ inline void ptxMbarrierExpect(bool on, unsigned long long *word, unsigned bytes) {
    if (on) mbarrierWord<1>::expect(word, bytes);
}
__device__ inline void ptxMbarrierComplete(bool on, unsigned long long *word, unsigned bytes) {
    if (on) mbarrierWord<1>::complete(word, bytes);
}
__device__ inline bool ptxMbarrierTest(bool on, unsigned long long *word, unsigned long long token) {
    bool done = false;
    if (on) done = mbarrierWord<1>::passed(word, token);
    return done;
}
__device__ inline bool ptxMbarrierTestParity(bool on, unsigned long long *word, unsigned parity) {
    bool done = false;
    if (on) done = mbarrierWord<1>::passedParity(word, parity);
    return done;
}
__device__ inline void ptxMbarrierWait(bool on, unsigned long long *word, unsigned long long token) {
    if (on) while (!mbarrierWord<1>::passed(word, token)) {}
}
__device__ inline void ptxMbarrierWaitParity(bool on, unsigned long long *word, unsigned parity) {
    if (on) while (!mbarrierWord<1>::passedParity(word, parity)) {}
}
__device__ inline unsigned ptxMbarrierPending(unsigned long long token) { return WS_MBARRIER_PENDING(token); }
// The thread's copies so far count as one of the expected arrivals (`noinc`), or as one more, once they have landed.
__device__ inline void ptxMbarrierArriveOfCopies(bool on, unsigned long long *word, unsigned more) {
    if (on) {
        __pipeline_commit();
        __pipeline_wait_prior(0);
        if (more == 0) mbarrierWord<1>::arrive(word, 1, 0);
    }
}
// Copies of whole blocks of bytes: the bytes are there when the barrier has counted them, or the group is waited for.
__device__ inline void ptxCopyBulk(bool on, void *to, const void *from, unsigned bytes) {
    if (on) {
        if (bytes % 16 != 0 || (size_t)to % 16 != 0 || (size_t)from % 16 != 0) __trap();
        for (unsigned i = 0; i < bytes / 16; i++) ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    }
}
__device__ inline void ptxCopyBulkCounted(bool on, void *to, const void *from, unsigned bytes, unsigned long long *word) {
    ptxCopyBulk(on, to, from, bytes);
    if (on) mbarrierWord<1>::complete(word, bytes);
}

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;
__device__ inline unsigned __mbarrier_maximum_count() { return (1u << 20) - 1; }
__device__ inline void __mbarrier_init(unsigned long long *word, unsigned count) { mbarrierWord<1>::init(word, count); }
__device__ inline void __mbarrier_inval(unsigned long long *word) { *word = 0; }
__device__ inline unsigned long long __mbarrier_arrive(unsigned long long *word) { return mbarrierWord<1>::arrive(word, 1, 0); }
__device__ inline unsigned long long __mbarrier_arrive_and_drop(unsigned long long *word) { return mbarrierWord<1>::arrive(word, 1, 1); }
__device__ inline bool __mbarrier_test_wait(unsigned long long *word, unsigned long long token) { return mbarrierWord<1>::passed(word, token); }
__device__ inline bool __mbarrier_try_wait(unsigned long long *word, unsigned long long token, unsigned = 0) { return mbarrierWord<1>::passed(word, token); }
__device__ inline bool __mbarrier_test_wait_parity(unsigned long long *word, bool parity) { return mbarrierWord<1>::passedParity(word, parity); }
__device__ inline bool __mbarrier_try_wait_parity(unsigned long long *word, bool parity, unsigned = 0) { return mbarrierWord<1>::passedParity(word, parity); }
__device__ inline unsigned __mbarrier_token_pending_count(unsigned long long token) { return WS_MBARRIER_PENDING(token); }
__device__ inline void __pipeline_arrive_on(unsigned long long *word) { ptxMbarrierArriveOfCopies(true, word, 0); }

namespace cuda {
template <thread_scope S, typename F = void> struct barrier {
    typedef unsigned long long arrival_token;
    unsigned long long word;

    barrier() = default;
    __device__ barrier(unsigned expected) { mbarrierWord<scopeOfAtomics<S>::value>::init(&word, expected); }
    // What this thread copied is there when it arrives.
    __device__ arrival_token arrive(unsigned n = 1) {
        __pipeline_wait_prior(0);
        return arriveWithoutCopies(n);
    }
    __device__ arrival_token arriveWithoutCopies(unsigned n) { return mbarrierWord<scopeOfAtomics<S>::value>::arrive(&word, n, 0); }
    __device__ bool try_wait(arrival_token token) { return mbarrierWord<scopeOfAtomics<S>::value>::passed(&word, token); }
    __device__ bool try_wait_parity(bool parity) { return mbarrierWord<scopeOfAtomics<S>::value>::passedParity(&word, parity); }
    __device__ void wait(arrival_token token) { while (!try_wait(token)) {} }
    __device__ void wait_parity(bool parity) { while (!try_wait_parity(parity)) {} }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ void arrive_and_drop() {
        __pipeline_wait_prior(0);
        mbarrierWord<scopeOfAtomics<S>::value>::arrive(&word, 1, 1);
    }
    static constexpr unsigned long long max() { return (1ull << 20) - 1; }
};

template <thread_scope S, typename F> __device__ void init(barrier<S, F> *b, unsigned expected) {
    mbarrierWord<scopeOfAtomics<S>::value>::init(&b->word, expected);
}

namespace device {
template <thread_scope S, typename F> __device__ unsigned long long *barrier_native_handle(barrier<S, F> &b) { return &b.word; }
template <thread_scope S, typename F> __device__ unsigned long long barrier_arrive_tx(barrier<S, F> &b, unsigned n, unsigned bytes) {
    mbarrierWord<scopeOfAtomics<S>::value>::expect(&b.word, bytes);
    return b.arriveWithoutCopies(n);
}
template <thread_scope S, typename F> __device__ void barrier_expect_tx(barrier<S, F> &b, unsigned bytes) {
    mbarrierWord<scopeOfAtomics<S>::value>::expect(&b.word, bytes);
}
template <typename T, typename N, thread_scope S, typename F> __device__ void memcpy_async_tx(T *to, const T *from, N bytes, barrier<S, F> &b) {
    ptxCopyBulkCounted(true, to, from, (unsigned)(size_t)bytes, &b.word);
}
} // namespace device

// A counter that threads wait to see at zero, once.
template <thread_scope S> struct latch {
    long long left;
    __device__ latch(long long expected) : left(expected) {}
    __device__ void count_down(long long n = 1) { __nv_atomic_fetch_sub(&left, n, __NV_ATOMIC_RELEASE, scopeOfAtomics<S>::value); }
    __device__ bool try_wait() { return __nv_atomic_load_n(&left, __NV_ATOMIC_ACQUIRE, scopeOfAtomics<S>::value) == 0; }
    __device__ void wait() { while (!try_wait()) {} }
    __device__ void arrive_and_wait(long long n = 1) { count_down(n); wait(); }
};
template <thread_scope S, long long MOST = 2147483647> struct counting_semaphore {
    long long held;
    __device__ counting_semaphore(long long n) : held(n) {}
    __device__ void release(long long n = 1) { __nv_atomic_fetch_add(&held, n, __NV_ATOMIC_RELEASE, scopeOfAtomics<S>::value); }
    __device__ bool try_acquire() {
        long long old = __nv_atomic_load_n(&held, __NV_ATOMIC_RELAXED, scopeOfAtomics<S>::value);
        if (old <= 0) return false;
        return __nv_atomic_compare_exchange_n(&held, &old, old - 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED, scopeOfAtomics<S>::value);
    }
    __device__ void acquire() { while (!try_acquire()) {} }
};
template <thread_scope S> using binary_semaphore = counting_semaphore<S, 1>;
template <thread_scope S = thread_scope_system> struct atomic_flag {
    unsigned held;
    __device__ bool test_and_set(int order = memory_order_seq_cst) { return __nv_atomic_exchange_n(&held, 1u, order, scopeOfAtomics<S>::value) != 0; }
    __device__ bool test(int order = memory_order_seq_cst) { return __nv_atomic_load_n(&held, order, scopeOfAtomics<S>::value) != 0; }
    __device__ void clear(int order = memory_order_seq_cst) { __nv_atomic_store_n(&held, 0u, order, scopeOfAtomics<S>::value); }
};

template <size_t N> struct aligned_size_t {
    size_t value;
    __host__ __device__ aligned_size_t(size_t n) : value(n) {}
    __host__ __device__ operator size_t() const { return value; }
};

template <typename G> __device__ void copyByGroup(const G &group, void *to, const void *from, size_t bytes) {
    size_t words = ((size_t)to % 4 == 0 && (size_t)from % 4 == 0) ? bytes / 4 : 0;
    for (size_t i = group.thread_rank(); i < words; i += group.size())
        __pipeline_memcpy_async((char *)to + 4 * i, (const char *)from + 4 * i, 4);
    for (size_t i = 4 * words + group.thread_rank(); i < bytes; i += group.size())
        ((char *)to)[i] = ((const char *)from)[i];
}
struct threadAlone {
    __device__ unsigned thread_rank() const { return 0; }
    __device__ unsigned size() const { return 1; }
};
template <typename G, thread_scope S, typename F>
__device__ void memcpy_async(const G &group, void *to, const void *from, size_t bytes, barrier<S, F> &b) {
    copyByGroup(group, to, from, bytes);
    __pipeline_commit();
}
template <thread_scope S, typename F>
__device__ void memcpy_async(void *to, const void *from, size_t bytes, barrier<S, F> &b) {
    threadAlone self;
    copyByGroup(self, to, from, bytes);
    __pipeline_commit();
}

template <thread_scope S, int STAGES> struct pipeline_shared_state { barrier<S> full[STAGES], free[STAGES]; };
enum class pipeline_role { producer, consumer };

// Each stage has a barrier that producers fill it through, and one that consumers give it back through. `in` and `out`
// count the stages of a thread.
template <thread_scope S> struct pipeline {
    barrier<S> *full, *free;
    int stages, in, out;
    bool produces, consumes;

    __device__ void producer_acquire() {
        if (full == nullptr) return;
        if (consumes && in - out >= stages) __trap();
        if (in >= stages) free[in % stages].wait_parity((in / stages - 1) & 1);
    }
    __device__ void producer_commit() {
        __pipeline_commit();
        // The copies of a thread that consumes, too, may be under way until it needs them.
        if (full != nullptr && !consumes) full[in % stages].arrive();
        in++;
    }
    __device__ void land(int left) const {
        switch (left) {
        case 0: __pipeline_wait_prior(0); break;
        case 1: __pipeline_wait_prior(1); break;
        case 2: __pipeline_wait_prior(2); break;
        case 3: __pipeline_wait_prior(3); break;
        case 4: __pipeline_wait_prior(4); break;
        case 5: __pipeline_wait_prior(5); break;
        case 6: __pipeline_wait_prior(6); break;
        case 7: __pipeline_wait_prior(7); break;
        default: __pipeline_wait_prior(8);
        }
    }
    __device__ void meet() {
        if (full == nullptr) return;
        if (produces) full[out % stages].arriveWithoutCopies(1);
        full[out % stages].wait_parity((out / stages) & 1);
    }
    __device__ void consumer_wait() {
        if (produces) land(in - out - 1);
        meet();
    }
    __device__ void consumer_release() {
        if (full != nullptr) free[out % stages].arriveWithoutCopies(1);
        out++;
    }
    __device__ bool quit() const { return true; }
};
template <int PRIOR, thread_scope S> __device__ void pipeline_consumer_wait_prior(pipeline<S> &p) { p.land(PRIOR); p.meet(); }

__device__ inline pipeline<thread_scope_thread> make_pipeline() {
    pipeline<thread_scope_thread> p;
    p.full = nullptr; p.free = nullptr;
    p.stages = 1 << 30; p.in = 0; p.out = 0;
    p.produces = true; p.consumes = true;
    return p;
}
template <typename G, thread_scope S, int STAGES>
__device__ pipeline<S> pipelineOfRoles(const G &group, pipeline_shared_state<S, STAGES> *state, unsigned producers, unsigned consumers,
                                       bool produces, bool consumes) {
    if (group.thread_rank() == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(&state->full[i], producers);
            init(&state->free[i], consumers);
        }
    }
    group.sync();
    pipeline<S> p;
    p.full = state->full; p.free = state->free;
    p.stages = STAGES; p.in = 0; p.out = 0;
    p.produces = produces; p.consumes = consumes;
    return p;
}
template <typename G, thread_scope S, int STAGES>
__device__ pipeline<S> make_pipeline(const G &group, pipeline_shared_state<S, STAGES> *state) {
    return pipelineOfRoles(group, state, (unsigned)group.size(), (unsigned)group.size(), true, true);
}
// How many threads have each role is what they say.
template <typename G, thread_scope S, int STAGES>
__device__ pipeline<S> make_pipeline(const G &group, pipeline_shared_state<S, STAGES> *state, pipeline_role role) {
    bool produces = role == pipeline_role::producer;
    unsigned producers = (unsigned)__syncthreads_count(produces);
    return pipelineOfRoles(group, state, producers, (unsigned)group.size() - producers, produces, !produces);
}
template <typename G, thread_scope S, int STAGES>
__device__ pipeline<S> make_pipeline(const G &group, pipeline_shared_state<S, STAGES> *state, size_t producers) {
    bool produces = group.thread_rank() < producers;
    return pipelineOfRoles(group, state, (unsigned)producers, (unsigned)(group.size() - producers), produces, !produces);
}
template <typename G, thread_scope S>
__device__ void memcpy_async(const G &group, void *to, const void *from, size_t bytes, pipeline<S> &p) {
    copyByGroup(group, to, from, bytes);
}
template <thread_scope S>
__device__ void memcpy_async(void *to, const void *from, size_t bytes, pipeline<S> &p) {
    threadAlone self;
    copyByGroup(self, to, from, bytes);
}

// A variable that threads change at once.
template <typename T, thread_scope S = thread_scope_system> struct atomic {
    T held;
    atomic() = default;
    __host__ __device__ constexpr atomic(T v) : held(v) {}
    __device__ atomic_ref<T, S> self() { return atomic_ref<T, S>(held); }
    __device__ T fetch_add(T v, int order = memory_order_seq_cst) { return self().fetch_add(v, order); }
    __device__ T fetch_sub(T v, int order = memory_order_seq_cst) { return self().fetch_sub(v, order); }
    __device__ T fetch_min(T v, int order = memory_order_seq_cst) { return self().fetch_min(v, order); }
    __device__ T fetch_max(T v, int order = memory_order_seq_cst) { return self().fetch_max(v, order); }
    __device__ T fetch_and(T v, int order = memory_order_seq_cst) { return self().fetch_and(v, order); }
    __device__ T fetch_or(T v, int order = memory_order_seq_cst) { return self().fetch_or(v, order); }
    __device__ T fetch_xor(T v, int order = memory_order_seq_cst) { return self().fetch_xor(v, order); }
    __device__ T exchange(T v, int order = memory_order_seq_cst) { return self().exchange(v, order); }
    __device__ T load(int order = memory_order_seq_cst) { return self().load(order); }
    __device__ void store(T v, int order = memory_order_seq_cst) { self().store(v, order); }
    __device__ bool compare_exchange_strong(T &expected, T wanted, int order = memory_order_seq_cst) {
        return self().compare_exchange_strong(expected, wanted, order);
    }
    __device__ bool compare_exchange_weak(T &expected, T wanted, int order = memory_order_seq_cst) {
        return self().compare_exchange_strong(expected, wanted, order);
    }
    __device__ bool compare_exchange_strong(T &expected, T wanted, int success, int failure) {
        return self().compare_exchange_strong(expected, wanted, success, failure);
    }
    __device__ bool compare_exchange_weak(T &expected, T wanted, int success, int failure) {
        return self().compare_exchange_strong(expected, wanted, success, failure);
    }
    __device__ void wait(T old, int order = memory_order_seq_cst) { self().wait(old, order); }
    __device__ void notify_one() {}
    __device__ void notify_all() {}
    __device__ bool is_lock_free() { return true; }
    __device__ T operator++(int) { return fetch_add(1); }
    __device__ T operator++() { return fetch_add(1) + 1; }
    __device__ T operator--(int) { return fetch_sub(1); }
    __device__ T operator--() { return fetch_sub(1) - 1; }
    __device__ T operator+=(T v) { return fetch_add(v) + v; }
    __device__ T operator-=(T v) { return fetch_sub(v) - v; }
    __device__ T operator&=(T v) { return fetch_and(v) & v; }
    __device__ T operator|=(T v) { return fetch_or(v) | v; }
    __device__ T operator^=(T v) { return fetch_xor(v) ^ v; }
    __device__ T operator=(T v) { store(v); return v; }
    __device__ operator T() { return load(); }
};
__device__ inline void atomic_thread_fence(int order, int scope = thread_scope_system) {
    if (scope == thread_scope_block || scope == thread_scope_thread) __nv_atomic_thread_fence(order, __NV_THREAD_SCOPE_BLOCK);
    else if (scope == thread_scope_device) __nv_atomic_thread_fence(order, __NV_THREAD_SCOPE_DEVICE);
    else __nv_atomic_thread_fence(order, __NV_THREAD_SCOPE_SYSTEM);
}
namespace std {
template <typename T> using atomic = ::cuda::atomic<T>;
template <typename T> using atomic_ref = ::cuda::atomic_ref<T>;
using ::cuda::atomic_thread_fence;
} // namespace std
} // namespace cuda

// `cuda::ptx`: instructions as functions; tags say the order, scope and space.
namespace cuda {
namespace ptx {
struct sem_release_t {}; struct sem_acquire_t {}; struct sem_relaxed_t {}; struct sem_acq_rel_t {}; struct sem_sc_t {};
struct scope_cta_t {}; struct scope_cluster_t {}; struct scope_gpu_t {}; struct scope_sys_t {};
struct space_shared_t {}; struct space_cluster_t {}; struct space_global_t {};
__device__ constexpr sem_release_t sem_release{}; __device__ constexpr sem_acquire_t sem_acquire{};
__device__ constexpr sem_relaxed_t sem_relaxed{}; __device__ constexpr sem_acq_rel_t sem_acq_rel{}; __device__ constexpr sem_sc_t sem_sc{};
__device__ constexpr scope_cta_t scope_cta{}; __device__ constexpr scope_cluster_t scope_cluster{};
__device__ constexpr scope_gpu_t scope_gpu{}; __device__ constexpr scope_sys_t scope_sys{};
__device__ constexpr space_shared_t space_shared{}; __device__ constexpr space_cluster_t space_cluster{};
__device__ constexpr space_global_t space_global{};

__device__ inline void mbarrier_init(unsigned long long *word, unsigned count) { mbarrierWord<1>::init(word, count); }
__device__ inline void mbarrier_inval(unsigned long long *word) { *word = 0; }
__device__ inline unsigned long long mbarrier_arrive(unsigned long long *word) { return mbarrierWord<1>::arrive(word, 1, 0); }
__device__ inline unsigned long long mbarrier_arrive(unsigned long long *word, unsigned n) { return mbarrierWord<1>::arrive(word, n, 0); }
template <typename O, typename C, typename P> __device__ unsigned long long mbarrier_arrive(O, C, P, unsigned long long *word, unsigned n = 1) {
    return mbarrierWord<1>::arrive(word, n, 0);
}
__device__ inline unsigned long long mbarrier_arrive_no_complete(unsigned long long *word, unsigned n) { return mbarrierWord<1>::arrive(word, n, 0); }
template <typename O, typename C, typename P>
__device__ unsigned long long mbarrier_arrive_expect_tx(O, C, P, unsigned long long *word, unsigned bytes) {
    return ptxMbarrierArriveExpecting(true, word, bytes, 0);
}
template <typename O, typename C, typename P> __device__ void mbarrier_expect_tx(O, C, P, unsigned long long *word, unsigned bytes) {
    mbarrierWord<1>::expect(word, bytes);
}
__device__ inline bool mbarrier_test_wait(unsigned long long *word, unsigned long long token) { return mbarrierWord<1>::passed(word, token); }
__device__ inline bool mbarrier_try_wait(unsigned long long *word, unsigned long long token) { return mbarrierWord<1>::passed(word, token); }
__device__ inline bool mbarrier_test_wait_parity(unsigned long long *word, unsigned parity) { return mbarrierWord<1>::passedParity(word, parity); }
__device__ inline bool mbarrier_try_wait_parity(unsigned long long *word, unsigned parity) { return mbarrierWord<1>::passedParity(word, parity); }
template <typename O, typename C> __device__ bool mbarrier_test_wait(O, C, unsigned long long *word, unsigned long long token) {
    return mbarrierWord<1>::passed(word, token);
}
template <typename O, typename C> __device__ bool mbarrier_try_wait(O, C, unsigned long long *word, unsigned long long token) {
    return mbarrierWord<1>::passed(word, token);
}
template <typename O, typename C> __device__ bool mbarrier_test_wait_parity(O, C, unsigned long long *word, unsigned parity) {
    return mbarrierWord<1>::passedParity(word, parity);
}
template <typename O, typename C> __device__ bool mbarrier_try_wait_parity(O, C, unsigned long long *word, unsigned parity) {
    return mbarrierWord<1>::passedParity(word, parity);
}
template <typename T, typename F>
__device__ void cp_async_bulk(T, F, void *to, const void *from, unsigned bytes, unsigned long long *word) {
    ptxCopyBulkCounted(true, to, from, bytes, word);
}
template <typename T, typename F> __device__ void cp_async_bulk(T, F, void *to, const void *from, unsigned bytes) {
    ptxCopyBulk(true, to, from, bytes);
}
__device__ inline void cp_async_bulk_commit_group() {}
template <typename N> __device__ void cp_async_bulk_wait_group(N) {}
template <typename N> __device__ void cp_async_bulk_wait_group_read(N) {}
template <int N> struct n32_t { static constexpr int value = N; };
template <typename P> __device__ void fence_proxy_async(P) {}
__device__ inline void fence_proxy_async() {}
template <typename O, typename C> __device__ void fence_mbarrier_init(O, C) {}
template <typename O> __device__ void fence(O, scope_cta_t) { __threadfence_block(); }
template <typename O> __device__ void fence(O, scope_cluster_t) { __threadfence(); }
template <typename O> __device__ void fence(O, scope_gpu_t) { __threadfence(); }
template <typename O> __device__ void fence(O, scope_sys_t) { __threadfence_system(); }
} // namespace ptx
} // namespace cuda
