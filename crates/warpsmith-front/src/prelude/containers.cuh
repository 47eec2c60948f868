// Further containers and algorithms of the host: right, not fast.
namespace std {
template <typename K, typename V> struct map {
    vector<pair<K, V>> all;
    typedef pair<K, V> *iterator;
    typedef const pair<K, V> *const_iterator;
    typedef K key_type;
    typedef V mapped_type;
    typedef pair<K, V> value_type;
    map() {}
    template <typename I> map(I first, I last) {
        for (; first != last; ++first)
            if (count(first->first) == 0) (*this)[first->first] = first->second;
    }
    const_iterator begin() const { return all.begin(); }
    const_iterator end() const { return all.end(); }
    const_iterator find(const K &key) const {
        for (size_t i = 0; i < all.size(); i++)
            if (all[i].first == key) return all.begin() + i;
        return all.end();
    }
    size_t count(const K &key) const { return find(key) == end() ? 0 : 1; }
    const V &at(const K &key) const { return find(key)->second; }
    pair<iterator, bool> insert(const pair<K, V> &one) { return emplace(one.first, one.second); }
    pair<iterator, bool> emplace(const K &key, const V &value) {
        bool fresh = count(key) == 0;
        if (fresh) (*this)[key] = value;
        return pair<iterator, bool>(find(key), fresh);
    }
    size_t erase(const K &key) {
        iterator found = find(key);
        if (found == end()) return 0;
        all.erase(found);
        return 1;
    }
    void erase(iterator at) { all.erase(at); }
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
    void reserve(size_t n) {}
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
    pair<iterator, bool> insert(const K &key) {
        if (count(key) > 0) return pair<iterator, bool>(find(key), false);
        all.push_back(key);
        for (size_t at = all.size() - 1; at > 0 && key < all[at - 1]; at--) {
            all[at] = all[at - 1];
            all[at - 1] = key;
        }
        return pair<iterator, bool>(find(key), true);
    }
    pair<iterator, bool> emplace(const K &key) { return insert(key); }
    size_t erase(const K &key) {
        if (count(key) == 0) return 0;
        all.erase(find(key));
        return 1;
    }
};
template <typename K> struct unordered_set : set<K> {
    unordered_set() {}
    unordered_set(initializer_list<K> list) : set<K>(list) {}
};
// Lists and queues with two ends: their elements follow each other in memory, which programs cannot tell.
template <typename T> struct deque : vector<T> {
    deque() {}
    deque(size_t n) : vector<T>(n) {}
    deque(size_t n, const T &value) : vector<T>(n, value) {}
    void push_front(const T &value) { this->insert(this->begin(), value); }
    void pop_front() { this->erase(this->begin()); }
};
template <typename T> struct list : deque<T> {
    list() {}
    list(size_t n) : deque<T>(n) {}
    list(size_t n, const T &value) : deque<T>(n, value) {}
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
} // namespace std
