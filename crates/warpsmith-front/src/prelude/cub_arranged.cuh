// CUB's primitives that arrange elements otherwise, or compare neighbours: sorts, exchanges, differences, histograms.
#ifndef WS_CUB_ARRANGED_H
#define WS_CUB_ARRANGED_H
namespace cub {
// Elements of a block's threads by their order, given by a comparison; equal ones stay as they are.
template <typename K, typename V, int COUNT, int N> struct OrderOfKeys {
    struct TempStorage { K keys[COUNT]; V values[COUNT]; };
    template <typename C> static __device__ void place(TempStorage *storage, int thread, K (&keys)[N], int (&places)[N], C less) {
        for (int i = 0; i < N; i++) {
            int own = thread * N + i, before = 0;
            for (int j = 0; j < COUNT; j++) {
                K other = storage->keys[j];
                if (less(other, keys[i]) || (j < own && !less(keys[i], other))) before++;
            }
            places[i] = before;
        }
    }
};
template <typename K, int X, int N, typename V = NullType, int Y = 1, int Z = 1> class BlockMergeSort {
    typedef OrderOfKeys<K, V, X * Y * Z * N, N> Order;

  public:
    typedef typename Order::TempStorage TempStorage;
    __device__ BlockMergeSort(TempStorage &storage) : storage(&storage) {}
    template <typename C> __device__ void Sort(K (&keys)[N], C less) { V none[N]; sort(keys, none, less); }
    template <typename C> __device__ void StableSort(K (&keys)[N], C less) { V none[N]; sort(keys, none, less); }
    template <typename W, typename C> __device__ void Sort(K (&keys)[N], W (&values)[N], C less) { sort(keys, values, less); }
    template <typename W, typename C> __device__ void StableSort(K (&keys)[N], W (&values)[N], C less) { sort(keys, values, less); }
    template <typename C> __device__ void Sort(K (&keys)[N], C less, int valid, K otherwise) {
        for (int i = 0; i < N; i++)
            if (RowMajorTid(X, Y, Z) * N + i >= valid) keys[i] = otherwise;
        Sort(keys, less);
    }

  private:
    TempStorage *storage;
    template <typename C> __device__ void sort(K (&keys)[N], V (&values)[N], C less) {
        int thread = RowMajorTid(X, Y, Z), places[N];
        for (int i = 0; i < N; i++) storage->keys[thread * N + i] = keys[i];
        __syncthreads();
        Order::place(storage, thread, keys, places, less);
        __syncthreads();
        for (int i = 0; i < N; i++) {
            storage->keys[places[i]] = keys[i];
            storage->values[places[i]] = values[i];
        }
        __syncthreads();
        for (int i = 0; i < N; i++) {
            keys[i] = storage->keys[thread * N + i];
            values[i] = storage->values[thread * N + i];
        }
    }
};
template <typename K, int N, int WIDTH = 32, typename V = NullType, int ARCH = 0> class WarpMergeSort {
    typedef OrderOfKeys<K, V, WIDTH * N, N> Order;

  public:
    typedef typename Order::TempStorage TempStorage;
    __device__ WarpMergeSort(TempStorage &storage) : storage(&storage) {}
    template <typename C> __device__ void Sort(K (&keys)[N], C less) { V none[N]; sort(keys, none, less); }
    template <typename W, typename C> __device__ void Sort(K (&keys)[N], W (&values)[N], C less) { sort(keys, values, less); }

  private:
    TempStorage *storage;
    template <typename C> __device__ void sort(K (&keys)[N], V (&values)[N], C less) {
        int lane = LaneId() % WIDTH, places[N];
        unsigned mask = WIDTH == 32 ? 0xffffffffu : ((1u << WIDTH) - 1) << (LaneId() / WIDTH * WIDTH);
        for (int i = 0; i < N; i++) storage->keys[lane * N + i] = keys[i];
        __syncwarp(mask);
        Order::place(storage, lane, keys, places, less);
        __syncwarp(mask);
        for (int i = 0; i < N; i++) {
            storage->keys[places[i]] = keys[i];
            storage->values[places[i]] = values[i];
        }
        __syncwarp(mask);
        for (int i = 0; i < N; i++) {
            keys[i] = storage->keys[lane * N + i];
            values[i] = storage->values[lane * N + i];
        }
    }
};

// Elements of a block's threads in another arrangement: neighbours in a thread (blocked), or threads apart (striped).
template <typename T, int X, int N, bool SLICES = false, int Y = 1, int Z = 1, int ARCH = 0> class BlockExchange {
  public:
    struct TempStorage { T items[X * Y * Z * N]; };
    __device__ BlockExchange(TempStorage &storage) : storage(&storage) {}
    __device__ void StripedToBlocked(T (&in)[N], T (&out)[N]) { move(in, out, true, false); }
    __device__ void BlockedToStriped(T (&in)[N], T (&out)[N]) { move(in, out, false, true); }
    __device__ void StripedToBlocked(T (&items)[N]) { move(items, items, true, false); }
    __device__ void BlockedToStriped(T (&items)[N]) { move(items, items, false, true); }
    template <typename R> __device__ void ScatterToBlocked(T (&in)[N], T (&out)[N], R (&ranks)[N]) { scatter(in, out, ranks, false); }
    template <typename R> __device__ void ScatterToStriped(T (&in)[N], T (&out)[N], R (&ranks)[N]) { scatter(in, out, ranks, true); }
    template <typename R> __device__ void ScatterToBlocked(T (&items)[N], R (&ranks)[N]) { scatter(items, items, ranks, false); }
    template <typename R> __device__ void ScatterToStriped(T (&items)[N], R (&ranks)[N]) { scatter(items, items, ranks, true); }

  private:
    TempStorage *storage;
    __device__ int at(int thread, int i, bool striped) { return striped ? i * X * Y * Z + thread : thread * N + i; }
    __device__ void move(T (&in)[N], T (&out)[N], bool from, bool to) {
        int thread = RowMajorTid(X, Y, Z);
        for (int i = 0; i < N; i++) storage->items[at(thread, i, from)] = in[i];
        __syncthreads();
        for (int i = 0; i < N; i++) out[i] = storage->items[at(thread, i, to)];
    }
    template <typename R> __device__ void scatter(T (&in)[N], T (&out)[N], R (&ranks)[N], bool to) {
        for (int i = 0; i < N; i++) storage->items[ranks[i]] = in[i];
        __syncthreads();
        for (int i = 0; i < N; i++) out[i] = storage->items[at(RowMajorTid(X, Y, Z), i, to)];
    }
};

// Where an element differs from the one before, or the one behind.
template <typename T, int X, int Y = 1, int Z = 1, int ARCH = 0> class BlockDiscontinuity {
  public:
    struct TempStorage { T first[X * Y * Z]; T last[X * Y * Z]; };
    __device__ BlockDiscontinuity(TempStorage &storage) : storage(&storage) {}
    template <int N, typename F, typename Op> __device__ void FlagHeads(F (&heads)[N], T (&items)[N], Op differ) {
        share(items);
        flagHeads(heads, items, differ, 1, items[0]);
    }
    template <int N, typename F, typename Op> __device__ void FlagHeads(F (&heads)[N], T (&items)[N], Op differ, T before) {
        share(items);
        flagHeads(heads, items, differ, differ(before, items[0]), before);
    }
    template <int N, typename F, typename Op> __device__ void FlagTails(F (&tails)[N], T (&items)[N], Op differ) {
        share(items);
        flagTails(tails, items, differ, 1);
    }
    template <int N, typename F, typename Op> __device__ void FlagTails(F (&tails)[N], T (&items)[N], Op differ, T behind) {
        share(items);
        flagTails(tails, items, differ, differ(items[N - 1], behind));
    }
    template <int N, typename F, typename Op> __device__ void FlagHeadsAndTails(F (&heads)[N], F (&tails)[N], T (&items)[N], Op differ) {
        share(items);
        flagHeads(heads, items, differ, 1, items[0]);
        flagTails(tails, items, differ, 1);
    }

  private:
    TempStorage *storage;
    template <int N> __device__ void share(T (&items)[N]) {
        storage->first[RowMajorTid(X, Y, Z)] = items[0];
        storage->last[RowMajorTid(X, Y, Z)] = items[N - 1];
        __syncthreads();
    }
    template <int N, typename F, typename Op> __device__ void flagHeads(F (&heads)[N], T (&items)[N], Op differ, int first, T before) {
        int thread = RowMajorTid(X, Y, Z);
        heads[0] = thread == 0 ? first : (int)differ(storage->last[thread - 1], items[0]);
        for (int i = 1; i < N; i++) heads[i] = differ(items[i - 1], items[i]);
    }
    template <int N, typename F, typename Op> __device__ void flagTails(F (&tails)[N], T (&items)[N], Op differ, int last) {
        int thread = RowMajorTid(X, Y, Z);
        for (int i = 0; i + 1 < N; i++) tails[i] = differ(items[i], items[i + 1]);
        tails[N - 1] = thread == X * Y * Z - 1 ? last : (int)differ(items[N - 1], storage->first[thread + 1]);
    }
};
template <typename T, int X, int Y = 1, int Z = 1, int ARCH = 0> class BlockAdjacentDifference {
  public:
    struct TempStorage { T first[X * Y * Z]; T last[X * Y * Z]; };
    __device__ BlockAdjacentDifference(TempStorage &storage) : storage(&storage) {}
    template <int N, typename O, typename Op> __device__ void SubtractLeft(T (&in)[N], O (&out)[N], Op op) { left(in, out, op, false, in[0]); }
    template <int N, typename O, typename Op> __device__ void SubtractLeft(T (&in)[N], O (&out)[N], Op op, T before) { left(in, out, op, true, before); }
    template <int N, typename O, typename Op> __device__ void SubtractRight(T (&in)[N], O (&out)[N], Op op) {
        int thread = RowMajorTid(X, Y, Z);
        share(in);
        T end = in[N - 1];
        for (int i = 0; i + 1 < N; i++) out[i] = op(in[i], in[i + 1]);
        out[N - 1] = thread == X * Y * Z - 1 ? (O)end : (O)op(end, storage->first[thread + 1]);
    }

  private:
    TempStorage *storage;
    template <int N> __device__ void share(T (&items)[N]) {
        storage->first[RowMajorTid(X, Y, Z)] = items[0];
        storage->last[RowMajorTid(X, Y, Z)] = items[N - 1];
        __syncthreads();
    }
    template <int N, typename O, typename Op> __device__ void left(T (&in)[N], O (&out)[N], Op op, bool known, T before) {
        int thread = RowMajorTid(X, Y, Z);
        share(in);
        for (int i = N - 1; i > 0; i--) out[i] = op(in[i], in[i - 1]);
        if (thread > 0) out[0] = op(in[0], storage->last[thread - 1]);
        else if (known) out[0] = op(in[0], before);
        else out[0] = in[0];
    }
};
template <typename T, int X, int N, int BINS, BlockHistogramAlgorithm A = BLOCK_HISTO_SORT, int Y = 1, int Z = 1, int ARCH = 0>
class BlockHistogram {
  public:
    struct TempStorage { char none; };
    __device__ BlockHistogram(TempStorage &storage) {}
    template <typename C> __device__ void InitHistogram(C (&bins)[BINS]) {
        for (int i = RowMajorTid(X, Y, Z); i < BINS; i += X * Y * Z) bins[i] = 0;
    }
    template <typename C> __device__ void Composite(T (&items)[N], C (&bins)[BINS]) {
        for (int i = 0; i < N; i++) atomicAdd(&bins[items[i]], (C)1);
    }
    template <typename C> __device__ void Histogram(T (&items)[N], C (&bins)[BINS]) {
        InitHistogram(bins);
        __syncthreads();
        Composite(items, bins);
    }
};
template <typename T, int X, int Y = 1, int Z = 1, int ARCH = 0> class BlockShuffle {
  public:
    struct TempStorage { T items[X * Y * Z]; };
    __device__ BlockShuffle(TempStorage &storage) : storage(&storage) {}
    // Where there is no such thread the result is left as it was.
    __device__ void Offset(T value, T &result, int distance = 1) {
        int from = RowMajorTid(X, Y, Z) + distance;
        share(value);
        if (from >= 0 && from < X * Y * Z) result = storage->items[from];
    }
    __device__ void Rotate(T value, T &result, unsigned distance = 1) {
        share(value);
        result = storage->items[(RowMajorTid(X, Y, Z) + distance) % (X * Y * Z)];
    }
    template <int N> __device__ void Up(T (&in)[N], T (&out)[N]) {
        share(in[N - 1]);
        for (int i = N - 1; i > 0; i--) out[i] = in[i - 1];
        if (RowMajorTid(X, Y, Z) > 0) out[0] = storage->items[RowMajorTid(X, Y, Z) - 1];
    }
    template <int N> __device__ void Down(T (&in)[N], T (&out)[N]) {
        share(in[0]);
        for (int i = 0; i + 1 < N; i++) out[i] = in[i + 1];
        if (RowMajorTid(X, Y, Z) + 1 < X * Y * Z) out[N - 1] = storage->items[RowMajorTid(X, Y, Z) + 1];
    }

  private:
    TempStorage *storage;
    __device__ void share(T value) {
        storage->items[RowMajorTid(X, Y, Z)] = value;
        __syncthreads();
    }
};
enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
template <typename T, int N, WarpLoadAlgorithm A = WARP_LOAD_DIRECT, int WIDTH = 32, int ARCH = 0> class WarpLoad {
  public:
    struct TempStorage { char none; };
    __device__ WarpLoad(TempStorage &storage) {}
    template <typename P> __device__ void Load(P from, T (&items)[N]) { Load(from, items, WIDTH * N); }
    template <typename P> __device__ void Load(P from, T (&items)[N], int valid) {
        int lane = LaneId() % WIDTH;
        for (int i = 0; i < N; i++) {
            int place = A == WARP_LOAD_STRIPED ? i * WIDTH + lane : lane * N + i;
            if (place < valid) items[i] = from[place];
        }
    }
};
template <typename T, int N, WarpStoreAlgorithm A = WARP_STORE_DIRECT, int WIDTH = 32, int ARCH = 0> class WarpStore {
  public:
    struct TempStorage { char none; };
    __device__ WarpStore(TempStorage &storage) {}
    template <typename P> __device__ void Store(P to, T (&items)[N]) { Store(to, items, WIDTH * N); }
    template <typename P> __device__ void Store(P to, T (&items)[N], int valid) {
        int lane = LaneId() % WIDTH;
        for (int i = 0; i < N; i++) {
            int place = A == WARP_STORE_STRIPED ? i * WIDTH + lane : lane * N + i;
            if (place < valid) to[place] = items[i];
        }
    }
};
} // namespace cub
#endif
