/**
 * Manages the JWT keys of a project: public keys that verify the tokens of end users, which the builder's server signs.
 */
import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { isMissingRow } from '../../../database/connect/violations.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { invalid, notFound } from '../../../kernel/errors.ts';
import { id, newId } from '../../../kernel/ids.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { getProjectRow } from '../../access/scope.ts';
import { DEFAULT_PERMISSIONS, listScopesToGrant } from '../../access/viewer/end-user.ts';
import { authorizeGrant } from '../../access/viewer/needs.ts';
import type { Viewer } from '../../access/viewer/viewer.ts';
import { projectIdOrName } from '../../base/names.ts';
import { createdInProject, resource, updateTime } from '../../base/resource.ts';
import type { keyFilters } from './api-key.ts';

export const jwtKeyResource = resource(
  'JWTKey',
  "A public key that verifies tokens of end users, which the builder's own server signs. A token is a JWT with the id of the key as `kid` in its header, and the claims `groupRef`, `consumerRef`, `iat` and `exp`. It may be valid for at most 600 seconds.",
  {
    ...createdInProject,
    label: z.string().describe('The display name.'),
    publicKeyPem: z.string().describe('The public key, as SPKI in PEM.'),
    active: z.boolean().describe('Whether tokens signed with the key are accepted.'),
    updateTime,
  },
);

export { JWT_ALGORITHM } from '../../access/viewer/token/jwt-claims.ts';

type JwtKey = Row<'JwtKey'>;

/** The reference API's limit, in characters. */
const LABEL_LENGTH_MAX = 255;
/**
 * The sizes of a key. RFC 7518 requires at least 2048 bits. Above the maximum, verifying a signature costs more than a
 * request.
 */
const KEY_BITS_MIN = 2_048;
const KEY_BITS_MAX = 4_096;
const PEM_LENGTH_MAX = 4_096;
const PUBLIC_PEM_PATTERN = /^\s*-----BEGIN (RSA )?PUBLIC KEY-----/;

const label = z
  .string()
  .trim()
  .min(1)
  .max(LABEL_LENGTH_MAX)
  .describe('The display name, 1 to 255 characters.');
const publicKeyPem = z
  .string()
  .max(PEM_LENGTH_MAX)
  .describe(
    'An RSA public key of 2048 to 4096 bits, in PEM. The private key stays with the builder.',
  );
const jwtKeyId = id.describe('The id of the JWT key.');

export const createJwtKeyInput = z
  .object({ projectIdOrName, label, publicKeyPem })
  .meta({ id: 'CreateJwtKeyInput', description: 'The JWT key to register.' });

const updateJwtKeyInput = z
  .object({
    projectIdOrName,
    jwtKeyId,
    label: label.optional(),
    active: z
      .boolean()
      .optional()
      .describe('If false, tokens signed with the key are rejected until it is true again.'),
  })
  .meta({
    id: 'UpdateJwtKeyInput',
    description: 'The new values of a JWT key. Omitted fields keep their values.',
  });

const deleteJwtKeyInput = z
  .object({ projectIdOrName, jwtKeyId })
  .meta({ id: 'DeleteJwtKeyInput', description: 'The JWT key to delete.' });

export const listJwtKeys = read(
  'read',
  'Lists JWT keys, newest first.',
  (call: Call, project: Row<'Project'>, args: PageArgs & FiltersOf<typeof keyFilters>) => {
    const list = { name: 'Project.jwtKeys', parentId: project.id, table: 'JwtKey' } as const;
    const where = { projectId: project.id, active: args.active ?? undefined };
    return listPage(call, { ...list, where }, args);
  },
);

export const getJwtKey = projectRead(
  'read',
  'Returns a JWT key with its public key.',
  (call, { jwtKeyId: id }: { jwtKeyId: string }, { id: projectId }) =>
    getProjectRow(call, 'JwtKey', { projectId, id, noun: 'JWT key' }),
);

