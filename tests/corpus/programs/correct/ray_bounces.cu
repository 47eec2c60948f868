// A small ray tracer: rays that bounce call the function that traces them again; vectors and materials are classes.
#include <cstdio>

class Vec {
public:
    float e[3];
    Vec() = default;
    __host__ __device__ Vec(float x, float y, float z) : e{x, y, z} {}
    __host__ __device__ float operator[](int i) const { return e[i]; }
    __host__ __device__ Vec operator-() const { return Vec(-e[0], -e[1], -e[2]); }
    __host__ __device__ Vec &operator+=(const Vec &o)
    {
        for (int i = 0; i < 3; i++) e[i] += o.e[i];
        return *this;
    }
};

__host__ __device__ inline Vec operator+(Vec a, const Vec &b) { return a += b; }
__host__ __device__ inline Vec operator-(Vec a, const Vec &b) { return a += -b; }
__host__ __device__ inline Vec operator*(float t, const Vec &v) { return Vec(t * v[0], t * v[1], t * v[2]); }
__host__ __device__ inline float dot(const Vec &a, const Vec &b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Sphere {
    Vec centre;
    float radius;
    Vec colour;
};

struct Ray {
    Vec origin, direction;
    __device__ Vec at(float t) const { return origin + t * direction; }
};

__constant__ Sphere spheres[3];

__device__ float hit(const Ray &ray, const Sphere &s)
{
    Vec to = ray.origin - s.centre;
    float a = dot(ray.direction, ray.direction), b = dot(to, ray.direction), c = dot(to, to) - s.radius * s.radius;
    float d = b * b - a * c;
    return d > 0.0f ? (-b - sqrtf(d)) / a : -1.0f;
}

__device__ Vec trace(const Ray &ray, int depth, unsigned &seed)
{
    if (depth == 0) return Vec(0.0f, 0.0f, 0.0f);
    int nearest = -1;
    float t = 1e30f;
    for (int i = 0; i < 3; i++) {
        float h = hit(ray, spheres[i]);
        if (h > 1e-3f && h < t) {
            t = h;
            nearest = i;
        }
    }
    if (nearest < 0) return Vec(0.5f, 0.7f, 1.0f);
    const Sphere &s = spheres[nearest];
    Vec normal = (1.0f / s.radius) * (ray.at(t) - s.centre);
    seed = seed * 1664525u + 1013904223u;
    float shake = (seed >> 16) / 65536.0f - 0.5f;
    Ray next;
    next.origin = ray.at(t);
    next.direction = normal + Vec(0.1f * shake, 0.1f, 0.0f);
    Vec light = trace(next, depth - 1, seed);
    return Vec(s.colour[0] * light[0], s.colour[1] * light[1], s.colour[2] * light[2]);
}

__global__ void render(Vec *image, int width, int height)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if ((x >= width) || (y >= height)) return;
    unsigned seed = x * 1973 + y * 9277 + 1;
    Ray ray;
    ray.origin = Vec(0.0f, 0.0f, 0.0f);
    ray.direction = Vec(2.0f * x / width - 1.0f, 2.0f * y / height - 1.0f, -1.0f);
    image[y * width + x] = trace(ray, 4, seed);
}

int main()
{
    const int width = 36, height = 20;
    Sphere scene[3] = {
        {Vec(0.0f, 0.0f, -1.5f), 0.5f, Vec(0.8f, 0.3f, 0.3f)},
        {Vec(1.0f, 0.0f, -1.5f), 0.4f, Vec(0.8f, 0.6f, 0.2f)},
        {Vec(0.0f, -100.5f, -1.0f), 100.0f, Vec(0.5f, 0.8f, 0.5f)},
    };
    cudaMemcpyToSymbol(spheres, scene, sizeof(scene));
    Vec *image;
    cudaMallocManaged((void **)&image, width * height * sizeof(Vec));
    dim3 block(8, 8), grid((width + 7) / 8, (height + 7) / 8);
    render<<<grid, block>>>(image, width, height);
    cudaDeviceSynchronize();
    for (int i = 0; i < width * height; i += 7) printf("%d ", (int)(255.99f * image[i][0]));
    cudaFree(image);
    return 0;
}
