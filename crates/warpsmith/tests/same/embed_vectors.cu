// same-as: references.cu:embed
// Rows in vectors of four where they are aligned.
__global__ void embed_vectors(int tokens, int width, const int *ids, const float *table, float *out) {
    int t = blockIdx.x;
    const float *row = table + ids[t] * width;
    float *to = out + t * width;
    if (width % 4 == 0) {
        const float4 *row4 = (const float4 *)row;
        float4 *to4 = (float4 *)to;
        for (int c = threadIdx.x; c < width / 4; c += blockDim.x) to4[c] = row4[c];
    } else {
        for (int c = threadIdx.x; c < width; c += blockDim.x) to[c] = row[c];
    }
}
void embed(int tokens, int width, const int *ids, const float *table, float *out) {
    embed_vectors<<<tokens, 32>>>(tokens, width, ids, table, out);
}
// right: <<<tokens, 32>>> => <<<tokens, 64>>>
// right: if (width % 4 == 0) { => if ((width & 3) == 0 && width >= 8) {
// fault: width % 4 == 0 => width % 2 == 0
// fault: width % 4 == 0 => width >= 4
// fault: c < width / 4 => c < width / 4 - 1
// fault: c < width; c => c < width - 1; c
// fault: c < width; c += blockDim.x => c < width; c += 33
// fault: ids[t] * width => ids[t] * tokens
// fault: out + t * width => out + ids[t] * width
// fault: ids[t] * width => (ids[t] & 63) * width
// fault: <<<tokens, 32>>> => <<<tokens - 1, 32>>>
// fault: to4[c] = row4[c] => to4[c] = row4[threadIdx.x]
