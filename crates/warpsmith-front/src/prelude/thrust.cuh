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
    T *p;
    device_ptr() : p(0) {}
    device_ptr(T *q) : p(q) {}
    T *get() const { return p; }
    device_ptr operator+(size_t n) const { return device_ptr(p + n); }
};
template <typename T> device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <typename T> T *raw_pointer_cast(T *p) { return p; }
template <typename T> T *raw_pointer_cast(device_ptr<T> p) { return p.p; }

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
    host_vector(const device_vector<T> &from) : data_(onHost(from.begin(), from.size())), size_(from.size()) {}
    host_vector &operator=(const device_vector<T> &from) {
        data_ = onHost(from.begin(), from.size());
        size_ = from.size();
        return *this;
    }
    T &operator[](size_t i) { return data_[i]; }
    const T &operator[](size_t i) const { return data_[i]; }
    T *data() { return data_; }
    const T *data() const { return data_; }
    size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
};

template <typename T> class device_vector {
    T *data_;
    size_t size_;

public:
    typedef T *iterator;
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
    device_vector(const host_vector<T> &from) : size_(from.size()) { take(from.begin()); }
    device_vector(const std::vector<T> &from) : size_(from.size()) { take(from.data()); }
    void take(const T *from) {
        cudaMalloc((void **)&data_, size_ * sizeof(T));
        cudaMemcpy(data_, from, size_ * sizeof(T), cudaMemcpyDefault);
    }
    device_vector &operator=(const host_vector<T> &from) {
        size_ = from.size();
        take(from.begin());
        return *this;
    }
    void resize(size_t n) {
        size_ = n;
        cudaMalloc((void **)&data_, n * sizeof(T));
        cudaMemset(data_, 0, n * sizeof(T));
    }
    T &operator[](size_t i) { return data_[i]; }
    device_ptr<T> data() { return device_ptr<T>(data_); }
    size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
};

template <typename T> T *copy(const T *first, const T *last, T *to) {
    cudaMemcpy(to, first, (last - first) * sizeof(T), cudaMemcpyDefault);
    return to + (last - first);
}
template <typename T, typename V> void fill(T *first, T *last, V value) {
    size_t n = last - first;
    T *held = (T *)malloc(n * sizeof(T));
    for (size_t i = 0; i < n; i++) held[i] = value;
    cudaMemcpy(first, held, n * sizeof(T), cudaMemcpyDefault);
}
template <typename T> void sequence(T *first, T *last) {
    size_t n = last - first;
    T *held = (T *)malloc(n * sizeof(T));
    for (size_t i = 0; i < n; i++) held[i] = (T)i;
    cudaMemcpy(first, held, n * sizeof(T), cudaMemcpyDefault);
}
template <typename T> void sort(T *first, T *last) {
    size_t n = last - first;
    T *held = onHost(first, n);
    std::sort(held, held + n);
    cudaMemcpy(first, held, n * sizeof(T), cudaMemcpyDefault);
}
template <typename T> void sort(device_ptr<T> first, device_ptr<T> last) { sort(first.p, last.p); }
template <typename T> T reduce(const T *first, const T *last) {
    size_t n = last - first;
    T *held = onHost(first, n);
    T sum = T();
    for (size_t i = 0; i < n; i++) sum = sum + held[i];
    return sum;
}
template <typename T> T reduce(device_ptr<T> first, device_ptr<T> last) { return reduce(first.p, last.p); }
template <typename T> void exclusive_scan(const T *first, const T *last, T *to) {
    size_t n = last - first;
    T *held = onHost(first, n), sum = T();
    for (size_t i = 0; i < n; i++) {
        T own = held[i];
        held[i] = sum;
        sum = sum + own;
    }
    cudaMemcpy(to, held, n * sizeof(T), cudaMemcpyDefault);
}
template <typename T> void inclusive_scan(const T *first, const T *last, T *to) {
    size_t n = last - first;
    T *held = onHost(first, n), sum = T();
    for (size_t i = 0; i < n; i++) {
        sum = sum + held[i];
        held[i] = sum;
    }
    cudaMemcpy(to, held, n * sizeof(T), cudaMemcpyDefault);
}
} // namespace thrust
