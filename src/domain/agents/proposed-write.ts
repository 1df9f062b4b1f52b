/** Plans the write of a proposal, as `writeRecords` would. */
import { hash } from 'node:crypto';
import type { Path } from '../../kernel/text.ts';
import type { Call } from '../access/call.ts';
import { parseInput, withMovedPaths } from '../base/parse-input.ts';
import { castJsonColumn, sortJsonMembers } from '../base/storable-json.ts';
import type { ServingInstallation } from '../data/operation/object-installation.ts';
import type { UnknownFields } from '../data/operation/write/record-mapping.ts';
import type { WriteInput } from '../data/operation/write/write-input.ts';
import { writeRecordsInput } from '../data/operation/write/write-input.ts';
import { planWrite, type WritePlan } from '../data/operation/write/write-plan.ts';
import { getWriteTarget } from '../data/operation/write-records.ts';
import type { Proposal } from './proposal.ts';

interface ProposedWrite extends Pick<Proposal, 'type' | 'recordId'> {
  /** The values by the builder's field names. */
  after: unknown;
}

/** Plans the write. Throws the errors of `writeRecords`, with paths in the input of a proposal. */
export async function planProposedWrite(
  call: Call,
  { installation, integration, group, providerObject }: ServingInstallation,
  { type, recordId, after }: ProposedWrite,
  { unknownFields }: { unknownFields: UnknownFields },
): Promise<{ input: WriteInput; writePlan: WritePlan }> {
  const { projectId } = installation;
  const values = castJsonColumn<Record<string, unknown>>(after);
  return withMovedPaths(toProposalPath, async () => {
    const input = parseInput(writeRecordsInput, {
      projectIdOrName: projectId,
      integrationIdOrName: integration.id,
      objectName: providerObject,
      groupRef: group.groupRef,
      type,
      record: recordId === null ? values : { ...values, id: recordId },
    });
    const target = await getWriteTarget(call, projectId, input);
    return { input, writePlan: await planWrite(call, input, { target, unknownFields }) };
  });
}

/** Hashes the values of a write plan and the account to which it writes them. Equal hashes mean equal writes. */
export function hashWritePlan({ target, objectName, entries }: WritePlan): string {
  const { installation, connection } = target;
  const writtenValues = entries.map(({ record, associations, ifEmpty }) => [
    record,
    associations,
    ifEmpty,
  ]);
  const identity = [installation.id, connection.id, objectName, sortJsonMembers(writtenValues)];
  return hash('sha256', JSON.stringify(identity), 'hex');
}

/** Moves the record of a write to `values`, and its id to `recordId`. */
function toProposalPath(path: Path): Path {
  const [member, ...inner] = path;
  if (member !== 'record') return path;
  return inner[0] === 'id' ? ['recordId'] : ['values', ...inner];
}
