/** What every domain function gets: the services of the app, and who is asking. */
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Feed } from '../events/feed.ts';
import type { OperationChanges } from '../events/operation-changes.ts';
import type { JobQueue } from '../jobs/queue.ts';
import type { Log } from '../log.ts';
import type { Vault } from '../secrets.ts';
import type { Catalogue } from './provider/catalogue.ts';
import type { ProviderAccess } from './provider/provider-access.ts';
import type { Viewer, ViewerCache } from './viewer/viewer.ts';

export interface Services {
  config: Config;
  log: Log;
  database: Database;
  vault: Vault;
  catalogue: Catalogue;
  viewers: ViewerCache;
  /** Jobs commit with the change that they follow from. */
  queue: JobQueue;
  /** Events and operations as they happen. */
  feed: Feed;
  operationChanges: OperationChanges;
  /** The way to providers. */
  providerAccess: ProviderAccess;
  /** How browsers reach the gateway, without a trailing slash. */
  publicUrl: () => string;
  /** Where the built-in sandbox listens: always a permitted target. */
  sandboxUrl: () => string;
  /** The time by the database's clock, the same in all processes; tests set it. */
  now: () => Date;
  /** From 0 up to 1. */
  random: () => number;
}

/** One call of one viewer. */
export interface Call extends Services {
  viewer: Viewer;
}
