// Textures and surfaces: arrays of the device, objects that describe how they are read, and the reads themselves.

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0, cudaChannelFormatKindUnsigned = 1, cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3
};
enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2, cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaResourceType {
    cudaResourceTypeArray = 0, cudaResourceTypeMipmappedArray = 1, cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum {
    cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4,
    cudaArrayTextureGather = 8
};

struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };

struct cudaArray {
    char *data;
    size_t width, height, depth;
    cudaChannelFormatDesc desc;
    cudaExtent asked;
    unsigned flags;
};
typedef cudaArray *cudaArray_t;
typedef const cudaArray *cudaArray_const_t;

// A pyramid: each level has half the extents of the one before.
enum { mostLevels = 16 };
struct cudaMipmappedArray {
    cudaArray_t levels[mostLevels];
    int count;
};
typedef cudaMipmappedArray *cudaMipmappedArray_t;
typedef const cudaMipmappedArray *cudaMipmappedArray_const_t;

struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    int kind;
};

struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    } res;
    unsigned flags;
};

struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc { int format; size_t width, height, depth; };

// What a texture or surface object names, in memory of the device.
struct textureRecord {
    const char *data;
    long long width, height, depth, pitch;
    int element, channels, bits, kind;
    int address0, address1, address2;
    int linear, normalizedFloat, normalizedCoords;
    // The next level of a pyramid, and how a level is chosen.
    const textureRecord *smaller;
    int linearLevels;
    float bias, leastLevel, mostLevel;
};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f) {
    cudaChannelFormatDesc d;
    d.x = x; d.y = y; d.z = z; d.w = w; d.f = (cudaChannelFormatKind)f;
    return d;
}
template <typename T> struct textureElement;
template <> struct textureElement<char> { enum { bits = 8, channels = 1, kind = 0 }; };
template <> struct textureElement<signed char> { enum { bits = 8, channels = 1, kind = 0 }; };
template <> struct textureElement<unsigned char> { enum { bits = 8, channels = 1, kind = 1 }; };
template <> struct textureElement<short> { enum { bits = 16, channels = 1, kind = 0 }; };
template <> struct textureElement<unsigned short> { enum { bits = 16, channels = 1, kind = 1 }; };
template <> struct textureElement<int> { enum { bits = 32, channels = 1, kind = 0 }; };
template <> struct textureElement<unsigned> { enum { bits = 32, channels = 1, kind = 1 }; };
template <> struct textureElement<float> { enum { bits = 32, channels = 1, kind = 2 }; };
template <> struct textureElement<char2> { enum { bits = 8, channels = 2, kind = 0 }; };
template <> struct textureElement<uchar2> { enum { bits = 8, channels = 2, kind = 1 }; };
template <> struct textureElement<short2> { enum { bits = 16, channels = 2, kind = 0 }; };
template <> struct textureElement<ushort2> { enum { bits = 16, channels = 2, kind = 1 }; };
template <> struct textureElement<int2> { enum { bits = 32, channels = 2, kind = 0 }; };
template <> struct textureElement<uint2> { enum { bits = 32, channels = 2, kind = 1 }; };
template <> struct textureElement<float2> { enum { bits = 32, channels = 2, kind = 2 }; };
template <> struct textureElement<char4> { enum { bits = 8, channels = 4, kind = 0 }; };
template <> struct textureElement<uchar4> { enum { bits = 8, channels = 4, kind = 1 }; };
template <> struct textureElement<short4> { enum { bits = 16, channels = 4, kind = 0 }; };
template <> struct textureElement<ushort4> { enum { bits = 16, channels = 4, kind = 1 }; };
template <> struct textureElement<int4> { enum { bits = 32, channels = 4, kind = 0 }; };
template <> struct textureElement<uint4> { enum { bits = 32, channels = 4, kind = 1 }; };
template <> struct textureElement<float4> { enum { bits = 32, channels = 4, kind = 2 }; };
template <typename T> cudaChannelFormatDesc cudaCreateChannelDesc() {
    int b = textureElement<T>::bits, n = textureElement<T>::channels;
    return cudaCreateChannelDesc(b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0, textureElement<T>::kind);
}

inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
    cudaExtent e;
    e.width = w; e.height = h; e.depth = d;
    return e;
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    cudaPos p;
    p.x = x; p.y = y; p.z = z;
    return p;
}
inline cudaPitchedPtr make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize, size_t ysize) {
    cudaPitchedPtr p;
    p.ptr = ptr; p.pitch = pitch; p.xsize = xsize; p.ysize = ysize;
    return p;
}

inline size_t bytesOfElement(const cudaChannelFormatDesc &d) { return (d.x + d.y + d.z + d.w) / 8; }
inline size_t atLeastOne(size_t n) { return n > 0 ? n : 1; }

