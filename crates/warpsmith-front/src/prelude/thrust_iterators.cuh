// Iterators of thrust that make their elements, or find them elsewhere.

namespace thrust {
template <typename T> struct counting_iterator {
    typedef T reference;
    typedef T value_type;
    T at;
    __host__ __device__ counting_iterator() : at(0) {}
    __host__ __device__ counting_iterator(T first) : at(first) {}
    __host__ __device__ T operator*() const { return at; }
    __host__ __device__ T operator[](long long i) const { return at + (T)i; }
    __host__ __device__ counting_iterator operator+(long long n) const { return counting_iterator(at + (T)n); }
    __host__ __device__ long long operator-(const counting_iterator &o) const { return (long long)(at - o.at); }
    __host__ __device__ counting_iterator &operator++() { at = at + 1; return *this; }
    __host__ __device__ bool operator!=(const counting_iterator &o) const { return at != o.at; }
};
template <typename T> __host__ __device__ counting_iterator<T> make_counting_iterator(T first) { return counting_iterator<T>(first); }
template <typename T> struct constant_iterator {
    typedef T reference;
    typedef T value_type;
    T value;
    long long at;
    __host__ __device__ constant_iterator(T v, long long i = 0) : value(v), at(i) {}
    __host__ __device__ T operator*() const { return value; }
    __host__ __device__ T operator[](long long i) const { return value; }
    __host__ __device__ constant_iterator operator+(long long n) const { return constant_iterator(value, at + n); }
    __host__ __device__ long long operator-(const constant_iterator &o) const { return at - o.at; }
    __host__ __device__ constant_iterator &operator++() { at++; return *this; }
    __host__ __device__ bool operator!=(const constant_iterator &o) const { return at != o.at; }
};
template <typename T> __host__ __device__ constant_iterator<T> make_constant_iterator(T v) { return constant_iterator<T>(v); }
template <typename F, typename I> struct transform_iterator {
    F f;
    I inner;
    __host__ __device__ transform_iterator(I i, F g) : f(g), inner(i) {}
    __host__ __device__ auto operator*() const { return f(*inner); }
    __host__ __device__ auto operator[](long long i) const { return f(inner[i]); }
    __host__ __device__ transform_iterator operator+(long long n) const { return transform_iterator(inner + n, f); }
    __host__ __device__ long long operator-(const transform_iterator &o) const { return inner - o.inner; }
    __host__ __device__ transform_iterator &operator++() { ++inner; return *this; }
    __host__ __device__ bool operator!=(const transform_iterator &o) const { return inner != o.inner; }
};
template <typename I, typename F> __host__ __device__ transform_iterator<F, I> make_transform_iterator(I i, F f) { return transform_iterator<F, I>(i, f); }
template <typename I> struct ElementOf { typedef typename I::reference type; };
template <typename T> struct ElementOf<T *> { typedef T &type; };
template <typename T> struct ElementOf<device_ptr<T>> { typedef T &type; };
template <typename F, typename I> struct ElementOf<transform_iterator<F, I>> {
    typedef decltype((*(F *)0)((*(I *)0)[0])) type;
};

// The elements of several sequences at one position, as a tuple of references.
template <typename T> struct zip_iterator;
template <typename... I> struct zip_iterator<::std::tuple<I...>> {
    typedef ::std::tuple<typename ElementOf<I>::type...> reference;
    typedef ::std::tuple<typename ::std::ValueOf<typename ElementOf<I>::type>::type...> value_type;
    ::std::tuple<I...> parts;
    long long at;
    __host__ __device__ zip_iterator(::std::tuple<I...> t, long long from = 0) : parts(t), at(from) {}
    template <size_t... K> __host__ __device__ reference pick(long long i, ::std::index_sequence<K...>) const {
        return reference(::std::get<K>(parts)[i]...);
    }
    __host__ __device__ reference operator[](long long i) const { return pick(at + i, ::std::make_index_sequence<sizeof...(I)>()); }
    __host__ __device__ reference operator*() const { return pick(at, ::std::make_index_sequence<sizeof...(I)>()); }
    __host__ __device__ zip_iterator operator+(long long n) const { return zip_iterator(parts, at + n); }
    __host__ __device__ zip_iterator operator-(long long n) const { return zip_iterator(parts, at - n); }
    __host__ __device__ zip_iterator &operator++() { at++; return *this; }
    __host__ __device__ zip_iterator &operator+=(long long n) { at += n; return *this; }
    __host__ __device__ long long operator-(const zip_iterator &o) const {
        return (::std::get<0>(parts) - ::std::get<0>(o.parts)) + at - o.at;
    }
    __host__ __device__ bool operator==(const zip_iterator &o) const { return *this - o == 0; }
    __host__ __device__ bool operator!=(const zip_iterator &o) const { return *this - o != 0; }
    __host__ __device__ const ::std::tuple<I...> &get_iterator_tuple() const { return parts; }
};
template <typename... I> __host__ __device__ zip_iterator<::std::tuple<I...>> make_zip_iterator(::std::tuple<I...> t) {
    return zip_iterator<::std::tuple<I...>>(t);
}
template <typename A, typename B, typename... I>
__host__ __device__ zip_iterator<::std::tuple<A, B, I...>> make_zip_iterator(A a, B b, I... more) {
    return zip_iterator<::std::tuple<A, B, I...>>(::std::tuple<A, B, I...>(a, b, more...));
}

// The elements that a sequence of numbers names.
template <typename E, typename N> struct permutation_iterator {
    typedef typename ElementOf<E>::type reference;
    E elements;
    N numbers;
    __host__ __device__ permutation_iterator(E e, N n) : elements(e), numbers(n) {}
    __host__ __device__ reference operator[](long long i) const { return elements[numbers[i]]; }
    __host__ __device__ reference operator*() const { return elements[numbers[0]]; }
    __host__ __device__ permutation_iterator operator+(long long n) const { return permutation_iterator(elements, numbers + n); }
    __host__ __device__ permutation_iterator &operator++() { numbers = numbers + 1; return *this; }
    __host__ __device__ long long operator-(const permutation_iterator &o) const { return numbers - o.numbers; }
    __host__ __device__ bool operator!=(const permutation_iterator &o) const { return numbers - o.numbers != 0; }
};
template <typename E, typename N> __host__ __device__ permutation_iterator<E, N> make_permutation_iterator(E e, N n) {
    return permutation_iterator<E, N>(e, n);
}

// From the end to the beginning.
template <typename I> struct reverse_iterator {
    typedef typename ElementOf<I>::type reference;
    I end;
    __host__ __device__ reverse_iterator(I i) : end(i) {}
    __host__ __device__ reference operator[](long long i) const { return end[-1 - i]; }
    __host__ __device__ reference operator*() const { return end[-1]; }
    __host__ __device__ reverse_iterator operator+(long long n) const { return reverse_iterator(end - n); }
    __host__ __device__ long long operator-(const reverse_iterator &o) const { return o.end - end; }
    __host__ __device__ bool operator!=(const reverse_iterator &o) const { return o.end - end != 0; }
};
template <typename I> __host__ __device__ reverse_iterator<I> make_reverse_iterator(I i) { return reverse_iterator<I>(i); }

// A sequence to which nothing is written.
struct Nothing {
    template <typename T> __host__ __device__ Nothing &operator=(const T &value) { return *this; }
};
struct discard_iterator {
    typedef Nothing reference;
    long long at;
    __host__ __device__ discard_iterator(long long i = 0) : at(i) {}
    __host__ __device__ Nothing operator[](long long i) const { return Nothing(); }
    __host__ __device__ Nothing operator*() const { return Nothing(); }
    __host__ __device__ discard_iterator operator+(long long n) const { return discard_iterator(at + n); }
    __host__ __device__ long long operator-(const discard_iterator &o) const { return at - o.at; }
};
inline discard_iterator make_discard_iterator() { return discard_iterator(); }
template <typename I> __host__ __device__ long long distance(I first, I last) { return last - first; }
template <typename T> void swap(device_vector<T> &a, device_vector<T> &b) { a.swap(b); }
} // namespace thrust
