/**
 * Fields that are requested from a vendor: the wanted ones under the vendor's names, and only plain names.
 */
import { expect, test } from 'vitest';
import type { ProviderRequest } from '../../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { dynamicsCrm } from '../../../src/providers/declared/crm/dynamics-crm.ts';
import { linear } from '../../../src/providers/declared/work/linear.ts';

async function requestFor(declared: DeclaredProvider, objectName: string, fields: string[]) {
  const sent: ProviderRequest[] = [];
  const session = {
    baseUrl: 'https://vendor.example',
    findMetadata: () => null,
    now: () => new Date(),
    send: async (request: ProviderRequest) => {
      sent.push(request);
      return { status: 200, headers: {}, body: { value: [], data: { issues: { nodes: [] } } } };
    },
  };
  const { readPage } = createDeclarativeProvider(declared).capabilities;
  await readPage?.(session, { objectName, fields, pageSize: 10 });
  return sent[0];
}

test("requests the id by the vendor's name for it", async () => {
  const request = await requestFor(dynamicsCrm, 'contacts', ['id', 'lastname']);
  expect(request?.query?.$select).toBe('contactid,modifiedon,lastname');
});

test('omits a field whose name could close a GraphQL selection', async () => {
  const evil = 'x } } } mutation { issueDelete(id: "1") { success';
  const request = await requestFor(linear, 'issues', ['estimate', evil]);
  const { query } = request?.body as { query: string };
  expect(query).toContain('url estimate }');
  expect(query).not.toContain('issueDelete');
});
