/** The session of the demo, whose token expires after an hour. */
import { expect, test } from 'vitest';
import { signIn } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const storedToken = () => sessionStorage.getItem('gateway.credential');

export function testDemoSession(getStage: () => ConsoleStage) {
  test('renews its token before it expires, and uses the new one', async () => {
    const context = await getStage().openContext();
    const page = await context.newPage();
    await page.clock.install();
    await signIn(page, getStage().url);
    const firstToken = await page.evaluate(storedToken);
    expect(firstToken).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);

    const renewed = page.waitForResponse((response) => response.url().endsWith('/demo.json'));
    await page.clock.fastForward('31:00');
    expect((await renewed).status()).toBe(200);
    await expect.poll(() => page.evaluate(storedToken)).not.toBe(firstToken);
    const secondToken = await page.evaluate(storedToken);
    const requestPromise = page.waitForRequest((request) => request.url().endsWith('/graphql'));
    await page
      .getByRole('navigation', { name: 'Console' })
      .getByRole('link', { name: 'Destinations' })
      .click();
    expect((await requestPromise).headers().authorization).toBe(`Bearer ${secondToken}`);
    await context.close();
  });
}
