/** What a provider is asked to do with records, and what comes of it. */

export interface PageRead {
  objectName: string;
  /** Provider field names to fetch. */
  fields: string[];
  /** Changed at or after. */
  since?: Date;
  /** Changed at or before. */
  until?: Date;
  /** Only records that have these values; given only to providers that take so many. */
  filters?: readonly FieldValue[];
  /** `nextCursor` of the page before. */
  cursor?: string;
  pageSize: number;
}

export interface FieldValue {
  /** The provider's name. */
  fieldName: string;
  value: string | number | boolean;
}

export interface RecordsRead {
  objectName: string;
  /** Provider field names to fetch. */
  fields: string[];
  ids: string[];
}

/** A list by its address, as a caller of the provider's own API names it. */
export interface ListRequest {
  path: string;
  query: Record<string, string>;
  /** Of a list that is asked for by a POST. */
  body?: Record<string, unknown> | undefined;
}

export interface ProviderRecord {
  id: string;
  /** Values by provider field name. */
  fields: Record<string, unknown>;
  /** The whole record as the provider sent it. */
  raw: Record<string, unknown>;
}

export interface RecordPage {
  records: ProviderRecord[];
  /** Null on the last page. Stored between pages, so it holds all that the next one needs. */
  nextCursor: string | null;
  /** The number of records of the read, if the provider says it. */
  estimatedTotal: number | null;
}

export interface Association {
  to: { id: string };
  types: { associationCategory: string; associationTypeId: number }[];
}

export interface RecordWrite {
  type: 'CREATE' | 'UPDATE';
  objectName: string;
  /** Provider field names; an update has the record's `id` here too. */
  record: Record<string, unknown>;
  associations?: Association[];
  headers?: { key: string; value: string }[];
  /** Sent if the provider knows such keys: the same key creates once. */
  idempotencyKey?: string;
}

export interface BatchWrite {
  type: 'CREATE' | 'UPDATE';
  objectName: string;
  records: { record: Record<string, unknown>; associations?: Association[] }[];
  /** If one record is refused, all are; only for providers that can do that. */
  allOrNone: boolean;
  headers?: { key: string; value: string }[];
  idempotencyKey?: string;
}

export interface RecordRemoval {
  objectName: string;
  id: string;
  headers?: { key: string; value: string }[];
}

/** The outcome of one record: it is returned, never thrown. */
export interface RecordOutcome {
  success: boolean;
  /** Null for a refused create. */
  recordId: string | null;
  /** The record as the provider holds it now, if its answer has it. */
  data: Record<string, unknown> | null;
  /** Why it was refused, in words for people. */
  errors: string[];
}

/** `recordId` is null if the vendor does not answer which record it created. */
export function writtenOutcome(
  recordId: string | null,
  data: Record<string, unknown> | null = null,
): RecordOutcome {
  return { success: true, recordId, data, errors: [] };
}

export function refusedOutcome(recordId: string | null, errors: string[]): RecordOutcome {
  return { success: false, recordId, data: null, errors };
}
