// Nodes of a graph that run graphs of their own: once if a kernel says so, as long as one says so, and one of several. One body is made
// node by node, one is captured.
#include <cassert>
#include <cuda_runtime.h>

__global__ void decide(const int *flag, cudaGraphConditionalHandle then, cudaGraphConditionalHandle which) {
    cudaGraphSetConditional(then, *flag > 0);
    cudaGraphSetConditional(which, *flag + 1);
}

__global__ void add(int *sum, int n) { *sum += n; }

__global__ void countDown(int *left, cudaGraphConditionalHandle again) {
    if (--*left == 0) cudaGraphSetConditional(again, 0);
}

static cudaGraphNodeParams kernelNode(void *kernel, void **args) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = kernel;
    p.kernel.gridDim = dim3(1);
    p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = args;
    return p;
}

static cudaGraph_t *condition(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                              cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned bodies) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = bodies;
    cudaGraphAddNode(node, graph, after, nullptr, after ? 1 : 0, &p);
    return p.conditional.phGraph_out;
}

int main() {
    int *flag, *sum, *left;
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMalloc(&left, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));

    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraphConditionalHandle then, which, again;
    cudaGraphConditionalHandleCreate(&then, graph);
    cudaGraphConditionalHandleCreate(&which, graph);
    cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault);

    cudaGraphNode_t first, branch, node;
    void *decided[] = {&flag, &then, &which};
    cudaGraphNodeParams decides = kernelNode((void *)decide, decided);
    cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &decides);

    int amounts[] = {1, 10, 100};
    cudaGraph_t *branches = condition(&branch, graph, &first, then, cudaGraphCondTypeIf, 2);
    for (int i = 0; i < 2; i++) {
        void *args[] = {&sum, &amounts[i]};
        cudaGraphNodeParams adds = kernelNode((void *)add, args);
        cudaGraphAddNode(&node, branches[i], nullptr, nullptr, 0, &adds);
    }
    cudaGraph_t *cases = condition(&node, graph, &branch, which, cudaGraphCondTypeSwitch, 2);
    void *args[] = {&sum, &amounts[2]};
    cudaGraphNodeParams adds = kernelNode((void *)add, args);
    cudaGraphAddNode(&node, cases[1], nullptr, nullptr, 0, &adds);

    cudaGraph_t loop = condition(&node, graph, nullptr, again, cudaGraphCondTypeWhile, 1)[0];
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamBeginCaptureToGraph(stream, loop, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
    countDown<<<1, 1, 0, stream>>>(left, again);
    cudaStreamEndCapture(stream, nullptr);

    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    for (int f = 0; f < 2; f++) {
        int three = 3;
        cudaMemcpy(flag, &f, sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(left, &three, sizeof(int), cudaMemcpyHostToDevice);
        cudaGraphLaunch(exec, stream);
        cudaStreamSynchronize(stream);
        int rest;
        cudaMemcpy(&rest, left, sizeof(int), cudaMemcpyDeviceToHost);
        assert(rest == 0);
    }
    // Without the flag: the other branch and the second case; with it: the first branch and a case there is no body for.
    int all;
    cudaMemcpy(&all, sum, sizeof(int), cudaMemcpyDeviceToHost);
    assert(all == 10 + 100 + 1);
    return 0;
}
