// Further containers and algorithms of the host: right, not fast.
namespace std {
template <typename K, typename V> struct map {
    vector<pair<K, V>> all;
    typedef pair<K, V> *iterator;
    map() {}
    map(initializer_list<pair<K, V>> list) {
        for (size_t i = 0; i < list.size(); i++)
            if (count(list.begin()[i].first) == 0) (*this)[list.begin()[i].first] = list.begin()[i].second;
    }
    iterator begin() { return all.begin(); }
    iterator end() { return all.end(); }
    size_t size() const { return all.size(); }
    bool empty() const { return all.empty(); }
    void clear() { all.clear(); }
    iterator find(const K &key) {
        for (size_t i = 0; i < all.size(); i++)
            if (all[i].first == key) return all.begin() + i;
        return all.end();
    }
    size_t count(const K &key) { return find(key) == end() ? 0 : 1; }
    V &operator[](const K &key) {
        iterator found = find(key);
        if (found != end()) return found->second;
        all.push_back(pair<K, V>(key, V()));
        size_t at = all.size() - 1;
        for (; at > 0 && key < all[at - 1].first; at--) {
            pair<K, V> held = all[at];
            all[at] = all[at - 1];
            all[at - 1] = held;
        }
        return all[at].second;
    }
    V &at(const K &key) { return (*this)[key]; }
};
template <typename K, typename V> struct unordered_map : map<K, V> {
    unordered_map() {}
    unordered_map(initializer_list<pair<K, V>> list) : map<K, V>(list) {}
};
template <typename K> struct set {
    vector<K> all;
    typedef K *iterator;
    set() {}
    set(initializer_list<K> list) {
        for (size_t i = 0; i < list.size(); i++) insert(list.begin()[i]);
    }
    iterator begin() { return all.begin(); }
    iterator end() { return all.end(); }
    size_t size() const { return all.size(); }
    bool empty() const { return all.empty(); }
    void clear() { all.clear(); }
    iterator find(const K &key) {
        for (size_t i = 0; i < all.size(); i++)
            if (all[i] == key) return all.begin() + i;
        return all.end();
    }
    size_t count(const K &key) { return find(key) == end() ? 0 : 1; }
    void insert(const K &key) {
        if (count(key) > 0) return;
        all.push_back(key);
        for (size_t at = all.size() - 1; at > 0 && key < all[at - 1]; at--) {
            all[at] = all[at - 1];
            all[at - 1] = key;
        }
    }
};
template <typename K> struct unordered_set : set<K> {
    unordered_set() {}
    unordered_set(initializer_list<K> list) : set<K>(list) {}
};
template <typename T> struct queue {
    vector<T> all;
    size_t first;
    queue() : first(0) {}
    void push(const T &v) { all.push_back(v); }
    void pop() { first++; }
    T &front() { return all[first]; }
    bool empty() const { return first == all.size(); }
    size_t size() const { return all.size() - first; }
};
template <typename T> struct stack {
    vector<T> all;
    void push(const T &v) { all.push_back(v); }
    void pop() { all.pop_back(); }
    T &top() { return all.back(); }
    bool empty() const { return all.empty(); }
    size_t size() const { return all.size(); }
};
template <typename T> struct priority_queue {
    vector<T> all;
    void push(const T &v) {
        all.push_back(v);
        for (size_t at = all.size() - 1; at > 0 && v < all[at - 1]; at--) {
            all[at] = all[at - 1];
            all[at - 1] = v;
        }
    }
    void pop() { all.pop_back(); }
    T &top() { return all.back(); }
    bool empty() const { return all.empty(); }
    size_t size() const { return all.size(); }
};

template <typename T> struct shared_ptr {
    T *p;
    shared_ptr(T *given = nullptr) : p(given) {}
    template <typename U> shared_ptr(const shared_ptr<U> &other) : p(other.p) {}
    template <typename E> shared_ptr(T *given, E deleter) : p(given) {}
    void reset(T *given = nullptr) { p = given; }
    operator bool() const { return p != nullptr; }
    T *get() const { return p; }
    T &operator*() const { return *p; }
    T *operator->() const { return p; }
    T &operator[](size_t i) const { return p[i]; }
};
template <typename T, typename... A> shared_ptr<T> make_shared(A... values) { return shared_ptr<T>(new T(values...)); }

using ::thrust::less;
using ::thrust::greater;
using ::thrust::plus;
using ::thrust::minus;
using ::thrust::multiplies;
using ::thrust::transform;
using ::thrust::for_each;
using ::thrust::count;
using ::thrust::count_if;
using ::thrust::find;
using ::thrust::find_if;
using ::thrust::any_of;
using ::thrust::all_of;
using ::thrust::none_of;
using ::thrust::equal;
using ::thrust::reverse;
using ::thrust::max_element;
using ::thrust::min_element;
using ::thrust::minmax_element;
using ::thrust::lower_bound;
using ::thrust::upper_bound;
using ::thrust::unique;
using ::thrust::remove_if;
using ::thrust::copy_n;
using ::thrust::copy_if;
using ::thrust::inner_product;
using ::thrust::inclusive_scan;
using ::thrust::exclusive_scan;
using ::thrust::is_sorted;
using ::thrust::stable_sort;
using ::thrust::distance;
template <typename I, typename O> O partial_sum(I first, I last, O to) { return ::thrust::inclusive_scan(first, last, to); }
template <typename I, typename C> void sort(I first, I last, C less) {
    if (last - first > 1) ::thrust::sort(first, last, less);
}
template <typename I, typename T, typename F> T accumulate(I first, I last, T sum, F f) {
    for (; first != last; ++first) sum = f(sum, *first);
    return sum;
}
template <typename I, typename G> void shuffle(I first, I last, G &&g) {
    for (size_t i = last - first; i > 1; i--) {
        size_t j = random_bits() % i;
        auto held = first[i - 1];
        first[i - 1] = first[j];
        first[j] = held;
    }
}
template <typename I> void random_shuffle(I first, I last) { shuffle(first, last, 0); }
} // namespace std
