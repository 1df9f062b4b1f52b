import {
  apiKeyResource,
  type CreatedApiKey,
  createApiKey,
  deleteApiKey,
  keyFilters,
  listApiKeys,
  updateApiKey,
} from '../../../domain/tenants/project/api-key.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutation, addMutations, describeResult } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { ApiKey, Project } from '../../schema/types.ts';

objectType(ApiKey, apiKeyResource);

addList(Project, 'apiKeys', ApiKey, listApiKeys, { filters: keyFilters });

const CreateApiKeyPayload = builder.objectRef<CreatedApiKey>('CreateApiKeyPayload').implement({
  description: describeResult('createApiKey'),
  fields: (t) => ({
    apiKey: t.expose('apiKey', {
      type: ApiKey,
      description: 'The API key.',
    }),
    key: t.exposeString('key', {
      description: 'The value to send as X-Api-Key. Store it: only this response contains it.',
    }),
  }),
});

addMutations('apiKey', ApiKey, { updateApiKey });
addMutation('createApiKey', createApiKey, CreateApiKeyPayload);
addDeletions({ deleteApiKey });
