/** What every domain function gets: the services of the app, and who is asking. */
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Vault } from '../secrets.ts';
import type { Catalogue } from './catalogue.ts';
import type { Viewer, ViewerCache } from './viewer.ts';

export interface Services {
  config: Config;
  log: Log;
  database: Database;
  vault: Vault;
  catalogue: Catalogue;
  viewers: ViewerCache;
  /** The time by which expiry is told; tests set it. */
  now: () => Date;
}

/** One call of one viewer. */
export interface Call extends Services {
  viewer: Viewer;
}
