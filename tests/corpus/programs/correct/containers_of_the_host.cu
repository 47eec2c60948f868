// Lists, queues with two ends, text that is written and read, sets that say whether they grew, ties of pairs.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

template <typename T> struct Task {
    T factor;
    int n;
    T *data;
    Task() : factor(0), n(0), data(nullptr) {}
    void make(int count) { n = count; cudaMalloc(&data, n * sizeof(T)); cudaMemset(data, 0, n * sizeof(T)); }
};

template <typename T> __global__ void scale(T *x, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * by + 1;
}

class Options {
    typedef std::map<std::string, std::string> Map;
    Map values;

public:
    void set(const std::string &name, const std::string &value) { values[name] = value; }
    int number(const std::string &name) const
    {
        Map::const_iterator at = values.find(name);
        if (at == values.end())
            return 0;
        std::stringstream text(at->second);
        int value;
        text >> value;
        return value;
    }
};

int main()
{
    Options options;
    options.set("size", "40");
    int size = options.number("size");
    std::vector<Task<double>> tasks(3);
    for (size_t i = 0; i < tasks.size(); i++)
        tasks[i].make(size + (int)i);
    std::list<int> order;
    for (int i = 0; i < 3; i++)
        order.push_back(i);
    order.push_front(2);
    for (std::list<int>::iterator at = order.begin(); at != order.end(); ++at)
        scale<<<1, 64>>>(tasks[*at].data, tasks[*at].factor, tasks[*at].n);
    std::deque<std::pair<int, float>> waiting;
    waiting.push_back({4, 2.0f});
    waiting.emplace_back(size, 3.0f);
    waiting.pop_front();
    std::unordered_set<unsigned> seen;
    std::vector<unsigned> keys;
    for (unsigned x = 7; keys.size() < 32; x = x * 5 + 3)
        if (seen.insert(x % 97).second)
            keys.push_back(x % 97);
        else
            keys.push_back(100 + x % 3);
    std::vector<std::pair<unsigned, unsigned>> sorted;
    for (unsigned i = 0; i < keys.size(); i++)
        sorted.emplace_back(keys[i], i);
    std::partial_sort(sorted.begin(), sorted.begin() + 8, sorted.end());
    std::vector<unsigned> first(8), place(8);
    for (size_t i = 0; i < 8; i++)
        std::tie(first[i], place[i]) = sorted[i];
    std::default_random_engine engine(5);
    std::normal_distribution<float> normal(0, 1);
    auto draw = std::bind(normal, engine);
    std::vector<float> h(waiting.front().first);
    std::for_each(h.begin(), h.end(), [&](float &v) { v = draw() + place[3]; });
    std::string name;
    name.reserve(16);
    name += "floats";
    float *d;
    cudaMalloc(&d, h.size() * sizeof(float));
    cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<2, 32>>>(d, 0.5f, (int)h.size());
    cudaMemcpy(h.data(), d, h.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%s %g\n", name.c_str(), h[0]);
    return 0;
}
