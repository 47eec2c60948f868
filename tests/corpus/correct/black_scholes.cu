// Black-Scholes call and put prices: transcendental functions, references as outputs, fast intrinsics.
#define A1 0.31938153f
#define A2 -0.356563782f
#define A3 1.781477937f
#define A4 -1.821255978f
#define A5 1.330274429f
#define RSQRT2PI 0.39894228040143267793994605993438f

__device__ inline float cndGPU(float d)
{
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

__device__ inline void BlackScholesBodyGPU(float &CallResult, float &PutResult, float S, float X, float T, float Riskfree, float V)
{
    float sqrtT = __fdividef(1.0F, rsqrtf(T));
    float d1 = __fdividef(__logf(S / X) + (Riskfree + 0.5f * V * V) * T, V * sqrtT);
    float d2 = d1 - V * sqrtT;
    float CNDD1 = cndGPU(d1);
    float CNDD2 = cndGPU(d2);
    float expRT = __expf(-Riskfree * T);
    CallResult = S * CNDD1 - X * expRT * CNDD2;
    PutResult = X * expRT * (1.0f - CNDD2) - S * (1.0f - CNDD1);
}

// warpsmith: grid=2 block=64 arg call=float2[64] arg put=float2[64] arg price=float2[64]=random arg strike=float2[64]=random arg years=float2[64]=random arg riskfree=0.02 arg volatility=0.3 arg optN=128
// warpsmith: grid=1 block=64 arg call=float2[33] arg put=float2[33] arg price=float2[33]=random arg strike=float2[33]=random arg years=float2[33]=random arg riskfree=0.02 arg volatility=0.3 arg optN=66
__launch_bounds__(128) __global__ void BlackScholesGPU(float2 *__restrict call, float2 *__restrict put,
    const float2 *__restrict price, const float2 *__restrict strike, const float2 *__restrict years,
    float riskfree, float volatility, int optN)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < (optN / 2)) {
        float call1, call2, put1, put2;
        const float2 p = price[opt], k = strike[opt], t = years[opt];
        BlackScholesBodyGPU(call1, put1, 5.f + fabsf(p.x), 1.f + fabsf(k.x), 0.25f + fabsf(t.x), riskfree, volatility);
        BlackScholesBodyGPU(call2, put2, 5.f + fabsf(p.y), 1.f + fabsf(k.y), 0.25f + fabsf(t.y), riskfree, volatility);
        call[opt] = make_float2(call1, call2);
        put[opt] = make_float2(put1, put2);
    }
}
