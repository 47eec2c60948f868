typedef float DATA_TYPE;
int NX, NY;
void fdtd(int tmax, DATA_TYPE *fict, DATA_TYPE *ex, DATA_TYPE *ey, DATA_TYPE *hz)
{
	int t, i, j;
	for (t = 0; t < tmax; t++)
	{
#pragma omp parallel for
		for (j = 0; j < NY; ++j)
			ey[0 * NY + j] = fict[t];
#pragma omp parallel for private(j)
		for (i = 1; i < NX; ++i)
			for (j = 0; j < NY; ++j)
				ey[i * NY + j] = ey[i * NY + j] - 0.5 * (hz[i * NY + j] - hz[(i - 1) * NY + j]);
#pragma omp parallel for private(j)
		for (i = 0; i < NX; ++i)
			for (j = 1; j < NY; ++j)
				ex[i * (NY + 1) + j] = ex[i * (NY + 1) + j] - 0.5 * (hz[i * NY + j] - hz[i * NY + (j - 1)]);
#pragma omp parallel for private(j)
		for (i = 0; i < NX - 1; ++i)
			for (j = 0; j < NY - 1; ++j)
				hz[i * NY + j] = hz[i * NY + j] - 0.7 * (ex[i * (NY + 1) + (j + 1)] - ex[i * (NY + 1) + j] + ey[(i + 1) * NY + j] - ey[i * NY + j]);
	}
}
