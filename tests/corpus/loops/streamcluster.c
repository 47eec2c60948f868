typedef struct {
    float weight;
    long assign;
    float cost;
} Point;

static float dist(const float *a, const float *b, int dim)
{
    int i;
    float result = 0.0;
    for (i = 0; i < dim; i++)
        result += (a[i] - b[i]) * (a[i] - b[i]);
    return (result);
}

/* what opening a centre at point x would gain */
double pgain(long num, int dim, Point *p, const float *coord, long x, unsigned char *switch_membership)
{
    double cost_of_opening_x = 0;
    long i;
#pragma omp parallel for reduction(+ : cost_of_opening_x)
    for (i = 0; i < num; i++) {
        float x_cost = dist(coord + i * dim, coord + x * dim, dim) * p[i].weight;
        float current_cost = p[i].cost;
        if (x_cost < current_cost) {
            switch_membership[i] = 1;
            cost_of_opening_x += x_cost - current_cost;
        }
    }
    return cost_of_opening_x;
}
