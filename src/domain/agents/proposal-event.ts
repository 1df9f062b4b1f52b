/** Records proposal events in the transactions of their changes. */
import type { Transaction } from '../../database/transactions/transaction.ts';
import type { EventData } from '../../events/event-types.ts';
import { recordEvent } from '../../events/record.ts';
import { pickSubject } from '../../events/subject.ts';
import { toStoredWord } from '../base/resource.ts';
import { listInstallationFields } from '../integrations/installation/installation-events.ts';
import type { Proposal } from './proposal.ts';

type ProposalEventType =
  | 'PROPOSAL_CREATED'
  | 'PROPOSAL_APPROVED'
  | 'PROPOSAL_REJECTED'
  | 'PROPOSAL_COMMITTED'
  | 'PROPOSAL_EXPIRED'
  | 'PROPOSAL_STALE';

type Details<T extends ProposalEventType> = Omit<EventData<T>, keyof EventData<'PROPOSAL_CREATED'>>;

/** Records an event, unless the installation was deleted. Call it last in the transaction, like `recordEvent`. */
export async function recordProposalEvent<T extends ProposalEventType>(
  tx: Transaction,
  eventType: T,
  proposal: Proposal,
  details: Details<T>,
): Promise<void> {
  const { projectId, installationId, agentSessionId, recordId } = proposal;
  const [fields] = await listInstallationFields(tx, projectId, [installationId]);
  if (!fields) return;
  const data: EventData<'PROPOSAL_CREATED'> = {
    ...fields,
    proposalId: proposal.id,
    ...(agentSessionId !== null && { agentSessionId }),
    objectName: proposal.objectName,
    type: toStoredWord(proposal.type),
    ...(recordId !== null && { recordId }),
    createdBy: proposal.createdBy,
  };
  await recordEvent(tx, {
    projectId,
    eventType,
    data: { ...data, ...details } as EventData<T>,
    subject: pickSubject(fields),
    connectionId: fields.connectionId,
    installationId,
    ...(proposal.operationId !== null && { operationId: proposal.operationId }),
  });
}
