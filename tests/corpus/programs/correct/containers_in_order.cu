// Maps, sets and queues with orders of their own, read from both ends; numbers to a base; what came of it sizes the launches.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

__global__ void check(const int *x, const int *expected, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) assert(x[i] == expected[i]);
}

static void compare(const std::vector<int> &got, const std::vector<int> &expected)
{
    if (got.size() != expected.size()) abort();
    const int n = (int)got.size();
    int *x, *y;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&y, n * sizeof(int));
    cudaMemcpy(x, &got[0], n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(y, expected.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    check<<<(n + 31) / 32, 32>>>(x, y, n);
    cudaFree(x);
    cudaFree(y);
}

struct Cell {
    int x, y;
    bool operator==(const Cell &o) const { return x == o.x && y == o.y; }
};
struct CellHash {
    size_t operator()(const Cell &c) const { return c.x * 31 + c.y; }
};
struct Further {
    bool operator()(const std::pair<int, int> &a, const std::pair<int, int> &b) const { return a.first > b.first; }
};

int main()
{
    std::map<int, int, std::greater<int>> falling = {{1, 10}, {3, 30}, {2, 20}};
    falling[5] += 50;
    std::vector<int> keys;
    for (const auto &[key, value] : falling) keys.push_back(key + value);
    compare(keys, {55, 33, 22, 11});
    compare({falling.at(3), (int)falling.count(4), (int)falling.erase(2), (int)falling.size()}, {30, 0, 1, 3});

    std::unordered_map<Cell, int, CellHash> cells;
    cells[Cell{1, 2}]++;
    cells[Cell{1, 2}] += 4;
    cells[Cell{2, 1}] = 7;
    compare({cells[Cell{1, 2}], (int)cells.size()}, {5, 2});

    std::vector<int> numbers = {4, 1, 4, 2};
    std::set<int> distinct(numbers.begin(), numbers.end());
    std::unordered_set<int> any(numbers.begin(), numbers.end());
    compare({*distinct.begin(), (int)distinct.size(), (int)any.size(), *distinct.lower_bound(3)}, {1, 3, 3, 4});
    std::set<std::pair<int, int>> pairs;
    pairs.insert({2, 7});
    pairs.insert({1, 9});
    pairs.insert({1, 8});
    compare({(int)pairs.size(), pairs.begin()->second}, {3, 8});
    std::multimap<int, int> many;
    many.insert({2, 20});
    many.emplace(1, 10);
    many.emplace(2, 21);
    auto both = many.equal_range(2);
    compare({(int)many.count(2), both.first->second, std::prev(both.second)->second, many.begin()->second}, {2, 20, 21, 10});

    std::priority_queue<int, std::vector<int>, std::greater<int>> least;
    for (int n : numbers) least.push(n);
    std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, Further> nearest;
    nearest.emplace(9, 1);
    nearest.push({3, 2});
    compare({least.top(), nearest.top().second}, {1, 2});

    std::vector<int> back(numbers.rbegin(), numbers.rend());
    compare(back, {2, 4, 1, 4});
    std::copy(numbers.begin(), numbers.begin() + 2, std::back_inserter(back));
    compare(back, {2, 4, 1, 4, 4, 1});
    std::list<int> sorted{3, 1, 2};
    sorted.sort();
    sorted.push_front(0);
    compare(std::vector<int>(sorted.begin(), sorted.end()), {0, 1, 2, 3});

    std::function<int(int)> fibonacci = [&](int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); };
    compare({fibonacci(10)}, {55});

    char *end;
    compare({(int)strtol("0x1f", nullptr, 16), (int)strtol(" -12z", &end, 10), *end, (int)strtoul("017", nullptr, 0)}, {31, -12, 'z', 15});
    std::string text = "  wide ";
    text.erase(0, text.find_first_not_of(' ')).insert(4, "r");
    text.erase(text.find_last_not_of(' ') + 1);
    compare({text == "wider", (int)text.size()}, {1, 5});
    char words[] = "5 60,7";
    int sum = 0;
    for (char *word = strtok(words, " ,"); word; word = strtok(nullptr, " ,")) sum += atoi(word);
    compare({sum, falling.rbegin()->first}, {72, 1});
    back.assign({7, 8});
    back.emplace(back.begin() + 1, 9);
    compare(back, {7, 9, 8});
    std::bernoulli_distribution always(1.0);
    std::exponential_distribution<float> waiting(2.0f);

    std::mt19937_64 generator(7);
    std::uniform_int_distribution<> pick(0, 9);
    std::uniform_real_distribution<> unit;
    double u = unit(generator);
    int p = pick(generator);
    compare({p >= 0 && p < 10, u >= 0.0 && u < 1.0, always(generator), waiting(generator) >= 0.0f}, {1, 1, 1, 1});
    return 0;
}
