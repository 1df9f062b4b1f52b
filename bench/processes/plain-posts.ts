/** The upper bound for deliveries: posts the same bodies without signatures and records. */
import { Pool } from 'undici';

export interface PostsToSend {
  url: string;
  body: string;
  count: number;
  sockets: number;
}

process.on('message', async ({ url, body, count, sockets }: PostsToSend) => {
  const pool = new Pool(url, { connections: sockets, pipelining: 1 });
  let remaining = count;
  const headers = { 'content-type': 'application/json' };
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: sockets }, async () => {
      while (remaining-- > 0) {
        const response = await pool.request({ path: '/', method: 'POST', headers, body });
        await response.body.dump();
      }
    }),
  );
  const tookMs = performance.now() - startMs;
  await pool.close();
  process.send?.(tookMs);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
