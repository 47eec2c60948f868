// warpsmith: size n=512
void f(int n, const float x[n], float y[n])
{
    #pragma omp parallel
    {
        float t[4];
        int i, j;
        #pragma omp for private(i)
        for (i = 0; i < n - 3; i++) {
            for (j = 0; j < 4; j++) t[j] = x[i + j];
            float s = 0;
            for (j = 0; j < 4; j++) s += t[j];
            y[i] = s;
        }
    }
}
