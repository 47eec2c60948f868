// Files: what is written is not kept, and what is read is not known. Only the whole numbers of the header are there, since they
// say how much there is: those of the first read, or of the first one behind what says what the file is. After many reads a file ends.
enum { EOF = -1, SEEK_SET = 0, SEEK_CUR = 1, SEEK_END = 2, inventedNumber = 272, inventedBytes = 4096, inventedReads = 4013, inventedOfMany = 61, mostSingles = 2, nextSingle = 16, mostLetters = 16 };
inline FILE *fopen(const char *name, const char *mode) {
    FILE *f = (FILE *)malloc(sizeof(FILE));
    rewind(f);
    return f;
}
inline void rewind(FILE *f) {
    f->calls = 0;
    f->ended = false;
    f->named = false;
    f->pastHeader = false;
    f->singles = 0;
    f->first = nullptr;
    f->last = nullptr;
}
inline bool inHeader(const FILE *f) { return !f->pastHeader && (f->calls == 1 || f->named); }
template <typename T> void inventValue(FILE *f, T *to) { forgetValue(to); }
inline void inventValue(FILE *f, int *to) { if (inHeader(f)) *to = inventedNumber; else forgetValue(to); }
inline void inventValue(FILE *f, unsigned *to) { if (inHeader(f)) *to = inventedNumber; else forgetValue(to); }
inline void inventValue(FILE *f, long *to) { if (inHeader(f)) *to = inventedNumber; else forgetValue(to); }
inline void inventValue(FILE *f, size_t *to) { if (inHeader(f)) *to = inventedNumber; else forgetValue(to); }
// Letters are no numbers: before a header they say what the file is.
template <typename T> bool areNumbers(const T *to) { return sizeof(T) > 1; }
inline bool areNumbers(const void *to) { return true; }
// Where many files are read, as those that another one lists, each has little.
static long allReads = 0;
inline bool readsOn(FILE *f) {
    f->calls = f->calls + 1;
    allReads = allReads + 1;
    f->ended = f->calls > inventedReads || (f->calls > inventedOfMany && allReads > 4 * inventedReads);
    return !f->ended;
}
template <typename... A> int fscanf(FILE *f, const char *format, A... to) {
    if (!readsOn(f)) return EOF;
    (inventValue(f, to), ...);
    bool numbers = (areNumbers(to) || ...);
    f->pastHeader = f->pastHeader || numbers;
    f->named = f->named || !numbers;
    return sizeof...(A);
}
// One whole number of several that are read singly, each to a place of its own: some of these make a header. What goes to one place again
// and again, or to the elements of an array, are data.
template <typename T> void inventSingle(FILE *f, T *to) {
    bool again = (const void *)to == f->last || (const void *)to == f->first || (f->last != nullptr && (const void *)(to - 1) == f->last);
    if (again || f->singles == mostSingles || (f->singles == 0 && !inHeader(f)) || f->pastHeader) {
        f->pastHeader = true;
        forgetValue(to);
        return;
    }
    *to = (T)(inventedNumber - nextSingle * f->singles);
    if (f->singles == 0) f->first = to;
    f->last = to;
    f->singles = f->singles + 1;
}
template <typename T> size_t fread(T *to, size_t size, size_t n, FILE *f) {
    if (!readsOn(f)) return 0;
    if constexpr (std::is_integral<T>::value && sizeof(T) >= 4) {
        if (n == 1 && size == sizeof(T)) {
            inventSingle(f, to);
            return n;
        }
    }
    forgetMemory(to);
    bool numbers = areNumbers(to) || n * size > mostLetters;
    f->pastHeader = f->pastHeader || numbers;
    f->named = f->named || !numbers;
    return n;
}
// Letters are not counted: those before the first line are some sign of what the file is.
inline int fgetc(const FILE *f) {
    int c = EOF;
    forgetValue(&c);
    return c;
}
inline int getc(const FILE *f) { return fgetc(f); }
inline int ungetc(int c, FILE *f) { return c; }
inline char *fgets(char *to, int n, FILE *f) {
    if (!readsOn(f)) return nullptr;
    forgetMemory(to);
    to[0] = inHeader(f) ? firstLine : unknownText;
    lineOf = f;
    to[1] = 0;
    return to;
}

