namespace std {
// Whatever can be called with such arguments, by its type: what it holds is reached through a virtual function.
template <typename R, typename... A> struct calledBody {
    virtual R call(A... values) = 0;
};
template <typename F, typename R, typename... A> struct calledHolder : calledBody<R, A...> {
    F held;
    calledHolder(const F &f) : held(f) {}
    R call(A... values) override { return held(values...); }
};
template <typename S> class function;
template <typename R, typename... A> class function<R (*)(A...)> {
    calledBody<R, A...> *body_;

public:
    function() : body_(0) {}
    template <typename F> function(F f) : body_(new calledHolder<F, R, A...>(f)) {}
    R operator()(A... values) const { return body_->call(values...); }
    operator bool() const { return body_ != 0; }
};

// Constants that are types.
template <typename T, T V> struct integral_constant {
    static constexpr T value = V;
    typedef T value_type;
    typedef integral_constant<T, V> type;
    __host__ __device__ constexpr operator T() const { return V; }
    __host__ __device__ constexpr T operator()() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;

// Numbers in order as template arguments.
template <typename T, T... I> struct integer_sequence {
    __host__ __device__ static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> struct index_sequence {
    __host__ __device__ static constexpr size_t size() { return sizeof...(I); }
};
template <typename T, int N, int... I> struct integersUpTo {
    typedef typename integersUpTo<T, N - 1, N - 1, I...>::type type;
};
template <typename T, int... I> struct integersUpTo<T, 0, I...> {
    typedef integer_sequence<T, I...> type;
};
template <int N, int... I> struct indicesUpTo {
    typedef typename indicesUpTo<N - 1, N - 1, I...>::type type;
};
template <int... I> struct indicesUpTo<0, I...> {
    typedef index_sequence<I...> type;
};
template <typename T, int N> using make_integer_sequence = typename integersUpTo<T, N>::type;
template <int N> using make_index_sequence = typename indicesUpTo<N>::type;
template <typename... T> using index_sequence_for = typename indicesUpTo<sizeof...(T)>::type;
}  // namespace std

namespace std {
// A value, or none.
struct nullopt_t { int unused; };
static constexpr nullopt_t nullopt = {0};
template <typename T> class optional {
    bool has_;
    T value_;

public:
    optional() : has_(false), value_() {}
    optional(nullopt_t none) : has_(false), value_() {}
    optional(const T &v) : has_(true), value_(v) {}
    bool has_value() const { return has_; }
    operator bool() const { return has_; }
    T &operator*() { return value_; }
    const T &operator*() const { return value_; }
    T *operator->() { return &value_; }
    T &value() { return value_; }
    T value_or(T other) const { return has_ ? value_ : other; }
    void reset() { has_ = false; }
};
struct ios_base {
    typedef int openmode;
    typedef int seekdir;
    static constexpr int app = 1, ate = 2, binary = 4, in = 8, out = 16, trunc = 32, beg = 0, cur = 1, end = 2;
    static bool sync_with_stdio(bool with) { return with; }
};
typedef ios_base ios;
typedef long streamsize;
}  // namespace std

namespace cuda {
namespace std {
using ::std::integral_constant;
using ::std::bool_constant;
using ::std::true_type;
using ::std::false_type;
using ::std::integer_sequence;
using ::std::index_sequence;
using ::std::make_integer_sequence;
using ::std::make_index_sequence;
using ::std::index_sequence_for;
}  // namespace std
}  // namespace cuda

// Streams of launches from kernels.
static constexpr int cudaStreamTailLaunch = 3, cudaStreamFireAndForget = 4;


// What stands for a pointer to a data member, `T C::*`.
template <typename T, typename C> struct __0member { long long offset; };
// A type with stars or `const` that is the default of a template parameter.
template <typename T> using __0type = T;
