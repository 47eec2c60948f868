// Sieve of Eratosthenes: several primes strike out the same composite with the same byte, a note.
// expect: race-benign line=10 array=composite
// expect: status=0

// warpsmith: grid=1 block=10 arg composite=uchar[100] arg n=100
__global__ void sieve(unsigned char *composite, int n)
{
    const int p = threadIdx.x + 2;
    for (int m = p * p; m < n; m += p)
        composite[m] = 1;
}
