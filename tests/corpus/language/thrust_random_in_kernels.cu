// A generator for each thread, as Monte Carlo programs have it.
#include <assert.h>
#include <thrust/random.h>

// warpsmith: grid=2 block=32 arg hits=int[64]=zeros arg n=50
__global__ void estimate(int *hits, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    thrust::default_random_engine rng(1234 + t);
    rng.discard(n * t);
    thrust::uniform_real_distribution<float> u(0, 1);
    int inside = 0;
    for (int i = 0; i < n; i++) {
        float x = u(rng), y = u(rng);
        assert(x >= 0 && x <= 1 && y >= 0 && y <= 1);
        if (x * x + y * y <= 1) inside++;
    }
    hits[t] = inside;
    thrust::uniform_int_distribution<int> dice(1, 6);
    int d = dice(rng);
    assert(d >= 1 && d <= 6);
}
