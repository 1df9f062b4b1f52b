/**
 * A live page of the console while its server restarts.
 *
 * @module-tag all/process
 */
import { expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { startServerProcess } from '../support/process/server-process.ts';
import { describeInBrowser } from '../support/stage.ts';
import { openConsoleStageOn } from './stage.ts';

describeInBrowser(
  () => openConsoleStageOn(startServerProcess),
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
