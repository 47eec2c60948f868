// Further containers and algorithms of the host: right, not fast.
namespace std {
struct input_iterator_tag {};
struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {};
struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
template <typename C, typename T, typename D = long, typename... Others> struct iterator {
    typedef C iterator_category;
    typedef T value_type;
    typedef D difference_type;
    typedef T *pointer;
    typedef T &reference;
};
// The key of an element: itself, or the first of a pair.
template <typename E, typename K> struct keyIn {
    static const K &of(const E &one) { return one.first; }
};
template <typename K> struct keyIn<K, K> {
    static const K &of(const K &key) { return key; }
};
// Where a key is, or would be put: in order, or behind all others, where nobody can tell.
template <typename C> struct sortedBy {
    template <typename E, typename K> static size_t place(const vector<E> &all, const K &key) {
        size_t low = 0, high = all.size();
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (C()(keyIn<E, K>::of(all[middle]), key)) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    template <typename K> static bool same(const K &held, const K &key) { return !C()(key, held); }
};
struct asTheyCome {
    template <typename E, typename K> static size_t place(const vector<E> &all, const K &key) {
        for (size_t i = 0; i < all.size(); i++)
            if (keyIn<E, K>::of(all[i]) == key) return i;
        return all.size();
    }
    template <typename K> static bool same(const K &held, const K &key) { return true; }
};
// Elements with keys, each key once.
template <typename E, typename K, typename O> struct keyed {
    vector<E> all;
    typedef E *iterator;
    typedef const E *const_iterator;
    typedef K key_type;
    typedef E value_type;
    keyed() {}
    iterator begin() { return all.begin(); }
    iterator end() { return all.end(); }
    const_iterator begin() const { return all.begin(); }
    const_iterator end() const { return all.end(); }
    reverse_iterator<E *> rbegin() { return all.rbegin(); }
    reverse_iterator<E *> rend() { return all.rend(); }
    const_iterator cbegin() const { return all.begin(); }
    const_iterator cend() const { return all.end(); }
    size_t size() const { return all.size(); }
    bool empty() const { return all.empty(); }
    void clear() { all.clear(); }
    void reserve(size_t n) { all.reserve(n); }
    bool holds(size_t at, const K &key) const { return at < all.size() && O::same(keyIn<E, K>::of(all[at]), key); }
    iterator find(const K &key) {
        size_t at = O::place(all, key);
        return holds(at, key) ? all.begin() + at : all.end();
    }
    const_iterator find(const K &key) const {
        size_t at = O::place(all, key);
        return holds(at, key) ? all.begin() + at : all.end();
    }
    iterator lower_bound(const K &key) { return all.begin() + O::place(all, key); }
    iterator upper_bound(const K &key) {
        size_t at = O::place(all, key);
        return all.begin() + at + (holds(at, key) ? 1 : 0);
    }
    size_t count(const K &key) const { return holds(O::place(all, key), key) ? 1 : 0; }
    bool contains(const K &key) const { return count(key) > 0; }
    pair<iterator, bool> insert(const E &one) {
        const K &key = keyIn<E, K>::of(one);
        size_t at = O::place(all, key);
        bool fresh = !holds(at, key);
        if (fresh) all.insert(all.begin() + at, one);
        return pair<iterator, bool>(all.begin() + at, fresh);
    }
    template <typename I> void insert(I first, I last) {
        for (; first != last; ++first) insert(*first);
    }
    size_t erase(const K &key) {
        iterator found = find(key);
        if (found == end()) return 0;
        all.erase(found);
        return 1;
    }
    iterator erase(iterator at) { return all.erase(at); }
};
template <typename K, typename V, typename O> struct keyedPairs : keyed<pair<K, V>, K, O> {
    typedef V mapped_type;
    keyedPairs() {}
    V &operator[](const K &key) {
        size_t at = O::place(this->all, key);
        if (!this->holds(at, key)) this->all.insert(this->all.begin() + at, pair<K, V>(key, V()));
        return this->all[at].second;
    }
    V &at(const K &key) { return (*this)[key]; }
    const V &at(const K &key) const { return this->find(key)->second; }
    pair<pair<K, V> *, bool> emplace(const K &key, const V &value) { return this->insert(pair<K, V>(key, value)); }
};
template <typename K, typename V, typename C = ::thrust::less<K>> struct map : keyedPairs<K, V, sortedBy<C>> {
    map() {}
    map(initializer_list<pair<K, V>> list) { this->insert(list.begin(), list.end()); }
    template <typename I> map(I first, I last) { this->insert(first, last); }
};
template <typename K, typename V, typename H = int, typename E = int> struct unordered_map : keyedPairs<K, V, asTheyCome> {
    unordered_map() {}
    unordered_map(size_t n) {}
    unordered_map(initializer_list<pair<K, V>> list) { this->insert(list.begin(), list.end()); }
    template <typename I> unordered_map(I first, I last) { this->insert(first, last); }
};
template <typename K, typename C = ::thrust::less<K>> struct set : keyed<K, K, sortedBy<C>> {
    set() {}
    set(initializer_list<K> list) { this->insert(list.begin(), list.end()); }
    template <typename I> set(I first, I last) { this->insert(first, last); }
    pair<K *, bool> emplace(const K &key) { return this->insert(key); }
};
template <typename K, typename H = int, typename E = int> struct unordered_set : keyed<K, K, asTheyCome> {
    unordered_set() {}
    unordered_set(size_t n) {}
    unordered_set(initializer_list<K> list) { this->insert(list.begin(), list.end()); }
    template <typename I> unordered_set(I first, I last) { this->insert(first, last); }
    pair<K *, bool> emplace(const K &key) { return this->insert(key); }
};
// The same key as often as it is put in.
template <typename K, typename V, typename C = ::thrust::less<K>> struct multimap {
    vector<pair<K, V>> all;
    typedef pair<K, V> *iterator;
    typedef pair<K, V> value_type;
    multimap() {}
    iterator begin() { return all.begin(); }
    iterator end() { return all.end(); }
    size_t size() const { return all.size(); }
    bool empty() const { return all.empty(); }
    void clear() { all.clear(); }
    iterator lower_bound(const K &key) { return all.begin() + sortedBy<C>::place(all, key); }
    iterator upper_bound(const K &key) {
        iterator at = lower_bound(key);
        while (at != end() && !C()(key, at->first)) ++at;
        return at;
    }
    iterator find(const K &key) { return count(key) > 0 ? lower_bound(key) : end(); }
    size_t count(const K &key) { return upper_bound(key) - lower_bound(key); }
    pair<iterator, iterator> equal_range(const K &key) { return pair<iterator, iterator>(lower_bound(key), upper_bound(key)); }
    iterator insert(const pair<K, V> &one) { return all.insert(upper_bound(one.first), one); }
    iterator emplace(const K &key, const V &value) { return insert(pair<K, V>(key, value)); }
    iterator erase(iterator at) { return all.erase(at); }
};
// Lists and queues with two ends: their elements follow each other in memory, which programs cannot tell.
template <typename T> struct deque : vector<T> {
    deque() {}
    deque(size_t n) : vector<T>(n) {}
    deque(size_t n, const T &value) : vector<T>(n, value) {}
    deque(initializer_list<T> list) : vector<T>(list) {}
    template <typename I> deque(I first, I last) { this->assign(first, last); }
    void push_front(const T &value) { this->insert(this->begin(), value); }
    void pop_front() { this->erase(this->begin()); }
};
template <typename T> struct list : deque<T> {
    list() {}
    list(size_t n) : deque<T>(n) {}
    list(size_t n, const T &value) : deque<T>(n, value) {}
    list(initializer_list<T> list) : deque<T>(list) {}
    template <typename I> list(I first, I last) : deque<T>(first, last) {}
    void sort() { ::thrust::stable_sort(this->begin(), this->end()); }
    template <typename C> void sort(C less) { ::thrust::stable_sort(this->begin(), this->end(), less); }
    void reverse() { ::thrust::reverse(this->begin(), this->end()); }
    void remove(const T &value) { this->erase(::thrust::remove(this->begin(), this->end(), value), this->end()); }
};
template <typename T> struct queue {
    vector<T> all;
    size_t first;
    queue() : first(0) {}
    void push(const T &v) { all.push_back(v); }
    template <typename... A> void emplace(A... values) { push(T(values...)); }
    void pop() { first++; }
    T &front() { return all[first]; }
    bool empty() const { return first == all.size(); }
    size_t size() const { return all.size() - first; }
};
template <typename T> struct stack {
    vector<T> all;
    void push(const T &v) { all.push_back(v); }
    template <typename... A> void emplace(A... values) { push(T(values...)); }
    void pop() { all.pop_back(); }
    T &top() { return all.back(); }
    bool empty() const { return all.empty(); }
    size_t size() const { return all.size(); }
};
template <typename T, typename S = vector<T>, typename C = ::thrust::less<T>> struct priority_queue {
    vector<T> all;
    priority_queue() {}
    void push(const T &v) { all.insert(all.begin() + sortedBy<C>::place(all, v), v); }
    template <typename... A> void emplace(A... values) { push(T(values...)); }
    void pop() { all.pop_back(); }
    const T &top() const { return all.back(); }
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
    bool operator==(const void *other) const { return p == other; }
    bool operator!=(const void *other) const { return p != other; }
    T *get() const { return p; }
    T &operator*() const { return *p; }
    T *operator->() const { return p; }
    T &operator[](size_t i) const { return p[i]; }
};
template <typename T, typename... A> shared_ptr<T> make_shared(A... values) { return shared_ptr<T>(new T(values...)); }
} // namespace std
