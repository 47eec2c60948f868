// Algorithms of thrust that one thread of a kernel runs, with and without a policy.
#include <assert.h>
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/pair.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

struct add_to {
    int *sum;
    __device__ void operator()(int v) const { *sum += v; }
};

// warpsmith: grid=2 block=32 arg x=int[512]=random arg sums=int[64]=zeros
__global__ void rows(int *x, int *sums) {
    int t = blockIdx.x * 32 + threadIdx.x, *row = x + 8 * t;
    int total = thrust::reduce(thrust::seq, row, row + 8);
    int most = thrust::reduce(thrust::seq, row, row + 8, row[0], thrust::maximum<int>());
    thrust::sort(thrust::seq, row, row + 8);
    assert(row[7] == most);
    for (int i = 1; i < 8; i++) assert(row[i - 1] <= row[i]);
    int again = 0;
    thrust::for_each(thrust::seq, row, row + 8, add_to{&again});
    assert(again == total);
    int *found = thrust::find(thrust::seq, row, row + 8, most);
    assert(found < row + 8 && *found == most);
    assert(thrust::lower_bound(thrust::seq, row, row + 8, most) == found);
    assert(thrust::binary_search(thrust::seq, row, row + 8, row[3]));
    sums[t] = total;
}

// warpsmith: grid=1 block=16
__global__ void own_arrays() {
    int keys[6] = {3, 1, 2, 3, 0, 1}, values[6], sums[6];
    thrust::sequence(thrust::seq, values, values + 6);
    thrust::stable_sort_by_key(thrust::seq, keys, keys + 6, values);
    assert(keys[0] == 0 && values[0] == 4 && values[1] == 1 && values[2] == 5 && values[5] == 3);
    thrust::inclusive_scan(thrust::seq, keys, keys + 6, sums);
    assert(sums[5] == 10);
    thrust::exclusive_scan(thrust::device, keys, keys + 6, sums);
    assert(sums[0] == 0 && sums[5] == 7);
    thrust::transform(thrust::seq, keys, keys + 6, values, sums, thrust::plus<int>());
    assert(sums[0] == 4);
    thrust::fill(thrust::seq, sums, sums + 6, (int)threadIdx.x);
    assert(sums[5] == threadIdx.x);
    thrust::copy(thrust::seq, keys, keys + 6, values);
    assert(values[5] == 3);
    thrust::sort(keys, keys + 6, thrust::greater<int>());
    assert(keys[0] == 3 && keys[5] == 0);
}

__device__ thrust::pair<int, int> both(int a, int b) { return thrust::make_pair(thrust::min(a, b), thrust::max(a, b)); }

// warpsmith: grid=1 block=32 arg z=float2[32]=random
__global__ void small_things(float2 *z) {
    int a = threadIdx.x, b = 31 - threadIdx.x;
    thrust::pair<int, int> p = both(a, b);
    assert(p.first <= p.second && p.first + p.second == 31);
    thrust::swap(a, b);
    assert(b == threadIdx.x);
    thrust::tuple<int, float, int> t = thrust::make_tuple(a, 0.5f, b);
    assert(thrust::get<0>(t) == a && thrust::get<1>(t) == 0.5f && thrust::get<2>(t) == b);
    thrust::complex<float> c(z[threadIdx.x].x, z[threadIdx.x].y), i(0.0f, 1.0f);
    c = c * i;
    assert(c.real() == -z[threadIdx.x].y && c.imag() == z[threadIdx.x].x);
    z[threadIdx.x] = make_float2(c.real(), c.imag());
}
