// Heat on a chip: a five-point stencil with a source (power) in each cell, STEPS time steps in one launch.
//
// A block loads a region and advances it in shared memory. With each step the outermost cells of the region become
// useless, since their neighbours are not there: what is left after all steps, STEPS cells less on each side, is written.
// The arrays are padded by STEPS cells on each side, so that no cell needs a boundary condition.
//
//   block_size_x, block_size_y   threads
//   tile_size_x, tile_size_y     cells of a thread: the region is block times tile
//   temporal_tiling_factor       steps between two barriers: a thread reads so many cells around its tile, and advances
//                                them in registers, at the price of computing what its neighbours compute, too
//   loop_unroll_factor_t         unrolling of the loop over such groups of steps
//   sh_power                     whether the power is staged in shared memory

#ifndef STEPS
#define STEPS 6
#endif

#define REGION_X (block_size_x * tile_size_x)
#define REGION_Y (block_size_y * tile_size_y)
#define INNER_X (REGION_X - 2 * STEPS)
#define INNER_Y (REGION_Y - 2 * STEPS)
#define HALO temporal_tiling_factor
#define PATCH_X (tile_size_x + 2 * HALO)
#define PATCH_Y (tile_size_y + 2 * HALO)

// Conductance to the neighbours along both axes and to the air, times the time step over the heat capacity.
#define ALONG_X 0.12f
#define ALONG_Y 0.10f
#define TO_AIR 0.02f
#define AIR 0.3f
#define HEATING 0.05f

extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y)
hotspot(float *__restrict__ result, const float *__restrict__ temperature, const float *__restrict__ power, int width,
        int height)
{
    __shared__ float heat[REGION_Y][REGION_X];
#if sh_power == 1
    __shared__ float source[REGION_Y][REGION_X];
#endif
    const int padded_x = width + 2 * STEPS;
    const int padded_y = height + 2 * STEPS;
    // Where the region begins, in the padded arrays.
    const int first_x = blockIdx.x * INNER_X;
    const int first_y = blockIdx.y * INNER_Y;

    // The last blocks may reach beyond the arrays; they repeat the last cell there, which nothing that is written needs.
#pragma unroll
    for (int row = 0; row < tile_size_y; row++) {
#pragma unroll
        for (int column = 0; column < tile_size_x; column++) {
            const int j = threadIdx.y + row * block_size_y;
            const int i = threadIdx.x + column * block_size_x;
            const int at = min(first_y + j, padded_y - 1) * padded_x + min(first_x + i, padded_x - 1);
            heat[j][i] = temperature[at];
#if sh_power == 1
            source[j][i] = power[at];
#endif
        }
    }
    __syncthreads();

    const int my_x = threadIdx.x * tile_size_x;
    const int my_y = threadIdx.y * tile_size_y;
#pragma unroll loop_unroll_factor_t
    for (int group = 0; group < STEPS / HALO; group++) {
        float patch[PATCH_Y][PATCH_X];
#pragma unroll
        for (int j = 0; j < PATCH_Y; j++) {
            const int y = min(max(my_y + j - HALO, 0), REGION_Y - 1);
#pragma unroll
            for (int i = 0; i < PATCH_X; i++) {
                patch[j][i] = heat[y][min(max(my_x + i - HALO, 0), REGION_X - 1)];
            }
        }
#pragma unroll
        for (int step = 1; step <= HALO; step++) {
            // The rows above the current one are overwritten as it goes, so their old values are kept.
            float above[PATCH_X];
#pragma unroll
            for (int i = 0; i < PATCH_X; i++) {
                above[i] = patch[step - 1][i];
            }
#pragma unroll
            for (int j = step; j < PATCH_Y - step; j++) {
                float left = patch[j][step - 1];
#pragma unroll
                for (int i = step; i < PATCH_X - step; i++) {
                    const float here = patch[j][i];
                    const int x = min(max(my_x + i - HALO, 0), REGION_X - 1);
                    const int y = min(max(my_y + j - HALO, 0), REGION_Y - 1);
#if sh_power == 1
                    const float watts = source[y][x];
#else
                    const float watts = power[min(first_y + y, padded_y - 1) * padded_x + min(first_x + x, padded_x - 1)];
#endif
                    patch[j][i] = here + HEATING * watts + ALONG_X * (left + patch[j][i + 1] - 2.0f * here)
                        + ALONG_Y * (above[i] + patch[j + 1][i] - 2.0f * here) + TO_AIR * (AIR - here);
                    left = here;
                    above[i] = here;
                }
            }
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < tile_size_y; j++) {
#pragma unroll
            for (int i = 0; i < tile_size_x; i++) {
                heat[my_y + j][my_x + i] = patch[j + HALO][i + HALO];
            }
        }
        __syncthreads();
    }

    // From shared memory again, since the tiles of neighbouring threads are no neighbouring cells.
#pragma unroll
    for (int row = 0; row < tile_size_y; row++) {
#pragma unroll
        for (int column = 0; column < tile_size_x; column++) {
            const int j = threadIdx.y + row * block_size_y;
            const int i = threadIdx.x + column * block_size_x;
            if (i < INNER_X && j < INNER_Y && first_x + i < width && first_y + j < height) {
                result[(first_y + j) * width + first_x + i] = heat[j + STEPS][i + STEPS];
            }
        }
    }
}
