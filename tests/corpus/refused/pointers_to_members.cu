// Pointers to members of structures
struct Point { float x, y; };
// warpsmith: grid=1 block=32 arg out=float[32]
__global__ void f(float *out) {
    Point p = {1.0f, 2.0f};
    float Point::*member = &Point::x;
    out[threadIdx.x] = p.*member;
}
