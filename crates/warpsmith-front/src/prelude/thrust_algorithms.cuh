// Algorithms of thrust, called by the host or by one thread of a kernel.

namespace thrust {
template <typename I, typename O> __host__ __device__ O copy(I first, I last, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = first[i];
    return to + n;
}
template <typename I, typename O> __host__ __device__ O copy_n(I first, size_t n, O to) { return copy(first, first + n, to); }
template <typename I, typename O, typename P> __host__ __device__ O copy_if(I first, I last, O to, P keep) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (keep(first[i])) { to[m] = first[i]; m++; }
    return to + m;
}
template <typename I, typename S, typename O, typename P> __host__ __device__ O copy_if(I first, I last, S stencil, O to, P keep) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (keep(stencil[i])) { to[m] = first[i]; m++; }
    return to + m;
}
template <typename I, typename V> __host__ __device__ void fill(I first, I last, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = value;
}
template <typename I, typename V> __host__ __device__ I fill_n(I first, size_t n, V value) {
    fill(first, first + n, value);
    return first + n;
}
template <typename I, typename T, typename U> __host__ __device__ void sequence(I first, I last, T from, U step) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = from + i * step;
}
template <typename I, typename T> __host__ __device__ void sequence(I first, I last, T from) { sequence(first, last, from, 1); }
template <typename I> __host__ __device__ void sequence(I first, I last) { sequence(first, last, 0, 1); }
template <typename I, typename F> __host__ __device__ void generate(I first, I last, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = f();
}
template <typename I, typename F> __host__ __device__ void tabulate(I first, I last, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) first[i] = f(i);
}
template <typename I, typename F> __host__ __device__ I for_each(I first, I last, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) f(first[i]);
    return last;
}
template <typename I, typename F> __host__ __device__ I for_each_n(I first, size_t n, F f) { return for_each(first, first + n, f); }
template <typename I, typename O, typename F> __host__ __device__ O transform(I first, I last, O to, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = f(first[i]);
    return to + n;
}
template <typename I, typename J, typename O, typename F> __host__ __device__ O transform(I first, I last, J other, O to, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = f(first[i], other[i]);
    return to + n;
}
template <typename I, typename V> __host__ __device__ void replace(I first, I last, V old, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (first[i] == old) first[i] = value;
}
template <typename I, typename P, typename V> __host__ __device__ void replace_if(I first, I last, P p, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (p(first[i])) first[i] = value;
}
template <typename M, typename I, typename O> __host__ __device__ O gather(M first, M last, I from, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = from[first[i]];
    return to + n;
}
template <typename I, typename M, typename O> __host__ __device__ void scatter(I first, I last, M map, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[map[i]] = first[i];
}
template <typename I> __host__ __device__ void reverse(I first, I last) {
    long long n = last - first;
    for (long long i = 0; i < n / 2; i++) {
        auto held = ::std::valueOf(first[i]);
        first[i] = first[n - 1 - i];
        first[n - 1 - i] = held;
    }
}

