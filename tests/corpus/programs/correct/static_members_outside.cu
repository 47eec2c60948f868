// Static data members that get their values outside of their class, of templates, too.
#include <cassert>

__global__ void is_true(const bool *facts, int n)
{
    if (threadIdx.x < n) assert(facts[threadIdx.x]);
}

struct Counter {
    static int made;
    static const int limit;
    static float weights[3];
    int id;
    Counter() : id(++made) {}
};
int Counter::made = 40;
const int Counter::limit = 6;
float Counter::weights[3] = {1, 2, 3};

template <typename T> struct Registry {
    static int count;
    static T last;
};
template <typename U> int Registry<U>::count = 3;
template <typename U> U Registry<U>::last = U(7);
template <> int Registry<double>::count = 9;

namespace settings {
extern int width;
}
int settings::width = 12;

int made = 5;

int main()
{
    bool *facts;
    cudaMallocManaged(&facts, 6 * sizeof(bool));
    Counter a, b;
    facts[0] = a.id == 41 && b.id == 42 && Counter::made == 42;
    facts[1] = Counter::limit == 6 && Counter::weights[2] == 3;
    facts[2] = Registry<int>::count == 3 && Registry<float>::last == 7.0f;
    facts[3] = Registry<double>::count == 9;
    facts[4] = settings::width == 12;
    facts[5] = made == 5;
    is_true<<<1, 32>>>(facts, Counter::limit);
    cudaDeviceSynchronize();
    cudaFree(facts);
    return 0;
}
