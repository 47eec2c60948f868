// What kernels use of libcu++'s `cuda::std`, and of `cuda::` beside it.
namespace cuda {
namespace std {
template <typename T, size_t N> using array = ::std::array<T, N>;
template <typename T> using complex = ::std::complex<T>;
template <typename A, typename B> using pair = ::std::pair<A, B>;
template <typename... T> using tuple = ::std::tuple<T...>;
template <typename A, typename B> __host__ __device__ ::std::pair<A, B> make_pair(A a, B b) { return ::std::pair<A, B>(a, b); }
template <typename... T> __host__ __device__ ::std::tuple<T...> make_tuple(T... values) { return ::std::tuple<T...>(values...); }
using ::std::tie;
template <int I, typename... T>
__host__ __device__ typename ::std::PartOfTuple<I, ::std::tuple<T...>>::type &get(::std::tuple<T...> &t) {
    return ::std::PartOfTuple<I, ::std::tuple<T...>>::of(t);
}
template <int I, typename... T>
__host__ __device__ const typename ::std::PartOfTuple<I, ::std::tuple<T...>>::type &get(const ::std::tuple<T...> &t) {
    return ::std::PartOfTuple<I, ::std::tuple<T...>>::of((::std::tuple<T...> &)t);
}

#define WS_STD_TWO(NAME, RESULT, VALUE) \
    template <typename T = void> struct NAME { \
        template <typename A, typename B> __host__ __device__ RESULT operator()(const A &a, const B &b) const { return VALUE; } \
    };
WS_STD_TWO(plus, A, a + b)
WS_STD_TWO(minus, A, a - b)
WS_STD_TWO(multiplies, A, a * b)
WS_STD_TWO(divides, A, a / b)
WS_STD_TWO(modulus, A, a % b)
WS_STD_TWO(bit_and, A, a & b)
WS_STD_TWO(bit_or, A, a | b)
WS_STD_TWO(bit_xor, A, a ^ b)
WS_STD_TWO(less, bool, a < b)
WS_STD_TWO(greater, bool, b < a)
WS_STD_TWO(less_equal, bool, !(b < a))
WS_STD_TWO(greater_equal, bool, !(a < b))
WS_STD_TWO(equal_to, bool, a == b)
WS_STD_TWO(not_equal_to, bool, a != b)
WS_STD_TWO(logical_and, bool, a && b)
WS_STD_TWO(logical_or, bool, a || b)
template <typename T = void> struct negate {
    template <typename A> __host__ __device__ A operator()(const A &a) const { return -a; }
};
struct identity {
    template <typename A> __host__ __device__ A operator()(const A &a) const { return a; }
};

constexpr size_t dynamic_extent = ~(size_t)0;
using ::std::span;

struct nullopt_t {};
constexpr nullopt_t nullopt{};
template <typename T> struct optional {
    T held;
    bool is;
    __host__ __device__ optional() : is(false) {}
    __host__ __device__ optional(nullopt_t) : is(false) {}
    __host__ __device__ optional(const T &v) : held(v), is(true) {}
    __host__ __device__ optional &operator=(const T &v) { held = v; is = true; return *this; }
    __host__ __device__ bool has_value() const { return is; }
    __host__ __device__ explicit operator bool() const { return is; }
    __host__ __device__ T &value() { if (!is) __trap(); return held; }
    __host__ __device__ T &operator*() { return held; }
    __host__ __device__ T *operator->() { return &held; }
    template <typename U> __host__ __device__ T value_or(U other) const { return is ? held : (T)other; }
    __host__ __device__ void reset() { is = false; }
};
template <typename T> __host__ __device__ int popcount(T v) { return sizeof(T) == 8 ? __popcll((unsigned long long)v) : __popc((unsigned)v); }
template <typename T> __host__ __device__ int countl_zero(T v) {
    return sizeof(T) == 8 ? __clzll((long long)v) : __clz((int)v) - (32 - 8 * (int)sizeof(T));
}
template <typename T> __host__ __device__ int countr_zero(T v) {
    return v == 0 ? 8 * (int)sizeof(T) : (sizeof(T) == 8 ? __ffsll((long long)v) : __ffs((int)v)) - 1;
}
template <typename T> __host__ __device__ int bit_width(T v) { return 8 * (int)sizeof(T) - countl_zero(v); }
template <typename T> __host__ __device__ bool has_single_bit(T v) { return popcount(v) == 1; }
template <typename T> __host__ __device__ T bit_floor(T v) { return v == 0 ? 0 : (T)1 << (bit_width(v) - 1); }
template <typename T> __host__ __device__ T bit_ceil(T v) { return v <= 1 ? 1 : (T)1 << bit_width((T)(v - 1)); }
template <typename T> __host__ __device__ T rotl(T v, int n) {
    int bits = 8 * sizeof(T), by = (n % bits + bits) % bits;
    return by == 0 ? v : (T)(v << by | v >> (bits - by));
}
template <typename T> __host__ __device__ T rotr(T v, int n) { return rotl(v, -n); }
template <typename T> __host__ __device__ T gcd(T a, T b) {
    while (b != 0) {
        T r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}
template <typename T> __host__ __device__ T lcm(T a, T b) { return a == 0 || b == 0 ? 0 : a / gcd(a, b) * b; }

template <typename I, typename T> __host__ __device__ T accumulate(I first, I last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}
template <typename I, typename T, typename F> __host__ __device__ T accumulate(I first, I last, T sum, F f) {
    for (; first != last; ++first) sum = f(sum, *first);
    return sum;
}
template <typename I, typename T> __host__ __device__ T reduce(I first, I last, T sum) { return accumulate(first, last, sum); }
template <typename I, typename J, typename T> __host__ __device__ T inner_product(I first, I last, J other, T sum) {
    for (; first != last; ++first, ++other) sum = sum + *first * *other;
    return sum;
}
template <typename I, typename T> __host__ __device__ void iota(I first, I last, T value) {
    for (; first != last; ++first, ++value) *first = value;
}
template <typename I, typename T> __host__ __device__ void fill(I first, I last, const T &value) {
    for (; first != last; ++first) *first = value;
}
template <typename I, typename T> __host__ __device__ I fill_n(I first, size_t n, const T &value) {
    for (size_t i = 0; i < n; i++, ++first) *first = value;
    return first;
}
template <typename I, typename O> __host__ __device__ O copy(I first, I last, O to) {
    for (; first != last; ++first, ++to) *to = *first;
    return to;
}
template <typename I, typename O, typename F> __host__ __device__ O transform(I first, I last, O to, F f) {
    for (; first != last; ++first, ++to) *to = f(*first);
    return to;
}
template <typename I, typename F> __host__ __device__ F for_each(I first, I last, F f) {
    for (; first != last; ++first) f(*first);
    return f;
}
template <typename I, typename T> __host__ __device__ I find(I first, I last, const T &value) {
    while (first != last && !(*first == value)) ++first;
    return first;
}
template <typename I, typename F> __host__ __device__ I find_if(I first, I last, F f) {
    while (first != last && !f(*first)) ++first;
    return first;
}
template <typename I, typename F> __host__ __device__ bool any_of(I first, I last, F f) { return find_if(first, last, f) != last; }
template <typename I, typename F> __host__ __device__ bool none_of(I first, I last, F f) { return find_if(first, last, f) == last; }
template <typename I, typename F> __host__ __device__ bool all_of(I first, I last, F f) {
    while (first != last && f(*first)) ++first;
    return first == last;
}
template <typename I, typename T> __host__ __device__ long long count(I first, I last, const T &value) {
    long long n = 0;
    for (; first != last; ++first) n += *first == value;
    return n;
}
template <typename I, typename F> __host__ __device__ long long count_if(I first, I last, F f) {
    long long n = 0;
    for (; first != last; ++first) n += f(*first) ? 1 : 0;
    return n;
}
template <typename I> __host__ __device__ I max_element(I first, I last) {
    I best = first;
    for (; first != last; ++first)
        if (*best < *first) best = first;
    return best;
}
template <typename I> __host__ __device__ I min_element(I first, I last) {
    I best = first;
    for (; first != last; ++first)
        if (*first < *best) best = first;
    return best;
}
template <typename I, typename T> __host__ __device__ I lower_bound(I first, I last, const T &value) {
    long long n = last - first;
    while (n > 0) {
        long long half = n / 2;
        if (first[half] < value) {
            first = first + (half + 1);
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}
template <typename I, typename T> __host__ __device__ I upper_bound(I first, I last, const T &value) {
    long long n = last - first;
    while (n > 0) {
        long long half = n / 2;
        if (!(value < first[half])) {
            first = first + (half + 1);
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}
template <typename I, typename T> __host__ __device__ bool binary_search(I first, I last, const T &value) {
    I at = lower_bound(first, last, value);
    return at != last && !(value < *at);
}
template <typename I, typename F> __host__ __device__ void sort(I first, I last, F less) {
    long long n = last - first;
    for (long long i = 1; i < n; i++) {
        auto value = first[i];
        long long j = i;
        for (; j > 0 && less(value, first[j - 1]); j--) first[j] = first[j - 1];
        first[j] = value;
    }
}
template <typename I> __host__ __device__ void sort(I first, I last) { sort(first, last, less<>()); }
template <typename I> __host__ __device__ void reverse(I first, I last) {
    long long n = last - first;
    for (long long i = 0; i < n / 2; i++) {
        auto held = first[i];
        first[i] = first[n - 1 - i];
        first[n - 1 - i] = held;
    }
}
} // namespace std

template <typename T = void> struct maximum {
    template <typename A, typename B> __host__ __device__ A operator()(const A &a, const B &b) const { return a < b ? b : a; }
};
template <typename T = void> struct minimum {
    template <typename A, typename B> __host__ __device__ A operator()(const A &a, const B &b) const { return b < a ? b : a; }
};
template <typename A, typename B> __host__ __device__ A ceil_div(A a, B b) { return (a + (A)b - 1) / (A)b; }
template <typename A, typename B> __host__ __device__ A round_up(A a, B b) { return ceil_div(a, b) * (A)b; }
template <typename A, typename B> __host__ __device__ A round_down(A a, B b) { return a / (A)b * (A)b; }
} // namespace cuda
