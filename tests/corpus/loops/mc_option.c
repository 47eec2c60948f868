#include <math.h>
#include <stdint.h>

struct rng { uint64_t s; double spare; int has; };

static double uniform(struct rng *g)
{
    g->s = g->s * 6364136223846793005ULL + 1442695040888963407ULL;
    return ((g->s >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

static double gauss(struct rng *g)
{
    if (g->has) { g->has = 0; return g->spare; }
    double u = uniform(g), v = uniform(g);
    double r = sqrt(-2.0 * log(u));
    g->spare = r * sin(6.283185307179586 * v);
    g->has = 1;
    return r * cos(6.283185307179586 * v);
}

double asian_call(int paths, int steps, double S0, double K, double rate, double sigma, double T)
{
    double dt = T / steps, sum = 0.0;
    double drift = (rate - 0.5 * sigma * sigma) * dt, vol = sigma * sqrt(dt);
#pragma omp parallel for reduction(+:sum)
    for (int p = 0; p < paths; ++p) {
        struct rng g = { 88172645463325252ULL ^ ((uint64_t)p * 2654435761ULL), 0.0, 0 };
        double S = S0, avg = 0;
        for (int t = 0; t < steps; ++t) {
            S *= exp(drift + vol * gauss(&g));
            avg += S;
        }
        avg /= steps;
        if (avg > K) sum += avg - K;
    }
    return exp(-rate * T) * sum / paths;
}
