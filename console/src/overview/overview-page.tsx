/** The project at a glance. Each figure leads to the list behind it. */
import { lazy } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { overviewPageQuery } from '../../__generated__/overviewPageQuery.graphql.ts';
import { EventLines } from '../events/event-lines.tsx';
import { useTail } from '../events/use-tail.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, Loaded, Missing, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { PlaceProps } from '../shell/places.ts';
import { DestinationStates, LastFailures } from './care.tsx';

/** Load separately, so that figures do not wait for them. */
const Checklist = lazy(() => import('../start/checklist.tsx'));
const AttentionPanel = lazy(() => import('./attention.tsx'));
const ActivityPanels = lazy(() => import('./activity.tsx'));

const QUERY = graphql`
  query overviewPageQuery($project: String!) {
    project(idOrName: $project) {
      id
      name
      appName
      connections {
        totalCount
      }
      working: connections(status: WORKING) {
        totalCount
      }
      unused: connections(status: CREATED) {
        totalCount
      }
      broken: connections(status: BAD_CREDENTIALS) {
        totalCount
      }
      installations {
        totalCount
      }
      unhealthy: installations(healthStatus: UNHEALTHY) {
        totalCount
      }
      operations {
        totalCount
      }
      running: operations(status: IN_PROGRESS) {
        totalCount
      }
      failed: operations(status: FAILED) {
        totalCount
      }
      pending: deliveries(status: PENDING) {
        totalCount
      }
      retrying: deliveries(status: RETRYING) {
        totalCount
      }
      failedDeliveries: deliveries(status: FAILED) {
        totalCount
      }
      ...care_project
    }
  }
`;

const POLL_MS = 5_000;
/** Each figure links to the list that it counts. A problem count above zero is highlighted, and zeros step back. */
const FIGURES = [
  { of: 'connections', name: 'Connections', path: 'connections' },
  { of: 'working', name: 'Working', path: 'connections?status=WORKING' },
  { of: 'unused', name: 'Not used yet', path: 'connections?status=CREATED' },
  {
    of: 'broken',
    name: 'Need reconnecting',
    path: 'connections?status=BAD_CREDENTIALS',
    isBad: true,
  },
  { of: 'installations', name: 'Installations', path: 'installations' },
  {
    of: 'unhealthy',
    name: 'Unhealthy installations',
    path: 'installations?health=UNHEALTHY',
    isBad: true,
  },
  { of: 'operations', name: 'Operations', path: 'operations' },
  { of: 'running', name: 'Running now', path: 'operations?status=IN_PROGRESS' },
  { of: 'failed', name: 'Failed operations', path: 'operations?status=FAILED', isBad: true },
  { of: 'pending', name: 'Pending deliveries', path: 'deliveries?status=PENDING' },
  {
    of: 'retrying',
    name: 'Retrying deliveries',
    path: 'deliveries?status=RETRYING',
    isBad: true,
  },
  {
    of: 'failedDeliveries',
    name: 'Failed deliveries',
    path: 'deliveries?status=FAILED',
    isBad: true,
  },
] as const satisfies { of: string; name: string; path: string; isBad?: boolean }[];

export default function OverviewPage({ project: idOrName }: PlaceProps) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<overviewPageQuery>(QUERY, variables, { everyMs: POLL_MS });
  const to = useProjectLink(idOrName);
  if (!project) return <Missing noun="project" />;
  return (
    <Page title="Overview" description={project.appName} query={QUERY} variables={variables}>
      <Loaded path={`${idOrName} checklist`} errorFallback={<span />}>
        <Checklist project={idOrName} />
      </Loaded>
      <Loaded path={`attention ${idOrName}`}>
        <AttentionPanel project={idOrName} to={to} />
      </Loaded>
      <div className="figures">
        {FIGURES.map((figure) => (
          <Figure
            key={figure.path}
            count={project[figure.of].totalCount}
            name={figure.name}
            to={to(figure.path)}
            isBad={'isBad' in figure}
          />
        ))}
      </div>
      <Loaded path={idOrName}>
        <ActivityPanels project={idOrName} to={to} />
      </Loaded>
      <div className="grid">
        <Panel title="Live events" actions={<Link href={to('events')}>All events</Link>}>
          <LiveEvents project={idOrName} address={to} />
        </Panel>
        <Panel
          title="Last failures"
          actions={<Link href={to('operations?status=FAILED')}>All</Link>}
        >
          <LastFailures project={project} to={to} />
        </Panel>
        <Panel title="Destinations" actions={<Link href={to('destinations')}>All</Link>}>
          <DestinationStates project={project} to={to} />
        </Panel>
      </div>
    </Page>
  );
}

interface FigureProps {
  count: number;
  name: string;
  to: string;
  isBad: boolean;
}

function Figure({ count, name, to, isBad }: FigureProps) {
  const tone = count === 0 ? 'zero' : isBad ? 'bad' : '';
  return (
    <Link href={to} className={`figure ${tone}`}>
      <strong>{count.toLocaleString('en')}</strong>
      <span className="quiet">{name}</span>
    </Link>
  );
}

const SHOWN_EVENTS = 8;

function LiveEvents({ project, address }: { project: string; address: (path: string) => string }) {
  const { items: events, isLoaded } = useTail({ project }, false);
  if (isLoaded && events.length === 0) return <Empty title="No events yet" />;
  return <EventLines events={events.slice(0, SHOWN_EVENTS)} address={address} />;
}