inline int cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, cudaExtent extent, unsigned flags = 0) {
    cudaArray_t a = (cudaArray_t)malloc(sizeof(cudaArray));
    a->desc = *desc;
    a->width = extent.width;
    a->height = atLeastOne(extent.height);
    a->depth = atLeastOne(extent.depth);
    a->asked = extent;
    a->flags = flags;
    cudaMalloc((void **)&a->data, a->width * a->height * a->depth * bytesOfElement(a->desc));
    *array = a;
    return 0;
}
inline int cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width, size_t height = 0, unsigned flags = 0) {
    return cudaMalloc3DArray(array, desc, make_cudaExtent(width, height, 0), flags);
}
inline int cudaFreeArray(cudaArray_t array) { return cudaFree(array->data); }
inline int cudaArrayGetInfo(cudaChannelFormatDesc *desc, cudaExtent *extent, unsigned *flags, cudaArray_t array) {
    if (desc) *desc = array->desc;
    if (extent) *extent = array->asked;
    if (flags) *flags = array->flags;
    return 0;
}
inline int cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    *desc = array->desc;
    return 0;
}

inline size_t halved(size_t n) { return n < 2 ? n : n / 2; }
inline int cudaMallocMipmappedArray(
    cudaMipmappedArray_t *pyramid, const cudaChannelFormatDesc *desc, cudaExtent extent, unsigned levels, unsigned flags = 0
) {
    cudaMipmappedArray_t m = (cudaMipmappedArray_t)malloc(sizeof(cudaMipmappedArray));
    for (m->count = 0; m->count < levels && m->count < mostLevels; m->count++) {
        cudaMalloc3DArray(&m->levels[m->count], desc, extent, flags);
        extent.width = halved(extent.width);
        extent.height = halved(extent.height);
        if ((flags & (cudaArrayLayered | cudaArrayCubemap)) == 0) extent.depth = halved(extent.depth);
    }
    *pyramid = m;
    return 0;
}
inline int cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t pyramid, unsigned level) {
    if (level >= pyramid->count) return 1;
    *array = pyramid->levels[level];
    return 0;
}
inline int cudaFreeMipmappedArray(cudaMipmappedArray_t pyramid) {
    for (int i = 0; i < pyramid->count; i++) cudaFreeArray(pyramid->levels[i]);
    free(pyramid);
    return 0;
}
inline int cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent) {
    void *data;
    size_t pitch = (extent.width + 511) / 512 * 512;
    cudaMalloc(&data, pitch * extent.height * extent.depth);
    *p = make_cudaPitchedPtr(data, pitch, extent.width, extent.height);
    return 0;
}

inline int cudaMemcpy2DToArray(
    cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int way
) {
    size_t row = to->width * bytesOfElement(to->desc);
    for (size_t i = 0; i < height; i++)
        cudaMemcpy(to->data + (y + i) * row + x, (const char *)from + i * pitch, width, cudaMemcpyDefault);
    return 0;
}
inline int cudaMemcpy2DToArrayAsync(
    cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int way, cudaStream_t s = 0
) {
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, way);
}
inline int cudaMemcpy2DFromArray(
    void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, int way
) {
    size_t row = from->width * bytesOfElement(from->desc);
    for (size_t i = 0; i < height; i++)
        cudaMemcpy((char *)to + i * pitch, from->data + (y + i) * row + x, width, cudaMemcpyDefault);
    return 0;
}
inline int cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, int way) {
    size_t row = to->width * bytesOfElement(to->desc);
    return cudaMemcpy(to->data + y * row + x, from, bytes, cudaMemcpyDefault);
}
inline int cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, int way, cudaStream_t s = 0) {
    return cudaMemcpyToArray(to, x, y, from, bytes, way);
}
inline int cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, int way) {
    size_t row = from->width * bytesOfElement(from->desc);
    return cudaMemcpy(to, from->data + y * row + x, bytes, cudaMemcpyDefault);
}
inline int cudaMemcpy3D(const cudaMemcpy3DParms *p) {
    size_t size = 1;
    if (p->srcArray != 0) size = bytesOfElement(p->srcArray->desc);
    if (p->dstArray != 0) size = bytesOfElement(p->dstArray->desc);
    char *from = (char *)p->srcPtr.ptr, *to = (char *)p->dstPtr.ptr;
    size_t fromPitch = p->srcPtr.pitch, fromRows = p->srcPtr.ysize;
    size_t toPitch = p->dstPtr.pitch, toRows = p->dstPtr.ysize;
    if (p->srcArray != 0) {
        from = p->srcArray->data;
        fromPitch = p->srcArray->width * size;
        fromRows = p->srcArray->height;
    }
    if (p->dstArray != 0) {
        to = p->dstArray->data;
        toPitch = p->dstArray->width * size;
        toRows = p->dstArray->height;
    }
    size_t fromX = p->srcArray != 0 ? p->srcPos.x * size : p->srcPos.x;
    size_t toX = p->dstArray != 0 ? p->dstPos.x * size : p->dstPos.x;
    for (size_t z = 0; z < atLeastOne(p->extent.depth); z++)
        for (size_t y = 0; y < atLeastOne(p->extent.height); y++)
            cudaMemcpy(
                to + ((z + p->dstPos.z) * toRows + y + p->dstPos.y) * toPitch + toX,
                from + ((z + p->srcPos.z) * fromRows + y + p->srcPos.y) * fromPitch + fromX,
                p->extent.width * size, cudaMemcpyDefault
            );
    return 0;
}
inline int cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t s = 0) { return cudaMemcpy3D(p); }
inline int cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
    for (size_t z = 0; z < extent.depth; z++)
        for (size_t y = 0; y < extent.height; y++)
            cudaMemset((char *)p.ptr + (z * p.ysize + y) * p.pitch, value, extent.width);
    return 0;
}
inline int cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t s = 0) {
    return cudaMemset3D(p, value, extent);
}

