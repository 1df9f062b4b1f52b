/** Tests GitLab's code suggestions, which are created and never read. */
import { expect, test } from 'vitest';
import { supportsCapability } from '../../../../src/providers/contract.ts';
import { DECLARED } from '../../../../src/providers/declared/all.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';

const OBJECT_NAME = 'code_suggestions/completions';
const provider = DECLARED.find(({ name }) => name === 'gitlab');
if (!provider) throw new Error('GitLab is not declared.');
const { capabilities } = provider;

const SUGGESTION = {
  id: 'id',
  model: { engine: 'vertex-ai', name: 'code-gecko' },
  object: 'text_completion',
  choices: [{ text: '\n  return 1', index: 0, finish_reason: 'length' }],
};
const record = { current_file: { file_name: 'a.py', content_above_cursor: 'def one():' } };

test('returns a code suggestion as the data of a write without a record id', async () => {
  await using server = await startProviderServer(({ method, path }) =>
    method === 'POST' && path === '/api/v4/code_suggestions/completions'
      ? { status: 200, body: SUGGESTION }
      : { status: 404 },
  );
  const session = createPlainSession(server.url);
  const outcome = { success: true, recordId: null, data: SUGGESTION };
  const write = { objectName: OBJECT_NAME, type: 'CREATE' as const };
  expect(await capabilities.writeRecord?.(session, { ...write, record })).toMatchObject(outcome);
  const records = [{ record }, { record }];
  const batch = { ...write, records, allOrNone: false };
  expect(await capabilities.writeBatch?.(session, batch)).toMatchObject([outcome, outcome]);
  expect(server.requests.map(({ body }) => body)).toEqual([record, record, record]);
  const update = { objectName: OBJECT_NAME, type: 'UPDATE' as const, record: { id: '1' } };
  await expect(capabilities.writeRecord?.(session, update)).rejects.toThrow(
    /has no updates of code_suggestions\/completions/,
  );
});

test('only writes code suggestions', async () => {
  const supports = (['READ', 'WRITE', 'DELETE', 'METADATA'] as const).filter((capability) =>
    supportsCapability(provider, OBJECT_NAME, capability),
  );
  expect(supports).toEqual(['WRITE']);
  await using server = await startProviderServer(() => ({ status: 200, body: [] }));
  const read = { objectName: OBJECT_NAME, fields: [], pageSize: 10 };
  await expect(capabilities.readPage?.(createPlainSession(server.url), read)).rejects.toThrow(
    /has no object code_suggestions\/completions/,
  );
});
