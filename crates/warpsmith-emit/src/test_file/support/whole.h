
// A function that gives a whole number: beside a step it may give the next one.
template <class T, class F>
static Real<T> whole_of(Real<T> x, F f) {
    const double at = as_double(x.value), by = x.allowed();
    if (x.uncertain() && f(at - by) != f(at + by)) doubt();
    return joined(x, x, (T)f(x.value), x.magnitude);
}
