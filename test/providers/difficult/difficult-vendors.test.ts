/**
 * Reads every provider while its vendor's server misbehaves in each way that the vendor can. Each record is delivered at
 * least once in its last version, or the operation fails with a reason.
 *
 * `SEED` repeats a run, `PROVIDER` and `MISBEHAVIOR` select combinations, and `RUNS` is the number of scenarios for each.
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
  createDeclaredVendor,
  type DifficultVendor,
  hubspotVendor,
  salesforceVendor,
} from '../../support/wire/difficult/vendors.ts';

const { SEED = '1', RUNS = '1', PROVIDER, MISBEHAVIOR } = process.env;

const VENDORS: DifficultVendor[] = [
  ...DECLARATIONS.map((declared) => createDeclaredVendor(declared)),
  hubspotVendor,
  salesforceVendor,
  accountEngagementVendor,
];

const stage = await openStage(VENDORS);

let combinations = 0;
let failedReads = 0;
const reports: string[] = [];
afterAll(() => {
  console.info(`seed ${SEED}: ${combinations} combinations, ${failedReads} with failed reads`);
  for (const report of reports) console.info(report);
});

for (const vendor of VENDORS) {
  if (PROVIDER && !PROVIDER.split(',').includes(vendor.name)) continue;
  const tenant = openTenant(stage, vendor);
  for (const [name, detail] of Object.entries(vendor.misbehaviors)) {
    const misbehavior = name as Misbehavior;
    if (detail === 'no' || misbehavior === 'cutList') continue;
    if (MISBEHAVIOR && !MISBEHAVIOR.split(',').includes(misbehavior)) continue;
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
      { seed: Number(SEED), numRuns: Number(RUNS), endOnFailure: true },
    );
  });
}

test('no provider declares complete lists inside records if its vendor is known to cut them', () => {
  const cutting = VENDORS.filter(({ misbehaviors }) => typeof misbehaviors.cutList === 'object');
  const wrong = cutting.filter(({ vendorName }) => {
    const declared = DECLARATIONS.find(({ name }) => name === vendorName);
    return declared?.api.behavior.nestedLists === 'complete';
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
  expect(cutting.length).toBeGreaterThan(0);
});
