/** Activity: operations by hour, and what was delivered and moved today. */
import { lazy, useMemo } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { activityQuery } from '../../__generated__/activityQuery.graphql.ts';
import { Empty, Panel } from '../parts/page.tsx';
import type { Series } from '../parts/plot.tsx';
import { usePageQuery } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';

/** Plots load separately, so that figures do not wait for them. */
const Plot = lazy(async () => ({ default: (await import('../parts/plot.tsx')).Plot }));

const QUERY = graphql`
  query activityQuery($project: String!, $from: DateTime!, $today: DateTime!) {
    project(idOrName: $project) {
      byHour: activity(from: $from, bucket: HOUR) {
        operations {
          startTime
          status
          count
        }
      }
      today: activity(from: $today, bucket: DAY) {
        deliveries {
          destination {
            id
            name
          }
          attempts
          failedAttempts
          p50Ms
          p95Ms
          p99Ms
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
const HOUR_MS = 3_600_000;
const HOURS = 24;

type ProjectActivity = NonNullable<activityQuery['response']['project']>;
type OperationCount = ProjectActivity['byHour']['operations'][number];

interface ActivityPanelsProps {
  project: string;
  to: (path: string) => string;
}

export default function ActivityPanels({ project: idOrName, to }: ActivityPanelsProps) {
  const thisHour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const firstHour = thisHour - (HOURS - 1) * HOUR_MS;
  const variables = {
    project: idOrName,
    from: new Date(firstHour).toISOString(),
    today: `${new Date(thisHour).toISOString().slice(0, 10)}T00:00:00.000Z`,
  };
  const { project } = usePageQuery<activityQuery>(QUERY, variables, { everyMs: POLL_MS });
  const operations = project?.byHour.operations;
  const columns = useMemo(
    () => createColumns(operations ?? [], firstHour),
    [operations, firstHour],
  );
  if (!project) return null;
  return (
    <>
      <Panel title="Operations by hour">
        {columns.all === 0 ? (
          <Empty title={`No operations in ${HOURS} hours`} />
        ) : (
          <>
            <Plot
              label={`${columns.all} operations in ${HOURS} hours, ${columns.failed} failed`}
              times={columns.times}
              series={columns.series}
            />
            <p>
              <Link href={to(`operations?from=${variables.from}`)}>
                {columns.all.toLocaleString('en')} operations
              </Link>{' '}
              in {HOURS} hours,{' '}
              <Link href={to(`operations?status=FAILED&from=${variables.from}`)}>
                {columns.failed.toLocaleString('en')} failed
              </Link>
              .
            </p>
          </>
        )}
      </Panel>
      <Panel title="Today, in UTC">
        <RecordsToday counts={project.today.records} since={variables.today} to={to} />
        <MessagesToday counts={project.today.streams} to={to} />
        <DeliveriesToday counts={project.today.deliveries} since={variables.today} to={to} />
      </Panel>
    </>
  );
}

/** A column for each hour. Failed ones are drawn last and cover the rest. */
function createColumns(operations: readonly OperationCount[], firstHour: number) {
  const hours = Array.from({ length: HOURS }, (_none, index) => firstHour + index * HOUR_MS);
  const sumOf = (isCounted: (bucket: OperationCount) => boolean) =>
    operations.reduce((sum, bucket) => sum + (isCounted(bucket) ? bucket.count : 0), 0);
  const isFailed = ({ status }: OperationCount) => status === 'FAILED';
  const valuesOf = (isCounted: (bucket: OperationCount) => boolean) =>
    hours.map((hour) =>
      sumOf((bucket) => Date.parse(bucket.startTime) === hour && isCounted(bucket)),
    );
  const series: Series[] = [
    { name: 'All', tone: 'accent', values: valuesOf(() => true) },
    { name: 'Failed', tone: 'bad', values: valuesOf(isFailed) },
  ];
  const times = hours.map((hour) => hour / 1_000);
  return { times, series, all: sumOf(() => true), failed: sumOf(isFailed) };
}

interface TodayProps<Of extends keyof ProjectActivity['today']> {
  counts: ProjectActivity['today'][Of];
  since: string;
  to: (path: string) => string;
}

function RecordsToday({ counts: records, since, to }: TodayProps<'records'>) {
  const totalOf = (name: 'read' | 'written' | 'receivedEvents') =>
    records.reduce((total, record) => total + record[name], 0).toLocaleString('en');
  return (
    <p>
      <Link href={to(`operations?action=READ&from=${since}`)}>{totalOf('read')} records read</Link>,{' '}
      <Link href={to(`operations?action=WRITE&from=${since}`)}>{totalOf('written')} written</Link>,{' '}
      <Link href={to('installations')}>{totalOf('receivedEvents')} provider events received</Link>.
    </p>
  );
}

function MessagesToday({ counts: streams, to }: Omit<TodayProps<'streams'>, 'since'>) {
  const messages = streams.reduce((total, stream) => total + stream.messages, 0);
  if (messages === 0) return null;
  return (
    <p>
      <Link href={to('destinations')}>{messages.toLocaleString('en')} messages in streams</Link>.
    </p>
  );
}

const COLUMNS = ['Destination', 'Failed', 'Attempts', 'p50', 'p95', 'p99'];

function DeliveriesToday({ counts: deliveries, since, to }: TodayProps<'deliveries'>) {
  if (deliveries.length === 0) return <p className="quiet">No deliveries today.</p>;
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value} ms`);
  return (
    <Table label="Deliveries today" columns={COLUMNS}>
      {deliveries.map(({ destination, attempts, failedAttempts, p50Ms, p95Ms, p99Ms }, index) => {
        const path = destination ? `destinations/${destination.id}` : 'deliveries';
        return (
          <tr key={destination?.id ?? `deleted ${index}`}>
            <td>{destination ? <Link href={to(path)}>{destination.name}</Link> : 'deleted'}</td>
            <td>
              <Link href={to(`${path}?status=FAILED&from=${since}`)}>
                {failedAttempts.toLocaleString('en')}
              </Link>
            </td>
            <td>
              <Link href={to(`${path}?from=${since}`)}>{attempts.toLocaleString('en')}</Link>
            </td>
            <td>{ms(p50Ms)}</td>
            <td>{ms(p95Ms)}</td>
            <td>{ms(p99Ms)}</td>
          </tr>
        );
      })}
    </Table>
  );
}
