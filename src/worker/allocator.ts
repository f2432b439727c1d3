/**
 * A tuning step frees and takes again the same tensors. glibc by itself gives those above 32 MB (and the top of its heap)
 * back to the system each time, and the pages are zeroed anew: about 0.7 of 6.5 CPU-seconds of a step of a 135M model.
 * Large pages, where the system gives them on request, save about a quarter of a step's time on top. Above 64 MiB the
 * system's way stays: there it is mostly weights that stand in memory twice for a moment while a session packs them (the
 * output layer of a 135M model is 113 MB), and what is kept of them is kept for good. Steps of 8 × 128 and 8 × 256 take
 * as long and as much memory with that bound as without; an evaluation's peak is about 40 MB lower. Other systems'
 * allocators ignore these names.
 */
export const allocatorSettings = {
  MALLOC_MMAP_THRESHOLD_: String(2 ** 26),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 32),
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
};
