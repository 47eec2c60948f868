// Four texels at a time, levels by gradients, layers of cube maps and of lines.
__global__ void gathered(cudaTextureObject_t plane, float *out)
{
    float4 first = tex2Dgather<float4>(plane, 2.0f, 1.0f);
    // Between the texels (1, 0), (2, 0), (1, 1) and (2, 1), of rows of four.
    __assert(first.x == 5 && first.y == 6 && first.z == 2 && first.w == 1);
    float4 corner = tex2Dgather<float4>(plane, 0.0f, 0.0f, 0);
    __assert(corner.x == 0 && corner.y == 0 && corner.z == 0 && corner.w == 0);
    __assert(tex2Dgather<float4>(plane, 2.0f, 1.0f, 3).x == 0);
    float2 step = make_float2(1.0f, 0.0f);
    __assert(tex2DGrad<float>(plane, 2.5f, 1.5f, step, step) == 6);
    out[threadIdx.x] = first.x;
}
__global__ void levels(cudaTextureObject_t pyramid)
{
    float2 texel = make_float2(0.25f, 0.0f), two = make_float2(0.0f, 0.5f);
    __assert(tex2DGrad<float>(pyramid, 0.5f, 0.5f, texel, texel) == 1);
    __assert(tex2DGrad<float>(pyramid, 0.5f, 0.5f, texel, two) == 2);
}
__global__ void cubes(cudaTextureObject_t cubes, cudaSurfaceObject_t faces)
{
    __assert(texCubemapLayered<float>(cubes, 0.0f, 0.0f, 1.0f, 0) == 4);
    __assert(texCubemapLayered<float>(cubes, 0.0f, -1.0f, 0.0f, 1) == 9);
    __assert(texCubemap<float>(cubes, -1.0f, 0.0f, 0.0f) == 1);
    __assert(texCubemapLod<float>(cubes, 1.0f, 0.0f, 0.0f, 0.0f) == 0);
    __assert(tex2DLayeredLod<float>(cubes, 0.5f, 0.5f, 7, 0.0f) == 7);
    __assert(surfCubemapLayeredread<float>(faces, 0, 0, 11) == 11);
    surfCubemapLayeredwrite(20.0f, faces, 0, 0, 11);
    __assert(surfCubemapLayeredread<float>(faces, 0, 0, 11) == 20);
    surf1DLayeredwrite(30.0f, faces, 0, 2);
    __assert(surf1DLayeredread<float>(faces, 0, 2) == 30);
}

cudaArray *filled(int width, int height, int depth, unsigned flags, const float *values)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray *array;
    cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags);
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr((void *)values, width * sizeof(float), width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, depth > 0 ? depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    return array;
}

int main()
{
    float values[16], one = 1, *out;
    for (int i = 0; i < 16; i++) values[i] = i;
    cudaMalloc(&out, 32 * sizeof(float));
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = filled(4, 4, 0, cudaArrayTextureGather, values);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t plane, cube, pyramid;
    cudaCreateTextureObject(&plane, &resource, &how, NULL);
    gathered<<<1, 32>>>(plane, out);

    resource.res.array.array = filled(1, 1, 12, cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore, values);
    how.normalizedCoords = 1;
    cudaSurfaceObject_t faces;
    cudaCreateTextureObject(&cube, &resource, &how, NULL);
    cudaCreateSurfaceObject(&faces, &resource);
    cubes<<<1, 1>>>(cube, faces);

    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t levelled;
    cudaMallocMipmappedArray(&levelled, &format, make_cudaExtent(4, 4, 0), 2);
    for (int level = 0; level < 2; level++) {
        int extent = 4 >> level;
        for (int i = 0; i < 16; i++) values[i] = one + level;
        cudaArray_t array;
        cudaGetMipmappedArrayLevel(&array, levelled, level);
        cudaMemcpy2DToArray(array, 0, 0, values, extent * 4, extent * 4, extent, cudaMemcpyHostToDevice);
    }
    cudaResourceDesc all = {};
    all.resType = cudaResourceTypeMipmappedArray;
    all.res.mipmap.mipmap = levelled;
    how.maxMipmapLevelClamp = 1;
    cudaCreateTextureObject(&pyramid, &all, &how, NULL);
    levels<<<1, 32>>>(pyramid);
    cudaDeviceSynchronize();
}
