/** Runs a script of this folder as a separate process, with one message at a time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PROCESS_ENV } from '../../test/support/process/process-env.ts';

export interface Child extends AsyncDisposable {
  /** The first message of the process, which it sends when it is ready. */
  greeting: unknown;
  request(message: object): Promise<unknown>;
}

export async function startChild(script: string, env: Record<string, string> = {}): Promise<Child> {
  const child = fork(join(import.meta.dirname, script), {
    env: { ...PROCESS_ENV, NODE_ENV: 'production', ...env },
  });
  const failure = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code}.`);
  });
  failure.catch(() => {});
  const waitForMessage = async () => (await Promise.race([once(child, 'message'), failure]))[0];
  return {
    greeting: await waitForMessage(),
    async request(message) {
      const response = waitForMessage();
      child.send(message);
      return response;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
