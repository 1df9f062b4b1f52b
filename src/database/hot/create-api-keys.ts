/** Creates API keys. Concurrent requests share a statement. */
import type { Tables } from '../tables.ts';
import type { BatchChange } from './shared-changes.ts';

type ApiKey = Tables['ApiKey'];

type ApiKeyToCreate = Pick<ApiKey, 'id' | 'projectId' | 'label' | 'scopes' | 'prefix' | 'hash'>;

/** A key of a deleted project has no row in the result. */
export const CREATE_API_KEYS: BatchChange<ApiKeyToCreate, ApiKey> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ id }) => id,
  text: `
  insert into "ApiKey" as k ("id", "projectId", "label", "scopes", "prefix", "hash")
  select g."id", p."id", g."label", g."scopes", g."prefix", g."hash"
  from jsonb_to_recordset($1::jsonb) as g(
    "id" text, "projectId" text, "label" text, "scopes" text[], "prefix" text, "hash" text)
  join "Project" p on p."id" = g."projectId"
  returning k."id" as "key", k.*`,
};