template <typename I, typename T, typename F> __host__ __device__ T reduce(I first, I last, T sum, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = f(sum, first[i]);
    return sum;
}
template <typename I, typename T> __host__ __device__ T reduce(I first, I last, T sum) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = sum + first[i];
    return sum;
}
template <typename I> __host__ __device__ auto reduce(I first, I last) {
    auto sum = ::std::valueOf(*first);
    long long n = last - first;
    for (long long i = 1; i < n; i++) sum = sum + first[i];
    return sum;
}
template <typename I, typename F, typename T, typename G> __host__ __device__ T transform_reduce(I first, I last, F f, T sum, G g) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = g(sum, f(first[i]));
    return sum;
}
template <typename I, typename J, typename T> __host__ __device__ T inner_product(I first, I last, J other, T sum) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = sum + first[i] * other[i];
    return sum;
}
template <typename I, typename J, typename T, typename F, typename G>
__host__ __device__ T inner_product(I first, I last, J other, T sum, F f, G g) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) sum = f(sum, g(first[i], other[i]));
    return sum;
}
template <typename I, typename V> __host__ __device__ long long count(I first, I last, V value) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) m += first[i] == value ? 1 : 0;
    return m;
}
template <typename I, typename P> __host__ __device__ long long count_if(I first, I last, P p) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) m += p(first[i]) ? 1 : 0;
    return m;
}
template <typename I, typename P> __host__ __device__ I find_if(I first, I last, P p) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (p(first[i])) return first + i;
    return last;
}
template <typename I, typename V> __host__ __device__ I find(I first, I last, V value) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (first[i] == value) return first + i;
    return last;
}
template <typename I, typename P> __host__ __device__ bool any_of(I first, I last, P p) { return find_if(first, last, p) != last; }
template <typename I, typename P> __host__ __device__ bool all_of(I first, I last, P p) { return count_if(first, last, p) == last - first; }
template <typename I, typename P> __host__ __device__ bool none_of(I first, I last, P p) { return count_if(first, last, p) == 0; }
template <typename I, typename J> __host__ __device__ bool equal(I first, I last, J other) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (!(first[i] == other[i])) return false;
    return true;
}
template <typename I, typename C> __host__ __device__ I max_element(I first, I last, C less) {
    long long n = last - first, at = 0;
    for (long long i = 1; i < n; i++)
        if (less(first[at], first[i])) at = i;
    return first + at;
}
template <typename I, typename C> __host__ __device__ I min_element(I first, I last, C less) {
    long long n = last - first, at = 0;
    for (long long i = 1; i < n; i++)
        if (less(first[i], first[at])) at = i;
    return first + at;
}
template <typename I> __host__ __device__ I max_element(I first, I last) { return max_element(first, last, less<>()); }
template <typename I> __host__ __device__ I min_element(I first, I last) { return min_element(first, last, less<>()); }
template <typename I> __host__ __device__ std::pair<I, I> minmax_element(I first, I last) {
    return std::pair<I, I>(min_element(first, last), max_element(first, last));
}

