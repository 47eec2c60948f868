// Vectors and algorithms of thrust: data of the device come to the host and go back.

namespace thrust {
using std::complex;
using std::conj;
using std::norm;
using std::abs;
using std::arg;
using std::polar;
using std::exp;
using std::tie;

// Values that several parts make, as in kernels.
template <typename A, typename B> using pair = ::std::pair<A, B>;
template <typename... T> using tuple = ::std::tuple<T...>;
template <typename A, typename B> __host__ __device__ ::std::pair<A, B> make_pair(A a, B b) { return ::std::pair<A, B>(a, b); }
template <typename A, typename R> struct unary_function {
    typedef A argument_type;
    typedef R result_type;
};
template <typename A, typename B, typename R> struct binary_function {
    typedef A first_argument_type;
    typedef B second_argument_type;
    typedef R result_type;
};
template <typename... T> __host__ __device__ ::std::tuple<T...> make_tuple(T... values) { return ::std::tuple<T...>(values...); }
template <int I, typename... T>
__host__ __device__ typename ::std::PartOfTuple<I, ::std::tuple<T...>>::type &get(::std::tuple<T...> &t) {
    return ::std::PartOfTuple<I, ::std::tuple<T...>>::of(t);
}
template <int I, typename... T>
__host__ __device__ const typename ::std::PartOfTuple<I, ::std::tuple<T...>>::type &get(const ::std::tuple<T...> &t) {
    return ::std::PartOfTuple<I, ::std::tuple<T...>>::of((::std::tuple<T...> &)t);
}
template <typename T> __host__ __device__ T min(const T &a, const T &b) { return b < a ? b : a; }
template <typename T> __host__ __device__ T max(const T &a, const T &b) { return a < b ? b : a; }
template <typename T, typename C> __host__ __device__ T min(const T &a, const T &b, C less) { return less(b, a) ? b : a; }
template <typename T, typename C> __host__ __device__ T max(const T &a, const T &b, C less) { return less(a, b) ? b : a; }
template <typename T> __host__ __device__ void swap(T &a, T &b) {
    T held = a;
    a = b;
    b = held;
}

template <typename T> struct device_ptr {
    typedef T value_type;
    T *p;
    __host__ __device__ device_ptr() : p(0) {}
    __host__ __device__ device_ptr(T *q) : p(q) {}
    __host__ __device__ T *get() const { return p; }
    __host__ __device__ T &operator*() const { return *p; }
    __host__ __device__ T *operator->() const { return p; }
    __host__ __device__ T &operator[](long long i) const { return p[i]; }
    __host__ __device__ device_ptr operator+(long long n) const { return device_ptr(p + n); }
    __host__ __device__ device_ptr operator-(long long n) const { return device_ptr(p - n); }
    __host__ __device__ long long operator-(const device_ptr &o) const { return p - o.p; }
    __host__ __device__ device_ptr &operator++() { p = p + 1; return *this; }
    __host__ __device__ device_ptr &operator--() { p = p - 1; return *this; }
    __host__ __device__ device_ptr operator++(int) { p = p + 1; return device_ptr(p - 1); }
    __host__ __device__ device_ptr &operator+=(long long n) { p = p + n; return *this; }
    __host__ __device__ device_ptr &operator-=(long long n) { p = p - n; return *this; }
    template <typename U> __host__ __device__ device_ptr(const device_ptr<U> &o) : p(o.p) {}
    __host__ __device__ bool operator==(const device_ptr &o) const { return p == o.p; }
    __host__ __device__ bool operator!=(const device_ptr &o) const { return p != o.p; }
    __host__ __device__ bool operator<(const device_ptr &o) const { return p < o.p; }
};
template <typename T> __host__ __device__ device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <typename T> __host__ __device__ T *raw_pointer_cast(T *p) { return p; }
template <typename T> __host__ __device__ T *raw_pointer_cast(device_ptr<T> p) { return p.p; }
template <typename T> device_ptr<T> device_malloc(size_t n) {
    T *p;
    cudaMalloc((void **)&p, n * sizeof(T));
    return device_ptr<T>(p);
}
template <typename T> void device_free(device_ptr<T> p) { cudaFree(p.p); }

template <typename T> T *onHost(const T *first, size_t n) {
    T *held = (T *)malloc(n * sizeof(T));
    cudaMemcpy(held, first, n * sizeof(T), cudaMemcpyDefault);
    return held;
}

template <typename T> class device_vector;

template <typename T> class host_vector {
    T *data_;
    size_t size_;

public:
    typedef T *iterator;
    host_vector() : data_(0), size_(0) {}
    host_vector(size_t n) : size_(n) {
        data_ = (T *)malloc(n * sizeof(T));
        for (size_t i = 0; i < n; i++) data_[i] = T();
    }
    host_vector(size_t n, const T &value) : size_(n) {
        data_ = (T *)malloc(n * sizeof(T));
        for (size_t i = 0; i < n; i++) data_[i] = value;
    }
    host_vector(std::initializer_list<T> list) : size_(list.size()) {
        data_ = (T *)malloc(size_ * sizeof(T));
        for (size_t i = 0; i < size_; i++) data_[i] = list.begin()[i];
    }
    host_vector(const device_vector<T> &from) : data_(onHost(from.data_, from.size())), size_(from.size()) {}
    host_vector(const T *first, const T *last) : size_(last - first) {
        data_ = (T *)malloc(size_ * sizeof(T));
        for (size_t i = 0; i < size_; i++) data_[i] = first[i];
    }
    host_vector &operator=(const device_vector<T> &from) {
        data_ = onHost(from.data_, from.size());
        size_ = from.size();
        return *this;
    }
    T &operator[](size_t i) { return data_[i]; }
    const T &operator[](size_t i) const { return data_[i]; }
    T *data() { return data_; }
    const T *data() const { return data_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void resize(size_t n) {
        T *fresh = (T *)malloc(n * sizeof(T));
        for (size_t i = 0; i < n; i++) fresh[i] = i < size_ ? data_[i] : T();
        data_ = fresh;
        size_ = n;
    }
    void push_back(const T &value) { resize(size_ + 1); data_[size_ - 1] = value; }
    T &front() { return data_[0]; }
    T &back() { return data_[size_ - 1]; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
};

template <typename T> class device_vector {
public:
    T *data_;
    size_t size_;
    typedef T value_type;
    typedef device_ptr<T> iterator;
    typedef device_ptr<T> pointer;
    device_vector() : data_(0), size_(0) {}
    device_vector(size_t n) : size_(n) {
        cudaMalloc((void **)&data_, n * sizeof(T));
        cudaMemset(data_, 0, n * sizeof(T));
    }
    device_vector(size_t n, const T &value) : size_(n) {
        T *held = (T *)malloc(n * sizeof(T));
        for (size_t i = 0; i < n; i++) held[i] = value;
        take(held);
    }
    device_vector(std::initializer_list<T> list) : size_(list.size()) { take(list.begin()); }
    device_vector(const host_vector<T> &from) : size_(from.size()) { take(from.begin()); }
    device_vector(const std::vector<T> &from) : size_(from.size()) { take(from.data()); }
    device_vector(const T *first, const T *last) : size_(last - first) { take(first); }
    device_vector(device_ptr<T> first, device_ptr<T> last) : size_(last - first) { take(first.p); }
    device_vector(const device_vector &from) : size_(from.size_) { take(from.data_); }
    void take(const T *from) {
        cudaMalloc((void **)&data_, size_ * sizeof(T));
        cudaMemcpy(data_, from, size_ * sizeof(T), cudaMemcpyDefault);
    }
    device_vector &operator=(const host_vector<T> &from) { size_ = from.size(); take(from.begin()); return *this; }
    device_vector &operator=(const std::vector<T> &from) { size_ = from.size(); take(from.data()); return *this; }
    device_vector &operator=(const device_vector &from) { size_ = from.size_; take(from.data_); return *this; }
    void resize(size_t n, T value = T()) {
        T *held = (T *)malloc(n * sizeof(T));
        size_t kept = size_ < n ? size_ : n;
        cudaMemcpy(held, data_, kept * sizeof(T), cudaMemcpyDefault);
        for (size_t i = kept; i < n; i++) held[i] = value;
        size_ = n;
        take(held);
    }
    void assign(size_t n, T value) {
        size_ = 0;
        resize(n, value);
    }
    void reserve(size_t n) {}
    void clear() { size_ = 0; }
    void shrink_to_fit() {}
    device_ptr<T> erase(device_ptr<T> first, device_ptr<T> last) {
        size_t at = first.p - data_, gone = last.p - first.p;
        for (size_t i = at; i + gone < size_; i++) data_[i] = data_[i + gone];
        size_ = size_ - gone;
        return first;
    }
    device_ptr<T> erase(device_ptr<T> at) { return erase(at, at + 1); }
    void pop_back() { size_ = size_ - 1; }
    size_t capacity() const { return size_; }
    void push_back(const T &value) { resize(size_ + 1, value); }
    T &operator[](size_t i) { return data_[i]; }
    T &front() { return data_[0]; }
    T &back() { return data_[size_ - 1]; }
    device_ptr<T> data() const { return device_ptr<T>(data_); }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    device_ptr<T> begin() const { return device_ptr<T>(data_); }
    device_ptr<T> end() const { return device_ptr<T>(data_ + size_); }
    device_ptr<T> cbegin() const { return begin(); }
    device_ptr<T> cend() const { return end(); }
    void swap(device_vector &other) {
        T *p = data_;
        size_t n = size_;
        data_ = other.data_;
        size_ = other.size_;
        other.data_ = p;
        other.size_ = n;
    }
};

// Where an algorithm runs makes no difference here: on the device, one thread does it.
struct policy {
    template <typename A> __host__ __device__ policy operator()(const A &a) const { return *this; }
    policy on(cudaStream_t s) const { return *this; }
};
constexpr policy device{}, host{}, seq{};
namespace cuda { constexpr policy par{}, par_nosync{}; }
namespace system { namespace cuda { constexpr policy par{}; } }

#define FUNCTION_OF_TWO(NAME, RESULT, VALUE) \
    template <typename T = void> struct NAME { \
        template <typename A, typename B> __host__ __device__ RESULT operator()(const A &a, const B &b) const { return VALUE; } \
    };
FUNCTION_OF_TWO(plus, A, a + b)
FUNCTION_OF_TWO(minus, A, a - b)
FUNCTION_OF_TWO(multiplies, A, a * b)
FUNCTION_OF_TWO(divides, A, a / b)
FUNCTION_OF_TWO(modulus, A, a % b)
FUNCTION_OF_TWO(maximum, A, a < b ? b : a)
FUNCTION_OF_TWO(minimum, A, b < a ? b : a)
FUNCTION_OF_TWO(bit_and, A, a & b)
FUNCTION_OF_TWO(bit_or, A, a | b)
FUNCTION_OF_TWO(bit_xor, A, a ^ b)
FUNCTION_OF_TWO(less, bool, a < b)
FUNCTION_OF_TWO(greater, bool, b < a)
FUNCTION_OF_TWO(less_equal, bool, !(b < a))
FUNCTION_OF_TWO(greater_equal, bool, !(a < b))
FUNCTION_OF_TWO(equal_to, bool, a == b)
FUNCTION_OF_TWO(not_equal_to, bool, a != b)
FUNCTION_OF_TWO(logical_and, bool, a && b)
FUNCTION_OF_TWO(logical_or, bool, a || b)
#define FUNCTION_OF_ONE(NAME, RESULT, VALUE) \
    template <typename T = void> struct NAME { \
        template <typename A> __host__ __device__ RESULT operator()(const A &a) const { return VALUE; } \
    };
FUNCTION_OF_ONE(negate, A, -a)
FUNCTION_OF_ONE(identity, A, a)
FUNCTION_OF_ONE(square, A, a * a)
FUNCTION_OF_ONE(logical_not, bool, !a)

} // namespace thrust
