/** What every domain function gets: the services of the app, and the viewer. */
import type { Tracer } from '@opentelemetry/api';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { EventFeed } from '../events/event-log.ts';
import type { OperationChanges } from '../events/operation-changes.ts';
import type { StreamFeed } from '../events/stream-log.ts';
import type { JobQueue } from '../jobs/queue.ts';
import type { Log } from '../log.ts';
import type { Meters } from '../meters.ts';
import type { ReadTxtRecords } from '../outbound/txt-records.ts';
import type { Vault } from '../secrets.ts';
import type { ErasedSubjects } from './erasure/erased-subjects.ts';
import type { ManifestReader } from './integration/manifest/manifest-reader.ts';
import type { Catalogue } from './provider/catalogue.ts';
import type { ProviderAccess } from './provider/provider-access.ts';
import type { EventRates } from './provider-event/event-rates.ts';
import type { EndUsers } from './viewer/end-users.ts';
import type { KeyUses } from './viewer/key/key-uses.ts';
import type { ProcessShares } from './viewer/share/process-shares.ts';
import type { RequestSlot } from './viewer/share/request-slot.ts';
import type { Viewer } from './viewer/viewer.ts';
import type { ViewerCache } from './viewer/viewer-cache.ts';

export interface Services {
  config: Config;
  log: Log;
  /** What is measured. */
  meters: Meters;
  /** Begins traces. Null without a receiver of traces. */
  tracer: Tracer | null;
  /** Its rows are without those of groups and consumers that are being erased. */
  database: Database;
  erasedSubjects: ErasedSubjects;
  vault: Vault;
  catalogue: Catalogue;
  /** The shares of callers, projects and connections in this process. */
  shares: ProcessShares;
  viewers: ViewerCache;
  keyUses: KeyUses;
  endUsers: EndUsers;
  /** Jobs commit with the change that causes them. */
  queue: JobQueue;
  /** Events, messages of streams and operations as they happen. */
  feed: EventFeed;
  streamFeed: StreamFeed;
  operationChanges: OperationChanges;
  /** What DNS says of claimed domains. */
  readTxtRecords: ReadTxtRecords;
  /** The HTTP client for providers. */
  providerAccess: ProviderAccess;
  /** How much providers may send to each of their apps. */
  eventRates: EventRates;
  /** Reads the YAML of manifests without holding up other requests. */
  manifests: ManifestReader;
  /** The URL at which browsers reach the gateway, without a trailing slash. */
  publicUrl: () => string;
  /** The URL of the built-in sandbox: always a permitted target. */
  sandboxUrl: () => string;
  /** The time by the database's clock, the same in all processes; tests set it. */
  now: () => Date;
  /** From 0 up to 1. */
  random: () => number;
}

/** One call of one viewer. */
export interface Call extends Services {
  viewer: Viewer;
  /** The request's slot in the process. Absent for work that no request waits for. */
  slot?: RequestSlot;
}

/** What a call gets from its request. */
export interface CallRequest {
  slot?: RequestSlot | undefined;
  /** The URL by which the client reaches the gateway, if that replaces `Services.publicUrl`. */
  gatewayUrl?: string | null | undefined;
}

export function createCall(
  services: Services,
  viewer: Viewer,
  { slot, gatewayUrl }: CallRequest,
): Call {
  return {
    ...services,
    viewer,
    ...(slot && { slot }),
    ...(gatewayUrl && { publicUrl: () => gatewayUrl }),
  };
}
