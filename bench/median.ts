/** The median of sorted values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The median of each figure separately; other values are those of the first round. */
export function medianOf<T extends object>(rounds: readonly T[]): T {
  const [first] = rounds;
  if (!first) throw new Error('There is no round to take a median of.');
  const entries = Object.entries(first).map(([name, value]) => {
    if (typeof value !== 'number') return [name, value];
    const values = rounds.map((round) => Number(round[name as keyof T]));
    return [
      name,
      quantile(
        values.sort((a, b) => a - b),
        0.5,
      ),
    ];
  });
  return Object.fromEntries(entries);
}
