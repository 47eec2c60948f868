// Operators on vectors as the header of the toolkit's samples has them; the header itself is not there.
#include <assert.h>
#include <helper_math.h>
// warpsmith: grid=1 block=32 arg p=float4[32]=zeros arg q=float3[32]
__global__ void moved(const float4 *p, float3 *q)
{
    float4 v = 2.0f + 0.0f * p[threadIdx.x];
    float3 a = make_float3(v), b = make_float3(1.0f);
    a += 2.0f * b - a / 2.0f;
    assert(a.x == 3.0f && dot(a, b) == 9.0f);
    a *= 0.5f;
    const float3 n = normalize(make_float3(0.0f, 3.0f, 4.0f));
    assert(fabsf(length(n) - 1.0f) < 1e-6f);
    const uint2 edge = min(make_uint2(3u, 9u), make_uint2(5u));
    assert(edge.x == 3u && edge.y == 5u);
    const float4 mixed = lerp(v, make_float4(a, 1.0f), 0.5f);
    assert(mixed.w == 1.5f);
    q[threadIdx.x] = clamp(cross(a, n), -1.0f, 1.0f) + make_float3(make_int3(1, 2, 3));
    v = -v;
    assert(v.z == -2.0f);
}
