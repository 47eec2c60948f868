#include <stdbool.h>

struct Node {
    int starting;
    int no_of_edges;
};

void bfs(int no_of_nodes, int edge_list_size, struct Node *h_graph_nodes, int *h_graph_edges, bool *mask,
         bool *updating, bool *visited, int *cost)
{
    bool stop;
    do {
        stop = false;
#pragma omp parallel for
        for (int tid = 0; tid < no_of_nodes; tid++) {
            if (mask[tid] == true) {
                mask[tid] = false;
                for (int i = h_graph_nodes[tid].starting;
                     i < (h_graph_nodes[tid].no_of_edges + h_graph_nodes[tid].starting); i++) {
                    int id = h_graph_edges[i];
                    if (!visited[id]) {
                        cost[id] = cost[tid] + 1;
                        updating[id] = true;
                    }
                }
            }
        }
#pragma omp parallel for
        for (int tid = 0; tid < no_of_nodes; tid++) {
            if (updating[tid] == true) {
                mask[tid] = true;
                visited[tid] = true;
                stop = true;
                updating[tid] = false;
            }
        }
    } while (stop);
}