template <typename I, typename O, typename F> __host__ __device__ O inclusive_scan(I first, I last, O to, F f) {
    long long n = last - first;
    if (n == 0) return to;
    auto sum = ::std::valueOf(*first);
    to[0] = sum;
    for (long long i = 1; i < n; i++) {
        sum = f(sum, first[i]);
        to[i] = sum;
    }
    return to + n;
}
template <typename I, typename O> __host__ __device__ O inclusive_scan(I first, I last, O to) { return inclusive_scan(first, last, to, plus<>()); }
template <typename I, typename O, typename T, typename F> __host__ __device__ O exclusive_scan(I first, I last, O to, T sum, F f) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) {
        auto own = ::std::valueOf(first[i]);
        to[i] = sum;
        sum = f(sum, own);
    }
    return to + n;
}
template <typename I, typename O, typename T> __host__ __device__ O exclusive_scan(I first, I last, O to, T sum) {
    return exclusive_scan(first, last, to, sum, plus<>());
}
template <typename I, typename O> __host__ __device__ O exclusive_scan(I first, I last, O to) {
    if (last - first == 0) return to;
    auto zero = ::std::valueOf(*first);
    zero = zero - zero;
    return exclusive_scan(first, last, to, zero, plus<>());
}
template <typename I, typename O, typename F, typename G> __host__ __device__ O transform_inclusive_scan(I first, I last, O to, F f, G g) {
    return inclusive_scan(transform_iterator<F, I>(first, f), transform_iterator<F, I>(last, f), to, g);
}
template <typename K, typename I, typename O> __host__ __device__ O inclusive_scan_by_key(K first, K last, I values, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) {
        if (i > 0 && first[i] == first[i - 1]) to[i] = to[i - 1] + values[i];
        else to[i] = values[i];
    }
    return to + n;
}
template <typename I, typename O> __host__ __device__ O adjacent_difference(I first, I last, O to) {
    long long n = last - first;
    for (long long i = n - 1; i > 0; i--) to[i] = first[i] - first[i - 1];
    if (n > 0) to[0] = first[0];
    return to + n;
}
template <typename K, typename V, typename L, typename W>
__host__ __device__ std::pair<L, W> reduce_by_key(K first, K last, V values, L keys, W sums) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) {
        auto key = ::std::valueOf(first[i]);
        auto sum = ::std::valueOf(values[i]);
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
template <typename I> __host__ __device__ I unique(I first, I last) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (m == 0 || !(first[m - 1] == first[i])) { first[m] = first[i]; m++; }
    return first + m;
}
template <typename K, typename V> __host__ __device__ std::pair<K, V> unique_by_key(K first, K last, V values) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (m == 0 || !(first[m - 1] == first[i])) { first[m] = first[i]; values[m] = values[i]; m++; }
    return std::pair<K, V>(first + m, values + m);
}
template <typename I, typename P> __host__ __device__ I remove_if(I first, I last, P p) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (!p(first[i])) { first[m] = first[i]; m++; }
    return first + m;
}
template <typename I, typename V> __host__ __device__ I remove(I first, I last, V value) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (!(first[i] == value)) { first[m] = first[i]; m++; }
    return first + m;
}
template <typename I, typename C, typename V> __host__ __device__ I lower_bound(I first, I last, V value, C less) {
    long long low = 0, high = last - first;
    while (low < high) {
        long long mid = (low + high) / 2;
        if (less(first[mid], value)) low = mid + 1; else high = mid;
    }
    return first + low;
}
template <typename I, typename V> __host__ __device__ I lower_bound(I first, I last, V value) { return lower_bound(first, last, value, less<>()); }
template <typename I, typename V> __host__ __device__ I upper_bound(I first, I last, V value) { return lower_bound(first, last, value, less_equal<>()); }
template <typename I, typename J, typename O> __host__ __device__ O lower_bound(I first, I last, J from, J to, O out) {
    long long n = to - from;
    for (long long i = 0; i < n; i++) out[i] = lower_bound(first, last, from[i]) - first;
    return out + n;
}
template <typename I, typename J, typename O> __host__ __device__ O upper_bound(I first, I last, J from, J to, O out) {
    long long n = to - from;
    for (long long i = 0; i < n; i++) out[i] = upper_bound(first, last, from[i]) - first;
    return out + n;
}

