// From interleaved red, green and blue to grey, written over the red values: every third
// element is computed.
// warpsmith: size n=12582912

void stride3(int n, float rgb[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n - 2; i += 3) {
        rgb[i] = 0.299f * rgb[i] + 0.587f * rgb[i + 1] + 0.114f * rgb[i + 2];
    }
}