inline textureRecord recordOf(const cudaResourceDesc &r) {
    textureRecord t;
    cudaChannelFormatDesc d;
    t.height = 1;
    t.depth = 1;
    if (r.resType == cudaResourceTypeArray || r.resType == cudaResourceTypeMipmappedArray) {
        cudaArray_t a = r.resType == cudaResourceTypeArray ? r.res.array.array : r.res.mipmap.mipmap->levels[0];
        d = a->desc;
        t.data = a->data;
        t.width = a->width;
        t.height = a->height;
        t.depth = a->depth;
        t.pitch = a->width * bytesOfElement(d);
    } else if (r.resType == cudaResourceTypeLinear) {
        d = r.res.linear.desc;
        t.data = (const char *)r.res.linear.devPtr;
        t.width = r.res.linear.sizeInBytes / bytesOfElement(d);
        t.pitch = r.res.linear.sizeInBytes;
    } else {
        d = r.res.pitch2D.desc;
        t.data = (const char *)r.res.pitch2D.devPtr;
        t.width = r.res.pitch2D.width;
        t.height = r.res.pitch2D.height;
        t.pitch = r.res.pitch2D.pitchInBytes;
    }
    t.element = (int)bytesOfElement(d);
    t.channels = (d.x > 0) + (d.y > 0) + (d.z > 0) + (d.w > 0);
    t.bits = d.x;
    t.kind = d.f;
    t.address0 = t.address1 = t.address2 = cudaAddressModeBorder;
    t.linear = t.normalizedFloat = t.normalizedCoords = 0;
    t.smaller = nullptr;
    t.linearLevels = 0;
    t.bias = t.leastLevel = t.mostLevel = 0.0f;
    return t;
}
inline unsigned long long objectOf(const textureRecord &t) {
    textureRecord *d;
    cudaMalloc((void **)&d, sizeof(textureRecord));
    cudaMemcpy(d, &t, sizeof(textureRecord), cudaMemcpyHostToDevice);
    return (unsigned long long)d;
}
inline textureRecord textureOf(const cudaResourceDesc *r, const cudaTextureDesc *d) {
    textureRecord t = recordOf(*r);
    t.address0 = d->addressMode[0];
    t.address1 = d->addressMode[1];
    t.address2 = d->addressMode[2];
    t.linear = d->filterMode == cudaFilterModeLinear;
    t.normalizedFloat = d->readMode == cudaReadModeNormalizedFloat;
    t.normalizedCoords = d->normalizedCoords;
    // Of anything else nobody has to set these.
    if (r->resType == cudaResourceTypeMipmappedArray) {
        t.linearLevels = d->mipmapFilterMode == cudaFilterModeLinear;
        t.bias = d->mipmapLevelBias;
        t.leastLevel = d->minMipmapLevelClamp;
        t.mostLevel = d->maxMipmapLevelClamp;
    }
    return t;
}
inline int cudaCreateTextureObject(
    cudaTextureObject_t *object, const cudaResourceDesc *r, const cudaTextureDesc *d, const cudaResourceViewDesc *view
) {
    textureRecord t = textureOf(r, d);
    if (r->resType == cudaResourceTypeMipmappedArray) {
        for (int i = r->res.mipmap.mipmap->count - 1; i > 0; i--) {
            cudaResourceDesc level;
            level.resType = cudaResourceTypeArray;
            level.res.array.array = r->res.mipmap.mipmap->levels[i];
            textureRecord one = textureOf(&level, d);
            one.smaller = t.smaller;
            t.smaller = (const textureRecord *)objectOf(one);
        }
    }
    *object = objectOf(t);
    return 0;
}
inline int cudaDestroyTextureObject(cudaTextureObject_t object) { return 0; }
inline int cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *r) {
    *object = objectOf(recordOf(*r));
    return 0;
}
inline int cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return 0; }

