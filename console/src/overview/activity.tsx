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
          time
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

type Activity = NonNullable<activityQuery['response']['project']>;
type Counted = Activity['byHour']['operations'][number];

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
  const columns = useMemo(() => columnsOf(operations ?? [], firstHour), [operations, firstHour]);
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
              <Link href={to(`operations?status=FAILURE&from=${variables.from}`)}>
                {columns.failed.toLocaleString('en')} failed
              </Link>
              .
            </p>
          </>
        )}
      </Panel>
      <Panel title="Today, in UTC">
        <Moved of={project.today.records} since={variables.today} to={to} />
        <Streamed of={project.today.streams} to={to} />
        <Delivered of={project.today.deliveries} since={variables.today} to={to} />
      </Panel>
    </>
  );
}

/** A column for each hour. Failed ones are drawn last and cover the rest. */
function columnsOf(operations: readonly Counted[], firstHour: number) {
  const hours = Array.from({ length: HOURS }, (_none, index) => firstHour + index * HOUR_MS);
  const sumOf = (isCounted: (one: Counted) => boolean) =>
    operations.reduce((sum, one) => sum + (isCounted(one) ? one.count : 0), 0);
  const isFailed = ({ status }: Counted) => status === 'FAILURE';
  const valuesOf = (isCounted: (one: Counted) => boolean) =>
    hours.map((hour) => sumOf((one) => Date.parse(one.time) === hour && isCounted(one)));
  const series: Series[] = [
    { name: 'All', tone: 'accent', values: valuesOf(() => true) },
    { name: 'Failed', tone: 'bad', values: valuesOf(isFailed) },
  ];
  const times = hours.map((hour) => hour / 1_000);
  return { times, series, all: sumOf(() => true), failed: sumOf(isFailed) };
}

interface TodayProps<Of extends keyof Activity['today']> {
  of: Activity['today'][Of];
  since: string;
  to: (path: string) => string;
}

function Moved({ of: records, since, to }: TodayProps<'records'>) {
  const sum = (name: 'read' | 'written' | 'receivedEvents') =>
    records.reduce((all, one) => all + one[name], 0).toLocaleString('en');
  return (
    <p>
      <Link href={to(`operations?action=READ&from=${since}`)}>{sum('read')} records read</Link>,{' '}
      <Link href={to(`operations?action=WRITE&from=${since}`)}>{sum('written')} written</Link>,{' '}
      <Link href={to('installations')}>{sum('receivedEvents')} provider events received</Link>.
    </p>
  );
}

function Streamed({ of: streams, to }: Omit<TodayProps<'streams'>, 'since'>) {
  const messages = streams.reduce((all, one) => all + one.messages, 0);
  if (messages === 0) return null;
  return (
    <p>
      <Link href={to('destinations')}>{messages.toLocaleString('en')} messages in streams</Link>.
    </p>
  );
}

const COLUMNS = ['Destination', 'Attempts', 'Failed', 'p50', 'p95', 'p99'];

function Delivered({ of: deliveries, since, to }: TodayProps<'deliveries'>) {
  if (deliveries.length === 0) return <p className="quiet">No deliveries today.</p>;
  const ms = (value: number | null | undefined) => (value == null ? '–' : `${value} ms`);
  return (
    <Table label="Deliveries today" columns={COLUMNS}>
      {deliveries.map(({ destination, attempts, failedAttempts, p50Ms, p95Ms, p99Ms }, index) => {
        const place = destination ? `destinations/${destination.id}` : 'deliveries';
        return (
          <tr key={destination?.id ?? `deleted ${index}`}>
            <td>{destination ? <Link href={to(place)}>{destination.name}</Link> : 'deleted'}</td>
            <td>
              <Link href={to(`${place}?from=${since}`)}>{attempts.toLocaleString('en')}</Link>
            </td>
            <td>
              <Link href={to(`${place}?status=FAILED&from=${since}`)}>
                {failedAttempts.toLocaleString('en')}
              </Link>
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
