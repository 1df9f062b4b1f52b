/** One operation with its live status and log. */
import { useMemo } from 'react';
import { graphql, useSubscription } from 'react-relay';
import { Link } from 'wouter';
import type { operationPageQuery } from '../../__generated__/operationPageQuery.graphql.ts';
import type { operationPageSubscription } from '../../__generated__/operationPageSubscription.graphql.ts';
import { Copyable } from '../parts/copy.tsx';
import { useProjectLink } from '../parts/filters.tsx';
import { getIntegrationName } from '../parts/integration-name.ts';
import { Empty, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Status } from '../parts/status.tsx';
import { Facts, Progress } from '../parts/table.tsx';
import { ExactTime, Time } from '../parts/time.tsx';
import type { ConsolePageProps } from '../shell/pages.ts';
import { OperationLogs } from './operation-logs.tsx';
import { getOperationName } from './operation-name.ts';
import { OperationText } from './operation-text.tsx';
import { OperationRequests } from './recorded-requests.tsx';

const PAGE_QUERY = graphql`
  query operationPageQuery($id: ID!) {
    node(id: $id) {
      ... on Operation {
        id
        actionType
        status
        result
        createTime
        updateTime
        installationId
        metadata {
          objects
          successfulRecordIds
          omittedFields
          retry {
            attempts
            lastAttemptTime
          }
          progress {
            objectName
            recordsProcessed
            recordsEstimatedTotal
          }
        }
        logs(first: 1) {
          nodes {
            details
          }
        }
        integration {
          ...integrationName_integration @relay(mask: false)
        }
        installation {
          id
          group {
            groupRef
            groupName
          }
        }
      }
    }
  }
`;

const LIVE = graphql`
  subscription operationPageSubscription($id: ID!) {
    operation(id: $id) {
      id
      status
      result
      updateTime
      metadata {
        objects
        progress {
          objectName
          recordsProcessed
          recordsEstimatedTotal
        }
      }
    }
  }
`;

export default function OperationPage({ project, id = '' }: ConsolePageProps) {
  const variables = { id };
  const { node } = usePageQuery<operationPageQuery>(PAGE_QUERY, variables);
  useSubscription<operationPageSubscription>(
    useMemo(() => ({ subscription: LIVE, variables: { id }, onError: () => {} }), [id]),
  );
  const linkTo = useProjectLink(project);
  if (!node?.id || !node.status) return <NotFound noun="operation" />;
  const { metadata, installation, status } = node;
  const { progress, retry } = metadata ?? {};
  const { group } = installation ?? {};
  const integrationName = node.integration && getIntegrationName(node.integration);
  const isRunning = status === 'IN_PROGRESS';
  return (
    <Page
      title={getOperationName(node.actionType ?? '', metadata?.objects ?? [])}
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <Facts
          facts={{
            Status: <Status value={status} />,
            Outcome: node.result && (
              <OperationText text={node.result} namedObjects={metadata?.objects ?? []} />
            ),
            Group: group && (
              <Link href={linkTo(`groups/${encodeURIComponent(group.groupRef)}`)}>
                {group.groupName}
              </Link>
            ),
            Installation: installation ? (
              <Link href={linkTo(`installations/${installation.id}`)}>{integrationName}</Link>
            ) : (
              'deleted'
            ),
            Integration: installation ? null : integrationName,
            Started: <Time value={node.createTime} />,
            'Last change': isRunning ? <Time value={node.updateTime} /> : null,
            Duration: isRunning ? null : formatDuration(node),
            Attempts: retry?.attempts,
            'IDs of written records': metadata?.successfulRecordIds.join(', ') || null,
            'Fields not written': metadata?.omittedFields.join(', ') || null,
            ID: <Copyable value={node.id} label="ID" />,
          }}
        />
        {progress && isRunning && (
          <Progress
            label={`Progress of ${progress.objectName}`}
            completed={progress.recordsProcessed}
            total={progress.recordsEstimatedTotal}
          />
        )}
      </Panel>
      {node.actionType === 'READ' && status === 'SUCCEEDED' && progress?.recordsProcessed === 0 && (
        <NoRecords window={node.logs?.nodes[0]?.details} />
      )}
      <OperationRequests id={node.id} />
      <Panel title="Log">
        <OperationLogs id={node.id} objects={metadata?.objects ?? []} isRunning={isRunning} />
      </Panel>
    </Page>
  );
}

/** The details of a read's first log line. Null stands for no limit. */
interface ReadWindow {
  since?: string | null;
  until?: string | null;
}

function NoRecords({ window }: { window: ReadWindow | null | undefined }) {
  const { since, until } = window ?? {};
  return (
    <Panel>
      <Empty title="The read brought no records">
        <p>
          It requested {since || until ? 'records that changed' : 'all records'}
          {since && (
            <>
              {' '}
              from <ExactTime value={since} />
            </>
          )}
          {until && (
            <>
              {' '}
              until <ExactTime value={until} />
            </>
          )}
          .
        </p>
        <p>
          {since && 'Records that changed earlier belong to earlier reads. '}
          Filters of the installation, and the permissions of the connected account, also exclude
          records.
        </p>
      </Empty>
    </Panel>
  );
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Formats the time from the start to the last change, like "134 ms", "2.1 s", "3 min 5 s" or "2 h 3 min". */
function formatDuration({ createTime, updateTime }: OperationTimes): string | null {
  if (!createTime || !updateTime) return null;
  const ms = Date.parse(updateTime) - Date.parse(createTime);
  if (ms < SECOND_MS) return `${ms} ms`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / 100) / 10} s`;
  if (ms < HOUR_MS) {
    return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
  }
  return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
}

interface OperationTimes {
  createTime?: string;
  updateTime?: string | null | undefined;
}
