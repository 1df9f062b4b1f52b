/** GraphQL requests to the peers. */
import type { Peer } from './peers.ts';
import type { Document, Variables } from './workloads.ts';

const PATH = '/graphql';

export interface GraphqlRequest {
  operationName: string;
  query: string;
  variables: Variables;
}

export const createRequest = (
  { documents }: Peer,
  document: Document,
  variables: Variables,
): GraphqlRequest => ({ operationName: document, query: documents[document], variables });

/** Sends one operation and reads its response. Throws if it has no data. */
export async function sendRequest(peer: Peer, request: GraphqlRequest) {
  const response = await fetch(`${peer.server.url}${PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...peer.headers },
    body: JSON.stringify(request),
  });
  const text = await response.text();
  const result = JSON.parse(text);
  if (!result.data || result.errors) {
    throw new Error(`${peer.name} fails ${request.operationName}: ${text}`);
  }
  return result.data;
}

/** Encodes a request as bytes of HTTP/1.1. */
export function encodeRequest(
  peer: Pick<Peer, 'server' | 'headers'>,
  request: GraphqlRequest,
): Buffer {
  const { host } = new URL(peer.server.url);
  const body = JSON.stringify(request);
  const headers = {
    host,
    'content-type': 'application/json',
    accept: 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...peer.headers,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${PATH} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
}
