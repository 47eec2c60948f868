// Types by traits: vectors of a precision, specialised functions, constants in memory for each precision.
template <class T> struct vec3 { typedef float Type; };
template <> struct vec3<float> { typedef float3 Type; };
template <> struct vec3<double> { typedef double3 Type; };
template <class T> struct vec4 { typedef float Type; };
template <> struct vec4<float> { typedef float4 Type; };
template <> struct vec4<double> { typedef double4 Type; };
__constant__ float softening = 0.5f;
__constant__ double softening_fp64 = 0.5;
template <typename T> __device__ T softened() { return softening; }
template <> __device__ double softened<double>() { return softening_fp64; }
template <typename T> __device__ T inverse_root(T x) { return rsqrt(x); }
template <> __device__ float inverse_root<float>(float x) { return rsqrtf(x); }

template <typename T>
__device__ typename vec3<T>::Type pull(typename vec3<T>::Type sum, typename vec4<T>::Type a, typename vec4<T>::Type b)
{
    typename vec3<T>::Type r;
    r.x = b.x - a.x;
    r.y = b.y - a.y;
    r.z = b.z - a.z;
    T distance = r.x * r.x + r.y * r.y + r.z * r.z;
    distance += softened<T>();
    T inverse = inverse_root(distance), s = b.w * inverse * inverse * inverse;
    sum.x += r.x * s;
    sum.y += r.y * s;
    sum.z += r.z * s;
    return sum;
}
// warpsmith: grid=1 block=64 arg position=float4[64] arg out=float3[64] kernel=attract<float>
template <typename T> __global__ void attract(typename vec4<T>::Type *position, typename vec3<T>::Type *out)
{
    __shared__ typename vec4<T>::Type tile[64];
    tile[threadIdx.x] = position[threadIdx.x];
    __syncthreads();
    typename vec3<T>::Type sum = {0.0f, 0.0f, 0.0f};
#pragma unroll 128
    for (unsigned int k = 0; k < blockDim.x; k++) sum = pull<T>(sum, tile[threadIdx.x], tile[k]);
    out[threadIdx.x] = sum;
}
