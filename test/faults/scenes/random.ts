/** The same choices for the same seed, each from 0 up to 1. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** The numbers up to nearly all of them at which something happens, in their order and none of them the last. */
export function moments(random: () => number, { count, most }: { count: number; most: number }) {
  return Array.from({ length: count }, () => Math.ceil(random() * most * 0.95)).sort(
    (a, b) => a - b,
  );
}
