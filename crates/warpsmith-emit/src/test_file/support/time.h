
// The median time of a launch, in milliseconds, after a warm-up.
template <class Launch>
static double median_ms(Launch launch) {
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    std::vector<float> times;
    for (int run = -3; run < 11; ++run) {
        check(cudaEventRecord(start), "event");
        check(launch(), "launch");
        check(cudaEventRecord(stop), "event");
        check(cudaEventSynchronize(stop), "kernel");
        float ms = 0.0f;
        check(cudaEventElapsedTime(&ms, start, stop), "event");
        if (run >= 0) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}
