/** Tests that a request selects the fields of the read by the vendor's names, and no field with an unsafe name. */
import { expect, test } from 'vitest';
import type { ProviderRequest } from '../../../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../../src/providers/declarative/declarative-provider.ts';
import { dynamicsCrm } from '../../../../src/providers/declared/crm/dynamics-crm.ts';
import { linear } from '../../../../src/providers/declared/work/linear.ts';
import { createMask } from '../../../../src/work/secret-mask.ts';

async function captureRequest(declaration: DeclaredProvider, objectName: string, fields: string[]) {
  const requests: ProviderRequest[] = [];
  const session = {
    baseUrl: 'https://vendor.example',
    findMetadata: () => null,
    now: () => new Date(),
    send: async (request: ProviderRequest) => {
      requests.push(request);
      const body = { value: [], data: { issues: { nodes: [] } } };
      return { status: 200, headers: {}, body, mask: createMask([]) };
    },
  };
  const { readPage } = createDeclarativeProvider(declaration).capabilities;
  await readPage?.(session, { objectName, fields, pageSize: 10 });
  return requests[0];
}

test("requests the id under the vendor's name", async () => {
  const request = await captureRequest(dynamicsCrm, 'contacts', ['id', 'lastname']);
  expect(request?.query?.$select).toBe('contactid,modifiedon,lastname');
});

test('omits a field whose name could close a GraphQL selection', async () => {
  const closingName = 'x } } } mutation { issueDelete(id: "1") { success';
  const request = await captureRequest(linear, 'issues', ['estimate', closingName]);
  const { query } = request?.body as { query: string };
  expect(query).toContain('url estimate }');
  expect(query).not.toContain('issueDelete');
});
