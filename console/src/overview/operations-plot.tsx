/** How the last operations ended, by hour. */
import { useMemo } from 'react';
import { graphql } from 'react-relay';
import type { operationsPlotQuery } from '../../__generated__/operationsPlotQuery.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { Plot, type Series } from '../parts/plot.tsx';
import { usePageQuery } from '../parts/queries.ts';

const QUERY = graphql`
  query operationsPlotQuery($project: String!) {
    project(idOrName: $project) {
      operations(first: 100) {
        nodes {
          createTime
          status
        }
      }
    }
  }
`;

const LOOK_MS = 15_000;
const HOUR_SECONDS = 3_600;

interface Ended {
  createTime: string;
  status: string;
}

/** A column for each hour: what succeeded, and what failed on top of it. */
function columnsOf(operations: readonly Ended[]): { times: number[]; series: Series[] } {
  const hourOf = ({ createTime }: Ended) =>
    Math.floor(Date.parse(createTime) / (HOUR_SECONDS * 1_000)) * HOUR_SECONDS;
  const hours = operations.map(hourOf);
  const [first, last] = [Math.min(...hours), Math.max(...hours)];
  const times = Array.from(
    { length: (last - first) / HOUR_SECONDS + 1 },
    (_none, index) => first + index * HOUR_SECONDS,
  );
  const countOf = (isCounted: (one: Ended) => boolean) =>
    times.map((time) => operations.filter((one) => hourOf(one) === time && isCounted(one)).length);
  return {
    times,
    series: [
      // Drawn first, so that the failed ones stand in front of all.
      { name: 'All', tone: 'accent', values: countOf(() => true) },
      { name: 'Failed', tone: 'bad', values: countOf(({ status }) => status === 'FAILURE') },
    ],
  };
}

export default function OperationsPlot({ project: idOrName }: { project: string }) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<operationsPlotQuery>(QUERY, variables, { everyMs: LOOK_MS });
  const nodes = project?.operations.nodes;
  const columns = useMemo(() => columnsOf(nodes ?? []), [nodes]);
  if (!nodes || nodes.length === 0) return <Empty title="No operation yet" />;
  const failed = nodes.filter(({ status }) => status === 'FAILURE').length;
  return (
    <Plot
      label={`The last ${nodes.length} operations by hour: ${failed} of them failed`}
      times={columns.times}
      series={columns.series}
    />
  );
}
