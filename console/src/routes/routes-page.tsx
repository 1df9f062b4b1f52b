/** The routes from event types to topics, and from topics to destinations. */
import { useState } from 'react';
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { routesPageQuery } from '../../__generated__/routesPageQuery.graphql.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Action } from '../parts/form.tsx';
import { NotFound, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { ConsolePageProps } from '../shell/pages.ts';
import { NewTopic, RouteFromEvents, RouteToDestination } from './new-route.tsx';
import type { RouteEnd } from './route-ends.ts';
import { RouteList } from './route-list.tsx';
import { RoutesPicture } from './routes-picture.tsx';

const PAGE_QUERY = graphql`
  query routesPageQuery($project: String!) {
    project(idOrName: $project) {
      topics(first: 100) {
        nodes {
          id
          name
        }
      }
      destinations(first: 100) {
        nodes {
          id
          name
          status
        }
      }
      eventTopicRoutes(first: 200) {
        nodes {
          id
          eventType
          topic {
            id
            name
          }
        }
      }
      topicDestinationRoutes(first: 200) {
        nodes {
          id
          topic {
            id
            name
          }
          destination {
            id
            name
          }
        }
      }
      notificationEvents(last: 100) {
        nodes {
          eventType
          topics {
            id
          }
        }
      }
    }
  }
`;

export type RoutedProject = NonNullable<routesPageQuery['response']['project']>;
const POLL_MS = 5_000;

export default function RoutesPage({ project: projectIdOrName }: ConsolePageProps) {
  const variables = { project: projectIdOrName };
  const { project } = usePageQuery<routesPageQuery>(PAGE_QUERY, variables, { everyMs: POLL_MS });
  const [selection, setSelection] = useState<RouteEnd | null>(null);
  if (!project) return <NotFound noun="project" />;
  return (
    <Page
      title="Routes"
      description="Events go to topics, and from there to destinations."
      actions={
        <>
          <RouteFromEvents project={projectIdOrName} routed={project} selection={selection} />
          <RouteToDestination project={projectIdOrName} routed={project} selection={selection} />
          <NewTopic project={projectIdOrName} />
        </>
      }
      query={PAGE_QUERY}
      variables={variables}
    >
      <Panel>
        <p className="quiet">A line's width shows its share of the last 100 events.</p>
        <RoutesPicture routed={project} selection={selection} onSelect={setSelection} />
      </Panel>
      <Panel
        title={selection ? 'Routes of the selection' : 'All routes'}
        actions={
          selection && (
            <SelectionActions
              project={projectIdOrName}
              selection={selection}
              onAll={() => setSelection(null)}
            />
          )
        }
      >
        <RouteList project={projectIdOrName} routed={project} selection={selection} />
      </Panel>
    </Page>
  );
}

interface SelectionActionsProps {
  project: string;
  selection: RouteEnd;
  onAll: () => void;
}

/** Links to the page of the selected object, and back to all routes. */
function SelectionActions({ project, selection: { kind, id }, onAll }: SelectionActionsProps) {
  const linkTo = useProjectLink(project);
  return (
    <>
      {kind === 'event' && <Link href={linkTo(`events?type=${id}`)}>These events</Link>}
      {kind === 'destination' && <Link href={linkTo(`destinations/${id}`)}>The destination</Link>}
      <Action onPress={onAll}>All routes</Action>
    </>
  );
}
