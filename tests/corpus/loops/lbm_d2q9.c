#define NSPEEDS 9
typedef struct { float speeds[NSPEEDS]; } t_speed;
typedef struct {
    int nx, ny;
    float density, accel, omega;
} t_param;

void collision(const t_param params, const t_speed *cells, t_speed *tmp_cells, const int *obstacles)
{
    const float c_sq = 1.f / 3.f, w0 = 4.f / 9.f, w1 = 1.f / 9.f, w2 = 1.f / 36.f;

#pragma omp parallel for
    for (int jj = 0; jj < params.ny; jj++) {
        for (int ii = 0; ii < params.nx; ii++) {
            const t_speed *c = &cells[ii + jj * params.nx];
            if (obstacles[jj * params.nx + ii]) {
                tmp_cells[ii + jj * params.nx].speeds[0] = c->speeds[0];
                for (int kk = 1; kk < NSPEEDS; kk++)
                    tmp_cells[ii + jj * params.nx].speeds[kk] = c->speeds[kk <= 4 ? 1 + (kk + 1) % 4 : 5 + (kk - 3) % 4];
                continue;
            }
            float local_density = 0.f;
            for (int kk = 0; kk < NSPEEDS; kk++) local_density += c->speeds[kk];
            float u_x = (c->speeds[1] + c->speeds[5] + c->speeds[8] - (c->speeds[3] + c->speeds[6] + c->speeds[7])) / local_density;
            float u_y = (c->speeds[2] + c->speeds[5] + c->speeds[6] - (c->speeds[4] + c->speeds[7] + c->speeds[8])) / local_density;
            float u_sq = u_x * u_x + u_y * u_y;
            float u[NSPEEDS] = {0.f, u_x, u_y, -u_x, -u_y, u_x + u_y, -u_x + u_y, -u_x - u_y, u_x - u_y};
            float d_equ[NSPEEDS];
            d_equ[0] = w0 * local_density * (1.f - u_sq / (2.f * c_sq));
            for (int kk = 1; kk < NSPEEDS; kk++)
                d_equ[kk] = (kk < 5 ? w1 : w2) * local_density *
                            (1.f + u[kk] / c_sq + (u[kk] * u[kk]) / (2.f * c_sq * c_sq) - u_sq / (2.f * c_sq));
            for (int kk = 0; kk < NSPEEDS; kk++)
                tmp_cells[ii + jj * params.nx].speeds[kk] = c->speeds[kk] + params.omega * (d_equ[kk] - c->speeds[kk]);
        }
    }
}
