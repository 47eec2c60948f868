// Primitives of blocks and warps as CUB's documentation describes them: what they return and which barriers their callers
// owe, not how they are fast. Storage that is used again without a barrier between is a race here as there.
#ifndef WS_CUB_H
#define WS_CUB_H
namespace cub {
struct Sum { template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; } };
struct Max { template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return b > a ? b : a; } };
struct Min { template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
struct Equality { template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const { return a == b; } };
struct Inequality { template <typename T> __host__ __device__ bool operator()(const T &a, const T &b) const { return a != b; } };
struct Difference { template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return a - b; } };
struct NullType {};
template <typename K, typename V> struct KeyValuePair { K key; V value; };
struct ArgMax {
    template <typename K, typename V>
    __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
        return (b.value > a.value || (a.value == b.value && b.key < a.key)) ? b : a;
    }
};
struct ArgMin {
    template <typename K, typename V>
    __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
        return (b.value < a.value || (a.value == b.value && b.key < a.key)) ? b : a;
    }
};
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

__device__ inline int RowMajorTid(int x, int y, int z) { return (threadIdx.z * y + threadIdx.y) * x + threadIdx.x; }
__device__ inline unsigned LaneId() { return RowMajorTid(blockDim.x, blockDim.y, blockDim.z) % 32; }
__device__ inline unsigned WarpId() { return RowMajorTid(blockDim.x, blockDim.y, blockDim.z) / 32; }
__host__ __device__ inline int DivideAndRoundUp(int n, int d) { return (n + d - 1) / d; }
__device__ inline unsigned LaneMaskLt() { return (1u << LaneId()) - 1; }
__device__ inline unsigned LaneMaskLe() { return LaneMaskLt() | 1u << LaneId(); }
__device__ inline unsigned LaneMaskGt() { return ~LaneMaskLe(); }
__device__ inline unsigned LaneMaskGe() { return ~LaneMaskLt(); }
__device__ inline void CTA_SYNC() { __syncthreads(); }
__device__ inline int CTA_SYNC_AND(int p) { return __syncthreads_and(p); }
__device__ inline int CTA_SYNC_OR(int p) { return __syncthreads_or(p); }
__device__ inline void WARP_SYNC(unsigned mask) { __syncwarp(mask); }
__device__ inline int WARP_ANY(int p, unsigned mask) { return __any_sync(mask, p); }
__device__ inline int WARP_ALL(int p, unsigned mask) { return __all_sync(mask, p); }
__device__ inline unsigned WARP_BALLOT(int p, unsigned mask) { return __ballot_sync(mask, p); }
template <int WIDTH, typename T> __device__ T ShuffleUp(T value, int by, int first, unsigned mask) { return __shfl_up_sync(mask, value, by, WIDTH); }
template <int WIDTH, typename T> __device__ T ShuffleDown(T value, int by, int last, unsigned mask) { return __shfl_down_sync(mask, value, by, WIDTH); }
template <int WIDTH, typename T> __device__ T ShuffleIndex(T value, int from, unsigned mask) { return __shfl_sync(mask, value, from, WIDTH); }

