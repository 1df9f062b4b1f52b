/** Items that need a person: failing destinations, broken connections, paused reads, pending proposals and failed work. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { attentionQuery } from '../../__generated__/attentionQuery.graphql.ts';
import { Action } from '../parts/form.tsx';
import { Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { useAcknowledged } from './acknowledged.ts';

const QUERY = graphql`
  query attentionQuery(
    $project: String!
    $from: DateTime!
    $lastDay: TimeRangeInput!
  ) {
    project(idOrName: $project) {
      destinations(failing: true, first: 3) {
        totalCount
        nodes {
          id
          name
          failingSince
        }
      }
      connections(status: BAD_CREDENTIALS, first: 3) {
        totalCount
        nodes {
          id
          provider
          group {
            groupName
          }
        }
      }
      installations(healthStatus: UNHEALTHY, first: 3) {
        totalCount
        nodes {
          id
          healthReason
          group {
            groupName
          }
        }
      }
      pausedReads {
        objectName
        pauseNote
        installation {
          id
          group {
            groupName
          }
        }
      }
      setupFailures {
        provider
        error
        firstFailureTime
        lastFailureTime
      }
      proposals(status: PENDING, first: 3) {
        totalCount
        nodes {
          id
          objectName
          group {
            groupName
          }
        }
      }
      operations(status: FAILED, createTime: $lastDay, first: 1) {
        nodes {
          id
        }
      }
      deliveries(status: FAILED, createTime: $lastDay, first: 1) {
        totalCount
        nodes {
          id
        }
      }
      activity(from: $from, bucket: HOUR) {
        operations {
          startTime
          status
          count
        }
      }
    }
  }
`;

const POLL_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Attention = NonNullable<attentionQuery['response']['project']>;

interface AttentionItem {
  key: string;
  mark: string;
  text: string;
  detail: string | null;
  path: string;
}

interface AttentionProps {
  project: string;
  to: (path: string) => string;
}

export default function AttentionPanel({ project: idOrName, to }: AttentionProps) {
  // The beginning of an hour, so that a refresh repeats the query of the hour.
  const dayStartMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS - DAY_MS;
  const dayStart = new Date(dayStartMs).toISOString();
  const variables = {
    project: idOrName,
    from: new Date(dayStartMs - DAY_MS).toISOString(),
    lastDay: { from: dayStart },
  };
  const { project } = usePageQuery<attentionQuery>(QUERY, variables, { everyMs: POLL_MS });
  const { isAcknowledged, acknowledge, restore } = useAcknowledged(idOrName);
  if (!project) return null;
  const [today, yesterday] = [
    countOperations(project, (timeMs) => timeMs >= dayStartMs),
    countOperations(project, (timeMs) => timeMs < dayStartMs),
  ];
  const items = listItems(project, { dayStart, today, yesterday });
  const open = items.filter((item) => !isAcknowledged(item));
  const acknowledged = items.filter(isAcknowledged);
  return (
    <Panel title="Needs attention">
      {open.length === 0 ? (
        <p>
          <span className="status good">Nothing needs attention</span>
        </p>
      ) : (
        <ul className="plain-list">
          {open.map((item) => (
            <li key={item.key}>
              <Attentive item={item} to={to} />
              <Action
                kind="quiet"
                aria-label={`Acknowledge: ${item.text}`}
                onPress={() => acknowledge(item)}
              >
                Acknowledge
              </Action>
            </li>
          ))}
        </ul>
      )}
      <p className="quiet">{formatTrend(today, yesterday)}</p>
      {acknowledged.length > 0 && (
        <details>
          <summary>{acknowledged.length} acknowledged in this browser</summary>
          <ul className="plain-list">
            {acknowledged.map((item) => (
              <li key={item.key}>
                <Attentive item={item} to={to} />
                <Action
                  kind="quiet"
                  aria-label={`Show again: ${item.text}`}
                  onPress={() => restore(item)}
                >
                  Show again
                </Action>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  );
}

function Attentive({ item, to }: { item: AttentionItem; to: AttentionProps['to'] }) {
  return (
    <span className="attentive">
      <Link href={to(item.path)} className="strong">
        {item.text}
      </Link>
      {item.detail && <span className="quiet"> {item.detail}</span>}
    </span>
  );
}

interface OutcomeCounts {
  succeeded: number;
  failed: number;
}

function countOperations(
  { activity }: Attention,
  isCounted: (timeMs: number) => boolean,
): OutcomeCounts {
  const countStatus = (status: string) =>
    activity.operations
      .filter((bucket) => bucket.status === status && isCounted(Date.parse(bucket.startTime)))
      .reduce((sum, { count }) => sum + count, 0);
  return { succeeded: countStatus('SUCCEEDED'), failed: countStatus('FAILED') };
}

/** The percentage of ended operations that succeeded. Null if none has ended. */
function computeRate({ succeeded, failed }: OutcomeCounts): number | null {
  const endedCount = succeeded + failed;
  return endedCount === 0 ? null : (100 * succeeded) / endedCount;
}

const percent = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

function formatTrend(today: OutcomeCounts, yesterday: OutcomeCounts): string {
  const rate = computeRate(today);
  if (rate === null) return 'No operations ended in 24 hours.';
  const before = computeRate(yesterday);
  const share = `${percent.format(rate)} % of operations succeeded in 24 hours`;
  return before === null ? `${share}.` : `${share}, ${percent.format(before)} % the day before.`;
}

