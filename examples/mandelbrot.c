// Escape times of the Mandelbrot set in double precision.
// warpsmith: size h=1024 w=1536 limit=256

void mandelbrot(int h, int w, int limit, int count[h][w])
{
    #pragma omp parallel for collapse(2) schedule(dynamic, 16)
    for (int row = 0; row < h; row++) {
        for (int col = 0; col < w; col++) {
            double cx = -2.0 + 3.0 * col / w;
            double cy = -1.0 + 2.0 * row / h;
            double x = 0.0, y = 0.0;
            int steps = 0;
            while (steps < limit && x * x + y * y <= 4.0) {
                double next = x * x - y * y + cx;
                y = 2.0 * x * y + cy;
                x = next;
                steps++;
            }
            count[row][col] = steps;
        }
    }
}
