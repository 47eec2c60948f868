#include <algorithm>
void sort4_cpu(const float *v, float *r)
{
    for (int i = 0; i < 4; i++) r[i] = v[i];
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (r[j] < r[i]) { float z = r[i]; r[i] = r[j]; r[j] = z; }
}
