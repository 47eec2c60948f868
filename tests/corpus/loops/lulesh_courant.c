#include <math.h>

struct Domain {
    int nelem;
    double qqc, dvovmax;
};

/* the time step that the Courant condition and the hydro constraint allow */
double time_constraint(struct Domain dom, const int *reg, const double *ss, const double *arealg, const double *vdov)
{
    double dtcourant = 1.0e+20, dthydro = 1.0e+20;
    double qqc2 = 64.0 * dom.qqc * dom.qqc;
    int i;
#pragma omp parallel for reduction(min : dtcourant)
    for (i = 0; i < dom.nelem; i++) {
        int indx = reg[i];
        double dtf = ss[indx] * ss[indx];
        if (vdov[indx] < 0.)
            dtf = dtf + qqc2 * arealg[indx] * arealg[indx] * vdov[indx] * vdov[indx];
        dtf = arealg[indx] / sqrt(dtf);
        if (vdov[indx] != 0.) {
            if (dtf < dtcourant) dtcourant = dtf;
        }
    }
#pragma omp parallel for reduction(min : dthydro)
    for (i = 0; i < dom.nelem; i++) {
        int indx = reg[i];
        if (vdov[indx] != 0.) {
            double dtdvov = dom.dvovmax / (fabs(vdov[indx]) + 1.e-20);
            dthydro = dthydro > dtdvov ? dtdvov : dthydro;
        }
    }
    return fmin(dtcourant, dthydro);
}
