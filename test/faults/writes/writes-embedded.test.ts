import { test } from 'vitest';
import { expectEachWriteOnce, WRITE_COUNT } from '../fixtures/killed-writers.ts';
import { KILL_COUNT } from '../fixtures/settings.ts';
import { prepareEmbedded } from '../fixtures/write-fixture.ts';

test(`executes each of ${WRITE_COUNT} accepted writes once despite ${KILL_COUNT} SIGKILLs (embedded)`, async () => {
  await expectEachWriteOnce(await prepareEmbedded());
});
