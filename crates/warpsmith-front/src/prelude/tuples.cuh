// Tuples of values and of references: the first part, and a tuple of the others.

namespace std {
template <typename... T> struct tuple;
template <> struct tuple<> {};
template <typename A> struct tuple<A> {
    A first;
    __host__ __device__ tuple() {}
    __host__ __device__ tuple(A a) : first(a) {}
    template <typename B> __host__ __device__ tuple(const tuple<B> &o) : first(o.first) {}
    __host__ __device__ tuple &operator=(const tuple &o) { first = o.first; return *this; }
    template <typename B> __host__ __device__ tuple &operator=(const tuple<B> &o) { first = o.first; return *this; }
};
template <typename A, typename B, typename... R> struct tuple<A, B, R...> {
    A first;
    tuple<B, R...> others;
    __host__ __device__ tuple() {}
    __host__ __device__ tuple(A a, B b, R... r) : first(a), others(b, r...) {}
    template <typename C, typename D, typename... S>
    __host__ __device__ tuple(const tuple<C, D, S...> &o) : first(o.first), others(o.others) {}
    __host__ __device__ tuple &operator=(const tuple &o) {
        first = o.first;
        others = o.others;
        return *this;
    }
    template <typename C, typename D, typename... S> __host__ __device__ tuple &operator=(const tuple<C, D, S...> &o) {
        first = o.first;
        others = o.others;
        return *this;
    }
    template <typename C, typename D> __host__ __device__ tuple &operator=(const pair<C, D> &o) {
        first = o.first;
        others.first = o.second;
        return *this;
    }
};

template <int I, typename T> struct PartOfTuple;
template <typename A, typename... R> struct PartOfTuple<0, tuple<A, R...>> {
    typedef A type;
    __host__ __device__ static A &of(tuple<A, R...> &t) { return t.first; }
};
template <int I, typename A, typename... R> struct PartOfTuple<I, tuple<A, R...>> {
    typedef typename PartOfTuple<I - 1, tuple<R...>>::type type;
    __host__ __device__ static type &of(tuple<A, R...> &t) { return PartOfTuple<I - 1, tuple<R...>>::of(t.others); }
};
template <int I, typename... T> __host__ __device__ typename PartOfTuple<I, tuple<T...>>::type &get(tuple<T...> &t) {
    return PartOfTuple<I, tuple<T...>>::of(t);
}
template <int I, typename... T>
__host__ __device__ const typename PartOfTuple<I, tuple<T...>>::type &get(const tuple<T...> &t) {
    return PartOfTuple<I, tuple<T...>>::of((tuple<T...> &)t);
}
template <int I, typename T> struct tuple_element { typedef typename PartOfTuple<I, T>::type type; };
template <int I, typename T> using tuple_element_t = typename PartOfTuple<I, T>::type;
template <typename T> struct tuple_size;
template <typename... T> struct tuple_size<tuple<T...>> { static constexpr size_t value = sizeof...(T); };

template <typename... T> __host__ __device__ tuple<T...> make_tuple(T... values) { return tuple<T...>(values...); }
template <typename... T> __host__ __device__ tuple<T &...> tie(T &...values) { return tuple<T &...>(values...); }
template <typename A, typename B> __host__ __device__ bool operator==(const tuple<A> &a, const tuple<B> &b) {
    return a.first == b.first;
}
template <typename A, typename B, typename... R, typename C, typename D, typename... S>
__host__ __device__ bool operator==(const tuple<A, B, R...> &a, const tuple<C, D, S...> &b) {
    return a.first == b.first && a.others == b.others;
}
template <typename A, typename B> __host__ __device__ bool operator<(const tuple<A> &a, const tuple<B> &b) {
    return a.first < b.first;
}
template <typename A, typename B, typename... R, typename C, typename D, typename... S>
__host__ __device__ bool operator<(const tuple<A, B, R...> &a, const tuple<C, D, S...> &b) {
    return a.first < b.first || (!(b.first < a.first) && a.others < b.others);
}

// What an element of a sequence is: of a tuple of references, the values.
template <typename T> struct ValueOf { typedef T type; };
template <typename T> struct ValueOf<T &> { typedef T type; };
template <typename T> __host__ __device__ T valueOf(const T &x) { return x; }
template <typename... T> __host__ __device__ tuple<typename ValueOf<T>::type...> valueOf(const tuple<T...> &t) {
    tuple<typename ValueOf<T>::type...> values;
    values = t;
    return values;
}
} // namespace std
