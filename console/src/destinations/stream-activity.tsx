/** Messages appended to a stream, by hour or day. */
import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { streamActivityQuery } from '../../__generated__/streamActivityQuery.graphql.ts';
import { Plot, type Series } from '../parts/lazy-plot.ts';
import { Empty, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { sum } from '../parts/sum.ts';
import { alignToPeriod, PeriodChoice, usePeriod } from './period.tsx';

const QUERY = graphql`
  query streamActivityQuery($id: ID!, $from: DateTime!, $bucket: ActivityBucket!) {
    node(id: $id) {
      ... on Destination {
        streamActivity(from: $from, bucket: $bucket) {
          startTime
          messages
        }
      }
    }
  }
`;

const POLL_MS = 15_000;

export default function StreamActivity({ id }: { id: string }) {
  const { label, bucket, firstMs, bucketMs, buckets } = usePeriod();
  const variables = { id, bucket, from: new Date(firstMs).toISOString() };
  const { node } = usePageQuery<streamActivityQuery>(QUERY, variables, { everyMs: POLL_MS });
  const activity = node?.streamActivity;
  const { times, series, all } = useMemo(() => {
    const aligned = alignToPeriod(activity ?? [], { firstMs, bucketMs, buckets });
    const values = aligned.readValues(({ messages }) => messages, 0);
    const messageSeries: Series[] = [{ name: 'Messages', tone: 'accent', values }];
    return { times: aligned.times, series: messageSeries, all: sum(values) };
  }, [activity, firstMs, bucketMs, buckets]);
  return (
    <Panel title={`Messages by ${bucket.toLowerCase()}`} actions={<PeriodChoice />}>
      {all === 0 ? (
        <Empty title={`No messages in the ${label}`} />
      ) : (
        <Plot label={`${all} messages in the ${label}`} times={times} series={series} />
      )}
    </Panel>
  );
}
