#include <math.h>
typedef double Real_t;
typedef int Index_t;
#define FABS fabs

void CalcPressureForElems(Real_t *p_new, Real_t *bvc, Real_t *pbvc, Real_t *e_old, Real_t *compression, Real_t *vnewc,
                          Real_t pmin, Real_t p_cut, Real_t eosvmax, Index_t length, Index_t *regElemList)
{
#pragma omp parallel for firstprivate(length)
   for (Index_t i = 0; i < length; ++i) {
      Real_t c1s = (Real_t)(2.0) / (Real_t)(3.0);
      bvc[i] = c1s * (compression[i] + (Real_t)(1.));
      pbvc[i] = c1s;
   }

#pragma omp parallel for firstprivate(length, pmin, p_cut, eosvmax)
   for (Index_t i = 0; i < length; ++i) {
      Index_t ielem = regElemList[i];

      p_new[i] = bvc[i] * e_old[i];

      if (FABS(p_new[i]) < p_cut)
         p_new[i] = (Real_t)(0.0);

      if (vnewc[ielem] >= eosvmax) /* impossible condition here? */
         p_new[i] = (Real_t)(0.0);

      if (p_new[i] < pmin)
         p_new[i] = pmin;
   }
}
