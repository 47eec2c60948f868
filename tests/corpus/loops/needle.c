/* Needleman-Wunsch: the anti-diagonals of the score matrix, upper left half */
static int maximum(int a, int b, int c)
{
    int k;
    if (a <= b)
        k = b;
    else
        k = a;
    if (k <= c)
        return (c);
    else
        return (k);
}

void nw_upper(int *input_itemsets, const int *reference, int max_cols, int penalty)
{
    for (int i = 0; i < max_cols - 2; i++) {
#pragma omp parallel for
        for (int idx = 0; idx <= i; idx++) {
            int index = (idx + 1) * max_cols + (i + 1 - idx);
            input_itemsets[index] = maximum(input_itemsets[index - 1 - max_cols] + reference[index],
                                            input_itemsets[index - 1] - penalty,
                                            input_itemsets[index - max_cols] - penalty);
        }
    }
}
