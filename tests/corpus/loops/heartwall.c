#define CORR_MAX(a, b) ((a) > (b) ? (a) : (b))
typedef float fp;
typedef struct {
    int in_rows, in_cols;
    int tmpl_rows, tmpl_cols;
} public_struct;

/* full convolution of a frame window with a rotated template, column major */
void conv_window(public_struct pub, const fp *in, const fp *tmpl, fp *conv)
{
    int ioffset = 0;
    int conv_rows = pub.in_rows + pub.tmpl_rows - 1;
    int conv_cols = pub.in_cols + pub.tmpl_cols - 1;
    int col, row;
#pragma omp parallel for private(row)
    for (col = 1; col <= conv_cols; col++) {
        int j = col + ioffset;
        int ja1 = CORR_MAX(1, j - pub.in_cols + 1);
        int ja2 = (pub.tmpl_cols < j) ? pub.tmpl_cols : j;
        for (row = 1; row <= conv_rows; row++) {
            int i = row + ioffset;
            int ia1 = CORR_MAX(1, i - pub.in_rows + 1);
            int ia2 = (pub.tmpl_rows < i) ? pub.tmpl_rows : i;
            fp s = 0;
            int ja, ia;
            for (ja = ja1; ja <= ja2; ja++) {
                int jb = j - ja;
                for (ia = ia1; ia <= ia2; ia++) {
                    int ib = i - ia;
                    s = s + tmpl[(ja - 1) * pub.tmpl_rows + (ia - 1)] * in[jb * pub.in_rows + ib];
                }
            }
            conv[(col - 1) * conv_rows + (row - 1)] = s;
        }
    }
}
