/** A provider's capabilities in the terms of the reference API's catalog. */
import { z } from 'zod';
import { listCapabilities, type Provider } from '../../domain/provider/provider.ts';

const createFlag = (statement: string) => z.boolean().describe(`Whether ${statement}.`);

const batchSchema = z
  .object({
    supported: createFlag('one request can write many records'),
    defaultRecordLimit: z
      .int()
      .optional()
      .describe(
        'The maximum number of records in one request. Absent if a request can write only one record.',
      ),
  })
  .describe('Whether and how one request can write many records.');

export const supportSchema = z
  .object({
    read: createFlag('records can be read'),
    write: createFlag('records can be created and updated'),
    delete: createFlag('records can be deleted'),
    proxy: createFlag('requests can be forwarded to the provider'),
    subscribe: createFlag('the provider reports changes when they happen'),
    bulkWrite: z
      .object({
        insert: createFlag('bulk jobs can create records'),
        update: createFlag('bulk jobs can update records'),
        upsert: createFlag('bulk jobs can create or update records'),
        delete: createFlag('bulk jobs can delete records'),
      })
      .describe('Always false, because the gateway starts no bulk jobs. See batchWrite.'),
    batchWrite: z
      .object({
        create: batchSchema,
        update: batchSchema,
        upsert: batchSchema,
        delete: batchSchema,
      })
      .describe('Whether one request can write many records, by the type of the write.'),
    search: z
      .object({
        operators: z
          .object({ equals: createFlag('a search can test fields for equality') })
          .describe('Whether searches support each operator.'),
      })
      .describe('What searches support.'),
    subscribeSupport: z
      .object({
        create: createFlag('the provider reports new records'),
        update: createFlag('the provider reports changed records'),
        delete: createFlag('the provider reports deleted records'),
        passThrough: createFlag('the provider reports other events, under its own names'),
      })
      .describe('The kinds of changes that the provider reports when they happen.'),
  })
  .describe("What the gateway can do with the provider's records.");

export const subscribeRequirementsSchema = z
  .object({
    registration: createFlag(
      'a person must first register the webhook URL of the provider app at the provider',
    ),
    maintenance: createFlag('the gateway must renew subscriptions before they expire'),
    postProcess: createFlag('more steps follow a subscription'),
    subscribeByAPI: createFlag('the gateway subscribes automatically'),
  })
  .partial()
  .describe('What subscribing requires. Empty if the provider has no subscriptions.');

export function showSubscribeRequirements({
  capabilities: { subscribe },
}: Provider): z.input<typeof subscribeRequirementsSchema> {
  if (!subscribe) return {};
  return {
    registration: subscribe.instructions !== undefined,
    maintenance: subscribe.calls?.expires === true,
    postProcess: false,
    subscribeByAPI: subscribe.calls !== undefined,
  };
}

const NO_BULK_JOBS = { insert: false, update: false, upsert: false, delete: false };

export function showSupport(provider: Provider): z.input<typeof supportSchema> {
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
