/**
 * A tuning step frees and takes again the same large tensors. glibc by itself gives them back to the system each time,
 * and the pages are zeroed anew: about 0.7 of 6.5 CPU-seconds of a step of a 135M model. Large pages, where the system gives
 * them on request, save about a quarter of a step's time on top. The peak stays as it is. Other systems' allocators
 * ignore these names.
 */
export const allocatorSettings = {
  MALLOC_MMAP_THRESHOLD_: String(2 ** 32),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 32),
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};
