/** The tour of docs/demo.md. The tour names each button and link that the test presses. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signIn } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const DEMO_GUIDE = readFileSync(join(import.meta.dirname, '..', '..', 'docs/demo.md'), 'utf8');
const [, SECTION = ''] = /\n## See it work, fail and recover\n(.*?)\n## /s.exec(DEMO_GUIDE) ?? [];
const TOUR_TEXT = SECTION.replaceAll(/\s+/g, ' ');
const [BREAK_COMMAND = '', REPAIR_COMMAND = ''] = [...SECTION.matchAll(/```sh\n(.*?)```/gs)].map(
  ([, text]) => text ?? '',
);

export function testNewcomer(getStage: () => ConsoleStage) {
  /** Presses an element that the tour names. */
  async function press(scope: Page | Locator, name: string, role: Role = 'button'): Promise<void> {
    expect(TOUR_TEXT).toContain(`"${name}"`);
    await scope.getByRole(role, { name, exact: true }).click();
  }

  async function openFromMenu(page: Page, name: string): Promise<void> {
    expect(TOUR_TEXT).toContain(`*${name}*`);
    const menu = page.getByRole('navigation', { name: 'Console' });
    await menu.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }

  /** Runs a command of the tour on the server's machine. */
  async function runCommand(command: string): Promise<void> {
    const { sandboxUrl } = getStage().server.demo;
    const localCommand = command.replaceAll(/\$\(node -p '[^']*'\)/g, sandboxUrl);
    expect(localCommand).toContain(sandboxUrl);
    await promisify(execFile)('sh', ['-c', localCommand.replaceAll('curl -s', 'curl -sf')]);
  }

  test('connects a group, and shows its messages, a failure and the recovery', async () => {
    const context = await getStage().openContext();
    const page = await context.newPage();
    await signIn(page, getStage().server.demo.url);

    await openFromMenu(page, 'Connections');
    await press(page, 'Connect customer');
    const customer = page.getByRole('dialog');
    await customer.getByLabel('Group').fill('newcomer');
    await customer.getByLabel('Consumer').fill('nora');
    await press(customer, 'Create link');
    const pagePromise = context.waitForEvent('page');
    await press(customer, 'Open connect page', 'link');
    const connect = await pagePromise;
    const card = connect.getByRole('region', { name: 'CRM sync' });
    await press(card, 'Connect Sandbox CRM');
    await press(connect, 'Approve');
    await press(card, 'Start');
    await card.getByText(/^50 records, last read/).waitFor();
    await press(card, 'Read now: People');

    await customer.getByRole('button', { name: 'Done' }).click();
    await openFromMenu(page, 'Destinations');
    await press(page, 'live', 'link');
    const lines = page.locator('main .lines li');
    await lines.filter({ hasText: 'Triggered read finished' }).first().waitFor();
    for (const type of ['Connection created', 'Installation created']) {
      expect(await lines.filter({ hasText: type }).count(), type).toBeGreaterThan(0);
    }

    await runCommand(BREAK_COMMAND);
    await press(card, 'Read now: People');
    await openFromMenu(page, 'Destinations');
    await press(page, 'records', 'link');
    const failedRow = page.getByRole('row', { name: /Records of .* Retrying .* 2 503/ });
    await failedRow.first().waitFor();

    await runCommand(REPAIR_COMMAND);
    await press(page, 'Retry deliveries');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Retrying/ }).waitFor();
    await press(dialog, 'Retry deliveries');
    await dialog.getByText(/^(\d+) of \1 deliveries$/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page
      .getByRole('row', { name: /Records of .* Succeeded .* 3 204/ })
      .first()
      .waitFor();
    const { project } = await getStage().api(`{ project(idOrName: "demo") {
      pending: deliveries(status: PENDING) { totalCount }
      retrying: deliveries(status: RETRYING) { totalCount } } }`);
    expect(project).toEqual({ pending: { totalCount: 0 }, retrying: { totalCount: 0 } });
    await context.close();
  });
}

type Role = 'button' | 'link' | 'option';
