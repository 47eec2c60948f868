typedef struct { int from, to; float w; } Edge;
typedef struct { float x, y; int cell; } Node;
void relax(const Edge *e, int ne, const Node *in, int nn, float *out)
{
    #pragma omp parallel for
    for (int k = 0; k < ne; k++) {
        float d = in[e[k].to].x - in[e[k].from].x;
        #pragma omp atomic
        out[e[k].to] += e[k].w * d;
    }
}
void scatter(const Node *in, int nn, float *out, int nc)
{
    #pragma omp parallel for
    for (int k = 0; k < nn; k++) out[in[k].cell] = in[k].x * in[k].y;
}
