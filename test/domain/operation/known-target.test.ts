/** Which targets of writes are known, and until when. */
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import type { VersionedTarget } from '../../../src/database/reads/write-target.ts';
import {
  forgetTarget,
  keepTarget,
  knownTarget,
} from '../../../src/domain/operation/write/known-target.ts';

const keyOf = (groupRef: string) => ({ projectId: 'prj', integration: { name: 'crm' }, groupRef });
/** As far as it matters here. */
const targetOf = (secret: string) =>
  ({ account: { credentialsSealed: secret } }) as VersionedTarget;
const database = () => ({ prisma: {}, outages: { seen: 0 } }) as Database;

test('a target is known to its database until it is forgotten, or an outage was seen', () => {
  const [one, other] = [database(), database()];
  const target = targetOf('v1.sealed');
  keepTarget(one, keyOf('acme'), { target, outagesSeen: one.outages.seen });
  expect(knownTarget(one, keyOf('acme'))).toBe(target);
  expect(knownTarget(one, keyOf('beta'))).toBeNull();
  expect(knownTarget(other, keyOf('acme'))).toBeNull();
  one.outages.seen += 1;
  expect(knownTarget(one, keyOf('acme'))).toBeNull();
  keepTarget(one, keyOf('acme'), { target, outagesSeen: one.outages.seen });
  forgetTarget(one, keyOf('acme'), targetOf('an older one'));
  expect(knownTarget(one, keyOf('acme'))).toBe(target);
  forgetTarget(one, keyOf('acme'), target);
  expect(knownTarget(one, keyOf('acme'))).toBeNull();
});

test('what was read before an outage is not known after it', () => {
  const one = database();
  const { seen: outagesSeen } = one.outages;
  one.outages.seen += 1;
  keepTarget(one, keyOf('acme'), { target: targetOf('v1.sealed'), outagesSeen });
  expect(knownTarget(one, keyOf('acme'))).toBeNull();
});

test('large credentials of many targets do not fill the memory', () => {
  const one = database();
  const large = 'x'.repeat(100_000);
  for (let n = 1; n <= 200; n += 1)
    keepTarget(one, keyOf(`group-${n}`), { target: targetOf(large), outagesSeen: 0 });
  const known = (n: number) => knownTarget(one, keyOf(`group-${n}`)) !== null;
  expect([known(1), known(40), known(45), known(200)]).toEqual([false, false, true, true]);
});
