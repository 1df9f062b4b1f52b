/**
 * The log of an operation. It is polled while the operation runs, and once more after the operation has
 * ended.
 */
import { graphql } from 'react-relay';
import type { operationLogsQuery } from '../../__generated__/operationLogsQuery.graphql.ts';
import { Empty } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Json } from '../parts/table.tsx';
import { ClockTime } from '../parts/time.tsx';
import { OperationText } from './operation-text.tsx';

const QUERY = graphql`
  query operationLogsQuery($id: ID!) {
    node(id: $id) {
      ... on Operation {
        logs(last: 100) {
          totalCount
          edges {
            cursor
            node {
              message
              severity
              createTime
              details
            }
          }
        }
      }
    }
  }
`;

const POLL_MS = 1_000;
const QUIET_POLL_MS = 30_000;

interface OperationLogsProps {
  id: string;
  objects: readonly string[];
  isRunning: boolean;
}

export function OperationLogs({ id, objects, isRunning }: OperationLogsProps) {
  const everyMs = isRunning ? POLL_MS : QUIET_POLL_MS;
  const { node } = usePageQuery<operationLogsQuery>(QUERY, { id }, { everyMs });
  const { edges = [], totalCount = 0 } = node?.logs ?? {};
  if (edges.length === 0) return <Empty title="No log lines yet" />;
  return (
    <>
      {totalCount > edges.length && (
        <p className="quiet">
          The last {edges.length} of {totalCount} lines.
        </p>
      )}
      <ol className="lines">
        {edges.map(({ cursor, node: { createTime, severity, message, details } }) => (
          <li key={cursor}>
            <ClockTime value={createTime} />
            {severity !== 'INFO' && <Status value={severity} />}
            <span>
              <OperationText text={message} namedObjects={objects} />
            </span>
            {details && Object.keys(details).length > 0 && (
              <details>
                <summary>Details</summary>
                <Json value={details} label="Details" />
              </details>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
