/** An Airtable base that is connected and installed. It sends pings, and its webhooks list the changes. */
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import type { Receiver } from '../receiver.ts';
import { AirtableBase, type AirtableWebhook } from '../wire/events/airtable-base.ts';
import { startVendorServer } from '../wire/vendor-server.ts';
import { WIRES } from '../wire/vendors/all.ts';
import { type EventVendor, installEventVendor } from './event-vendors.ts';

interface PingingVendor extends EventVendor {
  base: AirtableBase;
  /** Runs before the base responds. A response that it returns replaces the base's. */
  override: (
    request: ServedRequest,
  ) => ServedResponse | undefined | Promise<ServedResponse | undefined>;
}

export async function startPingingVendor(): Promise<PingingVendor> {
  const declared = DECLARATIONS.find((candidate) => candidate.name === 'airtable');
  const wire = WIRES.airtable;
  if (!declared || !wire) throw new Error('Airtable is not declared.');
  const base = new AirtableBase();
  const server = await startVendorServer({
    ...wire.fixture,
    override: async (request) => (await vendor.override(request)) ?? base.serve(request),
  });
  const send = () => {
    throw new Error('A ping contains no record.');
  };
  const vendor: PingingVendor = {
    declared,
    wire,
    base,
    override: () => undefined,
    server,
    events: { objectName: wire.objectName, recordId: '', send },
    webhooks: null,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return vendor;
}

export async function installPingingVendor(
  app: TestApp,
  { tenant, vendor, receiver }: { tenant: Tenant; vendor: PingingVendor; receiver: Receiver },
) {
  const installed = await installEventVendor(app, { tenant, vendor, receiver });
  const { connectionId, box } = installed;
  const { prisma } = app.app.services.database;
  return {
    ...installed,
    webhooks: (): AirtableWebhook[] =>
      [...vendor.base.webhooks.values()].filter(({ url }) => url.includes(connectionId)),
    stream: () => prisma.providerStream.findFirst({ where: { connectionId } }),
    /** Returns the results of events that the receiver has received. */
    eventResults: () => listResults(receiver, box, 'subscribe'),
    /** Returns the results of reads that the receiver has received. */
    readResults: () => listResults(receiver, box, 'read'),
  };
}

interface Result {
  subscribeEventType?: string;
  id?: string;
  raw?: { id: string };
  mappedFields?: object;
}

function listResults(receiver: Receiver, box: string, action: string): Result[] {
  return receiver
    .received(box)
    .map(({ body }) => JSON.parse(body) as { action: string; result: Result[] })
    .filter((message) => message.action === action)
    .flatMap(({ result }) => result);
}
