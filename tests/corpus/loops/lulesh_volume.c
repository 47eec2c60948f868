typedef double Real_t;
typedef int Index_t;

static inline Real_t TripleProduct(Real_t x1, Real_t y1, Real_t z1, Real_t x2, Real_t y2, Real_t z2, Real_t x3,
                                   Real_t y3, Real_t z3)
{
   return ((x1) * ((y2) * (z3) - (z2) * (y3)) + (x2) * ((z1) * (y3) - (y1) * (z3)) + (x3) * ((y1) * (z2) - (z1) * (y2)));
}

static Real_t CalcElemVolume(const Real_t x[8], const Real_t y[8], const Real_t z[8])
{
   Real_t twelveth = (Real_t)(1.0) / (Real_t)(12.0);

   Real_t dx61 = x[6] - x[1]; Real_t dy61 = y[6] - y[1]; Real_t dz61 = z[6] - z[1];
   Real_t dx70 = x[7] - x[0]; Real_t dy70 = y[7] - y[0]; Real_t dz70 = z[7] - z[0];
   Real_t dx63 = x[6] - x[3]; Real_t dy63 = y[6] - y[3]; Real_t dz63 = z[6] - z[3];
   Real_t dx20 = x[2] - x[0]; Real_t dy20 = y[2] - y[0]; Real_t dz20 = z[2] - z[0];

   Real_t volume = TripleProduct(dx61 + dx70, dx63, dx20, dy61 + dy70, dy63, dy20, dz61 + dz70, dz63, dz20);
   return volume * twelveth;
}

static inline void CollectNodes(const Index_t *elemToNode, const Real_t *x, const Real_t *y, const Real_t *z,
                                Real_t elemX[8], Real_t elemY[8], Real_t elemZ[8])
{
   for (Index_t lnode = 0; lnode < 8; ++lnode) {
      Index_t gnode = elemToNode[lnode];
      elemX[lnode] = x[gnode];
      elemY[lnode] = y[gnode];
      elemZ[lnode] = z[gnode];
   }
}

void CalcVolumes(Index_t numElem, Index_t numNode, const Index_t *nodelist, const Real_t *x, const Real_t *y,
                 const Real_t *z, const Real_t *volo, Real_t *vnew, Real_t *delv, const Real_t *v)
{
#pragma omp parallel for firstprivate(numElem)
   for (Index_t k = 0; k < numElem; ++k) {
      Real_t x_local[8], y_local[8], z_local[8];
      const Index_t *const elemToNode = &nodelist[8 * k];

      CollectNodes(elemToNode, x, y, z, x_local, y_local, z_local);
      Real_t volume = CalcElemVolume(x_local, y_local, z_local);
      Real_t relativeVolume = volume / volo[k];
      vnew[k] = relativeVolume;
      delv[k] = relativeVolume - v[k];
   }
}
