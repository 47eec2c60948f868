// Values of templates in namespaces, casts before signs, extents of launches in braces, and sizes of what is declared.
#include <array>
#include <cstdio>
#include <cstdlib>

namespace detail {
template <int N> struct power { static constexpr int value = 2 * power<N - 1>::value; };
template <> struct power<0> { static constexpr int value = 1; };
template <typename T> struct traits {
    template <int N> struct times { static constexpr int value = N * (int)sizeof(T); };
};
} // namespace detail

template <typename T> __global__ void pairs(const T *in, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 *from = (const float2 *)(in) + i;
    float2 *to = reinterpret_cast<float2 *>(out) + i;
    if (i < n)
        *to = make_float2(from->y, from->x + detail::traits<T>::template times<3>::value - 2 * detail::power<2>::value);
}

static int options(const char *const *words, int count, const char *const key)
{
    for (int i = 1; i < count; i++)
        if (words[i][0] == key[0])
            return i;
    return 0;
}

int main(int argc, char **argv)
{
    const int n = detail::power<6>::value + 0 * options(argv, argc, "-");
    float *h = (float *)malloc(2 * n * sizeof(*h));
    for (int i = 0; i < 2 * n; i++)
        h[i] = (float)i;
    float *in, *out, *all[2];
    cudaMalloc(&in, 2 * n * sizeof *in);
    cudaMalloc(&out, 2 * n * sizeof(*out));
    cudaMemcpy(in, h, 2 * n * sizeof *h, cudaMemcpyHostToDevice);
    pairs<float><<<{2, 1}, {(unsigned)(n / 2), 1}>>>(in, out, n);
    cudaMemcpy(h, out, 2 * n * sizeof(*h), cudaMemcpyDeviceToHost);
    all[0] = in;
    all[1] = out;
    for (float *p : all)
        cudaFree(p);
    constexpr std::array<const char *, 2> names = {"first", "second"};
    printf("%s %g %s %g\n", names[0], h[0], names[1], h[1]);
    free(h);
    return 0;
}
