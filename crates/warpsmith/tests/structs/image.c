typedef struct image { int w, h, c; float *data; } image;

static float pixel(image m, int x, int y, int k) { return m.data[k * m.h * m.w + y * m.w + x]; }

void f(image in, image out, float gain) {
#pragma omp parallel for collapse(2)
    for (int y = 0; y < in.h; ++y)
        for (int x = 0; x < in.w; ++x)
            out.data[y * in.w + x] = gain * pixel(in, x, y, 0) + pixel(in, x, y, 1);
}
