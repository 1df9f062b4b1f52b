/** Types of the events that vendors send and sign, as their documentation describes them. */
import { createHmac } from 'node:crypto';
import type { ServedRequest, ServedResponse } from '../../providers/provider-server.ts';
import type { WireWebhooks } from './vendor-webhooks.ts';

export interface Signer {
  /** The secret that the vendor signs with. */
  secret: string;
  sentAt: Date;
}

export interface Change extends Signer {
  kind: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Makes the event's ID unique. */
  sequence: number;
}

export interface SignedRequest {
  headers: Record<string, string>;
  body: string;
}

/** A vendor that sends events about changes. */
export interface WireEvents {
  /** The object and the record of the events, as in the declaration. */
  objectName: string;
  recordId: string;
  /** The account of the events. Absent if each connection has a separate webhook URL. */
  connection?: { providerWorkspaceRef: string | null; metadata?: Record<string, string> };
  send(change: Change): SignedRequest;
  /** Returns the headers with which the vendor signs any body. */
  sign(body: string, signer: Signer): Record<string, string>;
  /** The vendor's API for webhooks. Absent if a person sets them up. */
  webhooks?: WireWebhooks;
  /** Responds to other requests that the gateway sends to subscribe or to fetch records. */
  serve?: (request: ServedRequest) => ServedResponse | undefined;
  /** True if each request has a signed time. */
  hasSignedTime?: true;
  /** Kinds of changes that the vendor sends no events for. */
  missingKinds?: readonly Change['kind'][];
  /** Fields that an update event names as changed. */
  changedFields?: string[];
  /** The text field of the record, if the events contain the whole record. */
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
