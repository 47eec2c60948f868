// gemm_test.cu: compares gemm_launch with the original loops on random data, and times it.
//
//   nvcc -O2 -o gemm_test gemm_test.cu && ./gemm_test [n] [m] [l]
//
// Reals must be the same bits, except where a sum is taken in another order, where the compiler may
// make one operation of a * b + c, or where a function of the library took part: these lie within 4
// L u times the sum of the absolute values of their terms, L the number of terms and u the error of
// one rounding; of long sums 32 sqrt(L) u, as roundings are independent.

#include "gemm.cu"

#include <algorithm>
#include <assert.h>
#include <atomic>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <math.h>
#include <memory>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <string.h>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// Stops the program when a call of the CUDA runtime failed.
static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(2);
}

// The next of a fixed sequence of numbers in [0, 1).
inline double random_unit() {
    static unsigned long long state = 0x9e3779b97f4a7c15ull;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

struct Verdict {
    bool same, unset, doubted;
    double expected, allowed;
};

// Whether a decision of the running iteration hangs on bits that may be others on the device, and
// the number of such iterations.
static thread_local bool in_doubt = false;
static std::atomic<size_t> doubts{0};

template <class T>
static double as_double(T x) {
    return (double)x;
}

template <class T>
static Verdict verdict(T got, T before, T expected, bool) {
    return {got == expected, expected == before, false, as_double(expected), 0.0};
}

// What the loops find in an element, before they set it.
template <class T>
static void set_given(T &element, T x) {
    element = x;
}

struct Rounding {
    // Whether the compiler may make one operation of a * b + c.
    static const bool contracted = true;
    // Whether the kernel takes sums in another order than the loops do.
    static const bool reordered = false;
};

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

typedef std::chrono::steady_clock Clock;

static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds that the original loops may take at one size.
static const double PATIENCE = 4.0;

struct TooLong {};

// Says at the head of each iteration of the marked loops whether it is run.
class Iterations {
   public:
    size_t number = 0;         // of the next iteration
    // numbers of iterations with which an inner loop begins, or some of them
    std::vector<size_t> rows;

    // The thread's share of those that are listed, or of all others.
    Iterations(const std::vector<size_t> &listed, bool others,
               size_t thread = 0, size_t threads = 1)
        : listed(listed), others(others), thread(thread), threads(threads) {
        at = others ? 0 : thread;
    }

    void row() {
        if (row_number++ % row_step != 0) return;
        rows.push_back(number);
        if (rows.size() < 4096) return;
        for (size_t i = 0; i < rows.size() / 2; ++i) rows[i] = rows[2 * i];
        rows.resize(rows.size() / 2);
        row_step *= 2;
    }

    bool take() {
        const size_t i = number++;
        if (in_doubt) in_doubt = false;
        const bool is_listed = at < listed.size() && listed[at] == i;
        if (is_listed) at += others ? 1 : threads;
        if (!others) return is_listed;
        if (i % 16 == 0 && seconds_since(start) > 2.0 * PATIENCE) throw TooLong();
        return !is_listed && i / 64 % threads == thread;
    }

   private:
    const std::vector<size_t> &listed;
    const bool others;
    const size_t thread, threads;
    size_t at, row_number = 0, row_step = 1;
    const Clock::time_point start = Clock::now();
};

enum class Ran { all, some, none };

// Runs the original loops, unless that takes too long.
template <class Loops>
static Ran run_all(Loops loops) {
    const std::vector<size_t> none;
    doubts = 0;
    Iterations all(none, true);
    try {
        loops(all);
    } catch (TooLong) {
        return Ran::none;
    }
    return Ran::all;
}

// Numbers of some of `count` iterations, in order: the first and the last, those at the ends of
// rows, and others at random.
static std::vector<size_t> choose(size_t count, const std::vector<size_t> &rows, size_t wanted) {
    std::vector<size_t> chosen;
    for (size_t k = 0; k < wanted / 8; ++k) {
        chosen.push_back(std::min(k, count - 1));
        chosen.push_back(count - 1 - std::min(k, count - 1));
        if (rows.empty()) continue;
        const size_t row = rows[k == 0 ? rows.size() - 1 : (size_t)(random_unit() * rows.size())];
        chosen.push_back(std::min(row, count - 1));
        if (row > 0) chosen.push_back(row - 1);
    }
    while (chosen.size() < wanted) chosen.push_back((size_t)(random_unit() * count));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

// Runs the iterations that are listed, or all others, on several threads; returns the seconds.
template <class Loops>
static double run_part(Loops loops, const std::vector<size_t> &listed, bool others,
                       size_t threads) {
    const Clock::time_point start = Clock::now();
    std::atomic<bool> too_long{false};
    std::vector<std::thread> workers;
    for (size_t thread = 0; thread < threads; ++thread) {
        workers.emplace_back([&, thread] {
            Iterations iterations(listed, others, thread, threads);
            try {
                loops(iterations);
            } catch (TooLong) {
                too_long = true;
            }
        });
    }
    for (std::thread &worker : workers) worker.join();
    return too_long ? INFINITY : seconds_since(start);
}

// Runs iterations of the original loops, none of which needs another one: all of them if that
// takes a few seconds on all cores, else about a thousand.
template <class Loops>
static Ran run_sampled(Loops loops) {
    const std::vector<size_t> none;
    doubts = 0;
    Iterations counted(none, false);
    loops(counted);
    const size_t count = counted.number;
    if (count == 0) return run_all(loops);
    const size_t threads = count < 1024 ? 1 : std::max(1u, std::thread::hardware_concurrency());

    // One says how long one takes; where that is not long, some in a row say it better.
    std::vector<size_t> done = {count / 2};
    double each = run_part(loops, done, false, 1);
    if (each < 0.01 && count > 128) {
        std::vector<size_t> row;
        for (size_t k = 1; k <= 64; ++k) row.push_back(count / 2 + k);
        each = run_part(loops, row, false, 1) / 64;
        done.insert(done.end(), row.begin(), row.end());
    }
    if (each * count < PATIENCE * threads && run_part(loops, done, true, threads) < INFINITY) {
        return Ran::all;
    }
    const double most = std::max(16.0, PATIENCE * threads / each);
    std::vector<size_t> chosen = choose(count, counted.rows, (size_t)std::min(1024.0, most)), left;
    std::set_difference(chosen.begin(), chosen.end(), done.begin(), done.end(),
                        std::back_inserter(left));
    run_part(loops, left, false, threads);
    return Ran::some;
}

// What the loops keep an element as.
template <class T>
using Expected = typename std::conditional<std::is_integral<T>::value, T, Real<T>>::type;

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

static void assert_disjoint(const std::vector<Range> &ranges) {
    for (size_t i = 0; i < ranges.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            assert(ranges[i].end <= ranges[j].begin || ranges[j].end <= ranges[i].begin);
        }
    }
}

// The median time of a launch, in milliseconds, after a warm-up.
template <class Launch>
static double median_ms(Launch launch) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    std::vector<float> times;
    for (int run = -3; run < 11; ++run) {
        check(cudaEventRecord(start), "event");
        check(launch(), "launch");
        check(cudaEventRecord(stop), "event");
        check(cudaEventSynchronize(stop), "kernel");
        float ms = 0.0f;
        check(cudaEventElapsedTime(&ms, start, stop), "event");
        if (run >= 0) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The original loops, run on the processor.
namespace reference {

void gemm(int n, int m, int l, Input<float> A, Input<float> B, Real<float> *__restrict__ C,
          Iterations &iterations) {
    iterations.row();
    for (int i = 0; i < n; ++i) {
        if (!iterations.take()) continue;
        iterations.row();
        for (int j = 0; j < m; ++j) {
            if (!iterations.take()) continue;
            C[(size_t)i * m + j] = 0.0f;
            iterations.row();
            for (int k = 0; k < l; ++k) {
                if (!iterations.take()) continue;
                C[(size_t)i * m + j] += A[(size_t)i * l + k] * B[(size_t)k * m + j];
            }
        }
    }
}

}  // namespace reference

// Runs the kernel and the original loops at one size and compares what they leave.
static void test(int n, int m, int l, Totals &totals) {
    Array<float> A("A", {(size_t)n, (size_t)l});
    A.fill(-1.0, 1.0);
    Array<float> B("B", {(size_t)l, (size_t)m});
    B.fill(-1.0, 1.0);
    Output<float> C("C", {(size_t)n, (size_t)m});
    C.fill(-1.0, 1.0);

    // The kernel is right only for arrays that do not overlap.
    assert_disjoint({A.range(), B.range(), C.range()});
    A.upload();
    B.upload();
    C.upload();
    check(gemm_launch(n, m, l, A.device, B.device, C.device, 0), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    const Ran ran = run_sampled([&](Iterations &iterations) {
        reference::gemm(n, m, l, A.host, B.host, C.expected.get(), iterations);
    });

    Tally tally(ran, {{"n", (long long)n}, {"m", (long long)m}, {"l", (long long)l}});
    C.compare(same_order, tally);
    totals.add(tally);
    if (!totals.timed) return;

    const double ms = median_ms([&] {
        return gemm_launch(n, m, l, A.device, B.device, C.device, 0);
    });
    printf("gemm: %.4f ms\n", ms);
}

int main(int argc, char **argv) {
    // Sizes and other scalars, in order, may be given on the command line.
    const int n = argc > 1 ? atoi(argv[1]) : 1024;
    const int m = argc > 2 ? atoi(argv[2]) : 1024;
    const int l = argc > 3 ? atoi(argv[3]) : 1024;

    Totals totals;
    // All elements, at small sizes around the numbers that the kernel tells apart.
    test(1, 33, 5, totals);
    totals.timed = true;
    test(n, m, l, totals);
    return totals.report("gemm");
}