/** The caller must have the scopes for DEFAULT_PERMISSIONS, which tokens of the key grant. */
export const createJwtKey = projectMutation({
  description:
    "Registers a JWT key, with which the builder's own server signs tokens of end users. The tokens grant the permissions CONNECT, INSTALL and READ.",
  needs: 'keys:write',
  input: createJwtKeyInput,
  async run(call, { label, publicKeyPem }, { id: projectId }): Promise<JwtKey> {
    authorizeActiveKey(call.viewer);
    const pem = parsePublicKey(publicKeyPem);
    return insertJwtKey(call.database.prisma, { projectId, label, publicKeyPem: pem });
  },
});

/** Throws FORBIDDEN if the viewer lacks the scopes that tokens of an active key grant. */
export function authorizeActiveKey(viewer: Viewer): void {
  authorizeGrant(viewer, listScopesToGrant(DEFAULT_PERMISSIONS));
}

/** Inserts a key whose PEM is the result of `parsePublicKey`. */
export function insertJwtKey(
  client: Pick<Transaction, 'jwtKey'>,
  key: Pick<JwtKey, 'projectId' | 'label' | 'publicKeyPem'> & { active?: boolean },
): Promise<JwtKey> {
  return client.jwtKey.create({ data: { id: newId('jwk'), ...key } });
}

export const updateJwtKey = projectMutation({
  description:
    'Updates a JWT key. Tokens of an inactive key are rejected within a second, also on open streams.',
  needs: 'keys:write',
  input: updateJwtKeyInput,
  async run(call, { jwtKeyId, label, active }, { id: projectId }): Promise<JwtKey> {
    const key = { projectId, id: jwtKeyId, noun: 'JWT key' };
    const currentKey = await getProjectRow(call, 'JwtKey', key);
    // Activating a key grants the permissions of its tokens again.
    if (active && !currentKey.active) authorizeActiveKey(call.viewer);
    if (label === undefined && active === undefined) return currentKey;
    const data = { label, active, updateTime: call.now() };
    return changeKey(call, jwtKeyId, () =>
      call.database.prisma.jwtKey.update({ where: toUniqueKey(projectId, jwtKeyId), data }),
    );
  },
});

export const deleteJwtKey = projectMutation({
  description:
    'Deletes a JWT key. Tokens signed with it are rejected within a second, also on open streams.',
  needs: 'keys:write',
  input: deleteJwtKeyInput,
  async run(call, { jwtKeyId }, { id: projectId }): Promise<{ deletedId: string }> {
    await changeKey(call, jwtKeyId, () =>
      call.database.prisma.jwtKey.delete({ where: toUniqueKey(projectId, jwtKeyId) }),
    );
    return { deletedId: jwtKeyId };
  },
});

function toUniqueKey(projectId: string, id: string) {
  return { projectId_id: { projectId, id } };
}

/**
 * Runs a change of a key and clears this process's cache of viewers. Caches of other processes expire within a second.
 */
async function changeKey<T>(
  call: Pick<Call, 'viewers'>,
  id: string,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (isMissingRow(error)) throw notFound('JWT key', id);
    throw error;
  } finally {
    call.viewers.clear();
  }
}

/**
 * Returns the key as SPKI. Throws BAD_USER_INPUT that does not repeat it, because it may be a private
 * key.
 */
export function parsePublicKey(text: string): string {
  const key = PUBLIC_PEM_PATTERN.test(text) ? findPublicKey(text) : null;
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key?.asymmetricKeyType !== 'rsa') {
    throw invalid(['publicKeyPem'], 'must be a public RSA key in PEM.');
  }
  if (bits < KEY_BITS_MIN || bits > KEY_BITS_MAX) {
    const detail = `must have ${KEY_BITS_MIN} to ${KEY_BITS_MAX} bits; it has ${bits}.`;
    throw invalid(['publicKeyPem'], detail);
  }
  return key.export({ type: 'spki', format: 'pem' }) as string;
}

function findPublicKey(text: string) {
  try {
    return createPublicKey(text);
  } catch {
    return null;
  }
}
