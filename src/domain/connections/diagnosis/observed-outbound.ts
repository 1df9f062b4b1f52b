/** Observes requests to providers, so that they can be recorded. */
import type { RequestKind } from '../../../database/generated/enums.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Outbound } from '../../../outbound/client.ts';
import { OutboundError } from '../../../outbound/outbound-error.ts';
import type { SecretMask } from '../../../work/secret-mask.ts';

interface ConnectionKey {
  projectId: string;
  id: string;
}

/** A request to a provider, and its response. */
export interface ObservedRequest {
  id: string;
  kind: RequestKind;
  connection: ConnectionKey;
  /** The secrets that the request and its response may contain. */
  secrets: SecretMask;
  request: {
    method: string;
    url: string;
    headers: Record<string, string | string[]>;
    body?: string | Buffer | undefined;
  };
  /** Null if there was no response. A response that is forwarded has no `body` here. */
  response: {
    status: number;
    headers: Record<string, string | string[]>;
    body?: Buffer | undefined;
  } | null;
  error: string | null;
  isFailed: boolean;
  durationMs: number;
  createTime: Date;
}

/** Receives each request after its response has arrived, or has begun if it is forwarded. `observe` must not throw. */
export interface RequestObserver {
  /** True to receive the bodies of successful responses too. They may be large. */
  readonly seesBodies?: boolean;
  observe(request: ObservedRequest): void;
}

export type Sender = Pick<Outbound, 'send' | 'stream'>;

interface ObservedServices {
  providerAccess: { outbound: Outbound; observer: RequestObserver | null };
  now: () => Date;
}

/** Returns the client for providers. It passes its requests to the observer of the services, if they have one. */
export function observeOutbound(
  { providerAccess: { outbound, observer }, now }: ObservedServices,
  purpose: Pick<ObservedRequest, 'kind' | 'connection' | 'secrets'>,
): Sender {
  if (!observer) return outbound;
  const context = { ...purpose, observer, now };
  return {
    send: (request) => observe(context, request, () => outbound.send(request)),
    stream: ({ body, ...request }) =>
      observe(context, request, () => outbound.stream({ ...request, body })),
  };
}

interface ObserverContext extends Pick<ObservedRequest, 'kind' | 'connection' | 'secrets'> {
  observer: RequestObserver;
  now: () => Date;
}

type Response = NonNullable<ObservedRequest['response']>;

async function observe<R extends Omit<Response, 'body'> & { body: unknown }>(
  { observer, now, ...purpose }: ObserverContext,
  request: ObservedRequest['request'],
  send: () => Promise<R>,
): Promise<R> {
  const id = newId('req');
  const createTime = now();
  const startMs = performance.now();
  const report = (outcome: Pick<ObservedRequest, 'response' | 'error' | 'isFailed'>) => {
    const durationMs = Math.round(performance.now() - startMs);
    observer.observe({ id, ...purpose, request, ...outcome, durationMs, createTime });
  };
  let response: R;
  try {
    response = await send();
  } catch (error) {
    const reason = error instanceof OutboundError ? error.message : 'The request was aborted.';
    report({ response: null, error: reason, isFailed: true });
    throw error;
  }
  const { status, headers, body } = response;
  const isFailed = status >= 300;
  const isBodySeen = (isFailed || observer.seesBodies) && Buffer.isBuffer(body);
  const observedBody = isBodySeen ? body : undefined;
  report({ response: { status, headers, body: observedBody }, error: null, isFailed });
  return response;
}
