// Vectors and algorithms of thrust: data of the device come to the host and go back.

namespace thrust {
using std::complex;
using std::conj;
using std::norm;
using std::abs;
using std::arg;
using std::polar;
using std::exp;

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
    __host__ __device__ device_ptr &operator+=(long long n) { p = p + n; return *this; }
    __host__ __device__ bool operator==(const device_ptr &o) const { return p == o.p; }
    __host__ __device__ bool operator!=(const device_ptr &o) const { return p != o.p; }
    __host__ __device__ bool operator<(const device_ptr &o) const { return p < o.p; }
};
template <typename T> device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <typename T> T *raw_pointer_cast(T *p) { return p; }
template <typename T> T *raw_pointer_cast(device_ptr<T> p) { return p.p; }
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

// Where an algorithm runs makes no difference here.
struct policy {
    template <typename A> policy operator()(const A &a) const { return *this; }
    policy on(cudaStream_t s) const { return *this; }
};
static policy device, host, seq;
namespace cuda { static policy par, par_nosync; }
namespace system { namespace cuda { static policy par; } }

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

template <typename T> struct counting_iterator {
    T at;
    counting_iterator(T first) : at(first) {}
    T operator*() const { return at; }
    T operator[](long long i) const { return at + (T)i; }
    counting_iterator operator+(long long n) const { return counting_iterator(at + (T)n); }
    long long operator-(const counting_iterator &o) const { return (long long)(at - o.at); }
    counting_iterator &operator++() { at = at + 1; return *this; }
    bool operator!=(const counting_iterator &o) const { return at != o.at; }
};
template <typename T> counting_iterator<T> make_counting_iterator(T first) { return counting_iterator<T>(first); }
template <typename T> struct constant_iterator {
    T value;
    long long at;
    constant_iterator(T v, long long i = 0) : value(v), at(i) {}
    T operator*() const { return value; }
    T operator[](long long i) const { return value; }
    constant_iterator operator+(long long n) const { return constant_iterator(value, at + n); }
    long long operator-(const constant_iterator &o) const { return at - o.at; }
    constant_iterator &operator++() { at++; return *this; }
    bool operator!=(const constant_iterator &o) const { return at != o.at; }
};
template <typename T> constant_iterator<T> make_constant_iterator(T v) { return constant_iterator<T>(v); }
template <typename F, typename I> struct transform_iterator {
    F f;
    I inner;
    transform_iterator(I i, F g) : f(g), inner(i) {}
    auto operator*() const { return f(*inner); }
    auto operator[](long long i) const { return f(inner[i]); }
    transform_iterator operator+(long long n) const { return transform_iterator(inner + n, f); }
    long long operator-(const transform_iterator &o) const { return inner - o.inner; }
    transform_iterator &operator++() { ++inner; return *this; }
    bool operator!=(const transform_iterator &o) const { return inner != o.inner; }
};
template <typename I, typename F> transform_iterator<F, I> make_transform_iterator(I i, F f) { return transform_iterator<F, I>(i, f); }
template <typename I> long long distance(I first, I last) { return last - first; }
template <typename T> void swap(device_vector<T> &a, device_vector<T> &b) { a.swap(b); }

