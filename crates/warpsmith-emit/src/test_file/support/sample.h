
// Numbers of some of `count` iterations, in order: the first and the last, those at the ends of
// rows, and others at random.
static std::vector<size_t> choose(size_t count, const std::vector<size_t> &rows, size_t wanted) {
    std::vector<size_t> chosen;
    for (size_t k = 0; k < wanted / 8; ++k) {
        chosen.push_back(std::min(k, count - 1));
        chosen.push_back(count - 1 - std::min(k, count - 1));
        if (rows.empty()) continue;
        const size_t row = rows[k == 0 ? rows.size() - 1 : (size_t)(random_unit() * rows.size())];
        chosen.push_back(std::min(row, count - 1));
        if (row > 0) chosen.push_back(row - 1);
    }
    while (chosen.size() < wanted) chosen.push_back((size_t)(random_unit() * count));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

// Runs the iterations that are listed, or all others, on several threads; returns the seconds.
template <class Loops>
static double run_part(Loops loops, const std::vector<size_t> &listed, bool others,
                       size_t threads) {
    const Clock::time_point start = Clock::now();
    std::atomic<bool> too_long{false};
    std::vector<std::thread> workers;
    for (size_t thread = 0; thread < threads; ++thread) {
        workers.emplace_back([&, thread] {
            Iterations iterations(listed, others, thread, threads);
            try {
                loops(iterations);
            } catch (TooLong) {
                too_long = true;
            }
        });
    }
    for (std::thread &worker : workers) worker.join();
    return too_long ? INFINITY : seconds_since(start);
}

// Runs iterations of the original loops, none of which needs another one: all of them if that
// takes a few seconds on all cores, else about a thousand.
template <class Loops>
static Ran run_sampled(Loops loops) {
    const std::vector<size_t> none;
    doubts = 0;
    Iterations counted(none, false);
    loops(counted);
    const size_t count = counted.number;
    if (count == 0) return run_all(loops);
    const size_t threads = count < 1024 ? 1 : std::max(1u, std::thread::hardware_concurrency());

    // One says how long one takes; where that is not long, some in a row say it better.
    std::vector<size_t> done = {count / 2};
    double each = run_part(loops, done, false, 1);
    if (each < 0.01 && count > 128) {
        std::vector<size_t> row;
        for (size_t k = 1; k <= 64; ++k) row.push_back(count / 2 + k);
        each = run_part(loops, row, false, 1) / 64;
        done.insert(done.end(), row.begin(), row.end());
    }
    if (each * count < PATIENCE * threads && run_part(loops, done, true, threads) < INFINITY) {
        return Ran::all;
    }
    const double most = std::max(16.0, PATIENCE * threads / each);
    std::vector<size_t> chosen = choose(count, counted.rows, (size_t)std::min(1024.0, most)), left;
    std::set_difference(chosen.begin(), chosen.end(), done.begin(), done.end(),
                        std::back_inserter(left));
    run_part(loops, left, false, threads);
    return Ran::some;
}
