/** The call: the first argument of domain functions, which holds the services of the app and the viewer. */

import type { Tracer } from '@opentelemetry/api';
import type { Database } from '../../database/open/database.ts';
import type { EventFeed } from '../../events/event-log.ts';
import type { OperationChanges } from '../../events/operation-changes.ts';
import type { StreamFeed } from '../../events/stream-log.ts';
import type { Workers } from '../../jobs/workers.ts';
import type { Log } from '../../kernel/log.ts';
import type { Meters } from '../../kernel/meters.ts';
import type { Vault } from '../../kernel/secrets.ts';
import type { Spelling } from '../../kernel/text.ts';
import type { ReadTxtRecords } from '../../outbound/txt-records.ts';
import type { Config } from '../../settings/config.ts';
import type { RequestRecorder } from '../connections/diagnosis/request-recorder.ts';
import type { ProviderAccess } from '../connections/provider/provider-access.ts';
import type { FieldLearner } from '../data/contract/field-learner.ts';
import type { EventRates } from '../data/provider-event/event-rates.ts';
import type { ManifestReader } from '../integrations/integration/manifest/manifest-reader.ts';
import type { ErasedSubjects } from '../upkeep/erased-subjects.ts';
import type { Catalogs, InProject } from './catalog.ts';
import type { EndUsers } from './viewer/end-user.ts';
import type { KeyUses } from './viewer/key/key-uses.ts';
import type { ProcessShares } from './viewer/share/process-shares.ts';
import type { RequestSlot } from './viewer/share/request-slot.ts';
import type { Viewer } from './viewer/viewer.ts';
import type { ViewerCache } from './viewer/viewer-cache.ts';

/** The services that read and change rows. */
export interface RowServices {
  /** The database. Its reads omit rows of groups and consumers that are being erased. */
  database: Database;
  /** The current time by the database's clock, which all processes share. Tests set it. */
  now: () => Date;
}

/** The services of most functions: rows, sealed values, settings and the log. */
export interface CoreServices extends RowServices {
  config: Config;
  log: Log;
  vault: Vault;
}

/** The services that send requests to providers and record them. */
export interface ProviderServices extends CoreServices {
  meters: Meters;
  /** Null if no receiver of traces is configured. */
  tracer: Tracer | null;
  catalogs: Catalogs;
  /** The HTTP client for providers. */
  providerAccess: ProviderAccess;
  /** Stores requests to providers. Null if REQUEST_RETENTION_HOURS is 0. */
  requestRecorder: RequestRecorder | null;
  /** Records which types the fields of a project's accounts have. */
  fieldLearner: FieldLearner;
  /** The URL at which browsers reach the gateway, without a trailing slash. */
  publicUrl: () => string;
  /** A random number from 0 to below 1. */
  random: () => number;
}

/** All services of a process. */
export interface Services extends ProviderServices {
  erasedSubjects: ErasedSubjects;
  /** The shares of callers, projects and connections in this process. */
  shares: ProcessShares;
  viewers: ViewerCache;
  keyUses: KeyUses;
  endUsers: EndUsers;
  /** Starts work in this process that it has just stored. */
  workers: Workers;
  /** Publishes committed events. */
  feed: EventFeed;
  /** Publishes committed stream messages. */
  streamFeed: StreamFeed;
  /** Publishes committed changes of operations. */
  operationChanges: OperationChanges;
  /** Reads the DNS records that prove claimed domains. */
  readTxtRecords: ReadTxtRecords;
  /** Rate limits of the events that providers send, by provider app. */
  eventRates: EventRates;
  /** Parses the YAML of manifests without blocking other requests. */
  manifests: ManifestReader;
  /** The URL of the built-in sandbox, which is always a permitted target. Empty if the sandbox is off. */
  sandboxUrl: () => string;
}

/** The part of a call that reads and changes the rows that its viewer may see. */
export interface RowCall extends RowServices {
  viewer: Viewer;
  /** How the surface writes names in stored texts. Absent for background work. */
  spelling?: Spelling;
}

/** One request of one viewer. */
export interface Call extends Services, RowCall {
  /** The request's slot in the process. Absent for background work. */
  slot?: RequestSlot;
}

/** A call in the project of its input, or of the row that it is about. */
export type ProjectCall = InProject<Call>;

/** The services of work in one project that may send requests to its providers. */
export type ProjectServices = InProject<ProviderServices>;

/** The parts of a call that come from its request. */
interface CallRequest {
  slot?: RequestSlot | undefined;
  /** Replaces `Services.publicUrl` if the client reaches the gateway at another URL. */
  gatewayUrl?: string | null | undefined;
  spelling?: Spelling | undefined;
}

export function createCall(
  services: Services,
  viewer: Viewer,
  { slot, gatewayUrl, spelling }: CallRequest,
): Call {
  return {
    ...services,
    viewer,
    ...(slot && { slot }),
    ...(spelling && { spelling }),
    ...(gatewayUrl && { publicUrl: () => gatewayUrl }),
  };
}
