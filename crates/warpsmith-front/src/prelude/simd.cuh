// Operations on the bytes and half-words of a word.
#define LANES_OF_TWO(NAME, BITS, RESULT) \
    __device__ inline unsigned NAME(unsigned a, unsigned b) { \
        unsigned all = 0; \
        for (int at = 0; at < 32; at += BITS) { \
            int sa = (int)(a << (32 - BITS - at)) >> (32 - BITS), sb = (int)(b << (32 - BITS - at)) >> (32 - BITS); \
            int ua = (int)((a >> at) & LANE_MASK(BITS)), ub = (int)((b >> at) & LANE_MASK(BITS)); \
            all |= ((unsigned)(RESULT) & LANE_MASK(BITS)) << at; \
        } \
        return all; \
    }
#define LANES_OF_ONE(NAME, BITS, RESULT) \
    __device__ inline unsigned NAME(unsigned a) { \
        unsigned all = 0; \
        for (int at = 0; at < 32; at += BITS) { \
            int sa = (int)(a << (32 - BITS - at)) >> (32 - BITS); \
            all |= ((unsigned)(RESULT) & LANE_MASK(BITS)) << at; \
        } \
        return all; \
    }
#define SUM_OF_LANES(NAME, BITS, TERM) \
    __device__ inline unsigned NAME(unsigned a, unsigned b) { \
        unsigned sum = 0; \
        for (int at = 0; at < 32; at += BITS) { \
            int sa = (int)(a << (32 - BITS - at)) >> (32 - BITS), sb = (int)(b << (32 - BITS - at)) >> (32 - BITS); \
            int ua = (int)((a >> at) & LANE_MASK(BITS)), ub = (int)((b >> at) & LANE_MASK(BITS)); \
            sum += (unsigned)(TERM); \
        } \
        return sum; \
    }
