/**
 * Tests that every object of every declaration fulfills the contract, against a server that is generated from
 * the declaration. The declarations come from exported documents, which are equal to the built-in ones. `npm run provider -- <name>` runs the test of one provider.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { CONVERSIONS } from '../../../src/providers/declarative/conversions/value-conversions.ts';
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { toDocumented } from '../../support/wire/documented.ts';
import { generateWire } from '../../support/wire/generated-wire.ts';
import { deskVendor, engagementVendor } from '../../support/wire/module-vendors.ts';
import { listContractFailures } from '../contract.ts';
import { openWireSubjects } from './wire-subject.ts';

/** Generated servers accept batches of any size. The servers of `declared.test.ts` have the vendors' limits. */
const BATCH_SIZE = 12;

const providerName = process.env.PROVIDER;

// A test for each check and object would double the time: there are thousands.
test.each(
  [...DECLARATIONS, deskVendor.declaration, engagementVendor.declaration]
    .filter(({ name }) => !providerName || name === providerName)
    .map(toDocumented),
)('$name fulfills the provider contract with each object', async (declaration) => {
  const failures: string[] = [];
  for (const [index, objectName] of listObjects(declaration).entries()) {
    await using subjects = openWireSubjects(declaration, generateWire(declaration, objectName));
    const createSubject = async () => ({ ...(await subjects.create()), batchSize: BATCH_SIZE });
    const failuresOfObject = await listContractFailures(createSubject, { isFirst: index === 0 });
    failures.push(...failuresOfObject.map((failure) => `${objectName} ${failure}`));
  }
  expect(failures.join('\n\n')).toBe('');
});

function listObjects({ api }: DeclaredProvider): string[] {
  const objectNames = [...Object.keys(api.objects), ...(api.otherObjects ? ['own_object'] : [])];
  return objectNames.filter((objectName) => {
    const object = api.objects[objectName] ?? api.otherObjects;
    const fieldTypes = Object.values(object?.standardFields ?? { text: 'STRING' });
    // The contract writes and reads a text.
    if (!fieldTypes.includes('STRING')) return false;
    // A generated server cannot read values that a conversion of the declaration writes.
    return !object?.nestedFields?.some(
      ({ conversion }) => conversion && CONVERSIONS[conversion].encode,
    );
  });
}
