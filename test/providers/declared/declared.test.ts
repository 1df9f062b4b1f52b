/** Every provider that is made of a declaration keeps to the contract, against its vendor's wire format. */
import {
  type DeclaredProvider,
  declarativeProvider,
} from '../../../src/providers/declarative/declarative-provider.ts';
import { stripe } from '../../../src/providers/declared/commerce/stripe.ts';
import { pipedrive } from '../../../src/providers/declared/crm/pipedrive.ts';
import { salesloft } from '../../../src/providers/declared/crm/salesloft.ts';
import { front } from '../../../src/providers/declared/support/frontapp.ts';
import { zendeskSupport } from '../../../src/providers/declared/support/zendesk-support.ts';
import { gitlab } from '../../../src/providers/declared/work/gitlab.ts';
import { plainSession } from '../../support/providers/provider-session.ts';
import {
  frontWire,
  gitlabWire,
  pipedriveWire,
  SECRET,
  salesloftWire,
  stripeWire,
  zendeskWire,
} from '../../support/wire/fixtures.ts';
import { type VendorFixture, vendorServer } from '../../support/wire/vendor-server.ts';
import { type ContractSubject, providerContract } from '../contract.ts';

interface Declared {
  declared: DeclaredProvider;
  wire: VendorFixture;
  objectName: string;
  textField: string;
  missingId: string;
}

const ALL: Declared[] = [
  {
    declared: pipedrive,
    wire: pipedriveWire,
    objectName: 'deals',
    textField: 'title',
    missingId: '999',
  },
  {
    declared: salesloft,
    wire: salesloftWire,
    objectName: 'people',
    textField: 'first_name',
    missingId: '999',
  },
  {
    declared: front,
    wire: frontWire,
    objectName: 'contacts',
    textField: 'name',
    missingId: 'crd_zzz',
  },
  {
    declared: zendeskSupport,
    wire: zendeskWire,
    objectName: 'tickets',
    textField: 'subject',
    missingId: '999',
  },
  {
    declared: gitlab,
    wire: gitlabWire,
    objectName: 'projects',
    textField: 'name',
    missingId: '999',
  },
  {
    declared: stripe,
    wire: stripeWire,
    objectName: 'customers',
    textField: 'name',
    missingId: 'cus_none',
  },
];

for (const { declared, wire, objectName, textField, missingId } of ALL) {
  providerContract(declared.name, async (): Promise<ContractSubject> => {
    const server = await vendorServer(wire);
    return {
      provider: declarativeProvider(declared),
      session: plainSession(server.url, wire.headers),
      secret: SECRET,
      objectName,
      textField,
      validRecord: (text) => ({ [textField]: text }),
      invalidRecord: { [textField]: 'x'.repeat(201) },
      missingId,
      smallestPage: 2,
      tellsChanges: declared.records.objects[objectName]?.changedAt !== undefined,
      countRecords: () => server.store.records.length,
      storeRecords: (records) =>
        records.map(({ record, changedAt }) =>
          String(server.store.create({ ...record }, changedAt).id),
        ),
      failRequests: (fault) => {
        if (fault === 'DROPPED_CONNECTION') return server.failNext(fault, Infinity);
        const { status } = fault;
        const headers: Record<string, string> =
          'retryAfterSeconds' in fault ? { 'retry-after': `${fault.retryAfterSeconds}` } : {};
        server.failNext({ status, headers, body: wire.refusal(status, 'refused') }, Infinity);
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  });
}
