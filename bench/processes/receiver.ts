/** A receiver of webhooks as a separate process: it responds with 200 and counts, and reports on request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let received = 0;
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    received += 1;
    response.writeHead(200, { 'content-length': 0 });
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.(`http://127.0.0.1:${port}`);
});
process.on('message', () => process.send?.(received));
process.on('disconnect', () => process.exit(0));
