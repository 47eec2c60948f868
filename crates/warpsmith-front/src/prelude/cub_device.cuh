// Algorithms of the whole device, called by the host: without storage they say how much they want.

namespace deviceAlgorithms {
#define STORAGE if (storage == nullptr) { bytes = 256; return 0; }
template <typename T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector;
    DoubleBuffer() : selector(0) {}
    DoubleBuffer(T *a, T *b) : selector(0) { d_buffers[0] = a; d_buffers[1] = b; }
    T *Current() { return d_buffers[selector]; }
    T *Alternate() { return d_buffers[selector ^ 1]; }
};
struct DeviceReduce {
    template <typename I, typename O> static int Sum(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        auto sum = in[0];
        for (long long i = 1; i < n; i++) sum = sum + in[i];
        out[0] = sum;
        return 0;
    }
    template <typename I, typename O> static int Max(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        auto best = in[0];
        for (long long i = 1; i < n; i++) if (best < in[i]) best = in[i];
        out[0] = best;
        return 0;
    }
    template <typename I, typename O> static int Min(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        auto best = in[0];
        for (long long i = 1; i < n; i++) if (in[i] < best) best = in[i];
        out[0] = best;
        return 0;
    }
    template <typename I, typename O> static int ArgMax(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        long long at = 0;
        for (long long i = 1; i < n; i++) if (in[at] < in[i]) at = i;
        out->key = at;
        out->value = in[at];
        return 0;
    }
    template <typename I, typename O> static int ArgMin(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        long long at = 0;
        for (long long i = 1; i < n; i++) if (in[i] < in[at]) at = i;
        out->key = at;
        out->value = in[at];
        return 0;
    }
    template <typename I, typename O, typename F, typename T>
    static int Reduce(void *storage, size_t &bytes, I in, O out, long long n, F f, T first, cudaStream_t s = 0) {
        STORAGE
        out[0] = thrust::reduce(in, in + n, first, f);
        return 0;
    }
    template <typename K, typename L, typename V, typename W, typename N, typename F>
    static int ReduceByKey(void *storage, size_t &bytes, K keys, L unique, V values, W sums, N runs, F f, long long n, cudaStream_t s = 0) {
        STORAGE
        long long m = 0;
        for (long long i = 0; i < n; i++) {
            if (i > 0 && keys[i] == keys[i - 1]) { sums[m - 1] = f(sums[m - 1], values[i]); continue; }
            unique[m] = keys[i];
            sums[m] = values[i];
            m++;
        }
        runs[0] = m;
        return 0;
    }
};
struct DeviceScan {
    template <typename I, typename O> static int ExclusiveSum(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        thrust::exclusive_scan(in, in + n, out);
        return 0;
    }
    template <typename I, typename O> static int InclusiveSum(void *storage, size_t &bytes, I in, O out, long long n, cudaStream_t s = 0) {
        STORAGE
        thrust::inclusive_scan(in, in + n, out);
        return 0;
    }
    template <typename I, typename O, typename F, typename T>
    static int ExclusiveScan(void *storage, size_t &bytes, I in, O out, F f, T first, long long n, cudaStream_t s = 0) {
        STORAGE
        thrust::exclusive_scan(in, in + n, out, first, f);
        return 0;
    }
    template <typename I, typename O, typename F>
    static int InclusiveScan(void *storage, size_t &bytes, I in, O out, F f, long long n, cudaStream_t s = 0) {
        STORAGE
        thrust::inclusive_scan(in, in + n, out, f);
        return 0;
    }
};
struct DeviceRadixSort {
    template <typename T> static int SortKeys(void *storage, size_t &bytes, const T *in, T *out, long long n, int low = 0, int high = 64, cudaStream_t s = 0) {
        STORAGE
        thrust::copy(in, in + n, out);
        thrust::sort(out, out + n, thrust::less<>());
        return 0;
    }
    template <typename T> static int SortKeysDescending(void *storage, size_t &bytes, const T *in, T *out, long long n, int low = 0, int high = 64, cudaStream_t s = 0) {
        STORAGE
        thrust::copy(in, in + n, out);
        thrust::sort(out, out + n, thrust::greater<>());
        return 0;
    }
    template <typename K, typename V>
    static int SortPairs(void *storage, size_t &bytes, const K *in, K *out, const V *from, V *to, long long n, int low = 0, int high = 64, cudaStream_t s = 0) {
        STORAGE
        thrust::copy(in, in + n, out);
        thrust::copy(from, from + n, to);
        thrust::sort_by_key(out, out + n, to, thrust::less<>());
        return 0;
    }
    template <typename K, typename V>
    static int SortPairsDescending(void *storage, size_t &bytes, const K *in, K *out, const V *from, V *to, long long n, int low = 0, int high = 64, cudaStream_t s = 0) {
        STORAGE
        thrust::copy(in, in + n, out);
        thrust::copy(from, from + n, to);
        thrust::sort_by_key(out, out + n, to, thrust::greater<>());
        return 0;
    }
    template <typename T> static int SortKeys(void *storage, size_t &bytes, DoubleBuffer<T> &keys, long long n, int low = 0, int high = 64, cudaStream_t s = 0) {
        STORAGE
        thrust::sort(keys.Current(), keys.Current() + n, thrust::less<>());
        return 0;
    }
    template <typename K, typename V>
    static int SortPairs(void *storage, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, long long n, int low = 0, int high = 64, cudaStream_t s = 0) {
        STORAGE
        thrust::sort_by_key(keys.Current(), keys.Current() + n, values.Current(), thrust::less<>());
        return 0;
    }
};
struct DeviceMergeSort {
    template <typename I, typename C> static int SortKeys(void *storage, size_t &bytes, I keys, long long n, C less, cudaStream_t s = 0) {
        STORAGE
        thrust::sort(keys, keys + n, less);
        return 0;
    }
    template <typename I, typename V, typename C>
    static int SortPairs(void *storage, size_t &bytes, I keys, V values, long long n, C less, cudaStream_t s = 0) {
        STORAGE
        thrust::sort_by_key(keys, keys + n, values, less);
        return 0;
    }
};
struct DeviceSelect {
    template <typename I, typename O, typename N, typename P>
    static int If(void *storage, size_t &bytes, I in, O out, N count, long long n, P keep, cudaStream_t s = 0) {
        STORAGE
        count[0] = thrust::copy_if(in, in + n, out, keep) - out;
        return 0;
    }
    template <typename I, typename F, typename O, typename N>
    static int Flagged(void *storage, size_t &bytes, I in, F flags, O out, N count, long long n, cudaStream_t s = 0) {
        STORAGE
        long long m = 0;
        for (long long i = 0; i < n; i++)
            if (flags[i]) { out[m] = in[i]; m++; }
        count[0] = m;
        return 0;
    }
    template <typename I, typename O, typename N>
    static int Unique(void *storage, size_t &bytes, I in, O out, N count, long long n, cudaStream_t s = 0) {
        STORAGE
        long long m = 0;
        for (long long i = 0; i < n; i++)
            if (i == 0 || !(in[i] == in[i - 1])) { out[m] = in[i]; m++; }
        count[0] = m;
        return 0;
    }
};
struct DeviceRunLengthEncode {
    template <typename I, typename U, typename C, typename N>
    static int Encode(void *storage, size_t &bytes, I in, U unique, C counts, N runs, long long n, cudaStream_t s = 0) {
        STORAGE
        long long m = 0;
        for (long long i = 0; i < n; i++) {
            if (i > 0 && in[i] == in[i - 1]) { counts[m - 1] = counts[m - 1] + 1; continue; }
            unique[m] = in[i];
            counts[m] = 1;
            m++;
        }
        runs[0] = m;
        return 0;
    }
};
struct DeviceHistogram {
    template <typename I, typename C, typename L>
    static int HistogramEven(void *storage, size_t &bytes, I in, C *counts, int levels, L low, L high, long long n, cudaStream_t s = 0) {
        STORAGE
        for (int i = 0; i < levels - 1; i++) counts[i] = 0;
        for (long long i = 0; i < n; i++) {
            L value = in[i];
            if (value >= low && value < high) {
                int bin = (int)((value - low) * (levels - 1) / (high - low));
                counts[bin] = counts[bin] + 1;
            }
        }
        return 0;
    }
};
struct DeviceSegmentedReduce {
    template <typename I, typename O, typename B, typename E>
    static int Sum(void *storage, size_t &bytes, I in, O out, long long segments, B from, E to, cudaStream_t s = 0) {
        STORAGE
        for (long long k = 0; k < segments; k++) {
            auto sum = in[0];
            sum = sum - sum;
            for (long long i = from[k]; i < to[k]; i++) sum = sum + in[i];
            out[k] = sum;
        }
        return 0;
    }
};
#undef STORAGE
} // namespace deviceAlgorithms
