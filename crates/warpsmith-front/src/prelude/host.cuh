// Declarations that stand in for the libraries of the host. They are read when a whole program is run.

struct FILE {
    int calls;  // reads so far
    bool ended;
    bool named;  // what was read so far says what the file is
    bool pastHeader;  // numbers were read that say how much there is
    int singles;  // single whole numbers of the header, read so far
    const void *first, *last;  // where the first and the last of them went
};
static FILE *stdin, *stdout, *stderr;

// Numbers at random: any sequence will do, the same one in every run.
static unsigned long long random_state = 88172645463325252ULL;

static unsigned random_bits() {
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(random_state >> 33);
}

inline void bzero(void *to, size_t n) { memset(to, 0, n); }
inline void srand(unsigned seed) {}
inline void srandom(unsigned seed) {}
inline void srand48(long seed) {}
inline int rand() { return (int)(random_bits() & 0x7fffffffu); }
inline long random() { return (long)(random_bits() & 0x7fffffffu); }
inline long lrand48() { return (long)(random_bits() & 0x7fffffffu); }
inline double drand48() { return random_bits() / 2147483648.0; }
inline int rand_r(unsigned *seed) { *seed += 1u; return (int)(random_bits() & 0x7fffffffu); }

inline int strlen(const char *s) {
    int n = 0;
    while (s[n] != 0) n++;
    return n;
}

// How a text begins that was read from a file: it is not known. The first line says how much there is, or, where it is compared with
// a text, what the file is; then the first line behind it that numbers are read from says how much.
enum { unknownText = 1, firstLine = 2, inventedWords = 9 };
inline bool isUnknown(const char *s) { return *s == unknownText || *s == firstLine; }
static FILE *lineOf = nullptr;  // the file that the last line came from
inline void readsNumberOf(const char *s) {
    if (*s == firstLine && lineOf) lineOf->pastHeader = true;
}

inline int strncmp(const char *a, const char *b, int n) {
    int order = 0;
    for (int i = 0; i < n && order == 0; i++) {
        if (a[i] != b[i]) order = a[i] < b[i] ? -1 : 1;
        else if (a[i] == 0) break;
    }
    if (n > 0 && (isUnknown(a) || isUnknown(b))) {
        if (lineOf && (*a == firstLine || *b == firstLine)) lineOf->named = true;
        forgetValue(&order);
    }
    return order;
}

inline int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *p = (const unsigned char *)a, *q = (const unsigned char *)b;
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

inline int posix_memalign(void **p, size_t alignment, size_t bytes) {
    *p = malloc(bytes);
    return 0;
}

// What was there is not followed into the larger memory: it is set, and not known.
inline void *realloc(void *p, size_t bytes) {
    char *larger = (char *)malloc(bytes);
    if (p) forgetMemory(larger);
    return larger;
}

inline int strcmp(const char *a, const char *b) { return strncmp(a, b, 1 << 30); }

inline char *strcpy(char *to, const char *from) {
    int i = 0;
    for (; from[i] != 0; i++) to[i] = from[i];
    to[i] = 0;
    return to;
}

inline double atof(const char *s) {
    double value = 0.0, scale = 1.0;
    readsNumberOf(s);
    if (isUnknown(s)) forgetValue(&value);
    int i = 0, sign = 1;
    while (s[i] == ' ') i++;
    if (s[i] == '-') { sign = -1; i++; }
    for (; s[i] >= '0' && s[i] <= '9'; i++) value = value * 10.0 + (s[i] - '0');
    if (s[i] == '.') {
        i++;
        for (; s[i] >= '0' && s[i] <= '9'; i++) { scale /= 10.0; value += scale * (s[i] - '0'); }
    }
    if (s[i] == 'e' || s[i] == 'E') {
        i++;
        int down = 0, power = 0;
        if (s[i] == '-') { down = 1; i++; }
        for (; s[i] >= '0' && s[i] <= '9'; i++) power = power * 10 + (s[i] - '0');
        for (int k = 0; k < power; k++) value = down ? value / 10.0 : value * 10.0;
    }
    return sign * value;
}

inline long long atoll(const char *s) {
    long long value = 0;
    readsNumberOf(s);
    if (s[0] == firstLine) return inventedNumber;
    if (s[0] == unknownText) forgetValue(&value);
    int i = 0, sign = 1;
    while (s[i] == ' ') i++;
    if (s[i] == '-') { sign = -1; i++; }
    for (; s[i] >= '0' && s[i] <= '9'; i++) value = value * 10 + (s[i] - '0');
    return sign * value;
}

inline int atoi(const char *s) { return (int)atoll(s); }
inline long atol(const char *s) { return (long)atoll(s); }
// A number to a base; 0 stands for what the text begins with.
inline unsigned long long strtoull(const char *s, char **end, int base) {
    const char *begin = s;
    while (*s == ' ' || *s == '\t' || *s == '\n') s++;
    bool negative = *s == '-';
    if (*s == '-' || *s == '+') s++;
    bool hexadecimal = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && (base == 0 || base == 16);
    if (hexadecimal) s += 2;
    if (base == 0) base = hexadecimal ? 16 : *s == '0' ? 8 : 10;
    unsigned long long value = 0;
    for (;; s++) {
        int digit = *s >= '0' && *s <= '9' ? *s - '0' : *s >= 'a' && *s <= 'z' ? *s - 'a' + 10 : *s >= 'A' && *s <= 'Z' ? *s - 'A' + 10 : 36;
        if (digit >= base) break;
        value = value * base + digit;
    }
    if (isUnknown(begin)) value = (unsigned long long)atoll(begin);
    if (end) *end = (char *)s;
    return negative ? 0 - value : value;
}
inline long long strtoll(const char *s, char **end, int base) { return (long long)strtoull(s, end, base); }
inline long strtol(const char *s, char **end, int base) { return (long)strtoull(s, end, base); }
inline unsigned long strtoul(const char *s, char **end, int base) { return (unsigned long)strtoull(s, end, base); }
// The words of a text, one a call; behind the last one, null. A text that is not known has some that are not known.
inline char *strtok(char *text, const char *separators) {
    static char *rest = 0;
    static int invented = 0;
    if (text) {
        rest = text;
        invented = isUnknown(text) ? inventedWords : 0;
    }
    if (!rest) return 0;
    if (isUnknown(rest)) {
        invented--;
        return invented < 0 ? 0 : rest;
    }
    while (*rest && strchr(separators, *rest)) rest++;
    char *word = rest;
    while (*rest && !strchr(separators, *rest)) rest++;
    if (word == rest) return 0;
    if (*rest) *rest++ = 0;
    return word;
}
inline double strtod(const char *s, char **end) { return atof(s); }
inline float strtof(const char *s, char **end) { return (float)atof(s); }

