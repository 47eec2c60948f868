// total_test.cu: compares total_launch with the original loops on random data, and times it.
//
//   nvcc -O2 -o total_test total_test.cu && ./total_test [n]

#include "total.cu"

#include <algorithm>
#include <assert.h>
#include <math.h>
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

// The original loops, run on the processor.
namespace reference {

float total(int n, const float *__restrict__ x) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
    }
    return sum;
}

}  // namespace reference

int main(int argc, char **argv) {
    // Sizes and other scalars, in order, may be given on the command line.
    const int n = argc > 1 ? atoi(argv[1]) : 64;

    Array<float> x("x", {(size_t)n});
    x.fill(-1.0, 1.0);
    Array<float> result("result", {1});
    Array<unsigned char> workspace("workspace", {total_workspace(n)});

    x.upload();
    check(total_launch(n, x.device, result.device, workspace.device, 0), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    result.host[0] = reference::total(n, x.host);

    // Rounding errors grow with the length of the sums.
    const double terms = 16;
    const bool same = result.compare(terms);
    printf("total: %s\n", same ? "equal" : "DIFFERENT");

    const double ms = median_ms([&] {
        return total_launch(n, x.device, result.device, workspace.device, 0);
    });
    printf("total: %.4f ms\n", ms);
    return same ? 0 : 1;
}
