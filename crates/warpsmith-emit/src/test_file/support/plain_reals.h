
// Reals differ by some roundings.
template <class T>
static Verdict verdict_of_reals(T got, T before, T expected) {
    const double x = as_double(got), y = as_double(expected);
    const double unit = ldexp(1.0, sizeof(T) == 8 ? -53 : sizeof(T) == 4 ? -24 : -11);
    const double allowed = 256.0 * unit * std::max(1.0, fabs(y));
    const bool same = fabs(x - y) <= allowed || x == y || (x != x && y != y);
    return {same, memcmp(&expected, &before, sizeof(T)) == 0, false, y, allowed};
}

inline Verdict verdict(float got, float before, float expected, bool) {
    return verdict_of_reals(got, before, expected);
}

inline Verdict verdict(double got, double before, double expected, bool) {
    return verdict_of_reals(got, before, expected);
}