template <typename I, typename O> O copy(I first, I last, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = first[i];
    return to + n;
}
template <typename I, typename O> O copy_n(I first, size_t n, O to) { return copy(first, first + n, to); }
template <typename I, typename O, typename P> O copy_if(I first, I last, O to, P keep) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (keep(first[i])) { to[m] = first[i]; m++; }
    return to + m;
}
template <typename I, typename S, typename O, typename P> O copy_if(I first, I last, S stencil, O to, P keep) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (keep(stencil[i])) { to[m] = first[i]; m++; }
    return to + m;
}
template <typename I, typename V> void fill(I first, I last, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = value;
}
template <typename I, typename V> I fill_n(I first, size_t n, V value) {
    fill(first, first + n, value);
    return first + n;
}
template <typename I, typename T, typename U> void sequence(I first, I last, T from, U step) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = from + i * step;
}
template <typename I, typename T> void sequence(I first, I last, T from) { sequence(first, last, from, 1); }
template <typename I> void sequence(I first, I last) { sequence(first, last, 0, 1); }
template <typename I, typename F> void generate(I first, I last, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = f();
}
template <typename I, typename F> void tabulate(I first, I last, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = f(i);
}
template <typename I, typename F> I for_each(I first, I last, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) f(first[i]);
    return last;
}
template <typename I, typename F> I for_each_n(I first, size_t n, F f) { return for_each(first, first + n, f); }
template <typename I, typename O, typename F> O transform(I first, I last, O to, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = f(first[i]);
    return to + n;
}
template <typename I, typename J, typename O, typename F> O transform(I first, I last, J other, O to, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = f(first[i], other[i]);
    return to + n;
}
template <typename I, typename V> void replace(I first, I last, V old, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (first[i] == old) first[i] = value;
}
template <typename I, typename P, typename V> void replace_if(I first, I last, P p, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (p(first[i])) first[i] = value;
}
template <typename M, typename I, typename O> O gather(M first, M last, I from, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = from[first[i]];
    return to + n;
}
template <typename I, typename M, typename O> void scatter(I first, I last, M map, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[map[i]] = first[i];
}
template <typename I> void reverse(I first, I last) {
    long long n = last - first;
    for (long long i = 0; i < n / 2; i++) {
        auto held = first[i];
        first[i] = first[n - 1 - i];
        first[n - 1 - i] = held;
    }
}

template <typename I, typename T, typename F> T reduce(I first, I last, T sum, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = f(sum, first[i]);
    return sum;
}
template <typename I, typename T> T reduce(I first, I last, T sum) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = sum + first[i];
    return sum;
}
template <typename I> auto reduce(I first, I last) {
    auto sum = *first;
    long long n = last - first;
    for (long long i = 1; i < n; i++) sum = sum + first[i];
    return sum;
}
template <typename I, typename F, typename T, typename G> T transform_reduce(I first, I last, F f, T sum, G g) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = g(sum, f(first[i]));
    return sum;
}
template <typename I, typename J, typename T> T inner_product(I first, I last, J other, T sum) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = sum + first[i] * other[i];
    return sum;
}
template <typename I, typename J, typename T, typename F, typename G>
T inner_product(I first, I last, J other, T sum, F f, G g) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = f(sum, g(first[i], other[i]));
    return sum;
}
template <typename I, typename V> long long count(I first, I last, V value) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) m += first[i] == value ? 1 : 0;
    return m;
}
template <typename I, typename P> long long count_if(I first, I last, P p) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) m += p(first[i]) ? 1 : 0;
    return m;
}
template <typename I, typename P> I find_if(I first, I last, P p) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (p(first[i])) return first + i;
    return last;
}
template <typename I, typename V> I find(I first, I last, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (first[i] == value) return first + i;
    return last;
}
template <typename I, typename P> bool any_of(I first, I last, P p) { return find_if(first, last, p) != last; }
template <typename I, typename P> bool all_of(I first, I last, P p) { return count_if(first, last, p) == last - first; }
template <typename I, typename P> bool none_of(I first, I last, P p) { return count_if(first, last, p) == 0; }
template <typename I, typename J> bool equal(I first, I last, J other) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (!(first[i] == other[i])) return false;
    return true;
}
template <typename I, typename C> I max_element(I first, I last, C less) {
    long long n = last - first, at = 0;
    for (long long i = 1; i < n; i++)
        if (less(first[at], first[i])) at = i;
    return first + at;
}
template <typename I, typename C> I min_element(I first, I last, C less) {
    long long n = last - first, at = 0;
    for (long long i = 1; i < n; i++)
        if (less(first[i], first[at])) at = i;
    return first + at;
}
template <typename I> I max_element(I first, I last) { return max_element(first, last, less<>()); }
template <typename I> I min_element(I first, I last) { return min_element(first, last, less<>()); }
template <typename I> std::pair<I, I> minmax_element(I first, I last) {
    return std::pair<I, I>(min_element(first, last), max_element(first, last));
}

