// AXPYDOT: z = w - alpha v, and the dot product of z and u is returned.
// warpsmith: size n=1048576

float axpydot(int n, float alpha, const float w[n], const float v[n], const float u[n], float z[n])
{
    float dot = 0.0f;

    #pragma omp parallel for reduction(+: dot)
    for (int i = 0; i < n; i++) {
        z[i] = w[i] - alpha * v[i];
        dot += z[i] * u[i];
    }
    return dot;
}
