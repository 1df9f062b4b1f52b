/** The headers of a request contain one credential. */
import { expect, test } from 'vitest';
import { readBearerClaims } from '../../../../src/domain/access/viewer/bearer.ts';
import { toCredentialKey } from '../../../../src/domain/access/viewer/find-viewer.ts';
import { getSharedApp } from '../../../support/app.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';

const app = await getSharedApp();

test('returns the same key for a token if the case of its scheme differs', () => {
  const credential = toCredentialKey({ authorization: 'Bearer a.b.c' });
  expect(toCredentialKey({ authorization: 'bEARER   a.b.c' })).toBe(credential);
  expect(toCredentialKey({ authorization: 'Bearer a.b.d' })).not.toBe(credential);
  expect(toCredentialKey({ authorization: '' })).toBeNull();
  // A header cannot imitate the credential of an API key.
  expect(toCredentialKey({ authorization: 'key ik_1' })).not.toBe(
    toCredentialKey({ apiKey: 'ik_1' }),
  );
});

test('rejects a header with further text after the token', async () => {
  const tenant = await app.createTenant();
  const builder = await app.app.verifier.mint?.({ sub: crypto.randomUUID() });
  for (const token of [(await createEndUser(app, tenant)).token, builder]) {
    const send = (authorization: string) =>
      app.createClient({ authorization }).request('query Viewer { viewer { kind } }');
    for (const header of [`Bearer ${token}`, `bearer  ${token}`]) {
      expect((await send(header)).errors, header).toBeUndefined();
    }
    for (const header of [`Bearer ${token} x`, `Bearer ${token}\tx`, `Basic ${token}`, 'Bearer']) {
      expect((await send(header)).errors?.[0]?.extensions.code, header).toBe('UNAUTHENTICATED');
    }
  }
});

test('rejects claims that are issued more than a minute ahead', () => {
  const nowSeconds = Date.now() / 1_000;
  const createClaims = (iat: number) => ({ iss: 'https://id.example', sub: 'ada', iat });
  expect(readBearerClaims(createClaims(nowSeconds + 30), false)).toMatchObject({ sub: 'ada' });
  expect(() => readBearerClaims(createClaims(nowSeconds + 300), false)).toThrow();
});