template <typename I, typename O, typename F> O inclusive_scan(I first, I last, O to, F f) {
    long long n = last - first;
    if (n == 0) return to;
    auto sum = *first;
    to[0] = sum;
    for (long long i = 1; i < n; i++) {
        sum = f(sum, first[i]);
        to[i] = sum;
    }
    return to + n;
}
template <typename I, typename O> O inclusive_scan(I first, I last, O to) { return inclusive_scan(first, last, to, plus<>()); }
template <typename I, typename O, typename T, typename F> O exclusive_scan(I first, I last, O to, T sum, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) {
        auto own = first[i];
        to[i] = sum;
        sum = f(sum, own);
    }
    return to + n;
}
template <typename I, typename O, typename T> O exclusive_scan(I first, I last, O to, T sum) {
    return exclusive_scan(first, last, to, sum, plus<>());
}
template <typename I, typename O> O exclusive_scan(I first, I last, O to) {
    if (last - first == 0) return to;
    auto zero = *first;
    zero = zero - zero;
    return exclusive_scan(first, last, to, zero, plus<>());
}
template <typename I, typename O, typename F, typename G> O transform_inclusive_scan(I first, I last, O to, F f, G g) {
    return inclusive_scan(transform_iterator<F, I>(first, f), transform_iterator<F, I>(last, f), to, g);
}
template <typename K, typename I, typename O> O inclusive_scan_by_key(K first, K last, I values, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) {
        if (i > 0 && first[i] == first[i - 1]) to[i] = to[i - 1] + values[i];
        else to[i] = values[i];
    }
    return to + n;
}
template <typename I, typename O> O adjacent_difference(I first, I last, O to) {
    long long n = last - first;
    for (long long i = n - 1; i > 0; i--) to[i] = first[i] - first[i - 1];
    if (n > 0) to[0] = first[0];
    return to + n;
}
template <typename K, typename V, typename L, typename W>
std::pair<L, W> reduce_by_key(K first, K last, V values, L keys, W sums) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) {
        auto key = first[i];
        auto sum = values[i];
        while (i + 1 < n && first[i + 1] == key) {
            i++;
            sum = sum + values[i];
        }
        keys[m] = key;
        sums[m] = sum;
        m++;
    }
    return std::pair<L, W>(keys + m, sums + m);
}
template <typename I> I unique(I first, I last) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (m == 0 || !(first[m - 1] == first[i])) { first[m] = first[i]; m++; }
    return first + m;
}
template <typename K, typename V> std::pair<K, V> unique_by_key(K first, K last, V values) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (m == 0 || !(first[m - 1] == first[i])) { first[m] = first[i]; values[m] = values[i]; m++; }
    return std::pair<K, V>(first + m, values + m);
}
template <typename I, typename P> I remove_if(I first, I last, P p) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (!p(first[i])) { first[m] = first[i]; m++; }
    return first + m;
}
template <typename I, typename V> I remove(I first, I last, V value) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (!(first[i] == value)) { first[m] = first[i]; m++; }
    return first + m;
}
template <typename I, typename C, typename V> I lower_bound(I first, I last, V value, C less) {
    long long low = 0, high = last - first;
    while (low < high) {
        long long mid = (low + high) / 2;
        if (less(first[mid], value)) low = mid + 1; else high = mid;
    }
    return first + low;
}
template <typename I, typename V> I lower_bound(I first, I last, V value) { return lower_bound(first, last, value, less<>()); }
template <typename I, typename V> I upper_bound(I first, I last, V value) { return lower_bound(first, last, value, less_equal<>()); }
template <typename I, typename J, typename O> O lower_bound(I first, I last, J from, J to, O out) {
    long long n = to - from;
    for (long long i = 0; i < n; i++) out[i] = lower_bound(first, last, from[i]) - first;
    return out + n;
}
template <typename I, typename J, typename O> O upper_bound(I first, I last, J from, J to, O out) {
    long long n = to - from;
    for (long long i = 0; i < n; i++) out[i] = upper_bound(first, last, from[i]) - first;
    return out + n;
}

