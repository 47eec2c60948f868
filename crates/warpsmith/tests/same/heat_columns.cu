// same-as: references.cu:heat
// Columns in registers: each plane is read once.
__global__ void heat_columns(int nx, int ny, int nz, const float *__restrict__ in, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny || nz < 1) return;
    int plane = nx * ny, at = y * nx + x;
    float here = in[at], below = here;
    for (int z = 0; z < nz; z++, at += plane) {
        float above = z + 1 < nz ? in[at + plane] : here;
        out[at] = here + 0.1f * (below + above - 2.0f * here);
        below = here;
        here = above;
    }
}
// warpsmith: kernel=heat_columns grid=2,3 block=32,4 arg nx=50 arg ny=11 arg nz=4
// fault: z + 1 < nz ? => z + 2 < nz ?
// fault: below = here;\n        here => below = above;\n        here
// fault: in[at], below = here; => in[at], below = 0;
// fault: at += plane) { => at += nx) {
// fault: y >= ny || => y >= ny - 1 ||
// fault: 2.0f * here); => 2.0f * above);
// fault: x >= nx || => x > nx ||