// The element that an index means under an addressing mode; -1 is the border.
__device__ inline long long textureIndex(long long i, long long n, int mode, int normalized) {
    if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
    if (normalized && mode == cudaAddressModeWrap) {
        i = i % n;
        return i < 0 ? i + n : i;
    }
    if (normalized && mode == cudaAddressModeMirror) {
        i = i % (2 * n);
        if (i < 0) i = i + 2 * n;
        return i < n ? i : 2 * n - 1 - i;
    }
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

// The channels of an element as floats between -1 and 1, as `cudaReadModeNormalizedFloat` gives them.
__device__ inline float textureChannel(const char *p, int bits, int kind) {
    if (bits == 8 && kind == 1) return *(const unsigned char *)p / 255.0f;
    if (bits == 8) return fmaxf(*(const signed char *)p / 127.0f, -1.0f);
    if (bits == 16 && kind == 1) return *(const unsigned short *)p / 65535.0f;
    if (bits == 16) return fmaxf(*(const short *)p / 32767.0f, -1.0f);
    return *(const float *)p;
}
__device__ inline void textureFloats(const textureRecord *t, const char *p, float *to) {
    *to = textureChannel(p, t->bits, t->kind);
}
__device__ inline void textureFloats(const textureRecord *t, const char *p, float2 *to) {
    int step = t->bits / 8;
    to->x = textureChannel(p, t->bits, t->kind);
    to->y = textureChannel(p + step, t->bits, t->kind);
}
__device__ inline void textureFloats(const textureRecord *t, const char *p, float4 *to) {
    int step = t->bits / 8;
    to->x = textureChannel(p, t->bits, t->kind);
    to->y = textureChannel(p + step, t->bits, t->kind);
    to->z = textureChannel(p + 2 * step, t->bits, t->kind);
    to->w = textureChannel(p + 3 * step, t->bits, t->kind);
}
template <typename T> __device__ void textureFloats(const textureRecord *t, const char *p, T *to) { *to = *(const T *)p; }

__device__ inline float textureMix(float a, float b, float weight) { return (1.0f - weight) * a + weight * b; }
__device__ inline float2 textureMix(float2 a, float2 b, float w) {
    return make_float2(textureMix(a.x, b.x, w), textureMix(a.y, b.y, w));
}
__device__ inline float4 textureMix(float4 a, float4 b, float w) {
    return make_float4(
        textureMix(a.x, b.x, w), textureMix(a.y, b.y, w), textureMix(a.z, b.z, w), textureMix(a.w, b.w, w)
    );
}
template <typename T> __device__ T textureMix(T a, T b, float weight) { return a; }

template <typename T>
__device__ T textureTexel(const textureRecord *t, long long x, long long y, long long z) {
    long long i = textureIndex(x, t->width, t->address0, t->normalizedCoords);
    long long j = textureIndex(y, t->height, t->address1, t->normalizedCoords);
    long long k = textureIndex(z, t->depth, t->address2, t->normalizedCoords);
    T value = T();
    if (i < 0 || j < 0 || k < 0) return value;
    const char *p = t->data + (k * t->height + j) * t->pitch + i * t->element;
    if (t->normalizedFloat)
        textureFloats(t, p, &value);
    else
        value = *(const T *)p;
    return value;
}

// The weight of the right neighbour has 8 bits behind the point.
__device__ inline float textureWeight(float x) { return floorf((x - floorf(x)) * 256.0f + 0.5f) / 256.0f; }

template <typename T>
__device__ T textureFetch(const textureRecord *t, float x, float y, float z, int dimensions) {
    if (t->normalizedCoords) {
        x = x * t->width;
        y = y * t->height;
        z = z * t->depth;
    }
    if (!t->linear) {
        return textureTexel<T>(
            t, (long long)floorf(x), dimensions > 1 ? (long long)floorf(y) : 0, dimensions > 2 ? (long long)floorf(z) : 0
        );
    }
    x = x - 0.5f;
    y = dimensions > 1 ? y - 0.5f : 0.0f;
    z = dimensions > 2 ? z - 0.5f : 0.0f;
    float a = textureWeight(x), b = textureWeight(y), c = textureWeight(z);
    long long i = (long long)floorf(x), j = (long long)floorf(y), k = (long long)floorf(z);
    T low = textureMix(textureTexel<T>(t, i, j, k), textureTexel<T>(t, i + 1, j, k), a);
    if (dimensions == 1) return low;
    low = textureMix(low, textureMix(textureTexel<T>(t, i, j + 1, k), textureTexel<T>(t, i + 1, j + 1, k), a), b);
    if (dimensions == 2) return low;
    T high = textureMix(textureTexel<T>(t, i, j, k + 1), textureTexel<T>(t, i + 1, j, k + 1), a);
    high = textureMix(high, textureMix(textureTexel<T>(t, i, j + 1, k + 1), textureTexel<T>(t, i + 1, j + 1, k + 1), a), b);
    return textureMix(low, high, c);
}

// A layer is chosen by its number and never mixed with others.
template <typename T>
__device__ T textureLayer(const textureRecord *t, float x, float y, int layer, int dimensions) {
    textureRecord one = *t;
    long long last = t->depth - 1;
    long long n = layer < 0 ? 0 : (layer > last ? last : layer);
    if (dimensions == 1) {
        last = t->height * t->depth - 1;
        n = layer < 0 ? 0 : (layer > last ? last : layer);
        one.data = t->data + n * t->pitch;
    } else {
        one.data = t->data + n * t->height * t->pitch;
    }
    one.depth = 1;
    return textureFetch<T>(&one, x, y, 0.0f, dimensions);
}

template <typename T> __device__ T tex1Dfetch(cudaTextureObject_t t, int i) {
    const textureRecord *r = (const textureRecord *)t;
    T value = T();
    if (i < 0 || i >= r->width) return value;
    if (r->normalizedFloat)
        textureFloats(r, r->data + (long long)i * r->element, &value);
    else
        value = *(const T *)(r->data + (long long)i * r->element);
    return value;
}
template <typename T> __device__ T tex1D(cudaTextureObject_t t, float x) {
    return textureFetch<T>((const textureRecord *)t, x, 0.0f, 0.0f, 1);
}
template <typename T> __device__ T tex2D(cudaTextureObject_t t, float x, float y) {
    return textureFetch<T>((const textureRecord *)t, x, y, 0.0f, 2);
}
template <typename T> __device__ T tex3D(cudaTextureObject_t t, float x, float y, float z) {
    return textureFetch<T>((const textureRecord *)t, x, y, z, 3);
}
template <typename T> __device__ T tex1DLayered(cudaTextureObject_t t, float x, int layer) {
    return textureLayer<T>((const textureRecord *)t, x, 0.0f, layer, 1);
}
template <typename T> __device__ T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
    return textureLayer<T>((const textureRecord *)t, x, y, layer, 2);
}
// A face of the cube is a layer: the largest coordinate chooses it, the others are positions on it.
template <typename T> __device__ T textureCube(const textureRecord *r, float x, float y, float z, int cube) {
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), m, s, u;
    int face;
    if (ax >= ay && ax >= az) {
        face = x >= 0.0f ? 0 : 1;
        m = ax;
        s = x >= 0.0f ? -z : z;
        u = -y;
    } else if (ay >= az) {
        face = y >= 0.0f ? 2 : 3;
        m = ay;
        s = x;
        u = y >= 0.0f ? z : -z;
    } else {
        face = z >= 0.0f ? 4 : 5;
        m = az;
        s = z >= 0.0f ? x : -x;
        u = -y;
    }
    float px = (s / m + 1.0f) * 0.5f, py = (u / m + 1.0f) * 0.5f;
    textureRecord one = *r;
    one.normalizedCoords = 1;
    one.address0 = one.address1 = cudaAddressModeClamp;
    long long last = r->depth / 6 - 1;
    long long n = cube < 0 ? 0 : (cube > last ? last : cube);
    one.data = r->data + (6 * n + face) * r->height * r->pitch;
    one.depth = 1;
    return textureFetch<T>(&one, px, py, 0.0f, 2);
}
// A level of a pyramid; behind the last one, that. The form is a number of dimensions or one of these.
enum { cubesOfFaces = 4, layersOfPlanes = 5 };
template <typename T>
__device__ T textureOfLevel(const textureRecord *r, int level, float x, float y, float z, int form, int layer) {
    for (; level > 0 && r->smaller; level--) r = r->smaller;
    if (form == cubesOfFaces) return textureCube<T>(r, x, y, z, layer);
    if (form == layersOfPlanes) return textureLayer<T>(r, x, y, layer, 2);
    return textureFetch<T>(r, x, y, z, form);
}
template <typename T>
__device__ T textureLod(cudaTextureObject_t t, float level, float x, float y, float z, int form, int layer = 0) {
    const textureRecord *r = (const textureRecord *)t;
    level = fminf(fmaxf(level + r->bias, r->leastLevel), r->mostLevel);
    if (!r->linearLevels) return textureOfLevel<T>(r, (int)(level + 0.5f), x, y, z, form, layer);
    T one = textureOfLevel<T>(r, (int)level, x, y, z, form, layer);
    return textureMix(one, textureOfLevel<T>(r, (int)level + 1, x, y, z, form, layer), textureWeight(level));
}
template <typename T> __device__ T tex1DLod(cudaTextureObject_t t, float x, float level) {
    return textureLod<T>(t, level, x, 0.0f, 0.0f, 1);
}
template <typename T> __device__ T tex2DLod(cudaTextureObject_t t, float x, float y, float level) {
    return textureLod<T>(t, level, x, y, 0.0f, 2);
}
template <typename T> __device__ T tex3DLod(cudaTextureObject_t t, float x, float y, float z, float level) {
    return textureLod<T>(t, level, x, y, z, 3);
}
template <typename T> __device__ T tex2DLayeredLod(cudaTextureObject_t t, float x, float y, int layer, float level) {
    return textureLod<T>(t, level, x, y, 0.0f, layersOfPlanes, layer);
}
template <typename T> __device__ T texCubemap(cudaTextureObject_t t, float x, float y, float z) {
    return textureCube<T>((const textureRecord *)t, x, y, z, 0);
}
template <typename T> __device__ T texCubemapLayered(cudaTextureObject_t t, float x, float y, float z, int layer) {
    return textureCube<T>((const textureRecord *)t, x, y, z, layer);
}
template <typename T> __device__ T texCubemapLod(cudaTextureObject_t t, float x, float y, float z, float level) {
    return textureLod<T>(t, level, x, y, z, cubesOfFaces);
}
// The level at which the longer of the two steps is one texel.
template <typename T> __device__ T tex2DGrad(cudaTextureObject_t t, float x, float y, float2 dx, float2 dy) {
    const textureRecord *r = (const textureRecord *)t;
    float width = r->normalizedCoords ? r->width : 1.0f, height = r->normalizedCoords ? r->height : 1.0f;
    float along = hypotf(dx.x * width, dx.y * height), down = hypotf(dy.x * width, dy.y * height);
    return textureLod<T>(t, log2f(fmaxf(along, down)), x, y, 0.0f, 2);
}
// One channel of the four texels that filtering would mix, counter-clockwise from the lower left one.
template <typename T> __device__ T tex2Dgather(cudaTextureObject_t t, float x, float y, int channel = 0) {
    const textureRecord *r = (const textureRecord *)t;
    T four = T();
    if (channel < 0 || channel >= r->channels) return four;
    textureRecord one = *r;
    one.data = r->data + channel * (r->bits / 8);
    if (r->normalizedCoords) {
        x = x * r->width;
        y = y * r->height;
    }
    long long i = (long long)floorf(x - 0.5f), j = (long long)floorf(y - 0.5f);
    four.x = textureTexel<decltype(four.x)>(&one, i, j + 1, 0);
    four.y = textureTexel<decltype(four.x)>(&one, i + 1, j + 1, 0);
    four.z = textureTexel<decltype(four.x)>(&one, i + 1, j, 0);
    four.w = textureTexel<decltype(four.x)>(&one, i, j, 0);
    return four;
}
template <typename T> __device__ void tex1Dfetch(T *to, cudaTextureObject_t t, int i) { *to = tex1Dfetch<T>(t, i); }
template <typename T> __device__ void tex1D(T *to, cudaTextureObject_t t, float x) { *to = tex1D<T>(t, x); }
template <typename T> __device__ void tex2D(T *to, cudaTextureObject_t t, float x, float y) { *to = tex2D<T>(t, x, y); }
template <typename T> __device__ void tex3D(T *to, cudaTextureObject_t t, float x, float y, float z) { *to = tex3D<T>(t, x, y, z); }

