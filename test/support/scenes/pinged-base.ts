/** A base of Airtable that is connected and installed: it pings, and its webhooks list what has changed. */
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import type { Receiver } from '../receiver.ts';
import { AirtableBase, type AirtableWebhook } from '../wire/events/airtable-base.ts';
import { vendorServer } from '../wire/vendor-server.ts';
import { WIRES } from '../wire/vendors/all.ts';
import { installTelling, type TellingVendor } from './telling-vendors.ts';

export interface PingedBase extends TellingVendor {
  base: AirtableBase;
  /** Comes before the base's answer, and may take its place. */
  instead: (
    request: ServedRequest,
  ) => ServedResponse | undefined | Promise<ServedResponse | undefined>;
}

export async function startPingedBase(): Promise<PingedBase> {
  const declared = DECLARATIONS.find((one) => one.name === 'airtable');
  const wire = WIRES.airtable;
  if (!declared || !wire) throw new Error('Airtable is declared');
  const base = new AirtableBase();
  const server = await vendorServer({
    ...wire.fixture,
    other: async (request) => (await vendor.instead(request)) ?? base.answer(request),
  });
  const send = () => {
    throw new Error('A ping says nothing of a record');
  };
  const vendor: PingedBase = {
    declared,
    wire,
    base,
    instead: () => undefined,
    server,
    events: { objectName: wire.objectName, recordId: '', send },
    webhooks: null,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return vendor;
}

export async function installPinged(
  app: TestApp,
  { tenant, vendor, receiver }: { tenant: Tenant; vendor: PingedBase; receiver: Receiver },
) {
  const installed = await installTelling(app, { tenant, vendor, receiver });
  const { connectionId, box } = installed;
  const { prisma } = app.app.services.database;
  return {
    ...installed,
    webhooks: (): AirtableWebhook[] =>
      [...vendor.base.webhooks.values()].filter(({ url }) => url.includes(connectionId)),
    stream: () => prisma.providerStream.findFirst({ where: { connectionId } }),
    /** What has come by events: ids of records by kinds. */
    told: () => resultsOf(receiver, box, 'subscribe'),
    /** What has come by reads. */
    read: () => resultsOf(receiver, box, 'read'),
  };
}

interface Result {
  subscribeEventType?: string;
  id?: string;
  raw?: { id: string };
  mappedFields?: object;
}

function resultsOf(receiver: Receiver, box: string, action: string): Result[] {
  return receiver
    .received(box)
    .map(({ body }) => JSON.parse(body) as { action: string; result: Result[] })
    .filter((message) => message.action === action)
    .flatMap(({ result }) => result);
}
