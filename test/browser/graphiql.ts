/** GraphiQL as a person uses it. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PagesStage } from './stage.ts';

export function testGraphiql(getStage: () => PagesStage) {
  /** The tests share the page, because loading GraphiQL takes longer than the tests. */
  let page: Page;
  let foreign: string[];
  beforeAll(async () => {
    ({ page, foreign } = await openGraphiql(await newContext()));
  });
  afterAll(() => page?.context().close());

  const newContext = () =>
    getStage().browser.newContext({ viewport: { width: 1400, height: 900 } });

  async function openGraphiql(
    context: BrowserContext,
    params: Record<string, string> = {},
  ): Promise<{ page: Page; foreign: string[] }> {
    const page = await context.newPage();
    const { url } = getStage().server.demo;
    const foreign: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== url) foreign.push(request.url());
    });
    await page.goto(`${url}/graphql?${new URLSearchParams(params)}`);
    // The editor loads after the buttons.
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
    return { page, foreign };
  }

  test('loads nothing from the internet, and runs its first tab', async () => {
    expect(await page.locator('.graphiql-tab').count()).toBeGreaterThanOrEqual(6);
    await page.locator('.graphiql-tab-button').first().click();
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'Demo CRM sync' }).waitFor();
    expect(foreign).toEqual([]);
  });

  test('transfers at most 1 MB, and only the page itself the second time', async () => {
    const sizes = await listTransferSizes(page);
    expect(sum(Object.values(sizes))).toBeLessThan(1_000_000);
    const { page: secondPage } = await openGraphiql(page.context());
    const secondSizes = await listTransferSizes(secondPage);
    expect(Object.keys(secondSizes).filter((path) => secondSizes[path] !== 0)).toEqual([
      '/graphql',
    ]);
    await secondPage.close();
  });

  test('opens the same tab with its key after a reload, without a further tab', async () => {
    const { page: unchanged } = await openGraphiql(await newContext());
    const active = unchanged.locator('.graphiql-tab-active', { hasText: 'Overview' });
    await active.waitFor();
    const tabCount = await unchanged.locator('.graphiql-tab').count();
    await unchanged.reload();
    await unchanged.locator('.graphiql-query-editor .CodeMirror').waitFor();
    await active.waitFor();
    expect(await unchanged.locator('.graphiql-tab').count()).toBe(tabCount);
    await unchanged.locator('.graphiql-execute-button').click();
    await unchanged.locator('.result-window', { hasText: 'Demo CRM sync' }).waitFor();
    await unchanged.context().close();
  });

  test('opens with the query and the variables of its URL', async () => {
    const query = 'query Named($name: IdOrName!) { project(idOrName: $name) { name } }';
    const variables = JSON.stringify({ name: 'demo' });
    const { page: linked } = await openGraphiql(await newContext(), { query, variables });
    await linked.locator('.graphiql-tab-active', { hasText: 'Named' }).waitFor();
    await linked.locator('.graphiql-query-editor', { hasText: 'idOrName: $name' }).waitFor();
    await linked.locator('.graphiql-editor-tool', { hasText: '"name":"demo"' }).waitFor();
    await linked.context().close();
  });

  test('shows why the server refuses a subscription', async () => {
    const query = 'subscription Refused { notificationEvents(projectIdOrName: "none") { cursor } }';
    const { page: refused } = await openGraphiql(await newContext(), { query });
    await refused.locator('.graphiql-tab-active', { hasText: 'Refused' }).waitFor();
    await refused.locator('.graphiql-execute-button').click();
    await refused.locator('.result-window', { hasText: 'NOT_FOUND' }).waitFor();
    await refused.context().close();
  });

  test('fits all tabs in a window of 1280 pixels, and has an explorer', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    const isFitting = await page
      .locator('.graphiql-tabs')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
    expect(isFitting).toBe(true);
    await page.getByRole('button', { name: 'Show GraphiQL Explorer' }).click();
    await page.locator('.docExplorerWrap, .graphiql-explorer-root').first().waitFor();
    await page.getByRole('button', { name: 'Hide GraphiQL Explorer' }).click();
    await page.setViewportSize({ width: 1400, height: 900 });
  });

  test('shows the event of a mutation that a tab ran before the tab Events', async () => {
    await runTab(page, 'GenerateConnection', 'generateConnection');
    await runTab(page, 'Events', 'CONNECTION_');
  });

  test('shows the last message of a stream in the tab Messages', async () => {
    await runTab(page, 'Messages', '"body"');
  });

  test('shows the operation of the tab TriggerRead in the tab WatchOperation', async () => {
    const text = await runTab(page, 'TriggerRead', 'opr_');
    const [id = ''] = /opr_\w+/.exec(text) ?? [];
    await runTab(page, 'WatchOperation', 'SUCCEEDED');
    expect(await page.locator('.result-window').innerText()).toContain(id);
  });

  test('delivers an event to subscriptions by fetch and by WebSocket', async () => {
    const { apiKey } = getStage().server.demo;
    const receivedEvents = await page.evaluate(subscribeBothWays, {
      query: SUBSCRIBE_TO_EVENTS,
      apiKey,
    });
    expect(receivedEvents).toEqual({ sse: 'CONNECTION_UPDATED', webSocket: 'CONNECTION_UPDATED' });
  });
}

