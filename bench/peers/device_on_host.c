// The functions of device.cu on the processor, where its tests have no GPU: memory of the host, and the host's clock.

#define _POSIX_C_SOURCE 199309L
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MULTIPLY_ADDS_A_ROUND = 10 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

const char *device_error(int code) { return code == 2 ? "out of memory" : "unknown error"; }

int device_malloc(void **pointer, size_t bytes) {
    *pointer = malloc(bytes ? bytes : 1);
    return *pointer ? 0 : 2;
}

int device_free(void *pointer) {
    free(pointer);
    return 0;
}

int device_upload(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return 0;
}

int device_download(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return 0;
}

int device_poison(void *pointer, size_t bytes) {
    memset(pointer, 0xFF, bytes);
    return 0;
}

int device_fill(float *x, size_t n, unsigned seed) {
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)((i * 2654435761u + seed * 40503u) % 2001) * 0.001f - 1.0f;
    }
    return 0;
}

int device_synchronize(void) { return 0; }

int event_create(void **event) { return device_malloc(event, sizeof(double)); }

int event_record(void *event) {
    *(double *)event = now();
    return 0;
}

int event_elapsed(float *milliseconds, void *start, void *stop) {
    *milliseconds = (float)(*(double *)stop - *(double *)start);
    return 0;
}

int device_flush(void) { return 0; }

int device_hold(long long cycles) { return cycles < 0; }

int device_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return 0;
}

int device_fma(float *sink, int rounds, double *operations) {
    float sum = 0.0f;
    for (int i = 0; i < rounds * MULTIPLY_ADDS_A_ROUND; i++) {
        sum = sum * 0.5f + 1.0f;
    }
    *sink = sum;
    *operations = 2.0 * rounds * MULTIPLY_ADDS_A_ROUND;
    return 0;
}
