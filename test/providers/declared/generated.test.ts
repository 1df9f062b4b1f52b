/**
 * Declarations fit together: every object keeps to the contract against a server made from the declaration
 * itself. `npm run provider -- <name>` runs all of it for one provider; else it is a few of many kinds.
 */
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { generatedWire } from '../../support/wire/generated-wire.ts';
import { providerContract } from '../contract.ts';
import { wireSubject } from './wire-subject.ts';

const chosen = process.env.PROVIDER;
const SOME = ['asana', 'intercom', 'mailchimp', 'notion', 'shopify', 'stripe', 'xero'];

for (const declared of DECLARATIONS) {
  const { name, records } = declared;
  if (chosen ? name !== chosen : !SOME.includes(name)) continue;
  const objects = [...Object.keys(records.objects), ...(records.anyObject ? ['own_object'] : [])];
  for (const objectName of objects) {
    const object = records.objects[objectName] ?? records.anyObject;
    // What comes all at once has no pages to be held to.
    if (object?.all.paging.kind === 'none') continue;
    // What a function writes, no server that is made of data can read.
    if (object?.nested?.some(({ write }) => write)) continue;
    const wire = generatedWire(declared, objectName);
    providerContract(`${name} ${objectName}`, () => wireSubject(declared, wire));
  }
}