/**
 * GraphiQL reads the tab's text shortly after a click. The function waits for this, because a person's next
 * click comes later too.
 */
async function openTab(page: Page, name: string) {
  await page.locator('.graphiql-tab-button', { hasText: name }).click();
  await page.locator('.graphiql-tab-active', { hasText: name }).waitFor();
  await page.waitForFunction(
    (operation) => new RegExp(operation).test(localStorage.getItem('graphiql:query') ?? ''),
    ` ${name}[ (]`,
  );
}

/** Runs a tab, and returns the result as soon as it has the text. */
async function runTab(page: Page, name: string, resultText: string): Promise<string> {
  await openTab(page, name);
  await page.locator('.graphiql-execute-button').click();
  const result = page.locator('.result-window', { hasText: resultText });
  await result.waitFor();
  return result.innerText();
}

/** Returns the transferred bytes by path. They are 0 for a file from the browser's cache. */
async function listTransferSizes(page: Page): Promise<Record<string, number>> {
  const entries = await page.evaluate(() =>
    [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ].map((entry) => {
      const { name, transferSize } = entry as PerformanceResourceTiming;
      return { path: new URL(name).pathname, transferSize };
    }),
  );
  const sizes: Record<string, number> = {};
  for (const { path, transferSize } of entries) sizes[path] = (sizes[path] ?? 0) + transferSize;
  return sizes;
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

const SUBSCRIBE_TO_EVENTS =
  'subscription { notificationEvents(projectIdOrName: "demo") { node { eventType } } }';

/** Runs in the page, so it cannot use anything from outside. */
async function subscribeBothWays({ query, apiKey }: { query: string; apiKey: string }) {
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const body = JSON.stringify({ query });
  const typeIn = (text: string) => /"eventType":"(\w+)"/.exec(text)?.[1];

  const bySse = async () => {
    const accept = { ...headers, accept: 'text/event-stream' };
    const response = await fetch('/graphql', { method: 'POST', headers: accept, body });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; ; ) {
      const chunk = await reader?.read();
      text += chunk?.value ?? '';
      if (typeIn(text) || !chunk || chunk.done) {
        await reader?.cancel();
        return typeIn(text);
      }
    }
  };
  const byWebSocket = () =>
    new Promise<string | undefined>((resolve, reject) => {
      const socket = new WebSocket(`ws://${location.host}/graphql`, 'graphql-transport-ws');
      const send = (message: object) => socket.send(JSON.stringify(message));
      socket.onopen = () => send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
      socket.onclose = ({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`));
      socket.onmessage = ({ data }) => {
        const { type } = JSON.parse(data);
        if (type === 'connection_ack') send({ id: '1', type: 'subscribe', payload: { query } });
        if (type !== 'next') return;
        resolve(typeIn(data));
        socket.close();
      };
    });

  const received = Promise.all([bySse(), byWebSocket()]);
  // The connection exists already, so each call causes one event. Calls repeat until both subscriptions have
  // received one.
  const change = `mutation { generateConnection(input: { projectIdOrName: "demo", provider: "sandbox",
    groupRef: "acme", consumerRef: "ada", credentials: { apiKey: "sandbox-key" } }) { connection { id } } }`;
  for (let isDone = false; !isDone; ) {
    await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query: change }) });
    const pause = new Promise((resolve) => setTimeout(resolve, 300));
    isDone = await Promise.race([received.then(() => true), pause.then(() => false)]);
  }
  const [sse, webSocket] = await received;
  return { sse, webSocket };
}
