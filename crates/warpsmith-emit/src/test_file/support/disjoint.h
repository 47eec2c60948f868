
static void assert_disjoint(const std::vector<Range> &ranges) {
    for (size_t i = 0; i < ranges.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            assert(ranges[i].end <= ranges[j].begin || ranges[j].end <= ranges[i].begin);
        }
    }
}