// Sorted by merging: equal elements keep their order.
template <typename I, typename V, typename K, typename T, typename C>
void sortBoth(I keys, V values, long long n, K key, T value, C less) {
    K *held = (K *)malloc(n * sizeof(K));
    T *with = (T *)malloc(n * sizeof(T));
    for (long long width = 1; width < n; width *= 2) {
        for (long long from = 0; from < n; from += 2 * width) {
            long long mid = from + width < n ? from + width : n, end = mid + width < n ? mid + width : n;
            long long a = from, b = mid;
            for (long long k = from; k < end; k++) {
                bool right = a >= mid || (b < end && less(keys[b], keys[a]));
                long long at = right ? b : a;
                held[k] = keys[at];
                with[k] = values[at];
                if (right) b++; else a++;
            }
            for (long long k = from; k < end; k++) {
                keys[k] = held[k];
                values[k] = with[k];
            }
        }
    }
}
template <typename I, typename K, typename C> void sortKeys(I keys, long long n, K key, C less) {
    K *held = (K *)malloc(n * sizeof(K));
    for (long long width = 1; width < n; width *= 2) {
        for (long long from = 0; from < n; from += 2 * width) {
            long long mid = from + width < n ? from + width : n, end = mid + width < n ? mid + width : n;
            long long a = from, b = mid;
            for (long long k = from; k < end; k++) {
                bool right = a >= mid || (b < end && less(keys[b], keys[a]));
                held[k] = keys[right ? b : a];
                if (right) b++; else a++;
            }
            for (long long k = from; k < end; k++) keys[k] = held[k];
        }
    }
}
template <typename I, typename C> void sort(I first, I last, C less) {
    auto key = *first;
    sortKeys(first, last - first, key, less);
}
template <typename I> void sort(I first, I last) { sort(first, last, less<>()); }
template <typename I, typename C> void stable_sort(I first, I last, C less) { sort(first, last, less); }
template <typename I> void stable_sort(I first, I last) { sort(first, last, less<>()); }
template <typename I, typename V, typename C> void sort_by_key(I first, I last, V values, C less) {
    auto key = *first;
    auto value = *values;
    sortBoth(first, values, last - first, key, value, less);
}
template <typename I, typename V> void sort_by_key(I first, I last, V values) { sort_by_key(first, last, values, less<>()); }
template <typename I, typename V, typename C> void stable_sort_by_key(I first, I last, V values, C less) {
    sort_by_key(first, last, values, less);
}
template <typename I, typename V> void stable_sort_by_key(I first, I last, V values) { sort_by_key(first, last, values, less<>()); }
template <typename I> bool is_sorted(I first, I last) {
    long long n = last - first;
    for (long long i = 1; i < n; i++)
        if (first[i] < first[i - 1]) return false;
    return true;
}

#define WITH_POLICY(NAME) template <typename... A> auto NAME(policy p, A... a) { return NAME(a...); }
WITH_POLICY(copy)
WITH_POLICY(copy_n)
WITH_POLICY(copy_if)
WITH_POLICY(fill)
WITH_POLICY(fill_n)
WITH_POLICY(sequence)
WITH_POLICY(generate)
WITH_POLICY(tabulate)
WITH_POLICY(for_each)
WITH_POLICY(for_each_n)
WITH_POLICY(transform)
WITH_POLICY(replace)
WITH_POLICY(replace_if)
WITH_POLICY(gather)
WITH_POLICY(scatter)
WITH_POLICY(reverse)
WITH_POLICY(reduce)
WITH_POLICY(transform_reduce)
WITH_POLICY(inner_product)
WITH_POLICY(count)
WITH_POLICY(count_if)
WITH_POLICY(find)
WITH_POLICY(find_if)
WITH_POLICY(any_of)
WITH_POLICY(all_of)
WITH_POLICY(none_of)
WITH_POLICY(equal)
WITH_POLICY(max_element)
WITH_POLICY(min_element)
WITH_POLICY(minmax_element)
WITH_POLICY(inclusive_scan)
WITH_POLICY(exclusive_scan)
WITH_POLICY(transform_inclusive_scan)
WITH_POLICY(inclusive_scan_by_key)
WITH_POLICY(adjacent_difference)
WITH_POLICY(reduce_by_key)
WITH_POLICY(unique)
WITH_POLICY(unique_by_key)
WITH_POLICY(remove_if)
WITH_POLICY(remove)
WITH_POLICY(lower_bound)
WITH_POLICY(upper_bound)
WITH_POLICY(sort)
WITH_POLICY(stable_sort)
WITH_POLICY(sort_by_key)
WITH_POLICY(stable_sort_by_key)
WITH_POLICY(is_sorted)
} // namespace thrust
