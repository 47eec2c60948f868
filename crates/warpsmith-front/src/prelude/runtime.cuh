// What else the run-time library and the libraries beside it are called with. Functions that compute on the device for the
// host (`cublasSgemm`, `cufftExecC2C`) are not here: they are left out and named, and what they write is not known.
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3, cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10, cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13, cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17, cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19, cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31, cudaDevAttrEccEnabled = 32, cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41, cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrManagedMemory = 83,
    cudaDevAttrPageableMemoryAccess = 88, cudaDevAttrConcurrentManagedAccess = 89, cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrMaxBlocksPerMultiprocessor = 106, cudaDevAttrMemoryPoolsSupported = 115
};

inline __host__ __device__ int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, device);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = p.clockRate; break;
    case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrIntegrated: case cudaDevAttrComputeMode: case cudaDevAttrKernelExecTimeout: *value = 0; break;
    case cudaDevAttrPageableMemoryAccess: *value = p.pageableMemoryAccess; break;
    case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = 32; break;
    default: *value = 1;
    }
    return 0;
}

struct cudaLaunchAttribute {
    int id;
    struct { int cooperative, priority, programmaticStreamSerializationAllowed; dim3 clusterDim; } val;
};
enum { cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaLaunchAttributePriority = 8 };
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
typedef cudaLaunchConfig_t cudaLaunchConfig_st;
template <typename K, typename... A> int cudaLaunchKernelEx(const cudaLaunchConfig_t *config, K kernel, A... values) {
    dim3 cluster(0, 0, 0);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) cluster = config->attrs[i].val.clusterDim;
    }
    kernel<<<config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, cluster>>>(values...);
    return 0;
}
template <typename K> int cudaOccupancyMaxActiveClusters(int *clusters, K kernel, const cudaLaunchConfig_t *config) {
    *clusters = 16;
    return 0;
}
template <typename K> int cudaOccupancyMaxPotentialClusterSize(int *blocks, K kernel, const cudaLaunchConfig_t *config) {
    *blocks = 8;
    return 0;
}

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
};
inline int cudaMemcpyPeer(void *to, int toDevice, const void *from, int fromDevice, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
template <typename S>
int cudaMemcpyPeerAsync(void *to, int toDevice, const void *from, int fromDevice, size_t bytes, S stream) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
template <typename S, typename F> int cudaStreamAddCallback(S stream, F f, void *data, unsigned flags) {
    f(stream, 0, data);
    return 0;
}

// Names of types of libraries, so that what has nothing to do with them is understood.
typedef int cublasHandle_t, cublasStatus_t, cublasOperation_t, cufftHandle, cufftResult, curandGenerator_t, curandStatus_t;
typedef int cusparseHandle_t, cusparseStatus_t, cusolverDnHandle_t, cusolverStatus_t;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
typedef float cufftReal;
typedef double cufftDoubleReal;

inline int cublasCreate(cublasHandle_t *handle) { *handle = 1; return 0; }
inline int cublasDestroy(cublasHandle_t handle) { return 0; }
inline int cublasSetStream(cublasHandle_t handle, cudaStream_t s) { return 0; }
inline int cublasSetMathMode(cublasHandle_t handle, int mode) { return 0; }
enum {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_POINTER_MODE_HOST = 0,
    CUBLAS_POINTER_MODE_DEVICE = 1
};
enum { cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2, cudaComputeModeExclusiveProcess = 3 };
enum { cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };

inline void qsort(void *all, size_t n, size_t size, int (*compare)(const void *, const void *)) {
    char *bytes = (char *)all, *held = (char *)malloc(size);
    for (size_t gap = n / 2; gap > 0; gap = gap / 2) {
        for (size_t i = gap; i < n; i++) {
            memcpy(held, bytes + i * size, size);
            size_t j = i;
            for (; j >= gap && compare(bytes + (j - gap) * size, held) > 0; j -= gap)
                memcpy(bytes + j * size, bytes + (j - gap) * size, size);
            memcpy(bytes + j * size, held, size);
        }
    }
    free(held);
}

// Threads of the host run where they are started.
typedef unsigned long pthread_t;
typedef int pthread_attr_t, pthread_mutex_t, pthread_barrier_t, pthread_cond_t;
enum { PTHREAD_MUTEX_INITIALIZER = 0, PTHREAD_CREATE_JOINABLE = 0 };
inline int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*f)(void *), void *data) {
    *thread = 1;
    f(data);
    return 0;
}
inline int pthread_join(pthread_t thread, void **result) { return 0; }
inline void pthread_exit(void *result) {}
inline int pthread_attr_init(pthread_attr_t *a) { return 0; }
inline int pthread_attr_destroy(pthread_attr_t *a) { return 0; }
inline int pthread_attr_setdetachstate(pthread_attr_t *a, int state) { return 0; }
inline int pthread_mutex_init(pthread_mutex_t *m, const void *attributes) { return 0; }
inline int pthread_mutex_lock(pthread_mutex_t *m) { return 0; }
inline int pthread_mutex_unlock(pthread_mutex_t *m) { return 0; }
inline int pthread_mutex_destroy(pthread_mutex_t *m) { return 0; }
inline int pthread_cond_init(pthread_cond_t *c, const void *attributes) { return 0; }
inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { return 0; }
inline int pthread_cond_signal(pthread_cond_t *c) { return 0; }
inline int pthread_cond_broadcast(pthread_cond_t *c) { return 0; }
inline int pthread_cond_destroy(pthread_cond_t *c) { return 0; }

