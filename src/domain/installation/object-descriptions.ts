/** Descriptions of providers' objects, remembered for a minute: they are large and seldom change. */
import { LRUCache } from 'lru-cache';
import type { Row } from '../../database/rows.ts';
import { unprocessable } from '../../errors.ts';
import type { ObjectDescription } from '../../providers/contract.ts';
import type { Services } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';

const FRESH_MS = 60_000;
/** As JSON: some dozens of the largest objects, with hundreds of fields each. */
const CHARACTERS_MAX = 32 * 1024 * 1024;

export interface DescriptionAsk {
  services: Services;
  connection: Row<'Connection'>;
  /** Of the integration; null without one. */
  module: string | null;
  /** The provider's own name of the object. */
  objectName: string;
}

export type ObjectDescriptions = LRUCache<string, ObjectDescription, DescriptionAsk>;

export function createObjectDescriptions(): ObjectDescriptions {
  return new LRUCache<string, ObjectDescription, DescriptionAsk>({
    ttl: FRESH_MS,
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (description) => JSON.stringify(description).length,
    // Calls that come meanwhile share the answer, also if it is too large to be kept.
    fetchMethod: (_key, _stale, { context }) => fetchDescription(context),
    ignoreFetchAbort: true,
  });
}

/** Throws ProviderError, and UNPROCESSABLE if the provider describes no objects. */
export async function describeObject(ask: DescriptionAsk): Promise<ObjectDescription> {
  const { services, objectName } = ask;
  const { descriptions } = services.providerAccess;
  const description = await descriptions.fetch(keyOf(ask), { context: ask });
  if (!description) throw new Error(`No description of ${objectName} came.`);
  return description;
}

/** The object has changed by this process; in others its description is known for at most a minute more. */
export function forgetDescription(
  { providerAccess }: Services,
  about: Omit<DescriptionAsk, 'services'>,
): void {
  providerAccess.descriptions.delete(keyOf(about));
}

/** A changed connection may be to another account. */
function keyOf({ connection, module, objectName }: Omit<DescriptionAsk, 'services'>): string {
  return JSON.stringify([connection.id, connection.updateTime, module, objectName]);
}

async function fetchDescription(ask: DescriptionAsk): Promise<ObjectDescription> {
  const { services, connection, module, objectName } = ask;
  const provider = services.catalogue.findAt(connection.provider, module);
  const describe = provider?.capabilities.describeObject;
  if (!describe) throw unprocessable(`${connection.provider} does not describe its objects.`);
  return describe(openSession(services, connection, provider), objectName);
}
