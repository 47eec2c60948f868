// Memory of the driver that is mapped at addresses of its own: an address comes with the memory, and a handle says only whether that may be compressed.
typedef int CUdevice, CUresult, CUmemAllocationGranularity_flags, CUmemAllocationType, CUmemLocationType;
typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle;
enum { CUDA_SUCCESS = 0 };
enum {
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 109
};
enum { CU_MEM_ALLOCATION_TYPE_PINNED = 1, CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_ALLOCATION_COMP_NONE = 0, CU_MEM_ALLOCATION_COMP_GENERIC = 1,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };
struct CUmemLocation { int type, id; };
struct CUmemAllocationProp {
    int type, requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct { unsigned char compressionType, gpuDirectRDMACapable; unsigned short usage; unsigned char reserved[4]; } allocFlags;
};
struct CUmemAccessDesc { CUmemLocation location; int flags; };
inline int cuCtxGetDevice(CUdevice *device) { *device = 0; return 0; }
inline int cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    *value = 1;
    if (attribute == 75 || attribute == 76) cudaDeviceGetAttribute(value, attribute, device);
    return 0;
}
inline int cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop, int option) { *bytes = 2 << 20; return 0; }
inline int cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags) {
    void *memory;
    cudaMalloc(&memory, bytes);
    *at = (CUdeviceptr)memory;
    return 0;
}
inline int cuMemAddressFree(CUdeviceptr at, size_t bytes) { cudaFree((void *)at); return 0; }
inline int cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, unsigned long long flags) {
    *handle = prop->allocFlags.compressionType;
    return 0;
}
inline int cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
    prop->allocFlags.compressionType = (unsigned char)handle;
    return 0;
}
inline int cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) { return 0; }
inline int cuMemUnmap(CUdeviceptr at, size_t bytes) { return 0; }
inline int cuMemRelease(CUmemGenericAllocationHandle handle) { return 0; }
inline int cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access, size_t count) { return 0; }
