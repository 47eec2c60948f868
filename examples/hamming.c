// The number of bits in which each pair of 32-bit codes differs.
// warpsmith: size n=2048 m=2048 words=8

#include <stdint.h>

void hamming(int n, int m, int words, const uint32_t a[n][words], const uint32_t b[m][words],
             int distance[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            int bits = 0;
            for (int k = 0; k < words; k++) {
                uint32_t d = a[i][k] ^ b[j][k];
                while (d != 0) {
                    d &= d - 1;
                    bits++;
                }
            }
            distance[i][j] = bits;
        }
    }
}