// A text that is read after a format: where both are, how much was found, and whether they still agree.
struct Scanned {
    const char *text, *format;
    int found;
    bool agrees;
};
inline bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline void skipBlanks(Scanned &s) { while (isBlank(*s.text)) s.text++; }
// The letter of the next conversion that stores something; 0 where there is none.
inline char nextConversion(Scanned &s) {
    while (s.agrees && *s.format != 0) {
        char c = *s.format;
        s.format++;
        if (isBlank(c)) skipBlanks(s);
        else if (c != '%') {
            s.agrees = *s.text == c;
            if (s.agrees) s.text++;
        } else {
            bool dropped = *s.format == '*';
            if (dropped) s.format++;
            while (*s.format == 'l' || *s.format == 'h' || *s.format == 'z' || (*s.format >= '0' && *s.format <= '9')) s.format++;
            char letter = *s.format;
            s.format++;
            if (letter != 'c') skipBlanks(s);
            if (!dropped) return letter;
            while (*s.text != 0 && !isBlank(*s.text)) s.text++;
        }
    }
    return 0;
}
inline bool startsNumber(const char *s) {
    int sign = s[0] == '-' || s[0] == '+' ? 1 : 0;
    int dot = s[sign] == '.' ? 1 : 0;
    return s[sign + dot] >= '0' && s[sign + dot] <= '9';
}
inline bool inNumber(char c, bool real) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || (real && (c == '.' || c == 'e' || c == 'E'));
}
template <typename T> void scanValue(Scanned &s, T *to) {
    char letter = nextConversion(s);
    bool real = letter == 'f' || letter == 'g' || letter == 'e';
    if (letter == 0 || !s.agrees || !startsNumber(s.text)) {
        s.agrees = false;
        return;
    }
    if (real) *to = (T)atof(s.text); else *to = (T)atoll(s.text);
    while (inNumber(*s.text, real)) s.text++;
    s.found++;
}
inline void scanValue(Scanned &s, char *to) {
    char letter = nextConversion(s);
    if (letter == 0 || *s.text == 0) {
        s.agrees = false;
        return;
    }
    if (letter == 'c') {
        *to = *s.text;
        s.text++;
    } else {
        int n = 0;
        for (; *s.text != 0 && !isBlank(*s.text); n++) { to[n] = *s.text; s.text++; }
        to[n] = 0;
    }
    s.found++;
}
template <typename T> void forgetScanned(T *to, bool first) {
    if constexpr (std::is_integral<T>::value) {
        if (first) *to = inventedNumber; else forgetValue(to);
    } else {
        forgetValue(to);
    }
}
inline void forgetScanned(char *to, bool first) {
    forgetMemory(to);
    to[0] = unknownText;
    to[1] = 0;
}
template <typename... A> int sscanf(const char *text, const char *format, A... to) {
    if (isUnknown(text)) {
        (forgetScanned(to, text[0] == firstLine), ...);
        if ((areNumbers(to) || ...)) readsNumberOf(text);
        return sizeof...(A);
    }
    Scanned s;
    s.text = text;
    s.format = format;
    s.found = 0;
    s.agrees = true;
    (scanValue(s, to), ...);
    return s.found == 0 && *s.text == 0 ? EOF : s.found;
}
inline int feof(FILE *f) { return f->ended ? 1 : 0; }
inline int ferror(FILE *f) { return 0; }
inline int fseek(FILE *f, long to, int from) {
    f->ended = false;
    return 0;
}
inline long ftell(FILE *f) { return inventedBytes; }