// Surfaces: positions along x are in bytes. What lies outside traps, is clamped, or is zero and not written.
__device__ inline char *surfaceAt(cudaSurfaceObject_t s, int x, int y, int z, int bytes, int mode) {
    const textureRecord *t = (const textureRecord *)s;
    long long width = t->width * t->element;
    bool inside = x >= 0 && x + bytes <= width && y >= 0 && y < t->height && z >= 0 && z < t->depth;
    if (mode == cudaBoundaryModeTrap) assert(inside && "the position lies on the surface");
    if (!inside && mode != cudaBoundaryModeClamp) return 0;
    long long i = x < 0 ? 0 : (x + bytes > width ? width - bytes : x);
    long long j = y < 0 ? 0 : (y >= t->height ? t->height - 1 : y);
    long long k = z < 0 ? 0 : (z >= t->depth ? t->depth - 1 : z);
    return (char *)(t->data + (k * t->height + j) * t->pitch + i);
}
template <typename T> __device__ T surfaceRead(cudaSurfaceObject_t s, int x, int y, int z, int mode) {
    T value = T();
    const char *p = surfaceAt(s, x, y, z, sizeof(T), mode);
    if (p != 0) value = *(const T *)p;
    return value;
}
template <typename T> __device__ void surfaceWrite(T value, cudaSurfaceObject_t s, int x, int y, int z, int mode) {
    char *p = surfaceAt(s, x, y, z, sizeof(T), mode);
    if (p != 0) *(T *)p = value;
}
template <typename T> __device__ T surf1Dread(cudaSurfaceObject_t s, int x, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, 0, 0, mode); }
template <typename T> __device__ T surf2Dread(cudaSurfaceObject_t s, int x, int y, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, y, 0, mode); }
template <typename T> __device__ T surf3Dread(cudaSurfaceObject_t s, int x, int y, int z, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, y, z, mode); }
template <typename T> __device__ T surf2DLayeredread(cudaSurfaceObject_t s, int x, int y, int layer, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, y, layer, mode); }
template <typename T> __device__ void surf1Dread(T *to, cudaSurfaceObject_t s, int x, int mode = cudaBoundaryModeTrap) { *to = surfaceRead<T>(s, x, 0, 0, mode); }
template <typename T> __device__ void surf2Dread(T *to, cudaSurfaceObject_t s, int x, int y, int mode = cudaBoundaryModeTrap) { *to = surfaceRead<T>(s, x, y, 0, mode); }
template <typename T> __device__ void surf3Dread(T *to, cudaSurfaceObject_t s, int x, int y, int z, int mode = cudaBoundaryModeTrap) { *to = surfaceRead<T>(s, x, y, z, mode); }
template <typename T> __device__ void surf2DLayeredread(T *to, cudaSurfaceObject_t s, int x, int y, int layer, int mode = cudaBoundaryModeTrap) { *to = surfaceRead<T>(s, x, y, layer, mode); }
template <typename T> __device__ void surf1Dwrite(T value, cudaSurfaceObject_t s, int x, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, 0, 0, mode); }
template <typename T> __device__ void surf2Dwrite(T value, cudaSurfaceObject_t s, int x, int y, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, y, 0, mode); }
template <typename T> __device__ void surf3Dwrite(T value, cudaSurfaceObject_t s, int x, int y, int z, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, y, z, mode); }
template <typename T> __device__ void surf2DLayeredwrite(T value, cudaSurfaceObject_t s, int x, int y, int layer, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, y, layer, mode); }
template <typename T> __device__ void surfCubemapwrite(T value, cudaSurfaceObject_t s, int x, int y, int face, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, y, face, mode); }
template <typename T> __device__ T surf1DLayeredread(cudaSurfaceObject_t s, int x, int layer, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, 0, layer, mode); }
template <typename T> __device__ void surf1DLayeredwrite(T value, cudaSurfaceObject_t s, int x, int layer, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, 0, layer, mode); }
template <typename T> __device__ T surfCubemapLayeredread(cudaSurfaceObject_t s, int x, int y, int layerFace, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, y, layerFace, mode); }
template <typename T> __device__ void surfCubemapLayeredwrite(T value, cudaSurfaceObject_t s, int x, int y, int layerFace, int mode = cudaBoundaryModeTrap) { surfaceWrite<T>(value, s, x, y, layerFace, mode); }
template <typename T> __device__ T surfCubemapread(cudaSurfaceObject_t s, int x, int y, int face, int mode = cudaBoundaryModeTrap) { return surfaceRead<T>(s, x, y, face, mode); }

