/**
 * Tests that every object of every declaration fulfills the contract, against a server that is generated from
 * the declaration. `npm run provider -- <name>` runs the tests of one provider.
 *
 * @module-tag all/walk
 */
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { generateWire } from '../../support/wire/generated-wire.ts';
import { testProviderContract } from '../contract.ts';
import { prepareWireSubjects } from './wire-subject.ts';

const providerName = process.env.PROVIDER;

for (const declaration of DECLARATIONS) {
  const { name, api } = declaration;
  if (providerName && name !== providerName) continue;
  const objects = [...Object.keys(api.objects), ...(api.otherObjects ? ['own_object'] : [])];
  for (const objectName of objects) {
    const object = api.objects[objectName] ?? api.otherObjects;
    // A generated server cannot read values that a function of the declaration writes.
    if (object?.nestedFields?.some(({ encode }) => encode)) continue;
    const wire = generateWire(declaration, objectName);
    testProviderContract(`${name} ${objectName}`, prepareWireSubjects(declaration, wire));
  }
}
