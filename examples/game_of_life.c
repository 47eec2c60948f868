// One generation of Conway's Game of Life on a torus; cells are 0 or 1.
// warpsmith: size n=2048 m=2048

void game_of_life(int n, int m, const unsigned char cells[n][m], unsigned char next[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            int up = i == 0 ? n - 1 : i - 1;
            int down = i == n - 1 ? 0 : i + 1;
            int left = j == 0 ? m - 1 : j - 1;
            int right = j == m - 1 ? 0 : j + 1;
            int alive = cells[up][left] + cells[up][j] + cells[up][right]
                + cells[i][left] + cells[i][right]
                + cells[down][left] + cells[down][j] + cells[down][right];
            next[i][j] = alive == 3 || (alive == 2 && cells[i][j]);
        }
    }
}
