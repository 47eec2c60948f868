// Three planes of a volume in shared memory that move along: the first of them holds nothing yet when it is moved for the first
// time, and nobody uses what came of it.
#define W 16
#define H 8
#define PLANE (W * H)

// warpsmith: grid=1 block=16x8 arg depth=6 arg in=float[768] arg out=float[768]
__global__ void planes(const float *in, float *out, int depth)
{
    __shared__ float u[3 * PLANE];
    int at = threadIdx.y * W + threadIdx.x + PLANE;
    bool edge = threadIdx.x == 0 || threadIdx.x == W - 1 || threadIdx.y == 0 || threadIdx.y == H - 1;
    u[at + PLANE] = in[at - PLANE];
    for (int k = 0; k < depth; k++) {
        u[at - PLANE] = u[at];
        u[at] = u[at + PLANE];
        if (k < depth - 1) u[at + PLANE] = in[at + k * PLANE];
        __syncthreads();
        float value = u[at];
        if (!edge && k > 0 && k < depth - 1)
            value = (u[at - 1] + u[at + 1] + u[at - W] + u[at + W] + u[at - PLANE] + u[at + PLANE]) / 6.0f;
        out[at + (k - 1) * PLANE] = value;
        __syncthreads();
    }
}
