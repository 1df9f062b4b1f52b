/** Sends one request over every surface, as clients do. */
import { expect } from 'vitest';
import { openEventStream } from '../../support/event-stream.ts';
import { openSocket } from '../../support/socket.ts';
import type { OwnTenant } from './own-server.ts';

export interface SurfaceResponse {
  surface: string;
  status: number;
  retryAfter: string | null;
  type: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any shape
  body: any;
}

export interface Surfaces {
  url: string;
  tenant: OwnTenant;
}

const READ =
  'query ($project: String!) { project(idOrName: $project) { topics(first: 1) { totalCount } } }';
const CHANGE = `mutation ($project: String!, $name: String!) {
  createTopic(input: { projectIdOrName: $project, name: $name }) { topic { id } } }`;
const LIVE = `subscription ($project: String!) {
  notificationEvents(projectIdOrName: $project) { node { data } } }`;

async function readResponse(surface: string, sending: Promise<Response>): Promise<SurfaceResponse> {
  const response = await sending;
  const { status, headers } = response;
  const type = headers.get('content-type');
  const body = type?.includes('json') ? await response.json() : await response.text();
  return { surface, status, retryAfter: headers.get('retry-after'), type, body };
}

function graphql({ url, tenant }: Surfaces, query: string): Promise<Response> {
  const variables = { project: tenant.projectId, name: `t${crypto.randomUUID()}` };
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
    body: JSON.stringify({ query, variables }),
  });
}

function graphqlByGet({ url, tenant }: Surfaces): Promise<Response> {
  const variables = JSON.stringify({ project: tenant.projectId });
  const params = new URLSearchParams({ query: READ, variables });
  return fetch(`${url}/graphql?${params}`, { headers: { 'x-api-key': tenant.apiKey } });
}

function rest({ url, tenant }: Surfaces, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/projects/${tenant.projectId}/topics`, {
    ...init,
    headers: { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' },
  });
}

const newTopic = () => ({
  method: 'POST',
  body: JSON.stringify({ name: `t${crypto.randomUUID()}` }),
});

export function readBy(at: Surfaces): Promise<SurfaceResponse>[] {
  return [
    readResponse('GraphQL query', graphql(at, READ)),
    readResponse('GraphQL query by GET', graphqlByGet(at)),
    readResponse('REST GET', rest(at)),
  ];
}

export function changeBy(at: Surfaces): Promise<SurfaceResponse>[] {
  return [
    readResponse('GraphQL mutation', graphql(at, CHANGE)),
    readResponse('REST POST', rest(at, newTopic())),
  ];
}

/** Returns the refusal of a subscription over an event stream. */
export async function streamRefusal({ url, tenant }: Surfaces): Promise<SurfaceResponse> {
  const stream = await openEventStream((path, init) => fetch(url + path, init), {
    query: LIVE,
    variables: { project: tenant.projectId },
    headers: { 'x-api-key': tenant.apiKey },
  });
  const { status, headers } = stream;
  const message = await stream.next();
  stream.close();
  const [type, retryAfter] = [headers.get('content-type'), headers.get('retry-after')];
  return { surface: 'event stream', status, retryAfter, type, body: message?.data };
}

/** Returns the close code of a WebSocket after authentication. */
export async function socketRefusal({ url, tenant }: Surfaces): Promise<number> {
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } });
  const { code } = await socket.closed;
  return code;
}

/** Expects that each response is 503 with a time to retry, in the format of its surface. */
export function expectUnavailable(responses: SurfaceResponse[]): void {
  for (const { surface, status, retryAfter, type, body } of responses) {
    const problem = body.errors?.[0].extensions.problem ?? body;
    const code = body.errors?.[0].extensions.code ?? 'SERVICE_UNAVAILABLE';
    expect({ surface, status, code, problem }).toEqual({
      surface,
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      problem: {
        type: 'urn:problem:service-unavailable',
        href: expect.stringMatching(/\/problems\/service-unavailable$/),
        instance: expect.stringMatching(/^urn:uuid:/),
        title: 'Service Unavailable',
        status: 503,
        detail: expect.stringMatching(/database/i),
        retryAfterSeconds: expect.any(Number),
      },
    });
    expect({ surface, seconds: Number(retryAfter) }).toEqual({
      surface,
      seconds: problem.retryAfterSeconds,
    });
    if (!body.errors) expect(type).toBe('application/problem+json');
  }
}