// Few elements are put in their places one after the other, more are merged: equal elements keep their order.
const long long FEW = 48;
template <typename I, typename V, typename K, typename T, typename C>
__host__ __device__ void sortBoth(I keys, V values, long long n, K key, T value, C less) {
    if (n <= FEW) {
        for (long long i = 1; i < n; i++) {
            K own = keys[i];
            T with = values[i];
            long long j = i;
            for (; j > 0 && less(own, keys[j - 1]); j--) {
                keys[j] = keys[j - 1];
                values[j] = values[j - 1];
            }
            keys[j] = own;
            values[j] = with;
        }
        return;
    }
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
    free(held);
    free(with);
}
template <typename I, typename K, typename C> __host__ __device__ void sortKeys(I keys, long long n, K key, C less) {
    if (n <= FEW) {
        for (long long i = 1; i < n; i++) {
            K own = keys[i];
            long long j = i;
            for (; j > 0 && less(own, keys[j - 1]); j--) keys[j] = keys[j - 1];
            keys[j] = own;
        }
        return;
    }
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
    free(held);
}
template <typename I, typename C> __host__ __device__ void sort(I first, I last, C less) {
    auto key = ::std::valueOf(*first);
    sortKeys(first, last - first, key, less);
}
template <typename I> __host__ __device__ void sort(I first, I last) { sort(first, last, less<>()); }
template <typename I, typename C> __host__ __device__ void stable_sort(I first, I last, C less) { sort(first, last, less); }
template <typename I> __host__ __device__ void stable_sort(I first, I last) { sort(first, last, less<>()); }
template <typename I, typename V, typename C> __host__ __device__ void sort_by_key(I first, I last, V values, C less) {
    auto key = ::std::valueOf(*first);
    auto value = ::std::valueOf(*values);
    sortBoth(first, values, last - first, key, value, less);
}
template <typename I, typename V> __host__ __device__ void sort_by_key(I first, I last, V values) { sort_by_key(first, last, values, less<>()); }
template <typename I, typename V, typename C> __host__ __device__ void stable_sort_by_key(I first, I last, V values, C less) {
    sort_by_key(first, last, values, less);
}
template <typename I, typename V> __host__ __device__ void stable_sort_by_key(I first, I last, V values) { sort_by_key(first, last, values, less<>()); }
template <typename I, typename V> __host__ __device__ bool binary_search(I first, I last, V value) {
    I at = lower_bound(first, last, value);
    return at != last && !(value < *at);
}
template <typename I, typename J> __host__ __device__ J swap_ranges(I first, I last, J other) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) {
        auto held = ::std::valueOf(first[i]);
        first[i] = other[i];
        other[i] = held;
    }
    return other + n;
}
template <typename I, typename O> __host__ __device__ O reverse_copy(I first, I last, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++) to[i] = first[n - 1 - i];
    return to + n;
}
template <typename I, typename J, typename O, typename C> __host__ __device__ O merge(I first, I last, J other, J end, O to, C less) {
    while (first != last || other != end) {
        bool right = first == last || (other != end && less(*other, *first));
        if (right) {
            *to = *other;
            ++other;
        } else {
            *to = *first;
            ++first;
        }
        ++to;
    }
    return to;
}
template <typename I, typename J, typename O> __host__ __device__ O merge(I first, I last, J other, J end, O to) {
    return merge(first, last, other, end, to, less<>());
}
template <typename I, typename O, typename F, typename P> __host__ __device__ O transform_if(I first, I last, O to, F f, P p) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (p(first[i])) to[i] = f(first[i]);
    return to + n;
}
template <typename I, typename S, typename O, typename F, typename P>
__host__ __device__ O transform_if(I first, I last, S stencil, O to, F f, P p) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (p(stencil[i])) to[i] = f(first[i]);
    return to + n;
}
template <typename I, typename M, typename S, typename O> __host__ __device__ void scatter_if(I first, I last, M map, S stencil, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (stencil[i]) to[map[i]] = first[i];
}
template <typename M, typename S, typename I, typename O> __host__ __device__ O gather_if(M first, M last, S stencil, I from, O to) {
    long long n = last - first;
    for (long long i = 0; i < n; i++)
        if (stencil[i]) to[i] = from[first[i]];
    return to + n;
}
template <typename I, typename P> __host__ __device__ I partition(I first, I last, P p) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) {
        if (!p(first[i])) continue;
        auto held = ::std::valueOf(first[i]);
        for (long long j = i; j > m; j--) first[j] = first[j - 1];
        first[m] = held;
        m++;
    }
    return first + m;
}
template <typename I, typename P> __host__ __device__ I stable_partition(I first, I last, P p) { return partition(first, last, p); }
template <typename I, typename O> __host__ __device__ O unique_copy(I first, I last, O to) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (i == 0 || !(first[i] == first[i - 1])) { to[m] = first[i]; m++; }
    return to + m;
}
template <typename I, typename O, typename P> __host__ __device__ O remove_copy_if(I first, I last, O to, P p) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++)
        if (!p(first[i])) { to[m] = first[i]; m++; }
    return to + m;
}
template <typename K, typename I, typename O, typename T>
__host__ __device__ O exclusive_scan_by_key(K first, K last, I values, O to, T from) {
    long long n = last - first;
    T sum = from;
    for (long long i = 0; i < n; i++) {
        if (i > 0 && !(first[i] == first[i - 1])) sum = from;
        T own = values[i];
        to[i] = sum;
        sum = sum + own;
    }
    return to + n;
}
template <typename K, typename I, typename O> __host__ __device__ O exclusive_scan_by_key(K first, K last, I values, O to) {
    if (last - first == 0) return to;
    auto zero = ::std::valueOf(*values);
    zero = zero - zero;
    return exclusive_scan_by_key(first, last, values, to, zero);
}
template <typename K, typename V, typename L, typename W, typename P, typename F>
__host__ __device__ std::pair<L, W> reduce_by_key(K first, K last, V values, L keys, W sums, P same, F f) {
    long long n = last - first, m = 0;
    for (long long i = 0; i < n; i++) {
        auto key = ::std::valueOf(first[i]);
        auto sum = ::std::valueOf(values[i]);
        while (i + 1 < n && same(key, first[i + 1])) {
            i++;
            sum = f(sum, values[i]);
        }
        keys[m] = key;
        sums[m] = sum;
        m++;
    }
    return std::pair<L, W>(keys + m, sums + m);
}
template <typename K, typename V, typename L, typename W, typename P>
__host__ __device__ std::pair<L, W> reduce_by_key(K first, K last, V values, L keys, W sums, P same) {
    return reduce_by_key(first, last, values, keys, sums, same, plus<>());
}
template <typename I> __host__ __device__ bool is_sorted(I first, I last) {
    long long n = last - first;
    for (long long i = 1; i < n; i++)
        if (first[i] < first[i - 1]) return false;
    return true;
}

