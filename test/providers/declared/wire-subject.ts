/** What the provider contract is tried on: a provider, and a server that speaks its vendor's wire format. */
import type { Provider } from '../../../src/providers/contract.ts';
import { plainSession } from '../../support/providers/provider-session.ts';
import { TOKEN, type WireVendor } from '../../support/wire/terms.ts';
import { vendorServer } from '../../support/wire/vendor-server.ts';
import type { ContractSubject } from '../contract.ts';

export async function wireSubject(provider: Provider, wire: WireVendor): Promise<ContractSubject> {
  const { fixture, objectName, textField, missingId, needs = {}, facts = {} } = wire;
  const server = await vendorServer(fixture);
  const refOf = fixture.refOf ?? String;
  return {
    provider,
    session: plainSession(server.url, fixture.headers, { facts }),
    secret: TOKEN,
    objectName,
    textField,
    validRecord: (text) => ({ ...needs, [textField]: text }),
    invalidRecord: { ...needs, [textField]: 'x'.repeat(201) },
    missingId,
    smallestPage: 2,
    tellsChanges: !wire.tellsNoChanges,
    countRecords: () => server.store.records.length,
    storeRecords: (records) =>
      records.map(({ record, changedAt }) =>
        refOf(server.store.create({ ...record }, changedAt).id),
      ),
    failRequests: (fault) => {
      if (fault === 'DROPPED_CONNECTION') return server.failNext(fault, Infinity);
      const { status } = fault;
      const headers: Record<string, string> =
        'retryAfterSeconds' in fault ? { 'retry-after': `${fault.retryAfterSeconds}` } : {};
      server.failNext({ status, headers, body: fixture.refusal(status, 'refused') }, Infinity);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
