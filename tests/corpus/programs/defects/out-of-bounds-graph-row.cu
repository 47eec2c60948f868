// Defect: the last row reads the one below it; the launches are captured for a graph.
// expect: out-of-bounds line=8 array=from
// expect: status=1
#define N 32
__global__ void shift_up(float (*to)[N], const float (*from)[N])
{
    int i = blockIdx.x, j = threadIdx.x;
    to[i][j] = from[i + 1][j];
}
int main()
{
    float (*from)[N], (*to)[N];
    cudaMalloc((void **)&from, 16 * N * sizeof(float));
    cudaMalloc((void **)&to, 16 * N * sizeof(float));
    cudaMemset(from, 0, 16 * N * sizeof(float));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    shift_up<<<16, N, 0, stream>>>(to, from);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&instance, graph, 0);
    for (int i = 0; i < 10; i++) cudaGraphLaunch(instance, stream);
    cudaStreamSynchronize(stream);
    return 0;
}
