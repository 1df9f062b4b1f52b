/** The selection in the picture: its routes are highlighted and listed. */
import type { RoutedProject } from './routes-page.tsx';

export interface Chosen {
  kind: 'event' | 'topic' | 'destination';
  /** For an event, its type. */
  id: string;
}

export interface Route {
  id: string;
  from: Chosen;
  to: Chosen;
}

export function routesOf({ eventTopicRoutes, topicDestinationRoutes }: RoutedProject): Route[] {
  return [
    ...eventTopicRoutes.nodes.map(
      ({ id, eventType, topic }): Route => ({
        id,
        from: { kind: 'event', id: eventType },
        to: { kind: 'topic', id: topic.id },
      }),
    ),
    ...topicDestinationRoutes.nodes.map(
      ({ id, topic, destination }): Route => ({
        id,
        from: { kind: 'topic', id: topic.id },
        to: { kind: 'destination', id: destination.id },
      }),
    ),
  ];
}

export const isSame = (one: Chosen, other: Chosen | null) =>
  one.kind === other?.kind && one.id === other.id;

/** True for all routes if nothing is selected. */
export const concerns = ({ from, to }: Pick<Route, 'from' | 'to'>, chosen: Chosen | null) =>
  chosen === null || isSame(from, chosen) || isSame(to, chosen);
