/**
 * Reads every provider while its vendor's server misbehaves in each way that the vendor can. Each record is delivered at
 * least once in its last version, or the operation fails with a reason.
 *
 * `FUZZ_SEED` repeats a run, `FUZZ_PROVIDER` and `FUZZ_MISBEHAVIOR` select combinations, and `FUZZ_RUNS` is the number of
 * scenarios for each.
 *
 * @module-tag all/walk
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { Misbehavior, Misbehaviors } from '../../support/wire/difficult/misbehaviors.ts';
import { openStage } from '../../support/wire/difficult/open-stage.ts';
import {
  listFaults,
  openTenant,
  readDifficultVendor,
  scenario,
} from '../../support/wire/difficult/reads.ts';
import {
  accountEngagementVendor,
  createDocumentedVendor,
  type DifficultVendor,
  hubspotVendor,
  salesforceVendor,
} from '../../support/wire/difficult/vendors.ts';

const { FUZZ_SEED = '1', FUZZ_RUNS = '1', FUZZ_PROVIDER, FUZZ_MISBEHAVIOR } = process.env;

const VENDORS: DifficultVendor[] = [
  // Documents compile to the same declarations, so these also test the built-in providers.
  ...DECLARATIONS.map(createDocumentedVendor),
  hubspotVendor,
  salesforceVendor,
  accountEngagementVendor,
];

const stage = await openStage(VENDORS);

let combinations = 0;
let failedReads = 0;
const reports: string[] = [];
afterAll(() => {
  console.info(`seed ${FUZZ_SEED}: ${combinations} combinations, ${failedReads} with failed reads`);
  for (const report of reports) console.info(report);
});

for (const vendor of VENDORS) {
  if (FUZZ_PROVIDER && !FUZZ_PROVIDER.split(',').includes(vendor.vendorName)) continue;
  const tenant = openTenant(stage, vendor);
  for (const [name, detail] of Object.entries(vendor.misbehaviors)) {
    const misbehavior = name as Misbehavior;
    if (detail === 'no' || misbehavior === 'cutList') continue;
    if (FUZZ_MISBEHAVIOR && !FUZZ_MISBEHAVIOR.split(',').includes(misbehavior)) continue;
    testCombination(vendor, tenant, misbehavior, detail as Misbehaviors[Misbehavior]);
  }
}

function testCombination(
  vendor: DifficultVendor,
  tenant: ReturnType<typeof openTenant>,
  misbehavior: Misbehavior,
  detail: Misbehaviors[Misbehavior],
): void {
  combinations += 1;
  test(`${vendor.name}: delivers every record, or fails with a reason, despite ${misbehavior}`, async () => {
    const install = await tenant;
    const combination = { vendor, misbehavior, detail };
    await fc.assert(
      fc.asyncProperty(scenario, async (input) => {
        const result = await readDifficultVendor(stage, install, combination, input);
        if (result.failures.length > 0) failedReads += 1;
        const faults = listFaults(result, combination);
        if (faults.length > 0) reports.push(`${vendor.name} ${misbehavior}: ${faults.join('; ')}`);
        expect(faults).toEqual([]);
      }),
      { seed: Number(FUZZ_SEED), numRuns: Number(FUZZ_RUNS), endOnFailure: true },
    );
  });
}

test('declares no lists inside records complete if the vendor may cut them', () => {
  const cutting = VENDORS.filter(({ misbehaviors }) => misbehaviors.cutList !== 'no');
  expect(cutting).not.toEqual([]);
  for (const vendor of cutting) {
    const { getBehavior } = vendor.createProvider().capabilities;
    const nestedLists = getBehavior?.(vendor.objectName).nestedLists;
    expect([undefined, 'complete'], vendor.name).not.toContain(nestedLists);
  }
});
