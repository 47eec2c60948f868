// Accelerations of n bodies that attract each other, all pairs.
//
//   block_size_x         threads along the bodies
//   block_size_y         slices of the partners: each row of threads adds up one, and the sums are added in the end
//   tile_size_x          bodies of a thread
//   loop_unroll_factor   unrolling over the partners, in steps of vector_size
//   use_soa              partners as four arrays (x, y, z, mass) or as one of float4; in shared memory likewise
//   vector_size          partners that are read at once, where they are four arrays
//   use_shmem            whether partners are staged in shared memory
//   inverse_root         0: 1 / sqrtf, 1: rsqrtf, 2: __fdividef and sqrtf
//
// Both layouts are given, with the same contents. The number of bodies is a multiple of block_size_x * block_size_y and of
// block_size_x * tile_size_x.

#define THREADS (block_size_x * block_size_y)
// Keeps a body from itself, and close encounters finite.
#define SOFTENING 0.01f

#if use_soa == 0 || vector_size == 1
typedef float Lanes;
#define PART(v, k) (v)
#elif vector_size == 2
typedef float2 Lanes;
#define PART(v, k) ((k) == 0 ? (v).x : (v).y)
#else
typedef float4 Lanes;
#define PART(v, k) ((k) == 0 ? (v).x : (k) == 1 ? (v).y : (k) == 2 ? (v).z : (v).w)
#endif

// Partners in a row of threads at a time: those that it stages, else as many, so that both loops look alike.
#define GROUP block_size_x

__device__ __forceinline__ float inverse(float square)
{
#if inverse_root == 0
    return 1.0f / sqrtf(square);
#elif inverse_root == 1
    return rsqrtf(square);
#else
    return __fdividef(1.0f, sqrtf(square));
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
nbody(float *__restrict__ ax, float *__restrict__ ay, float *__restrict__ az, const float4 *__restrict__ bodies,
      const float *__restrict__ xs, const float *__restrict__ ys, const float *__restrict__ zs,
      const float *__restrict__ masses, int count, float gravity)
{
#if use_shmem == 1 && use_soa == 1
    __shared__ Lanes near_x[block_size_y][GROUP / vector_size];
    __shared__ Lanes near_y[block_size_y][GROUP / vector_size];
    __shared__ Lanes near_z[block_size_y][GROUP / vector_size];
    __shared__ Lanes near_m[block_size_y][GROUP / vector_size];
#elif use_shmem == 1
    __shared__ float4 near[block_size_y][GROUP];
#endif
    const int first = blockIdx.x * (block_size_x * tile_size_x) + threadIdx.x;
    float4 me[tile_size_x];
    float sum_x[tile_size_x], sum_y[tile_size_x], sum_z[tile_size_x];
#pragma unroll
    for (int t = 0; t < tile_size_x; t++) {
        me[t] = bodies[first + t * block_size_x];
        sum_x[t] = 0.0f;
        sum_y[t] = 0.0f;
        sum_z[t] = 0.0f;
    }

    const int slice = count / block_size_y;
    const int begin = threadIdx.y * slice;
    for (int group = 0; group < slice; group += GROUP) {
        const int at = begin + group;
#if use_shmem == 1
        // One thread stages one partner; with four arrays, the first threads stage a vector of each.
        __syncthreads();
#if use_soa == 1
        if (threadIdx.x < GROUP / vector_size) {
            const int v = at / vector_size + threadIdx.x;
            near_x[threadIdx.y][threadIdx.x] = ((const Lanes *)xs)[v];
            near_y[threadIdx.y][threadIdx.x] = ((const Lanes *)ys)[v];
            near_z[threadIdx.y][threadIdx.x] = ((const Lanes *)zs)[v];
            near_m[threadIdx.y][threadIdx.x] = ((const Lanes *)masses)[v];
        }
#else
        near[threadIdx.y][threadIdx.x] = bodies[at + threadIdx.x];
#endif
        __syncthreads();
#endif
#pragma unroll loop_unroll_factor
        for (int p = 0; p < GROUP / vector_size; p++) {
#if use_soa == 1 && use_shmem == 1
            const Lanes vx = near_x[threadIdx.y][p];
            const Lanes vy = near_y[threadIdx.y][p];
            const Lanes vz = near_z[threadIdx.y][p];
            const Lanes vm = near_m[threadIdx.y][p];
#elif use_soa == 1
            const Lanes vx = ((const Lanes *)xs)[at / vector_size + p];
            const Lanes vy = ((const Lanes *)ys)[at / vector_size + p];
            const Lanes vz = ((const Lanes *)zs)[at / vector_size + p];
            const Lanes vm = ((const Lanes *)masses)[at / vector_size + p];
#elif use_shmem == 1
            const float4 partner = near[threadIdx.y][p];
            const float vx = partner.x, vy = partner.y, vz = partner.z, vm = partner.w;
#else
            const float4 partner = bodies[at + p];
            const float vx = partner.x, vy = partner.y, vz = partner.z, vm = partner.w;
#endif
#pragma unroll
            for (int k = 0; k < vector_size; k++) {
#pragma unroll
                for (int t = 0; t < tile_size_x; t++) {
                    const float dx = PART(vx, k) - me[t].x;
                    const float dy = PART(vy, k) - me[t].y;
                    const float dz = PART(vz, k) - me[t].z;
                    const float root = inverse(dx * dx + dy * dy + dz * dz + SOFTENING);
                    const float pull = PART(vm, k) * root * root * root;
                    sum_x[t] += pull * dx;
                    sum_y[t] += pull * dy;
                    sum_z[t] += pull * dz;
                }
            }
        }
    }

#if block_size_y > 1
    // The slices' sums, one tile after the other to need little shared memory.
    __shared__ float parts[3][block_size_y][block_size_x];
#pragma unroll
    for (int t = 0; t < tile_size_x; t++) {
        __syncthreads();
        parts[0][threadIdx.y][threadIdx.x] = sum_x[t];
        parts[1][threadIdx.y][threadIdx.x] = sum_y[t];
        parts[2][threadIdx.y][threadIdx.x] = sum_z[t];
        __syncthreads();
        if (threadIdx.y == 0) {
#pragma unroll
            for (int row = 1; row < block_size_y; row++) {
                sum_x[t] += parts[0][row][threadIdx.x];
                sum_y[t] += parts[1][row][threadIdx.x];
                sum_z[t] += parts[2][row][threadIdx.x];
            }
        }
    }
#endif
    if (threadIdx.y == 0) {
#pragma unroll
        for (int t = 0; t < tile_size_x; t++) {
            ax[first + t * block_size_x] = gravity * sum_x[t];
            ay[first + t * block_size_x] = gravity * sum_y[t];
            az[first + t * block_size_x] = gravity * sum_z[t];
        }
    }
}