// Time stands still.
typedef long time_t;
typedef long clock_t;
inline long time(void *now) { return 0; }
struct timeval { long tv_sec; long tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
struct timespec { long tv_sec; long tv_nsec; };
inline int gettimeofday(timeval *t, void *zone) { t->tv_sec = 0; t->tv_usec = 0; return 0; }
inline int clock_gettime(int which, timespec *t) { t->tv_sec = 0; t->tv_nsec = 0; return 0; }
enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 1, CLOCKS_PER_SEC = 1000000 };
inline double omp_get_wtime() { return 0.0; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_num_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
inline int omp_get_num_procs() { return 1; }
inline void omp_set_num_threads(int n) {}

// What the run-time library and the samples' helpers are called with.
struct cudaEventObject { int number; };
typedef cudaEventObject *cudaEvent_t;
struct StopWatchInterface { int number; };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum {
    cudaDeviceMapHost = 8, cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
    cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceLmemResizeToMax = 16
};
enum { cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2 };
enum { cudaMemAttachGlobal = 1, cudaErrorNotReady = 600 };
enum { cudaCpuDeviceId = -1 };
inline void checkCudaErrors(int error) {}
inline void getLastCudaError(const char *message) {}
inline void sdkCreateTimer(StopWatchInterface **timer) {}
inline void sdkStartTimer(StopWatchInterface **timer) {}
inline void sdkStopTimer(StopWatchInterface **timer) {}
inline void sdkResetTimer(StopWatchInterface **timer) {}
inline void sdkDeleteTimer(StopWatchInterface **timer) {}
inline float sdkGetTimerValue(StopWatchInterface **timer) { return 1.0f; }
inline void cutilSafeCall(int error) {}
inline void CUDA_SAFE_CALL(int error) {}

inline int cudaMemcpy2D(
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int way
) {
    for (size_t row = 0; row < height; row++)
        cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, cudaMemcpyDefault);
    return 0;
}

inline __host__ __device__ int cudaMemcpy2DAsync(
    void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int way, cudaStream_t s = 0
) {
    for (size_t row = 0; row < height; row++)
        cudaMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, cudaMemcpyDefault, s);
    return 0;
}

inline int cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    for (size_t row = 0; row < height; row++) cudaMemset((char *)to + row * pitch, value, width);
    return 0;
}

inline __host__ __device__ int cudaMemset2DAsync(
    void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t s = 0
) {
    for (size_t row = 0; row < height; row++) cudaMemsetAsync((char *)to + row * pitch, value, width, s);
    return 0;
}

// Memory that the host maps for itself; of a file nothing is known.
inline void *mmap(void *wanted, size_t bytes, int protection, int flags, int file, long offset) {
    void *memory = calloc(bytes, 1);
    if (file >= 0 && !(flags & 32)) forgetMemory(memory);
    return memory;
}
inline int munmap(void *memory, size_t bytes) {
    free(memory);
    return 0;
}
inline int mlock(const void *memory, size_t bytes) { return 0; }
inline int munlock(const void *memory, size_t bytes) { return 0; }
inline int cudaHostGetFlags(unsigned *flags, void *memory) {
    *flags = 3;
    return 0;
}

// The device is a large one of a known architecture.
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, sharedMemPerMultiprocessor;
    size_t sharedMemPerBlockOptin, textureAlignment, memPitch;
    int regsPerBlock, warpSize, maxThreadsPerBlock, clockRate, major, minor, multiProcessorCount;
    int maxThreadsDim[3], maxGridSize[3];
    int maxThreadsPerMultiProcessor, concurrentKernels, cooperativeLaunch, managedMemory;
    int unifiedAddressing, canMapHostMemory, asyncEngineCount, memoryBusWidth, memoryClockRate;
    int l2CacheSize, integrated, computeMode, concurrentManagedAccess, deviceOverlap, ECCEnabled;
    int kernelExecTimeoutEnabled, regsPerMultiprocessor, pageableMemoryAccess;
};

inline __host__ __device__ int cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    p->name[0] = 0;
    p->totalGlobalMem = (size_t)80 << 30;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->totalConstMem = 64 << 10;
    p->textureAlignment = 512;
    p->memPitch = 0x7fffffff;
    p->regsPerBlock = 65536;
    p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->clockRate = 1980000;
    p->major = 9;
    p->minor = 0;
    p->multiProcessorCount = 132;
    p->maxThreadsDim[0] = 1024;
    p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = 65535;
    p->maxGridSize[2] = 65535;
    p->maxThreadsPerMultiProcessor = 2048;
    p->concurrentKernels = 1;
    p->cooperativeLaunch = 1;
    p->managedMemory = 1;
    p->unifiedAddressing = 1;
    p->canMapHostMemory = 1;
    p->asyncEngineCount = 3;
    p->memoryBusWidth = 5120;
    p->memoryClockRate = 2619000;
    p->l2CacheSize = 50 << 20;
    p->integrated = 0;
    p->computeMode = 0;
    p->concurrentManagedAccess = 1;
    p->pageableMemoryAccess = 0;
    p->deviceOverlap = 1;
    p->ECCEnabled = 1;
    p->kernelExecTimeoutEnabled = 0;
    return 0;
}

