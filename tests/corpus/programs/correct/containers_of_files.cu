// Containers and texts of files, and static ones of functions, with values to begin with.
#include <cassert>
#include <string>
#include <vector>

__global__ void is_true(const bool *facts, int n)
{
    if (threadIdx.x < n) assert(facts[threadIdx.x]);
}

static const std::vector<int> sizes = {64, 128, 256};
std::vector<float> halves(10, 1.5f);
std::string name = "abc";
std::vector<std::vector<int>> rows(3);
static std::vector<int> squares = [] {
    std::vector<int> all;
    for (int i = 0; i < 5; i++) all.push_back(i * i);
    return all;
}();

int steps()
{
    static const std::vector<int> list = {1, 1};
    static std::vector<int> grown{7};
    grown.push_back(8);
    return list.size() + grown.size();
}

int main()
{
    bool *facts;
    cudaMallocManaged(&facts, 6 * sizeof(bool));
    int sum = 0;
    for (int size : sizes) sum += size;
    facts[0] = sizes.size() == 3 && sum == 448;
    facts[1] = halves.size() == 10 && halves[9] == 1.5f;
    facts[2] = name.size() == 3 && name[2] == 'c';
    rows[1].push_back(5);
    facts[3] = rows.size() == 3 && rows[1][0] == 5;
    facts[4] = squares.size() == 5 && squares[4] == 16;
    facts[5] = steps() == 4 && steps() == 5;
    is_true<<<1, 32>>>(facts, 6);
    cudaDeviceSynchronize();
    cudaFree(facts);
    return 0;
}
