/** Creates API keys. Concurrent requests share a statement. */
import type { Tables } from '../tables.ts';
import type { SharedStatement } from './shared-statements.ts';

type ApiKey = Tables['ApiKey'];

type ApiKeyToCreate = Pick<ApiKey, 'id' | 'projectId' | 'label' | 'scopes' | 'prefix' | 'hash'>;

/** A key for a deleted project has no row in the result. */
export const CREATE_API_KEYS: SharedStatement<ApiKeyToCreate, ApiKey> = {
  getQueue: ({ projectId }) => projectId,
  getKey: ({ id }) => id,
  text: `
  insert into "ApiKey" as api_key ("id", "projectId", "label", "scopes", "prefix", "hash")
  select input."id", project."id", input."label", input."scopes", input."prefix", input."hash"
  from jsonb_to_recordset($1::jsonb) as input(
    "id" text, "projectId" text, "label" text, "scopes" text[], "prefix" text, "hash" text)
  join "Project" project on project."id" = input."projectId"
  returning api_key."id" as "key", api_key.*`,
};
