// Dedispersion of a radio signal: low frequencies arrive later, the more the further away the source. For each assumed
// dispersion measure the channels are shifted back and added up.
//
//   block_size_x, tile_size_x   threads and samples of a thread along time
//   block_size_y, tile_size_y   threads and dispersion measures of a thread
//   tile_stride_x, _y           1: the elements of a thread are a block apart, 0: they are neighbours
//   loop_unroll_factor_channel  unrolling over the channels; 0 leaves that to the compiler
//
// Samples are bytes, as receivers deliver them, and the sums whole numbers below 2^24: exact in any order.

#ifndef CHANNELS
#define CHANNELS 512
#endif

// Delay of each channel for one step of the dispersion measure, in 1/1024 of a sample.
__constant__ int delays[CHANNELS];

#if tile_stride_x == 1
#define SAMPLE(t) (threadIdx.x + (t) * block_size_x)
#else
#define SAMPLE(t) (threadIdx.x * tile_size_x + (t))
#endif
#if tile_stride_y == 1
#define MEASURE(t) (threadIdx.y + (t) * block_size_y)
#else
#define MEASURE(t) (threadIdx.y * tile_size_y + (t))
#endif

extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y)
dedispersion(float *__restrict__ output, const unsigned char *__restrict__ input, int samples, int measures, int pitch)
{
    const int first_sample = blockIdx.x * (block_size_x * tile_size_x);
    const int first_measure = blockIdx.y * (block_size_y * tile_size_y);
    float sum[tile_size_y][tile_size_x];
    // Threads beyond the end repeat the last sample or measure, and write nothing.
    int sample[tile_size_x], measure[tile_size_y];
#pragma unroll
    for (int i = 0; i < tile_size_x; i++) {
        sample[i] = min(first_sample + (int)SAMPLE(i), samples - 1);
    }
#pragma unroll
    for (int j = 0; j < tile_size_y; j++) {
        measure[j] = min(first_measure + (int)MEASURE(j), measures - 1);
#pragma unroll
        for (int i = 0; i < tile_size_x; i++) {
            sum[j][i] = 0.0f;
        }
    }

#pragma unroll loop_unroll_factor_channel
    for (int channel = 0; channel < CHANNELS; channel++) {
        const unsigned char *row = input + channel * pitch;
        const int delay = delays[channel];
#pragma unroll
        for (int j = 0; j < tile_size_y; j++) {
            const int shift = (measure[j] * delay) >> 10;
#pragma unroll
            for (int i = 0; i < tile_size_x; i++) {
                sum[j][i] += (float)row[sample[i] + shift];
            }
        }
    }

#pragma unroll
    for (int j = 0; j < tile_size_y; j++) {
        const int to = first_measure + MEASURE(j);
#pragma unroll
        for (int i = 0; i < tile_size_x; i++) {
            const int at = first_sample + SAMPLE(i);
            if (to < measures && at < samples) {
                output[to * samples + at] = sum[j][i];
            }
        }
    }
}
