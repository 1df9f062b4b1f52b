/** Attempts of a destination by hour or day, with their outcomes and durations. */
import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { destinationActivityQuery } from '../../__generated__/destinationActivityQuery.graphql.ts';
import { Plot, type Series } from '../parts/lazy-plot.ts';
import { Empty, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { sum } from '../parts/sum.ts';
import { alignToPeriod, PeriodChoice, usePeriod } from './period.tsx';

const QUERY = graphql`
  query destinationActivityQuery($id: ID!, $from: DateTime!, $bucket: ActivityBucket!) {
    node(id: $id) {
      ... on Destination {
        activity(from: $from, bucket: $bucket) {
          startTime
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

const POLL_MS = 15_000;

export default function DestinationActivity({ id }: { id: string }) {
  const { label, bucket, firstMs, bucketMs, buckets } = usePeriod();
  const variables = { id, bucket, from: new Date(firstMs).toISOString() };
  const { node } = usePageQuery<destinationActivityQuery>(QUERY, variables, { everyMs: POLL_MS });
  const activity = node?.activity;
  const plots = useMemo(
    () => createPlots(activity ?? [], { firstMs, bucketMs, buckets }),
    [activity, firstMs, bucketMs, buckets],
  );
  const last = activity?.at(-1);
  return (
    <Panel
      title={`Attempts and their durations by ${bucket.toLowerCase()}`}
      actions={<PeriodChoice />}
    >
      {!last ? (
        <Empty title={`No attempts in the ${label}`} />
      ) : (
        <div className="grid">
          <Plot
            label={`${plots.attemptCount} attempts in the ${label}, ${plots.failedCount} failed`}
            times={plots.times}
            series={plots.attempts}
          />
          <Plot
            label={`Duration of attempts in milliseconds; latest p50 ${last.p50Ms ?? '–'}, p95 ${last.p95Ms ?? '–'}, p99 ${last.p99Ms ?? '–'}`}
            times={plots.times}
            series={plots.durations}
            style="lines"
          />
        </div>
      )}
    </Panel>
  );
}

type ActivityPoint = NonNullable<
  NonNullable<destinationActivityQuery['response']['node']>['activity']
>[number];

function createPlots(
  activity: readonly ActivityPoint[],
  period: Parameters<typeof alignToPeriod>[1],
) {
  const { times, readValues } = alignToPeriod(activity, period);
  const attemptCounts = readValues(({ attempts }) => attempts, 0);
  const failedCounts = readValues(({ failedAttempts }) => failedAttempts, 0);
  const attempts: Series[] = [
    { name: 'All', tone: 'accent', values: attemptCounts },
    { name: 'Failed', tone: 'bad', values: failedCounts },
  ];
  const durations: Series[] = [
    { name: 'p50 (ms)', tone: 'good', values: readValues(({ p50Ms }) => p50Ms, null) },
    { name: 'p95 (ms)', tone: 'busy', values: readValues(({ p95Ms }) => p95Ms, null) },
    { name: 'p99 (ms)', tone: 'bad', values: readValues(({ p99Ms }) => p99Ms, null) },
  ];
  return {
    times,
    attempts,
    durations,
    attemptCount: sum(attemptCounts),
    failedCount: sum(failedCounts),
  };
}
