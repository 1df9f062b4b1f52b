/** The reference page of the REST API. */
import { expect, test } from 'vitest';
import type { PagesStage } from './stage.ts';

export function testReferencePage(getStage: () => PagesStage) {
  test('lists the endpoints, and loads nothing from the internet', async () => {
    const { origin } = new URL(getStage().server.demo.url);
    const page = await getStage().browser.newPage();
    const foreign: string[] = [];
    const failedRequests: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== origin) foreign.push(request.url());
    });
    page.on('response', (response) => {
      if (response.status() >= 400) failedRequests.push(response.url());
    });
    await page.goto(`${origin}/v1/docs`);
    await page.locator('#operations-tag-Topics').click();
    const createTopic = page.locator('#operations-Topics-createTopic');
    await createTopic.locator('.opblock-summary').click();
    await createTopic.getByText('Needs the scope events:write').waitFor();
    expect({ foreign, failed: failedRequests }).toEqual({ foreign: [], failed: [] });
    const bytes = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize, 0),
    );
    expect(bytes).toBeLessThan(700_000);
    await page.close();
  });

  test('uses the dark mode of the system, or the theme that was chosen in the console', async () => {
    const { origin } = new URL(getStage().server.demo.url);
    const page = await getStage().browser.newPage({ colorScheme: 'dark' });
    // The browser needs seconds to draw the endpoints, which have no part in the theme.
    await page.route('**/v1/docs/json', (route) => route.abort());
    const background = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.goto(`${origin}/v1/docs`);
    await page.locator('html.dark-mode').waitFor();
    const dark = await background();
    await page.evaluate(() => localStorage.setItem('gateway.theme', 'light'));
    await page.reload();
    await page.locator('html:not(.dark-mode)').waitFor();
    expect(await background()).not.toBe(dark);
    await page.close();
  });
}
