
inline void doubt() {
    if (!in_doubt) ++doubts;
    in_doubt = true;
}

// The largest relative error of one rounding.
template <class T>
static double unit_roundoff() {
    return ldexp(1.0, sizeof(T) == 8 ? -53 : sizeof(T) == 4 ? -24 : -11);
}

template <class T>
struct Real;

template <class T>
struct Plain {
    typedef T type;
    static const bool real = false;
};

template <class T>
struct Plain<Real<T>> {
    typedef T type;
    static const bool real = true;
};

// A real of the original loops, and how far the device's may be from it: 4 L u times the sum of the
// absolute values of the terms, L the number of terms.
template <class T>
struct Real {
    T value;
    bool product = false;   // a sum with it may be rounded once instead of twice
    bool loose = false;     // other bits on the device are right, too
    bool doubted = false;   // depends on a decision that may fall the other way there
    bool computed = false;  // the loops have set this element
    float terms = 1, factors = 1;
    double magnitude, unit = unit_roundoff<T>();

    Real() = default;
    Real(const Real &) = default;

    template <class U, class = typename std::enable_if<!Plain<U>::real>::type>
    Real(U x) : value((T)x), magnitude(fabs(as_double(x))) {}

    // Rounded to another type.
    template <class U>
    Real(const Real<U> &x)
        : value((T)x.value), loose(x.loose), doubted(x.doubted), terms(x.terms),
          factors(x.factors), magnitude(x.magnitude) {
        // What was computed in a narrower type has that type's errors.
        if (!x.exact()) unit = std::max(unit, x.unit);
    }

    Real &operator=(const Real &x) {
        value = x.value;
        product = x.product;
        loose = x.loose;
        doubted = x.doubted || in_doubt;
        computed = true;
        terms = x.terms;
        factors = x.factors;
        magnitude = x.magnitude;
        unit = x.unit;
        return *this;
    }

    template <class I, class = typename std::enable_if<std::is_integral<I>::value>::type>
    explicit operator I() const {
        if (uncertain() && (I)(value - allowed()) != (I)(value + allowed())) doubt();
        return (I)value;
    }

    Real operator-() const {
        Real r(*this);
        r.value = -value;
        return r;
    }

    // As it was given, without a rounding.
    bool exact() const { return terms == 1 && factors == 1 && !loose; }

    bool uncertain() const { return loose || (Rounding::reordered && terms > 2); }

    // Roundings of a long sum are independent of each other: they grow with the root of its length.
    double allowed() const {
        const double length = std::max(terms, terms + factors - 2);
        const double roundings = std::min(length, 8.0 * sqrt(length));
        const double most = 4.0 * roundings * unit * magnitude;
        return std::isnan(most) ? INFINITY : most;
    }
};

template <class T>
static double as_double(const Real<T> &x) {
    return as_double(x.value);
}

// What C makes of operands of two types, where one is a real of the loops; nothing is asked of
// others, whose own operators would look here for what they give.
template <class A, class B, bool = Plain<A>::real || Plain<B>::real>
struct Joint {};

template <class A, class B>
struct Joint<A, B, true> {
    typedef Real<decltype(typename Plain<A>::type() + typename Plain<B>::type())> type;
};

template <class A, class B>
using Common = typename Joint<A, B>::type;

template <class A, class B>
using Decision = typename std::enable_if<Plain<A>::real || Plain<B>::real, bool>::type;

// What both operands bring to a result.
template <class T>
static Real<T> joined(const Real<T> &a, const Real<T> &b, T value, double magnitude) {
    Real<T> r;
    r.value = value;
    r.loose = a.loose || b.loose;
    r.doubted = a.doubted || b.doubted;
    r.terms = std::max(a.terms, b.terms);
    r.factors = std::max(a.factors, b.factors);
    r.unit = std::max(a.unit, b.unit);
    r.magnitude = magnitude == magnitude ? magnitude : fabs(as_double(value));
    return r;
}

template <class T>
static Real<T> sum(const Real<T> &a, const Real<T> &b, T value) {
    Real<T> r = joined(a, b, value, a.magnitude + b.magnitude);
    r.loose |= Rounding::contracted && (a.product || b.product);
    r.terms = a.terms + b.terms;
    return r;
}

