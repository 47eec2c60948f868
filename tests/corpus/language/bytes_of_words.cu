// Operations on the bytes and half-words of a word, at values where each rule shows.
// warpsmith: grid=1 block=32 arg out=unsigned[32]=zeros
__global__ void bytes(unsigned *out)
{
    unsigned a = 0x80ff7f01u, b = 0x80017f02u;
    __assert(__vadd4(a, b) == 0x0000fe03u);
    __assert(__vsub4(a, b) == 0x00fe00ffu);
    __assert(__vaddss4(a, b) == 0x80007f03u);
    __assert(__vaddus4(a, b) == 0xfffffe03u);
    __assert(__vsubus4(a, b) == 0x00fe0000u);
    __assert(__vsubss4(a, b) == 0x00fe00ffu);
    __assert(__vabsdiffu4(a, b) == 0x00fe0001u);
    __assert(__vabsdiffs4(a, b) == 0x00020001u);
    __assert(__vsadu4(a, b) == 255u);
    __assert(__vsads4(a, b) == 3u);
    __assert(__vmaxs4(a, b) == 0x80017f02u);
    __assert(__vmaxu4(a, b) == 0x80ff7f02u);
    __assert(__vmins4(a, b) == 0x80ff7f01u);
    __assert(__vminu4(a, b) == 0x80017f01u);
    __assert(__vavgu4(a, b) == 0x80807f02u);
    __assert(__vhaddu4(a, b) == 0x80807f01u);
    __assert(__vabs4(a) == 0x80017f01u);
    __assert(__vabsss4(a) == 0x7f017f01u);
    __assert(__vneg4(a) == 0x800181ffu);
    __assert(__vnegss4(a) == 0x7f0181ffu);
    __assert(__vcmpeq4(a, b) == 0xff00ff00u);
    __assert(__vcmpgtu4(a, b) == 0x00ff0000u);
    __assert(__vcmplts4(a, b) == 0x00ff00ffu);
    __assert(__vseteq4(a, b) == 0x01000100u);
    __assert(__vadd2(0xffff0001u, 0x00017fffu) == 0x00008000u);
    __assert(__vaddss2(0x80007fffu, 0xffff0001u) == 0x80007fffu);
    __assert(__vmaxs2(0xffff0001u, 0x00000000u) == 0x00000001u);
    __assert(__vsadu2(0x00050003u, 0x00020009u) == 9u);
    __assert(__dp4a(0x01020304, 0x01010101, 5) == 15);
    __assert(__dp2a_lo(0x00020003, 0x7f7f0405, 1) == 2 * 4 + 3 * 5 + 1);
    __assert(__dp2a_hi(0x00020003, 0x04057f7f, 1) == 2 * 4 + 3 * 5 + 1);
    __assert(__vimax3_s32(-3, 7, 2) == 7 && __viaddmax_s32_relu(-9, 2, -5) == 0);
    bool upper, lower;
    unsigned c = 0xfffe0003u, d = 0x0001fffcu; // -2 and 3, 1 and -4
    __assert(__vibmax_s16x2(c, d, &upper, &lower) == 0x00010003u && !upper && lower);
    __assert(__vibmin_u16x2(c, d, &upper, &lower) == 0x00010003u && !upper && lower);
    __assert(__vibmin_s16x2(c, c, &upper, &lower) == c && upper && lower);
    __assert(__vibmax_u16x2(c, d, &upper, &lower) == 0xfffefffcu && upper && !lower);
    __assert(__vimax3_s16x2(c, d, 0x00020001u) == 0x00020003u);
    __assert(__vimin3_s16x2_relu(c, d, 0x00020001u) == 0u);
    __assert(__vimax3_s16x2_relu(c, 0xfff0fff0u, 0xfff1fff1u) == 0x00000003u);
    __assert(__vimin3_u16x2(c, d, 0x00020001u) == 0x00010001u);
    __assert(__viaddmax_s16x2(c, d, 0xfff0fff0u) == 0xffffffffu);
    __assert(__viaddmax_s16x2_relu(c, d, 0xfff0fff0u) == 0u);
    __assert(__viaddmin_u16x2(c, d, 0xfff0fff0u) == 0xfff0fff0u);
    __assert(__viaddmin_s16x2_relu(0x00050005u, d, 0x00040004u) == 0x00040001u);
    __assert(__vimax_s16x2_relu(c, 0xfff0fff0u) == 0x00000003u);
    __assert(__vimin_s16x2_relu(0x00050005u, d) == 0x00010000u);
    out[threadIdx.x] = __vadd4(threadIdx.x, 0xffffffffu);
}
