
// Calls f with the numbers of an element: what it is made of, one after the other.
template <class T, class E, class F>
static void each_number(T &got, T &given, E &expected, F f) {
    f(got, given, expected);
}

struct Range {
    const char *begin, *end;
};

// An array of the test, on both sides.
template <class T>
struct Array {
    const char *name;
    std::vector<size_t> extents;
    size_t count = 1;
    T *host, *device;

    Array(const char *name, std::vector<size_t> shape) : name(name), extents(shape) {
        for (size_t &extent : extents) {
            // At a size below zero there are no elements.
            if (extent > (size_t)-1 / 2) extent = 0;
            count *= extent;
        }
        const size_t bytes = std::max<size_t>(1, count) * sizeof(T);
        host = (T *)calloc(bytes, 1);
        if (!host) {
            fprintf(stderr, "%s: no memory\n", name);
            exit(2);
        }
        check(cudaMalloc((void **)&device, bytes), name);
        check(cudaMemset(device, 0xff, bytes), name);
    }

    Array(const Array &) = delete;

    ~Array() {
        free(host);
        cudaFree(device);
    }

    Range range() const { return {(const char *)device, (const char *)(device + count)}; }

    // Random numbers from low to high, whole ones for integers.
    void fill(double low, double high) {
        const bool whole = std::is_integral<T>::value;
        for (size_t i = 0; i < count; ++i) {
            const double u = random_unit();
            const double x = whole ? floor(u * (high - low + 1)) : u * (high - low);
            host[i] = whole ? (T)(long long)(low + x) : (T)(float)(low + x);
        }
    }

    // Changes the elements, one after the other.
    template <class F>
    void each(F change) {
        for (size_t i = 0; i < count; ++i) change(host[i], i);
    }

    // 0, 1, 2 …
    void count_up() {
        for (size_t i = 0; i < count; ++i) host[i] = (T)(long long)i;
    }

    // The whole numbers from `first` on in random order.
    void shuffle(long long first) {
        for (size_t i = 0; i < count; ++i) host[i] = (T)(first + (long long)i);
        for (size_t i = count; i > 1; --i) {
            std::swap(host[i - 1], host[(size_t)(random_unit() * i)]);
        }
    }

    // Numbers that do not decrease, from 0 to `last`.
    void offsets(double last) {
        fill(0, last);
        if (count > 0) host[0] = 0;
        std::sort(host, host + count);
        if (count > 1) host[count - 1] = (T)last;
    }

    void upload() {
        check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice), name);
    }

    // The place of an element: [i][j].
    std::string index(size_t flat) const {
        std::string s;
        for (size_t d = extents.size(); d-- > 0;) {
            s = "[" + std::to_string(flat % extents[d]) + "]" + s;
            flat /= extents[d];
        }
        return s;
    }
};

// Whether sums are taken in the order of the loops.
enum Order { same_order, any_order };

// What has been compared at one size.
struct Tally {
    Ran ran;
    std::string size;
    size_t elements = 0, compared = 0, different = 0;

    Tally(Ran ran, std::initializer_list<std::pair<const char *, long long>> sizes) : ran(ran) {
        for (const auto &s : sizes) {
            size += (size.empty() ? " at " : ", ") + std::string(s.first) + "=";
            size += std::to_string(s.second);
        }
    }
};

// What the original loops make of an array beside what they find there.
template <class T>
struct Output : Array<T> {
    std::unique_ptr<Expected<T>[]> expected;

    Output(const char *name, std::vector<size_t> extents) : Array<T>(name, extents) {}

    void upload() {
        Array<T>::upload();
        expected.reset(new Expected<T>[std::max<size_t>(1, this->count)]);
        for (size_t i = 0; i < this->count; ++i) {
            each_number(this->host[i], this->host[i], expected[i],
                        [](auto &x, auto &, auto &e) { set_given(e, x); });
        }
    }

    // Errors beyond this leave no digit of what the loops compute.
    double scale() const {
        double largest = 1.0;
        for (size_t i = 0; i < this->count; ++i) {
            each_number(this->host[i], this->host[i], expected[i], [&](auto &, auto &, auto &e) {
                const double x = fabs(as_double(e));
                if (x > largest && x < INFINITY) largest = x;
            });
        }
        return largest;
    }

    // Compares the device's elements with the expected ones, or with those that the loops have set
    // if they were not run as a whole; prints the first difference. Reals are the same bits unless
    // sums are taken in any order, or the compiler makes one operation of two.
    void compare(Order order, Tally &tally) const {
        tally.elements += this->count;
        if (tally.ran == Ran::none) return;
        const size_t bytes = this->count * sizeof(T);
        std::unique_ptr<T[]> got(new T[std::max<size_t>(1, this->count)]);
        check(cudaMemcpy(got.get(), this->device, bytes, cudaMemcpyDeviceToHost), this->name);
        const double most = scale();
        for (size_t i = 0; i < this->count; ++i) {
            bool compared = true, any = false;
            size_t different = 0, number = 0;
            each_number(got[i], this->host[i], expected[i], [&](auto &x, auto &given, auto &e) {
                const Verdict v = verdict(x, given, e, order == any_order);
                ++number;
                if (v.unset && tally.ran == Ran::some) return;
                any = true;
                // A whole number of the loops does not tell whether such a decision made it.
                const bool whole = std::is_integral<std::decay_t<decltype(x)>>::value;
                const bool may_hang = !v.same && whole && doubts > 0;
                doubts -= may_hang;
                const bool open = v.doubted || may_hang || v.allowed > most;
                compared &= !open;
                if (v.same || open || different++ > 0 || tally.different > 0) return;
                printf("%s%s", this->name, this->index(i).c_str());
                if (sizeof(T) > sizeof(x)) printf(", number %zu,", number);
                printf(" is %.9g, should be %.9g", as_double(x), v.expected);
                if (v.allowed > 0) printf(" (within %.3g)", v.allowed);
                printf("%s\n", tally.size.c_str());
            });
            tally.compared += any && compared;
            tally.different += different > 0;
        }
    }
};

// What has been compared at all sizes.
struct Totals {
    bool timed = false;
    size_t compared = 0, different = 0, sizes = 0;
    std::string last;

    void add(const Tally &tally) {
        compared += tally.compared;
        different += tally.different;
        const std::string of = " of " + std::to_string(tally.elements) + " elements" + tally.size;
        const bool none = tally.ran == Ran::none;
        last = (none ? "too slow on the processor, none" : std::to_string(tally.compared)) + of;
        if (tally.different > 0) printf("%zu%s are different\n", tally.different, of.c_str());
        if (!timed) ++sizes;
    }

    // Prints the result; the program's status.
    int report(const char *name) const {
        printf("%s: compared %s", name, last.c_str());
        if (sizes > 0) printf("; all at %zu small sizes", sizes);
        const bool equal = different == 0 && compared > 0;
        const char *verdict = compared == 0 ? "NOTHING COMPARED" : "DIFFERENT";
        printf("\n%s: %s\n", name, equal ? "equal" : verdict);
        return equal ? 0 : 1;
    }
};
