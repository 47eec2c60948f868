
inline Real<float> __half2float(Real<half> x) { return x; }
inline Real<half> __float2half(Real<float> x) { return x; }
inline Real<half> __double2half(Real<double> x) { return x; }
