/** Requests, in the form that every peer receives. */
import type { Peer } from './peers.ts';
import type { Document, Variables } from './workloads.ts';

const PATH = '/graphql';

export interface Question {
  operationName: string;
  query: string;
  variables: Variables;
}

export const questionOf = (
  { documents }: Peer,
  document: Document,
  variables: Variables,
): Question => ({ operationName: document, query: documents[document], variables });

/** Sends one operation and reads its response. Throws if it has no data. */
export async function ask(peer: Peer, question: Question) {
  const response = await fetch(`${peer.server.url}${PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...peer.headers },
    body: JSON.stringify(question),
  });
  const text = await response.text();
  const answer = JSON.parse(text);
  if (!answer.data || answer.errors) {
    throw new Error(`${peer.name} answers ${question.operationName}: ${text}`);
  }
  return answer.data;
}

/** A request as raw HTTP bytes. */
export function wireRequest(peer: Peer, question: Question): Buffer {
  const { host } = new URL(peer.server.url);
  const body = JSON.stringify(question);
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
