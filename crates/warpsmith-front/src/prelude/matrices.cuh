// Matrices in the registers of a warp, as `ldmatrix`, `stmatrix` and `mma.sync` of PTX have them: lane 4 g + t has of A the
// rows g and g + 8, of B the column g, of C and D the columns 2 t and 2 t + 1. Source: PTX ISA, "Matrix Fragments".
//
// Products are exact where the type of the sum holds them, and added in the order of k; the hardware's order is not told.
__device__ inline unsigned ptxLane() {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Each lane reads the row that it was given, then the words of all rows change places.
__device__ inline uint4 ptxLoadMatrices(const void *row, int count, bool transposed) {
    unsigned lane = ptxLane();
    uint4 own = make_uint4(0, 0, 0, 0);
    if (lane < 8 * count) own = *(const uint4 *)row;
    unsigned out[4] = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        for (int half = 0; half < 2; half++) {
            // Without transposing, both elements of a register stand in one word.
            unsigned from = 8 * i + (transposed ? 2 * (lane % 4) + half : lane / 4);
            unsigned word = transposed ? lane / 8 : lane % 4;
            unsigned x = __shfl_sync(0xffffffffu, own.x, from), y = __shfl_sync(0xffffffffu, own.y, from);
            unsigned z = __shfl_sync(0xffffffffu, own.z, from), w = __shfl_sync(0xffffffffu, own.w, from);
            unsigned value = word == 0 ? x : (word == 1 ? y : (word == 2 ? z : w));
            if (!transposed) {
                out[i] = value;
                break;
            }
            // Column lane / 4 is the lower or the upper half of a word.
            out[i] |= (value >> (16 * (lane / 4 % 2)) & 0xffffu) << (16 * half);
        }
    }
    return make_uint4(out[0], out[1], out[2], out[3]);
}
__device__ inline void ptxStoreMatrices(void *row, int count, unsigned a, unsigned b, unsigned c, unsigned d) {
    unsigned lane = ptxLane();
    unsigned in[4] = {a, b, c, d}, words[4] = {0, 0, 0, 0};
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < count; i++) {
            unsigned value = __shfl_sync(0xffffffffu, in[i], lane % 8 * 4 + w);
            if (lane / 8 == i) words[w] = value;
        }
    }
    if (lane < 8 * count) *(uint4 *)row = make_uint4(words[0], words[1], words[2], words[3]);
}

// Elements of a register: two of 16 bits, or one of tf32, whose last 13 bits do not count.
__device__ inline float ptxElement(int kind, unsigned word, int e) {
    if (kind == 0) return __half2float(__ushort_as_half((unsigned short)(word >> (16 * e))));
    if (kind == 1) return __uint_as_float(word >> (16 * e) << 16);
    return __uint_as_float(word & 0xffffe000u);
}
__device__ inline float4 ptxMma(int kind, int blocks, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1,
                                float c0, float c1, float c2, float c3) {
    unsigned lane = ptxLane(), g = lane / 4, t = lane % 4;
    int elements = kind == 2 ? 1 : 2;
    for (int block = 0; block < blocks; block++) {
        unsigned upper = block == 0 ? a0 : a2, lower = block == 0 ? a1 : a3, b = block == 0 ? b0 : b1;
        for (int q = 0; q < 4; q++) {
            unsigned au = __shfl_sync(0xffffffffu, upper, 4 * g + q), al = __shfl_sync(0xffffffffu, lower, 4 * g + q);
            unsigned bl = __shfl_sync(0xffffffffu, b, 8 * t + q), br = __shfl_sync(0xffffffffu, b, 8 * t + 4 + q);
            for (int e = 0; e < elements; e++) {
                float u = ptxElement(kind, au, e), l = ptxElement(kind, al, e);
                float left = ptxElement(kind, bl, e), right = ptxElement(kind, br, e);
                c0 += u * left;
                c1 += u * right;
                c2 += l * left;
                c3 += l * right;
            }
        }
    }
    return make_float4(c0, c1, c2, c3);
}
// Sums of halves are rounded once, at the end.
__device__ inline uint2 ptxMmaHalf(int blocks, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1,
                                   unsigned c0, unsigned c1) {
    float4 d = ptxMma(0, blocks, a0, a1, a2, a3, b0, b1, ptxElement(0, c0, 0), ptxElement(0, c0, 1), ptxElement(0, c1, 0),
                      ptxElement(0, c1, 1));
    unsigned x = __half_as_ushort(__float2half(d.x)), y = __half_as_ushort(__float2half(d.y));
    unsigned z = __half_as_ushort(__float2half(d.z)), w = __half_as_ushort(__float2half(d.w));
    return make_uint2(x | y << 16, z | w << 16);
}
__device__ inline int ptxByte(bool isSigned, unsigned word, int e) {
    int byte = (int)(word >> (8 * e) & 0xffu);
    return isSigned && byte > 127 ? byte - 256 : byte;
}
__device__ inline int4 ptxMmaBytes(int blocks, bool signedA, bool signedB, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                   unsigned b0, unsigned b1, int c0, int c1, int c2, int c3) {
    unsigned lane = ptxLane(), g = lane / 4, t = lane % 4;
    for (int block = 0; block < blocks; block++) {
        unsigned upper = block == 0 ? a0 : a2, lower = block == 0 ? a1 : a3, b = block == 0 ? b0 : b1;
        for (int q = 0; q < 4; q++) {
            unsigned au = __shfl_sync(0xffffffffu, upper, 4 * g + q), al = __shfl_sync(0xffffffffu, lower, 4 * g + q);
            unsigned bl = __shfl_sync(0xffffffffu, b, 8 * t + q), br = __shfl_sync(0xffffffffu, b, 8 * t + 4 + q);
            for (int e = 0; e < 4; e++) {
                int u = ptxByte(signedA, au, e), l = ptxByte(signedA, al, e);
                int left = ptxByte(signedB, bl, e), right = ptxByte(signedB, br, e);
                c0 += u * left;
                c1 += u * right;
                c2 += l * left;
                c3 += l * right;
            }
        }
    }
    return make_int4(c0, c1, c2, c3);
}
__device__ inline double2 ptxMmaDouble(double a, double b, double c0, double c1) {
    unsigned lane = ptxLane(), g = lane / 4, t = lane % 4;
    for (int q = 0; q < 4; q++) {
        double x = __shfl_sync(0xffffffffu, a, 4 * g + q);
        c0 = fma(x, __shfl_sync(0xffffffffu, b, 8 * t + q), c0);
        c1 = fma(x, __shfl_sync(0xffffffffu, b, 8 * t + 4 + q), c1);
    }
    return make_double2(c0, c1);
}
