/** Returns a generator of numbers from 0 to below 1, which are equal for equal seeds. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** Returns `count` random numbers up to 95 % of `most`, in ascending order. */
export function planMoments(
  random: () => number,
  { count, most }: { count: number; most: number },
) {
  return Array.from({ length: count }, () => Math.ceil(random() * most * 0.95)).sort(
    (a, b) => a - b,
  );
}
