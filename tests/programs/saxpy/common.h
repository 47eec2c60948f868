#ifndef COMMON_H
#define COMMON_H

#ifndef SCALE
#define SCALE 2.0f
#endif

void saxpy(int n, float a, const float x[n], float y[n]);

#endif
