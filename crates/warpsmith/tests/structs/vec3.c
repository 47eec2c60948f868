typedef struct { double x, y, z; } Vec3;
typedef struct { Vec3 pos, vel; double mass; } Body;
static Vec3 add(Vec3 a, Vec3 b) { Vec3 r = {a.x + b.x, a.y + b.y, a.z + b.z}; return r; }
static Vec3 mul(double s, Vec3 a) { return (Vec3){s * a.x, s * a.y, s * a.z}; }
static double dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
void f(int n, double dt, Body b[n], double e[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        b[i].pos = add(b[i].pos, mul(dt, b[i].vel));
        e[i] = 0.5 * b[i].mass * dot(b[i].vel, b[i].vel);
    }
}
