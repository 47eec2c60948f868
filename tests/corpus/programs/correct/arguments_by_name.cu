// A program that ends unless its arguments have certain names in certain places: `-x 16 -n 16 file`.
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void scale(float *x, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
int main(int argc, char *argv[])
{
    const char *usage = "scale -x <factor> -n <elements> <file>";
    if (argc != 6) { printf("%s\n", usage); return 0; }
    if (strcmp(argv[1], "-x") || strcmp(argv[3], "-n")) { printf("%s\n", usage); return 0; }
    int factor, n, read = 0;
    char word[64], line[64];
    if (sscanf(argv[2], "%d", &factor) == EOF) return 1;
    if (sscanf(argv[4], "%d", &n) != 1 || n <= 0) return 1;
    float ratio = 0;
    strcpy(line, "size= 12, 0.5 word");
    if (sscanf(line, "size=%d,%f %s", &read, &ratio, word) != 3 || read != 12 || ratio != 0.5f || strcmp(word, "word")) return 1;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 63) / 64, 64>>>(x, n, factor * ratio);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
