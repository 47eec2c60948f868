// A pyramid of pictures: each level is made from the one before through a texture and a surface, then read between levels, and
// chosen through an atlas of texture objects.
#include <cstdio>
#include <cstring>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void halve(cudaSurfaceObject_t to, cudaTextureObject_t from, unsigned w, unsigned h)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = (x + 0.5f) / w, v = (y + 0.5f) / h;
    float4 c = tex2D<float4>(from, u, v);
    uchar4 bytes = make_uchar4(c.x * 255.0f, c.y * 255.0f, c.z * 255.0f, c.w * 255.0f);
    surf2Dwrite(bytes, to, x * sizeof(uchar4), y);
}

__global__ void show(uchar4 *out, cudaTextureObject_t atlas, int w, int h, float level)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uint2 parts = tex2D<uint2>(atlas, (x + 0.5f) / w, (y + 0.5f) / h);
    cudaTextureObject_t picture = (cudaTextureObject_t)parts.x | (cudaTextureObject_t)parts.y << 32;
    float4 c = tex2DLod<float4>(picture, (x + 0.5f) / w, (y + 0.5f) / h, level);
    out[y * w + x] = make_uchar4(c.x * 255.0f, c.y * 255.0f, c.z * 255.0f, 255);
}

static cudaTextureObject_t texture_of(cudaResourceDesc resource, cudaTextureFilterMode filter, cudaTextureReadMode read, float levels)
{
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    how.normalizedCoords = 1;
    how.filterMode = filter;
    how.mipmapFilterMode = filter;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    how.maxMipmapLevelClamp = levels;
    how.readMode = read;
    cudaTextureObject_t object;
    CHECK(cudaCreateTextureObject(&object, &resource, &how, NULL));
    return object;
}

static void make_levels(cudaMipmappedArray_t pyramid, cudaExtent size)
{
    for (unsigned level = 0; size.width > 1 || size.height > 1; level++) {
        size.width = size.width > 1 ? size.width / 2 : 1;
        size.height = size.height > 1 ? size.height / 2 : 1;
        cudaArray_t from, to;
        CHECK(cudaGetMipmappedArrayLevel(&from, pyramid, level));
        CHECK(cudaGetMipmappedArrayLevel(&to, pyramid, level + 1));
        cudaExtent real;
        CHECK(cudaArrayGetInfo(NULL, &real, NULL, to));
        if (real.width != size.width || real.height != size.height || real.depth != 0) exit(1);
        cudaResourceDesc resource;
        memset(&resource, 0, sizeof resource);
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = from;
        cudaTextureObject_t in = texture_of(resource, cudaFilterModeLinear, cudaReadModeNormalizedFloat, 0);
        resource.res.array.array = to;
        cudaSurfaceObject_t out;
        CHECK(cudaCreateSurfaceObject(&out, &resource));
        dim3 block(8, 8), grid((size.width + 7) / 8, (size.height + 7) / 8);
        halve<<<grid, block>>>(out, in, size.width, size.height);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaDestroySurfaceObject(out));
        CHECK(cudaDestroyTextureObject(in));
    }
}

int main()
{
    const int w = 32, h = 16, levels = 6;
    std::vector<uchar4> pixels(w * h, make_uchar4(9, 8, 7, 255));
    std::vector<cudaMipmappedArray_t> pyramids;
    std::vector<uint2> names;
    for (int k = 0; k < 3; k++) {
        cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
        cudaExtent size = make_cudaExtent(w, h, 0);
        cudaMipmappedArray_t pyramid;
        CHECK(cudaMallocMipmappedArray(&pyramid, &format, size, levels));
        cudaArray_t first;
        CHECK(cudaGetMipmappedArrayLevel(&first, pyramid, 0));
        CHECK(cudaMemcpy2DToArray(first, 0, 0, pixels.data(), w * sizeof(uchar4), w * sizeof(uchar4), h, cudaMemcpyHostToDevice));
        make_levels(pyramid, size);
        cudaResourceDesc resource;
        memset(&resource, 0, sizeof resource);
        resource.resType = cudaResourceTypeMipmappedArray;
        resource.res.mipmap.mipmap = pyramid;
        cudaTextureObject_t object = texture_of(resource, cudaFilterModeLinear, cudaReadModeNormalizedFloat, levels - 1);
        names.push_back(make_uint2((unsigned)(object & 0xffffffff), (unsigned)(object >> 32)));
        pyramids.push_back(pyramid);
    }
    std::vector<uint2> tiles(4 * 4);
    for (size_t i = 0; i < tiles.size(); i++) tiles[i] = names[i % names.size()];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uint2>();
    cudaArray_t plan;
    CHECK(cudaMallocArray(&plan, &format, 4, 4));
    CHECK(cudaMemcpy2DToArray(plan, 0, 0, tiles.data(), 4 * sizeof(uint2), 4 * sizeof(uint2), 4, cudaMemcpyHostToDevice));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = plan;
    cudaTextureObject_t atlas = texture_of(resource, cudaFilterModePoint, cudaReadModeElementType, 0);
    uchar4 *out;
    CHECK(cudaMalloc(&out, 40 * 30 * sizeof(uchar4)));
    for (float level = 0.0f; level < 7.0f; level += 1.5f) show<<<dim3(5, 4), dim3(8, 8)>>>(out, atlas, 40, 30, level);
    CHECK(cudaDeviceSynchronize());
    for (auto pyramid : pyramids) CHECK(cudaFreeMipmappedArray(pyramid));
    CHECK(cudaFreeArray(plan));
    CHECK(cudaFree(out));
    return 0;
}
