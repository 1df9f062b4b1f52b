/** API keys of a project. A key can't grant scopes that it does not have. */
import { z } from 'zod';
import type { Prisma } from '../../database/generated/client.ts';
import { CREATE_API_KEYS } from '../../database/hot/create-api-keys.ts';
import type { Row } from '../../database/rows.ts';
import { isMissingRow } from '../../database/violations.ts';
import { DomainError, notFound } from '../../errors.ts';
import { id, newId } from '../../ids.ts';
import type { Call } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { projectRead, read } from '../declared-read.ts';
import { label, projectIdOrName } from '../names.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { computed, createdInProject, resource } from '../resource.ts';
import { hashOfKey, isKeyValue, newKeyValue, shownPrefix } from '../viewer/key/key-value.ts';
import { authorizeGrant } from '../viewer/needs.ts';
import { ALL_SCOPES, nameOfScope, scope, scopeName, scopesOf } from '../viewer/scopes.ts';

export const apiKeyResource = resource(
  'ApiKey',
  'An API key of a project. Only the response that creates it contains its value.',
  {
    ...createdInProject,
    label: z.string().describe('Its name, for people.'),
    active: z.boolean().describe('Whether requests with the key are accepted.'),
    prefix: z.string().describe('The first characters of its value, by which people recognise it.'),
    scopes: computed(z.array(scopeName).describe('What the key may do.'), (key: Row<'ApiKey'>) =>
      scopesOf(key).map(nameOfScope),
    ),
    lastUsedTime: z
      .date()
      .nullable()
      .describe('When it was last used, to the minute; null if it never was.'),
  },
);

/** Filters for lists of API keys and of JWT keys. */
export const keyFilters = z.object({
  active: z
    .boolean()
    .optional()
    .describe('True: only active keys. False: only inactive ones. Default: all.'),
});

const scopes = z
  .array(scope)
  .max(ALL_SCOPES.length)
  .superRefine((names, context) => {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      context.addIssue({ code: 'custom', path: [index], message: 'must not be named twice.' });
    }
  })
  .describe('What the key may do. Only scopes that the caller has.');
const keyLabel = label.describe('A name for people, 1 to 128 characters.');

export const createApiKeyInput = z
  .object({ projectIdOrName, label: keyLabel, scopes })
  .meta({ id: 'CreateApiKeyInput', description: 'The API key to create.' });

export const updateApiKeyInput = z
  .object({
    projectIdOrName,
    apiKeyId: id.describe('The id of the API key.'),
    label: keyLabel.optional(),
    scopes: scopes.optional(),
    active: z
      .boolean()
      .optional()
      .describe('False: requests with the key are refused, until it is true again.'),
  })
  .meta({
    id: 'UpdateApiKeyInput',
    description: 'The new values of an API key. A field that is left out stays as it is.',
  });

export const deleteApiKeyInput = z
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

/** Finds a key by its value or its id. Throws NOT_FOUND. */
export const getApiKey = projectRead(
  'read',
  'Gets an API key, by its value or its id.',
  (call, { apiKey }: z.output<typeof getApiKeyInput>, { id: projectId }) =>
    getKey(call, projectId, apiKey),
);

export interface CreatedApiKey {
  apiKey: Row<'ApiKey'>;
  /** The value of the key. No later response contains it. */
  key: string;
}

export const createApiKey = projectMutation({
  description: 'Creates an API key of a project, with the scopes that it needs.',
  needs: 'keys:write',
  input: createApiKeyInput,
  async run(call, input, { id: projectId }): Promise<CreatedApiKey> {
    authorizeGrant(call.viewer, input.scopes);
    const key = newKeyValue();
    const stored = { hash: hashOfKey(key), prefix: shownPrefix(key) };
    const row = {
      id: newId('key'),
      projectId,
      label: input.label,
      scopes: input.scopes,
      ...stored,
    };
    const apiKey = await call.database.changes.run(CREATE_API_KEYS, row);
    if (!apiKey) throw notFound('Project', projectId);
    return { apiKey, key };
  },
});

/** Updates a key, which is identified by its id or its value. */
export const updateApiKey = projectMutation({
  description: 'Changes an API key. All processes know the change within a second.',
  needs: 'keys:write',
  input: updateApiKeyInput,
  async run(call, { projectIdOrName: _project, apiKeyId, ...changes }, { id: projectId }) {
    const before = await getKey(call, projectId, apiKeyId);
    // Activating a key grants its scopes again.
    const isActivated = changes.active === true && !before.active;
    authorizeGrant(call.viewer, changes.scopes ?? (isActivated ? scopesOf(before) : []));
    if (Object.values(changes).every((value) => value === undefined)) return before;
    const where = { projectId_id: { projectId, id: before.id } };
    return changed(call, before.id, { where, data: { ...changes, updateTime: call.now() } });
  },
});

/** Deletes a key, which is identified by its value or its id. A key may delete itself. */
export const deleteApiKey = projectMutation({
  description:
    'Deletes an API key, by its value or its id. Requests with it are refused within a second.',
  needs: 'keys:write',
  input: deleteApiKeyInput,
  async run(call, input, { id: projectId }): Promise<{ deletedId: string }> {
    const key = await getKey(call, projectId, input.apiKey);
    await call.database.prisma.apiKey.deleteMany({ where: { projectId, id: key.id } });
    call.viewers.clear();
    return { deletedId: key.id };
  },
});

async function getKey(
  { database }: Call,
  projectId: string,
  valueOrId: string,
): Promise<Row<'ApiKey'>> {
  const named = isKeyValue(valueOrId) ? { hash: hashOfKey(valueOrId) } : { id: valueOrId };
  const [key] = await database.rows.find('ApiKey', { projectId, ...named });
  // The error omits the input, which may be a mistyped secret.
  if (!key) throw new DomainError('NOT_FOUND', 'The project has no API key with that value or id.');
  return key;
}

/** Updates a key and clears this process's cache of viewers. Other processes read the key again within a second. */
async function changed(call: Call, apiKeyId: string, change: Prisma.ApiKeyUpdateArgs) {
  try {
    const key = await call.database.prisma.apiKey.update(change);
    call.viewers.clear();
    return key;
  } catch (error) {
    if (isMissingRow(error)) throw notFound('API key', apiKeyId);
    throw error;
  }
}