// Images and data of the samples.
inline char *sdkFindFilePath(const char *name, const char *program) { return (char *)name; }
template <typename T> bool inventImage(T **data, unsigned *width, unsigned *height, int channels) {
    *width = 64;
    *height = 48;
    if (*data == nullptr) *data = (T *)malloc(64 * 48 * channels * sizeof(T));
    return true;
}
template <typename T> bool sdkLoadPGM(const char *name, T **data, unsigned *w, unsigned *h) { return inventImage(data, w, h, 1); }
template <typename T> bool sdkLoadPPM4(const char *name, T **data, unsigned *w, unsigned *h) { return inventImage(data, w, h, 4); }
enum { inventedLength = 4096 };
template <typename T> bool sdkReadFile(const char *name, T **data, unsigned *length, bool verbose) {
    *length = inventedLength;
    if (*data == nullptr) *data = (T *)malloc(inventedLength * sizeof(T));
    forgetMemory(*data);
    return true;
}
template <typename T> bool sdkSavePGM(const char *name, T *data, unsigned w, unsigned h) { return true; }
template <typename T> bool sdkSavePPM4(const char *name, T *data, unsigned w, unsigned h) { return true; }
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
inline char *getenv(const char *name) { return nullptr; }
inline int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
inline int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
inline int isdigit(int c) { return c >= '0' && c <= '9'; }
inline int isupper(int c) { return c >= 'A' && c <= 'Z'; }
inline int islower(int c) { return c >= 'a' && c <= 'z'; }
inline int isalnum(int c) { return isalpha(c) || isdigit(c); }

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

// Files by number, which are read as the others are.
enum { O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 64, O_TRUNC = 512 };
static FILE *numberedFile = nullptr;
template <typename... M> int open(const char *name, int flags, M... mode) {
    numberedFile = fopen(name, "r");
    return 3;
}
template <typename T> long read(int file, T *to, size_t bytes) {
    if constexpr (std::is_integral<T>::value) return (long)(fread(to, bytes, 1, numberedFile) * bytes);
    else return (long)(fread(to, 1, bytes, numberedFile));
}
inline long write(int file, const void *from, size_t bytes) { return (long)bytes; }
inline int close(int file) { return 0; }

