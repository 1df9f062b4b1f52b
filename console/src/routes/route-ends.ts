/**
 * The ends of routes: event types, topics and destinations. The page highlights and lists the routes of the
 * selected end.
 */
import type { RoutedProject } from './routes-page.tsx';

export interface RouteEnd {
  kind: 'event' | 'topic' | 'destination';
  /** The id of the topic or destination, or the event type. */
  id: string;
}

interface RouteEnds {
  id: string;
  from: RouteEnd;
  to: RouteEnd;
}

export function listRoutes({
  eventTopicRoutes,
  topicDestinationRoutes,
}: RoutedProject): RouteEnds[] {
  return [
    ...eventTopicRoutes.nodes.map(
      ({ id, eventType, topic }): RouteEnds => ({
        id,
        from: { kind: 'event', id: eventType },
        to: { kind: 'topic', id: topic.id },
      }),
    ),
    ...topicDestinationRoutes.nodes.map(
      ({ id, topic, destination }): RouteEnds => ({
        id,
        from: { kind: 'topic', id: topic.id },
        to: { kind: 'destination', id: destination.id },
      }),
    ),
  ];
}

export const isSameEnd = (first: RouteEnd, second: RouteEnd | null) =>
  first.kind === second?.kind && first.id === second.id;

/** True if the route has the selected end, or if nothing is selected. */
export const hasEnd = ({ from, to }: Pick<RouteEnds, 'from' | 'to'>, selection: RouteEnd | null) =>
  selection === null || isSameEnd(from, selection) || isSameEnd(to, selection);
