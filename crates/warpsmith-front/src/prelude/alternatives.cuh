// Objects of one of several types, calls that wait for their arguments, least and greatest of a list.
namespace std {
template <typename U, typename... T> struct whichOf;
template <typename U, typename... R> struct whichOf<U, U, R...> { static constexpr size_t value = 0; };
template <typename U, typename A, typename... R> struct whichOf<U, A, R...> { static constexpr size_t value = 1 + whichOf<U, R...>::value; };
struct monostate {};
// All alternatives side by side, of which one counts.
template <typename... T> struct variant {
    tuple<T...> all;
    size_t at;
    variant() : at(0) {}
    variant(const variant &o) : all(o.all), at(o.at) {}
    template <typename U> variant(const U &value) : at(whichOf<U, T...>::value) { get<whichOf<U, T...>::value>(all) = value; }
    variant &operator=(const variant &o) {
        all = o.all;
        at = o.at;
        return *this;
    }
    template <typename U> variant &operator=(const U &value) {
        get<whichOf<U, T...>::value>(all) = value;
        at = whichOf<U, T...>::value;
        return *this;
    }
    size_t index() const { return at; }
    template <typename U, typename... A> U &emplace(A... values) {
        *this = U(values...);
        return get<whichOf<U, T...>::value>(all);
    }
};
template <typename U, typename... T> bool holds_alternative(const variant<T...> &v) { return v.at == whichOf<U, T...>::value; }
template <typename U, typename... T> U &get(variant<T...> &v) {
    if (v.at != whichOf<U, T...>::value) abort();
    return get<whichOf<U, T...>::value>(v.all);
}
template <typename U, typename... T> const U &get(const variant<T...> &v) {
    if (v.at != whichOf<U, T...>::value) abort();
    return get<whichOf<U, T...>::value>(v.all);
}
template <int I, typename... T> auto &get(variant<T...> &v) {
    if (v.at != I) abort();
    return get<I>(v.all);
}
template <int I, typename... T> const auto &get(const variant<T...> &v) {
    if (v.at != I) abort();
    return get<I>(v.all);
}
template <typename U, typename... T> U *get_if(variant<T...> *v) {
    return v && holds_alternative<U>(*v) ? &get<whichOf<U, T...>::value>(v->all) : nullptr;
}
template <typename U, typename... T> const U *get_if(const variant<T...> *v) {
    return v && holds_alternative<U>(*v) ? &get<whichOf<U, T...>::value>(v->all) : nullptr;
}
template <int I, typename F, typename... T> auto visitFrom(F &f, variant<T...> &v) {
    if constexpr (I + 1 < sizeof...(T)) {
        if (v.at != I) return visitFrom<I + 1>(f, v);
    }
    return f(get<I>(v.all));
}
template <int I, typename F, typename... T> auto visitFrom(F &f, const variant<T...> &v) {
    if constexpr (I + 1 < sizeof...(T)) {
        if (v.at != I) return visitFrom<I + 1>(f, v);
    }
    return f(get<I>(v.all));
}
template <typename F, typename... T> auto visit(F f, variant<T...> &v) { return visitFrom<0>(f, v); }
template <typename F, typename... T> auto visit(F f, const variant<T...> &v) { return visitFrom<0>(f, v); }

// Arguments of a call that are given later.
template <int N> struct placeholder {};
namespace placeholders {
static placeholder<1> _1;
static placeholder<2> _2;
static placeholder<3> _3;
static placeholder<4> _4;
} // namespace placeholders
template <int N, typename... G> auto givenFor(placeholder<N> &p, tuple<G...> &given) { return get<N - 1>(given); }
template <typename A, typename... G> A &givenFor(A &bound, tuple<G...> &given) { return bound; }
template <typename F, typename... A> struct boundCall {
    F f;
    tuple<A...> bound;
    template <int... I, typename... G> auto called(integer_sequence<int, I...> places, tuple<G...> given) {
        return f(givenFor(get<I>(bound), given)...);
    }
    template <typename... G> auto operator()(G... values) {
        return called(make_integer_sequence<int, sizeof...(A)>(), tuple<G...>(values...));
    }
};
template <typename F, typename... A> boundCall<F, A...> bind(F f, A... a) {
    boundCall<F, A...> b = {f, tuple<A...>(a...)};
    return b;
}

template <typename T, typename C> T max(const T &a, const T &b, C less) { return less(a, b) ? b : a; }
template <typename T, typename C> T min(const T &a, const T &b, C less) { return less(b, a) ? b : a; }
template <typename T> T max(initializer_list<T> list) { return *::thrust::max_element(list.begin(), list.end()); }
template <typename T> T min(initializer_list<T> list) { return *::thrust::min_element(list.begin(), list.end()); }
template <typename T, typename C> T max(initializer_list<T> list, C less) {
    return *::thrust::max_element(list.begin(), list.end(), less);
}
template <typename T, typename C> T min(initializer_list<T> list, C less) {
    return *::thrust::min_element(list.begin(), list.end(), less);
}
template <typename T> pair<T, T> minmax(const T &a, const T &b) { return b < a ? pair<T, T>(b, a) : pair<T, T>(a, b); }
template <typename T, typename C> pair<T, T> minmax(const T &a, const T &b, C less) {
    return less(b, a) ? pair<T, T>(b, a) : pair<T, T>(a, b);
}
// Of equal ones the first is the least, the last the greatest.
template <typename T, typename C> pair<T, T> minmax(initializer_list<T> list, C less) {
    const T *least = list.begin(), *greatest = list.begin();
    for (const T *at = list.begin(); at != list.end(); ++at) {
        if (less(*at, *least)) least = at;
        if (!less(*at, *greatest)) greatest = at;
    }
    return pair<T, T>(*least, *greatest);
}
template <typename T> pair<T, T> minmax(initializer_list<T> list) { return minmax(list, less<>()); }
} // namespace std
