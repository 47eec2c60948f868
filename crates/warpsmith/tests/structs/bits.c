#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
void f(size_t n, const uint64_t b[n], uint64_t o[n], int8_t s[n], _Bool f[n])
{
    #pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)b[i] | 1u;
        o[i] = __builtin_popcountll(b[i]) + __builtin_clz(x) + __builtin_ctz(x) + __builtin_bswap32(x);
        o[i] ^= __builtin_bswap64(b[i]) + __builtin_bswap16((uint16_t)x);
        s[i] = (int8_t)(s[i] + __builtin_parity(x));
        f[i] = __builtin_expect(b[i] > 50, 1) && !f[i];
    }
}
