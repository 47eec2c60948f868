/* Features of a node's neighbours, weighted and added up; rows of 64 features. */
void gather_features(int nodes, int edges, int features, const int *rowptr, const int *colidx, const float *weight,
                     const float *in, float *out)
{
    #pragma omp parallel for schedule(dynamic, 64)
    for (int v = 0; v < nodes; v++) {
        int begin = rowptr[v], end = rowptr[v + 1];
        for (int f = 0; f < features; f++) {
            float total = 0.0f;
            for (int e = begin; e < end; e++)
                total += weight[e] * in[(long)colidx[e] * features + f];
            out[(long)v * features + f] = total;
        }
    }
}
