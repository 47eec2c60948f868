// What the host has of <algorithm>, <numeric>, <span> and <bitset>.
namespace std {
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
using ::thrust::reverse_copy;
using ::thrust::remove;
using ::thrust::remove_copy_if;
using ::thrust::replace;
using ::thrust::replace_if;
using ::thrust::swap_ranges;
using ::thrust::merge;
using ::thrust::binary_search;
using ::thrust::partition;
using ::thrust::stable_partition;
using ::thrust::unique_copy;
using ::thrust::adjacent_difference;
using ::thrust::for_each_n;
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
template <typename I> void partial_sort(I first, I middle, I last) { sort(first, last); }
template <typename I, typename C> void partial_sort(I first, I middle, I last, C less) { sort(first, last, less); }
template <typename I> void nth_element(I first, I nth, I last) { sort(first, last); }
template <typename I, typename C> void nth_element(I first, I nth, I last, C less) { sort(first, last, less); }
template <typename I> I next(I at, long n = 1) { return at + n; }
template <typename I> I prev(I at, long n = 1) { return at - n; }
template <typename I> void advance(I &at, long n) { at = at + n; }
template <typename C> auto begin(C &c) { return c.begin(); }
template <typename C> auto end(C &c) { return c.end(); }
template <typename T, size_t N> T *begin(T (&a)[N]) { return a; }
template <typename T, size_t N> T *end(T (&a)[N]) { return a + N; }
template <typename C> auto size(const C &c) { return c.size(); }
template <typename T, size_t N> constexpr size_t size(const T (&a)[N]) { return N; }
template <typename I, typename O, typename F> O partial_sum(I first, I last, O to, F f) { return ::thrust::inclusive_scan(first, last, to, f); }
template <typename I> auto reduce(I first, I last) { return ::thrust::reduce(first, last); }
template <typename I, typename T> T reduce(I first, I last, T sum) { return ::thrust::reduce(first, last, sum); }
template <typename I, typename T, typename F> T reduce(I first, I last, T sum, F f) { return ::thrust::reduce(first, last, sum, f); }
template <typename I, typename T, typename F, typename G> T transform_reduce(I first, I last, T sum, F f, G g) {
    for (; first != last; ++first) sum = f(sum, g(*first));
    return sum;
}
template <typename I, typename J, typename T, typename F, typename G> T inner_product(I first, I last, J other, T sum, F f, G g) {
    for (; first != last; ++first, ++other) sum = f(sum, g(*first, *other));
    return sum;
}
template <typename I> I rotate(I first, I middle, I last) {
    I end = first + (last - middle);
    ::thrust::reverse(first, middle);
    ::thrust::reverse(middle, last);
    ::thrust::reverse(first, last);
    return end;
}
template <typename I, typename O> O rotate_copy(I first, I middle, I last, O to) {
    for (I at = middle; at != last; ++at, ++to) *to = *at;
    for (; first != middle; ++first, ++to) *to = *first;
    return to;
}
template <typename I, typename J> J copy_backward(I first, I last, J to) {
    while (first != last) *--to = *--last;
    return to;
}
template <typename I, typename F> void generate_n(I first, size_t n, F f) {
    for (size_t i = 0; i < n; i++, ++first) *first = f();
}
template <typename I, typename J> void iter_swap(I a, J b) {
    auto held = *a;
    *a = *b;
    *b = held;
}
template <typename I, typename O, typename T> O remove_copy(I first, I last, O to, const T &value) {
    for (; first != last; ++first)
        if (!(*first == value)) { *to = *first; ++to; }
    return to;
}
template <typename I, typename P> I find_if_not(I first, I last, P p) {
    while (first != last && p(*first)) ++first;
    return first;
}
template <typename I> I adjacent_find(I first, I last) {
    for (; first != last && first + 1 != last; ++first)
        if (*first == *(first + 1)) return first;
    return last;
}
template <typename I, typename J> pair<I, J> mismatch(I first, I last, J other) {
    while (first != last && *first == *other) { ++first; ++other; }
    return pair<I, J>(first, other);
}
template <typename I, typename J, typename P> bool equal(I first, I last, J other, P same) {
    for (; first != last; ++first, ++other)
        if (!same(*first, *other)) return false;
    return true;
}
template <typename I, typename J> I search(I first, I last, J what, J end) {
    for (; last - first >= end - what; ++first)
        if (::thrust::equal(what, end, first)) return first;
    return last;
}
template <typename I, typename J> bool lexicographical_compare(I first, I last, J other, J end) {
    for (; first != last && other != end; ++first, ++other) {
        if (*first < *other) return true;
        if (*other < *first) return false;
    }
    return first == last && other != end;
}
template <typename I, typename P> I unique(I first, I last, P same) {
    if (first == last) return last;
    I kept = first;
    for (++first; first != last; ++first)
        if (!same(*kept, *first)) *++kept = *first;
    return ++kept;
}
template <typename I, typename C> bool is_sorted(I first, I last, C less) {
    for (; first != last && first + 1 != last; ++first)
        if (less(*(first + 1), *first)) return false;
    return true;
}
template <typename I, typename T, typename C> I upper_bound(I first, I last, const T &value, C less) {
    while (first != last) {
        I middle = first + (last - first) / 2;
        if (less(value, *middle)) last = middle;
        else first = middle + 1;
    }
    return first;
}
template <typename I, typename T> pair<I, I> equal_range(I first, I last, const T &value) {
    return pair<I, I>(::thrust::lower_bound(first, last, value), ::thrust::upper_bound(first, last, value));
}
template <typename I, typename J, typename O> O set_intersection(I first, I last, J other, J end, O to) {
    while (first != last && other != end) {
        if (*first < *other) ++first;
        else if (*other < *first) ++other;
        else { *to = *first; ++to; ++first; ++other; }
    }
    return to;
}
template <typename I, typename J, typename O> O set_difference(I first, I last, J other, J end, O to) {
    while (first != last) {
        if (other == end || *first < *other) { *to = *first; ++to; ++first; }
        else if (*other < *first) ++other;
        else { ++first; ++other; }
    }
    return to;
}
template <typename I, typename J, typename O> O set_union(I first, I last, J other, J end, O to) {
    while (first != last || other != end) {
        bool both = first != last && other != end;
        bool right = first == last || both && *other < *first;
        bool same = both && !right && !(*first < *other);
        if (right) *to = *other;
        else *to = *first;
        ++to;
        if (!right) ++first;
        if (right || same) ++other;
    }
    return to;
}
template <typename T> bool operator==(const vector<T> &a, const vector<T> &b) {
    return a.size() == b.size() && ::thrust::equal(a.begin(), a.end(), b.begin());
}
template <typename T> bool operator!=(const vector<T> &a, const vector<T> &b) { return !(a == b); }
template <typename T> bool operator<(const vector<T> &a, const vector<T> &b) {
    return lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}
template <typename T, size_t N> bool operator==(const array<T, N> &a, const array<T, N> &b) {
    return ::thrust::equal(a.begin(), a.end(), b.begin());
}
template <typename T, size_t N> bool operator!=(const array<T, N> &a, const array<T, N> &b) { return !(a == b); }
template <typename T, size_t N> bool operator<(const array<T, N> &a, const array<T, N> &b) {
    return lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}
template <typename I, typename C> void inplace_merge(I first, I middle, I last, C less) { ::thrust::stable_sort(first, last, less); }
template <typename I> void inplace_merge(I first, I middle, I last) { ::thrust::stable_sort(first, last); }
template <typename I, typename C> bool next_permutation(I first, I last, C less) {
    if (last - first < 2) return false;
    I at = last - 1;
    while (at != first && !less(*(at - 1), *at)) --at;
    if (at == first) {
        ::thrust::reverse(first, last);
        return false;
    }
    I other = last - 1;
    while (!less(*(at - 1), *other)) --other;
    iter_swap(at - 1, other);
    ::thrust::reverse(at, last);
    return true;
}
template <typename I> bool next_permutation(I first, I last) { return next_permutation(first, last, less<>()); }
template <typename I> bool prev_permutation(I first, I last) { return next_permutation(first, last, greater<>()); }
// A heap is sorted here, its greatest element in front: what order the others have is not promised.
template <typename I, typename C> void make_heap(I first, I last, C less) {
    ::thrust::sort(first, last, less);
    ::thrust::reverse(first, last);
}
template <typename I> void make_heap(I first, I last) { make_heap(first, last, less<>()); }
template <typename I, typename C> void push_heap(I first, I last, C less) { make_heap(first, last, less); }
template <typename I> void push_heap(I first, I last) { make_heap(first, last, less<>()); }
template <typename I> void pop_heap(I first, I last) { rotate(first, first + 1, last); }
template <typename I, typename C> void pop_heap(I first, I last, C less) { rotate(first, first + 1, last); }
template <typename I> void sort_heap(I first, I last) { ::thrust::sort(first, last); }
template <typename I, typename C> void sort_heap(I first, I last, C less) { ::thrust::sort(first, last, less); }
template <typename T, typename U> T exchange(T &held, U value) {
    T before = held;
    held = value;
    return before;
}
template <typename T> T midpoint(T a, T b) { return a + (b - a) / 2; }

template <typename T, size_t N = ~(size_t)0> class span {
    T *data_;
    size_t size_;

public:
    typedef T value_type;
    typedef T *iterator;
    __host__ __device__ span() : data_(nullptr), size_(0) {}
    __host__ __device__ span(T *first, size_t n) : data_(first), size_(n) {}
    __host__ __device__ span(T *first, T *last) : data_(first), size_(last - first) {}
    template <size_t M> __host__ __device__ span(T (&a)[M]) : data_(a), size_(M) {}
    template <typename C> __host__ __device__ span(C &c) : data_(c.data()), size_(c.size()) {}
    __host__ __device__ T &operator[](size_t i) const { return data_[i]; }
    __host__ __device__ T *data() const { return data_; }
    __host__ __device__ size_t size() const { return size_; }
    __host__ __device__ size_t size_bytes() const { return size_ * sizeof(T); }
    __host__ __device__ bool empty() const { return size_ == 0; }
    __host__ __device__ T *begin() const { return data_; }
    __host__ __device__ T *end() const { return data_ + size_; }
    __host__ __device__ T &front() const { return data_[0]; }
    __host__ __device__ T &back() const { return data_[size_ - 1]; }
    __host__ __device__ span<T> first(size_t n) const { return span<T>(data_, n); }
    __host__ __device__ span<T> last(size_t n) const { return span<T>(data_ + size_ - n, n); }
    __host__ __device__ span<T> subspan(size_t from, size_t n) const { return span<T>(data_ + from, n); }
    __host__ __device__ span<T> subspan(size_t from) const { return span<T>(data_ + from, size_ - from); }
};

template <size_t N> class bitset {
    bool held_[N];

public:
    bitset(unsigned long long bits = 0) {
        for (size_t i = 0; i < N; i++) held_[i] = i < 64 && bits >> i & 1;
    }
    bool &operator[](size_t i) { return held_[i]; }
    bool test(size_t i) const { return held_[i]; }
    bitset &set(size_t i, bool value = true) { held_[i] = value; return *this; }
    bitset &reset(size_t i) { held_[i] = false; return *this; }
    bitset &flip(size_t i) { held_[i] = !held_[i]; return *this; }
    bitset &set() { for (size_t i = 0; i < N; i++) held_[i] = true; return *this; }
    bitset &reset() { for (size_t i = 0; i < N; i++) held_[i] = false; return *this; }
    size_t size() const { return N; }
    size_t count() const {
        size_t n = 0;
        for (size_t i = 0; i < N; i++) n += held_[i];
        return n;
    }
    bool any() const { return count() > 0; }
    bool none() const { return count() == 0; }
    bool all() const { return count() == N; }
    unsigned long long to_ullong() const {
        unsigned long long bits = 0;
        for (size_t i = 0; i < N && i < 64; i++) bits |= (unsigned long long)held_[i] << i;
        return bits;
    }
    unsigned long to_ulong() const { return to_ullong(); }
};

// What is assigned to where such an iterator points is added to the container.
template <typename C> struct back_insert_iterator {
    C *to;
    back_insert_iterator &operator*() { return *this; }
    back_insert_iterator &operator++() { return *this; }
    back_insert_iterator operator++(int) { return *this; }
    template <typename V> back_insert_iterator &operator=(const V &value) { to->push_back(value); return *this; }
    back_insert_iterator &operator[](size_t i) { return *this; }
};
template <typename C> back_insert_iterator<C> back_inserter(C &to) {
    back_insert_iterator<C> at = {&to};
    return at;
}
} // namespace std
