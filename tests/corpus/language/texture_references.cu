// References to textures, by the names of their types: of linear memory and of an array, bound by the host.
#include <cstdio>
typedef texture<float, 1, cudaReadModeElementType> line_t;
static line_t line;
using image_t = texture<unsigned char, 2, cudaReadModeNormalizedFloat>;
image_t image;
__global__ void sample(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __assert(tex1Dfetch(line, i) == 2.0f * i);
    float bright = tex2D(image, i % 8 + 0.5f, i / 8 + 0.5f);
    __assert(bright == (i % 2 == 0 ? 0.0f : 1.0f));
    out[i] = tex1Dfetch(line, i) + bright;
}
int main()
{
    const int n = 64;
    float h[n], *d, *out;
    unsigned char pixels[n];
    for (int i = 0; i < n; i++) {
        h[i] = 2.0f * i;
        pixels[i] = i % 2 == 0 ? 0 : 255;
    }
    cudaMalloc(&d, sizeof(h));
    cudaMalloc(&out, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaBindTexture(0, line, d, sizeof(h));
    cudaArray *array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaMallocArray(&array, &format, 8, 8);
    cudaMemcpyToArray(array, 0, 0, pixels, sizeof(pixels), cudaMemcpyHostToDevice);
    image.addressMode[0] = cudaAddressModeClamp;
    image.filterMode = cudaFilterModePoint;
    image.normalized = false;
    cudaBindTextureToArray(image, array, format);
    sample<<<2, 32>>>(out, n);
    cudaUnbindTexture(line);
    cudaDeviceSynchronize();
}