#define WITH_POLICY(NAME) template <typename... A> __host__ __device__ auto NAME(policy p, A... a) { return NAME(a...); }
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
WITH_POLICY(binary_search)
WITH_POLICY(swap_ranges)
WITH_POLICY(reverse_copy)
WITH_POLICY(merge)
WITH_POLICY(transform_if)
WITH_POLICY(scatter_if)
WITH_POLICY(gather_if)
WITH_POLICY(partition)
WITH_POLICY(stable_partition)
WITH_POLICY(unique_copy)
WITH_POLICY(remove_copy_if)
WITH_POLICY(exclusive_scan_by_key)

// Random numbers of a thread: x becomes 48271 x modulo 2^31 - 1.
struct minstd_rand {
    unsigned x;
    typedef unsigned result_type;
    __host__ __device__ minstd_rand(unsigned seed = 1) : x(seed % 2147483647u == 0 ? 1 : seed % 2147483647u) {}
    __host__ __device__ void seed(unsigned s) { x = s % 2147483647u == 0 ? 1 : s % 2147483647u; }
    __host__ __device__ unsigned operator()() {
        x = (unsigned)((unsigned long long)x * 48271 % 2147483647ull);
        return x;
    }
    __host__ __device__ void discard(unsigned long long n) {
        unsigned long long factor = 48271, all = 1;
        for (; n > 0; n /= 2) {
            if (n % 2 == 1) all = all * factor % 2147483647ull;
            factor = factor * factor % 2147483647ull;
        }
        x = (unsigned)(x * all % 2147483647ull);
    }
};
typedef minstd_rand default_random_engine;
template <typename T = float> struct uniform_real_distribution {
    T low, high;
    __host__ __device__ uniform_real_distribution(T a = 0, T b = 1) : low(a), high(b) {}
    template <typename R> __host__ __device__ T operator()(R &rng) const {
        return low + (high - low) * ((T)(rng() - 1u) / (T)2147483646u);
    }
};
template <typename T = float> struct normal_distribution {
    T mean, deviation;
    __host__ __device__ normal_distribution(T a = 0, T b = 1) : mean(a), deviation(b) {}
    template <typename R> __host__ __device__ T operator()(R &rng) const {
        T u = (T)rng() / (T)2147483647u, v = (T)rng() / (T)2147483647u;
        return mean + deviation * (sqrt((T)-2 * log(u)) * cos((T)6.283185307179586 * v));
    }
};
template <typename T = int> struct uniform_int_distribution {
    T low, high;
    __host__ __device__ uniform_int_distribution(T a = 0, T b = 2147483647) : low(a), high(b) {}
    template <typename R> __host__ __device__ T operator()(R &rng) const {
        return low + (T)((unsigned long long)(rng() - 1u) * ((unsigned long long)(high - low) + 1) / 2147483646ull);
    }
};
namespace random {
using thrust::minstd_rand;
using thrust::default_random_engine;
using thrust::uniform_real_distribution;
using thrust::uniform_int_distribution;
using thrust::normal_distribution;
}
} // namespace thrust
