// warpsmith: size n=1000 m=64
// Data decide where values are added, and several go to one place.
static void add(float *sums, const int *place, int i, float value) { sums[place[i]] += value; }

void collect(int n, int m, float sums[m], const int place[n], const float values[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) add(sums, place, i, values[i]);
}
