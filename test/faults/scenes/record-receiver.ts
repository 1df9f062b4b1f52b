/** Receives pages of accounts, counts them, and stores nothing else. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accountNumber } from './large-org.ts';

export interface RecordReceiver extends AsyncDisposable {
  url: string;
  /** Number of times that each account arrived, by its number. Repeated messages do not count. */
  times: Uint8Array;
  records: number;
  messages: number;
  /** Number of messages that arrived again. */
  repeated: number;
  /** Sends no responses until the returned function is called. */
  hold(): () => void;
}

/** Starts a receiver that responds with 200 immediately, unless `hold` is in effect. */
export async function startRecordReceiver(accounts: number): Promise<RecordReceiver> {
  const ids = new Set<string>();
  let held = Promise.resolve();
  const server = createServer(async (request, response) => {
    const body = await readText(request);
    await held;
    response.writeHead(200).end();
    const id = String(request.headers['webhook-id']);
    if (ids.has(id)) receiver.repeated += 1;
    else count(receiver, body);
    ids.add(id);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: RecordReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    times: new Uint8Array(accounts),
    records: 0,
    messages: 0,
    repeated: 0,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

function count(receiver: RecordReceiver, body: string): void {
  const { result } = JSON.parse(body) as { result: { raw: { Id: string } }[] };
  for (const { raw } of result) {
    const number = accountNumber(raw.Id);
    receiver.times[number] = (receiver.times[number] ?? 0) + 1;
  }
  receiver.records += result.length;
  receiver.messages += 1;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
