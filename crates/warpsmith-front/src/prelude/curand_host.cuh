// Random numbers that the host asks the device for: they are made on the host and copied.
typedef int curandRngType_t, curandOrdering_t;
enum {
    CURAND_STATUS_SUCCESS = 0, CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121, CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, CURAND_RNG_QUASI_DEFAULT = 200, CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202, CURAND_RNG_QUASI_SOBOL64 = 203, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
inline int curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) { *generator = type; return 0; }
inline int curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) { *generator = type; return 0; }
inline int curandDestroyGenerator(curandGenerator_t generator) { return 0; }
inline int curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) { return 0; }
inline int curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) { return 0; }
inline int curandSetStream(curandGenerator_t generator, cudaStream_t stream) { return 0; }
inline int curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned n) { return 0; }
inline double randomAboveZero() { return (random_bits() + 1.0) / 2147483648.0; }
inline double randomNormal() { return sqrt(-2.0 * log(randomAboveZero())) * cos(6.283185307179586 * randomAboveZero()); }
#define CURAND_GENERATES(T, VALUE) \
    { \
        T *held = (T *)malloc(n * sizeof(T)); \
        for (size_t i = 0; i < n; i++) held[i] = (T)(VALUE); \
        cudaMemcpy(to, held, n * sizeof(T), cudaMemcpyDefault); \
        free(held); \
        return 0; \
    }
inline int curandGenerate(curandGenerator_t g, unsigned *to, size_t n) CURAND_GENERATES(unsigned, random_bits())
inline int curandGenerateUniform(curandGenerator_t g, float *to, size_t n) CURAND_GENERATES(float, randomAboveZero())
inline int curandGenerateUniformDouble(curandGenerator_t g, double *to, size_t n) CURAND_GENERATES(double, randomAboveZero())
inline int curandGenerateNormal(curandGenerator_t g, float *to, size_t n, float mean, float deviation)
    CURAND_GENERATES(float, mean + deviation * randomNormal())
inline int curandGenerateNormalDouble(curandGenerator_t g, double *to, size_t n, double mean, double deviation)
    CURAND_GENERATES(double, mean + deviation * randomNormal())
inline int curandGenerateLogNormal(curandGenerator_t g, float *to, size_t n, float mean, float deviation)
    CURAND_GENERATES(float, exp(mean + deviation * randomNormal()))
