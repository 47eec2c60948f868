#include <float.h>
#include <stdlib.h>

static float euclid_dist_2(float *pt1, float *pt2, int numdims)
{
    int i;
    float ans = 0.0;
    for (i = 0; i < numdims; i++)
        ans += (pt1[i] - pt2[i]) * (pt1[i] - pt2[i]);
    return (ans);
}

/* assigns every object to its nearest cluster, returns how many moved */
int kmeans_assign(float *feature, int nfeatures, int npoints, int nclusters, float *clusters, int *membership)
{
    int i;
    int delta = 0;
#pragma omp parallel for reduction(+ : delta) schedule(dynamic, 64)
    for (i = 0; i < npoints; i++) {
        int index = 0, k;
        float min_dist = FLT_MAX;
        for (k = 0; k < nclusters; k++) {
            float dist;
            dist = euclid_dist_2(feature + i * nfeatures, &clusters[k * nfeatures], nfeatures);
            if (dist < min_dist) {
                min_dist = dist;
                index = k;
            }
        }
        if (membership[i] != index) delta += 1;
        membership[i] = index;
    }
    return delta;
}
