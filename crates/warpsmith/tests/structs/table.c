struct Mat { float rho, cp; int kind; };
static const struct Mat mats[3] = {{1.5f, 2.0f, 1}, {.rho = 0.5f, .kind = 2}, {3.0f, 4.0f, 0}};
enum kind { AIR, WATER, ROCK };
void f(int n, const unsigned char id[n], float t[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct Mat m = mats[id[i] % 3];
        t[i] = m.kind == WATER ? t[i] * m.cp : t[i] + m.rho;
    }
}
