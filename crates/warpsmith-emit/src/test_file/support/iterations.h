
typedef std::chrono::steady_clock Clock;

static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds that the original loops may take at one size.
static const double PATIENCE = 4.0;

struct TooLong {};

// Says at the head of each iteration of the marked loops whether it is run.
class Iterations {
   public:
    size_t number = 0;         // of the next iteration
    // numbers of iterations with which an inner loop begins, or some of them
    std::vector<size_t> rows;

    // The thread's share of those that are listed, or of all others.
    Iterations(const std::vector<size_t> &listed, bool others,
               size_t thread = 0, size_t threads = 1)
        : listed(listed), others(others), thread(thread), threads(threads) {
        at = others ? 0 : thread;
    }

    void row() {
        if (row_number++ % row_step != 0) return;
        rows.push_back(number);
        if (rows.size() < 4096) return;
        for (size_t i = 0; i < rows.size() / 2; ++i) rows[i] = rows[2 * i];
        rows.resize(rows.size() / 2);
        row_step *= 2;
    }

    bool take() {
        const size_t i = number++;
        if (in_doubt) in_doubt = false;
        const bool is_listed = at < listed.size() && listed[at] == i;
        if (is_listed) at += others ? 1 : threads;
        if (!others) return is_listed;
        if (i % 16 == 0 && seconds_since(start) > 2.0 * PATIENCE) throw TooLong();
        return !is_listed && i / 64 % threads == thread;
    }

   private:
    const std::vector<size_t> &listed;
    const bool others;
    const size_t thread, threads;
    size_t at, row_number = 0, row_step = 1;
    const Clock::time_point start = Clock::now();
};

enum class Ran { all, some, none };
