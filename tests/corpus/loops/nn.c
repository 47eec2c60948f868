#include <math.h>

typedef struct latLong {
    float lat;
    float lng;
} LatLong;

/* nearest hurricane: distances, and the smallest of them */
void nearest(const LatLong *locations, float *distances, int numRecords, float lat, float lng, float *best, int *where)
{
    float min_d = 1e30f;
    int min_i = -1;
#pragma omp parallel for
    for (int i = 0; i < numRecords; i++) {
        const LatLong *latLong = locations + i;
        distances[i] = (float)sqrt((lat - latLong->lat) * (lat - latLong->lat) +
                                   (lng - latLong->lng) * (lng - latLong->lng));
    }
#pragma omp parallel for
    for (int i = 0; i < numRecords; i++) {
        if (distances[i] < min_d) {
#pragma omp critical
            if (distances[i] < min_d) {
                min_d = distances[i];
                min_i = i;
            }
        }
    }
    *best = min_d;
    *where = min_i;
}