inline int cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { *ms = 1.0f; return 0; }
static int devicesOfTheMachine = 1;
inline int cudaGetDeviceCount(int *count) { *count = devicesOfTheMachine; return 0; }
inline int cudaDeviceCanAccessPeer(int *can, int device, int peer) { *can = device != peer; return 0; }
inline __host__ __device__ int cudaGetDevice(int *device) { *device = 0; return 0; }
inline __host__ __device__ const char *cudaGetErrorString(int error) { return "no error"; }
inline __host__ __device__ const char *cudaGetErrorName(int error) { return "cudaSuccess"; }
inline int findCudaDevice(int argc, const char **argv) { return 0; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }

namespace std {

struct ostream {
    bool is_open() const { return true; }
    int precision(int n = 6) { return 6; }
};
struct manipulator { int n; };
static ostream cout, cerr, clog;
static manipulator endl, fixed, scientific, flush, left, right, hex, dec, boolalpha;
inline manipulator setw(int n) { manipulator m; m.n = n; return m; }
inline manipulator setprecision(int n) { manipulator m; m.n = n; return m; }
inline manipulator setfill(char c) { manipulator m; m.n = c; return m; }
template <typename T> ostream &operator<<(ostream &out, const T &value) { return out; }

template <typename T> class initializer_list {
    const T *first_;
    size_t size_;

public:
    typedef T value_type;
    typedef const T *iterator;
    size_t size() const { return size_; }
    const T *begin() const { return first_; }
    const T *end() const { return first_ + size_; }
};

// From the last element to the first.
template <typename I> struct reverse_iterator {
    I at;
    reverse_iterator(I behind) : at(behind) {}
    auto &operator*() const { return *(at - 1); }
    I operator->() const { return at - 1; }
    reverse_iterator &operator++() { --at; return *this; }
    reverse_iterator operator++(int) { reverse_iterator old = *this; --at; return old; }
    reverse_iterator &operator--() { ++at; return *this; }
    reverse_iterator operator+(long long n) const { return reverse_iterator(at - n); }
    reverse_iterator operator-(long long n) const { return reverse_iterator(at + n); }
    long long operator-(const reverse_iterator &other) const { return other.at - at; }
    bool operator==(const reverse_iterator &other) const { return at == other.at; }
    bool operator!=(const reverse_iterator &other) const { return at != other.at; }
    I base() const { return at; }
};

template <typename T> class vector {
    T *data_;
    size_t size_, capacity_;

public:
    typedef T value_type;
    typedef T *iterator;
    typedef const T *const_iterator;
    vector() : data_(0), size_(0), capacity_(0) {}
    vector(size_t n) : size_(n), capacity_(n) {
        data_ = (T *)malloc(n * sizeof(T));
        for (size_t i = 0; i < n; i++) data_[i] = T();
    }
    vector(size_t n, const T &value) : size_(n), capacity_(n) {
        data_ = (T *)malloc(n * sizeof(T));
        for (size_t i = 0; i < n; i++) data_[i] = value;
    }
    template <typename I> vector(reverse_iterator<I> first, reverse_iterator<I> last) : data_(0), size_(0), capacity_(0) {
        for (; first != last; ++first) push_back(*first);
    }
    template <typename U> vector(U *first, U *last) : size_(last - first), capacity_(last - first) {
        data_ = (T *)malloc(size_ * sizeof(T));
        for (size_t i = 0; i < size_; i++) data_[i] = T(first[i]);
    }
    vector(const T *first, const T *last) : size_(last - first), capacity_(last - first) {
        data_ = (T *)malloc(size_ * sizeof(T));
        for (size_t i = 0; i < size_; i++) data_[i] = first[i];
    }
    vector(initializer_list<T> list) : size_(list.size()), capacity_(list.size()) {
        data_ = (T *)malloc(size_ * sizeof(T));
        for (size_t i = 0; i < size_; i++) data_[i] = list.begin()[i];
    }
    vector(const vector &other) : size_(other.size_), capacity_(other.size_) {
        data_ = (T *)malloc(size_ * sizeof(T));
        if constexpr (std::is_arithmetic<T>::value) memcpy(data_, other.data_, size_ * sizeof(T));
        else for (size_t i = 0; i < size_; i++) data_[i] = other.data_[i];
    }
    vector &operator=(const vector &other) {
        if (this == &other) return *this;
        T *copy = (T *)malloc(other.size_ * sizeof(T));
        if constexpr (std::is_arithmetic<T>::value) memcpy(copy, other.data_, other.size_ * sizeof(T));
        else for (size_t i = 0; i < other.size_; i++) copy[i] = other.data_[i];
        data_ = copy;
        size_ = other.size_;
        capacity_ = other.size_;
        return *this;
    }
    T &operator[](size_t i) { return data_[i]; }
    const T &operator[](size_t i) const { return data_[i]; }
    T &at(size_t i) { return data_[i]; }
    const T &at(size_t i) const { return data_[i]; }
    T *data() { return data_; }
    const T *data() const { return data_; }
    size_t size() const { return size_; }
    size_t length() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *begin() { return data_; }
    T *end() { return data_ + size_; }
    const T *begin() const { return data_; }
    const T *cbegin() const { return data_; }
    const T *cend() const { return data_ + size_; }
    const T *end() const { return data_ + size_; }
    reverse_iterator<T *> rbegin() { return reverse_iterator<T *>(end()); }
    reverse_iterator<T *> rend() { return reverse_iterator<T *>(begin()); }
    reverse_iterator<const T *> rbegin() const { return reverse_iterator<const T *>(end()); }
    reverse_iterator<const T *> rend() const { return reverse_iterator<const T *>(begin()); }
    reverse_iterator<const T *> crbegin() const { return reverse_iterator<const T *>(end()); }
    reverse_iterator<const T *> crend() const { return reverse_iterator<const T *>(begin()); }
    T &front() { return data_[0]; }
    T &back() { return data_[size_ - 1]; }
    const T &front() const { return data_[0]; }
    const T &back() const { return data_[size_ - 1]; }
    void clear() { size_ = 0; }
    void reserve(size_t n) {
        if (n > capacity_) {
            T *old = data_;
            data_ = (T *)malloc(n * sizeof(T));
            for (size_t i = 0; i < size_; i++) data_[i] = old[i];
            capacity_ = n;
        }
    }
    void resize(size_t n) {
        reserve(n);
        for (size_t i = size_; i < n; i++) data_[i] = T();
        size_ = n;
    }
    void resize(size_t n, const T &value) {
        reserve(n);
        for (size_t i = size_; i < n; i++) data_[i] = value;
        size_ = n;
    }
    void assign(size_t n, const T &value) {
        reserve(n);
        for (size_t i = 0; i < n; i++) data_[i] = value;
        size_ = n;
    }
    void assign(initializer_list<T> list) {
        clear();
        for (size_t i = 0; i < list.size(); i++) push_back(list.begin()[i]);
    }
    void push_back(const T &value) {
        if (size_ == capacity_) reserve(2 * capacity_ + 8);
        data_[size_] = value;
        size_ = size_ + 1;
    }
    T &emplace_back() { push_back(T()); return back(); }
    T &emplace_back(const T &value) { push_back(value); return back(); }
    template <typename A> T &emplace_back(const A &a) { push_back(T(a)); return back(); }
    template <typename A, typename B, typename... R> T &emplace_back(A a, B b, R... rest) {
        push_back(T(a, b, rest...));
        return back();
    }
    void shrink_to_fit() {}
    size_t capacity() const { return capacity_; }
    // Two numbers are a length and a value.
    template <typename I> void assign(I first, I last) {
        if constexpr (std::is_arithmetic<I>::value) {
            assign((size_t)first, (T)last);
        } else {
            clear();
            for (; first != last; ++first) push_back(*first);
        }
    }
    iterator insert(iterator at, const T &value) {
        size_t i = at - data_;
        push_back(value);
        for (size_t k = size_ - 1; k > i; k--) data_[k] = data_[k - 1];
        data_[i] = value;
        return data_ + i;
    }
    void insert(iterator at, size_t n, const T &value) {
        size_t i = at - data_;
        for (size_t k = 0; k < n; k++) insert(data_ + i, value);
    }
    template <typename I> void insert(iterator at, I first, I last) {
        size_t i = at - data_;
        if constexpr (std::is_arithmetic<I>::value) insert(at, (size_t)first, (T)last);
        else for (; first != last; ++first, ++i) insert(data_ + i, *first);
    }
    template <typename... A> iterator emplace(iterator at, A... values) { return insert(at, T(values...)); }
    iterator erase(iterator at) { return erase(at, at + 1); }
    iterator erase(iterator first, iterator last) {
        size_t i = first - data_, n = last - first;
        for (size_t k = i; k + n < size_; k++) data_[k] = data_[k + n];
        size_ = size_ - n;
        return data_ + i;
    }
    void swap(vector &other) {
        T *held = data_;
        size_t n = size_, room = capacity_;
        data_ = other.data_;
        size_ = other.size_;
        capacity_ = other.capacity_;
        other.data_ = held;
        other.size_ = n;
        other.capacity_ = room;
    }
    void pop_back() { size_ = size_ - 1; }
};

template <typename T, size_t N> struct array {
    T data_[N];
    __host__ __device__ T &operator[](size_t i) { return data_[i]; }
    __host__ __device__ const T &operator[](size_t i) const { return data_[i]; }
    __host__ __device__ T *data() { return &data_[0]; }
    __host__ __device__ constexpr size_t size() const { return N; }
    __host__ __device__ bool empty() const { return N == 0; }
    __host__ __device__ T &front() { return data_[0]; }
    __host__ __device__ T &back() { return data_[N - 1]; }
    __host__ __device__ void fill(const T &value) {
        for (size_t i = 0; i < N; i++) data_[i] = value;
    }
    __host__ __device__ T *begin() { return &data_[0]; }
    __host__ __device__ T *end() { return &data_[0] + N; }
    __host__ __device__ const T *begin() const { return &data_[0]; }
    __host__ __device__ const T *end() const { return &data_[0] + N; }
};

template <typename T, typename D = int> struct unique_ptr {
    T *p;
    T *get() const { return p; }
    T &operator[](size_t i) const { return p[i]; }
    T &operator*() const { return *p; }
    T *operator->() const { return p; }
    T *release() { T *held = p; p = nullptr; return held; }
    void reset(T *given = nullptr) { p = given; }
    operator bool() const { return p != nullptr; }
    bool operator==(const void *other) const { return p == other; }
    bool operator!=(const void *other) const { return p != other; }
    unique_ptr(T *given = nullptr) : p(given) {}
    template <typename E> unique_ptr(T *given, E deleter) : p(given) {}
    // Of a class derived from `T`.
    template <typename U, typename E> unique_ptr(const unique_ptr<U, E> &other) : p(other.p) {}
};
template <typename T, typename D> struct unique_ptr<T[], D> {
    T *p;
    unique_ptr(T *given = nullptr) : p(given) {}
    template <typename E> unique_ptr(T *given, E deleter) : p(given) {}
    T *get() const { return p; }
    T *release() { T *held = p; p = nullptr; return held; }
    void reset(T *given = nullptr) { p = given; }
    operator bool() const { return p != nullptr; }
    bool operator==(const void *other) const { return p == other; }
    bool operator!=(const void *other) const { return p != other; }
    T &operator[](size_t i) const { return p[i]; }
};

template <typename I, typename T> void fill(I first, I last, const T &value) {
    for (; first != last; ++first) *first = value;
}
template <typename I, typename T> void fill_n(I first, size_t n, const T &value) {
    for (size_t i = 0; i < n; i++) first[i] = value;
}
template <typename I, typename T> void iota(I first, I last, T value) {
    for (; first != last; ++first) { *first = value; value = value + 1; }
}
template <typename I, typename F> void generate(I first, I last, F f) {
    for (; first != last; ++first) *first = f();
}
template <typename I, typename O> O copy(I first, I last, O to) {
    for (; first != last; ++first) { *to = *first; ++to; }
    return to;
}
template <typename I, typename T> T accumulate(I first, I last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}
template <typename I> void sort(I first, I last) {
    size_t n = last - first;
    for (size_t gap = n / 2; gap > 0; gap = gap / 2) {
        for (size_t i = gap; i < n; i++) {
            for (size_t j = i; j >= gap && first[j] < first[j - gap]; j -= gap) {
                auto held = first[j];
                first[j] = first[j - gap];
                first[j - gap] = held;
            }
        }
    }
}

template <typename T> struct complex {
    T re, im;
    typedef T value_type;
    __host__ __device__ complex() : re(0), im(0) {}
    __host__ __device__ complex(T a) : re(a), im(0) {}
    __host__ __device__ complex(T a, T b) : re(a), im(b) {}
    __host__ __device__ T real() const { return re; }
    __host__ __device__ T imag() const { return im; }
    __host__ __device__ void real(T a) { re = a; }
    __host__ __device__ void imag(T b) { im = b; }
    __host__ __device__ complex &operator+=(const complex &o) { re += o.re; im += o.im; return *this; }
    __host__ __device__ complex &operator-=(const complex &o) { re -= o.re; im -= o.im; return *this; }
    __host__ __device__ complex &operator*=(const complex &o) {
        T a = re * o.re - im * o.im;
        im = re * o.im + im * o.re;
        re = a;
        return *this;
    }
    __host__ __device__ complex &operator*=(T s) { re *= s; im *= s; return *this; }
    __host__ __device__ complex &operator/=(T s) { re /= s; im /= s; return *this; }
    __host__ __device__ complex &operator+=(T s) { re += s; return *this; }
    __host__ __device__ complex &operator-=(T s) { re -= s; return *this; }
    __host__ __device__ complex operator-() const { return complex(-re, -im); }
};
template <typename T> __host__ __device__ complex<T> operator+(const complex<T> &a, const complex<T> &b) { return complex<T>(a.re + b.re, a.im + b.im); }
template <typename T> __host__ __device__ complex<T> operator-(const complex<T> &a, const complex<T> &b) { return complex<T>(a.re - b.re, a.im - b.im); }
template <typename T> __host__ __device__ complex<T> operator*(const complex<T> &a, const complex<T> &b) { return complex<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
template <typename T> __host__ __device__ complex<T> operator*(T s, const complex<T> &a) { return complex<T>(s * a.re, s * a.im); }
template <typename T> __host__ __device__ complex<T> operator*(const complex<T> &a, T s) { return complex<T>(s * a.re, s * a.im); }
template <typename T> __host__ __device__ complex<T> operator/(const complex<T> &a, T s) { return complex<T>(a.re / s, a.im / s); }
template <typename T> __host__ __device__ complex<T> operator/(const complex<T> &a, const complex<T> &b) {
    T d = b.re * b.re + b.im * b.im;
    return complex<T>((a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d);
}
template <typename T> __host__ __device__ bool operator==(const complex<T> &a, const complex<T> &b) { return a.re == b.re && a.im == b.im; }
template <typename T> __host__ __device__ bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
template <typename T> __host__ __device__ complex<T> conj(const complex<T> &a) { return complex<T>(a.re, -a.im); }
template <typename T> __host__ __device__ T norm(const complex<T> &a) { return a.re * a.re + a.im * a.im; }
template <typename T> __host__ __device__ T abs(const complex<T> &a) { return sqrt(a.re * a.re + a.im * a.im); }
template <typename T> __host__ __device__ T arg(const complex<T> &a) { return atan2(a.im, a.re); }
template <typename T> __host__ __device__ complex<T> polar(T r, T t) { return complex<T>(r * cos(t), r * sin(t)); }
template <typename T> __host__ __device__ T real(const complex<T> &a) { return a.re; }
template <typename T> __host__ __device__ T imag(const complex<T> &a) { return a.im; }
template <typename T> __host__ __device__ complex<T> exp(const complex<T> &a) { return polar(exp(a.re), a.im); }
template <typename T> __host__ __device__ complex<T> operator+(const complex<T> &a, T s) { return complex<T>(a.re + s, a.im); }
template <typename T> __host__ __device__ complex<T> operator+(T s, const complex<T> &a) { return complex<T>(s + a.re, a.im); }
template <typename T> __host__ __device__ complex<T> operator-(const complex<T> &a, T s) { return complex<T>(a.re - s, a.im); }
template <typename T> __host__ __device__ complex<T> operator-(T s, const complex<T> &a) { return complex<T>(s - a.re, -a.im); }

class string {
    char *data_;
    size_t size_;

public:
    string() : data_(0), size_(0) { assign("", 0); }
    string(const char *s) : data_(0), size_(0) { assign(s, strlen(s)); }
    string(const string &o) : data_(0), size_(0) { assign(o.data_, o.size_); }
    void assign(const char *s, size_t n) {
        char *fresh = (char *)malloc(n + 1);
        for (size_t i = 0; i < n; i++) fresh[i] = s[i];
        fresh[n] = 0;
        data_ = fresh;
        size_ = n;
    }
    const char *c_str() const { return data_; }
    const char *data() const { return data_; }
    size_t size() const { return size_; }
    size_t length() const { return size_; }
    bool empty() const { return size_ == 0; }
    string(size_t n, char c) : data_(0), size_(0) {
        assign("", 0);
        for (size_t i = 0; i < n; i++) push_back(c);
    }
    static const size_t npos = (size_t)-1;
    char *begin() { return data_; }
    char *end() { return data_ + size_; }
    char &back() { return data_[size_ - 1]; }
    int compare(const string &o) const { return strcmp(data_, o.data_); }
    int compare(const char *o) const { return strcmp(data_, o); }
    void reserve(size_t n) {}
    void shrink_to_fit() {}
    size_t capacity() const { return size_; }
    char &at(size_t i) { return data_[i]; }
    char &front() { return data_[0]; }
    const char *begin() const { return data_; }
    const char *end() const { return data_ + size_; }
    void clear() { assign("", 0); }
    void pop_back() { assign(data_, size_ - 1); }
    void resize(size_t n) {
        string longer;
        longer.assign(data_, size_ < n ? size_ : n);
        while (longer.size_ < n) longer.push_back((char)0);
        assign(longer.data_, n);
    }
    template <typename I> string(I first, I last) : data_(0), size_(0) {
        assign("", 0);
        for (; first != last; ++first) push_back(*first);
    }
    string substr(size_t from, size_t n = npos) const {
        string s;
        s.assign(data_ + from, n < size_ - from ? n : size_ - from);
        return s;
    }
    string &erase(size_t from = 0, size_t n = npos) {
        string kept = substr(0, from);
        if (n < size_ - from) kept.append(substr(from + n));
        assign(kept.data_, kept.size_);
        return *this;
    }
    string &insert(size_t at, const string &part) {
        string whole = substr(0, at);
        whole.append(part);
        whole.append(substr(at));
        assign(whole.data_, whole.size_);
        return *this;
    }
    size_t find(const char *part, size_t from = 0) const {
        size_t n = strlen(part);
        for (size_t i = from; i + n <= size_; i++)
            if (strncmp(data_ + i, part, n) == 0) return i;
        return npos;
    }
    size_t find(const string &part, size_t from = 0) const { return find(part.data_, from); }
    size_t find(char c, size_t from = 0) const {
        for (size_t i = from; i < size_; i++)
            if (data_[i] == c) return i;
        return npos;
    }
    size_t rfind(char c) const {
        for (size_t i = size_; i > 0; i--)
            if (data_[i - 1] == c) return i - 1;
        return npos;
    }
    size_t find_last_of(char c) const { return rfind(c); }
    size_t find_first_not_of(const char *those, size_t from = 0) const {
        for (size_t i = from; i < size_; i++)
            if (!strchr(those, data_[i])) return i;
        return npos;
    }
    size_t find_first_not_of(char c, size_t from = 0) const {
        char those[2] = {c, 0};
        return find_first_not_of(those, from);
    }
    size_t find_last_not_of(const char *those) const {
        for (size_t i = size_; i > 0; i--)
            if (!strchr(those, data_[i - 1])) return i - 1;
        return npos;
    }
    size_t find_last_not_of(char c) const {
        char those[2] = {c, 0};
        return find_last_not_of(those);
    }
    void push_back(char c) {
        char one[2];
        one[0] = c;
        one[1] = 0;
        *this += string(one);
    }
    string &append(const string &o) { *this += o; return *this; }
    string &operator+=(char c) { push_back(c); return *this; }
    char &operator[](size_t i) { return data_[i]; }
    const char &operator[](size_t i) const { return data_[i]; }
    string &operator=(const char *s) { assign(s, strlen(s)); return *this; }
    string &operator=(const string &o) { assign(o.data_, o.size_); return *this; }
    string &operator+=(const string &o) {
        size_t n = size_;
        char *fresh = (char *)malloc(n + o.size_ + 1);
        for (size_t i = 0; i < n; i++) fresh[i] = data_[i];
        for (size_t i = 0; i < o.size_; i++) fresh[n + i] = o.data_[i];
        fresh[n + o.size_] = 0;
        data_ = fresh;
        size_ = n + o.size_;
        return *this;
    }
};
typedef string string_view;
inline bool operator==(const string &a, const string &b) { return strcmp(a.c_str(), b.c_str()) == 0; }
inline bool operator==(const string &a, const char *b) { return strcmp(a.c_str(), b) == 0; }
inline bool operator!=(const string &a, const string &b) { return strcmp(a.c_str(), b.c_str()) != 0; }
inline bool operator!=(const string &a, const char *b) { return strcmp(a.c_str(), b) != 0; }
inline bool operator==(const char *a, const string &b) { return b == a; }
inline string operator+(const string &a, const string &b) { string s(a); s += b; return s; }
inline string operator+(const string &a, char b) { string s(a); s += b; return s; }

inline int stoi(const string &s) { return atoi(s.c_str()); }
inline long stol(const string &s) { return atol(s.c_str()); }
inline long long stoll(const string &s) { return atoll(s.c_str()); }
inline unsigned long stoul(const string &s) { return (unsigned long)atoll(s.c_str()); }
inline float stof(const string &s) { return (float)atof(s.c_str()); }
inline double stod(const string &s) { return atof(s.c_str()); }

template <typename A, typename B> struct pair {
    A first;
    B second;
    __host__ __device__ pair() {}
    __host__ __device__ pair(const A &a, const B &b) : first(a), second(b) {}
};
template <typename A, typename B> __host__ __device__ bool operator==(const pair<A, B> &a, const pair<A, B> &b) {
    return a.first == b.first && a.second == b.second;
}
template <typename A, typename B> __host__ __device__ bool operator!=(const pair<A, B> &a, const pair<A, B> &b) { return !(a == b); }
template <typename A, typename B> __host__ __device__ bool operator<(const pair<A, B> &a, const pair<A, B> &b) {
    return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <typename A, typename B> __host__ __device__ bool operator>(const pair<A, B> &a, const pair<A, B> &b) { return b < a; }
template <typename A, typename B> __host__ __device__ pair<A, B> make_pair(A a, B b) { return pair<A, B>(a, b); }

struct random_device {
    unsigned operator()() { return random_bits(); }
};
struct mt19937 {
    unsigned seed_;
    mt19937() : seed_(0) {}
    mt19937(unsigned seed) : seed_(seed) {}
    void seed(unsigned seed) { seed_ = seed; }
    unsigned operator()() { return random_bits(); }
};
typedef mt19937 mt19937_64;
typedef mt19937 default_random_engine;
template <typename T = double> struct uniform_real_distribution {
    T low, high;
    uniform_real_distribution() : low(0), high(1) {}
    uniform_real_distribution(T a, T b) : low(a), high(b) {}
    template <typename G> T operator()(G &g) {
        return low + (T)(g() / 2147483648.0) * (high - low);
    }
};
template <typename T = double> struct normal_distribution {
    T mean, deviation;
    normal_distribution() : mean(0), deviation(1) {}
    normal_distribution(T m, T d) : mean(m), deviation(d) {}
    template <typename G> T operator()(G &g) {
        return mean + deviation * (T)(g() / 1073741824.0 - 1.0);
    }
};
struct bernoulli_distribution {
    double p;
    bernoulli_distribution(double given = 0.5) : p(given) {}
    template <typename G> bool operator()(G &g) { return g() / 4294967296.0 < p; }
};
template <typename T = double> struct exponential_distribution {
    T rate;
    exponential_distribution(T given = 1) : rate(given) {}
    template <typename G> T operator()(G &g) { return (T)(-log(1.0 - g() / 4294967296.0) / rate); }
};
template <typename T = int> struct uniform_int_distribution {
    T low, high;
    uniform_int_distribution() : low(0), high(2147483647) {}
    uniform_int_distribution(T a, T b) : low(a), high(b) {}
    template <typename G> T operator()(G &g) { return low + (T)(g() % (unsigned)(high - low + 1)); }
};

struct milli {};
struct micro {};
struct nano {};

namespace chrono {
struct duration_count {
    double count() const { return 0.0; }
};
template <typename C = int, typename D = int> struct time_point {
    time_point() {}
    template <typename E, typename F> time_point(const time_point<E, F> &o) {}
    duration_count time_since_epoch() const { duration_count d; return d; }
};
template <typename A, typename B, typename C, typename D>
duration_count operator-(const time_point<A, B> &a, const time_point<C, D> &b) {
    duration_count d;
    return d;
}
struct nanoseconds {};
struct microseconds {};
struct milliseconds {};
struct seconds {};
struct high_resolution_clock {
    typedef chrono::time_point<int, int> time_point;
    static chrono::time_point<int, int> now() { chrono::time_point<int, int> t; return t; }
};
struct steady_clock {
    typedef chrono::time_point<int, int> time_point;
    static chrono::time_point<int, int> now() { chrono::time_point<int, int> t; return t; }
};
struct system_clock {
    typedef chrono::time_point<int, int> time_point;
    static chrono::time_point<int, int> now() { chrono::time_point<int, int> t; return t; }
};
template <typename R, typename P = milliseconds> struct duration {
    duration() {}
    duration(const duration_count &d) {}
    R count() const { return 0; }
};
template <typename D> duration_count duration_cast(const duration_count &d) { return d; }
} // namespace chrono

} // namespace std

namespace cuda {
namespace std {
using ::std::conj;
using ::std::norm;
using ::std::abs;
using ::std::arg;
using ::std::polar;
using ::std::exp;
} // namespace std
} // namespace cuda

// Complex numbers of the toolkit.
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
__host__ __device__ inline float2 make_cuFloatComplex(float a, float b) { float2 r; r.x = a; r.y = b; return r; }
__host__ __device__ inline float2 make_cuComplex(float a, float b) { return make_cuFloatComplex(a, b); }
__host__ __device__ inline float cuCrealf(float2 a) { return a.x; }
__host__ __device__ inline float cuCimagf(float2 a) { return a.y; }
__host__ __device__ inline float2 cuConjf(float2 a) { return make_cuFloatComplex(a.x, -a.y); }
__host__ __device__ inline float2 cuCaddf(float2 a, float2 b) { return make_cuFloatComplex(a.x + b.x, a.y + b.y); }
__host__ __device__ inline float2 cuCsubf(float2 a, float2 b) { return make_cuFloatComplex(a.x - b.x, a.y - b.y); }
__host__ __device__ inline float2 cuCmulf(float2 a, float2 b) {
    return make_cuFloatComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__host__ __device__ inline float2 cuCfmaf(float2 a, float2 b, float2 c) { return cuCaddf(cuCmulf(a, b), c); }
__host__ __device__ inline float2 cuCdivf(float2 a, float2 b) {
    float d = b.x * b.x + b.y * b.y;
    return make_cuFloatComplex((a.x * b.x + a.y * b.y) / d, (a.y * b.x - a.x * b.y) / d);
}
__host__ __device__ inline float cuCabsf(float2 a) { return sqrt(a.x * a.x + a.y * a.y); }
__host__ __device__ inline double2 make_cuDoubleComplex(double a, double b) { double2 r; r.x = a; r.y = b; return r; }
__host__ __device__ inline double cuCreal(double2 a) { return a.x; }
__host__ __device__ inline double cuCimag(double2 a) { return a.y; }
__host__ __device__ inline double2 cuConj(double2 a) { return make_cuDoubleComplex(a.x, -a.y); }
__host__ __device__ inline double2 cuCadd(double2 a, double2 b) { return make_cuDoubleComplex(a.x + b.x, a.y + b.y); }
__host__ __device__ inline double2 cuCsub(double2 a, double2 b) { return make_cuDoubleComplex(a.x - b.x, a.y - b.y); }
__host__ __device__ inline double2 cuCmul(double2 a, double2 b) {
    return make_cuDoubleComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__host__ __device__ inline double2 cuCfma(double2 a, double2 b, double2 c) { return cuCadd(cuCmul(a, b), c); }
__host__ __device__ inline double2 cuCdiv(double2 a, double2 b) {
    double d = b.x * b.x + b.y * b.y;
    return make_cuDoubleComplex((a.x * b.x + a.y * b.y) / d, (a.y * b.x - a.x * b.y) / d);
}
__host__ __device__ inline double cuCabs(double2 a) { return sqrt(a.x * a.x + a.y * a.y); }

// Random numbers on the device: any sequence will do, another one for each seed and subsequence.
struct curandStateObject {
    unsigned long long at, step;
};
typedef curandStateObject curandState;
typedef curandStateObject curandState_t;
typedef curandStateObject curandStateXORWOW;
typedef curandStateObject curandStateXORWOW_t;
typedef curandStateObject curandStatePhilox4_32_10_t;
typedef curandStateObject curandStatePhilox4_32_10;
typedef curandStateObject curandStateMRG32k3a;
typedef curandStateObject curandStateMRG32k3a_t;
typedef curandStateObject curandStateSobol32;
typedef curandStateObject curandStateSobol32_t;
typedef curandStateObject curandStateScrambledSobol32_t;
typedef curandStateObject curandStateSobol64_t;
// One state for a block of 256 threads at most, which advance it together.
struct curandStateMtgp32 {
    unsigned long long at;
};
typedef curandStateMtgp32 curandStateMtgp32_t;
__device__ inline unsigned curand(curandStateMtgp32 *state) {
    assert(blockDim.x * blockDim.y * blockDim.z <= 256 && "a state is for 256 threads at most");
    unsigned long long n = atomicAdd_block(&state->at, 1ULL) * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(((n ^ (n >> 29)) * 0xbf58476d1ce4e5b9ULL) >> 32);
}
__device__ inline float curand_uniform(curandStateMtgp32 *state) { return (curand(state) >> 8) / 16777216.0f + 2.9802322e-8f; }
__device__ inline float curand_normal(curandStateMtgp32 *state) {
    float u = curand_uniform(state), v = curand_uniform(state);
    return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
}
__device__ inline void curand_init(
    unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateObject *state
) {
    state->at = seed * 0x9e3779b97f4a7c15ULL + offset;
    state->step = 2 * sequence + 1;
}
__device__ inline unsigned curand(curandStateObject *state) {
    state->at = state->at * 6364136223846793005ULL + state->step;
    unsigned long long mixed = state->at ^ (state->at >> 29);
    return (unsigned)((mixed * 0xbf58476d1ce4e5b9ULL) >> 32);
}
__device__ inline float curand_uniform(curandStateObject *state) { return (curand(state) >> 8) / 16777216.0f + 2.9802322e-8f; }
__device__ inline double curand_uniform_double(curandStateObject *state) { return curand(state) / 4294967296.0 + 1.1641532e-10; }
__device__ inline float curand_normal(curandStateObject *state) {
    float u = curand_uniform(state), v = curand_uniform(state);
    return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
}
__device__ inline double curand_normal_double(curandStateObject *state) { return curand_normal(state); }
__device__ inline float2 curand_normal2(curandStateObject *state) { return make_float2(curand_normal(state), curand_normal(state)); }
__device__ inline float curand_log_normal(curandStateObject *state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
__device__ inline double2 curand_normal2_double(curandStateObject *state) { return make_double2(curand_normal(state), curand_normal(state)); }
__device__ inline double2 curand_uniform2_double(curandStateObject *state) { return make_double2(curand_uniform_double(state), curand_uniform_double(state)); }
__device__ inline float2 curand_log_normal2(curandStateObject *state, float mean, float deviation) {
    return make_float2(curand_log_normal(state, mean, deviation), curand_log_normal(state, mean, deviation));
}
__device__ inline double curand_log_normal_double(curandStateObject *state, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(state));
}
// Knuth's way: the number of factors whose product stays above exp(-lambda).
__device__ inline unsigned curand_poisson(curandStateObject *state, double lambda) {
    double limit = exp(-fmin(lambda, 700.0)), product = curand_uniform_double(state);
    unsigned n = 0;
    while (product > limit && n < 100000) {
        product *= curand_uniform_double(state);
        n++;
    }
    return n;
}
__device__ inline float4 curand_uniform4(curandStateObject *state) {
    return make_float4(curand_uniform(state), curand_uniform(state), curand_uniform(state), curand_uniform(state));
}
__device__ inline uint4 curand4(curandStateObject *state) {
    return make_uint4(curand(state), curand(state), curand(state), curand(state));
}
__device__ inline float4 curand_normal4(curandStateObject *state) {
    return make_float4(curand_normal(state), curand_normal(state), curand_normal(state), curand_normal(state));
}
__device__ inline void skipahead(unsigned long long n, curandStateObject *state) { state->at += n; }