// Pools of memory: all memory comes from the device.
typedef int cudaMemPool_t, cudaMemPoolAttr, cudaMemAllocationType, cudaMemAllocationHandleType, cudaMemLocationType;
enum { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1, cudaMemAllocationTypeMax = 2 };
enum { cudaMemHandleTypeNone = 0, cudaMemHandleTypePosixFileDescriptor = 1, cudaMemHandleTypeFabric = 8 };
enum { cudaMemLocationTypeInvalid = 0, cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2 };
enum { cudaMemAccessFlagsProtNone = 0, cudaMemAccessFlagsProtRead = 1, cudaMemAccessFlagsProtReadWrite = 3 };
enum {
    cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic = 2,
    cudaMemPoolReuseAllowInternalDependencies = 3, cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5, cudaMemPoolAttrReservedMemHigh = 6, cudaMemPoolAttrUsedMemCurrent = 7,
    cudaMemPoolAttrUsedMemHigh = 8
};
struct cudaMemLocation {
    int type, id;
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    int flags;
};
struct cudaMemPoolProps {
    int allocType, handleTypes;
    cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
};
inline int cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) { *pool = 1; return 0; }
inline int cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { *pool = 1; return 0; }
inline int cudaDeviceSetMemPool(int device, cudaMemPool_t pool) { return 0; }
inline int cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props) { *pool = 2; return 0; }
inline int cudaMemPoolDestroy(cudaMemPool_t pool) { return 0; }
inline int cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) { return 0; }
inline int cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    *(unsigned long long *)value = 0;
    return 0;
}
inline int cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t n) { return 0; }
inline int cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) { return 0; }

