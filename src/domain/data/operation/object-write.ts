/** Writes a record of an object in the account of a group, by the builder's names, for typed APIs. */
import { z } from 'zod';
import type { Issue } from '../../../kernel/errors.ts';
import type { Call } from '../../access/call.ts';
import { authorize } from '../../access/viewer/needs.ts';
import { listSchemaIssues, parseInput } from '../../base/parse-input.ts';
import {
  getServingInstallation,
  type ObjectOfGroup,
  type ServingInstallation,
} from './object-installation.ts';
import type { WriteInput } from './write/write-input.ts';
import { type WriteOutcome, writeRecords } from './write-records.ts';

/** A write of one record, with the installation that serves it. */
export interface ServedWrite {
  serving: ServingInstallation;
  outcome: WriteOutcome;
}

interface ObjectWrite extends Pick<WriteInput, 'type' | 'idempotencyKey'> {
  /** Values by their names in the contract, and the record's id for an update or a deletion. */
  record: Record<string, unknown>;
}

/** Writes a record as `writeRecords` does, and waits for the outcome. */
export async function writeObjectRecord(
  call: Call,
  object: ObjectOfGroup,
  { type, record, idempotencyKey }: ObjectWrite,
): Promise<ServedWrite> {
  authorize(call.viewer, writeRecords.needs);
  const serving = await getServingInstallation(call, object);
  const input = parseInput(writeRecords.input, {
    projectIdOrName: object.projectId,
    integrationIdOrName: serving.integration.id,
    objectName: serving.providerObject,
    groupRef: serving.group.groupRef,
    type,
    record,
    idempotencyKey,
  });
  return { serving, outcome: await writeRecords(call, input) };
}

/** The members of a typed write whose rules are the same for every account. */
const writeArguments = z.object({
  record: writeRecords.input.shape.record,
  idempotencyKey: writeRecords.input.shape.idempotencyKey,
});

/** Lists issues of arguments that are wrong for every account. */
export function listArgumentIssues(write: Omit<ObjectWrite, 'type'>): Issue[] {
  return listSchemaIssues(writeArguments, write);
}