function listItems(
  project: Attention,
  {
    dayStart,
    today,
    yesterday,
  }: { dayStart: string; today: OutcomeCounts; yesterday: OutcomeCounts },
): AttentionItem[] {
  const { destinations, connections, installations, pausedReads } = project;
  const { proposals, operations, deliveries } = project;
  const setupFailures = project.setupFailures.filter(
    ({ lastFailureTime }) => Date.parse(lastFailureTime) >= Date.parse(dayStart),
  );
  const [setupFailure] = setupFailures;
  const [destination] = destinations.nodes;
  const [connection] = connections.nodes;
  const [installation] = installations.nodes;
  const [pausedRead] = pausedReads;
  const [proposal] = proposals.nodes;
  const [failedOperation] = operations.nodes;
  const [failedDelivery] = deliveries.nodes;
  const items: (AttentionItem | undefined)[] = [
    destination && {
      key: 'destinations',
      mark: destinations.nodes.map(({ id, failingSince }) => `${id} ${failingSince}`).join(),
      text: formatCount(
        destinations.totalCount,
        'destination is failing',
        'destinations are failing',
      ),
      detail: formatNames(
        destinations.nodes.map(({ name }) => name),
        destinations.totalCount,
      ),
      path: destinations.totalCount === 1 ? `destinations/${destination.id}` : 'destinations',
    },
    connection && {
      key: 'connections',
      mark: `${connections.totalCount} ${connections.nodes.map(({ id }) => id).join()}`,
      text: formatCount(
        connections.totalCount,
        'connection needs reconnecting',
        'connections need reconnecting',
      ),
      detail: formatNames(
        connections.nodes.map(({ group, provider }) => `${group.groupName} at ${provider}`),
        connections.totalCount,
      ),
      path:
        connections.totalCount === 1
          ? `connections/${connection.id}`
          : 'connections?status=BAD_CREDENTIALS',
    },
    installation && {
      key: 'installations',
      mark: `${installations.totalCount} ${installations.nodes.map(({ id }) => id).join()}`,
      text: formatCount(
        installations.totalCount,
        'installation is unhealthy',
        'installations are unhealthy',
      ),
      detail:
        installations.totalCount === 1
          ? `${installation.group.groupName}: ${installation.healthReason}`
          : formatNames(
              installations.nodes.map(({ group }) => group.groupName),
              installations.totalCount,
            ),
      path:
        installations.totalCount === 1
          ? `installations/${installation.id}`
          : 'installations?health=UNHEALTHY',
    },
    setupFailure && {
      key: 'setup',
      mark: setupFailures
        .map(({ provider, error, firstFailureTime }) => `${provider} ${firstFailureTime} ${error}`)
        .join(),
      text: formatCount(
        setupFailures.length,
        'provider keeps customers from connecting',
        'providers keep customers from connecting',
      ),
      detail: setupFailures.map(({ provider, error }) => `${provider}: ${error}`).join(' '),
      path: setupFailures.length === 1 ? `providers/${setupFailure.provider}` : 'providers',
    },
    pausedRead && {
      key: 'paused',
      mark: pausedReads
        .map(({ installation, objectName }) => `${installation?.id} ${objectName}`)
        .join(),
      text: formatCount(pausedReads.length, 'read is paused', 'reads are paused'),
      detail: formatNames(pausedReads.slice(0, 3).map(describePausedRead), pausedReads.length),
      path: pausedRead.installation
        ? `installations/${pausedRead.installation.id}`
        : 'installations',
    },
    proposal && {
      key: 'proposals',
      mark: `${proposals.totalCount} ${proposals.nodes.map(({ id }) => id).join()}`,
      text: formatCount(
        proposals.totalCount,
        'proposal waits for approval',
        'proposals wait for approval',
      ),
      detail: formatNames(
        proposals.nodes.map(({ group, objectName }) => `${group.groupName}: ${objectName}`),
        proposals.totalCount,
      ),
      path: proposals.totalCount === 1 ? `agents/${proposal.id}` : 'agents?status=PENDING',
    },
    failedOperation && {
      key: 'operations',
      mark: failedOperation.id,
      text: formatCount(today.failed, 'operation failed', 'operations failed'),
      detail: `in 24 hours, ${yesterday.failed.toLocaleString('en')} the day before`,
      path: `operations?status=FAILED&from=${dayStart}`,
    },
    failedDelivery && {
      key: 'deliveries',
      mark: failedDelivery.id,
      text: formatCount(deliveries.totalCount, 'delivery failed', 'deliveries failed'),
      detail: 'permanently, of those created in 24 hours',
      path: `deliveries?status=FAILED&from=${dayStart}`,
    },
  ];
  return items.filter((item) => item !== undefined);
}

function formatCount(count: number, singular: string, plural: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`;
}

function formatNames(names: string[], total: number): string {
  const otherCount = total - names.length;
  return otherCount > 0 ? `${names.join(', ')} and ${otherCount} more` : names.join(', ');
}

function describePausedRead({
  installation,
  objectName,
  pauseNote,
}: Attention['pausedReads'][number]) {
  const name = `${installation?.group.groupName ?? 'deleted'}: ${objectName}`;
  return pauseNote ? `${name} (${pauseNote})` : name;
}
