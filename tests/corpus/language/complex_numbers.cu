// Complex numbers of the toolkit and of the libraries.
#include <cuComplex.h>
#include <thrust/complex.h>

// warpsmith: grid=1 block=32 arg x=float2[32] arg y='double[32]'
__global__ void complexes(cuFloatComplex *x, double *y)
{
    cuFloatComplex a = make_cuFloatComplex(1.0f, 2.0f), b = make_cuComplex(3.0f, -1.0f);
    a = cuCaddf(cuCmulf(a, b), cuConjf(b));
    __assert(cuCrealf(a) == 8.0f && cuCimagf(a) == 6.0f && cuCabsf(a) == 10.0f);
    thrust::complex<double> c(1.0, 2.0), d(0.5, -0.5);
    c = c * d + 2.0 * d;
    c += thrust::complex<double>(1.0);
    __assert(c.real() == 3.5 && c.imag() == -0.5);
    x[threadIdx.x] = a;
    y[threadIdx.x] = thrust::norm(c);
}
