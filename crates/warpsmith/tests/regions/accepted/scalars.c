// warpsmith: size n=512
// warpsmith: arg lim=50
#define MAX(a, b) ((a) > (b) ? (a) : (b))
int f(int n, const int x[n], int lim)
{
    int cnt = 0, m = -1000, any = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > lim) {
            #pragma omp atomic
            cnt++;
        }
        #pragma omp critical
        m = MAX(m, x[i]);
        #pragma omp atomic
        any |= x[i] & 64;
    }
    return cnt * 3 + m + any;
}
