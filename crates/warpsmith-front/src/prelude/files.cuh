// Files: what is written is not kept. What would be read is not known, so that there is no `fopen` here.
inline int fclose(FILE *f) { return 0; }
inline int fflush(FILE *f) { return 0; }
inline size_t fwrite(const void *from, size_t size, size_t n, FILE *f) { return n; }
inline int fputs(const char *text, FILE *f) { return 0; }
inline int fputc(int c, FILE *f) { return c; }
inline int puts(const char *text) { return 0; }
inline int putchar(int c) { return c; }
inline void perror(const char *text) {}
template <typename... A> int sprintf(char *to, const char *format, A... values) { to[0] = 0; return 0; }
template <typename... A> int snprintf(char *to, size_t n, const char *format, A... values) { to[0] = 0; return 0; }
inline char *strncpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (; i < n && from[i] != 0; i++) to[i] = from[i];
    for (; i < n; i++) to[i] = 0;
    return to;
}
inline char *strcat(char *to, const char *from) { strcpy(to + strlen(to), from); return to; }
inline const char *strchr(const char *s, int c) {
    for (; *s != 0; s++)
        if (*s == c) return s;
    return nullptr;
}
inline const char *strstr(const char *s, const char *part) {
    int n = strlen(part);
    for (; *s != 0; s++)
        if (strncmp(s, part, n) == 0) return s;
    return nullptr;
}
inline int strcasecmp(const char *a, const char *b) {
    for (int i = 0;; i++) {
        int x = a[i] >= 'A' && a[i] <= 'Z' ? a[i] + 32 : a[i], y = b[i] >= 'A' && b[i] <= 'Z' ? b[i] + 32 : b[i];
        if (x != y) return x < y ? -1 : 1;
        if (x == 0) return 0;
    }
}
inline char *strdup(const char *s) { return strcpy((char *)malloc(strlen(s) + 1), s); }
inline const char *getenv(const char *name) { return nullptr; }
inline int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
inline int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
inline int isdigit(int c) { return c >= '0' && c <= '9'; }

// Options of the command line, as POSIX reads them.
static int optind = 1, opterr = 1, optopt = 0, optionAt = 1;
static char *optarg;
struct option { const char *name; int has_arg; int *flag; int val; };
enum { no_argument = 0, required_argument = 1, optional_argument = 2 };
inline int getopt(int argc, char **argv, const char *options) {
    if (optind >= argc || argv[optind][0] != '-' || argv[optind][1] == 0) return -1;
    char c = argv[optind][optionAt];
    const char *known = strchr(options, c);
    bool last = argv[optind][optionAt + 1] == 0;
    if (known != nullptr && known[1] == ':') {
        optarg = last ? (optind + 1 < argc ? argv[optind + 1] : nullptr) : argv[optind] + optionAt + 1;
        optind += last ? 2 : 1;
        optionAt = 1;
        return optarg == nullptr ? '?' : c;
    }
    optionAt = last ? 1 : optionAt + 1;
    optind += last ? 1 : 0;
    return known == nullptr ? '?' : c;
}
inline int getopt_long(int argc, char **argv, const char *options, const option *longs, int *index) {
    if (optind >= argc || strncmp(argv[optind], "--", 2) != 0) return getopt(argc, argv, options);
    for (int i = 0; longs[i].name != nullptr; i++) {
        int n = strlen(longs[i].name);
        if (strncmp(argv[optind] + 2, longs[i].name, n) != 0) continue;
        char end = argv[optind][2 + n];
        if (end != 0 && end != '=') continue;
        optind++;
        if (end == '=') optarg = argv[optind - 1] + 3 + n;
        else if (longs[i].has_arg == required_argument) { optarg = argv[optind]; optind++; }
        if (longs[i].flag != nullptr) { *longs[i].flag = longs[i].val; return 0; }
        return longs[i].val;
    }
    optind++;
    return '?';
}

namespace std {
struct ifstream {
    ifstream() {}
    ifstream(const char *name, int mode = 0) { open(name, mode); }
    ifstream(const string &name, int mode = 0) { open(name.c_str(), mode); }
    void open(const char *name, int mode = 0) {}
    void open(const string &name, int mode = 0) { open(name.c_str(), mode); }
    bool open_;
    bool is_open() const { return open_; }
    bool good() const { return open_; }
    bool fail() const { return open_; }
    bool eof() const { return open_; }
    bool operator!() const { return open_; }
    operator bool() const { return open_; }
    void close() {}
};
struct ofstream : ostream {
    ofstream() {}
    ofstream(const char *name, int mode = 0) {}
    ofstream(const string &name, int mode = 0) {}
    void open(const char *name, int mode = 0) {}
    void open(const string &name, int mode = 0) {}
    void close() {}
};
struct ostringstream : ostream {
    string str() const { return string(""); }
};
struct stringstream : ostream {
    string str() const { return string(""); }
};
inline bool operator<(const string &a, const string &b) { return strcmp(a.c_str(), b.c_str()) < 0; }
inline string to_string(long long value) {
    char digits[24];
    int n = 0, at = 24;
    unsigned long long left = value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value;
    do { at--; digits[at] = (char)('0' + left % 10); left = left / 10; n++; } while (left > 0);
    if (value < 0) { at--; digits[at] = '-'; n++; }
    string s;
    s.assign(digits + at, n);
    return s;
}
} // namespace std
