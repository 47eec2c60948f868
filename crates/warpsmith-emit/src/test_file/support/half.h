
inline double as_double(half x) { return __half2float(x); }
