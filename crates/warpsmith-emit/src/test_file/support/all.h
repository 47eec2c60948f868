
// Runs the original loops, unless that takes too long.
template <class Loops>
static Ran run_all(Loops loops) {
    const std::vector<size_t> none;
    doubts = 0;
    Iterations all(none, true);
    try {
        loops(all);
    } catch (TooLong) {
        return Ran::none;
    }
    return Ran::all;
}
