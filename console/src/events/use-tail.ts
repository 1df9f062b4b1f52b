/** Loads the project's latest events and subscribes to new events. */
import { useMemo } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { type IEnvironment, requestSubscription } from 'relay-runtime';
import type { useTail_event$data } from '../../__generated__/useTail_event.graphql.ts';
import type {
  NotificationEventType,
  useTailQuery,
} from '../../__generated__/useTailQuery.graphql.ts';
import type { useTailSubscription } from '../../__generated__/useTailSubscription.graphql.ts';
import { LAST_COUNT, type Live, type LiveSource, useLive } from '../parts/use-live.ts';

/** The event fields that the query and the subscription select. */
graphql`
  fragment useTail_event on NotificationEvent {
    id
    eventType
    createTime
    group {
      groupName
    }
  }
`;

export const TAIL_QUERY = graphql`
  query useTailQuery(
    $project: String!
    $last: Int!
    $before: String
    $eventTypes: [NotificationEventType!]
    $createTime: TimeRangeInput
  ) {
    project(idOrName: $project) {
      notificationEvents(
        last: $last
        before: $before
        eventTypes: $eventTypes
        createTime: $createTime
      ) {
        edges {
          cursor
          node {
            ...useTail_event @relay(mask: false)
          }
        }
        pageInfo {
          endCursor
          hasPreviousPage
        }
      }
    }
  }
`;

const LIVE = graphql`
  subscription useTailSubscription(
    $project: String!
    $after: String
    $eventTypes: [NotificationEventType!]
  ) {
    notificationEvents(projectIdOrName: $project, after: $after, eventTypes: $eventTypes) {
      cursor
      node {
        ...useTail_event @relay(mask: false)
      }
    }
  }
`;

export type TailEvent = Omit<useTail_event$data, ' $fragmentType'>;

interface TailFilter {
  project: string;
  eventTypes?: NotificationEventType[] | null;
  createTime?: { from: string | null; until: string | null } | null;
}

export function useTail(filter: TailFilter, isPaused: boolean): Live<TailEvent> {
  const environment = useRelayEnvironment();
  // The filter is compared by its content, because a caller may create a new object on each render.
  const filterKey = JSON.stringify(filter);
  const source = useMemo(
    () => createEventSource(environment, JSON.parse(filterKey)),
    [environment, filterKey],
  );
  return useLive(source, isPaused);
}

function createEventSource(environment: IEnvironment, filter: TailFilter): LiveSource<TailEvent> {
  const { project, eventTypes = null, createTime = null } = filter;
  return {
    read(before, sink) {
      const variables = { project, eventTypes, createTime, before, last: LAST_COUNT };
      const { unsubscribe } = fetchQuery<useTailQuery>(
        environment,
        TAIL_QUERY,
        variables,
      ).subscribe({
        next: ({ project }) => {
          const { edges = [], pageInfo } = project?.notificationEvents ?? {};
          sink.next({
            edges,
            endCursor: pageInfo?.endCursor ?? null,
            hasOlder: pageInfo?.hasPreviousPage ?? false,
          });
        },
        error: sink.error,
      });
      return unsubscribe;
    },
    // A period filter does not exclude new events, because they are later than its start.
    follow: createTime?.until
      ? null
      : (after, sink) => {
          const { dispose } = requestSubscription<useTailSubscription>(environment, {
            subscription: LIVE,
            variables: { project, eventTypes, after },
            onNext: (response) => {
              const edge = response?.notificationEvents;
              if (edge) sink.next(edge);
            },
            onError: sink.error,
          });
          return dispose;
        },
  };
}
