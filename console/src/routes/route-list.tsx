/** Each route in words, with a button to delete it. */
import { graphql } from 'react-relay';
import { Link } from 'wouter';
import type { routeListEventMutation } from '../../__generated__/routeListEventMutation.graphql.ts';
import type { routeListTopicMutation } from '../../__generated__/routeListTopicMutation.graphql.ts';
import { useProjectLink } from '../parts/filters.tsx';
import { Action, Refusal } from '../parts/form.tsx';
import { Empty } from '../parts/page.tsx';
import { useChange } from '../parts/queries.ts';
import { formatWords } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { hasEnd, listRoutes, type RouteEnd } from './route-ends.ts';
import type { RoutedProject } from './routes-page.tsx';

const REMOVE_EVENT = graphql`
  mutation routeListEventMutation($input: DeleteEventTopicRouteInput!) {
    deleteEventTopicRoute(input: $input) {
      deletedId
    }
  }
`;

const REMOVE_TOPIC = graphql`
  mutation routeListTopicMutation($input: DeleteTopicDestinationRouteInput!) {
    deleteTopicDestinationRoute(input: $input) {
      deletedId
    }
  }
`;

interface RouteListProps {
  project: string;
  routed: RoutedProject;
  /** Only its routes; null for all. */
  selection: RouteEnd | null;
}

export function RouteList({ project, routed, selection }: RouteListProps) {
  const event = useChange<routeListEventMutation>(REMOVE_EVENT);
  const topic = useChange<routeListTopicMutation>(REMOVE_TOPIC);
  const linkTo = useProjectLink(project);
  const visibleIds = new Set(
    listRoutes(routed).flatMap((route) => (hasEnd(route, selection) ? route.id : [])),
  );
  const allRoutes = [
    ...routed.eventTopicRoutes.nodes.map((route) => ({
      id: route.id,
      from: formatWords(route.eventType),
      to: `topic ${route.topic.name}`,
      toText: null,
      change: event,
    })),
    ...routed.topicDestinationRoutes.nodes.map((route) => ({
      id: route.id,
      from: `topic ${route.topic.name}`,
      to: `destination ${route.destination.name}`,
      toText: (
        <>
          destination{' '}
          <Link href={linkTo(`destinations/${route.destination.id}`)}>
            {route.destination.name}
          </Link>
        </>
      ),
      change: topic,
    })),
  ];
  const rows = allRoutes.filter(({ id }) => visibleIds.has(id));
  if (rows.length === 0) {
    return (
      <Empty title="No routes yet">
        Route an event type to a topic, and the topic to a destination.
      </Empty>
    );
  }
  return (
    <>
      <Refusal problem={event.problem ?? topic.problem} />
      <Table label="Routes" columns={['From', 'To', 'Actions']}>
        {rows.map(({ id, from, to, toText, change }) => (
          <tr key={id}>
            <td>{from}</td>
            <td>{toText ?? to}</td>
            <td>
              <Action
                aria-label={`Remove the route from ${from} to ${to}`}
                onPress={() => change.run({ input: { projectIdOrName: project, routeId: id } })}
              >
                Remove
              </Action>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
