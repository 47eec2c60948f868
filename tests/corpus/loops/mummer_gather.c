#include <stdint.h>

/* extends each match of a query with the reference to the right */
void extend_matches(int num, const char *ref, int reflen, const char *qry, int qrylen, const int *refpos,
                    const int *qrypos, unsigned short *len)
{
#pragma omp parallel for schedule(guided)
    for (int m = 0; m < num; ++m)
    {
        int r = refpos[m];
        int q = qrypos[m];
        unsigned short l = 0;

        if (r < 0 || q < 0)
        {
            len[m] = 0;
            continue;
        }
        while (r < reflen && q < qrylen && ref[r] == qry[q])
        {
            ++r;
            ++q;
            ++l;
        }
        len[m] = l;
    }
}
