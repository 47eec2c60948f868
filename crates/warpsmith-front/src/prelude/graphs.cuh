// Graphs that are made node by node: a launch runs the nodes one after another, each behind those that it depends on. What
// is captured for a graph is noted by the interpreter, with its arguments, and each note is a node.
struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
};
struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
};
typedef void (*cudaHostFn_t)(void *);
struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void *userData;
};
struct graphNode {
    int kind, waits, round;
    graphNode **before;
    cudaKernelNodeParams kernel;
    cudaMemcpy3DParms copy;
    cudaMemsetParams set;
    cudaHostNodeParams host;
    struct graphOfNodes *child;
    graphNode *original;
    size_t noted;
    unsigned *condition;
    int conditionKind;
    unsigned bodyCount;
    struct graphOfNodes **bodies;
};
struct graphOfNodes {
    graphNode **nodes;
    int count, room, round;
};
enum {
    cudaGraphNodeTypeKernel = 0, cudaGraphNodeTypeMemcpy = 1, cudaGraphNodeTypeMemset = 2, cudaGraphNodeTypeHost = 3,
    cudaGraphNodeTypeGraph = 4, cudaGraphNodeTypeEmpty = 5, graphNodeNoted = 6, cudaGraphNodeTypeMemAlloc = 10, cudaGraphNodeTypeMemFree = 11,
    cudaGraphNodeTypeConditional = 13
};
typedef graphNode *cudaGraphNode_t;
typedef graphOfNodes *cudaGraph_t, *cudaGraphExec_t;
typedef int cudaGraphNodeType, cudaGraphExecUpdateResult, cudaStreamCaptureMode, cudaStreamCaptureStatus;
enum {
    cudaGraphExecUpdateSuccess = 0, cudaGraphExecUpdateError = 1, cudaGraphExecUpdateErrorTopologyChanged = 2,
    cudaGraphExecUpdateErrorNodeTypeChanged = 3, cudaGraphExecUpdateErrorFunctionChanged = 4,
    cudaGraphExecUpdateErrorParametersChanged = 5, cudaGraphExecUpdateErrorNotSupported = 6
};
struct cudaGraphExecUpdateResultInfo {
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
};
enum { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum { cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagUpload = 2 };
enum { cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeThreadLocal = 1, cudaStreamCaptureModeRelaxed = 2 };

inline int cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
    graphOfNodes *g = (graphOfNodes *)malloc(sizeof(graphOfNodes));
    g->count = 0;
    g->round = 0;
    g->room = 8;
    g->nodes = (graphNode **)malloc(8 * sizeof(graphNode *));
    *graph = g;
    return 0;
}

inline void graphWait(graphNode *node, graphNode *before) {
    graphNode **list = (graphNode **)malloc((node->waits + 1) * sizeof(graphNode *));
    for (int i = 0; i < node->waits; i++) list[i] = node->before[i];
    list[node->waits] = before;
    node->before = list;
    node->waits = node->waits + 1;
}

inline graphNode *graphAdd(cudaGraph_t graph, int kind, const cudaGraphNode_t *before, size_t n) {
    graphNode *node = (graphNode *)malloc(sizeof(graphNode));
    node->kind = kind;
    node->waits = 0;
    node->round = 0;
    node->original = node;
    node->child = 0;
    if (graph->count == graph->room) {
        graphNode **list = (graphNode **)malloc(2 * graph->room * sizeof(graphNode *));
        for (int i = 0; i < graph->count; i++) list[i] = graph->nodes[i];
        graph->nodes = list;
        graph->room = 2 * graph->room;
    }
    graph->nodes[graph->count] = node;
    graph->count = graph->count + 1;
    for (size_t i = 0; i < n; i++) graphWait(node, before[i]);
    return node;
}

// The arguments as they are now.
inline void graphKernel(graphNode *node, const cudaKernelNodeParams *params) {
    node->kernel = *params;
    int n = 0;
    while (bytesOfArgument(params->func, n) > 0) n++;
    void **held = (void **)malloc((n + 1) * sizeof(void *));
    for (int i = 0; i < n; i++) {
        size_t bytes = bytesOfArgument(params->func, i);
        held[i] = malloc(bytes);
        memcpy(held[i], params->kernelParams[i], bytes);
    }
    node->kernel.kernelParams = held;
}

struct cudaMemAllocNodeParams {
    cudaMemPoolProps poolProps;
    const cudaMemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
};
// The address of memory that a graph allocates is known as soon as the node is there; it is the same in every launch.
inline int cudaGraphAddMemAllocNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaMemAllocNodeParams *params
) {
    *node = graphAdd(graph, cudaGraphNodeTypeEmpty, before, n);
    cudaMalloc(&params->dptr, params->bytesize);
    return 0;
}
inline int cudaGraphAddMemFreeNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *memory
) {
    *node = graphAdd(graph, cudaGraphNodeTypeEmpty, before, n);
    return 0;
}
inline int cudaDeviceGraphMemTrim(int device) { return 0; }
inline int cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) {
    *(unsigned long long *)value = 0;
    return 0;
}
enum cudaGraphMemAttributeType {
    cudaGraphMemAttrUsedMemCurrent = 0, cudaGraphMemAttrUsedMemHigh = 1, cudaGraphMemAttrReservedMemCurrent = 2,
    cudaGraphMemAttrReservedMemHigh = 3
};

