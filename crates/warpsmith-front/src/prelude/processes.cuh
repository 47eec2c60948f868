// Other processes: there is one. Values of any type.
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Info;
struct MPI_Status { int MPI_SOURCE; int MPI_TAG; int MPI_ERROR; };
enum { MPI_COMM_WORLD = 1, MPI_COMM_SELF = 2, MPI_COMM_NULL = 0, MPI_INFO_NULL = 0 };
enum { MPI_SUCCESS = 0, MPI_ERR_OTHER = 15, MPI_COMM_TYPE_SHARED = 1, MPI_MAX_PROCESSOR_NAME = 128, MPI_MAX_ERROR_STRING = 512 };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_LOR, MPI_BAND, MPI_BOR };
// The last digits of a type are its size.
enum {
    MPI_CHAR = 101, MPI_BYTE = 201, MPI_UNSIGNED_CHAR = 301, MPI_CXX_BOOL = 401, MPI_INT8_T = 501, MPI_UINT8_T = 601,
    MPI_SHORT = 102, MPI_UNSIGNED_SHORT = 202, MPI_INT = 104, MPI_UNSIGNED = 204, MPI_FLOAT = 304, MPI_INT32_T = 404,
    MPI_UINT32_T = 504, MPI_LONG = 108, MPI_UNSIGNED_LONG = 208, MPI_LONG_LONG = 308, MPI_LONG_LONG_INT = 408,
    MPI_UNSIGNED_LONG_LONG = 508, MPI_DOUBLE = 608, MPI_INT64_T = 708, MPI_UINT64_T = 808
};
#define MPI_IN_PLACE ((void *)-1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
inline int MPI_Init(int *argc, char ***argv) { return 0; }
inline int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) { *provided = required; return 0; }
inline int MPI_Initialized(int *flag) { *flag = 1; return 0; }
inline int MPI_Finalize() { return 0; }
inline int MPI_Abort(MPI_Comm all, int code) { exit(code); return code; }
inline int MPI_Comm_rank(MPI_Comm all, int *rank) { *rank = 0; return 0; }
inline int MPI_Comm_size(MPI_Comm all, int *size) { *size = 1; return 0; }
inline int MPI_Comm_dup(MPI_Comm all, MPI_Comm *copy) { *copy = all; return 0; }
inline int MPI_Comm_split(MPI_Comm all, int color, int key, MPI_Comm *part) { *part = all; return 0; }
inline int MPI_Comm_split_type(MPI_Comm all, int kind, int key, MPI_Info info, MPI_Comm *part) { *part = all; return 0; }
inline int MPI_Comm_free(MPI_Comm *all) { *all = MPI_COMM_NULL; return 0; }
inline int MPI_Get_processor_name(char *name, int *length) { name[0] = 'h'; name[1] = 0; *length = 1; return 0; }
inline int MPI_Barrier(MPI_Comm all) { return 0; }
inline double MPI_Wtime() { return 0.0; }
inline int MPI_Type_size(MPI_Datatype type, int *size) { *size = type % 100; return 0; }
inline int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm all) { return 0; }
inline int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm all) {
    if (from != MPI_IN_PLACE) cudaMemcpy(to, from, (size_t)count * (type % 100), cudaMemcpyDefault);
    return 0;
}
inline int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm all) {
    return MPI_Allreduce(from, to, count, type, op, all);
}
inline int MPI_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm all) {
    return MPI_Allreduce(from, to, count, type, op, all);
}
inline int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int each, MPI_Datatype of, MPI_Comm all) {
    return MPI_Allreduce(from, to, count, type, MPI_SUM, all);
}
inline int MPI_Gather(
    const void *from, int count, MPI_Datatype type, void *to, int each, MPI_Datatype of, int root, MPI_Comm all
) {
    return MPI_Allreduce(from, to, count, type, MPI_SUM, all);
}
inline int MPI_Scatter(
    const void *from, int count, MPI_Datatype type, void *to, int each, MPI_Datatype of, int root, MPI_Comm all
) {
    if (to != MPI_IN_PLACE) cudaMemcpy(to, from, (size_t)each * (of % 100), cudaMemcpyDefault);
    return 0;
}

namespace std {
// A value of any type: the function that its type has alone tells which.
template <typename T> inline void ofType() {}
struct any {
    void *held;
    void (*type)();
    any() : held(nullptr), type(nullptr) {}
    template <typename T> any(const T &value) : held(new T(value)), type(&ofType<T>) {}
    template <typename T> any &operator=(const T &value) {
        held = new T(value);
        type = &ofType<T>;
        return *this;
    }
    bool has_value() const { return held != nullptr; }
    void reset() {
        held = nullptr;
        type = nullptr;
    }
};
template <typename T> T any_cast(const any &from) {
    if (from.type != &ofType<T>) abort();
    return *(T *)from.held;
}
template <typename T> T *any_cast(any *from) { return from && from->type == &ofType<T> ? (T *)from->held : nullptr; }
template <typename T> any make_any(const T &value) { return any(value); }
} // namespace std