template <class A, class B>
static Common<A, B> operator+(const A &a, const B &b) {
    const Common<A, B> x(a), y(b);
    return sum(x, y, x.value + y.value);
}

template <class A, class B>
static Common<A, B> operator-(const A &a, const B &b) {
    const Common<A, B> x(a), y(b);
    Common<A, B> r = sum(x, y, x.value - y.value);
    // One rounding, whatever cancels.
    if (x.exact() && y.exact()) r.magnitude = fabs(as_double(r.value));
    return r;
}

template <class A, class B>
static Common<A, B> operator*(const A &a, const B &b) {
    const Common<A, B> x(a), y(b);
    Common<A, B> r = joined(x, y, x.value * y.value, x.magnitude * y.magnitude);
    r.terms = x.terms + y.terms - 1;
    r.factors = x.factors + y.factors;
    r.product = true;
    return r;
}

template <class A, class B>
static Common<A, B> operator/(const A &a, const B &b) {
    const Common<A, B> x(a), y(b);
    const double p = fabs(as_double(x.value)), q = fabs(as_double(y.value));
    Common<A, B> r = joined(x, y, x.value / y.value, x.magnitude / q + p * y.magnitude / (q * q));
    r.terms += 1;
    return r;
}

template <class T, class B>
static Real<T> &operator+=(Real<T> &a, const B &b) {
    return a = a + b;
}

template <class T, class B>
static Real<T> &operator-=(Real<T> &a, const B &b) {
    return a = a - b;
}

template <class T, class B>
static Real<T> &operator*=(Real<T> &a, const B &b) {
    return a = a * b;
}

template <class T, class B>
static Real<T> &operator/=(Real<T> &a, const B &b) {
    return a = a / b;
}

// -1, 0 or 1, and 2 where one is no number; notes where it may be something else on the device.
template <class A, class B>
static int order(const A &a, const B &b) {
    const Common<A, B> x(a), y(b);
    const double distance = fabs(as_double(x.value) - as_double(y.value));
    if ((x.uncertain() || y.uncertain()) && distance <= x.allowed() + y.allowed()) doubt();
    return x.value < y.value ? -1 : x.value > y.value ? 1 : x.value == y.value ? 0 : 2;
}

template <class A, class B>
static Decision<A, B> operator<(const A &a, const B &b) {
    return order(a, b) == -1;
}

template <class A, class B>
static Decision<A, B> operator>(const A &a, const B &b) {
    return order(a, b) == 1;
}

template <class A, class B>
static Decision<A, B> operator<=(const A &a, const B &b) {
    return order(a, b) <= 0;
}

template <class A, class B>
static Decision<A, B> operator>=(const A &a, const B &b) {
    return order(a, b) == 0 || order(a, b) == 1;
}

template <class A, class B>
static Decision<A, B> operator==(const A &a, const B &b) {
    return order(a, b) == 0;
}

template <class A, class B>
static Decision<A, B> operator!=(const A &a, const B &b) {
    return order(a, b) != 0;
}

// An array of reals that is only read.
template <class T>
struct Input {
    const T *given;

    Input(const T *given) : given(given) {}

    Real<T> operator[](ptrdiff_t i) const { return given[i]; }
    Real<T> operator*() const { return given[0]; }
};

// The same bits, unless they may be others on the device.
template <class T>
static Verdict verdict(T got, T, const Real<T> &expected, bool in_any_order) {
    const double x = as_double(got), y = as_double(expected.value);
    const double allowed = in_any_order || expected.loose ? expected.allowed() : 0.0;
    const bool same = memcmp(&got, &expected.value, sizeof(T)) == 0 || (x != x && y != y) ||
                      (allowed > 0.0 && std::isfinite(y) && fabs(x - y) <= allowed);
    return {same, !expected.computed, expected.doubted, y, allowed};
}

template <class T>
static void set_given(Real<T> &element, T x) {
    element = x;
    element.computed = element.doubted = false;
}
