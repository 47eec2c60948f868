// Several sequences at once: zip and permutation iterators, generic lambdas of the device, tuples of references and of values.
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <cassert>
#include <cstdio>
struct fused {
    template <typename Tuple> __host__ __device__ void operator()(Tuple t) const
    {
        thrust::get<3>(t) = thrust::get<0>(t) + thrust::get<1>(t) * thrust::get<2>(t);
    }
};
typedef thrust::tuple<float, float, float> Float3;
struct dot3 {
    __host__ __device__ float operator()(const Float3 &a, const Float3 &b) const
    {
        return thrust::get<0>(a) * thrust::get<0>(b) + thrust::get<1>(a) * thrust::get<1>(b) + thrust::get<2>(a) * thrust::get<2>(b);
    }
};
struct strided { int by; __host__ __device__ int operator()(int i) const { return i * by; } };
__global__ void expect(const float *x, float value, int at) { assert(x[at] == value); }
int main()
{
    const int n = 100;
    thrust::device_vector<float> a(n), b(n), c(n, 2.0f), d(n);
    thrust::sequence(a.begin(), a.end());
    thrust::sequence(b.begin(), b.end(), 1.0f);
    thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), c.begin(), d.begin())),
                     thrust::make_zip_iterator(thrust::make_tuple(a.end(), b.end(), c.end(), d.end())), fused());
    float *pd = thrust::raw_pointer_cast(d.data());
    expect<<<1, 1>>>(pd, 3 * 7 + 2.0f, 7);
    const float k = 3.0f;
    thrust::transform(a.begin(), a.end(), d.begin(), [=] __device__(auto x) { return k * x; });
    expect<<<1, 1>>>(pd, 30.0f, 10);
    thrust::transform(a.begin(), a.end(), b.begin(), d.begin(), [=] __device__(auto x, auto y) { return x + y * k; });
    expect<<<1, 1>>>(pd, 4 * 5 + 3.0f, 5);
    auto pairs = thrust::make_zip_iterator(a.begin(), d.begin());
    thrust::for_each_n(pairs, n, [] __device__(auto t) { thrust::get<1>(t) = thrust::get<0>(t) * 2; });
    expect<<<1, 1>>>(pd, 8.0f, 4);
    thrust::for_each(thrust::device, thrust::make_counting_iterator(0), thrust::make_counting_iterator(n),
                     [p = pd] __device__(int i) { p[i] += i; });
    expect<<<1, 1>>>(pd, 12.0f, 4);
    auto triples = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), c.begin()));
    thrust::transform(triples, triples + n, triples, d.begin(), dot3());
    expect<<<1, 1>>>(pd, 9.0f + 16.0f + 4.0f, 3);
    auto every = thrust::make_permutation_iterator(a.begin(), thrust::make_transform_iterator(thrust::make_counting_iterator(0), strided{4}));
    float sum = thrust::reduce(every, every + n / 4);
    // Pairs by their first part, the largest first: whole elements change places.
    thrust::sort(pairs, pairs + n, [] __host__ __device__(const thrust::tuple<float, float> &l, const thrust::tuple<float, float> &r) {
        return thrust::get<0>(l) > thrust::get<0>(r);
    });
    expect<<<1, 1>>>(pd, 9.0f + 16.0f + 4.0f, n - 1 - 3);
    int first, second;
    thrust::tie(first, second) = thrust::make_tuple(3, 4);
    auto [x, y, z] = thrust::make_tuple(1, 2.5f, 'c');
    if (sum == 1200.0f && first + second == 7 && x == 1 && y == 2.5f && z == 'c') expect<<<1, 1>>>(pd, 29.0f, n - 4);
    a.erase(thrust::remove_if(a.begin(), a.end(), [] __device__(float v) { return v > 49.5f; }), a.end());
    if (a.size() == 50) expect<<<1, 1>>>(thrust::raw_pointer_cast(a.data()), 49.0f, 0);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