// References to textures and surfaces, which CUDA 12 removed: variables that both sides see, bound by the host.
enum {
    cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3, cudaTextureTypeCubemap = 12,
    cudaTextureType1DLayered = 241, cudaTextureType2DLayered = 242, cudaSurfaceType1D = 1, cudaSurfaceType2D = 2,
    cudaSurfaceType3D = 3
};
template <typename T, int D = cudaTextureType1D, int M = cudaReadModeElementType> struct texture {
    cudaTextureObject_t object;
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
};
template <typename T, int D = cudaSurfaceType1D> struct surface { cudaSurfaceObject_t object; };
template <typename T, int M> struct textureValue { typedef T type; };
template <> struct textureValue<unsigned char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct textureValue<signed char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct textureValue<char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct textureValue<unsigned short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct textureValue<short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct textureValue<uchar2, cudaReadModeNormalizedFloat> { typedef float2 type; };
template <> struct textureValue<ushort2, cudaReadModeNormalizedFloat> { typedef float2 type; };
template <> struct textureValue<uchar4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct textureValue<char4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct textureValue<ushort4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct textureValue<short4, cudaReadModeNormalizedFloat> { typedef float4 type; };

template <typename T, int D, int M> int bindTexture(texture<T, D, M> &t, const cudaResourceDesc &r) {
    cudaTextureDesc d;
    d.addressMode[0] = t.addressMode[0];
    d.addressMode[1] = t.addressMode[1];
    d.addressMode[2] = t.addressMode[2];
    d.filterMode = t.filterMode;
    d.readMode = (cudaTextureReadMode)M;
    d.normalizedCoords = t.normalized;
    return cudaCreateTextureObject(&t.object, &r, &d, 0);
}
template <typename T, int D, int M>
int cudaBindTexture(size_t *offset, texture<T, D, M> &t, const void *p, cudaChannelFormatDesc desc, size_t bytes) {
    cudaResourceDesc r;
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = (void *)p;
    r.res.linear.desc = desc;
    r.res.linear.sizeInBytes = bytes;
    if (offset != 0) *offset = 0;
    return bindTexture(t, r);
}
template <typename T, int D, int M>
int cudaBindTexture(size_t *offset, texture<T, D, M> &t, const void *p, size_t bytes) {
    return cudaBindTexture(offset, t, p, cudaCreateChannelDesc<T>(), bytes);
}
template <typename T, int D, int M>
int cudaBindTexture2D(
    size_t *offset, texture<T, D, M> &t, const void *p, cudaChannelFormatDesc desc, size_t width, size_t height, size_t pitch
) {
    cudaResourceDesc r;
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = (void *)p;
    r.res.pitch2D.desc = desc;
    r.res.pitch2D.width = width;
    r.res.pitch2D.height = height;
    r.res.pitch2D.pitchInBytes = pitch;
    if (offset != 0) *offset = 0;
    return bindTexture(t, r);
}
template <typename T, int D, int M>
int cudaBindTexture2D(size_t *offset, texture<T, D, M> &t, const void *p, size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, t, p, cudaCreateChannelDesc<T>(), width, height, pitch);
}
template <typename T, int D, int M> int cudaBindTextureToArray(texture<T, D, M> &t, cudaArray_const_t a) {
    cudaResourceDesc r;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = (cudaArray_t)a;
    return bindTexture(t, r);
}
template <typename T, int D, int M>
int cudaBindTextureToArray(texture<T, D, M> &t, cudaArray_const_t a, cudaChannelFormatDesc desc) {
    return cudaBindTextureToArray(t, a);
}
template <typename T, int D, int M> int cudaUnbindTexture(texture<T, D, M> &t) { return 0; }
template <typename T, int D> int cudaBindSurfaceToArray(surface<T, D> &s, cudaArray_const_t a) {
    cudaResourceDesc r;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = (cudaArray_t)a;
    return cudaCreateSurfaceObject(&s.object, &r);
}
template <typename T, int D> int cudaBindSurfaceToArray(surface<T, D> &s, cudaArray_const_t a, cudaChannelFormatDesc desc) {
    return cudaBindSurfaceToArray(s, a);
}

