// A captured kernel adds to a sum without an atomic; it runs when the graph is launched.
// expect: race-global line=5 array=sum
// expect: status=1
#include <cstdio>
__global__ void add(const int *in, int *sum) { *sum += in[blockIdx.x * blockDim.x + threadIdx.x]; }
int main()
{
    int *in, *sum;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(in, 1, 64 * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(sum, 0, sizeof(int), stream);
    add<<<2, 32, 0, stream>>>(in, sum);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 2; i++) cudaGraphLaunch(exec, stream);
    printf("%d\n", (int)cudaStreamSynchronize(stream));
}
