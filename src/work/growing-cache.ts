/**
 * Options of an LRU cache that grows up to this number of entries. With `max` instead, the cache would allocate the memory
 * for all of them when it is created.
 */
export function growUpTo(entries: number) {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