namespace std {
struct thread {
    thread() {}
    template <typename F, typename... A> thread(F f, A... values) { f(values...); }
    void join() {}
    void detach() {}
    bool joinable() const { return true; }
    static unsigned hardware_concurrency() { return 1; }
};
enum class launch { async = 1, deferred = 2 };
// What another thread would compute is there at once.
template <typename T> struct future {
    T held;
    future() : held() {}
    future(T v) : held(v) {}
    T get() { return held; }
    void wait() const {}
    bool valid() const { return true; }
};
template <> struct future<void> {
    void get() {}
    void wait() const {}
    bool valid() const { return true; }
};
template <typename R> struct futureMaker {
    template <typename F, typename... A> static future<R> make(F f, A... values) { return future<R>(f(values...)); }
};
template <> struct futureMaker<void> {
    template <typename F, typename... A> static future<void> make(F f, A... values) {
        f(values...);
        return future<void>();
    }
};
template <typename F, typename... A> struct asyncCall {
    static auto make(F f, A... values) { return futureMaker<decltype(f(values...))>::make(f, values...); }
};
template <typename F, typename... A> struct asyncCall<launch, F, A...> {
    static auto make(launch when, F f, A... values) { return futureMaker<decltype(f(values...))>::make(f, values...); }
};
template <typename... A> auto async(A... all) { return asyncCall<A...>::make(all...); }
struct strong_ordering {
    enum { less = -1, equal = 0, equivalent = 0, greater = 1 };
    int value;
    __host__ __device__ strong_ordering(int v) : value(v) {}
    __host__ __device__ operator int() const { return value; }
};
typedef strong_ordering weak_ordering;
typedef strong_ordering partial_ordering;
struct mutex {
    void lock() {}
    void unlock() {}
    bool try_lock() { return true; }
};
template <typename M> struct lock_guard { lock_guard(M &m) {} };
template <typename M> struct unique_lock {
    unique_lock(M &m) {}
    void lock() {}
    void unlock() {}
};
template <typename T> struct atomic {
    T held;
    atomic() : held() {}
    atomic(T v) : held(v) {}
    T load() const { return held; }
    void store(T v) { held = v; }
    operator T() const { return held; }
    T operator=(T v) { held = v; return v; }
    T operator++(int) { T old = held; held = held + 1; return old; }
    T operator++() { held = held + 1; return held; }
    T operator+=(T v) { held = held + v; return held; }
    T fetch_add(T v) { T old = held; held = held + v; return old; }
};
template <typename T> struct uniqueMaker {
    template <typename... A> static unique_ptr<T> make(A... values) { return unique_ptr<T>(new T(values...)); }
};
template <typename T> struct uniqueMaker<T[]> {
    static unique_ptr<T[]> make(size_t n) {
        T *all = new T[n];
        if constexpr (std::is_arithmetic<T>::value) memset(all, 0, n * sizeof(T));
        return unique_ptr<T[]>(all);
    }
};
template <typename T, typename... A> unique_ptr<T> make_unique(A... values) { return uniqueMaker<T>::make(values...); }
} // namespace std

// Marks for profilers.
inline int nvtxRangePushA(const char *name) { return 0; }
inline int nvtxRangePush(const char *name) { return 0; }
inline int nvtxRangePop() { return 0; }
inline void nvtxMarkA(const char *name) {}
inline void nvtxMark(const char *name) {}

// Launches by the driver, of kernels that the run-time library knows.
typedef void *CUfunction;
typedef void *CUstream;
inline int cudaGetFuncBySymbol(CUfunction *function, const void *symbol) {
    *function = (void *)symbol;
    return 0;
}
inline int cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, cudaStream_t stream, void **arguments, void **extra) {
    return cudaLaunchKernel(function, dim3(gx, gy, gz), dim3(bx, by, bz), arguments, shared, stream);
}

// Functions of the library as values: `std::unique_ptr<float, decltype(&cudaFree)>`, `void (*release)(void *) = free`.
inline cudaError_t valueOf_cudaFree(void *p) { return cudaFree(p); }
inline cudaError_t valueOf_cudaFreeHost(void *p) { return cudaFreeHost(p); }
inline cudaError_t valueOf_cudaStreamDestroy(cudaStream_t s) { return cudaStreamDestroy(s); }
inline cudaError_t valueOf_cudaEventDestroy(cudaEvent_t e) { return cudaEventDestroy(e); }
inline void valueOf_free(void *p) { free(p); }
inline void *valueOf_malloc(size_t bytes) { return malloc(bytes); }
