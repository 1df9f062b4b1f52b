/** The period of a destination's plots, from the URL, and its buckets. */
import { useFilter, useParameters } from '../parts/filters.tsx';
import { Choice } from '../parts/form.tsx';
import { formatWords } from '../parts/status.tsx';

const HOUR_MS = 3_600_000;
const PERIODS = {
  day: { label: 'last 24 hours', bucket: 'HOUR', bucketMs: HOUR_MS, buckets: 24 },
  month: { label: 'last 30 days', bucket: 'DAY', bucketMs: 24 * HOUR_MS, buckets: 30 },
} as const;
const NAMES = ['day', 'month'] as const;
const CHOICES = NAMES.map((id) => ({ id, label: formatWords(PERIODS[id].label) }));

interface Period {
  label: string;
  bucket: 'HOUR' | 'DAY';
  /** The start of the first bucket. */
  firstMs: number;
  bucketMs: number;
  buckets: number;
}

export function usePeriod(): Period {
  const period = PERIODS[useFilter('period', NAMES) ?? 'day'];
  const { bucketMs, buckets } = period;
  return { ...period, firstMs: (Math.floor(Date.now() / bucketMs) - buckets + 1) * bucketMs };
}

export function PeriodChoice() {
  const period = useFilter('period', NAMES) ?? 'day';
  const [, change] = useParameters();
  return (
    <Choice
      label="Period"
      isLabelHidden
      options={CHOICES}
      value={period}
      onChange={(id) => change({ period: id })}
    />
  );
}

/**
 * Returns the starts of the period's buckets in seconds, and a function that creates a plot's values from
 * bucket values.
 */
export function alignToPeriod<Bucket extends { startTime: string }>(
  activity: readonly Bucket[],
  { firstMs, bucketMs, buckets }: Pick<Period, 'firstMs' | 'bucketMs' | 'buckets'>,
) {
  const starts = Array.from({ length: buckets }, (_none, index) => firstMs + index * bucketMs);
  const byTime = new Map(activity.map((bucket) => [Date.parse(bucket.startTime), bucket]));
  return {
    times: starts.map((start) => start / 1_000),
    readValues: <None,>(read: (bucket: Bucket) => number | null | undefined, fallback: None) =>
      starts.map((start) => {
        const bucket = byTime.get(start);
        return (bucket && read(bucket)) ?? fallback;
      }),
  };
}
