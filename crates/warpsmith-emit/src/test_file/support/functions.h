
// A function of one operand: the derivative says what the operand's error makes of the result.
template <class T, class F>
static Real<T> function_of(Real<T> x, bool exact, F f) {
    const double at = as_double(x.value), h = std::max(fabs(at) * 1e-6, 1e-30);
    double slope = 0.0;
    for (double step : {h, -h}) {
        const double s = fabs((f(at + step) - f(at)) / step);
        if (std::isfinite(s)) slope = std::max(slope, s);
    }
    const T value = f(x.value);
    Real<T> r = joined(x, x, value, fabs(as_double(value)) + slope * x.magnitude);
    r.loose |= !exact;
    r.terms += 1;
    return r;
}

template <class T, class F>
static Real<T> function_of(Real<T> x, Real<T> y, bool exact, F f) {
    const Real<T> of_x = function_of(x, exact, [&](auto v) { return f(v, (decltype(v))y.value); });
    const Real<T> of_y = function_of(y, exact, [&](auto v) { return f((decltype(v))x.value, v); });
    return joined(of_x, of_y, of_x.value, of_x.magnitude + of_y.magnitude);
}
