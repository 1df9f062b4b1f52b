/** Activity since the first hour of the charts: operations by hour, moved records and delivery attempts. */
import { useMemo } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { activityQuery } from '../../__generated__/activityQuery.graphql.ts';
import { Plot, type Series } from '../parts/lazy-plot.ts';
import { Empty, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { sum } from '../parts/sum.ts';
import { Table } from '../parts/table.tsx';
import { formatSince, getFirstHour, HOUR_MS, HOURS } from './first-hour.ts';

const QUERY = graphql`
  query activityQuery($project: String!, $from: DateTime!) {
    project(idOrName: $project) {
      activity(from: $from, bucket: HOUR) {
        operations {
          startTime
          status
          count
        }
        deliveries {
          destination {
            id
            name
          }
          attempts
          failedAttempts
          p95Ms
        }
        records {
          read
          written
          receivedEvents
        }
        streams {
          messages
        }
      }
    }
  }
`;

const POLL_MS = 15_000;

type ProjectActivity = NonNullable<activityQuery['response']['project']>['activity'];
type OperationCount = ProjectActivity['operations'][number];

interface ActivityPanelsProps {
  project: string;
  linkTo: (path: string) => string;
}

export default function ActivityPanels({ project: projectIdOrName, linkTo }: ActivityPanelsProps) {
  const firstHour = getFirstHour();
  const since = formatSince(firstHour);
  const variables = { project: projectIdOrName, from: new Date(firstHour).toISOString() };
  const { project } = usePageQuery<activityQuery>(QUERY, variables, { everyMs: POLL_MS });
  const activity = project?.activity;
  const operations = activity?.operations;
  const columns = useMemo(
    () => createColumns(operations ?? [], firstHour),
    [operations, firstHour],
  );
  if (!activity) return null;
  return (
    <>
      <Panel title="Operations by hour">
        {columns.all === 0 ? (
          <Empty title={`No operations ${since}`}>
            <Link href={linkTo('installations')}>Trigger a read</Link> on the page of an
            installation.
          </Empty>
        ) : (
          <Plot
            label={`${columns.all} operations ${since}, ${columns.failed} failed`}
            times={columns.times}
            series={columns.series}
          />
        )}
      </Panel>
      <Panel title={`Records and messages ${since}`}>
        <MovedRecords activity={activity} linkTo={linkTo} />
        <DeliveryAttempts deliveries={activity.deliveries} since={since} linkTo={linkTo} />
      </Panel>
    </>
  );
}

/** A plot with a bar for each hour. Failed operations are drawn last and cover the other bars. */
function createColumns(operations: readonly OperationCount[], firstHour: number) {
  const hours = Array.from({ length: HOURS }, (_none, index) => firstHour + index * HOUR_MS);
  const sumCounts = (isCounted: (bucket: OperationCount) => boolean) =>
    operations.reduce((sum, bucket) => sum + (isCounted(bucket) ? bucket.count : 0), 0);
  const isFailed = ({ status }: OperationCount) => status === 'FAILED';
  const sumByHour = (isCounted: (bucket: OperationCount) => boolean) =>
    hours.map((hour) =>
      sumCounts((bucket) => Date.parse(bucket.startTime) === hour && isCounted(bucket)),
    );
  const series: Series[] = [
    { name: 'All', tone: 'accent', values: sumByHour(() => true) },
    { name: 'Failed', tone: 'bad', values: sumByHour(isFailed) },
  ];
  const times = hours.map((hour) => hour / 1_000);
  return { times, series, all: sumCounts(() => true), failed: sumCounts(isFailed) };
}

interface MovedRecordsProps {
  activity: ProjectActivity;
  linkTo: (path: string) => string;
}

/** Lists counts of moved records, without zeros. */
function MovedRecords({ activity: { records, streams }, linkTo }: MovedRecordsProps) {
  const counts = [
    {
      label: 'records read',
      count: sum(records.map(({ read }) => read)),
      path: 'operations?action=READ&time=day',
    },
    {
      label: 'records written',
      count: sum(records.map(({ written }) => written)),
      path: 'operations?action=WRITE&time=day',
    },
    {
      label: 'provider events received',
      count: sum(records.map(({ receivedEvents }) => receivedEvents)),
      path: 'installations',
    },
    {
      label: 'messages in streams',
      count: sum(streams.map(({ messages }) => messages)),
      path: 'destinations',
    },
  ].filter(({ count }) => count > 0);
  if (counts.length === 0) return <p className="quiet">No records were read or written.</p>;
  return (
    <p>
      {counts.map(({ label, count, path }, index) => (
        <span key={label}>
          {index > 0 && ', '}
          <Link href={linkTo(path)}>
            {count.toLocaleString('en')} {label}
          </Link>
        </span>
      ))}
    </p>
  );
}

const P95_COLUMN = 'Duration, p95 in the slowest hour';
const COLUMNS = ['Destination', 'Failed', 'Attempts', P95_COLUMN];

interface DeliveryAttemptsProps {
  /** One row for each destination and hour. */
  deliveries: ProjectActivity['deliveries'];
  since: string;
  linkTo: (path: string) => string;
}

function DeliveryAttempts({ deliveries, since, linkTo }: DeliveryAttemptsProps) {
  if (deliveries.length === 0) return <p className="quiet">No messages were sent.</p>;
  const hoursByDestination = Map.groupBy(deliveries, ({ destination }) => destination?.id);
  return (
    <Table label={`Attempts ${since}`} columns={COLUMNS} detailColumns={[P95_COLUMN]}>
      {[...hoursByDestination].map(([id, hours]) => {
        const path = id ? `destinations/${id}` : 'deliveries';
        const failed = sum(hours.map(({ failedAttempts }) => failedAttempts));
        return (
          <tr key={id ?? 'deleted'}>
            <td>
              {id ? <Link href={linkTo(path)}>{hours[0]?.destination?.name}</Link> : 'deleted'}
            </td>
            <td>
              {failed === 0 ? (
                <span className="quiet">0</span>
              ) : (
                <Link href={linkTo(`${path}?status=FAILED&time=day`)}>
                  {failed.toLocaleString('en')}
                </Link>
              )}
            </td>
            <td>{sum(hours.map(({ attempts }) => attempts)).toLocaleString('en')}</td>
            <td>{Math.max(...hours.map(({ p95Ms }) => p95Ms ?? 0)).toLocaleString('en')} ms</td>
          </tr>
        );
      })}
    </Table>
  );
}
