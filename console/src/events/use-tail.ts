/** Events as they happen: the last ones first, then each new one. A pause and a lost connection leave no gap. */
import { useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { requestSubscription } from 'relay-runtime';
import type {
  NotificationEventType,
  useTailQuery,
} from '../../__generated__/useTailQuery.graphql.ts';
import type { useTailSubscription } from '../../__generated__/useTailSubscription.graphql.ts';
import { type Problem, problemOf } from '../network/problem.ts';

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

/** How many are kept on the page: older ones are a page of the list away. */
const KEPT_MAX = 300;
const LAST_COUNT = 50;

interface Tail {
  /** Newest first. */
  events: TailEvent[];
  isLoaded: boolean;
  problem: Problem | null;
}

export function useTail({ project, eventTypes, topicId }: TailFilter, isPaused: boolean): Tail {
  const environment = useRelayEnvironment();
  const cursor = useRef<string | null>(null);
  const [tail, setTail] = useState<Tail>({ events: [], isLoaded: false, problem: null });
  const [start, setStart] = useState(0);
  const types = eventTypes?.join() ?? '';

  useEffect(() => {
    const filter = { project, topicId, eventTypes: listOf(types) };
    cursor.current = null;
    const reading = fetchQuery<useTailQuery>(environment, LAST, { ...filter, last: LAST_COUNT });
    const { unsubscribe } = reading.subscribe({
      next: ({ project: found }) => {
        const { edges = [], pageInfo } = found?.notificationEvents ?? {};
        cursor.current = pageInfo?.endCursor ?? null;
        const events = edges.map(({ node }) => node).toReversed();
        setTail({ events, isLoaded: true, problem: null });
        setStart((count) => count + 1);
      },
      error: (error: unknown) => setTail({ events: [], isLoaded: true, problem: problemOf(error) }),
    });
    return unsubscribe;
  }, [environment, project, topicId, types]);

  useEffect(() => {
    if (start === 0 || isPaused) return;
    const { dispose } = requestSubscription<useTailSubscription>(environment, {
      subscription: LIVE,
      variables: { project, topicId, eventTypes: listOf(types), after: cursor.current },
      onNext: (answer) => {
        if (!answer) return;
        const { node, cursor: at } = answer.notificationEvents;
        cursor.current = at;
        setTail((before) => ({ ...before, events: [node, ...before.events].slice(0, KEPT_MAX) }));
      },
      onError: (error) => setTail((before) => ({ ...before, problem: problemOf(error) })),
    });
    return dispose;
  }, [environment, project, topicId, types, start, isPaused]);
  return tail;
}

function listOf(types: string): NotificationEventType[] | null {
  return types === '' ? null : (types.split(',') as NotificationEventType[]);
}
