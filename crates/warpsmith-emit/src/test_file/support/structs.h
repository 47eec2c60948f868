
// Calls f with the numbers of every element of an array in a structure.
template <class T, class E, size_t n, class F>
static void each_number(T (&got)[n], T (&given)[n], E (&expected)[n], F f) {
    for (size_t i = 0; i < n; ++i) each_number(got[i], given[i], expected[i], f);
}

template <class T, class F>
static void each_number_of(T &x, F f) {
    each_number(x, x, x, [&](auto &number, auto &, auto &) { f(number); });
}

template <class T>
static void put(T &numbers, double value) {
    each_number_of(numbers, [&](auto &x) { x = (std::decay_t<decltype(x)>)(float)value; });
}

// Whole numbers from low to high, both included.
template <class T>
static void within(T &numbers, long long low, long long high) {
    const double room = high > low ? (double)(high - low) + 1.0 : 1.0;
    each_number_of(numbers, [&](auto &x) {
        x = (std::decay_t<decltype(x)>)(low + (long long)(random_unit() * room));
    });
}

// Random reals from low to high; whole numbers from 0 to 15.
template <class T>
static void between(T &numbers, double low, double high) {
    each_number_of(numbers, [&](auto &x) {
        const bool whole = std::is_integral<std::decay_t<decltype(x)>>::value;
        const double u = random_unit();
        put(x, whole ? floor(16.0 * u) : low + u * (high - low));
    });
}

// The whole numbers below the count, in an order without pattern.
inline std::vector<size_t> shuffled(size_t count) {
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    for (size_t i = count; i > 1; --i) {
        std::swap(order[i - 1], order[(size_t)(random_unit() * i)]);
    }
    return order;
}
