// Pointers to data members: variables, parameters of kernels and functions, through objects and pointers, of nested structures
struct Vec { float x, y, z; };
struct Particle { Vec position, velocity; int cell[2]; double mass; };

__device__ float sum(const Particle *p, int n, float Vec::*axis)
{
    float total = 0;
    for (int i = 0; i < n; i++) total += (p + i)->position.*axis;
    return total;
}

template <typename M>
__device__ void scale(Particle &p, M member, float by)
{
    (p.*member).x *= by;
}

// warpsmith: grid=1 block=32 arg n=32 arg out=float[32]
__global__ void push(int n, float *out)
{
    __shared__ Particle all[32];
    const int t = threadIdx.x;
    float Vec::*axis = t % 2 ? &Vec::y : &Vec::x;
    double Particle::*heavy = &Particle::mass;
    Particle one = {{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}, {0, 0}, 0.0};
    one.*heavy = 2.0;
    all[t] = one;
    Particle *own = &all[t];
    own->velocity.*axis += 1.0f;
    assert(own->velocity.x + own->velocity.y == 10.0f && own->*heavy == 2.0);
    auto place = &Particle::position;
    scale(*own, place, 3.0f);
    assert((own->*place).x == 3.0f && own->position.y == 2.0f);
    __syncthreads();
    out[t] = sum(all, n, axis);
    assert(out[t] == (t % 2 ? 64.0f : 96.0f));
}
