import { test } from 'vitest';
import { expectEachWriteOnce, WRITES } from '../fixtures/killed-writers.ts';
import { KILLS } from '../fixtures/settings.ts';
import { prepareEmbedded } from '../fixtures/write-fixture.ts';

test(`executes each of ${WRITES} accepted writes once despite ${KILLS} SIGKILLs (embedded)`, async () => {
  await expectEachWriteOnce(await prepareEmbedded());
});
