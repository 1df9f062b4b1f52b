/** The project at a glance. Each figure leads to the list behind it. */
import { lazy } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { overviewPageQuery } from '../../__generated__/overviewPageQuery.graphql.ts';
import { EventLines } from '../events/event-lines.tsx';
import { useTail } from '../events/use-tail.ts';
import { Empty, Loaded, Missing, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { PageProps } from '../shell/places.ts';
import { DestinationStates, LastFailures } from './care.tsx';

/** A part of its own: figures don't wait for it. */
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
      broken: connections(status: BAD_CREDENTIALS) {
        totalCount
      }
      installations {
        totalCount
      }
      operations {
        totalCount
      }
      running: operations(status: IN_PROGRESS) {
        totalCount
      }
      failed: operations(status: FAILURE) {
        totalCount
      }
      ...care_project
    }
  }
`;

const LOOK_MS = 5_000;

export default function OverviewPage({ project: idOrName }: PageProps) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<overviewPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  if (!project) return <Missing what="project" />;
  const { connections, broken, installations, operations, running, failed } = project;
  const to = (path: string) => `/${encodeURIComponent(idOrName)}/${path}`;
  return (
    <Page title="Overview" about={project.appName} query={QUERY} variables={variables}>
      <div className="figures">
        <Figure of={connections.totalCount} name="Connections" to={to('connections')} />
        <Figure
          of={broken.totalCount}
          name="Need a new consent"
          to={to('connections?status=BAD_CREDENTIALS')}
          isBad
        />
        <Figure of={installations.totalCount} name="Installations" to={to('integrations')} />
        <Figure of={operations.totalCount} name="Operations" to={to('operations')} />
        <Figure
          of={running.totalCount}
          name="Running now"
          to={to('operations?status=IN_PROGRESS')}
        />
        <Figure
          of={failed.totalCount}
          name="Failed operations"
          to={to('operations?status=FAILURE')}
          isBad
        />
      </div>
      <Loaded place={idOrName}>
        <ActivityPanels project={idOrName} />
      </Loaded>
      <div className="grid">
        <Panel title="Events, live" actions={<Link href={to('events')}>All events</Link>}>
          <LiveEvents project={idOrName} address={to} />
        </Panel>
        <Panel
          title="Last failures"
          actions={<Link href={to('operations?status=FAILURE')}>All</Link>}
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
  of: number;
  name: string;
  to: string;
  /** More than none wants somebody's care. */
  isBad?: boolean;
}

function Figure({ of, name, to, isBad = false }: FigureProps) {
  return (
    <Link href={to} className={isBad && of > 0 ? 'figure bad' : 'figure'}>
      <strong>{of.toLocaleString('en')}</strong>
      <span className="quiet">{name}</span>
    </Link>
  );
}

const SHOWN_EVENTS = 8;

function LiveEvents({ project, address }: { project: string; address: (path: string) => string }) {
  const { events, isLoaded } = useTail({ project, eventTypes: null, topicId: null }, false);
  if (isLoaded && events.length === 0) return <Empty title="No event yet" />;
  return <EventLines events={events.slice(0, SHOWN_EVENTS)} address={address} />;
}
