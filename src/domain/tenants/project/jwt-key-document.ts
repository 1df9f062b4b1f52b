/** How JWT keys appear in project documents. The public key identifies a key. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { DomainError, type Issue } from '../../../kernel/errors.ts';
import type { Text } from '../../../kernel/text.ts';
import { type ItemChanges, listNeeds } from '../../access/item-change.ts';
import { type CanonicalItem, parseCanonicalItem, toCanonicalItem } from '../../base/canonical.ts';
import { orDefault } from '../../base/input-schemas.ts';
import { createInputIssue } from '../../base/issues.ts';
import {
  createJwtKey,
  createJwtKeyInput,
  deleteJwtKey,
  insertJwtKey,
  parsePublicKey,
  updateJwtKey,
} from './jwt-key.ts';

export const jwtKeyItem = z.object({
  label: createJwtKeyInput.shape.label,
  publicKeyPem: createJwtKeyInput.shape.publicKeyPem.describe(
    'The public half of the key in PEM. It identifies the key.',
  ),
  active: orDefault(z.boolean(), true).describe(
    'If false, tokens that the key has signed are rejected. Default: true.',
  ),
});

type JwtKeyItem = z.output<typeof jwtKeyItem>;

export function toCanonicalJwtKey(key: JwtKeyItem): CanonicalItem {
  return toCanonicalItem(jwtKeyItem, {
    ...key,
    publicKeyPem: parsePublicKey(key.publicKeyPem),
  });
}

/** Reads the keys of a project. If several rows have the same key, the newest one counts. */
export async function readJwtKeys(
  client: Pick<Transaction, 'jwtKey'>,
  projectId: string,
): Promise<{ id: string; item: CanonicalItem }[]> {
  const rows: Row<'JwtKey'>[] = await client.jwtKey.findMany({
    where: { projectId },
    orderBy: { id: 'asc' },
  });
  const newestRows = new Map(rows.map((row) => [row.publicKeyPem, row]));
  return [...newestRows.values()].map((row) => ({
    id: row.id,
    item: toCanonicalItem(jwtKeyItem, row),
  }));
}

/** Returns the first 12 hexadecimal digits of the key's SHA-256. They identify the key in paths. */
export function createFingerprint({ publicKeyPem }: CanonicalItem): string {
  return hash('sha256', JSON.stringify(publicKeyPem), 'hex').slice(0, 12);
}

export function* listJwtKeyItemIssues(
  { publicKeyPem }: JwtKeyItem,
  path: readonly PropertyKey[],
): Generator<Issue> {
  const detail = findKeyIssue(publicKeyPem);
  if (detail !== null) yield createInputIssue([...path, 'publicKeyPem'], detail);
}

function findKeyIssue(publicKeyPem: string): Text | null {
  try {
    parsePublicKey(publicKeyPem);
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.issues?.[0]?.detail ?? error.detail;
  }
}

export const jwtKeyChanges: ItemChanges = {
  needs: listNeeds(createJwtKey, updateJwtKey, deleteJwtKey),
  async put({ call, tx, projectId, ids, afterCommit }, { path, after }) {
    const { publicKeyPem, ...members } = parseCanonicalItem(jwtKeyItem, after);
    const id = ids.get(path);
    if (id === undefined) {
      await insertJwtKey(tx, { projectId, publicKeyPem, ...members });
    } else {
      const data = { ...members, updateTime: call.now() };
      await tx.jwtKey.update({ where: { projectId_id: { projectId, id } }, data });
    }
    afterCommit.push(async () => call.viewers.clear());
  },
  async remove({ call, tx, projectId, ids, afterCommit }, { path }) {
    await tx.jwtKey.deleteMany({ where: { projectId, id: ids.get(path) } });
    afterCommit.push(async () => call.viewers.clear());
  },
};
