// Objects whose class takes managed memory for itself by operator new, which its derived classes inherit; shapes in braces
// for a constructor that takes a list beside the copying ones.
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

class Managed {
public:
    void *operator new(size_t bytes)
    {
        void *p;
        cudaMallocManaged(&p, bytes);
        return p;
    }
    void *operator new[](size_t bytes)
    {
        void *p;
        cudaMallocManaged(&p, bytes);
        return p;
    }
    void operator delete(void *p)
    {
        cudaDeviceSynchronize();
        cudaFree(p);
    }
    void operator delete[](void *p) { cudaFree(p); }
};

struct Word : public Managed {
    char text[16];
    int length;
    Word *next;
};

class Grid {
    float *data_ = nullptr;
    std::vector<int> shape_;

public:
    explicit Grid(std::initializer_list<int> shape) : shape_(shape) { cudaMalloc(&data_, size() * sizeof(float)); }
    Grid(const Grid &) = delete;
    Grid(Grid &&o) noexcept : data_(std::exchange(o.data_, nullptr)), shape_(std::move(o.shape_)) {}
    int size() const
    {
        int n = 1;
        for (int s : shape_) n *= s;
        return n;
    }
    float *data() const { return data_; }
    void free() { cudaFree(data_); }
};

__global__ void shout(Word *w, int *lengths)
{
    for (int at = 0; w != nullptr; w = w->next, at++) {
        const int i = threadIdx.x;
        if (i < w->length) w->text[i] -= 'a' - 'A';
        if (i == 0) lengths[at] = w->length;
    }
}

__global__ void fill(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

int main()
{
    const char *words[] = {"alpha", "be", "gamma"};
    Word *first = nullptr;
    for (const char *text : words) {
        Word *w = new Word;
        strcpy(w->text, text);
        w->length = strlen(text);
        w->next = first;
        first = w;
    }
    int *lengths;
    cudaMallocManaged(&lengths, 3 * sizeof(int));
    shout<<<1, 32>>>(first, lengths);
    cudaDeviceSynchronize();
    int all = 0;
    for (Word *w = first; w != nullptr;) {
        printf("%s\n", w->text);
        all += w->length;
        Word *next = w->next;
        delete w;
        w = next;
    }
    Grid grid({all, 7});
    Grid moved = std::move(grid);
    fill<<<(moved.size() + 31) / 32, 32>>>(moved.data(), moved.size());
    cudaDeviceSynchronize();
    moved.free();
    cudaFree(lengths);
    return all == 12 ? 0 : 1;
}
