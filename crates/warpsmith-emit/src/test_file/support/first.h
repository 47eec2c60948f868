// Stops the program when a call of the CUDA runtime failed.
static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(2);
}

// The next of a fixed sequence of numbers in [0, 1).
inline double random_unit() {
    static unsigned long long state = 0x9e3779b97f4a7c15ull;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

struct Verdict {
    bool same, unset, doubted;
    double expected, allowed;
};

// Whether a decision of the running iteration hangs on bits that may be others on the device, and
// the number of such iterations.
static thread_local bool in_doubt = false;
static std::atomic<size_t> doubts{0};

template <class T>
static double as_double(T x) {
    return (double)x;
}

template <class T>
static Verdict verdict(T got, T before, T expected, bool) {
    return {got == expected, expected == before, false, as_double(expected), 0.0};
}

// What the loops find in an element, before they set it.
template <class T>
static void set_given(T &element, T x) {
    element = x;
}
