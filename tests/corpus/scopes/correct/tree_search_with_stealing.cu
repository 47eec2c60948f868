// Counts the nodes of a tree that is made as it is walked: blocks take nodes from a common stack under a lock.
// warpsmith: grid=3 block=1 arg stack=int[64]=zeros arg top=int[1]=zeros arg open=int[1]=zeros arg mutex=int[1]=zeros arg nodes=int[1]=zeros arg first=int[1]=zeros
__global__ void walk(int *stack, int *top, int *open, int *mutex, int *nodes, int *first)
{
    if (atomicExch(first, 1) == 0) {
        while (atomicCAS(mutex, 0, 1) != 0) {}
        __threadfence();
        stack[0] = 4;
        *top = 1;
        __threadfence();
        atomicAdd(open, 1);
        atomicExch(mutex, 0);
    } else {
        while (atomicAdd(nodes, 0) == 0 && atomicAdd(open, 0) == 0) {}
    }
    while (atomicAdd(open, 0) > 0) {
        int depth = -1;
        while (atomicCAS(mutex, 0, 1) != 0) {}
        __threadfence();
        if (*top > 0) depth = stack[--*top];
        __threadfence();
        atomicExch(mutex, 0);
        if (depth < 0) continue;
        atomicAdd(nodes, 1);
        for (int child = 0; child < depth - 1; child++) {
            while (atomicCAS(mutex, 0, 1) != 0) {}
            __threadfence();
            stack[(*top)++] = depth - 1 - child % 2;
            __threadfence();
            atomicAdd(open, 1);
            atomicExch(mutex, 0);
        }
        atomicSub(open, 1);
    }
}
