/** Opens the console in a real browser. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient, type Fetch, fetchFrom } from './graphql-client.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Signs in to the demo with one click, which the console offers on the server's own machine. */
export async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.getByRole('button', { name: 'Open demo' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** Expects that the page passes the axe rules. By default, all rules run. */
export async function expectAccessible(page: Page, ...rules: string[]): Promise<void> {
  // `evaluate` bypasses the page's content security policy, as a browser extension does.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const violationTexts = await page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as {
      axe: { run(on: object, options: object): Promise<{ violations: Violation[] }> };
    };
    const options = {
      ...(runOnly.length > 0 && { runOnly }),
      // Omitting passes and the preload of style sheets and media saves a third of the time.
      resultTypes: ['violations'],
      preload: false,
    };
    // The live region has past announcements, which may name elements that are gone.
    const { violations } = await axe.run({ exclude: [['[data-live-announcer]']] }, options);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, rules);
  expect(violationTexts, page.url()).toEqual([]);
}

const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Expects that the page fits wide and narrow screens, passes the axe checks, and has enough contrast in dark mode. */
export async function expectFitsScreens(page: Page): Promise<void> {
  for (const viewport of [PHONE, WIDE]) {
    await page.setViewportSize(viewport);
    const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isTooWide, `${page.url()} at ${viewport.width} px`).toBe(false);
    await expectAccessible(page);
  }
  await expectContrastInDark(page);
}

/** Expects enough contrast in dark mode. Colors do not depend on the width of the window. */
async function expectContrastInDark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, 'color-contrast');
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Expects enough contrast in light and dark mode. */
export async function expectContrast(page: Page): Promise<void> {
  await expectAccessible(page, 'color-contrast');
  await expectContrastInDark(page);
}

interface Gateway {
  demo: { url: string; apiKey: string };
}

/** A server that refuses requests for longer than this has a defect. */
const REFUSED_MS_MAX = 60_000;

/**
 * Returns a function that queries with the demo's API key, to check the effect of an action on a page. While the server of
 * a busy machine fills the demo, it may refuse requests without having done anything. The function retries these for a
 * minute, as clients do.
 */
export function createDemoClient({ demo: { url, apiKey } }: Gateway) {
  const fetchServed: Fetch = async (path, init) => {
    const endTimeMs = Date.now() + REFUSED_MS_MAX;
    for (;;) {
      const response = await fetchFrom(url)(path, init);
      const text = await response.text();
      if (!text.includes('All connections to the database are in use')) {
        return new Response(text, response);
      }
      if (Date.now() > endTimeMs) throw new Error(`The server refuses the request: ${text}`);
      await wait(1_000 * Number(response.headers.get('retry-after') ?? 1));
    }
  };
  return createClient(fetchServed, { 'x-api-key': apiKey }).query;
}

/** Opens an address of the console and waits for its heading. */
export async function openConsole(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('main h1').waitFor();
}
