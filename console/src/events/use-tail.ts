/** Events as they happen. */
import { useMemo } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { type IEnvironment, requestSubscription } from 'relay-runtime';
import type {
  NotificationEventType,
  useTailQuery,
} from '../../__generated__/useTailQuery.graphql.ts';
import type { useTailSubscription } from '../../__generated__/useTailSubscription.graphql.ts';
import { LAST_COUNT, type Source, useLive } from '../parts/use-live.ts';

const LAST = graphql`
  query useTailQuery(
    $project: String!
    $last: Int!
    $eventTypes: [NotificationEventType!]
    $topicId: ID
  ) {
    project(idOrName: $project) {
      notificationEvents(last: $last, eventTypes: $eventTypes, topicId: $topicId) {
        edges {
          cursor
          node {
            id
            eventType
            createTime
            data
            connection {
              group {
                groupName
              }
            }
          }
        }
        pageInfo {
          endCursor
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
    $topicId: ID
  ) {
    notificationEvents(
      projectIdOrName: $project
      after: $after
      eventTypes: $eventTypes
      topicId: $topicId
    ) {
      cursor
      node {
        id
        eventType
        createTime
        data
        connection {
          group {
            groupName
          }
        }
      }
    }
  }
`;

export const TAIL_QUERY = LAST;

export interface TailEvent {
  id: string;
  eventType: NotificationEventType;
  createTime: string;
  data: Record<string, unknown>;
  connection: { group: { groupName: string } } | null | undefined;
}

export interface TailFilter {
  project: string;
  eventTypes: NotificationEventType[] | null;
  topicId: string | null;
}

export function useTail({ project, eventTypes, topicId }: TailFilter, isPaused: boolean) {
  const environment = useRelayEnvironment();
  const types = eventTypes?.join() ?? '';
  const source = useMemo(
    () => eventsOf(environment, { project, topicId, eventTypes: listOf(types) }),
    [environment, project, topicId, types],
  );
  return useLive(source, isPaused);
}

function eventsOf(environment: IEnvironment, filter: TailFilter): Source<TailEvent> {
  return {
    readLast(sink) {
      const variables = { ...filter, last: LAST_COUNT };
      const { unsubscribe } = fetchQuery<useTailQuery>(environment, LAST, variables).subscribe({
        next: ({ project: found }) => {
          const { edges = [], pageInfo } = found?.notificationEvents ?? {};
          const items = edges.map(({ node }) => node);
          sink.next({ items, cursor: pageInfo?.endCursor ?? null });
        },
        error: sink.error,
      });
      return unsubscribe;
    },
    follow(after, sink) {
      const { dispose } = requestSubscription<useTailSubscription>(environment, {
        subscription: LIVE,
        variables: { ...filter, after },
        onNext: (answer) => {
          const edge = answer?.notificationEvents;
          if (edge) sink.next({ item: edge.node, cursor: edge.cursor });
        },
        onError: sink.error,
      });
      return dispose;
    },
  };
}

function listOf(types: string): NotificationEventType[] | null {
  return types === '' ? null : (types.split(',') as NotificationEventType[]);
}
