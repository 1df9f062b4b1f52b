/** Proposals: writes of single records that wait for an approval. */
import { z } from 'zod';
import { ProposalStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/statements/tables.ts';
import { id } from '../../kernel/ids.ts';
import type { Call, RowCall } from '../access/call.ts';
import { projectRead, read } from '../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { getProjectRow } from '../access/scope.ts';
import { orAgent, orEndUser } from '../access/viewer/needs.ts';
import { projectIdOrName, ref } from '../base/names.ts';
import { computed, createdInProject, enumeration, resource, updateTime } from '../base/resource.ts';
import { castJsonColumn } from '../base/storable-json.ts';
import { writeType } from '../connections/provider/provider.ts';
import { findGroupByRef } from '../tenants/project/parties.ts';

export type Proposal = Row<'Proposal'>;

const proposalStatus = enumeration('ProposalStatus', 'The state of a proposal.', {
  PENDING: 'It waits for an approval.',
  APPROVED: 'A person or a rule has approved it. It can be committed.',
  REJECTED: 'A person has rejected it. It is never written.',
  COMMITTING: 'Its write is running.',
  COMMITTED: 'Its write has ended. The operation has the outcome.',
  EXPIRED: 'It was not committed in time. It is never written.',
  STALE: 'The record had changed since the proposal was created. Nothing was written.',
} satisfies Record<Proposal['status'], string>);

const proposedFieldResource = resource('ProposedField', 'A field that a proposal changes.', {
  name: z.string().describe("The builder's name of the field."),
  before: z
    .unknown()
    .nullable()
    .describe(
      'The value when the proposal was created. {Null} for a new record, or if the field had no value.',
    ),
  after: z
    .unknown()
    .nullable()
    .describe('The proposed value. {Null} if the write removes the value or deletes the record.'),
});
type ProposedField = z.output<typeof proposedFieldResource>;

export const proposalResource = resource(
  'Proposal',
  'A write of one record that an agent proposes. It is written after an approval, at most once, and only if the record has not changed since.',
  {
    ...createdInProject,
    status: proposalStatus.describe('The state of the proposal.'),
    objectName: z.string().describe("The builder's name of the object."),
    type: writeType.describe('Whether the record is created, updated or deleted.'),
    recordId: z
      .string()
      .nullable()
      .describe("The provider's id of the record. {Null} for a new record."),
    fields: computed(
      z
        .array(proposedFieldResource)
        .describe(
          'The fields that change, with their values before and after. For a deletion, all fields of the record.',
        ),
      (proposal: Proposal) => listProposedFields(proposal),
    ),
    omittedFields: computed(
      z
        .array(z.string())
        .describe(
          'Proposed names that the write omits, because the installation does not map or write them.',
        ),
      (proposal: Proposal) => listOmittedNames(proposal),
    ),
    payloadHash: z
      .string()
      .describe('Hash of the object, the type, the record and the values. A commit must name it.'),
    reason: z
      .string()
      .nullable()
      .describe('The reason that the agent gave to the approver. {Null} if there is none.'),
    createdBy: z
      .string()
      .describe('The principal that created the proposal, like `agent:<session id>`.'),
    rule: z
      .string()
      .nullable()
      .describe(
        'The rule of the agent session that approved the proposal. {Null} if a person decided.',
      ),
    decidedBy: z
      .string()
      .nullable()
      .describe(
        'The principal that approved or rejected the proposal, like `consumer:<id>`, or `rule:<name>`. {Null} while it is pending.',
      ),
    decideTime: z
      .date()
      .nullable()
      .describe('When the proposal was approved or rejected. {Null} while it is pending.'),
    decisionReason: z
      .string()
      .nullable()
      .describe('The reason for the decision. {Null} if there is none.'),
    committedBy: z
      .string()
      .nullable()
      .describe('The principal that committed the proposal. {Null} until then.'),
    expireTime: z.date().describe('When the proposal expires if it is not committed.'),
    updateTime,
  },
);

/** Lists the fields of a proposal in the order of its values, then the fields that the installation's config adds. */
export function listProposedFields({ after, defaults, before }: Proposal): ProposedField[] {
  const values = {
    ...castJsonColumn<Record<string, unknown>>(after),
    ...castJsonColumn<Record<string, unknown> | null>(defaults),
  };
  const currentValues = castJsonColumn<Record<string, unknown> | null>(before);
  const names = new Set([...Object.keys(values), ...Object.keys(currentValues ?? {})]);
  return [...names].map((name) => ({
    name,
    before: currentValues?.[name] ?? null,
    after: values[name] ?? null,
  }));
}

export function listOmittedNames({ omittedFields }: Proposal): string[] {
  return castJsonColumn<string[] | null>(omittedFields) ?? [];
}

const proposalId = id.describe('The id of the proposal.');
export const proposalInput = z.object({ projectIdOrName, proposalId });

export const getProposal = projectRead(
  orAgent('records:read', 'READ', 'APPROVE'),
  'Gets a proposal.',
  (call, input: { proposalId: string }, { id: projectId }) =>
    getProposalRow(call, projectId, input.proposalId),
);

/** Throws NOT_FOUND if the viewer may not see the proposal. An agent sees its own proposals. */
export function getProposalRow(call: RowCall, projectId: string, id: string): Promise<Proposal> {
  return getProjectRow(call, 'Proposal', { projectId, id, noun: 'Proposal' });
}

export const proposalFilters = z.object({
  status: proposalStatus.optional().describe('Only proposals of this status.'),
  groupRef: ref.optional().describe('Only proposals for the group with this ref.'),
});

export const listProposals = read(
  orEndUser('records:read', 'READ', 'APPROVE'),
  'Lists proposals, newest first.',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { status, groupRef, ...args }: PageArgs & FiltersOf<typeof proposalFilters>,
  ) => {
    const list = { name: 'Project.proposals', parentId: projectId, table: 'Proposal' } as const;
    const statuses = status ?? Object.values(ProposalStatus);
    if (groupRef != null) {
      const group = await findGroupByRef(call, { projectId, groupRef });
      const where = { projectId, groupId: group?.id ?? [], status: statuses };
      return listPage(
        call,
        { ...list, where, indexPrefix: ['projectId', 'groupId', 'status'] },
        args,
      );
    }
    const where = { projectId, status: statuses };
    return listPage(call, { ...list, where, indexPrefix: ['projectId', 'status'] }, args);
  },
);
