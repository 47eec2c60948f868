// A graph that is made node by node: copies, fills, kernels by their addresses, a callback, a child, a clone, parameters that
// are changed between launches, an edge that is added behind its nodes.
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

__global__ void scale(float *x, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

template <typename T> __global__ void total(const T *x, double *sum, int n)
{
    __shared__ double part[128];
    double mine = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum += part[0];
}

struct Seen {
    double *sum;
    int calls;
};

void CUDART_CB note(void *data)
{
    Seen *seen = (Seen *)data;
    seen->calls++;
    printf("sum %f\n", *seen->sum);
}

int main()
{
    int n = 1000;
    float by = 2.0f;
    std::vector<float> host(n, 1.5f);
    float *x;
    double *sum, result = 0.0;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&sum, sizeof(double));

    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph, child;
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    std::vector<cudaGraphNode_t> before;
    cudaGraphNode_t copy, fill, scaled, summed, back, called, inner;

    cudaMemcpy3DParms in = {0};
    in.srcPtr = make_cudaPitchedPtr(host.data(), n * sizeof(float), n, 1);
    in.dstPtr = make_cudaPitchedPtr(x, n * sizeof(float), n, 1);
    in.extent = make_cudaExtent(n * sizeof(float), 1, 1);
    in.kind = cudaMemcpyHostToDevice;
    cudaGraphAddMemcpyNode(&copy, graph, NULL, 0, &in);
    cudaMemsetParams zero = {0};
    zero.dst = sum;
    zero.elementSize = sizeof(float);
    zero.width = 2;
    zero.height = 1;
    cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zero);

    void *args[] = {&x, &n, &by};
    cudaKernelNodeParams kernel = {0};
    kernel.func = (void *)scale;
    kernel.gridDim = dim3((n + 127) / 128);
    kernel.blockDim = dim3(128);
    kernel.kernelParams = args;
    cudaGraphAddKernelNode(&inner, child, NULL, 0, &kernel);
    cudaGraphAddChildGraphNode(&scaled, graph, &copy, 1, child);

    void *others[] = {&x, &sum, &n};
    memset(&kernel, 0, sizeof(kernel));
    kernel.func = (void *)total<float>;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(128);
    kernel.kernelParams = others;
    before.push_back(scaled);
    before.push_back(fill);
    cudaGraphAddKernelNode(&summed, graph, before.data(), before.size(), &kernel);
    // What the arguments are later is not what the node has.
    by = 100.0f;

    cudaGraphAddMemcpyNode1D(&back, graph, NULL, 0, &result, sum, sizeof(double), cudaMemcpyDeviceToHost);
    cudaGraphAddDependencies(graph, &summed, &back, NULL, 1);
    Seen seen = {&result, 0};
    cudaHostNodeParams host_node = {0};
    host_node.fn = note;
    host_node.userData = &seen;
    cudaGraphAddHostNode(&called, graph, &back, 1, &host_node);

    size_t nodes = 0;
    cudaGraphGetNodes(graph, NULL, &nodes);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    bool right = nodes == 6 && seen.calls == 3 && result == 3.0 * n;

    int half = n / 2;
    others[2] = &half;
    cudaGraphExecKernelNodeSetParams(exec, summed, &kernel);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    right = right && result == 1.5 * n;

    // By a variable that holds the address.
    const void *which = (const void *)scale;
    float down = 0.5f;
    void *again[] = {&x, &n, &down};
    cudaLaunchKernel(which, dim3((n + 127) / 128), dim3(128), again, 0, stream);
    cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    right = right && host[n - 1] == 1.5f;

    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(child);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(sum);
    printf(right ? "ok\n" : "wrong\n");
    return right ? 0 : 1;
}
