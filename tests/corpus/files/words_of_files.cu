// Host code as C programs have it: points of a text file, its words one by one, options that a block declares itself, memory that
// may be short, a picture that is read byte by byte, and files by number.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <getopt.h>
#include <iostream>
#include <new>
#include <sys/time.h>
#include <unistd.h>

__global__ void distances(const float *points, float *out, int n, int parts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < parts; k++) sum += points[i * parts + k] * points[i * parts + k];
    out[i] = sqrtf(sum);
}

__global__ void brighten(const unsigned char *from, unsigned char *to, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = min(255, from[i] + 16);
}

static double now()
{
    struct timezone zone;
    struct timeval tv;
    int failed = gettimeofday(&tv, &zone);
    if (failed != 0) printf("no time: %d\n", failed);
    return tv.tv_sec + 1e-6 * tv.tv_usec;
}

static void points_of(const char *name)
{
    char line[256];
    int n = 0, parts = 0;
    FILE *file = fopen(name, "r");
    if (file == NULL) exit(1);
    while (fgets(line, sizeof line, file) != NULL)
        if (strtok(line, " \t\n") != NULL) n++;
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strtok(line, " \t\n") == NULL) continue;
        while (strtok(NULL, " \t\n") != NULL) parts++;
        break;
    }
    rewind(file);
    float *points = new (std::nothrow) float[n * parts];
    if (points == NULL) exit(1);
    for (int i = 0; fgets(line, sizeof line, file) != NULL && i < n; i++) {
        if (strtok(line, " \t\n") == NULL) continue;
        for (int k = 0; k < parts; k++) points[i * parts + k] = atof(strtok(NULL, " \t\n"));
    }
    fclose(file);
    float *d_points, *d_out;
    cudaMalloc(&d_points, n * parts * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_points, points, n * parts * sizeof(float), cudaMemcpyHostToDevice);
    distances<<<(n + 127) / 128, 128>>>(d_points, d_out, n, parts);
    cudaFree(d_points);
    cudaFree(d_out);
    delete[] points;
}

static void picture_of(const char *name)
{
    std::ifstream file(name, std::ifstream::in | std::ios::binary | std::ios::ate);
    if (!file.is_open()) return;
    int bytes = (int)file.tellg();
    file.seekg(0, std::ios::beg);
    unsigned char *picture = (unsigned char *)malloc(bytes), *from, *to;
    if (!file.read((char *)picture, bytes)) return;
    file.close();
    cudaMalloc(&from, bytes);
    cudaMalloc(&to, bytes);
    cudaMemcpy(from, picture, bytes, cudaMemcpyHostToDevice);
    brighten<<<4, 256>>>(from, to, bytes);
    cudaFree(from);
    cudaFree(to);
    free(picture);
}

static int first_letter(const char *name)
{
    int file = open(name, O_RDONLY), size = 0;
    if (file == -1) return -1;
    read(file, &size, sizeof size);
    close(file);
    FILE *again = fopen(name, "r");
    int c;
    while ((c = fgetc(again)) != EOF && isspace(c));
    fclose(again);
    return c;
}

int main(int argc, char **argv)
{
    extern char *optarg;
    const char *points = "points.txt", *picture = "picture.raw";
    int option, loud = 0;
    while ((option = getopt(argc, argv, "p:i:l")) != -1) {
        switch (option) {
        case 'p': points = optarg; break;
        case 'i': picture = optarg; break;
        case 'l': loud = 1; break;
        default: return 1;
        }
    }
    double start = now();
    points_of(points);
    picture_of(picture);
    if (loud) printf("%d %f\n", first_letter(points), now() - start);
    cudaDeviceSynchronize();
    return 0;
}
