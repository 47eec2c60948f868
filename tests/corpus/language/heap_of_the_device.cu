// malloc, free, new and delete in a kernel: a list for each thread, arrays, a test for null.
#include <cstdlib>
struct Node {
    int value;
    Node *next;
    __device__ Node(int a, Node *b) : value(a), next(b) {}
};

// warpsmith: grid=2 block=32 arg x=int[64]
__global__ void lists(int *x)
{
    Node *head = nullptr;
    for (int i = 0; i < 5; i++) head = new Node(i, head);
    int sum = 0;
    while (head) {
        sum += head->value;
        Node *gone = head;
        head = head->next;
        delete gone;
    }
    int *p = (int *)malloc(4 * sizeof(int));
    if (p == NULL) return;
    for (int i = 0; i < 4; i++) p[i] = i + threadIdx.x;
    float *q = new float[8];
    for (int i = 0; i < 8; i++) q[i] = 0.5f;
    sum += p[3] + (int)(q[0] + q[7]);
    free(p);
    delete[] q;
    x[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __assert(sum == 10 + 3 + threadIdx.x + 1);
}
