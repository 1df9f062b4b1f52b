/** The support of a provider's records, in the terms of the reference API's catalog. */
import { z } from 'zod';
import { type Provider, supportedCapabilities } from '../../domain/provider/provider.ts';

const flag = (what: string) => z.boolean().describe(`Whether ${what}.`);

const batch = z
  .object({
    supported: flag('many records can be written in one request'),
    defaultRecordLimit: z
      .int()
      .optional()
      .describe('The most records of one request; left out if there are no such requests.'),
  })
  .describe('Writes of many records.');

export const support = z
  .object({
    read: flag('records can be read'),
    write: flag('records can be created and updated'),
    delete: flag('records can be deleted'),
    proxy: flag('requests can be forwarded'),
    subscribe: flag('changes are told when they happen'),
    bulkWrite: z
      .object({
        insert: flag('records can be created by a bulk job'),
        update: flag('records can be updated by a bulk job'),
        upsert: flag('records can be created or updated by a bulk job'),
        delete: flag('records can be deleted by a bulk job'),
      })
      .describe('Bulk jobs of the provider, which the gateway starts for none. See batchWrite.'),
    batchWrite: z
      .object({ create: batch, update: batch, upsert: batch, delete: batch })
      .describe('Writes of many records in one request, by their type.'),
    search: z
      .object({
        operators: z.object({ equals: flag('fields can be compared') }).describe('By operator.'),
      })
      .describe('What records can be searched by.'),
    subscribeSupport: z
      .object({
        create: flag('new records are told'),
        update: flag('changed records are told'),
        delete: flag('deleted records are told'),
        passThrough: flag("other events of the provider are told in the provider's words"),
      })
      .describe('The changes that are told when they happen.'),
  })
  .describe('What the gateway can do with its records, in detail.');

export const subscribeRequirements = z
  .object({
    registration: flag('a person sets up the address of the provider app at the provider first'),
    maintenance: flag('subscriptions end and are renewed, which the gateway does'),
    postProcess: flag('more is to be done after a subscription'),
    subscribeByAPI: flag('the gateway subscribes by itself'),
  })
  .partial()
  .describe('What it takes to subscribe; empty if that is not possible.');

export function showRequirements({
  capabilities: { subscribe },
}: Provider): z.input<typeof subscribeRequirements> {
  if (!subscribe) return {};
  return {
    registration: subscribe.instructions !== undefined,
    maintenance: subscribe.calls?.expire === true,
    postProcess: false,
    subscribeByAPI: subscribe.calls !== undefined,
  };
}

const NO_BULK_JOBS = { insert: false, update: false, upsert: false, delete: false };

export function showSupport(provider: Provider): z.input<typeof support> {
  const capabilities = supportedCapabilities(provider);
  const has = (name: (typeof capabilities)[number]) => capabilities.includes(name);
  const written = has('BATCH_WRITE')
    ? { supported: true, defaultRecordLimit: provider.limits.batchSize }
    : { supported: false };
  const never = { supported: false };
  const { kinds = [] } = provider.capabilities.subscribe ?? {};
  return {
    read: has('READ'),
    write: has('WRITE'),
    delete: has('DELETE'),
    proxy: has('PROXY'),
    subscribe: has('SUBSCRIBE'),
    bulkWrite: NO_BULK_JOBS,
    batchWrite: { create: written, update: written, upsert: never, delete: never },
    search: { operators: { equals: (provider.takes.filters ?? 0) > 0 } },
    subscribeSupport: {
      create: kinds.includes('CREATE'),
      update: kinds.includes('UPDATE'),
      delete: kinds.includes('DELETE'),
      passThrough: kinds.includes('OTHER'),
    },
  };
}
