// Defect: what is allocated anew is not what was freed: the second list relies on the numbers of the first
// expect: uninitialized-global line=17 array=heap
// expect: status=1

struct Node { int value; Node *next; };

// warpsmith: grid=1 block=32 arg out=int[32]
__global__ void lists(int *out)
{
    Node *first = new Node;
    first->value = threadIdx.x;
    first->next = nullptr;
    int sum = first->value;
    delete first;
    Node *second = new Node;
    second->next = nullptr;
    sum += second->value;
    out[threadIdx.x] = sum;
    delete second;
}
