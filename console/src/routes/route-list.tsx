/** Tables of the routes, with a button that deletes each route. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { routeListEventMutation } from '../../__generated__/routeListEventMutation.graphql.ts';
import type { routeListTopicMutation } from '../../__generated__/routeListTopicMutation.graphql.ts';
import { getEventName } from '../events/event-name.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { Empty } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { Table } from '../parts/table.tsx';
import { hasEnd, listRoutes, type RouteEnd } from './route-ends.ts';
import type { RoutedProject } from './routes-page.tsx';

const DELETE_EVENT_TOPIC_ROUTE = graphql`
  mutation routeListEventMutation($input: DeleteEventTopicRouteInput!) {
    deleteEventTopicRoute(input: $input) {
      deletedId
    }
  }
`;

const DELETE_TOPIC_DESTINATION_ROUTE = graphql`
  mutation routeListTopicMutation($input: DeleteTopicDestinationRouteInput!) {
    deleteTopicDestinationRoute(input: $input) {
      deletedId
    }
  }
`;

interface RouteListProps {
  project: string;
  routed: RoutedProject;
  /** The end whose routes are listed. Null for all routes. */
  selection: RouteEnd | null;
}

export function RouteList({ project, routed, selection }: RouteListProps) {
  const eventRoute = useChange<routeListEventMutation>(DELETE_EVENT_TOPIC_ROUTE);
  const topicRoute = useChange<routeListTopicMutation>(DELETE_TOPIC_DESTINATION_ROUTE);
  const linkTo = useProjectLink(project);
  const visibleIds = new Set(
    listRoutes(routed).flatMap((route) => (hasEnd(route, selection) ? route.id : [])),
  );
  if (visibleIds.size === 0) {
    return (
      <Empty title="No routes yet">
        Route an event type to a topic, and the topic to a destination.
      </Empty>
    );
  }
  const eventRoutes = routed.eventTopicRoutes.nodes
    .filter(({ id }) => visibleIds.has(id))
    .toSorted((a, b) => a.eventType.localeCompare(b.eventType));
  const topicRoutes = routed.topicDestinationRoutes.nodes
    .filter(({ id }) => visibleIds.has(id))
    .toSorted((a, b) => a.topic.name.localeCompare(b.topic.name));
  const toInput = (routeId: string) => ({ input: { projectIdOrName: project, routeId } });
  return (
    <div className="routes">
      <Refusal problem={eventRoute.problem ?? topicRoute.problem} />
      {eventRoutes.length > 0 && (
        <Table label="Routes of events" columns={['Event', 'Topic', 'Actions']}>
          {eventRoutes.map(({ id, eventType, topic }) => (
            <tr key={id}>
              <td>{getEventName(eventType)}</td>
              <td>{topic.name}</td>
              <td>
                <Remove
                  from={getEventName(eventType)}
                  to={`topic ${topic.name}`}
                  onPress={() => eventRoute.run(toInput(id))}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {topicRoutes.length > 0 && (
        <Table label="Routes of topics" columns={['Topic', 'Destination', 'Actions']}>
          {topicRoutes.map(({ id, topic, destination }) => (
            <tr key={id}>
              <td>{topic.name}</td>
              <td>
                <Link href={linkTo(`destinations/${destination.id}`)}>{destination.name}</Link>
              </td>
              <td>
                <Remove
                  from={`topic ${topic.name}`}
                  to={`destination ${destination.name}`}
                  onPress={() => topicRoute.run(toInput(id))}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}

interface RemoveProps {
  from: string;
  to: string;
  onPress: () => void;
}

function Remove({ from, to, onPress }: RemoveProps) {
  return (
    <Action kind="quiet" aria-label={`Remove the route from ${from} to ${to}`} onPress={onPress}>
      Remove
    </Action>
  );
}
