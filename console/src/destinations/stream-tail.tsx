/** A live list of a stream's messages, newest first. */
import { useMemo, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { type IEnvironment, requestSubscription } from 'relay-runtime';
import type { streamTail_message$data } from '../../__generated__/streamTail_message.graphql.ts';
import type { streamTailQuery } from '../../__generated__/streamTailQuery.graphql.ts';
import type { streamTailSubscription } from '../../__generated__/streamTailSubscription.graphql.ts';
import { getEventName } from '../events/event-name.ts';
import { NEEDS_ALL } from '../network/environment.ts';
import { Refusal } from '../parts/form.tsx';
import { LiveControl } from '../parts/live-control.tsx';
import { Older } from '../parts/older.tsx';
import { Empty, Loading, Panel } from '../parts/page.tsx';
import { Json } from '../parts/table.tsx';
import { ClockTime } from '../parts/time.tsx';
import { LAST_COUNT, type LiveSource, useLive } from '../parts/use-live.ts';

/** The message fields that the query and the subscription select. */
graphql`
  fragment streamTail_message on StreamMessage {
    id
    createTime
    body
    group {
      groupName
    }
  }
`;

const LAST = graphql`
  query streamTailQuery($id: ID!, $last: Int!, $before: String) {
    node(id: $id) {
      ... on Destination {
        messages(last: $last, before: $before) {
          edges {
            cursor
            node {
              ...streamTail_message @relay(mask: false)
            }
          }
          pageInfo {
            endCursor
            hasPreviousPage
          }
        }
      }
    }
  }
`;

const LIVE = graphql`
  subscription streamTailSubscription($id: ID!, $after: String) {
    streamMessages(destinationId: $id, after: $after) {
      cursor
      node {
        ...streamTail_message @relay(mask: false)
      }
    }
  }
`;

type TailMessage = Omit<streamTail_message$data, ' $fragmentType'>;

export function StreamTail({ id }: { id: string }) {
  const environment = useRelayEnvironment();
  const source = useMemo(() => createMessageSource(environment, id), [environment, id]);
  const [isPaused, setPaused] = useState(false);
  const tail = useLive(source, isPaused);
  const { items, isLoaded, problem } = tail;
  return (
    <Panel
      title="Messages"
      actions={<LiveControl noun="messages" isPaused={isPaused} onChange={setPaused} />}
    >
      <Refusal problem={problem} />
      {!isLoaded && <Loading />}
      {isLoaded && items.length === 0 && !problem && (
        <Empty title="No messages yet">
          Route events here, or name this stream in an integration's objects.
        </Empty>
      )}
      <ol className="lines aligned" aria-live="off">
        {items.map((message) => (
          <li key={message.id}>
            <ClockTime value={message.createTime} />
            <span className="strong">{describeMessage(message.body)}</span>
            <span className="quiet">{message.group?.groupName}</span>
            <details>
              <summary>Body</summary>
              <Json value={message.body} label={`Body of ${message.id}`} />
            </details>
          </li>
        ))}
      </ol>
      <Older live={tail} />
    </Panel>
  );
}

/** The contents of messages, by their action. */
const CONTENTS: Record<string, string> = {
  read: 'Records',
  subscribe: 'Change',
  'schema.watch': 'Changed fields',
};

/** Describes a message: an event by its type, like `read.backfill.done`, and other messages by their action and object. */
function describeMessage(body: TailMessage['body']): string {
  const { notificationType, action, objectName } = body ?? {};
  if (notificationType)
    return getEventName(String(notificationType).replaceAll('.', '_').toUpperCase());
  const content = CONTENTS[String(action)] ?? 'Message';
  return typeof objectName === 'string' ? `${content} of ${objectName}` : content;
}

function createMessageSource(environment: IEnvironment, id: string): LiveSource<TailMessage> {
  return {
    read(before, sink) {
      const variables = { id, before, last: LAST_COUNT };
      const { unsubscribe } = fetchQuery<streamTailQuery>(environment, LAST, variables, {
        networkCacheConfig: NEEDS_ALL,
      }).subscribe({
        next: ({ node }) => {
          const { edges = [], pageInfo } = node?.messages ?? {};
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
    follow(after, sink) {
      const { dispose } = requestSubscription<streamTailSubscription>(environment, {
        subscription: LIVE,
        variables: { id, after },
        onNext: (response) => {
          const edge = response?.streamMessages;
          if (edge) sink.next(edge);
        },
        onError: sink.error,
      });
      return dispose;
    },
  };
}
