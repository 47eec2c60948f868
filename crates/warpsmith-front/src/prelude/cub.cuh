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
    struct TempStorage { T parts[X * Y * Z]; };
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
    template <int N> __device__ void InclusiveSum(T (&values)[N], T (&results)[N], T &all) { InclusiveScan(values, results, cub::Sum(), all); }
    template <int N> __device__ void ExclusiveSum(T (&values)[N], T (&results)[N]) { ExclusiveScan(values, results, T(0), cub::Sum()); }
    template <int N> __device__ void ExclusiveSum(T (&values)[N], T (&results)[N], T &all) { ExclusiveScan(values, results, T(0), cub::Sum(), all); }

  private:
    TempStorage *storage;
    static __device__ TempStorage *own() {
        __shared__ TempStorage storage;
        return &storage;
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

template <typename T, int WIDTH = 32, int ARCH = 0> class WarpReduce {
  public:
    struct TempStorage { T parts[WIDTH]; };
    __device__ WarpReduce(TempStorage &storage) : storage(&storage) {}
    template <typename Op> __device__ T Reduce(T value, Op op, int valid) {
        int lane = LaneId() % WIDTH;
        storage->parts[lane] = value;
        __syncwarp();
        if (lane == 0)
            for (int i = 1; i < valid; i++) value = op(value, storage->parts[i]);
        return value;
    }
    template <typename Op> __device__ T Reduce(T value, Op op) { return Reduce(value, op, WIDTH); }
    __device__ T Sum(T value) { return Reduce(value, cub::Sum(), WIDTH); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }

  private:
    TempStorage *storage;
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
    __device__ T Broadcast(T value, unsigned from) {
        storage->parts[LaneId() % WIDTH] = value;
        __syncwarp();
        return storage->parts[from];
    }

  private:
    TempStorage *storage;
    template <typename Op> __device__ T before(T value, T first, bool begins, Op op, T &all) {
        int lane = LaneId() % WIDTH;
        storage->parts[lane] = value;
        __syncwarp();
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
    __device__ void Sort(K (&keys)[N]) { V none[N]; sort(keys, none, false, false); }
    __device__ void SortDescending(K (&keys)[N]) { V none[N]; sort(keys, none, true, false); }
    __device__ void SortBlockedToStriped(K (&keys)[N]) { V none[N]; sort(keys, none, false, true); }
    template <typename W> __device__ void Sort(K (&keys)[N], W (&values)[N]) { sort(keys, values, false, false); }
    template <typename W> __device__ void SortDescending(K (&keys)[N], W (&values)[N]) { sort(keys, values, true, false); }
    template <typename W> __device__ void SortBlockedToStriped(K (&keys)[N], W (&values)[N]) { sort(keys, values, false, true); }

  private:
    TempStorage *storage;
    // Every key goes to the place that as many keys come before; equal ones stay in order.
    __device__ void sort(K (&keys)[N], V (&values)[N], bool descending, bool striped) {
        int thread = threadIdx.x;
        for (int i = 0; i < N; i++) storage->keys[thread * N + i] = keys[i];
        __syncthreads();
        int places[N];
        for (int i = 0; i < N; i++) {
            int own = thread * N + i, before = 0;
            for (int j = 0; j < X * N; j++) {
                K other = storage->keys[j];
                bool sooner = descending ? keys[i] < other : other < keys[i];
                if (sooner || (other == keys[i] && j < own)) before++;
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
