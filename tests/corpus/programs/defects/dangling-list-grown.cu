// Defect: the list moves to a larger place, and the structure still points to the old one.
// expect: dangling line=8
// expect: status=1
struct List { int *items; int length; };
__global__ void append(List list, int value)
{
    if (threadIdx.x == 0)
        list.items[list.length - 1] = value;
}
static void grow(int **items, int from, int to)
{
    int *larger;
    cudaMalloc(&larger, to * sizeof(int));
    cudaMemcpy(larger, *items, from * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(*items);
    *items = larger;
}
int main()
{
    List list;
    int *items;
    cudaMalloc(&items, 4 * sizeof(int));
    cudaMemset(items, 0, 4 * sizeof(int));
    list.items = items;
    list.length = 4;
    append<<<1, 32>>>(list, 7);
    grow(&items, 4, 8);
    list.length = 5;
    append<<<1, 32>>>(list, 9);
    cudaFree(items);
    return 0;
}
