/** Concurrent lookups of a caller share one query. A result from before a change is not kept. */
import { expect, test } from 'vitest';
import type { Viewer } from '../../../../src/domain/access/viewer/viewer.ts';
import { ViewerCache } from '../../../../src/domain/access/viewer/viewer-cache.ts';

const createViewer = (id: string): Viewer => ({
  kind: 'API_KEY',
  id,
  projectId: 'prj',
  orgId: 'org',
  scopes: ['read'],
  allowedOrigins: [],
});

test('shares a lookup among concurrent calls, and caches its result', async () => {
  const viewers = new ViewerCache();
  const viewerFound = Promise.withResolvers<Viewer>();
  let findCalls = 0;
  const find = () => {
    findCalls += 1;
    return viewerFound.promise;
  };
  const lookups = Array.from({ length: 20 }, () => viewers.lookUp('key a', find));
  const otherLookup = viewers.lookUp('key b', async () => createViewer('b'));
  expect(await otherLookup).toEqual(createViewer('b'));
  viewerFound.resolve(createViewer('a'));
  expect(await Promise.all(lookups)).toEqual(lookups.map(() => createViewer('a')));
  expect(findCalls).toBe(1);
  expect(viewers.get('key a')).toEqual(createViewer('a'));
  expect(viewers.findStale('key a')).toBeDefined();
  expect(viewers.findStale('key c')).toBeUndefined();
});

test.each<[string, (viewers: ViewerCache) => void]>([
  ['a change of all callers', (viewers) => viewers.clear()],
  ['a change of the caller', (viewers) => viewers.delete('key a')],
])('neither joins nor keeps an earlier lookup after %s', async (_name, change) => {
  const viewers = new ViewerCache();
  const earlierResult = Promise.withResolvers<Viewer>();
  const earlierLookup = viewers.lookUp('key a', () => earlierResult.promise);
  change(viewers);
  expect(await viewers.lookUp('key a', async () => createViewer('after'))).toEqual(
    createViewer('after'),
  );
  earlierResult.resolve(createViewer('before'));
  expect(await earlierLookup).toEqual(createViewer('before'));
  expect(viewers.get('key a')).toEqual(createViewer('after'));
});

test('rejects every waiting call if a lookup fails, and looks up again on the next call', async () => {
  const viewers = new ViewerCache();
  const error = new Error('refused');
  const failToLoad = () => Promise.reject(error);
  const lookups = [viewers.lookUp('key a', failToLoad), viewers.lookUp('key a', failToLoad)];
  expect(await Promise.allSettled(lookups)).toEqual(
    lookups.map(() => ({ status: 'rejected', reason: error })),
  );
  expect(viewers.findStale('key a')).toBeUndefined();
  expect(await viewers.lookUp('key a', async () => createViewer('a'))).toEqual(createViewer('a'));
});
