/** Writes a record of an object in the account of a group, by the builder's names, for typed APIs. */
import { type Issue, invalidInput } from '../../errors.ts';
import type { Call } from '../call.ts';
import { authorize } from '../viewer/needs.ts';
import { type ArgumentNames, parseInput, withArgumentNames } from './argument-names.ts';
import {
  getServingInstallation,
  type ObjectOfGroup,
  type ServingInstallation,
} from './object-installation.ts';
import { createFieldNames, renameFields } from './write/record-mapping.ts';
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

/**
 * Waits for the outcome, as `writeRecords` does. Throws BAD_USER_INPUT for fields that the installation does not write:
 * `writeRecords` would write the record without them.
 */
export async function writeObjectRecord(
  call: Call,
  object: ObjectOfGroup,
  { type, record, idempotencyKey }: ObjectWrite,
): Promise<ServedWrite> {
  authorize(call.viewer, writeRecords.needs);
  const serving = await getServingInstallation(call, object);
  const input = parseInput(
    writeRecords.input,
    {
      projectIdOrName: object.projectId,
      integrationIdOrName: serving.integration.id,
      objectName: serving.providerObject,
      groupRef: serving.group.groupRef,
      type,
      record,
      idempotencyKey,
    },
    nameArgument,
  );
  if (type !== 'DELETE') refuseOmittedFields(serving, object, record);
  const outcome = await withArgumentNames(nameArgument, () => writeRecords(call, input));
  return { serving, outcome };
}

/** The argument `input` is the record without its id, which is the argument `id`. */
const nameArgument: ArgumentNames = (name) => {
  const member = /^(?:input\.)?record(?:\.(.+))?$/.exec(name);
  if (!member) return name.replace(/^input\./, '');
  return member[1] === 'id' ? 'id' : ['input', member[1]].filter(Boolean).join('.');
};

function refuseOmittedFields(
  { content, config, providerObject, group, installation }: ServingInstallation,
  { objectName }: ObjectOfGroup,
  record: Record<string, unknown>,
): void {
  const spec = content.write?.objects.find((object) => object.objectName === providerObject);
  const names = spec && createFieldNames(content, config, spec);
  const { omitted } = renameFields({ record, path: [] }, names ?? null);
  if (omitted.length === 0) return;
  throw invalidInput(
    omitted.map((name): Issue => {
      const detail = `is a field of ${objectName} that the group ${group.groupRef} does not write: map a field of its account to it in the config of the installation ${installation.id}, or omit it.`;
      return { in: 'body', name: `input.${name}`, detail };
    }),
  );
}
