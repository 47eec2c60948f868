// Lambdas with values of their own and state that changes, containers made from lists: each launch has as many elements as the array.
#include <algorithm>
#include <map>
#include <set>
#include <vector>
#include <string>
__global__ void put(int *x, int v, int n) { int i = threadIdx.x; if (i < n) x[i] = v; }
int main() {
  std::vector<int> h(40);
  std::generate(h.begin(), h.end(), [k = 0]() mutable { return k++; });
  int calls = 0;
  auto count = [&c = calls, step = 2](int n) mutable { c += n; step++; return step; };
  count(3);
  int twice = 5;
  auto change = [twice]() mutable { twice *= 2; return twice; };
  std::map<std::string, int> sizes{{"a", 32}, {"b", 64}};
  std::set<int> kinds = {3, 1, 2};
  int *x; cudaMalloc(&x, 40 * sizeof(int));
  put<<<1, 64>>>(x, h[39], h[39] + calls - 2);      // 40
  put<<<1, sizes["b"]>>>(x, count(0), (int)kinds.size() + 37);  // 40
  put<<<1, 64>>>(x, change() + change() , twice * 8);  // 40
  cudaFree(x);
}