// Loads and stores of a thread; how they are cached does not change what they give.
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier M, typename P> __device__ auto ThreadLoad(P from) { return *from; }
template <CacheStoreModifier M, typename P, typename T> __device__ void ThreadStore(P to, T value) { *to = value; }
template <int N, typename T, typename Op> __device__ T ThreadReduce(T (&items)[N], Op op) {
    T own = items[0];
    for (int i = 1; i < N; i++) own = op(own, items[i]);
    return own;
}
template <typename T, int N, typename P> __device__ void LoadDirectBlocked(int thread, P from, T (&items)[N]) {
    for (int i = 0; i < N; i++) items[i] = from[thread * N + i];
}
template <typename T, int N, typename P> __device__ void LoadDirectBlocked(int thread, P from, T (&items)[N], int valid) {
    for (int i = 0; i < N; i++)
        if (thread * N + i < valid) items[i] = from[thread * N + i];
}
template <typename T, int N, typename P, typename V> __device__ void LoadDirectBlocked(int thread, P from, T (&items)[N], int valid, V otherwise) {
    for (int i = 0; i < N; i++) items[i] = otherwise;
    LoadDirectBlocked(thread, from, items, valid);
}
template <typename T, int N> __device__ void LoadDirectBlockedVectorized(int thread, T *from, T (&items)[N]) { LoadDirectBlocked(thread, from, items); }
template <int X, typename T, int N, typename P> __device__ void LoadDirectStriped(int thread, P from, T (&items)[N]) {
    for (int i = 0; i < N; i++) items[i] = from[i * X + thread];
}
template <int X, typename T, int N, typename P> __device__ void LoadDirectStriped(int thread, P from, T (&items)[N], int valid) {
    for (int i = 0; i < N; i++)
        if (i * X + thread < valid) items[i] = from[i * X + thread];
}
template <int X, typename T, int N, typename P, typename V>
__device__ void LoadDirectStriped(int thread, P from, T (&items)[N], int valid, V otherwise) {
    for (int i = 0; i < N; i++) items[i] = otherwise;
    LoadDirectStriped<X>(thread, from, items, valid);
}
template <typename T, int N, typename P> __device__ void LoadDirectWarpStriped(int thread, P from, T (&items)[N]) {
    for (int i = 0; i < N; i++) items[i] = from[thread / 32 * 32 * N + i * 32 + thread % 32];
}
template <typename T, int N, typename P> __device__ void StoreDirectBlocked(int thread, P to, T (&items)[N]) {
    for (int i = 0; i < N; i++) to[thread * N + i] = items[i];
}
template <typename T, int N, typename P> __device__ void StoreDirectBlocked(int thread, P to, T (&items)[N], int valid) {
    for (int i = 0; i < N; i++)
        if (thread * N + i < valid) to[thread * N + i] = items[i];
}
template <int X, typename T, int N, typename P> __device__ void StoreDirectStriped(int thread, P to, T (&items)[N]) {
    for (int i = 0; i < N; i++) to[i * X + thread] = items[i];
}
template <int X, typename T, int N, typename P> __device__ void StoreDirectStriped(int thread, P to, T (&items)[N], int valid) {
    for (int i = 0; i < N; i++)
        if (i * X + thread < valid) to[i * X + thread] = items[i];
}
template <typename T, int N, typename P> __device__ void StoreDirectWarpStriped(int thread, P to, T (&items)[N]) {
    for (int i = 0; i < N; i++) to[thread / 32 * 32 * N + i * 32 + thread % 32] = items[i];
}

template <CacheLoadModifier M, typename T, typename O = long long> struct CacheModifiedInputIterator {
    const T *p;
    __host__ __device__ CacheModifiedInputIterator(const T *p) : p(p) {}
    __device__ T operator*() const { return *p; }
    __device__ T operator[](O i) const { return p[i]; }
    __host__ __device__ CacheModifiedInputIterator operator+(O n) const { return CacheModifiedInputIterator(p + n); }
};
template <typename T, typename O = long long> struct CountingInputIterator {
    T first;
    __host__ __device__ CountingInputIterator(T first) : first(first) {}
    __host__ __device__ T operator*() const { return first; }
    __host__ __device__ T operator[](O i) const { return first + (T)i; }
    __host__ __device__ CountingInputIterator operator+(O n) const { return CountingInputIterator(first + (T)n); }
};
template <typename T, typename O = long long> struct ConstantInputIterator {
    T value;
    __host__ __device__ ConstantInputIterator(T value) : value(value) {}
    __host__ __device__ T operator*() const { return value; }
    __host__ __device__ T operator[](O i) const { return value; }
    __host__ __device__ ConstantInputIterator operator+(O n) const { return *this; }
};
template <typename T, typename F, typename I, typename O = long long> struct TransformInputIterator {
    I inner; F f;
    __host__ __device__ TransformInputIterator(I inner, F f) : inner(inner), f(f) {}
    __host__ __device__ T operator*() const { return f(*inner); }
    __host__ __device__ T operator[](O i) const { return f(inner[i]); }
    __host__ __device__ TransformInputIterator operator+(O n) const { return TransformInputIterator(inner + n, f); }
};

