// gemm_test.cu: compares gemm_launch with the original loops on random data, and times it.
//
//   nvcc -O2 -o gemm_test gemm_test.cu && ./gemm_test [n] [m] [l]

#include "gemm.cu"

#include <algorithm>
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <type_traits>
#include <vector>

// Stops the program when a call of the CUDA runtime failed.
static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(2);
}

// The next of a fixed sequence of numbers in [0, 1).
static double random_unit() {
    static unsigned long long state = 0x9e3779b97f4a7c15ull;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

// The largest relative error of one rounding; 0 for integers, which are compared exactly.
template <class T>
static double unit_roundoff() {
    if (std::is_integral<T>::value) return 0.0;
    const int digits = sizeof(T) == 8 ? 53 : sizeof(T) == 4 ? 24 : 11;
    return ldexp(1.0, -digits);
}

template <class T>
static double as_double(T x) {
    return (double)x;
}

struct Range {
    const char *begin, *end;
};

// An array of the test, on both sides.
template <class T>
struct Array {
    const char *name;
    std::vector<size_t> extents;
    size_t count = 1;
    T *host, *device;

    Array(const char *name, std::vector<size_t> extents) : name(name), extents(extents) {
        for (size_t extent : extents) count *= extent;
        const size_t bytes = std::max<size_t>(1, count) * sizeof(T);
        host = (T *)calloc(bytes, 1);
        if (!host) {
            fprintf(stderr, "%s: no memory\n", name);
            exit(2);
        }
        check(cudaMalloc((void **)&device, bytes), name);
        check(cudaMemset(device, 0xff, bytes), name);
    }

    Array(const Array &) = delete;

    ~Array() {
        free(host);
        cudaFree(device);
    }

    Range range() const { return {(const char *)device, (const char *)(device + count)}; }

    // Random numbers from low to high, whole ones for integers.
    void fill(double low, double high) {
        const bool whole = std::is_integral<T>::value;
        for (size_t i = 0; i < count; ++i) {
            const double u = random_unit();
            const double x = whole ? floor(u * (high - low + 1)) : u * (high - low);
            host[i] = (T)(float)(low + x);
        }
    }

    // 0, 1, 2 …
    void count_up() {
        for (size_t i = 0; i < count; ++i) host[i] = (T)(float)i;
    }

    void upload() {
        check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice), name);
    }

    // Whether the device holds what the host does, up to the rounding of sums of so many terms;
    // prints the first difference.
    bool compare(double terms) const {
        std::vector<char> bytes(std::max<size_t>(1, count) * sizeof(T));
        check(cudaMemcpy(bytes.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), name);
        const T *got = (const T *)bytes.data();
        const double tolerance = 4.0 * std::max(1.0, terms) * unit_roundoff<T>();
        for (size_t i = 0; i < count; ++i) {
            const double x = as_double(got[i]), y = as_double(host[i]);
            if (got[i] == host[i] || (x != x && y != y)) continue;
            if (fabs(x - y) <= tolerance * std::max(1.0, fabs(y))) continue;
            printf("%s%s is %.9g, should be %.9g\n", name, index(i).c_str(), x, y);
            return false;
        }
        return true;
    }

    // The place of an element: [i][j].
    std::string index(size_t flat) const {
        std::string s;
        for (size_t d = extents.size(); d-- > 0;) {
            s = "[" + std::to_string(flat % extents[d]) + "]" + s;
            flat /= extents[d];
        }
        return s;
    }
};

// The median time of a launch, in milliseconds, after a warm-up.
template <class Launch>
static double median_ms(Launch launch) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    std::vector<float> times;
    for (int run = -3; run < 11; ++run) {
        check(cudaEventRecord(start), "event");
        check(launch(), "launch");
        check(cudaEventRecord(stop), "event");
        check(cudaEventSynchronize(stop), "kernel");
        float ms = 0.0f;
        check(cudaEventElapsedTime(&ms, start, stop), "event");
        if (run >= 0) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static void assert_disjoint(const std::vector<Range> &ranges) {
    for (size_t i = 0; i < ranges.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            assert(ranges[i].end <= ranges[j].begin || ranges[j].end <= ranges[i].begin);
        }
    }
}

// The original loops, run on the processor.
namespace reference {

void gemm(int n, int m, int l, const float *__restrict__ A, const float *__restrict__ B,
          float *__restrict__ C) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            C[(size_t)i * m + j] = 0.0f;
            for (int k = 0; k < l; ++k) {
                C[(size_t)i * m + j] += A[(size_t)i * l + k] * B[(size_t)k * m + j];
            }
        }
    }
}

}  // namespace reference

int main(int argc, char **argv) {
    // Sizes and other scalars, in order, may be given on the command line.
    const int n = argc > 1 ? atoi(argv[1]) : 1024;
    const int m = argc > 2 ? atoi(argv[2]) : 1024;
    const int l = argc > 3 ? atoi(argv[3]) : 1024;

    Array<float> A("A", {(size_t)n, (size_t)l});
    A.fill(-1.0, 1.0);
    Array<float> B("B", {(size_t)l, (size_t)m});
    B.fill(-1.0, 1.0);
    Array<float> C("C", {(size_t)n, (size_t)m});
    C.fill(-1.0, 1.0);

    // The kernel is right only for arrays that do not overlap.
    assert_disjoint({A.range(), B.range(), C.range()});
    A.upload();
    B.upload();
    C.upload();
    check(gemm_launch(n, m, l, A.device, B.device, C.device, 0), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    reference::gemm(n, m, l, A.host, B.host, C.host);

    // Rounding errors grow with the length of the sums.
    const double terms = l;
    const bool same = C.compare(terms);
    printf("gemm: %s\n", same ? "equal" : "DIFFERENT");

    const double ms = median_ms([&] {
        return gemm_launch(n, m, l, A.device, B.device, C.device, 0);
    });
    printf("gemm: %.4f ms\n", ms);
    return same ? 0 : 1;
}
