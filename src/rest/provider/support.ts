/** A provider's capabilities in the terms of the reference API's catalog. */
import { z } from 'zod';
import { listCapabilities, type Provider } from '../../domain/provider/provider.ts';

const flag = (statement: string) => z.boolean().describe(`Whether ${statement}.`);

const batch = z
  .object({
    supported: flag('many records can be written in one request'),
    defaultRecordLimit: z
      .int()
      .optional()
      .describe('The most records of one request. Absent if there are no such requests.'),
  })
  .describe('Writes of many records.');

export const support = z
  .object({
    read: flag('records can be read'),
    write: flag('records can be created and updated'),
    delete: flag('records can be deleted'),
    proxy: flag('requests can be forwarded'),
    subscribe: flag('changes are received when they happen'),
    bulkWrite: z
      .object({
        insert: flag('records can be created by a bulk job'),
        update: flag('records can be updated by a bulk job'),
        upsert: flag('records can be created or updated by a bulk job'),
        delete: flag('records can be deleted by a bulk job'),
      })
      .describe('Always false: the gateway starts no bulk jobs. See batchWrite.'),
    batchWrite: z
      .object({ create: batch, update: batch, upsert: batch, delete: batch })
      .describe('Writes of many records in one request, by their type.'),
    search: z
      .object({
        operators: z.object({ equals: flag('fields can be compared') }).describe('By operator.'),
      })
      .describe('The operators of searches.'),
    subscribeSupport: z
      .object({
        create: flag('new records are reported'),
        update: flag('changed records are reported'),
        delete: flag('deleted records are reported'),
        passThrough: flag("other events of the provider are reported in the provider's words"),
      })
      .describe('The changes that are reported when they happen.'),
  })
  .describe('The capabilities of the gateway for its records, in detail.');

export const subscribeRequirements = z
  .object({
    registration: flag('a person must first set up the URL of the provider app at the provider'),
    maintenance: flag('the gateway must renew subscriptions before they expire'),
    postProcess: flag('more steps follow a subscription'),
    subscribeByAPI: flag('the gateway subscribes automatically'),
  })
  .partial()
  .describe('The requirements of subscriptions. Empty if the provider has none.');

export function showRequirements({
  capabilities: { subscribe },
}: Provider): z.input<typeof subscribeRequirements> {
  if (!subscribe) return {};
  return {
    registration: subscribe.instructions !== undefined,
    maintenance: subscribe.calls?.expires === true,
    postProcess: false,
    subscribeByAPI: subscribe.calls !== undefined,
  };
}

const NO_BULK_JOBS = { insert: false, update: false, upsert: false, delete: false };

export function showSupport(provider: Provider): z.input<typeof support> {
  const capabilities = listCapabilities(provider);
  const has = (name: (typeof capabilities)[number]) => capabilities.includes(name);
  const batchWrite = has('BATCH_WRITE')
    ? { supported: true, defaultRecordLimit: provider.limits.batchSize }
    : { supported: false };
  const unsupported = { supported: false };
  const { kinds = [] } = provider.capabilities.subscribe ?? {};
  return {
    read: has('READ'),
    write: has('WRITE'),
    delete: has('DELETE'),
    proxy: has('PROXY'),
    subscribe: has('SUBSCRIBE'),
    bulkWrite: NO_BULK_JOBS,
    batchWrite: {
      create: batchWrite,
      update: batchWrite,
      upsert: unsupported,
      delete: unsupported,
    },
    search: { operators: { equals: (provider.features.filtersMax ?? 0) > 0 } },
    subscribeSupport: {
      create: kinds.includes('CREATE'),
      update: kinds.includes('UPDATE'),
      delete: kinds.includes('DELETE'),
      passThrough: kinds.includes('OTHER'),
    },
  };
}