template <typename T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int ARCH = 0>
class BlockReduce {
  public:
    struct TempStorage { T parts[X * Y * Z]; };
    __device__ BlockReduce(TempStorage &storage) : storage(&storage) {}
    __device__ BlockReduce() : storage(own()) {}
    // The result is in the first thread; the others have no defined one.
    template <typename Op> __device__ T Reduce(T value, Op op, int valid) {
        int thread = RowMajorTid(X, Y, Z);
        storage->parts[thread] = value;
        __syncthreads();
        if (thread == 0)
            for (int i = 1; i < valid; i++) value = op(value, storage->parts[i]);
        return value;
    }
    template <typename Op> __device__ T Reduce(T value, Op op) { return Reduce(value, op, X * Y * Z); }
    template <int N, typename Op> __device__ T Reduce(T (&values)[N], Op op) {
        T own = values[0];
        for (int i = 1; i < N; i++) own = op(own, values[i]);
        return Reduce(own, op, X * Y * Z);
    }
    __device__ T Sum(T value) { return Reduce(value, cub::Sum(), X * Y * Z); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
    template <int N> __device__ T Sum(T (&values)[N]) { return Reduce(values, cub::Sum()); }

  private:
    TempStorage *storage;
    static __device__ TempStorage *own() {
        __shared__ TempStorage storage;
        return &storage;
    }
};

template <typename T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int ARCH = 0> class BlockScan {
  public:
    struct TempStorage { T parts[X * Y * Z]; T prefix; };
    __device__ BlockScan(TempStorage &storage) : storage(&storage) {}
    __device__ BlockScan() : storage(own()) {}

    template <typename Op> __device__ void InclusiveScan(T value, T &result, Op op, T &all) {
        T own = before(value, value, false, op, all);
        result = RowMajorTid(X, Y, Z) == 0 ? value : op(own, value);
    }
    template <typename Op> __device__ void InclusiveScan(T value, T &result, Op op) {
        T all;
        InclusiveScan(value, result, op, all);
    }
    template <typename Op> __device__ void ExclusiveScan(T value, T &result, T first, Op op, T &all) {
        result = before(value, first, true, op, all);
    }
    template <typename Op> __device__ void ExclusiveScan(T value, T &result, T first, Op op) {
        T all;
        ExclusiveScan(value, result, first, op, all);
    }
    __device__ void InclusiveSum(T value, T &result) { InclusiveScan(value, result, cub::Sum()); }
    __device__ void InclusiveSum(T value, T &result, T &all) { InclusiveScan(value, result, cub::Sum(), all); }
    __device__ void ExclusiveSum(T value, T &result) { ExclusiveScan(value, result, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T value, T &result, T &all) { ExclusiveScan(value, result, T(0), cub::Sum(), all); }

    // The first thread has no defined result.
    template <typename Op> __device__ void ExclusiveScan(T value, T &result, Op op) {
        T all;
        result = before(value, value, false, op, all);
    }
    // What comes before the block is told by a functor, which the threads of the first warp call with the sum of all.
    template <typename F> __device__ void ExclusiveSum(T value, T &result, F &prefix) { result = behind(value, cub::Sum(), prefix); }
    template <typename F> __device__ void InclusiveSum(T value, T &result, F &prefix) { result = behind(value, cub::Sum(), prefix) + value; }
    // The same for several elements of a thread; in the place of a functor there may be a variable for the sum of all.
    template <int N, typename F> __device__ void ExclusiveSum(T (&values)[N], T (&results)[N], F &third) {
        T all, sum = before(ThreadReduce(values, cub::Sum()), T(0), true, cub::Sum(), all);
        sum = begin(third, all) + sum;
        for (int i = 0; i < N; i++) {
            T next = sum + values[i];
            results[i] = sum;
            sum = next;
        }
    }
    template <int N, typename F> __device__ void InclusiveSum(T (&values)[N], T (&results)[N], F &third) {
        T all, sum = before(ThreadReduce(values, cub::Sum()), T(0), true, cub::Sum(), all);
        sum = begin(third, all) + sum;
        for (int i = 0; i < N; i++) {
            sum = sum + values[i];
            results[i] = sum;
        }
    }

    // Several elements of a thread, neighbours of each other.
    template <int N, typename Op> __device__ void InclusiveScan(T (&values)[N], T (&results)[N], Op op, T &all) {
        T own = values[0];
        for (int i = 1; i < N; i++) own = op(own, values[i]);
        T sum = before(own, own, false, op, all);
        for (int i = 0; i < N; i++) {
            sum = i == 0 && RowMajorTid(X, Y, Z) == 0 ? values[0] : op(sum, values[i]);
            results[i] = sum;
        }
    }
    template <int N, typename Op> __device__ void ExclusiveScan(T (&values)[N], T (&results)[N], T first, Op op, T &all) {
        T own = values[0];
        for (int i = 1; i < N; i++) own = op(own, values[i]);
        T sum = before(own, first, true, op, all);
        for (int i = 0; i < N; i++) {
            T next = op(sum, values[i]);
            results[i] = sum;
            sum = next;
        }
    }
    template <int N, typename Op> __device__ void InclusiveScan(T (&values)[N], T (&results)[N], Op op) {
        T all;
        InclusiveScan(values, results, op, all);
    }
    template <int N, typename Op> __device__ void ExclusiveScan(T (&values)[N], T (&results)[N], T first, Op op) {
        T all;
        ExclusiveScan(values, results, first, op, all);
    }
    template <int N> __device__ void InclusiveSum(T (&values)[N], T (&results)[N]) { InclusiveScan(values, results, cub::Sum()); }
    template <int N> __device__ void ExclusiveSum(T (&values)[N], T (&results)[N]) { ExclusiveScan(values, results, T(0), cub::Sum()); }

  private:
    TempStorage *storage;
    static __device__ TempStorage *own() {
        __shared__ TempStorage storage;
        return &storage;
    }
    __device__ T begin(T &told, T all) {
        told = all;
        return T(0);
    }
    template <typename F> __device__ T begin(F &prefix, T all) {
        int thread = RowMajorTid(X, Y, Z);
        if (thread < 32) {
            T told = prefix(all);
            if (thread == 0) storage->prefix = told;
        }
        __syncthreads();
        return storage->prefix;
    }
    template <typename Op, typename F> __device__ T behind(T value, Op op, F &prefix) {
        T all, own = before(value, value, false, op, all), first = begin(prefix, all);
        return RowMajorTid(X, Y, Z) == 0 ? first : op(first, own);
    }
    // What the threads before this one have, `first` before it if there is one; and what all have.
    template <typename Op> __device__ T before(T value, T first, bool begins, Op op, T &all) {
        int thread = RowMajorTid(X, Y, Z);
        storage->parts[thread] = value;
        __syncthreads();
        T own = first;
        for (int i = 0; i < thread; i++) own = i == 0 && !begins ? storage->parts[0] : op(own, storage->parts[i]);
        all = storage->parts[0];
        for (int i = 1; i < X * Y * Z; i++) all = op(all, storage->parts[i]);
        return own;
    }
};

// The lanes that work together with this one. Libraries exchange values of so many lanes by shuffles: the storage may be used
// again at once, which a barrier before its use stands for.
template <int WIDTH> __device__ unsigned LanesTogether() {
    return WIDTH == 32 ? 0xffffffffu : ((1u << (WIDTH & 31)) - 1) << (LaneId() / WIDTH * WIDTH);
}

template <typename T, int WIDTH = 32, int ARCH = 0> class WarpReduce {
  public:
    struct TempStorage { T parts[WIDTH]; };
    __device__ WarpReduce(TempStorage &storage) : storage(&storage) {}
    template <typename Op> __device__ T Reduce(T value, Op op, int valid) {
        int lane = LaneId() % WIDTH;
        __syncwarp(LanesTogether<WIDTH>());
        storage->parts[lane] = value;
        __syncwarp(LanesTogether<WIDTH>());
        if (lane == 0)
            for (int i = 1; i < valid; i++) value = op(value, storage->parts[i]);
        return value;
    }
    template <typename Op> __device__ T Reduce(T value, Op op) { return Reduce(value, op, WIDTH); }
    __device__ T Sum(T value) { return Reduce(value, cub::Sum(), WIDTH); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
    // Segments begin where a lane has the flag, or end there; the first lane of each has the result.
    template <typename Op, typename F> __device__ T HeadSegmentedReduce(T value, F head, Op op) { return segment(value, head != 0, true, op); }
    template <typename Op, typename F> __device__ T TailSegmentedReduce(T value, F tail, Op op) { return segment(value, tail != 0, false, op); }
    template <typename F> __device__ T HeadSegmentedSum(T value, F head) { return segment(value, head != 0, true, cub::Sum()); }
    template <typename F> __device__ T TailSegmentedSum(T value, F tail) { return segment(value, tail != 0, false, cub::Sum()); }

  private:
    TempStorage *storage;
    template <typename Op> __device__ T segment(T value, bool flag, bool heads, Op op) {
        int lane = LaneId() % WIDTH;
        unsigned mask = LanesTogether<WIDTH>();
        unsigned flags = __ballot_sync(mask, flag) >> (LaneId() / WIDTH * WIDTH);
        storage->parts[lane] = value;
        __syncwarp(mask);
        for (int i = lane; i + 1 < WIDTH; i++) {
            if ((flags >> (heads ? i + 1 : i) & 1) != 0) break;
            value = op(value, storage->parts[i + 1]);
        }
        return value;
    }
};

template <typename T, int WIDTH = 32, int ARCH = 0> class WarpScan {
  public:
    struct TempStorage { T parts[WIDTH]; };
    __device__ WarpScan(TempStorage &storage) : storage(&storage) {}
    template <typename Op> __device__ void InclusiveScan(T value, T &result, Op op, T &all) {
        T own = before(value, value, false, op, all);
        result = LaneId() % WIDTH == 0 ? value : op(own, value);
    }
    template <typename Op> __device__ void InclusiveScan(T value, T &result, Op op) {
        T all;
        InclusiveScan(value, result, op, all);
    }
    template <typename Op> __device__ void ExclusiveScan(T value, T &result, T first, Op op, T &all) {
        result = before(value, first, true, op, all);
    }
    template <typename Op> __device__ void ExclusiveScan(T value, T &result, T first, Op op) {
        T all;
        ExclusiveScan(value, result, first, op, all);
    }
    __device__ void InclusiveSum(T value, T &result) { InclusiveScan(value, result, cub::Sum()); }
    __device__ void InclusiveSum(T value, T &result, T &all) { InclusiveScan(value, result, cub::Sum(), all); }
    __device__ void ExclusiveSum(T value, T &result) { ExclusiveScan(value, result, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T value, T &result, T &all) { ExclusiveScan(value, result, T(0), cub::Sum(), all); }
    // The first lane has no defined result.
    template <typename Op> __device__ void ExclusiveScan(T value, T &result, Op op) {
        T all;
        result = before(value, value, false, op, all);
    }
    template <typename Op> __device__ void Scan(T value, T &inclusive, T &exclusive, T first, Op op) {
        T all;
        exclusive = before(value, first, true, op, all);
        inclusive = op(exclusive, value);
    }
    template <typename Op> __device__ void Scan(T value, T &inclusive, T &exclusive, Op op) {
        T all;
        exclusive = before(value, value, false, op, all);
        inclusive = LaneId() % WIDTH == 0 ? value : op(exclusive, value);
    }
    __device__ T Broadcast(T value, unsigned from) {
        __syncwarp(LanesTogether<WIDTH>());
        storage->parts[LaneId() % WIDTH] = value;
        __syncwarp(LanesTogether<WIDTH>());
        return storage->parts[from];
    }

  private:
    TempStorage *storage;
    template <typename Op> __device__ T before(T value, T first, bool begins, Op op, T &all) {
        int lane = LaneId() % WIDTH;
        __syncwarp(LanesTogether<WIDTH>());
        storage->parts[lane] = value;
        __syncwarp(LanesTogether<WIDTH>());
        T own = first;
        for (int i = 0; i < lane; i++) own = i == 0 && !begins ? storage->parts[0] : op(own, storage->parts[i]);
        all = storage->parts[0];
        for (int i = 1; i < WIDTH; i++) all = op(all, storage->parts[i]);
        return own;
    }
};

// Transposing loads and stores go through the storage: threads access neighbouring elements of memory.
template <typename T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int ARCH = 0> class BlockLoad {
  public:
    struct TempStorage { T items[X * Y * Z * N]; };
    __device__ BlockLoad(TempStorage &storage) : storage(&storage) {}
    template <typename P> __device__ void Load(P from, T (&items)[N]) { Load(from, items, X * Y * Z * N); }
    template <typename P> __device__ void Load(P from, T (&items)[N], int valid) {
        int thread = RowMajorTid(X, Y, Z);
        for (int i = 0; i < N; i++) {
            int direct = thread * N + i, striped = i * X * Y * Z + thread;
            if (A == BLOCK_LOAD_TRANSPOSE || A == BLOCK_LOAD_WARP_TRANSPOSE) {
                if (striped < valid) storage->items[striped] = from[striped];
            } else {
                int place = A == BLOCK_LOAD_STRIPED ? striped : direct;
                if (place < valid) items[i] = from[place];
            }
        }
        if (A == BLOCK_LOAD_TRANSPOSE || A == BLOCK_LOAD_WARP_TRANSPOSE) {
            __syncthreads();
            for (int i = 0; i < N; i++)
                if (thread * N + i < valid) items[i] = storage->items[thread * N + i];
        }
    }
    template <typename P, typename V> __device__ void Load(P from, T (&items)[N], int valid, V otherwise) {
        for (int i = 0; i < N; i++) items[i] = otherwise;
        Load(from, items, valid);
    }

  private:
    TempStorage *storage;
};

template <typename T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int ARCH = 0> class BlockStore {
  public:
    struct TempStorage { T items[X * Y * Z * N]; };
    __device__ BlockStore(TempStorage &storage) : storage(&storage) {}
    template <typename P> __device__ void Store(P to, T (&items)[N]) { Store(to, items, X * Y * Z * N); }
    template <typename P> __device__ void Store(P to, T (&items)[N], int valid) {
        int thread = RowMajorTid(X, Y, Z);
        bool transposed = A == BLOCK_STORE_TRANSPOSE || A == BLOCK_STORE_WARP_TRANSPOSE;
        if (transposed) {
            for (int i = 0; i < N; i++) storage->items[thread * N + i] = items[i];
            __syncthreads();
        }
        for (int i = 0; i < N; i++) {
            int direct = thread * N + i, striped = i * X * Y * Z + thread;
            int place = transposed || A == BLOCK_STORE_STRIPED ? striped : direct;
            if (place < valid) to[place] = transposed ? storage->items[striped] : items[i];
        }
    }

  private:
    TempStorage *storage;
};

template <typename K, int X, int N, typename V = NullType> class BlockRadixSort {
  public:
    struct TempStorage { K keys[X * N]; V values[X * N]; };
    __device__ BlockRadixSort(TempStorage &storage) : storage(&storage) {}
    __device__ void Sort(K (&keys)[N], int from = 0, int to = 8 * sizeof(K)) { V none[N]; sort(keys, none, false, false, from, to); }
    __device__ void SortDescending(K (&keys)[N], int from = 0, int to = 8 * sizeof(K)) { V none[N]; sort(keys, none, true, false, from, to); }
    __device__ void SortBlockedToStriped(K (&keys)[N], int from = 0, int to = 8 * sizeof(K)) { V none[N]; sort(keys, none, false, true, from, to); }
    __device__ void SortDescendingBlockedToStriped(K (&keys)[N], int from = 0, int to = 8 * sizeof(K)) { V none[N]; sort(keys, none, true, true, from, to); }
    template <typename W> __device__ void Sort(K (&keys)[N], W (&values)[N], int from = 0, int to = 8 * sizeof(K)) { sort(keys, values, false, false, from, to); }
    template <typename W> __device__ void SortDescending(K (&keys)[N], W (&values)[N], int from = 0, int to = 8 * sizeof(K)) { sort(keys, values, true, false, from, to); }
    template <typename W> __device__ void SortBlockedToStriped(K (&keys)[N], W (&values)[N], int from = 0, int to = 8 * sizeof(K)) { sort(keys, values, false, true, from, to); }
    template <typename W> __device__ void SortDescendingBlockedToStriped(K (&keys)[N], W (&values)[N], int from = 0, int to = 8 * sizeof(K)) { sort(keys, values, true, true, from, to); }

  private:
    TempStorage *storage;
    // Every key goes to the place that as many keys come before; equal ones stay in order.
    __device__ void sort(K (&keys)[N], V (&values)[N], bool descending, bool striped, int from, int to) {
        int thread = threadIdx.x;
        // Some bits of whole numbers; all of them are the order of the type.
        bool some = from > 0 || to < 8 * (int)sizeof(K);
        unsigned long long mask = to - from >= 64 ? ~0ull : (1ull << (to - from)) - 1;
        for (int i = 0; i < N; i++) storage->keys[thread * N + i] = keys[i];
        __syncthreads();
        int places[N];
        for (int i = 0; i < N; i++) {
            int own = thread * N + i, before = 0;
            for (int j = 0; j < X * N; j++) {
                K other = storage->keys[j];
                unsigned long long his = (unsigned long long)other >> from & mask, mine = (unsigned long long)keys[i] >> from & mask;
                bool less = some ? mine < his : keys[i] < other, greater = some ? his < mine : other < keys[i];
                if ((descending ? less : greater) || (!less && !greater && j < own)) before++;
            }
            places[i] = before;
        }
        __syncthreads();
        for (int i = 0; i < N; i++) {
            storage->keys[places[i]] = keys[i];
            storage->values[places[i]] = values[i];
        }
        __syncthreads();
        for (int i = 0; i < N; i++) {
            int place = striped ? i * X + thread : thread * N + i;
            keys[i] = storage->keys[place];
            values[i] = storage->values[place];
        }
    }
};
using deviceAlgorithms::DoubleBuffer;
using deviceAlgorithms::DeviceReduce;
using deviceAlgorithms::DeviceScan;
using deviceAlgorithms::DeviceRadixSort;
using deviceAlgorithms::DeviceMergeSort;
using deviceAlgorithms::DeviceSelect;
using deviceAlgorithms::DeviceRunLengthEncode;
using deviceAlgorithms::DeviceHistogram;
using deviceAlgorithms::DeviceSegmentedReduce;
} // namespace cub
#endif