inline int cudaGraphAddKernelNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaKernelNodeParams *params
) {
    *node = graphAdd(graph, cudaGraphNodeTypeKernel, before, n);
    graphKernel(*node, params);
    return 0;
}
inline int cudaGraphAddMemcpyNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaMemcpy3DParms *params
) {
    *node = graphAdd(graph, cudaGraphNodeTypeMemcpy, before, n);
    (*node)->copy = *params;
    return 0;
}
inline cudaMemcpy3DParms graphLine(void *to, const void *from, size_t bytes, int way) {
    cudaMemcpy3DParms p;
    p.srcArray = 0;
    p.dstArray = 0;
    p.srcPos = make_cudaPos(0, 0, 0);
    p.dstPos = make_cudaPos(0, 0, 0);
    p.srcPtr = make_cudaPitchedPtr((void *)from, bytes, bytes, 1);
    p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
    p.extent = make_cudaExtent(bytes, 1, 1);
    p.kind = way;
    return p;
}
inline int cudaGraphAddMemcpyNode1D(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *to, const void *from,
    size_t bytes, int way
) {
    *node = graphAdd(graph, cudaGraphNodeTypeMemcpy, before, n);
    (*node)->copy = graphLine(to, from, bytes, way);
    return 0;
}
inline int cudaGraphAddMemsetNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaMemsetParams *params
) {
    *node = graphAdd(graph, cudaGraphNodeTypeMemset, before, n);
    (*node)->set = *params;
    return 0;
}
inline int cudaGraphAddHostNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaHostNodeParams *params
) {
    *node = graphAdd(graph, cudaGraphNodeTypeHost, before, n);
    (*node)->host = *params;
    return 0;
}
inline int cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n) {
    *node = graphAdd(graph, cudaGraphNodeTypeEmpty, before, n);
    return 0;
}
inline int cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
    for (size_t i = 0; i < n; i++) graphWait(to[i], from[i]);
    return 0;
}
inline int cudaGraphAddDependencies(
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const void *kinds, size_t n
) {
    return cudaGraphAddDependencies(graph, from, to, n);
}
inline int cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
    if (nodes != 0)
        for (size_t i = 0; i < *n && i < (size_t)graph->count; i++) nodes[i] = graph->nodes[i];
    *n = graph->count;
    return 0;
}
inline int cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    *type = node->kind;
    return 0;
}
inline int cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params) {
    *params = node->kernel;
    return 0;
}
inline int cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *params) {
    graphKernel(node, params);
    return 0;
}
inline int cudaGraphClone(cudaGraph_t *copy, cudaGraph_t graph) {
    cudaGraphCreate(copy, 0);
    for (int i = 0; i < graph->count; i++) {
        graphNode *node = graphAdd(*copy, 0, 0, 0);
        *node = *graph->nodes[i];
        node->waits = 0;
        node->round = 0;
        node->original = graph->nodes[i]->original;
    }
    for (int i = 0; i < graph->count; i++)
        for (int k = 0; k < graph->nodes[i]->waits; k++)
            for (int j = 0; j < graph->count; j++)
                if (graph->nodes[j] == graph->nodes[i]->before[k]) graphWait((*copy)->nodes[i], (*copy)->nodes[j]);
    return 0;
}
inline int cudaGraphAddChildGraphNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraph_t child
) {
    *node = graphAdd(graph, cudaGraphNodeTypeGraph, before, n);
    cudaGraphClone(&(*node)->child, child);
    return 0;
}
template <typename... R> int cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, R... rest) {
    return cudaGraphClone(exec, graph);
}
inline int cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphClone(exec, graph);
}
inline graphNode *graphFind(cudaGraphExec_t exec, cudaGraphNode_t node) {
    for (int i = 0; i < exec->count; i++)
        if (exec->nodes[i]->original == node->original) return exec->nodes[i];
    return 0;
}
inline int cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *params
) {
    graphKernel(graphFind(exec, node), params);
    return 0;
}
inline int cudaGraphExecMemcpyNodeSetParams1D(
    cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, size_t bytes, int way
) {
    graphFind(exec, node)->copy = graphLine(to, from, bytes, way);
    return 0;
}
inline int cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams *params) {
    graphFind(exec, node)->set = *params;
    return 0;
}
inline void graphSet(const cudaMemsetParams &p) {
    for (size_t row = 0; row < p.height; row++) {
        char *at = (char *)p.dst + row * p.pitch;
        if (p.elementSize == 1 || p.value == 0) cudaMemset(at, (int)p.value, p.width * p.elementSize);
        else {
            size_t bytes = p.width * p.elementSize;
            char *row_of = (char *)malloc(bytes);
            for (size_t i = 0; i < bytes; i++) row_of[i] = (char)(p.value >> 8 * (i % p.elementSize));
            cudaMemcpy(at, row_of, bytes, cudaMemcpyHostToDevice);
            free(row_of);
        }
    }
}
inline void graphRun(graphOfNodes *g);
inline void graphRunCondition(graphNode *node);
inline void graphBegin(graphOfNodes *g);
inline void graphRunNode(graphNode *node) {
    if (node->kind == cudaGraphNodeTypeKernel)
        launchByAddress(
            node->kernel.func, node->kernel.gridDim, node->kernel.blockDim, node->kernel.kernelParams,
            node->kernel.sharedMemBytes
        );
    else if (node->kind == cudaGraphNodeTypeMemcpy) cudaMemcpy3D(&node->copy);
    else if (node->kind == cudaGraphNodeTypeMemset) graphSet(node->set);
    else if (node->kind == cudaGraphNodeTypeHost) node->host.fn(node->host.userData);
    else if (node->kind == cudaGraphNodeTypeGraph) graphRun(node->child);
    else if (node->kind == graphNodeNoted) replayNoted(node->noted);
    else if (node->kind == cudaGraphNodeTypeConditional) graphRunCondition(node);
}
inline void graphRun(graphOfNodes *g) {
    int left = g->count;
    int round = g->round + 1;
    g->round = round;
    bool any = true;
    while (left > 0 && any) {
        any = false;
        for (int i = 0; i < g->count; i++) {
            graphNode *node = g->nodes[i];
            bool ready = node->round != round;
            for (int k = 0; ready && k < node->waits; k++) ready = node->before[k]->round == round;
            if (ready) {
                graphRunNode(node);
                node->round = round;
                left--;
                any = true;
            }
        }
    }
}
template <typename S> int cudaGraphLaunch(cudaGraphExec_t exec, S stream) {
    graphBegin(exec);
    graphRun(exec);
    return 0;
}

