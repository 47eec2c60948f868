#include <cmath>
#include "mathx.cuh"
void norm7_cpu(const float *x, float *n)
{
    n[0] = std::sqrt(dotn<7>(x, x));
}
