// Which points lie in a polygon: a ray from the point crosses the outline an odd number of times.
//
//   block_size_x             threads
//   tile_size                points of a thread, a block apart
//   between_method           how an edge is found to span the point's height
//   use_precomputed_slopes   whether each block computes the slopes of all edges first, into shared memory
//   use_method               how a crossing is counted
//   use_cmem                 vertices from constant memory or from a buffer; both hold the same
//
// Vertices are whole numbers, the x of one even and that of the next odd, and heights of points lie in the middle between
// whole numbers. Hence no point is on the outline or at the height of a vertex, and rounding decides nothing: all ways of
// computing agree.

#ifndef VERTICES
#define VERTICES 600
#endif

__constant__ float2 corners[VERTICES];

#if use_cmem == 1
#define CORNER(k) corners[k]
#else
#define CORNER(k) vertices[k]
#endif

#if between_method == 0
#define IS_BETWEEN(y1, y2, y) (((y1) > (y)) != ((y2) > (y)))
#elif between_method == 1
#define IS_BETWEEN(y1, y2, y) (((y1) <= (y) && (y) < (y2)) || ((y2) <= (y) && (y) < (y1)))
#elif between_method == 2
#define IS_BETWEEN(y1, y2, y) (((y1) - (y)) * ((y2) - (y)) < 0.0f)
#else
// The signs of both differences differ.
#define IS_BETWEEN(y1, y2, y) ((__float_as_int((y1) - (y)) ^ __float_as_int((y2) - (y))) < 0)
#endif

#if use_precomputed_slopes == 1
#define SLOPE(k, from, to) slopes[k]
#else
#define SLOPE(k, from, to) (((to).x - (from).x) / ((to).y - (from).y))
#endif

extern "C" __global__ void __launch_bounds__(block_size_x)
pnpoly(int *__restrict__ inside, const float2 *__restrict__ points, const float2 *__restrict__ vertices, int count)
{
#if use_precomputed_slopes == 1
    __shared__ float slopes[VERTICES];
    for (int k = threadIdx.x; k < VERTICES; k += block_size_x) {
        const float2 from = CORNER(k == 0 ? VERTICES - 1 : k - 1);
        const float2 to = CORNER(k);
        slopes[k] = (to.x - from.x) / (to.y - from.y);
    }
    __syncthreads();
#endif
    const int first = blockIdx.x * (block_size_x * tile_size) + threadIdx.x;
    float2 point[tile_size];
    int crossings[tile_size];
#pragma unroll
    for (int t = 0; t < tile_size; t++) {
        point[t] = points[min(first + t * block_size_x, count - 1)];
        crossings[t] = 0;
    }

    // From constant memory in any case: a compiler may leave a variable out that nothing reads, and then it cannot be set.
    float2 from = corners[VERTICES - 1];
#pragma unroll 1
    for (int k = 0; k < VERTICES; k++) {
        const float2 to = CORNER(k);
#pragma unroll
        for (int t = 0; t < tile_size; t++) {
#if use_method == 0
            // Two branches: the division is done where it is needed.
            if (IS_BETWEEN(from.y, to.y, point[t].y)) {
                if (point[t].x < SLOPE(k, from, to) * (point[t].y - from.y) + from.x) {
                    crossings[t] = !crossings[t];
                }
            }
#elif use_method == 1
            // One condition that the compiler may turn into a branch or a selection.
            if (IS_BETWEEN(from.y, to.y, point[t].y) && point[t].x < SLOPE(k, from, to) * (point[t].y - from.y) + from.x) {
                crossings[t]++;
            }
#else
            // No branch at all.
            crossings[t] ^= (int)IS_BETWEEN(from.y, to.y, point[t].y)
                & (int)(point[t].x < SLOPE(k, from, to) * (point[t].y - from.y) + from.x);
#endif
        }
        from = to;
    }

#pragma unroll
    for (int t = 0; t < tile_size; t++) {
        if (first + t * block_size_x < count) {
            inside[first + t * block_size_x] = crossings[t] & 1;
        }
    }
}