// The graph that streams are captured for, and the first note that is not in it yet.
static cudaGraph_t graphCaptured;
static size_t graphFrom;
inline void graphTakeNotes(size_t end) {
    for (size_t i = graphFrom; i < end; i++) {
        int last = graphCaptured->count;
        graphNode *node = graphAdd(graphCaptured, graphNodeNoted, 0, 0);
        node->noted = i;
        if (last > 0) graphWait(node, graphCaptured->nodes[last - 1]);
    }
    graphFrom = end;
}
template <typename S> int cudaStreamBeginCapture(S stream, cudaStreamCaptureMode mode) {
    cudaGraphCreate(&graphCaptured, 0);
    graphFrom = noteFromHere();
    return 0;
}
template <typename S> int cudaStreamBeginCapture(S stream) { return cudaStreamBeginCapture(stream, 0); }
template <typename S> int cudaStreamEndCapture(S stream, cudaGraph_t *graph) {
    graphTakeNotes(doFromHere());
    if (graph) *graph = graphCaptured;
    graphCaptured = 0;
    return 0;
}
template <typename S> int cudaStreamIsCapturing(S stream, cudaStreamCaptureStatus *status) {
    *status = graphCaptured != 0;
    return 0;
}
inline int cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) { return 0; }
template <typename S, typename F> int cudaLaunchHostFunc(S stream, F f, void *data) {
    if (graphCaptured == 0) f(data);
    else {
        graphTakeNotes(doFromHere());
        int last = graphCaptured->count;
        graphNode *node = graphAdd(graphCaptured, cudaGraphNodeTypeHost, 0, 0);
        node->host.fn = f;
        node->host.userData = data;
        if (last > 0) graphWait(node, graphCaptured->nodes[last - 1]);
        graphFrom = noteFromHere();
    }
    return 0;
}
inline int cudaGraphExecUpdate(
    cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *wrong, cudaGraphExecUpdateResult *result
) {
    cudaGraph_t copy;
    cudaGraphClone(&copy, graph);
    *exec = *copy;
    *result = cudaGraphExecUpdateSuccess;
    return 0;
}
inline int cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    cudaGraphNode_t wrong;
    return cudaGraphExecUpdate(exec, graph, &wrong, &info->result);
}
inline int cudaGraphUpload(cudaGraphExec_t exec, unsigned long long stream) { return 0; }
inline int cudaGraphDestroy(cudaGraph_t graph) { return 0; }
inline int cudaGraphExecDestroy(cudaGraphExec_t exec) { return 0; }
inline int cudaGraphDestroyNode(cudaGraphNode_t node) { return 0; }
inline int cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) { return 0; }
