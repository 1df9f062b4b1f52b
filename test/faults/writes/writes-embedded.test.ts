import { test } from 'vitest';
import { expectEachOnce, KILLS, WRITES } from '../scenes/killed-writers.ts';
import { prepareEmbedded } from '../scenes/write-scene.ts';

test(`executes ${WRITES} accepted writes once each over ${KILLS} SIGKILLs (embedded)`, async () => {
  await expectEachOnce(await prepareEmbedded());
});
