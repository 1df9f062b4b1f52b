/** Computes medians and quantiles. */

/** Returns the value below which the share of the sorted values lies. NaN if there are none. */
export function computeQuantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function computeMedian(values: readonly number[]): number {
  return computeQuantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Returns the median of each figure separately. Other values are those of the first round. */
export function computeMedians<T extends object>(rounds: readonly T[]): T {
  const [firstRound] = rounds;
  if (!firstRound) throw new Error('A median needs at least one round.');
  const entries = Object.entries(firstRound).map(([name, value]) => {
    if (typeof value !== 'number') return [name, value];
    const values = rounds.map((round) => Number(round[name as keyof T]));
    return [name, computeMedian(values)];
  });
  return Object.fromEntries(entries);
}
