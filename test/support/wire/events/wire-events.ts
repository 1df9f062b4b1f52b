/** How vendors prove what they send of their own accord, each way once, as their documents describe it. */
import { createHmac } from 'node:crypto';
import type { ServedRequest, ServedResponse } from '../../providers/provider-server.ts';
import type { WireWebhooks } from './vendor-webhooks.ts';

export interface Change {
  kind: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Tells one event from another. */
  n: number;
  at: Date;
  /** What the vendor signs with. */
  secret: string;
}

export interface Sending {
  headers: Record<string, string>;
  body: string;
}

/** A vendor that tells of changes. */
export interface WireEvents {
  /** The object that its events are about, and the record, as our lists name them. */
  objectName: string;
  recordId: string;
  /** Whose account it is. Left out: the vendor is given an address of the connection's own. */
  connection?: { providerWorkspaceRef: string | null; facts?: Record<string, string> };
  send: (change: Change) => Sending;
  /** How it is asked to send them. Left out: a person sets that up. */
  webhooks?: WireWebhooks;
  /** What else is asked of it meanwhile. */
  serves?: (request: ServedRequest) => ServedResponse | undefined;
  /** Each request is dated, and the date is signed. */
  isDated?: true;
  /** Kinds that it does not tell of. */
  lacks?: readonly Change['kind'][];
  /** The fields that an update is said to have changed. */
  changedFields?: string[];
  /** The text of the record, if the events have it whole. */
  recordText?: string;
}

export function hmac(
  algorithm: 'sha1' | 'sha256',
  secret: string | Buffer,
  text: string,
  encoding: 'hex' | 'base64' = 'hex',
): string {
  return createHmac(algorithm, secret).update(text).digest(encoding);
}

export function unixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
