// The six faces of a cube map, each asked in the middle of its texels.
__global__ void sample(cudaTextureObject_t cube, float *out)
{
    int k = threadIdx.x;
    float s = k % 2 - 0.5f, t = k / 2 % 2 - 0.5f;
    // The programming guide's table of faces, the other way round: where it has -z for s, z is -s.
    float directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    float *d = directions[k / 4];
    float texel = texCubemap<float>(cube, d[0], d[1], d[2]);
    __assert(texel == k);
    __assert(texCubemap<float>(cube, 3 * d[0], 3 * d[1], 3 * d[2]) == k);
    out[k] = texel;
}

int main()
{
    float host[6 * 2 * 2], *out;
    for (int i = 0; i < 24; i++) host[i] = i;
    cudaMalloc(&out, sizeof(host));
    cudaExtent extent = make_cudaExtent(2, 2, 6);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray *faces;
    cudaMalloc3DArray(&faces, &format, extent, cudaArrayCubemap);
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(host, 2 * sizeof(float), 2, 2);
    copy.dstArray = faces;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = faces;
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    cudaTextureObject_t cube;
    cudaCreateTextureObject(&cube, &resource, &how, NULL);
    sample<<<1, 24>>>(cube, out);
    cudaDeviceSynchronize();
}
