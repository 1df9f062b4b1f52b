/** Requests to providers in the console: the page of a failed operation shows what the provider responded. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFitsScreens, openConsole } from '../support/console.ts';
import type { ConsoleStage } from './stage.ts';

const WRITE_RECORDS = `mutation WriteRecords($input: WriteRecordsInput!) {
  writeRecords(input: $input) { operationId operation { status } }
}`;
const WRITE_INPUT = {
  projectIdOrName: 'demo',
  integrationIdOrName: 'crm-sync',
  groupRef: 'acme',
  objectName: 'deals',
  type: 'CREATE',
  records: { record: { name: 'A private deal' } },
};
const TRIGGER_READ = `mutation TriggerRead($since: DateTime!) {
  triggerRead(input: { projectIdOrName: "demo", integrationIdOrName: "crm-sync", groupRef: "acme",
    objectName: "contacts", sinceTime: $since }) { operation { id } }
}`;
const FUTURE = '2036-01-02T03:04:05.000Z';
const GET_INSTALLATION = `{ project(idOrName: "demo") {
  installations(first: 1) { nodes { id connection { id } } } } }`;
const LIST_RECORDS = `query ListRecords($id: ID!) {
  node(id: $id) { ... on Installation { records(objectName: "contacts") { nodes { id } } } }
}`;

export function testDiagnosis(getStage: () => ConsoleStage) {
  let page: Page;

  async function setFault(fault: object | null): Promise<void> {
    const faults = `${getStage().server.demo.sandboxUrl}/control/faults`;
    const request = fault ? { method: 'PUT', body: JSON.stringify(fault) } : { method: 'DELETE' };
    expect((await fetch(faults, request)).ok).toBe(true);
  }

  beforeAll(async () => {
    page = await getStage().openTab();
    return () => page.close();
  });
  afterAll(() => setFault(null));

  const open = (path: string) => openConsole(page, `${getStage().url}/console/demo/${path}`);
  const requests = () => page.locator('section.card', { hasText: 'Requests to the provider' });

  test('shows the request that failed, with the response of the provider', async () => {
    await setFault({ method: 'POST', pathPrefix: '/objects/deals', status: 400 });
    const { writeRecords } = await getStage().api(WRITE_RECORDS, { input: WRITE_INPUT });
    expect(writeRecords.operation.status).toBe('FAILED');
    await open(`operations/${writeRecords.operationId}`);
    await requests().locator('.status.bad', { hasText: '400' }).waitFor();
    await requests().getByText('POST /objects/deals/records', { exact: true }).waitFor();
    await requests().getByText('Injected fault: status 400').waitFor();
    await requests().getByText('Headers', { exact: true }).click();
    await requests().getByText('"user-agent": "integration-gateway"').waitFor();
    expect(await requests().textContent()).not.toMatch(/A private deal|sandbox-key/);
    await expectFitsScreens(page);
  });

  test('shows the window of a read that brought no records', async () => {
    const { triggerRead } = await getStage().api(TRIGGER_READ, { since: FUTURE });
    await open(`operations/${triggerRead.operation.id}`);
    const panel = page.locator('section.card', { hasText: 'The read brought no records' });
    await panel.getByText('It requested records that changed from').waitFor();
    await panel.locator(`time[datetime="${FUTURE}"]`).waitFor();
    await requests().getByText(`updated_since=${FUTURE}`).waitFor();
    await expectFitsScreens(page);
  });

  test('shows requests of a connection that failed outside of operations', async () => {
    await setFault({ pathPrefix: '/objects', status: 503, times: 3 });
    const { project } = await getStage().api(GET_INSTALLATION);
    const [installation] = project.installations.nodes;
    await fetch(`${getStage().url}/graphql`, {
      method: 'POST',
      headers: { 'x-api-key': getStage().server.demo.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ query: LIST_RECORDS, variables: { id: installation.id } }),
    });
    await open(`connections/${installation.connection.id}`);
    const panel = page.locator('section.card', { hasText: 'Requests outside operations' });
    await panel.locator('.status.bad', { hasText: '503' }).first().waitFor();
    await expectFitsScreens(page);
  });
}
