#define INF 1000000000
void floyd(int *dist, int V)
{
    int i, j, k;
    for (k = 0; k < V; k++) {
#pragma omp parallel for private(j)
        for (i = 0; i < V; i++) {
            if (i == k || dist[i * V + k] == INF) continue;
            for (j = 0; j < V; j++) {
                if (j == k) continue;
                int d = dist[i * V + k] + dist[k * V + j];
                if (d < dist[i * V + j]) dist[i * V + j] = d;
            }
        }
    }
}
