import { test } from 'vitest';
import { expectEachOnce, KILLS, WRITES } from '../fixtures/killed-writers.ts';
import { prepareEmbedded } from '../fixtures/write-fixture.ts';

test(`executes ${WRITES} accepted writes once each over ${KILLS} SIGKILLs (embedded)`, async () => {
  await expectEachOnce(await prepareEmbedded());
});
