/** A live tail of a stream, newest message first. */
import { useMemo, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { type IEnvironment, requestSubscription } from 'relay-runtime';
import type { streamTailQuery } from '../../__generated__/streamTailQuery.graphql.ts';
import type { streamTailSubscription } from '../../__generated__/streamTailSubscription.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { Older } from '../parts/older.tsx';
import { Empty, Loading, Panel } from '../parts/page.tsx';
import { formatWords } from '../parts/status.tsx';
import { Json } from '../parts/table.tsx';
import { ClockTime } from '../parts/time.tsx';
import { LAST_COUNT, type LiveSource, useLive } from '../parts/use-live.ts';

const LAST = graphql`
  query streamTailQuery($id: ID!, $last: Int!, $before: String) {
    node(id: $id) {
      ... on Destination {
        messages(last: $last, before: $before) {
          edges {
            cursor
            node {
              id
              createTime
              body
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
        id
        createTime
        body
      }
    }
  }
`;

interface TailMessage {
  id: string;
  createTime: string;
  body: Record<string, unknown>;
}

export function StreamTail({ id }: { id: string }) {
  const environment = useRelayEnvironment();
  const source = useMemo(() => createMessageSource(environment, id), [environment, id]);
  const [isPaused, setPaused] = useState(false);
  const tail = useLive(source, isPaused);
  const { items, isLoaded, problem } = tail;
  return (
    <Panel
      title="Live messages"
      actions={
        <Action onPress={() => setPaused(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Action>
      }
    >
      <p className="quiet">{isPaused ? 'Paused. No messages are missed.' : 'Live'}</p>
      <Refusal problem={problem} />
      {!isLoaded && <Loading />}
      {isLoaded && items.length === 0 && !problem && (
        <Empty title="No messages yet">
          Route events here, or name this stream in an integration's objects.
        </Empty>
      )}
      <ol className="lines" aria-live="off">
        {items.map(({ id: message, createTime, body }) => (
          <li key={message}>
            <ClockTime value={createTime} />
            <span className="strong">{describeMessage(body)}</span>
            <details>
              <summary>Body</summary>
              <Json value={body} label={`Body of ${message}`} />
            </details>
          </li>
        ))}
      </ol>
      <Older live={tail} />
    </Panel>
  );
}

/** Events have a type, like `read.backfill.done`. Records and changes have an action and an object. */
function describeMessage({ notificationType, action, objectName }: TailMessage['body']): string {
  const kind = notificationType ?? action;
  if (typeof kind !== 'string') return 'Message';
  const title = formatWords(kind.replaceAll('.', '_'));
  return typeof objectName === 'string' ? `${title} ${objectName}` : title;
}

function createMessageSource(environment: IEnvironment, id: string): LiveSource<TailMessage> {
  return {
    read(before, sink) {
      const variables = { id, before, last: LAST_COUNT };
      const { unsubscribe } = fetchQuery<streamTailQuery>(environment, LAST, variables).subscribe({
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
