// A stream is captured once and its graph launched several times: kernels, fills, copies and a function of the host.
#include <cassert>
#include <cstdio>
#include <vector>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
__global__ void step(int *count, int *log, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(log, 1);
    count[i] += by;
}
__global__ void expect(const int *count, const int *log, int counted, int logged)
{
    assert(count[blockIdx.x * blockDim.x + threadIdx.x] == counted);
    assert(*log == logged);
}
void note(void *data) { *(int *)data += 1; }
int main()
{
    const int n = 128;
    int *count, *log, host = -1, notes = 0;
    CHECK(cudaMalloc(&count, n * sizeof(int)));
    CHECK(cudaMalloc(&log, sizeof(int)));
    CHECK(cudaMemset(count, 0, n * sizeof(int)));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t graph;
    cudaGraphExec_t exec = NULL;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(log, 0, sizeof(int), stream));
    for (int k = 1; k <= 2; k++) step<<<n / 64, 64, 0, stream>>>(count, log, k);
    CHECK(cudaLaunchHostFunc(stream, note, &notes));
    CHECK(cudaMemcpyAsync(&host, log, sizeof(int), cudaMemcpyDeviceToHost, stream));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    if (nodes != 5 || host != -1 || status != cudaStreamCaptureStatusActive) return 1;
    CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int k = 0; k < 3; k++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        expect<<<n / 64, 64, 0, stream>>>(count, log, 3 * (k + 1), 2 * n);
    }
    // The same graph with other arguments.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    step<<<n / 64, 64, 0, stream>>>(count, log, 10);
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphExecUpdate(exec, graph, &result));
    if (result.result != cudaGraphExecUpdateSuccess) return 1;
    CHECK(cudaGraphLaunch(exec, stream));
    expect<<<n / 64, 64, 0, stream>>>(count, log, 19, 3 * n);
    // What the host knows decides what is launched: a wrong number of either leaves this out.
    if (host == 2 * n && notes == 3) expect<<<1, 1>>>(count, log, 19, 3 * n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(count));
    CHECK(cudaFree(log));
    return 0;
}
