/** Callers who come together are looked up once, and what was looked up before a change is not kept. */
import { expect, test } from 'vitest';
import type { Viewer } from '../../../src/domain/viewer/viewer.ts';
import { ViewerCache } from '../../../src/domain/viewer/viewer-cache.ts';

const viewer = (id: string): Viewer => ({
  kind: 'API_KEY',
  id,
  projectId: 'prj',
  orgId: 'org',
  scopes: ['read'],
  allowedOrigins: [],
});

test('those who ask while a caller is looked up share the look-up, and later ones find it', async () => {
  const viewers = new ViewerCache();
  const found = Promise.withResolvers<Viewer>();
  let lookUps = 0;
  const find = () => {
    lookUps += 1;
    return found.promise;
  };
  const asked = Array.from({ length: 20 }, () => viewers.lookUp('key a', find));
  const other = viewers.lookUp('key b', async () => viewer('b'));
  expect(await other).toEqual(viewer('b'));
  found.resolve(viewer('a'));
  expect(await Promise.all(asked)).toEqual(asked.map(() => viewer('a')));
  expect(lookUps).toBe(1);
  expect(viewers.get('key a')).toEqual(viewer('a'));
  expect(viewers.remembered('key a')).toBeDefined();
  expect(viewers.remembered('key c')).toBeUndefined();
});

test.each<[string, (viewers: ViewerCache) => void]>([
  ['a change of all callers', (viewers) => viewers.clear()],
  ['a change of the caller', (viewers) => viewers.delete('key a')],
])('after %s, a look-up that began before is neither joined nor kept', async (_, change) => {
  const viewers = new ViewerCache();
  const before = Promise.withResolvers<Viewer>();
  const early = viewers.lookUp('key a', () => before.promise);
  change(viewers);
  expect(await viewers.lookUp('key a', async () => viewer('after'))).toEqual(viewer('after'));
  before.resolve(viewer('before'));
  expect(await early).toEqual(viewer('before'));
  expect(viewers.get('key a')).toEqual(viewer('after'));
});

test('a look-up that fails is told to all who wait for it, and begun again by the next one', async () => {
  const viewers = new ViewerCache();
  const refused = new Error('refused');
  const fails = () => Promise.reject(refused);
  const asked = [viewers.lookUp('key a', fails), viewers.lookUp('key a', fails)];
  expect(await Promise.allSettled(asked)).toEqual(
    asked.map(() => ({ status: 'rejected', reason: refused })),
  );
  expect(viewers.remembered('key a')).toBeUndefined();
  expect(await viewers.lookUp('key a', async () => viewer('a'))).toEqual(viewer('a'));
});