namespace std {
struct ifstream : ios_base {
    FILE *file;
    ifstream() : file(nullptr) {}
    ifstream(const char *name, int mode = 0) { open(name, mode); }
    ifstream(const string &name, int mode = 0) { open(name.c_str(), mode); }
    void open(const char *name, int mode = 0) { file = fopen(name, "r"); }
    void open(const string &name, int mode = 0) { open(name.c_str(), mode); }
    bool is_open() const { return file != nullptr; }
    bool good() const { return file != nullptr && !file->ended; }
    bool fail() const { return !good(); }
    bool eof() const { return !good(); }
    bool operator!() const { return !good(); }
    operator bool() const { return good(); }
    void close() {}
    void clear() { if (file) file->ended = false; }
    ifstream &read(char *to, long n) {
        if (readsOn(file)) forgetMemory(to);
        return *this;
    }
    long gcount() const { return good() ? 1 : 0; }
    int get() const { return fgetc(file); }
    ifstream &get(char &c) { c = (char)fgetc(file); return *this; }
    int peek() const { return fgetc(file); }
    ifstream &ignore(long n = 1, int end = EOF) { return *this; }
    ifstream &seekg(long to, int from = beg) { clear(); return *this; }
    long tellg() { return ftell(file); }
};
template <typename T> ifstream &operator>>(ifstream &in, T &to) {
    if (!readsOn(in.file)) return in;
    if constexpr (std::is_integral<T>::value && sizeof(T) >= 4) inventSingle(in.file, &to);
    else inventValue(in.file, &to);
    in.file->pastHeader = in.file->pastHeader || !std::is_integral<T>::value;
    return in;
}
// A line of a file is not known.
inline ifstream &getline(ifstream &in, string &to, char end = '\n') {
    char line[2] = {0, 0};
    if (readsOn(in.file)) line[0] = inHeader(in.file) ? firstLine : unknownText;
    lineOf = in.file;
    to = string(line);
    return in;
}
// What stands in a text, word by word. One that is not known has some that are not known.
struct istringstream {
    string held;
    size_t at;
    bool found;
    istringstream() : at(0), found(true) {}
    istringstream(const string &s) : held(s), at(0), found(true) {}
    void str(const string &s) { held = s; at = 0; found = true; }
    string str() const { return held; }
    bool good() const { return found; }
    bool fail() const { return !found; }
    bool unknown() const { return isUnknown(held.c_str()); }
    bool eof() const { return at >= (unknown() ? inventedWords : held.size()); }
    bool nextUnknown() {
        found = found && !eof();
        at++;
        return found;
    }
    operator bool() const { return found; }
    bool operator!() const { return !found; }
    bool next() {
        while (at < held.size() && isBlank(held.c_str()[at])) at++;
        found = found && at < held.size();
        return found;
    }
    void pass() { while (at < held.size() && !isBlank(held.c_str()[at])) at++; }
};
template <typename T> istringstream &operator>>(istringstream &in, T &to) {
    if (in.unknown()) {
        if (in.nextUnknown()) forgetScanned(&to, in.at == 1 && in.held.c_str()[0] == firstLine);
        readsNumberOf(in.held.c_str());
    } else if (in.next()) {
        to = (T)atof(in.held.c_str() + in.at);
        in.pass();
    }
    return in;
}
inline istringstream &operator>>(istringstream &in, char &to) {
    if (in.unknown()) {
        if (in.nextUnknown()) forgetValue(&to);
    } else if (in.next()) {
        to = in.held.c_str()[in.at];
        in.at++;
    }
    return in;
}
inline istringstream &operator>>(istringstream &in, string &to) {
    if (in.unknown()) {
        if (in.nextUnknown()) to = in.held;
    } else if (in.next()) {
        size_t from = in.at;
        in.pass();
        to.assign(in.held.c_str() + from, in.at - from);
    }
    return in;
}
inline istringstream &getline(istringstream &in, string &to, char end = '\n') {
    if (in.unknown()) {
        if (in.nextUnknown()) to = in.held;
        return in;
    }
    in.found = in.found && in.at < in.held.size();
    size_t from = in.at;
    while (in.at < in.held.size() && in.held.c_str()[in.at] != end) in.at++;
    to.assign(in.held.c_str() + from, in.at - from);
    if (in.at < in.held.size()) in.at++;
    return in;
}
struct ofstream : ostream, ios_base {
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
// What is written can be read again.
struct stringstream : ostream, istringstream {
    stringstream() {}
    stringstream(const string &s) : istringstream(s) {}
    void write(const string &s) { held += s; }
    void clear() { found = true; }
    operator bool() const { return found; }
};
template <typename T> stringstream &operator<<(stringstream &out, const T &value) {
    if constexpr (std::is_integral<T>::value) {
        out.write(to_string((long long)value));
    } else if constexpr (std::is_floating_point<T>::value) {
        double whole = trunc((double)value);
        long long part = (long long)(fabs((double)value - whole) * 1000000.0 + 0.5);
        if (value < 0 && whole == 0.0) out.write("-");
        out.write(to_string((long long)whole));
        out.write(".");
        string digits = to_string(1000000 + part);
        out.write(digits.substr(1));
    }
    return out;
}
inline stringstream &operator<<(stringstream &out, const char *text) { out.write(text); return out; }
inline stringstream &operator<<(stringstream &out, const string &text) { out.write(text); return out; }
inline stringstream &operator<<(stringstream &out, char c) { string one(1, c); out.write(one); return out; }
} // namespace std
