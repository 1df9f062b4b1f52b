/** The console in a real browser, as a person of the demo uses it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** By one click, on the machine of the server. */
export async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.getByRole('button', { name: 'Open demo' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** Every rule of WCAG 2.2 AA that a program can check, or those that are named. */
export async function holdToAxe(page: Page, ...rules: string[]): Promise<void> {
  // Past the page's own policy, as a reader's own tool runs.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as {
      axe: { run(on: object, options: object): Promise<{ violations: Violation[] }> };
    };
    const options = runOnly.length > 0 ? { runOnly } : {};
    // What was said to screen readers a moment ago, by names of what may be gone.
    const { violations } = await axe.run({ exclude: [['[data-live-announcer]']] }, options);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, rules);
  expect(found, page.url()).toEqual([]);
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}

interface Gateway {
  demo: { url: string; apiKey: string };
}

/** The API with the demo's key: what a page did is looked for there. */
export function consoleApi({ demo: { url, apiKey } }: Gateway) {
  // biome-ignore lint/suspicious/noExplicitAny: answers of any operation.
  return async (query: string, variables: object = {}): Promise<any> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    expect(errors).toBeUndefined();
    return data;
  };
}

/** Opens an address of the console and waits for what is on it. */
export async function openConsole(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('main h1').waitFor();
}