#define OF_REFERENCE template <typename T, int D, int M> __device__ typename textureValue<T, M>::type
OF_REFERENCE tex1Dfetch(const texture<T, D, M> &t, int i) { return tex1Dfetch<typename textureValue<T, M>::type>(t.object, i); }
OF_REFERENCE tex1D(const texture<T, D, M> &t, float x) { return tex1D<typename textureValue<T, M>::type>(t.object, x); }
OF_REFERENCE tex2D(const texture<T, D, M> &t, float x, float y) { return tex2D<typename textureValue<T, M>::type>(t.object, x, y); }
OF_REFERENCE tex3D(const texture<T, D, M> &t, float x, float y, float z) {
    return tex3D<typename textureValue<T, M>::type>(t.object, x, y, z);
}
OF_REFERENCE tex1DLayered(const texture<T, D, M> &t, float x, int layer) {
    return tex1DLayered<typename textureValue<T, M>::type>(t.object, x, layer);
}
OF_REFERENCE tex2DLayered(const texture<T, D, M> &t, float x, float y, int layer) {
    return tex2DLayered<typename textureValue<T, M>::type>(t.object, x, y, layer);
}
OF_REFERENCE texCubemap(const texture<T, D, M> &t, float x, float y, float z) {
    return texCubemap<typename textureValue<T, M>::type>(t.object, x, y, z);
}
template <typename V, typename T, int D>
__device__ V surf1Dread(const surface<T, D> &s, int x, int mode = cudaBoundaryModeTrap) { return surfaceRead<V>(s.object, x, 0, 0, mode); }
template <typename V, typename T, int D>
__device__ V surf2Dread(const surface<T, D> &s, int x, int y, int mode = cudaBoundaryModeTrap) { return surfaceRead<V>(s.object, x, y, 0, mode); }
template <typename V, typename T, int D>
__device__ void surf2Dread(V *to, const surface<T, D> &s, int x, int y, int mode = cudaBoundaryModeTrap) { *to = surfaceRead<V>(s.object, x, y, 0, mode); }
template <typename V, typename T, int D>
__device__ void surf1Dwrite(V value, const surface<T, D> &s, int x, int mode = cudaBoundaryModeTrap) { surfaceWrite<V>(value, s.object, x, 0, 0, mode); }
template <typename V, typename T, int D>
__device__ void surf2Dwrite(V value, const surface<T, D> &s, int x, int y, int mode = cudaBoundaryModeTrap) { surfaceWrite<V>(value, s.object, x, y, 0, mode); }
template <typename V, typename T, int D>
__device__ void surf3Dwrite(V value, const surface<T, D> &s, int x, int y, int z, int mode = cudaBoundaryModeTrap) { surfaceWrite<V>(value, s.object, x, y, z, mode); }
