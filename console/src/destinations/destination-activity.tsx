/** How a destination has answered: attempts by hour or day, and how long they took. */
import { lazy, useMemo } from 'react';
import { graphql } from 'react-relay';
import type { destinationActivityQuery } from '../../__generated__/destinationActivityQuery.graphql.ts';
import { useFilter } from '../parts/filters.tsx';
import { Choice } from '../parts/form.tsx';
import { Empty, Panel } from '../parts/page.tsx';
import type { Series } from '../parts/plot.tsx';
import { usePageQuery } from '../parts/queries.ts';

const Plot = lazy(async () => ({ default: (await import('../parts/plot.tsx')).Plot }));

const QUERY = graphql`
  query destinationActivityQuery($id: ID!, $from: DateTime!, $bucket: ActivityBucket!) {
    node(id: $id) {
      ... on Destination {
        activity(from: $from, bucket: $bucket) {
          time
          attempts
          failedAttempts
          p50Ms
          p95Ms
          p99Ms
        }
      }
    }
  }
`;

const HOUR_MS = 3_600_000;
const PERIODS = {
  day: { label: '24 hours', bucket: 'HOUR', bucketMs: HOUR_MS, buckets: 24 },
  month: { label: '30 days', bucket: 'DAY', bucketMs: 24 * HOUR_MS, buckets: 30 },
} as const;
const CHOICES = Object.entries(PERIODS).map(([id, { label }]) => ({ id, label }));
const LOOK_MS = 15_000;

export default function DestinationActivity({ id }: { id: string }) {
  const [chosen, setPeriod] = useFilter('period', ['day', 'month']);
  const period = PERIODS[chosen ?? 'day'];
  const { bucket, bucketMs, buckets, label } = period;
  const first = (Math.floor(Date.now() / bucketMs) - buckets + 1) * bucketMs;
  const variables = { id, bucket, from: new Date(first).toISOString() };
  const { node } = usePageQuery<destinationActivityQuery>(QUERY, variables, { everyMs: LOOK_MS });
  const activity = node?.activity;
  const plots = useMemo(
    () => plotsOf(activity ?? [], { first, bucketMs, buckets }),
    [activity, first, bucketMs, buckets],
  );
  const last = activity?.at(-1);
  return (
    <Panel
      title={`Attempts of ${label}`}
      actions={
        <Choice label="Time" options={CHOICES} value={chosen ?? 'day'} onChange={setPeriod} />
      }
    >
      {!last ? (
        <Empty title={`No attempt in ${label}`} />
      ) : (
        <div className="grid">
          <Plot
            label={`${plots.all} attempts in ${label}: ${plots.failed} of them failed`}
            times={plots.times}
            series={plots.attempts}
          />
          <Plot
            label={`How long attempts took, in milliseconds; at last p50 ${last.p50Ms ?? '–'}, p95 ${last.p95Ms ?? '–'}, p99 ${last.p99Ms ?? '–'}`}
            times={plots.times}
            series={plots.durations}
            look="lines"
          />
        </div>
      )}
    </Panel>
  );
}

type Activity = NonNullable<
  NonNullable<destinationActivityQuery['response']['node']>['activity']
>[number];

interface Buckets {
  first: number;
  bucketMs: number;
  buckets: number;
}

function plotsOf(activity: readonly Activity[], { first, bucketMs, buckets }: Buckets) {
  const starts = Array.from({ length: buckets }, (_none, index) => first + index * bucketMs);
  const byTime = new Map(activity.map((one) => [Date.parse(one.time), one]));
  const valuesOf = <None,>(of: (one: Activity) => number | null | undefined, none: None) =>
    starts.map((start) => {
      const one = byTime.get(start);
      return (one && of(one)) ?? none;
    });
  const all = valuesOf(({ attempts }) => attempts, 0);
  const failed = valuesOf(({ failedAttempts }) => failedAttempts, 0);
  const attempts: Series[] = [
    { name: 'All', tone: 'accent', values: all },
    { name: 'Failed', tone: 'bad', values: failed },
  ];
  const durations: Series[] = [
    { name: 'p50 ms', tone: 'good', values: valuesOf(({ p50Ms }) => p50Ms, null) },
    { name: 'p95 ms', tone: 'busy', values: valuesOf(({ p95Ms }) => p95Ms, null) },
    { name: 'p99 ms', tone: 'bad', values: valuesOf(({ p99Ms }) => p99Ms, null) },
  ];
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const times = starts.map((start) => start / 1_000);
  return { times, attempts, durations, all: sum(all), failed: sum(failed) };
}
