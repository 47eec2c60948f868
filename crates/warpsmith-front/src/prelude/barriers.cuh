// Barriers, pipelines and atomic variables of libcu++. A barrier counts arrivals by atomic operations, so that what it
// orders, and what it does not, is seen as in any other program.

namespace cuda {
struct arrival_token { unsigned phase; };

template <thread_scope S, typename F = void> struct barrier {
    typedef arrival_token token_type;
    unsigned expected, pending, phase;

    __device__ void fence() const { if (S == thread_scope_block) __threadfence_block(); else __threadfence(); }
    __device__ void settle(unsigned n) {
        if (atomicSub(&pending, n) == n) {
            fence();
            atomicExch(&pending, *(volatile unsigned *)&expected);
            fence();
            atomicAdd(&phase, 1u);
        }
    }
    __device__ arrival_token arrive(unsigned n = 1) {
        arrival_token token;
        // What this thread copied is there when it arrives.
        __pipeline_wait_prior(0);
        token.phase = *(volatile unsigned *)&phase;
        fence();
        settle(n);
        return token;
    }
    __device__ void wait(arrival_token token) {
        while (*(volatile unsigned *)&phase == token.phase) {}
        fence();
    }
    __device__ bool try_wait(arrival_token token) {
        bool done = *(volatile unsigned *)&phase != token.phase;
        if (done) fence();
        return done;
    }
    __device__ void wait_parity(bool parity) {
        while ((*(volatile unsigned *)&phase & 1u) == (parity ? 1u : 0u)) {}
        fence();
    }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ void arrive_and_drop() {
        __pipeline_wait_prior(0);
        fence();
        atomicSub(&expected, 1u);
        settle(1);
    }
};

template <thread_scope S, typename F> __device__ void init(barrier<S, F> *b, unsigned expected) {
    b->expected = expected;
    b->pending = expected;
    b->phase = 0;
}

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

template <thread_scope S, int STAGES> struct pipeline_shared_state { barrier<S> full, free; };

// A pipeline whose threads all produce and consume. `in` and `out` count the stages of a thread.
template <thread_scope S> struct pipeline {
    barrier<S> *full, *free;
    int stages, in, out;

    __device__ void sync(barrier<S> *b) const {
        if (b == nullptr) return;
        b->fence();
        unsigned phase = *(volatile unsigned *)&b->phase;
        b->settle(1);
        while (*(volatile unsigned *)&b->phase == phase) {}
        b->fence();
    }
    __device__ void producer_acquire() { if (in - out >= stages) __trap(); }
    __device__ void producer_commit() { __pipeline_commit(); in++; }
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
    __device__ void consumer_wait() { land(in - out - 1); sync(full); }
    __device__ void consumer_release() { out++; sync(free); }
    __device__ bool quit() const { return true; }
};
template <int PRIOR, thread_scope S> __device__ void pipeline_consumer_wait_prior(pipeline<S> &p) { p.land(PRIOR); p.sync(p.full); }

__device__ inline pipeline<thread_scope_thread> make_pipeline() {
    pipeline<thread_scope_thread> p;
    p.full = nullptr; p.free = nullptr;
    p.stages = 1 << 30; p.in = 0; p.out = 0;
    return p;
}
template <typename G, thread_scope S, int STAGES>
__device__ pipeline<S> make_pipeline(const G &group, pipeline_shared_state<S, STAGES> *state) {
    if (group.thread_rank() == 0) {
        init(&state->full, (unsigned)group.size());
        init(&state->free, (unsigned)group.size());
    }
    group.sync();
    pipeline<S> p;
    p.full = &state->full; p.free = &state->free;
    p.stages = STAGES; p.in = 0; p.out = 0;
    return p;
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
    __device__ T operator++(int) { return fetch_add(1); }
    __device__ T operator++() { return fetch_add(1) + 1; }
    __device__ T operator--(int) { return fetch_sub(1); }
    __device__ T operator--() { return fetch_sub(1) - 1; }
    __device__ T operator+=(T v) { return fetch_add(v) + v; }
    __device__ T operator-=(T v) { return fetch_sub(v) - v; }
    __device__ T operator=(T v) { store(v); return v; }
    __device__ operator T() { return load(); }
};
__device__ inline void atomic_thread_fence(int order, int scope = thread_scope_system) {
    if (order == memory_order_relaxed) return;
    if (scope == thread_scope_block) __threadfence_block(); else __threadfence();
}
namespace std {
template <typename T> using atomic = ::cuda::atomic<T>;
template <typename T> using atomic_ref = ::cuda::atomic_ref<T>;
} // namespace std
} // namespace cuda
