/** Manages the API keys of a project. A key can't grant scopes that it lacks. */
import { z } from 'zod';
import { isMissingRow } from '../../../database/connect/violations.ts';
import type { Prisma } from '../../../database/generated/client.ts';
import { CREATE_API_KEYS } from '../../../database/statements/hot/create-api-keys.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import type { Call, RowServices } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import {
  createKeyValue,
  getKeyPrefix,
  hashKey,
  isKeyValue,
} from '../../access/viewer/key/api-key-value.ts';
import { authorizeKeyScopes } from '../../access/viewer/needs.ts';
import {
  ALL_SCOPES,
  listScopes,
  scope,
  scopeName,
  toScopeName,
} from '../../access/viewer/scopes.ts';
import { label, projectIdOrName } from '../../base/names.ts';
import { computed, createdInProject, resource } from '../../base/resource.ts';

export const apiKeyResource = resource(
  'ApiKey',
  'An API key of a project. Only the response that creates it contains its value.',
  {
    ...createdInProject,
    label: z.string().describe('The display name.'),
    active: z.boolean().describe('Whether requests with the key are accepted.'),
    prefix: z.string().describe('The first characters of its value, for people to recognize it.'),
    scopes: computed(z.array(scopeName).describe('The scopes of the key.'), (key: Row<'ApiKey'>) =>
      listScopes(key).map(toScopeName),
    ),
    lastUsedTime: z
      .date()
      .nullable()
      .describe('When it was last used, to the minute. {Null} if never.'),
  },
);

/** Filters for lists of API keys and of JWT keys. */
export const keyFilters = z.object({
  active: z
    .boolean()
    .optional()
    .describe('If true, only active keys. If false, only inactive keys. Default: all keys.'),
});

const scopes = z
  .array(scope)
  .max(ALL_SCOPES.length)
  .superRefine((names, context) => {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      context.addIssue({ code: 'custom', path: [index], message: 'must not appear twice.' });
    }
  })
  .describe(
    'The scopes of the key. The caller must have each of them. A builder needs the role admin to give `org:write`.',
  );
const keyLabel = label.describe('The display name, 1 to 128 characters.');

const createApiKeyInput = z
  .object({ projectIdOrName, label: keyLabel, scopes })
  .meta({ id: 'CreateApiKeyInput', description: 'The API key to create.' });

const updateApiKeyInput = z
  .object({
    projectIdOrName,
    apiKeyId: id.describe('The id of the API key.'),
    label: keyLabel.optional(),
    scopes: scopes.optional(),
    active: z
      .boolean()
      .optional()
      .describe('If false, requests with the key are rejected until it is true again.'),
  })
  .meta({
    id: 'UpdateApiKeyInput',
    description: 'The new values of an API key. Omitted fields keep their values.',
  });

const deleteApiKeyInput = z
  .object({
    projectIdOrName,
    apiKey: z.string().min(1).max(128).describe('The value or the id of the API key.'),
  })
  .meta({ id: 'DeleteApiKeyInput', description: 'The API key to delete.' });

export const getApiKeyInput = deleteApiKeyInput.meta({
  id: 'GetApiKeyInput',
  description: 'The API key to read.',
});

export const listApiKeys = read(
  'read',
  'Lists API keys, newest first.',
  (call: Call, project: Row<'Project'>, args: PageArgs & FiltersOf<typeof keyFilters>) => {
    const list = { name: 'Project.apiKeys', parentId: project.id, table: 'ApiKey' } as const;
    const where = { projectId: project.id, active: args.active ?? undefined };
    return listPage(call, { ...list, where }, args);
  },
);

/** Throws NOT_FOUND if the project has no such API key. */
export const getApiKey = projectRead(
  'read',
  'Returns an API key, by its value or its id.',
  (call, { apiKey }: z.output<typeof getApiKeyInput>, { id: projectId }) =>
    getKey(call, projectId, apiKey),
);

export interface CreatedApiKey {
  apiKey: Row<'ApiKey'>;
  /** The value of the key. No later response contains it. */
  key: string;
}

export const createApiKey = projectMutation({
  description: 'Creates an API key. Only this response contains its value.',
  needs: 'keys:write',
  input: createApiKeyInput,
  async run(call, input, { id: projectId, orgId }): Promise<CreatedApiKey> {
    authorizeKeyScopes(call.viewer, input.scopes, orgId);
    const key = createKeyValue();
    const apiKey = await call.database.runShared(CREATE_API_KEYS, {
      id: newId('key'),
      projectId,
      label: input.label,
      scopes: input.scopes,
      hash: hashKey(key),
      prefix: getKeyPrefix(key),
    });
    if (!apiKey) throw notFound('Project', projectId);
    return { apiKey, key };
  },
});

export const updateApiKey = projectMutation({
  description:
    'Updates an API key, by its value or its id. The change takes effect within a second.',
  needs: 'keys:write',
  input: updateApiKeyInput,
  async run(call, { projectIdOrName: _project, apiKeyId, ...changes }, project) {
    const { id: projectId, orgId } = project;
    const currentKey = await getKey(call, projectId, apiKeyId);
    // Activating a key grants its scopes again.
    const isActivated = changes.active === true && !currentKey.active;
    const grantedScopes = changes.scopes ?? (isActivated ? listScopes(currentKey) : []);
    authorizeKeyScopes(call.viewer, grantedScopes, orgId);
    if (Object.values(changes).every((value) => value === undefined)) return currentKey;
    const where = { projectId_id: { projectId, id: currentKey.id } };
    return updateKey(call, currentKey.id, { where, data: { ...changes, updateTime: call.now() } });
  },
});

/** An API key may delete itself. */
export const deleteApiKey = projectMutation({
  description:
    'Deletes an API key, by its value or its id. Requests with it are rejected within a second.',
  needs: 'keys:write',
  input: deleteApiKeyInput,
  async run(call, input, { id: projectId }): Promise<{ deletedId: string }> {
    const key = await getKey(call, projectId, input.apiKey);
    const where = { projectId, id: key.id };
    const { count } = await call.database.prisma.apiKey.deleteMany({ where });
    call.viewers.clear();
    if (count === 0) throw createMissingKeyError();
    return { deletedId: key.id };
  },
});

async function getKey(
  { database }: RowServices,
  projectId: string,
  valueOrId: string,
): Promise<Row<'ApiKey'>> {
  const condition = isKeyValue(valueOrId) ? { hash: hashKey(valueOrId) } : { id: valueOrId };
  const [key] = await database.reads.find('ApiKey', { projectId, ...condition });
  if (!key) throw createMissingKeyError();
  return key;
}

/** The error omits the input, which may be a mistyped secret. */
function createMissingKeyError(): DomainError {
  return new DomainError('NOT_FOUND', 'The project has no API key with that value or id.');
}

/** Updates a key and clears this process's cache of viewers. Caches of other processes expire within a second. */
async function updateKey(
  call: Pick<Call, 'database' | 'viewers'>,
  apiKeyId: string,
  change: Prisma.ApiKeyUpdateArgs,
) {
  try {
    const key = await call.database.prisma.apiKey.update(change);
    call.viewers.clear();
    return key;
  } catch (error) {
    if (isMissingRow(error)) throw notFound('API key', apiKeyId);
    throw error;
  }
}
