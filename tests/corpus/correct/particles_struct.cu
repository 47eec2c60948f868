// An array of structs in global memory with nested vector members, updated by member functions; a struct buffer as argument.

struct Particle {
    float3 position;
    float3 velocity;
    int bounces;

    __device__ void kick(float3 f, float dt)
    {
        velocity.x += f.x * dt;
        velocity.y += f.y * dt;
        velocity.z += f.z * dt;
    }
    __device__ void drift(float dt)
    {
        position.x += velocity.x * dt;
        position.y += velocity.y * dt;
        position.z += velocity.z * dt;
        bounce(position.x, velocity.x);
        bounce(position.y, velocity.y);
        bounce(position.z, velocity.z);
    }
    __device__ void bounce(float &p, float &v)
    {
        if (p < 0.0f || p > 1.0f) {
            v = -v;
            p = p < 0.0f ? -p : 2.0f - p;
            ++bounces;
        }
    }
};

// warpsmith: grid=2 block=32 arg p=Particle[64] arg n=64 arg steps=5 arg dt=0.1
// warpsmith: grid=2 block=32 arg p=Particle[39] arg n=39 arg steps=3 arg dt=0.2
__global__ void integrate(Particle *p, int n, int steps, float dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle me = p[i];
    const float3 force = make_float3(0.01f * i, 1.0f, sinf((float)i));
    for (int s = 0; s < steps; ++s) {
        me.kick(force, dt);
        me.drift(dt);
    }
    p[i] = me;
}
