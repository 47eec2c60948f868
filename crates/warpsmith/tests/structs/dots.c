typedef struct { float x, y; } V2;
float f(int n, const V2 v[n])
{
    float s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) s += v[i].x * v[i].x + v[i].y * v[i].y;
    return s;
}
