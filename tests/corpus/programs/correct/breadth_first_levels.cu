// Breadth-first search as in the collections: masks of the frontier, a stop flag copied to and fro in a do-while loop.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda.h>

#define MAX_THREADS_PER_BLOCK 64

struct Node {
    int starting;
    int no_of_edges;
};

__global__ void Kernel(Node *g_graph_nodes, int *g_graph_edges, bool *g_graph_mask, bool *g_updating_graph_mask,
                       bool *g_graph_visited, int *g_cost, int no_of_nodes)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_graph_mask[tid]) {
        g_graph_mask[tid] = false;
        for (int i = g_graph_nodes[tid].starting;
             i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
            int id = g_graph_edges[i];
            if (!g_graph_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating_graph_mask[id] = true;
            }
        }
    }
}

__global__ void Kernel2(bool *g_graph_mask, bool *g_updating_graph_mask, bool *g_graph_visited, bool *g_over,
                        int no_of_nodes)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_updating_graph_mask[tid]) {
        g_graph_mask[tid] = true;
        g_graph_visited[tid] = true;
        *g_over = true;
        g_updating_graph_mask[tid] = false;
    }
}

void BFSGraph(int argc, char **argv);

int main(int argc, char **argv)
{
    BFSGraph(argc, argv);
    return EXIT_SUCCESS;
}

void BFSGraph(int argc, char **argv)
{
    int no_of_nodes = 200, edge_list_size = 0;
    Node *h_nodes = (Node *)malloc(sizeof(Node) * no_of_nodes);
    bool *h_mask = (bool *)malloc(sizeof(bool) * no_of_nodes);
    bool *h_updating = (bool *)malloc(sizeof(bool) * no_of_nodes);
    bool *h_visited = (bool *)malloc(sizeof(bool) * no_of_nodes);
    for (unsigned int i = 0; i < no_of_nodes; i++) {
        h_nodes[i].starting = edge_list_size;
        h_nodes[i].no_of_edges = i % 3 + 1;
        edge_list_size += h_nodes[i].no_of_edges;
        h_mask[i] = h_updating[i] = h_visited[i] = false;
    }
    int source = 0;
    h_mask[source] = true;
    h_visited[source] = true;
    int *h_edges = (int *)malloc(sizeof(int) * edge_list_size);
    for (int i = 0; i < edge_list_size; i++) h_edges[i] = (i * 7 + 3) % no_of_nodes;

    Node *d_nodes;
    cudaMalloc((void **)&d_nodes, sizeof(Node) * no_of_nodes);
    cudaMemcpy(d_nodes, h_nodes, sizeof(Node) * no_of_nodes, cudaMemcpyHostToDevice);
    int *d_edges;
    cudaMalloc((void **)&d_edges, sizeof(int) * edge_list_size);
    cudaMemcpy(d_edges, h_edges, sizeof(int) * edge_list_size, cudaMemcpyHostToDevice);
    bool *d_mask, *d_updating, *d_visited, *d_over;
    cudaMalloc((void **)&d_mask, sizeof(bool) * no_of_nodes);
    cudaMalloc((void **)&d_updating, sizeof(bool) * no_of_nodes);
    cudaMalloc((void **)&d_visited, sizeof(bool) * no_of_nodes);
    cudaMalloc((void **)&d_over, sizeof(bool));
    cudaMemcpy(d_mask, h_mask, sizeof(bool) * no_of_nodes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_updating, h_updating, sizeof(bool) * no_of_nodes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_visited, h_visited, sizeof(bool) * no_of_nodes, cudaMemcpyHostToDevice);
    int *h_cost = (int *)malloc(sizeof(int) * no_of_nodes);
    for (int i = 0; i < no_of_nodes; i++) h_cost[i] = -1;
    h_cost[source] = 0;
    int *d_cost;
    cudaMalloc((void **)&d_cost, sizeof(int) * no_of_nodes);
    cudaMemcpy(d_cost, h_cost, sizeof(int) * no_of_nodes, cudaMemcpyHostToDevice);

    int num_of_blocks = (int)ceil(no_of_nodes / (double)MAX_THREADS_PER_BLOCK);
    dim3 grid(num_of_blocks, 1, 1);
    dim3 threads(MAX_THREADS_PER_BLOCK, 1, 1);
    int k = 0;
    bool stop;
    do {
        stop = false;
        cudaMemcpy(d_over, &stop, sizeof(bool), cudaMemcpyHostToDevice);
        Kernel<<<grid, threads, 0>>>(d_nodes, d_edges, d_mask, d_updating, d_visited, d_cost, no_of_nodes);
        Kernel2<<<grid, threads, 0>>>(d_mask, d_updating, d_visited, d_over, no_of_nodes);
        cudaMemcpy(&stop, d_over, sizeof(bool), cudaMemcpyDeviceToHost);
        k++;
    } while (stop);
    printf("Kernel Executed %d times\n", k);
    cudaMemcpy(h_cost, d_cost, sizeof(int) * no_of_nodes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < no_of_nodes; i++) printf("%d) cost:%d\n", i, h_cost[i]);
    free(h_nodes);
    free(h_edges);
    cudaFree(d_nodes);
    cudaFree(d_edges);
}
