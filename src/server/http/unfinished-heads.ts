/** Connections whose first head has not come. Node's own timeout bounds later heads of a connection. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config.ts';
import { networkOf } from '../../domain/viewer/network.ts';
import type { ClientAddresses } from './client-address.ts';
import { UnfinishedRoom } from './unfinished.ts';

/** The parser takes no head that is longer. */
const HEAD_BYTES_MAX = 16 * 1024;

type Limits = Pick<Config, 'LIMIT_HEAD_MS' | 'LIMIT_UNFINISHED' | 'LIMIT_UNFINISHED_BYTES'>;

export function watchHeads(server: Server, limits: Limits, addresses: ClientAddresses): void {
  const room = new UnfinishedRoom({
    networkMax: limits.LIMIT_UNFINISHED,
    networkBytesMax: limits.LIMIT_UNFINISHED_BYTES,
  });
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    const isOfMany = remoteAddress === undefined || addresses.isProxy(remoteAddress);
    room.enter(socket, {
      network: isOfMany ? null : networkOf(remoteAddress),
      bytes: HEAD_BYTES_MAX,
      isOver: () => socket.destroyed,
      isSlow: (elapsedMs) => elapsedMs > limits.LIMIT_HEAD_MS,
      cut: () => socket.destroy(),
    });
  });
  const hasCome = ({ socket }: { socket: object }) => room.leave(socket);
  server.prependListener('request', hasCome);
  server.prependListener('upgrade', hasCome);
}
