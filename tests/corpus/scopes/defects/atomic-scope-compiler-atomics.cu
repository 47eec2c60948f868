// Defect: the store has block scope.
// expect: atomic-scope line=10 array=flag
// expect: race-global line=13 array=data
// expect: status=1
// warpsmith: grid=2 block=1 arg data=int[1]=zeros arg flag=int[1]=zeros arg out=int[1]=zeros
__global__ void publish(int *data, int *flag, int *out)
{
    if (blockIdx.x == 1) {
        *data = 7;
        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    } else {
        while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {}
        *out = *data;
    }
}
