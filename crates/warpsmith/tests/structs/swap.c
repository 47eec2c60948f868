typedef struct { short key; long value; } Pair;
void f(int n, Pair a[2 * n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (a[2 * i].key > a[2 * i + 1].key) {
            Pair t = a[2 * i];
            a[2 * i] = a[2 * i + 1];
            a[2 * i + 1] = t;
        }
    }
}
