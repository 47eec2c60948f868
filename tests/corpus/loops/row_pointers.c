/* Where the rows of a sparse matrix begin, from how long they are. */
void row_pointers(long rows, const int *length, long *begin)
{
    begin[0] = 0;
    for (long r = 0; r < rows; r++)
        begin[r + 1] = begin[r] + length[r];
}
