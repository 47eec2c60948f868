// Marks of plans read as the file without them: `__opt__(e)` is `e`, `__opt__(s, g)` is `g`, and `__insert();` does nothing.
#define WS_READ(e) e
#define WS_COPY(s, g) g
#define WS_CHOSEN(first, second, which, ...) which
#define __opt__(...) WS_CHOSEN(__VA_ARGS__, WS_COPY, WS_READ, )(__VA_ARGS__)
#define __insert()
