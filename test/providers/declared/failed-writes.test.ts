/** Tests failures after which a vendor may have executed a write, although the response has status 200. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';

test.each([
  [
    'shopify',
    'customers',
    { extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: '3221c58f' } },
  ],
  ['linear', 'issues', { extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  ['linear', 'issues', { extensions: { type: 'internal error', userError: false } }],
  ['linear', 'issues', { extensions: { type: 'lock timeout', userError: false } }],
  ['monday', 'boards', { extensions: { code: 'INTERNAL_SERVER_ERROR', status_code: 500 } }],
])('%s: reports an unknown outcome of a create of %s after %j', async (name, objectName, error) => {
  const errors = [{ message: 'Something went wrong.', ...error }];
  await using server = await startProviderServer(() => ({ status: 200, body: { errors } }));
  await expect(create(server.url, name, objectName)).rejects.toMatchObject({
    kind: 'SERVER_ERROR',
    isOutcomeUnknown: true,
  });
});

test('serviceNow: reports an unknown outcome of a create in a canceled transaction', async () => {
  const error = { message: 'Transaction cancelled: maximum execution time exceeded', detail: null };
  const body = { error, status: 'failure' };
  await using server = await startProviderServer(() => ({ status: 200, body }));
  await expect(create(server.url, 'serviceNow', 'incident')).rejects.toMatchObject({
    kind: 'SERVER_ERROR',
    isOutcomeUnknown: true,
  });
});

async function create(url: string, name: string, objectName: string) {
  const { writeRecord } = createDeclarativeProvider(getDeclaration(name)).capabilities;
  const record = { name: 'A record' };
  return writeRecord?.(createPlainSession(url), { type: 'CREATE', objectName, record });
}
