/** Which events go to which topics, and from there to which destinations. */
import { graphql } from 'react-relay';
import type { routesPageQuery } from '../../__generated__/routesPageQuery.graphql.ts';
import { Missing, Page, Panel } from '../parts/page.tsx';
import { usePageQuery } from '../parts/queries.ts';
import type { PageProps } from '../shell/places.ts';
import { NewRoute, NewTopic } from './new-route.tsx';
import { RouteList } from './route-list.tsx';
import { RoutesPicture } from './routes-picture.tsx';

const QUERY = graphql`
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
const LOOK_MS = 5_000;

export default function RoutesPage({ project: idOrName }: PageProps) {
  const variables = { project: idOrName };
  const { project } = usePageQuery<routesPageQuery>(QUERY, variables, { everyMs: LOOK_MS });
  if (!project) return <Missing what="project" />;
  return (
    <Page
      title="Routes"
      about="Events go to topics, and from there to destinations. A line is as wide as what went over it, of the last 100 events."
      actions={
        <>
          <NewTopic project={idOrName} />
          <NewRoute project={idOrName} routed={project} />
        </>
      }
      query={QUERY}
      variables={variables}
    >
      <Panel>
        <RoutesPicture project={idOrName} routed={project} />
      </Panel>
      <Panel title="All routes">
        <RouteList project={idOrName} routed={project} />
      </Panel>
    </Page>
  );
}
