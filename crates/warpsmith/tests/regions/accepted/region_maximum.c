// warpsmith: size n=512
float f(int n, const float x[n])
{
    float best = -1e30f;
    #pragma omp parallel
    {
        float mine = -1e30f;
        #pragma omp for nowait
        for (int i = 0; i < n; i++) if (x[i] > mine) mine = x[i];
        #pragma omp critical
        { if (mine > best) best = mine; }
    }
    return best;
}
