/**
 * A live page of the console while its server restarts.
 *
 * @module-tag all/process
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startGateway } from '../support/backup/copied-databases.ts';
import { openConsole } from '../support/console.ts';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { describeInBrowser, type StageServer } from '../support/stage.ts';
import { openConsoleStageOn } from './stage.ts';

interface RestartableServer extends StageServer {
  /** Stops the gateway and keeps its data. */
  pause(): Promise<void>;
  /** Starts the gateway again, at the same address and with the same data. */
  resume(): Promise<void>;
}

/** Starts a gateway with the demo in this process, on a data folder that outlives it. */
async function startRestartableServer(env: Record<string, string>): Promise<RestartableServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-restart-'));
  fillDataFolder(dataDir);
  const start = (PORT: string) =>
    startGateway({ DATA_DIR: dataDir }, { ...env, PORT, DEMO: 'true' });
  let gateway = await start('0');
  const pause = async () => gateway[Symbol.asyncDispose]();
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  return {
    demo,
    pause,
    async resume() {
      gateway = await start(new URL(demo.url).port);
    },
    async stop() {
      await pause();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

describeInBrowser(
  () => openConsoleStageOn(startRestartableServer),
  (getStage) => {
    const connect = (groupRef: string) =>
      getStage().api(`mutation { generateConnection(input: { projectIdOrName: "demo",
        provider: "sandbox", groupRef: "${groupRef}", consumerRef: "ann", credentials: { apiKey: "sandbox-key" } }) {
        connection { id } } }`);

    test('shows a lost connection, and misses no event after the restart', async () => {
      const page = await getStage().openTab();
      await openConsole(page, `${getStage().url}/console/demo/events`);
      await page.locator('main .lines li').first().waitFor();
      await connect('before');
      await page.getByText('before').waitFor();
      await getStage().server.pause();
      await page.getByText('Connection to the gateway lost.').waitFor();
      await getStage().server.resume();
      // The page has not reconnected yet.
      await connect('after-1');
      await page.getByText('after-1').waitFor();
      await connect('after-2');
      await page.getByText('after-2').waitFor();
      await page.getByText('Connection to the gateway lost.').waitFor({ state: 'detached' });
      const lines = await page.locator('main .lines li').allInnerTexts();
      const names = ['before', 'after-1', 'after-2'];
      const groups = lines.flatMap((line) => names.filter((name) => line.includes(name)));
      expect(groups).toEqual(['after-2', 'after-1', 'before']);
    });
  },
);
