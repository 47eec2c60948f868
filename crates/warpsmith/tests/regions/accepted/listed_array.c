// warpsmith: size n=3000
// Arrays of the function that begin with a list, and are used by several loops.
void listed_array(int n, const int a[n], int o[n])
{
    int h[16] = {0}, first[2][3] = {{1, 2, 3}, {n, 5}};
    h[3] = a[0];
    #pragma omp parallel for reduction(+ : h)
    for (int i = 0; i < n; i++) h[a[i] & 15]++;
    #pragma omp parallel for
    for (int j = 0; j < n; j++) o[j] = h[j & 15] + first[j & 1][j % 3];
}
