// The bits of numbers of 16 bits as structures, which convert to the numbers and back.
#define BITS_OF_HALVES(NAME, NUMBER, TO, FROM) \
    struct NAME { \
        unsigned short x; \
        NAME() = default; \
        __host__ __device__ NAME(unsigned short bits) : x(bits) {} \
        __host__ __device__ NAME(int bits) : x((unsigned short)bits) {} \
        __host__ __device__ NAME(unsigned bits) : x((unsigned short)bits) {} \
        __host__ __device__ NAME(NUMBER number) : x(FROM(number)) {} \
        __host__ __device__ operator NUMBER() const { return TO(x); } \
    };
#define BITS_OF_PAIRS(NAME, PAIR, TO, FROM) \
    struct NAME { \
        unsigned short x, y; \
        NAME() = default; \
        __host__ __device__ NAME(unsigned short first, unsigned short second) : x(first), y(second) {} \
        __host__ __device__ NAME(PAIR pair) : x(FROM(pair.x)), y(FROM(pair.y)) {} \
        __host__ __device__ operator PAIR() const { \
            PAIR pair; \
            pair.x = TO(x); \
            pair.y = TO(y); \
            return pair; \
        } \
    };
BITS_OF_HALVES(__half_raw, half, __ushort_as_half, __half_as_ushort)
BITS_OF_HALVES(__nv_bfloat16_raw, __nv_bfloat16, __ushort_as_bfloat16, __bfloat16_as_ushort)
BITS_OF_PAIRS(__half2_raw, half2, __ushort_as_half, __half_as_ushort)
BITS_OF_PAIRS(__nv_bfloat162_raw, __nv_bfloat162, __ushort_as_bfloat16, __bfloat16_as_ushort)