#define LANE_MASK(BITS) ((1u << BITS) - 1u)
#define LEAST(BITS) (-(1 << (BITS - 1)))
#define MOST(BITS) ((1 << (BITS - 1)) - 1)
#define WITHIN(VALUE, LOW, HIGH) ((VALUE) < (LOW) ? (LOW) : (VALUE) > (HIGH) ? (HIGH) : (VALUE))
#define COMPARED(N, BITS, NAME, CONDITION) \
    LANES_OF_TWO(__vcmp##NAME##N, BITS, (CONDITION) ? -1 : 0) \
    LANES_OF_TWO(__vset##NAME##N, BITS, (CONDITION) ? 1 : 0)
#define LANES(N, BITS) \
    LANES_OF_TWO(__vadd##N, BITS, ua + ub) \
    LANES_OF_TWO(__vsub##N, BITS, ua - ub) \
    LANES_OF_TWO(__vaddss##N, BITS, WITHIN(sa + sb, LEAST(BITS), MOST(BITS))) \
    LANES_OF_TWO(__vsubss##N, BITS, WITHIN(sa - sb, LEAST(BITS), MOST(BITS))) \
    LANES_OF_TWO(__vaddus##N, BITS, WITHIN(ua + ub, 0, (int)LANE_MASK(BITS))) \
    LANES_OF_TWO(__vsubus##N, BITS, WITHIN(ua - ub, 0, (int)LANE_MASK(BITS))) \
    LANES_OF_TWO(__vavgs##N, BITS, (sa + sb + (sa + sb >= 0 ? 1 : 0)) >> 1) \
    LANES_OF_TWO(__vavgu##N, BITS, (ua + ub + 1) >> 1) \
    LANES_OF_TWO(__vhaddu##N, BITS, (ua + ub) >> 1) \
    LANES_OF_TWO(__vabsdiffs##N, BITS, sa > sb ? sa - sb : sb - sa) \
    LANES_OF_TWO(__vabsdiffu##N, BITS, ua > ub ? ua - ub : ub - ua) \
    LANES_OF_TWO(__vmaxs##N, BITS, sa > sb ? sa : sb) \
    LANES_OF_TWO(__vmaxu##N, BITS, ua > ub ? ua : ub) \
    LANES_OF_TWO(__vmins##N, BITS, sa < sb ? sa : sb) \
    LANES_OF_TWO(__vminu##N, BITS, ua < ub ? ua : ub) \
    LANES_OF_ONE(__vabs##N, BITS, sa < 0 ? -sa : sa) \
    LANES_OF_ONE(__vabsss##N, BITS, sa < 0 ? WITHIN(-sa, 0, MOST(BITS)) : sa) \
    LANES_OF_ONE(__vneg##N, BITS, -sa) \
    LANES_OF_ONE(__vnegss##N, BITS, WITHIN(-sa, LEAST(BITS), MOST(BITS))) \
    SUM_OF_LANES(__vsads##N, BITS, sa > sb ? sa - sb : sb - sa) \
    SUM_OF_LANES(__vsadu##N, BITS, ua > ub ? ua - ub : ub - ua) \
    COMPARED(N, BITS, eq, ua == ub) \
    COMPARED(N, BITS, ne, ua != ub) \
    COMPARED(N, BITS, ges, sa >= sb) \
    COMPARED(N, BITS, geu, ua >= ub) \
    COMPARED(N, BITS, gts, sa > sb) \
    COMPARED(N, BITS, gtu, ua > ub) \
    COMPARED(N, BITS, les, sa <= sb) \
    COMPARED(N, BITS, leu, ua <= ub) \
    COMPARED(N, BITS, lts, sa < sb) \
    COMPARED(N, BITS, ltu, ua < ub)
LANES(2, 16)
LANES(4, 8)

#define OF_THREE(T, NAME) \
    __device__ inline T __vimax3_##NAME(T a, T b, T c) { return max(max(a, b), c); } \
    __device__ inline T __vimin3_##NAME(T a, T b, T c) { return min(min(a, b), c); } \
    __device__ inline T __viaddmax_##NAME(T a, T b, T c) { return max((T)((unsigned)a + (unsigned)b), c); } \
    __device__ inline T __viaddmin_##NAME(T a, T b, T c) { return min((T)((unsigned)a + (unsigned)b), c); } \
    __device__ inline T __vibmax_##NAME(T a, T b, bool *first) { *first = a >= b; return max(a, b); } \
    __device__ inline T __vibmin_##NAME(T a, T b, bool *first) { *first = a <= b; return min(a, b); }
OF_THREE(int, s32)
OF_THREE(unsigned, u32)
__device__ inline int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
__device__ inline int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
__device__ inline int __vimax3_s32_relu(int a, int b, int c) { return max(__vimax3_s32(a, b, c), 0); }
__device__ inline int __vimin3_s32_relu(int a, int b, int c) { return max(__vimin3_s32(a, b, c), 0); }
__device__ inline int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
__device__ inline int __viaddmin_s32_relu(int a, int b, int c) { return max(__viaddmin_s32(a, b, c), 0); }

// The same of half-words, the first answer of two that of the upper.
#define OF_HALVES(LETTER, NAME, HALF) \
    __device__ inline unsigned __vimax3_##NAME(unsigned a, unsigned b, unsigned c) { \
        return __vmax##LETTER##2(__vmax##LETTER##2(a, b), c); \
    } \
    __device__ inline unsigned __vimin3_##NAME(unsigned a, unsigned b, unsigned c) { \
        return __vmin##LETTER##2(__vmin##LETTER##2(a, b), c); \
    } \
    __device__ inline unsigned __viaddmax_##NAME(unsigned a, unsigned b, unsigned c) { \
        return __vmax##LETTER##2(__vadd2(a, b), c); \
    } \
    __device__ inline unsigned __viaddmin_##NAME(unsigned a, unsigned b, unsigned c) { \
        return __vmin##LETTER##2(__vadd2(a, b), c); \
    } \
    __device__ inline unsigned __vibmax_##NAME(unsigned a, unsigned b, bool *upper, bool *lower) { \
        *upper = (HALF)(a >> 16) >= (HALF)(b >> 16); \
        *lower = (HALF)a >= (HALF)b; \
        return __vmax##LETTER##2(a, b); \
    } \
    __device__ inline unsigned __vibmin_##NAME(unsigned a, unsigned b, bool *upper, bool *lower) { \
        *upper = (HALF)(a >> 16) <= (HALF)(b >> 16); \
        *lower = (HALF)a <= (HALF)b; \
        return __vmin##LETTER##2(a, b); \
    }
OF_HALVES(s, s16x2, short)
OF_HALVES(u, u16x2, unsigned short)
__device__ inline unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmaxs2(a, b), 0u); }
__device__ inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmins2(a, b), 0u); }
#define NOT_NEGATIVE(NAME) \
    __device__ inline unsigned NAME##_relu(unsigned a, unsigned b, unsigned c) { return __vmaxs2(NAME(a, b, c), 0u); }
NOT_NEGATIVE(__vimax3_s16x2)
NOT_NEGATIVE(__vimin3_s16x2)
NOT_NEGATIVE(__viaddmax_s16x2)
NOT_NEGATIVE(__viaddmin_s16x2)

// Two half-words times two of four bytes, added.
#define PRODUCTS_OF_TWO(NAME, SHIFT) \
    __device__ inline int NAME(int a, int b, int c) { \
        int low = (short)a * (signed char)(b >> SHIFT), high = (a >> 16) * (signed char)(b >> (SHIFT + 8)); \
        return (int)((unsigned)c + (unsigned)low + (unsigned)high); \
    } \
    __device__ inline unsigned NAME(unsigned a, unsigned b, unsigned c) { \
        return c + (a & 65535u) * ((b >> SHIFT) & 255u) + (a >> 16) * ((b >> (SHIFT + 8)) & 255u); \
    }
PRODUCTS_OF_TWO(__dp2a_lo, 0)
PRODUCTS_OF_TWO(__dp2a_hi, 16)
