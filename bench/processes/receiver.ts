/** Receives webhooks in a separate process. It responds with 200, and reports the number of requests when asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let receivedCount = 0;
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    receivedCount += 1;
    response.writeHead(200, { 'content-length': 0 });
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});
process.on('message', () => process.send?.(receivedCount));
process.on('disconnect', () => process.exit(0));
