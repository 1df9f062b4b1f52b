/** The overview of a project. Each figure links to the list that it counts. */
import { lazy } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { overviewPageQuery } from '../../__generated__/overviewPageQuery.graphql.ts';
import { EventLines } from '../events/event-lines.tsx';
import { useTail } from '../events/use-tail.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Empty, Loaded, NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { DestinationStates, LastFailures } from './project-health.tsx';

/** Plots and lists that load separately, so that the figures do not wait for them. */
const Checklist = lazy(() => import('../start/checklist.tsx'));
const AttentionPanel = lazy(() => import('./attention.tsx'));
const ActivityPanels = lazy(() => import('./activity.tsx'));

const PAGE_QUERY = graphql`
  query overviewPageQuery($project: String!, $dayStart: DateTime!) {
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
      running: operations(status: IN_PROGRESS) {
        totalCount
      }
      pending: deliveries(status: PENDING) {
        totalCount
      }
      retrying: deliveries(status: RETRYING) {
        totalCount
      }
      operations(createTime: { from: $dayStart }) {
        totalCount
      }
      failed: operations(status: FAILED, createTime: { from: $dayStart }) {
        totalCount
      }
      deliveries(createTime: { from: $dayStart }) {
        totalCount
      }
      failedDeliveries: deliveries(status: FAILED, createTime: { from: $dayStart }) {
        totalCount
      }
      ...projectHealth_project @arguments(dayStart: $dayStart)
    }
  }
`;

const POLL_MS = 5_000;
/** Shows the counts. Problems are highlighted if their count is above zero, and zeros are less prominent. */
const FIGURES = [
  {
    period: 'Now',
    figures: [
      { field: 'working', name: 'Working connections', path: 'connections?status=WORKING' },
      { field: 'unused', name: 'Unused connections', path: 'connections?status=CREATED' },
      {
        field: 'broken',
        name: 'Need reconnecting',
        path: 'connections?status=BAD_CREDENTIALS',
        isBad: true,
      },
      { field: 'installations', name: 'Installations', path: 'installations' },
      {
        field: 'unhealthy',
        name: 'Unhealthy installations',
        path: 'installations?health=UNHEALTHY',
        isBad: true,
      },
      { field: 'running', name: 'Running operations', path: 'operations?status=IN_PROGRESS' },
      { field: 'pending', name: 'Pending deliveries', path: 'deliveries?status=PENDING' },
      {
        field: 'retrying',
        name: 'Retrying deliveries',
        path: 'deliveries?status=RETRYING',
        isBad: true,
      },
    ],
  },
  {
    period: 'Last 24 hours',
    figures: [
      { field: 'operations', name: 'Operations', path: 'operations?time=day' },
      {
        field: 'failed',
        name: 'Failed operations',
        path: 'operations?status=FAILED&time=day',
        isBad: true,
      },
      { field: 'deliveries', name: 'Deliveries', path: 'deliveries?time=day' },
      {
        field: 'failedDeliveries',
        name: 'Failed deliveries',
        path: 'deliveries?status=FAILED&time=day',
        isBad: true,
      },
    ],
  },
] as const;

export default function OverviewPage({ project: projectIdOrName }: ConsolePageProps) {
  const variables = { project: projectIdOrName, dayStart: getDayStart() };
  const { project } = usePageQuery<overviewPageQuery>(PAGE_QUERY, variables, { everyMs: POLL_MS });
  const linkTo = useProjectLink(projectIdOrName);
  if (!project) return <NotFound noun="project" />;
  const isUnused = project.connections.totalCount === 0 && project.operations.totalCount === 0;
  return (
    <Page title="Overview" description={project.appName} query={PAGE_QUERY} variables={variables}>
      <Loaded resetKey={`${projectIdOrName} checklist`} errorFallback={<span />}>
        <Checklist project={projectIdOrName} />
      </Loaded>
      <Loaded resetKey={`attention ${projectIdOrName}`}>
        <AttentionPanel project={projectIdOrName} linkTo={linkTo} />
      </Loaded>
      {isUnused ? (
        <Panel>
          <Empty title="No connections yet">
            <Link href={linkTo('start')}>Connect a first account</Link> to see operations, events
            and deliveries here.
          </Empty>
        </Panel>
      ) : (
        <ProjectState projectIdOrName={projectIdOrName} project={project} linkTo={linkTo} />
      )}
    </Page>
  );
}

interface ProjectStateProps {
  projectIdOrName: string;
  project: NonNullable<overviewPageQuery['response']['project']>;
  linkTo: (path: string) => string;
}

function ProjectState({ projectIdOrName, project, linkTo }: ProjectStateProps) {
  return (
    <>
      {FIGURES.map(({ period, figures }) => (
        <section key={period} aria-label={period}>
          <h2 className="figures-period">{period}</h2>
          <div className="figures">
            {figures.map(({ field, name, path, ...figure }) => (
              <Figure
                key={path}
                count={project[field].totalCount}
                name={name}
                href={linkTo(path)}
                isBad={'isBad' in figure}
              />
            ))}
          </div>
        </section>
      ))}
      <Loaded resetKey={projectIdOrName}>
        <ActivityPanels project={projectIdOrName} linkTo={linkTo} />
      </Loaded>
      <div className="grid spaced">
        <Panel title="Live events" actions={<Link href={linkTo('events')}>All events</Link>}>
          <LiveEvents project={projectIdOrName} linkTo={linkTo} />
        </Panel>
        <Panel
          title="Last failures"
          actions={<Link href={linkTo('operations?status=FAILED')}>All failures</Link>}
        >
          <LastFailures project={project} linkTo={linkTo} />
        </Panel>
      </div>
      <Panel
        title="Destinations"
        actions={<Link href={linkTo('destinations')}>All destinations</Link>}
      >
        <DestinationStates project={project} linkTo={linkTo} />
      </Panel>
    </>
  );
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Returns the time 24 hours ago, rounded up to the minute, so that a refresh within a minute finds its cached
 * query.
 */
function getDayStart(): string {
  return new Date(Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS - DAY_MS).toISOString();
}

interface FigureProps {
  count: number;
  name: string;
  href: string;
  isBad: boolean;
}

function Figure({ count, name, href, isBad }: FigureProps) {
  const tone = count === 0 ? 'zero' : isBad ? 'bad' : '';
  return (
    <Link href={href} className={`figure ${tone}`}>
      <strong>{count.toLocaleString('en')}</strong>
      <span className="quiet">{name}</span>
    </Link>
  );
}

const SHOWN_EVENTS = 8;

function LiveEvents({ project, linkTo }: { project: string; linkTo: (path: string) => string }) {
  const { items: events, isLoaded } = useTail({ project }, false);
  if (isLoaded && events.length === 0) {
    return (
      <Empty title="No events yet">
        <Link href={linkTo('routes')}>Route events to a topic</Link> to record them.
      </Empty>
    );
  }
  return <EventLines events={events.slice(0, SHOWN_EVENTS)} linkTo={linkTo} />;
}
