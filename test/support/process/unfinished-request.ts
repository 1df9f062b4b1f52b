/** A pending request to a server process, which delays the end of the process. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'vitest';

const BODY = JSON.stringify({ query: '{ __typename }' });

interface UnfinishedRequest {
  /** Sends the last character, and returns the response. */
  complete(): Promise<string>;
}

/**
 * Sends a request without the last character of its body. The response 100 Continue shows that the server has
 * received the head.
 */
export async function openUnfinishedRequest(url: string): Promise<UnfinishedRequest> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`,
  );
  const [continueResponse] = await once(socket, 'data');
  expect(String(continueResponse)).toMatch(/^HTTP\/1\.1 100 /);
  socket.write(BODY.slice(0, -1));
  return {
    async complete() {
      const response = Promise.race([once(socket, 'data'), once(socket, 'close')]);
      socket.write(BODY.slice(-1));
      return String((await response)[0]);
    },
  };
}
