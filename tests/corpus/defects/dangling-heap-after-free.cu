// Defect: the node is freed before its successor is read
// expect: dangling line=24 array=heap
// expect: status=1

struct Item { float weight; Item *next; };

// warpsmith: grid=2 block=16 arg total=float[32]
__global__ void chains(float *total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Item *head = nullptr;
    for (int k = 0; k < 4; k++) {
        Item *item = (Item *)malloc(sizeof(Item));
        if (!item) return;
        item->weight = 0.5f * k;
        item->next = head;
        head = item;
    }
    float sum = 0.0f;
    Item *item = head;
    while (item != nullptr) {
        sum += item->weight;
        free(item);
        item = item->next;
    }
    total[i] = sum;
}
