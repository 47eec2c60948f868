typedef struct { unsigned char r, g, b, a; } RGBA;
void f(int n, int m, RGBA img[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            RGBA p = img[y][x];
            p.r = 255 - p.r; p.g = 255 - p.g; p.b = 255 - p.b;
            img[y][x] = p;
        }
}
