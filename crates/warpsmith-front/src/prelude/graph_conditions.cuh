// Nodes of any kind by one call, and those that run a graph of their own as long as a kernel says so. What a kernel says stands in memory
// of the device: the value, what it is when a launch begins, and whether it is set to that.
typedef unsigned *cudaGraphConditionalHandle;
struct conditionOfGraph { unsigned value, first, begins; };
enum { cudaGraphCondTypeIf = 0, cudaGraphCondTypeWhile = 1, cudaGraphCondTypeSwitch = 2, cudaGraphCondAssignDefault = 1 };
typedef int cudaGraphConditionalNodeType;
struct cudaConditionalNodeParams {
    cudaGraphConditionalHandle handle;
    cudaGraphConditionalNodeType type;
    unsigned size;
    cudaGraph_t *phGraph_out;
};
struct cudaMemcpyNodeParams {
    int flags, reserved;
    cudaMemcpy3DParms copyParams;
};
struct cudaChildGraphNodeParams { cudaGraph_t graph; };
struct cudaGraphNodeParams {
    cudaGraphNodeType type;
    cudaKernelNodeParams kernel;
    cudaMemcpyNodeParams memcpy;
    cudaMemsetParams memset;
    cudaHostNodeParams host;
    cudaChildGraphNodeParams graph;
    cudaMemAllocNodeParams alloc;
    cudaConditionalNodeParams conditional;
};
__device__ inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) { atomicExch(handle, value); }
inline int cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned first = 0, unsigned flags = 0) {
    conditionOfGraph held;
    held.value = first;
    held.first = first;
    held.begins = flags;
    cudaMalloc(handle, sizeof(held));
    cudaMemcpy(*handle, &held, sizeof(held), cudaMemcpyHostToDevice);
    return 0;
}
inline graphNode *graphCondition(cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaConditionalNodeParams *params) {
    graphNode *node = graphAdd(graph, cudaGraphNodeTypeConditional, before, n);
    node->bodies = (graphOfNodes **)malloc(params->size * sizeof(graphOfNodes *));
    for (unsigned i = 0; i < params->size; i++) cudaGraphCreate(&node->bodies[i], 0);
    node->condition = params->handle;
    node->conditionKind = params->type;
    node->child = 0;
    node->bodyCount = params->size;
    params->phGraph_out = node->bodies;
    return node;
}
inline int cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeParams *params) {
    if (params->type == cudaGraphNodeTypeKernel) return cudaGraphAddKernelNode(node, graph, before, n, &params->kernel);
    if (params->type == cudaGraphNodeTypeMemcpy) return cudaGraphAddMemcpyNode(node, graph, before, n, &params->memcpy.copyParams);
    if (params->type == cudaGraphNodeTypeMemset) return cudaGraphAddMemsetNode(node, graph, before, n, &params->memset);
    if (params->type == cudaGraphNodeTypeHost) return cudaGraphAddHostNode(node, graph, before, n, &params->host);
    if (params->type == cudaGraphNodeTypeGraph) return cudaGraphAddChildGraphNode(node, graph, before, n, params->graph.graph);
    if (params->type == cudaGraphNodeTypeMemAlloc) return cudaGraphAddMemAllocNode(node, graph, before, n, &params->alloc);
    if (params->type == cudaGraphNodeTypeConditional) *node = graphCondition(graph, before, n, &params->conditional);
    else *node = graphAdd(graph, cudaGraphNodeTypeEmpty, before, n);
    return 0;
}
inline int cudaGraphAddNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, const void *kinds, size_t n, cudaGraphNodeParams *params
) {
    return cudaGraphAddNode(node, graph, before, n, params);
}

inline conditionOfGraph graphConditionOf(graphNode *node) {
    conditionOfGraph held;
    cudaMemcpy(&held, node->condition, sizeof(held), cudaMemcpyDeviceToHost);
    return held;
}
inline void graphRunCondition(graphNode *node) {
    unsigned value = graphConditionOf(node).value;
    if (node->conditionKind == cudaGraphCondTypeIf) {
        if (value != 0) graphRun(node->bodies[0]);
        else if (node->bodyCount > 1) graphRun(node->bodies[1]);
    } else if (node->conditionKind == cudaGraphCondTypeWhile) {
        while (graphConditionOf(node).value != 0) graphRun(node->bodies[0]);
    } else if (value < node->bodyCount) {
        graphRun(node->bodies[value]);
    }
}
// Conditions begin anew with each launch, those of graphs in nodes too.
inline void graphBegin(graphOfNodes *g) {
    for (int i = 0; i < g->count; i++) {
        graphNode *node = g->nodes[i];
        if (node->kind == cudaGraphNodeTypeGraph) graphBegin(node->child);
        if (node->kind != cudaGraphNodeTypeConditional) continue;
        conditionOfGraph held = graphConditionOf(node);
        if (held.begins) cudaMemcpy(node->condition, &held.first, sizeof(unsigned), cudaMemcpyHostToDevice);
        for (unsigned k = 0; k < node->bodyCount; k++) graphBegin(node->bodies[k]);
    }
}

// Capture into a graph that is there already, and nodes beside what is captured.
template <typename S> int cudaStreamBeginCaptureToGraph(
    S stream, cudaGraph_t graph, const cudaGraphNode_t *before, const void *kinds, size_t n, cudaStreamCaptureMode mode
) {
    graphCaptured = graph;
    graphFrom = noteFromHere();
    return 0;
}
template <typename S> int cudaStreamGetCaptureInfo(
    S stream, cudaStreamCaptureStatus *status, unsigned long long *number = 0, cudaGraph_t *graph = 0,
    const cudaGraphNode_t **before = 0, size_t *n = 0
) {
    *status = graphCaptured != 0 ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    if (number) *number = 1;
    if (graphCaptured == 0) return 0;
    graphTakeNotes(doFromHere());
    graphFrom = noteFromHere();
    int last = graphCaptured->count;
    if (graph) *graph = graphCaptured;
    if (before && last > 0) *before = graphCaptured->nodes + (last - 1);
    if (n) *n = last > 0 ? 1 : 0;
    return 0;
}
template <typename S> int cudaStreamGetCaptureInfo(
    S stream, cudaStreamCaptureStatus *status, unsigned long long *number, cudaGraph_t *graph, const cudaGraphNode_t **before,
    const void *kinds, size_t *n
) {
    return cudaStreamGetCaptureInfo(stream, status, number, graph, before, n);
}
// What is captured next waits for the node that was added last, as everything that is captured does.
enum { cudaStreamAddCaptureDependencies = 0, cudaStreamSetCaptureDependencies = 1 };
template <typename S> int cudaStreamUpdateCaptureDependencies(S stream, cudaGraphNode_t *nodes, size_t n, unsigned flags) { return 0; }
template <typename S> int cudaStreamUpdateCaptureDependencies(S stream, cudaGraphNode_t *nodes, const void *kinds, size_t n, unsigned flags) { return 0; }
