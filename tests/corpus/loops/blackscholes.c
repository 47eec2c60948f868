#include <math.h>
#define fptype float
#define inv_sqrt_2xPI 0.39894228040143270286

typedef struct OptionData_ {
    fptype s;
    fptype strike;
    fptype r;
    fptype v;
    fptype t;
    char OptionType;
} OptionData;

static fptype CNDF(fptype InputX)
{
    int sign;
    fptype xInput, xNPrimeofX, xK2, xLocal;

    if (InputX < 0.0) {
        InputX = -InputX;
        sign = 1;
    } else
        sign = 0;
    xInput = InputX;
    xNPrimeofX = expf(-0.5f * InputX * InputX) * inv_sqrt_2xPI;
    xK2 = 1.0 / (1.0 + 0.2316419 * xInput);
    xLocal = xK2 * (0.319381530 + xK2 * (-0.356563782 + xK2 * (1.781477937 + xK2 * (-1.821255978 + xK2 * 1.330274429))));
    xLocal = 1.0 - xLocal * xNPrimeofX;
    return sign ? 1.0 - xLocal : xLocal;
}

static fptype BlkSchlsEqEuroNoDiv(fptype sptprice, fptype strike, fptype rate, fptype volatility, fptype time, int otype)
{
    fptype xSqrtTime = sqrtf(time);
    fptype xLogTerm = logf(sptprice / strike);
    fptype d1 = (xLogTerm + (rate + 0.5f * volatility * volatility) * time) / (volatility * xSqrtTime);
    fptype d2 = d1 - volatility * xSqrtTime;
    fptype FutureValueX = strike * (expf(-(rate) * (time)));
    if (otype == 0)
        return (sptprice * CNDF(d1)) - (FutureValueX * CNDF(d2));
    return (FutureValueX * (1.0f - CNDF(d2))) - (sptprice * (1.0f - CNDF(d1)));
}

int bs_thread(const OptionData *data, fptype *prices, int numOptions, int runs)
{
    int i, j;
    for (j = 0; j < runs; j++) {
#pragma omp parallel for private(i)
        for (i = 0; i < numOptions; i++) {
            int otype = (data[i].OptionType == 'P') ? 1 : 0;
            fptype price = BlkSchlsEqEuroNoDiv(data[i].s, data[i].strike, data[i].r, data[i].v, data[i].t, otype);
            prices[i] = price;
        }
    }
    return 0;
}
